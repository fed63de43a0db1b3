/* Tiles that NVIDIA's cp.async brings (cl/matmul/matmul_copied.clh): groups take a tile each
 * (matmul_cp_async.cl), or equal shares of all steps along k (matmul_stream.cl). */
#include <float.h>
#include <math.h>

#include "base/sizes.h"
#include "core/groups.h"
#include "core/last_group.h"
#include "core/registry.h"
#include "ops/matmul/matmul_parts.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_shares.h"
#include "ops/matmul/matmul_variants.h"

/* 0: what the shape and the device call for. */
#define TILES_AND_STAGES                                                                           \
    {"TILE_M",                                                                                     \
     "rows of a work-group's tile: reuse of B against groups",                                     \
     {0, 32, 64, 128, 256},                                                                        \
     0},                                                                                           \
        {"TILE_N",                                                                                 \
         "columns of a work-group's tile: reuse of A against groups",                              \
         {0, 32, 64, 128},                                                                         \
         0},                                                                                       \
        {"SUMS", "outputs of a work-item: reuse against registers", {0, 32, 64, 128}, 0},          \
        {"DEPTH",                                                                                  \
         "extent of the tiles along k: fewer barriers against local memory",                       \
         {0, 8, 16, 32},                                                                           \
         0},                                                                                       \
        {"STAGES",                                                                                 \
         "tiles of A and B in flight: latency hidden against local memory",                        \
         {0, 2, 3, 4, 5},                                                                          \
         0},                                                                                       \
        {"SLICES", "sets of work-items a tile: latency hidden against sums", {0, 1, 2, 4, 8}, 0},  \
    {                                                                                              \
        "BAND", "rows of work-groups that run side by side: B shared against A", {1, 4, 8, 16}, 8  \
    }

static const tunable cp_async_tunables[] = {
    TILES_AND_STAGES,
    {"SPLIT",
     "work-groups that share k: more run at once, and leave more sums to add up",
     {0, 1, 2, 4, 8, 16, 32},
     0,
     .host_only = true,
     .any = true},
};

static const tunable stream_tunables[] = {
    TILES_AND_STAGES,
    {"PER_UNIT",
     "work-groups for each compute unit: latency hidden against sums to add up; 0: as SPLIT says, "
     "or 2",
     {0, 1, 2, 3, 4},
     0,
     .host_only = true,
     .any = true},
    {"SPLIT",
     "work-groups that share each tile's k; 0: all groups share the steps of all tiles",
     {0, 1, 2, 3, 4, 6, 8, 12, 16},
     0,
     .host_only = true,
     .any = true},
};

/* ---- tiles ------------------------------------------------------------------------------- */

/* Extents of tiles along k, and the k from which the deeper one serves. */
enum { DEPTH_USUAL = 8, DEPTH_DEEP = 16, DEEP_MIN = 512 };

/* Steps along k of a slice, at least. */
enum { STEPS_MIN = 4 };

/* Stages of usual tiles; of large deep ones, so that two groups find memory on a unit, and of deep
 * ones of short parts of k, which have few. */
enum { STAGES_USUAL = 4, STAGES_FEW = 3 };

/* Tiles of C and of k. */
typedef struct tiling {
    uint32_t tile_m, tile_n, sums, depth, stages, slices;
    size_t items; /* of a work-group */
    size_t local; /* bytes of local memory */
} tiling;

/* Whether vectors of four of A and B are aligned. */
static bool is_aligned(const job *j)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    return matmul_aligned(j, matmul_matrix_a(p)) && matmul_aligned(j, matmul_matrix_b(p));
}

/* Of the stages, or of the sums of the slices, as the kernel's COPIED_BYTES. */
static size_t local_bytes(const tiling *t, uint32_t depth, uint32_t stages)
{
    const size_t ring = (size_t)stages * depth * (t->tile_m + t->tile_n + 8);
    const size_t sums = t->slices > 1 ? (size_t)t->slices * t->tile_m * (t->tile_n + 4) : 0;

    return size_max(ring, sums) * sizeof(float);
}

/* Of 16 rows of each warp, which are stored from where the stages were if C is not aligned: as the
 * kernel's AREA_C. */
