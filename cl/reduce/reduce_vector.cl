/* Reduction: four elements a load, and several loads in flight.
 *
 * Idea: the tree's work-items wait for one element at a time.  Here each loads
 *     LOADS vectors of four before it combines them, in 4 * LOADS chains that
 *     do not wait for each other.
 * Work split: a block of GROUP * 4 * LOADS elements a work-group and turn; what
 *     is left at the end, element by element.
 * Parameters: GROUP, LOADS; BY (reduce.clh).  PER_UNIT only decides the number of groups
 *     on the host.
 * Launch: as reduce_tree.
 * Local memory: GROUP floats.
 * Limits: float32; indexes in 64 bits.
 */
#include "reduce/reduce.clh"

#define REDUCED float
#define COMBINE combine
#include "common/group_reduce.clh"

#ifndef LOADS
#error "LOADS: vectors of four that a work-item has in flight"
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce_vector(__global const float *restrict x, __global float *restrict result,
              const reduce_call call)
{
    __local float shared[GROUP];
    const ulong block = (ulong)GROUP * 4 * LOADS, whole = call.n / block * block;
    const uint item = (uint)get_local_id(0);
    float4 chain[LOADS], carry[LOADS];
    float value = IDENTITY, rest = 0;

    x += call.from;
#pragma unroll
    for (uint l = 0; l < LOADS; l++) {
        chain[l] = (float4)(IDENTITY);
        carry[l] = (float4)(0);
    }
    for (ulong i = get_group_id(0) * block; i < whole; i += get_num_groups(0) * block) {
        float4 next[LOADS];

#pragma unroll
        for (uint l = 0; l < LOADS; l++)
            next[l] = vload4((l * GROUP) + item, x + i);
#pragma unroll
        for (uint l = 0; l < LOADS; l++)
            chain[l] = take4(chain[l], next[l], &carry[l]);
    }
    for (ulong i = whole + get_global_id(0); i < call.n; i += get_global_size(0))
        value = take(value, x[i], &rest);
#pragma unroll
    for (uint l = 0; l < LOADS; l++)
        value = combine(value,
                        combine(combine(chain[l].x, chain[l].y), combine(chain[l].z, chain[l].w)));
    value = tree_reduce(shared + item, 1, item, GROUP, value);
    if (item == 0)
        result[call.to + get_group_id(0)] = value;
}
