/* Histogram: several tables in a work-group, against contention.
 *
 * Idea: where many elements fall into one bin, the work-items of a group queue up
 *     at one word of its table.  Here neighbours count in different copies of the
 *     table, so that up to COPIES of them do not meet.  The copies of a bin lie
 *     side by side: neighbours that hit one bin then use different banks of local
 *     memory, too.
 * Work split: as histogram_local; work-item i counts in copy i modulo COPIES.
 * Parameters: COPIES, a power of two; GROUP; ELEMENT, STORED, VALUE, UNEVEN
 *     (histogram.clh).  PER_UNIT only decides the number of groups on the host.
 * Launch: 1-D, work-groups of GROUP, each for less than 2^32 elements; histogram_clear
 *     before it.
 * Local memory: COPIES uints for each bin.
 * Limits: bins whose copies local memory holds.
 */
#include "histogram/histogram.clh"

#ifndef COPIES
#error "COPIES: tables of a work-group, a power of two"
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
histogram_copies(__global const ELEMENT *restrict x, __global const VALUE *restrict edges,
                 volatile __global uint *restrict counts, const histogram_call call,
                 volatile __local uint *restrict table)
{
    const uint item = (uint)get_local_id(0), copy = item % COPIES;

    edges += call.edges;
    for (ulong i = item; i < call.bins * COPIES; i += GROUP)
        table[i] = 0;
    /* Zero before it is counted in. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = get_global_id(0); i < call.n; i += get_global_size(0)) {
        const VALUE v = load_value(x, call.x + i);

        if (is_inside(edges, call.bins, v))
            atomic_inc(&table[bin_of(edges, call.bins, v) * COPIES + copy]);
    }
    /* Complete before it is read: other work-items counted in this one's bins. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong bin = item; bin < call.bins; bin += GROUP) {
        uint times = 0;

        for (uint c = 0; c < COPIES; c++)
            times += table[bin * COPIES + c];
        if (times)
            add_to_count(counts, call.counts + bin, times);
    }
}
