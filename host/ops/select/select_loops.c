#include "ops/select/select_loops.h"

#include <math.h>
#include <string.h>

#include "base/fetch_ahead.h"
#include "base/half.h"
#include "base/past_caches.h"
#include "base/vector_half.h"

#if ISA == 2
#include <immintrin.h>
#endif

/* A loop for each comparison, by vectors.  Those of floats are IEEE 754's. */
#define EACH(VALUE, LOAD, CONDITION)                                                               \
    for (size_t i = 0; i < n; i++) {                                                               \
        const VALUE e = LOAD(x[i]);                                                                \
                                                                                                   \
        holds[i] = (unsigned char)(CONDITION);                                                     \
    }                                                                                              \
    break

#define COMPARE(name, IN, VALUE, LOAD, MEMBER)                                                     \
    static size_t compare_##name(const tsr_select_problem *p, const void *array, size_t at,        \
                                 size_t n, unsigned char *holds)                                   \
    {                                                                                              \
        const IN *x = (const IN *)array + at;                                                      \
        const VALUE value = MEMBER;                                                                \
        uint16_t count = 0; /* n is at most SELECT_STRETCH; a vector has more lanes of 16 bits */  \
                                                                                                   \
        switch (p->where) {                                                                        \
        case TSR_GREATER:                                                                          \
            EACH(VALUE, LOAD, e > value);                                                          \
        case TSR_GREATER_EQUAL:                                                                    \
            EACH(VALUE, LOAD, e >= value);                                                         \
        case TSR_LESS:                                                                             \
            EACH(VALUE, LOAD, e < value);                                                          \
        case TSR_LESS_EQUAL:                                                                       \
            EACH(VALUE, LOAD, e <= value);                                                         \
        case TSR_EQUAL:                                                                            \
            EACH(VALUE, LOAD, e == value);                                                         \
        case TSR_NOT_EQUAL:                                                                        \
            EACH(VALUE, LOAD, e != value);                                                         \
        case TSR_IS_NAN:                                                                           \
            EACH(VALUE, LOAD, e != e);                                                             \
        default:                                                                                   \
            EACH(VALUE, LOAD, e == e);                                                             \
        }                                                                                          \
        for (size_t i = 0; i < n; i++)                                                             \
            count = (uint16_t)(count + holds[i]);                                                  \
        return count;                                                                              \
    }

#define AS_IT_IS(x) (x)

COMPARE(f32, float, float, AS_IT_IS, (float)p->value.real)
COMPARE(f64, double, double, AS_IT_IS, p->value.real)
COMPARE(f16, uint16_t, float, vector_of_half, half_to_float(half_of(p->value.real)))
COMPARE(bf16, uint16_t, float, vector_of_bfloat, bfloat_to_float(bfloat_of(p->value.real)))
COMPARE(i8, int8_t, int8_t, AS_IT_IS, (int8_t)p->value.integer)
COMPARE(i16, int16_t, int16_t, AS_IT_IS, (int16_t)p->value.integer)
COMPARE(i32, int32_t, int32_t, AS_IT_IS, (int32_t)p->value.integer)
COMPARE(i64, int64_t, int64_t, AS_IT_IS, p->value.integer)
COMPARE(u8, uint8_t, uint8_t, AS_IT_IS, (uint8_t)p->value.natural)
COMPARE(u16, uint16_t, uint16_t, AS_IT_IS, (uint16_t)p->value.natural)
COMPARE(u32, uint32_t, uint32_t, AS_IT_IS, (uint32_t)p->value.natural)
COMPARE(u64, uint64_t, uint64_t, AS_IT_IS, p->value.natural)

select_compare *ISA_NAMED(select_compare_of)(tsr_type type)
{
    static select_compare *const of[TSR_TYPE_COUNT] = {
        [TSR_F32] = compare_f32,   [TSR_F64] = compare_f64, [TSR_F16] = compare_f16,
        [TSR_BF16] = compare_bf16, [TSR_I8] = compare_i8,   [TSR_I16] = compare_i16,
        [TSR_I32] = compare_i32,   [TSR_I64] = compare_i64, [TSR_U8] = compare_u8,
        [TSR_U16] = compare_u16,   [TSR_U32] = compare_u32, [TSR_U64] = compare_u64};

    return of[type];
}

