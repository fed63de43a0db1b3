/* FP32 by three TF32 products of a warp's matrix instructions: cl/matmul/matmul_mma_3xtf32.cl. */
#include <math.h>
#include <stdint.h>

#include "base/sizes.h"
#include "core/last_group.h"
#include "core/registry.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_shares.h"
#include "ops/matmul/matmul_variants.h"

/* 0: what the shape and the device call for. */
static const tunable tunables[] = {
    {"TILE_M", "rows of a work-group's tile: reuse of B against groups", {0, 32, 64, 128}, 0},
    {"TILE_N", "columns of a work-group's tile: reuse of A against groups", {0, 32, 64, 128}, 0},
    {"DEPTH", "extent of blocks along k: fewer barriers against memory", {0, 16, 32}, 0},
    {"STAGES",
     "blocks of A and B in flight: latency hidden against local memory",
     {0, 2, 3, 4, 5},
     0},
    {"BAND", "rows of work-groups that run side by side: B shared against A", {1, 4, 8, 16}, 8},
    {"SPLIT",
     "work-groups that share each tile's k: more run at once, and leave more sums to add up",
     {0, 1, 2, 3, 4, 6, 8, 12, 16, 32},
     0,
     .host_only = true,
     .any = true},
    {"PER_UNIT",
     "work-groups for each compute unit, which share the steps of all tiles; 0: as SPLIT says",
     {0, 1, 2, 3, 4},
     0,
     .host_only = true,
     .any = true},
};

/* Tiles, the parts of them that warps take, and blocks in flight. */
typedef struct tiling {
    share_tile tile;
    uint32_t warp_m, warp_n, stages;
} tiling;

/* From small to large.  Rates are of the loop along k alone, and `begin` is in steps of one k: by
 * fits to times of whole products on an H200, in 99 shapes and layouts, and `begin` in 40 more,
 * whose root mean square of errors is 8%. */
static const tiling tilings[] = {
    {{32, 32, 32, 4, 63, 109, 12, 0}, 16, 16, 4},    {{64, 32, 32, 4, 85, 146, 36, 0}, 32, 16, 3},
    {{64, 64, 32, 3, 115, 174, 62, 0}, 32, 32, 3},   {{128, 64, 16, 2, 145, 199, 73, 0}, 64, 32, 4},
    {{128, 128, 16, 1, 173, 173, 31, 0}, 64, 32, 4},
};
static const share_costs costs = {.start = 3240, .add_up = 1970, .add_part = 320, .bytes_ns = 1730};

/* How much longer a tile of a C that is added to takes to be stored. */
static const double added_to = 2.1;

typedef struct layout {
    tiling is;
    shares shared;
} layout;

static size_t items_of(const tiling *t)
{
    return (size_t)32 * (t->tile.rows / t->warp_m) * (t->tile.columns / t->warp_n);
}

/* Bytes of a block of an operand and its padding. */
static size_t block_bytes(uint32_t side, uint32_t depth, bool along)
{
    return sizeof(float) * (along ? side * (depth + 4) : depth * (side + 8));
}

static size_t local_bytes(const tsr_matmul_problem *p, const tiling *t)
{
    return t->stages * (block_bytes(t->tile.rows, t->tile.depth, !p->trans_a) +
                        block_bytes(t->tile.columns, t->tile.depth, p->trans_b));
}

/* What takes least time by what tunables leave open, and that time; 0 groups where no tile is as
 * they say. */
static layout layout_of(const job *j, double *out_ns)
{
    const uint32_t rows = param(j->params, "TILE_M"), columns = param(j->params, "TILE_N");
    const uint32_t depth = param(j->params, "DEPTH"), stages = param(j->params, "STAGES");
    const uint32_t split = param(j->params, "SPLIT"), per_unit = param(j->params, "PER_UNIT");
    const tsr_matmul_problem *p = matmul_of(j->problem);
    layout best = {0};
    double least = INFINITY;

    for (size_t i = 0; i < ARRAY_COUNT(tilings); i++) {
        layout x = {.is = tilings[i]};
        double ns;

        if ((rows && rows != x.is.tile.rows) || (columns && columns != x.is.tile.columns))
            continue;
        x.is.tile.products = matmul_batch(p);
        x.is.tile.depth = depth ? depth : x.is.tile.depth;
        x.is.tile.begin *= (matmul_reads_c(p) ? added_to : 1) / x.is.tile.depth;
        x.is.stages = stages ? stages : x.is.stages;
        if (split || per_unit) {
            x.shared = matmul_share_as_set(j, &x.is.tile, split, per_unit);
            ns = matmul_share_time(j, &x.is.tile, &costs, &x.shared);
        } else {
            x.shared = matmul_share(j, &x.is.tile, &costs, &ns);
        }
        if (ns >= least)
            continue;
        least = ns;
        best = x;
    }
    *out_ns = least;
    return best;
}

