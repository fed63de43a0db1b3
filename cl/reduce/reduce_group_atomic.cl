/* Reduction: a tree in each work-group, and one atomic operation a work-group.
 *
 * Idea: reduce_atomic.cl fails by its number of atomic operations.  Here a
 *     work-group combines its share as reduce_tree.cl does, and only its result
 *     goes to memory by an atomic operation: one launch, no workspace, and a
 *     few hundred atomic operations.  A sum is still added in the order in which
 *     work-groups come.
 * Work split: work-items take turns over the array.
 * Parameters: BY, GROUP (reduce.clh); ADDS (reduce_atomically.clh).  PER_UNIT only decides the
 *     number of groups on the host.
 * Launch: reduce_group_atomic_start, one work-item; then 1-D, work-groups of GROUP.
 * Local memory: GROUP floats.
 * Limits: float32; indexes in 64 bits.
 */
#include "reduce/reduce_atomically.clh"

#define REDUCED float
#define COMBINE combine
#include "common/group_reduce.clh"

/* The result starts as the value that changes nothing. */
__kernel void reduce_group_atomic_start(__global float *result, const reduce_call call)
{
    result[call.to] = IDENTITY;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce_group_atomic(__global const float *restrict x, volatile __global uint *result,
                    const reduce_call call)
{
    __local float shared[GROUP];
    const uint item = (uint)get_local_id(0);
    float value = IDENTITY, carry = 0;

    for (ulong i = get_global_id(0); i < call.n; i += get_global_size(0))
        value = take(value, x[call.from + i], &carry);
    value = tree_reduce(shared + item, 1, item, GROUP, value);
    if (item == 0)
        combine_atomically(result + call.to, value);
}
