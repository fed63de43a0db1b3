/* Bitonic sort of many segments of given lengths, with the keys in registers.
 *
 * Idea: rounds of segments of like length, as in segsort_tiles.cl, whose blocks are
 *     sorted as rows are in sort_rows_registers.cl: a work-item holds KEYS keys of a
 *     segment, and its neighbours the others.  Up to a team's positions nobody
 *     waits for others while a block is sorted.
 *     The network is the flip form that sort_naive.cl explains.
 * Work split: as in segsort_tiles.cl, in tiles of GROUP * KEYS positions.
 * Parameters: KEYS, a power of 2; GROUP work-items in a work-group; a tile is at
 *     most 2^15; BATCH_MAX (segsort_batch.clh); LAYOUT (sort_held_tile.clh), with
 *     SHUFFLES 0; TEAM, TEAM_MEANS (sort_team.clh); KEY of at most 32 bits where there is an index, DESCENDING,
 *     WITH_INDEX (sort_key.clh), WITH_ROWS 0, VALUE_BYTES (sort_values.clh).
 * Launch: as segsort_tiles.cl has it, with segsort_registers_short,
 *     segsort_registers_tile and segsort_registers_merge in place of the kernels
 *     there.
 * Local memory: a tile of held keys: 4 bytes each, 8 with an index or 64-bit keys;
 *     and a batch_list.
 * Limits: segments of at most 2^31 keys.
 */
#ifndef GROUP
#error "GROUP: work-items in a work-group, a power of 2"
#endif

#include "sort/sort_held_tile.clh"

#define TILE        (GROUP * KEYS)
#define TILE_SHIFT  SHIFT_OF(TILE)
#define SHIFT_MIN KEYS_SHIFT

#include "segsort/segsort_long.clh"

/* Take the keys of n that stand `apart` from each other, from `column` on. */
IN_REGISTERS void fetch_first(held_key held[KEYS], __global const word *keys, uint position,
                              uint column, uint apart, uint n)
{
#pragma unroll
    for (uint r = 0; r < KEYS; r++) {
        const uint i = column + r * apart;

        held[r] = i < n ? held_of(keys[i], position + i) : HELD_MISSING;
    }
}

/* The same with the index that memory has. */
IN_REGISTERS void fetch_again(held_key held[KEYS], __global const word *keys,
                              __global const ulong *index, uint column, uint apart, uint n)
{
#pragma unroll
    for (uint r = 0; r < KEYS; r++) {
        const uint i = column + r * apart;

        held[r] = i < n ? held_of(keys[i], WITH_INDEX ? (uint)index[i] : 0) : HELD_MISSING;
    }
}

IN_REGISTERS void leave(const held_key held[KEYS], __global word *keys, __global ulong *index,
                        uint column, uint apart, uint n)
{
#pragma unroll
    for (uint r = 0; r < KEYS; r++) {
        const uint i = column + r * apart;

        if (i < n)
            held_release(held[r], keys + i, index + i);
    }
}

/* Sort the segments of `blocks` blocks of 2^shift positions, from place `at` of the list on. */
IN_REGISTERS void round_sort(__local held_key *tile, __local const batch_list *list,
                             __global word *keys, __global ulong *index, uint at, uint shift,
                             uint blocks)
{
    const uint item = team_item(), members_shift = shift - KEYS_SHIFT;
    const uint members = 1u << members_shift, block = item >> members_shift;
    const uint column = item & (members - 1), n = block < blocks ? list->n[at + block] : 0;
    const size_t start = n ? list->start[at + block] : 0;
    held_key held[KEYS];

    fetch_first(held, keys + start, 0, column, members, n);
    held_sort(held);
    tile_sort(tile, held, item, TILE_SHIFT, shift);
    if (members_shift > 0)
        tile_turn(tile, held, item, 0, -1, members_shift, -1, TILE);
    leave(held, keys + start, index + start, column, members, n);
    /* Read before refilled: the next round overwrites the tile. */
    group_barrier();
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
segsort_registers_short(__global word *keys, __global ulong *index,
                        __global const ulong *segment_offsets, __global uint *longest,
                        segsort_call call)
{
    __local held_key tile[TILE] __attribute__((aligned(16)));
    __local batch_list list;
    const size_t first = get_group_id(0) * (size_t)call.batch;
    uint at = 0;

    keys += call.offset_keys;
    index += call.offset_index;
    batch_fill(&list, segment_offsets + call.offset_segments, first,
               (uint)min((ulong)call.batch, call.segments - first), call.n);
    for (uint shift = KEYS_SHIFT; shift <= TILE_SHIFT; shift++) {
        const uint end = list.end[shift], most = (uint)TILE >> shift;

        for (; at < end; at += most)
            round_sort(tile, &list, keys, index, at, shift, min(most, end - at));
        at = end;
    }
    if (call.noted && get_local_id(0) == 0 && list.longest)
        atomic_max(longest + call.offset_longest, list.longest);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
segsort_registers_tile(__global word *keys, __global ulong *index,
                       __global const ulong *segment_offsets, __global const uint *longest,
                       segsort_call call)
{
    __local held_key tile[TILE] __attribute__((aligned(16)));
    __local long_tile t;
    const uint item = team_item();

    if (is_over(longest, call))
        return; /* everybody does */
    keys += call.offset_keys;
    index += call.offset_index;
    segment_offsets += call.offset_segments;
    for (ulong i = get_group_id(0); tile_next(&t, segment_offsets, call, i);
         i = t.number + get_num_groups(0)) {
        const size_t start = t.segment + t.start;
        const uint in_tile = min(t.n - t.start, (uint)TILE);
        held_key held[KEYS];

        fetch_first(held, keys + start, t.start, item, GROUP, in_tile);
        held_sort(held);
        tile_sort(tile, held, item, TILE_SHIFT, TILE_SHIFT);
        tile_turn(tile, held, item, 0, -1, TILE_SHIFT - KEYS_SHIFT, -1, TILE);
        leave(held, keys + start, index + start, item, GROUP, in_tile);
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
segsort_registers_merge(__global word *keys, __global ulong *index,
                        __global const ulong *segment_offsets, __global const uint *longest,
                        segsort_call call)
{
    __local held_key tile[TILE] __attribute__((aligned(16)));
    __local long_tile t;
    const uint item = team_item();
    const int level = (TILE_SHIFT - 1) / KEYS_SHIFT;

    if (is_over(longest, call))
        return; /* everybody does */
    keys += call.offset_keys;
    index += call.offset_index;
    segment_offsets += call.offset_segments;
    for (ulong i = get_group_id(0); tile_next(&t, segment_offsets, call, i);
         i = t.number + get_num_groups(0)) {
        const size_t start = t.segment + t.start;
        const uint in_tile = min(t.n - t.start, (uint)TILE);
        held_key held[KEYS];

        fetch_again(held, keys + start, index + start, item, GROUP, in_tile);
        level_merge(held, level, TILE_SHIFT - 1, false, TILE_SHIFT);
        tile_descend(tile, held, item, level, -1, TILE_SHIFT);
        tile_turn(tile, held, item, 0, -1, TILE_SHIFT - KEYS_SHIFT, -1, TILE);
        leave(held, keys + start, index + start, item, GROUP, in_tile);
    }
}
