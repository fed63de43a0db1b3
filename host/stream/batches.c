#include "stream/batches.h"

#include "base/clock.h"
#include "base/sizes.h"
#include "stream/pipeline.h"

/* Bytes from the first element of an operand to the end of the last one of `count`, gaps included;
 * one that all share is there once. */
static size_t bytes_of(const view *x, size_t count)
{
    size_t one;

    view_span(x, &one); /* checked */
    return ((count - 1) * x->stride + one) * tsr_type_size(x->type);
}

/* Whether elements of the result that no product writes lie between others, and come back as they
 * were. */
static bool has_gaps(const view *x)
{
    return x->ld != x->length || x->stride != x->lines * x->length;
}

/* Whether the matrices overlap, as sliding windows do, or lines of one lie between another's. */
static bool overlap(const view *x)
{
    return x->stride && x->stride * tsr_type_size(x->type) < bytes_of(x, 1);
}

/* Whether a group takes more bytes of an operand that is read than its products by themselves. */
static bool takes_more(const batch *b, size_t group)
{
    for (size_t i = 0; i < BATCH_RESULT; i++) {
        const view *x = &b->operand[i];

        if (overlap(x) &&
            bytes_of(x, group) / group > x->lines * x->length * tsr_type_size(x->type))
            return true;
    }
    return false;
}

/* ---- choosing ------------------------------------------------------------------------------ */

/* Bytes of what each product has of its own, of what all share, of the largest operand of either
 * kind and of the largest that is a product's own, and of all. */
typedef struct needs {
    size_t own, shared, widest, widest_own, whole;
    bool held; /* there is room for all at once */
} needs;

static needs needs_of(const batch *b, const stream_budget *budget)
{
    needs n = {.held = true};

    for (size_t i = 0; i < BATCH_OPERANDS; i++) {
        const view *x = &b->operand[i];
        const size_t all = bytes_of(x, x->count);
        const size_t each = size_max(bytes_of(x, 1), x->stride * tsr_type_size(x->type));

        *(x->stride ? &n.own : &n.shared) += each;
        n.widest = size_max(n.widest, each);
        n.widest_own = size_max(n.widest_own, x->stride ? each : 0);
        n.held = n.held && all <= budget->each;
        n.whole += all;
    }
    n.held = n.held && n.whole <= budget->all;
    return n;
}

/* Whether a product streams better by itself: a matrix that is read once comes in panels, which
 * hide more than a piece of a whole product does, or one that all share and that outweighs them. */
static bool streams_alone(const batch *b, const needs *n, size_t piece)
{
    return b->comes_in_panels && (n->own > piece || n->shared > size_max(piece, b->count * n->own));
}

/* What the lengths of a partition are. */
enum { GROUP, SLOTS };

void batches_choose(const stream_budget *budget, const problem *p, const partition_kind *kind,
                    partition *out)
{
    batch b;
    needs n;

    if (!kind->batches->describe(p, &b) || b.count <= 1 || overlap(&b.operand[BATCH_RESULT]))
        return; /* lines of the result between another's: no group has a range of its own */
    n = needs_of(&b, budget);
    if ((n.held && n.whole < STREAMED_MIN) || n.widest > budget->each || n.shared > budget->all)
        return;
    for (size_t slots = size_min(PIPELINE_SLOTS, b.count); slots > 1; slots--) {
        const size_t each = (budget->all - n.shared) / slots;
        const size_t piece = stream_piece_bytes(n.whole, each);
        const size_t group =
            size_min(size_min(size_max(piece / n.own, 1), b.count), budget->each / n.widest_own);

        if (each < n.own || streams_alone(&b, &n, piece) || takes_more(&b, group))
            continue;
        *out = (partition){kind,
                           size_div_up(b.count, group),
                           {group, slots}}; /* a slot each beside what all share */
        return;
    }
}

/* ---- running ------------------------------------------------------------------------------- */

/* Products that are computed and not yet on the host. */
typedef struct computed {
    cl_mem slot; /* of the result; NULL: there are none */
    size_t first, count;
} computed;

typedef struct grouping {
    pieces pieces;
    const problem *whole;
    const batch_form *form;
    batch batch;
    void *const *host;
    pipeline *slots[BATCH_OPERANDS];
    cl_mem shared[BATCH_OPERANDS]; /* the slot of an operand that all share, which stays; or NULL */
    computed before;
} grouping;

/* An operand of the products from `first` on. */
static host_rows block_of(const grouping *g, size_t which, size_t first, size_t count)
{
    const view *x = &g->batch.operand[which];
    const size_t at = (x->offset + first * x->stride) * tsr_type_size(x->type);

    return host_bytes((const unsigned char *)g->host[which] + at, bytes_of(x, count));
}

