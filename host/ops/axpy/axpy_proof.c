/* Proving axpy: test inputs, the sweep of edge sizes, and the reference with its bound. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/elements.h"
#include "base/random.h"
#include "base/sizes.h"
#include "core/real.h"
#include "ops/axpy/axpy_problem.h"

enum { PARALLEL_MIN = 100000 }; /* elements that are worth several threads */

/* Any bytes: of integers each is as good as another; few values are small ones. */
static void fill_whole(const operand *o, distribution f, uint64_t seed, void *array)
{
    const long long elements = (long long)(o->bytes / tsr_type_size(o->type));

#ifdef _OPENMP
#pragma omp parallel for if (elements > PARALLEL_MIN)
#endif
    for (long long i = 0; i < elements; i++) {
        const uint64_t bits = random_stream(seed, (uint64_t)i);

        bits_set(o->type, array, (size_t)i, f == DISTRIBUTION_FEW ? bits % 17 : bits);
    }
}

void axpy_fill(const problem *q, uint64_t seed, distribution f, void *const arrays[])
{
    operand o[OPERANDS_MAX];

    q->op->operands(q, o);
    for (size_t i = 0; i < AXPY_OPERANDS; i++) {
        if (type_is_real(o[i].type))
            view_fill(&o[i], &o[i].view, f, random_stream(seed, i), arrays[i]);
        else
            fill_whole(&o[i], f, random_stream(seed, i), arrays[i]);
    }
}

/* ---- the sweep ----------------------------------------------------------------------------- */

/* None, one, primes, one off vectors, groups and what a group takes.  A simulator takes the first
 * TINY_SIZES. */
static const size_t sizes[] = {0,   1,   5,    17,   64,    129,   300,   2,       3,
                               4,   7,   8,    15,   16,    31,    33,    63,      65,
                               127, 128, 255,  256,  257,   511,   513,   1023,    1025,
                               300, 777, 2047, 4099, 16384, 65537, 99991, 1000003, 5003};
static const size_t offsets[][3] = {{0, 0, 0}, {16, 32, 64}, {1, 2, 3}, {0, 0, 5}};
static const size_t increments[][3] = {{0, 0, 0}, {2, 1, 3}, {1, 5, 1}};
static const double reals[] = {1, 2.5, -1, 0, -0x1.91eb86p-3}, wholes[] = {1, 3, -1, 0, -0x1p63};

enum { TINY_SIZES = 7, TYPE_SIZES = 20 };

/* The main type comes first, and has every size. */
static const tsr_type types[] = {TSR_F32, TSR_F64, TSR_F16, TSR_BF16, TSR_I32, TSR_U32,
                                 TSR_I64, TSR_U64, TSR_I8,  TSR_U8,   TSR_I16, TSR_U16};

bool axpy_sweep(size_t i, bool tiny, problem *out)
{
    const size_t type = i % ARRAY_COUNT(types), at = i / ARRAY_COUNT(types);
    const size_t *offset = offsets[(at + type) % ARRAY_COUNT(offsets)];
    /* Every third has gaps: the variants that want none still see most sizes. */
    const size_t *inc = increments[at % 3 == 2 ? 1 + at / 3 % 2 : 0];
    const size_t count = tiny ? TINY_SIZES : ARRAY_COUNT(sizes);
    const tsr_axpy_problem p = {.type = types[type],
                                .n = at < count ? sizes[at] : 0,
                                .alpha = (type_is_real(types[type]) ? reals : wholes)[at % 5],
                                .in_place = (at + type) / 2 % 2,
                                .incx = inc[0],
                                .incy = inc[1],
                                .incz = inc[2],
                                .offset_x = offset[0],
                                .offset_y = offset[1],
                                .offset_z = offset[2]};

    if (at >= count)
        return false;
    *out = problem_from(&operation_axpy, &p, sizeof(p));
    if (type && !tiny && at >= TYPE_SIZES)
        axpy_in(out)->n %= 5000; /* what is large costs time, and is no edge of a type's own */
    return true;
}

/* ---- the reference ------------------------------------------------------------------------- */

