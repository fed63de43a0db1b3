/** Device times of commands. */
#ifndef SESSION_EVENTS_H
#define SESSION_EVENTS_H

#include "device/device.h"
#include "tessera/status.h"

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

#endif
