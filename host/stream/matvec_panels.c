#include "stream/matvec_panels.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "ops/registry.h"
#include "stream/pieces.h"
#include "stream/pipeline.h"

/* Bytes of a panel: long beside what a launch costs, short beside the whole, whose first panel
 * nothing hides. */
enum { PANEL_LEAST = 4 << 20, PANEL_MOST = 64 << 20, PANELS_WANTED = 16 };

static size_t leading(const tsr_matvec_problem *q)
{
    return q->lda ? q->lda : q->columns;
}

/* Of a row as it is sent. */
static size_t row_bytes(const tsr_matvec_problem *q)
{
    return q->columns * tsr_type_size(q->type);
}

tsr_status matvec_panel_rows(const tsr_session *s, const problem *p, size_t *rows, tsr_error *err)
{
    const tsr_matvec_problem *q = &p->matvec;
    const size_t row = row_bytes(q), bytes = q->rows * row;
    const size_t size = tsr_type_size(q->type), vectors = (q->rows + q->columns) * size;
    const device_facts *d = session_facts(s);
    const size_t most = (size_t)d->global_memory, allowed = s->host_calls_memory;
    const size_t limit = allowed ? size_min(allowed, most) : most;
    const bool fits = limit >= vectors && bytes <= limit - vectors;
    size_t panel;

    *rows = 0;
    if (q->alpha == 0 || bytes == 0 || (fits && bytes < PANELS_WANTED * (size_t)PANEL_LEAST))
        return TSR_OK;
    /* What no buffer holds is refused as it is in one piece. */
    if (size_max(size_max(q->rows, q->columns) * size, row) > d->max_allocation)
        return TSR_OK;
    if (limit < vectors + PIPELINE_SLOTS * row)
        return tsr_fail(err, TSR_EOVERFLOW, 0,
                        "matvec: x, y and %d rows of A need %zu bytes, and %zu are allowed",
                        (int)PIPELINE_SLOTS, vectors + PIPELINE_SLOTS * row, limit);
    panel = size_min(size_max(bytes / PANELS_WANTED, PANEL_LEAST), PANEL_MOST);
    panel = size_min(panel, (limit - vectors) / PIPELINE_SLOTS);
    panel = size_min(panel, (size_t)d->max_allocation);
    *rows = size_min(size_max(panel / row, 1), q->rows);
    return TSR_OK;
}

/* One call in progress. */
typedef struct panels {
    pieces pieces;
    const tsr_matvec_problem *whole;
    pipeline *pipeline;
    cl_mem x, y;
} panels;

static size_t y_elements(const tsr_matvec_problem *q)
{
    return q->trans ? q->columns : q->rows;
}

static size_t x_elements(const tsr_matvec_problem *q)
{
    return q->trans ? q->rows : q->columns;
}

/* A buffer with `count` elements of a host array from `offset` on; read where somebody needs it. */
static tsr_status make_vector(panels *v, const char *name, const void *array, size_t offset,
                              size_t count, bool reads, cl_mem *out, tsr_error *err)
{
    const size_t size = tsr_type_size(v->whole->type), bytes = count * size;
    cl_int rc;

    *out = clCreateBuffer(v->pieces.session->context, CL_MEM_READ_WRITE, bytes, NULL, &rc);
    if (!*out)
        return tsr_fail(err, TSR_ECL, rc, "matvec: clCreateBuffer(%s, %zu bytes)", name, bytes);
    if (!reads)
        return TSR_OK;
    rc = clEnqueueWriteBuffer(v->pieces.session->queue, *out, CL_TRUE, 0, bytes,
                              (const unsigned char *)array + offset * size, 0, NULL, NULL);
    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "matvec: copying %s to the device (%zu bytes)", name,
                        bytes);
    v->pieces.report->to_device_bytes += bytes;
    return TSR_OK;
}

