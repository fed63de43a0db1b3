/** Where the elements of a matmul problem are, for everything that reads them on the CPU. */
#ifndef OPS_MATMUL_SHAPE_H
#define OPS_MATMUL_SHAPE_H

#include "ops/real.h"

/* The operands, in order. */
enum { MATMUL_A, MATMUL_B, MATMUL_C };

/* Leading dimensions as they are: 0 in the problem stands for the stored columns. */
static inline size_t matmul_ld_a(const tsr_matmul_problem *p)
{
    return p->lda ? p->lda : p->trans_a ? p->m : p->k;
}

static inline size_t matmul_ld_b(const tsr_matmul_problem *p)
{
    return p->ldb ? p->ldb : p->trans_b ? p->k : p->n;
}

static inline size_t matmul_ld_c(const tsr_matmul_problem *p)
{
    return p->ldc ? p->ldc : p->n;
}

/* Index of op(A)(i, q), op(B)(q, j) and C(i, j) in their arrays. */
static inline size_t matmul_index_a(const tsr_matmul_problem *p, size_t i, size_t q)
{
    return p->offset_a + (p->trans_a ? q * matmul_ld_a(p) + i : i * matmul_ld_a(p) + q);
}

static inline size_t matmul_index_b(const tsr_matmul_problem *p, size_t q, size_t j)
{
    return p->offset_b + (p->trans_b ? j * matmul_ld_b(p) + q : q * matmul_ld_b(p) + j);
}

static inline size_t matmul_index_c(const tsr_matmul_problem *p, size_t i, size_t j)
{
    return p->offset_c + i * matmul_ld_c(p) + j;
}

/* The type that C is stored in. */
static inline tsr_type matmul_type_c(const tsr_matmul_problem *p)
{
    return p->c_f32 ? TSR_F32 : p->type;
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
