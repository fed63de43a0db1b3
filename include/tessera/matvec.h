/** y := alpha op(A) x + beta y, row-major, on host memory and on OpenCL buffers. */
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
 * One matrix-vector product.  A is stored rows x columns; x has `columns`
 * elements and y `rows`, or the reverse where trans.
 *
 * Element (i, j) of A sits at offset_a + i * lda + j, counted in elements;
 * lda is at least columns, and 0 stands for columns.  alpha == 0 reads neither
 * A nor x; beta == 0 does not read y.  Bound and special cases are those of
 * tsr_matmul_problem, with k the length of x.
 */
typedef struct tsr_matvec_problem {
    tsr_type type; /* of A, x and y: TSR_F32 or TSR_F64 */
    tsr_precision precision;
    size_t rows, columns;
    bool trans;
    double alpha, beta; /* rounded to the type */
    size_t lda;
    size_t offset_a, offset_x, offset_y;
} tsr_matvec_problem;

/** Multiply in host memory, synchronous.  y must not overlap A or x.  Returns as tsr_matmul, y
 * being what C is there.  A matrix of 64 MiB and more, or of more than the session's device_memory,
 * is copied in panels of rows, each multiplied while the next is on its way; it need not fit the
 * device, but x, y and three rows have to. */
tsr_status tsr_matvec(tsr_session *session, const tsr_matvec_problem *problem, const void *a,
                      const void *x, void *y, const tsr_run *run, tsr_report *report,
                      tsr_error *err);

/** Enqueue a product on OpenCL buffers, asynchronous: the contract of tsr_matmul_enqueue. */
tsr_status tsr_matvec_enqueue(tsr_session *session, const tsr_matvec_problem *problem, cl_mem a,
                              cl_mem x, cl_mem y, const tsr_run *run, cl_uint n_wait,
                              const cl_event *wait, cl_event *done, tsr_report *report,
                              tsr_error *err);

#ifdef __cplusplus
}
#endif
#endif
