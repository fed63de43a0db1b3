/* Histograms on a device, from plain to fast. */
#include "base/sizes.h"
#include "core/groups.h"
#include "core/last_group.h"
#include "ops/histogram/histogram_problem.h"

/* Work-items of a group where GROUP is 0.  A core runs those of its group in turns: on a CPU one
 * takes the whole share. */
enum { GROUP_CPU = 1, GROUP_GPU = 256 };

/* Elements that a group's work-items take at least, so that their table is worth its zeros. */
enum { ELEMENTS_MIN = 16 };

/* A group's table counts in 32 bits. */
enum { GROUP_ELEMENTS_MAX = 1 << 30 };

/* Bins that have registers. */
enum { FEW_MAX = 16 };

#define PER_UNIT_MEANING                                                                           \
    "work-groups for each compute unit, at most: more hide latency, fewer leave fewer tables"
#define COPIES_MEANING                                                                             \
    "tables of a work-group: with more, fewer work-items wait for one bin; fewer leave local "     \
    "memory to more groups"

/* Kernels of each variant: its own, and that of histogram.clh. */
enum { COUNT, CLEAR };

void histogram_define(const tsr_histogram_problem *p, plan *out)
{
    const bool wide = tsr_histogram_edge_type(p->type) == TSR_F64;

    plan_define(out, "ELEMENT=%s", plan_type_name(p->type));
    plan_define(out, "STORED=%d", p->type == TSR_F16 ? 1 : p->type == TSR_BF16 ? 2 : 0);
    plan_define(out, "VALUE=%s", wide ? "double" : "float");
    plan_define(out, "VALUE_BITS=%d", wide ? 64 : 32);
    plan_define(out, "UNEVEN=%d", p->uneven);
    plan_define(out, "WEIGHTS=%zu", p->weights);
}

const char *histogram_unsupported(const tsr_histogram_problem *p, const device_facts *d)
{
    if (!d->fp64 && tsr_histogram_edge_type(p->type) == TSR_F64)
        return "it compares elements with edges in double precision, which the device does not "
               "have";
    if (!d->fp64 && p->weights == TSR_HISTOGRAM_F64)
        return "it adds weights in double precision, which the device does not have";
    return NULL;
}

/* Counts become 0. */
static void add_clear(const tsr_histogram_problem *p, size_t groups, size_t local, plan *out)
{
    const histogram_call call = histogram_call_of(p);
    const view counts = histogram_counts(p);
    const size_t clearing = size_min(groups, size_div_up(p->bins, local));
    command *c = plan_launch_1d(out, CLEAR, clearing * local, local);

    command_operand(c, HISTOGRAM_COUNTS);
    command_block(c, &call, sizeof(call));
    c->bytes = c->traffic.requested = (double)view_bytes(&counts);
}

/* Bytes of edges that one element asks for: whether it is inside, and where bins are searched one a
 * step, else two for a guess and two that confirm it, which is nearly always right. */
static double edge_bytes(const tsr_histogram_problem *p)
{
    const double looks = 2 + (p->uneven ? (double)size_log2_up(p->bins) : 4);

    return looks * (double)tsr_type_size(tsr_histogram_edge_type(p->type));
}

/* An atomic operation reads and writes a word of 32 bits. */
enum { ATOMIC_BYTES = 8 };

/* What groups with a table of `copies` words a bin ask for: they clear it, count in it, and add up
 * its bins, all of which count as hit; `reads` is of a bin then. */
static void state_tables(const tsr_histogram_problem *p, size_t groups, size_t copies, size_t reads,
                         plan *out)
{
    const double words = (double)groups * (double)p->bins;
    command *c;

    if (!out->count)
        return;
    c = &out->commands[out->count - 1];
    c->traffic.requested =
        (double)p->n * ((double)tsr_type_size(p->type) + edge_bytes(p)) + words * ATOMIC_BYTES;
    c->traffic.local =
        (double)p->n * ATOMIC_BYTES + words * (double)(copies + reads) * (double)sizeof(uint32_t);
    c->traffic.barriers = 2;
}

/* Of local memory, for whether a group is the last one. */
static size_t last_bytes(last_group way)
{
    return way == LAST_GROUP_NONE ? 0 : sizeof(uint32_t);
}

/* The launch that counts, of groups of `local` work-items, behind one that clears the counts unless
 * they are added to or the last group `stores` them. */
