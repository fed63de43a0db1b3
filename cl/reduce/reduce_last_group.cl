/* Reduction in one launch: the last work-group combines what all have left.
 *
 * Idea: reduce_vector.cl launches twice, because no work-group may wait for another
 *     one.  But groups can count themselves as they end: the one that comes last
 *     knows that all values are there, and combines them.  They are combined by
 *     number, whoever comes last, so that a sum has the same bits every time.
 * Work split: as reduce_vector; then the work-items of the last group take turns over
 *     the values of the groups.
 * Parameters: GROUP, LOADS, ALIGNED (reduce_vectors.clh); BY (reduce.clh); LAST_ADDS
 *     (last_group.clh), 1 or 2.  PER_UNIT only decides the number of groups on the host.
 * Launch: 1-D, work-groups of GROUP: reduce_last_group, or a single one of reduce_only_group.
 * Local memory: GROUP floats and a counter.
 * Limits: float32; indexes in 64 bits.
 *
 * threadFenceReduction of NVIDIA's CUDA samples.
 */
#include "common/last_group.clh"
#include "reduce/reduce_vectors.clh"

/* Of a short array a single work-group has all. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce_only_group(__global const float *restrict x, __global float *restrict result,
                  const reduce_call call)
{
    __local float shared[GROUP];
    const float value = reduce_share(x, &call, shared);

    if (get_local_id(0) == 0)
        result[call.to] = value;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce_last_group(__global const float *restrict x, __global float *restrict result,
                  __global float *left, __global group_counter *done, const reduce_call call)
{
    __local float shared[GROUP];
    __local uint last;
    const uint item = (uint)get_local_id(0), groups = (uint)get_num_groups(0);
    float value = reduce_share(x, &call, shared), carry = 0;

    if (item == 0)
        left[get_group_id(0)] = value;
    if (!is_last_group(done, groups, &last))
        return;
    value = IDENTITY;
    for (uint g = item; g < groups; g += GROUP)
        value = take(value, left[g], &carry);
    value = tree_reduce(shared + item, 1, item, GROUP, value);
    if (item == 0)
        result[call.to] = value;
}
