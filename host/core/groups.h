/** The work-groups that a device takes. */
#ifndef CORE_GROUPS_H
#define CORE_GROUPS_H

#include "base/sizes.h"
#include "device/facts.h"

/** What the tunable GROUP means where its default is the device's. */
#define GROUP_MEANING "work-items in a work-group, at most what the device takes; 0: by the device"

/** Most work-groups along any dimension but the first: what NVIDIA's devices take.  plan_make
 * splits launches of more. */
enum { GROUPS_DOWN_MAX = 65535 };

/** Most work-items along one dimension of a work-group; 1 at least. */
static inline size_t group_limit(const device_facts *d, unsigned dimension)
{
    const size_t items = d->max_work_item[dimension]; /* 0 where it is unknown */

    return size_max(items ? size_min(items, d->max_work_group) : d->max_work_group, 1);
}

/** Largest power of two up to `wanted` (at least 1) that the device takes along one dimension. */
static inline size_t group_fit(const device_facts *d, unsigned dimension, size_t wanted)
{
    const size_t limit = size_min(wanted, group_limit(d, dimension));
    size_t size = 1;

    while (size <= limit / 2)
        size *= 2;
    return size;
}

/** Largest power of two up to `wanted` (at least 1) that the device takes as the side of a square
 *  work-group. */
static inline size_t group_fit_square(const device_facts *d, size_t wanted)
{
    size_t side = group_fit(d, 1, group_fit(d, 0, wanted));

    while (side > 1 && side * side > d->max_work_group)
        side /= 2;
    return side;
}

#endif
