/** Wall clock. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_read_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/** Monotonic time in nanoseconds. */
static inline uint64_t clock_ns(void)
{
    return clock_read_ns(CLOCK_MONOTONIC);
}

/** The same to a few milliseconds, for less time where the system has such a clock. */
static inline uint64_t clock_coarse_ns(void)
{
#ifdef CLOCK_MONOTONIC_COARSE
    return clock_read_ns(CLOCK_MONOTONIC_COARSE);
#else
    return clock_ns();
#endif
}

#endif
