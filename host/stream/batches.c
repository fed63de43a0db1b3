#include "stream/batches.h"

#include <assert.h>

#include "base/clock.h"
#include "base/sizes.h"
#include "core/registry.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matvec/matvec_shape.h"
#include "stream/pieces.h"
#include "stream/pipeline.h"

/* Two that are read and the one that is written, of both operations. */
enum { READ_FIRST, READ_SECOND, RESULT, BATCH_OPERANDS };

static_assert((int)RESULT == (int)MATMUL_C && (int)RESULT == (int)MATVEC_Y,
              "the result is the last operand");

/* A batch as it is stored. */
typedef struct batch {
    view operand[BATCH_OPERANDS];
    size_t count;
    bool reads_result;
} batch;

/* False where there is nothing to multiply. */
static bool batch_of(const problem *p, batch *out)
{
    const tsr_matmul_problem *m = matmul_of(p);
    const tsr_matvec_problem *v = matvec_of(p);

    if (p->op == &operation_matmul) {
        *out = (batch){{matmul_matrix_a(m), matmul_matrix_b(m), matmul_matrix_c(m)},
                       matmul_batch(m),
                       m->beta != 0};
        return m->alpha != 0 && m->m && m->n && m->k;
    }
    *out = (batch){{matvec_a(v), matvec_x(v), matvec_y(v)}, matvec_batch(v), v->beta != 0};
    return v->alpha != 0 && v->rows && v->columns;
}

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
    for (size_t i = 0; i < RESULT; i++) {
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

static needs needs_of(const batch *b, const stream_room *room)
{
    needs n = {.held = true};

    for (size_t i = 0; i < BATCH_OPERANDS; i++) {
        const view *x = &b->operand[i];
        const size_t all = bytes_of(x, x->count);
        const size_t each = size_max(bytes_of(x, 1), x->stride * tsr_type_size(x->type));

        *(x->stride ? &n.own : &n.shared) += each;
        n.widest = size_max(n.widest, each);
        n.widest_own = size_max(n.widest_own, x->stride ? each : 0);
        n.held = n.held && all <= room->each;
        n.whole += all;
    }
    n.held = n.held && n.whole <= room->all;
    return n;
}

/* Whether a product streams better by itself: a matrix that is read once comes in panels, which
 * hide more than a piece of a whole product does, or one that all share and that outweighs them. */
static bool streams_alone(const problem *p, const needs *n, size_t products, size_t piece)
{
    return p->op == &operation_matvec &&
           (n->own > piece || n->shared > size_max(piece, products * n->own));
}

void batches_choose(const stream_room *room, const problem *p, batches *out)
{
    batch b;
    needs n;

    *out = (batches){0, 0};
    if (!batch_of(p, &b) || b.count <= 1 || overlap(&b.operand[RESULT]))
        return; /* lines of the result between another's: no group has a range of its own */
    n = needs_of(&b, room);
    if ((n.held && n.whole < STREAMED_MIN) || n.widest > room->each || n.shared > room->all)
        return;
    for (size_t slots = size_min(PIPELINE_SLOTS, b.count); slots > 1; slots--) {
        const size_t each = (room->all - n.shared) / slots;
        const size_t piece = stream_piece_bytes(n.whole, each);
        const size_t group =
            size_min(size_min(size_max(piece / n.own, 1), b.count), room->each / n.widest_own);

        if (each < n.own || streams_alone(p, &n, b.count, piece) || takes_more(&b, group))
            continue;
        *out = (batches){group, slots}; /* a slot each beside what all share */
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
    batch batch;
    void *const *host;
    pipeline *slots[BATCH_OPERANDS];
    cl_mem shared[BATCH_OPERANDS]; /* the slot of an operand that all share, which stays; or NULL */
    computed before;
} grouping;

static problem group_problem(const problem *whole, size_t count)
{
    problem p = *whole;

    if (p.op == &operation_matmul) {
        matmul_in(&p)->batch = count;
        matmul_in(&p)->offset_a = matmul_in(&p)->offset_b = matmul_in(&p)->offset_c = 0;
    } else {
        matvec_in(&p)->batch = count;
        matvec_in(&p)->offset_a = matvec_in(&p)->offset_x = matvec_in(&p)->offset_y = 0;
    }
    return p;
}

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
    to = block_of(g, RESULT, b->first, b->count);
    st = pipeline_fetch(g->slots[RESULT], b->slot, 0, &to, err);
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
    if (which == RESULT && !g->batch.reads_result && !has_gaps(&g->batch.operand[RESULT]))
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
    const problem p = group_problem(g->whole, count);
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
    g->before = (computed){in.buffer[RESULT], first, count};
    return st;
}

static tsr_status open(grouping *g, const batches *how, tsr_error *err)
{
    const size_t rest = g->batch.count % how->group;
    problem p = group_problem(g->whole, how->group);
    tsr_status st = pieces_prepare(&g->pieces, &p, err);

    if (!st && rest) {
        p = group_problem(g->whole, rest);
        st = pieces_prepare(&g->pieces, &p, err);
    }
    for (size_t i = 0; i < BATCH_OPERANDS && !st; i++) {
        const view *x = &g->batch.operand[i];

        st = pipeline_open(g->pieces.call->session, x->stride ? how->slots : 1,
                           bytes_of(x, how->group), &g->slots[i], err);
    }
    return st;
}

tsr_status batches_run(const stream_call *call, const batches *how, tsr_error *err)
{
    grouping g = {.pieces = {.call = call}, .whole = call->problem, .host = call->operands};
    tsr_status st;

    batch_of(call->problem, &g.batch);
    st = open(&g, how, err);
    for (size_t first = 0; first < g.batch.count && !st; first += how->group)
        st = run_group(&g, first, size_min(how->group, g.batch.count - first), err);
    st = st ? st : fetch_before(&g, err);
    st = st ? st : pipeline_wait(g.slots[RESULT], &call->report->from_device_ns, err);
    st = st ? st : pieces_outcome(&g.pieces, err);
    for (size_t i = 0; i < BATCH_OPERANDS; i++)
        pipeline_close(g.slots[i]);
    return pieces_close(&g.pieces, st, err);
}
