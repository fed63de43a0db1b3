/* Sort keys in ascending order by a bitonic network: short strides in local memory.
 *
 * Idea: strides below TILE stay within tiles of TILE neighbouring keys.  A work-group that holds a
 *     tile in local memory does all of them for one read and one write of global memory.  The first
 *     kernel sorts every tile; each later stage takes a launch for each stride of TILE and more, as
 *     in sort_naive.cl, which explains the network, and then one launch for all strides below.
 * Work split: a work-group owns a tile, and its work-items share out the pairs; in
 *     sort_two_phase_exchange each work-item compares one pair.
 * Parameters: GROUP work-items in a work-group, KEYS_PER_ITEM (at least 2): a tile is
 *     GROUP * KEYS_PER_ITEM keys, a power of 2.
 * Launch: 1-D, work-groups of GROUP.  sort_two_phase_tile with a work-group per started tile of the
 *     n keys.  Then for size = 2 * TILE, 4 * TILE, ... up to the first size >= n:
 *     sort_two_phase_exchange with stride = size / 2 and flip = 1, then with stride = size / 4,
 *     ..., TILE and flip = 0; then sort_two_phase_merge, again with a work-group per started tile.
 * Local memory: TILE keys.
 * Traffic: with tiles of 2^t keys, stage s reads all keys s - t + 1 times, where in sort_naive.cl
 *     it reads them s times, and all stages up to t do so once together.
 * Limits: n up to 2^31.  Keys alone: sort_registers.cl sorts every type, with an index and values.
 */
#ifndef GROUP
#error "GROUP: work-items in a work-group, a power of 2"
#endif
#ifndef KEYS_PER_ITEM
#error "KEYS_PER_ITEM: keys of a tile per work-item, a power of 2, at least 2"
#endif

#define TILE (GROUP * KEYS_PER_ITEM)

/* The lower position of a pair, as in sort_naive.cl, and the position that it is compared with. */
static inline uint lower(uint pair, uint stride)
{
    const uint column = pair & (stride - 1);

    return 2 * (pair - column) + column;
}

static inline uint partner(uint low, uint stride, uint flip)
{
    return low ^ (flip ? 2 * stride - 1 : stride);
}

/* Fill the tile that starts at `start`.  Beyond the last key stands the largest, which stays. */
static inline void tile_load(__local uint *tile, __global const uint *keys, uint start, uint n)
{
    for (uint i = get_local_id(0); i < TILE; i += GROUP)
        tile[i] = start + i < n ? keys[start + i] : UINT_MAX;
    /* The tile is filled before pairs of it are read. */
    barrier(CLK_LOCAL_MEM_FENCE);
}

static inline void tile_store(__local const uint *tile, __global uint *keys, uint start, uint n)
{
    for (uint i = get_local_id(0); i < TILE; i += GROUP)
        if (start + i < n)
            keys[start + i] = tile[i];
}

/* One sub-stage in a tile. */
static inline void tile_exchange(__local uint *tile, uint stride, uint flip)
{
    for (uint pair = get_local_id(0); pair < TILE / 2; pair += GROUP) {
        const uint low = lower(pair, stride);
        const uint high = partner(low, stride, flip);
        const uint a = tile[low];
        const uint b = tile[high];

        /* Storing both in any case costs less than a branch that keys decide. */
        tile[low] = min(a, b);
        tile[high] = max(a, b);
    }
    /* This sub-stage is written before the next one reads it in other pairs. */
    barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_two_phase_tile(__global uint *keys, uint n)
{
    __local uint tile[TILE];
    const uint start = get_group_id(0) * TILE;

    tile_load(tile, keys, start, n);
    /* Where n is smaller than a tile, later stages would move nothing. */
    for (uint size = 2; size <= TILE && size / 2 < n; size *= 2) {
        tile_exchange(tile, size / 2, 1);
        for (uint stride = size / 4; stride > 0; stride /= 2)
            tile_exchange(tile, stride, 0);
    }
    tile_store(tile, keys, start, n);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_two_phase_exchange(__global uint *keys, uint n, uint stride, uint flip)
{
    const uint low = lower(get_global_id(0), stride);
    const uint high = partner(low, stride, flip);

    if (high < n) {
        const uint a = keys[low];
        const uint b = keys[high];

        if (a > b) {
            keys[low] = b;
            keys[high] = a;
        }
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_two_phase_merge(__global uint *keys, uint n)
{
    __local uint tile[TILE];
    const uint start = get_group_id(0) * TILE;

    tile_load(tile, keys, start, n);
    for (uint stride = TILE / 2; stride > 0; stride /= 2)
        tile_exchange(tile, stride, 0);
    tile_store(tile, keys, start, n);
}