static size_t bytes_of_lines(const tiling *t)
{
    return t->slices > 1 ? 0 : t->items / 32 * 16 * ((t->sums == 32 ? 32 : 64) + 4) * sizeof(float);
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
static tiling tiles_of(const job *j, uint32_t tile_m, uint32_t tile_n, uint32_t slices)
{
    const uint32_t set_m = param(j->params, "TILE_M"), set_n = param(j->params, "TILE_N");
    const uint32_t set = param(j->params, "SLICES");
    tiling t = {.slices = set ? set : slices,
                .tile_m = set_m ? set_m : tile_m,
                .tile_n = set_n ? set_n : tile_n,
                .sums = param(j->params, "SUMS"),
                .depth = param(j->params, "DEPTH"),
                .stages = param(j->params, "STAGES")};
    const uint32_t area = t.tile_m * t.tile_n;

    if (!t.sums) /* in groups of 64 work-items, 128, or 256 */
        t.sums = area >= 128 * 128 ? 128 : area >= 64 * 128 ? 64 : 32;
    t.items = (size_t)area / t.sums * t.slices;
    return t;
}

/* A vector of each tile for each work-item, and steps for each slice. */
static uint32_t depth_of(const tiling *t)
{
    const size_t vectors = 4 * t->items / size_min(t->tile_m, t->tile_n);

    return (uint32_t)size_max(size_max(vectors, STEPS_MIN * t->slices), DEPTH_USUAL);
}

/* Depth and stages, where no tunable sets them. */
static void set_depth(uint32_t depth, uint32_t stages, tiling *t)
{
    t->depth = t->depth ? t->depth : depth;
    t->stages = t->stages ? t->stages : stages;
    t->local = local_bytes(t, t->depth, t->stages);
}

static const char *unsupported(const job *j, const tiling *t, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const char *why;

    if (p->type != TSR_F32)
        return plan_unsupported(out, "it multiplies float32, not %s", tsr_type_name(p->type));
    why = matmul_unsupported_portable(j, out);
    if (!why)
        why = matmul_unsupported_items(t->items, group_limit(j->device, 0), out);
    if (why)
        return why;
    if (!matmul_cuts_whole(t->tile_m, t->tile_n, t->sums, t->depth, t->items) ||
        t->depth % (STEPS_MIN * t->slices))
        return plan_unsupported(out,
                                "tiles of %u x %u x %u, with %u sums a work-item and %u slices, do "
                                "not divide into whole warps and copies",
                                t->tile_m, t->tile_n, t->depth, t->sums, t->slices);
    if (bytes_of_lines(t) > local_bytes(t, t->depth, t->stages))
        return plan_unsupported(out,
                                "C passes through local memory, where 16 rows of each warp take "
                                "%zu bytes and %u stages leave %zu",
                                bytes_of_lines(t), t->stages, local_bytes(t, t->depth, t->stages));
    return plan_unsupported_local(out, t->local, j->device->large_local);
}

/* Copies ask whether lines are aligned where they lie across k alone: programs are few. */
static void define(const job *j, const tiling *t, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    plan_set(out, "TILE_M", t->tile_m);
    plan_set(out, "TILE_N", t->tile_n);
    plan_set(out, "SUMS", t->sums);
    plan_set(out, "DEPTH", t->depth);
    plan_set(out, "STAGES", t->stages);
    plan_set(out, "SLICES", t->slices);
    matmul_define_operands(p, out);
    plan_define(out, "ALIGNED_A=%d", p->trans_a && matmul_aligned(j, matmul_matrix_a(p)));
    plan_define(out, "ALIGNED_B=%d", !p->trans_b && matmul_aligned(j, matmul_matrix_b(p)));
}

/* ---- what they take ---------------------------------------------------------------------- */

/* Sizes of tiles, rates of the loop along k alone, and steps of k that take as long as beginning
 * and storing a tile: by a fit to 489 times of whole products on an H200, whose root mean
 * square of errors is 8%; the latter of tiles of 2048 and 4096 outputs by 100 more of a k of 64 or
 * less; shared tiles of 32 x 128 and 64 x 128 by 15 of two products.  A group that takes one whole
 * tile needs fewer registers than one that shares steps, so that more run side by side. */
typedef struct rating {
    share_tile tile;
    uint32_t slices;
} rating;

static const rating rated_whole[] = {
    {{32, 32, 8, 2, 116, 128, 63, 0}, 8},  {{32, 32, 8, 2, 78, 134, 37, 0}, 4},
    {{32, 64, 8, 2, 122, 122, 32, 0}, 4},  {{32, 64, 8, 4, 116, 150, 43, 0}, 2},
    {{64, 32, 8, 2, 132, 138, 44, 0}, 4},  {{64, 32, 8, 4, 118, 150, 38, 0}, 2},
    {{64, 64, 8, 2, 153, 164, 52, 0}, 2},  {{64, 32, 8, 3, 68, 116, 23, 0}, 1},
    {{64, 64, 8, 5, 131, 168, 29, 0}, 1},  {{64, 128, 8, 4, 137, 175, 47, 0}, 1},
    {{128, 64, 8, 4, 158, 179, 44, 0}, 1}, {{128, 128, 8, 2, 168, 192, 69, 0}, 1},
};
static const rating rated_shared[] = {
    {{32, 32, 8, 2, 84, 106, 37, 0}, 8},    {{32, 64, 8, 2, 88, 110, 37, 0}, 4},
    {{64, 32, 8, 2, 84, 113, 33, 0}, 4},    {{64, 64, 8, 2, 117, 157, 33, 0}, 2},
    {{64, 32, 8, 3, 54, 111, 19, 0}, 1},    {{64, 64, 8, 2, 125, 151, 27, 0}, 1},
    {{128, 64, 8, 2, 115, 181, 30, 0}, 1},  {{256, 128, 8, 1, 198, 198, 53, 0}, 1},
    {{32, 128, 16, 2, 141, 157, 40, 0}, 1}, {{64, 128, 8, 2, 151, 174, 40, 0}, 1},
    {{128, 128, 8, 2, 147, 188, 53, 0}, 1},
};
static const share_costs costs = {.start = 2980, .add_up = 2060, .add_part = 129, .bytes_ns = 1910};

/* The same where a second launch adds up. */
static const share_costs costs_launch = {.start = 2980, .add_up = 2700, .bytes_ns = 4460};

/* Nanoseconds more for an element whose neighbours lie along k, which is turned; what deep tiles
 * gain; what is left of a rate where C has fewer rows or columns than a tile, so that every copy is
 * checked; and how much longer a tile of a C that is added to takes to be stored, or where slices
 * ask for it ahead. */
static const double turned_ns = 0.0182, deep_gain = 1.03, checked_loss = 0.92, added_to = 2.13,
                    added_ahead = 1.33;

/* Tiles of so many rows, of which a unit has one: deep ones.  They are chosen where B lies along k:
 * float32 5808x4665x4255 with B transposed takes 4.72 ms of an H200, by two groups of 128 x 128 on
 * a unit 4.96; 3001x3003x3005 1.16 and 1.23.  Elsewhere they lose 4 to 7%. */
enum { TALL = 256 };

/* Of up to 32 rows or columns of C shared tiles of four slices ran 1.2 times as fast as rated, in
 * six products of 17 to 30 on an H200. */
static const double few_rows_gain = 1.2;
enum { FEW_ROWS = 32 };

/* How a product is shared, in which tiles; k in parts, where a second launch adds up. */
typedef struct layout {
    tiling is;
    share_tile tile;
    shares shared;
    k_parts k;
} layout;

/* Groups on each unit that parts of k make, at most, and the least that one takes of k. */
enum { PARTS_A_UNIT = 2, SPAN_MIN = 32 };

/* Whole tiles, a group each, or the best number of parts of k, or as many as SPLIT says: *ns is
 * what they take. */
static void cut_parts(const job *j, layout *x, double *ns)
{
    const size_t set = param(j->params, "SPLIT"), k = matmul_k_read(matmul_of(j->problem));

    x->shared = matmul_share_as_set(j, &x->tile, 1, 0);
    x->k = matmul_parts_cut(j, set, x->is.depth);
    *ns = matmul_share_time(j, &x->tile, &costs, &x->shared);
    if (set || x->tile.products > 1 || x->shared.tiles == 0)
        return;
    for (size_t most = 1; most <= PARTS_A_UNIT; most++) {
        const size_t parts = size_min(most * matmul_units(j) / x->shared.tiles, k / SPAN_MIN);
        const k_parts cut = matmul_parts_cut(j, parts, x->is.depth);
        const shares s = matmul_share_as_set(j, &x->tile, (uint32_t)cut.parts, 0);
        const double other = matmul_share_time(j, &x->tile, &costs_launch, &s);

        if (cut.parts < 2 || other >= *ns)
            continue;
        *ns = other;
        x->k = cut;
    }
}

/* Those of a size, as tunables say, and the time they take: `whole` tiles, a group each, or what
 * SPLIT and PER_UNIT say. */
static layout layout_for(const job *j, const rating *rated, bool whole, double *ns)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const uint32_t split = whole ? 0 : param(j->params, "SPLIT");
    const uint32_t per_unit = whole ? 0 : param(j->params, "PER_UNIT");
    const double turned = (!p->trans_a ? turned_ns / rated->tile.columns : 0) +
                          (p->trans_b ? turned_ns / rated->tile.rows : 0);
    layout x = {.is = tiles_of(j, rated->tile.rows, rated->tile.columns, rated->slices),
                .tile = rated->tile};
    const bool large = x.is.tile_m * x.is.tile_n >= 128 * 128;
    const bool tall = !whole && rated->tile.rows >= TALL;
    const bool deep = !tall && x.is.slices == 1 && (large || whole) && is_deep(j, &x.is, large);
    const double added = x.is.slices > 1 ? added_ahead : added_to;
    const bool few = !whole && x.is.slices == 4 && size_min(p->m, p->n) < FEW_ROWS;
    const double checked = few ? few_rows_gain : checked_loss;
    const double gain =
        (deep ? deep_gain : 1) * (p->m < x.is.tile_m || p->n < x.is.tile_n ? checked : 1);

    set_depth(deep   ? DEPTH_DEEP
              : tall ? size_max(DEPTH_DEEP, depth_of(&x.is))
                     : depth_of(&x.is),
              deep && large ? STAGES_FEW : STAGES_USUAL, &x.is);
    x.tile.rows = x.is.tile_m;
    x.tile.columns = x.is.tile_n;
    x.tile.depth = x.is.depth;
    x.tile.products = matmul_batch(p);
    x.tile.alone = gain / (1 / rated->tile.alone + turned);
    x.tile.full = gain / (1 / rated->tile.full + turned);
    x.tile.begin = rated->tile.begin / x.is.depth * (matmul_reads_c(p) ? added : 1);
    if (whole) {
        cut_parts(j, &x, ns);
    } else if (split || per_unit) {
        x.shared = matmul_share_as_set(j, &x.tile, split, per_unit);
        *ns = matmul_share_time(j, &x.tile, &costs, &x.shared);
    } else {
        x.shared = matmul_share(j, &x.tile, &costs, ns);
    }
    return x;
}

