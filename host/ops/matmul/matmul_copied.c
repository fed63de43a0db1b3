#include "ops/matmul/matmul_copied.h"

#include "base/sizes.h"
#include "core/groups.h"
#include "core/last_group.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matmul/matmul_steps.h"

#define TILES_AND_STAGES                                                                           \
    {"TILE_M", "rows of a work-group's tile: reuse of B against groups", {0, 64, 128, 256}, 0},    \
        {"TILE_N", "columns of a work-group's tile: reuse of A against groups", {0, 64, 128}, 0},  \
        {"SUMS", "outputs of a work-item: reuse against registers", {0, 32, 64, 128}, 0},          \
        {"DEPTH",                                                                                  \
         "extent of the tiles along k: fewer barriers against local memory",                       \
         {0, 8, 16},                                                                               \
         0},                                                                                       \
        {"STAGES",                                                                                 \
         "tiles of A and B under way: latency hidden against local memory",                        \
         {0, 3, 4, 5},                                                                             \
         0},                                                                                       \
    {                                                                                              \
        "BAND", "rows of work-groups that run side by side: B shared against A", {1, 4, 8, 16}, 8  \
    }

const tunable matmul_cp_async_tunables[COPIED_TUNABLES] = {
    TILES_AND_STAGES,
    {"SPLIT", "groups that share k: more of them against adding up", {0, 1, 2, 4, 8, 16, 32}, 0},
};

const tunable matmul_stream_tunables[COPIED_TUNABLES] = {
    TILES_AND_STAGES,
    {"PER_UNIT", "groups on each unit: latency hidden against sums to add up", {1, 2, 3, 4}, 2},
};

/* ---- tiles ------------------------------------------------------------------------------- */

/* Extents of tiles along k, and the k from which the deeper one serves. */
enum { DEPTH_USUAL = 8, DEPTH_DEEP = 16, DEEP_MIN = 512 };

/* Stages of usual tiles; of large deep ones, so that two groups find memory on a unit, and of deep
 * ones of short parts of k, which have few. */
enum { STAGES_USUAL = 4, STAGES_FEW = 3 };

/* Whether vectors of four of A and B are aligned. */
static bool is_aligned(const job *j)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    return matmul_aligned(j, matmul_matrix_a(p)) && matmul_aligned(j, matmul_matrix_b(p));
}

static size_t local_bytes(const copied_tiles *t, uint32_t depth, uint32_t stages)
{
    return (size_t)stages * depth * (t->tile_m + t->tile_n + 8) * sizeof(float);
}

/* Half as many barriers, where k is cut without a rest and rows are aligned, elsewhere deep tiles
 * lose; and where two groups of large tiles still find memory on a unit. */
static bool is_deep(const job *j, const copied_tiles *t, bool large)
{
    const size_t k = matmul_k_read(matmul_of(j->problem));

    return k >= DEEP_MIN && k % DEPTH_DEEP == 0 && is_aligned(j) &&
           (!large || 2 * local_bytes(t, DEPTH_DEEP, STAGES_FEW) <= j->device->large_local);
}

/* Tiles of this size, where it is not told. */
static copied_tiles tiles_of(const job *j, uint32_t tile_m, uint32_t tile_n)
{
    const uint32_t told_m = param(j->params, "TILE_M"), told_n = param(j->params, "TILE_N");
    copied_tiles t = {.tile_m = told_m ? told_m : tile_m,
                      .tile_n = told_n ? told_n : tile_n,
                      .sums = param(j->params, "SUMS"),
                      .depth = param(j->params, "DEPTH"),
                      .stages = param(j->params, "STAGES")};
    const uint32_t area = t.tile_m * t.tile_n;

    if (!t.sums) /* in groups of 128 work-items, or 256 */
        t.sums = area >= 128 * 128 ? 128 : area >= 64 * 128 ? 64 : 32;
    t.items = (size_t)area / t.sums;
    return t;
}

/* Depth and stages, where they are not told. */
static void settle(uint32_t depth, uint32_t stages, copied_tiles *t)
{
    t->depth = t->depth ? t->depth : depth;
    t->stages = t->stages ? t->stages : stages;
    t->local = local_bytes(t, t->depth, t->stages);
}

/* Groups of one product, a tile each. */
static size_t tiles_count(const tsr_matmul_problem *p, const copied_tiles *t)
{
    return size_div_up(p->m, t->tile_m) * size_div_up(p->n, t->tile_n);
}

