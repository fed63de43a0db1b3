/** Whether a call on host memory is streamed, and how: each operation has its own ways. */
#ifndef STREAM_STREAMING_H
#define STREAM_STREAMING_H

#include "stream/batches.h"
#include "stream/matmul_slabs.h"
#include "stream/matmul_tiles.h"
#include "stream/matvec_panels.h"
#include "stream/pieces.h"
#include "stream/sort_chunks.h"

/** How a call is streamed; the one way of its operation, or none. */
typedef struct streaming {
    batches groups;       /* of a batch's products */
    matvec_panels panels; /* of matvec without groups */
    matmul_tiles tiles;   /* of a product that the device does not hold, ... */
    matmul_slabs slabs;   /* ... and of one that it does; of each product of a batch in turn */
    sort_chunks chunks;
} streaming;

/** Pieces that a session's device_memory may leave, at most: each costs launches and copies of its
 *  own, however short it is. */
enum { PIECES_MAX = 4096 };

/**
 * Choose.
 *
 * @param p    As variants take it.
 * @param sel  What runs it.
 * @return TSR_OK; TSR_EOVERFLOW where the session's device_memory does not hold what has to be
 *         there at once, or leaves more than PIECES_MAX pieces while the device has memory for
 *         fewer.
 */
tsr_status streaming_choose(const tsr_session *s, const problem *p, const selection *sel,
                            streaming *out, tsr_error *err);

bool streaming_streams(const streaming *how);

/** Run it.  Synchronous: whatever it returns, nothing works on the arrays any more. */
tsr_status streaming_run(const stream_call *call, const streaming *how, tsr_error *err);

#endif
