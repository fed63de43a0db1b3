#include "ops/matmul/matmul_slabs.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "core/registry.h"
#include "ops/matmul/matmul_lines.h"
#include "ops/matmul/matmul_shape.h"
#include "stream/pieces.h"

enum {
    STRIP_STEP = 128, /* kernels take whole tiles of their own best */
    SLAB_STEP = 64,
    SLABBED_MIN = 4096 /* m n / (m + n) from which products take longer than the copies in */
};

/* ---- choosing ------------------------------------------------------------------------------ */

/* A sixteenth, a multiple where it is more than one. */
static size_t part_of(size_t n, size_t multiple)
{
    const size_t part = size_div_up(n, PIECES_WANTED);

    return part > multiple ? size_min(size_round_up(part, multiple), n) : part;
}

/* Whether C may be added up slab by slab: it is not read, and has the type of the sums. */
static bool adds_up(const tsr_matmul_problem *q)
{
    const tsr_type c = matmul_type_c(q);

    return q->beta == 0 && (c == TSR_F32 || c == TSR_F64);
}

/* Whether products take longer than copies: rounded factors are multiplied too fast for that. */
static bool computes_longer(const tsr_matmul_problem *q)
{
    return (q->type == TSR_F32 || q->type == TSR_F64) &&
           (q->precision == TSR_PRECISION_DEFAULT || q->precision == TSR_PRECISION_F32 ||
            q->precision == TSR_PRECISION_F32_STRICT || q->precision == TSR_PRECISION_F64) &&
           (double)q->m * (double)q->n >= SLABBED_MIN * ((double)q->m + (double)q->n);
}

/* Of an operand without gaps, as the device has it. */
static size_t dense_bytes(const tsr_matmul_problem *q, size_t which)
{
    const size_t elements[] = {q->m * q->k, q->k * q->n, q->m * q->n};

    return elements[which] * tsr_type_size(which == MATMUL_C ? matmul_type_c(q) : q->type);
}

void matmul_slabs_choose(const stream_budget *budget, const problem *p, bool streams,
                         matmul_slabs *out)
{
    const tsr_matmul_problem *q = matmul_of(p);
    operand o[MATMUL_OPERANDS];
    size_t bytes = 0, dense = 0;
    bool large;

    *out = (matmul_slabs){0, 0};
    if (q->alpha == 0 || !q->m || !q->n || !q->k || q->batch > 1)
        return;
    for (size_t i = 0, n = p->op->operands(p, o); i < n; i++)
        bytes += o[i].bytes; /* the device holds them */
    for (size_t i = 0; i < MATMUL_OPERANDS; i++)
        dense += dense_bytes(q, i);
    large = bytes >= STREAMED_MIN;
    if (!large && !budget->limited && !streams)
        return;
    if (streams && !budget->limited && dense < PIECE_MIN) {
        *out = (matmul_slabs){q->k, q->m};
        return;
    }
    out->strip = part_of(q->m, large ? STRIP_STEP : 1);
    out->first =
        adds_up(q) && (computes_longer(q) || !large) ? part_of(q->k, large ? SLAB_STEP : 1) : q->k;
}

size_t matmul_slab_length(const matmul_slabs *s, size_t k, size_t at)
{
    size_t length = s->first, begin = 0;

    while (begin < at) {
        begin += length;
        length += size_div_up(length, 2);
    }
    return at >= size_div_up(k, 2) || length >= k - at ? k - at : length;
}

size_t matmul_slabs_count(const tsr_matmul_problem *q, const matmul_slabs *s)
{
    size_t count = size_div_up(q->m, s->strip), length;

    for (size_t at = 0; (length = matmul_slab_length(s, q->k, at)) < q->k - at; at += length)
        count++;
    return count;
}

/* ---- running ------------------------------------------------------------------------------- */

/* Rows of C that are computed and not yet on the host. */
typedef struct computed {
    size_t i, m; /* 0 rows: there are none */
    cl_event done;
} computed;

/* One call in progress.  The device has each slab, of op(A) each strip of the last one, and C
 * without gaps, one behind another. */
