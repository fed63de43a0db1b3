#include "ops/sort/sort_host_loops.h"

#include <string.h>

#include "base/isa.h"

#if ISA == 2 /* AVX-512 */
#include <immintrin.h>

/* Nine vectors are samples for a pivot, and three of fewer words. */
enum { MANY = 512 };

/* Words of so many vectors are sorted in registers: all loops over them are unrolled. */
enum { VECTORS_MAX = 16 };

#define PRAGMA(x) _Pragma(#x)
#ifdef __clang__
#define UNROLL(most) PRAGMA(clang loop unroll(full))
#else
#define UNROLL(most) PRAGMA(GCC unroll most)
#endif

#define WORD             uint32_t
#define SIGNED           int32_t
#define MASK             __mmask16
#define LANES            16
#define V(name)          _mm512_##name##_epi32
#define V_MASK(name)     _mm512_##name##_epu32_mask
#define V_UNSIGNED(name) _mm512_##name##_epu32
#define V_FIRST(v)       _mm_cvtsi128_si32(_mm512_castsi512_si128(v))
#define LANE_NUMBERS     _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define NAMED(name)      name##_32
#include "ops/sort/sort_host_quick.h"
#undef WORD
#undef SIGNED
#undef MASK
#undef LANES
#undef V
#undef V_MASK
#undef V_UNSIGNED
#undef V_FIRST
#undef LANE_NUMBERS
#undef NAMED

#define WORD             uint64_t
#define SIGNED           int64_t
#define MASK             __mmask8
#define LANES            8
#define V(name)          _mm512_##name##_epi64
#define V_MASK(name)     _mm512_##name##_epu64_mask
#define V_UNSIGNED(name) _mm512_##name##_epu64
#define V_FIRST(v)       _mm_cvtsi128_si64(_mm512_castsi512_si128(v))
#define LANE_NUMBERS     _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0)
#define NAMED(name)      name##_64
#include "ops/sort/sort_host_quick.h"

#endif

bool ISA_NAMED(sort_quick_32)(uint32_t *from, uint32_t *to, size_t n)
{
#if ISA == 2
    quick_32(from, to, n);
    return true;
#else
    (void)from, (void)to, (void)n;
    return false;
#endif
}

bool ISA_NAMED(sort_quick_64)(uint64_t *from, uint64_t *to, size_t n)
{
#if ISA == 2
    quick_64(from, to, n);
    return true;
#else
    (void)from, (void)to, (void)n;
    return false;
#endif
}

size_t ISA_NAMED(sort_split_32)(const uint32_t *from, uint32_t *to, size_t n)
{
#if ISA == 2
    return split_32(from, to, n, median_32(from, n));
#else
    (void)from, (void)to, (void)n;
    return 0;
#endif
}

size_t ISA_NAMED(sort_split_64)(const uint64_t *from, uint64_t *to, size_t n)
{
#if ISA == 2
    return split_64(from, to, n, median_64(from, n));
#else
    (void)from, (void)to, (void)n;
    return 0;
#endif
}

/* Mostly no key of so many is taken. */
enum { PASSED_OVER = 64 };

#define TAKE(KEY, name)                                                                            \
    size_t ISA_NAMED(name)(const sort_map *map, const void *keys, size_t first, size_t n,          \
                           bool all, uint64_t limit, word_pair *out)                               \
    {                                                                                              \
        const sort_map m = *map;                                                                   \
        const KEY *from = (const KEY *)keys, end = (KEY)limit;                                     \
        size_t count = 0;                                                                          \
                                                                                                   \
        for (size_t i = first; i < first + n; i += PASSED_OVER) {                                  \
            const size_t stop = i + PASSED_OVER < first + n ? i + PASSED_OVER : first + n;         \
            KEY any = all;                                                                         \
                                                                                                   \
            for (size_t j = i; j < stop; j++)                                                      \
                any |= SORT_WORD(KEY, m, from[j]) < end;                                           \
            for (size_t j = i; any && j < stop; j++) {                                             \
                const KEY word = SORT_WORD(KEY, m, from[j]);                                       \
                                                                                                   \
                out[count] = (word_pair){word, j};                                                 \
                count += all | (word < end);                                                       \
            }                                                                                      \
        }                                                                                          \
        return count;                                                                              \
    }

TAKE(uint8_t, sort_take_8)
TAKE(uint16_t, sort_take_16)
TAKE(uint32_t, sort_take_32)
TAKE(uint64_t, sort_take_64)
