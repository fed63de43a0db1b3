/* Tiles that NVIDIA's cp.async brings (cl/matmul/matmul_copied.clh): groups take a tile each
 * (matmul_cp_async.cl), or equal shares of all steps along k (matmul_stream.cl). */
#include <math.h>

#include "base/sizes.h"
#include "core/groups.h"
#include "core/last_group.h"
#include "ops/matmul/matmul_parts.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_shares.h"
#include "ops/matmul/matmul_variants.h"

/* 0: what the shape and the device call for. */
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

static const tunable cp_async_tunables[] = {
    TILES_AND_STAGES,
    {"SPLIT",
     "groups that share k: more of them against adding up",
     {0, 1, 2, 4, 8, 16, 32},
     0,
     .host_only = true},
};

static const tunable stream_tunables[] = {
    TILES_AND_STAGES,
    {"PER_UNIT",
     "groups on each unit: latency hidden against sums to add up; 0: as SPLIT says, or 2",
     {0, 1, 2, 3, 4},
     0,
     .host_only = true},
    {"SPLIT",
     "groups that share each tile's k; 0: all groups share all steps",
     {0, 1, 2, 3, 4, 6, 8, 12, 16},
     0,
     .host_only = true},
};

/* ---- tiles ------------------------------------------------------------------------------- */

/* Extents of tiles along k, and the k from which the deeper one serves. */
enum { DEPTH_USUAL = 8, DEPTH_DEEP = 16, DEEP_MIN = 512 };

/* Stages of usual tiles; of large deep ones, so that two groups find memory on a unit, and of deep
 * ones of short parts of k, which have few. */
enum { STAGES_USUAL = 4, STAGES_FEW = 3 };

/* Tiles of C and of k. */
typedef struct tiling {
    uint32_t tile_m, tile_n, sums, depth, stages;
    size_t items; /* of a work-group */
    size_t local; /* bytes of local memory */
} tiling;

/* Whether vectors of four of A and B are aligned. */
static bool is_aligned(const job *j)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    return matmul_aligned(j, matmul_matrix_a(p)) && matmul_aligned(j, matmul_matrix_b(p));
}

/* Whether columns of B come four bytes at a time, as they lie along k and are not aligned: then
 * small tiles, which more of run side by side, are faster than wide ones. */
static bool is_turned(const tsr_matmul_problem *p)
{
    const matmul_matrix b = matmul_matrix_b(p);

    return p->trans_b && !matmul_starts_at(&b, 4);
}

static size_t local_bytes(const tiling *t, uint32_t depth, uint32_t stages)
{
    return (size_t)stages * depth * (t->tile_m + t->tile_n + 8) * sizeof(float);
}

/* Half as many barriers, where k is cut without a rest and rows are aligned, elsewhere deep tiles
 * lose; and where two groups of large tiles still find memory on a unit. */
static bool is_deep(const job *j, const tiling *t, bool large)
{
    const size_t k = matmul_k_read(matmul_of(j->problem));

    return k >= DEEP_MIN && k % DEPTH_DEEP == 0 && is_aligned(j) &&
           (!large || 2 * local_bytes(t, DEPTH_DEEP, STAGES_FEW) <= j->device->large_local);
}

/* Tiles of this size, where no tunable sets another. */
static tiling tiles_of(const job *j, uint32_t tile_m, uint32_t tile_n)
{
    const uint32_t set_m = param(j->params, "TILE_M"), set_n = param(j->params, "TILE_N");
    tiling t = {.tile_m = set_m ? set_m : tile_m,
                .tile_n = set_n ? set_n : tile_n,
                .sums = param(j->params, "SUMS"),
                .depth = param(j->params, "DEPTH"),
                .stages = param(j->params, "STAGES")};
    const uint32_t area = t.tile_m * t.tile_n;

    if (!t.sums) /* in groups of 128 work-items, or 256 */
        t.sums = area >= 128 * 128 ? 128 : area >= 64 * 128 ? 64 : 32;
    t.items = (size_t)area / t.sums;
    return t;
}

/* Depth and stages, where no tunable sets them. */
static void set_depth(uint32_t depth, uint32_t stages, tiling *t)
{
    t->depth = t->depth ? t->depth : depth;
    t->stages = t->stages ? t->stages : stages;
    t->local = local_bytes(t, t->depth, t->stages);
}

