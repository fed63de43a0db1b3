#include "stream/matvec_panels.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "ops/matvec_shape.h"
#include "ops/registry.h"
#include "stream/pieces.h"
#include "stream/pipeline.h"

/* Of a line as it is sent. */
static size_t line_bytes(const tsr_matvec_problem *q)
{
    return q->columns * tsr_type_size(q->type);
}

/* Whether y comes to the device as a copy without gaps, in the type of its sums: where its elements
 * lie apart, and where every panel adds to results of 16 bits, which are rounded once. */
static bool stages_y(const tsr_matvec_problem *q)
{
    return matvec_incy(q) != 1 || (q->trans && matvec_type_y(q) != real_sums(q->type));
}

static size_t x_bytes(const tsr_matvec_problem *q)
{
    const stored x = matvec_x(q);
    size_t span;

    stored_span(&x, &span); /* checked */
    return span * tsr_type_size(x.type);
}

static size_t y_bytes(const tsr_matvec_problem *q)
{
    const stored y = matvec_y(q);

    return y.lines * y.length * tsr_type_size(stages_y(q) ? real_sums(y.type) : y.type);
}

/* A batch is copied in one piece, if that is allowed. */
static tsr_status check_batch(const problem *p, const stream_room *room, tsr_error *err)
{
    operand o[OPERANDS_MAX];
    size_t total = 0;

    for (size_t i = 0, n = p->op->operands(p, o); i < n; i++)
        if (!size_add(total, o[i].bytes, &total))
            total = SIZE_MAX;
    if (!room->told || total <= room->all)
        return TSR_OK;
    return stream_refuse(err, "matvec", room, total, "the operands of a batch of %zu",
                         p->matvec.batch);
}

tsr_status matvec_panel_lines(const stream_room *room, const problem *p, size_t *lines,
                              tsr_error *err)
{
    const tsr_matvec_problem *q = &p->matvec;
    size_t line, bytes, vectors, slot;
    bool holds;

    *lines = 0;
    if (matvec_batch(q) > 1)
        return check_batch(p, room, err);
    line = line_bytes(q);
    bytes = q->rows * line;
    vectors = x_bytes(q) + y_bytes(q);
    holds = room->all >= vectors && bytes <= room->all - vectors;
    if (matvec_view_of(q).columns == 0 || bytes == 0 || (holds && bytes < STREAMED_LEAST))
        return TSR_OK;
    /* What no buffer holds is refused as it is in one piece. */
    if (size_max(size_max(x_bytes(q), y_bytes(q)), line) > room->each)
        return TSR_OK;
    slot = room->all >= vectors ? (room->all - vectors) / PIPELINE_SLOTS : 0;
    if (slot < line && (holds || !room->told))
        return TSR_OK; /* few long lines; what the device does not hold is refused in one piece */
    if (slot < line)
        return stream_refuse(err, "matvec", room, vectors + PIPELINE_SLOTS * line,
                             "x, y and %d lines of A", (int)PIPELINE_SLOTS);
    slot = stream_piece_bytes(bytes, size_min(slot, room->each));
    *lines = size_min(size_max(slot / line, 1), q->rows);
    return TSR_OK;
}

/* One call in progress. */
typedef struct panels {
    pieces pieces;
    const tsr_matvec_problem *whole;
    void *const *host; /* A, x and y */
    copies *copies;
    pipeline *pipeline;
    cl_mem x, y;
    void *staged; /* y without gaps, or NULL where it is copied as it lies */
} panels;

/* So many bytes of the host's into a buffer. */
static tsr_status send_vector(panels *v, const char *name, const void *from, size_t bytes,
                              cl_mem to, tsr_error *err)
{
    const uint64_t start = clock_ns();
    const cl_int rc = clEnqueueWriteBuffer(v->pieces.call->session->queue, to, CL_TRUE, 0, bytes,
                                           from, 0, NULL, NULL);

    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "matvec: copying %s to the device (%zu bytes)", name,
                        bytes);
    v->pieces.call->report->to_device_bytes += bytes;
    v->pieces.call->report->to_device_ns += clock_ns() - start;
    return TSR_OK;
}

/* Where y is copied from, and to. */
static void *y_at(const panels *v)
{
    const tsr_matvec_problem *q = v->whole;

    return v->staged
               ? v->staged
               : (unsigned char *)v->host[MATVEC_Y] + q->offset_y * tsr_type_size(matvec_type_y(q));
}

static tsr_status stage_y(panels *v, tsr_error *err)
{
    const tsr_matvec_problem *q = v->whole;
    const stored y = matvec_y(q);

    v->staged = matvec_view_of(q).beta == 0
                    ? malloc(y_bytes(q)) /* nobody reads it */
                    : stored_copy(&y, v->host[MATVEC_Y], TSR_PRECISION_DEFAULT);
    if (v->staged)
        return TSR_OK;
    return tsr_fail(err, TSR_ENOMEM, 0, "matvec: no memory for a copy of y (%zu bytes)",
                    y_bytes(q));
}

