/** Buffers of the device that are filled in turn: one is worked on while the next is filled. */
#ifndef STREAM_PIPELINE_H
#define STREAM_PIPELINE_H

#include "stream/copies.h"

/** Usually: one is worked on, one filled, one waits. */
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
 * Begin to copy rows into the next slot, where one follows another from byte `offset` on, once what
 * worked on it before is done.  Pinned rows are read until *sent is complete, others when this
 * returns.  No rows: a slot whose content nobody needs.  Until pipeline_worked, more go into the
 * same slot.
 *
 * @param slot  Receives the slot's buffer, borrowed.
 * @param sent  Receives the event to wait for before working on it, or NULL; borrowed until
 *              pipeline_worked.
 * @return as copies_in.
 */
tsr_status pipeline_send(pipeline *p, const host_rows *from, size_t offset, cl_mem *slot,
                         cl_event *sent, tsr_error *err);

/** Copy rows back that follow one another in a slot from byte `offset` on, once who works on it is
 *  done: as copies_out.  Only then is it filled again. */
tsr_status pipeline_fetch(pipeline *p, cl_mem slot, size_t offset, const host_rows *to,
                          tsr_error *err);

/** Wait for all that was fetched, as copies_wait; what that took is added to *ns. */
tsr_status pipeline_wait(pipeline *p, uint64_t *ns, tsr_error *err);

/** Who works on the slot that was sent last: the event after which it is free.  The pipeline holds
 *  it by itself. */
void pipeline_worked(pipeline *p, cl_event done);

/** Wait for all that was begun, after failures too, and give everything back.  NULL is allowed. */
void pipeline_close(pipeline *p);

#endif
