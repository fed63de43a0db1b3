#include "ops/sort_proof.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/random.h"
#include "base/sizes.h"
#include "ops/findings.h"
#include "ops/sort_order.h"

/* Longer ones are checked for order, and for the same keys by hashes. */
enum { REFERENCE_MAX = 1 << 20 };

/* Bits of element i, zero-extended. */
static uint64_t bits_get(tsr_type type, const void *array, size_t i)
{
    return tsr_type_size(type) == 8 ? ((const uint64_t *)array)[i] : ((const uint32_t *)array)[i];
}

static void bits_set(tsr_type type, void *array, size_t i, uint64_t bits)
{
    if (tsr_type_size(type) == 8)
        ((uint64_t *)array)[i] = bits;
    else
        ((uint32_t *)array)[i] = (uint32_t)bits;
}

/* A whole number as a key; one below zero wraps for an unsigned type. */
static void number_set(tsr_type type, void *array, size_t i, int64_t value)
{
    if (type == TSR_F32)
        ((float *)array)[i] = (float)value;
    else if (type == TSR_F64)
        ((double *)array)[i] = (double)value;
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
    if (type == TSR_F32)
        return f32[edge] | sign << 31;
    if (type == TSR_F64)
        return f64[edge] | sign << 63;
    return tsr_type_size(type) == 8 ? i64[edge] : i32[edge];
}

/* Any bits of a finite float but -0; of an integer any. */
static uint64_t plain_bits(tsr_type type, uint64_t *state)
{
    const uint64_t sign = type == TSR_F64 ? (uint64_t)1 << 63 : (uint64_t)1 << 31;
    const uint64_t infinity = type == TSR_F64 ? (uint64_t)0x7FF << 52 : (uint64_t)0xFF << 23;
    uint64_t bits = random_u64(state);

    if (type != TSR_F32 && type != TSR_F64)
        return bits;
    while ((bits & infinity) == infinity || (bits & (2 * sign - 1)) == sign)
        bits = random_u64(state);
    return bits;
}

/* Keys begin to end - 1 of an array. */
static void fill_keys(const tsr_sort_problem *s, family f, size_t begin, size_t end,
                      uint64_t *state, void *keys)
{
    const bool is_unsigned = s->type == TSR_U32 || s->type == TSR_U64;
    const int64_t middle = is_unsigned ? 0 : (int64_t)(s->offset_keys + s->n) / 2;

    for (size_t i = begin; i < end; i++) {
        if (f == FAMILY_SPECIAL)
            bits_set(s->type, keys, i, special_bits(s->type, state));
        else if (f == FAMILY_FEW)
            number_set(s->type, keys, i, (int64_t)(random_u64(state) % 17) - (is_unsigned ? 0 : 8));
        else if (f == FAMILY_ORDERED)
            number_set(s->type, keys, i, (int64_t)i - middle);
        else if (f == FAMILY_PLAIN)
            bits_set(s->type, keys, i, plain_bits(s->type, state));
        else
            bits_set(s->type, keys, i, random_u64(state));
    }
}

/* Threads take chunks; each chunk has a stream of random numbers of its own. */
enum { CHUNK = 1 << 16 };

