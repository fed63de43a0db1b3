/** Ask for what is read soon, in loops over arrays that are larger than the caches. */
#ifndef BASE_FETCH_AHEAD_H
#define BASE_FETCH_AHEAD_H

#include "base/past_caches.h"

/** Have the second-level cache fetch `bytes` bytes that lie `ahead` bytes behind `at`.  An address
 * is only asked for: it may be beyond the array. */
static inline void fetch_ahead(const void *at, ptrdiff_t ahead, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += CACHE_LINE)
        __builtin_prefetch((const char *)((uintptr_t)at + (uintptr_t)ahead + i), 0, 2);
}

#endif
