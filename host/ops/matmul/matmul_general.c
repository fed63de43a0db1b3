/* The full versions of `naive` and `tiled`, for every type and batch on any device; and `async`,
 * for float32 and float64. */
#include "base/sizes.h"
#include "core/groups.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_variants.h"

/* The one launch of these variants: groups of side_x x side_y, `across` x `down` of them, a layer
 * for each product.  NULL where there is nothing to do. */
static command *launch(const job *j, size_t across, size_t down, size_t side_x, size_t side_y,
                       plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    command *c;

    if (p->m == 0 || p->n == 0)
        return NULL;
    c = plan_launch_2d(out, 0, across * side_x, down * side_y, side_x, side_y);
    matmul_layers(c, matmul_batch(p));
    matmul_arguments(c, p);
    c->bytes = j->problem->op->bytes(j->problem);
    c->flops = j->problem->op->work(j->problem);
    return c;
}

/* In groups of 16 x 16, or smaller where the device takes no such group. */
static const char *plan_general(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t side = group_fit_square(j->device, 16);
    const double m = (double)p->m, n = (double)p->n, k = (double)matmul_k_read(p);
    const char *why = matmul_unsupported_types(j, out);
    command *c;

    if (why)
        return why;
    matmul_define_operands(p, out);
    matmul_define_rounding(p, out);
    matmul_define_scales(p, out);
    c = launch(j, size_div_up(p->n, side), size_div_up(p->m, side), side, side, out);
    if (c)
        c->traffic.requested = matmul_asked(p, m * n * k, m * n * k);
    return NULL;
}

const variant matmul_general = {
    .name = "general",
    .alias = "coalesced",
    .idea = "naive for every type but complex ones, precision and batch, transposed or not",
    .source = "matmul/matmul_general.cl",
    .entries = {"matmul_general"},
    .plan = plan_general};

static const tunable tiled_tunables[] = {
    {"TILE",
     "side of the tiles and of the work-group: more reuse against more local memory",
     {8, 16, 32},
     16},
};

static const char *plan_general_tiled(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t tile = param(j->params, "TILE");
    const double m = (double)p->m, n = (double)p->n, k = (double)matmul_k_read(p);
    const double across = (double)size_div_up(p->n, tile), down = (double)size_div_up(p->m, tile);
    const double rounds = (double)size_div_up(matmul_k_read(p), tile);
    const double area = (double)tile * (double)tile;
    const char *why = matmul_unsupported_types(j, out);
    command *c;

    if (!why)
        why = matmul_unsupported_group(j, tile, tile, 2 * tile * tile * matmul_real_size(p), out);
    if (why)
        return why;
    matmul_define_operands(p, out);
    matmul_define_rounding(p, out);
    matmul_define_scales(p, out);
    c = launch(j, (size_t)across, (size_t)down, tile, tile, out);
    if (c) {
        /* A group fills both tiles, and each work-item reads a row and a column of them. */
        c->traffic.requested = matmul_asked(p, across * m * k, down * n * k);
        c->traffic.local = (double)matmul_batch(p) * across * down * rounds * area *
                           (2 + 2 * (double)tile) * (double)matmul_real_size(p);
        c->traffic.barriers = 2 * rounds;
    }
    return NULL;
}

const variant matmul_general_tiled = {
    .name = "general-tiled",
    .idea = "tiled for every type but complex ones, precision and batch, transposed or not",
    .source = "matmul/matmul_general_tiled.cl",
    .entries = {"matmul_general_tiled"},
    .tunables = tiled_tunables,
    .tunable_count = ARRAY_COUNT(tiled_tunables),
    .plan = plan_general_tiled};

static const tunable async_tunables[] = {
    {"SIDE", "work-items along each side of a work-group", {8, 16}, 16, 8},
    {"BLOCK", "outputs of a work-item along each side: reuse against registers", {2, 4, 8}, 4, 2},
    {"DEPTH",
     "extent of the tiles along k: fewer barriers against local memory",
     {8, 16, 32},
     16,
     8},
};

/* Groups of SIDE x SIDE whose work-items compute BLOCK x BLOCK outputs each, with two pairs of
 * tiles in local memory. */
static const char *plan_async(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t side = param(j->params, "SIDE"), tile = side * param(j->params, "BLOCK");
    const size_t local = 4 * param(j->params, "DEPTH") * tile * matmul_real_size(p);
    const char *why = NULL;

    if (p->type != TSR_F32 && p->type != TSR_F64)
        return plan_unsupported(out, "its copies do not convert, and %s is not added up as it is",
                                tsr_type_name(p->type));
    why = matmul_unsupported_portable(j, out);
    if (!why)
        why = matmul_unsupported_group(j, side, side, local, out);
    if (why)
        return why;
    matmul_define_operands(p, out);
    launch(j, size_div_up(p->n, tile), size_div_up(p->m, tile), side, side, out);
    return NULL;
}

const variant matmul_async = {
    .name = "async",
    .idea = "OpenCL's asynchronous copies (async_work_group_strided_copy) bring tiles, and "
            "transpose them",
    .unstated = "leaves its copies to the device, whose instructions for them are not counted",
    .source = "matmul/matmul_async.cl",
    .entries = {"matmul_async"},
    .tunables = async_tunables,
    .tunable_count = ARRAY_COUNT(async_tunables),
    .plan = plan_async};
