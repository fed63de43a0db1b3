/* Merge sort: sorted tiles, then runs merged in pairs until one is left.
 *
 * Idea: of thousands of keys a radix sort takes as many launches as a key has digits, a bitonic
 *     network grows with log2(n)^2.  A merge sort compares n keys log2(n) times, and takes one
 *     launch for each doubling.  A merge is split among work-items by its merge path: drawn in a
 *     grid with run A down and run B across, it steps down where the next key comes from A, else
 *     right.
 *
 *              b0  b1  b2           After d steps it crosses diagonal d, at a row `a` and a column
 *            +---+---+---+          d - a: the first d keys of the result are the first `a` keys of
 *         a0 |   . d=2   |          A and the first d - a of B.  Along a diagonal A[a] grows and
 *            +---+---+---+          B[d - 1 - a] falls, so a binary search finds the crossing; and
 *         a1 | .         |          whoever knows its own crossing merges on from there alone.
 *            +---+---+---+
 *
 *     The work-items of a work-group look for the crossings of its first and last key together: of
 *     L probes at once each round leaves a 1/(L + 1) of the diagonal, where a search that halves
 *     waits for memory log2(n) times.
 *     Equal keys are taken from A, the run in front: the sort is stable without comparing positions.
 *     Source: Green, McColl, Bader, "GPU Merge Path", ICS 2012.
 * Work split: a work-group sorts or merges the TILE = GROUP * ITEMS keys from g * TILE on, a
 *     work-item ITEMS of them.  An odd number of ITEMS spreads work-items over the banks of local
 *     memory.
 * Parameters: GROUP work-items in a work-group, a power of 2; ITEMS keys of a work-item; KEY,
 *     DESCENDING, WITH_INDEX (sort_key.clh); VALUE_BYTES (sort_value.clh); ARGSORT, 1 where the
 *     index is written.
 * Launch: 1-D, work-groups of GROUP, one per started tile of the n keys.  sort_merge_tiles; then
 *     sort_merge_runs for run = TILE, 2 * TILE, ... while 2 * run < n, from one half of the
 *     workspace to the other; then sort_merge_last with the next run.
 * Workspace: twice the orders of the keys; with WITH_INDEX twice their positions; the values from
 *     `copy` on.
 * Local memory: TILE keys, with WITH_INDEX as many uints, and 4 ints.
 * Limits: n < 2^31.
 */
#ifndef GROUP
#error "GROUP: work-items in a work-group, a power of 2"
#endif
#ifndef ITEMS
#error "ITEMS: keys of a work-item"
#endif
#ifndef ARGSORT
#error "ARGSORT: 1 where the index is written, else 0"
#endif

#include "sort/sort_key.clh"
#include "sort/sort_value.clh"

#define TILE           (GROUP * ITEMS)
#define TILE_POSITIONS (WITH_INDEX ? TILE : 1)

/* The scalars of a launch.  The host's merge_call has the same members. */
typedef struct merge_call {
    ulong offset_keys, offset_index, offset_values;
    ulong orders_from, orders_to;       /* in the workspace, in keys */
    ulong positions_from, positions_to; /* in uints */
    ulong copy;                         /* in values */
    uint n, run;
} merge_call;

/* Two runs that are merged. */
typedef struct run_pair {
    uint a, a_size; /* where run A starts, and its keys */
    uint b, b_size;
} run_pair;

/* ITEMS keys of a work-item, and where they came from. */
typedef struct held_keys {
    word order[ITEMS];
    uint position[ITEMS];
} held_keys;

/* How many of the first d keys of the merged pair come from A. */
static inline uint crossing(__local const word *orders, run_pair p, uint d)
{
    uint low = d > p.b_size ? d - p.b_size : 0, high = min(d, p.a_size);

    while (low < high) {
        const uint a = (low + high) / 2;

        if (orders[p.a + a] <= orders[p.b + d - 1 - a])
            low = a + 1;
        else
            high = a;
    }
    return low;
}

