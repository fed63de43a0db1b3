#include "ops/matmul_async.h"

#include "base/sizes.h"
#include "ops/groups.h"
#include "ops/matmul_steps.h"

/* A launch of groups of side_x x side_y on a grid of `across` x `down` of them, a layer of it for
 * each product. */
static void launch(const job *j, size_t across, size_t down, size_t side_x, size_t side_y,
                   step *out)
{
    const tsr_matmul_problem *p = &j->problem->matmul;

    step_launch_2d(out, 0, across * side_x, down * side_y, side_x, side_y);
    matmul_step_layers(out, matmul_batch(p));
    matmul_step_product(out, p);
    matmul_step_strides(out, p);
}

/* ---- async ------------------------------------------------------------------------------- */

const tunable matmul_async_tunables[ASYNC_TUNABLES] = {
    {"SIDE", "work-items along each side of a work-group", {8, 16}, 16},
    {"BLOCK", "outputs of a work-item along each side: reuse against registers", {2, 4, 8}, 4},
    {"DEPTH", "extent of the tiles along k: fewer barriers against local memory", {8, 16, 32}, 16},
};

static size_t async_tile(const job *j)
{
    return (size_t)param(j->params, "SIDE") * param(j->params, "BLOCK");
}

void matmul_async_defines(const job *j, text *out)
{
    matmul_defines_operands(&j->problem->matmul, out);
}

const char *matmul_async_unsuited(const job *j, text *reason)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    const size_t side = param(j->params, "SIDE");
    const size_t elements = 4 * param(j->params, "DEPTH") * async_tile(j);

    if (p->type != TSR_F32 && p->type != TSR_F64) {
        text_format(reason, "its copies convert nothing, and it does not add up %s",
                    tsr_type_name(p->type));
        return text_get(reason);
    }
    return matmul_unsuited_group(j, side, side, elements * matmul_real_size(p), reason);
}

bool matmul_async_step(const job *j, size_t i, step *out)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    const size_t side = param(j->params, "SIDE"), tile = async_tile(j);

    if (i > 0 || p->m == 0 || p->n == 0)
        return false;
    launch(j, size_div_up(p->n, tile), size_div_up(p->m, tile), side, side, out);
    return true;
}

/* ---- cp-async ---------------------------------------------------------------------------- */

const tunable matmul_cp_async_tunables[CP_ASYNC_TUNABLES] = {
    {"TILE_M", "rows of a work-group's tile: reuse of B against groups", {0, 64, 128, 256}, 0},
    {"TILE_N", "columns of a work-group's tile: reuse of A against groups", {0, 64, 128}, 0},
    {"SUMS", "outputs of a work-item: reuse against registers", {0, 32, 64, 128}, 0},
    {"DEPTH", "extent of the tiles along k: fewer barriers against local memory", {0, 8, 16}, 0},
    {"STAGES", "tiles of A and B under way: latency hidden against local memory", {0, 3, 4, 5}, 0},
    {"BAND", "rows of work-groups that run side by side: B shared against A", {1, 4, 8, 16}, 8},
    {"SPLIT", "groups that share k: more of them against adding up", {0, 1, 2, 4, 8, 16, 32}, 0},
};

/* Groups for each unit that are enough to hide latency, and the least that one takes of k. */
enum { GROUPS_A_UNIT = 2, SPAN_LEAST = 256 };

/* Extents of tiles along k, and the k from which the deeper one serves small C. */
enum { DEPTH_USUAL = 8, DEPTH_DEEP = 16, DEEP_LEAST = 512 };

/* Tiles for each unit up to which groups share k. */
static const double SHARED_MOST = 0.5;

/* Small tiles are multiplied so soon that barriers count: half as many, where k is cut without a
 * rest and rows are aligned.  Elsewhere deep tiles lose. */
static bool is_deep(const job *j, bool large)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    const size_t k = matmul_k_read(p);

    return !large && k >= DEEP_LEAST && k % DEPTH_DEEP == 0 &&
           matmul_aligned(j, matmul_matrix_a(p)) && matmul_aligned(j, matmul_matrix_b(p));
}

/* Where there are too few tiles to fill the units, groups share k. */
static size_t usual_parts(const job *j, const cp_async_plan *s)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    const double tiles = matmul_tiles_a_unit(p, j->device, s->tile_m, s->tile_n);

    if (tiles == 0 || tiles > SHARED_MOST)
        return 1;
    return size_min((size_t)(GROUPS_A_UNIT / tiles), matmul_k_read(p) / SPAN_LEAST);
}

