#include "ops/matmul/matmul_tiles.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "core/registry.h"
#include "ops/matmul/matmul_lines.h"
#include "ops/matmul/matmul_shape.h"
#include "stream/pieces.h"
#include "stream/pipeline.h"

/* Slots of the panels of op(A), of the panel of op(B), and of the tiles of C: one is computed while
 * the one before comes back. */
enum { SLOTS_A = PIPELINE_SLOTS, SLOTS_B = 1, SLOTS_C = 2, STEP = 128 };

/* ---- choosing ------------------------------------------------------------------------------ */

/* Device memory of tiles of m x n. */
static bool bytes_of(const tsr_matmul_problem *q, size_t m, size_t n, size_t *out)
{
    const size_t size = tsr_type_size(q->type), size_c = tsr_type_size(matmul_type_c(q));
    size_t panels, tiles;

    return size_mul(m, SLOTS_A, &panels) && size_add(panels, n * SLOTS_B, &panels) &&
           size_mul(panels, q->k, &panels) && size_mul(panels, size, &panels) &&
           size_mul(m, n, &tiles) && size_mul(tiles, SLOTS_C * size_c, &tiles) &&
           size_add(panels, tiles, out);
}

static bool fits(const tsr_matmul_problem *q, size_t m, size_t n, const stream_budget *budget)
{
    const size_t size = tsr_type_size(q->type);
    size_t bytes;

    /* The whole is no more than size_t holds, and so is each. */
    return bytes_of(q, m, n, &bytes) && bytes <= budget->all &&
           size_max(m, n) * q->k * size <= budget->each &&
           m * n * tsr_type_size(matmul_type_c(q)) <= budget->each;
}

/* A multiple of STEP where it is beyond it: kernels take whole tiles of their own best. */
static size_t whole_steps(size_t n, size_t all)
{
    return n < all && n > STEP ? n / STEP * STEP : n;
}

tsr_status matmul_tiles_choose(const stream_budget *budget, const problem *p, matmul_tiles *out,
                               tsr_error *err)
{
    const tsr_matmul_problem *q = matmul_of(p);
    size_t low = 1, high = q->m, least = 0;

    *out = (matmul_tiles){0};
    if (q->alpha == 0 || q->k == 0 || q->m == 0 || q->n == 0 || q->batch > 1 ||
        stream_holds(budget, p))
        return TSR_OK;
    if (!fits(q, 1, 1, budget)) {
        bytes_of(q, 1, 1, &least);
        return stream_refuse(err, "matmul", budget, least, "%d rows of op(A) and a column of op(B)",
                             (int)SLOTS_A);
    }
    /* Panels of op(B) as wide as those of op(A) are together; then what room is left is op(B)'s,
     * which op(A) passes by once for each panel. */
    while (low < high) {
        const size_t m = low + (high - low + 1) / 2;

        if (fits(q, m, size_min(q->n, SLOTS_A * m), budget))
            low = m;
        else
            high = m - 1;
    }
    out->m = whole_steps(low, q->m);
    for (low = 1, high = q->n; low < high;) {
        const size_t n = low + (high - low + 1) / 2;

        if (fits(q, out->m, n, budget))
            low = n;
        else
            high = n - 1;
    }
    out->n = whole_steps(low, q->n);
    return TSR_OK;
}

/* ---- running ------------------------------------------------------------------------------- */

/* A tile of C that is computed and not yet on the host. */
typedef struct computed {
    cl_mem slot; /* NULL: there is none */
    size_t i, j, m, n;
} computed;

/* One call in progress. */
typedef struct tiling {
    pieces pieces;
    const tsr_matmul_problem *whole;
    const matmul_tiles *tiles;
    void *const *host; /* A, B and C */
    pipeline *panels_a, *panel_b, *tiles_c;
    cl_mem b_slot;
    cl_event b_sent; /* of the panel of op(B), borrowed */
    computed before;
} tiling;

/* The product of a tile, whose panels and C follow one another without gaps. */
static problem tile_problem(const tsr_matmul_problem *q, size_t m, size_t n)
{
    problem p = matmul_problem(*q);

    matmul_in(&p)->m = m;
    matmul_in(&p)->n = n;
    matmul_in(&p)->lda = matmul_in(&p)->ldb = matmul_in(&p)->ldc = 0;
    matmul_in(&p)->offset_a = matmul_in(&p)->offset_b = matmul_in(&p)->offset_c = 0;
    matmul_in(&p)->batch = 0;
    return p;
}

/* Tiles of up to four shapes, those at the edges among them. */
static tsr_status prepare(tiling *t, tsr_error *err)
{
    const tsr_matmul_problem *q = t->whole;
    const size_t m[] = {q->m % t->tiles->m, t->tiles->m}, n[] = {q->n % t->tiles->n, t->tiles->n};
    tsr_status st = TSR_OK;

    for (int shape = 0; shape < 4 && !st; shape++) {
        const problem p = tile_problem(q, m[shape / 2], n[shape % 2]);

        if (matmul_of(&p)->m && matmul_of(&p)->n)
            st = pieces_prepare(&t->pieces, &p, err);
    }
    return st;
}

static tsr_status open_pipelines(tiling *t, tsr_error *err)
{
    const tsr_matmul_problem *q = t->whole;
    const size_t line = q->k * tsr_type_size(q->type);
    const size_t tile = t->tiles->m * t->tiles->n * tsr_type_size(matmul_type_c(q));
    tsr_status st =
        pipeline_open(t->pieces.call->session, SLOTS_A, t->tiles->m * line, &t->panels_a, err);

    st = st ? st
            : pipeline_open(t->pieces.call->session, SLOTS_B, t->tiles->n * line, &t->panel_b, err);
    return st ? st : pipeline_open(t->pieces.call->session, SLOTS_C, tile, &t->tiles_c, err);
}

