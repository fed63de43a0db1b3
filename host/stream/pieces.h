/** A call that is done piece by piece: each piece a problem of its own, enqueued behind the one
 *  before, and the report of them all. */
#ifndef STREAM_PIECES_H
#define STREAM_PIECES_H

#include "ops/dispatch.h"

/** Bytes of a problem from which it is streamed; and of a piece of it: long beside what a launch
 *  costs, short beside the whole, of which nothing hides the first piece and the last. */
enum {
    STREAMED_LEAST = 64 << 20,
    PIECE_LEAST = 4 << 20,
    PIECE_MOST = 64 << 20,
    PIECES_WANTED = 16
};

/** Events that a piece waits for beside the piece before, at most. */
enum { PIECE_WAITS_MOST = 4 };

/** What calls on host memory may take of the device. */
typedef struct stream_room {
    size_t all, each; /* bytes in all, and of each buffer */
    bool told;        /* it is the session's device_memory */
} stream_room;

/** Room beside workspaces and other users: at most three quarters of the device. */
stream_room stream_room_of(const tsr_session *s);

/** One call in progress.  It starts with what the caller of the operation gave. */
typedef struct pieces {
    tsr_session *session;
    const char *operation; /* its name */
    const tsr_run *run;
    selection *selection; /* of the piece that was prepared or enqueued last */
    tsr_report *report;
    bool counts;          /* somebody wants to know how many strict tiles there are */
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

/** Tell what all took where `st` is TSR_OK (device_ns 0 where the queue does not tell), and release
 *  everything.  Returns st, or why strict tiles could not be counted. */
tsr_status pieces_close(pieces *c, tsr_status st, tsr_error *err);

#endif