/* Keys d, d + 1, ... d + ITEMS - 1 of the merged pair. */
static inline void merge_items(held_keys *held, __local const word *orders,
                               __local const uint *positions, run_pair p, uint d)
{
    const uint from_a = crossing(orders, p, d);
    const uint a_end = p.a + p.a_size, b_end = p.b + p.b_size;
    uint a = p.a + from_a, b = p.b + d - from_a;
    word next_a = orders[min(a, (uint)TILE - 1)], next_b = orders[min(b, (uint)TILE - 1)];

#pragma unroll
    for (uint k = 0; k < ITEMS; k++) {
        const bool take_a = a < a_end && (b >= b_end || next_a <= next_b);
        const uint taken = min(take_a ? a : b, (uint)TILE - 1);
        const word next = orders[min(taken + 1, (uint)TILE - 1)];

        held->order[k] = take_a ? next_a : next_b;
        if (WITH_INDEX)
            held->position[k] = positions[taken];
        if (take_a) {
            a++;
            next_a = next;
        } else {
            b++;
            next_b = next;
        }
    }
}

/* What each work-item holds to local memory, in the order of the work-items. */
static inline void put_items(__local word *orders, __local uint *positions, const held_keys *held)
{
    const uint first = (uint)get_local_id(0) * ITEMS;

#pragma unroll
    for (uint k = 0; k < ITEMS; k++) {
        orders[first + k] = held->order[k];
        if (WITH_INDEX)
            positions[first + k] = held->position[k];
    }
}

/* Sort the keys of a work-item by exchanges of neighbours, odd and even pairs in turn. */
static inline void sort_items(held_keys *held)
{
#pragma unroll
    for (uint round = 0; round < ITEMS; round++)
#pragma unroll
        for (uint k = round % 2; k + 1 < ITEMS; k += 2) {
            const word low = held->order[k], high = held->order[k + 1];
            const uint low_from = held->position[k], high_from = held->position[k + 1];
            const bool exchange = low > high;

            held->order[k] = exchange ? high : low;
            held->order[k + 1] = exchange ? low : high;
            held->position[k] = exchange ? high_from : low_from;
            held->position[k + 1] = exchange ? low_from : high_from;
        }
}

/* Sort each tile to the workspace, and keep the values there. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_merge_tiles(__global const word *keys, __global const value *values, __global word *orders,
                 __global uint *positions, __global value *copy, const merge_call call)
{
    __local word tile[TILE];
    __local uint places[TILE_POSITIONS];
    const uint item = get_local_id(0), start = (uint)get_group_id(0) * TILE;
    held_keys held;

    for (uint i = item; i < TILE; i += GROUP) {
        /* Beyond the last key stands what no key comes after: it stays behind them. */
        tile[i] = start + i < call.n ? to_order(keys[call.offset_keys + start + i]) : ALL_BITS;
#if VALUE_BYTES
        if (start + i < call.n)
            copy[call.copy + start + i] = values[call.offset_values + start + i];
#endif
    }
    /* Filled before each takes its own. */
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint k = 0; k < ITEMS; k++) {
        held.order[k] = tile[item * ITEMS + k];
        held.position[k] = start + item * ITEMS + k;
    }
    sort_items(&held);
    for (uint run = ITEMS; run < TILE; run *= 2) {
        const uint first = item * ITEMS, pair = first / (2 * run) * (2 * run);
        const run_pair p = {pair, run, pair + run, run};

        /* Read by all before it is overwritten, ... */
        barrier(CLK_LOCAL_MEM_FENCE);
        put_items(tile, places, &held);
        /* ... and written by all before it is merged. */
        barrier(CLK_LOCAL_MEM_FENCE);
        merge_items(&held, tile, places, p, first - pair);
    }
    /* As in a round: read, then written, then stored. */
    barrier(CLK_LOCAL_MEM_FENCE);
    put_items(tile, places, &held);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < TILE && start + i < call.n; i += GROUP) {
        orders[call.orders_to + start + i] = tile[i];
        if (WITH_INDEX)
            positions[call.positions_to + start + i] = places[i];
    }
}

/* Work-items that look for a crossing together: a warp is enough. */
#define LANES (GROUP < 64 ? GROUP / 2 : 32)

/* The crossings of the diagonals `first` and `last` in global memory, for all work-items: the first
 * LANES look for one, the next LANES for the other.  In each round they probe as many rows, of which
 * those above the crossing come from A; the next round is between two of these. */
