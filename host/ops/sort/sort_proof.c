#include "ops/sort/sort_proof.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elements.h"
#include "base/fail.h"
#include "base/half.h"
#include "base/random.h"
#include "base/sizes.h"
#include "core/findings.h"
#include "core/real.h"
#include "ops/sort/sort_order.h"

/* Longer ones are checked for order, and for the same keys by hashes. */
enum { REFERENCE_MAX = 1 << 20 };

/* Bits of element i, zero-extended. */
static unsigned bits_of(tsr_type type)
{
    return 8 * (unsigned)tsr_type_size(type);
}

static uint64_t sign_of(tsr_type type)
{
    return (uint64_t)1 << (bits_of(type) - 1);
}

static bool is_unsigned(tsr_type type)
{
    return type == TSR_U8 || type == TSR_U16 || type == TSR_U32 || type == TSR_U64;
}

/* The bits of infinity; 0 for an integer type. */
static uint64_t infinity_of(tsr_type type)
{
    return type == TSR_F16   ? 0x7C00
           : type == TSR_F32 ? 0x7F800000
           : type == TSR_F64 ? (uint64_t)0x7FF << 52
                             : 0;
}

/* A whole number as a key; one below zero wraps for an unsigned type. */
static void number_set(tsr_type type, void *array, size_t i, int64_t value)
{
    if (type == TSR_F32)
        ((float *)array)[i] = (float)value;
    else if (type == TSR_F64)
        ((double *)array)[i] = (double)value;
    else if (type == TSR_F16)
        ((uint16_t *)array)[i] = half_of((double)value);
    else
        bits_set(type, array, i, (uint64_t)value);
}

/* Half of them at the edges of the type, half any bits. */
static uint64_t special_bits(tsr_type type, uint64_t *state)
{
    /* Without the sign: zero, the least and the largest denormal, the least normal number, one,
     * the largest finite number, infinity, signalling and quiet NaNs of several payloads. */
    static const uint32_t f32[] = {0,          1,          0x007FFFFF, 0x00800000,
                                   0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001,
                                   0x7FBFFFFF, 0x7FC00000, 0x7FC00001, 0x7FFFFFFF};
    static const uint64_t f64[] = {0,
                                   1,
                                   0x000FFFFFFFFFFFFF,
                                   0x0010000000000000,
                                   0x3FF0000000000000,
                                   0x7FEFFFFFFFFFFFFF,
                                   0x7FF0000000000000,
                                   0x7FF0000000000001,
                                   0x7FF7FFFFFFFFFFFF,
                                   0x7FF8000000000000,
                                   0x7FF8000000000001,
                                   0x7FFFFFFFFFFFFFFF};
    static const uint16_t f16[] = {0,      1,      0x03FF, 0x0400, 0x3C00, 0x7BFF,
                                   0x7C00, 0x7C01, 0x7DFF, 0x7E00, 0x7E01, 0x7FFF};
    /* Around zero, the signed extremes and the unsigned ones. */
    static const uint32_t i32[] = {0,          1,          2,          0x7FFFFFFE,
                                   0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE,
                                   0xFFFFFFFF, 0x0000FFFF, 0x00010000, 0xFFFF0000};
    static const uint64_t i64[] = {0,
                                   1,
                                   0xFFFFFFFF,
                                   0x100000000,
                                   0x80000000,
                                   0x7FFFFFFFFFFFFFFE,
                                   0x7FFFFFFFFFFFFFFF,
                                   0x8000000000000000,
                                   0x8000000000000001,
                                   0xFFFFFFFF00000000,
                                   0xFFFFFFFFFFFFFFFE,
                                   0xFFFFFFFFFFFFFFFF};
    const uint64_t r = random_u64(state), sign = r >> 62 & 1;
    const size_t edge = (r >> 32) % 12;

    if (r & 1)
        return random_u64(state);
    if (type == TSR_F16)
        return f16[edge] | sign << 15;
    if (type == TSR_F32)
        return f32[edge] | sign << 31;
    if (type == TSR_F64)
        return f64[edge] | sign << 63;
    if (bits_of(type) == 64)
        return i64[edge];
    /* Of narrower types the edges are the upper bits, the surroundings of zero the lower ones. */
    return sign ? i32[edge] >> (32 - bits_of(type)) : i32[edge];
}

