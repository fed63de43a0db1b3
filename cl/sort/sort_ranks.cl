/* Sort in two launches: tiles by themselves, then each key to its rank among all.
 *
 * Idea: of few keys launches cost more than what they do, and a network takes two
 *     or more for each doubling.  Here the second launch merges all tiles at
 *     once: a key's place is its place in its own tile plus, of each other tile,
 *     the number of keys before it, which a binary search finds.
 *     Neighbours in a sorted tile search alike, and so read the same lines of
 *     the cache; WIDTH tiles are searched side by side, since each step waits for
 *     the one before.  Equal keys keep the order of their tiles.
 *     Tiles are sorted as sort_fused.cl does, by the network of sort_naive.cl.
 * Work split: sort_ranks_tile: a work-group a tile of GROUP * KEYS keys;
 *     sort_ranks_place: a work-item a key.
 * Parameters: KEYS, a power of 2; GROUP work-items that sort a tile; WIDTH; LAYOUT
 *     and SHUFFLES (sort_held_tile.clh); TEAM, TEAM_MEANS (sort_team.clh); KEY of at
 *     most 32 bits where there is an index, DESCENDING, WITH_INDEX (sort_key.clh),
 *     ARGSORT, 1 where the index is wanted; VALUE_BYTES (sort_values.clh).
 * Launch: 1-D; sort_ranks_tile with a work-group of GROUP per started tile, then
 *     sort_ranks_place with any work-group size and a work-item per key.
 * Workspace: the sorted tiles, in orders (sort_held.clh), and a copy of the values.
 * Local memory: a tile of held keys: 4 bytes each, 8 with an index or 64-bit keys.
 * Limits: n <= 2^31; time grows with the number of tiles.
 */
#ifndef GROUP
#error "GROUP: work-items that sort a tile, a power of 2"
#endif
#ifndef WIDTH
#error "WIDTH: tiles that are searched side by side"
#endif
#ifndef ARGSORT
#error "ARGSORT: 1 where the index is wanted, not for values alone"
#endif

#include "sort/sort_held_tile.clh"
#include "sort/sort_values.clh"

#define TILE (GROUP * KEYS)

#if VALUE_BYTES == 0
typedef uchar value; /* nothing is read or written */
#endif

/* The scalars of both launches.  The host's ranks_call has the same members. */
typedef struct ranks_call {
    ulong offset_keys, offset_index, offset_values;
    ulong offset_copy; /* of the values in the workspace, in values */
    uint n;
} ranks_call;

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_ranks_tile(__global const word *keys, __global const value *values, __global held_key *sorted,
                __global value *copy, const ranks_call call)
{
    __local held_key tile[TILE] __attribute__((aligned(16)));
    const int tile_shift = SHIFT_OF(TILE), low = level_low(1, tile_shift);
    const uint item = team_item(), start = get_group_id(0) * TILE;
    const uint from = start + held_start(item, low);
    held_key held[KEYS];

    keys += call.offset_keys;
    /* Unsorted keys may come in any order: neighbours to neighbours. */
#pragma unroll
    for (uint r = 0; r < KEYS; r++) {
        const uint i = start + item + r * GROUP;

        held[r] = i < call.n ? held_of(keys[i], i) : HELD_MISSING;
#if VALUE_BYTES
        if (i < call.n)
            copy[call.offset_copy + i] = values[call.offset_values + i];
#endif
    }
    held_sort(held);
    tile_sort(tile, held, item, tile_shift, tile_shift);
    tile_turn(tile, held, item, 0, -1, low, -1, TILE);
#pragma unroll
    for (uint r = 0; r < KEYS; r++) {
        const uint i = from + (r << low);

        if (i < call.n)
            sorted[i] = held[r];
    }
}

/* How many keys come before one that stands at `place` of the sorted tiles, in WIDTH tiles from
 * `first` on.  Of its own tile that is known. */
static inline uint keys_before(__global const held_key *sorted, held_key key, uint place,
                               uint first, uint n)
{
    uint before[WIDTH], sum = 0;

#pragma unroll
    for (uint w = 0; w < WIDTH; w++)
        before[w] = 0;
#pragma unroll
    for (uint step = TILE; step > 0; step /= 2) {
#pragma unroll
        for (uint w = 0; w < WIDTH; w++) {
            const uint tile = first + w, more = before[w] + step, at = tile * TILE + more - 1;
            /* Read in any case, so that no branch stands between reads: they run side by side. */
            const held_key other = sorted[min(at, n - 1)];
            const bool comes = (other < key) | ((other == key) & (tile < place / TILE));

            if ((more <= TILE) & (at < n) & comes)
                before[w] = more;
        }
    }
#pragma unroll
    for (uint w = 0; w < WIDTH; w++)
        sum += first + w == place / TILE ? place % TILE : before[w];
    return sum;
}

__kernel void sort_ranks_place(__global word *keys, __global ulong *index, __global value *values,
                               __global const held_key *sorted, __global const value *copy,
                               const ranks_call call)
{
    const uint place = get_global_id(0), n = call.n;
    const held_key key = sorted[min(place, n - 1)];
    uint rank = 0;

    if (place >= n)
        return;
    for (uint first = 0; first * TILE < n; first += WIDTH)
        rank += keys_before(sorted, key, place, first, n);
    keys += call.offset_keys + rank;
#if ARGSORT || !WITH_INDEX
    held_release(key, keys, index + call.offset_index + rank);
#else
    *keys = from_order((word)(key >> 32));
#endif
#if VALUE_BYTES
    values[call.offset_values + rank] = copy[call.offset_copy + (uint)key];
#endif
}