typedef struct slabbing {
    pieces pieces;
    const tsr_matmul_problem *whole;
    const matmul_slabs *slabs;
    void *const *host; /* A, B and C */
    copies *copies;
    cl_mem buffer[MATMUL_OPERANDS];
    size_t bytes[MATMUL_OPERANDS];
    cl_event sent[MATMUL_OPERANDS]; /* the last copy of each; NULL: none yet */
    computed before;
} slabbing;

/* The product of rows from i on with a slab; its operands are at these offsets, in elements. */
static problem piece_problem(const tsr_matmul_problem *q, size_t i, size_t m, size_t at, size_t k)
{
    problem p = matmul_problem(*q);

    matmul_in(&p)->m = m;
    matmul_in(&p)->k = k;
    matmul_in(&p)->lda = matmul_in(&p)->ldb = matmul_in(&p)->ldc = 0;
    matmul_in(&p)->offset_a = q->m * at + i * k;
    matmul_in(&p)->offset_b = q->n * at;
    matmul_in(&p)->offset_c = i * q->n;
    matmul_in(&p)->batch = 0;
    if (at)
        matmul_in(&p)->beta = 1;
    return p;
}

static bool is_last(const slabbing *t, size_t at, size_t k)
{
    return at + k == t->whole->k;
}

/* Every shape of a piece, so that each can be run is known before C is written. */
static tsr_status prepare(slabbing *t, tsr_error *err)
{
    const tsr_matmul_problem *q = t->whole;
    tsr_status st = TSR_OK;

    for (size_t at = 0, k; at < q->k && !st; at += k) {
        const size_t strip = t->slabs->strip, rest = q->m % strip;
        problem p;

        k = matmul_slab_length(t->slabs, q->k, at);
        p = piece_problem(q, 0, is_last(t, at, k) ? strip : q->m, at, k);
        st = pieces_prepare(&t->pieces, &p, err);
        if (st || !is_last(t, at, k) || !rest)
            continue;
        p = piece_problem(q, q->m - rest, rest, at, k);
        st = pieces_prepare(&t->pieces, &p, err);
    }
    return st;
}

static tsr_status make_buffers(slabbing *t, tsr_error *err)
{
    static const char *const names[] = {"A", "B", "C"};
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < MATMUL_OPERANDS && !st; i++) {
        t->bytes[i] = dense_bytes(t->whole, i);
        st = copies_buffer(t->copies, names[i], t->bytes[i], &t->buffer[i], err);
    }
    return st;
}

/* Lines of an operand to where they are on the device, in elements. */
static tsr_status send(slabbing *t, size_t which, const host_rows *from, size_t offset,
                       tsr_error *err)
{
    const tsr_matmul_problem *q = t->whole;
    const size_t size = tsr_type_size(which == MATMUL_C ? matmul_type_c(q) : q->type);
    const uint64_t start = clock_ns();
    cl_event sent = NULL;
    tsr_status st = copies_in(t->copies, from, (device_place){t->buffer[which], offset * size},
                              NULL, &sent, err);

    if (sent && t->sent[which])
        clReleaseEvent(t->sent[which]);
    if (sent)
        t->sent[which] = sent;
    t->pieces.call->report->to_device_bytes += from->count * from->bytes;
    t->pieces.call->report->to_device_ns += clock_ns() - start;
    return st;
}

/* Rows from i on of a slab of op(A), with those of C where they are read, and their product. */
static tsr_status run_rows(slabbing *t, size_t i, size_t m, size_t at, size_t k, tsr_error *err)
{
    const tsr_matmul_problem *q = t->whole;
    const problem p = piece_problem(q, i, m, at, k);
    const host_rows a = matmul_rows_a(q, t->host[MATMUL_A], i, m, at, k);
    const host_rows c = matmul_rows_c(q, t->host[MATMUL_C], i, m, 0, q->n);
    cl_event wait[MATMUL_OPERANDS];
    cl_uint n_wait = 0;
    tsr_status st = send(t, MATMUL_A, &a, matmul_of(&p)->offset_a, err);

    if (!st && q->beta != 0)
        st = send(t, MATMUL_C, &c, matmul_of(&p)->offset_c, err);
    for (size_t o = 0; o < MATMUL_OPERANDS; o++)
        if (t->sent[o])
            wait[n_wait++] = t->sent[o];
    if (!st)
        st = pieces_enqueue(&t->pieces, &p, t->buffer, &(call_ends){.n_wait = n_wait, .wait = wait},
                            err);
    t->pieces.call->report->chunks++;
    return st;
}

