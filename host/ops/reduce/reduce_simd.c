/*
 * The variant in C for the host and for CPUs: rows are cut into blocks and columns into tiles that
 * the cores share, each taken by vectors.
 *
 * How they are cut follows from the problem alone, so that sums do not depend on the number of
 * threads.
 */
#include "ops/reduce/reduce_simd.h"
#include "base/elements.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "base/team.h"
#include "core/real.h"
#include "ops/reduce/reduce_problem.h"

/* Elements of a block of a row, at least, and blocks of one, at most; and the elements that are
 * worth another thread. */
enum { BLOCK_MIN = 1 << 14, BLOCKS_MAX = 1024, PARALLEL_MIN = 1 << 18 };

/* Turns that a thread has, on average: one that begins late leaves some to others. */
enum { TURNS = 16 };

/* Rows of a part of a tile, at least; of few columns BLOCK_MIN asks for more. */
enum { CHUNK_MIN = 64 };

/* Columns of tiles are a multiple of this. */
enum { TILE_STEP = 16 };

/* Rows or tiles that keep all cores busy without being cut. */
enum { TASKS_ENOUGH = 64 };

/* Rows of a few columns that follow one another are taken together, as one of up to so many. */
enum { FOLDED_MAX = 64, FOLDED_INNER_MAX = 32 };

/* Results that a thread puts together at a time, where there are parts. */
enum { JOINED_AT_ONCE = 256 };

/* Elements that lie apart are gathered, so many at a time. */
enum { GATHERED = 1024 };

/* Rows of so few elements are taken side by side, so many at a time, as the columns of a tile
 * are. */
enum { SHORT_MAX = 64, SHORT_ROWS = 512 };

static reduce_loops_table *const tables[] = {
#ifdef __x86_64__
    &reduce_loops_of_0, &reduce_loops_of_1, &reduce_loops_of_2
#else
    &reduce_loops_of_0
#endif
};

typedef struct reducing {
    const tsr_reduce_problem *p;
    const reduce_loops *loops;
    reduce_shape s;
    const unsigned char *x; /* the first element */
    void *result;           /* the array */
    size_t size;            /* of an element */
    size_t parts, chunk;    /* that a row, or the columns of a tile, are cut into; its elements */
    size_t tiles, width;    /* of columns, and those of a tile at most */
    reduce_part *left;      /* where there are parts: of each row or column, one after another */
    reduce_tile *tile_left; /* or of each tile, where columns are not folded: by task */
    size_t tasks, at_once;  /* of one part each, and those that a thread takes at a time */
} reducing;

/* ---- parts --------------------------------------------------------------------------------- */

static bool is_nan(tsr_type type, const reduce_part *a)
{
    return type_is_real(type) && isnan(a->value.real);
}

static bool is_beyond(const tsr_reduce_problem *p, const reduce_part *a, const reduce_part *b)
{
    const bool least = reduce_is_least(p);

    if (type_is_real(p->type))
        return least ? a->value.real < b->value.real : a->value.real > b->value.real;
    if (type_is_signed(p->type))
        return least ? a->value.i < b->value.i : a->value.i > b->value.i;
    return least ? a->value.u < b->value.u : a->value.u > b->value.u;
}

/* *a := a and b; b's elements may stand anywhere. */
static void join(const tsr_reduce_problem *p, reduce_part *a, const reduce_part *b)
{
    const bool extreme = reduce_finds_extreme(p);
    bool taken;

    if (!extreme && type_is_real(reduce_value_type(p))) {
        reduce_add(a, -b->carry);
        reduce_add(a, b->value.real);
        return;
    }
    if (!extreme) {
        a->value.u += b->value.u;
        return;
    }
    if (a->index < 0 || b->index < 0)
        taken = a->index < 0;
    else if (is_nan(p->type, a) || is_nan(p->type, b))
        taken = is_nan(p->type, b) && (!is_nan(p->type, a) || b->index < a->index);
    else
        taken = is_beyond(p, b, a) || (!is_beyond(p, a, b) && b->index < a->index);
    if (taken)
        *a = *b;
}

