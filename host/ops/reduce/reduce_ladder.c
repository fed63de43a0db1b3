/* The steps of the ladder on a device, for a whole float32 array: by atomic operations, by
 * work-groups that each leave one value, launch after launch, and by groups that share the array,
 * whose results one group combines. */
#include "base/sizes.h"
#include "core/groups.h"
#include "core/last_group.h"
#include "ops/reduce/reduce_problem.h"

/* Work-items of a group where GROUP is 0.  A core runs those of its group in turns: on a CPU one
 * takes the whole share, and is faster at that. */
enum { GROUP_CPU = 1, GROUP_GPU = 256 };

/* The same of the steps that are a tree, which one work-item is none of. */
enum { TREE_CPU = 64 };

/* Elements of a work-item that are worth its part in the tree. */
enum { TREE_ELEMENTS = 8 };

enum { WARP = 32 };

/* Elements of a vector. */
enum { VECTOR = 4 };

#define PER_UNIT_MEANING                                                                           \
    "work-groups for each compute unit, at most: more hide latency, fewer leave less to combine"

/* As reduce.clh has it. */
typedef struct reduce_call {
    uint64_t n, from, to;
} reduce_call;

/* Sums that are added as work-items come have another order each time. */
static const char any_order_alone[] =
    "it adds in another order each time, which only any_order (--any-order) allows";

static bool keeps_order(const tsr_reduce_problem *p)
{
    return p->by == TSR_REDUCE_SUM && !p->any_order;
}

/* ---- one value a work-group, launch after launch ------------------------------------------- */

static size_t tree_group(const job *j, size_t least)
{
    const size_t set = param(j->params, "GROUP");

    return group_fit(j->device, 0,
                     size_max(set                             ? set
                              : j->device->kind == DEVICE_CPU ? TREE_CPU
                                                              : GROUP_GPU,
                              least));
}

/* Lanes of warps of 32 that a tree over `items` work-items issues, of which items - 1 add: those of
 * the warps in which anyone does.  Where pairs are neighbours, those that add lie ever further
 * apart; else they are the first ones. */
static double tree_lanes(size_t items, bool neighbours)
{
    double lanes = 0;

    for (size_t left = items / 2; left > 0; left /= 2) {
        const size_t apart = neighbours ? items / left : 1;

        lanes += (double)(apart > WARP ? left * WARP : size_round_up(left * apart, WARP));
    }
    return lanes;
}

/* What groups ask for that end with a tree in local memory: each work-item stores a value, each
 * addition reads two and writes one, and `readers` work-items read the result. */
static void state_group(command *c, size_t readers)
{
    const size_t items = c->local[0];
    const double groups = (double)size_div_up(c->global[0], items);

    c->traffic.requested = c->bytes;
    c->traffic.local =
        sizeof(float) * groups * ((double)items + 3 * (double)(items - 1) + (double)readers);
    c->traffic.barriers = size_log2_up(items);
}

/* The same where a group does nothing else. */
static void state_tree(command *c, bool neighbours)
{
    const size_t items = c->local[0];

    state_group(c, 1);
    if (items > 1)
        c->traffic.busy = (double)(items - 1) / tree_lanes(items, neighbours);
}

/* A launch of groups that leave a value each; the last one leaves the result. */
static void add_level(size_t local, bool first, bool last, const reduce_call *call, size_t groups,
                      plan *out)
{
    command *c = plan_launch_1d(out, 0, groups * local, local);

    if (first)
        command_operand(c, REDUCE_X);
    else
        command_workspace(c);
    if (last)
        command_operand(c, REDUCE_RESULT);
    else
        command_workspace(c);
    command_block(c, call, sizeof(*call));
    c->bytes = (double)sizeof(float) * ((double)call->n + (double)groups);
}

