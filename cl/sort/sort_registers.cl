/* Bitonic sort in two phases, several sub-stages per read in registers.
 *
 * Idea: a comparator is cheap, reading and writing its keys is not.  A
 *     work-item that holds the HELD = 2^STAGES keys at distances of `stride`
 *     does the STAGES sub-stages of strides stride * HELD / 2 down to `stride`
 *     before it writes them back: global launches, and barriers in local
 *     memory, fall by a factor of STAGES.
 *
 *         stride 4, HELD 4:   keys  c  c+4  c+8  c+12  of a block of 16
 *                              stride 8: (0,2) (1,3)   stride 4: (0,1) (2,3)
 *
 *     In a round that starts with the flip, the key at distance d from the
 *     start of a block meets the one at distance d from its end.  So whoever
 *     holds column c of the lower half holds column stride - 1 - c of the upper
 *     half; the later strides stay within a half, and come out the same.
 *     The last round of a stage may reach below its strides (in global memory
 *     below TILE, in a tile with stride 1): a comparator that is done once more
 *     finds its keys in order, so one kernel serves every stage.
 *     The network is the flip form that sort_naive.cl explains, split into
 *     tiles as in sort_two_phase.cl; here with keys of every type.
 * Work split: a work-item holds HELD keys in each round; a work-group owns a
 *     tile of GROUP * HELD keys.
 * Parameters: GROUP work-items in a work-group and STAGES, sub-stages in a
 *     round; KEY, DESCENDING, WITH_INDEX (sort_key.clh), WITH_ROWS
 *     (sort_row.clh), VALUE_BYTES (sort_values.clh).
 * Launch: 1-D, work-groups of GROUP.  sort_registers_tile with a work-group per
 *     started tile of the n keys.  Then, for size = 2 * TILE, 4 * TILE, ... up
 *     to the first size >= n: sort_registers_pass with stride = size / HELD and
 *     flip = 1, then, until a stride is at most TILE, with that stride / HELD
 *     and flip = 0 (`stride` work-items per started block of stride * HELD
 *     keys); then sort_registers_merge, again with a work-group per tile.
 *     With VALUE_BYTES then the kernels of sort_values.clh.
 * Local memory: TILE keys, and with WITH_INDEX TILE longs (one long without).
 *     Of several rows (sort_row.clh) each is n keys, and each launch is all of them.
 * Limits: n <= 2^31.
 */
#ifndef GROUP
#error "GROUP: work-items in a work-group, a power of 2"
#endif
#ifndef STAGES
#error "STAGES: sub-stages done in registers for each read, at least 1"
#endif

#define HELD (1 << STAGES)
#define TILE (GROUP * HELD)

#include "sort/sort_row.clh"
#define UNROLLED 1
#include "sort/sort_tile.clh"
#include "sort/sort_values.clh"

/* Where key r of a work-item stands: item = block * stride + column. */
static inline uint held_position(uint item, uint r, uint stride, uint flip)
{
    const uint column = item & (stride - 1);
    const uint own = flip && r >= HELD / 2 ? stride - 1 - column : column;

    return (item - column) * HELD + r * stride + own;
}

/* One sub-stage among the held keys: pairs r and r XOR mask, top being the
 * highest bit of mask.  Unrolled, like all loops over held keys: an array with
 * constant indices lives in registers. */
static inline void held_exchange(element held[HELD], uint top, uint mask)
{
#pragma unroll
    for (uint pair = 0; pair < HELD / 2; pair++) {
        const uint r = 2 * pair - (pair & (top - 1));

        compare_exchange(&held[r], &held[r ^ mask]);
    }
}

/* The sub-stages of a round. */
static inline void held_merge(element held[HELD], uint flip)
{
    if (flip)
        held_exchange(held, HELD / 2, HELD - 1);
    else
        held_exchange(held, HELD / 2, HELD / 2);
#pragma unroll
    for (int bit = STAGES - 2; bit >= 0; bit--)
        held_exchange(held, 1u << bit, 1u << bit);
}