/* Store result number i. */
static void put(const reducing *r, size_t i, const reduce_part *all)
{
    const tsr_reduce_problem *p = r->p;
    const tsr_type type = tsr_reduce_result_type(p->type, p->by);
    const size_t at = p->offset_result + i;

    switch (p->by) {
    case TSR_REDUCE_ANY:
        bits_set(type, r->result, at, all->value.u > 0);
        break;
    case TSR_REDUCE_ALL:
        bits_set(type, r->result, at, all->value.u == r->s.n);
        break;
    case TSR_REDUCE_ARGMIN:
    case TSR_REDUCE_ARGMAX:
        bits_set(type, r->result, at, (uint64_t)all->index);
        break;
    case TSR_REDUCE_MEAN:
        real_set(type, r->result, at, r->s.n ? all->value.real / (double)r->s.n : (double)NAN);
        break;
    case TSR_REDUCE_NORM2:
        real_set(type, r->result, at, sqrt(all->value.real));
        break;
    default:
        if (type_is_real(type))
            real_set(type, r->result, at, all->value.real);
        else
            bits_set(type, r->result, at, all->value.u);
        break;
    }
}

static const reduce_part nothing = {.value = {.u = 0}, .index = -1};

/* ---- rows ---------------------------------------------------------------------------------- */

/* `count` elements of `size` bytes, `step` elements apart. */
static void gather(void *restrict to, const void *restrict from, size_t count, size_t step,
                   size_t size)
{
    switch (size) {
    case 1:
        for (size_t i = 0; i < count; i++)
            ((uint8_t *)to)[i] = ((const uint8_t *)from)[i * step];
        break;
    case 2:
        for (size_t i = 0; i < count; i++)
            ((uint16_t *)to)[i] = ((const uint16_t *)from)[i * step];
        break;
    case 4:
        for (size_t i = 0; i < count; i++)
            ((uint32_t *)to)[i] = ((const uint32_t *)from)[i * step];
        break;
    default:
        for (size_t i = 0; i < count; i++)
            ((uint64_t *)to)[i] = ((const uint64_t *)from)[i * step];
        break;
    }
}

/* Elements that lie apart, one after another. */
static void take_apart(const reducing *r, const unsigned char *from, size_t n, size_t first,
                       reduce_part *part)
{
    _Alignas(64) unsigned char gathered[GATHERED * 8];

    for (size_t at = 0; at < n; at += GATHERED) {
        const size_t count = size_min(GATHERED, n - at);

        gather(gathered, from + at * r->s.step * r->size, count, r->s.step, r->size);
        r->loops->row[r->p->by](gathered, count, first + at, part);
    }
}

static void reduce_part_of_row(const reducing *r, size_t task)
{
    const size_t row = task / r->parts, first = task % r->parts * r->chunk;
    const size_t n = size_min(r->chunk, r->s.n - first);
    reduce_part part = nothing;

    if (r->s.n) {
        const unsigned char *from = r->x + (row * r->s.stride + first * r->s.step) * r->size;

        if (r->s.step == 1)
            r->loops->row[r->p->by](from, n, first, &part);
        else
            take_apart(r, from, n, first, &part);
    }
    if (r->left)
        r->left[task] = part;
    else
        put(r, row, &part);
}

/* Store the results of a tile of whole columns, from number `to` on. */
static void store_tile(const reducing *r, size_t to, size_t width, const reduce_tile *tile)
{
    const tsr_reduce_problem *p = r->p;
    const size_t size = tsr_type_size(tsr_reduce_result_type(p->type, p->by));

    if (r->loops->store) {
        r->loops->store(p->by, r->s.n, width, tile,
                        (char *)r->result + (p->offset_result + to) * size);
        return;
    }
    for (size_t j = 0; j < width; j++) {
        reduce_part one;

        r->loops->part(p->by, tile, j, &one);
        put(r, to + j, &one);
    }
}

static void reduce_short_rows(const reducing *r, size_t task)
{
    const size_t first = task * r->width, rows = size_min(r->width, r->s.outer - first);
    _Alignas(64) unsigned char one_each[REDUCE_TILE * 8];
    reduce_tile tile;

    if (r->loops->across[r->p->by]) {
        r->loops->across[r->p->by](r->x + first * r->s.stride * r->size, rows, r->s.n, r->s.stride,
                                   r->s.step, &tile);
        store_tile(r, first, rows, &tile);
        return;
    }
    r->loops->start(r->p->by, rows, &tile);
    for (size_t i = 0; i < r->s.n; i++) {
        gather(one_each, r->x + (first * r->s.stride + i * r->s.step) * r->size, rows, r->s.stride,
               r->size);
        r->loops->columns[r->p->by](one_each, 1, rows, 0, i, &tile);
    }
    store_tile(r, first, rows, &tile);
}

