/* Bitonic sort of many short rows, with the keys in registers.
 *
 * Idea: a work-item holds KEYS keys of one row, and 2^ROW_SHIFT / KEYS work-items
 *     the whole row; they do most strides without asking anybody, and hand keys
 *     on between through local memory, or with SHUFFLES within a team from
 *     register to register (sort_held_tile.clh).  A row is read and written once.
 *     Where its work-items are at most a team, none waits for another row's.
 *     The network is the flip form that sort_naive.cl explains.
 * Work split: a work-group owns a tile of GROUP * KEYS positions, in blocks of
 *     2^ROW_SHIFT for one row each.  Of the keys that a row lacks, none comes
 *     after them.
 * Parameters: KEYS, a power of 2; GROUP work-items in a work-group; ROW_SHIFT, at
 *     least log2(KEYS), and 2^ROW_SHIFT at most the tile, which is at most 2^15;
 *     LAYOUT, SHUFFLES (sort_held_tile.clh); TEAM, TEAM_MEANS
 *     (sort_team.clh); KEY of at most 32 bits where there is an index,
 *     DESCENDING, WITH_INDEX (sort_key.clh); VALUE_BYTES (sort_value.clh);
 *     ARGSORT, 1 where the index is written; WIDE, 1 where n is a multiple of VECTOR
 *     (sort_held.clh), so that rows are read and written in vectors, and ALIGNED,
 *     1 where those are aligned; STRIP_BYTES.
 * Launch: 1-D, work-groups of GROUP, one per started tile.
 * Local memory: a tile of held keys: 4 bytes each, 8 with an index or 64-bit keys.
 * Limits: n <= 2^ROW_SHIFT.
 */
#ifndef GROUP
#error "GROUP: work-items in a work-group, a power of 2"
#endif
#if !defined(WIDE) || !defined(ALIGNED)
#error "WIDE, ALIGNED: 1 where rows are read and written in vectors, and where those are aligned"
#endif
#ifndef ROW_SHIFT
#error "ROW_SHIFT: 2^ROW_SHIFT positions hold a row, at least KEYS"
#endif

#ifndef ARGSORT
#error "ARGSORT: 1 where the index is written, else 0"
#endif
#define LEAVES_INDEX ARGSORT

#include "sort/sort_held_tile.clh"
#include "sort/sort_value.clh"

#define TILE (GROUP * KEYS)

/* Up to STRIP_BYTES side by side, a work-item's keys are written as it holds them: neighbours fill
 * what memory takes at once between them.  More are turned over first. */
#ifndef STRIP_BYTES
#error "STRIP_BYTES: bytes of held keys that are written as they are held"
#endif

/* Take the keys of a row of n: vectors, or single keys, that stand `members` apart from `column`
 * on.  In place of what the row lacks its first ones are read, so that no branch stands between
 * reads: they run side by side. */
IN_REGISTERS void row_fetch(held_key held[KEYS], __global const word *keys, uint column,
                            uint members, uint n)
{
#if WIDE
#pragma unroll
    for (uint r = 0; r < KEYS; r += VECTOR) {
        const uint i = column * VECTOR + r * members;

        vector_fetch(held + r, keys + (i < n ? i : 0), i, ALIGNED);
#pragma unroll
        for (uint s = 0; s < VECTOR; s++)
            held[r + s] = i < n ? held[r + s] : HELD_MISSING;
    }
#else
#pragma unroll
    for (uint r = 0; r < KEYS; r++) {
        const uint i = column + r * members;
        const held_key key = held_of(keys[i < n ? i : 0], i);

        held[r] = i < n ? key : HELD_MISSING;
    }
#endif
}

/* Whether keys are turned over before they are written. */
static inline bool is_turned(uint members)
{
    return WIDE ? (members > 1) & (KEYS * sizeof(held_key) > STRIP_BYTES) : members > 1;
}

/* Put them back, of a work-item that holds the lowest bits. */
IN_REGISTERS void row_leave(__local held_key *tile, held_key held[KEYS], __global word *keys,
                            __global ulong *index, uint item, int members_shift, uint end)
{
    const uint members = 1u << members_shift, column = item & (members - 1);
#if WIDE
    const bool turned = is_turned(members);
    const uint first = turned ? column * VECTOR : column * KEYS, apart = turned ? members : 1;

    if (turned)
        tile_deal(tile, held, item, members_shift, TILE);
    /* Mostly all are inside: then no branch stands between writes, which memory takes as one. */
    if (first + (KEYS - VECTOR) * apart < end) {
#pragma unroll
        for (uint r = 0; r < KEYS; r += VECTOR)
            vector_leave(held + r, keys + first + r * apart, index + first + r * apart, ALIGNED);
        return;
    }
#pragma unroll
    for (uint r = 0; r < KEYS; r += VECTOR)
        if (first + r * apart < end)
            vector_leave(held + r, keys + first + r * apart, index + first + r * apart, ALIGNED);
#else
    if (is_turned(members))
        tile_turn(tile, held, item, 0, -1, members_shift, -1, TILE);
#pragma unroll
    for (uint r = 0; r < KEYS; r++) {
        const uint i = column + r * members;

        if (i < end)
            held_release(held[r], keys + i, index + i);
    }
#endif
}

#if VALUE_BYTES
/* Where row_leave put key r. */
static inline uint place_of(uint r, uint column, uint members)
{
    if (!WIDE)
        return column + r * members;
    return is_turned(members) ? column * VECTOR + (r - r % VECTOR) * members + r % VECTOR
                              : column * KEYS + r;
}

/* The same of the values that came with the keys: those of a row are read and written by one
 * work-group, where they lie. */
IN_REGISTERS void row_leave_values(const held_key held[KEYS], __global value *values, uint item,
                                   int members_shift, uint end)
{
    const uint members = 1u << members_shift, column = item & (members - 1);
    value along[KEYS];

#pragma unroll
    for (uint r = 0; r < KEYS; r++)
        if (place_of(r, column, members) < end)
            along[r] = values[(uint)held[r]];
    /* All values of the rows are read before any is overwritten. */
    barrier(CLK_GLOBAL_MEM_FENCE);
#pragma unroll
    for (uint r = 0; r < KEYS; r++)
        if (place_of(r, column, members) < end)
            values[place_of(r, column, members)] = along[r];
}
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_rows_registers_tile(__global word *keys, __global ulong *index, ulong offset_keys,
                         ulong offset_index, uint n, ulong rows
#if VALUE_BYTES
                         ,
                         __global value *values, ulong offset_values
#endif
)
{
    __local held_key tile[TILE] __attribute__((aligned(16)));
    const int tile_shift = SHIFT_OF(TILE), members_shift = ROW_SHIFT - KEYS_SHIFT;
    const uint item = team_item(), members = 1u << members_shift;
    const size_t row = get_group_id(0) * (size_t)(TILE >> ROW_SHIFT) + (item >> members_shift);
    held_key held[KEYS];

    keys += offset_keys + row * n;
    index += offset_index + row * n;
    if (row < rows) {
        row_fetch(held, keys, item & (members - 1), members, n);
    } else {
#pragma unroll
        for (uint r = 0; r < KEYS; r++)
            held[r] = HELD_MISSING;
    }
    held_sort(held);
    tile_sort(tile, held, item, tile_shift, ROW_SHIFT);
    row_leave(tile, held, keys, index, item, members_shift, row < rows ? n : 0);
#if VALUE_BYTES
    row_leave_values(held, values + offset_values + row * n, item, members_shift,
                     row < rows ? n : 0);
#endif
}
