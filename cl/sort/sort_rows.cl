/* Bitonic sort of many short rows, as many at once as local memory holds.
 *
 * Idea: a row that fits in a tile is sorted with one read and one write of global
 *     memory, and a launch takes all rows: none waits for another.  Rows shorter
 *     than a tile share it: each stands in a block of `width` positions, the
 *     first power of 2 that holds it, and the network's pairs never leave a block
 *     of that size.
 *     The network is the flip form that sort_naive.cl explains.
 * Work split: a work-group owns a tile of TILE / width rows, its work-items share
 *     out the pairs.
 * Parameters: GROUP work-items in a work-group, KEYS_PER_ITEM (at least 2): a
 *     tile is GROUP * KEYS_PER_ITEM positions, a power of 2; KEY, DESCENDING,
 *     WITH_INDEX (sort_key.clh), VALUE_BYTES (sort_value.clh); ARGSORT, 1 where
 *     the index is written.
 * Launch: 1-D, work-groups of GROUP, one per started tile, with width = 2^shift.
 * Local memory: TILE keys, and with WITH_INDEX TILE longs (one long without).
 * Limits: n <= width <= TILE.
 */
#ifndef GROUP
#error "GROUP: work-items in a work-group, a power of 2"
#endif
#ifndef KEYS_PER_ITEM
#error "KEYS_PER_ITEM: positions of a tile per work-item, a power of 2, at least 2"
#endif

#ifndef ARGSORT
#error "ARGSORT: 1 where the index is written, else 0"
#endif

#define TILE (GROUP * KEYS_PER_ITEM)

#define UNROLLED 1
#include "sort/sort_tile_pairs.clh"
#include "sort/sort_value.clh"

/* The scalars of a call; the host's row_tiles has the same members. */
typedef struct row_tiles {
    ulong offset_keys, offset_index, offset_values; /* in elements */
    ulong rows;
    uint n, shift;
} row_tiles;

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_rows_tile(__global word *keys, __global long *index,
#if VALUE_BYTES
               __global value *values,
#endif
               const row_tiles call)
{
    __local word orders[TILE];
    __local long indices[TILE_INDICES];
    const uint n = call.n, shift = call.shift, width = 1u << shift;
    const ulong rows = call.rows;
    const size_t first = get_group_id(0) * (size_t)(TILE >> shift);

    keys += call.offset_keys;
    index += call.offset_index;
    for (uint i = get_local_id(0); i < TILE; i += GROUP) {
        const uint column = i & (width - 1);
        const size_t row = first + (i >> shift);
        element e = element_missing();

        if (column < n && row < rows) {
            e.order = to_order(keys[row * n + column]);
            e.index = column;
        }
        tile_put(orders, indices, i, e);
    }
    /* The tile is filled before pairs of it are read. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint size = 2; size <= width; size *= 2) {
        tile_exchange(orders, indices, size / 2, 1);
        for (uint stride = size / 4; stride > 0; stride /= 2)
            tile_exchange(orders, indices, stride, 0);
    }
#if VALUE_BYTES
    value along[KEYS_PER_ITEM];

    values += call.offset_values;
#pragma unroll
    for (uint k = 0; k < KEYS_PER_ITEM; k++) {
        const uint i = get_local_id(0) + k * GROUP;
        const size_t row = first + (i >> shift);

        if ((i & (width - 1)) < n && row < rows)
            along[k] = values[row * n + (size_t)indices[i]];
    }
    /* All values of these rows are read before any is overwritten. */
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
#pragma unroll
    for (uint k = 0; k < KEYS_PER_ITEM; k++) {
        const uint i = get_local_id(0) + k * GROUP, column = i & (width - 1);
        const size_t row = first + (i >> shift);

        if (column < n && row < rows) {
            keys[row * n + column] = from_order(orders[i]);
#if ARGSORT
            index[row * n + column] = indices[i];
#endif
#if VALUE_BYTES
            values[row * n + column] = along[k];
#endif
        }
    }
}