static host_rows c_rows(const tiling *t, const computed *tile)
{
    return matmul_rows_c(t->whole, t->host[MATMUL_C], tile->i, tile->m, tile->j, tile->n);
}

/* Rows from i on of op(A). */
static tsr_status send_a(tiling *t, size_t i, size_t m, cl_mem *slot, cl_event *sent,
                         tsr_error *err)
{
    const host_rows from = matmul_rows_a(t->whole, t->host[MATMUL_A], i, m, 0, t->whole->k);

    t->pieces.call->report->to_device_bytes += from.count * from.bytes;
    return pipeline_send(t->panels_a, &from, 0, slot, sent, err);
}

/* Columns from j on of op(B), once the last product with those before is done. */
static tsr_status send_b(tiling *t, size_t j, size_t n, tsr_error *err)
{
    const host_rows from = matmul_rows_b(t->whole, t->host[MATMUL_B], 0, t->whole->k, j, n);

    if (t->pieces.last)
        pipeline_worked(t->panel_b, t->pieces.last);
    t->pieces.call->report->to_device_bytes += from.count * from.bytes;
    return pipeline_send(t->panel_b, &from, 0, &t->b_slot, &t->b_sent, err);
}

/* A slot for a tile of C, with C in it where it is added. */
static tsr_status send_c(tiling *t, const computed *tile, cl_mem *slot, cl_event *sent,
                         tsr_error *err)
{
    host_rows from = c_rows(t, tile);

    if (t->whole->beta == 0)
        from.count = 0;
    t->pieces.call->report->to_device_bytes += from.count * from.bytes;
    return pipeline_send(t->tiles_c, &from, 0, slot, sent, err);
}

/* The tile that was computed before this one goes to the host. */
static tsr_status fetch_before(tiling *t, tsr_error *err)
{
    const computed *tile = &t->before;
    const host_rows to = c_rows(t, tile);
    const uint64_t start = clock_ns();
    tsr_status st;

    if (!tile->slot)
        return TSR_OK;
    st = pipeline_fetch(t->tiles_c, tile->slot, 0, &to, err);
    t->pieces.call->report->from_device_bytes += to.count * to.bytes;
    t->pieces.call->report->from_device_ns += clock_ns() - start;
    return st;
}

/* The last tile is on the host, and no product failed. */
static tsr_status finish(tiling *t, tsr_error *err)
{
    const tsr_status st = pipeline_wait(t->tiles_c, &t->pieces.call->report->from_device_ns, err);

    return st ? st : pieces_outcome(&t->pieces, err);
}

/* Send what a tile takes, enqueue its product, and fetch the tile before. */
static tsr_status run_tile(tiling *t, computed tile, tsr_error *err)
{
    const problem p = tile_problem(t->whole, tile.m, tile.n);
    cl_mem buffers[] = {NULL, t->b_slot, NULL};
    cl_event sent_c = NULL, wait[3];
    const uint64_t start = clock_ns();
    cl_uint n_wait = 2;
    tsr_status st = send_a(t, tile.i, tile.m, &buffers[0], &wait[0], err);

    st = st ? st : send_c(t, &tile, &buffers[2], &sent_c, err);
    t->pieces.call->report->to_device_ns += clock_ns() - start;
    wait[1] = t->b_sent;
    if (sent_c)
        wait[n_wait++] = sent_c;
    if (!st)
        st = pieces_enqueue(&t->pieces, &p, buffers, &(call_ends){.n_wait = n_wait, .wait = wait},
                            err);
    if (st)
        return st;
    t->pieces.call->report->chunks++;
    pipeline_worked(t->panels_a, t->pieces.last);
    pipeline_worked(t->tiles_c, t->pieces.last);
    st = fetch_before(t, err);
    tile.slot = buffers[2];
    t->before = tile;
    return st;
}

static tsr_status run_tiles(tiling *t, tsr_error *err)
{
    const tsr_matmul_problem *q = t->whole;
    tsr_status st = TSR_OK;

    for (size_t j = 0; j < q->n && !st; j += t->tiles->n) {
        const size_t n = size_min(t->tiles->n, q->n - j);
        const uint64_t start = clock_ns();

        st = send_b(t, j, n, err);
        t->pieces.call->report->to_device_ns += clock_ns() - start;
        for (size_t i = 0; i < q->m && !st; i += t->tiles->m)
            st = run_tile(
                t, (computed){.i = i, .j = j, .m = size_min(t->tiles->m, q->m - i), .n = n}, err);
    }
    st = st ? st : fetch_before(t, err);
    return st ? st : finish(t, err);
}

tsr_status matmul_tiles_run(const stream_call *call, const matmul_tiles *tiles, tsr_error *err)
{
    tiling t = {.pieces = {.call = call},
                .whole = matmul_of(call->problem),
                .tiles = tiles,
                .host = call->operands};
    tsr_status st = prepare(&t, err);

    st = st ? st : open_pipelines(&t, err);
    st = st ? st : run_tiles(&t, err);
    pipeline_close(t.panels_a);
    pipeline_close(t.panel_b);
    pipeline_close(t.tiles_c);
    return pieces_close(&t.pieces, st, err);
}