void sort_fill(const problem *p, uint64_t seed, family f, void *const operands[])
{
    const tsr_sort_problem *s = &p->sort;
    const size_t keys = s->n ? s->offset_keys + s->n : 0;
    const size_t indices = s->argsort && s->n ? s->offset_index + s->n : 0;
    const long long chunks = (long long)size_div_up(keys, CHUNK);
    uint64_t state = random_stream(seed, 0);

#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) if (chunks > 1)
#endif
    for (long long c = 0; c < chunks; c++) {
        const size_t begin = (size_t)c * CHUNK;
        uint64_t own = random_stream(seed, 1 + (uint64_t)c);

        fill_keys(s, f, begin, size_min(begin + CHUNK, keys), &own, operands[0]);
    }
    for (size_t i = 0; i < indices; i++)
        ((uint64_t *)operands[1])[i] = random_u64(&state);
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

/* Direction and payload are independent of the type, so two opposite corners of the four serve
 * for most types, and all four for two of them. */
static const struct {
    tsr_type type;
    bool descending, argsort;
} cases[] = {{TSR_U32, false, false}, {TSR_U32, true, true},   {TSR_U32, true, false},
             {TSR_U32, false, true},  {TSR_I32, false, false}, {TSR_I32, true, true},
             {TSR_I64, true, false},  {TSR_I64, false, true},  {TSR_U64, false, false},
             {TSR_U64, true, true},   {TSR_F32, false, false}, {TSR_F32, true, true},
             {TSR_F64, true, false},  {TSR_F64, false, true},  {TSR_F64, false, false},
             {TSR_F64, true, true}};

enum { CASES = sizeof(cases) / sizeof(cases[0]) };

bool sort_sweep(size_t i, bool tiny, problem *out)
{
    const size_t every = tiny ? EVERY_TINY : EVERY;
    const size_t lengths_per_case = (tiny ? LENGTHS_TINY : LENGTHS) / every;
    const size_t c = i % CASES, at = i / CASES; /* short lengths first, each in every case */

    if (at >= lengths_per_case)
        return false;
    *out = (problem){.op = &operation_sort,
                     .sort = {.type = cases[c].type,
                              .n = lengths[at * every + c % every],
                              .descending = cases[c].descending,
                              .argsort = cases[c].argsort}};
    if ((at + c) % 4 == 3) {
        out->sort.offset_keys = 1 + i % 7;
        out->sort.offset_index = i % 5;
    }
    return true;
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
    const tsr_sort_problem *problem;
    const void *before, *after; /* keys */
    const int64_t *index;       /* NULL without argsort */
} sorted;

/* What a right result is, as far as it is computed ahead. */
typedef struct expectation {
    uint64_t sum, mix; /* of hashes of the keys; beyond REFERENCE_MAX */
    size_t order[];    /* up to REFERENCE_MAX: positions of the keys, sorted */
} expectation;

/* Sum and exclusive or of a hash of each key. */
static void hash_keys(tsr_type type, const void *keys, size_t n, expectation *out)
{
    uint64_t sum = 0, mix = 0;

#ifdef _OPENMP
#pragma omp parallel for reduction(+ : sum) reduction(^ : mix) if (n > CHUNK)
#endif
    for (long long i = 0; i < (long long)n; i++) {
        uint64_t bits = bits_get(type, keys, (size_t)i);

        bits = random_u64(&bits);
        sum += bits;
        mix ^= bits;
    }
    out->sum = sum;
    out->mix = mix;
}

tsr_status sort_expect(const problem *p, const void *const before[], void **out, tsr_error *err)
{
    const tsr_sort_problem *s = &p->sort;
    const void *keys = (const unsigned char *)before[0] + s->offset_keys * tsr_type_size(s->type);
    const bool whole = s->n <= REFERENCE_MAX;
    const size_t bytes = whole ? s->n * sizeof(size_t) : 0;
    expectation *e = malloc(sizeof(*e) + bytes);
    size_t *scratch = malloc(bytes + 1);
    tsr_status st = TSR_OK;

    if (!e || !scratch) {
        st = tsr_fail(err, TSR_ENOMEM, 0, "sort: no memory for a reference of %zu keys", s->n);
        goto cleanup;
    }
    *e = (expectation){0};
    if (whole)
        sort_reference(s->type, s->descending, keys, s->n, e->order, scratch);
    else if (!s->argsort)
        hash_keys(s->type, keys, s->n, e);
    *out = e;
    e = NULL; /* moved to the caller */

cleanup:
    free(e);
    free(scratch);
    return st;
}

static void check_reference(const sorted *s, const expectation *e, verdict *out)
{
    const tsr_type type = s->problem->type;
    const size_t n = s->problem->n;

    for (size_t i = 0; i < n && out->ok; i++) {
        const uint64_t expected = bits_get(type, s->before, e->order[i]);
        const uint64_t got = bits_get(type, s->after, i);

        if (got != expected)
            reject(out, "key %zu of %zu has bits 0x%" PRIx64 ", expected 0x%" PRIx64, i, n, got,
                   expected);
        else if (s->index && s->index[i] != (int64_t)e->order[i])
            reject(out, "index %zu of %zu is %" PRId64 ", expected %zu", i, n, s->index[i],
                   e->order[i]);
    }
}

/* Keys begin to end - 1, each after the one before it; equal keys with a rising index. */
static void check_chunk(const sorted *s, size_t begin, size_t end, verdict *out)
{
    const key_comparator compare = sort_comparator(s->problem->type);
    const size_t bytes = tsr_type_size(s->problem->type);
    const unsigned char *key = s->after;

    for (size_t i = size_max(begin, 1); i < end; i++) {
        int c = compare(key + (i - 1) * bytes, key + i * bytes);

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
    const long long chunks = (long long)size_div_up(s->problem->n, CHUNK);
    findings f = {.out = out};

#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) if (chunks > 1)
#endif
    for (long long c = 0; c < chunks; c++) {
        const size_t begin = (size_t)c * CHUNK;
        verdict part = {.ok = true};

        check_chunk(s, begin, size_min(begin + CHUNK, s->problem->n), &part);
        findings_join(&f, &part, begin);
    }
}

/* The index names each position once, and the keys are the ones it names. */
static tsr_status check_permutation(const sorted *s, verdict *out, tsr_error *err)
{
    const tsr_type type = s->problem->type;
    const size_t n = s->problem->n;
    unsigned char *seen = calloc(n / 8 + 1, 1);

    if (!seen)
        return tsr_fail(err, TSR_ENOMEM, 0, "sort: no memory to check %zu indices", n);
    for (size_t i = 0; i < n && out->ok; i++) {
        const int64_t from = s->index[i];

        if (from < 0 || (uint64_t)from >= n)
            reject(out, "index %zu is %" PRId64 ", outside 0 to %zu", i, from, n - 1);
        else if (seen[from / 8] >> from % 8 & 1)
            reject(out, "index %zu is %" PRId64 " for the second time", i, from);
        else if (bits_get(type, s->after, i) != bits_get(type, s->before, (size_t)from))
            reject(out, "key %zu is not the one at its index %" PRId64, i, from);
        else
            seen[from / 8] |= (unsigned char)(1u << from % 8);
    }
    free(seen);
    return TSR_OK;
}

/* Keys lost or changed: their hashes add up to something else. */
static void check_multiset(const sorted *s, const expectation *e, verdict *out)
{
    expectation got;

    hash_keys(s->problem->type, s->after, s->problem->n, &got);
    if (got.sum != e->sum || got.mix != e->mix)
        reject(out, "the %zu keys are not the ones given: their checksums differ", s->problem->n);
}

/* Nothing before an operand's offset is touched. */
static void check_gap(const char *name, const void *before, const void *after, size_t bytes,
                      verdict *out)
{
    if (out->ok && bytes && memcmp(before, after, bytes) != 0)
        reject(out, "%s changed before their offset, in the first %zu bytes", name, bytes);
}

tsr_status sort_verify(const problem *p, const device_facts *d, const void *const before[],
                       const void *const after[], const void *expected, verdict *out,
                       tsr_error *err)
{
    const tsr_sort_problem *s = &p->sort;
    const size_t skipped = s->offset_keys * tsr_type_size(s->type);
    const sorted result = {.problem = s,
                           .before = (const unsigned char *)before[0] + skipped,
                           .after = (const unsigned char *)after[0] + skipped,
                           .index =
                               s->argsort ? (const int64_t *)after[1] + s->offset_index : NULL};
    const expectation *e = expected;
    void *own = NULL;
    tsr_status st = TSR_OK;

    (void)d; /* the order is the same everywhere */
    *out = (verdict){.ok = true};
    if (s->n == 0)
        return TSR_OK; /* no operand holds a byte */
    if (!e) {
        st = sort_expect(p, before, &own, err);
        if (st)
            return st;
        e = own;
    }
    if (s->n <= REFERENCE_MAX) {
        check_reference(&result, e, out);
    } else {
        check_order(&result, out);
        if (out->ok && s->argsort)
            st = check_permutation(&result, out, err);
        else if (out->ok)
            check_multiset(&result, e, out);
    }
    free(own);
    check_gap("keys", before[0], after[0], skipped, out);
    if (s->argsort)
        check_gap("indices", before[1], after[1], s->offset_index * sizeof(int64_t), out);
    return st;
}
