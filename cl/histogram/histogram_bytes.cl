/* Histogram: bytes, sixteen a load, counted by their value.
 *
 * Idea: a byte has 256 values, whatever the bins are.  A group counts each value,
 *     in a table that needs no look-up of a bin.  A work-item loads sixteen bytes at a
 *     time, which a register counts while all are equal; COPIES tables are side by
 *     side as in histogram_copies.  The last group adds up what all have
 *     left, and finds the bin of a value once; where no group can be the last one,
 *     each adds to the counts by atomics.
 * Work split: vectors in turns; the bytes before the first aligned vector and
 *     behind the last one by the first work-group.
 * Parameters: COPIES, a power of two; GROUP; ELEMENT, uchar or char, UNEVEN
 *     (histogram.clh); LAST_ADDS (last_group.clh); CLEARS, 1 where the last group
 *     sets the counts to 0; NEAR, edges that local memory has room for where all have,
 *     else 0.  PER_UNIT only decides the number of groups on the host.
 * Launch: 1-D, work-groups of GROUP, each for less than 2^32 elements; histogram_clear
 *     before it where CLEARS is 0 and counts are not added to.
 * Local memory: 256 * COPIES uints, a bin for each value, a sum for each work-item,
 *     and NEAR edges.
 * Limits: elements of 8 bits; any number of bins.
 */
#include "common/last_group.clh"
#include "histogram/histogram.clh"

#if !defined(COPIES) || !defined(CLEARS) || !defined(NEAR)
#error "COPIES, CLEARS, NEAR: tables of a work-group, a power of two, and see above"
#endif

/* Whether sixteen bytes have one value, as in sorted arrays and even areas of pictures: a register
 * counts them until another one comes, as atomic operations on one address wait for each other. */
static inline bool is_one_value(uint4 v)
{
    return v.x == v.y && v.x == v.z && v.x == v.w && v.x == (v.x & 255) * 0x01010101u;
}

/* The four bytes of a word. */
static inline void count_word(volatile __local uint *table, uint word)
{
    atomic_inc(&table[(word & 255) * COPIES]);
    atomic_inc(&table[(word >> 8 & 255) * COPIES]);
    atomic_inc(&table[(word >> 16 & 255) * COPIES]);
    atomic_inc(&table[(word >> 24) * COPIES]);
}

/* Bins have this number where a value is in none. */
#define NOWHERE ULONG_MAX

#if LAST_ADDS
/* Work-items that add up the counts of one value, each those of some groups. */
#define SHARES (GROUP > 256 ? GROUP / 256 : 1)

/* Loads of a work-item that are on their way at once. */
#define SUMMANDS 16

/* Add up what all groups have left of each value. */
static inline void add_up(__global const uint *left, uint groups, __local ulong *sums)
{
    for (uint i = (uint)get_local_id(0); i < 256 * SHARES; i += GROUP) {
        ulong sum = 0;

        for (uint g = i / 256; g < groups; g += SHARES * SUMMANDS) {
            uint next[SUMMANDS];

#pragma unroll
            for (uint k = 0; k < SUMMANDS; k++)
                next[k] = g + k * SHARES < groups ? left[(g + k * SHARES) * 256 + i % 256] : 0;
#pragma unroll
            for (uint k = 0; k < SUMMANDS; k++)
                sum += next[k];
        }
        sums[i] = sum;
    }
}
#endif

