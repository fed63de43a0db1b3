/**
 * float16 and bfloat16 from and to float without branches, for loops that a compiler turns into
 * vectors; the values are those of base/half.h.
 */
#ifndef BASE_VECTOR_HALF_H
#define BASE_VECTOR_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t vector_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline float vector_float(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* Exponent and fraction in the places of a float's are 2^-112 of the value, denormals too; those of
 * infinity and NaN become a float's largest exponent. */
static inline float vector_of_half(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16, rest = (uint32_t)(h & 0x7FFFu) << 13;
    const uint32_t bits = vector_bits(vector_float(rest) * 0x1p112f);

    return vector_float(sign | (rest >= 0x0F800000u ? rest | 0x7F800000u : bits));
}

/* Of numbers that are normal there the 13 last bits are rounded away, to even, which may carry into
 * the exponent.  Beside 0.5 a float has denormals' last bit, 2^-24, so that adding it rounds them.
 */
static inline uint16_t vector_half_of(float value)
{
    const uint32_t all = vector_bits(value), sign = all >> 16 & 0x8000u, bits = all & 0x7FFFFFFFu;
    const uint32_t normal = (bits - (112u << 23) + 0xFFFu + (bits >> 13 & 1)) >> 13;
    const uint32_t denormal = vector_bits(vector_float(bits) + 0.5f) - 0x3F000000u;
    const uint32_t finite = bits < 0x38800000u ? denormal : normal; /* 2^-14 */
    const uint32_t number = bits >= 0x477FF000u ? 0x7C00u : finite; /* 65520 */

    return (uint16_t)(sign | (bits > 0x7F800000u ? 0x7E00u : number));
}

static inline float vector_of_bfloat(uint16_t b)
{
    return vector_float((uint32_t)b << 16);
}

static inline uint16_t vector_bfloat_of(float value)
{
    const uint32_t bits = vector_bits(value);
    const uint32_t rounded = (bits + 0x7FFFu + (bits >> 16 & 1)) >> 16;

    return (uint16_t)((bits & 0x7FFFFFFFu) > 0x7F800000u ? bits >> 16 | 0x40u : rounded);
}

#endif
