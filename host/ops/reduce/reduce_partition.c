/* Arrays that come to the device in pieces: some results at a time, each of all its elements, or
 * where the device does not hold those, stretches of them, whose results become one on the host;
 * and where it does not hold one element of each, some columns of a matrix at a time. */
#include <math.h>

#include "base/elements.h"
#include "base/sizes.h"
#include "core/real.h"
#include "ops/reduce/reduce_problem.h"

/* Of a piece: `outer`, or elements of each result, or columns. */
enum { OUTER, LENGTH, COLUMNS };

/* A result's elements are cut into so many pieces at least.  A sum over a quarter of them has a
 * bound that is two roundings lower (tessera/reduce.h), which is what storing the sum of a piece
 * takes: one of a sum or mean, two of a norm's square. */
enum { PIECES_MIN = 4 };

/* ---- some results at a time ----------------------------------------------------------------- */

/* Elements of x from `at` on, counted from its first: `count` lines for each of `outer`. */
static host_rows x_rows(const tsr_reduce_problem *p, void *array, size_t at, size_t outer,
                        size_t count)
{
    const reduce_shape s = reduce_shape_of(p);
    const size_t size = tsr_type_size(p->type);
    void *const from = (char *)array + (p->offset_x + at) * size;

    if (s.step == s.inner && (outer == 1 || s.stride == count * s.inner))
        return host_bytes(from, outer * count * s.inner * size);
    if (s.step == s.inner)
        return (host_rows){from, outer, count * s.inner * size, s.stride * size, 0, 0};
    return (host_rows){.at = from,
                       .count = outer * count,
                       .bytes = s.inner * size,
                       .pitch = s.step * size,
                       .matrix = outer == 1 ? 0 : count,
                       .step = s.stride * size};
}

static void results_piece(const partition *x, void *const host[], size_t i, piece *out)
{
    const tsr_reduce_problem *p = reduce_of(x->problem);
    const reduce_shape s = reduce_shape_of(p);
    const size_t first = i * x->cut[OUTER], count = size_min(x->cut[OUTER], s.outer - first);
    const size_t size = tsr_type_size(tsr_reduce_result_type(p->type, p->by));
    const tsr_reduce_problem part = {.type = p->type,
                                     .n = s.n,
                                     .by = p->by,
                                     .outer = count,
                                     .inner = s.inner,
                                     .any_order = p->any_order};

    *out = (piece){.problem = problem_from(x->problem->op, &part, sizeof(part))};
    out->slice[REDUCE_X] = (slice){.slot = i,
                                   .rows = x_rows(p, host[REDUCE_X], first * s.stride, count, s.n),
                                   .blocks = 1,
                                   .in = true};
    out->slice[REDUCE_RESULT] =
        (slice){.slot = i,
                .rows = host_bytes((char *)host[REDUCE_RESULT] +
                                       (p->offset_result + first * s.inner) * size,
                                   count * s.inner * size),
                .blocks = 1,
                .out = true};
}

static const partition_kind in_results = {.name = "results", .piece = results_piece};

/* ---- some columns at a time ------------------------------------------------------------------ */

static void columns_piece(const partition *x, void *const host[], size_t i, piece *out)
{
    const tsr_reduce_problem *p = reduce_of(x->problem);
    const reduce_shape s = reduce_shape_of(p);
    const size_t cuts = size_div_up(s.inner, x->cut[COLUMNS]);
    const size_t outer = i / cuts, first = i % cuts * x->cut[COLUMNS];
    const size_t count = size_min(x->cut[COLUMNS], s.inner - first);
    const size_t in = tsr_type_size(p->type);
    const size_t size = tsr_type_size(tsr_reduce_result_type(p->type, p->by));
    const tsr_reduce_problem part = {
        .type = p->type, .n = s.n, .by = p->by, .inner = count, .any_order = p->any_order};

    *out = (piece){.problem = problem_from(x->problem->op, &part, sizeof(part))};
    out->slice[REDUCE_X] = (slice){
        .slot = i,
        .rows = {.at = (char *)host[REDUCE_X] + (p->offset_x + outer * s.stride + first) * in,
                 .count = s.n,
                 .bytes = count * in,
                 .pitch = s.step * in},
        .blocks = 1,
        .in = true};
    out->slice[REDUCE_RESULT] =
        (slice){.slot = i,
                .rows = host_bytes((char *)host[REDUCE_RESULT] +
                                       (p->offset_result + outer * s.inner + first) * size,
                                   count * size),
                .blocks = 1,
                .out = true};
}

