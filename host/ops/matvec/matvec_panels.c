#include "ops/matvec/matvec_panels.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "core/registry.h"
#include "ops/matvec/matvec_shape.h"
#include "stream/pieces.h"
#include "stream/pipeline.h"

/* Of a line as it is sent. */
static size_t line_bytes(const tsr_matvec_problem *q)
{
    return q->columns * tsr_type_size(q->type);
}

/* Whether y comes to the device by a copy in the type of its sums: where its elements lie apart,
 * and where every panel adds to results of 16 bits, which are rounded once. */
static bool stages_y(const tsr_matvec_problem *q)
{
    return matvec_incy(q) != 1 || (q->trans && matvec_type_y(q) != real_sums(q->type));
}

/* Of x of a product as the device has it, without gaps. */
static size_t x_bytes(const tsr_matvec_problem *q)
{
    const view x = matvec_x(q);

    return x.lines * x.length * tsr_type_size(x.type);
}

static size_t y_bytes(const tsr_matvec_problem *q)
{
    const view y = matvec_y(q);

    return y.lines * y.length * tsr_type_size(stages_y(q) ? real_sums(y.type) : y.type);
}

/* Vectors of so many products. */
static size_t all_x_bytes(const tsr_matvec_problem *q, size_t products)
{
    return size_min(matvec_x(q).count, products) * x_bytes(q);
}

static size_t vectors_bytes(const tsr_matvec_problem *q, size_t products)
{
    return all_x_bytes(q, products) + products * y_bytes(q);
}

/* ---- choosing ------------------------------------------------------------------------------ */

/* Products of a pass: those of one matrix, as far as their vectors take half of the room and leave
 * a line to each slot. */
static size_t products_of(const tsr_matvec_problem *q, const stream_budget *budget)
{
    const size_t each = x_bytes(q) + y_bytes(q), most = size_max(x_bytes(q), y_bytes(q));
    const size_t lines = PIPELINE_SLOTS * line_bytes(q);
    const size_t left = budget->all > lines ? size_min(budget->all / 2, budget->all - lines) : 0;
    const size_t count = size_min(left / each, budget->each / most);

    return matvec_a(q).count == 1 ? size_min(size_max(count, 1), matvec_batch(q)) : 1;
}

/* Whether there is room for all at once, and what that hides is no more than a launch costs: too
 * little is copied, or in products that are too short for pieces of their own. */
static bool goes_at_once(const tsr_matvec_problem *q, size_t bytes, bool holds)
{
    const size_t matrices = matvec_a(q).count;

    return holds &&
           (bytes < STREAMED_MIN || (matrices > 1 && bytes / matrices < (size_t)PIECE_MIN));
}

tsr_status matvec_panels_choose(const stream_budget *budget, const problem *p, matvec_panels *out,
                                tsr_error *err)
{
    const tsr_matvec_problem *q = matvec_of(p);
    const size_t line = line_bytes(q), bytes = matvec_a(q).count * q->rows * line;
    const bool holds = stream_holds(budget, p);
    matvec_panels how = {.slots = 1};
    size_t vectors, slot;

    *out = (matvec_panels){0, 0, 0};
    if (matvec_view_of(q).columns == 0 || bytes == 0 || goes_at_once(q, bytes, holds))
        return TSR_OK;
    /* What no buffer holds is refused as it is in one piece. */
    if (size_max(size_max(x_bytes(q), y_bytes(q)), line) > budget->each)
        return TSR_OK;
    how.products = products_of(q, budget);
    vectors = vectors_bytes(q, how.products);
    if (how.products < matvec_batch(q) && budget->all / 2 >= vectors &&
        budget->all - 2 * vectors >= PIPELINE_SLOTS * line)
        how.slots = 2;
    slot = budget->all >= how.slots * vectors ? (budget->all - how.slots * vectors) / PIPELINE_SLOTS
                                              : 0;
    if (slot < line && (holds || !budget->limited))
        return TSR_OK; /* few long lines; what the device does not hold is refused in one piece */
    if (slot < line)
        return stream_refuse(err, "matvec", budget, vectors + PIPELINE_SLOTS * line,
                             "x, y and %d lines of A", (int)PIPELINE_SLOTS);
    slot = stream_piece_bytes(bytes, size_min(slot, budget->each));
    how.lines = size_min(size_max(slot / line, 1), q->rows);
    *out = how;
    return TSR_OK;
}

