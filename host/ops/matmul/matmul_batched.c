/* Batches of small products, whole ones in a work-group: cl/matmul/matmul_batched.cl. */
#include "base/sizes.h"
#include "core/groups.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_variants.h"

enum {
    C_MAX = 128, /* rows and columns of C, which is one tile */
    TILE_MIN = 8,
    BLOCK_MIN = 4 /* of sums of a work-item, along each side */
};

static const tunable tunables[] = {
    {"GROUP",
     "work-items of a group, which several products share: fewer groups against shorter waits",
     {32, 64, 128, 256},
     128,
     32},
    {"ROWS_MAX",
     "rows of sums of a work-item, where C has 4 times as many",
     {4, 8},
     8,
     .alias = "ROWS_MOST"},
    {"COLUMNS_MAX",
     "columns of sums of a work-item, where C has 4 times as many",
     {4, 8},
     4,
     .alias = "COLUMNS_MOST"},
    {"DEPTH_MAX",
     "largest extent of the tiles along k: more bytes in flight against local memory",
     {16, 32, 64},
     64,
     16,
     .alias = "DEPTH_MOST"},
    {"STAGES", "2: tiles arrive while others are multiplied, in more registers", {1, 2}, 1},
};

/* The power of two from n on. */
static size_t tile_of(size_t n)
{
    size_t tile = TILE_MIN;

    while (tile < n)
        tile *= 2;
    return tile;
}

/* Outputs of a work-item along one side of a tile: as many as wanted, if four items share it. */
static size_t block_of(size_t tile, size_t wanted)
{
    return tile >= 4 * wanted ? wanted : BLOCK_MIN;
}

/* Bytes of a product's tiles in local memory, laid out as the head of the kernel says. */
static size_t local_bytes(const tsr_matmul_problem *p, size_t tile_m, size_t tile_n, size_t depth)
{
    const size_t line_a = depth + (p->trans_a ? 0 : 4), line_b = depth + (p->trans_b ? 4 : 0);
    const size_t gap = tile_n < 32 ? tile_n : 0;

    return (tile_m * line_a + tile_n * line_b + gap) * matmul_real_size(p);
}

static const char *plan_batched(const job *j, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t batch = matmul_batch(p), batch_max = (size_t)1 << 31;
    const size_t limit = j->device->local_memory, items_max = group_limit(j->device, 0);
    const char *why = matmul_unsupported_portable(j, out);
    size_t tile_m, tile_n, rows, columns, items, least, depth, products, local;
    command *c;

    if (why)
        return why;
    if (size_max(p->m, p->n) > C_MAX)
        return plan_unsupported(out,
                                "it takes a C of up to %d x %d in one piece, and this is %zu x %zu",
                                C_MAX, C_MAX, p->m, p->n);
    if (batch > batch_max)
        return plan_unsupported(out, "it counts products in 32 bits, and %zu is over %zu", batch,
                                batch_max);
    tile_m = tile_of(p->m);
    tile_n = tile_of(p->n);
    rows = block_of(tile_m, param(j->params, "ROWS_MAX"));
    columns = block_of(tile_n, param(j->params, "COLUMNS_MAX"));
    items = tile_m / rows * (tile_n / columns); /* of a product */
    /* At the least depth each of them has a vector of A and one of B. */
    least = size_max(TILE_MIN, 4 * size_max(tile_m, tile_n) / (rows * columns));
    depth = size_max(least, size_min(param(j->params, "DEPTH_MAX"), tile_of(size_min(p->k, 64))));
    while (depth > least && local_bytes(p, tile_m, tile_n, depth) > limit)
        depth /= 2;
    local = local_bytes(p, tile_m, tile_n, depth);
    products = size_max(param(j->params, "GROUP") / items, 1);
    while (products > 1 && (products * items > items_max || products * local > limit))
        products /= 2;
    why = matmul_unsupported_items(items, items_max, out);
    if (!why)
        why = plan_unsupported_local(out, products * local, limit);
    if (why)
        return why;

    matmul_define_operands(p, out);
    matmul_define_aligned(j, out);
    plan_define(out, "ALIGNED_C=%d", matmul_aligned(j, matmul_matrix_c(p)));
    plan_define(out, "TILE_M=%zu", tile_m);
    plan_define(out, "TILE_N=%zu", tile_n);
    plan_define(out, "DEPTH=%zu", depth);
    plan_define(out, "ROWS=%zu", rows);
    plan_define(out, "COLUMNS=%zu", columns);
    plan_define(out, "PRODUCTS=%zu", products);
    plan_define(out, "ONCE=%d", p->k <= depth);
    plan_define(out, "WHOLE=%d",
                p->m == tile_m && p->n == tile_n && p->k % depth == 0 && matmul_alpha(p) != 0);
    /* A CPU's compiler takes its time over what it gains nothing by. */
    plan_define(out, "UNROLL=%d", j->device->kind == DEVICE_CPU ? 1 : 2);
    if (p->m == 0 || p->n == 0)
        return NULL;
    c = plan_launch_1d(out, 0, size_div_up(batch, products) * products * items, products * items);
    matmul_arguments(c, p);
    return NULL;
}

const variant matmul_batched = {
    .name = "batched",
    .idea = "small matrices, many products: whole ones in a group, read all at once",
    .unstated = "loads vectors, and the shape decides how many at the ends of lines",
    .source = "matmul/matmul_batched.cl",
    .entries = {"matmul_batched"},
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .program_a_shape = true,
    .plan = plan_batched};
