/* The variants in C: the definition, and blocks that pass through the first-level cache. */
#include <string.h>

#include "base/fail.h"
#include "base/past_caches.h"
#include "base/sizes.h"
#include "base/team.h"
#include "ops/transpose/transpose_loops.h"
#include "ops/transpose/transpose_problem.h"

/* Bytes of A and B that are worth more threads than one. */
enum { PARALLEL_MIN = 1 << 20 };

/* Squares that a block is high, but where it changes places with another: rows of B are written in
 * longer pieces. */
enum { HIGH_BLOCK = 2 };

/* Past the caches, lines of a row of B that a block is high where rows begin anywhere; and a tile
 * of blocks.  A's pages are read to their ends, which processors foresee, and pages of B, one for
 * each column, are written to their ends while their addresses are still known. */
enum { UNEVEN_LINES = 2, TILE_ROWS = 2048, TILE_COLUMNS_MAX = 1024, PAGE = 4096 };

/* Turns that a thread has, on average: one that begins late leaves some to others. */
enum { TURNS = 16 };

/* Where element (row, column) of matrix e is. */
static char *element_at(const tsr_transpose_problem *p, const stored_matrix *m, void *array,
                        size_t e, size_t row, size_t column)
{
    return (char *)array + (m->offset + e * m->stride + row * m->ld + column) * transpose_bytes(p);
}

/* ---- the definition ----------------------------------------------------------------------------
 */

static void swap_bytes(char *x, char *y, size_t bytes)
{
    char kept[ELEMENT_BYTES_MAX];

    memcpy(kept, x, bytes);
    memcpy(x, y, bytes);
    memcpy(y, kept, bytes);
}

static tsr_status run_loop(const problem *q, void *const operands[], tsr_error *err)
{
    const tsr_transpose_problem *p = transpose_of(q);
    const stored_matrix a = transpose_stored(p, TRANSPOSE_A), b = transpose_stored(p, TRANSPOSE_B);
    const size_t bytes = transpose_bytes(p);

    (void)err;
    for (size_t e = 0; e < transpose_batch(p); e++)
        for (size_t i = 0; i < p->rows; i++) {
            if (p->in_place) {
                for (size_t j = 0; j < i; j++)
                    swap_bytes(element_at(p, &b, operands[TRANSPOSE_B], e, i, j),
                               element_at(p, &b, operands[TRANSPOSE_B], e, j, i), bytes);
                continue;
            }
            for (size_t j = 0; j < p->columns; j++)
                memcpy(element_at(p, &b, operands[TRANSPOSE_B], e, j, i),
                       element_at(p, &a, operands[TRANSPOSE_A], e, i, j), bytes);
        }
    return TSR_OK;
}

const variant transpose_loop = {.name = "loop",
                                .idea = "the definition: row by row of A, column by column of B",
                                .plan = plan_in_c,
                                .host = run_loop};

/* ---- blocks ------------------------------------------------------------------------------------
 */

/* Blocks of all matrices, down x across of each, and what they have in common. */
typedef struct blocks {
    const tsr_transpose_problem *problem;
    stored_matrix a, b;
    size_t rows, columns; /* of a block */
    size_t shared;        /* rows that it has in common with the next one below */
    size_t lines;         /* bytes of a row of B that are its own, whole lines; 0: all */
    size_t across, down, count;
    size_t high, wide; /* blocks of a tile */
    bool past_caches;
    bool strips; /* the blocks are strips, but for so many first rows and columns */
    size_t top, left;
} blocks;

/* Whether rows are whole lines apart: where one begins a line, all do. */
static bool rows_are_lines_apart(const tsr_transpose_problem *p, const stored_matrix *m)
{
    const size_t apart = m->ld | (transpose_batch(p) > 1 ? m->stride : 0);

    return apart * transpose_bytes(p) % CACHE_LINE == 0;
}

/* Elements of each row before the first that begins a cache line, as of all other rows; 0 where
 * they differ. */
static size_t head_of_rows(const tsr_transpose_problem *p, const stored_matrix *m, const void *at)
{
    const size_t bytes = transpose_bytes(p);

    return rows_are_lines_apart(p, m)
               ? past_caches_head((const char *)at + m->offset * bytes, bytes, SIZE_MAX)
               : 0;
}

/* Strips go down tiles, whose columns are theirs.  They begin and end where lines of A and B do,
 * where those of all rows do. */
