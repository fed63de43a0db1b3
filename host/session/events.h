/** Events of commands: what they wait for, how they ended, their device times. */
#ifndef SESSION_EVENTS_H
#define SESSION_EVENTS_H

#include <stdbool.h>

#include "device/device.h"
#include "tessera/status.h"

/** Wait until nothing that was enqueued works any more: by an event of its own where clFinish
 * fails. For clean-ups, which free what the commands use. */
void queue_settle(cl_command_queue queue);

/** CL_SUCCESS where the event's command did not fail, else why it did, or why that is unknown. */
cl_int events_outcome(cl_event e);

/** Release *e, if there is one, and set it to NULL. */
void event_forget(cl_event *e);

/** A reference of its own to an event, which event_forget gives up.  TSR_OK; TSR_ECL, *out
 *  untouched. */
tsr_status event_share(cl_event e, cl_event *out, tsr_error *err);

/**
 * Nanoseconds from the START of one finished command to the END of another, or of the same.  0
 * where the device's clock did not move: a command may take less than its resolution.
 *
 * @return TSR_OK; TSR_ECL where their queue records no times: *ns is then untouched.
 */
tsr_status events_span(cl_event first, cl_event last, double *ns, tsr_error *err);

/** One of its times, as clGetEventProfilingInfo has it: CL_PROFILING_COMMAND_END, for instance.
 *  TSR_ECL where its queue records none. */
tsr_status events_time(cl_event e, cl_profiling_info which, uint64_t *ns, tsr_error *err);

/**
 * Launches that may have had to wait for their kernels to be compiled, on a device that compiles
 * late.  There the driver starts a command as soon as it is submitted and compiled.  Zeroed: none.
 */
typedef struct first_launches {
    cl_event event[64];
    size_t count;
} first_launches;

/** Note one, in the order of the queue; beyond the last place, nothing. */
void first_launches_note(first_launches *l, cl_event e);

/** Wait until each has begun to run, or failed. */
void first_launches_wait(const first_launches *l, cl_command_queue queue);

/**
 * Time that finished launches spent between SUBMIT and START, and forget them.
 *
 * @param first  The command whose START begins what is timed.
 * @param after  Receives how much of it came after that START, and so is part of the span.
 */
uint64_t first_launches_take(first_launches *l, cl_event first, uint64_t *after);

#endif
