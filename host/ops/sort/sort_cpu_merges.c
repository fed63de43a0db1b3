#include "ops/sort/sort_cpu_merges.h"

#include "ops/sort/sort_order.h"
#include "ops/sort/sort_steps.h"

/* Work-items for each core, so that none waits long for another one, and the least that is worth
 * searching where it begins. */
enum { PIECES_CORE = 4, PIECE_MIN = 4096 };

/* Of a block: its sub-stages and as many merges as a larger one would save take about as long. */
enum { BLOCK_BYTES = 16 << 10 };

/* Of keys that are done before the next, at most, for each core: what a large second cache holds.
 */
enum { SPAN_BYTES_CORE = 2 << 20 };

const tunable sort_cpu_merges_tunables[ITEM_MERGES_TUNABLES] = {
    {"BITS", "width of a vector; 0: as wide as the device's", {0, 128, 256, 512}, 0, 128},
    {"HELD_SHIFT",
     "exponent of the vectors in registers: more sub-stages for each read, until registers run out",
     {2, 3},
     3},
    {"BLOCK",
     "keys of a block: what sub-stages sort, and merges begin with; 0: by their bytes",
     {0, 64, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768},
     0,
     64},
    {"PART",
     "bytes of what is finished before the next: the nearest cache",
     {1024, 4096, 8192, 16384, 32768},
     16384},
    {"STREAMS",
     "merges side by side in a work-item: more to do while one waits, until registers run out",
     {1, 2, 4},
     2,
     4},
    {"PIECE",
     "keys of a work-item, at most: fewer searches against shorter waits for the last one",
     {64, 4096, 16384, 65536, 262144, 1048576},
     65536,
     64},
    {"SPAN",
     "KiB of keys that are done before the next: what caches hold, and memory is read less often; "
     "0: by the number of cores",
     {0, 16, 256, 1024, 4096, 16384, 2097152},
     0},
};

/* How the sort is split. */
typedef struct layout {
    vector_block block;
    uint32_t span_shift; /* 2^span_shift keys that are merged before the next */
    uint32_t top;        /* 2^top >= n */
    uint32_t merges;     /* launches from a block to all keys */
} layout;

vector_block sort_cpu_merges_block(const job *j)
{
    return sort_vector_block(j, BLOCK_BYTES);
}

static layout plan_of(const job *j)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t told = (size_t)param(j->params, "SPAN") * 1024;
    const size_t cores = size_max(j->device->compute_units, 1);
    const size_t whole = told ? told : (size_t)1 << (size_log2_up(SPAN_BYTES_CORE * cores + 1) - 1);
    const size_t span = whole / sort_lane_bytes(p);
    layout s = {.block = sort_cpu_merges_block(j), .top = size_log2_up(p->n)};

    s.span_shift = (uint32_t)size_max(size_log2_up(span), s.block.shift);
    s.merges = s.top > s.block.shift ? s.top - s.block.shift : 0;
    return s;
}

void sort_cpu_merges_defines(const job *j, text *out)
{
    const vector_block block = plan_of(j).block;

    sort_key_defines(j, out);
    sort_vector_block_defines(j, &block, out);
}

const char *sort_cpu_merges_unsupported(const job *j, text *reason)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const vector_block block = plan_of(j).block;
    const char *why = sort_lanes_unsupported(p, reason);

    if (why)
        return why;
    if (sort_rows(p) > 1)
        return "it merges runs of one row: see cpu-vectors";
    return sort_vector_block_unsupported(j, &block, reason);
}

/* Arrays of lanes that launches leave for one another: one in the workspace takes turns with the
 * keys, or with an index two with each other. */
size_t sort_cpu_merges_workspace(const job *j)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const uint32_t merges = plan_of(j).merges, most = sort_with_index(p) ? 2 : 1;
    const size_t arrays = size_min(merges, most);

    return arrays ? (sort_lanes_offset(p) + arrays * p->n) * sort_lane_bytes(p)
                  : sort_values_bytes(p);
}

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

