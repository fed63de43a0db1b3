/* Reduction: a tree in local memory whose pairs are neighbours.
 *
 * Idea: in each round half of the values are left.  Item 0 combines values 0 and
 *     1, item 2 those of 2 and 3; then item 0 values 0 and 2, item 4 those of 4
 *     and 6:
 *
 *         0   1   2   3   4   5   6   7
 *         0 - 1   2 - 3   4 - 5   6 - 7      stride 1
 *         0 ----- 2       4 ----- 6          stride 2
 *         0 ------------- 4                  stride 4
 *
 *     No atomic operations, but the items at work are spread over the group: a
 *     warp runs as long as one of its work-items does, and strides that are
 *     powers of 2 meet in few banks of local memory.
 * Work split: a work-item takes one element; a work-group leaves one value.
 * Parameters: BY, GROUP (reduce.clh).
 * Launch: 1-D, work-groups of GROUP, a work-item an element; and again over what
 *     the groups leave, until one value is left.
 * Local memory: GROUP floats.
 * Limits: float32; indexes in 64 bits.
 *
 * Mark Harris, "Optimizing Parallel Reduction in CUDA", 2007: kernels 1 and 2.
 */
#include "reduce/reduce.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce_interleaved(__global const float *restrict x, __global float *restrict result,
                   const reduce_call call)
{
    __local float shared[GROUP];
    const uint item = (uint)get_local_id(0);
    const ulong i = get_global_id(0);

    shared[item] = i < call.n ? x[call.from + i] : IDENTITY;
    for (uint stride = 1; stride < GROUP; stride *= 2) {
        /* Written before read: the other value comes from another work-item. */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item % (2 * stride) == 0)
            shared[item] = combine(shared[item], shared[item + stride]);
    }
    if (item == 0)
        result[call.to + get_group_id(0)] = shared[0];
}
