/* Proving select: test inputs, the sweep of edge sizes, and the reference. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elements.h"
#include "base/fail.h"
#include "base/random.h"
#include "base/sizes.h"
#include "core/real.h"
#include "ops/select/select_problem.h"

/* ---- inputs -------------------------------------------------------------------------------- */

/* Integers: any bits, or a few values around 0, which the sweep compares with. */
static void fill_wholes(const operand *o, const view *x, distribution f, uint64_t seed, void *array)
{
    const bool any = f == DISTRIBUTION_UNIFORM || f == DISTRIBUTION_PLAIN;
    uint64_t state = seed;

    for (size_t i = 0; i < o->bytes / tsr_type_size(x->type); i++) {
        const uint64_t bits = random_u64(&state);

        bits_set(x->type, array, i, any ? bits : bits % 7 - 3);
    }
}

void select_fill(const problem *q, uint64_t seed, distribution f, void *const arrays[])
{
    const tsr_select_problem *p = select_of(q);
    const view views[] = {select_x(p), select_result(p), select_indices(p), select_count(p)};
    operand o[OPERANDS_MAX];

    q->op->operands(q, o);
    for (size_t i = 0; i < SELECT_OPERANDS; i++) {
        const uint64_t stream = random_stream(seed, i);

        if (type_is_real(views[i].type))
            view_fill(&o[i], &views[i], i == SELECT_X ? f : DISTRIBUTION_UNIFORM, stream,
                      arrays[i]);
        else
            fill_wholes(&o[i], &views[i], i == SELECT_X ? f : DISTRIBUTION_UNIFORM, stream,
                        arrays[i]);
    }
}

/* ---- the sweep ----------------------------------------------------------------------------- */

/* None, one, primes, one off vectors, groups and tiles.  A simulator takes the first TINY_SIZES. */
static const size_t sizes[] = {0,    1,    2,    31,   129,  300,  1025,  3,     8,      32,
                               33,   64,   127,  255,  256,  257,  511,   512,   513,    1023,
                               1024, 2047, 2049, 4096, 4097, 8191, 16385, 65537, 100003, 300007};

enum { TINY_SIZES = 7 };

typedef struct select_case {
    tsr_type type;
    size_t where;
    int value;
    bool with_indices, any_order;
    size_t offsets[SELECT_OPERANDS];
} select_case;

static const select_case cases[] = {
    {TSR_F32, TSR_GREATER, 0, false, false, {0, 0, 0, 0}},
    {TSR_F32, TSR_LESS_EQUAL, 0, true, true, {1, 3, 2, 1}},
    {TSR_F32, TSR_IS_NOT_NAN, 0, true, false, {0, 0, 0, 0}},
    {TSR_F32, TSR_GREATER, 0, false, true, {0, 0, 0, 0}},
    {TSR_I32, TSR_GREATER_EQUAL, -1, true, false, {3, 1, 5, 2}},
    {TSR_U8, TSR_LESS, 100, false, false, {5, 2, 0, 0}},
    {TSR_F64, TSR_NOT_EQUAL, 0, true, false, {0, 0, 0, 0}},
    {TSR_F16, TSR_IS_NAN, 0, false, false, {0, 0, 0, 0}},
    {TSR_I64, TSR_LESS, 0, false, false, {0, 1, 0, 0}},
    {TSR_BF16, TSR_LESS_EQUAL, 0, true, false, {0, 0, 0, 0}},
    {TSR_I8, TSR_GREATER, -2, true, false, {0, 0, 0, 0}},
    {TSR_U16, TSR_EQUAL, 2, false, false, {1, 1, 0, 0}},
    {TSR_I16, TSR_GREATER, 32767, true, false, {0, 0, 0, 0}},
    {TSR_U32, TSR_GREATER_EQUAL, 0, false, false, {0, 0, 0, 0}},
    {TSR_U64, TSR_NOT_EQUAL, 1, true, false, {0, 0, 0, 3}},
    {TSR_F64, TSR_LESS, 0, true, true, {0, 0, 0, 0}},
    {TSR_U8, TSR_GREATER, 100, false, true, {3, 1, 0, 0}},
    {TSR_I16, TSR_NOT_EQUAL, 0, true, true, {0, 0, 0, 0}},
    {TSR_I64, TSR_GREATER, 0, false, true, {0, 0, 0, 0}},
};