static void tiles_defines(const job *j, const copied_tiles *t, bool aligned_c, text *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const uint32_t settled[] = {t->tile_m, t->tile_n, t->sums, t->depth, t->stages};

    matmul_defines_operands(p, out);
    text_format(out, " -DALIGNED_A=%d -DALIGNED_B=%d -DALIGNED_C=%d",
                matmul_aligned(j, matmul_matrix_a(p)), matmul_aligned(j, matmul_matrix_b(p)),
                aligned_c);
    matmul_defines_settled(j, matmul_cp_async_tunables, settled, ARRAY_COUNT(settled), out);
}

static const char *tiles_unsupported(const job *j, const copied_tiles *t, text *reason)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const char *why;

    if (p->type != TSR_F32) {
        text_format(reason, "it copies float32, not %s", tsr_type_name(p->type));
        return text_get(reason);
    }
    why = matmul_unsupported_portable(j, reason);
    if (!why)
        why = matmul_unsupported_items(t->items, group_limit(j->device, 0), reason);
    if (why)
        return why;
    if (!matmul_cuts_whole(t->tile_m, t->tile_n, t->sums, t->depth, t->items)) {
        text_format(reason,
                    "tiles of %u x %u x %u are not cut into whole warps and copies with %u sums a "
                    "work-item",
                    t->tile_m, t->tile_n, t->depth, t->sums);
        return text_get(reason);
    }
    return matmul_unsupported_local(j, t->local, reason);
}

/* ---- cp-async ---------------------------------------------------------------------------- */

/* Groups for each unit that are enough to hide latency, and the least that one takes of k. */
enum { GROUPS_A_UNIT = 2, SPAN_MIN = 256 };

/* Tiles for each unit up to which groups share k. */
static const double SHARED_MAX = 0.5;

/* Where there are too few tiles to fill the units, groups share k. */
static size_t usual_parts(const job *j, const copied_tiles *t)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const double tiles = matmul_tiles_a_unit(p, j->device, t->tile_m, t->tile_n);

    if (tiles == 0 || tiles > SHARED_MAX)
        return 1;
    return size_min((size_t)(GROUPS_A_UNIT / tiles), matmul_k_read(p) / SPAN_MIN);
}

cp_async_plan matmul_cp_async_plan(const job *j)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    /* Large tiles where they fill the device: two groups of them run on a unit together. */
    const bool large = matmul_fills_large(p, j->device);
    const bool wide = large || matmul_fills_wide(p, j->device);
    /* Where groups share k, a C of many rows gives enough of them all the same. */
    const double tall_tiles = matmul_tiles_a_unit(p, j->device, 128, 64);
    const bool tall = tall_tiles >= 0.2 && tall_tiles <= SHARED_MAX;
    const uint32_t parts = param(j->params, "SPLIT");
    cp_async_plan s = {.tiles = tiles_of(j, large || tall ? 128 : 64, wide ? 128 : 64)};
    copied_tiles *t = &s.tiles;

    t->depth = t->depth ? t->depth : is_deep(j, t, large) ? DEPTH_DEEP : DEPTH_USUAL;
    s.k = matmul_parts_cut(j, parts ? parts : usual_parts(j, t), t->depth);
    settle(t->depth, t->depth == DEPTH_DEEP && (large || s.k.parts > 1) ? STAGES_FEW : STAGES_USUAL,
           t);
    return s;
}

void matmul_cp_async_defines(const job *j, text *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const cp_async_plan s = matmul_cp_async_plan(j);
    const bool splits = s.k.parts > 1;

    tiles_defines(j, &s.tiles, splits ? p->n % 4 == 0 : matmul_aligned(j, matmul_matrix_c(p)), out);
    text_format(out, " -DSPLITS=%d", splits);
}

const char *matmul_cp_async_unsupported(const job *j, text *reason)
{
    const cp_async_plan s = matmul_cp_async_plan(j);

    return tiles_unsupported(j, &s.tiles, reason);
}

size_t matmul_cp_async_workspace(const job *j)
{
    return matmul_parts_workspace(j, matmul_cp_async_plan(j).k);
}

/* One group a tile, which bands put in order: along one dimension. */
static void multiply(const job *j, const void *layout, command *out)
{
    const cp_async_plan *s = layout;

    command_launch_2d(out, CP_ASYNC_MULTIPLY,
                      tiles_count(matmul_of(j->problem), &s->tiles) * s->tiles.items, 1,
                      s->tiles.items, 1);
    matmul_parts_arguments(j, s->k, out);
}

bool matmul_cp_async_step(const job *j, size_t i, command *out)
{
    const cp_async_plan s = matmul_cp_async_plan(j);

    return matmul_parts_step(j, s.k, i, CP_ASYNC_SUM, multiply, &s, out);
}

/* ---- stream-k ---------------------------------------------------------------------------- */

