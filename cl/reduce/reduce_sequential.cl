/* Reduction: a tree in local memory whose first half combines with its second.
 *
 * Idea: the same tree as in reduce_interleaved.cl with other pairs: item i
 *     combines value i with that half a group further on.
 *
 *         0   1   2   3   4   5   6   7
 *         0 - 4   1 - 5   2 - 6   3 - 7      reach 4
 *         0 - 2   1 - 3                      reach 2
 *         0 - 1                              reach 1
 *
 *     The items at work are the first ones: whole warps work or are done, and
 *     they read values that follow one another.
 * Work split: a work-item takes one element; a work-group leaves one value.
 * Parameters: BY, GROUP (reduce.clh).
 * Launch: as reduce_interleaved.
 * Local memory: GROUP floats.
 * Limits: float32; indexes in 64 bits.
 *
 * Mark Harris, "Optimizing Parallel Reduction in CUDA", 2007: kernel 3.
 */
#include "reduce/reduce.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce_sequential(__global const float *restrict x, __global float *restrict result,
                  const reduce_call call)
{
    __local float shared[GROUP];
    const uint item = (uint)get_local_id(0);
    const ulong i = get_global_id(0);

    shared[item] = i < call.n ? x[call.from + i] : IDENTITY;
    for (uint reach = GROUP / 2; reach > 0; reach /= 2) {
        /* Written before read: the other value comes from another work-item. */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < reach)
            shared[item] = combine(shared[item], shared[item + reach]);
    }
    if (item == 0)
        result[call.to + get_group_id(0)] = shared[0];
}