/* The k up to which all of it comes at once, in deep tiles: no step waits for the one before.  Then
 * small tiles, of which many groups run side by side, are fastest, aligned or not: 7786x6051x32,
 * both transposed, takes an H200 149 us, and 291 in large tiles. */
enum { AT_ONCE_MAX = 96, STAGES_MAX = 5 };

bool matmul_copies_at_once(const tsr_matmul_problem *p, const device_facts *d)
{
    return p->k <= AT_ONCE_MAX && p->k > 0 && matmul_tiles_a_unit(p, d, 64, 64) >= 1;
}

/* Stages that hold it, but for what does not fit. */
static uint32_t stages_at_once(const tsr_matmul_problem *p)
{
    const size_t tiles = size_div_up(p->k, DEPTH_DEEP);

    return (uint32_t)size_min(size_max(tiles + 1, STAGES_FEW), STAGES_MAX);
}

static const char *unsupported(const job *j, const tiling *t, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const char *why;

    if (p->type != TSR_F32)
        return plan_unsupported(out, "it copies float32, not %s", tsr_type_name(p->type));
    why = matmul_unsupported_portable(j, out);
    if (!why)
        why = matmul_unsupported_items(t->items, group_limit(j->device, 0), out);
    if (why)
        return why;
    if (!matmul_cuts_whole(t->tile_m, t->tile_n, t->sums, t->depth, t->items))
        return plan_unsupported(
            out,
            "tiles of %u x %u x %u are not cut into whole warps and copies with %u sums a "
            "work-item",
            t->tile_m, t->tile_n, t->depth, t->sums);
    return matmul_unsupported_local(j, t->local, out);
}

static void define(const job *j, const tiling *t, bool aligned_c, plan *out)
{
    plan_set(out, "TILE_M", t->tile_m);
    plan_set(out, "TILE_N", t->tile_n);
    plan_set(out, "SUMS", t->sums);
    plan_set(out, "DEPTH", t->depth);
    plan_set(out, "STAGES", t->stages);
    matmul_define_operands(matmul_of(j->problem), out);
    matmul_define_aligned(j, out);
    plan_define(out, "ALIGNED_C=%d", aligned_c);
}

/* ---- cp-async ---------------------------------------------------------------------------- */

/* Entries of cl/matmul/matmul_cp_async.cl, in the variant's order. */
enum { MULTIPLY, SUM };

/* Groups for each unit that are enough to hide latency, and the least that one takes of k. */
enum { GROUPS_A_UNIT = 2, SPAN_MIN = 256 };

/* Tiles for each unit up to which groups share k. */
static const double SHARED_MAX = 0.5;

/* Where there are too few tiles to fill the units, groups share k. */
static size_t usual_parts(const job *j, const tiling *t)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const double tiles = matmul_tiles_a_unit(p, j->device, t->tile_m, t->tile_n);

    if (tiles == 0 || tiles > SHARED_MAX)
        return 1;
    return size_min((size_t)(GROUPS_A_UNIT / tiles), matmul_k_read(p) / SPAN_MIN);
}

static const char *plan_cp_async(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    /* Large tiles where they fill the device: two groups of them run on a unit together. */
    const bool large = matmul_fills_large(p, j->device);
    const bool wide = large || (matmul_fills_wide(p, j->device) && !is_turned(p));
    /* Where groups share k, a C of many rows gives enough of them all the same. */
    const double tall_tiles = matmul_tiles_a_unit(p, j->device, 128, 64);
    const bool tall = tall_tiles >= 0.2 && tall_tiles <= SHARED_MAX;
    const bool at_once = matmul_copies_at_once(p, j->device);
    const uint32_t parts = param(j->params, "SPLIT");
    tiling t = tiles_of(j, !at_once && (large || tall) && p->m > 64 ? 128 : 64,
                        !at_once && wide && p->n > 64 ? 128 : 64);
    const char *why;
    command grid;
    k_parts k;

    if (at_once)
        set_depth(DEPTH_DEEP, stages_at_once(p), &t);
    t.depth = t.depth ? t.depth : is_deep(j, &t, large) ? DEPTH_DEEP : DEPTH_USUAL;
    k = matmul_parts_cut(j, parts ? parts : usual_parts(j, &t), t.depth);
    set_depth(t.depth, t.depth == DEPTH_DEEP && (large || k.parts > 1) ? STAGES_FEW : STAGES_USUAL,
              &t);
    why = unsupported(j, &t, out);
    if (why)
        return why;
    define(j, &t, k.parts > 1 ? p->n % 4 == 0 : matmul_aligned(j, matmul_matrix_c(p)), out);
    plan_set(out, "SPLIT", (uint32_t)k.parts);
    plan_define(out, "SPLITS=%d", k.parts > 1);
    matmul_define_parts(p, out);
    /* One group a tile, which bands put in order: along one dimension. */
    command_launch_2d(&grid, MULTIPLY,
                      (size_div_up(p->m, t.tile_m) * size_div_up(p->n, t.tile_n)) * t.items, 1,
                      t.items, 1);
    matmul_parts_commands(j, k, &grid, SUM, out);
    return NULL;
}

