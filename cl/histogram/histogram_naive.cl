/* Histogram: a work-item an element, and the counts in global memory.
 *
 * Idea: a work-item loads its element, finds its bin and increments that bin's
 *     count.  Others increment the same count at the same time, so that it takes
 *     an atomic: two that each read 7 and write 8 would lose one.  All elements
 *     of one bin queue up at one address: the fewer bins are hit, the slower.
 * Work split: one element a work-item.
 * Parameters: GROUP; ELEMENT, STORED, VALUE, UNEVEN (histogram.clh).
 * Launch: 1-D, work-groups of GROUP; histogram_clear before it.
 * Local memory: none.
 * Limits: any type and any number of bins.
 */
#include "histogram/histogram.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
histogram_naive(__global const ELEMENT *restrict x, __global const VALUE *restrict edges,
                volatile __global uint *restrict counts, const histogram_call call)
{
    const ulong i = get_global_id(0);

    edges += call.edges;
    if (i < call.n) {
        const VALUE v = load_value(x, call.x + i);

        if (is_inside(edges, call.bins, v))
            add_to_count(counts, call.counts + bin_of(edges, call.bins, v), 1);
    }
}
