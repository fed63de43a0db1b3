/** matvec on host memory whose matrix comes to the device in panels of rows, each multiplied while
 *  the next is copied. */
#ifndef STREAM_MATVEC_PANELS_H
#define STREAM_MATVEC_PANELS_H

#include "ops/dispatch.h"

/**
 * Rows of a panel; 0 where the matrix is copied in one piece.
 *
 * @return TSR_OK; TSR_EOVERFLOW where the session's device_memory, or the device's, does not hold a
 *         row in each slot beside x and y.
 */
tsr_status matvec_panel_rows(const tsr_session *s, const problem *p, size_t *rows, tsr_error *err);

/**
 * Run it.  A panel of op(A) = A gives its rows of y; of op(A) = A^T each adds to all of y, in
 * order, the first with beta.
 *
 * @param operands  A, x and y.
 * @param report    Receives all but names and the time of the call.
 */
tsr_status matvec_panels_run(tsr_session *s, const problem *p, size_t rows, void *const operands[],
                             const tsr_run *run, selection *sel, tsr_report *report,
                             tsr_error *err);

#endif