#if ISA == 2
/* What is selected of a vector, side by side: the lanes behind it are overwritten by the next.
 * Words of 1 and 2 bytes are widened, since AVX-512 compresses them in an extension alone. */
enum { BYTES_LANES = 16, HALVES_LANES = 16, WORDS_LANES = 16, LONGS_LANES = 8 };

static inline __mmask16 lanes_held(const unsigned char *holds)
{
    const __m128i held = _mm_loadu_si128((const __m128i *)(const void *)holds);

    return _mm_test_epi8_mask(held, held);
}

static inline size_t compress_bytes(const uint8_t *x, const unsigned char *holds, uint8_t *to)
{
    const __mmask16 held = lanes_held(holds);
    const __m512i wide = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)x));

    _mm_storeu_si128((__m128i *)(void *)to,
                     _mm512_cvtepi32_epi8(_mm512_maskz_compress_epi32(held, wide)));
    return (size_t)__builtin_popcount(held);
}

static inline size_t compress_halves(const uint16_t *x, const unsigned char *holds, uint16_t *to)
{
    const __mmask16 held = lanes_held(holds);
    const __m512i wide =
        _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)x));

    _mm256_storeu_si256((__m256i *)(void *)to,
                        _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(held, wide)));
    return (size_t)__builtin_popcount(held);
}

static inline size_t compress_words(const uint32_t *x, const unsigned char *holds, uint32_t *to)
{
    const __mmask16 held = lanes_held(holds);

    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(held, _mm512_loadu_si512(x)));
    return (size_t)__builtin_popcount(held);
}

static inline size_t compress_longs(const uint64_t *x, const unsigned char *holds, uint64_t *to)
{
    const __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)holds);
    const __mmask8 held = (__mmask8)_mm_test_epi8_mask(bytes, bytes);

    _mm512_storeu_si512(to, _mm512_maskz_compress_epi64(held, _mm512_loadu_si512(x)));
    return (size_t)__builtin_popcount(held);
}

