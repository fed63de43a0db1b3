/* Bitonic sort of many short rows, with the keys in registers.
 *
 * Idea: a work-item holds KEYS keys of one row, and 2^ROW_SHIFT / KEYS work-items
 *     the whole row; they do most strides without asking anybody, and hand keys
 *     on through local memory between (sort_held_tile.clh).  A row is read and
 *     written once.  Where its work-items are at most a team, none waits for
 *     another row's.
 *     The network is the flip form that sort_naive.cl explains.
 * Work split: a work-group owns a tile of GROUP * KEYS positions, in blocks of
 *     2^ROW_SHIFT for one row each.  Of the keys that a row lacks, none comes
 *     after them.
 * Parameters: KEYS, a power of 2; GROUP work-items in a work-group; ROW_SHIFT, at
 *     least log2(KEYS), and 2^ROW_SHIFT at most the tile, which is at most 2^15;
 *     LAYOUT (sort_held_tile.clh), with SHUFFLES 0; TEAM, TEAM_MEANS
 *     (sort_team.clh); KEY of at most 32 bits where there is an index,
 *     DESCENDING, WITH_INDEX (sort_key.clh), WITH_ROWS (sort_row.clh),
 *     VALUE_BYTES (sort_values.clh).
 * Launch: 1-D, work-groups of GROUP, one per started tile.  With VALUE_BYTES then
 *     the kernels of sort_values.clh.
 * Local memory: a tile of held keys: 4 bytes each, 8 with an index or 64-bit keys.
 * Limits: n <= 2^ROW_SHIFT.
 */
#ifndef GROUP
#error "GROUP: work-items in a work-group, a power of 2"
#endif
#ifndef ROW_SHIFT
#error "ROW_SHIFT: 2^ROW_SHIFT positions hold a row, at least KEYS"
#endif

#include "sort_held_tile.clh"
#include "sort_values.clh"

#define TILE (GROUP * KEYS)

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_rows_held_tile(__global word *keys, __global ulong *index, ulong offset_keys,
                    ulong offset_index, uint n, ulong rows)
{
    __local held_key tile[TILE] __attribute__((aligned(16)));
    const int tile_shift = SHIFT_OF(TILE), members_shift = ROW_SHIFT - KEYS_SHIFT;
    const uint item = team_item(), members = 1u << members_shift;
    const size_t row = get_group_id(0) * (size_t)(TILE >> ROW_SHIFT) + (item >> members_shift);
    /* The columns that a work-item reads, in whichever order, and writes. */
    const uint column = item & (members - 1);
    const uint end = row < rows ? n : 0;
    held_key held[KEYS];

    keys += offset_keys + row * n;
    index += offset_index + row * n;
#pragma unroll
    for (uint r = 0; r < KEYS; r++) {
        const uint i = column + r * members;

        held[r] = i < end ? held_of(keys[i], i) : HELD_MISSING;
    }
    held_sort(held);
    tile_sort(tile, held, item, tile_shift, ROW_SHIFT);
    if (members_shift > 0)
        tile_turn(tile, held, item, 0, -1, members_shift, -1, TILE);
#pragma unroll
    for (uint r = 0; r < KEYS; r++) {
        const uint i = column + r * members;

        if (i < end)
            held_release(held[r], keys + i, index + i);
    }
}
