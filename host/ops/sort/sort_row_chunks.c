#include "base/clock.h"
#include "base/sizes.h"
#include "stream/pipeline.h"
#include "ops/sort/sort_call.h"

/* Rows that are sorted and not yet on the host. */
typedef struct sorted {
    cl_mem slot[SORT_OPERANDS];
    size_t at, rows; /* 0 rows: there are none */
} sorted;

typedef struct row_chunks {
    sort_call *call;
    pipeline *operand[SORT_OPERANDS]; /* NULL: there is none */
    sorted before;
} row_chunks;

/* An operand of rows from `at` on. */
static host_rows operand_rows(const sort_call *c, size_t which, size_t at, size_t rows)
{
    const size_t row = c->whole->n * c->element[which];

    return host_bytes(c->array[which] + at * row, rows * row);
}

/* The rows that were sorted before these go to the host. */
static tsr_status fetch_before(row_chunks *r, tsr_error *err)
{
    sort_call *c = r->call;
    const uint64_t start = clock_ns();
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < SORT_OPERANDS && r->before.rows && !st; i++) {
        host_rows to;

        if (!r->operand[i])
            continue;
        to = operand_rows(c, i, r->before.at, r->before.rows);
        c->pieces.call->report->from_device_bytes += to.bytes;
        st = pipeline_fetch(r->operand[i], r->before.slot[i], 0, &to, err);
    }
    c->pieces.call->report->from_device_ns += clock_ns() - start;
    return st;
}

/* Slots for rows from `at` on, with what is read of them. */
static tsr_status send(row_chunks *r, sorted *s, cl_event wait[SORT_OPERANDS], cl_uint *n_wait,
                       tsr_error *err)
{
    sort_call *c = r->call;
    const uint64_t start = clock_ns();
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < SORT_OPERANDS && !st; i++) {
        cl_event sent = NULL;
        host_rows from;

        if (!r->operand[i])
            continue;
        from = operand_rows(c, i, s->at, s->rows);
        if (i == SORT_INDEX)
            from.count = 0;
        c->pieces.call->report->to_device_bytes += from.count * from.bytes;
        st = pipeline_send(r->operand[i], &from, 0, &s->slot[i], &sent, err);
        if (sent)
            wait[(*n_wait)++] = sent;
    }
    c->pieces.call->report->to_device_ns += clock_ns() - start;
    return st;
}

/* Send rows, enqueue their sort, and fetch those before. */
static tsr_status run_chunk(row_chunks *r, size_t at, size_t rows, tsr_error *err)
{
    sort_call *c = r->call;
    const problem p = sort_piece(c->whole, rows, c->whole->n);
    sorted now = {.at = at, .rows = rows};
    cl_event wait[SORT_OPERANDS];
    cl_uint n_wait = 0;
    tsr_status st = send(r, &now, wait, &n_wait, err);

    if (!st)
        st = pieces_enqueue(&c->pieces, &p, now.slot, &(call_ends){.n_wait = n_wait, .wait = wait},
                            err);
    for (size_t i = 0; i < SORT_OPERANDS && !st; i++)
        if (r->operand[i])
            pipeline_worked(r->operand[i], c->pieces.last);
    c->pieces.call->report->chunks++;
    st = st ? st : fetch_before(r, err);
    r->before = now;
    return st;
}

static tsr_status open(row_chunks *r, size_t rows, tsr_error *err)
{
    sort_call *c = r->call;
    const size_t rest = sort_rows(c->whole) % rows;
    problem p = sort_piece(c->whole, rows, c->whole->n);
    tsr_status st = pieces_prepare(&c->pieces, &p, err);

    if (!st && rest) {
        p = sort_piece(c->whole, rest, c->whole->n);
        st = pieces_prepare(&c->pieces, &p, err);
    }
    for (size_t i = 0; i < SORT_OPERANDS && !st; i++)
        if (c->array[i])
            st = pipeline_open(c->pieces.call->session, PIPELINE_SLOTS,
                               rows * c->whole->n * c->element[i], &r->operand[i], err);
    return st;
}

tsr_status sort_rows_run(sort_call *c, size_t rows, tsr_error *err)
{
    const size_t all = sort_rows(c->whole);
    row_chunks r = {.call = c};
    tsr_status st = open(&r, rows, err);

    for (size_t at = 0; at < all && !st; at += rows)
        st = run_chunk(&r, at, size_min(rows, all - at), err);
    st = st ? st : fetch_before(&r, err);
    st =
        st ? st : pipeline_wait(r.operand[SORT_KEYS], &c->pieces.call->report->from_device_ns, err);
    st = st ? st : pieces_outcome(&c->pieces, err);
    for (size_t i = 0; i < SORT_OPERANDS; i++)
        pipeline_close(r.operand[i]);
    return st;
}
