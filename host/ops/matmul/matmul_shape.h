/** Where the elements of a matmul problem are, for everything that reads them on the CPU. */
#ifndef OPS_MATMUL_SHAPE_H
#define OPS_MATMUL_SHAPE_H

#include "base/elements.h"
#include "core/real.h"
#include "core/view.h"
#include "tessera/matmul.h"

extern const operation operation_matmul;

/* The problem's structure, to read. */
static inline const tsr_matmul_problem *matmul_of(const problem *p)
{
    return (const tsr_matmul_problem *)(const void *)p->bytes;
}

/* The same, to change. */
static inline tsr_matmul_problem *matmul_in(problem *p)
{
    return (tsr_matmul_problem *)(void *)p->bytes;
}

static inline problem matmul_problem(tsr_matmul_problem p)
{
    return problem_from(&operation_matmul, &p, sizeof(p));
}

/* The operands, in order. */
enum { MATMUL_A, MATMUL_B, MATMUL_C, MATMUL_MATRICES };

/* Behind them, where rows or columns have scales, both of these. */
enum { MATMUL_SCALE_A = MATMUL_MATRICES, MATMUL_SCALE_B, MATMUL_OPERANDS };

/* Where the elements of a line, which follow one another, are: op(A)'s along k and op(B)'s along n,
 * or, where it is turned, op(A)'s along m and op(B)'s along k.  Elements of C follow one another
 * along n, or turned along m. */
static inline bool matmul_turned_a(const tsr_matmul_problem *p)
{
    return p->trans_a != (p->layout == TSR_COLUMN_MAJOR);
}

static inline bool matmul_turned_b(const tsr_matmul_problem *p)
{
    return p->trans_b != (p->layout == TSR_COLUMN_MAJOR);
}

static inline bool matmul_turned_c(const tsr_matmul_problem *p)
{
    return p->layout == TSR_COLUMN_MAJOR;
}

/* Lines of a stored matrix, and their length. */
typedef struct matmul_lines {
    size_t count, length;
} matmul_lines;

static inline matmul_lines matmul_lines_of(size_t rows, size_t columns, bool turned)
{
    return turned ? (matmul_lines){columns, rows} : (matmul_lines){rows, columns};
}

static inline matmul_lines matmul_lines_a(const tsr_matmul_problem *p)
{
    return matmul_lines_of(p->m, p->k, matmul_turned_a(p));
}

static inline matmul_lines matmul_lines_b(const tsr_matmul_problem *p)
{
    return matmul_lines_of(p->k, p->n, matmul_turned_b(p));
}

static inline matmul_lines matmul_lines_c(const tsr_matmul_problem *p)
{
    return matmul_lines_of(p->m, p->n, matmul_turned_c(p));
}

/* Leading dimensions as they are: 0 in the problem stands for the length of a line. */
static inline size_t matmul_ld_a(const tsr_matmul_problem *p)
{
    return p->lda ? p->lda : matmul_lines_a(p).length;
}

static inline size_t matmul_ld_b(const tsr_matmul_problem *p)
{
    return p->ldb ? p->ldb : matmul_lines_b(p).length;
}

static inline size_t matmul_ld_c(const tsr_matmul_problem *p)
{
    return p->ldc ? p->ldc : matmul_lines_c(p).length;
}

/* Index of op(A)(i, q), op(B)(q, j) and C(i, j) in their arrays. */
static inline size_t matmul_index_a(const tsr_matmul_problem *p, size_t i, size_t q)
{
    return p->offset_a + (matmul_turned_a(p) ? q * matmul_ld_a(p) + i : i * matmul_ld_a(p) + q);
}

static inline size_t matmul_index_b(const tsr_matmul_problem *p, size_t q, size_t j)
{
    return p->offset_b + (matmul_turned_b(p) ? j * matmul_ld_b(p) + q : q * matmul_ld_b(p) + j);
}

static inline size_t matmul_index_c(const tsr_matmul_problem *p, size_t i, size_t j)
{
    return p->offset_c + (matmul_turned_c(p) ? j * matmul_ld_c(p) + i : i * matmul_ld_c(p) + j);
}

/* The type that C is stored in. */
static inline tsr_type matmul_type_c(const tsr_matmul_problem *p)
{
    return p->c_f32 ? TSR_F32 : p->c_bf16 ? TSR_BF16 : p->type == TSR_I8 ? TSR_I32 : p->type;
}

static inline size_t matmul_batch(const tsr_matmul_problem *p)
{
    return p->batch ? p->batch : 1;
}

typedef view matmul_matrix;

static inline matmul_matrix matmul_matrix_of(tsr_type type, matmul_lines l, size_t ld,
                                             size_t offset, size_t count, size_t stride)
{
    return view_of(type, l.count, l.length, ld, offset, count, stride);
}

