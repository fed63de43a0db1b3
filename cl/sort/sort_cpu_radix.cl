/* Radix sort for CPUs: each work-item scatters a chunk of keys alone.
 *
 * Idea: as sort_radix.cl, but a core writes each key where it belongs at once: its
 *     cache holds the lines that are being filled, one for each digit, so there is
 *     nothing to be gained from sorting a tile first, and no barrier.
 * Work split: a work-item owns a chunk of keys.
 * Parameters: those of sort_radix_pass.clh, WARPS = 0.  Launches have up to PER_UNIT
 *     chunks for each compute unit.
 * Launch: 1-D, as sort_radix.cl, with work-groups of 1 in the first and the third
 *     launch of a pass: sort_cpu_radix_count, sort_radix_scan, sort_cpu_radix_scatter.
 * Workspace: as sort_radix.cl.
 * Local memory: sort_radix_scan.clh's.  Private: 2^BITS words.
 * Limits: fewer than 2^32 keys, one sequence.
 */
#include "sort/sort_radix_pass.clh"
#include "sort/sort_radix_scan.clh"

/* counts[digit][chunk] := how many keys of the chunk have the digit at bit `call.shift`. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
sort_cpu_radix_count(__global const word *keys, __global uint *counts, const radix_call call)
{
    const size_t mine = get_group_id(0), chunks = get_num_groups(0);
    const size_t end = chunk_end(call.chunk, call.n);
    const uint shift = call.shift;
    uint count[DIGITS];

    keys += call.offset_keys;
    for (uint digit = 0; digit < DIGITS; digit++)
        count[digit] = 0;
    for (size_t i = chunk_start(call.chunk); i < end; i++)
        count[digit_of(keys[i], shift)]++;
    for (uint digit = 0; digit < DIGITS; digit++)
        counts[call.offset_counts + digit * chunks + mine] = count[digit];
}

/* Where this chunk's keys with each digit begin in memory, from the sums of the scan. */
static inline void begin_chunk(uint *begin, __global const uint *counts)
{
    const size_t mine = get_group_id(0), chunks = get_num_groups(0);
    uint before = 0;

    for (uint digit = 0; digit < DIGITS; digit++) {
        begin[digit] = before + counts[digit * chunks + mine];
        before += counts[DIGITS * chunks + digit];
    }
}

/* Write what goes with key i to its place. */
static inline void leave_load(__global const payload *loads, __global payload *loads_to, size_t i,
                              uint to, bool is_first, bool is_last)
{
#if PAYLOAD == PAYLOAD_INDEX
    const uint load = is_first ? (uint)i : loads[i];

    if (is_last)
        ((__global ulong *)loads_to)[to] = load;
    else
        loads_to[to] = load;
#elif PAYLOAD == PAYLOAD_VALUE
    loads_to[to] = loads[i];
#endif
}

/* Write the keys of each chunk, by the digit at bit `call.shift`, to where the scan has it begin. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
sort_cpu_radix_scatter(PASS_ARRAYS, __global const uint *counts, const radix_call call)
{
    const size_t end = chunk_end(call.chunk, call.n);
    const uint shift = call.shift;
    uint next[DIGITS];

    START_PASS;
    begin_chunk(next, counts + call.offset_counts);
    for (size_t i = chunk_start(call.chunk); i < end; i++) {
        const word bits = keys[i];
        const uint to = next[digit_of(bits, shift)]++;

        keys_to[to] = bits;
        leave_load(loads, loads_to, i, to, shift == 0, call.last);
    }
}
