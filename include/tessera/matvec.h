/** y := alpha op(A) x + beta y, on host memory and on OpenCL buffers. */
#ifndef TESSERA_MATVEC_H
#define TESSERA_MATVEC_H

#include <stdbool.h>
#include <stddef.h>

#include "tessera/run.h"
#include "tessera/session.h"
#include "tessera/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * One matrix-vector product, or a batch of them.  A is stored rows x columns; x has
 * `columns` elements and y `rows`, or the reverse where trans.
 *
 * Element (i, j) of A sits at offset_a + i * lda + j, counted in elements; lda is
 * at least columns, and 0 stands for columns.  In a column-major problem it sits at
 * offset_a + i + j * lda, lda is at least rows, and 0 stands for rows.  Element i
 * of x sits at offset_x + i * incx, that of y at offset_y + i * incy, 0 standing for
 * 1; what lies between elements of y is not written.
 *
 * A batch is `batch` products of one shape, 0 standing for 1.  A, x and y of the
 * next one start stride_a, stride_x and stride_y elements further on; a stride of 0
 * has all products share one A, or one x.  Those of y must not overlap: one follows
 * another, or they lie side by side, each element of one beside that of the next.
 *
 * alpha == 0 reads neither A nor x; beta == 0 does not read y.  Bound, types of 16
 * bits and special cases are those of tsr_matmul_problem, with k the length of x.
 */
typedef struct tsr_matvec_problem {
    tsr_type type; /* of A, x and y: TSR_F32, TSR_F64, TSR_F16 or TSR_BF16 */
    tsr_precision precision;
    size_t rows, columns;
    bool trans;
    double alpha, beta; /* rounded to float32, or to float64 where that is the type; a zeroed alpha
                           is one too, and gives beta y: start from TSR_MATVEC_PROBLEM_INIT */
    size_t lda;
    size_t offset_a, offset_x, offset_y;
    bool y_f32;        /* y is float32, where A and x are float16 or bfloat16 */
    tsr_layout layout; /* of A */
    size_t incx, incy;
    size_t batch;
    size_t stride_a, stride_x, stride_y; /* read where batch is over 1 */
} tsr_matvec_problem;

/** A problem of no element, float32, alpha 1, beta 0, all else 0, in C and C++: sizes follow. */
#define TSR_MATVEC_PROBLEM_INIT                                                                    \
    {                                                                                              \
        TSR_F32, TSR_PRECISION_DEFAULT, 0, 0, false, 1.0, 0.0, 0, 0, 0, 0, false, TSR_ROW_MAJOR,   \
            0, 0, 0, 0, 0, 0                                                                       \
    }

/**
 * Multiply in host memory, synchronous.  No element of y may be one of A or x; what lies between
 * its elements is not written.  Returns as tsr_matmul, y being what C is there.  A matrix of 64 MiB
 * and more, or of more than the session's device_memory, is copied in panels of lines (rows, or
 * columns of one that is column-major), each multiplied while
 * the next is on its way; it need not fit the device, but x, y and three lines have to.  A batch of
 * as much goes in groups of its products, or, where a product is more than a piece, a matrix that
 * all share outweighs the rest, two products do not fit, or elements of x or y of one lie between
 * those of another, in panels of one matrix after another; the last at once where all of it fits
 * and each has a matrix of less than 4 MiB.
 *
 * @param a  A, read.
 * @param x  x, read.
 * @param y  y, written; read too unless beta is 0.
 */
TSR_API tsr_status tsr_matvec(tsr_session *session, const tsr_matvec_problem *problem,
                              const void *a, const void *x, void *y, const tsr_run *run,
                              tsr_report *report, tsr_error *err);

/**
 * Enqueue a product on OpenCL buffers, asynchronous: the contract of tsr_matmul_enqueue.
 *
 * @param a  A, read.
 * @param x  x, read.
 * @param y  y, written; read too unless beta is 0.
 */
TSR_API tsr_status tsr_matvec_enqueue(tsr_session *session, const tsr_matvec_problem *problem,
                                      cl_mem a, cl_mem x, cl_mem y, const tsr_run *run,
                                      tsr_report *report, tsr_error *err);

#ifdef __cplusplus
}
#endif
#endif