static inline matmul_matrix matmul_matrix_a(const tsr_matmul_problem *p)
{
    return matmul_matrix_of(p->type, matmul_lines_a(p), matmul_ld_a(p), p->offset_a,
                            matmul_batch(p), p->stride_a);
}

static inline matmul_matrix matmul_matrix_b(const tsr_matmul_problem *p)
{
    return matmul_matrix_of(p->type, matmul_lines_b(p), matmul_ld_b(p), p->offset_b,
                            matmul_batch(p), p->stride_b);
}

static inline matmul_matrix matmul_matrix_c(const tsr_matmul_problem *p)
{
    return matmul_matrix_of(matmul_type_c(p), matmul_lines_c(p), matmul_ld_c(p), p->offset_c,
                            matmul_batch(p), p->stride_c);
}

/* Scales of the rows of op(A), and of the columns of op(B), where there are any. */
static inline view matmul_scales_a(const tsr_matmul_problem *p)
{
    return view_of(TSR_F32, 1, p->m, p->m, p->offset_scale_a, matmul_batch(p), p->stride_scale_a);
}

static inline view matmul_scales_b(const tsr_matmul_problem *p)
{
    return view_of(TSR_F32, 1, p->n, p->n, p->offset_scale_b, matmul_batch(p), p->stride_scale_b);
}

/* Product e of a batch, alone. */
static inline tsr_matmul_problem matmul_product(const tsr_matmul_problem *p, size_t e)
{
    tsr_matmul_problem one = *p;

    one.batch = 1;
    one.offset_a += e * matmul_matrix_a(p).stride;
    one.offset_b += e * matmul_matrix_b(p).stride;
    one.offset_c += e * matmul_matrix_c(p).stride;
    one.offset_scale_a += e * matmul_scales_a(p).stride;
    one.offset_scale_b += e * matmul_scales_b(p).stride;
    return one;
}

/* Whether every line of a matrix starts at a multiple of `elements`, of every product. */
static inline bool matmul_starts_at(const matmul_matrix *x, size_t elements)
{
    return x->ld % elements == 0 && x->offset % elements == 0 && x->stride % elements == 0;
}

/* alpha and beta as the arithmetic sees them, and their imaginary parts, 0 unless the operands are
 * complex; alpha counts as 0 where there is nothing to sum. */
static inline double matmul_alpha(const tsr_matmul_problem *p)
{
    return p->k ? real_round(real_sums(p->type), p->alpha) : 0;
}

static inline double matmul_alpha_im(const tsr_matmul_problem *p)
{
    return p->k ? real_round(real_sums(p->type), p->alpha_im) : 0;
}

static inline double matmul_beta(const tsr_matmul_problem *p)
{
    return real_round(real_sums(p->type), p->beta);
}

static inline double matmul_beta_im(const tsr_matmul_problem *p)
{
    return real_round(real_sums(p->type), p->beta_im);
}

/* Whether A and B are read: not where alpha is 0. */
static inline bool matmul_reads_factors(const tsr_matmul_problem *p)
{
    return matmul_alpha(p) != 0 || matmul_alpha_im(p) != 0;
}

/* Whether C is: not where beta is 0. */
static inline bool matmul_reads_c(const tsr_matmul_problem *p)
{
    return matmul_beta(p) != 0 || matmul_beta_im(p) != 0;
}

/* k as the kernels see it: alpha == 0 reads neither A nor B. */
static inline size_t matmul_k_read(const tsr_matmul_problem *p)
{
    return matmul_reads_factors(p) ? p->k : 0;
}

/* Which scales are read: SCALES_A, SCALES_B, both, or 0, as where there is nothing to scale. */
enum { SCALES_A = 1, SCALES_B = 2 };

static inline unsigned matmul_scaled(const tsr_matmul_problem *p)
{
    if (!matmul_reads_factors(p) || p->m == 0 || p->n == 0)
        return 0;
    return (p->scale_a ? SCALES_A : 0) | (p->scale_b ? SCALES_B : 0);
}

/* What the sum of row i and column j is multiplied with, of scales from their first one on: of one
 * product.  Those that are not there are not read. */
static inline float matmul_factor(const tsr_matmul_problem *p, const float *scale_a,
                                  const float *scale_b, size_t i, size_t j)
{
    const unsigned scaled = matmul_scaled(p);
    const float row = scaled & SCALES_A ? scale_a[p->offset_scale_a + i] : 1;
    const float column = scaled & SCALES_B ? scale_b[p->offset_scale_b + j] : 1;
    const float both = row * column;

    return (float)matmul_alpha(p) * both;
}

/* Bytes of a number in local memory, registers and sums of parts. */
static inline size_t matmul_real_size(const tsr_matmul_problem *p)
{
    return tsr_type_size(real_sums(p->type));
}

#endif
