/* Scan: reduce, scan, scan: three launches over tiles.
 *
 * Idea: the first launch finds what each tile comes to, the second what is before
 *     each of them in its line, and the third scans the tiles from there.  Each
 *     tile is scanned in local memory: a work-item takes a few elements that
 *     follow one another, the work-items' totals are scanned, and each work-item
 *     goes over its elements again.
 * Work split: a work-group for a tile of GROUP * ITEMS elements of a line; in the
 *     second launch a work-group for a line.
 * Parameters: those of scan_tile.clh; CARRY_GROUP, work-items of the second launch.
 * Launch: 1-D, a work-group of GROUP for each tile; one of CARRY_GROUP for each
 *     line; as the first.  Where lines are a tile each, the third alone.
 * Local memory: a tile and GROUP values with their flags; CARRY_GROUP of these.
 * Limits: lines of neighbours; x is read twice.
 */
#include "scan/scan_tile.clh"

#ifndef CARRY_GROUP
#error "CARRY_GROUP: work-items that scan what tiles come to"
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
scan_tile_totals(__global const X *x, __global const ulong *offsets, __global VALUE *totals,
                 __global uint *starts, const tiles_call call)
{
    __local VALUE tile[TILE_MEMORY], values[GROUP];
    __local uint flags[GROUP];
    const extent e = extent_of(&call, get_group_id(0));
    carry own, all;

    offsets += call.from_segments;
    load_tile(tile, x, &call, &e);
    own = own_total(tile, offsets, &call, &e);
    before_item(values, flags, own, &all);
    if (get_local_id(0) == 0) {
        totals[call.aggregates + get_group_id(0)] = all.value;
        starts[get_group_id(0)] = all.starts;
    }
}

/* What is before each tile of a line, in the place of its total: each work-item takes a stretch of
 * them. */
__kernel __attribute__((reqd_work_group_size(CARRY_GROUP, 1, 1))) void
scan_tile_carries(__global VALUE *totals, __global const uint *starts, const tiles_call call)
{
    __local VALUE values[CARRY_GROUP];
    __local uint flags[CARRY_GROUP];
    const uint item = get_local_id(0);
    const ulong each = (call.tiles + CARRY_GROUP - 1) / CARRY_GROUP;
    const ulong begin = min(item * each, call.tiles), end = min(begin + each, call.tiles);
    const ulong first = get_group_id(0) * call.tiles;
    carry sum;

    totals += call.aggregates + first;
    starts += first;
    sum.value = IDENTITY;
    sum.starts = 0;
    for (ulong i = begin; i < end; i++) {
        carry next;

        next.value = totals[i];
        next.starts = starts[i];
        sum = join(sum, next);
    }
    values[item] = sum.value;
    flags[item] = sum.starts;
    /* All stretches are there before they are put together. */
    barrier(CLK_LOCAL_MEM_FENCE);
    sum.value = IDENTITY;
    sum.starts = 0;
    for (uint i = 0; i < item; i++) {
        carry next;

        next.value = values[i];
        next.starts = flags[i];
        sum = join(sum, next);
    }
    for (ulong i = begin; i < end; i++) {
        carry next;

        next.value = totals[i];
        next.starts = starts[i];
        totals[i] = sum.value;
        sum = join(sum, next);
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
scan_tiles(__global const X *x, __global const ulong *offsets, __global const VALUE *carries,
           __global RESULT *result, const tiles_call call)
{
    __local VALUE tile[TILE_MEMORY], values[GROUP];
    __local uint flags[GROUP];
    const extent e = extent_of(&call, get_group_id(0));
    carry before, own, all;

    offsets += call.from_segments;
    load_tile(tile, x, &call, &e);
    own = own_total(tile, offsets, &call, &e);
    own = before_item(values, flags, own, &all);
    before.value =
        call.tiles > 1 ? carries[call.aggregates + get_group_id(0)] : (VALUE)(IDENTITY);
    before.starts = 0;
    scan_own(tile, offsets, &call, &e, join(before, own).value);
    store_tile(tile, result, &call, &e);
}
