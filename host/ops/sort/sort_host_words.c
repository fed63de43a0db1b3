#include "ops/sort/sort_host_words.h"

#include <string.h>

#include "base/isa.h"
#include "base/team.h"
#include "ops/sort/sort_host_loops.h"

#ifdef _OPENMP
#define PRAGMA(x) _Pragma(#x)
#define OMP(x)    PRAGMA(omp x)
#else
#define OMP(x)
#endif

enum { INDEX_BITS = 32 };

/* ---- keys and words ------------------------------------------------------------------------ */

#define KEY         uint8_t
#define NAMED(name) name##_8
#define KEY_LEAVES_ROOM
#include "ops/sort/sort_host_keys.h"
#undef KEY
#undef NAMED

#define KEY         uint16_t
#define NAMED(name) name##_16
#include "ops/sort/sort_host_keys.h"
#undef KEY
#undef NAMED

#define KEY         uint32_t
#define NAMED(name) name##_32
#include "ops/sort/sort_host_keys.h"
#undef KEY
#undef NAMED
#undef KEY_LEAVES_ROOM

#define KEY         uint64_t
#define NAMED(name) name##_64
#include "ops/sort/sort_host_keys.h"
#undef KEY
#undef NAMED

sort_map sort_map_of(tsr_type type, bool descending)
{
    const size_t bits = 8 * tsr_type_size(type);
    const uint64_t all = UINT64_MAX >> (64 - bits), sign = (uint64_t)1 << (bits - 1);
    const unsigned fraction = type == TSR_F16 ? 10 : type == TSR_F32 ? 23 : 52;
    sort_map m = {.down = descending ? all : 0};

    switch (type) {
    case TSR_U8:
    case TSR_U16:
    case TSR_U32:
    case TSR_U64:
        return m;
    case TSR_I8:
    case TSR_I16:
    case TSR_I32:
    case TSR_I64:
        m.flip_positive = m.flip_negative = sign;
        return m;
    default:
        /* Numbers of either sign then ascend, but NaNs with a sign come before all others: there
         * are as many as fractions that are not 0. */
        m.flip_positive = sign;
        m.flip_negative = all;
        m.bias = ((uint64_t)1 << fraction) - 1;
        return m;
    }
}

/* ---- digits ---------------------------------------------------------------------------------- */

/* Up to so many words all pairs are compared. */
enum { RANKED_MAX = 64 };

/* Digits of DIGIT_BITS_MAX have many counts for few words. */
enum { WIDE_DIGIT_WORDS = 4096, NARROW_DIGIT_BITS = 8 };

/* The next digit from the bits that vary, about as wide as those after it, which loses its bits. */
static digit next_digit(uint64_t *varies, size_t n)
{
    const unsigned most = n < WIDE_DIGIT_WORDS ? NARROW_DIGIT_BITS : DIGIT_BITS_MAX;
    const unsigned shift = (unsigned)__builtin_ctzll(*varies);
    const unsigned span = 64 - (unsigned)__builtin_clzll(*varies) - shift;
    const unsigned passes = (span + most - 1) / most, bits = (span + passes - 1) / passes;

    *varies &= ~((((uint64_t)1 << bits) - 1) << shift);
    return (digit){.shift = shift, .bits = bits};
}

void sort_digit_starts(size_t counts[], size_t chunks, digit d)
{
    const size_t digits = digit_counts(d);
    size_t start = 0;

    for (size_t i = 0; i < digits; i++) {
        for (size_t c = 0; c < chunks; c++) {
            const size_t count = counts[c * digits + i];

            counts[c * digits + i] = start;
            start += count;
        }
    }
}

/* Words of so many values and more, that go so many bytes apart, are scattered by lines. */
enum { LINES_VALUES_MIN = 128, LINES_BYTES_MIN = 1 << 22 };

/* Keys may start at any byte. */
typedef uint64_t cache_line __attribute__((vector_size(64), may_alias, aligned(1)));

#define ORDER(w) (w)

#define WORD        uint8_t
#define ORDER_TYPE  uint8_t
#define NAMED(name) name##_uint8_t
#include "ops/sort/sort_host_digits.h"
#undef WORD
#undef ORDER_TYPE
#undef NAMED

