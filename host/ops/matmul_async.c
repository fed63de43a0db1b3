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
    out->dims = 3;
    out->global[2] = matmul_batch(p);
    out->local[2] = 1;
    matmul_step_product(out, p);
    matmul_step_strides(out, p);
}

static void defines(const tsr_matmul_problem *p, text *out)
{
    matmul_defines_types(p, out);
    text_format(out, " -DTRANS_A=%d -DTRANS_B=%d", p->trans_a, p->trans_b);
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
    defines(&j->problem->matmul, out);
}

const char *matmul_async_unsuited(const job *j, text *reason)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    const size_t side = param(j->params, "SIDE");
    const char *why = matmul_unsuited_portable(j, reason);

    if (!why && p->type != TSR_F32 && p->type != TSR_F64) {
        text_format(reason, "its copies convert nothing, and it does not add up %s",
                    tsr_type_name(p->type));
        why = text_get(reason);
    }
    if (!why)
        why = matmul_unsuited_items(side * side, j->device->max_work_group, reason);
    if (why)
        return why;
    if (side > group_fit_square(j->device, side)) {
        text_format(reason, "it needs work-groups of %zu x %zu, and the limit is %zu x %zu", side,
                    side, group_limit(j->device, 0), group_limit(j->device, 1));
        return text_get(reason);
    }
    return matmul_unsuited_bytes(4 * param(j->params, "DEPTH") * async_tile(j) *
                                     matmul_real_size(p),
                                 j->device->local_memory, reason);
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
    {"DEPTH", "extent of the tiles along k: fewer barriers against local memory", {8, 16}, 8},
    {"STAGES", "tiles of A and B under way: latency hidden against local memory", {3, 4, 5}, 4},
    {"BAND", "rows of work-groups that run side by side: B shared against A", {1, 4, 8, 16}, 8},
};

/* Large tiles where they fill the device: two groups of them run on a unit together. */
static bool is_large(const job *j)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    const double groups =
        (double)size_div_up(p->m, 128) * (double)size_div_up(p->n, 128) * (double)matmul_batch(p);

    return groups >= 1.5 * (double)j->device->compute_units;
}

cp_async_plan matmul_cp_async_plan(const job *j)
{
    const uint32_t usual = is_large(j) ? 128 : 64;
    cp_async_plan s = {.tile_m = param(j->params, "TILE_M"),
                       .tile_n = param(j->params, "TILE_N"),
                       .sums = param(j->params, "SUMS")};
    uint32_t area;

    s.tile_m = s.tile_m ? s.tile_m : usual;
    s.tile_n = s.tile_n ? s.tile_n : usual;
    area = s.tile_m * s.tile_n;
    if (!s.sums) /* in groups of 128 work-items, or 256 */
        s.sums = area >= 128 * 128 ? 128 : area >= 64 * 128 ? 64 : 32;
    s.items = (size_t)area / s.sums;
    s.local = (size_t)param(j->params, "STAGES") * param(j->params, "DEPTH") *
              (s.tile_m + s.tile_n + 8) * sizeof(float);
    return s;
}

/* Whether a tile is cut into whole warps, and brought in whole copies. */
static bool is_whole(const job *j, const cp_async_plan *s)
{
    const uint32_t warp_m = s->sums == 128 ? 64 : 32, warp_n = s->sums == 32 ? 32 : 64;
    const size_t depth = param(j->params, "DEPTH");

    return s->tile_m % warp_m == 0 && s->tile_n % warp_n == 0 &&
           s->tile_m * depth % (4 * s->items) == 0 && s->tile_n * depth % (4 * s->items) == 0;
}

void matmul_cp_async_defines(const job *j, text *out)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    const cp_async_plan s = matmul_cp_async_plan(j);
    const uint32_t settled[] = {s.tile_m, s.tile_n, s.sums};

    defines(p, out);
    text_format(out, " -DALIGNED_A=%d -DALIGNED_B=%d -DALIGNED_C=%d",
                matmul_aligned(j, matmul_matrix_a(p)), matmul_aligned(j, matmul_matrix_b(p)),
                matmul_aligned(j, matmul_matrix_c(p)));
    for (size_t i = 0; i < ARRAY_COUNT(settled); i++)
        if (param(j->params, matmul_cp_async_tunables[i].name) == 0)
            text_format(out, " -D%s=%u", matmul_cp_async_tunables[i].name, settled[i]);
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
    if (!is_whole(j, &s)) {
        text_format(reason,
                    "tiles of %u x %u x %u are not cut into whole warps and copies with %u sums a "
                    "work-item",
                    s.tile_m, s.tile_n, param(j->params, "DEPTH"), s.sums);
        return text_get(reason);
    }
    return matmul_unsuited_local(j, s.local, reason);
}

/* One group a tile, which bands put in order: along one dimension. */
bool matmul_cp_async_step(const job *j, size_t i, step *out)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    const cp_async_plan s = matmul_cp_async_plan(j);

    if (i > 0 || p->m == 0 || p->n == 0)
        return false;
    launch(j, size_div_up(p->m, s.tile_m) * size_div_up(p->n, s.tile_n), 1, s.items, 1, out);
    return true;
}