static tsr_status make_vectors(panels *v, tsr_error *err)
{
    const tsr_matvec_problem *q = v->whole;
    const unsigned char *x =
        (const unsigned char *)v->host[MATVEC_X] + q->offset_x * tsr_type_size(q->type);
    tsr_status st = copies_of(v->pieces.call->session, &v->copies, err);

    st = st ? st : copies_buffer(v->copies, "x", x_bytes(q), &v->x, err);
    st = st ? st : send_vector(v, "x", x, x_bytes(q), v->x, err);
    if (!st && stages_y(q))
        st = stage_y(v, err);
    st = st ? st : copies_buffer(v->copies, "y", y_bytes(q), &v->y, err);
    if (!st && matvec_view_of(q).beta != 0)
        st = send_vector(v, "y", y_at(v), y_bytes(q), v->y, err);
    return st;
}

/* The product of `count` lines from `at` on. */
static problem panel_problem(const tsr_matvec_problem *q, size_t at, size_t count)
{
    problem p = {.op = &operation_matvec, .matvec = *q};

    p.matvec.rows = count;
    p.matvec.lda = 0; /* one follows another */
    p.matvec.incy = 1;
    p.matvec.y_f32 = q->y_f32 || (stages_y(q) && q->type != real_sums(q->type));
    p.matvec.offset_a = 0;
    p.matvec.offset_x = q->trans ? at * matvec_incx(q) : 0;
    p.matvec.offset_y = q->trans ? 0 : at;
    if (q->trans && at)
        p.matvec.beta = 1;
    return p;
}

/* Programs of the panels, and of what is left behind them. */
static tsr_status prepare(panels *v, size_t lines, tsr_error *err)
{
    const size_t rows = v->whole->rows, left = rows % lines;
    const problem panel = panel_problem(v->whole, 0, size_min(lines, rows));
    tsr_status st = pieces_prepare(&v->pieces, &panel, err);

    if (!st && left) {
        const problem last = panel_problem(v->whole, rows - left, left);

        st = pieces_prepare(&v->pieces, &last, err);
    }
    return st;
}

/* Send `count` lines from `at` on. */
static tsr_status send_lines(panels *v, size_t at, size_t count, cl_mem *slot, cl_event *sent,
                             tsr_error *err)
{
    const tsr_matvec_problem *q = v->whole;
    const size_t size = tsr_type_size(q->type), pitch = matvec_lda(q) * size;
    const size_t bytes = count * line_bytes(q);
    const unsigned char *first =
        (const unsigned char *)v->host[MATVEC_A] + q->offset_a * size + at * pitch;
    const uint64_t start = clock_ns();
    host_rows from = host_bytes(first, bytes);
    tsr_status st;

    if (pitch != line_bytes(q))
        from = (host_rows){from.at, count, line_bytes(q), pitch};
    st = pipeline_send(v->pipeline, &from, 0, slot, sent, err);
    v->pieces.call->report->to_device_bytes += bytes;
    v->pieces.call->report->to_device_ns += clock_ns() - start;
    return st;
}

/* Send a panel, and enqueue its product behind it and the panel before. */
static tsr_status run_panel(panels *v, size_t at, size_t count, tsr_error *err)
{
    const problem p = panel_problem(v->whole, at, count);
    cl_mem buffers[] = {NULL, v->x, v->y};
    cl_event sent;
    tsr_status st = send_lines(v, at, count, &buffers[0], &sent, err);

    if (!st)
        st = pieces_enqueue(&v->pieces, &p, buffers, &(call_ends){.n_wait = 1, .wait = &sent}, err);
    if (st)
        return st;
    pipeline_worked(v->pipeline, v->pieces.last);
    return TSR_OK;
}

static tsr_status read_result(panels *v, tsr_error *err)
{
    const tsr_matvec_problem *q = v->whole;
    const size_t bytes = y_bytes(q);
    const stored to = matvec_y(q);
    const uint64_t start = clock_ns();
    tsr_status st;
    cl_int rc = clEnqueueReadBuffer(v->pieces.call->session->queue, v->y, CL_TRUE, 0, bytes,
                                    y_at(v), 1, &v->pieces.last, NULL);

    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "matvec: copying y from the device (%zu bytes)", bytes);
    st = pieces_outcome(&v->pieces, err);
    if (st)
        return st;
    if (v->staged)
        stored_put(&to, v->staged, v->host[MATVEC_Y]);
    v->pieces.call->report->from_device_bytes += bytes;
    v->pieces.call->report->from_device_ns += clock_ns() - start;
    return TSR_OK;
}

static void close_panels(panels *v)
{
    pipeline_close(v->pipeline);
    clFinish(v->pieces.call->session->queue); /* also where there is no pipeline yet */
    if (v->x)
        copies_keep(v->copies, v->x, x_bytes(v->whole));
    if (v->y)
        copies_keep(v->copies, v->y, y_bytes(v->whole));
    free(v->staged);
}

tsr_status matvec_panels_run(const stream_call *call, size_t lines, tsr_error *err)
{
    const tsr_matvec_problem *q = &call->problem->matvec;
    panels v = {.pieces = {.call = call}, .whole = q, .host = call->operands};
    tsr_status st = prepare(&v, lines, err);

    st = st ? st : make_vectors(&v, err);
    if (!st)
        st = pipeline_open(call->session, PIPELINE_SLOTS, lines * line_bytes(q), &v.pipeline, err);
    for (size_t at = 0; at < q->rows && !st; at += lines, call->report->chunks++)
        st = run_panel(&v, at, size_min(lines, q->rows - at), err);
    if (!st)
        st = read_result(&v, err);
    close_panels(&v);
    return pieces_close(&v.pieces, st, err);
}
