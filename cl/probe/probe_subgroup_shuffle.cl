/* Probe: sub-group shuffles.
 *
 * Idea: each work-item asks the one whose number in the sub-group differs in some bits, of
 *     the lowest three, for values of 32 and 64 bits; it answers with the size of the
 *     sub-group, or with 0 where a value is not the right one's.
 * Work split: work-item i writes out[i].
 * Launch: 1-D, one work-group of 64.
 */
#ifndef cl_khr_subgroup_shuffle
#error "no cl_khr_subgroup_shuffle"
#endif
#ifdef cl_khr_subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable

__kernel void probe(__global uint *out)
{
    const uint lane = get_sub_group_local_id();
    bool right = true;

    for (uint mask = 1; mask < 8; mask++) {
        const uint narrow = sub_group_shuffle_xor(3 * lane + 7, mask);
        const ulong wide = sub_group_shuffle_xor((ulong)lane << 40 | lane, mask);

        right = right && narrow == 3 * (lane ^ mask) + 7;
        right = right && wide == ((ulong)(lane ^ mask) << 40 | (lane ^ mask));
    }
    out[get_global_id(0)] = right ? get_sub_group_size() : 0;
}
