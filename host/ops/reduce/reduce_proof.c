/* Proving reduce: test inputs, the sweep of edge shapes, and the reference with its bound. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/elements.h"
#include "base/random.h"
#include "base/sizes.h"
#include "core/real.h"
#include "ops/reduce/reduce_problem.h"

/* ---- inputs -------------------------------------------------------------------------------- */

/* Any bits; the extremes and numbers around 0; few distinct ones, 0 among them; or one value that
 * is seldom broken, so that `all` and `any` are found both ways. */
static uint64_t integer_random(tsr_type type, distribution f, uint64_t *state)
{
    static const uint64_t edges[] = {0, 1, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MAX + 1};
    const uint64_t r = random_u64(state);
    const unsigned unused = 64 - 8 * (unsigned)tsr_type_size(type);

    switch (f) {
    case DISTRIBUTION_SPECIAL: /* the signed extremes of the type itself are the upper bits */
        return r & 8 ? edges[(r >> 8) % 3] : edges[(r >> 8) % 5] >> unused;
    case DISTRIBUTION_FEW:
        return (r >> 8) % 7;
    case DISTRIBUTION_ORDERED:
        return (r >> 8) % 256 != 0;
    default:
        return r;
    }
}

static void fill_integers(const operand *o, distribution f, uint64_t seed, void *array)
{
    uint64_t state = random_stream(seed, 0);

    for (size_t i = 0; i < o->bytes / tsr_type_size(o->type); i++)
        bits_set(o->type, array, i, integer_random(o->type, f, &state));
}

void reduce_fill(const problem *q, uint64_t seed, distribution f, void *const arrays[])
{
    const view views[] = {reduce_x(reduce_of(q)), reduce_result(reduce_of(q))};
    operand o[OPERANDS_MAX];

    q->op->operands(q, o);
    for (size_t i = 0; i < ARRAY_COUNT(views); i++) {
        const distribution own = i == REDUCE_X ? f : DISTRIBUTION_UNIFORM;

        if (type_is_real(o[i].type))
            view_fill(&o[i], &views[i], own, random_stream(seed, i), arrays[i]);
        else
            fill_integers(&o[i], own, random_stream(seed, i), arrays[i]);
    }
}

/* ---- the sweep ----------------------------------------------------------------------------- */

/* Of a whole float32 array: none, one, primes, one off vectors, groups and the blocks of groups.  A
 * simulator takes the first TINY_SIZES. */
static const size_t sizes[] = {
    0,    1,    2,    5,    31,   127,  128,  129,  300,   1025,  3,     4,     7,      8,
    13,   32,   33,   63,   64,   65,   255,  256,  257,   511,   512,   513,   1023,   1024,
    2047, 2048, 2049, 4095, 4096, 4097, 5003, 8191, 16384, 16385, 32767, 65537, 100003, 1000003};
static const size_t offsets[][2] = {{0, 0}, {1, 3}, {16, 0}, {5, 1}};

/* Along an axis, of every type: outer, n, inner, and elements between what follows in memory. */
static const struct {
    size_t outer, n, inner, step_gap, stride_gap;
} shapes[] = {{1, 300, 1, 0, 0},   {100, 5, 1, 0, 0},  {3, 70, 1, 0, 2},    {1, 9, 40, 0, 0},
              {2, 33, 3, 0, 0},    {2, 12, 5, 3, 1},   {1, 0, 4, 0, 0},     {1, 1, 1, 0, 0},
              {3, 1000, 1, 2, 5},  {65, 257, 1, 0, 0}, {1, 517, 600, 0, 0}, {4, 129, 65, 0, 0},
              {1, 70001, 1, 0, 0}, {1, 9001, 2, 0, 0}, {1, 33000, 7, 0, 0}, {1, 1000, 1, 0, 0}};

/* Each pair is a program, which takes a CPU's compiler a second: the types share the reductions
 * among them.  tests/reduce/ has the variant in C do all of all. */
static const struct {
    tsr_type type;
    tsr_reduction by;
} pairs[] = {
    {TSR_F32, TSR_REDUCE_SUM},   {TSR_F32, TSR_REDUCE_ARGMIN}, {TSR_F32, TSR_REDUCE_NORM2},
    {TSR_F64, TSR_REDUCE_MEAN},  {TSR_F64, TSR_REDUCE_MAX},    {TSR_I32, TSR_REDUCE_SUM},
    {TSR_I32, TSR_REDUCE_MEAN},  {TSR_U32, TSR_REDUCE_MIN},    {TSR_I64, TSR_REDUCE_ARGMAX},
    {TSR_I64, TSR_REDUCE_SUM},   {TSR_U64, TSR_REDUCE_MAX},    {TSR_F16, TSR_REDUCE_SUM},
    {TSR_F16, TSR_REDUCE_ALL},   {TSR_I8, TSR_REDUCE_ARGMIN},  {TSR_U8, TSR_REDUCE_ANY},
    {TSR_U8, TSR_REDUCE_SUM},    {TSR_I16, TSR_REDUCE_NORM2},  {TSR_U16, TSR_REDUCE_COUNT},
    {TSR_BF16, TSR_REDUCE_MEAN}, {TSR_BF16, TSR_REDUCE_ARGMAX}};

