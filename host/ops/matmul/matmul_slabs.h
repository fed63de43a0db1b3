/** matmul on host memory whose matrices the device holds: multiplied as they arrive. */
#ifndef OPS_MATMUL_SLABS_H
#define OPS_MATMUL_SLABS_H

#include "stream/partition.h"
#include "tessera/matmul.h"

/**
 * How a product is cut.  op(A) and op(B) arrive in slabs of k, of `first` columns of op(A) and rows
 * of op(B) and then half as many more each time, until half of k is there; the rest is the last
 * slab.  Each adds its product to C.  Of the last one op(A) arrives in strips of `strip` rows, and
 * each strip leaves its rows of C, which are copied out while the next are computed.
 *
 * With k = 16384: 1024, 1536, 2304, 3456 and 8064.  On a device that multiplies at R and is fed at
 * L bytes a second, square matrices of n float32 take 2 n^3 / R to multiply and 8 n^2 / L to copy
 * in: n L / (4 R) times as long; 1.6 times for n = 16384, 140 TFLOP/s and 55 GB/s.  A slab takes
 * 1.6 / 1.5 times as long as the copy of the next, so that what is not hidden is the copy in of the
 * first slab and the copy out of the last strip.  The last slab computes for 31 ms there, and C
 * takes 19 ms to copy out.
 *
 * Where copies take longer, and where C is read or its type would round the sums between slabs, all
 * of k is one slab: op(B) arrives, then strips come in and go out at once.
 */
typedef struct matmul_slabs {
    size_t first; /* k where all of it is one slab */
    size_t strip; /* rows; 0: the matrices are copied in one piece */
} matmul_slabs;

/**
 * Choose for matrices that the device holds.
 *
 * @param streams  The product is streamed however short it is: as one strip where its elements are
 *                 less than a piece and no room is told.
 */
void matmul_slabs_choose(const stream_budget *budget, const problem *p, bool streams,
                         matmul_slabs *out);

/** Columns of op(A) in the slab that begins at column `at`: 0, or the end of another slab, below k.
 */
size_t matmul_slab_length(const matmul_slabs *s, size_t k, size_t at);

/** Pieces: the slabs before the last, and its strips. */
size_t matmul_slabs_count(const tsr_matmul_problem *q, const matmul_slabs *s);

/** Run it: as matmul_tiles_run. */
tsr_status matmul_slabs_run(const stream_call *call, const matmul_slabs *slabs, tsr_error *err);

#endif