#define VECTORS(kind)                                                                              \
    for (; i + kind##_LANES <= n; i += kind##_LANES)                                               \
    count += COMPRESS_##kind(x + i, holds + i, to + count)
#define COMPRESS_BYTES  compress_bytes
#define COMPRESS_HALVES compress_halves
#define COMPRESS_WORDS  compress_words
#define COMPRESS_LONGS  compress_longs
#else
#define VECTORS(kind)
#endif

/* Every element is stored, and what is not selected overwritten by the next: no branch to be
 * guessed wrong. */
#define GATHER(name, WORD, kind)                                                                   \
    typedef WORD name##_word;                                                                      \
                                                                                                   \
    static size_t name(const void *array, size_t at, size_t n, const unsigned char *holds,         \
                       void *out)                                                                  \
    {                                                                                              \
        const WORD *x = (const WORD *)array + at;                                                  \
        name##_word *to = out;                                                                     \
        size_t count = 0, i = 0;                                                                   \
                                                                                                   \
        VECTORS(kind);                                                                             \
        for (; i < n; i++) {                                                                       \
            to[count] = x[i];                                                                      \
            count += holds[i];                                                                     \
        }                                                                                          \
        return count;                                                                              \
    }

GATHER(gather_1, uint8_t, BYTES)
GATHER(gather_2, uint16_t, HALVES)
GATHER(gather_4, uint32_t, WORDS)
GATHER(gather_8, uint64_t, LONGS)

select_gather *ISA_NAMED(select_gather_of)(size_t bytes)
{
    return bytes == 1 ? gather_1 : bytes == 2 ? gather_2 : bytes == 4 ? gather_4 : gather_8;
}

#if ISA == 2
#define GREATER       _CMP_GT_OQ
#define GREATER_EQUAL _CMP_GE_OQ
#define LESS          _CMP_LT_OQ
#define LESS_EQUAL    _CMP_LE_OQ
#define EQUAL         _CMP_EQ_OQ
#define NOT_EQUAL     _CMP_NEQ_UQ
#define NAN_ALONE     _CMP_UNORD_Q
#define NOT_NAN       _CMP_ORD_Q

#define NAMED(what) what##_f32
#define ELEMENT     float
#define MEMBER      real
#define VECTOR      __m512
#define MASK        __mmask16
#define LANES       16
#define SET         _mm512_set1_ps
#define LOAD        _mm512_maskz_loadu_ps
#define COMPARED    _mm512_mask_cmp_ps_mask
#define COMPRESS    _mm512_maskz_compress_ps
#define STORE       _mm512_storeu_ps
#define STORE_SOME  _mm512_mask_storeu_ps
#include "ops/select/select_direct_body.h"

#define NAMED(what) what##_f64
#define ELEMENT     double
#define MEMBER      real
#define VECTOR      __m512d
#define MASK        __mmask8
#define LANES       8
#define SET         _mm512_set1_pd
#define LOAD        _mm512_maskz_loadu_pd
#define COMPARED    _mm512_mask_cmp_pd_mask
#define COMPRESS    _mm512_maskz_compress_pd
#define STORE       _mm512_storeu_pd
#define STORE_SOME  _mm512_mask_storeu_pd
#include "ops/select/select_direct_body.h"

#undef GREATER
#undef GREATER_EQUAL
#undef LESS
#undef LESS_EQUAL
#undef EQUAL
#undef NOT_EQUAL
#undef NAN_ALONE
#undef NOT_NAN
#define GREATER       _MM_CMPINT_NLE
#define GREATER_EQUAL _MM_CMPINT_NLT
#define LESS          _MM_CMPINT_LT
#define LESS_EQUAL    _MM_CMPINT_LE
#define EQUAL         _MM_CMPINT_EQ
#define NOT_EQUAL     _MM_CMPINT_NE
#define NAN_ALONE     3 /* never */
#define NOT_NAN       7 /* always */

#define NAMED(what) what##_i32
#define ELEMENT     int32_t
#define MEMBER      integer
#define VECTOR      __m512i
#define MASK        __mmask16
#define LANES       16
#define SET         _mm512_set1_epi32
#define LOAD        _mm512_maskz_loadu_epi32
#define COMPARED    _mm512_mask_cmp_epi32_mask
#define COMPRESS    _mm512_maskz_compress_epi32
#define STORE       _mm512_storeu_si512
#define STORE_SOME  _mm512_mask_storeu_epi32
#include "ops/select/select_direct_body.h"

#define NAMED(what) what##_u32
#define ELEMENT     uint32_t
#define MEMBER      natural
#define VECTOR      __m512i
#define MASK        __mmask16
#define LANES       16
#define SET         _mm512_set1_epi32
#define LOAD        _mm512_maskz_loadu_epi32
#define COMPARED    _mm512_mask_cmp_epu32_mask
#define COMPRESS    _mm512_maskz_compress_epi32
#define STORE       _mm512_storeu_si512
#define STORE_SOME  _mm512_mask_storeu_epi32
#include "ops/select/select_direct_body.h"

#define NAMED(what) what##_i64
#define ELEMENT     int64_t
#define MEMBER      integer
#define VECTOR      __m512i
#define MASK        __mmask8
#define LANES       8
#define SET         _mm512_set1_epi64
#define LOAD        _mm512_maskz_loadu_epi64
#define COMPARED    _mm512_mask_cmp_epi64_mask
#define COMPRESS    _mm512_maskz_compress_epi64
#define STORE       _mm512_storeu_si512
#define STORE_SOME  _mm512_mask_storeu_epi64
#include "ops/select/select_direct_body.h"

#define NAMED(what) what##_u64
#define ELEMENT     uint64_t
#define MEMBER      natural
#define VECTOR      __m512i
#define MASK        __mmask8
#define LANES       8
#define SET         _mm512_set1_epi64
#define LOAD        _mm512_maskz_loadu_epi64
#define COMPARED    _mm512_mask_cmp_epu64_mask
#define COMPRESS    _mm512_maskz_compress_epi64
#define STORE       _mm512_storeu_si512
#define STORE_SOME  _mm512_mask_storeu_epi64
#include "ops/select/select_direct_body.h"

const select_direct *ISA_NAMED(select_direct_of)(tsr_type type)
{
    static const select_direct *const of[TSR_TYPE_COUNT] = {
        [TSR_F32] = &direct_f32, [TSR_F64] = &direct_f64, [TSR_I32] = &direct_i32,
        [TSR_U32] = &direct_u32, [TSR_I64] = &direct_i64, [TSR_U64] = &direct_u64};

    return of[type];
}
#else
const select_direct *ISA_NAMED(select_direct_of)(tsr_type type)
{
    (void)type;
    return NULL;
}
#endif
