#include "stream/matmul_batches.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "ops/matmul_shape.h"
#include "ops/registry.h"
#include "stream/pieces.h"
#include "stream/pipeline.h"

static void matrices_of(const tsr_matmul_problem *q, matmul_matrix out[MATMUL_OPERANDS])
{
    out[MATMUL_A] = matmul_matrix_a(q);
    out[MATMUL_B] = matmul_matrix_b(q);
    out[MATMUL_C] = matmul_matrix_c(q);
}

/* Bytes from the first element of a matrix to the end of the last one of `count`, gaps included;
 * one that all share is there once. */
static size_t bytes_of(const matmul_matrix *x, size_t count)
{
    const size_t one = x->lines && x->length ? (x->lines - 1) * x->ld + x->length : 0;

    return ((count - 1) * x->stride + one) * tsr_type_size(x->type);
}

/* Whether elements of C that no product writes lie between others, and come back as they were. */
static bool has_gaps(const matmul_matrix *c)
{
    return c->ld != c->length || c->stride != c->lines * c->length;
}

/* Whether lines of one matrix lie between those of another: no group has a range of its own. */
static bool side_by_side(const matmul_matrix *c)
{
    return c->stride * tsr_type_size(c->type) < bytes_of(c, 1);
}

/* ---- choosing ------------------------------------------------------------------------------ */

/* Bytes of what each product has of its own, and of what all share. */
typedef struct needs {
    size_t own, shared, widest;
} needs;

static needs needs_of(const matmul_matrix x[MATMUL_OPERANDS])
{
    needs n = {0, 0, 0};

    for (size_t i = 0; i < MATMUL_OPERANDS; i++) {
        const size_t one = bytes_of(&x[i], 1);
        const size_t each = size_max(one, x[i].stride * tsr_type_size(x[i].type));

        *(x[i].stride ? &n.own : &n.shared) += each;
        n.widest = size_max(n.widest, each);
    }
    return n;
}

/* Whether there is room for all at once; *bytes are those of all. */
static bool holds_all(const matmul_matrix x[MATMUL_OPERANDS], const stream_room *room,
                      size_t *bytes)
{
    bool holds = true;

    *bytes = 0;
    for (size_t i = 0; i < MATMUL_OPERANDS; i++) {
        const size_t all = bytes_of(&x[i], x[i].count);

        holds = holds && all <= room->each;
        *bytes += all;
    }
    return holds && *bytes <= room->all;
}

/* Groups whose matrices have a slot each beside what all share; `whole` bytes in all. */
static size_t group_of(const needs *n, size_t batch, size_t whole, const stream_room *room)
{
    const size_t bytes = stream_piece_bytes(whole, (room->all - n->shared) / PIPELINE_SLOTS);

    return size_min(size_min(size_max(bytes / n->own, 1), batch), room->each / n->widest);
}

tsr_status matmul_batches_choose(const stream_room *room, const problem *p, size_t *group,
                                 tsr_error *err)
{
    const tsr_matmul_problem *q = &p->matmul;
    matmul_matrix x[MATMUL_OPERANDS];
    size_t whole;
    bool holds, mixed;
    needs n;

    *group = 0;
    if (q->batch <= 1 || q->alpha == 0 || !q->m || !q->n || !q->k)
        return TSR_OK;
    matrices_of(q, x);
    holds = holds_all(x, room, &whole);
    if (holds && whole < STREAMED_LEAST)
        return TSR_OK;
    n = needs_of(x);
    mixed = side_by_side(&x[MATMUL_C]);
    if (!mixed && n.widest <= room->each && n.shared <= room->all &&
        (room->all - n.shared) / PIPELINE_SLOTS >= n.own) {
        *group = group_of(&n, q->batch, whole, room);
        return TSR_OK;
    }
    if (holds || !room->told)
        return TSR_OK; /* what the device does not hold is refused as it is in one piece */
    if (mixed)
        return stream_refuse(err, "matmul", room, whole,
                             "the matrices of a batch whose C lie side by side");
    return stream_refuse(err, "matmul", room, n.shared + PIPELINE_SLOTS * n.own,
                         "%d products of a batch of %zu", (int)PIPELINE_SLOTS, q->batch);
}

/* ---- running ------------------------------------------------------------------------------- */

/* Products that are computed and not yet on the host. */
typedef struct computed {
    cl_mem slot; /* of C; NULL: there are none */
    size_t first, count;
} computed;

