#include "core/strict_tiles.h"

#include "base/fail.h"

tsr_status strict_tiles_open(tsr_session *s, const kept_call *c, cl_mem *out, tsr_error *err)
{
    const uint32_t none = 0;
    cl_mem counter = NULL;
    cl_int rc;

    /* No fill beside the call's commands: they run and are timed as when nothing is counted. */
    if (c->plan.tiles) {
        counter = clCreateBuffer(s->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(none),
                                 (void *)(uintptr_t)&none, &rc);
        if (!counter)
            return tsr_fail(err, TSR_ECL, rc, "%s: clCreateBuffer(strict tiles, %zu bytes)",
                            c->posed.op->name, sizeof(none));
    }
    *out = counter;
    return TSR_OK;
}

tsr_status strict_tiles_read(tsr_session *s, cl_mem counter, size_t *out, tsr_error *err)
{
    uint32_t count = 0;
    cl_int rc = CL_SUCCESS;

    if (counter)
        rc = clEnqueueReadBuffer(s->queue, counter, CL_TRUE, 0, sizeof(count), &count, 0, NULL,
                                 NULL);
    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "clEnqueueReadBuffer(strict tiles)");
    *out = count;
    return TSR_OK;
}