size_t matvec_panels_count(const tsr_matvec_problem *q, const matvec_panels *how)
{
    size_t count;

    return size_mul(size_div_up(q->rows, how->lines), size_div_up(matvec_batch(q), how->products),
                    &count)
               ? count
               : SIZE_MAX;
}

/* ---- running ------------------------------------------------------------------------------- */

/* What a slot was filled with. */
typedef struct filled {
    cl_mem slot;   /* NULL: nothing yet */
    cl_event sent; /* borrowed; or NULL */
} filled;

/* Products of a pass. */
typedef struct pass {
    size_t first, count;
    filled y; /* where their results are */
} pass;

/* One call in progress. */
typedef struct panels {
    pieces pieces;
    const tsr_matvec_problem *whole;
    const matvec_panels *how;
    void *const *host; /* A, x and y */
    pipeline *a, *x, *y;
    filled x_now; /* of the pass */
    void *staged; /* y of a product without gaps, or NULL where it is copied as it lies */
    pass before;  /* computed and not yet on the host */
} panels;

/* Lines of one vector or more in its array, from product `first` on. */
static host_rows vector_rows(const view *x, void *array, size_t first, size_t count)
{
    const size_t size = tsr_type_size(x->type);
    unsigned char *at = (unsigned char *)array + view_line(x, first, 0) * size;

    return x->lines == 1 ? (host_rows){at, count, x->length * size, x->stride * size}
                         : (host_rows){at, x->lines, size, x->ld * size};
}

/* Vectors that one copy takes: those whose elements follow one another. */
static size_t copied_at_once(const view *x, size_t count)
{
    return x->lines == 1 && x->stride >= x->length ? count : 1;
}

static tsr_status send(panels *v, pipeline *to, const host_rows *from, size_t offset, filled *out,
                       tsr_error *err)
{
    const uint64_t start = clock_ns();
    const tsr_status st = pipeline_send(to, from, offset, &out->slot, &out->sent, err);

    v->pieces.call->report->to_device_bytes += from->count * from->bytes;
    v->pieces.call->report->to_device_ns += clock_ns() - start;
    return st;
}

/* x of a pass; one that all products share stays. */
static tsr_status send_x(panels *v, const pass *now, tsr_error *err)
{
    const view x = matvec_x(v->whole);
    const size_t count = size_min(x.count, now->count), each = copied_at_once(&x, count);
    tsr_status st = TSR_OK;

    if (x.count == 1 && v->x_now.slot)
        return TSR_OK;
    for (size_t i = 0; i < count && !st; i += each) {
        const host_rows from = vector_rows(&x, v->host[MATVEC_X], now->first + i, each);

        st = send(v, v->x, &from, i * x_bytes(v->whole), &v->x_now, err);
    }
    return st;
}

/* y of product e, in its place in the slot, by a copy. */
static tsr_status send_staged(panels *v, pass *now, size_t e, tsr_error *err)
{
    const tsr_matvec_problem one = matvec_product(v->whole, e);
    const size_t bytes = y_bytes(v->whole);
    const view y = matvec_y(&one);
    void *copy = view_copy(&y, v->host[MATVEC_Y], TSR_PRECISION_DEFAULT);
    const host_rows from = host_bytes(copy, bytes);
    tsr_status st =
        copy ? send(v, v->y, &from, (e - now->first) * bytes, &now->y, err)
             : tsr_fail(err, TSR_ENOMEM, 0, "matvec: no memory for a copy of y (%zu bytes)", bytes);

    free(copy); /* it is no pinned memory, and so it is read when send returns */
    return st;
}

