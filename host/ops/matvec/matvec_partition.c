#include "ops/matvec/matvec_descriptor.h"

#include <string.h>

#include "base/fail.h"
#include "base/scratch.h"
#include "base/sizes.h"
#include "ops/matvec/matvec_shape.h"
#include "stream/batches.h"
#include "stream/engine.h"

/* ---- groups of a batch ----------------------------------------------------------------------- */

static bool batch_of(const problem *p, batch *out)
{
    const tsr_matvec_problem *q = matvec_of(p);

    *out = (batch){.operand = {matvec_a(q), matvec_x(q), matvec_y(q)},
                   .count = matvec_batch(q),
                   .reads_result = q->beta != 0,
                   .comes_in_panels = true};
    return q->alpha != 0 && q->rows && q->columns;
}

static problem group_of(const problem *whole, size_t count)
{
    const view y = matvec_y(matvec_of(whole));
    problem p = *whole;

    matvec_in(&p)->batch = count;
    matvec_in(&p)->offset_a = matvec_in(&p)->offset_x = matvec_in(&p)->offset_y = 0;
    matvec_in(&p)->incy = 1;
    matvec_in(&p)->stride_y = y.lines * y.length;
    return p;
}

static const batch_form form = {batch_of, group_of};
static const partition_kind groups = {.name = "groups", .piece = batches_piece, .batches = &form};

/* ---- panels ---------------------------------------------------------------------------------- */

/* Matrices come in panels of LINES lines, each multiplied while the next is copied; problems are
 * normalized, so that lines are rows of A.  Each pass takes the vectors of PRODUCTS products, and
 * all panels of their matrix: a product where each has a matrix of its own.  A panel of op(A) = A
 * gives its rows of y; of op(A) = A^T each adds to all of y, in order, the first with beta; where y
 * has 16 bits in float32, which is rounded at the end. */
enum { LINES, PRODUCTS };

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

/* Vectors of `count` products, from `first` on, in their array. */
static host_rows vector_rows(const view *x, void *array, size_t first, size_t count)
{
    const size_t size = tsr_type_size(x->type);
    unsigned char *at = (unsigned char *)array + view_line(x, first, 0) * size;

    return x->lines == 1 ? (host_rows){at, count, x->length * size, x->stride * size, 0, 0}
                         : (host_rows){at, x->lines, size, x->ld * size, 0, 0};
}

/* The products of `count` lines from `at` on with the vectors of a pass. */
static problem panel_problem(const tsr_matvec_problem *q, size_t products, size_t at, size_t count)
{
    const view x = matvec_x(q), y = matvec_y(q);
    problem p = matvec_problem(*q);
    tsr_matvec_problem *one = matvec_in(&p);

    one->rows = count;
    one->lda = 0; /* one follows another */
    one->incx = one->incy = 1;
    one->y_f32 = q->y_f32 || (stages_y(q) && q->type != real_sums(q->type));
    one->offset_a = 0;
    one->offset_x = q->trans ? at : 0;
    one->offset_y = q->trans ? 0 : at;
    one->batch = products;
    one->stride_a = 0;
    one->stride_x = x.count == 1 ? 0 : x.lines * x.length;
    one->stride_y = y.lines * y.length;
    if (q->trans && at)
        one->beta = 1;
    return p;
}

/* Piece i: the panels of a pass, and so on for each pass. */
static void panels_piece(const partition *p, void *const host[], size_t i, piece *out)
{
    const tsr_matvec_problem *q = matvec_of(p->problem);
    const size_t panels = size_div_up(q->rows, p->cut[LINES]), pass = i / panels;
    const size_t at = i % panels * p->cut[LINES], count = size_min(p->cut[LINES], q->rows - at);
    const size_t first = pass * p->cut[PRODUCTS];
    const size_t products = size_min(p->cut[PRODUCTS], matvec_batch(q) - first);
    const view a = matvec_a(q), x = matvec_x(q), y = matvec_y(q);
    const size_t size = tsr_type_size(a.type), vectors = size_min(x.count, products);
    unsigned char *lines = (unsigned char *)host[MATVEC_A] + view_line(&a, first, at) * size;
    /* One copy takes vectors whose elements follow one another. */
    const bool at_once = x.lines == 1 && x.stride >= x.length;

    *out = (piece){.problem = panel_problem(q, products, at, count)};
    out->slice[MATVEC_A] = (slice){
        .slot = i,
        .rows = a.ld == a.length ? host_bytes(lines, count * line_bytes(q))
                                 : (host_rows){lines, count, a.length * size, a.ld * size, 0, 0},
        .blocks = 1,
        .in = true};
    out->slice[MATVEC_X] =
        (slice){.slot = x.count == 1 ? 0 : pass,
                .rows = vector_rows(&x, host[MATVEC_X], first, at_once ? vectors : 1),
                .blocks = at_once ? 1 : vectors,
                .step = x.stride * size,
                .in = true};
    out->slice[MATVEC_Y] = (slice){.slot = pass,
                                   .rows = vector_rows(&y, host[MATVEC_Y], first, products),
                                   .blocks = stages_y(q) ? products : 1,
                                   .in = matvec_view_of(q).beta != 0,
                                   .out = true};
}

