/** A batch of products on host memory, so many at a time: each group is multiplied while the next
 * is copied in and the one before is copied out. */
#ifndef STREAM_MATMUL_BATCHES_H
#define STREAM_MATMUL_BATCHES_H

#include "stream/pieces.h"

/**
 * Products of a group; 0 where the matrices are copied in one piece.
 *
 * @param p  Row-major, as variants take it.
 * @return TSR_OK; TSR_EOVERFLOW where a room that is told does not hold a product in each
 *         slot beside a matrix that all share.
 */
tsr_status matmul_batches_choose(const stream_room *room, const problem *p, size_t *group,
                                 tsr_error *err);

/** Run it: as matmul_tiles_run. */
tsr_status matmul_batches_run(const stream_call *call, size_t group, tsr_error *err);

#endif