static const partition_kind in_columns = {.name = "columns", .piece = columns_piece};

/* ---- stretches ------------------------------------------------------------------------------ */

/* The reduction of a piece: the sum of what a mean is of, but for integers, whose sum may wrap; and
 * sums of 16-bit floats as float32, so that they are not rounded to 16 bits. */
static tsr_reduce_problem partial_of(const tsr_reduce_problem *p)
{
    const bool narrow = type_is_real(p->type) && tsr_type_size(p->type) == 2 && reduce_rounds(p);
    const reduce_shape s = reduce_shape_of(p);

    return (tsr_reduce_problem){
        .type = narrow ? TSR_F32 : p->type,
        .by = p->by == TSR_REDUCE_MEAN && type_is_real(p->type) ? (size_t)TSR_REDUCE_SUM : p->by,
        .inner = s.inner,
        .any_order = p->any_order};
}

/* Piece i: elements [first, first + count) of each result of one `outer`. */
typedef struct stretch {
    size_t outer, first, count;
    bool last;
} stretch;

static stretch stretch_of(const partition *x, size_t i)
{
    const tsr_reduce_problem *p = reduce_of(x->problem);
    const size_t cuts = size_div_up(p->n, x->cut[LENGTH]);
    const size_t first = i % cuts * x->cut[LENGTH];

    return (stretch){i / cuts, first, size_min(x->cut[LENGTH], p->n - first), i % cuts == cuts - 1};
}

static void stretches_piece(const partition *x, void *const host[], size_t i, piece *out)
{
    const tsr_reduce_problem *p = reduce_of(x->problem);
    const reduce_shape s = reduce_shape_of(p);
    const stretch at = stretch_of(x, i);
    tsr_reduce_problem part = partial_of(p);
    const host_rows rows =
        x_rows(p, host[REDUCE_X], at.outer * s.stride + at.first * s.step, 1, at.count);

    part.n = at.count;
    *out = (piece){.problem = problem_from(x->problem->op, &part, sizeof(part))};
    out->slice[REDUCE_X] = (slice){.slot = i, .rows = rows, .blocks = 1, .in = true};
    /* Its elements, where stage() looks up the one that an index means. */
    out->slice[REDUCE_RESULT] = (slice){.slot = i, .rows = rows, .blocks = 1, .out = true};
}

/* What the pieces of a result have become so far. */
typedef struct running {
    long double real;
    uint64_t whole; /* an integer, or an index */
} running;

/* Whether a later minimum or maximum, or one element, takes the place of another; a NaN does, once.
 */
static bool real_replaces(bool least, long double is, long double was)
{
    return !isnan(was) && (isnan(is) || (least ? is < was : is > was));
}

static bool whole_replaces(bool least, tsr_type type, uint64_t is, uint64_t was)
{
    const uint64_t sign = type_is_signed(type) ? (uint64_t)1 << 63 : 0;

    return least ? (is ^ sign) < (was ^ sign) : (is ^ sign) > (was ^ sign);
}

/* An index of a piece is one of all elements; the value that it is of is in real or whole. */
static void add_index(const tsr_reduce_problem *p, const slice *s, const stretch *at, size_t j,
                      uint64_t index, running *all, uint64_t *best)
{
    const char *line =
        (const char *)s->rows.at + index * reduce_shape_of(p).step * tsr_type_size(p->type);
    const bool least = reduce_is_least(p);
    bool better = at->first == 0;

    if (type_is_real(p->type)) {
        const double value = real_get(p->type, line, j);

        better = better || real_replaces(least, value, all->real);
        all->real = better ? value : all->real;
    } else {
        const uint64_t value = integer_get(p->type, line, j);

        better = better || whole_replaces(least, p->type, value, all->whole);
        all->whole = better ? value : all->whole;
    }
    *best = better ? at->first + index : *best;
}