/* Whether a tile suits the product: a tall one where B lies along k and the device has room, one of
 * few rows without slices where C has as many. */
static bool serves(const job *j, const rating *rated, const layout *x)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);

    if (rated->tile.rows >= TALL)
        return p->trans_b && !param(j->params, "SUMS") &&
               x->is.items <= group_limit(j->device, 0) && x->is.local <= j->device->large_local;
    return rated->tile.rows > FEW_ROWS || rated->slices > 1 || p->m >= rated->tile.rows;
}

/* What takes least time of these tiles.  Other sizes, which tunables set, are as the last. */
static layout layout_of(const job *j, const rating *rated, size_t count, bool whole, double *least)
{
    const uint32_t rows = param(j->params, "TILE_M"), columns = param(j->params, "TILE_N");
    const uint32_t slices = param(j->params, "SLICES");
    layout best = {0};

    *least = DBL_MAX;
    for (size_t i = 0; i < count; i++) {
        double ns;
        layout x;

        if ((rows && rows != rated[i].tile.rows) || (columns && columns != rated[i].tile.columns) ||
            (slices && slices != rated[i].slices))
            continue;
        x = layout_for(j, &rated[i], whole, &ns);
        if (ns >= *least || (!rows && !serves(j, &rated[i], &x)))
            continue;
        *least = ns;
        best = x;
    }
    return *least < DBL_MAX ? best : layout_for(j, &rated[count - 1], whole, least);
}