#define WORD        uint16_t
#define ORDER_TYPE  uint16_t
#define NAMED(name) name##_uint16_t
#include "ops/sort/sort_host_digits.h"
#undef WORD
#undef ORDER_TYPE
#undef NAMED

#define WORD        uint32_t
#define ORDER_TYPE  uint32_t
#define NAMED(name) name##_uint32_t
#include "ops/sort/sort_host_digits.h"
#undef WORD
#undef ORDER_TYPE
#undef NAMED

#define WORD        uint64_t
#define ORDER_TYPE  uint64_t
#define NAMED(name) name##_uint64_t
#include "ops/sort/sort_host_digits.h"
#undef WORD
#undef NAMED
#undef ORDER

#define WORD        word_pair
#define ORDER(w)    (w).key
#define NAMED(name) name##_word_pair
#include "ops/sort/sort_host_digits.h"
#undef WORD
#undef ORDER
#undef ORDER_TYPE
#undef NAMED

/* ---- vectors ------------------------------------------------------------------------------- */

static void *sort_32(void *words, void *other, size_t n, uint64_t varies)
{
    static sort_quick_32 *const quick[ISA_COUNT] = {ISA_EACH(sort_quick_32)};

    if (varies && quick[isa_best()](words, other, n))
        return other;
    return sort_uint32_t(words, other, n,
                         varies == UINT64_MAX ? varies_uint32_t(words, 0, 0, n) : varies);
}

static void *sort_64(void *words, void *other, size_t n, uint64_t varies)
{
    static sort_quick_64 *const quick[ISA_COUNT] = {ISA_EACH(sort_quick_64)};

    if (varies && quick[isa_best()](words, other, n))
        return other;
    return sort_uint64_t(words, other, n,
                         varies == UINT64_MAX ? varies_uint64_t(words, 0, 0, n) : varies);
}

static size_t split_32(const void *words, void *other, size_t n)
{
    static sort_split_32 *const split[ISA_COUNT] = {ISA_EACH(sort_split_32)};

    return split[isa_best()](words, other, n);
}

static size_t split_64(const void *words, void *other, size_t n)
{
    static sort_split_64 *const split[ISA_COUNT] = {ISA_EACH(sort_split_64)};

    return split[isa_best()](words, other, n);
}

/* ---- kinds of words -------------------------------------------------------------------------- */

/* The index takes part in no digit. */
static uint64_t varies_with_index(const void *words, size_t one, size_t first, size_t n)
{
    return varies_uint64_t(words, one, first, n) >> INDEX_BITS << INDEX_BITS;
}

#define KIND(word, key, as, varies, split, sort)                                                   \
    {                                                                                              \
        sizeof(word), load_##as##_##key, varies, count_##word, scatter_##word, split, sort,        \
            unload_##as##_##key                                                                    \
    }
#define ALONE(key, split, sort) KIND(uint##key##_t, key, alone, varies_uint##key##_t, split, sort)
#define INDEXED(key)            KIND(uint64_t, key, indexed, varies_with_index, NULL, sort_uint64_t)
#define PAIRS(key)              KIND(word_pair, key, pairs, varies_word_pair, NULL, sort_word_pair)

static const sort_words alone[] = {ALONE(8, NULL, sort_uint8_t), ALONE(16, NULL, sort_uint16_t),
                                   ALONE(32, split_32, sort_32), ALONE(64, split_64, sort_64)};
static const sort_words indexed[] = {INDEXED(8), INDEXED(16), INDEXED(32)};
static const sort_words pairs[] = {PAIRS(8), PAIRS(16), PAIRS(32), PAIRS(64)};

const sort_words *sort_words_of(size_t key_bytes, bool with_index, size_t n)
{
    const size_t i = size_log2_up(key_bytes);

    if (!with_index)
        return &alone[i];
    return key_bytes == 8 || n >> INDEX_BITS ? &pairs[i] : &indexed[i];
}

/* A thread that has fewer keys takes longer to start than it helps. */
enum { THREAD_KEYS_MIN = 1 << 12 };

size_t sort_threads(size_t n)
{
    return n < 2 * THREAD_KEYS_MIN ? 1 : size_min(team_threads(), n / THREAD_KEYS_MIN);
}
