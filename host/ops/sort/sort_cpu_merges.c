/** Merges of runs of one row, for CPUs: cl/sort/sort_cpu_merges.cl. */
#include "base/sizes.h"
#include "ops/sort/sort_commands.h"
#include "ops/sort/sort_variants.h"
#include "ops/sort/sort_vector_block.h"

/* Entries of the kernels, in the variant's order. */
enum { MERGES_BLOCK, MERGES_MERGE, MERGES_KEEP };

/* Of keys that are done before the next, at most, for each core: what a large second cache holds.
 */
enum { SPAN_BYTES_CORE = 2 << 20 };

static const tunable tunables[] = {
    SORT_MERGES_TUNABLES,
    {"SPAN",
     "KiB of keys that are finished before the next are begun: as many as caches hold, so that "
     "memory is read less often; 0: by the number of cores",
     {0, 16, 256, 1024, 4096, 16384, 2097152},
     0,
     .host_only = true},
};

/* How the sort is split. */
typedef struct layout {
    vector_block block;
    uint32_t span_shift; /* 2^span_shift keys that are merged before the next */
    uint32_t merges;     /* launches from a block to all keys */
} layout;

/* Keys that a launch is about. */
typedef struct range {
    size_t start, n;
} range;

/* The array that launch `merge` of a key reads, and its offset: without an index keys and workspace
 * take turns so that the last one writes keys.  What the last one writes with an index is none. */
static void step_array(const tsr_sort_problem *p, const layout *s, uint32_t merge, command *out)
{
    if (sort_with_index(p) ? merge == s->merges : (s->merges - merge) % 2 == 0)
        command_operand(out, 0);
    else
        command_workspace(out);
}

static size_t array_offset(const tsr_sort_problem *p, const layout *s, uint32_t merge, range r)
{
    if (sort_with_index(p))
        return sort_lanes_offset(p) + merge % 2 * p->n + r.start;
    return r.start + ((s->merges - merge) % 2 == 0 ? p->offset_keys : 0);
}

/* The scalars of a launch: merges_call of cl/sort/sort_cpu_merges.cl. */
typedef struct merges_call {
    uint64_t offset_keys, offset_index, offset_from, offset_lanes;
    uint32_t n;
    uint32_t position;
    uint32_t run;
    uint32_t piece;
    uint32_t last;
    uint32_t unused; /* what would be padding: calls are compared by their bytes */
} merges_call;

_Static_assert(sizeof(merges_call) == 56, "as OpenCL C lays it out");

/* Of the launch that leaves what launch `merge` reads. */
static merges_call call_of(const tsr_sort_problem *p, const layout *s, uint32_t merge, range r)
{
    return (merges_call){.offset_keys = p->offset_keys + r.start,
                         .offset_index = sort_index_offset(p) + r.start,
                         .offset_lanes = array_offset(p, s, merge, r),
                         .n = (uint32_t)r.n,
                         .position = (uint32_t)r.start,
                         .last = merge == s->merges};
}

/* Bytes of a key that launch `merge` writes. */
static size_t left_bytes(const tsr_sort_problem *p, const layout *s, uint32_t merge)
{
    return merge == s->merges ? sort_element_bytes(p) : sort_lane_bytes(p);
}

static void add_block(const tsr_sort_problem *p, const layout *s, range r, plan *out)
{
    const merges_call call = call_of(p, s, 0, r);
    command *c =
        plan_launch_1d(out, MERGES_BLOCK, size_div_up(r.n, (size_t)1 << s->block.shift), 1);

    sort_step_keys(c, p);
    step_array(p, s, 0, c);
    command_block(c, &call, sizeof(call));
    sort_step_moves(c, p, r.n, tsr_type_size(p->type) + left_bytes(p, s, 0));
}

/* Merge `merge` of the range: runs of twice the length. */
static void add_merge(const job *j, const layout *s, uint32_t merge, range r, plan *out)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t piece = sort_merge_piece(j, &s->block, r.n);
    merges_call call = call_of(p, s, merge + 1, r);
    command *c = plan_launch_1d(out, MERGES_MERGE, size_div_up(r.n, piece), 1);

    call.offset_from = array_offset(p, s, merge, r);
    call.run = 1u << (s->block.shift + merge);
    call.piece = (uint32_t)piece;
    sort_step_keys(c, p);
    step_array(p, s, merge, c);
    step_array(p, s, merge + 1, c);
    command_block(c, &call, sizeof(call));
    sort_step_moves(c, p, r.n, sort_lane_bytes(p) + left_bytes(p, s, merge + 1));
}

/* Spans are sorted one after another, and then merged. */
static const char *plan_merges(const job *j, plan *out)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t cores = size_max(j->device->compute_units, 1);
    const uint32_t top = size_log2_up(p->n);
    size_t span = (size_t)param(j->params, "SPAN") * 1024, arrays;
    uint32_t merge = 0;
    layout s = {.block = sort_vector_block(j, SORT_MERGES_BLOCK_BYTES, 0)};
    const char *why;

    if ((why = sort_unsupported_lanes(p, out)))
        return why;
    if (sort_rows(p) > 1)
        return "it merges runs of one row: see cpu-vectors";
    if ((why = sort_unsupported_vector_block(j, &s.block, out)))
        return why;
    if (!span)
        span = (size_t)1 << (size_log2_up(SPAN_BYTES_CORE * cores + 1) - 1);
    plan_set(out, "SPAN", (uint32_t)(span / 1024));
    s.span_shift = (uint32_t)size_max(size_log2_up(span / sort_lane_bytes(p)), s.block.shift);
    s.merges = top > s.block.shift ? top - s.block.shift : 0;
    sort_define_vector_block(j, &s.block, out);
    /* Arrays of lanes that launches leave for one another: one in the workspace takes turns with
     * the keys, or with an index two with each other. */
    arrays = size_min(s.merges, sort_with_index(p) ? 2 : 1);
    out->workspace =
        arrays ? (sort_lanes_offset(p) + arrays * p->n) * sort_lane_bytes(p) : sort_values_bytes(p);
    if (sort_is_done(p))
        return NULL;
    span = (size_t)1 << s.span_shift;
    for (size_t start = 0; start < p->n; start += span) {
        const range r = {start, size_min(span, p->n - start)};

        add_block(p, &s, r, out);
        for (merge = 0; merge < size_min(s.merges, s.span_shift - s.block.shift); merge++)
            add_merge(j, &s, merge, r, out);
    }
    for (; merge < s.merges; merge++)
        add_merge(j, &s, merge, (range){0, p->n}, out);
    sort_move_values(j, MERGES_KEEP, out);
    return NULL;
}

const variant sort_cpu_merges = {
    .name = "cpu-merges",
    .alias = "item-merges",
    .idea = "runs merged through a network in registers: a stage is one pass, however long",
    .unstated = "searches for the parts of a merge, and the keys decide how often",
    .source = "sort/sort_cpu_merges.cl",
    .entries = {"sort_cpu_merges_block", "sort_cpu_merges_merge", "sort_values_keep",
                "sort_values_gather"},
    .build = "",
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_merges,
};
