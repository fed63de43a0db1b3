/* Segments of given lengths, for CPUs: blocks and merges of each, in explicit vectors.
 *
 * Idea: as sort_cpu_merges.cl, for every segment at once.  Keys of a segment are
 *     dealt out in units from its start on: blocks that are sorted, then pieces of
 *     what runs merge to (segsort_units.clh).
 *     A segment takes as many merges as its length asks for.  It starts in that
 *     array from which it comes to where keys are with the last of them, and
 *     launches for longer ones pass over it.
 * Work split: a work-item alone in its work-group owns `window` positions.
 * Parameters: LANES, HELD_SHIFT, BLOCK, PART (sort_vector_block.clh); STREAMS
 *     (sort_merges.clh); PIECE, of launches alone; KEY, DESCENDING, WITH_INDEX
 *     (sort_key.clh), VALUE_BYTES (sort_values.clh), WITH_ROWS = 0.
 * Launch: 1-D, work-groups of 1, one per started window of the n keys.
 *     segsort_cpu_block, any window.  Then, for length = BLOCK, 2 * BLOCK, ...
 *     while there may be a longer segment: segsort_cpu_merge, whose window is a
 *     piece, a power of 2 of at least STREAMS * LANES.  With VALUE_BYTES those of
 *     segsort_values.clh go along.
 * Workspace: an array of lanes (sort_vectors.clh), with an index two, and where the
 *     longest segment is not known its length, 0 before the first launch (`noted`).
 * Local memory: BLOCK lanes, a work-item's own: no barrier.
 * Limits: segments of at most 2^31 keys.
 */
#define PACKED WITH_INDEX

#include "sort/sort_merges.clh"
#include "segsort/segsort_units.clh"
#include "segsort/segsort_values.clh"

/* The keys of all segments and their index, and lanes between launches: without an index in the
 * keys' place and in `lanes`, with one in two halves of `lanes`, n apart. */
typedef struct arrays {
    __global word *keys;
    __global ulong *index;
    __global sortable *lanes;
    ulong n;
} arrays;

/* Stages that merge blocks of n keys. */
static inline uint merges_of(uint n)
{
    return n > BLOCK ? 32 - clz((n - 1) / BLOCK) : 0;
}

/* Whether a segment is longer than the caller says that any is: there are no lanes for it, and it
 * stays as it is. */
static inline bool is_too_long(const segment *s, segsort_call call)
{
    return merges_of(s->n) > call.stage;
}

/* Where a segment's lanes stand with `left` merges before them. */
static inline __global sortable *lanes_of(const arrays *a, const segment *s, uint left)
{
#if PACKED
    return a->lanes + (left % 2 ? 0 : a->n) + s->start;
#else
    return (left % 2 ? a->lanes : a->keys) + s->start;
#endif
}

static inline destination destination_of(const arrays *a, const segment *s, uint left)
{
    const destination to = {lanes_of(a, s, left), a->keys + s->start, a->index + s->start,
                            left == 0};

    return to;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
segsort_cpu_block(__global word *keys, __global ulong *index, __global sortable *lanes,
                  __global const ulong *segment_offsets, __global uint *longest, segsort_call call)
{
    __local vector p[BLOCK / LANES];
    const arrays a = {keys + call.offset_keys, index + call.offset_index,
                      lanes + call.offset_lanes, call.n};
    walk w = walk_start(segment_offsets + call.offset_segments, call,
                        get_group_id(0) * call.window, BLOCK, WITH_INDEX ? 0 : 1);
    uint most = 0;

    while (walk_on(&w)) {
        const destination to = destination_of(&a, &w.found, merges_of(w.found.n));

        if (is_too_long(&w.found, call))
            continue;
        block_sort(p, to.keys, 0, &to, (uint)w.at, w.found.n);
        most = max(most, w.found.n);
    }
    if (call.noted)
        atomic_max(longest + call.offset_longest, most);
}

/* Of segments with more than call.length keys: runs of so many become runs of twice as many. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
segsort_cpu_merge(__global word *keys, __global ulong *index, __global sortable *lanes,
                  __global const ulong *segment_offsets, __global const uint *longest,
                  segsort_call call)
{
    const arrays a = {keys + call.offset_keys, index + call.offset_index,
                      lanes + call.offset_lanes, call.n};
    const uint piece = (uint)call.window;
    walk w;

    if (call.noted && longest[call.offset_longest] <= call.length)
        return;
    w = walk_start(segment_offsets + call.offset_segments, call, get_group_id(0) * call.window,
                   piece, call.length);
    while (walk_on(&w)) {
        const uint left = merges_of(w.found.n) - merges_of(call.length);
        const uint begin = (uint)w.at, stop = begin + min(w.found.n - begin, piece);
        const destination to = destination_of(&a, &w.found, left - 1);

        if (is_too_long(&w.found, call))
            continue;
        merge_piece(lanes_of(&a, &w.found, left), &to, w.found.n, call.length, begin, stop,
                    piece);
    }
}
