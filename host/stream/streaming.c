#include "stream/streaming.h"

#include "base/fail.h"
#include "base/sizes.h"
#include "core/registry.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matvec/matvec_shape.h"
#include "ops/sort/sort_order.h"

/* What is chosen for, whatever room there is. */
typedef struct choosing {
    const problem *problem;
    const selection *selection;
} choosing;

/* Product e of a batch, alone. */
static problem product_of(const problem *p, size_t e)
{
    return matmul_problem(matmul_product(matmul_of(p), e));
}

/* A product, or a batch without groups: at once where the device holds it, else each by itself. */
static tsr_status choose_products(const stream_room *room, const problem *p, streaming *out,
                                  tsr_error *err)
{
    const bool batch = matmul_batch(matmul_of(p)) > 1;
    const problem one = product_of(p, 0);
    tsr_status st;

    if (batch && stream_holds(room, p))
        return TSR_OK;
    st = matmul_tiles_choose(room, &one, &out->tiles, err);
    if (!st && !out->tiles.m)
        matmul_slabs_choose(room, &one, batch, &out->slabs);
    return st;
}

static tsr_status choose_way(const choosing *c, const stream_room *room, streaming *out,
                             tsr_error *err)
{
    const problem *p = c->problem;

    *out = (streaming){.chunks = {SORT_AT_ONCE, 0}};
    if (p->op == &operation_sort)
        return sort_chunks_choose(room, p, c->selection, &out->chunks, err);
    batches_choose(room, p, &out->groups);
    if (out->groups.group)
        return TSR_OK;
    return p->op == &operation_matvec ? matvec_panels_choose(room, p, &out->panels, err)
                                      : choose_products(room, p, out, err);
}

static size_t products_of(const problem *p)
{
    return p->op == &operation_matmul ? matmul_batch(matmul_of(p)) : matvec_batch(matvec_of(p));
}

/* Of each product of a batch that goes product by product; SIZE_MAX where they are more. */
static size_t pieces_of_product(const tsr_matmul_problem *q, const streaming *how)
{
    size_t count;

    if (how->slabs.strip)
        return matmul_slabs_count(q, &how->slabs);
    return size_mul(size_div_up(q->m, how->tiles.m), size_div_up(q->n, how->tiles.n), &count)
               ? count
               : SIZE_MAX;
}

/* Pieces that the room for them decides on: keys as they arrive are always few. */
static size_t count_pieces(const problem *p, const streaming *how)
{
    size_t count = 0;

    if (how->groups.group)
        count = size_div_up(products_of(p), how->groups.group);
    else if (how->panels.lines)
        count = matvec_panels_count(matvec_of(p), &how->panels);
    else if (how->tiles.m || how->slabs.strip) {
        if (!size_mul(pieces_of_product(matmul_of(p), how), products_of(p), &count))
            count = SIZE_MAX;
    } else if (how->chunks.count)
        count = sort_chunks_pieces(sort_of(p), &how->chunks);
    return count;
}

/* Whether so much room leaves few enough pieces. */
static bool leaves_few(const choosing *c, stream_room room, size_t bytes)
{
    streaming how;

    room.all = bytes;
    return choose_way(c, &room, &how, NULL) == TSR_OK &&
           count_pieces(c->problem, &how) <= PIECES_MAX;
}

/* Refuse a device_memory that leaves too many pieces, with the one that does not. */
static tsr_status check_pieces(const choosing *c, const stream_room *room, size_t count,
                               tsr_error *err)
{
    size_t few = room->most, many = room->all;

    if (!room->told || count <= PIECES_MAX || !leaves_few(c, *room, few))
        return TSR_OK;
    while (few - many > 1) {
        const size_t middle = many + (few - many) / 2;

        if (leaves_few(c, *room, middle))
            few = middle;
        else
            many = middle;
    }
    return tsr_fail(
        err, TSR_EOVERFLOW, 0,
        "%s: with %zu bytes of device memory it falls into %zu pieces; %d are allowed, from %zu "
        "bytes on",
        c->problem->op->name, room->all, count, (int)PIECES_MAX, few);
}

tsr_status streaming_choose(const tsr_session *s, const problem *p, const selection *sel,
                            streaming *out, tsr_error *err)
{
    const stream_room room = stream_room_of(s);
    const choosing c = {p, sel};
    streaming chosen = {0};
    tsr_status st = choose_way(&c, &room, &chosen, err);

    st = st ? st : check_pieces(&c, &room, count_pieces(p, &chosen), err);
    if (!st)
        *out = chosen;
    return st;
}

bool streaming_streams(const streaming *how)
{
    return how->groups.group || how->panels.lines || how->tiles.m || how->slabs.strip ||
           how->chunks.way != SORT_AT_ONCE;
}

/* A product, or those of a batch one after another. */
static tsr_status run_products(const stream_call *call, const streaming *how, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (size_t e = 0; e < matmul_batch(matmul_of(call->problem)) && !st; e++) {
        const problem one = product_of(call->problem, e);
        stream_call each = *call;

        each.problem = &one;
        st = how->slabs.strip ? matmul_slabs_run(&each, &how->slabs, err)
                              : matmul_tiles_run(&each, &how->tiles, err);
    }
    return st;
}

tsr_status streaming_run(const stream_call *call, const streaming *how, tsr_error *err)
{
    if (how->groups.group)
        return batches_run(call, &how->groups, err);
    if (how->panels.lines)
        return matvec_panels_run(call, &how->panels, err);
    if (how->tiles.m || how->slabs.strip)
        return run_products(call, how, err);
    return sort_chunks_run(call, &how->chunks, err);
}
