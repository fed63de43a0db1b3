/* Bitonic sort by work-items that work alone, in explicit vectors, for CPUs.
 *
 * Idea: on a CPU a work-group runs on one core, and a barrier is a loop over its
 *     work-items.  So each work-item works alone, on as many keys as its core's
 *     cache holds, and a comparator is a min and a max of whole vectors: LANES
 *     of them at once, without a branch.
 *
 *     A block is sorted as sort_vector_block.clh has it.
 *     In a merge of a block neighbours stand in one vector, so its last
 *     log2(LANES) strides reach across lanes: between two transposes they are
 *     strides of whole vectors again.
 *     Strides above a block: a work-item copies a piece of each of 2^levels rows
 *     into its buffer, does the `levels` sub-stages there, and copies them back.
 *     The copy is what makes it fast: rows at distances of a power of 2 share
 *     few lines of a cache, and pieces side by side all of them.
 * Work split: a work-item per block, alone in its work-group.
 * Parameters: LANES, HELD_SHIFT, BLOCK, PART (sort_vector_block.clh); LEVELS and
 *     SPAN, of launches alone; KEY, DESCENDING, WITH_INDEX (sort_key.clh), WITH_ROWS
 *     (sort_row.clh), VALUE_BYTES (sort_values.clh).
 * Launch: 1-D, work-groups of 1.  sort_cpu_vectors_block with a work-item per
 *     started block of the n keys.  Then, for size = 2 * BLOCK, 4 * BLOCK, ...
 *     up to the first size >= n: sort_cpu_vectors_pass with its first strides
 *     and flip = 1, then with the next ones and flip = 0, until the least stride
 *     2^shift is BLOCK; each takes 2^shift * 2^levels / BLOCK work-items for
 *     every started block of 2^shift * 2^levels keys, and levels is at most LEVELS,
 *     2^levels BLOCK / LANES.  Then sort_cpu_vectors_merge, again with a work-item per
 *     block.  The first launch of a key reads it; launches leave lanes for one another
 *     (sort_vectors.clh), which without an index stand in the keys' place; `last` is 1
 *     in the last launch, which leaves keys.
 *     What lies apart may be launched apart, with offsets and n of its own: 2^s
 *     keys that the cache of all cores holds (SPAN, in KiB) are sorted before the
 *     next 2^s, and above that each stage does its strides of 2^s and more in passes
 *     over all keys, and the others again 2^s keys after 2^s keys.
 *     Of several rows (sort_row.clh) each is n keys, and each launch is all of them.
 *     With VALUE_BYTES those of sort_values.clh go along.
 * Local memory: BLOCK lanes, a work-item's own: no barrier.
 * Limits: n <= 2^31.
 */
#define PACKED WITH_INDEX

#include "sort/sort_row.clh"
#include "sort/sort_values.clh"
#include "sort/sort_vector_block.clh"

/* The scalars of a launch.  The host's vectors_call has the same members.  Keys, their index and
 * lanes start at offsets of their own. */
typedef struct vectors_call {
    ulong offset_keys, offset_index, offset_lanes;
    uint n;
    uint position; /* of key 0 in its row */
    uint rows;
    uint shift, levels, flip; /* of a pass */
    uint last;
} vectors_call;

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
sort_cpu_vectors_block(__global word *keys, __global ulong *index, __global sortable *lanes,
                       const vectors_call call)
{
    __local vector p[BLOCK / LANES];
    const size_t row = row_start(call.rows, call.n);
    const destination to = {lanes + call.offset_lanes + row, keys + call.offset_keys + row,
                            index + call.offset_index + row, call.last};

    block_sort(p, to.keys, call.position, &to, group_in_row(call.rows) * BLOCK, call.n);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
sort_cpu_vectors_merge(__global word *keys, __global ulong *index, __global sortable *lanes,
                       const vectors_call call)
{
    __local vector p[BLOCK / LANES];
    const uint n = call.n, start = group_in_row(call.rows) * BLOCK, shift = block_shift(start, n);
    const uint count = 1u << shift;
    const size_t row = row_start(call.rows, n);
    const destination to = {lanes + call.offset_lanes + row, keys + call.offset_keys + row,
                            index + call.offset_index + row, call.last};

    for (uint i = 0; i < count; i++)
        p[i] = lanes_load(to.lanes, start + i * LANES, n);
    descend(p, count, shift, LANE_SHIFT);
    for (uint i = 0; i < count; i += LANES) {
        vector x[LANES];

#pragma unroll
        for (uint r = 0; r < LANES; r++)
            x[r] = p[i + r];
        held_merge(x, LANES, LANE_SHIFT);
        vectors_transpose(x);
        held_merge(x, LANES, LANE_SHIFT);
        vectors_transpose(x);
#pragma unroll
        for (uint r = 0; r < LANES; r++)
            leave(&to, start + (i + r) * LANES, n, x[r]);
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
sort_cpu_vectors_pass(__global sortable *lanes, const vectors_call call)
{
    __local vector p[BLOCK / LANES];
    const uint n = call.n, rows = call.rows, shift = call.shift, levels = call.levels;
    const bool flip = call.flip;
    const uint width = BLOCK >> levels; /* keys of a piece */
    const uint pieces = (1u << shift) / width, item = group_in_row(rows);
    const uint start = (item / pieces) << (shift + levels), column = item % pieces * width;
    const uint mirror = (1u << shift) - width - column;
    uint top = 0, bottom = 0;

    lanes += call.offset_lanes + row_start(rows, n);
    while (LANES << top < BLOCK)
        top++;
    bottom = top - levels;
    /* With flip the pieces of the upper half mirror those of the lower.  So do
     * their vectors, end to end of the buffer; what is left is to turn lanes. */
    for (uint r = 0; r < 1u << levels; r++) {
        const bool turned = flip && r >= 1u << levels >> 1;
        const uint from = start + (r << shift) + (turned ? mirror : column);

        for (uint k = 0; k < width / LANES; k++) {
            const vector v = lanes_load(lanes, from + k * LANES, n);

            p[(r << bottom) + k] = turned ? lanes_swapped(v, LANES - 1) : v;
        }
    }
    if (flip)
        flip_and_descend(p, BLOCK / LANES, top, bottom);
    else
        descend(p, BLOCK / LANES, top, bottom);
    for (uint r = 0; r < 1u << levels; r++) {
        const bool turned = flip && r >= 1u << levels >> 1;
        const uint to = start + (r << shift) + (turned ? mirror : column);

        for (uint k = 0; k < width / LANES; k++) {
            const vector v = p[(r << bottom) + k];

            lanes_store(lanes, to + k * LANES, n, turned ? lanes_swapped(v, LANES - 1) : v);
        }
    }
}