const variant matmul_cp_async = {
    .name = "cp-async",
    .idea = "copies run tiles ahead without registers, which hold the next step's vectors instead",
    .source = "matmul/matmul_cp_async.cl",
    .entries = {"matmul_cp_async", "matmul_sum_parts"},
    .needs = 1u << FEATURE_ASYNC_COPY | 1u << FEATURE_LARGE_LOCAL,
    .tunables = cp_async_tunables,
    .tunable_count = ARRAY_COUNT(cp_async_tunables),
    .plan = plan_cp_async};

/* ---- stream-k ---------------------------------------------------------------------------- */

/* The share of units that have work, where each takes as many tiles as others or one less. */
static double share_busy(double tiles_a_unit)
{
    const double rounds = (double)(size_t)tiles_a_unit;

    return tiles_a_unit / (tiles_a_unit > rounds ? rounds + 1 : rounds);
}

/* The same of large tiles, of which a unit multiplies two at a time: one that is left alone takes
 * less than two, and more than half of their time. */
static double share_busy_large(double tiles_a_unit)
{
    static const double alone = 1.4;
    const double rounds = ceil(tiles_a_unit);

    return tiles_a_unit / (rounds > 2 && fmod(rounds, 2) == 1 ? rounds - 1 + alone : rounds);
}

/* The least share that lets a unit keep whole tiles: of large ones, of 64 x 128, and of 64 x 64,
 * which are slower anyway.  Below it `stream-k` was faster on 132 units, from 576^3 to 2560^3, and
 * at 3957 x 3329 x 2741. */
static const double BUSY_LARGE = 0.92, BUSY_WIDE = 0.85, BUSY_SMALL = 0.9;

/* Large tiles for each unit from which sums of the last ones cost less than any idle unit, where
 * rows are aligned: others take longer to begin a piece. */
static const double MANY_LARGE = 4;

/* Small tiles for each unit up to which `pipelined` fills the device by still smaller ones, and
 * from which they stay whole where copies take four bytes. */
static const double SMALL_MIN = 0.55, SMALL_WHOLE = 1.5;

bool matmul_turned_whole(const tsr_matmul_problem *p, const device_facts *d)
{
    return is_turned(p) && !matmul_fills_large(p, d) &&
           matmul_tiles_a_unit(p, d, 64, 64) >= SMALL_WHOLE;
}

/* Small tiles for each unit, at most, that groups of `stream-k` share though k is short, that k,
 * and steps of a unit up to which it has one group. */
static const double SHORT_MAX = 1;
enum { SHORT_MIN = 128, SHORT_END = 1024, STEPS_FEW = 40 };

/* Steps along k of small tiles for each unit. */
static double small_steps(const tsr_matmul_problem *p, const device_facts *d)
{
    return matmul_tiles_a_unit(p, d, 64, 64) * (double)size_div_up(p->k, DEPTH_USUAL);
}

/* Whether a group for each unit is faster than `pipelined` in tiles of 32 x 32, of which two groups
 * run on a unit, and which does not share k there.  In microseconds, as measured on an H200 from
 * 412 x 341 x 310 to 546 x 356 x 590. */