static tsr_status fetch_before(grouping *g, tsr_error *err)
{
    const computed *b = &g->before;
    const uint64_t start = clock_ns();
    host_rows to;
    tsr_status st;

    if (!b->slot)
        return TSR_OK;
    to = block_of(g, BATCH_RESULT, b->first, b->count);
    st = pipeline_fetch(g->slots[BATCH_RESULT], b->slot, 0, &to, err);
    g->pieces.call->report->from_device_bytes += to.bytes;
    g->pieces.call->report->from_device_ns += clock_ns() - start;
    return st;
}

/* What a group of products works on, and who brings it. */
typedef struct group_in {
    cl_mem buffer[BATCH_OPERANDS];
    cl_event wait[BATCH_OPERANDS];
    cl_uint n_wait;
} group_in;

/* A slot for an operand of a group, with what is read of it. */
static tsr_status send(grouping *g, size_t which, size_t first, size_t count, group_in *in,
                       tsr_error *err)
{
    host_rows from = block_of(g, which, first, count);
    cl_event sent = NULL;
    tsr_status st;

    in->buffer[which] = g->shared[which];
    if (in->buffer[which])
        return TSR_OK;
    if (which == BATCH_RESULT && !g->batch.reads_result &&
        !has_gaps(&g->batch.operand[BATCH_RESULT]))
        from.count = 0;
    g->pieces.call->report->to_device_bytes += from.count * from.bytes;
    st = pipeline_send(g->slots[which], &from, 0, &in->buffer[which], &sent, err);
    if (sent)
        in->wait[in->n_wait++] = sent;
    if (!g->batch.operand[which].stride)
        g->shared[which] = in->buffer[which];
    return st;
}

/* Send what a group takes, enqueue its products, and fetch those before. */
static tsr_status run_group(grouping *g, size_t first, size_t count, tsr_error *err)
{
    const problem p = g->form->group(g->whole, count);
    const uint64_t start = clock_ns();
    group_in in = {.n_wait = 0};
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < BATCH_OPERANDS && !st; i++)
        st = send(g, i, first, count, &in, err);
    g->pieces.call->report->to_device_ns += clock_ns() - start;
    if (!st)
        st = pieces_enqueue(&g->pieces, &p, in.buffer,
                            &(call_ends){.n_wait = in.n_wait, .wait = in.wait}, err);
    for (size_t i = 0; i < BATCH_OPERANDS && !st; i++)
        if (g->batch.operand[i].stride)
            pipeline_worked(g->slots[i], g->pieces.last);
    g->pieces.call->report->chunks++;
    st = st ? st : fetch_before(g, err);
    g->before = (computed){in.buffer[BATCH_RESULT], first, count};
    return st;
}

static tsr_status open(grouping *g, const partition *how, tsr_error *err)
{
    const size_t rest = g->batch.count % how->cut[GROUP];
    problem p = g->form->group(g->whole, how->cut[GROUP]);
    tsr_status st = pieces_prepare(&g->pieces, &p, err);

    if (!st && rest) {
        p = g->form->group(g->whole, rest);
        st = pieces_prepare(&g->pieces, &p, err);
    }
    for (size_t i = 0; i < BATCH_OPERANDS && !st; i++) {
        const view *x = &g->batch.operand[i];

        st = pipeline_open(g->pieces.call->session, x->stride ? how->cut[SLOTS] : 1,
                           bytes_of(x, how->cut[GROUP]), &g->slots[i], err);
    }
    return st;
}

tsr_status batches_run(const stream_call *call, const partition *how, tsr_error *err)
{
    grouping g = {.pieces = {.call = call},
                  .whole = call->problem,
                  .form = how->kind->batches,
                  .host = call->operands};
    tsr_status st;

    g.form->describe(call->problem, &g.batch);
    st = open(&g, how, err);
    for (size_t first = 0; first < g.batch.count && !st; first += how->cut[GROUP])
        st = run_group(&g, first, size_min(how->cut[GROUP], g.batch.count - first), err);
    st = st ? st : fetch_before(&g, err);
    st = st ? st : pipeline_wait(g.slots[BATCH_RESULT], &call->report->from_device_ns, err);
    st = st ? st : pieces_outcome(&g.pieces, err);
    for (size_t i = 0; i < BATCH_OPERANDS; i++)
        pipeline_close(g.slots[i]);
    return pieces_close(&g.pieces, st, err);
}