static bool is_short(const reducing *r)
{
    return r->s.inner == 1 && r->s.n > 0 && r->s.n <= SHORT_MAX && r->s.outer > 1;
}

static void cut_short_rows(reducing *r)
{
    r->width = SHORT_ROWS;
    r->parts = 1;
    r->tiles = size_div_up(r->s.outer, r->width);
}

static void cut_rows(reducing *r)
{
    r->chunk = r->s.n;
    if (r->s.outer < TASKS_ENOUGH)
        r->chunk = size_max(BLOCK_MIN, size_div_up(r->s.n, BLOCKS_MAX));
    r->chunk = size_max(r->chunk, 1);
    r->parts = size_max(size_div_up(r->s.n, r->chunk), 1);
}

/* ---- columns ------------------------------------------------------------------------------- */

/* Rows as wide as the tile into the parts of its columns. */
static void reduce_into(const reducing *r, const unsigned char *from, size_t rows, size_t width,
                        size_t pitch, size_t first, reduce_tile *tile)
{
    r->loops->start(r->p->by, width, tile);
    r->loops->columns[r->p->by](from, rows, width, pitch, first, tile);
}

/* The same of few columns: several rows are one, and what is left over is one after another. */
static void reduce_folded(const reducing *r, const unsigned char *from, size_t rows, size_t first,
                          reduce_tile *tile, reduce_part part[FOLDED_INNER_MAX])
{
    const size_t inner = r->s.inner, folds = FOLDED_MAX / inner, whole = rows / folds;
    reduce_part one;

    reduce_into(r, from, whole, folds * inner, folds * inner, 0, tile);
    for (size_t j = 0; j < folds * inner; j++) {
        r->loops->part(r->p->by, tile, j, &one);
        if (one.index >= 0)
            one.index = (int64_t)(first + (size_t)one.index * folds + j / inner);
        join(r->p, &part[j % inner], &one);
    }
    reduce_into(r, from + whole * folds * inner * r->size, rows % folds, inner, inner,
                first + whole * folds, tile);
    for (size_t j = 0; j < inner; j++) {
        r->loops->part(r->p->by, tile, j, &one);
        join(r->p, &part[j], &one);
    }
}

static bool is_folded(const reducing *r)
{
    return r->s.inner <= FOLDED_INNER_MAX && r->s.step == r->s.inner;
}

static void reduce_part_of_tile(const reducing *r, size_t task)
{
    const size_t tile_number = task % r->tiles, rest = task / r->tiles;
    const size_t part = rest % r->parts, o = rest / r->parts;
    const size_t column = tile_number * r->width, first = part * r->chunk;
    const size_t width = size_min(r->width, r->s.inner - column);
    const size_t rows = r->s.n ? size_min(r->chunk, r->s.n - first) : 0;
    const unsigned char *from =
        rows ? r->x + (o * r->s.stride + first * r->s.step + column) * r->size : NULL;
    reduce_part few[FOLDED_INNER_MAX];
    reduce_tile own;
    reduce_tile *tile = &own;

    if (r->tile_left)
        tile = &r->tile_left[task];
    if (!is_folded(r)) {
        reduce_into(r, from, rows, width, r->s.step, first, tile);
        if (!r->tile_left)
            store_tile(r, o * r->s.inner + column, width, tile);
        return;
    }
    for (size_t j = 0; j < FOLDED_INNER_MAX; j++)
        few[j] = nothing;
    if (rows)
        reduce_folded(r, from, rows, first, tile, few);
    for (size_t j = 0; j < width; j++) {
        const size_t to = o * r->s.inner + column + j;

        if (r->left)
            r->left[to * r->parts + part] = few[j];
        else
            put(r, to, &few[j]);
    }
}

/* Into tiles as wide as they can be, since processors foresee what follows in a row, and of the
 * same width but for the last; and those into parts of some rows, so that there is work for all
 * cores. */