cp_async_plan matmul_cp_async_plan(const job *j)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    /* Large tiles where they fill the device: two groups of them run on a unit together. */
    const bool large = matmul_fills_large(p, j->device);
    const bool wide = large || matmul_fills_wide(p, j->device);
    /* Where groups share k, a C of many rows gives enough of them all the same. */
    const double tall_tiles = matmul_tiles_a_unit(p, j->device, 128, 64);
    const bool tall = tall_tiles >= 0.2 && tall_tiles <= SHARED_MOST;
    const uint32_t parts = param(j->params, "SPLIT");
    cp_async_plan s = {.tile_m = param(j->params, "TILE_M"),
                       .tile_n = param(j->params, "TILE_N"),
                       .sums = param(j->params, "SUMS"),
                       .depth = param(j->params, "DEPTH"),
                       .stages = param(j->params, "STAGES")};
    uint32_t area;

    s.tile_m = s.tile_m ? s.tile_m : large || tall ? 128 : 64;
    s.tile_n = s.tile_n ? s.tile_n : wide ? 128 : 64;
    area = s.tile_m * s.tile_n;
    if (!s.sums) /* in groups of 128 work-items, or 256 */
        s.sums = area >= 128 * 128 ? 128 : area >= 64 * 128 ? 64 : 32;
    if (!s.depth)
        s.depth = is_deep(j, large) ? DEPTH_DEEP : DEPTH_USUAL;
    s.items = (size_t)area / s.sums;
    s.k = matmul_parts_cut(j, parts ? parts : usual_parts(j, &s), s.depth);
    if (!s.stages) /* short parts of k have few deep tiles to begin with */
        s.stages = s.depth == DEPTH_DEEP && s.k.parts > 1 ? 3 : 4;
    s.local = (size_t)s.stages * s.depth * (s.tile_m + s.tile_n + 8) * sizeof(float);
    return s;
}

void matmul_cp_async_defines(const job *j, text *out)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    const cp_async_plan s = matmul_cp_async_plan(j);
    const uint32_t settled[] = {s.tile_m, s.tile_n, s.sums, s.depth, s.stages};

    matmul_defines_operands(p, out);
    text_format(out, " -DALIGNED_A=%d -DALIGNED_B=%d -DALIGNED_C=%d -DSPLITS=%d",
                matmul_aligned(j, matmul_matrix_a(p)), matmul_aligned(j, matmul_matrix_b(p)),
                s.k.parts > 1 ? p->n % 4 == 0 : matmul_aligned(j, matmul_matrix_c(p)),
                s.k.parts > 1);
    matmul_defines_settled(j, matmul_cp_async_tunables, settled, ARRAY_COUNT(settled), out);
}

const char *matmul_cp_async_unsuited(const job *j, text *reason)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    const cp_async_plan s = matmul_cp_async_plan(j);
    const char *why;

    if (p->type != TSR_F32) {
        text_format(reason, "it copies float32, not %s", tsr_type_name(p->type));
        return text_get(reason);
    }
    why = matmul_unsuited_portable(j, reason);
    if (!why)
        why = matmul_unsuited_items(s.items, group_limit(j->device, 0), reason);
    if (why)
        return why;
    if (!matmul_cuts_whole(s.tile_m, s.tile_n, s.sums, s.depth, s.items)) {
        text_format(reason,
                    "tiles of %u x %u x %u are not cut into whole warps and copies with %u sums a "
                    "work-item",
                    s.tile_m, s.tile_n, s.depth, s.sums);
        return text_get(reason);
    }
    return matmul_unsuited_local(j, s.local, reason);
}

size_t matmul_cp_async_workspace(const job *j)
{
    return matmul_parts_workspace(j, matmul_cp_async_plan(j).k);
}

/* One group a tile, which bands put in order: along one dimension. */
static void multiply(const job *j, const void *plan, step *out)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    const cp_async_plan *s = plan;

    step_launch_2d(out, CP_ASYNC_MULTIPLY,
                   size_div_up(p->m, s->tile_m) * size_div_up(p->n, s->tile_n) * s->items, 1,
                   s->items, 1);
    matmul_parts_arguments(j, s->k, out);
}

bool matmul_cp_async_step(const job *j, size_t i, step *out)
{
    const cp_async_plan s = matmul_cp_async_plan(j);

    return matmul_parts_step(j, s.k, i, CP_ASYNC_SUM, multiply, &s, out);
}