static inline uint2 find_crossings(__global const word *orders, run_pair p, uint first, uint last,
                                   __local uint rows[2])
{
    const uint item = get_local_id(0), lane = item % LANES, which = item / LANES;
    const uint d = which ? last : first;
    uint low = d > p.b_size ? d - p.b_size : 0, high = min(d, p.a_size);

    /* Both diagonals are so long at most; a round leaves no more than this of what there is. */
    for (uint left = min(p.a_size, p.b_size); left > 0; left /= LANES + 1) {
        const uint step = (high - low) / (LANES + 1) + 1, row = low + (lane + 1) * step - 1;
        bool below = row >= high, above_before = true;

        if (which < 2) {
            if (!below)
                below = orders[p.a + row] > orders[p.b + d - 1 - row];
            if (lane > 0)
                above_before = row - step < high &&
                               orders[p.a + row - step] <= orders[p.b + d - 1 - (row - step)];
            /* One lane alone is at the crossing. */
            if (below && above_before)
                rows[which] = lane;
            else if (!below && lane == LANES - 1)
                rows[which] = LANES;
        }
        /* Written before all read it, ... */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (which < 2) {
            low += rows[which] * step;
            high = min(high, low + step - 1);
        }
        /* ... and read before the next round. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0 && which < 2)
        rows[which] = low;
    /* Both are there before all read them. */
    barrier(CLK_LOCAL_MEM_FENCE);
    return (uint2)(rows[0], rows[1]);
}

/* Merge the keys of the work-group's tile, which then stand in local memory; return how many. */
static inline uint merge_tile(__local word *tile, __local uint *places, __local uint rows[2],
                              __global const word *orders, __global const uint *positions,
                              uint n, uint run)
{
    const uint item = get_local_id(0), start = (uint)get_group_id(0) * TILE;
    const uint pair = start / (2 * run) * (2 * run);
    const uint middle = min(pair + run, n), end = min(pair + 2 * run, n);
    const run_pair runs = {pair, middle - pair, middle, end - middle};
    const uint first = start - pair, last = min(first + TILE, end - pair), count = last - first;
    const uint2 from_a = find_crossings(orders, runs, first, last, rows);
    const uint a_size = from_a.y - from_a.x;
    const run_pair here = {0, a_size, a_size, count - a_size};
    held_keys held;

    for (uint i = item; i < TILE; i += GROUP) {
        const uint from = i < a_size ? runs.a + from_a.x + i
                                     : runs.b + (first - from_a.x) + (i - a_size);

        /* Nothing is taken from beyond the keys, but work-items there hold it. */
        tile[i] = i < count ? orders[from] : ALL_BITS;
        if (WITH_INDEX)
            places[i] = i < count ? positions[from] : 0;
    }
    /* Filled before it is merged, ... */
    barrier(CLK_LOCAL_MEM_FENCE);
    merge_items(&held, tile, places, here, min(item * ITEMS, count));
    /* ... read by all before it is overwritten, ... */
    barrier(CLK_LOCAL_MEM_FENCE);
    put_items(tile, places, &held);
    /* ... and written by all before it goes to memory. */
    barrier(CLK_LOCAL_MEM_FENCE);
    return count;
}

/* Merge pairs of runs of the workspace. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_merge_runs(__global word *orders, __global uint *positions, const merge_call call)
{
    __local word tile[TILE];
    __local uint places[TILE_POSITIONS], rows[2];
    const uint start = (uint)get_group_id(0) * TILE;
    const uint count = merge_tile(tile, places, rows, orders + call.orders_from,
                                  positions + call.positions_from, call.n, call.run);

    for (uint i = get_local_id(0); i < count; i += GROUP) {
        orders[call.orders_to + start + i] = tile[i];
        if (WITH_INDEX)
            positions[call.positions_to + start + i] = places[i];
    }
}

/* Merge the last pair to where the keys came from, and bring index and values. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_merge_last(__global word *keys, __global long *index, __global value *values,
                __global const word *orders, __global const uint *positions,
                __global const value *copy, const merge_call call)
{
    __local word tile[TILE];
    __local uint places[TILE_POSITIONS], rows[2];
    const uint start = (uint)get_group_id(0) * TILE;
    const uint count = merge_tile(tile, places, rows, orders + call.orders_from,
                                  positions + call.positions_from, call.n, call.run);

    for (uint i = get_local_id(0); i < count; i += GROUP) {
        keys[call.offset_keys + start + i] = from_order(tile[i]);
#if ARGSORT
        index[call.offset_index + start + i] = places[i];
#endif
#if VALUE_BYTES
        values[call.offset_values + start + i] = copy[call.copy + places[i]];
#endif
    }
}