typedef struct grouping {
    pieces pieces;
    const tsr_matmul_problem *whole;
    matmul_matrix matrix[MATMUL_OPERANDS];
    void *const *host;
    pipeline *slots[MATMUL_OPERANDS];
    cl_mem shared[MATMUL_OPERANDS]; /* the slot of a matrix that all share, which stays; or NULL */
    computed before;
} grouping;

static problem group_problem(const tsr_matmul_problem *q, size_t count)
{
    problem p = {.op = &operation_matmul, .matmul = *q};

    p.matmul.batch = count;
    p.matmul.offset_a = p.matmul.offset_b = p.matmul.offset_c = 0;
    return p;
}

/* A matrix of the products from `first` on. */
static host_rows block_of(const grouping *g, size_t which, size_t first, size_t count)
{
    const matmul_matrix *x = &g->matrix[which];
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
    to = block_of(g, MATMUL_C, b->first, b->count);
    st = pipeline_fetch(g->slots[MATMUL_C], b->slot, 0, &to, err);
    g->pieces.call->report->from_device_bytes += to.bytes;
    g->pieces.call->report->from_device_ns += clock_ns() - start;
    return st;
}

/* What a group of products works on, and who brings it. */
typedef struct group_in {
    cl_mem buffer[MATMUL_OPERANDS];
    cl_event wait[MATMUL_OPERANDS];
    cl_uint n_wait;
} group_in;

/* A slot for a matrix of a group, with what is read of it. */
static tsr_status send(grouping *g, size_t which, size_t first, size_t count, group_in *in,
                       tsr_error *err)
{
    host_rows from = block_of(g, which, first, count);
    cl_event sent = NULL;
    tsr_status st;

    in->buffer[which] = g->shared[which];
    if (in->buffer[which])
        return TSR_OK;
    if (which == MATMUL_C && g->whole->beta == 0 && !has_gaps(&g->matrix[MATMUL_C]))
        from.count = 0;
    g->pieces.call->report->to_device_bytes += from.count * from.bytes;
    st = pipeline_send(g->slots[which], &from, 0, &in->buffer[which], &sent, err);
    if (sent)
        in->wait[in->n_wait++] = sent;
    if (!g->matrix[which].stride)
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

    for (size_t i = 0; i < MATMUL_OPERANDS && !st; i++)
        st = send(g, i, first, count, &in, err);
    g->pieces.call->report->to_device_ns += clock_ns() - start;
    if (!st)
        st = pieces_enqueue(&g->pieces, &p, in.buffer,
                            &(call_ends){.n_wait = in.n_wait, .wait = in.wait}, err);
    for (size_t i = 0; i < MATMUL_OPERANDS && !st; i++)
        if (g->matrix[i].stride)
            pipeline_worked(g->slots[i], g->pieces.last);
    g->pieces.call->report->chunks++;
    st = st ? st : fetch_before(g, err);
    g->before = (computed){in.buffer[MATMUL_C], first, count};
    return st;
}

static tsr_status open(grouping *g, size_t group, tsr_error *err)
{
    const size_t rest = g->whole->batch % group;
    problem p = group_problem(g->whole, group);
    tsr_status st = pieces_prepare(&g->pieces, &p, err);

    if (!st && rest) {
        p = group_problem(g->whole, rest);
        st = pieces_prepare(&g->pieces, &p, err);
    }
    for (size_t i = 0; i < MATMUL_OPERANDS && !st; i++)
        st = pipeline_open(g->pieces.call->session, g->matrix[i].stride ? PIPELINE_SLOTS : 1,
                           bytes_of(&g->matrix[i], group), &g->slots[i], err);
    return st;
}

tsr_status matmul_batches_run(const stream_call *call, size_t group, tsr_error *err)
{
    const tsr_matmul_problem *q = &call->problem->matmul;
    grouping g = {.pieces = {.call = call}, .whole = q, .host = call->operands};
    tsr_status st;

    matrices_of(q, g.matrix);
    st = open(&g, group, err);
    for (size_t first = 0; first < q->batch && !st; first += group)
        st = run_group(&g, first, size_min(group, q->batch - first), err);
    st = st ? st : fetch_before(&g, err);
    st = st ? st : pipeline_wait(g.slots[MATMUL_C], &call->report->from_device_ns, err);
    st = st ? st : pieces_outcome(&g.pieces, err);
    for (size_t i = 0; i < MATMUL_OPERANDS; i++)
        pipeline_close(g.slots[i]);
    return pieces_close(&g.pieces, st, err);
}
