#include "ops/sort/sort_cpu_vectors.h"

#include "ops/sort/sort_order.h"
#include "ops/sort/sort_steps.h"
#include "ops/sort/sort_vector_block.h"

enum { BLOCK_BYTES = 128 << 10 };

const tunable sort_cpu_vectors_tunables[ITEM_VECTORS_TUNABLES] = {
    {"BITS",
     "width of a vector: several registers where they are narrower; 0: as wide as the device's",
     {0, 128, 256, 512},
     0,
     128},
    {"HELD_SHIFT",
     "exponent of the vectors in registers: more sub-stages for each read, until registers run out",
     {2, 3},
     3},
    {"BLOCK",
     "keys of a block: a larger one saves passes, until the core's cache runs out; 0: by their "
     "bytes",
     {0, 64, 256, 512, 1024, 4096, 8192, 16384, 32768, 65536, 131072},
     0,
     64},
    {"PART",
     "bytes of what is finished before the next: the nearest cache",
     {1024, 4096, 8192, 16384, 32768},
     16384},
    {"LEVELS",
     "sub-stages of a pass, at most: fewer passes against shorter pieces of memory",
     {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
     8,
     3},
    {"SPAN",
     "KiB of keys that are done before the next: what the cache of all cores holds, and memory is "
     "read less often",
     {1, 1024, 2048, 4096, 8192, 16384, 32768, 2097152},
     4096},
};

cpu_vectors_plan sort_cpu_vectors_plan(const job *j)
{
    const vector_block block = sort_vector_block(j, BLOCK_BYTES);
    const size_t span =
        (size_t)param(j->params, "SPAN") * 1024 / sort_lane_bytes(sort_of(j->problem));

    return (cpu_vectors_plan){
        .block = block,
        .span_shift = (uint32_t)size_max(size_log2_up(span), block.shift),
        .levels = param(j->params, "LEVELS"),
    };
}

void sort_cpu_vectors_defines(const job *j, text *out)
{
    const cpu_vectors_plan s = sort_cpu_vectors_plan(j);

    sort_key_defines(j, out);
    sort_vector_block_defines(j, &s.block, out);
}

/* Why the parts of the layout do not go together, or have no room. */
static const char *layout_unsupported(const job *j, const cpu_vectors_plan *s, text *reason)
{
    const size_t block = (size_t)1 << s->block.shift;

    if (sort_vector_block_unsupported(j, &s->block, reason))
        return text_get(reason);
    if (s->block.lanes << s->levels <= block)
        return NULL;
    text_format(reason, "blocks of %zu keys have pieces of less than %u in %u levels", block,
                s->block.lanes, s->levels);
    return text_get(reason);
}

const char *sort_cpu_vectors_unsupported(const job *j, text *reason)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const cpu_vectors_plan s = sort_cpu_vectors_plan(j);
    const char *why = sort_lanes_unsupported(p, reason);

    if (why)
        return why;
    if (layout_unsupported(j, &s, reason))
        return text_get(reason);
    return sort_groups_unsupported(
        p, size_min((size_t)1 << s.block.shift, group_fit(j->device, 0, SORT_VALUES_GROUP)),
        reason);
}

/* Whether one launch leaves lanes for another, in the workspace. */
static bool leaves_lanes(const tsr_sort_problem *p, const cpu_vectors_plan *s)
{
    return sort_with_index(p) && p->n > (size_t)1 << s->block.shift;
}

size_t sort_cpu_vectors_workspace(const job *j)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const cpu_vectors_plan s = sort_cpu_vectors_plan(j);

    if (!leaves_lanes(p, &s))
        return sort_values_bytes(p);
    return (sort_lanes_offset(p) + sort_keys(p)) * sort_lane_bytes(p);
}

/* Keys that a launch is about: all of every row, or a span of the only one. */
typedef struct range {
    size_t start, n;
} range;

static range whole(const tsr_sort_problem *p)
{
    return (range){0, p->n};
}

static range span_of(const tsr_sort_problem *p, const cpu_vectors_plan *s, size_t i)
{
    const size_t keys = (size_t)1 << s->span_shift, start = i * keys;

    return (range){start, size_min(keys, p->n - start)};
}

static void launch_lanes(const tsr_sort_problem *p, const cpu_vectors_plan *s, command *out)
{
    if (leaves_lanes(p, s))
        command_workspace(out);
    else
        command_operand(out, 0);
}

static void launch_range(const tsr_sort_problem *p, range r, command *out)
{
    command_u64(out, r.start + (sort_with_index(p) ? sort_lanes_offset(p) : p->offset_keys));
    command_u32(out, (uint32_t)r.n);
}

static void launch_blocks(const tsr_sort_problem *p, const cpu_vectors_plan *s, unsigned entry,
                          range r, bool last, command *out)
{
    const size_t left = last ? sort_element_bytes(p) : sort_lane_bytes(p);

    sort_launch_rows(p, entry, size_div_up(r.n, (size_t)1 << s->block.shift), 1, out);
    sort_step_keys(out, p);
    launch_lanes(p, s, out);
    sort_step_keys_from(out, p, r.start);
    launch_range(p, r, out);
    command_u32(out, last);
    command_u32(out, (uint32_t)sort_rows(p));
    if (entry == ITEM_VECTORS_BLOCK)
        command_u32(out, (uint32_t)r.start);
    sort_step_moves(out, p, r.n,
                    (entry == ITEM_VECTORS_BLOCK ? tsr_type_size(p->type) : sort_lane_bytes(p)) +
                        left);
}

