/** Products by register tiles in C, compiled for each instruction set (base/isa.h). */
#ifndef OPS_MATMUL_SIMD_H
#define OPS_MATMUL_SIMD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/isa.h"
#include "base/sizes.h"

/** Products that need no copy of the larger factor: of few rows or columns, by the limits of a
 *  tiling, real, and not of int8. */
typedef enum matmul_few { MATMUL_MANY, MATMUL_FEW_ROWS, MATMUL_FEW_COLUMNS } matmul_few;

/**
 * C := alpha op(A) op(B) + beta C of one thread, in float32 or float64, or of complex numbers of
 * two of these parts, or of int8 to int32, modulo 2^32.
 *
 * Element (i, p) of op(A) is at a[i * a_row + p * a_column], one of the two being 1, and so is (p,
 * j) of op(B); (i, j) of C is at c[i * ldc + j]; all count elements, of `parts` numbers each.  C is
 * not read where beta is 0, nor A and B where k is.
 */
typedef struct matmul_share {
    matmul_few few;
    bool as_tiles; /* few rows or columns have the last bits that tiles have */
    size_t m, n, k;
    const void *a, *b;
    size_t a_row, a_column, b_row, b_column;
    void *c;
    size_t ldc;
    double alpha, beta;
    size_t parts;             /* 2 of complex numbers, else 1 */
    double alpha_im, beta_im; /* of complex numbers; else 0 */
    bool conj_a, conj_b;
    void *memory; /* aligned to 64: matmul_share_elements of the type */
} matmul_share;

typedef void matmul_share_loop(const matmul_share *s);

matmul_share_loop ISA_EACH(matmul_share_f32), ISA_EACH(matmul_share_f64), ISA_EACH(matmul_share_i8);

/** Rows and columns of a register tile, and elements of blocks, whole tiles of A and B. */
typedef struct matmul_tiling {
    size_t tile_m, tile_n;
    size_t block_m, block_n, block_k;
    size_t few_along;  /* rows or columns that are few: the larger factor lies along k, */
    size_t few_apart;  /* or across it, */
    size_t few_turned; /* or along k, and sums are in the order of tiles */
} matmul_tiling;

extern const matmul_tiling ISA_EACH(matmul_tiling_f32), ISA_EACH(matmul_tiling_f64),
    ISA_EACH(matmul_tiling_i8);

/** Numbers in the copies that a share makes: of a slab of B, and behind it of a block of A.  A
 * complex product is one of twice the columns and twice the k. */
static inline size_t matmul_slab_elements(const matmul_tiling *t, size_t n, size_t k)
{
    return size_min(t->block_n, size_div_up(n, t->tile_n) * t->tile_n) * size_min(t->block_k, k);
}

static inline size_t matmul_share_elements(const matmul_tiling *t, size_t m, size_t n, size_t k)
{
    const size_t rows = size_min(t->block_m, size_div_up(m, t->tile_m) * t->tile_m);

    return matmul_slab_elements(t, n, k) + rows * size_min(t->block_k, k);
}

#endif
