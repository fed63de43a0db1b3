/* Bitonic sort of many segments of given lengths, short ones in rounds of a tile.
 *
 * Idea: a work-group takes segments that follow one another, and sorts those of
 *     like length side by side in a tile of local memory (segsort_batch.clh): one
 *     read and one write of global memory, and hardly a position without a key,
 *     however mixed the lengths are.  Segments that no tile holds go through
 *     global memory as in sort_two_phase.cl, at their own positions, all in the
 *     same launches.
 *     The network is the flip form that sort_naive.cl explains.
 * Work split: segsort_short: `batch` segments for a work-group.  The other
 *     kernels take tiles of long segments (segsort_long.clh).
 * Parameters: GROUP work-items in a work-group; TILE positions, a power of 2, at
 *     most 2^15; UNROLLED, 1 where compilers may copy the bodies of loops, against
 *     the time to compile; WITH_LONG (segsort_long.clh); BATCH_MAX
 *     (segsort_batch.clh); KEY, DESCENDING, WITH_INDEX (sort_key.clh), WITH_ROWS 0,
 *     VALUE_BYTES (sort_values.clh).
 * Launch: 1-D, work-groups of GROUP.  segsort_short with one per started
 *     batch.  Then, where a segment may be longer than TILE, with any number of
 *     them: segsort_tile, and for stage = log2(TILE) + 1 up to the exponent
 *     of the longest segment segsort_exchange with strides 2^(stage - 1),
 *     flip = 1, then 2^(stage - 2) ... TILE, flip = 0, and segsort_merge.
 *     With `noted` the first kernel leaves the exponent of the longest segment in
 *     *longest, which starts as 0, and the others do nothing beyond it.
 *     With VALUE_BYTES then sort_values_keep and segsort_gather, with a
 *     work-item per value.
 * Local memory: TILE keys, with WITH_INDEX TILE longs (one long without), and a
 *     batch_list.
 * Limits: segments of at most 2^31 keys.
 */
#ifndef GROUP
#error "GROUP: work-items in a work-group, a power of 2"
#endif
#ifndef TILE
#error "TILE: positions of a tile, a power of 2, at least 2"
#endif
#ifndef UNROLLED
#error "UNROLLED: whether loops over keys and stages may be unrolled"
#endif

#define SHIFT_MIN 0

#include "segsort/segsort_long.clh"
#include "sort/sort_tile_pairs.clh"

/* Sort the segments of `blocks` blocks of 2^shift positions, from place `at` of the list on. */
static inline void round_sort(__local word *orders, __local long *indices,
                              __local const batch_list *list, __global word *keys,
                              __global long *index, uint at, uint shift, uint blocks)
{
    const uint positions = blocks << shift, width = 1u << shift;

#if !UNROLLED
#pragma unroll 1
#endif
    for (uint i = get_local_id(0); i < positions; i += GROUP) {
        const uint column = i & (width - 1), place = at + (i >> shift);
        element e = element_missing();

        if (column < list->n[place]) {
            e.order = to_order(keys[list->start[place] + column]);
            e.index = column;
        }
        tile_put(orders, indices, i, e);
    }
    /* The tile is filled before pairs of it are read. */
    barrier(CLK_LOCAL_MEM_FENCE);
#if !UNROLLED
#pragma unroll 1
#endif
    for (uint size = 2; size <= width; size *= 2) {
#if !UNROLLED
#pragma unroll 1
#endif
        for (uint stride = size / 2; stride > 0; stride /= 2)
            part_exchange(orders, indices, positions, stride, stride == size / 2);
    }
#if !UNROLLED
#pragma unroll 1
#endif
    for (uint i = get_local_id(0); i < positions; i += GROUP) {
        const uint column = i & (width - 1), place = at + (i >> shift);

        if (column < list->n[place])
            element_store(keys, index, list->start[place] + column, tile_get(orders, indices, i));
    }
    /* Read before refilled: the next round overwrites the tile. */
    barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
segsort_short(__global word *keys, __global long *index, __global const ulong *segment_offsets,
              __global uint *longest, segsort_call call)
{
    __local word orders[TILE];
    __local long indices[TILE_INDICES];
    __local batch_list list;
    const size_t first = get_group_id(0) * (size_t)call.batch;
    uint at = 0;

    keys += call.offset_keys;
    index += call.offset_index;
    batch_fill(&list, segment_offsets + call.offset_segments, first,
               (uint)min((ulong)call.batch, call.segments - first), call.n);
#if !UNROLLED
#pragma unroll 1
#endif
    for (uint shift = 0; shift < SHIFTS && (1u << shift) <= TILE; shift++) {
        const uint end = list.end[shift], most = (uint)TILE >> shift;

        for (; at < end; at += most)
            round_sort(orders, indices, &list, keys, index, at, shift, min(most, end - at));
        at = end;
    }
    if (call.noted && get_local_id(0) == 0 && list.longest)
        atomic_max(longest + call.offset_longest, list.longest);
}

/* ---- long segments --------------------------------------------------------------------------- */

#if WITH_LONG

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
segsort_tile(__global word *keys, __global long *index, __global const ulong *segment_offsets,
             __global const uint *longest, segsort_call call)
{
    __local word orders[TILE];
    __local long indices[TILE_INDICES];
    __local long_tile t;

    if (is_over(longest, call))
        return; /* everybody does */
    keys += call.offset_keys;
    index += call.offset_index;
    segment_offsets += call.offset_segments;
    for (ulong i = get_group_id(0); tile_next(&t, segment_offsets, call, i);
         i = t.number + get_num_groups(0)) {
        tile_load_first(orders, indices, keys + t.segment, t.start, t.n);
        /* The tile is filled before pairs of it are read. */
        barrier(CLK_LOCAL_MEM_FENCE);
#if !UNROLLED
#pragma unroll 1
#endif
        for (uint size = 2; size <= TILE; size *= 2) {
            tile_exchange(orders, indices, size / 2, 1);
#if !UNROLLED
#pragma unroll 1
#endif
            for (uint stride = size / 4; stride > 0; stride /= 2)
                tile_exchange(orders, indices, stride, 0);
        }
        tile_store(orders, indices, keys + t.segment, index + t.segment, t.start, t.n);
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
segsort_merge(__global word *keys, __global long *index, __global const ulong *segment_offsets,
              __global const uint *longest, segsort_call call)
{
    __local word orders[TILE];
    __local long indices[TILE_INDICES];
    __local long_tile t;

    if (is_over(longest, call))
        return; /* everybody does */
    keys += call.offset_keys;
    index += call.offset_index;
    segment_offsets += call.offset_segments;
    for (ulong i = get_group_id(0); tile_next(&t, segment_offsets, call, i);
         i = t.number + get_num_groups(0)) {
        tile_load(orders, indices, keys + t.segment, index + t.segment, t.start, t.n);
        /* The tile is filled before pairs of it are read. */
        barrier(CLK_LOCAL_MEM_FENCE);
#if !UNROLLED
#pragma unroll 1
#endif
        for (uint stride = TILE / 2; stride > 0; stride /= 2)
            tile_exchange(orders, indices, stride, 0);
        tile_store(orders, indices, keys + t.segment, index + t.segment, t.start, t.n);
    }
}

#endif
