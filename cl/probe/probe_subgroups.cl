/* Probe: sub-group functions.
 *
 * Idea: sum, over the sub-group, values that only the right members can give;
 *     answer with the sub-group's size, or 0 where a sum is off.
 * Work split: work-item i writes out[i].
 * Launch: 1-D, one work-group of 64.
 */
#ifdef cl_khr_subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif

__kernel void probe(__global uint *out)
{
    const uint size = get_sub_group_size();
    const uint lane = get_sub_group_local_id();
    const uint sum = sub_group_reduce_add(lane * lane + 1);
    const uint first = sub_group_broadcast(lane + 17, 0);
    /* 1 + 0, 1 + 1, 1 + 4, ...: size + the sum of the squares below size. */
    const uint expected = size + (size - 1) * size * (2 * size - 1) / 6;

    out[get_global_id(0)] = sum == expected && first == 17 ? size : 0;
}