/* Each work-item takes `loads` elements. */
static const char *plan_levels(const job *j, size_t local, size_t loads, plan *out)
{
    const tsr_reduce_problem *p = reduce_of(j->problem);
    const size_t each = local * loads;
    reduce_call call = {.n = p->n, .from = p->offset_x};
    const char *why;

    if (!reduce_is_plain(p))
        return reduce_not_plain;
    if (local < 2)
        return "the device's work-groups have a single work-item";
    if ((why = plan_unsupported_local(out, local * sizeof(float), j->device->local_memory)))
        return why;
    plan_set(out, "GROUP", (uint32_t)local);
    plan_define(out, "BY=%zu", p->by);
    for (bool first = true, last = false; !last; first = false) {
        const size_t groups = size_max(size_div_up((size_t)call.n, each), 1);

        last = groups == 1;
        /* What a launch leaves stands behind what it reads. */
        call.to = last ? p->offset_result : first ? 0 : call.from + call.n;
        add_level(local, first, last, &call, groups, out);
        if (!last)
            out->workspace = (size_t)(call.to + groups) * sizeof(float);
        call.from = call.to;
        call.n = groups;
    }
    return NULL;
}

static const tunable group_tunables[] = {
    {"GROUP", GROUP_MEANING, {0, 32, 64, 256, 1024}, 0, 32},
};

/* The same, where each group is a tree in local memory. */
static const char *plan_trees(const job *j, size_t loads, bool neighbours, plan *out)
{
    const char *why = plan_levels(j, tree_group(j, 1), loads, out);

    for (size_t i = 0; !why && !out->failed && i < out->count; i++)
        state_tree(&out->commands[i], neighbours);
    return why;
}

static const char *interleaved_plan(const job *j, plan *out)
{
    return plan_trees(j, 1, true, out);
}

static const char *sequential_plan(const job *j, plan *out)
{
    return plan_trees(j, 1, false, out);
}

static const char *first_add_plan(const job *j, plan *out)
{
    return plan_trees(j, 2, false, out);
}

/* Groups whose warps combine in registers. */
static const char *plan_in_registers(const job *j, size_t local, plan *out)
{
    const char *why = plan_levels(j, local, 2, out);

    for (size_t i = 0; !why && !out->failed && i < out->count; i++)
        out->commands[i].traffic.requested = out->commands[i].bytes;
    return why;
}

const variant reduce_interleaved = {
    .name = "interleaved",
    .idea = "a tree in local memory whose pairs are neighbours; launches until one value is left",
    .source = "reduce/reduce_interleaved.cl",
    .entries = {"reduce_interleaved"},
    .build = "",
    .tunables = group_tunables,
    .tunable_count = ARRAY_COUNT(group_tunables),
    .plan = interleaved_plan};

const variant reduce_sequential = {
    .name = "sequential",
    .idea = "the first half of the values combines with the second: whole warps work or are done",
    .answers = 1u << CAUSE_DIVERGENCE,
    .source = "reduce/reduce_sequential.cl",
    .entries = {"reduce_sequential"},
    .build = "",
    .tunables = group_tunables,
    .tunable_count = ARRAY_COUNT(group_tunables),
    .plan = sequential_plan};

const variant reduce_first_add = {
    .name = "first-add",
    .idea = "two elements a work-item are combined as they are loaded: half the work-groups",
    .answers = 1u << CAUSE_DIVERGENCE | 1u << CAUSE_BARRIERS,
    .source = "reduce/reduce_first_add.cl",
    .entries = {"reduce_first_add"},
    .build = "",
    .tunables = group_tunables,
    .tunable_count = ARRAY_COUNT(group_tunables),
    .plan = first_add_plan};

static const char *subgroup_plan(const job *j, plan *out)
{
    const tsr_reduce_problem *p = reduce_of(j->problem);

    if (reduce_is_plain(p) && p->by != TSR_REDUCE_SUM)
        return "it computes sums alone";
    if (keeps_order(p))
        return any_order_alone;
    plan_define(out, "REAL=float");
    plan_define(out, "REAL_BITS=32");
    return plan_in_registers(j, tree_group(j, 1), out);
}

