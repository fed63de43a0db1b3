/** Copies that run beside the commands on what was copied before: a queue for them, buffers of the
 *  device that are filled in turn, and pinned memory through which pageable arrays go. */
#ifndef STREAM_PIPELINE_H
#define STREAM_PIPELINE_H

#include "session/state.h"

/** Buffers of the device that are filled in turn, usually: one is worked on, one filled, one waits.
 */
enum { PIPELINE_SLOTS = 3 };

typedef struct pipeline pipeline;

/**
 * Open a pipeline of 1 to PIPELINE_SLOTS slots, which hold so many bytes each.
 *
 * @param out  Receives it; the caller closes it.
 * @return TSR_OK, TSR_ENOMEM or TSR_ECL.
 */
tsr_status pipeline_open(tsr_session *s, size_t slots, size_t slot_bytes, pipeline **out,
                         tsr_error *err);

/**
 * Begin to copy `bytes` bytes of the host's memory into the next slot, once what worked on it
 * before is done.  They are read when this returns.
 *
 * @param slot  Receives the slot's buffer, borrowed.
 * @param sent  Receives the event to wait for before working on it, borrowed until the next call.
 */
tsr_status pipeline_send(pipeline *p, const void *from, size_t bytes, cl_mem *slot, cl_event *sent,
                         tsr_error *err);

/** The same for `rows` rows of `row_bytes` bytes that start `pitch` bytes apart: in the slot one
 *  follows another.  No rows: a slot whose content nobody needs; *sent may then be NULL. */
tsr_status pipeline_send_rows(pipeline *p, const void *from, size_t rows, size_t row_bytes,
                              size_t pitch, cl_mem *slot, cl_event *sent, tsr_error *err);

/**
 * Copy a slot's rows to the host's memory, once `done` is complete.  Blocks; other copies go on.
 */
tsr_status pipeline_fetch_rows(pipeline *p, cl_mem slot, cl_event done, void *to, size_t rows,
                               size_t row_bytes, size_t pitch, tsr_error *err);

/** Who works on the slot that was sent last: its event, which the pipeline takes over. */
void pipeline_worked(pipeline *p, cl_event done);

/** Wait for all that was begun, after failures too, and give everything back.  NULL is allowed. */
void pipeline_close(pipeline *p);

#endif
