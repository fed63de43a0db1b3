#include "ops/matmul_stream.h"

#include "base/sizes.h"
#include "ops/groups.h"
#include "ops/last_group.h"
#include "ops/matmul_steps.h"

const tunable matmul_stream_tunables[STREAM_TUNABLES] = {
    {"TILE_M", "rows of a work-group's tile: reuse of B against groups", {0, 64, 128, 256}, 0},
    {"TILE_N", "columns of a work-group's tile: reuse of A against groups", {0, 64, 128}, 0},
    {"SUMS", "outputs of a work-item: reuse against registers", {0, 32, 64, 128}, 0},
    {"DEPTH", "extent of the tiles along k: fewer barriers against local memory", {0, 8, 16}, 0},
    {"STAGES", "tiles of A and B under way: latency hidden against local memory", {0, 3, 4, 5}, 0},
    {"BAND", "rows of work-groups that run side by side: B shared against A", {1, 4, 8, 16}, 8},
    {"GROUPS", "groups on each unit: latency hidden against sums to add up", {0, 1, 2, 3, 4}, 0},
};

/* How tiles are shared out. */
static void share(const job *j, stream_plan *s)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    const size_t tiles = size_div_up(p->m, s->tile_m) * size_div_up(p->n, s->tile_n);
    const size_t steps = size_max(size_div_up(matmul_k_read(p), s->depth), 1);
    const size_t told = param(j->params, "GROUPS");
    const size_t each = told ? told : 2;

    s->groups = size_min(size_max(j->device->compute_units, 1) * each, tiles * steps);
    s->groups = size_max(s->groups, 1);
    s->shared = tiles;
    if (tiles >= s->groups)
        s->shared = tiles % s->groups ? s->groups + tiles % s->groups : 0;
    s->unshared = tiles - s->shared;
}

stream_plan matmul_stream_plan(const job *j)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    const bool large = matmul_fills_large(p, j->device);
    stream_plan s = {.tile_m = param(j->params, "TILE_M"),
                     .tile_n = param(j->params, "TILE_N"),
                     .sums = param(j->params, "SUMS"),
                     .depth = param(j->params, "DEPTH"),
                     .stages = param(j->params, "STAGES")};
    uint32_t area;

    s.tile_m = s.tile_m ? s.tile_m : large ? 128 : 64;
    s.tile_n = s.tile_n ? s.tile_n : large ? 128 : 64;
    area = s.tile_m * s.tile_n;
    if (!s.sums)
        s.sums = area >= 128 * 128 ? 128 : area >= 64 * 128 ? 64 : 32;
    if (!s.depth)
        s.depth = 8;
    if (!s.stages)
        s.stages = 4;
    s.items = (size_t)area / s.sums;
    s.local = (size_t)s.stages * s.depth * (s.tile_m + s.tile_n + 8) * sizeof(float) + 16;
    share(j, &s);
    return s;
}

void matmul_stream_defines(const job *j, text *out)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    const stream_plan s = matmul_stream_plan(j);
    const uint32_t settled[] = {s.tile_m, s.tile_n, s.sums, s.depth, s.stages};

    matmul_defines_operands(p, out);
    text_format(out, " -DALIGNED_A=%d -DALIGNED_B=%d -DALIGNED_C=%d",
                matmul_aligned(j, matmul_matrix_a(p)), matmul_aligned(j, matmul_matrix_b(p)),
                matmul_aligned(j, matmul_matrix_c(p)));
    matmul_defines_settled(j, matmul_stream_tunables, settled, ARRAY_COUNT(settled), out);
    last_group_defines(j->device, last_group_of(j->device), out);
}

const char *matmul_stream_unsuited(const job *j, text *reason)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    const stream_plan s = matmul_stream_plan(j);
    const char *why = matmul_unsuited_sizes(p, reason);

    if (!why && p->type != TSR_F32) {
        text_format(reason, "it copies float32, not %s", tsr_type_name(p->type));
        return text_get(reason);
    }
    if (!why)
        why = matmul_unsuited_portable(j, reason);
    if (!why && last_group_of(j->device) == LAST_GROUP_NONE)
        why = "no atomic instruction orders what groups write";
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
    if (s.shared > TALLIES_MAX) {
        text_format(reason, "its groups share %zu tiles, and count up to %d", s.shared,
                    (int)TALLIES_MAX);
        return text_get(reason);
    }
    return matmul_unsuited_local(j, s.local, reason);
}

size_t matmul_stream_workspace(const job *j)
{
    const stream_plan s = matmul_stream_plan(j);

    return s.shared ? 2 * s.groups * s.tile_m * s.tile_n * sizeof(float) : 0;
}

bool matmul_stream_step(const job *j, size_t i, step *out)
{
    const tsr_matmul_problem *p = &j->problem->matmul;
    const stream_plan s = matmul_stream_plan(j);

    if (i > 0 || p->m == 0 || p->n == 0)
        return false;
    step_launch_1d(out, 0, s.groups * s.items, s.items);
    matmul_step_product(out, p);
    step_u32(out, (uint32_t)s.unshared);
    step_workspace(out);
    step_tallies(out);
    return true;
}
