/* Reduction: the first round of the tree happens as elements are loaded.
 *
 * Idea: in reduce_sequential.cl half of the work-items load an element and do
 *     nothing else.  Here each loads two and combines them, so that as many
 *     elements take half the work-groups, and every item is at work before the
 *     first barrier.
 * Work split: a work-item takes two elements, GROUP apart; a work-group leaves
 *     one value of 2 * GROUP.
 * Parameters: BY, GROUP (reduce.clh).
 * Launch: 1-D, work-groups of GROUP, a work-item for each two elements; and again
 *     over what the groups leave, until one value is left.
 * Local memory: GROUP floats.
 * Limits: float32; indexes in 64 bits.
 *
 * Mark Harris, "Optimizing Parallel Reduction in CUDA", 2007: kernel 4.
 */
#include "reduce/reduce.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce_first_add(__global const float *restrict x, __global float *restrict result,
                 const reduce_call call)
{
    __local float shared[GROUP];
    const uint item = (uint)get_local_id(0);
    const ulong i = get_group_id(0) * (ulong)(2 * GROUP) + item;
    const float first = i < call.n ? x[call.from + i] : IDENTITY;
    const float second = i + GROUP < call.n ? x[call.from + i + GROUP] : IDENTITY;

    shared[item] = combine(first, second);
    for (uint reach = GROUP / 2; reach > 0; reach /= 2) {
        /* Written before read: the other value comes from another work-item. */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < reach)
            shared[item] = combine(shared[item], shared[item + reach]);
    }
    if (item == 0)
        result[call.to + get_group_id(0)] = shared[0];
}
