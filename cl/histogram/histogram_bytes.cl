/* Histogram: bytes, sixteen a load, counted by their value.
 *
 * Idea: a byte has 256 values, whatever the bins are.  A group counts each value,
 *     in a table that needs no look-up of a bin.  A work-item loads sixteen bytes at a
 *     time, which a register counts while all are equal; COPIES tables are side by
 *     side as in histogram_copies.  Groups add up what they have of each value by
 *     atomics, one for a group and value, and the last group finds the bins; where no
 *     group can be the last one, each adds to the counts by itself.
 * Work split: vectors in turns; the bytes before the first aligned vector and
 *     behind the last one by the first work-group.
 * Parameters: COPIES, a power of two; LOADS, vectors that a work-item has in flight;
 *     GROUP; ELEMENT, uchar or char, UNEVEN (histogram.clh); LAST_ADDS (last_group.clh);
 *     CLEARS, 1 where the last group has no counts to add to; ALONE, 1 where there is one
 *     group; NEAR, bins and edges that local memory has room for where all have, else 0.
 *     PER_UNIT only decides the number of groups on the host.
 * Launch: 1-D, work-groups of GROUP, each for less than 2^32 elements, where LAST_ADDS all
 *     of them; histogram_clear before it where CLEARS is 0 and counts are not added to.
 * Local memory: 256 * COPIES uints, a bin for each value, and NEAR edges and counts.
 * Limits: elements of 8 bits; any number of bins.
 */
#include "common/count_bytes.clh"
#include "common/last_group.clh"
#include "histogram/histogram.clh"

#if !defined(COPIES) || !defined(LOADS) || !defined(CLEARS) || !defined(ALONE) || !defined(NEAR)
#error "COPIES, LOADS, CLEARS, ALONE, NEAR: tables of a work-group, a power of two, and see above"
#endif

/* Whether sixteen bytes have one value, as in sorted arrays and even areas of pictures: a register
 * counts them until another one comes, as atomic operations on one address wait for each other. */
static inline bool is_one_value(uint4 v)
{
    return v.x == v.y && v.x == v.z && v.x == v.w && v.x == (v.x & 255) * 0x01010101u;
}

/* How often a group has a value: the sum of its copies, by a work-item that begins with its own, so
 * that neighbours are at different banks. */
static inline uint count_of(__local const uint *table, uint value, uint item)
{
#if COPIES % 4 == 0
    __local const uint4 *fours = (__local const uint4 *)(table + value * COPIES);
    uint4 sum = (uint4)(0);

#pragma unroll
    for (uint c = 0; c < COPIES / 4; c++)
        sum += fours[(item + c) % (COPIES / 4)];
    return sum.x + sum.y + sum.z + sum.w;
#else
    uint sum = 0;

    for (uint c = 0; c < COPIES; c++)
        sum += table[value * COPIES + (item + c) % COPIES];
    return sum;
#endif
}

/* Bins have this number where a value is in none. */
#define NOWHERE ULONG_MAX

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
                __global group_counter *done,
