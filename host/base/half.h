/**
 * The floating-point types of 16 and 8 bits, which C11 has none for: IEEE 754
 * binary16 (float16: 11 significant bits, up to 65504), bfloat16, the upper
 * half of a float32 (8 significant bits, its exponents), and OCP's OFP8: e4m3
 * (4 significant bits, up to 448, no infinity) and e5m2 (3, up to 57344), the
 * upper half of a float16.
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

/* The bits below the sign of the nearest of a type with so many fraction bits and this bias of the
 * exponent, ties to even, of a number whose exponent the type has or that is too small for it. */
static inline uint16_t magnitude_nearest(double v, int fraction, int bias)
{
    const uint64_t hidden = (uint64_t)1 << 52;
    uint64_t bits, significand, kept, rest, tie;
    int exponent, drop = 52 - fraction;

    memcpy(&bits, &v, sizeof(bits));
    exponent = (int)(bits >> 52 & 0x7FFu) - 1023;
    significand = (bits & (hidden - 1)) | hidden;
    if (exponent < 1 - bias) /* denormal there, with fewer bits */
        drop += 1 - bias - exponent;
    if (drop > 54)
        return 0;
    kept = significand >> drop;
    rest = significand & (((uint64_t)1 << drop) - 1);
    tie = (uint64_t)1 << (drop - 1);
    kept += rest > tie || (rest == tie && (kept & 1));
    /* The hidden bit counts as one in the exponent, and a carry of the rounding as another. */
    if (exponent >= 1 - bias)
        kept += (uint64_t)(exponent + bias - 1) << fraction;
    return (uint16_t)kept;
}

/* The nearest of a type of 16 bits with so many fraction bits and this bias of the exponent: ties
 * go to even, what is too large to infinity, and a NaN stays one, quiet. */
static inline uint16_t half_nearest(double v, int fraction, int bias)
{
    const uint16_t infinity = (uint16_t)((0x7FFFu >> fraction) << fraction);
    uint64_t bits;
    uint16_t sign;

    memcpy(&bits, &v, sizeof(bits));
    sign = (uint16_t)(bits >> 48 & 0x8000u);
    if (v != v)
        return (uint16_t)(sign | infinity | 1u << (fraction - 1));
    if ((int)(bits >> 52 & 0x7FFu) - 1023 > bias)
        return (uint16_t)(sign | infinity);
    return (uint16_t)(sign | magnitude_nearest(v, fraction, bias));
}

static inline uint16_t half_of(double v)
{
    return half_nearest(v, 10, 15);
}

static inline uint16_t bfloat_of(double v)
{
    return half_nearest(v, 7, 127);
}

/** The value of an e5m2 given by its bits; exact. */
static inline float e5m2_to_float(uint8_t x)
{
    return half_to_float((uint16_t)(x << 8));
}

/** The value of an e4m3 given by its bits; exact.  Of each sign the last one is NaN. */
static inline float e4m3_to_float(uint8_t x)
{
    const uint32_t sign = (uint32_t)(x & 0x80u) << 24, magnitude = x & 0x7Fu;
    uint32_t bits = sign | (magnitude + (120u << 3)) << 20;
    float value;

    if (magnitude < 8) {
        value = (float)magnitude * 0x1p-9f; /* zero or denormal */
        return sign ? -value : value;
    }
    if (magnitude == 0x7F)
        bits = sign | 0x7FC00000u;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* The nearest of a type of 8 bits whose largest number, `most`, and whose NaN have these bits. */
static inline uint8_t fp8_nearest(double v, int fraction, double most, uint8_t most_bits,
                                  uint8_t nan)
{
    const int bias = (1 << (6 - fraction)) - 1;
    uint64_t bits;
    uint8_t sign;

    memcpy(&bits, &v, sizeof(bits));
    sign = (uint8_t)(bits >> 56 & 0x80u);
    if (v != v)
        return (uint8_t)(sign | nan);
    if (v >= most || v <= -most)
        return (uint8_t)(sign | most_bits);
    return (uint8_t)(sign | magnitude_nearest(v, fraction, bias));
}

/** The nearest e4m3, ties to even; what is beyond 448, infinity included, becomes that, saturated,
 *  and a NaN stays one. */
static inline uint8_t e4m3_of(double v)
{
    return fp8_nearest(v, 3, 448, 0x7E, 0x7F);
}

/** The nearest e5m2 likewise: what is beyond 57344 becomes that. */
static inline uint8_t e5m2_of(double v)
{
    return fp8_nearest(v, 2, 57344, 0x7B, 0x7E);
}

#endif
