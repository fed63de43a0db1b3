/*
 * The share of a thread in a product of a matrix and a vector: either a row at a time is multiplied
 * by x, or rows times elements of x are added to all sums.  Four rows go together, which hides
 * latencies and reads x, or writes the sums, once for four.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/vector_half.h"
#include "ops/matvec/matvec_simd.h"

#if ISA == 2 || ISA == 1
#include <immintrin.h>
#endif
#if ISA == 2

enum { VECTOR_BYTES = 64 };
#elif ISA == 1
enum { VECTOR_BYTES = 32 };
#else
enum { VECTOR_BYTES = 16 };
#endif

enum { ROWS = 4 };

/* Lanes by their numbers. */
#if ISA == 2
#define SPREAD_FROM(l)                 ((MASK)(l))
#define SPREAD(v, from)                SPREAD_NAMED((__m512i)(from), v)
#define SPREAD_INTO(to, keep, v, from) SPREAD_INTO_NAMED(to, keep, (__m512i)(from), v)
#elif ISA == 1
#define SPREAD(v, from) (__typeof__(v))_mm256_permutevar8x32_epi32((__m256i)(v), (__m256i)(from))
#endif

#define REAL float
#define MASK int32_t
#if ISA == 2
#define SPREAD_NAMED(from, v) (__typeof__(v))_mm512_permutexvar_ps(from, (__m512)(v))
#define SPREAD_INTO_NAMED(to, keep, from, v)                                                       \
    (__typeof__(v))_mm512_mask_permutexvar_ps((__m512)(to), keep, from, (__m512)(v))
#elif ISA == 1
#define SPREAD_FROM(l) ((MASK)(l))
#endif
#define ELEMENT float
#define SUMS
#define LOAD(at)     load_f32(at)
#define VALUE(e)     (e)
#define NAMED(name)  name##_f32
#define PUBLIC(name) ISA_NAMED(name##_f32)
#include "ops/matvec/matvec_simd_body.h"
#undef ELEMENT
#undef SUMS
#undef LOAD
#undef VALUE
#undef NAMED
#undef PUBLIC

/* Sixteen bits of each lane. */
typedef uint16_t halves __attribute__((vector_size(VECTOR_BYTES / 2), aligned(2)));
typedef uint32_t words __attribute__((vector_size(VECTOR_BYTES)));

static inline words load_halves(const uint16_t *at)
{
    return __builtin_convertvector(*(const halves *)at, words);
}

#if ISA == 2
static inline vector_f32 load_f16_as_f32(const uint16_t *at)
{
    return (vector_f32)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)at));
}
#else
/* As vector_of_half(), base/vector_half.h. */
static inline vector_f32 load_f16_as_f32(const uint16_t *at)
{
    const words h = load_halves(at), sign = (h & 0x8000) << 16, rest = (h & 0x7FFF) << 13;
    const words bits = (words)((vector_f32)rest * 0x1p112f), beyond = (words)(rest >= 0x0F800000);

    return (vector_f32)(sign | (beyond & (rest | 0x7F800000)) | (~beyond & bits));
}
#endif

static inline vector_f32 load_bf16_as_f32(const uint16_t *at)
{
    return (vector_f32)(load_halves(at) << 16);
}

#define ELEMENT      uint16_t
#define LOAD(at)     load_f16_as_f32(at)
#define VALUE(e)     vector_of_half(e)
#define NAMED(name)  name##_f16
#define PUBLIC(name) ISA_NAMED(name##_f16)
#include "ops/matvec/matvec_simd_body.h"
#undef LOAD
#undef VALUE
#undef NAMED
#undef PUBLIC

#define LOAD(at)     load_bf16_as_f32(at)
#define VALUE(e)     vector_of_bfloat(e)
#define NAMED(name)  name##_bf16
#define PUBLIC(name) ISA_NAMED(name##_bf16)
#include "ops/matvec/matvec_simd_body.h"
#undef REAL
#undef MASK
#undef ELEMENT
#undef LOAD
#undef VALUE
#undef NAMED
#undef PUBLIC

#define REAL double
#define MASK int64_t
#undef SPREAD_NAMED
#undef SPREAD_INTO_NAMED
#if ISA == 2
#define SPREAD_NAMED(from, v) (__typeof__(v))_mm512_permutexvar_pd(from, (__m512d)(v))
#define SPREAD_INTO_NAMED(to, keep, from, v)                                                       \
    (__typeof__(v))_mm512_mask_permutexvar_pd((__m512d)(to), (__mmask8)(keep), from, (__m512d)(v))
#elif ISA == 1
/* Both halves of an element. */
#undef SPREAD_FROM
#define SPREAD_FROM(l) ((MASK)(2 * (l)) | (MASK)(2 * (l) + 1) << 32)
#endif
#define ELEMENT double
#define SUMS
#define LOAD(at)     load_f64(at)
#define VALUE(e)     (e)
#define NAMED(name)  name##_f64
#define PUBLIC(name) ISA_NAMED(name##_f64)
#include "ops/matvec/matvec_simd_body.h"
