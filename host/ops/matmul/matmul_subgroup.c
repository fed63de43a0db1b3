/* Tiles that the lanes of a sub-group share, by sub-group functions or by NVIDIA's shuffle:
 * cl/matmul/matmul_subgroup.cl. */
#include "base/sizes.h"
#include "core/groups.h"
#include "core/registry.h"
#include "ops/matmul/matmul_plan.h"
#include "ops/matmul/matmul_variants.h"

static const tunable tunables[] = {
    {"ROWS", "rows of C in registers: each load of B serves them all", {4, 8, 16}, 8},
    {"VECTORS", "vectors of four columns of a lane: an exchange serves them all", {1, 2}, 2},
    {"GROUP", "work-items of a group: rows that find B in its cache", {64, 128, 256}, 256},
};

enum {
    WARP = 32,
    GROUPS_MAX = 1 << 20 /* along a dimension; each then computes several strips */
};

/* `lanes` of a sub-group as far as is known: the kernel covers C whatever they are. */
static const char *plan_lanes(const job *j, bool shfl, size_t lanes, plan *out)
{
    const tsr_matmul_problem *p = matmul_of(j->problem);
    const size_t items = param(j->params, "GROUP");
    const size_t strips = size_div_up(p->m, param(j->params, "ROWS"));
    const size_t groups = size_div_up(strips, size_max(items / lanes, 1));
    const size_t width = lanes * 4 * param(j->params, "VECTORS"); /* columns of a sub-group */
    const char *why = matmul_unsupported_portable(j, out);
    command *c;

    if (!why)
        why = matmul_unsupported_items(items, group_limit(j->device, 0), out);
    if (why)
        return why;
    matmul_define_operands(p, out);
    plan_define(out, "ALIGNED_B=%d", matmul_aligned(j, matmul_matrix_b(p)));
    plan_define(out, "SHFL=%d", shfl);
    plan_define(out, "WIDTH=%zu", width);
    if (p->m == 0 || p->n == 0)
        return NULL;
    c = plan_launch_2d(out, 0, size_min(groups, GROUPS_MAX) * items, size_div_up(p->n, width),
                       items, 1);
    matmul_layers(c, matmul_batch(p));
    matmul_arguments(c, p);
    return NULL;
}

static const char *plan_subgroup(const job *j, plan *out)
{
    return plan_lanes(j, false, size_max(j->device->subgroup_size, 1), out);
}

static const char *plan_shfl(const job *j, plan *out)
{
    return plan_lanes(j, true, WARP, out);
}

const variant matmul_subgroup = {
    .name = "subgroup",
    .idea = "work-items of a sub-group share A by shuffles: no local memory, no barrier",
    .answers = 1u << CAUSE_BARRIERS,
    .unstated =
        "passes values on by sub-groups, which the simulator that counts accesses does not have",
    .source = "matmul/matmul_subgroup.cl",
    .entries = {"matmul_subgroup"},
    .build = "-cl-std=%CLC%",
    .needs = 1u << FEATURE_SUBGROUPS,
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_subgroup};

const variant matmul_shfl = {.name = "shfl",
                             .idea = "the same in a warp: NVIDIA's shuffle by inline PTX",
                             .answers = 1u << CAUSE_BARRIERS,
                             .source = "matmul/matmul_subgroup.cl",
                             .entries = {"matmul_subgroup"},
                             .needs = 1u << FEATURE_PTX,
                             .tunables = tunables,
                             .tunable_count = ARRAY_COUNT(tunables),
                             .plan = plan_shfl};
