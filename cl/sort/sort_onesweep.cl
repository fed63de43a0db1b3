/* Radix sort that reads and writes keys once for each digit.
 *
 * Idea: as sort_radix.cl, but the digits of all passes are counted in one launch:
 *     how many keys have a digit does not depend on their order.  What does, how
 *     many of them earlier tiles have, work-groups find out by decoupled look-back
 *     (look_back.clh).  (Adinets and Merrill, "Onesweep: a faster least significant
 *     digit radix sort for GPUs", 2022.)
 *
 *         tile          3           4            5            6
 *         published    prefix 70   aggregate 5  aggregate 9  (looks back: 9 + 5 + 70)
 *         then                                               prefix 84 + its own
 *
 *     Groups take tiles in the order in which they start, so those before are at
 *     work already and wait for nobody behind.
 * Work split: a work-group owns a tile of GROUP * ITEMS keys (sort_radix_tile.clh),
 *     and in the counting launch a chunk of whole tiles.
 * Parameters: as sort_radix.cl, but BITS divides those of a key; PER_UNIT for the chunks;
 *     PASSES, digits of a key;
 *     SCAN_GROUP, the most work-items that add up counts; ONE_TILE, 1 where one tile has
 *     all keys: sort_onesweep is launched once, and sorts them where they are;
 *     STATES, how work-groups read and publish states (look_back.clh).
 * Launch: 1-D.  sort_radix_digits with GROUP work-items for each chunk;
 *     sort_radix_totals with a work-group of a power of 2 up to SCAN_GROUP for each
 *     digit of each pass; then for each pass, from the digit at bit 0 up,
 *     sort_onesweep with GROUP work-items for each tile.  The last pass goes from the
 *     workspace to the caller's arrays, the one before it the other way, and so on: the
 *     first of an odd number starts from what sort_radix_digits copied.  With values that
 *     an index moves then the kernels of sort_values.clh.  ONE_TILE: sort_onesweep alone,
 *     by one work-group, in the place of all but these.
 * Workspace: a copy of the keys, one of the payload, PASSES * 2^BITS * (chunks + 1)
 *     counts, PASSES * (2^BITS * tiles + 1) states, none of these with ONE_TILE; index and
 *     values as sort_radix.cl.
 * Local memory: a tile of keys, or of payload where it is wider, and in the same
 *     place a counter for each digit and team; 2 * 2^BITS words, and one for each
 *     team and one more.  Counting: PASSES * 2^BITS * COPIES words.  Totals: SCAN_GROUP.
 * Limits: fewer than 2^31 keys, one sequence.  But with ONE_TILE groups that have started
 *     have to get on while others wait for them.  OpenCL does not promise that; NVIDIA's GPUs do from
 *     compute capability 7.0 on, and CPUs whose threads each run a group to its end.
 */
#if !defined(PASSES) || !defined(ONE_TILE)
#error "PASSES, ONE_TILE: digits of a key, and whether one tile has all keys"
#endif

#define COUNTED PASSES

#include "common/look_back.clh"
#include "sort/sort_radix_count.clh"

#define REDUCED       uint
#define COMBINE(a, b) ((a) + (b))
#include "common/group_reduce.clh"

#ifndef SCAN_GROUP
#error "SCAN_GROUP: the most work-items that add up counts"
#endif

/* Vectors of a copy that a work-item holds at once. */
#define LOADED 4u

/* Copy so many bytes, by the whole group: sixteen at a time where both arrays allow it. */
static inline void copy_by_group(__global uchar *to, __global const uchar *from, size_t bytes)
{
    const size_t item = get_local_id(0), vectors = bytes / sizeof(uint4);
    const bool aligned = (((size_t)to | (size_t)from) & (sizeof(uint4) - 1)) == 0;

    for (size_t i = item; aligned && i < vectors; i += LOADED * GROUP) {
        uint4 held[LOADED];

        /* All are on their way before the first is stored. */
#pragma unroll
        for (uint k = 0; k < LOADED; k++)
            if (i + k * GROUP < vectors)
                held[k] = ((__global const uint4 *)from)[i + k * GROUP];
#pragma unroll
        for (uint k = 0; k < LOADED; k++)
            if (i + k * GROUP < vectors)
                ((__global uint4 *)to)[i + k * GROUP] = held[k];
    }
    for (size_t i = (aligned ? vectors * sizeof(uint4) : 0) + item; i < bytes; i += GROUP)
        to[i] = from[i];
}

/* What the counting launch reads, and where passes are odd in number writes. */
#if PASSES % 2
#define COUNT_ARRAYS PASS_ARRAYS
#else
#define COUNT_ARRAYS __global const word *keys
#endif

