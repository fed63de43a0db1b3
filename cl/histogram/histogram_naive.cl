/* Histogram: a work-item an element, and the counts in global memory.
 *
 * Idea: a work-item loads its element, finds its bin and increments that bin's
 *     count.  Others increment the same count at the same time, so that it takes
 *     an atomic: two that each read 7 and write 8 would lose one.  All elements
 *     of one bin queue up at one address: the fewer bins are hit, the slower.
 *     Weights are added in place of 1.  There is no atomic addition of floats: a
 *     work-item computes the sum and exchanges it for the one that it saw, which
 *     fails, and is tried again, where another one was faster.  So floats are
 *     added in any order, and their last bits differ from run to run.
 * Work split: one element a work-item.
 * Parameters: GROUP; ELEMENT, STORED, VALUE, UNEVEN, WEIGHTS (histogram.clh).
 * Launch: 1-D, work-groups of GROUP; histogram_clear before it.
 * Local memory: none.
 * Limits: any type and any number of bins; no weights of float64, which take atomics of
 *     64 bits.
 */
#include "histogram/histogram.clh"

#if WEIGHTS == 1
#define WEIGHT float

static inline void add_weight(volatile __global uint *sums, ulong bin, float weight)
{
    uint is = 0, before; /* 0 is a guess: the first exchange says what is there */

    do {
        before = is;
        is = atomic_cmpxchg(&sums[bin], before, as_uint(as_float(before) + weight));
    } while (is != before);
}
#elif WEIGHTS == 3
#define WEIGHT ulong

static inline void add_weight(volatile __global uint *sums, ulong bin, ulong weight)
{
    const uint low = (uint)weight, before = atomic_add(&sums[2 * bin + LOWER], low);
    const uint high = (uint)(weight >> 32) + (before + low < before);

    if (high)
        atomic_add(&sums[2 * bin + UPPER], high);
}
#elif WEIGHTS
#error "WEIGHTS: none, or float32 or int64"
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
histogram_naive(__global const ELEMENT *restrict x, __global const VALUE *restrict edges,
                volatile __global uint *restrict counts,
#if WEIGHTS
                __global const WEIGHT *restrict weights,
#endif
                const histogram_call call)
{
    const ulong i = get_global_id(0);

    edges += call.edges;
    if (i < call.n) {
        const VALUE v = load_value(x, call.x + i);

        if (is_inside(edges, call.bins, v))
#if WEIGHTS
            add_weight(counts, call.counts + bin_of(edges, call.bins, v),
                       weights[call.weights + i]);
#else
            add_to_count(counts, call.counts + bin_of(edges, call.bins, v), 1);
#endif
    }
}
