#include "ops/strict_tiles.h"

#include "base/fail.h"

tsr_status strict_tiles_open(tsr_session *s, const problem *p, selection *sel, tsr_error *err)
{
    const job j = {.problem = p, .device = session_facts(s), .params = &sel->params};
    uint32_t none = 0;
    cl_int rc;

    sel->strict_tiles = NULL;
    if (!sel->variant->tiles || !sel->variant->tiles(&j))
        return TSR_OK;
    /* No fill beside the call's commands: they run and are timed as when nobody counts. */
    sel->strict_tiles = clCreateBuffer(s->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                       sizeof(none), &none, &rc);
    if (!sel->strict_tiles)
        return tsr_fail(err, TSR_ECL, rc, "%s: clCreateBuffer(strict tiles, %zu bytes)",
                        p->op->name, sizeof(none));
    return TSR_OK;
}

tsr_status strict_tiles_read(tsr_session *s, const selection *sel, size_t *out, tsr_error *err)
{
    uint32_t count = 0;
    cl_int rc = CL_SUCCESS;

    if (sel->strict_tiles)
        rc = clEnqueueReadBuffer(s->queue, sel->strict_tiles, CL_TRUE, 0, sizeof(count), &count, 0,
                                 NULL, NULL);
    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "clEnqueueReadBuffer(strict tiles)");
    *out = count;
    return TSR_OK;
}

void strict_tiles_close(selection *sel)
{
    if (sel->strict_tiles)
        clReleaseMemObject(sel->strict_tiles);
    sel->strict_tiles = NULL;
}