/* counts[pass][digit][chunk] := how many keys of the chunk have the digit there.  All states are
 * set back on the way. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_radix_digits(COUNT_ARRAYS, __global uint *counts, __global uint *states, const radix_call call)
{
    __local uint counters[COUNTERS * COPIES];
#if PASSES % 2
    const size_t start = chunk_start(call.chunk), taken = chunk_end(call.chunk, call.n) - start;

    copy_by_group((__global uchar *)(keys_to + call.offset_keys_to + start),
                  (__global const uchar *)(keys + call.offset_keys + start), taken * sizeof(word));
#if PAYLOAD == PAYLOAD_VALUE
    copy_by_group((__global uchar *)(loads_to + call.offset_loads_to + start),
                  (__global const uchar *)(loads + call.offset_loads + start),
                  taken * sizeof(payload));
#endif
#endif

    for (size_t i = get_global_id(0); i < call.states; i += get_global_size(0))
        states[call.offset_states + i] = 0;
    count_chunk(counters, keys + call.offset_keys, counts + call.offset_counts, call.n, call.chunk,
                0);
}

/* Behind the counts: their sums over all chunks. */
__kernel void sort_radix_totals(__global uint *counts, ulong offset_counts, uint chunks)
{
    __local uint sums[SCAN_GROUP];
    const uint item = get_local_id(0), digit = get_group_id(0);
    __global const uint *of_digit = counts + offset_counts + (size_t)digit * chunks;
    uint sum = 0;

    for (uint i = item; i < chunks; i += get_local_size(0))
        sum += of_digit[i];
    sum = tree_reduce(sums + item, 1, item, get_local_size(0), sum);
    if (item == 0)
        counts[offset_counts + (size_t)get_num_groups(0) * chunks + digit] = sum;
}

#if ONE_TILE
/* Count the tile's keys with each digit.  It is where they all are: places in it are theirs. */
static inline void count_digits(__local const tile_room *room, __local tile_digits *digits)
{
    for (uint digit = get_local_id(0); digit < DIGITS; digit += GROUP) {
        digits->first[digit] = tile_count(room, digit);
        digits->there[digit] = 0;
    }
}
#else
/* Which tile the group takes: the next one. */
static inline uint next_tile(__global state *tickets, __local uint *drawn)
{
    if (get_local_id(0) == 0)
        *drawn = take_ticket(tickets);
    /* Drawn before the others read it. */
    barrier(CLK_LOCAL_MEM_FENCE);
    return *drawn;
}

/* Count the tile's keys with each digit, and publish these aggregates; the first tile publishes
 * inclusive prefixes alone. */
static inline void publish_counts(__local const tile_room *room, __local tile_digits *digits,
                                  __global state *states, uint tile)
{
    for (uint digit = get_local_id(0); digit < DIGITS; digit += GROUP) {
        const uint count = tile_count(room, digit);

        digits->first[digit] = count;
        if (tile > 0)
            state_publish(states + (size_t)tile * DIGITS + digit, 1 + count);
    }
}

/* Find where the tile's keys with each digit go in memory, and publish the inclusive prefix, where
 * they end there.  The first tile's digits->there is where they begin. */
static inline void publish_ends(__local tile_digits *digits, __global state *states, uint tile)
{
    for (uint digit = get_local_id(0); digit < DIGITS; digit += GROUP) {
        const uint first = digits->first[digit];
        const uint count = (digit + 1 < DIGITS ? digits->first[digit + 1] : TILE) - first;
        const uint before =
            tile > 0 ? look_back(states, tile, DIGITS, digit) : digits->there[digit];

        state_publish(states + (size_t)tile * DIGITS + digit, STATE_PREFIX + before + count);
        digits->there[digit] = before - first;
    }
}
#endif

/* Sort keys by the digit at bit `call.shift`, tile by tile; or one tile by one digit after another. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_onesweep(PASS_ARRAYS, __global const uint *totals, __global state *states,
              const radix_call call)
{
    __local tile_room room;
    __local tile_digits digits;
    word bits[ITEMS];
    uint rank[ITEMS];
#if ONE_TILE
    const uint left = call.n;

    START_PASS;
    for (uint pass = 0; pass < PASSES; pass++) {
        const uint shift = pass * BITS;

        tile_take(bits, keys, left);
        tile_rank(bits, rank, &room, shift);
        count_digits(&room, &digits);
        tile_place_digits(&room, &digits);
        tile_sort_keys(bits, rank, &room, shift);
        tile_leave(rank, &room, &digits, keys_to, (payloads){loads, loads_to, pass + 1 == PASSES},
                   0, left, shift);
        /* Stored, and read from local memory, before the next pass begins. */
        barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    }
#else
    __local uint drawn;
    const uint tile = next_tile(states + call.offset_tickets, &drawn);
    const ulong start = (ulong)tile * TILE;
    const uint left = min(call.n - start, (ulong)TILE), shift = call.shift;

    START_PASS;
    states += call.offset_states;
    tile_take(bits, keys + start, left);
    tile_rank(bits, rank, &room, shift);
    publish_counts(&room, &digits, states, tile);
    if (tile == 0)
        begin_digits(digits.there, digits.of_teams, totals + call.offset_counts);
    tile_place_digits(&room, &digits);
    tile_sort_keys(bits, rank, &room, shift);
    publish_ends(&digits, states, tile);
    tile_leave(rank, &room, &digits, keys_to, (payloads){loads, loads_to, call.last}, start, left,
               shift);
#endif
}
