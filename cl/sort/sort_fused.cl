/* Bitonic sort that fuses many sub-stages for each read of global memory.
 *
 * Idea: a pass over global memory costs more than the comparators of many
 *     sub-stages.  A work-item holds KEYS keys in registers, with them does
 *     log2(KEYS) strides, and hands them on through local memory to who needs
 *     them for the next strides (sort_held_tile.clh), so a work-group does all
 *     strides of a tile: of neighbouring keys, or, for long strides, of 2^STAGES
 *     rows of neighbours that lie a stride apart.  Rows are wide enough that each
 *     is read in whole lines of a cache.
 *
 *         tile of 2^STAGES rows:   first  [columns]            \
 *                                  first + stride  [columns]    > strides of 1, 2, 4, ... rows
 *                                  first + 2 * stride ...      /
 *
 *     A comparator done once more finds its keys in order, so a pass may do more
 *     strides than are left above a tile, and two passes (of registers alone,
 *     and of STAGES strides) serve every stage.
 *     Between launches memory has orders instead of keys (sort_key.clh); with an
 *     index, orders and positions packed in the index's place.  The first launch
 *     makes them, the last one takes them back.
 *     The network is the flip form that sort_naive.cl explains.
 * Work split: a work-group owns a tile, a work-item KEYS keys of it, which ones
 *     changes from step to step.
 * Parameters: KEYS, a power of 2; SORT_GROUP, GROUP and PASS_GROUP work-items in
 *     the groups that sort tiles (SORT_TILES times GROUP), merge tiles, and do
 *     STAGES long strides (PASS_TILES times GROUP), and SHORT_GROUP in those that
 *     need no tile; CHUNK and QUEUES, of which the launches alone know; LAYOUT and
 *     SHUFFLES (sort_held_tile.clh); TEAM, TEAM_MEANS (sort_team.clh); KEY of at
 *     most 32 bits where there is an index, DESCENDING, WITH_INDEX (sort_key.clh),
 *     WITH_ROWS (sort_row.clh), VALUE_BYTES (sort_values.clh).
 *     A tile is group * KEYS keys, at most 2^15; one that is sorted at least one
 *     that is merged, and one of a pass at most twice that; log2(KEYS) < STAGES,
 *     and 2^STAGES at most the tile of a pass.
 * Launch: 1-D, on the range of positions from `first` to `end` of each row of
 *     `length` keys (fused_call): all of it, or a part that starts at a multiple of the
 *     largest block that is merged.  sort_fused_tile with a work-group of
 *     SORT_GROUP per started tile of the range.  Then, for each stage s with
 *     2^s > the sorted tile, up to the first 2^s >= end - first: flips and passes
 *     that do the strides 2^(s-1) down to the tile of GROUP or less, a flip first;
 *     then sort_fused_merge with a work-group of GROUP per started tile.
 *     A pass of strides 2^(shift + strides - 1) to 2^shift takes, per block of
 *     2^(shift + strides) positions, 2^shift work-items times 2^strides / KEYS:
 *         sort_fused_flip, sort_fused_pass            groups of SHORT_GROUP, strides =
 *                                                     log2(KEYS), in registers alone
 *         sort_fused_flip_long, sort_fused_pass_long  groups of PASS_GROUP, strides =
 *                                                     STAGES
 *     `last` is 1 in the launch that leaves keys.  With VALUE_BYTES then the
 *     kernels of sort_values.clh.
 * Local memory: a tile of held keys: 4 bytes each, 8 with an index or 64-bit keys.
 * Limits: end <= 2^31.
 */
#ifndef GROUP
#error "GROUP: work-items that merge a tile, a power of 2"
#endif
#ifndef SORT_GROUP
#error "SORT_GROUP: work-items that sort a tile, a power of 2, at least GROUP"
#endif
#ifndef PASS_GROUP
#error "PASS_GROUP: work-items that do STAGES long strides, a power of 2"
#endif
#ifndef SHORT_GROUP
#error "SHORT_GROUP: work-items that do log2(KEYS) strides in registers alone"
#endif
#ifndef STAGES
#error "STAGES: strides of a pass through local memory, more than log2(KEYS)"
#endif

#include "sort/sort_held_tile.clh"
#include "sort/sort_row.clh"
#include "sort/sort_values.clh"

#define SORT_TILE (SORT_GROUP * KEYS)
#define TILE      (GROUP * KEYS)
#define PASS_TILE (PASS_GROUP * KEYS)
#define ROUNDS    ((STAGES + KEYS_SHIFT - 1) / KEYS_SHIFT) /* of a long pass, in registers */

/* The scalars of a launch.  The host's fused_call has the same members. */
typedef struct fused_call {
    ulong offset_keys, offset_index; /* of the first row */
    ulong length;                    /* keys of a row */
    uint first, end;                 /* positions in a row that the launch is about */
    uint rows;
    uint shift; /* of a pass: its least stride is 2^shift */
    uint last;  /* 1: it leaves keys */
} fused_call;

/* Where memory has what is sorted, between launches. */
static inline __global stored_key *stored_keys(__global word *keys, __global ulong *index)
{
#if WITH_INDEX
    return index;
#else
    return keys;
#endif
}

