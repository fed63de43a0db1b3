/** Transposed matrices: B := A^T. */
#ifndef TESSERA_TRANSPOSE_H
#define TESSERA_TRANSPOSE_H

#include <stdbool.h>
#include <stddef.h>

#include "tessera/run.h"
#include "tessera/session.h"
#include "tessera/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * B := A^T: element (j, i) of B is element (i, j) of A, rows x columns; or in place, B := B^T of a
 * square matrix.  Elements are moved as bytes, and never looked at: a NaN keeps its own.
 *
 * Element (i, j) of A sits at offset_a + i * lda + j, counted in elements; lda is at least columns,
 * and 0 stands for columns.  Element (j, i) of B sits at offset_b + j * ldb + i; ldb is at least
 * rows, and 0 stands for rows.  What lies between the rows of B is not written.
 *
 * A batch is `batch` matrices of one shape, 0 standing for 1.  The next one starts stride_a and
 * stride_b elements further on, 0 standing for all elements of one: rows * lda, columns * ldb.
 * Those of B must not overlap.
 */
typedef struct tsr_transpose_problem {
    tsr_type type;        /* of the elements; any */
    size_t element_bytes; /* 0: those of the type; else 1 to 16, in its place: of complex numbers or
                             pixels.  Memory is aligned to the largest of 8, 4, 2 and 1 that divides
                             it, or copied */
    size_t rows, columns; /* of A */
    bool in_place;        /* there is no A: B is square, and read and written */
    size_t lda, ldb;
    size_t offset_a, offset_b;
    size_t batch;
    size_t stride_a, stride_b; /* read where batch is over 1 */
} tsr_transpose_problem;

/** A matrix of no element, float32, all else 0, in C and C++: rows and columns follow. */
#define TSR_TRANSPOSE_PROBLEM_INIT                                                                 \
    {                                                                                              \
        TSR_F32, 0, 0, 0, false, 0, 0, 0, 0, 0, 0, 0                                               \
    }

/**
 * Transpose in host memory, synchronous.  Matrices of 64 MiB and more in all, or of more than the
 * session's device_memory, are copied in pieces, each transposed while the next is on its way: they
 * need not fit the device, but in place they have to.
 *
 * @param a       Read; NULL in place.
 * @param b       Written; none of its elements may be one of A.
 * @param run     What to run; NULL for the best.
 * @param report  Receives what ran.  May be NULL.
 * @return TSR_OK; on failure B is unspecified, and
 *         TSR_EINVAL       a rule above is broken
 *         TSR_EOVERFLOW    a byte count exceeds size_t or the device's limit
 *         TSR_EUNSUPPORTED the named variant cannot run this here; err says why
 *         TSR_EBUILD, TSR_ECL, TSR_ENOMEM
 */
TSR_API tsr_status tsr_transpose(tsr_session *session, const tsr_transpose_problem *problem,
                                 const void *a, void *b, const tsr_run *run, tsr_report *report,
                                 tsr_error *err);

/**
 * The same on buffers of the session's context, enqueued; run->wait, run->done.
 *
 * @param a  Read; NULL in place.
 * @param b  Written; read too in place.
 */
TSR_API tsr_status tsr_transpose_enqueue(tsr_session *session, const tsr_transpose_problem *problem,
                                         cl_mem a, cl_mem b, const tsr_run *run, tsr_report *report,
                                         tsr_error *err);

#ifdef __cplusplus
}
#endif
#endif
