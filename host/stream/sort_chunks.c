#include "stream/sort_chunks.h"

#include "base/fail.h"
#include "base/sizes.h"
#include "core/registry.h"
#include "ops/sort/sort_order.h"
#include "ops/sort/sort_commands.h"
#include "stream/pipeline.h"
#include "stream/sort_call.h"

/* ---- choosing ------------------------------------------------------------------------------ */

/* Of the widest operand. */
static size_t widest(const tsr_sort_problem *q)
{
    return size_max(size_max(tsr_type_size(q->type), q->argsort ? sizeof(int64_t) : 0),
                    q->value_bytes);
}

static bool fits(const tsr_sort_problem *q, size_t rows, size_t slots, const stream_room *limit)
{
    const size_t keys = rows * q->n; /* the whole is checked, and this is no more */

    return keys <= limit->each / widest(q) && keys <= limit->all / slots / sort_entry_bytes(q);
}

static tsr_status choose_rows(const tsr_sort_problem *q, const stream_room *limit, sort_chunks *out,
                              tsr_error *err)
{
    const size_t row = q->n * sort_entry_bytes(q), rows = sort_rows(q);
    size_t bytes;

    if (!fits(q, 1, PIPELINE_SLOTS, limit)) {
        if (!q->argsort && !q->value_bytes) {
            *out = (sort_chunks){SORT_EXCHANGE, 0};
            return TSR_OK;
        }
        return stream_refuse(err, "sort", limit, PIPELINE_SLOTS * row,
                             "%d rows and what goes with their keys", (int)PIPELINE_SLOTS);
    }
    bytes = stream_piece_bytes(rows * row, limit->all / PIPELINE_SLOTS);
    bytes = size_min(bytes, limit->each / widest(q) * sort_entry_bytes(q));
    *out = (sort_chunks){SORT_ROWS, size_min(size_max(bytes / row, 1), rows)};
    return TSR_OK;
}

/* Chunks of keys, of which the device holds SORT_PAIRS pairs. */
static tsr_status choose_exchange(const tsr_sort_problem *q, const stream_room *limit,
                                  sort_chunks *out, tsr_error *err)
{
    const size_t key = tsr_type_size(q->type);
    /* A variant may copy a pair to its workspace, beside those that come and go.  A pair is what
     * the fast variants number. */
    const size_t pairs = limit->told ? SORT_PAIRS : SORT_PAIRS + 1;
    const size_t most = size_min(limit->all / (2 * pairs), limit->each / 2) / key;
    const size_t keys = size_min(most, INT32_MAX / 2);

    if (!keys)
        return stream_refuse(err, "sort", limit, 2 * SORT_PAIRS * key, "%d keys", 2 * SORT_PAIRS);
    *out = (sort_chunks){SORT_EXCHANGE, size_min(keys, q->n)};
    return TSR_OK;
}

/* Segments of given lengths are sorted at once. */
static tsr_status choose_segments(const tsr_sort_problem *q, bool holds, const stream_room *limit,
                                  tsr_error *err)
{
    const size_t offsets = (q->offset_segments + q->segments + 1) * sizeof(uint64_t);
    const size_t keys = q->n * sort_entry_bytes(q);

    if (!limit->told || (holds && offsets <= limit->all && keys <= limit->all - offsets))
        return TSR_OK;
    return stream_refuse(err, "sort", limit, keys + offsets,
                         "%zu keys of %zu segments, what goes with them and the offsets", q->n,
                         q->segments);
}

tsr_status sort_chunks_choose(const stream_room *limit, const problem *p, const selection *sel,
                              sort_chunks *out, tsr_error *err)
{
    const tsr_sort_problem *q = sort_of(p);
    const size_t rows = sort_rows(q), entries = rows * q->n;
    const bool holds = fits(q, rows, 1, limit);
    const bool large = entries >= STREAMED_MIN / sort_entry_bytes(q);
    tsr_status st = TSR_OK;

    *out = (sort_chunks){SORT_AT_ONCE, 0};
    if (!entries || (holds && !large && !limit->told))
        return TSR_OK;
    if (q->segments)
        return choose_segments(q, holds, limit, err);
    if (holds && rows == 1) {
        if (sel->variant->arrives || sel->variant->arriving_step)
            out->way = SORT_ARRIVING;
        return TSR_OK;
    }
    /* Few rows, of which not one fits in each slot, but all at once. */
    if (holds && (!large || !fits(q, 1, PIPELINE_SLOTS, limit)))
        return TSR_OK;
    if (rows > 1)
        st = choose_rows(q, limit, out, err);
    else if (!q->argsort && !q->value_bytes)
        out->way = SORT_EXCHANGE;
    else if (limit->told)
        st = stream_refuse(err, "sort", limit, q->n * sort_entry_bytes(q),
                           "%zu keys and what goes with them", q->n);
    if (!st && out->way == SORT_EXCHANGE)
        st = choose_exchange(q, limit, out, err);
    return st;
}

size_t sort_chunks_pieces(const tsr_sort_problem *q, const sort_chunks *chunks)
{
    size_t count = SIZE_MAX;

    if (chunks->way == SORT_ROWS)
        return size_div_up(sort_rows(q), chunks->count);
    size_mul(sort_rows(q), sort_exchange_pairs(size_div_up(q->n, chunks->count)), &count);
    return count;
}

/* ---- running ------------------------------------------------------------------------------- */

problem sort_piece(const tsr_sort_problem *whole, size_t rows, size_t n)
{
    problem p = sort_problem(*whole);

    sort_in(&p)->n = n;
    sort_in(&p)->rows = rows;
    sort_in(&p)->offset_keys = sort_in(&p)->offset_index = sort_in(&p)->offset_values = 0;
    return p;
}

static unsigned char *start_of(void *array, size_t offset, size_t element)
{
    return array ? (unsigned char *)array + offset * element : NULL;
}

tsr_status sort_chunks_run(const stream_call *call, const sort_chunks *chunks, tsr_error *err)
{
    const tsr_sort_problem *q = sort_of(call->problem);
    void *const *operands = call->operands;
    sort_call c = {
        .pieces = {.call = call},
        .whole = q,
        .element = {tsr_type_size(q->type), q->argsort ? sizeof(int64_t) : 0, q->value_bytes}};
    tsr_status st;

    c.array[SORT_KEYS] = start_of(operands[SORT_KEYS], q->offset_keys, c.element[SORT_KEYS]);
    if (q->argsort)
        c.array[SORT_INDEX] = start_of(operands[SORT_INDEX], q->offset_index, sizeof(int64_t));
    if (q->value_bytes)
        c.array[SORT_VALUES] = start_of(operands[SORT_VALUES], q->offset_values, q->value_bytes);
    if (chunks->way == SORT_ARRIVING)
        st = sort_arriving_run(&c, err);
    else if (chunks->way == SORT_ROWS)
        st = sort_rows_run(&c, chunks->count, err);
    else
        st = sort_exchange_run(&c, chunks->count, err);
    return pieces_close(&c.pieces, st, err);
}