/* Error over its bound of an element that is alpha x + y. */
static double judge_real(const tsr_axpy_problem *p, const device_facts *d, double x, double y,
                         double got)
{
    const tsr_type sums = real_sums(p->type);
    const bool keeps = sums == TSR_F64 ? d->denormals_f64 : d->denormals_f32;
    const double alpha = real_round(sums, p->alpha);
    real_sum sum = real_sum_start(p->type, TSR_PRECISION_DEFAULT, d);
    double exact;

    if (fabs(alpha) == 1 && keeps) { /* one rounding */
        exact = sums == TSR_F64 ? alpha * x + y : (double)((float)(alpha * x) + (float)y);
        exact = real_round(p->type, exact);
        return got == exact || (isnan(got) && isnan(exact)) ? 0 : INFINITY;
    }
    real_sum_add(&sum, alpha, x);
    return real_judge(&sum, 1, 1, y, got);
}

static double judge(const tsr_axpy_problem *p, const device_facts *d, const void *const before[],
                    const void *const after[], size_t i)
{
    const view x = axpy_view(p, AXPY_X), y = axpy_view(p, AXPY_Y), z = axpy_view(p, AXPY_Z);
    const size_t at_x = x.offset + i * axpy_inc(p, AXPY_X);
    const size_t at_y = y.offset + i * axpy_inc(p, AXPY_Y);
    const size_t at_z = z.offset + i * axpy_inc(p, AXPY_Z);
    const void *added = before[p->in_place ? AXPY_Z : AXPY_Y];

    if (type_is_real(p->type))
        return judge_real(p, d, real_get(p->type, before[AXPY_X], at_x),
                          real_get(p->type, added, at_y), real_get(p->type, after[AXPY_Z], at_z));
    {
        const uint64_t kept = UINT64_MAX >> (64 - 8 * tsr_type_size(p->type));
        const uint64_t exact = axpy_whole(p->alpha) * bits_get(p->type, before[AXPY_X], at_x) +
                               bits_get(p->type, added, at_y);

        return (exact & kept) == bits_get(p->type, after[AXPY_Z], at_z) ? 0 : INFINITY;
    }
}

tsr_status axpy_verify(const problem *q, const device_facts *d, const void *const before[],
                       const void *const after[], const void *expected, verdict *out,
                       tsr_error *err)
{
    const tsr_axpy_problem *p = axpy_of(q);
    const view x = axpy_view(p, AXPY_X), y = axpy_view(p, AXPY_Y), z = axpy_view(p, AXPY_Z);
    const long long n = (long long)p->n;
    long long first = n; /* of those that are wrong */
    double worst = 0;
    char of_x[ELEMENT_TEXT_SIZE], of_y[ELEMENT_TEXT_SIZE], got[ELEMENT_TEXT_SIZE];

    (void)expected, (void)err;
    *out = (verdict){.ok = view_gaps_kept(&z, before[AXPY_Z], after[AXPY_Z])};
    if (!out->ok) {
        out->worst = INFINITY;
        snprintf(out->detail, sizeof(out->detail), "memory outside the result was written");
        return TSR_OK;
    }
#ifdef _OPENMP
#pragma omp parallel for reduction(max : worst) reduction(min : first) if (n > PARALLEL_MIN)
#endif
    for (long long i = 0; i < n; i++) {
        const double ratio = judge(p, d, before, after, (size_t)i);

        worst = ratio > worst ? ratio : worst;
        first = !(ratio <= 1) && i < first ? i : first;
    }
    out->worst = worst;
    out->ok = first == n;
    if (out->ok)
        return TSR_OK;
    element_text(p->type, before[AXPY_X], x.offset + (size_t)first * axpy_inc(p, AXPY_X), of_x);
    element_text(p->type, before[p->in_place ? AXPY_Z : AXPY_Y],
                 y.offset + (size_t)first * axpy_inc(p, AXPY_Y), of_y);
    element_text(p->type, after[AXPY_Z], z.offset + (size_t)first * axpy_inc(p, AXPY_Z), got);
    snprintf(out->detail, sizeof(out->detail),
             "element %lld is %s, and should be %g times %s plus %s", first, got, p->alpha, of_x,
             of_y);
    return TSR_OK;
}