static void cut_columns(reducing *r)
{
    size_t tasks;

    r->tiles = size_div_up(r->s.inner, REDUCE_TILE);
    r->width = size_round_up(size_div_up(r->s.inner, r->tiles), TILE_STEP);
    tasks = r->s.outer * r->tiles;
    r->parts = tasks >= TASKS_ENOUGH ? 1 : TASKS_ENOUGH / tasks;
    r->chunk =
        size_max(size_div_up(r->s.n, r->parts),
                 size_max(CHUNK_MIN, size_div_up(BLOCK_MIN, size_min(r->s.inner, r->width))));
    r->parts = size_max(size_div_up(r->s.n, r->chunk), 1);
}

/* ---- the variant --------------------------------------------------------------------------- */

static void reduce_some(void *context, size_t item, size_t who)
{
    const reducing *r = context;
    const size_t first = item * r->at_once, end = size_min(first + r->at_once, r->tasks);

    (void)who;
    for (size_t t = first; t < end; t++)
        (is_short(r)       ? reduce_short_rows
         : r->s.inner == 1 ? reduce_part_of_row
                           : reduce_part_of_tile)(r, t);
}

/* Results of JOINED_AT_ONCE rows or columns, from their parts. */
static void join_some(void *context, size_t item, size_t who)
{
    const reducing *r = context;
    const size_t first = item * JOINED_AT_ONCE, results = r->s.outer * r->s.inner;

    (void)who;
    for (size_t i = first; i < size_min(first + JOINED_AT_ONCE, results); i++) {
        reduce_part all = r->left[i * r->parts];

        for (size_t k = 1; k < r->parts; k++)
            join(r->p, &all, &r->left[i * r->parts + k]);
        put(r, i, &all);
    }
}

/* Results of a tile, from its parts. */
static void join_tile(void *context, size_t item, size_t who)
{
    const reducing *r = context;
    const size_t tile_number = item % r->tiles, o = item / r->tiles;
    const size_t column = tile_number * r->width;
    const size_t width = size_min(r->width, r->s.inner - column);
    reduce_tile *tile = &r->tile_left[o * r->parts * r->tiles + tile_number];

    (void)who;
    for (size_t k = 1; k < r->parts; k++)
        r->loops->join(r->p->by, width, &tile[k * r->tiles], tile);
    store_tile(r, o * r->s.inner + column, width, tile);
}

static tsr_status run_simd(const problem *q, void *const operands[], tsr_error *err)
{
    const tsr_reduce_problem *p = reduce_of(q);
    reducing r = {.p = p,
                  .loops = (*tables[isa_best()])[p->type],
                  .s = reduce_shape_of(p),
                  .result = operands[REDUCE_RESULT],
                  .size = tsr_type_size(p->type),
                  .tiles = 1};
    const size_t results = r.s.outer * r.s.inner;
    const double elements = (double)results * (double)r.s.n;
    const size_t threads = elements < PARALLEL_MIN ? 1 : team_threads();

    if (p->n)
        r.x = (const unsigned char *)operands[REDUCE_X] + p->offset_x * r.size;
    (is_short(&r) ? cut_short_rows : r.s.inner == 1 ? cut_rows : cut_columns)(&r);
    r.tasks = (is_short(&r) ? 1 : r.s.outer) * r.parts * r.tiles;
    r.at_once = size_max(size_div_up(r.tasks, threads * TURNS), 1);
    if (r.parts > 1) {
        if (r.s.inner > 1 && !is_folded(&r)) /* at most TASKS_ENOUGH: there are no parts of more */
            r.tile_left = aligned_alloc(_Alignof(reduce_tile), r.tasks * sizeof(*r.tile_left));
        else
            r.left = malloc(results * r.parts * sizeof(*r.left));
        if (!r.left && !r.tile_left)
            return tsr_fail(err, TSR_ENOMEM, 0, "reduce: no memory for %zu partial results",
                            results * r.parts);
    }
    team_run(threads, size_div_up(r.tasks, r.at_once), reduce_some, &r);
    if (r.tile_left)
        team_run(threads, r.s.outer * r.tiles, join_tile, &r);
    else if (r.left)
        team_run(threads, size_div_up(results, JOINED_AT_ONCE), join_some, &r);
    free(r.tile_left);
    free(r.left);
    return TSR_OK;
}

const variant reduce_simd = {.name = "simd",
                             .idea = "vectors, and the cores share blocks; float32 sums in double "
                                     "precision, float64 with a carry",
                             .plan = plan_in_c,
                             .host = run_simd,
                             .serves_cpus = true};
