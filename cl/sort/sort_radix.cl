/* Radix sort: keys are scattered by one digit after another, the lowest first.
 *
 * Idea: a network has to compare each key with log2(n)^2 / 2 others; here a digit
 *     of BITS bits selects one of 2^BITS places for a key at once, and a pass that
 *     keeps the order of keys with equal digits leaves those of all lower digits
 *     in order.  KEY_BITS / BITS passes sort, whatever n is.  (Knuth, The Art of
 *     Computer Programming, volume 3, 5.2.5; on GPUs Satish, Harris and Garland,
 *     "Designing efficient sorting algorithms for manycore GPUs", 2009.)
 *     A pass is three launches: each work-group counts the digits of its chunk;
 *     a scan over the chunks' counts gives where each chunk's keys with each digit
 *     begin; each work-group goes through its chunk again and writes the keys
 *     there.
 *
 *         chunk    [ 2 0 2 1 0 | 1 1 2 0 0 ]
 *         counts    0: 2 2   1: 1 2   2: 2 1          of each chunk
 *         begin     0: 0 2   1: 4 5   2: 7 9          exclusive sums, digit by digit
 *         result   [ 0 0 0 0 1 1 1 2 2 2 ]
 *
 *     A tile of the chunk is sorted by the digit in local memory first, so that
 *     neighbours in a run of equal digits are written side by side
 *     (sort_radix_tile.clh).
 * Work split: a work-group owns a chunk of whole tiles, of GROUP * ITEMS keys each.
 * Parameters: BITS of a digit, a divisor of half of the key's; GROUP work-items, a
 *     multiple of TEAM, and with WARPS at least 2^BITS; ITEMS keys of a tile that a
 *     work-item takes; COPIES of the counters (sort_radix_count.clh); WARPS
 *     (sort_radix_team.clh); PAYLOAD, what goes with a key (sort_radix_pass.clh);
 *     KEY, DESCENDING, WITH_INDEX (sort_key.clh); VALUE_BYTES, WITH_ROWS
 *     (sort_values.clh).  Launches have up to PER_UNIT chunks for each compute unit.
 * Launch: 1-D.  For each digit, from the one at bit 0 up: sort_radix_count with
 *     GROUP work-items for each chunk; sort_radix_scan with a work-group of at most
 *     SCAN_GROUP for each of the 2^BITS digits; sort_radix_scatter as
 *     sort_radix_count.  Passes are even in number: the first, third... go from the
 *     caller's arrays to the workspace, the others back.  With values that an index
 *     moves then the kernels of sort_values.clh.
 * Workspace: a copy of the keys, one of the payload, 2^BITS * (chunks + 1) counts; in
 *     front of them the index that values follow, where the caller has none; and as
 *     much as sort_values.clh asks for.
 * Local memory: a tile of keys, or of payload where it is wider, and in the same
 *     place a counter for each digit and team; 3 * 2^BITS words, and one for each
 *     team.  Counting: 2^BITS * COPIES words; sort_radix_scan.clh.
 * Limits: fewer than 2^32 keys, one sequence.
 */
#define COUNTED 1

#include "sort/sort_radix_count.clh"
#include "sort/sort_radix_scan.clh"

/* counts[digit][chunk] := how many keys of the chunk have the digit at bit `call.shift`. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_radix_count(__global const word *keys, __global uint *counts, const radix_call call)
{
    __local uint counters[COUNTERS * COPIES];

    count_chunk(counters, keys + call.offset_keys, counts + call.offset_counts, call.n, call.chunk,
                call.shift);
}

/* Where this chunk's keys with each digit begin in memory. */
static inline void begin_chunk(__local uint *begin, __local uint *of_teams,
                               __global const uint *counts)
{
    const uint chunks = get_num_groups(0);

    begin_digits(begin, of_teams, counts + (size_t)DIGITS * chunks);
    for (uint digit = get_local_id(0); digit < DIGITS; digit += GROUP)
        begin[digit] += counts[(size_t)digit * chunks + get_group_id(0)];
}

/* Sort the keys of each chunk by the digit at bit `call.shift`, to where the scan has it begin. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sort_radix_scatter(PASS_ARRAYS, __global const uint *counts, const radix_call call)
{
    __local tile_room room;
    __local tile_digits digits;
    __local uint begin[DIGITS]; /* where the next tile's keys go */
    const size_t end = chunk_end(call.chunk, call.n);
    const uint shift = call.shift;

    START_PASS;
    begin_chunk(begin, digits.of_teams, counts + call.offset_counts);
    for (size_t start = chunk_start(call.chunk); start < end; start += TILE) {
        const uint left = min(end - start, (size_t)TILE);
        word bits[ITEMS];
        uint rank[ITEMS];

        tile_take(bits, keys + start, left);
        tile_rank(bits, rank, &room, shift);
        for (uint digit = get_local_id(0); digit < DIGITS; digit += GROUP)
            digits.first[digit] = tile_count(&room, digit);
        tile_place_digits(&room, &digits);
        for (uint digit = get_local_id(0); digit < DIGITS; digit += GROUP) {
            const uint next = digit + 1 < DIGITS ? digits.first[digit + 1] : TILE;

            digits.there[digit] = begin[digit] - digits.first[digit];
            begin[digit] += next - digits.first[digit];
        }
        tile_sort_keys(bits, rank, &room, shift);
        tile_leave(rank, &room, &digits, keys_to, (payloads){loads, loads_to, call.last}, start,
                   left, shift);
        /* Read, before the next tile's counters come. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