static command *add_count(const tsr_histogram_problem *p, size_t groups, size_t local,
                          last_group way, bool stores, plan *out)
{
    const histogram_call call = histogram_call_of(p);
    command *c;

    plan_set(out, "GROUP", (uint32_t)local);
    if (!p->add && !stores)
        add_clear(p, groups, local, out);
    c = plan_launch_1d(out, COUNT, groups * local, local);
    command_operand(c, HISTOGRAM_X);
    command_operand(c, HISTOGRAM_EDGES);
    command_operand(c, HISTOGRAM_COUNTS);
    if (p->weights)
        command_operand(c, HISTOGRAM_WEIGHTS);
    if (way != LAST_GROUP_NONE)
        command_group_counters(c, true);
    command_block(c, &call, sizeof(call));
    return c;
}

/* The plan of groups of `local` work-items, whose tables take `table` bytes of local memory; one is
 * the last in some `way` or not. */
static const char *plan_groups(const job *j, size_t groups, size_t local, size_t table,
                               last_group way, plan *out)
{
    const tsr_histogram_problem *p = histogram_of(j->problem);
    const char *why = histogram_unsupported(p, j->device);
    const view x = histogram_x(p), edges = histogram_edges(p), counts = histogram_counts(p);
    const size_t bytes = table + last_bytes(way);
    command *c;

    if (why)
        return why;
    if (p->weights && table)
        return "it counts elements, and does not add up weights";
    if ((why = plan_unsupported_local(out, bytes, j->device->local_memory)))
        return why;
    c = add_count(p, groups, local, way, way != LAST_GROUP_NONE, out);
    if (table)
        command_local(c, table);
    c->bytes = (double)view_bytes(&x) + (double)view_bytes(&edges) +
               2 * (double)groups * (double)view_bytes(&counts);
    return NULL;
}

static size_t group_of(const job *j)
{
    const size_t set = param(j->params, "GROUP");
    const size_t usual = j->device->kind == DEVICE_CPU ? GROUP_CPU : GROUP_GPU;

    return group_fit(j->device, 0, set ? set : usual);
}

/* As many as the units take, few enough that each has something to do, and enough that the counts
 * of none overflow. */
static size_t groups_for(const job *j, size_t local, size_t elements)
{
    const size_t n = histogram_of(j->problem)->n;
    const size_t units = size_max(j->device->compute_units, 1);
    const size_t most =
        size_max(units * param(j->params, "PER_UNIT"), size_div_up(n, GROUP_ELEMENTS_MAX));

    return size_max(size_min(size_div_up(n, local * elements), most), 1);
}

/* ---- the last group ------------------------------------------------------------------------- */

#define LOADS_OF_ELEMENTS(usual)                                                                   \
    {                                                                                              \
        "LOADS", "elements that a work-item has in flight", {1, 2, 4, 8}, usual, 1                 \
    }

/* How a group is the last one, which stores what all have added up in 32 bits. */
static last_group last_of(const job *j)
{
    const tsr_histogram_problem *p = histogram_of(j->problem);

    return last_group_for(j->device, p->n <= UINT32_MAX && p->bins < GROUP_COUNTERS_MAX,
                          p->bins + 1);
}

/* -Ds of a kernel whose last group goes on, and sets the counts to 0 where it `clears`. */
static void define_last(const job *j, size_t groups, last_group way, bool clears, plan *out)
{
    last_group_defines(j->device, way, &out->defines);
    plan_define(out, "CLEARS=%d", clears);
    plan_define(out, "ALONE=%d", groups == 1);
}

/* Elements of a work-item at least: where no launch clears the counts, and groups add up without
 * waiting, as many as it has in flight. */
static size_t elements_for(const job *j, last_group way)
{
    return way == LAST_GROUP_NONE ? ELEMENTS_MIN : param(j->params, "LOADS");
}

/* What it asks for that groups are counted, and that the last one takes what all have added up and
 * stores it. */
static void state_last(const tsr_histogram_problem *p, size_t groups, last_group way, plan *out)
{
    const view counts = histogram_counts(p);
    command *c;

    if (!out->count || way == LAST_GROUP_NONE)
        return;
    c = &out->commands[out->count - 1];
    c->traffic.requested += (double)view_bytes(&counts);
    if (groups > 1) {
        c->traffic.requested += ((double)groups + (double)p->bins) * ATOMIC_BYTES;
        c->traffic.local += (double)groups * (double)(c->local[0] + 1) * (double)sizeof(uint32_t);
        c->traffic.barriers += 3;
    }
}

