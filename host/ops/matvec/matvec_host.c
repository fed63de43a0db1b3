#include "ops/matvec/matvec_host.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/scratch.h"
#include "base/sizes.h"
#include "ops/matvec/matvec_shape.h"
#include "ops/matvec/matvec_variants.h"

/* Rows of op(A) that one thread sums at once where A is transposed: 4 KiB of
 * double stay in the first-level cache, and a line of A is used whole. */
#define OPENMP_BLOCK ((size_t)512)

#define REAL        float
#define NAMED(name) name##_f32
#include "ops/matvec/matvec_host_body.h"
#undef REAL
#undef NAMED

#define REAL        double
#define NAMED(name) name##_f64
#include "ops/matvec/matvec_host_body.h"
#undef REAL
#undef NAMED

/* Element `offset` of an array, or NULL where nothing of it is read. */
static const uint16_t *u16_at(const void *array, size_t offset, bool read)
{
    return read ? (const uint16_t *)array + offset : NULL;
}

static const float *f32_at(const void *array, size_t offset, bool read)
{
    return read ? (const float *)array + offset : NULL;
}

static const double *f64_at(const void *array, size_t offset, bool read)
{
    return read ? (const double *)array + offset : NULL;
}

static tsr_status no_memory(const tsr_matvec_problem *p, tsr_error *err)
{
    return tsr_fail(err, TSR_ENOMEM, 0,
                    "matvec: no memory for working copies of the operands of %zu x %zu", p->rows,
                    p->columns);
}

/* One product whose vectors are of float32 or float64 and have no gaps. */
static tsr_status run_plain(const tsr_matvec_problem *p, void *const operands[],
                            const matvec_loops *loops, tsr_error *err)
{
    const matvec_view v = matvec_view_of(p);
    const bool read = v.columns != 0;
    bool done;

    if (p->type == TSR_F16)
        done = loops->f16(&v, u16_at(operands[MATVEC_A], p->offset_a, read),
                          f32_at(operands[MATVEC_X], p->offset_x, read),
                          (float *)operands[MATVEC_Y] + p->offset_y);
    else if (p->type == TSR_BF16)
        done = loops->bf16(&v, u16_at(operands[MATVEC_A], p->offset_a, read),
                           f32_at(operands[MATVEC_X], p->offset_x, read),
                           (float *)operands[MATVEC_Y] + p->offset_y);
    else if (p->type == TSR_F64)
        done = loops->f64(&v, f64_at(operands[MATVEC_A], p->offset_a, read),
                          f64_at(operands[MATVEC_X], p->offset_x, read),
                          (double *)operands[MATVEC_Y] + p->offset_y);
    else
        done = loops->f32(&v, f32_at(operands[MATVEC_A], p->offset_a, read),
                          f32_at(operands[MATVEC_X], p->offset_x, read),
                          (float *)operands[MATVEC_Y] + p->offset_y);
    return done ? TSR_OK : no_memory(p, err);
}

/* The same of any: A is copied where the loops do not take its elements of 16 bits. */
static tsr_status run_on_copies(const tsr_matvec_problem *p, void *const operands[],
                                const matvec_loops *loops, tsr_error *err)
{
    const bool read = matvec_view_of(p).columns != 0;
    const bool copies_a = p->type == TSR_F16    ? !loops->f16
                          : p->type == TSR_BF16 ? !loops->bf16
                                                : false;
    const view none = {.type = p->type}, y = matvec_y(p);
    const view a = read && copies_a ? matvec_a(p) : none, x = read ? matvec_x(p) : none;
    void *const copy[] = {view_copy(&a, operands[MATVEC_A], TSR_PRECISION_DEFAULT),
                          view_copy(&x, operands[MATVEC_X], TSR_PRECISION_DEFAULT),
                          view_copy(&y, operands[MATVEC_Y], TSR_PRECISION_DEFAULT)};
    void *const plain_operands[] = {copies_a ? copy[MATVEC_A] : operands[MATVEC_A], copy[MATVEC_X],
                                    copy[MATVEC_Y]};
    tsr_matvec_problem plain = *p;
    tsr_status st = copy[0] && copy[1] && copy[2] ? TSR_OK : no_memory(p, err);

    plain.offset_x = plain.offset_y = 0;
    if (copies_a) {
        plain.type = real_sums(p->type);
        plain.lda = plain.offset_a = 0;
    }
    if (!st)
        st = run_plain(&plain, plain_operands, loops, err);
    if (!st)
        view_put(&y, copy[MATVEC_Y], operands[MATVEC_Y]);
    for (size_t i = 0; i < 3; i++)
        scratch_give(copy[i]);
    return st;
}