/* In the four that follow, a tile or block that is whole asks for no bound: its keys stand at a
 * constant distance from one address, and take no registers for others. */

/* Take unsorted keys, `step` apart. */
IN_REGISTERS void held_begin(held_key held[KEYS], __global const word *keys, uint start, uint step,
                             uint end, bool whole)
{
    if (whole) {
        __global const word *from = keys + start;

#pragma unroll
        for (uint r = 0; r < KEYS; r++)
            held[r] = held_of(from[r * step], start + r * step);
    } else {
#pragma unroll
        for (uint r = 0; r < KEYS; r++) {
            const uint i = start + r * step;

            held[r] = i < end ? held_of(keys[i], i) : HELD_MISSING;
        }
    }
}

/* Take the keys that stand from lower on, and from the middle one from upper on, `step` apart. */
IN_REGISTERS void held_fetch(held_key held[KEYS], __global const stored_key *stored, uint lower,
                             uint upper, uint step, uint end, bool whole)
{
    if (whole) {
        __global const stored_key *low = stored + lower, *high = stored + upper;

#pragma unroll
        for (uint r = 0; r < KEYS; r++)
            held[r] = (r < KEYS / 2 ? low : high)[r * step];
    } else {
#pragma unroll
        for (uint r = 0; r < KEYS; r++) {
            const uint i = (r < KEYS / 2 ? lower : upper) + r * step;

            held[r] = i < end ? stored[i] : HELD_MISSING;
        }
    }
}

/* Put them there. */
IN_REGISTERS void held_leave(const held_key held[KEYS], __global stored_key *stored, uint lower,
                             uint upper, uint step, uint end, bool whole)
{
    if (whole) {
        __global stored_key *low = stored + lower, *high = stored + upper;

#pragma unroll
        for (uint r = 0; r < KEYS; r++)
            (r < KEYS / 2 ? low : high)[r * step] = (stored_key)held[r];
    } else {
#pragma unroll
        for (uint r = 0; r < KEYS; r++) {
            const uint i = (r < KEYS / 2 ? lower : upper) + r * step;

            if (i < end)
                stored[i] = (stored_key)held[r];
        }
    }
}

/* The same, for the last time: keys, and their index. */
IN_REGISTERS void held_finish(const held_key held[KEYS], __global word *keys, __global ulong *index,
                              uint start, uint step, uint end, bool whole)
{
    if (whole) {
        keys += start;
        index += start;
#pragma unroll
        for (uint r = 0; r < KEYS; r++)
            held_release(held[r], keys + r * step, index + r * step);
    } else {
#pragma unroll
        for (uint r = 0; r < KEYS; r++) {
            const uint i = start + r * step;

            if (i < end)
                held_release(held[r], keys + i, index + i);
        }
    }
}

/* Where a tile starts, where the launch's positions end, and whether it leaves keys. */
typedef struct bounds {
    uint start, end, last;
} bounds;

/* From the lowest bits, at the end of a tile, to where neighbours stand side by side in memory. */
IN_REGISTERS void tile_finish(__local held_key *tile, held_key held[KEYS], uint item,
                              int tile_shift, __global word *keys, __global ulong *index, bounds at)
{
    const uint start = at.start, end = at.end;
    const int low = level_low(1, tile_shift);
    const uint from = start + held_start(item, low);
    const bool whole = end - start >= 1u << tile_shift;

    tile_turn(tile, held, item, 0, -1, low, -1, 1u << tile_shift);
    if (at.last)
        held_finish(held, keys, index, from, 1u << low, end, whole);
    else
        held_leave(held, stored_keys(keys, index), from, from, 1u << low, end, whole);
}

