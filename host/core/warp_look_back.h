/** What plans of kernels that look back by warps share: cl/common/warp_look_back.clh. */
#ifndef CORE_WARP_LOOK_BACK_H
#define CORE_WARP_LOOK_BACK_H

#include "base/sizes.h"
#include "core/last_group.h"

/** Tiles of a block. */
enum { LOOK_BACK_BLOCK = 32 };

/** Where the states of blocks and the ticket are in the workspace, behind the states of tiles:
 * indexes of words of 64 bits. */
typedef struct look_back_states {
    size_t blocks; /* of a line */
    size_t blocks_at, ticket_at;
} look_back_states;

/** Of `lines` of `tiles` each, whose states have `words` each. */
static inline look_back_states look_back_states_of(size_t lines, size_t tiles, size_t words)
{
    const size_t blocks = size_div_up(tiles, LOOK_BACK_BLOCK), blocks_at = lines * tiles * words;

    return (look_back_states){blocks, blocks_at, blocks_at + lines * blocks * words};
}

/** NULL, or why the device does not look back so, in work-groups of `group`. */
static inline const char *look_back_unsupported(const device_facts *d, size_t group)
{
    if (last_group_of(d) != LAST_GROUP_PTX)
        return "it needs NVIDIA's compute capability 7.0";
    return group < 32 ? "it needs work-groups of whole warps" : NULL;
}

/** The tunable AHEAD. */
#define LOOK_BACK_AHEAD                                                                            \
    {                                                                                              \
        "AHEAD",                                                                                   \
            "how many tiles further on each work-group has one fetched into the second-level "     \
            "cache",                                                                               \
            {128, 256, 512}, 256, 128                                                              \
    }

#endif