/* All stages that fit the held keys. */
static inline void held_sort(element held[HELD])
{
#pragma unroll
    for (int top = 0; top < STAGES; top++) {
        held_exchange(held, 1u << top, (2u << top) - 1);
#pragma unroll
        for (int bit = top - 1; bit >= 0; bit--)
            held_exchange(held, 1u << bit, 1u << bit);
    }
}

/* Sort each work-item's HELD neighbours in a tile. */
static inline void tile_sort_held(__local word *orders, __local long *indices)
{
    const uint first = get_local_id(0) * HELD;
    element held[HELD];

#pragma unroll
    for (uint r = 0; r < HELD; r++)
        held[r] = tile_get(orders, indices, first + r);
    held_sort(held);
#pragma unroll
    for (uint r = 0; r < HELD; r++)
        tile_put(orders, indices, first + r, held[r]);
    /* Written before other work-items read it in the next round. */
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* One round in a tile.  Nobody else touches what a work-item holds, so there is
 * no barrier between reading and writing. */
static inline void tile_round(__local word *orders, __local long *indices, uint stride, uint flip)
{
    const uint item = get_local_id(0);
    element held[HELD];

#pragma unroll
    for (uint r = 0; r < HELD; r++)
        held[r] = tile_get(orders, indices, held_position(item, r, stride, flip));
    held_merge(held, flip);
#pragma unroll
    for (uint r = 0; r < HELD; r++)
        tile_put(orders, indices, held_position(item, r, stride, flip), held[r]);
    /* Written before other work-items read it in the next round. */
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* The rounds for all strides below `stride`. */
static inline void tile_merge(__local word *orders, __local long *indices, uint stride)
{
    while (stride > 1) {
        stride = max(stride / HELD, 1u);
        tile_round(orders, indices, stride, 0);
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_registers_tile(__global word *keys, __global long *index, ulong offset_keys,
                    ulong offset_index, uint n, uint rows)
{
    __local word orders[TILE];
    __local long indices[TILE_INDICES];
    const uint start = group_in_row(rows) * TILE;
    const size_t row = row_start(rows, n);

    keys += offset_keys + row;
    index += offset_index + row;
    tile_load_first(orders, indices, keys, start, n);
    /* The tile is filled before it is read in another split. */
    barrier(CLK_LOCAL_MEM_FENCE);
    tile_sort_held(orders, indices);
    /* Where n is smaller than a tile, later stages would move nothing. */
    for (uint size = 2 * HELD; size <= TILE && size / 2 < n; size *= 2) {
        tile_round(orders, indices, size / HELD, 1);
        tile_merge(orders, indices, size / HELD);
    }
    tile_store(orders, indices, keys, index, start, n);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_registers_pass(__global word *keys, __global long *index, ulong offset_keys,
                    ulong offset_index, uint n, uint stride, uint flip, uint rows)
{
    const uint item = item_in_row(rows);
    const size_t row = row_start(rows, n);
    element held[HELD];

    keys += offset_keys + row;
    index += offset_index + row;
#pragma unroll
    for (uint r = 0; r < HELD; r++) {
        const uint i = held_position(item, r, stride, flip);

        held[r] = i < n ? element_load(keys, index, i) : element_missing();
    }
    held_merge(held, flip);
#pragma unroll
    for (uint r = 0; r < HELD; r++) {
        const uint i = held_position(item, r, stride, flip);

        if (i < n)
            element_store(keys, index, i, held[r]);
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_registers_merge(__global word *keys, __global long *index, ulong offset_keys,
                     ulong offset_index, uint n, uint rows)
{
    __local word orders[TILE];
    __local long indices[TILE_INDICES];
    const uint start = group_in_row(rows) * TILE;
    const size_t row = row_start(rows, n);

    keys += offset_keys + row;
    index += offset_index + row;
    tile_load(orders, indices, keys, index, start, n);
    /* The tile is filled before it is read in another split. */
    barrier(CLK_LOCAL_MEM_FENCE);
    tile_merge(orders, indices, TILE);
    tile_store(orders, indices, keys, index, start, n);
}
