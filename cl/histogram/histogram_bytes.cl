/* Histogram: bytes, sixteen a load, counted by their value.
 *
 * Idea: a byte has 256 values, whatever the bins are.  A group counts each value,
 *     in a table that needs no look-up of a bin, and finds the bin of a value once,
 *     when it adds its table to the counts.  A work-item loads sixteen bytes at a
 *     time; COPIES tables are side by side as in histogram_copies.
 * Work split: vectors in turns; the bytes before the first aligned vector and
 *     behind the last one by the first work-group.
 * Parameters: COPIES, a power of two; GROUP; ELEMENT, uchar or char, UNEVEN
 *     (histogram.clh).  PER_UNIT only decides the number of groups on the host.
 * Launch: 1-D, work-groups of GROUP, each for less than 2^32 elements; histogram_clear
 *     before it.
 * Local memory: 256 * COPIES uints.
 * Limits: elements of 8 bits; any number of bins.
 */
#include "histogram/histogram.clh"

#ifndef COPIES
#error "COPIES: tables of a work-group, a power of two"
#endif

/* The four bytes of a word. */
static inline void count_word(volatile __local uint *table, uint word)
{
    atomic_inc(&table[(word & 255) * COPIES]);
    atomic_inc(&table[(word >> 8 & 255) * COPIES]);
    atomic_inc(&table[(word >> 16 & 255) * COPIES]);
    atomic_inc(&table[(word >> 24) * COPIES]);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
histogram_bytes(__global const ELEMENT *restrict x, __global const VALUE *restrict edges,
                volatile __global uint *restrict counts, const histogram_call call)
{
    volatile __local uint table[256 * COPIES];
    const uint item = (uint)get_local_id(0);
    volatile __local uint *mine = table + item % COPIES;
    __global const uchar *bytes = (__global const uchar *)x + call.x;
    const ulong head = min((ulong)(-(size_t)bytes & 15), call.n);
    const ulong vectors = (call.n - head) / 16;
    __global const uint4 *aligned = (__global const uint4 *)(bytes + head);

    edges += call.edges;
    for (uint i = item; i < 256 * COPIES; i += GROUP)
        table[i] = 0;
    /* Zero before it is counted in. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = get_global_id(0); i < vectors; i += get_global_size(0)) {
        const uint4 v = aligned[i];

        count_word(mine, v.x);
        count_word(mine, v.y);
        count_word(mine, v.z);
        count_word(mine, v.w);
    }
    if (get_group_id(0) == 0) {
        for (ulong i = item; i < head; i += GROUP)
            atomic_inc(&mine[bytes[i] * COPIES]);
        for (ulong i = head + vectors * 16 + item; i < call.n; i += GROUP)
            atomic_inc(&mine[bytes[i] * COPIES]);
    }
    /* Complete before it is read: other work-items counted this one's values. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint value = item; value < 256; value += GROUP) {
        const VALUE v = (VALUE)(ELEMENT)value;
        uint times = 0;

        for (uint c = 0; c < COPIES; c++)
            times += table[value * COPIES + c];
        if (times && is_inside(edges, call.bins, v))
            add_to_count(counts, call.counts + bin_of(edges, call.bins, v), times);
    }
}
