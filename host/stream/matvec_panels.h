/** matvec on host memory whose matrix comes to the device in panels of lines, each multiplied while
 *  the next is copied.  Problems are normalized: lines are rows of A. */
#ifndef STREAM_MATVEC_PANELS_H
#define STREAM_MATVEC_PANELS_H

#include "stream/pieces.h"

/**
 * Lines of a panel; 0 where the matrix is copied in one piece, as a batch is.
 *
 * @return TSR_OK; TSR_EOVERFLOW where a room that is told holds neither a line in each slot
 *         beside x and y nor all at once, or not all of a batch.
 */
tsr_status matvec_panel_lines(const stream_room *room, const problem *p, size_t *lines,
                              tsr_error *err);

/**
 * Run it.  A panel of op(A) = A gives its rows of y; of op(A) = A^T each adds to all of y, in
 * order, the first with beta; where y has 16 bits in float32, which is rounded at the end.
 * Synchronous.
 */
tsr_status matvec_panels_run(const stream_call *call, size_t lines, tsr_error *err);

#endif