/* ---- naive ---------------------------------------------------------------------------------- */

static const tunable naive_tunables[] = {
    {"GROUP", GROUP_MEANING, {0, 32, 64, 128, 256, 512}, 0, 32},
};

static const char *naive_plan(const job *j, plan *out)
{
    const tsr_histogram_problem *p = histogram_of(j->problem);
    const size_t set = param(j->params, "GROUP");
    const size_t local = group_fit(j->device, 0, set ? set : GROUP_GPU);
    const size_t groups = size_max(size_div_up(p->n, local), 1);
    const view x = histogram_x(p), edges = histogram_edges(p), weights = histogram_weights(p);
    const char *why;
    double atomics;
    command *c;

    if (p->weights == TSR_HISTOGRAM_F64)
        return "it adds by 32-bit atomics, and the weights are float64";
    why = plan_groups(j, groups, local, 0, LAST_GROUP_NONE, out);
    if (why)
        return why;
    histogram_define(p, out);
    if (!out->count)
        return NULL;
    c = &out->commands[out->count - 1];
    /* An atomic an element; two of a float's sum, since what the first one takes for it is a guess.
     */
    atomics = (double)p->n * ATOMIC_BYTES;
    c->bytes = (double)view_bytes(&x) + (double)view_bytes(&edges) + (double)view_bytes(&weights) +
               atomics;
    c->traffic.requested = (double)p->n * ((double)tsr_type_size(p->type) + edge_bytes(p)) +
                           (double)view_bytes(&weights) + (p->weights ? 2 : 1) * atomics;
    c->traffic.busy = (double)p->n / (double)c->global[0];
    return NULL;
}

const variant histogram_naive = {.name = "naive",
                                 .idea =
                                     "one element a work-item, one atomic in global memory each",
                                 .source = "histogram/histogram_naive.cl",
                                 .entries = {"histogram_naive", "histogram_clear"},
                                 .build = "",
                                 .tunables = naive_tunables,
                                 .tunable_count = ARRAY_COUNT(naive_tunables),
                                 .plan = naive_plan};

/* ---- local ---------------------------------------------------------------------------------- */

static const tunable local_tunables[] = {
    {"GROUP", GROUP_MEANING, {0, 1, 32, 64, 128, 256, 512, 1024}, 0, 32},
    {"PER_UNIT", PER_UNIT_MEANING, {1, 2, 4, 8, 16}, 4, 2, .host_only = true},
};

static const char *local_plan(const job *j, plan *out)
{
    const tsr_histogram_problem *p = histogram_of(j->problem);
    const size_t local = group_of(j);
    const size_t groups = groups_for(j, local, ELEMENTS_MIN);
    const size_t table = size_min(p->bins, SIZE_MAX / 64) * sizeof(uint32_t);
    const char *why;

    histogram_define(p, out);
    why = plan_groups(j, groups, local, table, LAST_GROUP_NONE, out);
    if (!why)
        state_tables(p, groups, 1, 2, out); /* whether it was hit, and how often */
    return why;
}

const variant histogram_local = {.name = "local",
                                 .idea = "a table in local memory for each group, added to the "
                                         "counts at its end",
                                 .source = "histogram/histogram_local.cl",
                                 .entries = {"histogram_local", "histogram_clear"},
                                 .build = "",
                                 .tunables = local_tunables,
                                 .tunable_count = ARRAY_COUNT(local_tunables),
                                 .plan = local_plan};

/* ---- copies --------------------------------------------------------------------------------- */

static const tunable copies_tunables[] = {
    {"COPIES", COPIES_MEANING, {2, 4, 8, 16, 32}, 8, 2},
    LOADS_OF_ELEMENTS(4),
    {"GROUP", GROUP_MEANING, {0, 1, 32, 64, 128, 256, 512, 1024}, 0, 32},
    {"PER_UNIT", PER_UNIT_MEANING, {1, 2, 4, 8, 16}, 4, 2, .host_only = true},
};

static const char *copies_plan(const job *j, plan *out)
{
    const tsr_histogram_problem *p = histogram_of(j->problem);
    const last_group way = last_of(j);
    const size_t local = group_of(j), copies = param(j->params, "COPIES");
    const size_t groups = groups_for(j, local, elements_for(j, way));
    const size_t table = size_min(p->bins, SIZE_MAX / 1024) * sizeof(uint32_t) * copies;
    const char *why;

    histogram_define(p, out);
    define_last(j, groups, way, way != LAST_GROUP_NONE && !p->add, out);
    why = plan_groups(j, groups, local, table, way, out);
    if (!why) {
        state_tables(p, groups, copies, copies, out);
        state_last(p, groups, way, out);
    }
    return why;
}

