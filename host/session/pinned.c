#include "session/pinned.h"

#include "base/fail.h"

tsr_status pinned_take(tsr_session *s, size_t bytes, pinned *out, tsr_error *err)
{
    cl_int rc;

    *out = (pinned){.bytes = bytes};
    if (!s->queue)
        return tsr_fail(err, TSR_EUNSUITED, 0, "the host has no queue, and so no pinned memory");
    out->buffer =
        clCreateBuffer(s->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &rc);
    if (!out->buffer)
        return tsr_fail(err, TSR_ECL, rc, "clCreateBuffer(pinned memory, %zu bytes)", bytes);
    out->at = clEnqueueMapBuffer(s->queue, out->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                 bytes, 0, NULL, NULL, &rc);
    if (!out->at) {
        clReleaseMemObject(out->buffer);
        *out = (pinned){0};
        return tsr_fail(err, TSR_ECL, rc, "clEnqueueMapBuffer(pinned memory, %zu bytes)", bytes);
    }
    return TSR_OK;
}

void pinned_drop(tsr_session *s, pinned *p)
{
    if (!p->buffer)
        return;
    clEnqueueUnmapMemObject(s->queue, p->buffer, p->at, 0, NULL, NULL);
    clFinish(s->queue);
    clReleaseMemObject(p->buffer);
    *p = (pinned){0};
}
