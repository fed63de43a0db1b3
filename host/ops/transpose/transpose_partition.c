/* Matrices that come to the device in pieces: whole ones where several make a piece, else blocks of
 * one, whose rows are stretches of A's, and of which each is a block of B. */
#include "base/sizes.h"
#include "ops/transpose/transpose_problem.h"

/* Matrices of a piece, and rows and columns of A of each. */
enum { MATRICES, ROWS, COLUMNS };

/* A block of some matrices: `count` from `first` on, and of each rows and columns of A, from `row`
 * and `column` on. */
typedef struct block {
    size_t first, count;
    size_t row, rows, column, columns;
} block;

/* The same of B, whose rows are A's columns. */
static block turned(block b)
{
    return (block){b.first, b.count, b.column, b.columns, b.row, b.rows};
}

/* Where it lies in the array of operand `which`. */
static host_rows block_rows(const tsr_transpose_problem *p, size_t which, void *array,
                            const block *b)
{
    const stored_matrix m = transpose_stored(p, which);
    const size_t size = transpose_bytes(p);
    const size_t at = m.offset + b->first * m.stride + b->row * m.ld + b->column;

    return (host_rows){.at = (unsigned char *)array + at * size,
                       .count = b->count * b->rows,
                       .bytes = b->columns * size,
                       .pitch = m.ld * size,
                       .matrix = b->count == 1 ? 0 : b->rows,
                       .step = m.stride * size};
}

static void blocks_piece(const partition *x, void *const host[], size_t i, piece *out)
{
    const tsr_transpose_problem *p = transpose_of(x->problem);
    const size_t across = size_div_up(p->columns, x->cut[COLUMNS]);
    const size_t down = size_div_up(p->rows, x->cut[ROWS]);
    const size_t first = i / (across * down) * x->cut[MATRICES];
    const size_t row = i / across % down * x->cut[ROWS], column = i % across * x->cut[COLUMNS];
    const block a = {.first = first,
                     .count = size_min(x->cut[MATRICES], transpose_batch(p) - first),
                     .row = row,
                     .rows = size_min(x->cut[ROWS], p->rows - row),
                     .column = column,
                     .columns = size_min(x->cut[COLUMNS], p->columns - column)};
    const block b = turned(a);
    const tsr_transpose_problem part = {.type = p->type,
                                        .element_bytes = p->element_bytes,
                                        .rows = a.rows,
                                        .columns = a.columns,
                                        .batch = a.count};

    *out = (piece){.problem = problem_from(x->problem->op, &part, sizeof(part))};
    out->slice[TRANSPOSE_A] = (slice){.slot = i,
                                      .rows = block_rows(p, TRANSPOSE_A, host[TRANSPOSE_A], &a),
                                      .blocks = 1,
                                      .in = true};
    out->slice[TRANSPOSE_B] = (slice){.slot = i,
                                      .rows = block_rows(p, TRANSPOSE_B, host[TRANSPOSE_B], &b),
                                      .blocks = 1,
                                      .out = true};
}

static const partition_kind blocks = {.name = "blocks", .piece = blocks_piece};

/* A piece of each of the shapes that there are: those at the ends may be smaller. */
static void add_shapes(const tsr_transpose_problem *p, partition *out)
{
    const size_t across = size_div_up(p->columns, out->cut[COLUMNS]);
    const size_t down = size_div_up(p->rows, out->cut[ROWS]);
    const bool short_row = p->rows % out->cut[ROWS] && down > 1;
    const bool short_column = p->columns % out->cut[COLUMNS] && across > 1;

    partition_add_shape(out, 0);
    if (short_column)
        partition_add_shape(out, across - 1);
    if (short_row)
        partition_add_shape(out, (down - 1) * across);
    if (short_row && short_column)
        partition_add_shape(out, down * across - 1);
    if (out->cut[MATRICES] > 1 && transpose_batch(p) % out->cut[MATRICES])
        partition_add_shape(out, out->pieces - 1);
}

tsr_status transpose_partition(const problem *q, const selection *sel, const stream_budget *budget,
                               partition *out, tsr_error *err)
{
    const tsr_transpose_problem *p = transpose_of(q);
    const size_t size = transpose_bytes(p), batch = transpose_batch(p), each = p->rows * p->columns;
    const bool holds = stream_holds(budget, q);
    size_t all, most, matrices, rows = p->rows, columns = p->columns, slot;

    (void)sel;
    if (!size_mul(each, 2 * size, &all) || !size_mul(all, batch, &all))
        all = SIZE_MAX;
    if (all == 0 || (holds && (all < STREAMED_MIN || p->in_place)))
        return TSR_OK;
    if (p->in_place)
        return budget->limited ? stream_refuse(err, "transpose", budget, all / 2,
                                               "matrices that are transposed in place")
                               : TSR_OK;
    most = size_min(stream_piece_bytes(all, budget->all / PARTITION_SLOTS_MAX) / 2, budget->each) /
           size;
    if (most == 0)
        return stream_refuse(err, "transpose", budget, (size_t)PARTITION_SLOTS_MAX * 2 * size,
                             "%d elements of each matrix", (int)PARTITION_SLOTS_MAX);
    matrices = size_min(size_max(most / each, 1), batch);
    if (each > most) {
        /* Rows and columns of a block of at most `most` elements: near square, so that the rows of
         * both matrices are long, or all of what is short. */
        size_t side = 1;

        while (side < most / side / 4)
            side *= 2;
        columns = size_min(p->columns, side);
        rows = size_min(p->rows, most / columns);
        columns = size_min(p->columns, most / rows);
    }
    slot = matrices * rows * columns * size;
    *out = (partition){.kind = &blocks,
                       .pieces = SIZE_MAX,
                       .cut = {[MATRICES] = matrices, [ROWS] = rows, [COLUMNS] = columns},
                       .slots = {{PARTITION_SLOTS_MAX, slot, 0}, {PARTITION_SLOTS_MAX, slot, 0}}};
    if (!size_mul(size_div_up(p->rows, rows), size_div_up(p->columns, columns), &all) ||
        !size_mul(all, size_div_up(batch, matrices), &all))
        return TSR_OK; /* refused */
    out->pieces = all;
    add_shapes(p, out);
    return TSR_OK;
}