const variant histogram_copies = {
    .name = "copies",
    .idea = "several tables a group, so that neighbours in one bin do not wait for each other",
    .source = "histogram/histogram_copies.cl",
    .entries = {"histogram_copies", "histogram_clear"},
    .build = "",
    .uses = LAST_GROUP_USES,
    .group_counters = true,
    .tunables = copies_tunables,
    .tunable_count = ARRAY_COUNT(copies_tunables),
    .plan = copies_plan};

/* ---- few ------------------------------------------------------------------------------------ */

static const tunable few_tunables[] = {
    LOADS_OF_ELEMENTS(8),
    {"GROUP", GROUP_MEANING, {0, 1, 32, 64, 128, 256, 512}, 0, 32},
    {"PER_UNIT", PER_UNIT_MEANING, {1, 2, 4, 8, 16}, 8, 2, .host_only = true},
};

static const char *few_plan(const job *j, plan *out)
{
    const tsr_histogram_problem *p = histogram_of(j->problem);
    const last_group way = last_of(j);
    const size_t local = group_of(j), groups = groups_for(j, local, elements_for(j, way));
    const double items = (double)groups * (double)local, bins = (double)p->bins;
    const view x = histogram_x(p), edges = histogram_edges(p), counts = histogram_counts(p);
    const char *why = histogram_unsupported(p, j->device);
    size_t lanes = 1, table;
    command *c;

    if (p->bins > FEW_MAX)
        return plan_unsupported(out, "it has registers for %d bins, not for %zu", (int)FEW_MAX,
                                p->bins);
    if (why)
        return why;
    if (p->weights)
        return "it counts elements, and does not add up weights";
    while (2 * lanes * p->bins <= local)
        lanes *= 2;
    table = p->bins * (local + 2 * lanes) * sizeof(uint32_t) + last_bytes(way);
    if ((why = plan_unsupported_local(out, table, j->device->local_memory)))
        return why;
    histogram_define(p, out);
    define_last(j, groups, way, way != LAST_GROUP_NONE && !p->add, out);
    plan_define(out, "BINS=%zu", p->bins);
    plan_define(out, "LANES=%zu", lanes);
    c = add_count(p, groups, local, way, way != LAST_GROUP_NONE, out);
    c->bytes = (double)view_bytes(&x) + (double)view_bytes(&edges) + (double)view_bytes(&counts) +
               (double)groups * bins * ATOMIC_BYTES;
    c->traffic.requested = (double)p->n * (double)tsr_type_size(p->type) +
                           items * (double)view_bytes(&edges) +
                           (double)groups * bins * ATOMIC_BYTES;
    /* Each count and each lane's sum is written and read. */
    c->traffic.local = 2 * bins * (items + (double)(groups * lanes)) * (double)sizeof(uint32_t);
    c->traffic.barriers = 2;
    state_last(p, groups, way, out);
    return NULL;
}

const variant histogram_few = {
    .name = "few",
    .idea = "few bins: a work-item counts in registers how many elements are at or above each edge",
    .source = "histogram/histogram_few.cl",
    .entries = {"histogram_few", "histogram_clear"},
    .build = "",
    .uses = LAST_GROUP_USES,
    .group_counters = true,
    .tunables = few_tunables,
    .tunable_count = ARRAY_COUNT(few_tunables),
    .plan = few_plan};

/* ---- bytes ---------------------------------------------------------------------------------- */

/* Of a work-item at once, and values that they have. */
enum { BYTES_A_LOAD = 16, BYTE_VALUES = 256 };

/* Edges that each group copies into local memory, if there are no more, and counts. */
enum { NEAR_EDGES = 1 << 10 };

/* Bins that the last group sets to 0 by itself: for more it would take longer than a launch. */
enum { CLEARED_MAX = 1 << 12 };

/* Work-items of a group on a GPU where GROUP is 0: large ones, whose table serves many, and of few
 * elements small ones, so that all compute units have some. */
enum { BYTES_GROUP_MIN = 256, BYTES_GROUP_MAX = 1024 };

/* Tables where COPIES is 0.  Groups that count little have fewer to set to 0 and to add up. */
enum { BYTES_COPIES_MIN = 2, BYTES_COPIES_FEW = 16, BYTES_COPIES_MAX = 32 };

