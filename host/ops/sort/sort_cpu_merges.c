/**
 * Merges of runs, for CPUs: cl/sort/sort_cpu_merges.cl of one row, and
 * cl/sort/sort_cpu_segments.cl of segments of given lengths.
 */
#include "base/sizes.h"
#include "ops/sort/sort_commands.h"
#include "ops/sort/sort_segments.h"
#include "ops/sort/sort_variants.h"
#include "ops/sort/sort_vector_block.h"

/* Entries of sort_cpu_merges.cl and of sort_cpu_segments.cl, in the variants' order. */
enum { MERGES_BLOCK, MERGES_MERGE, MERGES_KEEP };

/* Work-items for each core, so that none waits long for another one, and the least that is worth
 * searching where it begins. */
enum { PIECES_CORE = 4, PIECE_MIN = 4096 };

/* Of a block: its sub-stages and as many merges as a larger one would save take about as long. */
enum { BLOCK_BYTES = 16 << 10 };

/* Of keys that are done before the next, at most, for each core: what a large second cache holds.
 */
enum { SPAN_BYTES_CORE = 2 << 20 };

/* Those for segments have none for the last. */
static const tunable tunables[] = {
    {"BITS",
     "width of a vector; 0: as wide as the device's",
     {0, 128, 256, 512},
     0,
     128,
     .host_only = true},
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
     0,
     .host_only = true},
};

enum { SEGMENTS_TUNABLES = ARRAY_COUNT(tunables) - 1 };

/* Keys of a work-item that merges n: enough work-items for all cores, or as few as PIECE lets be.
 */
static size_t piece_of(const job *j, const vector_block *block, size_t n)
{
    const size_t items = size_max(j->device->compute_units, 1) * PIECES_CORE;
    const size_t least = (size_t)param(j->params, "STREAMS") * block->lanes;
    const size_t shared = size_max((size_t)1 << size_log2_up(n / items + 1), PIECE_MIN);

    return size_max(size_min(shared, param(j->params, "PIECE")), least);
}

/* ---- one row ------------------------------------------------------------------------------- */

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

static void add_block(const tsr_sort_problem *p, const layout *s, range r, plan *out)
{
    command *c =
        plan_launch_1d(out, MERGES_BLOCK, size_div_up(r.n, (size_t)1 << s->block.shift), 1);

    sort_step_keys(c, p);
    step_array(p, s, 0, c);
    sort_step_keys_from(c, p, r.start);
    step_array_from(p, s, 0, r, c);
    command_u32(c, (uint32_t)r.n);
    command_u32(c, (uint32_t)r.start);
    command_u32(c, s->merges == 0);
    sort_step_moves(c, p, r.n, tsr_type_size(p->type) + left_bytes(p, s, 0));
}

/* Merge `merge` of the range: runs of twice the length. */
static void add_merge(const job *j, const layout *s, uint32_t merge, range r, plan *out)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t piece = piece_of(j, &s->block, r.n);
    command *c = plan_launch_1d(out, MERGES_MERGE, size_div_up(r.n, piece), 1);

    sort_step_keys(c, p);
    step_array(p, s, merge, c);
    step_array(p, s, merge + 1, c);
    sort_step_keys_from(c, p, r.start);
    step_array_from(p, s, merge, r, c);
    step_array_from(p, s, merge + 1, r, c);
    command_u32(c, (uint32_t)r.n);
    command_u32(c, 1u << (s->block.shift + merge));
    command_u32(c, (uint32_t)piece);
    command_u32(c, merge + 1 == s->merges);
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
    layout s = {.block = sort_vector_block(j, BLOCK_BYTES)};
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
    .source = "sort/sort_cpu_merges.cl",
    .entries = {"sort_cpu_merges_block", "sort_cpu_merges_merge", "sort_values_keep",
                "sort_values_gather"},
    .build = "",
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_merges,
};

/* ---- segments ------------------------------------------------------------------------------ */

/* Work-items for each core, so that none waits long for another one. */
enum { WINDOWS_CORE = 8 };

/* How the segments are sorted. */
typedef struct segments_layout {
    size_t arrays;     /* of lanes in the workspace */
    bool noted;        /* the longest segment is looked for on the device */
    size_t longest_at; /* where its length stands in the workspace, behind the lanes, in units of 4
                          bytes */
} segments_layout;

/* A launch with the arguments of both kernels. */
static command *launch_segments(const tsr_sort_problem *p, const segments_layout *s, unsigned entry,
                                size_t window, plan *out)
{
    command *c = plan_launch_1d(out, entry, size_div_up(p->n, window), 1);

    sort_step_keys(c, p);
    if (s->arrays)
        command_workspace(c);
    else
        command_operand(c, 0); /* which it leaves alone */
    command_operand(c, 3);
    if (s->noted)
        command_workspace(c);
    else
        command_operand(c, 0); /* likewise */
    sort_step_keys_from(c, p, 0);
    command_u64(c, sort_lanes_offset(p));
    command_u64(c, p->offset_segments);
    command_u64(c, s->noted ? s->longest_at : 0);
    command_u64(c, p->n);
    command_u64(c, p->segments);
    command_u64(c, window);
    command_u32(c, s->noted);
    return c;
}

/* Blocks, and a launch for each stage of the longest segment. */
static const char *plan_segments(const job *j, plan *out)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const size_t items = size_max(j->device->compute_units, 1) * WINDOWS_CORE;
    const vector_block block = sort_vector_block(j, BLOCK_BYTES);
    const uint32_t top = size_log2_up(sort_longest(p));
    const uint32_t merges = top > block.shift ? top - block.shift : 0;
    segments_layout s = {.arrays = size_min(merges, sort_with_index(p) ? 2 : 1),
                         .noted = merges > 0 && !p->segment_longest};
    const char *why;
    command *c;

    if ((why = sort_unsupported_segments(p, out)) || (why = sort_unsupported_packed(p)) ||
        (why = sort_unsupported_vector_block(j, &block, out)))
        return why;
    sort_define_vector_block(j, &block, out);
    out->workspace = sort_values_bytes(p);
    if (sort_is_done(p))
        return NULL;
    s.longest_at = size_div_up((sort_lanes_offset(p) + s.arrays * p->n) * sort_lane_bytes(p),
                               sizeof(uint32_t));
    if (s.arrays)
        out->workspace = (s.longest_at + s.noted) * sizeof(uint32_t);
    if (s.noted)
        sort_segments_fill_longest(s.longest_at, out);
    c = launch_segments(p, &s, MERGES_BLOCK,
                        size_max(size_div_up(p->n, items), (size_t)1 << block.shift), out);
    sort_step_moves(c, p, p->n,
                    tsr_type_size(p->type) + (merges ? sort_lane_bytes(p) : sort_element_bytes(p)));
    for (uint32_t merge = 0; merge < merges; merge++) {
        c = launch_segments(p, &s, MERGES_MERGE, piece_of(j, &block, p->n), out);
        command_u32(c, 1u << (block.shift + merge));
    }
    sort_segments_move_values(j, MERGES_KEEP, out);
    return NULL;
}

const variant sort_cpu_segments = {
    .name = "cpu-segments",
    .alias = "item-segments",
    .idea = "for CPUs: blocks and merges of all segments, in explicit vectors, no barriers",
    .source = "sort/sort_cpu_segments.cl",
    .entries = {"sort_cpu_segments_block", "sort_cpu_segments_merge", "sort_values_keep",
                "sort_segments_gather"},
    .build = "",
    .tunables = tunables,
    .tunable_count = SEGMENTS_TUNABLES,
    .plan = plan_segments,
};
