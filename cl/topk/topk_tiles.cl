/* The first keys of the sorted order alone: tiles that keep as many, until one tile is left.
 *
 * Idea: the first `keep` keys of a whole are among the first `keep` of its parts.
 *     A work-group sorts a tile and leaves no more than those, in a workspace;
 *     the next launch takes what all have left, side by side, as its keys.  Each
 *     is a fraction keep / TILE of the one before, so nearly all the time goes
 *     into reading the keys once and sorting tiles, and no key crosses global
 *     memory for a longer stage of the network.
 *     A tile is sorted as rows are in sort_rows_registers.cl.
 * Work split: a work-group owns a tile of GROUP * KEYS positions of one row.  Of
 *     the keys that its row lacks, none comes after them.
 * Parameters: KEYS, a power of 2; GROUP work-items in a work-group; LAYOUT
 *     (sort_held_tile.clh), with SHUFFLES 0; TEAM, TEAM_MEANS (sort_team.clh);
 *     KEY of at most 32 bits where there is an index, DESCENDING, WITH_INDEX
 *     (sort_key.clh), WITH_ROWS (sort_row.clh), VALUE_BYTES (sort_values.clh).
 * Launch: 1-D, work-groups of GROUP, one per started tile of each row.  The first
 *     launch reads keys, the last one, of a tile for each row, leaves them; a
 *     launch reads and writes apart, unless it is both.  With VALUE_BYTES then
 *     those of topk_values.clh.
 * Local memory: a tile of held keys: 4 bytes each, 8 with an index or 64-bit keys.
 * Limits: keep <= TILE / 2 where a row has more than a tile; fewer than 2^31 keys
 *     in a row.
 */
#ifndef GROUP
#error "GROUP: work-items in a work-group, a power of 2"
#endif

#include "sort/sort_held_tile.clh"
#include "topk/topk_values.clh"

#define TILE (GROUP * KEYS)

/* Take keys GROUP apart, of which the first `in_tile` of a tile are there. */
IN_REGISTERS void fetch_keys(held_key held[KEYS], __global const word *keys, uint position,
                             uint in_tile, uint item)
{
#pragma unroll
    for (uint r = 0; r < KEYS; r++)
        held[r] = item + r * GROUP < in_tile ? held_of(keys[r * GROUP], position + r * GROUP)
                                             : HELD_MISSING;
}

/* The same of what a launch has left. */
IN_REGISTERS void fetch_stored(held_key held[KEYS], __global const stored_key *stored, uint in_tile,
                               uint item)
{
#pragma unroll
    for (uint r = 0; r < KEYS; r++)
        held[r] = item + r * GROUP < in_tile ? (held_key)stored[r * GROUP] : HELD_MISSING;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
topk_tile(__global word *keys, __global ulong *index, __global stored_key *stored,
          const topk_call call)
{
    __local held_key tile[TILE] __attribute__((aligned(16)));
    const int tile_shift = SHIFT_OF(TILE), members_shift = SHIFT_OF(GROUP);
    const uint n = call.n, keep = call.keep, last = call.last;
    const uint item = team_item(), group = group_in_row(call.rows), start = group * TILE;
    const uint in_tile = min(n - start, (uint)TILE), kept = min(in_tile, keep);
    const size_t row = WITH_ROWS ? get_group_id(0) / (get_num_groups(0) / call.rows) : 0;
    ulong to = call.to;
    held_key held[KEYS];

    keys += call.offset_keys + row * call.length;
    index += call.offset_index + row * call.index_length;
    if (call.first)
        fetch_keys(held, keys + start + item, start + item, in_tile, item);
    else
        fetch_stored(held, stored + call.from + row * n + start + item, in_tile, item);
    held_sort(held);
    tile_sort(tile, held, item, tile_shift, tile_shift);
    if (members_shift > 0)
        tile_turn(tile, held, item, 0, -1, members_shift, -1, TILE);
    /* Every tile before the row's last one is whole, and leaves `keep`. */
    if (WITH_ROWS && !last) {
        const uint tiles = (n - 1) / TILE, rest = n - tiles * TILE;

        to += row * (tiles * keep + min(rest, keep));
    }
    keys += item;
    index += item;
    stored += to + (size_t)group * keep + item;
#pragma unroll
    for (uint r = 0; r < KEYS; r++) {
        if (item + r * GROUP >= kept)
            continue;
        if (last)
            held_release(held[r], keys + r * GROUP, index + r * GROUP);
        else
            stored[r * GROUP] = (stored_key)held[r];
    }
}
