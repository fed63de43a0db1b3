/** How the last of some work-groups goes on with what all of them wrote: cl/common/last_group.clh.
 */
#ifndef CORE_LAST_GROUP_H
#define CORE_LAST_GROUP_H

#include "core/registry.h"
#include "core/variant.h"

/** variant.uses of those that ask. */
enum { LAST_GROUP_USES = 1u << FEATURE_DEVICE_SCOPE | 1u << FEATURE_PTX };

/** LAST_ADDS: 0 where this device has no way, and a launch of its own goes on. */
typedef enum last_group { LAST_GROUP_NONE, LAST_GROUP_ATOMICS, LAST_GROUP_PTX } last_group;

static inline last_group last_group_of(const device_facts *d)
{
    /* Orders of an atomic instruction came with compute capability 7.0. */
    if (d->feature[FEATURE_PTX] == FEATURE_YES && d->nv_capability >= 70)
        return LAST_GROUP_PTX;
    return d->feature[FEATURE_DEVICE_SCOPE] == FEATURE_YES ? LAST_GROUP_ATOMICS : LAST_GROUP_NONE;
}

/** The same where `used`, for `tiles` tiles, each with a counter of its own. */
static inline last_group last_group_for(const device_facts *d, bool used, size_t tiles)
{
    return used && tiles <= GROUP_COUNTERS_MAX ? last_group_of(d) : LAST_GROUP_NONE;
}

/** The OpenCL C that the way needs. */
static inline void last_group_standard(const device_facts *d, last_group way, text *out)
{
    if (way != LAST_GROUP_ATOMICS)
        return;
    text_append(out, " -cl-std=");
    variant_standard(d, out);
}

static inline void last_group_defines(const device_facts *d, last_group way, text *out)
{
    text_format(out, " -DLAST_ADDS=%d", (int)way);
    last_group_standard(d, way, out);
}

#endif