/* Whether they are an integer, or a finite float but -0. */
static bool is_plain(tsr_type type, uint64_t bits)
{
    const uint64_t sign = sign_of(type), infinity = infinity_of(type);

    return !infinity || ((bits & infinity) != infinity && (bits & (2 * sign - 1)) != sign);
}

static uint64_t plain_bits(tsr_type type, uint64_t (*draw)(tsr_type, uint64_t *), uint64_t *state)
{
    uint64_t bits = draw(type, state);

    while (!is_plain(type, bits))
        bits = draw(type, state);
    return bits;
}

static uint64_t any_bits(tsr_type type, uint64_t *state)
{
    (void)type;
    return random_u64(state);
}

/* Key i of `count` that ascend: whole numbers around zero, of which types of 8 and 16 bits, and
 * float32 of large ones, have so few that keys repeat. */
static int64_t ascending(const tsr_sort_problem *s, size_t i, size_t count)
{
    const int64_t distinct = s->type == TSR_F16 ? 2048 : (int64_t)1 << bits_of(s->type) % 32;
    const bool narrow = bits_of(s->type) < 32 && count > (size_t)distinct;
    const int64_t at =
        narrow ? (int64_t)((double)i / (double)count * (double)distinct) : (int64_t)i;

    return is_unsigned(s->type) ? at : at - (narrow ? distinct : (int64_t)count) / 2;
}

/* What the keys of a whole array have in common. */
typedef struct common {
    distribution keys;
    size_t count;    /* keys of the array */
    size_t tooth;    /* of them in a stretch that ascends */
    uint64_t two[2]; /* their bits, distinct */
} common;

/* The tooth is odd, so that its edges meet those of tiles anywhere. */
static common common_of(const tsr_sort_problem *s, distribution f, size_t count, uint64_t state)
{
    const uint64_t mask = 2 * sign_of(s->type) - 1;
    common c = {.keys = f, .count = count, .tooth = (size_t)sqrt((double)count) | 1};

    c.two[0] = plain_bits(s->type, special_bits, &state) & mask;
    do
        c.two[1] = plain_bits(s->type, special_bits, &state) & mask;
    while (c.two[1] == c.two[0]);
    return c;
}

static void fill_key(const tsr_sort_problem *s, const common *c, size_t i, uint64_t *state,
                     void *keys)
{
    switch (c->keys) {
    case DISTRIBUTION_PLAIN:
        bits_set(s->type, keys, i, plain_bits(s->type, any_bits, state));
        break;
    case DISTRIBUTION_SPECIAL:
        bits_set(s->type, keys, i, special_bits(s->type, state));
        break;
    case DISTRIBUTION_FEW:
        number_set(s->type, keys, i,
                   (int64_t)(random_u64(state) % 17) - (is_unsigned(s->type) ? 0 : 8));
        break;
    case DISTRIBUTION_ORDERED:
        number_set(s->type, keys, i, ascending(s, i, c->count));
        break;
    case DISTRIBUTION_REVERSED:
        number_set(s->type, keys, i, ascending(s, c->count - 1 - i, c->count));
        break;
    case DISTRIBUTION_CONSTANT:
        bits_set(s->type, keys, i, c->two[0]);
        break;
    case DISTRIBUTION_TWO:
        bits_set(s->type, keys, i, c->two[random_u64(state) >> 63]);
        break;
    case DISTRIBUTION_SAWTOOTH:
        number_set(s->type, keys, i, ascending(s, i % c->tooth, c->tooth));
        break;
    default:
        bits_set(s->type, keys, i, random_u64(state));
    }
}

const char *sort_fill_word(distribution f)
{
    static const char *const words[DISTRIBUTION_COUNT] = {
        [DISTRIBUTION_PLAIN] = "random",      [DISTRIBUTION_UNIFORM] = "uniform",
        [DISTRIBUTION_SPECIAL] = "special",   [DISTRIBUTION_FEW] = "few-values",
        [DISTRIBUTION_ORDERED] = "sorted",    [DISTRIBUTION_REVERSED] = "reversed",
        [DISTRIBUTION_CONSTANT] = "constant", [DISTRIBUTION_TWO] = "two-values",
        [DISTRIBUTION_SAWTOOTH] = "sawtooth"};

    return words[f];
}

/* Threads take chunks; each chunk has a stream of random numbers of its own. */
enum { CHUNK = 1 << 16 };