/* The bin of a value, whose edges are `near`, in local memory, where there are few of them. */
static inline ulong bin_of_value(__global const VALUE *edges, __local const VALUE *near, ulong bins,
                                 VALUE v)
{
#if NEAR
    uint bin = 0;

    if (!(v >= near[0] && v <= near[bins]))
        return NOWHERE;
    for (uint count = (uint)bins; count > 1;) {
        const uint part = count / 2;

        bin += near[bin + part] <= v ? part : 0;
        count -= part;
    }
    return bin;
#else
    return is_inside(edges, bins, v) ? bin_of(edges, bins, v) : NOWHERE;
#endif
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
histogram_bytes(__global const ELEMENT *restrict x, __global const VALUE *restrict edges,
                volatile __global uint *restrict counts,
#if LAST_ADDS
                __global uint *left, __global group_counter *done,
#endif
                const histogram_call call)
{
    volatile __local uint table[256 * COPIES];
    __local ulong bin[256];
    __local VALUE near[NEAR ? NEAR : 1];
    const uint item = (uint)get_local_id(0);
    volatile __local uint *mine = table + item % COPIES;
    __global const uchar *bytes = (__global const uchar *)x + call.x;
    const ulong head = min((ulong)(-(size_t)bytes & 15), call.n);
    const ulong vectors = (call.n - head) / 16;
    __global const uint4 *aligned = (__global const uint4 *)(bytes + head);
    ulong i = get_global_id(0);
    uint4 v = (uint4)(0);
    uint run = 0, length = 0; /* a value that is counted in a register, and how often it came */
#if LAST_ADDS
    __local ulong sums[256 * SHARES];
    __local uint last;
    const uint groups = (uint)get_num_groups(0);
#endif

    edges += call.edges;
    if (i < vectors)
        v = aligned[i];
    for (uint e = item; NEAR && e <= call.bins; e += GROUP)
        near[e] = edges[e];
    for (uint t = item; t < 256 * COPIES; t += GROUP)
        table[t] = 0;
    /* Zero before it is counted in; edges are there before they are searched. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint value = item; value < 256; value += GROUP)
        bin[value] = bin_of_value(edges, near, call.bins, (VALUE)(ELEMENT)value);
    /* A vector is on its way while the one before it is counted. */
    for (; i < vectors; i += get_global_size(0)) {
        const uint4 now = v;

        if (i + get_global_size(0) < vectors)
            v = aligned[i + get_global_size(0)];
        if (is_one_value(now)) {
            if (run != (now.x & 255)) {
                atomic_add(&mine[run * COPIES], length);
                run = now.x & 255;
                length = 0;
            }
            length += 16;
        } else {
            count_word(mine, now.x);
            count_word(mine, now.y);
            count_word(mine, now.z);
            count_word(mine, now.w);
        }
    }
    atomic_add(&mine[run * COPIES], length);
    if (get_group_id(0) == 0) {
        for (ulong k = item; k < head; k += GROUP)
            atomic_inc(&mine[bytes[k] * COPIES]);
        for (ulong k = head + vectors * 16 + item; k < call.n; k += GROUP)
            atomic_inc(&mine[bytes[k] * COPIES]);
    }
    /* Complete before it is read: other work-items counted this one's values. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint value = item; value < 256; value += GROUP) {
        uint times = 0;

        /* From its own copy on, so that neighbours are at different banks. */
        for (uint c = 0; c < COPIES; c++)
            times += table[value * COPIES + (item + c) % COPIES];
#if LAST_ADDS
        left[get_group_id(0) * 256 + value] = times;
#else
        if (times && bin[value] != NOWHERE)
            add_to_count(counts, call.counts + bin[value], times);
#endif
    }
#if LAST_ADDS
    if (groups > 1 && !is_last_group(done, groups, &last))
        return;
#if CLEARS
    for (ulong k = item; k < 2 * call.bins; k += GROUP)
        counts[2 * call.counts + k] = 0;
#endif
    /* A group alone wrote just now what it reads. */
    barrier(CLK_GLOBAL_MEM_FENCE);
    add_up(left, groups, sums);
    /* Complete before it is read; and counts are 0 before they are added to. */
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (uint value = item; value < 256; value += GROUP) {
        ulong times = 0;

        for (uint s = 0; s < SHARES; s++)
            times += sums[s * 256 + value];
        if (times && bin[value] != NOWHERE)
            add_to_count(counts, call.counts + bin[value], times);
    }
#endif
}
