/* Proving reduce: test inputs, the sweep of edge sizes, and the reference with its bound. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/random.h"
#include "base/sizes.h"
#include "core/real.h"
#include "ops/reduce/reduce_problem.h"

void reduce_fill(const problem *q, uint64_t seed, distribution f, void *const arrays[])
{
    const view x = reduce_x(reduce_of(q)), result = reduce_result(reduce_of(q));
    operand o[OPERANDS_MAX];

    q->op->operands(q, o);
    view_fill(&o[REDUCE_X], &x, f, random_stream(seed, REDUCE_X), arrays[REDUCE_X]);
    view_fill(&o[REDUCE_RESULT], &result, DISTRIBUTION_UNIFORM, random_stream(seed, REDUCE_RESULT),
              arrays[REDUCE_RESULT]);
}

/* None, one, primes, one off vectors, groups and the blocks of groups.  A simulator takes the first
 * TINY_SIZES. */
static const size_t sizes[] = {
    0,    1,    2,    5,    31,   127,  128,  129,  300,   1025,  3,     4,     7,      8,
    13,   32,   33,   63,   64,   65,   255,  256,  257,   511,   512,   513,   1023,   1024,
    2047, 2048, 2049, 4095, 4096, 4097, 5003, 8191, 16384, 16385, 32767, 65537, 100003, 1000003};
static const size_t offsets[][2] = {{0, 0}, {1, 3}, {16, 0}, {5, 1}};

enum { TINY_SIZES = 10, REDUCTIONS = 3 };

bool reduce_sweep(size_t i, bool tiny, problem *out)
{
    const size_t which = i / REDUCTIONS, by = i % REDUCTIONS;
    const size_t *offset = offsets[i % ARRAY_COUNT(offsets)];
    tsr_reduce_problem p = {
        .type = TSR_F32, .by = by, .offset_x = offset[0], .offset_result = offset[1]};

    if (which >= (tiny ? TINY_SIZES : ARRAY_COUNT(sizes)))
        return false;
    p.n = sizes[which];
    if (p.n == 0 && by != TSR_REDUCE_SUM)
        p.n = 17; /* none have no minimum */
    *out = problem_from(&operation_reduce, &p, sizeof(p));
    return true;
}

/* |got - exact| / bound of a sum. */
static double judge_sum(const tsr_reduce_problem *p, const device_facts *d, const float *x,
                        double got, double *exact)
{
    real_sum sum = real_sum_start(p->type, TSR_PRECISION_DEFAULT, d);

    for (size_t i = 0; i < p->n; i++)
        real_sum_add(&sum, (double)x[i], 1);
    *exact = (double)real_sum_value(&sum);
    return real_judge(&sum, 1, 0, 0, got);
}

/* 0 where a minimum or maximum is right, else INFINITY. */
static double judge_extreme(const tsr_reduce_problem *p, const device_facts *d, const float *x,
                            double got, double *exact)
{
    double best = (double)x[0];

    for (size_t i = 1; i < p->n && !isnan(best); i++)
        if (isnan(x[i]) || (p->by == TSR_REDUCE_MIN ? (double)x[i] < best : (double)x[i] > best))
            best = (double)x[i];
    *exact = best;
    if (isnan(best))
        return isnan(got) ? 0 : INFINITY;
    /* A device that flushes denormals takes them for equal to 0 and to each other. */
    if (got == best ||
        (!d->denormals_f32 && fabs(best) < (double)FLT_MIN && fabs(got) < (double)FLT_MIN))
        return 0;
    return INFINITY;
}

tsr_status reduce_verify(const problem *q, const device_facts *d, const void *const before[],
                         const void *const after[], const void *expected, verdict *out,
                         tsr_error *err)
{
    const tsr_reduce_problem *p = reduce_of(q);
    const view result = reduce_result(p);
    const float *x = p->n ? (const float *)before[REDUCE_X] + p->offset_x : NULL;
    const double got = (double)((const float *)after[REDUCE_RESULT])[p->offset_result];
    double exact = 0;

    (void)expected, (void)err;
    *out = (verdict){.ok = view_gaps_kept(&result, before[REDUCE_RESULT], after[REDUCE_RESULT])};
    if (!out->ok) {
        out->worst = INFINITY;
        snprintf(out->detail, sizeof(out->detail), "memory outside the result was written");
        return TSR_OK;
    }
    out->worst = (p->by == TSR_REDUCE_SUM ? judge_sum : judge_extreme)(p, d, x, got, &exact);
    out->ok = out->worst <= 1;
    if (!out->ok)
        snprintf(out->detail, sizeof(out->detail),
                 "the %s is %.9g, %.3g times its error bound away from %.9g", reduce_by_name(q),
                 got, out->worst, exact);
    return TSR_OK;
}