void sort_fill(const problem *p, uint64_t seed, distribution f, void *const operands[])
{
    const tsr_sort_problem *s = sort_of(p);
    const size_t n = sort_keys(s);
    const size_t keys = n ? s->offset_keys + n : 0;
    const size_t indices = s->argsort && n ? s->offset_index + n : 0;
    const size_t value_bytes = n ? (s->offset_values + n) * s->value_bytes : 0;
    const long long chunks = (long long)size_div_up(keys, CHUNK);
    const common c = common_of(s, f, keys, random_stream(seed, 1 + (uint64_t)chunks));
    uint64_t state = random_stream(seed, 0);

#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) if (chunks > 1)
#endif
    for (long long k = 0; k < chunks; k++) {
        const size_t begin = (size_t)k * CHUNK, end = size_min(begin + CHUNK, keys);
        uint64_t own = random_stream(seed, 1 + (uint64_t)k);

        for (size_t i = begin; i < end; i++)
            fill_key(s, &c, i, &own, operands[0]);
    }
    for (size_t i = 0; i < indices; i++)
        ((uint64_t *)operands[1])[i] = random_u64(&state);
    for (size_t i = 0; i < value_bytes; i++)
        ((unsigned char *)operands[2])[i] = (unsigned char)(random_u64(&state) >> 56);
}

/* Around the sizes of sub-stages, work-groups, tiles and passes; the small ones first. */
static const size_t lengths[] = {
    0,    1,    2,    3,    5,    7,    8,    9,    31,   32,    33,    63,    64,    65,
    127,  128,  129,  255,  256,  257,  300,  511,  512,  513,   1000,  1023,  1024,  1025,
    2047, 2048, 2049, 3000, 4095, 4096, 4097, 8191, 8193, 10007, 16385, 32768, 65537, 100003};

enum {
    LENGTHS = sizeof(lengths) / sizeof(lengths[0]),
    LENGTHS_TINY = 21, /* up to 300 */
    EVERY = 3,         /* a case takes every third length, ... */
    EVERY_TINY = 7     /* ... or every seventh */
};
_Static_assert(LENGTHS % EVERY == 0 && LENGTHS_TINY % EVERY_TINY == 0, "cases are equally long");

/* What the tiny sweep has of them for uint32 keys alone: from 127 on one beyond a power of two is
 * enough, as a simulator takes seconds for each, and cases of this type have the others too. */
static const size_t plain_tiny[] = {0, 1, 2, 3, 5, 7, 8, 9, 31, 32, 33, 63, 64, 65, 129, 257};

/* Several rows stay several, and together below a size. */
static size_t rows_within(size_t rows, size_t n, bool tiny)
{
    const size_t most = (tiny ? 1000 : 200000) / size_max(n, 1);

    return rows < 2 ? rows : size_max(size_min(rows, most), 2);
}

/* Cases of the same type before case c, from a number on that differs from type to type, so that
 * first cases do not all have the same distributions. */
static size_t cases_before(const sort_case *cases, size_t c)
{
    size_t count = 3 * (size_t)cases[c].type; /* distribution_at turns by three cases */

    for (size_t i = 0; i < c; i++)
        count += cases[i].type == cases[c].type;
    return count;
}

/* Inputs of the length `at` of a case that so many of its type come before.  Every third length has
 * random keys, whose loss or exchange shows most; the other distributions take turns at the rest,
 * further on in each case, so that two lengths and three cases are enough for all. */
static distribution distribution_at(size_t before, size_t at)
{
    static const distribution others[] = {DISTRIBUTION_FEW,      DISTRIBUTION_ORDERED,
                                          DISTRIBUTION_REVERSED, DISTRIBUTION_CONSTANT,
                                          DISTRIBUTION_TWO,      DISTRIBUTION_SAWTOOTH};
    const size_t count = sizeof(others) / sizeof(others[0]);

    if (at % 3 == 2)
        return (before + before / 2 + at / 6) % 2 ? DISTRIBUTION_SPECIAL : DISTRIBUTION_UNIFORM;
    return others[(at - at / 3 + 2 * before + before / 3) % count];
}