/* A slot for y of a pass, with y in it where it is read. */
static tsr_status send_y(panels *v, pass *now, tsr_error *err)
{
    const view y = matvec_y(v->whole);
    host_rows from = vector_rows(&y, v->host[MATVEC_Y], now->first, now->count);
    tsr_status st = TSR_OK;

    if (matvec_view_of(v->whole).beta != 0 && v->staged) {
        for (size_t i = 0; i < now->count && !st; i++)
            st = send_staged(v, now, now->first + i, err);
        return st;
    }
    if (matvec_view_of(v->whole).beta == 0)
        from.count = 0;
    return send(v, v->y, &from, 0, &now->y, err);
}

/* Results of product e out of a slot, rounded and spread. */
static tsr_status fetch_staged(panels *v, size_t e, tsr_error *err)
{
    const tsr_matvec_problem one = matvec_product(v->whole, e);
    const size_t bytes = y_bytes(v->whole);
    const host_rows to = host_bytes(v->staged, bytes);
    const view y = matvec_y(&one);
    const tsr_status st =
        pipeline_fetch(v->y, v->before.y.slot, (e - v->before.first) * bytes, &to, err);

    if (!st)
        view_put(&y, v->staged, v->host[MATVEC_Y]);
    return st;
}

static tsr_status fetch_before(panels *v, tsr_error *err)
{
    const pass *b = &v->before;
    const view y = matvec_y(v->whole);
    const host_rows to = vector_rows(&y, v->host[MATVEC_Y], b->first, b->count);
    const uint64_t start = clock_ns();
    tsr_status st = TSR_OK;

    if (!b->y.slot)
        return TSR_OK;
    if (!v->staged)
        st = pipeline_fetch(v->y, b->y.slot, 0, &to, err);
    for (size_t i = 0; v->staged && i < b->count && !st; i++)
        st = fetch_staged(v, b->first + i, err);
    v->pieces.call->report->from_device_bytes += b->count * y_bytes(v->whole);
    v->pieces.call->report->from_device_ns += clock_ns() - start;
    v->before.y.slot = NULL;
    return st;
}

/* The products of `count` lines from `at` on with the vectors of a pass. */
static problem panel_problem(const tsr_matvec_problem *q, size_t products, size_t at, size_t count)
{
    problem p = matvec_problem(*q);
    const view x = matvec_x(q), y = matvec_y(q);

    matvec_in(&p)->rows = count;
    matvec_in(&p)->lda = 0; /* one follows another */
    matvec_in(&p)->incx = matvec_in(&p)->incy = 1;
    matvec_in(&p)->y_f32 = q->y_f32 || (stages_y(q) && q->type != real_sums(q->type));
    matvec_in(&p)->offset_a = 0;
    matvec_in(&p)->offset_x = q->trans ? at : 0;
    matvec_in(&p)->offset_y = q->trans ? 0 : at;
    matvec_in(&p)->batch = products;
    matvec_in(&p)->stride_a = 0;
    matvec_in(&p)->stride_x = x.count == 1 ? 0 : x.lines * x.length;
    matvec_in(&p)->stride_y = y.lines * y.length;
    if (q->trans && at)
        matvec_in(&p)->beta = 1;
    return p;
}

/* Programs of the panels of a pass, and of what is left behind them. */
static tsr_status prepare_pass(panels *v, size_t products, tsr_error *err)
{
    const size_t rows = v->whole->rows, left = rows % v->how->lines;
    const problem panel = panel_problem(v->whole, products, 0, v->how->lines);
    tsr_status st = pieces_prepare(&v->pieces, &panel, err);

    if (!st && left) {
        const problem last = panel_problem(v->whole, products, rows - left, left);

        st = pieces_prepare(&v->pieces, &last, err);
    }
    return st;
}

static tsr_status prepare(panels *v, tsr_error *err)
{
    const size_t rest = matvec_batch(v->whole) % v->how->products;
    tsr_status st = prepare_pass(v, v->how->products, err);

    return st || !rest ? st : prepare_pass(v, rest, err);
}

