/* Select: count, add up, store: three launches that keep the order.
 *
 * Idea: where the elements of a tile go is the number of those that all tiles
 *     before it select.  The first launch counts, the second scans the counts, and
 *     the third counts again, element by element, and stores.  No atomics: the
 *     order is that of x.  An x of one tile takes one launch.
 * Work split: a tile of GROUP work-items for a work-group, each work-item elements
 *     that follow one another; the second launch is one work-group.
 * Parameters: those of select.clh; GROUP, work-items in a work-group; PLACES_GROUP,
 *     in that of the second launch; UNROLLED, 1 where compilers may copy the bodies of
 *     loops: more loads on their way, against the time to compile; ONE_TILE, 1 where x has
 *     one tile: only its kernel is compiled.  ITEMS decides on the host alone.
 * Launch: 1-D, a work-group for each tile; one of PLACES_GROUP; again.  With ONE_TILE
 *     one work-group.
 * Local memory: GROUP words; of several tiles PLACES_GROUP numbers of 64 bits.
 * Limits: x is read twice.
 */
#include "select/select_tile.clh"

#if !defined(PLACES_GROUP) || !defined(ONE_TILE)
#error "PLACES_GROUP: work-items that add up counts; ONE_TILE: 1 for an x of one tile"
#endif

#if ONE_TILE

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
select_one_tile(__global const BITS *x, __global BITS *result, __global long *indices,
                __global ulong *count, const select_call call)
{
    __local uint sums[GROUP];
    const uint own = count_own(x, &call, 0);
    const uint before = group_scan(sums, own);

    put_own(x, result, indices, &call, 0, before);
    if (get_local_id(0) == GROUP - 1)
        count[call.to_count] = before + own;
}

#else

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
select_counts(__global const BITS *x, __global ulong *counts, const select_call call)
{
    __local uint sums[GROUP];
    const uint own = count_own(x, &call, get_group_id(0));
    const uint before = group_scan(sums, own);

    if (get_local_id(0) == GROUP - 1)
        counts[get_group_id(0)] = before + own;
}

/* The counts become what is before each tile.  A work-item takes as many as another, one after
 * another. */
__kernel __attribute__((reqd_work_group_size(PLACES_GROUP, 1, 1))) void
select_places(__global ulong *counts, __global ulong *count, const select_call call)
{
    __local ulong sums[PLACES_GROUP];
    const uint item = get_local_id(0);
    const ulong each = (call.tiles + PLACES_GROUP - 1) / PLACES_GROUP;
    const ulong first = min(item * each, call.tiles), end = min(first + each, call.tiles);
    ulong place = 0;

#if !UNROLLED
#pragma unroll 1
#endif
    for (ulong i = first; i < end; i++)
        place += counts[i];
    sums[item] = place;
    /* All sums are there before they are added up. */
    barrier(CLK_LOCAL_MEM_FENCE);
    place = 0;
#if !UNROLLED
#pragma unroll 1
#endif
    for (uint i = 0; i < item; i++)
        place += sums[i];
    if (item == PLACES_GROUP - 1)
        count[call.to_count] = place + sums[item];
#if !UNROLLED
#pragma unroll 1
#endif
    for (ulong i = first; i < end; i++) {
        const ulong own = counts[i];

        counts[i] = place;
        place += own;
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
select_puts(__global const BITS *x, __global BITS *result, __global long *indices,
            __global const ulong *places, const select_call call)
{
    __local uint sums[GROUP];
    const ulong tile = get_group_id(0);
    const uint before = group_scan(sums, count_own(x, &call, tile));

    put_own(x, result, indices, &call, tile, places[tile] + before);
}

#endif