static void step_array_from(const tsr_sort_problem *p, const layout *s, uint32_t merge, range r,
                            command *out)
{
    if (sort_with_index(p))
        command_u64(out, sort_lanes_offset(p) + merge % 2 * p->n + r.start);
    else
        command_u64(out, r.start + ((s->merges - merge) % 2 == 0 ? p->offset_keys : 0));
}

/* Bytes of a key that launch `merge` writes. */
static size_t left_bytes(const tsr_sort_problem *p, const layout *s, uint32_t merge)
{
    return merge == s->merges ? sort_element_bytes(p) : sort_lane_bytes(p);
}

static void launch_block(const tsr_sort_problem *p, const layout *s, range r, command *out)
{
    command_launch_1d(out, ITEM_MERGES_BLOCK, size_div_up(r.n, (size_t)1 << s->block.shift), 1);
    sort_step_keys(out, p);
    step_array(p, s, 0, out);
    sort_step_keys_from(out, p, r.start);
    step_array_from(p, s, 0, r, out);
    command_u32(out, (uint32_t)r.n);
    command_u32(out, (uint32_t)r.start);
    command_u32(out, s->merges == 0);
    sort_step_moves(out, p, r.n, tsr_type_size(p->type) + left_bytes(p, s, 0));
}

/* Keys of a work-item: enough work-items for all cores, or as few as PIECE lets be. */
size_t sort_cpu_merges_piece(const job *j, size_t n)
{
    const size_t items = size_max(j->device->compute_units, 1) * PIECES_CORE;
    const size_t least = (size_t)param(j->params, "STREAMS") * sort_cpu_merges_block(j).lanes;
    const size_t shared = size_max((size_t)1 << size_log2_up(n / items + 1), PIECE_MIN);

    return size_max(size_min(shared, param(j->params, "PIECE")), least);
}

/* Merge `merge` of the range: runs of twice the length. */
static void launch_merge(const job *j, const layout *s, uint32_t merge, range r, command *out)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t piece = sort_cpu_merges_piece(j, r.n);

    command_launch_1d(out, ITEM_MERGES_MERGE, size_div_up(r.n, piece), 1);
    sort_step_keys(out, p);
    step_array(p, s, merge, out);
    step_array(p, s, merge + 1, out);
    sort_step_keys_from(out, p, r.start);
    step_array_from(p, s, merge, r, out);
    step_array_from(p, s, merge + 1, r, out);
    command_u32(out, (uint32_t)r.n);
    command_u32(out, 1u << (s->block.shift + merge));
    command_u32(out, (uint32_t)piece);
    command_u32(out, merge + 1 == s->merges);
    sort_step_moves(out, p, r.n, sort_lane_bytes(p) + left_bytes(p, s, merge + 1));
}

/* Spans are sorted one after another, and then merged. */
static bool keys_step(const job *j, size_t i, command *out)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const layout s = plan_of(j);
    const size_t span = (size_t)1 << s.span_shift, spans = size_div_up(p->n, span);
    const size_t in_span = size_min(s.merges, s.span_shift - s.block.shift);
    const size_t commands = 1 + in_span;

    if (sort_is_done(p))
        return false;
    if (i < spans * commands) {
        const size_t start = i / commands * span;
        const range r = {start, size_min(span, p->n - start)};

        if (i % commands == 0)
            launch_block(p, &s, r, out);
        else
            launch_merge(j, &s, (uint32_t)(i % commands) - 1, r, out);
        return true;
    }
    i -= spans * commands;
    if (in_span + i >= s.merges)
        return false;
    launch_merge(j, &s, (uint32_t)(in_span + i), (range){0, p->n}, out);
    return true;
}

bool sort_cpu_merges_step(const job *j, size_t i, command *out)
{
    return sort_step_or_values(j, i, keys_step, ITEM_MERGES_KEEP, out);
}
