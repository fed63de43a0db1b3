/* Reduction: each work-group combines its share by a tree in local memory.
 *
 * Idea: a work-item combines every get_global_size(0)-th element, so that
 *     neighbours read neighbouring elements; then half of the work-items
 *     combine pairs, half of those the results, and so on: log2(GROUP) rounds
 *     with a barrier before each.  The chains of a sum are compensated (reduce.clh).
 *     One value a work-group is left, and a second launch of one work-group
 *     combines these.
 * Work split: work-items take turns over the array.
 * Parameters: GROUP; BY (reduce.clh).  PER_UNIT only decides the number of groups
 *     on the host.
 * Launch: 1-D, work-groups of GROUP; then one work-group over their results.
 * Local memory: GROUP floats.
 * Limits: float32; indexes in 64 bits.
 */
#include "reduce/reduce.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce_tree(__global const float *restrict x, __global float *restrict result,
            const reduce_call call)
{
    __local float shared[GROUP];
    const uint item = (uint)get_local_id(0);
    float value = IDENTITY, carry = 0;

    for (ulong i = get_global_id(0); i < call.n; i += get_global_size(0))
        value = take(value, x[call.from + i], &carry);
    shared[item] = value;
    for (uint half_way = GROUP / 2; half_way > 0; half_way /= 2) {
        /* Written before read: the other half's values come from other work-items. */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_way)
            shared[item] = combine(shared[item], shared[item + half_way]);
    }
    if (item == 0)
        result[call.to + get_group_id(0)] = shared[0];
}