const sort_case *sort_sweep_cases(const sort_case *cases, size_t count, size_t i, bool tiny,
                                  problem *out)
{
    const size_t every = tiny ? EVERY_TINY : EVERY;
    const size_t lengths_per_case = (tiny ? LENGTHS_TINY : LENGTHS) / every;
    const size_t c = i % count, at = i / count; /* short lengths first, each in every case */
    const size_t turn = at % 2;
    const sort_corner corner = cases[c].corner[turn];
    size_t n;

    if (at >= lengths_per_case)
        return NULL;
    n = lengths[at * every + c % every];
    /* A distribution that comes again in a case is at the other corner: 3 or 9 lengths on. */
    out->inputs = distribution_at(cases_before(cases, c), at);
    *sort_in(out) =
        (tsr_sort_problem){.type = cases[c].type,
                           .n = n,
                           .descending = corner == SORT_DOWN || corner == SORT_DOWN_INDEX,
                           .argsort = corner == SORT_UP_INDEX || corner == SORT_DOWN_INDEX,
                           .value_bytes = cases[c].value_bytes[turn],
                           .rows = rows_within(cases[c].rows, n, tiny)};
    if ((at + c) % 4 == 3) {
        sort_in(out)->offset_keys = 1 + i % 7;
        sort_in(out)->offset_index = i % 5;
        sort_in(out)->offset_values = i % 3;
    }
    return &cases[c];
}

static void reject(verdict *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void reject(verdict *out, const char *format, ...)
{
    va_list args;

    out->ok = false;
    va_start(args, format);
    vsnprintf(out->detail, sizeof(out->detail), format, args);
    va_end(args);
}

/* Operands from their first element to be sorted. */
typedef struct sorted {
    const sort_parts *parts;
    const tsr_sort_problem *problem;
    const void *before, *after;                        /* keys */
    const int64_t *index;                              /* NULL without argsort */
    const unsigned char *values_before, *values_after; /* NULL without values */
} sorted;

/* Whether value i of the result is value `from` of those given. */
static bool value_follows(const sorted *s, size_t i, size_t from)
{
    const size_t bytes = s->problem->value_bytes;

    return !bytes || !memcmp(s->values_after + i * bytes, s->values_before + from * bytes, bytes);
}

/* What a right result is, as far as it is computed ahead. */
typedef struct expectation {
    uint64_t sum, mix; /* of hashes of the keys with their values; beyond REFERENCE_MAX */
    size_t order[];    /* up to REFERENCE_MAX, or of the first keys alone: positions of the keys in
                          their part, sorted */
} expectation;

/* The hash of a key goes on with its value. */
static uint64_t hash_value(uint64_t hash, const unsigned char *value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        hash ^= value[i];
        hash = random_u64(&hash);
    }
    return hash;
}

/* The part of a key, and where that starts and ends. */
typedef struct place {
    size_t part, start, end;
} place;

static place place_of(const sort_parts *p, size_t key)
{
    const size_t part = sort_part_of(p, key);
    const sort_part at = sort_part_at(p, part);

    return (place){part, at.start, at.start + at.n};
}

/* From the place of a key to that of one not before it. */
static place place_next(const sort_parts *p, place at, size_t key)
{
    while (key >= at.end) {
        const sort_part next = sort_part_at(p, ++at.part);

        at.start = next.start;
        at.end = next.start + next.n;
    }
    return at;
}

/* Sum and exclusive or of a hash of each key with its part and value; values is NULL where there
 * are none.
 */
static void hash_keys(const sort_parts *p, const void *keys, const unsigned char *values,
                      expectation *out)
{
    const tsr_sort_problem *s = p->keys;
    const size_t n = sort_keys(s), bytes = s->value_bytes;
    const long long chunks = (long long)size_div_up(n, CHUNK);
    uint64_t sum = 0, mix = 0;

#ifdef _OPENMP
#pragma omp parallel for reduction(+ : sum) reduction(^ : mix) if (chunks > 1)
#endif
    for (long long c = 0; c < chunks; c++) {
        const size_t begin = (size_t)c * CHUNK, end = size_min(begin + CHUNK, n);
        place at = place_of(p, begin);

        for (size_t i = begin; i < end; i++) {
            uint64_t bits = bits_get(s->type, keys, i);

            at = place_next(p, at, i);
            bits = random_u64(&bits) ^ at.part * 0xD1342543DE82EF95u;
            if (bytes)
                bits = hash_value(bits, values + i * bytes, bytes);
            sum += bits;
            mix ^= bits;
        }
    }
    out->sum = sum;
    out->mix = mix;
}

