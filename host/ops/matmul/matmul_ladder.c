/* The ladder of matmul: each step is the one before it and one idea more. */
#include "base/sizes.h"
#include "core/groups.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_variants.h"

/* The launch that every step has: groups of side_x x side_y, `across` x `down` of them, a layer
 * for each product. */
static void launch(const job *j, size_t across, size_t down, size_t side_x, size_t side_y,
                   plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    command *c;

    if (p->m == 0 || p->n == 0)
        return;
    c = plan_launch_2d(out, 0, across * side_x, down * side_y, side_x, side_y);
    matmul_layers(c, matmul_batch(p));
    matmul_arguments(c, p);
    matmul_strides(c, p);
}

/* ---- one output a work-item ---------------------------------------------------------------- */

/* In groups of 16 x 16, or smaller where the device takes no such group. */
static const char *plan_naive(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t side = group_fit_square(j->device, 16);
    const char *why = matmul_unsupported_rounding(j, out);

    if (why)
        return why;
    matmul_define_operands(p, out);
    matmul_define_rounding(p, out);
    launch(j, size_div_up(p->m, side), size_div_up(p->n, side), side, side, out);
    return NULL;
}

const variant matmul_naive = {
    .name = "naive",
    .idea = "one work-item an output, straight from global memory, neighbours in a column",
    .source = "matmul/matmul_naive.cl",
    .entries = {"matmul_naive"},
    .plan = plan_naive};

static const char *plan_coalesced(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t side = group_fit_square(j->device, 16);
    const char *why = matmul_unsupported_rounding(j, out);

    if (why)
        return why;
    matmul_define_operands(p, out);
    matmul_define_rounding(p, out);
    launch(j, size_div_up(p->n, side), size_div_up(p->m, side), side, side, out);
    return NULL;
}

const variant matmul_coalesced = {
    .name = "coalesced",
    .idea = "neighbours in a row: what they load of B and store in C are neighbours too",
    .source = "matmul/matmul_coalesced.cl",
    .entries = {"matmul_coalesced"},
    .plan = plan_coalesced};

static const tunable tiled_tunables[] = {
    {"TILE",
     "side of the tiles and of the work-group: more reuse against more local memory",
     {8, 16, 32},
     16},
};

static const char *plan_tiled(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t tile = param(j->params, "TILE");
    const char *why = matmul_unsupported_rounding(j, out);

    if (!why)
        why = matmul_unsupported_group(j, tile, tile, 2 * tile * tile * matmul_real_size(p), out);
    if (why)
        return why;
    matmul_define_operands(p, out);
    matmul_define_rounding(p, out);
    launch(j, size_div_up(p->n, tile), size_div_up(p->m, tile), tile, tile, out);
    return NULL;
}

const variant matmul_tiled = {
    .name = "tiled",
    .idea = "square tiles of A and B in local memory: each load serves TILE work-items",
    .source = "matmul/matmul_tiled.cl",
    .entries = {"matmul_tiled"},
    .tunables = tiled_tunables,
    .tunable_count = ARRAY_COUNT(tiled_tunables),
    .plan = plan_tiled};

/* ---- several outputs a work-item ----------------------------------------------------------- */

static const tunable block_column_tunables[] = {
    {"TILE", "side of the tiles of C: more reuse against more local memory", {32, 64}, 64, 32},
    {"BLOCK", "outputs of a work-item: reuse against registers and work-items", {4, 8, 16}, 8, 16},
    {"DEPTH", "extent of the tiles along k: fewer barriers against local memory", {8, 16, 32}, 16},
};

static const char *plan_block_column(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t tile = param(j->params, "TILE"), rows = tile / param(j->params, "BLOCK");
    const size_t local = 2 * param(j->params, "DEPTH") * tile * matmul_real_size(p);
    const char *why = matmul_unsupported_portable(j, out);

    if (!why)
        why = matmul_unsupported_group(j, tile, rows, local, out);
    if (why)
        return why;
    matmul_define_operands(p, out);
    launch(j, size_div_up(p->n, tile), size_div_up(p->m, tile), tile, rows, out);
    return NULL;
}

const variant matmul_block_column = {
    .name = "block-column",
    .idea = "BLOCK outputs of a column a work-item: each load of B serves them all",
    .source = "matmul/matmul_block_column.cl",
    .entries = {"matmul_block_column"},
    .tunables = block_column_tunables,
    .tunable_count = ARRAY_COUNT(block_column_tunables),
    .plan = plan_block_column};

