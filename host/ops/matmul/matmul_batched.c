#include "ops/matmul/matmul_batched.h"

#include "base/sizes.h"
#include "core/groups.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matmul/matmul_steps.h"

/* The smallest tile, and the smallest block of sums of a work-item, along each side. */
enum { TILE_MIN = 8, BLOCK_MIN = 4 };

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

/* The least depth that gives each of a product's work-items a vector of A and one of B. */
static size_t depth_least(const batched_plan *x)
{
    return size_max(TILE_MIN, 4 * size_max(x->tile_m, x->tile_n) / (x->rows * x->columns));
}

/* Bytes of the tiles of `products`, as the kernel declares them. */
static size_t local_bytes(const job *j, const batched_plan *x, size_t depth, size_t products)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t line_a = depth + (p->trans_a ? 0 : 4), line_b = depth + (p->trans_b ? 4 : 0);
    const size_t gap = x->tile_n < 32 ? x->tile_n : 0;

    return products * (x->tile_m * line_a + x->tile_n * line_b + gap) * matmul_real_size(p);
}

/* What a device allows of depth and products, down to the least: unsupported() tells if that is too
 * much. */
batched_plan matmul_batched_plan(const job *j)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t limit = j->device->local_memory;
    batched_plan x = {.tile_m = tile_of(p->m), .tile_n = tile_of(p->n)};
    size_t least;

    x.rows = block_of(x.tile_m, param(j->params, "ROWS_MOST"));
    x.columns = block_of(x.tile_n, param(j->params, "COLUMNS_MOST"));
    x.items = x.tile_m / x.rows * (x.tile_n / x.columns);
    least = depth_least(&x);
    x.depth =
        size_max(least, size_min(param(j->params, "DEPTH_MOST"), tile_of(size_min(p->k, 64))));
    while (x.depth > least && local_bytes(j, &x, x.depth, 1) > limit)
        x.depth /= 2;
    x.products = size_max(param(j->params, "GROUP") / x.items, 1);
    while (x.products > 1 && (x.products * x.items > group_limit(j->device, 0) ||
                              local_bytes(j, &x, x.depth, x.products) > limit))
        x.products /= 2;
    x.local = local_bytes(j, &x, x.depth, x.products);
    x.once = p->k <= x.depth;
    x.whole = p->m == x.tile_m && p->n == x.tile_n && p->k % x.depth == 0 && matmul_alpha(p) != 0;
    return x;
}

void matmul_batched_defines(const job *j, text *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const batched_plan x = matmul_batched_plan(j);

    matmul_defines_operands(p, out);
    text_format(out, " -DTILE_M=%zu -DTILE_N=%zu -DDEPTH=%zu -DROWS=%zu -DCOLUMNS=%zu", x.tile_m,
                x.tile_n, x.depth, x.rows, x.columns);
    text_format(out, " -DPRODUCTS=%zu -DONCE=%d -DWHOLE=%d", x.products, x.once, x.whole);
    /* A CPU's compiler takes its time over what it gains nothing by. */
    text_format(out, " -DALIGNED_A=%d -DALIGNED_B=%d -DALIGNED_C=%d -DUNROLL=%d",
                matmul_aligned(j, matmul_matrix_a(p)), matmul_aligned(j, matmul_matrix_b(p)),
                matmul_aligned(j, matmul_matrix_c(p)), j->device->kind == DEVICE_CPU ? 1 : 2);
}

const char *matmul_batched_unsupported(const job *j, text *reason)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t most = (size_t)1 << 31;
    const char *why = matmul_unsupported_portable(j, reason);
    batched_plan x;

    if (why)
        return why;
    if (size_max(p->m, p->n) > BATCHED_TILE_MAX) {
        text_format(reason, "it takes a C of up to %d x %d in one piece, and this is %zu x %zu",
                    BATCHED_TILE_MAX, BATCHED_TILE_MAX, p->m, p->n);
        return text_get(reason);
    }
    if (matmul_batch(p) > most) {
        text_format(reason, "it counts products in 32 bits, and %zu is over %zu", matmul_batch(p),
                    most);
        return text_get(reason);
    }
    x = matmul_batched_plan(j);
    why = matmul_unsupported_items(x.items, group_limit(j->device, 0), reason);
    return why ? why : matmul_unsupported_bytes(x.local, j->device->local_memory, reason);
}

bool matmul_batched_step(const job *j, size_t i, command *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const batched_plan x = matmul_batched_plan(j);
    const size_t group = x.products * x.items;

    if (i > 0 || p->m == 0 || p->n == 0)
        return false;
    command_launch_1d(out, 0, size_div_up(matmul_batch(p), x.products) * group, group);
    matmul_step_product(out, p);
    matmul_step_strides(out, p);
    command_u32(out, (uint32_t)matmul_batch(p));
    return true;
}