enum { TINY_SIZES = 10, LADDER_REDUCTIONS = 3, TINY_SHAPES = 7 };

static bool ladder_problem(size_t i, bool tiny, tsr_reduce_problem *p)
{
    const size_t which = i / LADDER_REDUCTIONS;
    const size_t *offset = offsets[i % ARRAY_COUNT(offsets)];

    if (which >= (tiny ? TINY_SIZES : ARRAY_COUNT(sizes)))
        return false;
    *p = (tsr_reduce_problem){.n = sizes[which],
                              .by = i % LADDER_REDUCTIONS,
                              .offset_x = offset[0],
                              .offset_result = offset[1],
                              .any_order = which % 2 == 1};
    return true;
}

static bool axis_problem(size_t i, bool tiny, tsr_reduce_problem *p)
{
    const size_t shape = i / ARRAY_COUNT(pairs), pair = i % ARRAY_COUNT(pairs);
    const size_t *offset = offsets[i % ARRAY_COUNT(offsets)];

    if (shape >= (tiny ? TINY_SHAPES : ARRAY_COUNT(shapes)))
        return false;
    *p = (tsr_reduce_problem){.type = pairs[pair].type,
                              .n = shapes[shape].n,
                              .by = pairs[pair].by,
                              .offset_x = offset[0],
                              .offset_result = offset[1],
                              .outer = shapes[shape].outer,
                              .inner = shapes[shape].inner};
    if (shapes[shape].step_gap)
        p->step = p->inner + shapes[shape].step_gap;
    if (shapes[shape].stride_gap)
        p->stride = p->n * (p->inner + shapes[shape].step_gap) + shapes[shape].stride_gap;
    return true;
}

bool reduce_sweep(size_t i, bool tiny, problem *out)
{
    const size_t ladder = LADDER_REDUCTIONS * (tiny ? (size_t)TINY_SIZES : ARRAY_COUNT(sizes));
    tsr_reduce_problem p;

    if (!(i < ladder ? ladder_problem(i, tiny, &p) : axis_problem(i - ladder, tiny, &p)))
        return false;
    if (p.n == 0 && reduce_finds_extreme(&p))
        p.n = 17; /* none have no minimum */
    *out = problem_from(&operation_reduce, &p, sizeof(p));
    return true;
}

/* ---- the reference ------------------------------------------------------------------------- */

typedef struct judge {
    const tsr_reduce_problem *p;
    const device_facts *d;
    reduce_shape s;
    const void *x;
    const void *result;
    tsr_type type; /* of the result */
} judge;

/* Where element i of result (o, j) is. */
static size_t place(const judge *a, size_t o, size_t i, size_t j)
{
    return a->p->offset_x + o * a->s.stride + i * a->s.step + j;
}

static bool flushes(const judge *a)
{
    return reduce_value_type(a->p) == TSR_F64 ? !a->d->denormals_f64 : !a->d->denormals_f32;
}

/* The same of a sum: NVIDIA's instruction that adds float32 in memory makes 0 of denormals, and any
 * order allows it. */
static bool sum_flushes(const judge *a)
{
    return flushes(a) || (a->p->any_order && a->d->nvidia && reduce_value_type(a->p) == TSR_F32);
}

static double least_normal(const judge *a)
{
    return reduce_value_type(a->p) == TSR_F64 ? DBL_MIN : (double)FLT_MIN;
}

/* An element as a number. */
static double number(const judge *a, size_t at)
{
    if (type_is_real(a->p->type))
        return real_get(a->p->type, a->x, at);
    return type_is_signed(a->p->type) ? (double)(int64_t)integer_get(a->p->type, a->x, at)
                                      : (double)integer_get(a->p->type, a->x, at);
}

/* What a sum may err by, over the sum of the magnitudes: see tessera/reduce.h. */
static long double sum_bound(const tsr_reduce_problem *p)
{
    const tsr_type type = reduce_value_type(p);
    const long double u = (long double)real_unit(type);
    const size_t terms = size_min(p->n, 40 + (p->n ? size_log2_up(p->n) : 0)) + 2;

    return p->any_order ? real_gamma(type, p->n + 2)
                        : real_gamma(type, terms) + 8 * (long double)p->n * u * u;
}

/* Sums of what is finite, in long double, and what is not. */
typedef struct exact_sum {
    long double sum, magnitude;
    bool nan, plus, minus;
} exact_sum;