/* Add the result of a piece to those before it. */
static void add_partial(const tsr_reduce_problem *p, const stretch *at, const void *block, size_t j,
                        running *all)
{
    const tsr_reduce_problem part = partial_of(p);
    const tsr_type type = tsr_reduce_result_type(part.type, part.by);
    const long double real = type_is_real(type) ? (long double)real_get(type, block, j) : 0;
    const uint64_t whole = type_is_real(type) ? 0 : integer_get(type, block, j);

    switch (p->by) {
    case TSR_REDUCE_MIN:
    case TSR_REDUCE_MAX:
        if (at->first == 0 ||
            (type_is_real(type) ? real_replaces(reduce_is_least(p), real, all->real)
                                : whole_replaces(reduce_is_least(p), type, whole, all->whole)))
            *all = (running){real, whole};
        break;
    case TSR_REDUCE_MEAN:
        all->real += type_is_real(p->type) ? real : real * (long double)at->count;
        break;
    case TSR_REDUCE_NORM2:
        all->real += real * real;
        break;
    case TSR_REDUCE_ANY:
        all->whole |= whole;
        break;
    case TSR_REDUCE_ALL:
        all->whole = (at->first == 0 || all->whole) && whole;
        break;
    default: /* a sum or count */
        all->real += real;
        all->whole += whole;
        break;
    }
}

static void store(const tsr_reduce_problem *p, const running *all, void *result, size_t i)
{
    const tsr_type type = tsr_reduce_result_type(p->type, p->by);
    const long double real = p->by == TSR_REDUCE_MEAN    ? all->real / (long double)p->n
                             : p->by == TSR_REDUCE_NORM2 ? sqrtl(all->real)
                                                         : all->real;

    if (type_is_real(type))
        real_set(type, result, i, (double)real);
    else
        bits_set(type, result, i, all->whole);
}

/* 16-bit floats on their way to the device become float32; results of pieces on their way back join
 * those before them, the last with what comes out. */
static tsr_status stage(const partition *x, staging direction, size_t which, const slice *s,
                        size_t b, void *array, void *block, tsr_error *err)
{
    const tsr_reduce_problem *p = reduce_of(x->problem);
    const size_t inner = reduce_shape_of(p).inner;
    const stretch at = stretch_of(x, s->slot);
    running *all = x->kept;
    uint64_t *best = (uint64_t *)(all + inner);

    (void)which, (void)b, (void)err;
    if (direction == STAGE_IN) {
        const size_t line = s->rows.bytes / tsr_type_size(p->type);

        for (size_t i = 0; i < s->rows.count; i++)
            for (size_t j = 0; j < line; j++)
                ((float *)block)[i * line + j] =
                    (float)real_get(p->type, (const char *)s->rows.at + i * s->rows.pitch, j);
        return TSR_OK;
    }
    for (size_t j = 0; j < inner; j++) {
        const size_t to = p->offset_result + at.outer * inner + j;

        if (at.first == 0)
            all[j] = (running){0, 0};
        if (reduce_finds_index(p))
            add_index(p, s, &at, j, ((const uint64_t *)block)[j], &all[j], &best[j]);
        else
            add_partial(p, &at, block, j, &all[j]);
        if (at.last && reduce_finds_index(p))
            ((uint64_t *)array)[to] = best[j];
        else if (at.last)
            store(p, &all[j], array, to);
    }
    return TSR_OK;
}

static const partition_kind in_stretches = {
    .name = "stretches", .piece = stretches_piece, .stage = stage};

/* ---- choosing ------------------------------------------------------------------------------- */

static void cut_results(const tsr_reduce_problem *p, size_t count, partition *out)
{
    const reduce_shape s = reduce_shape_of(p);
    const size_t size = tsr_type_size(tsr_reduce_result_type(p->type, p->by));

    *out =
        (partition){.kind = &in_results,
                    .pieces = size_div_up(s.outer, count),
                    .cut = {[OUTER] = count},
                    .slots = {[REDUCE_X] = {PARTITION_SLOTS_MAX,
                                            count * s.n * s.inner * tsr_type_size(p->type), 0},
                              [REDUCE_RESULT] = {PARTITION_SLOTS_MAX, count * s.inner * size, 0}}};
    partition_add_shape(out, 0);
    if (s.outer % count)
        partition_add_shape(out, out->pieces - 1);
}