const variant reduce_subgroup = {
    .name = "subgroup",
    .idea = "sums: sub-groups add up in registers, and one barrier is left",
    .answers = 1u << CAUSE_BARRIERS | 1u << CAUSE_DIVERGENCE,
    .source = "reduce/reduce_subgroup.cl",
    .entries = {"reduce_subgroup"},
    .build = "-cl-std=%CLC%",
    .needs = 1u << FEATURE_SUBGROUPS,
    .tunables = group_tunables,
    .tunable_count = ARRAY_COUNT(group_tunables),
    .plan = subgroup_plan};

static const char *shuffle_plan(const job *j, plan *out)
{
    const size_t local = tree_group(j, WARP);

    return local < WARP ? "the device's work-groups are smaller than a warp of 32"
                        : plan_in_registers(j, local, out);
}

const variant reduce_shuffle = {
    .name = "shuffle",
    .idea = "warps combine by NVIDIA's shuffle instruction, and one barrier is left",
    .answers = 1u << CAUSE_BARRIERS | 1u << CAUSE_DIVERGENCE,
    .source = "reduce/reduce_shuffle.cl",
    .entries = {"reduce_shuffle"},
    .build = "",
    .needs = 1u << FEATURE_PTX,
    .tunables = group_tunables,
    .tunable_count = ARRAY_COUNT(group_tunables),
    .plan = shuffle_plan};

static const char *redux_plan(const job *j, plan *out)
{
    const tsr_reduce_problem *p = reduce_of(j->problem);

    if (reduce_is_plain(p) && p->by == TSR_REDUCE_SUM)
        return "it computes minima and maxima: there is no such instruction for sums of floats";
    return shuffle_plan(j, out);
}

const variant reduce_redux = {
    .name = "redux",
    .idea = "minima and maxima: a warp combines by one instruction, as integers of the same order",
    .answers = 1u << CAUSE_BARRIERS | 1u << CAUSE_DIVERGENCE,
    .source = "reduce/reduce_redux.cl",
    .entries = {"reduce_redux"},
    .build = "",
    .needs = 1u << FEATURE_REDUX,
    .tunables = group_tunables,
    .tunable_count = ARRAY_COUNT(group_tunables),
    .plan = redux_plan};

/* ---- groups that share the array ----------------------------------------------------------- */

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

/* Work-groups and their items, which take `elements` in turn. */
typedef struct grid {
    size_t groups, local;
} grid;

/* The -Ds of such groups; or why the device has none. */
static const char *grid_of(const job *j, size_t elements, plan *out, grid *g)
{
    const tsr_reduce_problem *p = reduce_of(j->problem);
    const size_t set = param(j->params, "GROUP");
    const size_t usual = j->device->kind == DEVICE_CPU ? GROUP_CPU : GROUP_GPU;
    const size_t units = size_max(j->device->compute_units, 1);
    const char *why;

    g->local = group_fit(j->device, 0, set ? set : usual);
    g->groups = size_max(
        size_min(size_div_up(p->n, g->local * elements), units * param(j->params, "PER_UNIT")), 1);
    if (!reduce_is_plain(p))
        return reduce_not_plain;
    if ((why = plan_unsupported_local(out, g->local * sizeof(float), j->device->local_memory)))
        return why;
    plan_set(out, "GROUP", (uint32_t)g->local);
    plan_define(out, "BY=%zu", p->by);
    return NULL;
}

static const char *plan_groups(const job *j, size_t elements, plan *out)
{
    grid g;
    const char *why = grid_of(j, elements, out, &g);

    if (why)
        return why;
    if (g.groups == 1) {
        launch(j, 1, g.local, true, true, out);
        return NULL;
    }
    out->workspace = g.groups * sizeof(float);
    launch(j, g.groups, g.local, true, false, out);
    launch(j, 1, g.local, false, true, out);
    return NULL;
}

static const tunable tree_tunables[] = {
    {"GROUP", GROUP_MEANING, {0, 1, 32, 64, 128, 256, 512}, 0, 32},
    {"PER_UNIT", PER_UNIT_MEANING, {1, 2, 4, 8, 16, 32}, 8, 2, .host_only = true},
};

