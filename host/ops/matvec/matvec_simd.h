/** Products of a matrix and a vector by vectors in C, compiled for each instruction set
 * (base/isa.h), in float32 and float64; float16 and bfloat16 are those of A alone. */
#ifndef OPS_MATVEC_SIMD_H
#define OPS_MATVEC_SIMD_H

#include <stddef.h>

#include "base/isa.h"

/**
 * y := alpha A x + beta y of one thread, A of rows x columns with element (r, c) at a[r * step +
 * c]. y is not read where beta is 0.
 */
typedef void matvec_dot_loop(const void *a, size_t step, size_t rows, size_t columns, const void *x,
                             double alpha, double beta, void *y);

matvec_dot_loop ISA_EACH(matvec_dot_f32), ISA_EACH(matvec_dot_f64), ISA_EACH(matvec_dot_f16),
    ISA_EACH(matvec_dot_bf16);

/** sums := A^T x, of such an A: x has an element a row, sums one a column. */
typedef void matvec_columns_loop(const void *a, size_t step, size_t rows, size_t columns,
                                 const void *x, void *sums);

matvec_columns_loop ISA_EACH(matvec_columns_f32), ISA_EACH(matvec_columns_f64),
    ISA_EACH(matvec_columns_f16), ISA_EACH(matvec_columns_bf16);

/** y := alpha (sums[0..n] + sums[n..2n] + ...) + beta y, `parts` of them; likewise.  One may be y.
 */
typedef void matvec_put_loop(const void *sums, size_t parts, size_t n, double alpha, double beta,
                             void *y);

matvec_put_loop ISA_EACH(matvec_put_f32), ISA_EACH(matvec_put_f64);

#endif
