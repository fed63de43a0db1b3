#include "session/pinned.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/fail.h"
#include "session/events.h"

struct pinned_block {
    pinned memory;
    pinned_block *next;
};

tsr_status pinned_take(tsr_session *s, size_t bytes, pinned *out, tsr_error *err)
{
    pinned p = {.bytes = bytes};
    cl_int rc;

    if (!s->queue)
        return tsr_fail(err, TSR_EUNSUPPORTED, 0, "the host has no queue, and so no pinned memory");
    p.buffer =
        clCreateBuffer(s->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &rc);
    if (!p.buffer)
        return tsr_fail(err, TSR_ECL, rc, "clCreateBuffer(pinned memory, %zu bytes)", bytes);
    p.at = clEnqueueMapBuffer(s->queue, p.buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0,
                              NULL, NULL, &rc);
    if (!p.at) {
        clReleaseMemObject(p.buffer);
        return tsr_fail(err, TSR_ECL, rc, "clEnqueueMapBuffer(pinned memory, %zu bytes)", bytes);
    }
    *out = p;
    return TSR_OK;
}

void pinned_drop(tsr_session *s, pinned *p)
{
    if (!p->buffer)
        return;
    clEnqueueUnmapMemObject(s->queue, p->buffer, p->at, 0, NULL, NULL);
    queue_settle(s->queue);
    clReleaseMemObject(p->buffer);
    *p = (pinned){0};
}

/* ---- the caller's ------------------------------------------------------------------------ */

tsr_status tsr_pinned_alloc(tsr_session *s, size_t bytes, void **out, tsr_error *err)
{
    pinned_block *b;
    tsr_status st;

    if (!s || !out || !bytes)
        return tsr_fail(err, TSR_EINVAL, 0, "pinned memory: %s",
                        !s     ? "the session is NULL"
                        : !out ? "out is NULL"
                               : "0 bytes are asked for");
    st = session_check(s, err);
    if (st)
        return st;
    b = calloc(1, sizeof(*b));
    if (!b)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory to keep a pinned block");
    st = pinned_take(s, bytes, &b->memory, err);
    if (st) {
        free(b);
        return st;
    }
    b->next = s->pinned;
    s->pinned = b;
    *out = b->memory.at;
    return TSR_OK;
}

static void drop_first(tsr_session *s, pinned_block **at)
{
    pinned_block *b = *at;

    *at = b->next;
    pinned_drop(s, &b->memory);
    free(b);
}

void tsr_pinned_free(tsr_session *s, void *memory)
{
    /* In a child of the process that took it, it stays until the end. */
    pinned_block **at = s && !session_check(s, NULL) ? &s->pinned : NULL;

    while (at && *at && (*at)->memory.at != memory)
        at = &(*at)->next;
    if (memory && at && *at)
        drop_first(s, at);
}

bool pinned_holds(const tsr_session *s, const void *at, size_t bytes)
{
    const uintptr_t begin = (uintptr_t)at;

    for (const pinned_block *b = s->pinned; b; b = b->next) {
        const uintptr_t start = (uintptr_t)b->memory.at;

        if (begin >= start && begin - start <= b->memory.bytes &&
            bytes <= b->memory.bytes - (begin - start))
            return true;
    }
    return false;
}

void pinned_release(tsr_session *s)
{
    while (s->pinned)
        drop_first(s, &s->pinned);
}
