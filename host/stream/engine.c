#include "stream/engine.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/team.h"
#include "session/events.h"

/* A buffer of the device. */
typedef struct slot {
    cl_mem buffer;
    cl_event busy; /* the last command or copy that has to be done before it is filled; or NULL */
} slot;

/* Slices that are computed and not yet on the host. */
typedef struct result {
    bool there;
    slice slice;
    size_t slot;
    cl_event done; /* the command that left it; held */
} result;

/* One operand. */
typedef struct lane {
    slot slots[PARTITION_SLOTS_MAX];
    size_t current; /* slot of the last piece */
    bool taken;     /* there was one */
    slice slice;    /* in it */
    bool fetched;   /* `slice` is no result, or is on its way */
    result before;  /* of the slice before */
    cl_event sent;  /* what the next piece waits for; or NULL */
    void *staged;   /* a block; or NULL */
} lane;

typedef struct engine {
    pieces pieces;
    const partition *partition;
    void *const *host;
    copies *copies;
    lane lanes[OPERANDS_MAX];
    size_t stage;
} engine;

/* Block b of a slice on the host. */
static host_rows block_of(const slice *s, size_t b)
{
    host_rows r = s->rows;

    r.at = (unsigned char *)r.at + b * s->step;
    if (b + 1 == s->blocks)
        r.bytes -= s->short_by;
    return r;
}

/* ---- out ----------------------------------------------------------------------------------- */

/* Copy the blocks of a result back. */
static tsr_status fetch(engine *e, size_t o, const result *r, tsr_error *err)
{
    tsr_report *report = e->pieces.call->report;
    lane *l = &e->lanes[o];
    slot *from = &l->slots[r->slot];
    const bool last_use = from->busy == r->done;
    const uint64_t start = clock_ns();
    size_t offset = r->slice.offset;
    cl_event done = NULL;
    tsr_status st = TSR_OK;

    for (size_t b = 0; b < r->slice.blocks && !st; b++) {
        const host_rows to = l->staged ? host_bytes(l->staged, e->partition->slots[o].staged)
                                       : block_of(&r->slice, b);

        event_forget(&done);
        st = copies_out(e->copies, (device_place){from->buffer, offset}, r->done, &to, &done, err);
        if (!st && l->staged) /* it is no pinned memory, and so it is there */
            st = e->partition->kind->stage(e->partition, STAGE_OUT, o, &r->slice, b, e->host[o],
                                           l->staged, err);
        offset += to.count * to.bytes;
    }
    report->from_device_bytes += offset - r->slice.offset;
    report->from_device_ns += clock_ns() - start;
    /* Copies out follow one another: the last one from a slot is done where all are.  One that is
     * not the slot's last use leaves another to come. */
    if (done && last_use) {
        event_forget(&from->busy);
        from->busy = done;
    } else
        event_forget(&done);
    return st;
}

static tsr_status fetch_before(engine *e, size_t o, tsr_error *err)
{
    result *r = &e->lanes[o].before;
    tsr_status st = TSR_OK;

    if (r->there)
        st = fetch(e, o, r, err);
    event_forget(&r->done);
    r->there = false;
    return st;
}

/* What an operand's slot holds is complete: it goes to the host behind the next piece. */
static tsr_status leave(lane *l, tsr_error *err)
{
    tsr_status st;

    if (l->fetched)
        return TSR_OK;
    assert(!l->before.there);
    l->before = (result){.slice = l->slice, .slot = l->current};
    st = event_share(l->slots[l->current].busy, &l->before.done, err);
    l->before.there = !st;
    l->fetched = true;
    return st;
}

/* All results are on the host. */
static tsr_status finish_stage(engine *e, tsr_error *err)
{
    uint64_t start;
    tsr_status st = TSR_OK;

    for (size_t o = OPERANDS_MAX; o-- > 0 && !st;) {
        st = leave(&e->lanes[o], err);
        st = st ? st : fetch_before(e, o, err);
    }
    start = clock_ns();
    st = st ? st : copies_wait(e->copies, err);
    e->pieces.call->report->from_device_ns += clock_ns() - start;
    return st;
}

/* ---- in ------------------------------------------------------------------------------------ */

/* Send the blocks of a slice to the current slot, which is filled once `after` is complete. */
static tsr_status send_blocks(engine *e, size_t o, cl_event after, tsr_error *err)
{
    lane *l = &e->lanes[o];
    const slice *s = &l->slice;
    size_t offset = s->offset;
    tsr_status st = TSR_OK;

    for (size_t b = 0; b < s->blocks && !st; b++) {
        const host_rows from =
            l->staged ? host_bytes(l->staged, e->partition->slots[o].staged) : block_of(s, b);
        cl_event sent = NULL;

        if (l->staged) /* it is no pinned memory: read when copies_in returns */
            st = e->partition->kind->stage(e->partition, STAGE_IN, o, s, b, e->host[o], l->staged,
                                           err);
        if (!st)
            st = copies_in(e->copies, &from, (device_place){l->slots[l->current].buffer, offset},
                           l->sent ? l->sent : after, &sent, err);
        if (sent) {
            event_forget(&l->sent);
            l->sent = sent;
        }
        offset += from.count * from.bytes;
    }
    e->pieces.call->report->to_device_bytes += offset - s->offset;
    return st;
}

