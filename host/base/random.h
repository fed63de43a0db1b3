/**
 * Reproducible random numbers for test inputs: SplitMix64 (Steele, Lea and
 * Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

/** Next 64 bits; *state is the seed before the first call. */
static inline uint64_t random_u64(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/** The state before the first number of stream i of many, which may be drawn side by side. */
static inline uint64_t random_stream(uint64_t seed, uint64_t i)
{
    uint64_t state = seed ^ i * 0xD1342543DE82EF95u; /* odd: no two i of a seed have one state */

    return random_u64(&state);
}

/** Uniform in [0, 1). */
static inline double random_unit(uint64_t *state)
{
    return (double)(random_u64(state) >> 11) * 0x1p-53;
}

#endif