static exact_sum add_up(const judge *a, size_t o, size_t j)
{
    exact_sum s = {0};
    long double carry = 0;

    for (size_t i = 0; i < a->s.n; i++) {
        const double x = number(a, place(a, o, i, j));
        const long double v =
            a->p->by == TSR_REDUCE_NORM2 ? (long double)x * (long double)x : (long double)x;

        if (isnan(x)) {
            s.nan = true;
        } else if (isinf(x)) {
            *(v > 0 ? &s.plus : &s.minus) = true;
        } else {
            const long double term = v - carry, sum = s.sum + term;

            carry = (sum - s.sum) - term;
            s.sum = sum;
            s.magnitude += fabsl(v);
        }
    }
    return s;
}

/* |got - exact| / bound of a sum, mean or norm. */
static double judge_sum(const judge *a, size_t o, size_t j, double got, double *exact)
{
    const exact_sum s = add_up(a, o, j);
    const bool norm = a->p->by == TSR_REDUCE_NORM2, mean = a->p->by == TSR_REDUCE_MEAN;
    const tsr_type value = reduce_value_type(a->p);
    const long double n = mean ? (long double)a->s.n : 1;
    const long double most = (long double)real_most(value), u = (long double)real_unit(value);
    /* Squares that underflow, and denormals of a device that flushes them. */
    const long double lost =
        norm || sum_flushes(a) ? (long double)a->s.n * (long double)least_normal(a) : 0;
    long double error = sum_bound(a->p) * s.magnitude + lost, wanted = s.sum / n;
    const bool may_overflow = s.magnitude + error > most / 2 || !isfinite((double)s.magnitude);

    if (norm) {
        wanted = sqrtl(s.sum);
        error = fmaxl(sqrtl(s.sum + error) - wanted, wanted - sqrtl(fmaxl(s.sum - error, 0)));
    }
    *exact = s.nan || (s.plus && s.minus) ? (double)NAN
             : s.plus                     ? (double)INFINITY
             : s.minus                    ? -(double)INFINITY
                                          : (double)wanted;
    if (mean && a->s.n == 0)
        return isnan(got) ? 0 : (double)INFINITY;
    if (s.nan || (s.plus && s.minus))
        return isnan(got) ? 0 : (double)INFINITY;
    if (s.plus || s.minus)
        /* What overflows to the other side on its way meets the infinity. */
        return got == *exact || (may_overflow && isnan(got)) ? 0 : (double)INFINITY;
    if (!isfinite(got) && may_overflow)
        return 0;
    /* Divisions are off by 2.5 units in the last place, and square roots by 3. */
    error = error / n + (norm || mean ? 8 * u * fabsl(wanted) : 0) +
            (flushes(a) && (norm || mean) ? (long double)least_normal(a) : 0);
    if (a->type != value)
        error = real_stored_bound(a->type, wanted, error);
    else if (value == TSR_F32) /* sums in double precision are rounded to it once more */
        error += u * fabsl(wanted) + (long double)FLT_TRUE_MIN;
    if (!isfinite(got)) /* beyond what the result's type can hold */
        return fabsl(wanted) + error >= (long double)real_most(a->type) && !isnan(got) &&
                       (got > 0) == (wanted > 0)
                   ? 0
                   : (double)INFINITY;
    if ((long double)got == wanted)
        return 0;
    return (double)(fabsl((long double)got - wanted) / error);
}

/* The place of the first least or largest element, NaN before all others. */
static size_t find_extreme(const judge *a, size_t o, size_t j)
{
    const tsr_type type = a->p->type;
    const bool least = reduce_is_least(a->p), real = type_is_real(type);
    const uint64_t sign = type_is_signed(type) ? (uint64_t)1 << 63 : 0;
    size_t best = 0;

    for (size_t i = 1; i < a->s.n; i++) {
        const size_t at = place(a, o, i, j), before = place(a, o, best, j);

        if (real) {
            const double x = number(a, at), y = number(a, before);

            if (isnan(y))
                break;
            if (isnan(x) || (least ? x < y : x > y))
                best = i;
        } else {
            const uint64_t x = integer_get(type, a->x, at) ^ sign;
            const uint64_t y = integer_get(type, a->x, before) ^ sign;

            if (least ? x < y : x > y)
                best = i;
        }
    }
    return best;
}

/* Whether two elements are the same number, to a device that may flush denormals. */
static bool is_same(const judge *a, double x, double y)
{
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y);
    return x == y || (flushes(a) && fabs(x) < least_normal(a) && fabs(y) < least_normal(a));
}

/* 0 where the extreme of result number r, or its index, is right, else INFINITY, and what it should
 * be. */
