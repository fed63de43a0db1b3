/* Sum: sub-groups add up in registers, and a work-group waits once.
 *
 * Idea: the work-items of a sub-group can add up without local memory and
 *     barriers.  So each sub-group does, leaves one value in local memory, and
 *     behind one barrier the first sub-group adds these: a tree of log2(GROUP)
 *     barriers becomes one.  The device decides in which order a sub-group adds.
 * Work split: a work-item takes two elements, GROUP apart; a work-group leaves
 *     one value of 2 * GROUP.
 * Parameters: BY, GROUP (reduce.clh); REAL, REAL_BITS (real.clh): float, 32.
 * Launch: as reduce_first_add.
 * Local memory: GROUP floats, of which a sub-group takes one.
 * Limits: sums of float32; OpenCL C 2.0 or later with cl_khr_subgroups; indexes in
 *     64 bits.
 */
#define SHFL 0
#include "common/sub_group.clh"
#include "reduce/reduce.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce_subgroup(__global const float *restrict x, __global float *restrict result,
                const reduce_call call)
{
    __local float left[GROUP];
    const uint item = (uint)get_local_id(0);
    const ulong i = get_group_id(0) * (ulong)(2 * GROUP) + item;
    float sum = i < call.n ? x[call.from + i] : 0;

    sum += i + GROUP < call.n ? x[call.from + i + GROUP] : 0;
    sum = subgroup_sum(sum);
    if (subgroup_item() == 0)
        left[subgroup_number()] = sum;
    /* Of all sub-groups, before the first one reads them. */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (subgroup_number() == 0) {
        sum = 0;
        for (uint s = subgroup_item(); s < subgroup_count(); s += subgroup_size())
            sum += left[s];
        sum = subgroup_sum(sum);
        if (subgroup_item() == 0)
            result[call.to + get_group_id(0)] = sum;
    }
}
