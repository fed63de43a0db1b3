/* Proving scan: test inputs, the sweep of edge shapes, and the reference with its bound. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/elements.h"
#include "base/random.h"
#include "base/sizes.h"
#include "core/real.h"
#include "ops/scan/scan_problem.h"

/* ---- inputs -------------------------------------------------------------------------------- */

/* An integer: any bits; small ones of FEW; extremes among SPECIAL. */
static uint64_t random_whole(tsr_type type, distribution f, uint64_t *state)
{
    const uint64_t bits = random_u64(state);
    const unsigned width = (unsigned)(8 * tsr_type_size(type));

    if (f == DISTRIBUTION_FEW)
        return bits % 17;
    if (f == DISTRIBUTION_SPECIAL && bits % 4 == 0)
        return bits / 4 % 2 ? (uint64_t)1 << (width - 1) : ((uint64_t)1 << (width - 1)) - 1;
    return bits >> 1;
}

static void fill_wholes(const operand *o, const view *x, distribution f, uint64_t seed, void *array)
{
    uint64_t state = seed;

    for (size_t i = 0; i < o->bytes / tsr_type_size(x->type); i++)
        bits_set(x->type, array, i, random_whole(x->type, f, &state));
}

/* Any lengths, some of which are 0: places of the array in order. */
static void fill_segments(const tsr_scan_problem *p, uint64_t seed, uint64_t *offsets)
{
    uint64_t state = seed, at = 0;

    for (size_t i = 0; i < p->offset_segments; i++)
        *offsets++ = random_u64(&state);
    for (size_t i = 0; i < p->segments; i++) {
        const uint64_t left = p->n - at, mean = left / (p->segments - i);

        offsets[i] = at;
        at += random_u64(&state) % 4 ? size_min(left, random_u64(&state) % (3 * mean + 2)) : 0;
    }
    offsets[p->segments] = p->n;
}

void scan_fill(const problem *q, uint64_t seed, distribution f, void *const arrays[])
{
    const tsr_scan_problem *p = scan_of(q);
    const view views[] = {scan_x(p), scan_result(p)};
    operand o[OPERANDS_MAX];

    q->op->operands(q, o);
    for (size_t i = SCAN_X; i <= SCAN_RESULT; i++)
        (type_is_real(views[i].type) ? view_fill : fill_wholes)(
            &o[i], &views[i], i == SCAN_X ? f : DISTRIBUTION_UNIFORM, random_stream(seed, i),
            arrays[i]);
    if (p->segments)
        fill_segments(p, random_stream(seed, SCAN_SEGMENTS), arrays[SCAN_SEGMENTS]);
}

/* ---- the sweep ----------------------------------------------------------------------------- */

/* None, one, primes, one off vectors, groups and blocks, rows and columns; a simulator takes those
 * of TINY_SHAPES. */
static const size_t shapes[][3] = {
    {1, 0, 1},     {1, 1, 1},     {1, 2, 1},     {1, 31, 1},    {1, 129, 1},    {1, 301, 1},
    {3, 17, 1},    {1, 19, 5},    {2, 9, 3},     {1, 2053, 1},  {1, 3, 1},      {1, 8, 1},
    {1, 32, 1},    {1, 33, 1},    {1, 64, 1},    {1, 127, 1},   {1, 255, 1},    {1, 256, 1},
    {1, 511, 1},   {1, 513, 1},   {1, 1023, 1},  {1, 2047, 1},  {1, 4096, 1},   {1, 4097, 1},
    {1, 8191, 1},  {1, 16385, 1}, {1, 33000, 1}, {1, 65537, 1}, {1, 100003, 1}, {1, 300007, 1},
    {100, 100, 1}, {7, 5003, 1},  {2000, 3, 1},  {300, 1, 1},   {1, 1, 300},    {1, 100, 100},
    {1, 5003, 7},  {2, 3, 2000},  {5, 300, 17},  {3, 70001, 1}, {1, 40009, 3},  {1, 1000, 257},
};

enum { TINY_SHAPES = 9 };

/* Types and ways, by turns: each shape meets all of them in a few rounds of the sweep. */
typedef struct scan_case {
    tsr_type type;
    size_t by;
    bool exclusive, reverse, same_type;
    size_t segments; /* of lines that stand alone: up to so many */
    size_t offset_x, offset_result, offset_segments;
} scan_case;

