/* Sort a few keys by counting, for each, those that come before it.
 *
 * Idea: of few keys a network or digits take longer to hand keys on, and to launch, than to compare
 *     every key with every other one, which all units do at once: a key's place is the number of
 *     keys before it.  Equal keys keep their order: of those in front of a key equal ones count.
 * Work split: work-group g places the KEYS * TEAMS keys from g * KEYS * TEAMS on; a team of TEAM
 *     work-items KEYS of them, lane l by comparing them with keys l, l + TEAM, ...  All keys go
 *     through local memory, TILE at a time.
 * Parameters: KEYS, a power of 2 up to TEAM; GROUP work-items in a work-group, TEAM of them in a
 *     team, powers of 2; TILE; KEY, DESCENDING, WITH_INDEX (sort_key.clh); VALUE_BYTES
 *     (sort_value.clh); ARGSORT, 1 where the index is written.
 * Launch: 1-D; sort_counted_place with work-groups of GROUP, one per started KEYS * TEAMS keys,
 *     then sort_counted_return with any work-group size and a work-item per key.
 * Workspace: the keys in order, and the values in theirs from offset_copy on (counted in values).
 * Local memory: TILE keys, and a counter for each key that the group places.
 * Limits: n < 2^31; time grows with the square of n.
 */
#ifndef KEYS
#error "KEYS: keys that a team places, a power of 2 up to TEAM"
#endif
#ifndef TEAM
#error "TEAM: work-items that compare one key with all, a power of 2"
#endif
#ifndef GROUP
#error "GROUP: work-items in a work-group, a power of 2 of TEAM at least"
#endif
#ifndef TILE
#error "TILE: keys in local memory at a time"
#endif
#ifndef ARGSORT
#error "ARGSORT: 1 where the index is written, else 0"
#endif

#include "sort/sort_key.clh"
#include "sort/sort_value.clh"

#define PLACED (GROUP / TEAM * KEYS) /* keys that a work-group places */
#define LOADED (TILE / GROUP)       /* keys of a tile that a work-item loads */

#if TILE % GROUP
#error "TILE: a multiple of GROUP"
#endif

/* The scalars of both launches.  The host's counted_call has the same members. */
typedef struct counted_call {
    ulong offset_keys, offset_index, offset_values;
    ulong offset_copy; /* of the values in the workspace, in values */
    uint n;
} counted_call;

/* Keys that a work-item reads before it compares the first.  Loops over so few, over KEYS and over
 * LOADED are unrolled without a #pragma, with which PoCL 3.1 compiles them wrongly. */
#define AHEAD 4

/* Count for each of the KEYS keys `other` where it comes before it, an equal one too if so said. */
static inline void count_one(uint before[KEYS], const word order[KEYS], word other, bool equal)
{
    for (uint k = 0; k < KEYS; k++)
        before[k] += equal ? other <= order[k] : other < order[k];
}

/* The same of orders[from] ... orders[to - 1]. */
static inline void count_before(uint before[KEYS], const word order[KEYS],
                                __local const word *orders, uint from, uint to, uint lane,
                                bool equal)
{
    const uint whole = from + (to - from) / (AHEAD * TEAM) * (AHEAD * TEAM);

    for (uint i = from + lane; i < whole; i += AHEAD * TEAM) {
        word other[AHEAD];

        for (uint u = 0; u < AHEAD; u++)
            other[u] = orders[i + u * TEAM];
        for (uint u = 0; u < AHEAD; u++)
            count_one(before, order, other[u], equal);
    }
    for (uint i = whole + lane; i < to; i += TEAM)
        count_one(before, order, orders[i], equal);
}

/* The keys that a work-item brings to the tile from `start` on: all of them are in flight at once,
 * and one beyond the last is the last again. */
static inline void load_keys(word loaded[LOADED], __global const word *keys, uint start, uint n)
{
    for (uint u = 0; u < LOADED; u++)
        loaded[u] = keys[min(start + u * GROUP + (uint)get_local_id(0), n - 1)];
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_counted_place(__global const word *restrict keys, __global long *restrict index,
                   __global const value *restrict values, __global word *restrict sorted,
                   __global value *restrict copy, const counted_call call)
{
    __local word orders[TILE];
    __local uint ranks[PLACED];
    const uint item = get_local_id(0), lane = item % TEAM, team = item / TEAM, n = call.n;
    const uint first = (uint)get_group_id(0) * PLACED + team * KEYS;
    uint before[KEYS];
    word order[KEYS], loaded[LOADED];

    keys += call.offset_keys;
    /* Unrolled: only then do the arrays live in registers. */
#pragma unroll
    for (uint k = 0; k < KEYS; k++) {
        order[k] = to_order(keys[min(first + k, n - 1)]);
        before[k] = 0;
    }
    for (uint i = item; i < PLACED; i += GROUP)
        ranks[i] = 0;
    load_keys(loaded, keys, 0, n);
    for (uint start = 0; start < n; start += TILE) {
        const uint end = min((uint)TILE, n - start);
        /* The team's own keys lie from `own` on, in this tile or beyond one of its ends. */
        const uint own = clamp(first, start, start + end) - start;
        const uint behind = clamp(first + KEYS, start, start + end) - start;

        for (uint u = 0; u < LOADED; u++)
            orders[item + u * GROUP] = to_order(loaded[u]);
        /* Filled before read: each compares with what all have loaded. */
        barrier(CLK_LOCAL_MEM_FENCE);
        /* The next tile is on its way while this one is compared. */
        if (start + TILE < n)
            load_keys(loaded, keys, start + TILE, n);
        count_before(before, order, orders, 0, own, lane, true);
        count_before(before, order, orders, behind, end, lane, false);
        for (uint i = own + lane; i < behind; i += TEAM)
#pragma unroll
            for (uint k = 0; k < KEYS; k++)
                before[k] += start + i < first + k ? orders[i] <= order[k] : orders[i] < order[k];
        /* Read before refilled. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (uint k = 0; k < KEYS; k++)
        atomic_add(&ranks[team * KEYS + k], before[k]);
    /* Counted in full before read. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < PLACED; i += GROUP) {
        const uint from = (uint)get_group_id(0) * PLACED + i, to = ranks[i];

        if (from < n) {
            sorted[to] = keys[from];
#if ARGSORT
            index[call.offset_index + to] = from;
#endif
#if VALUE_BYTES
            copy[call.offset_copy + to] = values[call.offset_values + from];
#endif
        }
    }
}

/* Keys and values from the workspace to their places. */
__kernel void sort_counted_return(__global word *restrict keys, __global value *restrict values,
                                  __global const word *restrict sorted,
                                  __global const value *restrict copy, const counted_call call)
{
    const uint i = get_global_id(0);

    if (i >= call.n)
        return;
    keys[call.offset_keys + i] = sorted[i];
#if VALUE_BYTES
    values[call.offset_values + i] = copy[call.offset_copy + i];
#endif
}