static void cut_stretches(const tsr_reduce_problem *p, size_t length, partition *out)
{
    const reduce_shape s = reduce_shape_of(p);
    const tsr_reduce_problem part = partial_of(p);
    const size_t result = s.inner * tsr_type_size(tsr_reduce_result_type(part.type, part.by));
    const size_t bytes = length * s.inner * tsr_type_size(part.type);
    const size_t cuts = size_div_up(p->n, length);

    *out = (partition){
        .kind = &in_stretches,
        .pieces = SIZE_MAX,
        .cut = {[LENGTH] = length},
        .slots = {[REDUCE_X] = {PARTITION_SLOTS_MAX, bytes, part.type == p->type ? 0 : bytes},
                  [REDUCE_RESULT] = {PARTITION_SLOTS_MAX, result, result}},
        .kept_bytes = s.inner * (sizeof(running) + sizeof(uint64_t))};
    size_mul(s.outer, cuts, &out->pieces);
    partition_add_shape(out, 0);
    if (p->n % length)
        partition_add_shape(out, cuts - 1);
}

static void cut_columns(const tsr_reduce_problem *p, size_t count, partition *out)
{
    const reduce_shape s = reduce_shape_of(p);
    const size_t cuts = size_div_up(s.inner, count);
    const size_t size = tsr_type_size(tsr_reduce_result_type(p->type, p->by));

    *out = (partition){
        .kind = &in_columns,
        .pieces = SIZE_MAX,
        .cut = {[COLUMNS] = count},
        .slots = {[REDUCE_X] = {PARTITION_SLOTS_MAX, count * s.n * tsr_type_size(p->type), 0},
                  [REDUCE_RESULT] = {PARTITION_SLOTS_MAX, count * size, 0}}};
    size_mul(s.outer, cuts, &out->pieces);
    partition_add_shape(out, 0);
    if (s.inner % count)
        partition_add_shape(out, cuts - 1);
}

tsr_status reduce_partition(const problem *q, const selection *sel, const stream_budget *budget,
                            partition *out, tsr_error *err)
{
    const tsr_reduce_problem *p = reduce_of(q), part = partial_of(p);
    const reduce_shape s = reduce_shape_of(p);
    const view x = reduce_x(p);
    const size_t all = view_bytes(&x), slot = budget->all / PARTITION_SLOTS_MAX;
    const size_t result = s.inner * tsr_type_size(tsr_reduce_result_type(p->type, p->by));
    const size_t partial = s.inner * tsr_type_size(tsr_reduce_result_type(part.type, part.by));
    const size_t line = s.inner * tsr_type_size(part.type);
    const size_t column = s.n * tsr_type_size(p->type) + result / s.inner;
    const bool holds = stream_holds(budget, q);
    size_t one, length, columns;

    (void)sel;
    if (all == 0 || (holds && all < STREAMED_MIN))
        return TSR_OK;
    one = all / s.outer;
    if (s.outer > 1 && one <= budget->each && one <= slot && slot - one >= result) {
        const size_t bytes = stream_piece_bytes(all, slot);

        cut_results(p, size_min(size_max(bytes / (one + result), 1), s.outer), out);
        return TSR_OK;
    }
    /* Elements that change their type cost the host more than the copies take that this hides. */
    if (holds && part.type != p->type)
        return TSR_OK;
    length = slot > partial ? (slot - partial) / line : 0;
    columns = length || holds ? 0 : size_min(slot, budget->each) / column;
    if (columns) {
        cut_columns(p, size_min(columns, s.inner), out);
        return TSR_OK;
    }
    if (length == 0)
        return holds || !budget->limited
                   ? TSR_OK
                   : stream_refuse(err, "reduce", budget,
                                   PARTITION_SLOTS_MAX * size_min(line + partial, column),
                                   "%d pieces of %zu elements with their results",
                                   (int)PARTITION_SLOTS_MAX, size_min(s.inner, s.n));
    length = size_min(length, size_max(stream_piece_bytes(all, budget->each) / line, 1));
    cut_stretches(p, size_min(length, size_max(p->n / PIECES_MIN, 1)), out);
    return TSR_OK;
}