static tsr_status fetch_before(slabbing *t, tsr_error *err)
{
    const tsr_matmul_problem *q = t->whole;
    const computed *b = &t->before;
    const host_rows to = matmul_rows_c(q, t->host[MATMUL_C], b->i, b->m, 0, q->n);
    const device_place computed_c = {t->buffer[MATMUL_C],
                                     b->i * q->n * tsr_type_size(matmul_type_c(q))};
    const uint64_t start = clock_ns();
    tsr_status st = copies_out(t->copies, computed_c, b->done, &to, NULL, err);

    t->pieces.call->report->from_device_bytes += to.count * to.bytes;
    t->pieces.call->report->from_device_ns += clock_ns() - start;
    return st;
}

/* The rows that were computed before go to the host, behind them these are to. */
static tsr_status pass_on(slabbing *t, size_t i, size_t m, tsr_error *err)
{
    tsr_status st = t->before.m ? fetch_before(t, err) : TSR_OK;

    if (t->before.done)
        clReleaseEvent(t->before.done);
    t->before = (computed){i, m, m ? t->pieces.last : NULL};
    if (m)
        clRetainEvent(t->pieces.last);
    return st;
}

/* The last slab, strip by strip. */
static tsr_status run_strips(slabbing *t, size_t at, size_t k, tsr_error *err)
{
    const size_t all = t->whole->m;
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < all && !st; i += t->slabs->strip) {
        const size_t m = size_min(t->slabs->strip, all - i);

        st = run_rows(t, i, m, at, k, err);
        st = st ? st : pass_on(t, i, m, err);
    }
    return st ? st : pass_on(t, 0, 0, err);
}

static tsr_status run_slabs(slabbing *t, tsr_error *err)
{
    const tsr_matmul_problem *q = t->whole;
    uint64_t start;
    tsr_status st = TSR_OK;

    for (size_t at = 0, k; at < q->k && !st; at += k) {
        host_rows b;

        k = matmul_slab_length(t->slabs, q->k, at);
        b = matmul_rows_b(q, t->host[MATMUL_B], at, k, 0, q->n);
        st = send(t, MATMUL_B, &b, q->n * at, err);
        if (!st)
            st = is_last(t, at, k) ? run_strips(t, at, k, err) : run_rows(t, 0, q->m, at, k, err);
    }
    start = clock_ns();
    st = st ? st : copies_wait(t->copies, err);
    t->pieces.call->report->from_device_ns += clock_ns() - start;
    return st ? st : pieces_outcome(&t->pieces, err);
}

static void release(slabbing *t)
{
    if (t->copies)
        copies_settle(t->copies);
    clFinish(t->pieces.call->session->queue);
    if (t->before.done)
        clReleaseEvent(t->before.done);
    for (size_t i = 0; i < MATMUL_OPERANDS; i++) {
        if (t->sent[i])
            clReleaseEvent(t->sent[i]);
        if (t->buffer[i])
            copies_keep(t->copies, t->buffer[i], t->bytes[i]);
    }
}

tsr_status matmul_slabs_run(const stream_call *call, const matmul_slabs *slabs, tsr_error *err)
{
    slabbing t = {.pieces = {.call = call},
                  .whole = matmul_of(call->problem),
                  .slabs = slabs,
                  .host = call->operands};
    tsr_status st = prepare(&t, err);

    st = st ? st : copies_of(call->session, &t.copies, err);
    st = st ? st : make_buffers(&t, err);
    st = st ? st : run_slabs(&t, err);
    release(&t);
    return pieces_close(&t.pieces, st, err);
}
