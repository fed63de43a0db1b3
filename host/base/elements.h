/** Elements of arrays of any type: which types are what, and the integers among them. */
#ifndef BASE_ELEMENTS_H
#define BASE_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/types.h"

/** Types of which an element is one number come first in tsr_type: the number of them, and a bit
 * for each. */
enum { SINGLE_TYPE_COUNT = TSR_C64, SINGLE_TYPES = (1 << SINGLE_TYPE_COUNT) - 1 };

/** Floating-point numbers: float32, float64, float16 and bfloat16. */
static inline bool type_is_real(tsr_type type)
{
    return type == TSR_F32 || type == TSR_F64 || type == TSR_F16 || type == TSR_BF16;
}

/** Pairs of a real and an imaginary part. */
static inline bool type_is_complex(tsr_type type)
{
    return type == TSR_C64 || type == TSR_C128;
}

/** What the parts of a complex number are; any other type itself. */
static inline tsr_type type_part(tsr_type type)
{
    return type == TSR_C64 ? TSR_F32 : type == TSR_C128 ? TSR_F64 : type;
}

/** Parts of an element: 2 of a complex number, else 1. */
static inline size_t type_parts(tsr_type type)
{
    return type_is_complex(type) ? 2 : 1;
}

/** Floating-point numbers of 8 bits. */
static inline bool type_is_fp8(tsr_type type)
{
    return type == TSR_F8E4M3 || type == TSR_F8E5M2;
}

/** Integers with a sign. */
static inline bool type_is_signed(tsr_type type)
{
    return type == TSR_I8 || type == TSR_I16 || type == TSR_I32 || type == TSR_I64;
}

/** The bits of element i, and zeros above them. */
static inline uint64_t bits_get(tsr_type type, const void *elements, size_t i)
{
    switch (tsr_type_size(type)) {
    case 1:
        return ((const uint8_t *)elements)[i];
    case 2:
        return ((const uint16_t *)elements)[i];
    case 4:
        return ((const uint32_t *)elements)[i];
    default:
        return ((const uint64_t *)elements)[i];
    }
}

/** Store the low bits of `bits` as element i. */
static inline void bits_set(tsr_type type, void *elements, size_t i, uint64_t bits)
{
    switch (tsr_type_size(type)) {
    case 1:
        ((uint8_t *)elements)[i] = (uint8_t)bits;
        break;
    case 2:
        ((uint16_t *)elements)[i] = (uint16_t)bits;
        break;
    case 4:
        ((uint32_t *)elements)[i] = (uint32_t)bits;
        break;
    default:
        ((uint64_t *)elements)[i] = bits;
        break;
    }
}

/** The value of element i, an integer, modulo 2^64: as an int64_t it is that of a signed type. */
static inline uint64_t integer_get(tsr_type type, const void *elements, size_t i)
{
    const uint64_t bits = bits_get(type, elements, i);
    const uint64_t sign = (uint64_t)1 << (8 * tsr_type_size(type) - 1);

    return type_is_signed(type) ? (bits ^ sign) - sign : bits;
}

#endif