/* The first value to be sorted; NULL where there is none. */
static const unsigned char *values_of(const tsr_sort_problem *s, const void *const operands[])
{
    return s->value_bytes ? (const unsigned char *)operands[2] + s->offset_values * s->value_bytes
                          : NULL;
}

/* Whether a result is compared with one that is computed ahead, key by key. */
static bool has_reference(const sort_parts *p)
{
    return sort_keys(p->keys) <= REFERENCE_MAX || p->kept < p->keys->n;
}

/* Whether key a of a row comes behind key b in the stable order. */
static bool comes_behind(const tsr_sort_problem *s, const unsigned char *row, size_t a, size_t b)
{
    const size_t bytes = tsr_type_size(s->type);
    const int c = sort_comparator(s->type)(row + a * bytes, row + b * bytes);

    return c == 0 ? a > b : (c > 0) != s->descending;
}

/* Let position `at` of a heap sink until what is below it comes before it. */
static void sink(const tsr_sort_problem *s, const unsigned char *row, size_t *heap, size_t count,
                 size_t at)
{
    for (size_t below = 2 * at + 1; below < count; at = below, below = 2 * at + 1) {
        const size_t own = heap[at];

        if (below + 1 < count && comes_behind(s, row, heap[below + 1], heap[below]))
            below++;
        if (comes_behind(s, row, own, heap[below]))
            return;
        heap[at] = heap[below];
        heap[below] = own;
    }
}

/* The first `count` positions of a row's stable order: a heap holds those found so far, the last of
 * them on top, and gives them back in turn. */
static void select_first(const tsr_sort_problem *s, const unsigned char *row, size_t count,
                         size_t *order)
{
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count; i-- > 0;)
        sink(s, row, order, count, i);
    for (size_t i = count; i < s->n; i++)
        if (comes_behind(s, row, order[0], i)) {
            order[0] = i;
            sink(s, row, order, count, 0);
        }
    for (size_t left = count; left-- > 1;) {
        const size_t last = order[0];

        order[0] = order[left];
        order[left] = last;
        sink(s, row, order, left, 0);
    }
}

tsr_status sort_expect_parts(const sort_parts *p, const void *const before[], void **out,
                             tsr_error *err)
{
    const tsr_sort_problem *s = p->keys;
    const unsigned char *keys =
        (const unsigned char *)before[0] + s->offset_keys * tsr_type_size(s->type);
    const size_t n = sort_keys(s), kept = sort_rows(s) * p->kept;
    const bool whole = has_reference(p);
    const size_t bytes = whole ? kept * sizeof(size_t) : 0;
    expectation *e = malloc(sizeof(*e) + bytes);
    size_t *scratch = malloc(bytes + 1);
    size_t *order = e ? e->order : NULL;
    tsr_status st = TSR_OK;

    if (!e || !scratch) {
        st = tsr_fail(err, TSR_ENOMEM, 0, "sort: no memory for a reference of %zu keys", n);
        goto cleanup;
    }
    *e = (expectation){0};
    for (size_t i = 0; whole && n && i < p->count; i++) {
        const sort_part part = sort_part_at(p, i);
        const unsigned char *first = keys + part.start * tsr_type_size(s->type);

        if (p->kept < s->n)
            select_first(s, first, p->kept, order + i * p->kept);
        else
            sort_reference(s->type, s->descending, first, part.n, order + part.start, scratch);
    }
    if (!whole && !s->argsort)
        hash_keys(p, keys, values_of(s, before), e);
    *out = e;
    e = NULL; /* moved to the caller */

cleanup:
    free(e);
    free(scratch);
    return st;
}

/* Key i is not the one that stood at `from`; numbers that read alike, NaNs, have bits beside them.
 */
static void reject_key(const sorted *s, size_t i, size_t from, verdict *out)
{
    const tsr_type type = s->problem->type;
    const size_t n = sort_keys(s->problem);
    char is[ELEMENT_TEXT_SIZE], should[ELEMENT_TEXT_SIZE];

    element_text(type, s->after, i, is);
    element_text(type, s->before, from, should);
    if (strcmp(is, should) != 0)
        reject(out, "key %zu of %zu is %s and should be %s", i, n, is, should);
    else
        reject(out, "key %zu of %zu is %s of bits 0x%" PRIx64 " and should be %s of 0x%" PRIx64, i,
               n, is, bits_get(type, s->after, i), should, bits_get(type, s->before, from));
}