/* Have a slice of an operand in a slot, or on its way there. */
static tsr_status copy_in(engine *e, size_t o, const slice *s, tsr_error *err)
{
    lane *l = &e->lanes[o];
    const bool stays = l->taken && s->slot == l->slice.slot;
    cl_event after = NULL;
    tsr_status st = TSR_OK;

    if (stays && s->part == l->slice.part)
        return TSR_OK;
    st = leave(l, err);
    if (st)
        return st;
    if (!stays) {
        l->current = l->taken ? (l->current + 1) % e->partition->slots[o].count : 0;
        l->taken = true;
        if (l->before.there && l->before.slot == l->current)
            st = fetch_before(e, o, err); /* the only slot */
        after = l->slots[l->current].busy;
    }
    l->slice = *s;
    l->fetched = !s->out;
    if (!st && s->in)
        st = send_blocks(e, o, after, err);
    if (!st && !l->sent && after) /* nothing is copied: the piece itself waits */
        st = event_share(after, &l->sent, err);
    return st;
}

/* ---- pieces -------------------------------------------------------------------------------- */

/* Bring what a piece works on, enqueue it, and fetch what those before it have left. */
static tsr_status run_piece(engine *e, const piece *now, tsr_error *err)
{
    cl_mem buffers[OPERANDS_MAX] = {NULL};
    cl_event wait[OPERANDS_MAX];
    call_ends ends = {.wait = wait};
    uint64_t start;
    tsr_status st = TSR_OK;

    if (now->stage != e->stage)
        st = finish_stage(e, err);
    e->stage = now->stage;
    start = clock_ns();
    for (size_t i = 0; i < OPERANDS_MAX && !st; i++) {
        const unsigned *order = e->partition->kind->order;
        const size_t o = order && i < ORDER_MAX ? order[i] : i;
        lane *l = &e->lanes[o];

        if (!e->partition->slots[o].count)
            continue;
        st = copy_in(e, o, &now->slice[o], err);
        buffers[o] = l->slots[l->current].buffer;
        if (l->sent)
            wait[ends.n_wait++] = l->sent;
    }
    e->pieces.call->report->to_device_ns += clock_ns() - start;
    st = st ? st : pieces_enqueue(&e->pieces, &now->problem, buffers, &ends, err);
    if (st)
        return st;
    e->pieces.call->report->chunks++;
    for (size_t o = 0; o < OPERANDS_MAX && !st; o++) {
        lane *l = &e->lanes[o];

        if (!e->partition->slots[o].count)
            continue;
        event_forget(&l->sent); /* pieces behind this one wait for it */
        event_forget(&l->slots[l->current].busy);
        st = event_share(e->pieces.last, &l->slots[l->current].busy, err);
    }
    for (size_t o = OPERANDS_MAX; o-- > 0 && !st;)
        st = fetch_before(e, o, err);
    return st;
}

static tsr_status prepare(engine *e, tsr_error *err)
{
    const partition *p = e->partition;
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < p->shape_count && !st; i++) {
        piece one;

        p->kind->piece(p, e->host, p->shape[i], &one);
        st = pieces_prepare(&e->pieces, &one.problem, err);
    }
    return st;
}

static tsr_status open(engine *e, tsr_error *err)
{
    const size_t most = (size_t)session_facts(e->pieces.call->session)->max_allocation;
    tsr_status st = copies_of(e->pieces.call->session, &e->copies, err);

    for (size_t o = 0; o < OPERANDS_MAX && !st; o++) {
        const operand_slots *slots = &e->partition->slots[o];
        lane *l = &e->lanes[o];

        assert(slots->count <= PARTITION_SLOTS_MAX);
        l->fetched = true;
        if (slots->count && (slots->bytes == 0 || slots->bytes > most))
            st = tsr_fail(err, TSR_EOVERFLOW, 0,
                          "%s: even the smallest piece is larger than %zu bytes, the most that the "
                          "device allocates at once",
                          e->pieces.call->problem->op->name, most);
        for (size_t i = 0; i < slots->count && !st; i++)
            st = copies_buffer(e->copies, "a piece", slots->bytes, &l->slots[i].buffer, err);
        if (!st && slots->staged) {
            l->staged = malloc(slots->staged);
            if (!l->staged)
                st = tsr_fail(err, TSR_ENOMEM, 0, "%s: no memory for a copy of %zu bytes",
                              e->pieces.call->problem->op->name, slots->staged);
        }
    }
    return st;
}

/* After failures too, nothing works on the arrays or the slots any more. */
static void release(engine *e)
{
    if (e->copies)
        copies_settle(e->copies);
    queue_settle(e->pieces.call->session->queue);
    for (size_t o = 0; o < OPERANDS_MAX; o++) {
        lane *l = &e->lanes[o];

        event_forget(&l->sent);
        event_forget(&l->before.done);
        for (size_t i = 0; i < PARTITION_SLOTS_MAX; i++) {
            event_forget(&l->slots[i].busy);
            if (l->slots[i].buffer)
                copies_keep(e->copies, l->slots[i].buffer, e->partition->slots[o].bytes);
        }
        free(l->staged);
    }
}

tsr_status engine_run(const stream_call *call, const partition *p, tsr_error *err)
{
    partition own = *p;
    engine e = {.pieces = {.call = call}, .partition = &own, .host = call->operands};
    tsr_status st = prepare(&e, err);

    team_spin_longer(); /* for pieces of pinned memory, one after another */
    if (!st && p->kept_bytes && !(own.kept = calloc(1, p->kept_bytes)))
        st = tsr_fail(err, TSR_ENOMEM, 0,
                      "%s: no memory for the %zu bytes that are kept between pieces",
                      call->problem->op->name, p->kept_bytes);
    st = st ? st : open(&e, err);
    for (size_t i = 0; i < p->pieces && !st; i++) {
        piece now;

        p->kind->piece(p, call->operands, i, &now);
        st = run_piece(&e, &now, err);
    }
    st = st ? st : finish_stage(&e, err);
    st = st ? st : pieces_outcome(&e.pieces, err);
    release(&e);
    team_spin_briefly();
    free(own.kept);
    return pieces_close(&e.pieces, st, err);
}
