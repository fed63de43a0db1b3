/** How a call on host memory is cut into pieces: each operation has its own partitions. */
#ifndef STREAM_PARTITION_H
#define STREAM_PARTITION_H

#include "stream/budget.h"
#include "stream/pieces.h"

/** Pieces that a session's device_memory may leave, at most: each costs launches and copies of its
 *  own, however short it is. */
enum { PIECES_MAX = 4096 };

/** Lengths that a partition is made of, at most. */
enum { PARTITION_CUTS_MAX = 3 };

typedef struct partition partition;

/** A way of cutting. */
typedef struct partition_kind {
    const char *name;
    const struct batch_form *batches; /* of groups of a batch: stream/batches.h */
    /** Synchronous: whatever it returns, nothing works on the arrays any more. */
    tsr_status (*run)(const stream_call *call, const partition *p, tsr_error *err);
} partition_kind;

/** One call, cut; all 0 where its operands are copied in one piece. */
struct partition {
    const partition_kind *kind;
    size_t pieces;                  /* SIZE_MAX where they are more */
    size_t cut[PARTITION_CUTS_MAX]; /* lengths that the kind cuts by */
};

/**
 * Cut a call by its operation's partition().
 *
 * @param p    As variants take it.
 * @param sel  What runs it.
 * @return TSR_OK; TSR_EOVERFLOW where the session's device_memory does not hold what has to be
 *         there at once, or leaves more than PIECES_MAX pieces while the device has memory for
 *         fewer.
 */
tsr_status partition_choose(const tsr_session *s, const problem *p, const selection *sel,
                            partition *out, tsr_error *err);

#endif