/* Of each size those of float32, and two others by turns. */
enum { ALWAYS = 4, OTHERS = 2, EACH = ALWAYS + OTHERS };

bool select_sweep(size_t i, bool tiny, problem *out)
{
    const size_t which = i / EACH, k = i % EACH;
    const size_t turn = (which * OTHERS + k - ALWAYS) % (ARRAY_COUNT(cases) - ALWAYS);
    const select_case *c = &cases[k < ALWAYS ? k : ALWAYS + turn];
    tsr_select_problem p = {.type = c->type,
                            .where = c->where,
                            .with_indices = c->with_indices,
                            .any_order = c->any_order,
                            .offset_x = c->offsets[SELECT_X],
                            .offset_result = c->offsets[SELECT_RESULT],
                            .offset_indices = c->offsets[SELECT_INDICES],
                            .offset_count = c->offsets[SELECT_COUNT]};

    if (which >= (tiny ? TINY_SIZES : ARRAY_COUNT(sizes)))
        return false;
    p.n = sizes[which];
    if (type_is_real(c->type))
        p.value.real = c->value;
    else
        p.value.integer = c->value;
    *out = problem_from(&operation_select, &p, sizeof(p));
    if (c->where == TSR_IS_NAN || c->where == TSR_IS_NOT_NAN)
        out->inputs = DISTRIBUTION_SPECIAL;
    else if (k == 0 && which % 2)
        out->inputs = DISTRIBUTION_FEW; /* equal ones among them */
    return true;
}

/* ---- the reference ------------------------------------------------------------------------- */

static void blame(verdict *out, const char *what, size_t at)
{
    *out = (verdict){.worst = INFINITY};
    snprintf(out->detail, sizeof(out->detail), "element %zu of the result %s", at, what);
}

/* The bits of an element. */
static uint64_t bits_of(const void *array, size_t bytes, size_t i)
{
    uint64_t bits = 0;

    for (size_t b = 0; b < bytes; b++)
        bits |= (uint64_t)((const unsigned char *)array)[i * bytes + b] << 8 * b;
    return bits;
}

