#include "measure/hold.h"

#include "base/fail.h"
#include "session/events.h"

enum {
    STEPS_FIRST = 1 << 16, /* of the first try: a part of a millisecond */
    STEPS_MAX = 1 << 28,   /* of the last: about a second */
    LEFT_PART = 10         /* such a part of the hold has to be left once all is enqueued */
};

tsr_status hold_open(tsr_session *s, hold *out, tsr_error *err)
{
    const program_entry *entry;
    program *p;
    tsr_status st;
    cl_mem last;
    cl_int rc;

    if (!s->profiling)
        return tsr_fail(err, TSR_EINVAL, 0, "the session's queue records no times");
    st = program_get(s, "measure/hold.cl", "", " hold", &p, err);
    st = st ? st : program_kernel(p, "hold", &entry, err);
    if (st)
        return st;
    last = clCreateBuffer(s->context, CL_MEM_WRITE_ONLY, sizeof(cl_uint), NULL, &rc);
    if (!last)
        return tsr_fail(err, TSR_ECL, rc, "clCreateBuffer(%zu bytes)", sizeof(cl_uint));
    *out = (hold){.session = s, .kernel = entry->kernel, .last = last, .steps = STEPS_FIRST};
    return TSR_OK;
}

void hold_close(hold *h)
{
    if (!h)
        return;
    if (h->last)
        clReleaseMemObject(h->last);
    *h = (hold){0};
}

static tsr_status hold_back(hold *h, cl_event *held, tsr_error *err)
{
    const size_t one = 1;
    cl_int rc = clSetKernelArg(h->kernel, 0, sizeof(h->last), &h->last);

    if (rc == CL_SUCCESS)
        rc = clSetKernelArg(h->kernel, 1, sizeof(h->steps), &h->steps);
    if (rc == CL_SUCCESS)
        rc = clEnqueueNDRangeKernel(h->session->queue, h->kernel, 1, NULL, &one, &one, 0, NULL,
                                    held);
    if (rc == CL_SUCCESS)
        rc = clFlush(h->session->queue);
    return rc == CL_SUCCESS
               ? TSR_OK
               : tsr_fail(err, TSR_ECL, rc, "holding the device back for %u steps", h->steps);
}

/* Wait for all that was enqueued. */
static tsr_status let_go(hold *h, cl_event *done, tsr_error *err)
{
    cl_int rc = clFlush(h->session->queue), finished;

    /* Behind the flush: once this is queued, the device has all the others. */
    if (rc == CL_SUCCESS)
        rc = clEnqueueMarkerWithWaitList(h->session->queue, 0, NULL, done);
    finished = clFinish(h->session->queue);
    if (rc == CL_SUCCESS)
        rc = finished;
    if (rc == CL_SUCCESS)
        rc = events_outcome(*done);
    return rc == CL_SUCCESS ? TSR_OK : tsr_fail(err, TSR_ECL, rc, "running after a hold");
}

/* *ns from the end of `held` on, and whether that was late enough. */
static tsr_status time_from(cl_event held, cl_event done, double *ns, bool *held_long,
                            tsr_error *err)
{
    uint64_t begin = 0, let = 0, queued = 0, end = 0;
    tsr_status st = events_time(held, CL_PROFILING_COMMAND_START, &begin, err);

    st = st ? st : events_time(held, CL_PROFILING_COMMAND_END, &let, err);
    st = st ? st : events_time(done, CL_PROFILING_COMMAND_QUEUED, &queued, err);
    st = st ? st : events_time(done, CL_PROFILING_COMMAND_END, &end, err);
    if (st)
        return st;
    *held_long = queued + (let - begin) / LEFT_PART < let;
    *ns = end > let ? (double)(end - let) : 0;
    return TSR_OK;
}

static tsr_status try_time(hold *h, hold_enqueue *enqueue, void *state, double *ns, bool *held_long,
                           tsr_error *err)
{
    cl_event held = NULL, done = NULL;
    tsr_status st = hold_back(h, &held, err), ended;

    st = st ? st : enqueue(state, err);
    /* What was enqueued is waited for, whatever became of the rest. */
    ended = let_go(h, &done, st ? NULL : err);
    st = st ? st : ended;
    st = st ? st : time_from(held, done, ns, held_long, err);
    event_forget(&held);
    event_forget(&done);
    return st;
}

tsr_status hold_time(hold *h, hold_enqueue *enqueue, void *state, double *ns, tsr_error *err)
{
    bool held_long = false;
    double found = 0;
    tsr_status st = try_time(h, enqueue, state, &found, &held_long, err);

    while (!st && !held_long) {
        if (h->steps >= STEPS_MAX)
            return tsr_fail(err, TSR_ECL, 0, "%u steps did not hold the device back long enough",
                            h->steps);
        h->steps *= 2;
        st = h->renew ? h->renew(state, err) : TSR_OK;
        st = st ? st : try_time(h, enqueue, state, &found, &held_long, err);
    }
    if (!st)
        *ns = found;
    return st;
}
