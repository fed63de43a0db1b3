/* Histogram: sums of weights, in tables of each work-item's own.
 *
 * Idea: where work-items add floats to one sum as they come, its last bits differ
 *     from run to run.  Here each has a table of its own in local memory, and adds
 *     to it without atomics and without waiting for another, in the order of the
 *     array.  The tables of a group are then added up in a fixed order, and those of
 *     the groups by a second launch: the same call has the same bits every time.
 *     The sums of one bin lie side by side, so that the work-items of a group use
 *     different banks of local memory, whatever bins they are at.
 * Work split: a group takes a stretch of the array, whose elements its work-items
 *     take in turns, and as many bins as its tables hold, a slice: neighbouring groups
 *     look at the same elements for other bins.
 * Parameters: GROUP; ELEMENT, STORED, VALUE, UNEVEN, WEIGHTS (histogram.clh).  PER_UNIT
 *     and TABLE only decide the number of groups and of bins on the host.
 * Launch: 1-D, work-groups of GROUP: histogram_own, one for each stretch and slice;
 *     histogram_add_up, any number of them.
 * Local memory: a sum for each bin of a slice and work-item.
 * Limits: any type of elements, weights, and number of bins; a pass over the array for
 *     each slice.
 */
#include "histogram/histogram.clh"

#if WEIGHTS == 1
#define SUM float
#elif WEIGHTS == 2
#define SUM double
#elif WEIGHTS == 3
#define SUM ulong
#else
#error "WEIGHTS: sums of float32 1, float64 2, int64 3"
#endif

/* A call, as one argument; the host's own_call has the same members. */
typedef struct own_call {
    histogram_call all;
    ulong stretch;   /* elements of a group */
    ulong stretches; /* groups that share them */
    ulong slice;     /* bins of a table, */
    ulong slices;    /* and how many tables have all bins */
    ulong add;       /* 1: to the sums that are there, else 0 */
} own_call;

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
histogram_own(__global const ELEMENT *restrict x, __global const VALUE *restrict edges,
              __global const SUM *restrict weights, __global SUM *restrict partial,
              const own_call call, __local SUM *restrict table)
{
    const uint item = (uint)get_local_id(0);
    const ulong bins = call.all.bins;
    const ulong stretch = get_group_id(0) / call.slices;
    const ulong begin = stretch * call.stretch;
    const ulong end = min(begin + call.stretch, call.all.n);
    const ulong first = get_group_id(0) % call.slices * call.slice;
    const ulong here = min(call.slice, bins - first);

    edges += call.all.edges;
    for (ulong b = 0; b < here; b++)
        table[b * GROUP + item] = 0;
    for (ulong i = begin + item; i < end; i += GROUP) {
        const VALUE v = load_value(x, call.all.x + i);

        if (is_inside(edges, bins, v)) {
            const ulong bin = bin_of(edges, bins, v) - first; /* wraps below the first */

            if (bin < here)
                table[bin * GROUP + item] += weights[call.all.weights + i];
        }
    }
    /* Complete before they are read: each work-item adds up the sums that all have of a bin. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong b = item; b < here; b += GROUP) {
        SUM sum = 0;

        /* From its own on, so that neighbours are at different banks. */
        for (uint k = 0; k < GROUP; k++)
            sum += table[b * GROUP + (item + k) % GROUP];
        partial[stretch * bins + first + b] = sum;
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
histogram_add_up(__global SUM *restrict sums, __global const SUM *restrict partial,
                 const own_call call)
{
    for (ulong bin = get_global_id(0); bin < call.all.bins; bin += get_global_size(0)) {
        SUM sum = call.add ? sums[call.all.counts + bin] : 0;

        for (ulong s = 0; s < call.stretches; s++)
            sum += partial[s * call.all.bins + bin];
        sums[call.all.counts + bin] = sum;
    }
}
