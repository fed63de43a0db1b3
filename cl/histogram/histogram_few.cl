/* Histogram: few bins, whose counts each work-item has in registers.
 *
 * Idea: a work-item that has a count of its own for every bin needs no atomic and
 *     waits for nobody, whatever the elements are.  A register has no address, so
 *     that none is picked by the bin: every count gets the result of a comparison
 *     added, 0 or 1.  That is BINS comparisons an element, against the edges
 *     themselves, and no bin has to be looked up.  In the end the work-items of a
 *     group add up in local memory.
 * Work split: work-items take turns over the array.
 * Parameters: BINS; GROUP; ELEMENT, STORED, VALUE (histogram.clh).  PER_UNIT only
 *     decides the number of groups on the host.
 * Launch: 1-D, work-groups of GROUP, each for less than 2^32 elements; histogram_clear
 *     before it.
 * Local memory: a uint for each bin.
 * Limits: BINS bins, at most 16.
 */
#include "histogram/histogram.clh"

#ifndef BINS
#error "BINS: the number of bins"
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
histogram_few(__global const ELEMENT *restrict x, __global const VALUE *restrict edges,
              volatile __global uint *restrict counts, const histogram_call call)
{
    volatile __local uint table[BINS];
    const uint item = (uint)get_local_id(0);
    VALUE edge[BINS + 1];
    uint times[BINS];

#pragma unroll
    for (uint b = 0; b <= BINS; b++)
        edge[b] = edges[call.edges + b];
#pragma unroll
    for (uint b = 0; b < BINS; b++)
        times[b] = 0;
    for (uint b = item; b < BINS; b += GROUP)
        table[b] = 0;
    for (ulong i = get_global_id(0); i < call.n; i += get_global_size(0)) {
        const VALUE v = load_value(x, call.x + i);

#pragma unroll
        for (uint b = 0; b + 1 < BINS; b++)
            times[b] += v >= edge[b] && v < edge[b + 1];
        times[BINS - 1] += v >= edge[BINS - 1] && v <= edge[BINS];
    }
    /* Zero before it is added to. */
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint b = 0; b < BINS; b++)
        atomic_add(&table[b], times[b]);
    /* Complete before it is read. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = item; b < BINS; b += GROUP)
        add_to_count(counts, call.counts + b, table[b]);
}