static void cut_strips(blocks *x, void *const operands[])
{
    const tsr_transpose_problem *p = x->problem;
    const size_t bytes = transpose_bytes(p);

    x->strips = true;
    x->top = head_of_rows(p, &x->b, operands[TRANSPOSE_B]);
    x->left = head_of_rows(p, &x->a, operands[TRANSPOSE_A]);
    x->rows = CACHE_LINE / bytes;
    x->columns = transpose_strip_columns(bytes);
    x->across = size_div_up(p->columns - x->left, x->columns);
    x->down = (p->rows - x->top) / x->rows;
    x->high = TILE_ROWS / x->rows;
    x->wide = 1;
}

static blocks blocks_of(const tsr_transpose_problem *p, void *const operands[])
{
    static transpose_has_strips *const has_strips[] = {ISA_EACH(transpose_has_strips)};
    const size_t bytes = transpose_bytes(p), side = transpose_side(bytes);
    blocks x = {.problem = p,
                .a = transpose_stored(p, TRANSPOSE_A),
                .b = transpose_stored(p, TRANSPOSE_B),
                .rows = p->in_place ? side : HIGH_BLOCK * side,
                .columns = side,
                .high = 1,
                .wide = SIZE_MAX};
    const uintptr_t to = (uintptr_t)operands[TRANSPOSE_B] + x.b.offset * bytes;
    bool large;

    x.past_caches =
        !p->in_place && p->rows * p->columns * transpose_batch(p) > PAST_CACHES_MIN / 2 / bytes;
    large = x.past_caches && p->rows > x.rows && p->columns > x.columns;
    if (large && has_strips[isa_best()](bytes) && to % bytes == 0) {
        cut_strips(&x, operands);
    } else {
        if (large) {
            /* Rows of A that are whole lines of B, and those more that complete its lines where
             * they begin elsewhere. */
            const size_t whole = CACHE_LINE / (bytes & -bytes);
            const bool at_lines = to % CACHE_LINE == 0 && rows_are_lines_apart(p, &x.b);

            x.rows = at_lines ? whole : UNEVEN_LINES * whole;
            x.shared = at_lines ? 0 : size_div_up(CACHE_LINE, bytes);
            x.lines = x.rows * bytes;
            x.columns = TRANSPOSE_BLOCK_BYTES / x.lines;
            x.high = TILE_ROWS / x.rows;
            x.wide = size_max(size_min(PAGE / bytes, TILE_COLUMNS_MAX) / x.columns, 1);
        }
        x.across = size_div_up(p->columns, x.columns);
        x.down =
            p->rows > x.shared ? size_div_up(p->rows - x.shared, x.rows) : size_min(p->rows, 1);
    }
    x.count = transpose_batch(p) * x.across * x.down;
    x.high = size_min(x.high, x.down);
    x.wide = size_min(x.wide, x.across);
    return x;
}

/* Block number i of a matrix: tiles go along the rows of A, and so do the blocks of a tile. */
static void place_of(const blocks *x, size_t i, size_t *row, size_t *column)
{
    if (x->high == 1) { /* the same with fewer divisions */
        *row = i / x->across * x->rows;
        *column = i % x->across * x->columns;
        return;
    }

    const size_t top = i / (x->high * x->across) * x->high;
    const size_t high = size_min(x->high, x->down - top), of_band = i - top * x->across;
    const size_t left = of_band / (high * x->wide) * x->wide;
    const size_t wide = size_min(x->wide, x->across - left), of_tile = of_band - high * left;

    *row = (top + of_tile / wide) * x->rows;
    *column = (left + of_tile % wide) * x->columns;
}

static transpose_block block_at(const blocks *x, size_t i, void *const operands[])
{
    const tsr_transpose_problem *p = x->problem;
    const size_t e = i / (x->across * x->down), bytes = transpose_bytes(p);
    void *from = operands[p->in_place ? TRANSPOSE_B : TRANSPOSE_A];
    size_t row, column;

    place_of(x, i % (x->across * x->down), &row, &column);
    return (transpose_block){.from = element_at(p, &x->a, from, e, row, column),
                             .to = element_at(p, &x->b, operands[TRANSPOSE_B], e, column, row),
                             .rows = size_min(x->rows + x->shared, p->rows - row),
                             .columns = size_min(x->columns, p->columns - column),
                             .bytes = bytes,
                             .pitch = x->a.ld * bytes,
                             .to_pitch = x->b.ld * bytes,
                             .past_caches = x->past_caches,
                             .above = row > 0 && x->lines,
                             .lines = p->rows - row > x->rows + x->shared ? x->lines : 0};
}