static void check_reference(const sorted *s, const expectation *e, verdict *out)
{
    const tsr_type type = s->problem->type;
    const size_t n = sort_keys(s->problem), kept = s->parts->kept;
    place at = place_of(s->parts, 0);

    for (size_t k = 0; k < sort_rows(s->problem) * kept && out->ok; k++) {
        const size_t i = k / kept * s->problem->n + k % kept;
        uint64_t expected, got;
        size_t from;

        at = place_next(s->parts, at, i);
        from = at.start + e->order[k];
        expected = bits_get(type, s->before, from);
        got = bits_get(type, s->after, i);

        if (got != expected)
            reject_key(s, i, from, out);
        else if (s->index && s->index[i] != (int64_t)e->order[k])
            reject(out, "index %zu of %zu is %" PRId64 ", expected %zu", i, n, s->index[i],
                   e->order[k]);
        else if (!value_follows(s, i, from))
            reject(out, "value %zu of %zu is not the one of key %zu before", i, n, from);
    }
}

/* Keys begin to end - 1, each after the one before it; equal keys with a rising index. */
static void check_chunk(const sorted *s, size_t begin, size_t end, verdict *out)
{
    const key_comparator compare = sort_comparator(s->problem->type);
    const size_t bytes = tsr_type_size(s->problem->type);
    const unsigned char *key = s->after;
    place at = place_of(s->parts, begin);

    for (size_t i = begin; i < end; i++) {
        int c;

        at = place_next(s->parts, at, i);
        if (i == at.start)
            continue; /* the first of its part */
        c = compare(key + (i - 1) * bytes, key + i * bytes);
        if (s->problem->descending ? c < 0 : c > 0) {
            reject(out, "keys %zu and %zu are out of order", i - 1, i);
            return;
        }
        if (s->index && c == 0 && s->index[i - 1] >= s->index[i]) {
            reject(out, "equal keys %zu and %zu have indices %" PRId64 " and %" PRId64, i - 1, i,
                   s->index[i - 1], s->index[i]);
            return;
        }
    }
}

static void check_order(const sorted *s, verdict *out)
{
    const long long chunks = (long long)size_div_up(sort_keys(s->problem), CHUNK);
    findings f = {.out = out};

#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) if (chunks > 1)
#endif
    for (long long c = 0; c < chunks; c++) {
        const size_t begin = (size_t)c * CHUNK;
        verdict part = {.ok = true};

        check_chunk(s, begin, size_min(begin + CHUNK, sort_keys(s->problem)), &part);
        findings_join(&f, &part, begin);
    }
}

/* The index names each position of its part once, and the keys are the ones it names. */
static tsr_status check_permutation(const sorted *s, verdict *out, tsr_error *err)
{
    const tsr_type type = s->problem->type;
    const size_t n = sort_keys(s->problem);
    unsigned char *seen = calloc(n / 8 + 1, 1);
    place at = place_of(s->parts, 0);

    if (!seen)
        return tsr_fail(err, TSR_ENOMEM, 0, "sort: no memory to check %zu indices", n);
    for (size_t i = 0; i < n && out->ok; i++) {
        const int64_t in_part = s->index[i];
        size_t from, length;

        at = place_next(s->parts, at, i);
        from = at.start + (size_t)in_part;
        length = at.end - at.start;
        if (in_part < 0 || (uint64_t)in_part >= length)
            reject(out, "index %zu is %" PRId64 ", outside 0 to %zu", i, in_part, length - 1);
        else if (seen[from / 8] >> from % 8 & 1)
            reject(out, "index %zu is %" PRId64 " for the second time", i, in_part);
        else if (bits_get(type, s->after, i) != bits_get(type, s->before, from))
            reject(out, "key %zu is not the one at its index %" PRId64, i, in_part);
        else if (!value_follows(s, i, from))
            reject(out, "value %zu is not the one at its index %" PRId64, i, in_part);
        else
            seen[from / 8] |= (unsigned char)(1u << from % 8);
    }
    free(seen);
    return TSR_OK;
}

/* Nothing before an operand's offset is touched. */
static void check_gap(const char *name, const void *before, const void *after, size_t bytes,
                      verdict *out)
{
    if (out->ok && bytes && memcmp(before, after, bytes) != 0)
        reject(out, "%s: something before their offset was written, in the first %zu bytes", name,
               bytes);
}

