/* Matrix instructions of a warp: TF32 or FP64 (cl/matmul/matmul_mma.cl), and FP64 with copies under
 * way (cl/matmul/matmul_mma_f64.cl). */
#include "base/sizes.h"
#include "core/registry.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_variants.h"

/* NULL, or why the device cannot: it lacks the instructions of a compute capability, or local
 * memory. */
static const char *unsupported_device(const job *j, unsigned least, size_t local, plan *out)
{
    const unsigned has = j->device->nv_capability;
    const char *why;

    if (has < least)
        return plan_unsupported(
            out, "its instructions come with compute capability %u.%u, this is %u.%u", least / 10,
            least % 10, has / 10, has % 10);
    why = matmul_unsupported_bytes(local, j->device->large_local, out);
    return why ? why : matmul_unsupported_rounding(j, out);
}

/* ---- mma --------------------------------------------------------------------------------- */

/* What the kernel is built with. */
enum { MMA_TILE = 128, MMA_ITEMS = 256 };

static const tunable mma_tunables[] = {
    {"DEPTH", "extent of the tiles along k: fewer barriers against registers", {16, 32}, 16},
};

/* Bytes of two tiles of an operand: lines along k, or DEPTH across it, and their padding. */
static size_t mma_local(const job *j, bool along)
{
    const size_t depth = param(j->params, "DEPTH");
    const size_t size = tsr_type_size(matmul_of(j->problem)->type);

    return 2 * size * (along ? MMA_TILE * (depth + 4) : depth * (MMA_TILE + 32 / size));
}

/* Float32 goes in as TF32, float64 as it is; each from one chip on. */
static const char *plan_mma(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t local = mma_local(j, !p->trans_a) + mma_local(j, p->trans_b);
    const char *why;
    command *c;

    if (p->type != TSR_F64 && p->precision != TSR_PRECISION_TF32)
        return "it rounds float32 to TF32, which --precision tf32 asks for";
    why = unsupported_device(j, p->type == TSR_F64 ? 90 : 80, local, out);
    if (why)
        return why;
    matmul_define_operands(p, out);
    matmul_define_aligned(j, out);
    plan_define(out, "TILE_M=%d", MMA_TILE);
    plan_define(out, "TILE_N=%d", MMA_TILE);
    plan_define(out, "ITEMS=%d", MMA_ITEMS);
    if (p->m == 0 || p->n == 0)
        return NULL;
    c = plan_launch_2d(out, 0, size_div_up(p->n, MMA_TILE) * MMA_ITEMS, size_div_up(p->m, MMA_TILE),
                       MMA_ITEMS, 1);
    matmul_layers(c, matmul_batch(p));
    matmul_arguments(c, p);
    return NULL;
}

const variant matmul_mma = {.name = "mma",
                            .idea =
                                "a warp multiplies 16 x 8 blocks in one instruction: TF32, or FP64",
                            .source = "matmul/matmul_mma.cl",
                            .entries = {"matmul_mma"},
                            .needs = 1u << FEATURE_PTX | 1u << FEATURE_LARGE_LOCAL,
                            .tunables = mma_tunables,
                            .tunable_count = ARRAY_COUNT(mma_tunables),
                            .plan = plan_mma};

/* ---- mma-f64 ----------------------------------------------------------------------------- */

static const tunable mma_f64_tunables[] = {
    {"TILE_M", "rows of a work-group's tile: traffic against work-groups", {64, 128}, 128},
    {"TILE_N", "columns of a work-group's tile: fewer reads of A against B", {64, 128}, 128},
    {"STAGES", "blocks along k under way: latency hidden against local memory", {3, 4, 5}, 4},
    {"BAND", "rows of work-groups that run side by side: B shared against A", {1, 4, 8, 16}, 8},
};

enum { MMA_F64_DEPTH = 16 };

/* Bytes of a block of an operand, `side` across and MMA_F64_DEPTH along k, and its padding. */
static size_t mma_f64_block(size_t side, bool along)
{
    return sizeof(double) * (along ? side * (MMA_F64_DEPTH + 4) : MMA_F64_DEPTH * (side + 4));
}

static const char *plan_mma_f64(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const matmul_matrix a = matmul_matrix_a(p), b = matmul_matrix_b(p);
    const size_t tile_m = param(j->params, "TILE_M"), tile_n = param(j->params, "TILE_N");
    const size_t items = tile_m * tile_n / 64;
    const size_t local = param(j->params, "STAGES") *
                         (mma_f64_block(tile_m, !p->trans_a) + mma_f64_block(tile_n, p->trans_b));
    const char *why;
    command *c;

    if (p->type != TSR_F64)
        return plan_unsupported(out, "it multiplies float64, not %s", tsr_type_name(p->type));
    why = unsupported_device(j, 90, local, out);
    if (why)
        return why;
    matmul_define_operands(p, out);
    /* Copies of 16 bytes take two elements. */
    plan_define(out, "ALIGNED_A=%d", matmul_starts_at(&a, 2));
    plan_define(out, "ALIGNED_B=%d", matmul_starts_at(&b, 2));
    plan_define(out, "ITEMS=%zu", items);
    plan_define(out, "DEPTH=%d", MMA_F64_DEPTH);
    if (p->m == 0 || p->n == 0)
        return NULL;
    c = plan_launch_2d(out, 0, size_div_up(p->m, tile_m) * size_div_up(p->n, tile_n) * items, 1,
                       items, 1);
    matmul_layers(c, matmul_batch(p));
    matmul_arguments(c, p);
    return NULL;
}

const variant matmul_mma_f64 = {
    .name = "mma-f64",
    .idea = "copies and fragments on their way while others are multiplied: no unit waits",
    .source = "matmul/matmul_mma_f64.cl",
    .entries = {"matmul_mma_f64"},
    .needs = 1u << FEATURE_PTX | 1u << FEATURE_LARGE_LOCAL,
    .tunables = mma_f64_tunables,
    .tunable_count = ARRAY_COUNT(mma_f64_tunables),
    .plan = plan_mma_f64};
