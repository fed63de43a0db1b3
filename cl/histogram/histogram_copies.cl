/* Histogram: several tables in a work-group, against contention.
 *
 * Idea: where many elements fall into one bin, the work-items of a group queue up
 *     at one word of its table.  Here neighbours count in different copies of the
 *     table, so that up to COPIES of them do not meet.  The copies of a bin lie
 *     side by side: neighbours that hit one bin then use different banks of local
 *     memory, too.  Several elements of a work-item are in flight at once.  Groups
 *     add up by atomics, and the last one stores the counts where one can be the last,
 *     else each adds to them by itself.
 * Work split: as histogram_local, LOADS elements at once; work-item i counts in copy i
 *     modulo COPIES.
 * Parameters: COPIES, a power of two; LOADS; GROUP; ELEMENT, STORED, VALUE, UNEVEN
 *     (histogram.clh); LAST_ADDS (last_group.clh); CLEARS, 1 where the last group has no
 *     counts to add to; ALONE, 1 where there is one group.  PER_UNIT only decides the
 *     number of groups on the host.
 * Launch: 1-D, work-groups of GROUP, each for less than 2^32 elements, where LAST_ADDS all
 *     of them; histogram_clear before it where there is no last group and counts are not
 *     added to.
 * Local memory: COPIES uints for each bin, and one more.
 * Limits: bins whose copies local memory holds.
 */
#include "common/last_group.clh"
#include "histogram/histogram.clh"

#if !defined(COPIES) || !defined(LOADS) || !defined(CLEARS) || !defined(ALONE)
#error "COPIES, LOADS, CLEARS, ALONE: tables of a work-group, a power of two, and see above"
#endif

/* Count LOADS values, `copy` of the tables. */
static inline void count_values(volatile __local uint *table, uint copy,
                                __global const VALUE *edges, ulong bins, const VALUE v[LOADS])
{
#pragma unroll
    for (uint l = 0; l < LOADS; l++)
        if (is_inside(edges, bins, v[l]))
            atomic_inc(&table[bin_of(edges, bins, v[l]) * COPIES + copy]);
}

/* What all copies have of a bin. */
static inline uint count_of(volatile __local const uint *table, ulong bin)
{
    uint times = 0;

#pragma unroll
    for (uint c = 0; c < COPIES; c++)
        times += table[bin * COPIES + c];
    return times;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
histogram_copies(__global const ELEMENT *restrict x, __global const VALUE *restrict edges,
                 volatile __global uint *restrict counts,
#if LAST_ADDS
                 __global group_counter *done,
#endif
                 const histogram_call call, volatile __local uint *restrict table)
{
    const uint item = (uint)get_local_id(0), copy = item % COPIES;
    const ulong stride = get_global_size(0);
    ulong i = get_global_id(0);
    VALUE v[LOADS];
#if LAST_ADDS
    __local uint last;
    const uint groups = (uint)get_num_groups(0);
    __global group_counter *all = done + 1;
#endif

    edges += call.edges;
    x += call.x;
    for (ulong k = item; k < call.bins * COPIES; k += GROUP)
        table[k] = 0;
    /* Zero before it is counted in. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (; i + (LOADS - 1) * stride < call.n; i += LOADS * stride) {
#pragma unroll
        for (uint l = 0; l < LOADS; l++)
            v[l] = load_value(x, i + l * stride);
        count_values(table, copy, edges, call.bins, v);
    }
    if (i < call.n) {
        /* NaN is in no bin. */
#pragma unroll
        for (uint l = 0; l < LOADS; l++)
            v[l] = i + l * stride < call.n ? load_value(x, i + l * stride) : (VALUE)NAN;
        count_values(table, copy, edges, call.bins, v);
    }
    /* Complete before it is read: other work-items counted in this one's bins. */
    barrier(CLK_LOCAL_MEM_FENCE);
#if LAST_ADDS
    for (ulong bin = item; !ALONE && bin < call.bins; bin += GROUP) {
        const uint times = count_of(table, bin);

        if (times)
            add_to_counter(all + bin, times);
    }
    /* Not by the number of groups: PoCL 3.1 gets barriers wrong below a condition. */
    if (!ALONE && !is_last_group(done, groups, &last))
        return;
    for (ulong bin = item; bin < call.bins; bin += GROUP) {
        __global ulong *count = (__global ulong *)counts + call.counts + bin;
        const uint times = !ALONE ? take_counter(all + bin) : count_of(table, bin);

        *count = CLEARS ? times : *count + times;
    }
#else
    for (ulong bin = item; bin < call.bins; bin += GROUP) {
        const uint times = count_of(table, bin);

        if (times)
            add_to_count(counts, call.counts + bin, times);
    }
#endif
}
