/* Experiment: what a barrier costs.
 *
 * Idea      values go round in local memory: each work-item writes its own and reads its neighbour's.
 *           Without the first barrier it may read what was there before; without the second, a fast
 *           one overwrites what a slow one has not read yet
 * Work      `rounds` rounds; a value moves by one place a round, and grows by 1
 * Params    GROUP
 * Launch    1-D, one group of GROUP
 * Local     GROUP words
 */
#ifndef GROUP
#error "GROUP: work-items of the group"
#endif

__kernel void lab_barriers(__global uint *out, uint rounds)
{
    __local uint place[GROUP];
    const uint item = get_local_id(0);
    uint value = item;

    for (uint i = 0; i < rounds; i++) {
        place[item] = value;
        /* Written before the neighbour reads it. */
        barrier(CLK_LOCAL_MEM_FENCE);
        value = place[(item + 1) % GROUP] + 1;
        /* Read before it is overwritten. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[item] = value;
}
