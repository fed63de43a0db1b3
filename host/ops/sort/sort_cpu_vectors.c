/**
 * The network in explicit vectors, for CPUs: cl/sort/sort_cpu_vectors.cl.
 */
#include "base/sizes.h"
#include "ops/sort/sort_commands.h"
#include "ops/sort/sort_variants.h"
#include "ops/sort/sort_vector_block.h"

/* Entries of cl/sort/sort_cpu_vectors.cl, in the variant's order. */
enum { VECTORS_BLOCK, VECTORS_PASS, VECTORS_MERGE, VECTORS_KEEP };

enum { BLOCK_BYTES = 128 << 10 };

static const tunable tunables[] = {
    {"BITS",
     "width of a vector: several registers where they are narrower; 0: as wide as the device's",
     {0, 128, 256, 512},
     0,
     128,
     .host_only = true},
    {"HELD_SHIFT",
     "exponent of the number of vectors in registers: more sub-stages for each read, until "
     "registers run out",
     {2, 3},
     3},
    {"BLOCK",
     "keys of a block: a larger one saves passes, until the core's cache runs out; 0: by their "
     "bytes",
     {0, 64, 256, 512, 1024, 4096, 8192, 16384, 32768, 65536, 131072},
     0,
     64},
    {"PART",
     "bytes of keys that are finished before the next are begun: what the nearest cache holds",
     {1024, 4096, 8192, 16384, 32768},
     16384},
    {"LEVELS",
     "sub-stages of a pass, at most: fewer passes against shorter pieces of memory",
     {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
     8,
     3},
    {"SPAN",
     "KiB of keys that are finished before the next are begun: as many as the cache of all cores "
     "holds, so that memory is read less often",
     {1, 1024, 2048, 4096, 8192, 16384, 32768, 2097152},
     4096,
     .host_only = true},
};

/* How the network is split. */
typedef struct layout {
    vector_block block;
    uint32_t span_shift; /* 2^span_shift keys that are done before the next */
    uint32_t levels;     /* sub-stages of a pass, at most */
} layout;

/* Whether one launch leaves lanes for another, in the workspace. */
static bool leaves_lanes(const tsr_sort_problem *p, const layout *s)
{
    return sort_with_index(p) && p->n > (size_t)1 << s->block.shift;
}

/* Keys that a launch is about: all of every row, or a span of the only one. */
typedef struct range {
    size_t start, n;
} range;

static void add_lanes(const tsr_sort_problem *p, const layout *s, command *c)
{
    if (leaves_lanes(p, s))
        command_workspace(c);
    else
        command_operand(c, 0);
}

/* The scalars of a launch: vectors_call of cl/sort/sort_cpu_vectors.cl. */
typedef struct vectors_call {
    uint64_t offset_keys, offset_index, offset_lanes;
    uint32_t n;
    uint32_t position;
    uint32_t rows;
    uint32_t shift, levels, flip;
    uint32_t last;
    uint32_t unused; /* what would be padding: calls are compared by their bytes */
} vectors_call;

_Static_assert(sizeof(vectors_call) == 56, "as OpenCL C lays it out");

static vectors_call call_of(const tsr_sort_problem *p, range r)
{
    const size_t lanes = sort_with_index(p) ? sort_lanes_offset(p) : p->offset_keys;

    return (vectors_call){.offset_keys = p->offset_keys + r.start,
                          .offset_index = sort_index_offset(p) + r.start,
                          .offset_lanes = lanes + r.start,
                          .n = (uint32_t)r.n,
                          .position = (uint32_t)r.start,
                          .rows = (uint32_t)sort_rows(p)};
}

static void add_blocks(const tsr_sort_problem *p, const layout *s, unsigned entry, range r,
                       bool last, plan *out)
{
    const size_t left = last ? sort_element_bytes(p) : sort_lane_bytes(p);
    command *c = sort_launch(out, p, entry, size_div_up(r.n, (size_t)1 << s->block.shift), 1);
    vectors_call call = call_of(p, r);

    call.last = last;
    sort_step_keys(c, p);
    add_lanes(p, s, c);
    command_block(c, &call, sizeof(call));
    sort_step_moves(c, p, r.n,
                    (entry == VECTORS_BLOCK ? tsr_type_size(p->type) : sort_lane_bytes(p)) + left);
}

/* Strides 2^(top - 1) ... 2^bottom in passes as even as can be; with flip they begin a stage. */
static void add_passes(const tsr_sort_problem *p, const layout *s, range r, uint32_t top,
                       uint32_t bottom, bool flip, plan *out)
{
    const uint32_t all = top > bottom ? top - bottom : 0;
    const uint32_t passes = (all + s->levels - 1) / s->levels;

    for (uint32_t i = 0; i < passes; i++) {
        const uint32_t before = i * all / passes; /* sub-stages of earlier passes */
        const uint32_t levels = (i + 1) * all / passes - before;
        const uint32_t shift = top - before - levels;
        const size_t columns = sort_exchange_items(r.n, (size_t)1 << shift, (size_t)1 << levels);
        command *c = sort_launch(out, p, VECTORS_PASS, columns >> (s->block.shift - levels), 1);
        vectors_call call = call_of(p, r);

        call.shift = shift;
        call.levels = levels;
        call.flip = flip && i == 0;
        add_lanes(p, s, c);
        command_block(c, &call, sizeof(call));
        sort_step_moves(c, p, size_min(columns << levels, r.n), 2 * sort_lane_bytes(p));
    }
}

/* Strides 2^(top - 1) ... 1: passes down to a block, and a merge. */
static void add_descent(const tsr_sort_problem *p, const layout *s, range r, uint32_t top,
                        bool flip, bool last, plan *out)
{
    add_passes(p, s, r, top, s->block.shift, flip, out);
    add_blocks(p, s, VECTORS_MERGE, r, last, out);
}

/* Sort runs of 2^top keys: blocks, and for each stage above a descent. */
static void add_sort(const tsr_sort_problem *p, const layout *s, range r, uint32_t top, bool last,
                     plan *out)
{
    add_blocks(p, s, VECTORS_BLOCK, r, last && top <= s->block.shift, out);
    for (uint32_t stage = s->block.shift + 1; stage <= top; stage++)
        add_descent(p, s, r, stage, true, last && stage == top, out);
}

/* Spans are sorted one after another.  Then for each stage above them: passes over all keys, and a
 * descent in each span.  Rows are spans of their own: commands are for all of them. */
static const char *plan_vectors(const job *j, plan *out)
{
    const tsr_sort_problem *p = sort_of(j->problem);
    const uint32_t top = size_log2_up(p->n);
    const range whole = {0, p->n};
    layout s = {.block = sort_vector_block(j, BLOCK_BYTES, sort_rows(p) > 1 ? p->n : 0),
                .levels = param(j->params, "LEVELS")};
    const size_t block = (size_t)1 << s.block.shift;
    uint32_t sorted = top;
    size_t span;
    const char *why;

    if ((why = sort_unsupported_lanes(p, out)) ||
        (why = sort_unsupported_vector_block(j, &s.block, out)))
        return why;
    if (s.block.lanes << s.levels > block)
        return plan_unsupported(
            out, "blocks of %zu keys are too small for vectors of %u keys in 2^%u registers", block,
            s.block.lanes, s.levels);
    if ((why = sort_unsupported_groups(p, size_min(block, sort_values_group(j)), out)))
        return why;
    span = (size_t)param(j->params, "SPAN") * 1024 / sort_lane_bytes(p);
    s.span_shift = (uint32_t)size_max(size_log2_up(span), s.block.shift);
    sort_define_vector_block(j, &s.block, out);
    out->workspace = leaves_lanes(p, &s)
                         ? (sort_lanes_offset(p) + sort_keys(p)) * sort_lane_bytes(p)
                         : sort_values_bytes(p);
    if (sort_is_done(p))
        return NULL;
    if (sort_rows(p) == 1)
        sorted = (uint32_t)size_min(top, s.span_shift);
    span = sorted < top ? (size_t)1 << sorted : p->n;
    for (size_t start = 0; start < p->n; start += span)
        add_sort(p, &s, (range){start, size_min(span, p->n - start)}, sorted, sorted == top, out);
    for (uint32_t stage = sorted + 1; stage <= top; stage++) {
        add_passes(p, &s, whole, stage, sorted, true, out);
        for (size_t start = 0; start < p->n; start += span)
            add_descent(p, &s, (range){start, size_min(span, p->n - start)}, sorted, false,
                        stage == top, out);
    }
    sort_move_values(j, VECTORS_KEEP, out);
    return NULL;
}

const variant sort_cpu_vectors = {
    .name = "cpu-vectors",
    .alias = "item-vectors",
    .idea = "for CPUs: each work-item alone, comparators in explicit vectors, no barriers",
    .unstated = "goes through cached blocks several times; MB moved counts only what the cache "
                "does not hold",
    .source = "sort/sort_cpu_vectors.cl",
    .entries = {"sort_cpu_vectors_block", "sort_cpu_vectors_pass", "sort_cpu_vectors_merge",
                "sort_values_keep", "sort_values_gather"},
    .build = "",
    .tunables = tunables,
    .tunable_count = ARRAY_COUNT(tunables),
    .plan = plan_vectors,
};
