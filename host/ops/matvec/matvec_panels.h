/** matvec on host memory whose matrices come to the device in panels of lines, each multiplied
 * while the next is copied.  Problems are normalized: lines are rows of A. */
#ifndef OPS_MATVEC_PANELS_H
#define OPS_MATVEC_PANELS_H

#include "stream/partition.h"
#include "tessera/matvec.h"

/** How a matvec is cut.  Each pass takes the vectors of some products, and all panels of their
 *  matrix: a product where each has a matrix of its own. */
typedef struct matvec_panels {
    size_t lines;    /* of a panel; 0 where the operands are copied in one piece */
    size_t products; /* of a pass */
    size_t slots;    /* passes whose vectors are on the device at once: 1 or 2 */
} matvec_panels;

/**
 * Choose, for a batch too.
 *
 * @return TSR_OK; TSR_EOVERFLOW where a room that is told holds neither a line in each slot
 *         beside x and y of a product nor all at once.
 */
tsr_status matvec_panels_choose(const stream_budget *budget, const problem *p, matvec_panels *out,
                                tsr_error *err);

/** Panels of all passes; SIZE_MAX where they are more. */
size_t matvec_panels_count(const tsr_matvec_problem *q, const matvec_panels *how);

/**
 * Run it.  A panel of op(A) = A gives its rows of y; of op(A) = A^T each adds to all of y, in
 * order, the first with beta; where y has 16 bits in float32, which is rounded at the end.
 * Synchronous.
 */
tsr_status matvec_panels_run(const stream_call *call, const matvec_panels *how, tsr_error *err);

#endif
