/**
 * Holding a device back until the host has enqueued what is to be timed, so that the time is the
 * device's alone, however long an enqueue takes.
 */
#ifndef MEASURE_HOLD_H
#define MEASURE_HOLD_H

#include "session/program.h"

typedef struct hold {
    tsr_session *session; /* whose queue records times; borrowed */
    cl_kernel kernel;     /* the session's */
    cl_mem last;
    cl_uint steps; /* of the kernel: as many as any calls needed until now */
    /* Called before what is timed is enqueued once more, which used its inputs up.  May be NULL. */
    tsr_status (*renew)(void *state, tsr_error *err);
} hold;

/** @return TSR_OK; TSR_EINVAL where the session's queue records no times; as program_get. */
tsr_status hold_open(tsr_session *s, hold *out, tsr_error *err);
void hold_close(hold *h);

/** Enqueue what is to be timed on the session's queue, without a wait. */
typedef tsr_status hold_enqueue(void *state, tsr_error *err);

/**
 * Time what enqueue() enqueues, from the end of what holds it back to its own end.  It is called
 * again, after the device has done it, for as long as the device was not held back long enough.
 *
 * @param ns  Receives nanoseconds: 0 where the device's clock did not move.
 * @return TSR_OK; what enqueue() returns; TSR_ECL, also where no time was long enough.
 */
tsr_status hold_time(hold *h, hold_enqueue *enqueue, void *state, double *ns, tsr_error *err);

#endif
