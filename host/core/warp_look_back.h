/** What plans of kernels that look back by warps share: cl/common/warp_look_back.clh. */
#ifndef CORE_WARP_LOOK_BACK_H
#define CORE_WARP_LOOK_BACK_H

#include "base/sizes.h"
#include "core/last_group.h"

/** Tiles of a block. */
enum { LOOK_BACK_BLOCK = 32 };

/** Where the states of blocks are in the workspace, behind those of tiles, and where they end:
 * indexes of words of 64 bits. */
typedef struct look_back_states {
    size_t blocks; /* of a line */
    size_t blocks_at, end;
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

/** The tunable REGISTERS. */
#define LOOK_BACK_REGISTERS                                                                        \
    {                                                                                              \
        "REGISTERS",                                                                               \
            "registers of a work-item, at most: fewer let more work-groups run at once; 0: as "    \
            "many as it needs",                                                                    \
            {0, 32, 40, 64, 255}, 0, .host_only = true                                             \
    }

/** Set REGISTERS, by default what the plan says that a work-item needs, and SIZED, whether the
 * kernel says the size of its work-groups.  The compiler takes more than is needed, and then fewer
 * groups run side by side than it takes to hide how long memory does.  It keeps to a limit where a
 * kernel does not say its size, which it may not where groups are larger than 256. */
static inline void look_back_registers(const job *j, size_t group, size_t needed, plan *out)
{
    enum { REGISTERS_MAX = 255, UNSIZED_GROUP = 256 };
    const size_t given = param(j->params, "REGISTERS");
    const size_t wanted = size_min(given ? given : needed, REGISTERS_MAX);
    const size_t registers = group > UNSIZED_GROUP ? REGISTERS_MAX : wanted;

    plan_set(out, "REGISTERS", (uint32_t)registers);
    plan_define(out, "SIZED=%d", registers == REGISTERS_MAX);
    if (registers < REGISTERS_MAX)
        text_format(&out->defines, " -cl-nv-maxrregcount=%zu", registers);
}

/** The tunable AHEAD. */
#define LOOK_BACK_AHEAD                                                                            \
    {                                                                                              \
        "AHEAD",                                                                                   \
            "how many tiles ahead each work-group fetches one into the second-level cache; 0: "    \
            "those of 8 MiB",                                                                      \
            {0, 128, 256, 512}, 0, 128                                                             \
    }

/** Set AHEAD, for tiles of so many bytes. */
static inline void look_back_ahead(const job *j, size_t tile_bytes, plan *out)
{
    enum { AHEAD_BYTES = 8 << 20, AHEAD_MIN = 128, AHEAD_MAX = 512 };
    const size_t given = param(j->params, "AHEAD");
    const size_t usual = size_min(AHEAD_BYTES / size_max(tile_bytes, 1), AHEAD_MAX);

    plan_set(out, "AHEAD", (uint32_t)(given ? given : size_max(usual, AHEAD_MIN)));
}

#endif
