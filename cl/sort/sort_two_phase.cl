/* Bitonic sort in two phases: short strides in local memory, long ones in global.
 *
 * Idea: the strides below TILE stay within tiles of TILE neighbouring keys.  A
 *     work-group that holds a tile in local memory does all of them for one
 *     read and one write of global memory.  The first kernel sorts every tile;
 *     each later stage takes one global launch per stride of TILE and more,
 *     and then one launch for all those below.
 *     The network is the flip form that sort_naive.cl explains.
 * Work split: a work-group owns a tile, its work-items share out the pairs;
 *     sort_two_phase_exchange gives each work-item one pair.
 * Parameters: GROUP work-items in a work-group, KEYS_PER_ITEM (at least 2): a
 *     tile is GROUP * KEYS_PER_ITEM keys, a power of 2; KEY, DESCENDING,
 *     WITH_INDEX (sort_key.clh), WITH_ROWS (sort_row.clh), VALUE_BYTES
 *     (sort_values.clh).
 * Launch: 1-D, work-groups of GROUP.  sort_two_phase_tile with a work-group per
 *     started tile of the n keys.  Then, for size = 2 * TILE, 4 * TILE, ... up
 *     to the first size >= n: sort_two_phase_exchange with stride = size / 2
 *     and flip = 1, then with stride = size / 4, ..., TILE and flip = 0, then
 *     sort_two_phase_merge, again with a work-group per started tile.
 *     With VALUE_BYTES then the kernels of sort_values.clh.
 * Local memory: TILE keys, and with WITH_INDEX TILE longs (one long without).
 *     Of several rows (sort_row.clh) each is n keys, and each launch is all of them.
 * Limits: n <= 2^31.
 */
#ifndef GROUP
#error "GROUP: work-items in a work-group, a power of 2"
#endif
#ifndef KEYS_PER_ITEM
#error "KEYS_PER_ITEM: keys of a tile per work-item, a power of 2, at least 2"
#endif

#define TILE (GROUP * KEYS_PER_ITEM)

#include "sort/sort_row.clh"
#include "sort/sort_tile_pairs.clh"
#include "sort/sort_values.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_two_phase_tile(__global word *keys, __global long *index, ulong offset_keys,
                    ulong offset_index, uint n, uint rows)
{
    __local word orders[TILE];
    __local long indices[TILE_INDICES];
    const uint start = group_in_row(rows) * TILE;
    const size_t row = row_start(rows, n);

    keys += offset_keys + row;
    index += offset_index + row;
    tile_load_first(orders, indices, keys, start, n);
    /* The tile is filled before pairs of it are read. */
    barrier(CLK_LOCAL_MEM_FENCE);
    /* Where n is smaller than a tile, later stages would move nothing. */
    for (uint size = 2; size <= TILE && size / 2 < n; size *= 2) {
        tile_exchange(orders, indices, size / 2, 1);
        for (uint stride = size / 4; stride > 0; stride /= 2)
            tile_exchange(orders, indices, stride, 0);
    }
    tile_store(orders, indices, keys, index, start, n);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_two_phase_exchange(__global word *keys, __global long *index, ulong offset_keys,
                        ulong offset_index, uint n, uint stride, uint flip, uint rows)
{
    const uint low = lower_position(item_in_row(rows), stride);
    const uint high = partner(low, stride, flip);
    const size_t row = row_start(rows, n);

    keys += offset_keys + row;
    index += offset_index + row;
    if (high < n)
        memory_exchange(keys, index, low, high);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_two_phase_merge(__global word *keys, __global long *index, ulong offset_keys,
                     ulong offset_index, uint n, uint rows)
{
    __local word orders[TILE];
    __local long indices[TILE_INDICES];
    const uint start = group_in_row(rows) * TILE;
    const size_t row = row_start(rows, n);

    keys += offset_keys + row;
    index += offset_index + row;
    tile_load(orders, indices, keys, index, start, n);
    /* The tile is filled before pairs of it are read. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint stride = TILE / 2; stride > 0; stride /= 2)
        tile_exchange(orders, indices, stride, 0);
    tile_store(orders, indices, keys, index, start, n);
}