static layout layout_whole(const job *j, double *ns)
{
    return layout_of(j, rated_whole, ARRAY_COUNT(rated_whole), true, ns);
}

static layout layout_shared(const job *j, double *ns)
{
    return layout_of(j, rated_shared, ARRAY_COUNT(rated_shared), false, ns);
}

/* ---- cp-async ---------------------------------------------------------------------------- */

/* Entries of cl/matmul/matmul_cp_async.cl, in the variant's order. */
enum { MULTIPLY, SUM };

static const char *plan_cp_async(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    double ns;
    const layout x = layout_whole(j, &ns);
    const tiling *t = &x.is;
    const char *why = unsupported(j, t, out);
    command grid;

    if (why)
        return why;
    define(j, t, out);
    plan_set(out, "SPLIT", (uint32_t)x.k.parts);
    plan_define(out, "SPLITS=%d", x.k.parts > 1);
    matmul_define_parts(p, out);
    /* One group a tile, which bands put in order: along one dimension. */
    command_launch_2d(&grid, MULTIPLY,
                      (size_div_up(p->m, t->tile_m) * size_div_up(p->n, t->tile_n)) * t->items, 1,
                      t->items, 1);
    matmul_parts_commands(j, x.k, &grid, SUM, out);
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

static const char *plan_stream(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    double ns;
    layout x = layout_shared(j, &ns);
    const char *why = matmul_unsupported_batch(p, out);
    matmul_call call = matmul_call_of(p);
    command *c;

    x.is.local += sizeof(cl_uint4); /* a flag, and what aligns it */
    if (!why)
        why = unsupported(j, &x.is, out);
    if (!why)
        why = matmul_unsupported_shares(j, &x.shared, out);
    if (why)
        return why;

    define(j, &x.is, out);
    matmul_set_shares(j, &x.shared, out);
    last_group_defines(j->device, last_group_of(j->device), &out->defines);
    out->workspace = matmul_shares_workspace(j, &x.shared, &x.tile);
    if (p->m == 0 || p->n == 0)
        return NULL;
    c = plan_launch_1d(out, 0, x.shared.groups * x.is.items, x.is.items);
    call.unshared = (uint32_t)matmul_unshared(&x.shared);
    command_operand(c, MATMUL_A);
    command_operand(c, MATMUL_B);
    command_operand(c, MATMUL_C);
    command_workspace(c);
    command_group_counters(c, matmul_is_shared(&x.shared));
    matmul_pass(c, p, &call);
    return NULL;
}

const variant matmul_stream = {.name = "stream-k",
                               .idea = "every group multiplies the same number of steps along k, "
                                       "across tiles: no unit waits at the end",
                               .source = "matmul/matmul_stream.cl",
                               .entries = {"matmul_stream"},
                               .needs = 1u << FEATURE_ASYNC_COPY | 1u << FEATURE_LARGE_LOCAL,
                               .uses = LAST_GROUP_USES,
                               .group_counters = true,
                               .tunables = stream_tunables,
                               .tunable_count = ARRAY_COUNT(stream_tunables),
                               .plan = plan_stream};

/* ---- what they take in all ---------------------------------------------------------------- */

double matmul_cp_async_time(const problem *q, const device_facts *d)
{
    const params defaults = params_default(&matmul_cp_async);
    const device_facts known = matmul_known(d);
    double ns;

    layout_whole(&(job){q, &known, &defaults, false}, &ns);
    return ns;
}

double matmul_stream_time(const problem *q, const device_facts *d)
{
    const params defaults = params_default(&matmul_stream);
    const device_facts known = matmul_known(d);
    layout x;
    double ns;

    if (matmul_batch(matmul_of(q)) > 1)
        return INFINITY;
    x = layout_shared(&(job){q, &known, &defaults, false}, &ns);
    /* Tiles that nobody shares `cp-async` has faster. */
    return matmul_is_shared(&x.shared) ? ns : INFINITY;
}
