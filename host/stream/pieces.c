#include "stream/pieces.h"

#include <assert.h>

#include "base/fail.h"
#include "core/strict_tiles.h"
#include "session/events.h"

tsr_status pieces_prepare(pieces *c, const problem *piece, tsr_error *err)
{
    const stream_call *call = c->call;
    tsr_report one = {0};
    kept_call *known;
    tsr_status st = dispatch_call(call->session, piece, call->run, IN_BUFFERS, &known, err);

    if (st)
        return st;
    *call->selection = known->selection;
    st = dispatch_build(call->session, known, &one, err);
    dispatch_add_report(call->report, &one);
    if (!st && call->counts && !c->strict_tiles)
        st = strict_tiles_open(call->session, known, &c->strict_tiles, err);
    return st;
}

tsr_status pieces_enqueue(pieces *c, const problem *piece, const cl_mem buffers[],
                          const call_ends *ends, tsr_error *err)
{
    cl_event wait[PIECE_WAITS_MAX + 1], first = NULL, last = NULL;
    tsr_report one = {0};
    call_ends all = {.n_wait = ends->n_wait,
                     .wait = wait,
                     .first = &first,
                     .last = &last,
                     .strict_tiles = c->strict_tiles,
                     .arrivals = ends->arrivals,
                     .report = &one};
    const tsr_session *s = c->call->session;
    const size_t launched = c->launches.count;
    cl_int rc = CL_SUCCESS;
    kept_call *known;
    tsr_status st;

    assert(ends->n_wait <= PIECE_WAITS_MAX);
    for (cl_uint i = 0; i < ends->n_wait; i++)
        wait[i] = ends->wait[i];
    if (c->last)
        wait[all.n_wait++] = c->last;
    if (s->profiling && session_facts(s)->compiles_late)
        all.launches = &c->launches;
    st = dispatch_call(c->call->session, piece, c->call->run,
                       ends->arrivals ? ARRIVING : IN_BUFFERS, &known, err);
    if (st)
        return st;
    *c->call->selection = known->selection;
    st = dispatch_run(c->call->session, known, buffers, &all, err);
    if (st)
        return st;
    clFlush(c->call->session->queue); /* copies on other queues wait for it */
    dispatch_add_report(c->call->report, &one);
    if (c->first)
        clReleaseEvent(first);
    else
        c->first = first;
    if (c->last)
        clReleaseEvent(c->last);
    c->last = last;
    /* The next copies do not wait for a compiler, which their times would contain: the first piece
     * of a kernel ends before them. */
    if (c->launches.count > launched)
        rc = clFinish(s->queue);
    if (s->watched)
        session_built(c->call->session);
    return dispatch_ended(c->call->session, piece, known->selection.variant, rc, err);
}

tsr_status pieces_outcome(const pieces *c, tsr_error *err)
{
    const cl_int rc = c->last ? events_outcome(c->last) : CL_SUCCESS;

    return dispatch_ended(c->call->session, c->call->problem, c->call->selection->variant, rc, err);
}

tsr_status pieces_close(pieces *c, tsr_status st, tsr_error *err)
{
    tsr_report *report = c->call->report;
    uint64_t within = 0;
    const uint64_t compiled = first_launches_take(&c->launches, st ? NULL : c->first, &within);
    size_t strict = 0;
    double ns = 0;

    if (!st)
        st = strict_tiles_read(c->call->session, c->strict_tiles, &strict, err);
    report->strict_tiles += strict;
    if (!st && c->first && c->call->session->profiling &&
        events_span(c->first, c->last, &ns, NULL) == TSR_OK)
        report->device_ns += (uint64_t)ns > within ? (uint64_t)ns - within : 0;
    report->build_ns += compiled;
    if (c->first)
        clReleaseEvent(c->first);
    if (c->last)
        clReleaseEvent(c->last);
    if (c->strict_tiles)
        clReleaseMemObject(c->strict_tiles);
    return st;
}