/* The product of rows from `at` on, as many as a panel has. */
static problem panel_problem(const tsr_matvec_problem *q, size_t at, size_t rows)
{
    problem p = {.op = &operation_matvec, .matvec = *q};

    p.matvec.rows = rows;
    p.matvec.lda = 0; /* one follows another */
    p.matvec.offset_a = 0;
    p.matvec.offset_x = q->trans ? at : 0;
    p.matvec.offset_y = q->trans ? 0 : at;
    if (q->trans && at)
        p.matvec.beta = 1;
    return p;
}

/* Send rows from `at` on. */
static tsr_status send_rows(panels *v, const void *a, size_t at, size_t rows, cl_mem *slot,
                            cl_event *sent, tsr_error *err)
{
    const tsr_matvec_problem *q = v->whole;
    const size_t size = tsr_type_size(q->type), bytes = rows * row_bytes(q);
    const unsigned char *first = (const unsigned char *)a + (q->offset_a + at * leading(q)) * size;
    host_rows from = host_bytes(first, bytes);

    if (leading(q) != q->columns)
        from = (host_rows){from.at, rows, row_bytes(q), leading(q) * size};
    v->pieces.report->to_device_bytes += bytes;
    return pipeline_send(v->pipeline, &from, 0, slot, sent, err);
}

/* Send a panel, and enqueue its product behind it and the panel before. */
static tsr_status run_panel(panels *v, const void *a, size_t at, size_t rows, tsr_error *err)
{
    const problem p = panel_problem(v->whole, at, rows);
    cl_mem buffers[] = {NULL, v->x, v->y};
    cl_event sent;
    tsr_status st = send_rows(v, a, at, rows, &buffers[0], &sent, err);

    if (!st)
        st = pieces_enqueue(&v->pieces, &p, buffers, &(call_ends){.n_wait = 1, .wait = &sent}, err);
    if (st)
        return st;
    clRetainEvent(v->pieces.last);
    pipeline_worked(v->pipeline, v->pieces.last);
    return TSR_OK;
}

static tsr_status read_result(panels *v, void *y, tsr_error *err)
{
    const tsr_matvec_problem *q = v->whole;
    const size_t size = tsr_type_size(q->type), bytes = y_elements(q) * size;
    cl_int rc =
        clEnqueueReadBuffer(v->pieces.session->queue, v->y, CL_TRUE, 0, bytes,
                            (unsigned char *)y + q->offset_y * size, 1, &v->pieces.last, NULL);

    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "matvec: copying y from the device (%zu bytes)", bytes);
    v->pieces.report->from_device_bytes += bytes;
    return pieces_outcome(&v->pieces, err);
}

tsr_status matvec_panels_run(tsr_session *s, const problem *p, size_t rows, void *const operands[],
                             const tsr_run *run, selection *sel, tsr_report *report, tsr_error *err)
{
    const tsr_matvec_problem *q = &p->matvec;
    panels v = {.pieces = {.session = s,
                           .operation = p->op->name,
                           .run = run,
                           .selection = sel,
                           .report = report},
                .whole = q};
    const uint64_t start = clock_ns();
    tsr_status st = make_vector(&v, "x", operands[1], q->offset_x, x_elements(q), true, &v.x, err);

    if (!st)
        st = make_vector(&v, "y", operands[2], q->offset_y, y_elements(q), q->beta != 0, &v.y, err);
    if (!st)
        st = pipeline_open(s, PIPELINE_SLOTS, rows * row_bytes(q), &v.pipeline, err);
    for (size_t at = 0; at < q->rows && !st; at += rows, report->chunks++)
        st = run_panel(&v, operands[0], at, size_min(rows, q->rows - at), err);
    report->to_device_ns = clock_ns() - start;
    if (!st)
        st = read_result(&v, operands[2], err);
    pipeline_close(v.pipeline);
    if (v.x)
        clReleaseMemObject(v.x);
    if (v.y)
        clReleaseMemObject(v.y);
    return pieces_close(&v.pieces, st, err);
}