static const scan_case cases[] = {
    {TSR_F32, TSR_SCAN_SUM, false, false, false, 0, 0, 0, 0},
    {TSR_F32, TSR_SCAN_SUM, true, true, false, 7, 0, 0, 0},
    {TSR_I32, TSR_SCAN_SUM, false, false, false, 0, 1, 3, 0},
    {TSR_F32, TSR_SCAN_MAX, false, true, false, 0, 5, 1, 0},
    {TSR_U8, TSR_SCAN_SUM, true, false, false, 40, 3, 0, 2},
    {TSR_F64, TSR_SCAN_SUM, false, true, false, 3, 0, 0, 1},
    {TSR_I16, TSR_SCAN_SUM, false, true, true, 0, 0, 0, 0},
    {TSR_F16, TSR_SCAN_SUM, true, false, false, 0, 1, 1, 0},
    {TSR_I8, TSR_SCAN_MIN, false, false, false, 1, 0, 0, 0},
    {TSR_F32, TSR_SCAN_MIN, true, false, false, 300, 0, 0, 0},
    {TSR_BF16, TSR_SCAN_SUM, false, false, false, 0, 0, 0, 0},
    {TSR_U64, TSR_SCAN_MAX, true, true, false, 0, 2, 2, 0},
    {TSR_U32, TSR_SCAN_SUM, true, false, true, 17, 0, 0, 3},
    {TSR_I64, TSR_SCAN_SUM, false, true, false, 11, 0, 0, 0},
    {TSR_U16, TSR_SCAN_MIN, false, true, false, 0, 0, 0, 0},
    {TSR_F16, TSR_SCAN_MAX, false, false, false, 9, 0, 0, 0},
    {TSR_I8, TSR_SCAN_SUM, false, false, false, 0, 0, 0, 0},
    {TSR_F64, TSR_SCAN_MIN, true, true, false, 0, 1, 0, 0},
    {TSR_BF16, TSR_SCAN_MIN, false, true, false, 0, 0, 0, 0},
    {TSR_I64, TSR_SCAN_MIN, true, false, false, 5, 0, 0, 0},
    {TSR_U8, TSR_SCAN_SUM, false, false, true, 0, 0, 0, 0},
};

/* Of each shape sums of float32, and two others by turns. */
enum { ALWAYS = 2, OTHERS = 2, EACH = ALWAYS + OTHERS };

bool scan_sweep(size_t i, bool tiny, problem *out)
{
    const size_t which = i / EACH, k = i % EACH;
    const size_t turn = (which * OTHERS + k - ALWAYS) % (ARRAY_COUNT(cases) - ALWAYS);
    const scan_case *c = &cases[k < ALWAYS ? k : ALWAYS + turn];
    tsr_scan_problem p = {.type = c->type,
                          .by = c->by,
                          .exclusive = c->exclusive,
                          .reverse = c->reverse,
                          .same_type = c->same_type,
                          .offset_x = c->offset_x,
                          .offset_result = c->offset_result};

    if (which >= (tiny ? TINY_SHAPES : ARRAY_COUNT(shapes)))
        return false;
    p.outer = shapes[which][0];
    p.n = shapes[which][1];
    p.inner = shapes[which][2];
    if (scan_lines(&p) == 1 && c->segments) {
        p.segments = c->segments;
        p.offset_segments = c->offset_segments;
    }
    *out = problem_from(&operation_scan, &p, sizeof(p));
    if (p.by != TSR_SCAN_SUM && type_is_real(p.type))
        out->inputs = DISTRIBUTION_SPECIAL;
    return true;
}

/* ---- the reference ------------------------------------------------------------------------- */

/* What is found wrong, and how far the worst result is off. */
typedef struct judge {
    const tsr_scan_problem *p;
    const device_facts *d;
    const void *x, *got;
    verdict *out;
} judge;

static void blame(const judge *g, size_t at, double error, double got, double exact)
{
    if (!(error > g->out->worst))
        return;
    g->out->worst = error;
    if (error > 1 && g->out->ok) {
        g->out->ok = false;
        snprintf(g->out->detail, sizeof(g->out->detail),
                 "element %zu is %.17g, %.3g times its error bound away from %.17g", at, got, error,
                 exact);
    }
}

/* Sums of reals: the terms so far, exact enough to judge each of them.  To judge takes long, and
 * most need not be: the bounds of sums of finite numbers grow along a line, so that one whose error
 * is no larger a part of an earlier bound than the worst so far changes nothing.  Types of 16 bits
 * have bounds that grow with the result. */
static void judge_sums(const judge *g, size_t at, ptrdiff_t step, size_t n)
{
    const tsr_scan_problem *p = g->p;
    bool grows = p->type == TSR_F32 || p->type == TSR_F64;
    real_sum sum = real_sum_start(p->type, TSR_PRECISION_DEFAULT, g->d);
    long double bound = 0; /* no more than that of any element from here on */

    for (size_t i = 0; i < n; i++, at += (size_t)step) {
        const double next = real_get(p->type, g->x, p->offset_x + at);
        const double got = real_get(p->type, g->got, p->offset_result + at);
        long double error;
        double part;

        if (!p->exclusive)
            real_sum_add(&sum, next, 1);
        grows = grows && isfinite(next);
        error = fabsl((long double)got - real_sum_value(&sum));
        if (!grows || !(error <= (long double)g->out->worst * bound)) {
            part = real_judge(&sum, 1, 0, 0, got);
            blame(g, at, part, got, (double)real_sum_value(&sum));
            if (part > 0 && isfinite(part))
                bound = fmaxl(bound, 0.999L * error / part); /* rounded down */
        }
        if (p->exclusive)
            real_sum_add(&sum, next, 1);
    }
}