tsr_status matvec_host_run(const problem *q, void *const operands[], const matvec_loops *loops,
                           tsr_error *err)
{
    const tsr_matvec_problem *p = matvec_of(q);
    const bool plain = p->type == real_sums(p->type) && matvec_incx(p) == 1 && matvec_incy(p) == 1;
    tsr_status st = TSR_OK;

    if (matvec_view_of(p).rows == 0)
        return TSR_OK;
    for (size_t e = 0; e < matvec_batch(p) && !st; e++) {
        const tsr_matvec_problem one = matvec_product(p, e);

        st = (plain ? run_plain : run_on_copies)(&one, operands, loops, err);
    }
    return st;
}

/* ---- the variants --------------------------------------------------------------------------- */

const char *matvec_host_plan(const job *j, plan *out)
{
    const tsr_matvec_problem *p = matvec_of(j->problem);

    return real_unsupported(p->type, p->precision, j->device, &out->reason);
}

/* As first programs are written and compiled.  A is one array to a caller, so rows that were
 * allocated one by one are taken in an order that jumps from one far place to the next. */
const variant matvec_scattered_O0 = {
    .name = "scattered-O0",
    .idea = "the plain loop at -O0 over pointers to rows that lie far from one another",
    .plan = matvec_host_plan,
    .host = matvec_run_scattered_O0};

const variant matvec_pointers_O0 = {.name = "row-pointers-O0",
                                    .idea =
                                        "the same, each row behind the one before it, in one block",
                                    .plan = matvec_host_plan,
                                    .host = matvec_run_pointers_O0};

const variant matvec_unroll_2_O0 = {
    .name = "unroll-2-O0",
    .idea = "scattered-O0 with two products a turn, added to one sum: half the turns",
    .plan = matvec_host_plan,
    .host = matvec_run_unroll_2_O0};

const variant matvec_unroll_4_O0 = {
    .name = "unroll-4-O0",
    .idea = "four products a turn: one load and store of the sum for four of them",
    .plan = matvec_host_plan,
    .host = matvec_run_unroll_4_O0};

static tsr_status run_row_pointers(const problem *p, void *const operands[], tsr_error *err)
{
    static const matvec_loops loops = {row_pointers_f32, row_pointers_f64};

    return matvec_host_run(p, operands, &loops, err);
}

const variant matvec_row_pointers = {
    .name = "row-pointers",
    .idea = "the plain loop over an array of row pointers, each row reached through memory",
    .plan = matvec_host_plan,
    .host = run_row_pointers};

const variant matvec_contiguous = {
    .name = "contiguous",
    .idea = "one block of memory: the address of a row is computed, not loaded",
    .plan = matvec_host_plan,
    .host = matvec_run_contiguous};

const variant matvec_contiguous_O0 = {
    .name = "contiguous-O0",
    .idea = "the same source at -O0: every variable goes through memory",
    .plan = matvec_host_plan,
    .host = matvec_run_contiguous_O0};

const variant matvec_contiguous_O1 = {.name = "contiguous-O1",
                                      .idea = "the same source at -O1: variables stay in registers",
                                      .plan = matvec_host_plan,
                                      .host = matvec_run_contiguous_O1};

const variant matvec_contiguous_O2 = {
    .name = "contiguous-O2",
    .idea = "the same source at -O2: invariants leave the loop, instructions are scheduled",
    .plan = matvec_host_plan,
    .host = matvec_run_contiguous_O2};

const variant matvec_contiguous_O3 = {
    .name = "contiguous-O3",
    .idea = "the same source at -O3: vector code, as far as the order of the sum allows",
    .plan = matvec_host_plan,
    .host = matvec_run_contiguous_O3};

static tsr_status run_unroll_2(const problem *p, void *const operands[], tsr_error *err)
{
    static const matvec_loops loops = {unroll_2_f32, unroll_2_f64};

    return matvec_host_run(p, operands, &loops, err);
}

const variant matvec_unroll_2 = {.name = "unroll-2",
                                 .idea = "two sums a row by hand: two chains of additions overlap",
                                 .plan = matvec_host_plan,
                                 .host = run_unroll_2};

static tsr_status run_unroll_4(const problem *p, void *const operands[], tsr_error *err)
{
    static const matvec_loops loops = {unroll_4_f32, unroll_4_f64};

    return matvec_host_run(p, operands, &loops, err);
}

const variant matvec_unroll_4 = {.name = "unroll-4",
                                 .idea =
                                     "four sums a row: the chains hide the latency of an addition",
                                 .plan = matvec_host_plan,
                                 .host = run_unroll_4};

static const char *openmp_plan(const job *j, plan *out)
{
#ifdef _OPENMP
    return matvec_host_plan(j, out);
#else
    (void)j;
    (void)out;
    return "built without OpenMP";
#endif
}

static tsr_status run_openmp(const problem *p, void *const operands[], tsr_error *err)
{
    static const matvec_loops loops = {openmp_f32, openmp_f64};

    return matvec_host_run(p, operands, &loops, err);
}

const variant matvec_openmp = {
    .name = "openmp",
    .idea = "the rows, or blocks of columns of a transposed A, over all cores",
    .plan = openmp_plan,
    .host = run_openmp};
