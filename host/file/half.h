/** IEEE 754 binary16, which C11 has no type for. */
#ifndef FILE_HALF_H
#define FILE_HALF_H

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

#endif
