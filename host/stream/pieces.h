/** A call that is done piece by piece: each piece a problem of its own, enqueued behind the one
 *  before, and the report of them all. */
#ifndef STREAM_PIECES_H
#define STREAM_PIECES_H

#include "core/dispatch.h"

/**
 * Bytes of a problem from which it is streamed, and of a piece of it.  A piece is a sixteenth, as
 * nothing hides the copy in of the first and the copy out of the last; PIECE_MIN at least, beside
 * which a command costs little, so that problems below 16 of those are not streamed; and PIECE_MAX
 * at most, from where longer ones gain nothing and slots take memory.
 *
 * Measured on an H200 (data/results/overlap-h200.jsonl: 256 MiB, pinned, in 32 chunks of 8 MiB): a
 * chunk is copied in 154 us, 54.6 GB/s, as fast as all at once (4.92 ms); in one queue a command
 * begins 5.4 us after the one before (median; 10 at most).  So a piece of 4 MiB, 77 us, loses a
 * fifteenth, an eighth at most, and one of 64 MiB, 1.2 ms, less than a hundredth.  Over three
 * queues the 32 chunks take 6.7 ms, their kernels alone 5.7, and a copy in and out 0.3.
 */
enum { STREAMED_MIN = 64 << 20, PIECE_MIN = 4 << 20, PIECE_MAX = 64 << 20, PIECES_WANTED = 16 };

/** Events that a piece waits for beside the piece before, at most. */
enum { PIECE_WAITS_MAX = 4 };

/** What calls on host memory may take of the device. */
typedef struct stream_room {
    size_t all, each; /* bytes in all, and of each buffer */
    size_t most;      /* what `all` could be: the session's device_memory may be less */
    bool told;        /* the session has a device_memory */
} stream_room;

/** Room beside workspaces and other users: at most three quarters of the device. */
stream_room stream_room_of(const tsr_session *s);

/** Whether there is room for the operands of a problem beside one another. */
bool stream_holds(const stream_room *room, const problem *p);

/** Bytes of a piece of so many in all: PIECES_WANTED pieces, of PIECE_MIN to PIECE_MAX, but
 *  `most` at most. */
size_t stream_piece_bytes(size_t all, size_t most);

/** Refuse what needs more bytes at once than there is room for; `what` says what that is, as a
 *  plural: "3 rows of A".  Returns TSR_EOVERFLOW. */
tsr_status stream_refuse(tsr_error *err, const char *op, const stream_room *room, size_t bytes,
                         const char *what, ...) __attribute__((format(printf, 5, 6)));

/** A call on host memory that is streamed: what its caller gave, and what becomes of it. */
typedef struct stream_call {
    tsr_session *session;
    const problem *problem; /* checked, as variants take it */
    void *const *operands;  /* its arrays, in its order */
    const tsr_run *run;     /* may be NULL */
    selection *selection;   /* of the piece that was prepared or enqueued last */
    bool counts;            /* somebody wants to know how many strict tiles there are */
    /* Receives all but names and the time of the call.  device_ns is from the first command to the
     * last one, copies between them included, and of a batch that goes product by product the sum
     * of its products' spans; the time of copies is what the caller's thread spent on them. */
    tsr_report *report;
} stream_call;

/** One call in progress.  It begins with all but `call` 0, and ends by pieces_close. */
typedef struct pieces {
    const stream_call *call;
    cl_mem strict_tiles;  /* their count, or NULL */
    cl_event first, last; /* commands of the first piece and of the last one */
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

/** Add to the report what all took where `st` is TSR_OK (no device_ns where the queue does not
 *  tell), and release everything.  Returns st, or why strict tiles could not be counted. */
tsr_status pieces_close(pieces *c, tsr_status st, tsr_error *err);

#endif