static double judge_extreme(const judge *a, size_t o, size_t j, size_t r,
                            char should[ELEMENT_TEXT_SIZE])
{
    const size_t best = find_extreme(a, o, j);
    const size_t at = place(a, o, best, j), to = a->p->offset_result + r;
    const bool real = type_is_real(a->p->type);
    uint64_t index;
    bool same;

    if (!reduce_finds_index(a->p)) {
        same = real ? is_same(a, number(a, at), real_get(a->type, a->result, to))
                    : bits_get(a->type, a->result, to) == bits_get(a->type, a->x, at);
        if (!same)
            element_text(a->p->type, a->x, at, should);
        return same ? 0 : (double)INFINITY;
    }
    snprintf(should, ELEMENT_TEXT_SIZE, "%zu", best);
    index = bits_get(a->type, a->result, to);
    same = index == best || (real && flushes(a) && index < a->s.n &&
                             is_same(a, number(a, at), number(a, place(a, o, (size_t)index, j))));
    return same ? 0 : (double)INFINITY;
}

/* The same of an integer sum, a count, or whether any or all are not 0. */
static double judge_integer(const judge *a, size_t o, size_t j, size_t r,
                            char should[ELEMENT_TEXT_SIZE])
{
    const uint64_t got = bits_get(a->type, a->result, a->p->offset_result + r);
    uint64_t sum = 0, set = 0, least = 0, want, stored = 0;
    bool right;

    for (size_t i = 0; i < a->s.n; i++) {
        const size_t at = place(a, o, i, j);
        const bool real = type_is_real(a->p->type);

        if (!real)
            sum += integer_get(a->p->type, a->x, at);
        set += real ? number(a, at) != 0 : integer_get(a->p->type, a->x, at) != 0;
        /* Denormals may count as 0. */
        least += real && number(a, at) != 0 && fabs(number(a, at)) < least_normal(a);
    }
    least = flushes(a) ? set - least : set;
    switch (a->p->by) {
    case TSR_REDUCE_COUNT:
        want = set;
        right = got >= least && got <= set;
        break;
    case TSR_REDUCE_ANY:
        want = set > 0;
        right = got == want || got == (least > 0);
        break;
    case TSR_REDUCE_ALL:
        want = set == a->s.n;
        right = got == want || got == (least == a->s.n);
        break;
    default:
        want = sum;
        right = got == want;
        break;
    }
    bits_set(a->type, &stored, 0, want);
    if (!right)
        element_text(a->type, &stored, 0, should);
    return right ? 0 : (double)INFINITY;
}

/* Judge result number r; fills detail where it is wrong. */
static double judge_one(const judge *a, const problem *q, size_t r, char *detail, size_t size)
{
    const size_t o = r / a->s.inner, j = r % a->s.inner;
    const size_t to = a->p->offset_result + r;
    char is[ELEMENT_TEXT_SIZE], should[ELEMENT_TEXT_SIZE] = "";
    double worst, exact = 0, got = 0;

    if (reduce_rounds(a->p)) {
        got = real_get(a->type, a->result, to);
        worst = judge_sum(a, o, j, got, &exact);
    } else {
        worst = reduce_finds_extreme(a->p) ? judge_extreme(a, o, j, r, should)
                                           : judge_integer(a, o, j, r, should);
    }
    if (worst <= 1)
        return worst;
    if (reduce_rounds(a->p))
        snprintf(detail, size, "%s number %zu is %.9g, %.3g times its error bound away from %.9g",
                 reduce_by_name(q), r, got, worst, exact);
    else {
        element_text(a->type, a->result, to, is);
        snprintf(detail, size, "%s number %zu is %s and should be %s", reduce_by_name(q), r, is,
                 should);
    }
    return worst;
}

tsr_status reduce_verify(const problem *q, const device_facts *d, const void *const before[],
                         const void *const after[], const void *expected, verdict *out,
                         tsr_error *err)
{
    const tsr_reduce_problem *p = reduce_of(q);
    const view result = reduce_result(p);
    const judge a = {.p = p,
                     .d = d,
                     .s = reduce_shape_of(p),
                     .x = before[REDUCE_X],
                     .result = after[REDUCE_RESULT],
                     .type = result.type};

    (void)expected, (void)err;
    *out = (verdict){.ok = view_gaps_kept(&result, before[REDUCE_RESULT], after[REDUCE_RESULT])};
    if (!out->ok) {
        out->worst = INFINITY;
        snprintf(out->detail, sizeof(out->detail), "memory outside the result was written");
        return TSR_OK;
    }
    for (size_t r = 0; r < reduce_results(p); r++) {
        const double worst = judge_one(&a, q, r, out->ok ? out->detail : (char[200]){0}, 200);

        out->worst = worst > out->worst || isnan(worst) ? worst : out->worst;
        out->ok = out->ok && worst <= 1;
    }
    return TSR_OK;
}
