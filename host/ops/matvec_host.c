#include "ops/matvec_host.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "ops/real.h"

/* Rows of op(A) that one thread sums at once where A is transposed: 4 KiB of
 * double stay in the first-level cache, and a line of A is used whole. */
#define OPENMP_BLOCK ((size_t)512)

#define REAL        float
#define NAMED(name) name##_f32
#include "ops/matvec_host_body.h"
#undef REAL
#undef NAMED

#define REAL        double
#define NAMED(name) name##_f64
#include "ops/matvec_host_body.h"
#undef REAL
#undef NAMED

matvec_view matvec_view_of(const tsr_matvec_problem *p)
{
    const size_t lda = p->lda ? p->lda : p->columns;
    matvec_view v = {.rows = p->trans ? p->columns : p->rows,
                     .columns = p->trans ? p->rows : p->columns,
                     .row_step = p->trans ? 1 : lda,
                     .column_step = p->trans ? lda : 1,
                     .trans = p->trans,
                     .alpha = real_round(p->type, p->alpha),
                     .beta = real_round(p->type, p->beta)};

    /* Without a term alpha counts for nothing, infinite or not; with alpha 0 no term is read. */
    if (v.columns == 0)
        v.alpha = 0;
    if (v.alpha == 0)
        v.columns = 0;
    return v;
}

/* Element `offset` of an array, or NULL where nothing of it is read. */
static const float *f32_at(const void *array, size_t offset, bool read)
{
    return read ? (const float *)array + offset : NULL;
}

static const double *f64_at(const void *array, size_t offset, bool read)
{
    return read ? (const double *)array + offset : NULL;
}

tsr_status matvec_row_pointers(const problem *p, void *const operands[], tsr_error *err)
{
    const tsr_matvec_problem *m = &p->matvec;
    const matvec_view v = matvec_view_of(m);
    const bool read = v.columns != 0;
    const size_t pointers = read ? m->rows : 0;
    size_t bytes;
    void *row = NULL;

    if (v.rows == 0)
        return TSR_OK;
    if (!size_mul(pointers, sizeof(void *), &bytes))
        return tsr_fail(err, TSR_EOVERFLOW, 0, "matvec: %zu row pointers exceed size_t", pointers);
    if (read) {
        row = malloc(bytes);
        if (!row)
            return tsr_fail(err, TSR_ENOMEM, 0, "matvec: no memory for %zu row pointers", pointers);
    }
    if (m->type == TSR_F64) {
        if (read)
            fill_row_pointers_f64(&v, f64_at(operands[0], m->offset_a, read), row);
        row_pointers_f64(&v, row, f64_at(operands[1], m->offset_x, read),
                         (double *)operands[2] + m->offset_y);
    } else {
        if (read)
            fill_row_pointers_f32(&v, f32_at(operands[0], m->offset_a, read), row);
        row_pointers_f32(&v, row, f32_at(operands[1], m->offset_x, read),
                         (float *)operands[2] + m->offset_y);
    }
    free(row);
    return TSR_OK;
}

/* Run the function of the problem's type on its operands. */
static tsr_status run(const problem *p, void *const operands[],
                      void (*f32)(const matvec_view *, const float *, const float *, float *),
                      void (*f64)(const matvec_view *, const double *, const double *, double *))
{
    const tsr_matvec_problem *m = &p->matvec;
    const matvec_view v = matvec_view_of(m);
    const bool read = v.columns != 0;

    if (v.rows == 0)
        return TSR_OK;
    if (m->type == TSR_F64)
        f64(&v, f64_at(operands[0], m->offset_a, read), f64_at(operands[1], m->offset_x, read),
            (double *)operands[2] + m->offset_y);
    else
        f32(&v, f32_at(operands[0], m->offset_a, read), f32_at(operands[1], m->offset_x, read),
            (float *)operands[2] + m->offset_y);
    return TSR_OK;
}

tsr_status matvec_unroll_2(const problem *p, void *const operands[], tsr_error *err)
{
    (void)err;
    return run(p, operands, unroll_2_f32, unroll_2_f64);
}

tsr_status matvec_unroll_4(const problem *p, void *const operands[], tsr_error *err)
{
    (void)err;
    return run(p, operands, unroll_4_f32, unroll_4_f64);
}

tsr_status matvec_openmp(const problem *p, void *const operands[], tsr_error *err)
{
    (void)err;
    return run(p, operands, openmp_f32, openmp_f64);
}

const char *matvec_openmp_unsuited(void)
{
#ifdef _OPENMP
    return NULL;
#else
    return "built without OpenMP";
#endif
}