static bool short_gains(const tsr_matmul_problem *p, const device_facts *d)
{
    static const double begun = 9.5, step = 0.25, pipelined_begun = 3, pipelined_step = 0.85,
                        further = 0.65;
    const double least = matmul_tiles_a_unit(p, d, 32, 32);
    const double rounds = 1 + further * (ceil(least / 2) - 1);

    return p->k >= SHORT_MIN && p->k < SHORT_END && least >= 1 &&
           matmul_tiles_a_unit(p, d, 64, 64) <= SHORT_MAX &&
           begun + step * small_steps(p, d) <
               pipelined_begun + rounds * pipelined_step * (double)size_div_up(p->k, 32);
}

bool matmul_stream_gains(const tsr_matmul_problem *p, const device_facts *d)
{
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p);
    const double large = matmul_tiles_a_unit(p, d, 128, 128);
    const double small = matmul_tiles_a_unit(p, d, 64, 64);

    if (matmul_batch(p) > 1 || matmul_turned_whole(p, d))
        return false;
    if (p->k < 2 * SPAN_MIN || small < SMALL_MIN)
        return short_gains(p, d);
    if (matmul_fills_large(p, d))
        return share_busy_large(large) < BUSY_LARGE ||
               (large >= MANY_LARGE && matmul_starts_at(&a, 4) && matmul_starts_at(&b, 4));
    if (matmul_fills_wide(p, d) && !is_turned(p))
        return share_busy(matmul_tiles_a_unit(p, d, 64, 128)) < BUSY_WIDE;
    return share_busy(small) < BUSY_SMALL;
}

/* Groups on a unit, where no tunable says so: one of few steps, whose sums others would add up. */
static uint32_t usual_per_unit(const tsr_matmul_problem *p, const device_facts *d)
{
    return matmul_tiles_a_unit(p, d, 64, 64) <= SHORT_MAX && small_steps(p, d) <= STEPS_FEW ? 1 : 2;
}

static const char *plan_stream(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const bool large = matmul_fills_large(p, j->device);
    const bool wide = large || (matmul_fills_wide(p, j->device) && !is_turned(p));
    tiling t = tiles_of(j, large ? 128 : 64, wide ? 128 : 64);
    const bool deep = large && is_deep(j, &t, true);
    const char *why = matmul_unsupported_batch(p, out);
    matmul_call call = matmul_call_of(p);
    const uint32_t per_unit = param(j->params, "PER_UNIT");
    share_tile tile;
    shares s;
    command *c;

    set_depth(deep ? DEPTH_DEEP : DEPTH_USUAL, deep ? STAGES_FEW : STAGES_USUAL, &t);
    t.local += sizeof(cl_uint4); /* a flag, and what aligns it */
    if (!why)
        why = unsupported(j, &t, out);
    if (why)
        return why;
    tile = (share_tile){.rows = t.tile_m, .columns = t.tile_n, .depth = t.depth};
    s = matmul_share_as_set(j, &tile, param(j->params, "SPLIT"),
                            per_unit ? per_unit : usual_per_unit(p, j->device));
    why = matmul_unsupported_shares(j, &s, out);
    if (why)
        return why;

    define(j, &t, matmul_aligned(j, matmul_matrix_c(p)), out);
    matmul_set_shares(j, &s, out);
    last_group_defines(j->device, last_group_of(j->device), &out->defines);
    out->workspace = matmul_shares_workspace(j, &s, &tile);
    if (p->m == 0 || p->n == 0)
        return NULL;
    c = plan_launch_1d(out, 0, s.groups * t.items, t.items);
    call.unshared = (uint32_t)matmul_unshared(&s);
    command_operand(c, MATMUL_A);
    command_operand(c, MATMUL_B);
    command_operand(c, MATMUL_C);
    command_workspace(c);
    command_group_counters(c);
    matmul_pass(c, p, &call);
    return NULL;
}

const variant matmul_stream = {
    .name = "stream-k",
    .idea = "every group multiplies as many steps along k, across tiles: no unit waits at the end",
    .source = "matmul/matmul_stream.cl",
    .entries = {"matmul_stream"},
    .needs = 1u << FEATURE_ASYNC_COPY | 1u << FEATURE_LARGE_LOCAL,
    .uses = LAST_GROUP_USES,
    .group_counters = true,
    .tunables = stream_tunables,
    .tunable_count = ARRAY_COUNT(stream_tunables),
    .plan = plan_stream};
