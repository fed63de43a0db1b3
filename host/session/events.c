#include "session/events.h"

#include <time.h>

#include "base/fail.h"

void queue_settle(cl_command_queue queue)
{
    cl_event all = NULL;

    if (clFinish(queue) == CL_SUCCESS)
        return;
    if (clEnqueueMarkerWithWaitList(queue, 0, NULL, &all) == CL_SUCCESS)
        clWaitForEvents(1, &all);
    event_forget(&all);
}

cl_int events_outcome(cl_event e)
{
    cl_int state = CL_COMPLETE;
    const cl_int rc =
        clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(state), &state, NULL);

    return rc == CL_SUCCESS && state < 0 ? state : rc;
}

void event_forget(cl_event *e)
{
    if (*e)
        clReleaseEvent(*e);
    *e = NULL;
}

tsr_status event_share(cl_event e, cl_event *out, tsr_error *err)
{
    const cl_int rc = clRetainEvent(e);

    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "clRetainEvent");
    *out = e;
    return TSR_OK;
}

tsr_status events_time(cl_event e, cl_profiling_info which, uint64_t *ns, tsr_error *err)
{
    cl_ulong time = 0;
    const cl_int rc = clGetEventProfilingInfo(e, which, sizeof(time), &time, NULL);

    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "clGetEventProfilingInfo");
    *ns = time;
    return TSR_OK;
}

tsr_status events_span(cl_event first, cl_event last, double *ns, tsr_error *err)
{
    uint64_t start = 0, end = 0;
    tsr_status st = events_time(first, CL_PROFILING_COMMAND_START, &start, err);

    st = st ? st : events_time(last, CL_PROFILING_COMMAND_END, &end, err);
    if (!st)
        *ns = end > start ? (double)(end - start) : 0;
    return st;
}

void first_launches_note(first_launches *l, cl_event e)
{
    if (l->count < sizeof(l->event) / sizeof(*l->event) && clRetainEvent(e) == CL_SUCCESS)
        l->event[l->count++] = e;
}

void first_launches_wait(const first_launches *l, cl_command_queue queue)
{
    static const struct timespec pause = {.tv_nsec = 1000000};

    clFlush(queue);
    for (size_t i = 0; i < l->count; i++) {
        cl_int state = CL_RUNNING;

        while (clGetEventInfo(l->event[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(state), &state,
                              NULL) == CL_SUCCESS &&
               state > CL_RUNNING)
            nanosleep(&pause, NULL);
    }
}

uint64_t first_launches_take(first_launches *l, cl_event first, uint64_t *after)
{
    uint64_t begin = 0, total = 0, reached = 0;

    *after = 0;
    if (!first || events_time(first, CL_PROFILING_COMMAND_START, &begin, NULL))
        begin = UINT64_MAX;
    for (size_t i = 0; i < l->count; i++) {
        uint64_t from = 0, to = 0;

        if (!events_time(l->event[i], CL_PROFILING_COMMAND_SUBMIT, &from, NULL) &&
            !events_time(l->event[i], CL_PROFILING_COMMAND_START, &to, NULL)) {
            from = from > reached ? from : reached; /* two that wait at once wait once */
            total += to > from ? to - from : 0;
            from = from > begin ? from : begin;
            *after += to > from ? to - from : 0;
            reached = to > reached ? to : reached;
        }
        event_forget(&l->event[i]);
    }
    l->count = 0;
    return total;
}