#endif
                const histogram_call call)
{
    __local uint4 fours[256 * COPIES / 4];
    __local VALUE near[NEAR ? NEAR : 1];
    const uint item = (uint)get_local_id(0);
    __local uint *table = (__local uint *)fours;
    volatile __local uint *mine = table + item % COPIES;
    __global const uchar *bytes = (__global const uchar *)x + call.x;
    const ulong head = min((ulong)(-(size_t)bytes & 15), call.n);
    const ulong vectors = (call.n - head) / 16, stride = get_global_size(0);
    __global const uint4 *aligned = (__global const uint4 *)(bytes + head);
    ulong i = get_global_id(0);
    uint4 next[LOADS];
    uint run = 0, length = 0; /* a value that is counted in a register, and how often it came */
#if LAST_ADDS
    __local ulong bin[256];
    __local uint near_counts[NEAR ? NEAR : 1];
    __local uint last;
    const uint groups = (uint)get_num_groups(0);
    __global group_counter *sums = done + 1;
#endif

    edges += call.edges;
#pragma unroll
    for (uint l = 0; l < LOADS; l++)
        if (i + l * stride < vectors)
            next[l] = aligned[i + l * stride];
    for (uint e = item; NEAR && e <= call.bins; e += GROUP)
        near[e] = edges[e];
    for (uint t = item; t < 256 * COPIES / 4; t += GROUP)
        fours[t] = (uint4)(0);
#if LAST_ADDS
    for (uint k = item; NEAR && k < call.bins; k += GROUP)
        near_counts[k] = 0;
#endif
    /* Zero before it is counted in; edges are there before they are searched. */
    barrier(CLK_LOCAL_MEM_FENCE);
    while (i < vectors) {
        uint4 now[LOADS];
        const ulong begin = i;

        /* Vectors are on their way while those before them are counted. */
        i += LOADS * stride;
#pragma unroll
        for (uint l = 0; l < LOADS; l++) {
            now[l] = next[l];
            if (i + l * stride < vectors)
                next[l] = aligned[i + l * stride];
        }
#pragma unroll
        for (uint l = 0; l < LOADS; l++) {
            if (l > 0 && begin + l * stride >= vectors)
                break;
            if (is_one_value(now[l])) {
                if (run != (now[l].x & 255)) {
                    atomic_add(&mine[run * COPIES], length);
                    run = now[l].x & 255;
                    length = 0;
                }
                length += 16;
            } else {
                count_word(mine, now[l].x);
                count_word(mine, now[l].y);
                count_word(mine, now[l].z);
                count_word(mine, now[l].w);
            }
        }
    }
    if (length)
        atomic_add(&mine[run * COPIES], length);
    if (get_group_id(0) == 0) {
        for (ulong k = item; k < head; k += GROUP)
            atomic_inc(&mine[bytes[k] * COPIES]);
        for (ulong k = head + vectors * 16 + item; k < call.n; k += GROUP)
            atomic_inc(&mine[bytes[k] * COPIES]);
    }
    /* Complete before it is read: other work-items counted this one's values. */
    barrier(CLK_LOCAL_MEM_FENCE);
#if LAST_ADDS
    for (uint value = item; !ALONE && value < 256; value += GROUP) {
        const uint times = count_of(table, value, item);

        if (times)
            add_to_counter(sums + value, times);
    }
    /* Found while these additions are on their way. */
    for (uint value = item; value < 256; value += GROUP)
        bin[value] = bin_of_value(edges, near, call.bins, (VALUE)(ELEMENT)value);
    /* Not by the number of groups: PoCL 3.1 gets barriers wrong below a condition. */
    if (!ALONE && !is_last_group(done, groups, &last))
        return;
    /* Of no need to the language: without it PoCL loses what follows, some of the time. */
    barrier(CLK_LOCAL_MEM_FENCE);
#if !NEAR && CLEARS
    for (ulong k = item; k < 2 * call.bins; k += GROUP)
        counts[2 * call.counts + k] = 0;
    /* 0 before they are added to. */
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
    for (uint value = item; value < 256; value += GROUP) {
        const uint times = !ALONE ? take_counter(sums + value) : count_of(table, value, item);

        if (times == 0 || bin[value] == NOWHERE)
            continue;
#if NEAR
        atomic_add((volatile __local uint *)&near_counts[bin[value]], times);
#else
        add_to_count(counts, call.counts + bin[value], times);
#endif
    }
#if NEAR
    /* Complete before they are stored. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = item; k < call.bins; k += GROUP) {
        __global ulong *count = (__global ulong *)counts + call.counts + k;

        *count = CLEARS ? near_counts[k] : *count + near_counts[k];
    }
#endif
#else
    for (uint value = item; value < 256; value += GROUP) {
        const uint times = count_of(table, value, item);
        const ulong at = bin_of_value(edges, near, call.bins, (VALUE)(ELEMENT)value);

        if (times && at != NOWHERE)
            add_to_count(counts, call.counts + at, times);
    }
#endif
}