/* ---- the variant ------------------------------------------------------------------------- */

static const char *unsupported(const job *j, const layout *x, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const tsr_matmul_problem first = matmul_product(p, 0);
    const unsigned has = j->device->nv_capability;
    const char *why = matmul_unsupported_3xtf32(&first, out);

    if (why)
        return why;
    if (x->shared.tiles > UINT32_MAX)
        return plan_unsupported(out, "it counts tiles in 32 bits, and there are %zu",
                                x->shared.tiles);
    if (has < 80)
        return plan_unsupported(
            out, "its instructions need compute capability 8.0, and the device has %u.%u", has / 10,
            has % 10);
    if (!x->shared.groups)
        return plan_unsupported(out, "it does not have tiles of %u x %u",
                                param(j->params, "TILE_M"), param(j->params, "TILE_N"));
    why = matmul_unsupported_shares(j, &x->shared, out);
    return why ? why : plan_unsupported_local(out, local_bytes(p, &x->is), j->device->large_local);
}

static const char *plan_mma_3xtf32(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const matmul_matrix c_matrix = matmul_matrix_c(p);
    double ns;
    const layout x = layout_of(j, &ns);
    const share_tile *t = &x.is.tile;
    const char *why = unsupported(j, &x, out);
    matmul_call call = matmul_call_of(p);
    command *c;

    if (why)
        return why;
    plan_set(out, "TILE_M", t->rows);
    plan_set(out, "TILE_N", t->columns);
    plan_set(out, "DEPTH", t->depth);
    plan_set(out, "STAGES", x.is.stages);
    matmul_set_shares(j, &x.shared, out);
    plan_define(out, "WARP_M=%u", x.is.warp_m);
    plan_define(out, "WARP_N=%u", x.is.warp_n);
    matmul_define_operands(p, out);
    matmul_define_aligned(j, out);
    plan_define(out, "ALIGNED_C=%d", matmul_starts_at(&c_matrix, 2));
    last_group_defines(j->device, last_group_of(j->device), &out->defines);
    if (p->m == 0 || p->n == 0)
        return NULL;
    out->workspace = matmul_shares_workspace(j, &x.shared, t);
    out->tiles = matmul_k_read(p) ? matmul_pieces(&x.shared) : 0;
    c = plan_launch_1d(out, 0, x.shared.groups * items_of(&x.is), items_of(&x.is));
    call.unshared = (uint32_t)matmul_unshared(&x.shared);
    command_operand(c, MATMUL_A);
    command_operand(c, MATMUL_B);
    command_operand(c, MATMUL_C);
    command_workspace(c);
    command_group_counters(c, matmul_is_shared(&x.shared));
    command_strict_counter(c);
    matmul_pass(c, p, &call);
    return NULL;
}

double matmul_mma_3xtf32_time(const problem *q, const device_facts *d)
{
    const params defaults = params_default(&matmul_mma_3xtf32);
    const device_facts known = matmul_known(d);
    double ns;

    layout_of(&(job){q, &known, &defaults, false}, &ns);
    return ns;
}

const variant matmul_mma_3xtf32 = {
    .name = "mma-3xtf32",
    .idea = "FP32 by three TF32 products of a warp, in small tiles: split as registers are filled",
    .answers = 1u << CAUSE_UNITS,
    .source = "matmul/matmul_mma_3xtf32.cl",
    .entries = {"matmul_mma_3xtf32"},
    .needs = 1u << FEATURE_ASYNC_COPY | 1u << FEATURE_LARGE_LOCAL,
    .uses = LAST_GROUP_USES,
    .group_counters = true,
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_mma_3xtf32};
