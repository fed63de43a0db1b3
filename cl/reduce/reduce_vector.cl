/* Reduction: four elements a load, and several loads in flight.
 *
 * Idea: the tree's work-items wait for one element at a time.  Here each loads
 *     LOADS vectors of four before it combines any, and has chains of what their
 *     combination leaves.
 * Work split: a block of GROUP * 4 * LOADS elements a work-group and turn; what
 *     is left at the end, element by element.
 * Parameters: GROUP, LOADS, ALIGNED (reduce_vectors.clh); BY (reduce.clh).  PER_UNIT
 *     only decides the number of groups on the host.
 * Launch: as reduce_tree.
 * Local memory: GROUP floats.
 * Limits: float32; indexes in 64 bits.
 */
#include "reduce/reduce_vectors.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce_vector(__global const float *restrict x, __global float *restrict result,
              const reduce_call call)
{
    __local float shared[GROUP];
    const float value = reduce_share(x, &call, shared);

    if (get_local_id(0) == 0)
        result[call.to + get_group_id(0)] = value;
}
