/**
 * The floating-point types of 16 bits, which C11 has none for: IEEE 754
 * binary16 (float16: 11 significant bits, up to 65504), and bfloat16, the upper
 * half of a float32 (8 significant bits, its exponents).
 */
#ifndef BASE_HALF_H
#define BASE_HALF_H

#include <stdint.h>
#include <string.h>

/** The value of a binary16 given by its bits; exact, a NaN's sign and payload included. */
static inline float half_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
    uint32_t exponent = (uint32_t)h >> 10 & 0x1Fu;
    uint32_t fraction = (uint32_t)h & 0x3FFu;
    uint32_t bits;
    float value;

    if (exponent == 0) {
        value = (float)fraction * 0x1p-24f; /* zero or denormal */
        return sign ? -value : value;
    }
    if (exponent == 31)
        bits = sign | 0x7F800000u | fraction << 13;
    else
        bits = sign | (exponent + 127 - 15) << 23 | fraction << 13;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/** The value of a bfloat16 given by its bits; exact. */
static inline float bfloat_to_float(uint16_t b)
{
    const uint32_t bits = (uint32_t)b << 16;
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* The nearest of a type of 16 bits with so many fraction bits and this bias of the exponent: ties
 * go to even, what is too large to infinity, and a NaN stays one, quiet. */
static inline uint16_t half_nearest(double v, int fraction, int bias)
{
    const uint64_t hidden = (uint64_t)1 << 52;
    const uint16_t infinity = (uint16_t)((0x7FFFu >> fraction) << fraction);
    uint64_t bits, significand, kept, rest, tie;
    int exponent, drop = 52 - fraction;
    uint16_t sign;

    memcpy(&bits, &v, sizeof(bits));
    sign = (uint16_t)(bits >> 48 & 0x8000u);
    exponent = (int)(bits >> 52 & 0x7FFu) - 1023;
    significand = (bits & (hidden - 1)) | hidden;
    if (exponent == 1024 && significand != hidden)
        return (uint16_t)(sign | infinity | 1u << (fraction - 1));
    if (exponent > bias)
        return (uint16_t)(sign | infinity);
    if (exponent < 1 - bias) /* denormal there, with fewer bits */
        drop += 1 - bias - exponent;
    if (drop > 54)
        return sign;
    kept = significand >> drop;
    rest = significand & (((uint64_t)1 << drop) - 1);
    tie = (uint64_t)1 << (drop - 1);
    kept += rest > tie || (rest == tie && (kept & 1));
    /* The hidden bit counts as one in the exponent, and a carry of the rounding as another. */
    if (exponent >= 1 - bias)
        kept += (uint64_t)(exponent + bias - 1) << fraction;
    return (uint16_t)(sign | kept);
}

static inline uint16_t half_of(double v)
{
    return half_nearest(v, 10, 15);
}

static inline uint16_t bfloat_of(double v)
{
    return half_nearest(v, 7, 127);
}

#endif