static tsr_status open(panels *v, tsr_error *err)
{
    const tsr_matvec_problem *q = v->whole;
    tsr_session *s = v->pieces.call->session;
    const size_t products = v->how->products, slots = v->how->slots;
    const size_t panel = v->how->lines * line_bytes(q);
    tsr_status st =
        pipeline_open(s, matvec_x(q).count == 1 ? 1 : slots, all_x_bytes(q, products), &v->x, err);

    st = st ? st : pipeline_open(s, slots, products * y_bytes(q), &v->y, err);
    st = st ? st : pipeline_open(s, PIPELINE_SLOTS, panel, &v->a, err);
    if (st || !stages_y(q))
        return st;
    v->staged = malloc(y_bytes(q));
    return v->staged ? TSR_OK
                     : tsr_fail(err, TSR_ENOMEM, 0, "matvec: no memory for a copy of y (%zu bytes)",
                                y_bytes(q));
}

/* Send `count` lines from `at` on of the matrix of product e. */
static tsr_status send_lines(panels *v, size_t e, size_t at, size_t count, filled *out,
                             tsr_error *err)
{
    const view a = matvec_a(v->whole);
    const size_t size = tsr_type_size(a.type);
    unsigned char *first = (unsigned char *)v->host[MATVEC_A] + view_line(&a, e, at) * size;
    const host_rows from = a.ld == a.length
                               ? host_bytes(first, count * line_bytes(v->whole))
                               : (host_rows){first, count, a.length * size, a.ld * size};

    return send(v, v->a, &from, 0, out, err);
}

/* Send a panel, and enqueue its products behind it and the panel before. */
static tsr_status run_panel(panels *v, const pass *now, size_t at, size_t count, tsr_error *err)
{
    const problem p = panel_problem(v->whole, now->count, at, count);
    filled in[] = {{NULL, NULL}, v->x_now, now->y};
    cl_mem buffers[3];
    cl_event wait[3];
    cl_uint n_wait = 0;
    tsr_status st = send_lines(v, now->first, at, count, &in[MATVEC_A], err);

    for (size_t i = 0; i < 3; i++) {
        buffers[i] = in[i].slot;
        if (in[i].sent)
            wait[n_wait++] = in[i].sent;
    }
    if (!st)
        st = pieces_enqueue(&v->pieces, &p, buffers, &(call_ends){.n_wait = n_wait, .wait = wait},
                            err);
    if (st)
        return st;
    pipeline_worked(v->a, v->pieces.last);
    v->pieces.call->report->chunks++;
    return TSR_OK;
}

/* The pass before comes back while this one is computed, where there is a slot for both. */
static tsr_status run_pass(panels *v, pass now, tsr_error *err)
{
    const tsr_matvec_problem *q = v->whole;
    tsr_status st = v->how->slots == 1 ? fetch_before(v, err) : TSR_OK;

    st = st ? st : send_x(v, &now, err);
    st = st ? st : send_y(v, &now, err);
    for (size_t at = 0; at < q->rows && !st; at += v->how->lines) {
        st = run_panel(v, &now, at, size_min(v->how->lines, q->rows - at), err);
        st = st ? st : fetch_before(v, err);
    }
    if (st)
        return st;
    if (matvec_x(q).count > 1)
        pipeline_worked(v->x, v->pieces.last);
    pipeline_worked(v->y, v->pieces.last);
    v->before = now;
    return TSR_OK;
}

tsr_status matvec_panels_run(const stream_call *call, const matvec_panels *how, tsr_error *err)
{
    const tsr_matvec_problem *q = matvec_of(call->problem);
    const size_t batch = matvec_batch(q);
    panels v = {.pieces = {.call = call}, .whole = q, .how = how, .host = call->operands};
    tsr_status st = prepare(&v, err);

    st = st ? st : open(&v, err);
    for (size_t e = 0; e < batch && !st; e += how->products)
        st = run_pass(&v, (pass){e, size_min(how->products, batch - e), {NULL, NULL}}, err);
    st = st ? st : fetch_before(&v, err);
    st = st ? st : pipeline_wait(v.y, &call->report->from_device_ns, err);
    st = st ? st : pieces_outcome(&v.pieces, err);
    pipeline_close(v.a);
    pipeline_close(v.x);
    pipeline_close(v.y);
    free(v.staged);
    return pieces_close(&v.pieces, st, err);
}
