/* Sums of weights in tables of each work-item's own. */
#include "base/sizes.h"
#include "core/groups.h"
#include "ops/histogram/histogram_problem.h"

/* Work-items of a group where GROUP is 0: each has a table.  A CPU's core runs them in turns. */
enum { GROUP_CPU = 1, GROUP_GPU = 32 };

/* Elements of a work-item, at least, and for each of its sums. */
enum { ELEMENTS_MIN = 64, ELEMENTS_PER_SUM = 4 };

/* Work-groups of the launch that adds up, at most for each compute unit. */
enum { ADDING_PER_UNIT = 16 };

/* Kernels. */
enum { OWN, ADD_UP };

static const tunable tunables[] = {
    {"GROUP",
     "work-items in a work-group: more share a stretch of the array, and each has a table; 0: by "
     "the device",
     {0, 1, 32, 64, 128},
     0,
     32},
    {"PER_UNIT",
     "stretches of the array for each compute unit, at most: more hide latency, fewer leave fewer "
     "sums to add up",
     {1, 2, 4, 8, 16},
     8,
     2,
     .host_only = true},
    {"TABLE",
     "KiB of local memory that tables of a work-group take at most: more hold more bins in one "
     "pass, fewer leave local memory to more groups",
     {8, 16, 32, 48, 96},
     48,
     8,
     .host_only = true},
};

/* Local memory that a driver may keep for itself: NVIDIA's starts no group that asks for all. */
enum { DRIVER_BYTES = 1024 };

/* As histogram_own.cl has it. */
typedef struct own_call {
    histogram_call all;
    uint64_t stretch, stretches, slice, slices, add;
} own_call;

static const char *own_plan(const job *j, plan *out)
{
    const tsr_histogram_problem *p = histogram_of(j->problem);
    const device_facts *d = j->device;
    const view x = histogram_x(p), edges = histogram_edges(p), weights = histogram_weights(p),
               sums = histogram_counts(p);
    const size_t set = param(j->params, "GROUP"), size = tsr_type_size(sums.type);
    const size_t usual = d->kind == DEVICE_CPU ? GROUP_CPU : GROUP_GPU;
    const size_t local = group_fit(d, 0, set ? set : usual);
    const size_t table = (size_t)param(j->params, "TABLE") << 10;
    const size_t memory =
        size_min(d->local_memory - size_min(DRIVER_BYTES, d->local_memory), table);
    const size_t slice = size_min(memory / (local * size), p->bins);
    /* Sums that are written and read again are to be few beside the elements. */
    const size_t worth = p->n / local / size_max(ELEMENTS_MIN, ELEMENTS_PER_SUM * p->bins);
    const size_t most = size_max(d->compute_units, 1) * param(j->params, "PER_UNIT");
    const size_t wanted = size_max(size_min(worth, most), 1);
    const size_t stretch = size_max(size_div_up(p->n, wanted), 1);
    const size_t stretches = size_max(size_div_up(p->n, stretch), 1);
    const size_t slices = slice ? size_div_up(p->bins, slice) : 0;
    const own_call call = {histogram_call_of(p), stretch, stretches, slice, slices, p->add};
    const char *why = histogram_unsupported(p, d);
    size_t adding, items;
    command *c;

    if (!p->weights)
        return "it adds up weights, and there are none";
    if (why)
        return why;
    if (slice == 0)
        return plan_unsupported(out,
                                "it needs %zu bytes of local memory for each of %zu work-items, "
                                "more than the device has",
                                size, local);
    if (!size_mul(stretches, view_bytes(&sums), &out->workspace) ||
        !size_mul(stretches * local, slices, &items))
        return plan_unsupported(out, "its %zu times %zu sums are more than memory can hold",
                                stretches, p->bins);
    plan_set(out, "GROUP", (uint32_t)local);
    histogram_define(p, out);
    c = plan_launch_1d(out, OWN, items, local);
    command_operand(c, HISTOGRAM_X);
    command_operand(c, HISTOGRAM_EDGES);
    command_operand(c, HISTOGRAM_WEIGHTS);
    command_workspace(c);
    command_block(c, &call, sizeof(call));
    command_local(c, slice * local * size);
    c->bytes = (double)slices * (double)view_bytes(&x) + (double)view_bytes(&weights) +
               (double)view_bytes(&edges) + (double)out->workspace;
    adding = size_min(size_div_up(p->bins, local), size_max(d->compute_units, 1) * ADDING_PER_UNIT);
    c = plan_launch_1d(out, ADD_UP, adding * local, local);
    command_operand(c, HISTOGRAM_COUNTS);
    command_workspace(c);
    command_block(c, &call, sizeof(call));
    c->bytes = (double)out->workspace + (p->add ? 2 : 1) * (double)view_bytes(&sums);
    return NULL;
}

const variant histogram_own = {
    .name = "own",
    .idea =
        "sums of weights in a table for each work-item: no atomics, and the same sums each time",
    .unstated = "adds to bins that the data decide",
    .source = "histogram/histogram_own.cl",
    .entries = {"histogram_own", "histogram_add_up"},
    .build = "",
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = own_plan};
