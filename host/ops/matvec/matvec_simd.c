/* matvec in C for the host and for CPUs: rows, or blocks of columns, over the cores, by vectors. */
#include "ops/matvec/matvec_simd.h"

#include <stdlib.h>

#include "base/sizes.h"
#include "ops/matvec/matvec_host.h"
#include "ops/matvec/matvec_variants.h"

/* How a product is cut follows from its shape alone, where it bears on the order of a sum: results
 * do not depend on the number of threads. */
enum {
    PARALLEL_MIN = 1 << 17, /* elements of A that are worth several threads */
    BLOCK = 4096,           /* elements of y: of one thread, whose sums stay in the nearest cache */
    BLOCKS_ENOUGH = 16,     /* below it the terms of a sum are shared out, too */
    TERMS_MIN = 256,        /* of one part */
    PARTS_MAX = 64
};

/* The loops of a type, for this processor. */
typedef struct loops {
    size_t size;
    matvec_dot_loop *dot;
    matvec_columns_loop *columns;
    matvec_put_loop *put;
} loops;

static loops loops_f32(void)
{
    static matvec_dot_loop *const dot[] = {ISA_EACH(matvec_dot_f32)};
    static matvec_columns_loop *const columns[] = {ISA_EACH(matvec_columns_f32)};
    static matvec_put_loop *const put[] = {ISA_EACH(matvec_put_f32)};
    const isa i = isa_best();

    return (loops){sizeof(float), dot[i], columns[i], put[i]};
}

static loops loops_f64(void)
{
    static matvec_dot_loop *const dot[] = {ISA_EACH(matvec_dot_f64)};
    static matvec_columns_loop *const columns[] = {ISA_EACH(matvec_columns_f64)};
    static matvec_put_loop *const put[] = {ISA_EACH(matvec_put_f64)};
    const isa i = isa_best();

    return (loops){sizeof(double), dot[i], columns[i], put[i]};
}

/* Blocks of y times parts of the terms; false: no memory for the sums of the parts. */
static bool multiply(const matvec_view *v, const char *a, const char *x, char *y, loops of)
{
    const size_t block = v->trans ? BLOCK : size_max(size_div_up(v->rows, PARTS_MAX), 4);
    const size_t blocks = size_div_up(v->rows, block);
    const size_t spare = size_min(PARTS_MAX / size_min(blocks, PARTS_MAX), v->columns / TERMS_MIN);
    const size_t parts = blocks >= BLOCKS_ENOUGH ? 1 : size_max(spare, 1);
    const size_t terms = size_div_up(v->columns, parts);
    const bool beside = v->trans || parts > 1;
    char *sums = beside ? malloc(parts * v->rows * of.size) : NULL;

    if (beside && !sums)
        return false;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) if (v->columns >= PARALLEL_MIN / v->rows)
#endif
    for (size_t i = 0; i < blocks * parts; i++) {
        const size_t p = i / blocks, r = i % blocks * block, c = size_min(p * terms, v->columns);
        const size_t rows = size_min(block, v->rows - r), columns = size_min(terms, v->columns - c);
        const char *first = a + (r * v->row_step + c * v->column_step) * of.size;
        char *sum = beside ? sums + (p * v->rows + r) * of.size : NULL;

        if (v->trans)
            of.columns(first, v->column_step, columns, rows, x + c * of.size, sum);
        else if (beside)
            of.dot(first, v->row_step, rows, columns, x + c * of.size, 1, 0, sum);
        else
            of.dot(first, v->row_step, rows, columns, x, v->alpha, v->beta, y + r * of.size);
    }
    if (beside)
        of.put(sums, parts, v->rows, v->alpha, v->beta, y);
    free(sums);
    return true;
}

static bool simd_f32(const matvec_view *v, const float *a, const float *x, float *y)
{
    return multiply(v, (const char *)a, (const char *)x, (char *)y, loops_f32());
}

static bool simd_f64(const matvec_view *v, const double *a, const double *x, double *y)
{
    return multiply(v, (const char *)a, (const char *)x, (char *)y, loops_f64());
}

static tsr_status run_simd(const problem *p, void *const operands[], tsr_error *err)
{
    static const matvec_loops simd = {simd_f32, simd_f64};

    return matvec_host_run(p, operands, &simd, err);
}

const variant matvec_simd = {
    .name = "simd",
    .idea = "vectors along rows, or along the lines of a transposed A, shared out to every core",
    .plan = matvec_host_plan,
    .host = run_simd,
    .serves_cpus = true};