/* Strides 2^(top - 1) ... 2^bottom are done in passes as even as can be. */
static uint32_t passes_of(const cpu_vectors_plan *s, uint32_t top, uint32_t bottom)
{
    return top > bottom ? (top - bottom + s->levels - 1) / s->levels : 0;
}

/* Pass i of them; with flip they begin a stage. */
static void launch_pass(const tsr_sort_problem *p, const cpu_vectors_plan *s, range r, uint32_t top,
                        uint32_t bottom, uint32_t i, bool flip, command *out)
{
    const uint32_t passes = passes_of(s, top, bottom), all = top - bottom;
    const uint32_t before = i * all / passes; /* sub-stages of earlier passes */
    const uint32_t levels = (i + 1) * all / passes - before;
    const uint32_t shift = top - before - levels;
    const size_t columns = sort_exchange_items(r.n, (size_t)1 << shift, (size_t)1 << levels);

    sort_launch_rows(p, ITEM_VECTORS_PASS, columns >> (s->block.shift - levels), 1, out);
    launch_lanes(p, s, out);
    launch_range(p, r, out);
    command_u32(out, shift);
    command_u32(out, levels);
    command_u32(out, flip && i == 0);
    command_u32(out, (uint32_t)sort_rows(p));
    sort_step_moves(out, p, size_min(columns << levels, r.n), 2 * sort_lane_bytes(p));
}

/* Command i of those for strides 2^(top - 1) ... 1: passes down to a block, and a merge. */
static void launch_descent(const tsr_sort_problem *p, const cpu_vectors_plan *s, range r,
                           uint32_t top, uint32_t i, bool flip, bool last, command *out)
{
    if (i < passes_of(s, top, s->block.shift))
        launch_pass(p, s, r, top, s->block.shift, i, flip, out);
    else
        launch_blocks(p, s, ITEM_VECTORS_MERGE, r, last, out);
}

static uint32_t descent_commands(const cpu_vectors_plan *s, uint32_t top)
{
    return passes_of(s, top, s->block.shift) + 1;
}

static uint32_t sort_commands(const cpu_vectors_plan *s, uint32_t top)
{
    uint32_t commands = 1;

    for (uint32_t stage = s->block.shift + 1; stage <= top; stage++)
        commands += descent_commands(s, stage);
    return commands;
}

/* Command i of those that sort runs of 2^top keys: blocks, and for each stage above a descent. */
static void launch_sort(const tsr_sort_problem *p, const cpu_vectors_plan *s, range r, uint32_t top,
                        uint32_t i, bool last, command *out)
{
    uint32_t stage = s->block.shift;

    if (i-- == 0) {
        launch_blocks(p, s, ITEM_VECTORS_BLOCK, r, last && top <= s->block.shift, out);
        return;
    }
    for (stage++; i >= descent_commands(s, stage); stage++)
        i -= descent_commands(s, stage);
    launch_descent(p, s, r, stage, i, true, last && stage == top, out);
}

/* Spans are sorted one after another.  Then for each stage above them: passes over all keys, and a
 * descent in each span.  Rows are spans of their own: commands are for all of them. */
static bool keys_step(const job *j, size_t i, command *out)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const cpu_vectors_plan s = sort_cpu_vectors_plan(j);
    const uint32_t top = size_log2_up(p->n);
    const bool split = sort_rows(p) == 1 && top > s.span_shift;
    const size_t spans = split ? size_div_up(p->n, (size_t)1 << s.span_shift) : 1;
    const uint32_t sorted = split ? s.span_shift : top;
    const size_t sorts = sort_commands(&s, sorted), descents = descent_commands(&s, sorted);

    if (sort_is_done(p))
        return false;
    if (i < spans * sorts) {
        launch_sort(p, &s, split ? span_of(p, &s, i / sorts) : whole(p), sorted,
                    (uint32_t)(i % sorts), sorted == top, out);
        return true;
    }
    i -= spans * sorts;
    for (uint32_t stage = sorted + 1; stage <= top; stage++) {
        const uint32_t passes = passes_of(&s, stage, sorted);

        if (i < passes) {
            launch_pass(p, &s, whole(p), stage, sorted, (uint32_t)i, true, out);
            return true;
        }
        i -= passes;
        if (i < spans * descents) {
            launch_descent(p, &s, span_of(p, &s, i / descents), sorted, (uint32_t)(i % descents),
                           false, stage == top, out);
            return true;
        }
        i -= spans * descents;
    }
    return false;
}

bool sort_cpu_vectors_step(const job *j, size_t i, command *out)
{
    return sort_step_or_values(j, i, keys_step, ITEM_VECTORS_KEEP, out);
}
