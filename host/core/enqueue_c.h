/**
 * C code as commands of a queue: how a variant in C serves a call on buffers of a CPU device.
 *
 * The buffers are mapped, a native kernel runs the variant's function on a thread of the device,
 * and they are unmapped.  Nothing is compiled.
 */
#ifndef CORE_ENQUEUE_C_H
#define CORE_ENQUEUE_C_H

#include "core/calls.h"

/** Whether buffers of this device are within reach of C code, unless whoever made one forbids the
 *  host to map it. */
bool c_reaches_buffers(const device_facts *d);

/** Whether none of a call's buffers, in the order of the posed problem, is forbidden to the host.
 */
bool c_may_map(const kept_call *c, const cl_mem operands[]);

/**
 * Enqueue a call of a variant in C.
 *
 * Where its function fails, for lack of memory, the commands complete all the same: c_failure says
 * so.
 *
 * @param wait   n_wait events that come first.
 * @param first  Receives the event of the first command; NULL: it is not wanted.
 * @param last   Likewise, of the last.
 * @return TSR_OK; TSR_ECL, and then commands may have been enqueued.
 */
tsr_status c_enqueue(tsr_session *s, const kept_call *c, const cl_mem operands[], cl_uint n_wait,
                     const cl_event *wait, cl_event *first, cl_event *last, tsr_error *err);

/** TSR_OK, or what a call in C that has ended failed with since this was asked last. */
tsr_status c_failure(tsr_session *s, tsr_error *err);

#endif
