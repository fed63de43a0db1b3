#include <assert.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "ops/sort/sort_partition.h"
#include "session/events.h"

/* Ranges that variants leave one by one, at most. */
enum { LEAVING_MAX = 16 };

/* Positions whose result is there once `done` is complete. */
typedef struct leaving {
    size_t first, end;
    cl_event done;
} leaving;

/* A row of which the device has the keys up to `arrived`, or will have once `sent` is complete. */
typedef struct row {
    pieces pieces;
    const tsr_sort_problem *whole;
    void *const *host;
    copies *copies;
    cl_mem buffer[SORT_OPERANDS];
    size_t arrived;
    bool values_arrived;
    cl_event sent;
    size_t copies_begun, waited[2]; /* for how many of them the first and the second queue wait */
    leaving leaving[LEAVING_MAX];
    size_t leaving_count;
} row;

/* On the device. */
static device_place place_of(const row *r, size_t which, size_t first)
{
    return (device_place){r->buffer[which], first * sort_element(r->whole, which)};
}

/* What was enqueued until now starts; then the next elements come. */
static tsr_status copy_elements(row *r, size_t which, size_t first, size_t end, tsr_error *err)
{
    const host_rows from = sort_elements(r->whole, which, r->host[which], first, end);
    const uint64_t start = clock_ns();
    cl_event sent = NULL;
    tsr_status st;

    clFlush(r->pieces.call->session->queue);
    if (r->pieces.call->session->side)
        clFlush(r->pieces.call->session->side);
    st = copies_in(r->copies, &from, place_of(r, which, first), r->sent, &sent, err);
    if (sent) {
        if (r->sent)
            clReleaseEvent(r->sent);
        r->sent = sent;
        r->copies_begun++;
    }
    r->pieces.call->report->to_device_bytes += from.bytes;
    r->pieces.call->report->to_device_ns += clock_ns() - start;
    r->pieces.call->report->chunks += which == SORT_KEYS;
    return st;
}

/* Before a command: what it works on is there, or its queue waits for it. */
static tsr_status arrive(void *with, const command *st, cl_command_queue queue, tsr_error *err)
{
    row *r = with;
    const size_t end = st->end ? st->end : r->whole->n;
    size_t *waited = &r->waited[queue != r->pieces.call->session->queue];
    tsr_status status = TSR_OK;
    cl_int rc;

    if (end > r->arrived) {
        status = copy_elements(r, SORT_KEYS, r->arrived, end, err);
        r->arrived = end;
    }
    if (!status && !st->end && sort_element(r->whole, SORT_VALUES) && !r->values_arrived) {
        status = copy_elements(r, SORT_VALUES, 0, r->whole->n, err);
        r->values_arrived = true;
    }
    if (status || *waited == r->copies_begun)
        return status;
    rc = clEnqueueBarrierWithWaitList(queue, 1, &r->sent, NULL);
    *waited = r->copies_begun;
    return rc == CL_SUCCESS ? TSR_OK : tsr_fail(err, TSR_ECL, rc, "clEnqueueBarrierWithWaitList");
}

/* After a command: what it leaves may go. */
static tsr_status leave(void *with, const command *st, cl_command_queue queue, tsr_error *err)
{
    row *r = with;
    leaving *l = &r->leaving[r->leaving_count];
    cl_int rc;

    if (!st->settles)
        return TSR_OK;
    assert(r->leaving_count < LEAVING_MAX && "a variant leaves few ranges");
    rc = clEnqueueMarkerWithWaitList(queue, 0, NULL, &l->done);
    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "clEnqueueMarkerWithWaitList");
    l->first = st->first;
    l->end = st->end ? st->end : r->whole->n;
    r->leaving_count++;
    return TSR_OK;
}

static tsr_status fetch(row *r, size_t which, size_t first, size_t end, cl_event after,
                        tsr_error *err)
{
    host_rows to;

    if (!sort_element(r->whole, which))
        return TSR_OK;
    to = sort_elements(r->whole, which, r->host[which], first, end);
    r->pieces.call->report->from_device_bytes += to.bytes;
    return copies_out(r->copies, place_of(r, which, first), after, &to, NULL, err);
}

/* Ranges in the order in which they are left; values move when all keys have their places. */
static tsr_status fetch_all(row *r, tsr_error *err)
{
    const uint64_t start = clock_ns();
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < r->leaving_count && !st; i++) {
        const leaving *l = &r->leaving[i];

        st = fetch(r, SORT_KEYS, l->first, l->end, l->done, err);
        st = st ? st : fetch(r, SORT_INDEX, l->first, l->end, l->done, err);
    }
    st = st ? st : fetch(r, SORT_VALUES, 0, r->whole->n, r->pieces.last, err);
    st = st ? st : copies_wait(r->copies, err);
    r->pieces.call->report->from_device_ns = clock_ns() - start;
    return st ? st : pieces_outcome(&r->pieces, err);
}

static size_t operand_bytes(const row *r, size_t i)
{
    return r->whole->n * sort_element(r->whole, i);
}

static tsr_status make_buffers(row *r, tsr_error *err)
{
    static const char *const names[] = {"keys", "index", "values"};
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < SORT_OPERANDS && !st; i++) {
        const size_t bytes = operand_bytes(r, i);

        if (bytes)
            st = copies_buffer(r->copies, names[i], bytes, &r->buffer[i], err);
    }
    return st;
}

static void release(row *r)
{
    if (r->copies)
        copies_settle(r->copies);
    queue_settle(r->pieces.call->session->queue);
    for (size_t i = 0; i < r->leaving_count; i++)
        clReleaseEvent(r->leaving[i].done);
    if (r->sent)
        clReleaseEvent(r->sent);
    for (size_t i = 0; i < SORT_OPERANDS; i++)
        if (r->buffer[i])
            copies_keep(r->copies, r->buffer[i], operand_bytes(r, i));
}

tsr_status sort_arriving_run(const stream_call *call, const partition *how, tsr_error *err)
{
    const tsr_sort_problem *whole = sort_of(call->problem);
    row r = {.pieces = {.call = call}, .whole = whole, .host = call->operands};
    const arrivals arriving = {&r, arrive, leave};
    const problem p = sort_piece(call->problem, 1, whole->n);
    tsr_status st = copies_of(call->session, &r.copies, err);

    (void)how;
    st = st ? st : make_buffers(&r, err);
    st =
        st ? st : pieces_enqueue(&r.pieces, &p, r.buffer, &(call_ends){.arrivals = &arriving}, err);
    st = st ? st : fetch_all(&r, err);
    release(&r);
    return pieces_close(&r.pieces, st, err);
}
