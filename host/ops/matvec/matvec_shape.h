/** Where the elements of a matvec problem are, for everything that plans or reads them. */
#ifndef OPS_MATVEC_SHAPE_H
#define OPS_MATVEC_SHAPE_H

#include "core/real.h"
#include "core/view.h"
#include "tessera/matvec.h"

extern const operation operation_matvec;

/* The problem's structure, to read. */
static inline const tsr_matvec_problem *matvec_of(const problem *p)
{
    return (const tsr_matvec_problem *)(const void *)p->bytes;
}

/* The same, to change. */
static inline tsr_matvec_problem *matvec_in(problem *p)
{
    return (tsr_matvec_problem *)(void *)p->bytes;
}

static inline problem matvec_problem(tsr_matvec_problem p)
{
    return problem_from(&operation_matvec, &p, sizeof(p));
}

/* The operands, in order. */
enum { MATVEC_A, MATVEC_X, MATVEC_Y };

/* Columns up to which a transposed A without gaps is narrow. */
enum { MATVEC_NARROW_COLUMNS = 32 };

/**
 * op(A) of one product as loops want it: y has `rows` elements; element (r, c) of op(A) is
 * at r * row_step + c * column_step from the first.
 */
typedef struct matvec_view {
    size_t rows, columns; /* of op(A); columns is 0 where alpha is 0: A and x are not read */
    size_t row_step, column_step;
    bool trans;         /* neighbours in memory are neighbours of a column of op(A) */
    double alpha, beta; /* rounded to the type of the sums */
} matvec_view;

/* The type that y is stored in. */
static inline tsr_type matvec_type_y(const tsr_matvec_problem *p)
{
    return p->y_f32 ? TSR_F32 : p->type;
}

static inline size_t matvec_batch(const tsr_matvec_problem *p)
{
    return p->batch ? p->batch : 1;
}

/* Lines of A, whose elements follow one another: rows, or columns where it is column-major. */
static inline size_t matvec_lines(const tsr_matvec_problem *p)
{
    return p->layout == TSR_COLUMN_MAJOR ? p->columns : p->rows;
}

static inline size_t matvec_line_length(const tsr_matvec_problem *p)
{
    return p->layout == TSR_COLUMN_MAJOR ? p->rows : p->columns;
}

/* Distances as they are: 0 in the problem stands for the least. */
static inline size_t matvec_lda(const tsr_matvec_problem *p)
{
    return p->lda ? p->lda : matvec_line_length(p);
}

/* Whether lines of A follow one another without a gap. */
static inline bool matvec_is_flat(const tsr_matvec_problem *p)
{
    return matvec_lda(p) == matvec_line_length(p);
}

static inline size_t matvec_incx(const tsr_matvec_problem *p)
{
    return p->incx ? p->incx : 1;
}

static inline size_t matvec_incy(const tsr_matvec_problem *p)
{
    return p->incy ? p->incy : 1;
}

static inline view matvec_vector(tsr_type type, size_t n, size_t inc, size_t offset, size_t count,
                                 size_t stride)
{
    return inc == 1 ? view_of(type, 1, n, n, offset, count, stride)
                    : view_of(type, n, 1, inc, offset, count, stride);
}

/* A, x and y as they are stored. */
static inline view matvec_a(const tsr_matvec_problem *p)
{
    return view_of(p->type, matvec_lines(p), matvec_line_length(p), matvec_lda(p), p->offset_a,
                   matvec_batch(p), p->stride_a);
}

static inline view matvec_x(const tsr_matvec_problem *p)
{
    return matvec_vector(p->type, p->trans ? p->rows : p->columns, matvec_incx(p), p->offset_x,
                         matvec_batch(p), p->stride_x);
}

static inline view matvec_y(const tsr_matvec_problem *p)
{
    return matvec_vector(matvec_type_y(p), p->trans ? p->columns : p->rows, matvec_incy(p),
                         p->offset_y, matvec_batch(p), p->stride_y);
}

/* Product e of a batch, alone. */
static inline tsr_matvec_problem matvec_product(const tsr_matvec_problem *p, size_t e)
{
    tsr_matvec_problem one = *p;

    one.batch = 1;
    one.offset_a += e * matvec_a(p).stride;
    one.offset_x += e * matvec_x(p).stride;
    one.offset_y += e * matvec_y(p).stride;
    return one;
}

static inline matvec_view matvec_view_of(const tsr_matvec_problem *p)
{
    const bool turned = p->trans != (p->layout == TSR_COLUMN_MAJOR);
    matvec_view v = {.rows = p->trans ? p->columns : p->rows,
                     .columns = p->trans ? p->rows : p->columns,
                     .row_step = turned ? 1 : matvec_lda(p),
                     .column_step = turned ? matvec_lda(p) : 1,
                     .trans = turned,
                     .alpha = real_round(real_sums(p->type), p->alpha),
                     .beta = real_round(real_sums(p->type), p->beta)};

    /* Without a term alpha counts for nothing, infinite or not; with alpha 0 no term is read. */
    if (v.columns == 0)
        v.alpha = 0;
    if (v.alpha == 0)
        v.columns = 0;
    return v;
}

/* Bytes of a sum, in local memory and in a workspace. */
static inline size_t matvec_real_size(const tsr_matvec_problem *p)
{
    return tsr_type_size(real_sums(p->type));
}

#endif