__kernel __attribute__((reqd_work_group_size(SORT_GROUP, 1, 1))) void
sort_fused_tile(__global word *keys, __global ulong *index, const fused_call call)
{
    __local held_key tile[SORT_TILE] __attribute__((aligned(16)));
    const int tile_shift = SHIFT_OF(SORT_TILE);
    const uint item = team_item();
    const uint start = call.first + group_in_row(call.rows) * SORT_TILE, end = call.end;
    const size_t row = row_start(call.rows, call.length);
    const bool whole = end - start >= SORT_TILE;
    held_key held[KEYS];

    keys += call.offset_keys + row;
    index += call.offset_index + row;
    /* Unsorted keys may come in any order: neighbours to neighbours. */
    held_begin(held, keys, start + item, SORT_GROUP, end, whole);
    held_sort(held);
    tile_sort(tile, held, item, tile_shift, tile_shift);
    tile_finish(tile, held, item, tile_shift, keys, index, (bounds){start, end, call.last});
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_fused_merge(__global word *keys, __global ulong *index, const fused_call call)
{
    __local held_key tile[TILE] __attribute__((aligned(16)));
    const int tile_shift = SHIFT_OF(TILE), level = (tile_shift - 1) / KEYS_SHIFT;
    const uint item = team_item();
    const uint start = call.first + group_in_row(call.rows) * TILE, end = call.end;
    const size_t row = row_start(call.rows, call.length);
    held_key held[KEYS];

    keys += call.offset_keys + row;
    index += call.offset_index + row;
    held_fetch(held, stored_keys(keys, index), start + item, start + item, GROUP, end,
               end - start >= TILE);
    level_merge(held, level, tile_shift - 1, false, tile_shift);
    tile_descend(tile, held, item, level, -1, tile_shift);
    tile_finish(tile, held, item, tile_shift, keys, index, (bounds){start, end, call.last});
}

/* The log2(KEYS) strides 2^(shift + log2(KEYS) - 1) to 2^shift, in registers alone. */
IN_REGISTERS void pass_short(__global stored_key *stored, uint item, uint first, uint end,
                             uint shift, bool flip)
{
    const uint stride = 1u << shift, column = item & (stride - 1);
    const uint block = first + (item - column) * KEYS;
    const uint lower = block + column, upper = flip ? block + (stride - 1 - column) : lower;
    const bool whole = end > block && end - block >= stride * KEYS;
    held_key held[KEYS];

    held_fetch(held, stored, lower, upper, stride, end, whole);
    held_merge(held, KEYS_SHIFT - 1, 0, flip);
    held_leave(held, stored, lower, upper, stride, end, whole);
}

/* The STAGES strides from 2^(shift + STAGES - 1) to 2^shift.  Position p of the tile is column
 * p % columns of row p / columns.  In the upper half of a flip, the columns are those of the other
 * end of the rows. */
IN_REGISTERS void pass_long(__local held_key *tile, __global stored_key *stored, uint group,
                            uint first, uint end, uint shift, bool flip)
{
    const int tile_shift = SHIFT_OF(PASS_TILE), columns_shift = tile_shift - STAGES;
    const int top = tile_shift - KEYS_SHIFT;
    const uint columns = 1u << columns_shift, chunks_shift = shift - columns_shift;
    const uint chunk = (group & ((1u << chunks_shift) - 1)) * columns;
    const uint opposite = flip ? (1u << shift) - columns - chunk : chunk;
    const uint block = first + (group >> chunks_shift << (shift + STAGES));
    const bool whole = end - block >= 1u << (shift + STAGES);
    const uint item = team_item();
    const uint turned = flip ? item ^ ((1u << top) - 1) : item;
    const uint lower = (item >> columns_shift << shift) + (item & (columns - 1));
    const uint upper = (turned >> columns_shift << shift) + (turned & (columns - 1));
    const uint place = held_start(item, columns_shift);
    const uint from = (place >> columns_shift << shift) + (place & (columns - 1));
    const uint side = place >> (tile_shift - 1) ? opposite : chunk;
    held_key held[KEYS];

    held_fetch(held, stored, block + chunk + lower, block + opposite + upper,
               1u << (shift + top - columns_shift), end, whole);
    held_merge(held, KEYS_SHIFT - 1, 0, flip);
#pragma unroll
    for (int round = 1; round < ROUNDS; round++) {
        const int high = tile_shift - round * KEYS_SHIFT;
        const int low = max(high - KEYS_SHIFT, columns_shift);

        tile_turn(tile, held, item, high, flip && round == 1 ? KEYS_SHIFT - 1 : -1, low, -1,
                  PASS_TILE);
        held_merge(held, high - 1 - low, 0, false);
    }
    held_leave(held, stored, block + side + from, block + side + from, 1u << shift, end, whole);
}

/* What a pass works on, in the work-item's row. */
static inline __global stored_key *row_stored(__global word *keys, __global ulong *index,
                                              const fused_call call)
{
    const size_t row = row_start(call.rows, call.length);

    return stored_keys(keys + call.offset_keys + row, index + call.offset_index + row);
}

__kernel __attribute__((reqd_work_group_size(SHORT_GROUP, 1, 1))) void
sort_fused_flip(__global word *keys, __global ulong *index, const fused_call call)
{
    pass_short(row_stored(keys, index, call), item_in_row(call.rows), call.first, call.end,
               call.shift, true);
}

__kernel __attribute__((reqd_work_group_size(SHORT_GROUP, 1, 1))) void
sort_fused_pass(__global word *keys, __global ulong *index, const fused_call call)
{
    pass_short(row_stored(keys, index, call), item_in_row(call.rows), call.first, call.end,
               call.shift, false);
}

__kernel __attribute__((reqd_work_group_size(PASS_GROUP, 1, 1))) void
sort_fused_flip_long(__global word *keys, __global ulong *index, const fused_call call)
{
    __local held_key tile[PASS_TILE] __attribute__((aligned(16)));

    pass_long(tile, row_stored(keys, index, call), group_in_row(call.rows), call.first, call.end,
              call.shift, true);
}

__kernel __attribute__((reqd_work_group_size(PASS_GROUP, 1, 1))) void
sort_fused_pass_long(__global word *keys, __global ulong *index, const fused_call call)
{
    __local held_key tile[PASS_TILE] __attribute__((aligned(16)));

    pass_long(tile, row_stored(keys, index, call), group_in_row(call.rows), call.first, call.end,
              call.shift, false);
}