/* The share of units that have work, where each takes as many tiles as others or one less. */
static double share_busy(double tiles_a_unit)
{
    const double rounds = (double)(size_t)tiles_a_unit;

    return tiles_a_unit / (tiles_a_unit > rounds ? rounds + 1 : rounds);
}

/* The least share that lets a unit keep whole tiles: of large ones, of 64 x 128, and of 64 x 64,
 * which are slower anyway.  Below it `stream-k` was faster on 132 units, from 576^3 to 2560^3. */
static const double BUSY_LARGE = 0.85, BUSY_WIDE = 0.85, BUSY_SMALL = 0.9;

/* Large tiles for each unit from which sums of the last ones cost less than any idle unit, where
 * rows are aligned: others take longer to begin a piece. */
static const double MANY_LARGE = 4;

/* Small tiles for each unit up to which `pipelined` fills the device by still smaller ones. */
static const double SMALL_MIN = 0.55;

bool matmul_stream_gains(const tsr_matmul_problem *p, const device_facts *d)
{
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p);
    const double large = matmul_tiles_a_unit(p, d, 128, 128);
    const double small = matmul_tiles_a_unit(p, d, 64, 64);

    if (matmul_batch(p) > 1 || p->k < 2 * SPAN_MIN)
        return false;
    if (matmul_fills_large(p, d))
        return share_busy(large) < BUSY_LARGE ||
               (large >= MANY_LARGE && matmul_starts_at(&a, 4) && matmul_starts_at(&b, 4));
    if (matmul_fills_wide(p, d))
        return share_busy(matmul_tiles_a_unit(p, d, 64, 128)) < BUSY_WIDE;
    return small >= SMALL_MIN && share_busy(small) < BUSY_SMALL;
}

stream_plan matmul_stream_plan(const job *j)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const bool large = matmul_fills_large(p, j->device);
    const bool wide = large || matmul_fills_wide(p, j->device);
    stream_plan s = {.tiles = tiles_of(j, large ? 128 : 64, wide ? 128 : 64)};
    const bool deep = large && is_deep(j, &s.tiles, true);
    size_t tiles, steps;

    settle(deep ? DEPTH_DEEP : DEPTH_USUAL, deep ? STAGES_FEW : STAGES_USUAL, &s.tiles);
    s.tiles.local += sizeof(cl_uint4); /* a flag, and what aligns it */
    tiles = tiles_count(p, &s.tiles);
    steps = tiles * size_max(size_div_up(matmul_k_read(p), s.tiles.depth), 1);
    s.groups = size_max(j->device->compute_units, 1) * param(j->params, "PER_UNIT");
    s.groups = size_max(size_min(s.groups, steps), 1); /* a step each at least */
    s.shared = tiles;
    if (tiles >= s.groups)
        s.shared = tiles % s.groups ? s.groups + tiles % s.groups : 0;
    s.unshared = tiles - s.shared;
    return s;
}

void matmul_stream_defines(const job *j, text *out)
{
    const stream_plan s = matmul_stream_plan(j);

    tiles_defines(j, &s.tiles, matmul_aligned(j, matmul_matrix_c(matmul_of(j->problem))), out);
    last_group_defines(j->device, last_group_of(j->device), out);
}

const char *matmul_stream_unsupported(const job *j, text *reason)
{
    const stream_plan s = matmul_stream_plan(j);
    const char *why = matmul_unsupported_sizes(matmul_of(j->problem), reason);

    if (!why)
        why = tiles_unsupported(j, &s.tiles, reason);
    if (!why && last_group_of(j->device) == LAST_GROUP_NONE)
        why = "no atomic instruction of the device orders what groups write";
    if (why || s.shared <= GROUP_COUNTERS_MAX)
        return why;
    text_format(reason, "its groups share %zu tiles, and count those of %d", s.shared,
                (int)GROUP_COUNTERS_MAX);
    return text_get(reason);
}

/* The beginning of a tile and the end of another, for each group. */
size_t matmul_stream_workspace(const job *j)
{
    const stream_plan s = matmul_stream_plan(j);

    return s.shared ? 2 * s.groups * s.tiles.tile_m * s.tiles.tile_n * sizeof(float) : 0;
}

bool matmul_stream_step(const job *j, size_t i, command *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const stream_plan s = matmul_stream_plan(j);

    if (i > 0 || p->m == 0 || p->n == 0)
        return false;
    command_launch_1d(out, 0, s.groups * s.tiles.items, s.tiles.items);
    matmul_step_product(out, p);
    command_u32(out, (uint32_t)s.unshared);
    command_workspace(out);
    command_group_counters(out);
    return true;
}