tsr_status sort_verify_parts(const sort_parts *p, const void *const before[],
                             const void *const after[], const void *expected, verdict *out,
                             tsr_error *err)
{
    const tsr_sort_problem *s = p->keys;
    const size_t skipped = s->offset_keys * tsr_type_size(s->type);
    const sorted result = {.parts = p,
                           .problem = s,
                           .before = (const unsigned char *)before[0] + skipped,
                           .after = (const unsigned char *)after[0] + skipped,
                           .index = s->argsort ? (const int64_t *)after[1] + s->offset_index : NULL,
                           .values_before = values_of(s, before),
                           .values_after = values_of(s, after)};
    const expectation *e = expected;
    void *own = NULL;
    tsr_status st = TSR_OK;

    *out = (verdict){.ok = true};
    if (s->n == 0)
        return TSR_OK; /* no operand holds a byte */
    if (!e) {
        st = sort_expect_parts(p, before, &own, err);
        if (st)
            return st;
        e = own;
    }
    if (has_reference(p)) {
        check_reference(&result, e, out);
    } else {
        check_order(&result, out);
        if (out->ok && s->argsort)
            st = check_permutation(&result, out, err);
        else if (out->ok) {
            /* Keys lost or changed: their hashes add up to something else. */
            expectation got;

            hash_keys(result.parts, result.after, result.values_after, &got);
            if (got.sum != e->sum || got.mix != e->mix)
                reject(out, "the %zu keys%s are not the ones given: their checksums differ",
                       sort_keys(result.problem),
                       result.problem->value_bytes ? " with their values" : "");
        }
    }
    free(own);
    check_gap("keys", before[0], after[0], skipped, out);
    if (s->argsort)
        check_gap("indices", before[1], after[1], s->offset_index * sizeof(int64_t), out);
    if (s->value_bytes)
        check_gap("values", before[2], after[2], s->offset_values * s->value_bytes, out);
    return st;
}

/* ---- of sort ------------------------------------------------------------------------------- */

tsr_status sort_expect(const problem *p, const void *const before[], void **out, tsr_error *err)
{
    const sort_parts parts = sort_parts_of_rows(sort_of(p));

    return sort_expect_parts(&parts, before, out, err);
}

tsr_status sort_verify(const problem *p, const device_facts *d, const void *const before[],
                       const void *const after[], const void *expected, verdict *out,
                       tsr_error *err)
{
    const sort_parts parts = sort_parts_of_rows(sort_of(p));

    (void)d; /* the order is the same everywhere */
    return sort_verify_parts(&parts, before, after, expected, out, err);
}

/* A program is built for each direction, index or none and value size of a type, and building takes
 * a CPU longer than running: with values the index is a matter of arguments alone, so those cases
 * take both ways, and the others, where rows and values of their type have not its missing corners,
 * two of them in turn. */