static const tunable block_tunables[] = {
    {"SIDE", "work-items along each side of a work-group", {8, 16}, 16, 8},
    {"BLOCK", "outputs of a work-item along each side: reuse against registers", {2, 4, 8}, 4},
    {"DEPTH", "extent of the tiles along k: fewer barriers against local memory", {8, 16, 32}, 16},
};

/* Groups of SIDE x SIDE whose work-items compute BLOCK x BLOCK outputs each, with `pairs` pairs of
 * tiles in local memory, whose rows are `pad` elements longer than what they hold. */
static const char *plan_squares(const job *j, size_t pairs, size_t pad, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t side = param(j->params, "SIDE"), tile = side * param(j->params, "BLOCK");
    const size_t elements = 2 * pairs * param(j->params, "DEPTH") * (tile + pad);
    const char *why = matmul_unsupported_portable(j, out);

    if (!why)
        why = matmul_unsupported_group(j, side, side, elements * matmul_real_size(p), out);
    if (why)
        return why;
    matmul_define_operands(p, out);
    launch(j, size_div_up(p->n, tile), size_div_up(p->m, tile), side, side, out);
    return NULL;
}

static const char *plan_block(const job *j, plan *out)
{
    return plan_squares(j, 1, 0, out);
}

const variant matmul_block = {
    .name = "block",
    .idea = "BLOCK x BLOCK outputs a work-item: each local load serves BLOCK multiply-adds",
    .source = "matmul/matmul_block.cl",
    .entries = {"matmul_block"},
    .tunables = block_tunables,
    .tunable_count = ARRAY_COUNT(block_tunables),
    .plan = plan_block};

/* ---- four elements at once ----------------------------------------------------------------- */

/* swizzle has all but the last. */
static const tunable vector_tunables[] = {
    {"SIDE", "work-items along each side of a work-group", {8, 16}, 16, 8},
    {"BLOCK", "outputs of a work-item along each side: reuse against registers", {4, 8}, 4},
    {"DEPTH", "extent of the tiles along k: fewer barriers against local memory", {8, 16, 32}, 16},
    {"PAD", "vectors of 4 that pad each row of a tile against bank conflicts", {1, 2}, 1},
};

static const char *plan_vector(const job *j, plan *out)
{
    plan_define(out, "SWIZZLE=0");
    return plan_squares(j, 1, 4 * (size_t)param(j->params, "PAD"), out);
}

const variant matmul_vector = {.name = "vector",
                               .idea =
                                   "four elements a load, and tiles padded against bank conflicts",
                               .source = "matmul/matmul_vector.cl",
                               .entries = {"matmul_vector"},
                               .tunables = vector_tunables,
                               .tunable_count = ARRAY_COUNT(vector_tunables),
                               .plan = plan_vector};

static const char *plan_swizzle(const job *j, plan *out)
{
    plan_define(out, "SWIZZLE=1");
    return plan_squares(j, 1, 0, out);
}

const variant matmul_swizzle = {
    .name = "swizzle",
    .idea = "vectors swizzled by XOR in place of padding: no bank conflicts",
    .source = "matmul/matmul_vector.cl",
    .entries = {"matmul_vector"},
    .tunables = vector_tunables,
    .tunable_count = ARRAY_COUNT(vector_tunables) - 1,
    .plan = plan_swizzle};

/* ---- copies beside the work-items ---------------------------------------------------------- */

static const tunable async_tunables[] = {
    {"SIDE", "work-items along each side of a work-group", {8, 16}, 16, 8},
    {"BLOCK", "outputs of a work-item along each side: reuse against registers", {2, 4, 8}, 4, 2},
    {"DEPTH",
     "extent of the tiles along k: fewer barriers against local memory",
     {8, 16, 32},
     16,
     8},
};

static const char *plan_async(const job *j, plan *out)
{
    const tsr_type type = matmul_of(j->problem)->type;

    if (type != TSR_F32 && type != TSR_F64)
        return plan_unsupported(out, "its copies convert nothing, and it does not add up %s",
                                tsr_type_name(type));
    return plan_squares(j, 2, 0, out);
}

const variant matmul_async = {
    .name = "async",
    .idea = "OpenCL's own asynchronous copies bring tiles, and turn them on their way",
    .source = "matmul/matmul_async.cl",
    .entries = {"matmul_async"},
    .tunables = async_tunables,
    .tunable_count = ARRAY_COUNT(async_tunables),
    .plan = plan_async};
