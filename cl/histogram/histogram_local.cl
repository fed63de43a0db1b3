/* Histogram: each work-group counts in a table of its own in local memory.
 *
 * Idea: atomics in local memory are faster than in global memory, and only the
 *     work-items of one group meet there.  Once the group is through with its
 *     share, it adds its table to the counts in global memory: one atomic a bin
 *     and group, no longer one an element.
 * Work split: work-items take turns over the array, so that neighbours read
 *     neighbours.
 * Parameters: GROUP; ELEMENT, STORED, VALUE, UNEVEN (histogram.clh).  PER_UNIT only
 *     decides the number of groups on the host.
 * Launch: 1-D, work-groups of GROUP, each for less than 2^32 elements; histogram_clear
 *     before it.
 * Local memory: a uint for each bin.
 * Limits: bins that local memory holds.
 */
#include "histogram/histogram.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
histogram_local(__global const ELEMENT *restrict x, __global const VALUE *restrict edges,
                volatile __global uint *restrict counts, const histogram_call call,
                volatile __local uint *restrict table)
{
    const uint item = (uint)get_local_id(0);

    edges += call.edges;
    for (ulong bin = item; bin < call.bins; bin += GROUP)
        table[bin] = 0;
    /* Zero before it is counted in. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = get_global_id(0); i < call.n; i += get_global_size(0)) {
        const VALUE v = load_value(x, call.x + i);

        if (is_inside(edges, call.bins, v))
            atomic_inc(&table[bin_of(edges, call.bins, v)]);
    }
    /* Complete before it is read: other work-items counted in this one's bins. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong bin = item; bin < call.bins; bin += GROUP)
        if (table[bin])
            add_to_count(counts, call.counts + bin, table[bin]);
}