static const sort_case cases[] = {
    {TSR_U32, {SORT_UP, SORT_UP}, {0, 0}, 0},
    {TSR_U32, {SORT_DOWN_INDEX, SORT_DOWN_INDEX}, {0, 0}, 0},
    {TSR_U32, {SORT_DOWN, SORT_DOWN}, {0, 0}, 0},
    {TSR_U32, {SORT_UP_INDEX, SORT_UP_INDEX}, {0, 0}, 0},
    {TSR_I32, {SORT_UP, SORT_DOWN}, {0, 0}, 0},
    {TSR_I32, {SORT_DOWN_INDEX, SORT_UP_INDEX}, {0, 0}, 0},
    {TSR_I64, {SORT_DOWN, SORT_UP}, {0, 0}, 0},
    {TSR_I64, {SORT_UP_INDEX, SORT_UP_INDEX}, {0, 0}, 0},
    {TSR_U64, {SORT_UP, SORT_DOWN}, {0, 0}, 0},
    {TSR_U64, {SORT_DOWN_INDEX, SORT_UP_INDEX}, {0, 0}, 0},
    {TSR_F32, {SORT_UP, SORT_UP}, {0, 0}, 0},
    {TSR_F32, {SORT_DOWN_INDEX, SORT_DOWN_INDEX}, {0, 0}, 0},
    {TSR_F64, {SORT_DOWN, SORT_DOWN}, {0, 0}, 0},
    {TSR_F64, {SORT_UP_INDEX, SORT_UP_INDEX}, {0, 0}, 0},
    {TSR_F64, {SORT_UP, SORT_UP}, {0, 0}, 0},
    {TSR_F64, {SORT_DOWN_INDEX, SORT_DOWN_INDEX}, {0, 0}, 0},
    {TSR_I8, {SORT_UP, SORT_DOWN}, {0, 0}, 0},
    {TSR_I8, {SORT_DOWN_INDEX, SORT_UP_INDEX}, {0, 0}, 0},
    {TSR_U8, {SORT_DOWN, SORT_UP}, {0, 0}, 0},
    {TSR_U8, {SORT_UP_INDEX, SORT_UP_INDEX}, {0, 0}, 0},
    {TSR_I16, {SORT_DOWN, SORT_UP}, {0, 0}, 0},
    {TSR_I16, {SORT_UP_INDEX, SORT_UP_INDEX}, {0, 0}, 0},
    {TSR_U16, {SORT_UP, SORT_UP}, {0, 0}, 0},
    {TSR_U16, {SORT_DOWN_INDEX, SORT_UP_INDEX}, {0, 0}, 0},
    {TSR_F16, {SORT_UP, SORT_DOWN}, {0, 0}, 0},
    {TSR_F16, {SORT_DOWN_INDEX, SORT_DOWN_INDEX}, {0, 0}, 0},
    /* Values, with the index that the caller wants and one of their own. */
    {TSR_F16, {SORT_UP, SORT_UP_INDEX}, {16, 4}, 0},
    {TSR_I8, {SORT_UP, SORT_UP_INDEX}, {1, 8}, 0},
    {TSR_I16, {SORT_DOWN, SORT_DOWN_INDEX}, {8, 8}, 0},
    {TSR_U8, {SORT_UP_INDEX, SORT_UP}, {2, 16}, 0},
    {TSR_U16, {SORT_DOWN_INDEX, SORT_DOWN}, {1, 2}, 0},
    {TSR_U64, {SORT_DOWN_INDEX, SORT_DOWN}, {8, 2}, 0},
    {TSR_I64, {SORT_UP, SORT_UP_INDEX}, {4, 1}, 0},
    {TSR_I32, {SORT_UP_INDEX, SORT_UP}, {16, 8}, 0},
    {TSR_F64, {SORT_UP, SORT_UP_INDEX}, {16, 16}, 0},
    {TSR_U32, {SORT_UP, SORT_UP_INDEX}, {4, 4}, 0},
    {TSR_F32, {SORT_DOWN, SORT_DOWN_INDEX}, {1, 2}, 0},
    /* Several rows: in one tile and in many, with what goes along. */
    {TSR_U32, {SORT_UP, SORT_UP}, {0, 0}, 3},
    {TSR_U32, {SORT_DOWN_INDEX, SORT_DOWN_INDEX}, {0, 0}, 37},
    {TSR_F32, {SORT_UP_INDEX, SORT_UP_INDEX}, {0, 0}, 5},
    {TSR_U8, {SORT_DOWN, SORT_DOWN_INDEX}, {4, 4}, 2},
    {TSR_I64, {SORT_DOWN_INDEX, SORT_DOWN}, {16, 16}, 9},
    {TSR_U16, {SORT_DOWN, SORT_DOWN}, {0, 0}, 301},
    {TSR_I8, {SORT_UP, SORT_DOWN}, {0, 0}, 7},
};

bool sort_sweep(size_t i, bool tiny, problem *out)
{
    const size_t plain = tiny ? ARRAY_COUNT(plain_tiny) : LENGTHS;
    const size_t wide = ARRAY_COUNT(cases) * (tiny ? LENGTHS_TINY / EVERY_TINY : LENGTHS / EVERY);
    problem p = {.op = &operation_sort};

    if (i >= wide + plain)
        return false;
    if (!sort_sweep_cases(cases, ARRAY_COUNT(cases), i, tiny, &p)) {
        /* each length as lessons take it: uint32 keys alone, ascending, from offset 0 */
        *sort_in(&p) =
            (tsr_sort_problem){.type = TSR_U32, .n = (tiny ? plain_tiny : lengths)[i - wide]};
        p.inputs = distribution_at(0, i - wide);
    }
    *out = p;
    return true;
}