/* y of a product, without gaps in the type of its sums. */
static tsr_status stage(const partition *p, staging direction, size_t which, const slice *s,
                        size_t b, void *array, void *block, tsr_error *err)
{
    const tsr_matvec_problem *q = matvec_of(p->problem);
    const tsr_matvec_problem one = matvec_product(q, s->slot * p->cut[PRODUCTS] + b);
    const view y = matvec_y(&one);
    void *copy;

    (void)which;
    if (direction == STAGE_OUT) {
        view_put(&y, block, array);
        return TSR_OK;
    }
    copy = view_copy(&y, array, TSR_PRECISION_DEFAULT);
    if (!copy)
        return tsr_fail(err, TSR_ENOMEM, 0, "matvec: no memory for a copy of y (%zu bytes)",
                        y_bytes(q));
    memcpy(block, copy, y_bytes(q));
    scratch_give(copy);
    return TSR_OK;
}

static const partition_kind in_panels = {.name = "panels", .piece = panels_piece, .stage = stage};

/* Products of a pass: those of one matrix, as far as their vectors take half of the budget and
 * leave a line to each slot. */
static size_t products_of(const tsr_matvec_problem *q, const stream_budget *budget)
{
    const size_t each = x_bytes(q) + y_bytes(q), most = size_max(x_bytes(q), y_bytes(q));
    const size_t lines = PARTITION_SLOTS_MAX * line_bytes(q);
    const size_t left = budget->all > lines ? size_min(budget->all / 2, budget->all - lines) : 0;
    const size_t count = size_min(left / each, budget->each / most);

    return matvec_a(q).count == 1 ? size_min(size_max(count, 1), matvec_batch(q)) : 1;
}

/* Whether the budget holds all at once, and what that hides is no more than a launch costs: too
 * little is copied, or in products that are too short for pieces of their own. */
static bool goes_at_once(const tsr_matvec_problem *q, size_t bytes, bool holds)
{
    const size_t matrices = matvec_a(q).count;

    return holds &&
           (bytes < STREAMED_MIN || (matrices > 1 && bytes / matrices < (size_t)PIECE_MIN));
}

/* Pieces, slots and shapes of panels of so many lines, whose vectors have so many slots. */
static void cut_panels(const tsr_matvec_problem *q, size_t lines, size_t products, size_t slots,
                       partition *out)
{
    const size_t panels = size_div_up(q->rows, lines);
    const size_t passes = size_div_up(matvec_batch(q), products);

    *out = (partition){.kind = &in_panels,
                       .pieces = SIZE_MAX,
                       .cut = {[LINES] = lines, [PRODUCTS] = products},
                       .slots = {{PARTITION_SLOTS_MAX, lines * line_bytes(q), 0},
                                 {matvec_x(q).count == 1 ? 1 : slots, all_x_bytes(q, products), 0},
                                 {slots, products * y_bytes(q), stages_y(q) ? y_bytes(q) : 0}}};
    if (!size_mul(panels, passes, &out->pieces))
        return; /* refused */
    for (size_t pass = 0; pass < passes; pass += size_max(passes - 1, 1)) {
        if (pass && matvec_batch(q) % products == 0)
            break;
        partition_add_shape(out, pass * panels);
        if (panels > 1)
            partition_add_shape(out, pass * panels + 1);
        if (panels > 2 && q->rows % lines)
            partition_add_shape(out, pass * panels + panels - 1);
    }
}

static tsr_status choose_panels(const stream_budget *budget, const problem *p, partition *out,
                                tsr_error *err)
{
    const tsr_matvec_problem *q = matvec_of(p);
    const size_t line = line_bytes(q), bytes = matvec_a(q).count * q->rows * line;
    const bool holds = stream_holds(budget, p);
    size_t products, vectors, slots = 1, slot;

    if (matvec_view_of(q).columns == 0 || bytes == 0 || goes_at_once(q, bytes, holds))
        return TSR_OK;
    /* What no buffer holds is refused as it is in one piece. */
    if (size_max(size_max(x_bytes(q), y_bytes(q)), line) > budget->each)
        return TSR_OK;
    products = products_of(q, budget);
    vectors = all_x_bytes(q, products) + products * y_bytes(q);
    if (products < matvec_batch(q) && budget->all / 2 >= vectors &&
        budget->all - 2 * vectors >= PARTITION_SLOTS_MAX * line)
        slots = 2; /* vectors of one pass come while those before are computed */
    slot =
        budget->all >= slots * vectors ? (budget->all - slots * vectors) / PARTITION_SLOTS_MAX : 0;
    if (slot < line && (holds || !budget->limited))
        return TSR_OK; /* few long lines; what the device does not hold is refused in one piece */
    if (slot < line)
        return stream_refuse(err, "matvec", budget, vectors + PARTITION_SLOTS_MAX * line,
                             "x, y and %d lines of A", (int)PARTITION_SLOTS_MAX);
    slot = stream_piece_bytes(bytes, size_min(slot, budget->each));
    cut_panels(q, size_min(size_max(slot / line, 1), q->rows), products, slots, out);
    return TSR_OK;
}

tsr_status matvec_partition(const problem *p, const selection *sel, const stream_budget *budget,
                            partition *out, tsr_error *err)
{
    (void)sel;
    batches_choose(budget, p, &groups, out);
    return out->kind ? TSR_OK : choose_panels(budget, p, out, err);
}
