/** Copies between the host's memory and buffers, beside the commands of a session: a queue for each
 *  direction, and pinned memory through which pageable arrays go.  They are the session's, and kept
 *  from call to call. */
#ifndef STREAM_COPIES_H
#define STREAM_COPIES_H

#include "session/state.h"

typedef struct copies copies;

/** Rows of the host's memory: `count` of `bytes` bytes that start `pitch` bytes apart.  Every
 *  `matrix` of them are a matrix, which start `step` bytes apart; 0: all are one. */
typedef struct host_rows {
    void *at;
    size_t count, bytes, pitch;
    size_t matrix, step;
} host_rows;

/** A place in a buffer, in bytes. */
typedef struct device_place {
    cl_mem buffer;
    size_t offset;
} device_place;

/** So many bytes that follow one another.  What is only read comes without const: one type serves
 *  both directions. */
host_rows host_bytes(const void *at, size_t bytes);

/** The session's, made when it is first asked for.  Borrowed until the session is closed.  TSR_OK,
 *  TSR_ENOMEM or TSR_ECL. */
tsr_status copies_of(tsr_session *s, copies **out, tsr_error *err);

/**
 * Begin to copy rows into a buffer, where one follows another from `to` on, once `after` (NULL:
 * nothing) is complete.  Copies in follow one another; pinned memory for those that go through it
 * is waited for.  Pinned rows are read until *sent is complete, others when this returns.
 *
 * @param sent  Receives the event to wait for, which the caller releases; untouched where there are
 *              no bytes.
 * @return TSR_OK; TSR_ECL, *sent untouched: what was begun goes on until copies_settle.
 */
tsr_status copies_in(copies *c, const host_rows *from, device_place to, cl_event after,
                     cl_event *sent, tsr_error *err);

/**
 * Copy them back, once `after` (NULL: nothing) is complete.  Pinned rows are written when
 * copies_wait returns, others when this does, which blocks; copies in go on meanwhile.
 *
 * @param done  Receives the event after which the buffer is read, which the caller releases;
 *              untouched where it is read when this returns.  May be NULL.
 * @return as copies_in; some of the rows may be written then.
 */
tsr_status copies_out(copies *c, device_place from, cl_event after, const host_rows *to,
                      cl_event *done, tsr_error *err);

/** Wait for all that copies_out has begun.  TSR_OK; TSR_ECL where one of the copies failed. */
tsr_status copies_wait(copies *c, tsr_error *err);

/** Wait for all that was begun, whatever came of it: the host's memory is the caller's again.
 *  Events that the caller has are still the caller's. */
void copies_settle(copies *c);

/** Release the buffers that wait for the session's next call: what that uses is counted from its
 *  start, or the one before failed, perhaps for want of memory. */
void copies_empty(tsr_session *s);

/** A buffer of so many bytes: one that copies_keep has, or a new one, for which others go that wait
 *  where the budget does not hold them too (stream_budget_of).  The caller gives it back to
 * copies_keep; `what` it holds is named in errors.  TSR_OK or TSR_ECL. */
tsr_status copies_buffer(copies *c, const char *what, size_t bytes, cl_mem *out, tsr_error *err);

/** Take a buffer of copies_buffer back, which no command uses any more, for the next that is to
 *  have as many bytes: the device takes milliseconds for a gigabyte of new memory.  Where nine
 *  wait, or what waits would exceed a thirty-second of the device's memory (192 MiB at least), the
 *  oldest are released. */
void copies_keep(copies *c, cl_mem buffer, size_t bytes);

#endif