/* A device that flushes denormals takes them for equal to 0 and to each other. */
static bool same_extreme(const judge *g, double a, double b)
{
    const bool narrow = g->p->type == TSR_F32 || g->p->type == TSR_BF16;

    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    return a == b || (narrow && !g->d->denormals_f32 && fabs(a) < (double)FLT_MIN &&
                      fabs(b) < (double)FLT_MIN);
}

static void judge_extremes(const judge *g, size_t at, ptrdiff_t step, size_t n)
{
    const tsr_scan_problem *p = g->p;
    const bool least = p->by == TSR_SCAN_MIN;
    double best = least ? INFINITY : -INFINITY;

    for (size_t i = 0; i < n; i++, at += (size_t)step) {
        const double next = real_get(p->type, g->x, p->offset_x + at);
        const double got = real_get(p->type, g->got, p->offset_result + at);
        const double before = best;

        if (isnan(next) || isnan(best))
            best = NAN;
        else
            best = least ? fmin(best, next) : fmax(best, next);
        if (!same_extreme(g, got, p->exclusive ? before : best))
            blame(g, at, INFINITY, got, p->exclusive ? before : best);
    }
}

/* Integers, to the bit: sums modulo the type's range. */
static void judge_wholes(const judge *g, size_t at, ptrdiff_t step, size_t n)
{
    const tsr_scan_problem *p = g->p;
    const tsr_type to = tsr_scan_result_type(p);
    const bool is_signed = type_is_signed(p->type);
    const unsigned width = (unsigned)(8 * tsr_type_size(to));
    const uint64_t mask = UINT64_MAX >> (64 - width);
    const uint64_t highest = is_signed ? mask >> 1 : mask, lowest = is_signed ? highest + 1 : 0;
    uint64_t value = p->by == TSR_SCAN_SUM ? 0 : p->by == TSR_SCAN_MIN ? highest : lowest;

    for (size_t i = 0; i < n; i++, at += (size_t)step) {
        const uint64_t next = integer_get(p->type, g->x, p->offset_x + at);
        const uint64_t got = integer_get(to, g->got, p->offset_result + at) & mask;
        /* In one order for both signs. */
        const uint64_t sign = is_signed ? highest + 1 : 0;
        const bool less = ((next & mask) ^ sign) < (value ^ sign);
        const uint64_t before = value;

        if (p->by == TSR_SCAN_SUM)
            value = (value + next) & mask;
        else if (less == (p->by == TSR_SCAN_MIN))
            value = next & mask;
        if (got != (p->exclusive ? before : value) && g->out->ok) {
            *g->out = (verdict){.worst = INFINITY};
            snprintf(g->out->detail, sizeof(g->out->detail),
                     "element %zu has the bits %" PRIx64 ", not %" PRIx64, at, got,
                     p->exclusive ? before : value);
        }
    }
}

static void judge_line(const judge *g, size_t first, size_t step, size_t n)
{
    const size_t at = g->p->reverse && n ? first + (n - 1) * step : first;
    const ptrdiff_t pace = g->p->reverse ? -(ptrdiff_t)step : (ptrdiff_t)step;

    (!type_is_real(g->p->type)  ? judge_wholes
     : g->p->by == TSR_SCAN_SUM ? judge_sums
                                : judge_extremes)(g, at, pace, n);
}

tsr_status scan_verify(const problem *q, const device_facts *d, const void *const before[],
                       const void *const after[], const void *expected, verdict *out,
                       tsr_error *err)
{
    const tsr_scan_problem *p = scan_of(q);
    const view result = scan_result(p);
    const size_t inner = scan_inner(p);
    const judge g = {.p = p, .d = d, .x = before[SCAN_X], .got = after[SCAN_RESULT], .out = out};

    (void)expected, (void)err;
    *out = (verdict){.ok = true};
    if (result.length && !view_gaps_kept(&result, before[SCAN_RESULT], after[SCAN_RESULT])) {
        *out = (verdict){.worst = INFINITY};
        snprintf(out->detail, sizeof(out->detail), "memory outside the result was written");
        return TSR_OK;
    }
    if (p->segments) {
        const uint64_t *offsets = (const uint64_t *)before[SCAN_SEGMENTS] + p->offset_segments;

        for (size_t s = 0; s < p->segments; s++)
            judge_line(&g, (size_t)offsets[s], 1, (size_t)(offsets[s + 1] - offsets[s]));
        return TSR_OK;
    }
    for (size_t line = 0; line < scan_lines(p); line++)
        judge_line(&g, line / inner * p->n * inner + line % inner, inner, p->n);
    return TSR_OK;
}
