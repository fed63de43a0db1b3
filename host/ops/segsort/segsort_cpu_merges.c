/** Segments on CPUs, each work-item alone: cl/segsort/segsort_cpu_merges.cl. */
#include "ops/segsort/segsort_problem.h"
#include "ops/sort/sort_commands.h"
#include "ops/sort/sort_vector_block.h"

/* Entries of the kernels, in the variant's order. */
enum { MERGES_BLOCK, MERGES_MERGE, MERGES_KEEP };

/* Work-items for each core, so that none waits long for another one. */
enum { WINDOWS_CORE = 8 };

static const tunable tunables[] = {SORT_MERGES_TUNABLES};

/* A launch of a kernel that sorts; without lanes in the workspace it leaves them alone. */
static command *launch(const tsr_sort_problem *s, unsigned entry, bool lanes,
                       const segsort_call *call, plan *out)
{
    command *c = plan_launch_1d(out, entry, size_div_up(s->n, call->window), 1);

    sort_step_keys(c, s);
    if (lanes)
        command_workspace(c);
    else
        command_operand(c, SORT_KEYS);
    segsort_arguments(c, call);
    return c;
}

/* Blocks, and a launch for each stage of the longest segment. */
static const char *plan_segments(const job *j, plan *out)
{
    const tsr_segsort_problem *p = segsort_of(j->problem);
    const tsr_sort_problem *s = &p->sort;
    const size_t items = size_max(j->device->compute_units, 1) * WINDOWS_CORE;
    /* Keys of most segments, of which few are longer than twice the mean; 0: there is one. */
    const vector_block block = sort_vector_block(
        j, SORT_MERGES_BLOCK_BYTES,
        p->segments > 1 ? size_min(2 * (segsort_mean(p) + 1), segsort_longest(p)) : 0);
    const uint32_t top = size_log2_up(segsort_longest(p));
    const uint32_t merges = top > block.shift ? top - block.shift : 0;
    const size_t arrays = size_min(merges, sort_with_index(s) ? 2 : 1); /* of lanes */
    segsort_call call = segsort_call_of(p);
    const char *why;
    command *c;

    if ((why = segsort_unsupported(p, out)) || (why = sort_unsupported_packed(s)) ||
        (why = sort_unsupported_vector_block(j, &block, out)))
        return why;
    sort_define_vector_block(j, &block, out);
    out->workspace = sort_values_bytes(s);
    if (sort_is_done(s))
        return NULL;
    call.noted = merges && !p->segment_longest;
    call.offset_lanes = sort_lanes_offset(s);
    call.stage = merges;
    if (arrays)
        out->workspace = (call.offset_lanes + arrays * s->n) * sort_lane_bytes(s);
    if (call.noted) { /* behind the lanes */
        call.offset_longest = size_div_up(out->workspace, sizeof(uint32_t));
        out->workspace = (call.offset_longest + 1) * sizeof(uint32_t);
        segsort_fill_longest(&call, out);
    }
    call.window = size_max(size_div_up(s->n, items), (size_t)1 << block.shift);
    c = launch(s, MERGES_BLOCK, arrays, &call, out);
    sort_step_moves(c, s, s->n,
                    tsr_type_size(s->type) + (merges ? sort_lane_bytes(s) : sort_element_bytes(s)));
    call.window = sort_merge_piece(j, &block, s->n);
    for (uint32_t merge = 0; merge < merges; merge++) {
        call.length = 1u << (block.shift + merge);
        launch(s, MERGES_MERGE, arrays, &call, out);
    }
    segsort_move_values(j, MERGES_KEEP, out);
    return NULL;
}

const variant segsort_cpu_merges = {
    .name = "cpu-segments",
    .alias = "item-segments",
    .idea = "for CPUs: blocks and merges of all segments, in explicit vectors, no barriers",
    .unstated = "moves what the lengths of segments decide, which only the device knows",
    .source = "segsort/segsort_cpu_merges.cl",
    .entries = {"segsort_cpu_block", "segsort_cpu_merge", "sort_values_keep", "segsort_gather"},
    .build = "",
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_segments,
};
