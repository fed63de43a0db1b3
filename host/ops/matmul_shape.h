/** Where the elements of a matmul problem are, for everything that reads them on the CPU. */
#ifndef OPS_MATMUL_SHAPE_H
#define OPS_MATMUL_SHAPE_H

#include "ops/real.h"

/* The operands, in order. */
enum { MATMUL_A, MATMUL_B, MATMUL_C };

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
    return p->c_f32 ? TSR_F32 : p->type;
}

/* An operand as it is stored. */
typedef struct matmul_matrix {
    tsr_type type;
    size_t lines, length; /* of `length` elements that follow one another, `ld` apart */
    size_t ld, offset;
} matmul_matrix;

static inline matmul_matrix matmul_matrix_a(const tsr_matmul_problem *p)
{
    const matmul_lines l = matmul_lines_a(p);

    return (matmul_matrix){p->type, l.count, l.length, matmul_ld_a(p), p->offset_a};
}

static inline matmul_matrix matmul_matrix_b(const tsr_matmul_problem *p)
{
    const matmul_lines l = matmul_lines_b(p);

    return (matmul_matrix){p->type, l.count, l.length, matmul_ld_b(p), p->offset_b};
}

static inline matmul_matrix matmul_matrix_c(const tsr_matmul_problem *p)
{
    const matmul_lines l = matmul_lines_c(p);

    return (matmul_matrix){matmul_type_c(p), l.count, l.length, matmul_ld_c(p), p->offset_c};
}

/* alpha and beta as the arithmetic sees them; alpha counts as 0 where there is nothing to sum. */
static inline double matmul_alpha(const tsr_matmul_problem *p)
{
    return p->k ? real_round(real_sums(p->type), p->alpha) : 0;
}

static inline double matmul_beta(const tsr_matmul_problem *p)
{
    return real_round(real_sums(p->type), p->beta);
}

#endif
