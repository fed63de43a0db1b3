/** Checked size_t arithmetic for everything that feeds an allocation, an offset or a global size.
 */
#ifndef BASE_SIZES_H
#define BASE_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Elements of an array, which is no pointer. */
#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/** *out = a + b; false (and *out untouched) where that overflows. */
static inline bool size_add(size_t a, size_t b, size_t *out)
{
    if (a > SIZE_MAX - b)
        return false;
    *out = a + b;
    return true;
}

/** *out = a * b; false (and *out untouched) where that overflows. */
static inline bool size_mul(size_t a, size_t b, size_t *out)
{
    if (b && a > SIZE_MAX / b)
        return false;
    *out = a * b;
    return true;
}

/** ceil(a / b), b > 0. */
static inline size_t size_div_up(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

/** a rounded up to a multiple of b; the caller knows that it fits. */
static inline size_t size_round_up(size_t a, size_t b)
{
    return size_div_up(a, b) * b;
}

/** The exponent of the first power of 2 that is n or more, n <= 2^63; 0 of 0. */
static inline uint32_t size_log2_up(size_t n)
{
    uint32_t exponent = 0;

    while ((size_t)1 << exponent < n)
        exponent++;
    return exponent;
}

/** The first power of 2 that is n or more, n <= 2^63; 1 of 0. */
static inline size_t size_power_of_2_up(size_t n)
{
    return (size_t)1 << size_log2_up(n);
}

static inline size_t size_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t size_max(size_t a, size_t b)
{
    return a > b ? a : b;
}

#endif
