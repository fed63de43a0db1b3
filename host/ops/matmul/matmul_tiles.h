/** matmul on host memory whose matrices the device does not hold at once: tiles of C, each from a
 *  panel of op(A) and one of op(B). */
#ifndef OPS_MATMUL_TILES_H
#define OPS_MATMUL_TILES_H

#include "stream/partition.h"

/** Rows and columns of a tile of C; m is 0 where the matrices are copied in one piece. */
typedef struct matmul_tiles {
    size_t m, n;
} matmul_tiles;

/**
 * Choose them: as large as the limit allows.
 *
 * A panel of op(B), of n columns, stays while those of op(A), of m rows, pass by it; both have all
 * of k, so that an element's sum is one product's.
 *
 * @param p    Row-major, as variants take it.
 * @return TSR_OK; TSR_EOVERFLOW where the limit does not hold a tile of one element.
 */
tsr_status matmul_tiles_choose(const stream_budget *budget, const problem *p, matmul_tiles *out,
                               tsr_error *err);

/** Run it.  A tile of C comes back while the next is computed.  Synchronous: whatever it returns,
 *  nothing works on the arrays any more. */
tsr_status matmul_tiles_run(const stream_call *call, const matmul_tiles *tiles, tsr_error *err);

#endif