static int compare_bits(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* What is selected, as bits, and where it stood; `count` of both. */
typedef struct selected {
    uint64_t *bits, *places;
    size_t count;
} selected;

static bool reference(const tsr_select_problem *p, const void *x, bool flushes, selected *out)
{
    *out = (selected){.bits = malloc((p->n + 1) * sizeof(uint64_t)),
                      .places = malloc((p->n + 1) * sizeof(uint64_t))};
    if (!out->bits || !out->places)
        return false;
    for (size_t i = 0; i < p->n; i++) {
        if (!select_holds(p, x, p->offset_x + i, flushes))
            continue;
        out->bits[out->count] = bits_of(x, tsr_type_size(p->type), p->offset_x + i);
        out->places[out->count++] = i;
    }
    return true;
}

/* In any order: each element is that of its index, and the indices are those that are wanted; or
 * the elements are. */
static void judge_any_order(const tsr_select_problem *p, const void *x, const selected *wanted,
                            const void *result, const uint64_t *indices, selected *got,
                            verdict *out)
{
    const size_t bytes = tsr_type_size(p->type);

    for (size_t i = 0; i < wanted->count; i++) {
        got->bits[i] = bits_of(result, bytes, p->offset_result + i);
        got->places[i] = p->with_indices ? indices[p->offset_indices + i] : 0;
        if (p->with_indices && (got->places[i] >= p->n ||
                                bits_of(x, bytes, p->offset_x + got->places[i]) != got->bits[i])) {
            blame(out, "is not the element at its index", i);
            return;
        }
    }
    qsort(got->bits, wanted->count, sizeof(uint64_t), compare_bits);
    qsort(got->places, wanted->count, sizeof(uint64_t), compare_bits);
    qsort(wanted->bits, wanted->count, sizeof(uint64_t), compare_bits);
    for (size_t i = 0; i < wanted->count; i++)
        if (p->with_indices ? got->places[i] != wanted->places[i]
                            : got->bits[i] != wanted->bits[i]) {
            blame(out, "is not one of those to be selected, once both are sorted", i);
            return;
        }
}

static void judge_in_order(const tsr_select_problem *p, const selected *wanted, const void *result,
                           const uint64_t *indices, verdict *out)
{
    const size_t bytes = tsr_type_size(p->type);

    for (size_t i = 0; i < wanted->count; i++) {
        if (bits_of(result, bytes, p->offset_result + i) != wanted->bits[i]) {
            blame(out, "is not the one that belongs there", i);
            return;
        }
        if (p->with_indices && indices[p->offset_indices + i] != wanted->places[i]) {
            blame(out, "has another index than the one that belongs there", i);
            return;
        }
    }
}

/* Whether nothing but `count` elements from an offset on was written. */
static bool rest_kept(size_t bytes, size_t offset, size_t count, size_t n, const void *before,
                      const void *after)
{
    const unsigned char *was = before, *is = after;
    const size_t end = offset + count;

    return n == 0 || (memcmp(was, is, offset * bytes) == 0 &&
                      memcmp(was + end * bytes, is + end * bytes, (n - count) * bytes) == 0);
}

tsr_status select_verify(const problem *q, const device_facts *d, const void *const before[],
                         const void *const after[], const void *expected, verdict *out,
                         tsr_error *err)
{
    const tsr_select_problem *p = select_of(q);
    const size_t bytes = tsr_type_size(p->type);
    const uint64_t count = ((const uint64_t *)after[SELECT_COUNT])[p->offset_count];
    const bool flushes = !d->denormals_f32;
    selected wanted, got = {0};
    tsr_status st = TSR_OK;

    (void)expected;
    *out = (verdict){.ok = true};
    if (!reference(p, before[SELECT_X], flushes, &wanted) ||
        (p->any_order && !(got.bits = malloc((p->n + 1) * sizeof(uint64_t)))) ||
        (p->any_order && !(got.places = malloc((p->n + 1) * sizeof(uint64_t))))) {
        st = tsr_fail(err, TSR_ENOMEM, 0, "select: no memory for the reference of %zu elements",
                      p->n);
        goto cleanup;
    }
    if (count != wanted.count) {
        *out = (verdict){.worst = INFINITY};
        snprintf(out->detail, sizeof(out->detail), "the count is %llu and should be %zu",
                 (unsigned long long)count, wanted.count);
    } else if (!rest_kept(bytes, p->offset_result, wanted.count, p->n, before[SELECT_RESULT],
                          after[SELECT_RESULT]) ||
               (p->with_indices &&
                !rest_kept(sizeof(int64_t), p->offset_indices, wanted.count, p->n,
                           before[SELECT_INDICES], after[SELECT_INDICES])) ||
               !rest_kept(sizeof(uint64_t), p->offset_count, 1, 1, before[SELECT_COUNT],
                          after[SELECT_COUNT])) {
        *out = (verdict){.worst = INFINITY};
        snprintf(out->detail, sizeof(out->detail), "memory outside the results was written");
    } else if (p->any_order) {
        judge_any_order(p, before[SELECT_X], &wanted, after[SELECT_RESULT], after[SELECT_INDICES],
                        &got, out);
    } else {
        judge_in_order(p, &wanted, after[SELECT_RESULT], after[SELECT_INDICES], out);
    }

cleanup:
    free(wanted.bits);
    free(wanted.places);
    free(got.bits);
    free(got.places);
    return st;
}
