/* Experiment: all work-groups wait for each other.
 *
 * Idea      a launch ends when all of its groups have: launches after each other are the usual way
 *           in which what one group writes reaches the others.  Groups that all run at once can
 *           wait for each other within one launch, by a counter in global memory that each adds to.
 *           OpenCL does not promise that they do: more groups than the device holds would wait
 *           forever
 * Work      `rounds` times each group publishes the number that it has, all wait, and it takes the
 *           next group's and adds 1
 * Params    none
 * Launch    1-D, groups of the same size; lab_grid_persistent: all of them at once, lab_grid_step:
 *           one launch a round, `round` from 0
 */
#pragma OPENCL EXTENSION cl_khr_global_int32_base_atomics : enable

/* Wait until all groups have come `times` times. */
static inline void wait_for_all(volatile __global uint *arrived, uint times)
{
    /* Of the whole group, before its first work-item says so. */
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        atomic_inc(arrived);
        while (atomic_add(arrived, 0) < times * get_num_groups(0))
            ;
        mem_fence(CLK_GLOBAL_MEM_FENCE);
    }
    /* All groups have come before anyone of this one goes on. */
    barrier(CLK_GLOBAL_MEM_FENCE);
}

/* Numbers alternate between two places, so that nobody overwrites what is still to be read. */
__kernel void lab_grid_persistent(volatile __global uint *number, volatile __global uint *arrived,
                                  __global uint *out, uint rounds)
{
    const uint group = get_group_id(0), groups = get_num_groups(0);
    uint mine = group;

    for (uint i = 0; i < rounds; i++) {
        if (get_local_id(0) == 0)
            number[i % 2 * groups + group] = mine;
        wait_for_all(arrived, i + 1);
        mine = number[i % 2 * groups + (group + 1) % groups] + 1;
    }
    if (get_local_id(0) == 0)
        out[group] = mine;
}

/* The same round by round: what the launch before it wrote is there. */
__kernel void lab_grid_step(__global uint *number, __global uint *out, uint round)
{
    const uint group = get_group_id(0), groups = get_num_groups(0);
    const uint now = round % 2 * groups, next = (round + 1) % 2 * groups;
    const uint mine = round ? number[now + (group + 1) % groups] + 1 : (group + 1) % groups + 1;

    if (get_local_id(0) == 0) {
        number[next + group] = mine;
        out[group] = mine;
    }
}
