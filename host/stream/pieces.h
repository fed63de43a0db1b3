/** A call that is done piece by piece: each piece a problem of its own, enqueued behind the one
 *  before, and the report of them all. */
#ifndef STREAM_PIECES_H
#define STREAM_PIECES_H

#include "core/dispatch.h"

/** Events that a piece waits for beside the piece before, at most: one for each operand. */
enum { PIECE_WAITS_MAX = OPERANDS_MAX };

/** A call on host memory that is streamed: what its caller gave, and what becomes of it. */
typedef struct stream_call {
    tsr_session *session;
    const problem *problem; /* checked, as variants take it */
    void *const *operands;  /* its arrays, in its order */
    const tsr_run *run;     /* may be NULL */
    selection *selection;   /* of the piece that was prepared or enqueued last */
    bool counts;            /* strict tiles are to be counted */
    /* Receives all but names and the time of the call.  device_ns is from the first command to the
     * last one, copies between them included; the time of copies is what the caller's thread spent
     * on them. */
    tsr_report *report;
} stream_call;

/** One call in progress.  It begins with all but `call` 0, and ends by pieces_close. */
typedef struct pieces {
    const stream_call *call;
    cl_mem strict_tiles;  /* their count, or NULL */
    cl_event first, last; /* commands of the first piece and of the last one */
    first_launches launches;
} pieces;

/** Choose for a piece, and build its program: what has none is known before anything is written.
 *  A workspace is taken when the piece is enqueued. */
tsr_status pieces_prepare(pieces *c, const problem *piece, tsr_error *err);

/** Enqueue a piece, once `ends` and the piece before are done.  Of `ends`, who waits and who brings
 *  what is read; c->last is then the event of its last command. */
tsr_status pieces_enqueue(pieces *c, const problem *piece, const cl_mem buffers[],
                          const call_ends *ends, tsr_error *err);

/** Whether any of them failed, once all are done: each waited for the one before. */
tsr_status pieces_outcome(const pieces *c, tsr_error *err);

/** Add to the report what all took where `st` is TSR_OK (no device_ns where the queue records
 *  none), and release everything.  Returns st, or why strict tiles could not be counted. */
tsr_status pieces_close(pieces *c, tsr_status st, tsr_error *err);

#endif
