#include "ops/sort/sort_cpu_segments.h"

#include "ops/sort/sort_cpu_merges.h"
#include "ops/sort/sort_order.h"
#include "ops/sort/sort_segments.h"
#include "ops/sort/sort_steps.h"
#include "ops/sort/sort_vector_block.h"

/* Work-items for each core, so that none waits long for another one. */
enum { WINDOWS_CORE = 8 };

/* How the sort is split. */
typedef struct layout {
    vector_block block;
    uint32_t merges; /* launches from a block to the longest segment */
    size_t arrays;   /* of lanes in the workspace */
    bool noted;      /* the longest segment is looked for on the device */
} layout;

static layout plan_of(const job *j)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const uint32_t top = size_log2_up(sort_longest(p));
    layout s = {.block = sort_cpu_merges_block(j)};

    s.merges = top > s.block.shift ? top - s.block.shift : 0;
    s.arrays = size_min(s.merges, sort_with_index(p) ? 2 : 1);
    s.noted = s.merges > 0 && !p->segment_longest;
    return s;
}

void sort_cpu_segments_defines(const job *j, text *out)
{
    const vector_block block = plan_of(j).block;

    sort_key_defines(j, out);
    sort_vector_block_defines(j, &block, out);
}

const char *sort_cpu_segments_unsupported(const job *j, text *reason)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const vector_block block = sort_cpu_merges_block(j);
    const char *why = sort_segments_lengths_unsupported(p, reason);

    if (why)
        return why;
    if (!sort_packs(p))
        return "it packs a key and its index in 64 bits, and the key alone has as many";
    return sort_vector_block_unsupported(j, &block, reason);
}

/* Where the longest length stands in the workspace, in units of 4 bytes: behind the lanes. */
static size_t offset_longest(const tsr_sort_problem *p, const layout *s)
{
    const size_t lanes = sort_lanes_offset(p) + s->arrays * p->n;

    return size_div_up(lanes * sort_lane_bytes(p), sizeof(uint32_t));
}

size_t sort_cpu_segments_workspace(const job *j)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const layout s = plan_of(j);

    if (!s.arrays || sort_is_done(p))
        return sort_values_bytes(p);
    return (offset_longest(p, &s) + s.noted) * sizeof(uint32_t);
}

/* What both kernels are told. */
static void launch(const tsr_sort_problem *p, const layout *s, unsigned entry, size_t window,
                   command *out)
{
    command_launch_1d(out, entry, size_div_up(p->n, window), 1);
    sort_step_keys(out, p);
    if (s->arrays)
        command_workspace(out);
    else
        command_operand(out, 0); /* which it leaves alone */
    command_operand(out, 3);
    if (s->noted)
        command_workspace(out);
    else
        command_operand(out, 0); /* likewise */
    sort_step_keys_from(out, p, 0);
    command_u64(out, sort_lanes_offset(p));
    command_u64(out, p->offset_segments);
    command_u64(out, s->noted ? offset_longest(p, s) : 0);
    command_u64(out, p->n);
    command_u64(out, p->segments);
    command_u64(out, window);
    command_u32(out, s->noted);
}

static void launch_blocks(const job *j, const layout *s, command *out)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t items = size_max(j->device->compute_units, 1) * WINDOWS_CORE;
    const size_t block = (size_t)1 << s->block.shift;

    launch(p, s, ITEM_SEGMENTS_BLOCK, size_max(size_div_up(p->n, items), block), out);
    sort_step_moves(out, p, p->n,
                    tsr_type_size(p->type) +
                        (s->merges ? sort_lane_bytes(p) : sort_element_bytes(p)));
}

static bool keys_step(const job *j, size_t i, command *out)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const layout s = plan_of(j);

    if (sort_is_done(p))
        return false;
    if (s.noted && i-- == 0) {
        sort_segments_fill_longest(offset_longest(p, &s), out);
        return true;
    }
    if (i-- == 0) {
        launch_blocks(j, &s, out);
        return true;
    }
    if (i >= s.merges)
        return false;
    launch(p, &s, ITEM_SEGMENTS_MERGE, sort_cpu_merges_piece(j, p->n), out);
    command_u32(out, 1u << (s.block.shift + i));
    return true;
}

bool sort_cpu_segments_step(const job *j, size_t i, command *out)
{
    return sort_segments_step_or_values(j, i, keys_step, ITEM_SEGMENTS_KEEP, out);
}
