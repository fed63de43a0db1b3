/* Sort by merges of runs through a bitonic network in registers, for CPUs.
 *
 * Idea: a bitonic sort takes every key through log2(n) sub-stages a stage.  The
 *     network of two vectors merges runs of any length in one pass a stage
 *     (sort_merges.clh).
 * Work split: a work-item alone in its work-group sorts a block
 *     (sort_vector_block.clh), or merges `piece` keys of output.
 * Parameters: LANES, HELD_SHIFT, BLOCK, PART (sort_vector_block.clh); STREAMS;
 *     PIECE and SPAN, of launches alone; KEY, DESCENDING, WITH_INDEX
 *     (sort_key.clh), VALUE_BYTES (sort_values.clh), WITH_ROWS = 0.
 * Launch: 1-D, work-groups of 1.  sort_cpu_merges_block with a work-item per
 *     started block of the n keys.  Then, for run = BLOCK, 2 * BLOCK, ... while
 *     run < n: sort_cpu_merges_merge with a work-item per started piece, a power
 *     of 2 of at least STREAMS * LANES.  Each launch reads what the one before it
 *     wrote, lanes (sort_vectors.clh), and writes elsewhere.  Without an index keys
 *     and workspace take turns so that the last one writes keys; with one, two arrays
 *     in the workspace do.  `last` is 1 in the last launch of a key, which leaves
 *     keys.  With VALUE_BYTES those of sort_values.clh go along.
 *     What lies apart may be launched apart, with offsets and n of its own: 2^s
 *     keys that the caches hold (SPAN, in KiB) before the next 2^s.
 * Local memory: BLOCK lanes, a work-item's own: no barrier.
 * Limits: n <= 2^31.
 */
#define PACKED WITH_INDEX

#include "sort/sort_merges.clh"
#include "sort/sort_values.clh"

/* The scalars of a launch.  The host's merges_call has the same members.  Keys, their index and the
 * lanes that are read and written start at offsets of their own. */
typedef struct merges_call {
    ulong offset_keys, offset_index, offset_from, offset_lanes;
    uint n;
    uint position; /* of key 0 among all */
    uint run;      /* keys of each of two that are merged */
    uint piece;
    uint last;
} merges_call;

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
sort_cpu_merges_block(__global word *keys, __global ulong *index, __global sortable *lanes,
                      const merges_call call)
{
    __local vector p[BLOCK / LANES];
    const destination to = {lanes + call.offset_lanes, keys + call.offset_keys,
                            index + call.offset_index, call.last};

    block_sort(p, to.keys, call.position, &to, get_group_id(0) * BLOCK, call.n);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
sort_cpu_merges_merge(__global word *keys, __global ulong *index, __global const sortable *from,
                      __global sortable *lanes, const merges_call call)
{
    const uint n = call.n, piece = call.piece, start = get_group_id(0) * piece;
    const destination to = {lanes + call.offset_lanes, keys + call.offset_keys,
                            index + call.offset_index, call.last};

    merge_piece(from + call.offset_from, &to, n, call.run, start, min(start + piece, n), piece);
}