static transpose_strip strip_at(const blocks *x, size_t i, void *const operands[])
{
    const tsr_transpose_problem *p = x->problem;
    const size_t e = i / (x->across * x->down), bytes = transpose_bytes(p);
    size_t row, column, first, end;

    place_of(x, i % (x->across * x->down), &row, &column);
    first = column ? x->left + column : 0;
    end = size_min(x->left + column + x->columns, p->columns);

    const bool last = row + x->rows == x->down * x->rows;

    return (transpose_strip){
        .from = element_at(p, &x->a, operands[TRANSPOSE_A], e, x->top + row, first),
        .to = element_at(p, &x->b, operands[TRANSPOSE_B], e, first, x->top + row),
        .columns = end - first,
        .bytes = bytes,
        .pitch = x->a.ld * bytes,
        .to_pitch = x->b.ld * bytes,
        .left = column ? 0 : x->left,
        .above = row ? 0 : x->top,
        .below = last ? p->rows - x->top - x->down * x->rows : 0,
        .first = row == 0,
        .last = last};
}

/* Some blocks of a call, which follow one another. */
typedef struct transposing {
    blocks blocks;
    void *const *operands;
    size_t at_once;
    transpose_block_apart *apart;
    transpose_block_swap *swap;
} transposing;

static void transpose_strips(const transposing *t, size_t first, size_t end, void *memory)
{
    static transpose_strip_apart *const apart[] = {ISA_EACH(transpose_strip_apart)};
    transpose_strip s = strip_at(&t->blocks, first, t->operands), next;

    for (size_t i = first; i < end; i++, s = next) {
        next = i + 1 < end ? strip_at(&t->blocks, i + 1, t->operands) : (transpose_strip){0};
        next.follows = !next.first && next.from == (const char *)s.from + t->blocks.rows * s.pitch;
        s.next = next.from;
        apart[isa_best()](&s, memory);
    }
}

static void transpose_blocks(const transposing *t, size_t first, size_t end, void *memory)
{
    const blocks *x = &t->blocks;
    const bool in_place = x->problem->in_place;

    for (size_t i = first; i < end; i++) {
        transpose_block b = block_at(x, i, t->operands);

        if (i + 1 < end) {
            const transpose_block next = block_at(x, i + 1, t->operands);

            b.next = next.from;
            b.other = in_place ? next.to : NULL;
        }
        if (!in_place)
            t->apart(&b, memory);
        else if (i / x->across % x->down <= i % x->across) /* the others are their partners */
            t->swap(&b, memory);
    }
}

static void transpose_some(void *context, size_t item, size_t who)
{
    _Alignas(CACHE_LINE) char memory[TRANSPOSE_MEMORY_BYTES];
    const transposing *t = context;
    const blocks *x = &t->blocks;
    const size_t first = item * t->at_once, end = size_min(first + t->at_once, x->count);

    (void)who;
    if (x->strips)
        transpose_strips(t, first, end, memory);
    else
        transpose_blocks(t, first, end, memory);
    if (x->past_caches)
        past_caches_end();
}

static tsr_status run_simd(const problem *q, void *const operands[], tsr_error *err)
{
    static transpose_block_apart *const apart[] = {ISA_EACH(transpose_block_apart)};
    static transpose_block_swap *const swap[] = {ISA_EACH(transpose_block_swap)};
    const blocks x = blocks_of(transpose_of(q), operands);
    /* Short vectors leave less at the edges, and are no slower without tiles. */
    transposing t = {.blocks = x,
                     .operands = operands,
                     .apart = apart[x.lines ? isa_best() : ISA_BASE],
                     .swap = swap[ISA_BASE]};
    const size_t threads = q->op->bytes(q) < PARALLEL_MIN ? 1 : team_threads();

    (void)err;
    t.at_once = size_max(size_div_up(t.blocks.count, threads * TURNS), 1);
    team_run(threads, size_div_up(t.blocks.count, t.at_once), transpose_some, &t);
    return TSR_OK;
}

const variant transpose_simd = {
    .name = "simd",
    .idea =
        "blocks that pass through the first-level cache by vectors, on every core; what is large "
        "is stored past the caches",
    .plan = plan_in_c,
    .host = run_simd,
    .serves_cpus = true};
