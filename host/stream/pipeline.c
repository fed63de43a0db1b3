#include "stream/pipeline.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "session/events.h"

typedef struct slot {
    cl_mem buffer;
    cl_event free; /* who works on it, or fetches it; NULL: nobody yet */
    cl_event sent; /* the last copy since; NULL: none */
} slot;

struct pipeline {
    tsr_session *session;
    copies *copies;
    slot slots[PIPELINE_SLOTS];
    size_t slot_count, slot_bytes, next_slot;
};

tsr_status pipeline_open(tsr_session *s, size_t slots, size_t slot_bytes, pipeline **out,
                         tsr_error *err)
{
    pipeline *p = calloc(1, sizeof(*p));
    tsr_status st;

    if (!p)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for a pipeline");
    p->session = s;
    p->slot_count = slots;
    p->slot_bytes = slot_bytes;
    st = copies_of(s, &p->copies, err);
    for (size_t i = 0; i < slots && !st; i++)
        st = copies_buffer(p->copies, "what is streamed", slot_bytes, &p->slots[i].buffer, err);
    if (st) {
        pipeline_close(p);
        return st;
    }
    *out = p;
    return TSR_OK;
}

tsr_status pipeline_send(pipeline *p, const host_rows *from, size_t offset, cl_mem *out,
                         cl_event *sent, tsr_error *err)
{
    slot *to = &p->slots[p->next_slot];
    cl_event e = NULL;
    tsr_status st = copies_in(p->copies, from, (device_place){to->buffer, offset},
                              to->sent ? to->sent : to->free, &e, err);

    if (e) {
        event_forget(&to->sent);
        to->sent = e;
    }
    *out = to->buffer;
    *sent = to->sent ? to->sent : to->free;
    return st;
}

tsr_status pipeline_fetch(pipeline *p, cl_mem from, size_t offset, const host_rows *to,
                          tsr_error *err)
{
    cl_event done = NULL;
    size_t i = 0;
    tsr_status st;

    while (i < p->slot_count && p->slots[i].buffer != from)
        i++;
    assert(i < p->slot_count);
    st = copies_out(p->copies, (device_place){from, offset}, p->slots[i].free, to, &done, err);
    if (done) {
        event_forget(&p->slots[i].free);
        p->slots[i].free = done;
    }
    return st;
}

tsr_status pipeline_wait(pipeline *p, uint64_t *ns, tsr_error *err)
{
    const uint64_t start = clock_ns();
    const tsr_status st = copies_wait(p->copies, err);

    *ns += clock_ns() - start;
    return st;
}

void pipeline_worked(pipeline *p, cl_event done)
{
    slot *to = &p->slots[p->next_slot];

    event_forget(&to->sent);
    event_forget(&to->free);
    to->free = done;
    clRetainEvent(done);
    p->next_slot = (p->next_slot + 1) % p->slot_count;
}

void pipeline_close(pipeline *p)
{
    if (!p)
        return;
    if (p->copies)
        copies_settle(p->copies);
    clFinish(p->session->queue);
    for (size_t i = 0; i < PIPELINE_SLOTS; i++) {
        event_forget(&p->slots[i].sent);
        event_forget(&p->slots[i].free);
        if (p->slots[i].buffer)
            copies_keep(p->copies, p->slots[i].buffer, p->slot_bytes);
    }
    free(p);
}
