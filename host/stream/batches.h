/** A batch of products on host memory, of matrices or of a matrix and a vector, so many at a time:
 *  each group is computed while the next is copied in and the one before is copied out. */
#ifndef STREAM_BATCHES_H
#define STREAM_BATCHES_H

#include "stream/pieces.h"

/** Products of a group, and groups on the device at once; group is 0 where there are none. */
typedef struct batches {
    size_t group, slots;
} batches;

/**
 * Choose for the products of matmul or matvec.  There are no groups where all is copied in one
 * piece; where the room does not hold two products beside what all share; where results lie
 * side by side, or a group has more bytes of what is read than its products; and where a matrix and
 * its vector are more than a piece by themselves, or one of them, which all share, is more than a
 * piece and than the rest.
 *
 * @param p  As variants take it; row-major.
 */
void batches_choose(const stream_room *room, const problem *p, batches *out);

/** Run it: as matmul_tiles_run. */
tsr_status batches_run(const stream_call *call, const batches *how, tsr_error *err);

#endif
