#include "session/events.h"

#include "base/fail.h"

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

tsr_status events_span(cl_event first, cl_event last, double *ns, tsr_error *err)
{
    cl_ulong start = 0, end = 0;
    cl_int rc =
        clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof(start), &start, NULL);

    if (rc == CL_SUCCESS)
        rc = clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof(end), &end, NULL);
    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "clGetEventProfilingInfo");
    *ns = end > start ? (double)(end - start) : 0;
    return TSR_OK;
}
