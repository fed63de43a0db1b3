/* Histogram: few bins, whose counts each work-item has in registers.
 *
 * Idea: a work-item that has a count of its own for every bin needs no atomic and
 *     waits for nobody, whatever the elements are.  A register has no address, so
 *     that none is picked by the bin: an element is compared with every edge, and
 *     counts at each that it is not below.  Those of two neighbouring edges differ by
 *     what is in the bin between them: that is BINS + 1 comparisons an element, and no
 *     bin has to be looked up.  In the end the work-items of a group add up in local
 *     memory, and groups by atomics; the last group stores the counts where one can be
 *     the last, else each adds to them by itself.
 * Work split: work-items take turns over the array, LOADS elements at once.
 * Parameters: BINS; LOADS; LANES, work-items that add up a bin, a power of two; GROUP;
 *     ELEMENT, STORED, VALUE (histogram.clh); LAST_ADDS (last_group.clh); CLEARS, 1
 *     where the last group has no counts to add to; ALONE, 1 where there is one group.
 *     PER_UNIT only decides the number of groups on the host.
 * Launch: 1-D, work-groups of GROUP, each for less than 2^32 elements, where LAST_ADDS all
 *     of them; histogram_clear before it where there is no last group and counts are not
 *     added to.
 * Local memory: a uint for each bin and work-item, and LANES more for each bin, twice.
 * Limits: BINS bins, at most 16.
 */
#include "common/last_group.clh"
#include "histogram/histogram.clh"

#if !defined(BINS) || !defined(LOADS) || !defined(LANES) || !defined(CLEARS) || !defined(ALONE)
#error "BINS, LOADS, LANES, CLEARS, ALONE: see above"
#endif

/* Counts of a bin lie side by side; those of the next one start at other banks. */
#define PITCH (GROUP + LANES)

/* Count LOADS values at each edge that they are not below, at the last one those above it. */
static inline void count_values(uint from[BINS + 1], const VALUE edge[BINS + 1],
                                const VALUE v[LOADS])
{
#pragma unroll
    for (uint l = 0; l < LOADS; l++) {
#pragma unroll
        for (uint b = 0; b < BINS; b++)
            from[b] += v[l] >= edge[b];
        from[BINS] += v[l] > edge[BINS];
    }
}

/* The sum of `count` numbers, `step` apart. */
static inline uint sum_of(__local const uint *numbers, uint count, uint step)
{
    uint sum = 0;

#pragma unroll 4
    for (uint k = 0; k < count; k++)
        sum += numbers[k * step];
    return sum;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
histogram_few(__global const ELEMENT *restrict x, __global const VALUE *restrict edges,
              volatile __global uint *restrict counts,
#if LAST_ADDS
              __global group_counter *done,
#endif
              const histogram_call call)
{
    __local uint table[BINS * PITCH], sums[BINS * LANES];
    const uint item = (uint)get_local_id(0);
    const ulong stride = get_global_size(0);
    ulong i = get_global_id(0);
    VALUE edge[BINS + 1], v[LOADS];
    uint from[BINS + 1];
#if LAST_ADDS
    __local uint last;
    const uint groups = (uint)get_num_groups(0);
    __global group_counter *all = done + 1;
#endif

#pragma unroll
    for (uint b = 0; b <= BINS; b++) {
        edge[b] = edges[call.edges + b];
        from[b] = 0;
    }
    x += call.x;
    for (; i + (LOADS - 1) * stride < call.n; i += LOADS * stride) {
#pragma unroll
        for (uint l = 0; l < LOADS; l++)
            v[l] = load_value(x, i + l * stride);
        count_values(from, edge, v);
    }
    if (i < call.n) {
        /* NaN counts at no edge. */
#pragma unroll
        for (uint l = 0; l < LOADS; l++)
            v[l] = i + l * stride < call.n ? load_value(x, i + l * stride) : (VALUE)NAN;
        count_values(from, edge, v);
    }
#pragma unroll
    for (uint b = 0; b < BINS; b++)
        table[b * PITCH + item] = from[b] - from[b + 1];
    /* Complete before they are added up, LANES sums a bin, ... */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = item; k < BINS * LANES; k += GROUP)
        sums[k] = sum_of(table + k / LANES * PITCH + k % LANES, GROUP / LANES, LANES);
    /* ... and these before theirs are. */
    barrier(CLK_LOCAL_MEM_FENCE);
#if LAST_ADDS
    for (uint b = item; !ALONE && b < BINS; b += GROUP)
        add_to_counter(all + b, sum_of(sums + b * LANES, LANES, 1));
    /* Not by the number of groups: PoCL 3.1 gets barriers wrong below a condition. */
    if (!ALONE && !is_last_group(done, groups, &last))
        return;
    for (uint b = item; b < BINS; b += GROUP) {
        __global ulong *count = (__global ulong *)counts + call.counts + b;
        const uint times = !ALONE ? take_counter(all + b) : sum_of(sums + b * LANES, LANES, 1);

        *count = CLEARS ? times : *count + times;
    }
#else
    for (uint b = item; b < BINS; b += GROUP)
        add_to_count(counts, call.counts + b, sum_of(sums + b * LANES, LANES, 1));
#endif
}
