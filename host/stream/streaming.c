#include "stream/streaming.h"

#include "base/fail.h"
#include "base/sizes.h"
#include "ops/registry.h"
#include "stream/matmul_batches.h"
#include "stream/matvec_panels.h"

/* What is chosen for, whatever room there is. */
typedef struct choosing {
    const problem *problem;
    const selection *selection;
} choosing;

static tsr_status choose_way(const choosing *c, const stream_room *room, streaming *out,
                             tsr_error *err)
{
    const problem *p = c->problem;
    tsr_status st;

    *out = (streaming){.chunks = {SORT_AT_ONCE, 0}};
    if (p->op == &operation_matvec)
        return matvec_panel_lines(room, p, &out->lines, err);
    if (p->op == &operation_matmul) {
        st = matmul_batches_choose(room, p, &out->group, err);
        st = st ? st : matmul_tiles_choose(room, p, &out->tiles, err);
        if (!st && !out->tiles.m)
            matmul_slabs_choose(room, p, &out->slabs);
        return st;
    }
    return sort_chunks_choose(room, p, c->selection, &out->chunks, err);
}

/* Pieces that the room for them decides on: slabs and keys as they arrive are always few. */
static size_t count_pieces(const problem *p, const streaming *how)
{
    size_t count = 0;

    if (how->lines)
        count = size_div_up(p->matvec.rows, how->lines);
    else if (how->group)
        count = size_div_up(p->matmul.batch, how->group);
    else if (how->tiles.m) {
        if (!size_mul(size_div_up(p->matmul.m, how->tiles.m),
                      size_div_up(p->matmul.n, how->tiles.n), &count))
            count = SIZE_MAX;
    } else if (how->chunks.count)
        count = sort_chunks_pieces(&p->sort, &how->chunks);
    return count;
}

/* Whether so much room leaves few enough pieces. */
static bool leaves_few(const choosing *c, stream_room room, size_t bytes)
{
    streaming how;

    room.all = bytes;
    return choose_way(c, &room, &how, NULL) == TSR_OK &&
           count_pieces(c->problem, &how) <= PIECES_MOST;
}

/* Refuse a device_memory that leaves too many pieces, with the one that does not. */
static tsr_status check_pieces(const choosing *c, const stream_room *room, size_t count,
                               tsr_error *err)
{
    size_t few = room->most, many = room->all;

    if (!room->told || count <= PIECES_MOST || !leaves_few(c, *room, few))
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
        c->problem->op->name, room->all, count, (int)PIECES_MOST, few);
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
    return how->lines || how->group || how->tiles.m || how->slabs.strip ||
           how->chunks.way != SORT_AT_ONCE;
}

tsr_status streaming_run(const stream_call *call, const streaming *how, tsr_error *err)
{
    if (how->lines)
        return matvec_panels_run(call, how->lines, err);
    if (how->group)
        return matmul_batches_run(call, how->group, err);
    if (how->slabs.strip)
        return matmul_slabs_run(call, &how->slabs, err);
    if (how->tiles.m)
        return matmul_tiles_run(call, &how->tiles, err);
    return sort_chunks_run(call, &how->chunks, err);
}