static const char *tree_plan(const job *j, plan *out)
{
    const char *why = plan_groups(j, TREE_ELEMENTS, out);

    for (size_t i = 0; !why && !out->failed && i < out->count; i++)
        state_group(&out->commands[i], 1);
    return why;
}

const variant reduce_tree = {
    .name = "tree",
    .answers =
        1u << CAUSE_LAUNCHES | 1u << CAUSE_BARRIERS | 1u << CAUSE_DIVERGENCE | 1u << CAUSE_ACCESS,
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

/* Elements of a work-item's loads; and whether a vector is one load.  A CPU loads from anywhere. */
static size_t define_vectors(const job *j, plan *out)
{
    const bool starts = reduce_of(j->problem)->offset_x % VECTOR == 0;

    plan_define(out, "ALIGNED=%d", starts && j->device->kind != DEVICE_CPU);
    return VECTOR * (size_t)param(j->params, "LOADS");
}

static const char *vector_plan(const job *j, plan *out)
{
    const char *why = plan_groups(j, define_vectors(j, out), out);

    /* Its function for the tree lets every work-item read the result. */
    for (size_t i = 0; !why && !out->failed && i < out->count; i++)
        state_group(&out->commands[i], out->commands[i].local[0]);
    return why;
}

const variant reduce_vector = {
    .name = "vector",
    .idea =
        "a work-item has several vectors of four in flight, and combines them before its chains",
    .answers = 1u << CAUSE_ACCESS | 1u << CAUSE_BARRIERS | 1u << CAUSE_DIVERGENCE,
    .source = "reduce/reduce_vector.cl",
    .entries = {"reduce_vector"},
    .build = "",
    .tunables = vector_tunables,
    .tunable_count = ARRAY_COUNT(vector_tunables),
    .plan = vector_plan};

/* ---- by atomic operations ------------------------------------------------------------------ */

/* The result starts as the value that changes nothing; then a launch over the array, each of whose
 * groups or work-items combines its value with it. */
static void add_atomic(const job *j, size_t groups, size_t local, size_t exchanges, plan *out)
{
    const tsr_reduce_problem *p = reduce_of(j->problem);
    const reduce_call call = {.n = p->n, .from = p->offset_x, .to = p->offset_result};
    command *c;

    plan_define(out, "ADDS=%d", j->device->feature[FEATURE_PTX] == FEATURE_YES);
    c = plan_launch_1d(out, 1, 1, 1);
    command_operand(c, REDUCE_RESULT);
    command_block(c, &call, sizeof(call));
    c->bytes = sizeof(float);
    c = plan_launch_1d(out, 0, groups * local, local);
    command_operand(c, REDUCE_X);
    command_operand(c, REDUCE_RESULT);
    command_block(c, &call, sizeof(call));
    c->bytes = (double)sizeof(float) * ((double)p->n + 2 * (double)exchanges);
}

static const char *atomic_plan(const job *j, plan *out)
{
    const tsr_reduce_problem *p = reduce_of(j->problem);
    const size_t local = tree_group(j, 1);

    if (!reduce_is_plain(p))
        return reduce_not_plain;
    if (keeps_order(p))
        return any_order_alone;
    plan_set(out, "GROUP", (uint32_t)local);
    plan_define(out, "BY=%zu", p->by);
    add_atomic(j, size_max(size_div_up(p->n, local), 1), local, p->n, out);
    return NULL;
}

const variant reduce_atomic = {.name = "atomic",
                               .idea = "every work-item changes the result by an atomic operation",
                               .unstated =
                                   "repeats an exchange as often as another work-item was faster",
                               .source = "reduce/reduce_atomic.cl",
                               .entries = {"reduce_atomic", "reduce_atomic_start"},
                               .build = "",
                               .uses = 1u << FEATURE_PTX,
                               .tunables = group_tunables,
                               .tunable_count = ARRAY_COUNT(group_tunables),
                               .plan = atomic_plan};

static const char *group_atomic_plan(const job *j, plan *out)
{
    const tsr_reduce_problem *p = reduce_of(j->problem);
    const char *why;
    grid g;

    if (reduce_is_plain(p) && keeps_order(p))
        return any_order_alone;
    why = grid_of(j, TREE_ELEMENTS, out, &g);
    if (!why)
        add_atomic(j, g.groups, g.local, g.groups, out);
    return why;
}

const variant reduce_group_atomic = {
    .name = "group-atomic",
    .idea = "tree, whose groups change the result by one atomic operation each: one launch",
    .unstated = "repeats an exchange as often as another work-item was faster",
    .source = "reduce/reduce_group_atomic.cl",
    .entries = {"reduce_group_atomic", "reduce_group_atomic_start"},
    .build = "",
    .uses = 1u << FEATURE_PTX,
    .tunables = tree_tunables,
    .tunable_count = ARRAY_COUNT(tree_tunables),
    .plan = group_atomic_plan};

/* ---- the last group ------------------------------------------------------------------------ */

/* What `groups` groups ask for that end with a tree, and the last of them with one more.  c->bytes
 * is set. */
static void state_last(command *c, size_t groups)
{
    const size_t items = c->local[0];
    /* As state_group has it, where all read the result. */
    const double tree = (double)items + 3 * (double)(items - 1) + (double)items;
    const double counted = groups > 1 ? (double)groups : 0;

    /* Each group counts itself, and the last one clears the counter. */
    c->traffic.requested = c->bytes + (double)sizeof(uint32_t) * (2 * counted + (groups > 1));
    /* All work-items read whether theirs was the last group, in which there is one more tree. */
    c->traffic.local = (double)sizeof(float) * tree * ((double)groups + (groups > 1)) +
                       (double)sizeof(uint32_t) * counted * ((double)items + 2);
    c->traffic.barriers =
        size_log2_up(items) * (1 + (groups > 1 ? 1 / counted : 0)) + (groups > 1 ? 3 : 0);
}

static const char *last_group_plan(const job *j, plan *out)
{
    const tsr_reduce_problem *p = reduce_of(j->problem);
    const last_group way = last_group_of(j->device);
    const reduce_call call = {.n = p->n, .from = p->offset_x, .to = p->offset_result};
    const char *why;
    command *c;
    grid g;

    if (way == LAST_GROUP_NONE)
        return "the device has no atomic operations that order what work-groups write";
    if ((why = grid_of(j, define_vectors(j, out), out, &g)))
        return why;
    last_group_defines(j->device, way, &out->defines);
    if (g.groups == 1) {
        c = plan_launch_1d(out, 1, g.local, g.local);
        command_operand(c, REDUCE_X);
        command_operand(c, REDUCE_RESULT);
        command_block(c, &call, sizeof(call));
        c->bytes = (double)sizeof(float) * ((double)p->n + 1);
        state_last(c, 1);
        return NULL;
    }
    out->workspace = g.groups * sizeof(float);
    c = plan_launch_1d(out, 0, g.groups * g.local, g.local);
    command_operand(c, REDUCE_X);
    command_operand(c, REDUCE_RESULT);
    command_workspace(c);
    command_group_counters(c, true);
    command_block(c, &call, sizeof(call));
    c->bytes = (double)sizeof(float) * ((double)p->n + 2 * (double)g.groups + 1);
    state_last(c, g.groups);
    return NULL;
}

const variant reduce_last_group = {
    .name = "last-group",
    .idea = "vector in one launch: the last work-group combines what all have left",
    .answers = 1u << CAUSE_LAUNCHES,
    .source = "reduce/reduce_last_group.cl",
    .entries = {"reduce_last_group", "reduce_only_group"},
    .build = "",
    .uses = LAST_GROUP_USES,
    .group_counters = true,
    .tunables = vector_tunables,
    .tunable_count = ARRAY_COUNT(vector_tunables),
    .plan = last_group_plan};
