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
 *     WITH_INDEX (sort_key.clh).
 * Launch: 1-D, work-groups of GROUP.  sort_two_phase_tile with a work-group per
 *     started tile of the n keys.  Then, for size = 2 * TILE, 4 * TILE, ... up
 *     to the first size >= n: sort_two_phase_exchange with stride = size / 2
 *     and flip = 1, then with stride = size / 4, ..., TILE and flip = 0, then
 *     sort_two_phase_merge, again with a work-group per started tile.
 * Local memory: TILE keys, and with WITH_INDEX TILE longs (one long without).
 * Limits: n <= 2^31.
 */
#ifndef GROUP
#error "GROUP: work-items in a work-group, a power of 2"
#endif
#ifndef KEYS_PER_ITEM
#error "KEYS_PER_ITEM: keys of a tile per work-item, a power of 2, at least 2"
#endif

#define TILE (GROUP * KEYS_PER_ITEM)

#include "sort_tile.clh"

/* The lower position of a pair.  Of every block of 2 * stride positions, the
 * first `stride` are lower ones: pair = block * stride + column. */
static inline uint lower_position(uint pair, uint stride)
{
    const uint column = pair & (stride - 1);

    return 2 * (pair - column) + column;
}

static inline uint partner(uint low, uint stride, uint flip)
{
    return low ^ (flip ? 2 * stride - 1 : stride);
}

/* One sub-stage in a tile. */
static inline void tile_exchange(__local word *orders, __local long *indices, uint stride,
                                 uint flip)
{
    for (uint pair = get_local_id(0); pair < TILE / 2; pair += GROUP) {
        const uint low = lower_position(pair, stride);
        const uint high = partner(low, stride, flip);
        element a = tile_get(orders, indices, low);
        element b = tile_get(orders, indices, high);

        /* Storing both in any case costs less than a branch that keys decide. */
        compare_exchange(&a, &b);
        tile_put(orders, indices, low, a);
        tile_put(orders, indices, high, b);
    }
    /* This sub-stage is written before the next one reads it in other pairs. */
    barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_two_phase_tile(__global word *keys, __global long *index, ulong offset_keys,
                    ulong offset_index, uint n)
{
    __local word orders[TILE];
    __local long indices[TILE_INDICES];
    const uint start = (uint)get_group_id(0) * TILE;

    keys += offset_keys;
    index += offset_index;
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
                        ulong offset_index, uint n, uint stride, uint flip)
{
    const uint low = lower_position(get_global_id(0), stride);
    const uint high = partner(low, stride, flip);

    keys += offset_keys;
    index += offset_index;
    if (high < n) {
        const element a = element_load(keys, index, low);
        const element b = element_load(keys, index, high);

        if (out_of_order(a, b)) {
            element_store(keys, index, low, b);
            element_store(keys, index, high, a);
        }
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_two_phase_merge(__global word *keys, __global long *index, ulong offset_keys,
                     ulong offset_index, uint n)
{
    __local word orders[TILE];
    __local long indices[TILE_INDICES];
    const uint start = (uint)get_group_id(0) * TILE;

    keys += offset_keys;
    index += offset_index;
    tile_load(orders, indices, keys, index, start, n);
    /* The tile is filled before pairs of it are read. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint stride = TILE / 2; stride > 0; stride /= 2)
        tile_exchange(orders, indices, stride, 0);
    tile_store(orders, indices, keys, index, start, n);
}
