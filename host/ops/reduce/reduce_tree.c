/* Reductions on a device: work-groups combine their shares of the array into the workspace, and one
 * work-group combines those. */
#include "base/sizes.h"
#include "core/groups.h"
#include "ops/reduce/reduce_problem.h"

/* Work-items of a group where GROUP is 0.  A core runs those of its group in turns: on a CPU one
 * takes the whole share, and is faster at that. */
enum { GROUP_CPU = 1, GROUP_GPU = 256 };

/* Elements of a work-item that are worth its part in the tree. */
enum { TREE_ELEMENTS = 8 };

#define GROUP_MEANING "work-items in a work-group, at most what the device takes; 0: by the device"
#define PER_UNIT_MEANING                                                                           \
    "work-groups for each compute unit, at most: more hide latency, fewer leave less to combine"

/* As reduce.clh has it. */
typedef struct reduce_call {
    uint64_t n, from, to;
} reduce_call;

/* One launch of `groups` groups: from the operand into the workspace, or where `last`, into the
 * result. */
static void launch(const job *j, size_t groups, size_t local, bool first, bool last, plan *out)
{
    const tsr_reduce_problem *p = reduce_of(j->problem);
    const reduce_call call = {.n = first ? p->n : out->workspace / sizeof(float),
                              .from = first ? p->offset_x : 0,
                              .to = last ? p->offset_result : 0};
    command *c = plan_launch_1d(out, 0, groups * local, local);

    if (first)
        command_operand(c, REDUCE_X);
    else
        command_workspace(c);
    if (last)
        command_operand(c, REDUCE_RESULT);
    else
        command_workspace(c);
    command_block(c, &call, sizeof(call));
    c->bytes = (double)sizeof(float) * ((double)call.n + (double)groups);
}

/* The plan of groups that take `elements` for each work-item in turn. */
static const char *plan_groups(const job *j, size_t elements, plan *out)
{
    const tsr_reduce_problem *p = reduce_of(j->problem);
    const size_t set = param(j->params, "GROUP");
    const size_t usual = j->device->kind == DEVICE_CPU ? GROUP_CPU : GROUP_GPU;
    const size_t local = group_fit(j->device, 0, set ? set : usual);
    const size_t units = size_max(j->device->compute_units, 1);
    const size_t groups = size_max(
        size_min(size_div_up(p->n, local * elements), units * param(j->params, "PER_UNIT")), 1);

    if (!reduce_is_plain(p))
        return reduce_not_plain;
    if (local * sizeof(float) > j->device->local_memory)
        return plan_unsupported(out, "it needs %zu bytes of local memory, the device has %zu",
                                local * sizeof(float), j->device->local_memory);
    plan_set(out, "GROUP", (uint32_t)local);
    plan_define(out, "BY=%zu", p->by);
    if (groups == 1) {
        launch(j, 1, local, true, true, out);
        return NULL;
    }
    out->workspace = groups * sizeof(float);
    launch(j, groups, local, true, false, out);
    launch(j, 1, local, false, true, out);
    return NULL;
}

static const tunable tree_tunables[] = {
    {"GROUP", GROUP_MEANING, {0, 1, 32, 64, 128, 256, 512}, 0, 32},
    {"PER_UNIT", PER_UNIT_MEANING, {1, 2, 4, 8, 16, 32}, 8, 2, .host_only = true},
};

static const char *tree_plan(const job *j, plan *out)
{
    return plan_groups(j, TREE_ELEMENTS, out);
}

const variant reduce_tree = {
    .name = "tree",
    .idea = "a work-item combines every so many elements, then a group by a tree in local memory",
    .source = "reduce/reduce_tree.cl",
    .entries = {"reduce_tree"},
    .build = "",
    .tunables = tree_tunables,
    .tunable_count = ARRAY_COUNT(tree_tunables),
    .plan = tree_plan};

static const tunable vector_tunables[] = {
    {"LOADS", "vectors of four elements that a work-item has in flight", {1, 2, 4, 8}, 4, 1},
    {"GROUP", GROUP_MEANING, {0, 1, 32, 64, 128, 256, 512}, 0, 32},
    {"PER_UNIT", PER_UNIT_MEANING, {1, 2, 4, 8, 16, 32}, 8, 2, .host_only = true},
};

static const char *vector_plan(const job *j, plan *out)
{
    return plan_groups(j, 4 * (size_t)param(j->params, "LOADS"), out);
}

const variant reduce_vector = {
    .name = "vector",
    .idea = "the same with several vectors of four in flight: chains that do not wait for another",
    .source = "reduce/reduce_vector.cl",
    .entries = {"reduce_vector"},
    .build = "",
    .tunables = vector_tunables,
    .tunable_count = ARRAY_COUNT(vector_tunables),
    .plan = vector_plan};
