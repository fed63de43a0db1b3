/** The device memory that calls on host memory may take, and how long a piece of them is. */
#ifndef STREAM_BUDGET_H
#define STREAM_BUDGET_H

#include <stdbool.h>

#include "core/variant.h"
#include "session/state.h"

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

/** What calls on host memory may take of the device. */
typedef struct stream_budget {
    size_t all, each; /* bytes in all, and of each buffer */
    size_t max;       /* what `all` could be: the session's device_memory may be less */
    bool limited;     /* the session has a device_memory */
} stream_budget;

/** The budget beside workspaces and other users: at most three quarters of the device. */
stream_budget stream_budget_of(const tsr_session *s);

/** Bytes of a problem's operands; SIZE_MAX where there are more. */
size_t stream_bytes(const problem *p);

/** Whether the operands of a problem fit beside one another. */
bool stream_holds(const stream_budget *budget, const problem *p);

/** Bytes of a piece of so many in all: PIECES_WANTED pieces, of PIECE_MIN to PIECE_MAX, but
 *  `most` at most. */
size_t stream_piece_bytes(size_t all, size_t most);

/** Refuse what needs more bytes at once than the budget has; `what` says what that is, as a
 *  plural: "3 rows of A".  Returns TSR_EOVERFLOW. */
tsr_status stream_refuse(tsr_error *err, const char *op, const stream_budget *budget, size_t bytes,
                         const char *what, ...) __attribute__((format(printf, 5, 6)));

#endif