static const tunable bytes_tunables[] = {
    {"COPIES", COPIES_MEANING "; 0: by the elements and what fits", {0, 2, 4, 8, 16, 32}, 0, 2},
    {"LOADS", "vectors of sixteen bytes that a work-item has in flight", {1, 2, 4}, 2, 1},
    {"GROUP", GROUP_MEANING, {0, 1, 32, 64, 128, 256, 512, 1024}, 0, 32},
    {"PER_UNIT", PER_UNIT_MEANING, {1, 2, 4, 8, 16}, 1, 2, .host_only = true},
};

/* Work-items of a group. */
static size_t bytes_group(const job *j, size_t vectors)
{
    const size_t set = param(j->params, "GROUP"), units = size_max(j->device->compute_units, 1);
    size_t local = BYTES_GROUP_MIN;

    if (set || j->device->kind == DEVICE_CPU)
        return group_fit(j->device, 0, set ? set : GROUP_CPU);
    /* One group has no other to wait for. */
    if (vectors <= BYTES_GROUP_MAX)
        return group_fit(j->device, 0, BYTES_GROUP_MAX);
    while (local < BYTES_GROUP_MAX && local * units < vectors)
        local *= 2;
    return group_fit(j->device, 0, local);
}

static const char *bytes_plan(const job *j, plan *out)
{
    const tsr_histogram_problem *p = histogram_of(j->problem);
    /* What groups add up has 32 bits. */
    const last_group way = p->n <= UINT32_MAX ? last_group_of(j->device) : LAST_GROUP_NONE;
    const size_t copies_set = param(j->params, "COPIES"), vectors = size_div_up(p->n, BYTES_A_LOAD);
    const size_t local = bytes_group(j, vectors);
    const size_t each = BYTES_A_LOAD * (way == LAST_GROUP_NONE ? ELEMENTS_MIN : 1);
    const size_t groups = groups_for(j, local, each);
    const bool few = groups > 1 && vectors <= groups * local;
    const size_t near = p->bins < NEAR_EDGES ? NEAR_EDGES : 0;
    const size_t beside =
        BYTE_VALUES * sizeof(uint64_t) + size_max(near, 1) * (sizeof(float) + sizeof(uint32_t));
    const bool clears = way != LAST_GROUP_NONE && !p->add && p->bins <= CLEARED_MAX;
    const view x = histogram_x(p), edges = histogram_edges(p), counts = histogram_counts(p);
    const char *why = histogram_unsupported(p, j->device);
    size_t copies = copies_set ? copies_set : few ? BYTES_COPIES_FEW : BYTES_COPIES_MAX;
    size_t table = BYTE_VALUES * sizeof(uint32_t) * copies;
    command *c;

    if (tsr_type_size(p->type) != 1)
        return plan_unsupported(out, "it counts the values of 8 bits, not %s",
                                tsr_type_name(p->type));
    if (why)
        return why;
    if (p->weights)
        return "it counts elements, and does not add up weights";
    while (!copies_set && copies > BYTES_COPIES_MIN && table + beside > j->device->local_memory) {
        copies /= 2;
        table /= 2;
    }
    if ((why = plan_unsupported_local(out, table + beside, j->device->local_memory)))
        return why;
    plan_set(out, "COPIES", (uint32_t)copies);
    histogram_define(p, out);
    define_last(j, groups, way, clears, out);
    plan_define(out, "NEAR=%zu", near);
    c = add_count(p, groups, local, way, clears, out);
    c->bytes = (double)view_bytes(&x) + (double)view_bytes(&edges) + (double)view_bytes(&counts) +
               2 * (double)groups *
                   (way == LAST_GROUP_NONE ? (double)view_bytes(&counts)
                                           : (double)(BYTE_VALUES * sizeof(uint32_t)));
    return NULL;
}

const variant histogram_bytes = {
    .name = "bytes",
    .idea = "elements of 8 bits: sixteen a load, counted by value; a value's bin is found once",
    .unstated = "updates counts as often as neighbouring elements differ",
    .source = "histogram/histogram_bytes.cl",
    .entries = {"histogram_bytes", "histogram_clear"},
    .build = "",
    .uses = LAST_GROUP_USES,
    .group_counters = true,
    .tunables = bytes_tunables,
    .tunable_count = ARRAY_COUNT(bytes_tunables),
    .plan = bytes_plan};
