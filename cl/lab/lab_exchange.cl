/* Experiment: values that work-items hand to each other.
 *
 * Idea      through local memory an exchange is a store, a barrier, a load, and a barrier before the
 *           place is written again.  Work-items of a warp or sub-group can read each other's registers
 *           instead: no memory, no barrier
 * Work      an item takes the value of item XOR 1, XOR 2 and XOR 4, in turn, `rounds` times, and each time
 *           makes 5 x + 1 of it, so that a value which went another way is noticed
 * Params    KIND: 0 local memory, 1 NVIDIA's warp shuffle, 2 cl_khr_subgroup_shuffle; GROUP
 * Launch    1-D, groups of GROUP, a multiple of 32
 * Local     GROUP words, of KIND 0
 */
#ifndef KIND
#error "KIND: 0 local memory, 1 warp shuffle, 2 sub-group shuffle"
#endif
#ifndef GROUP
#error "GROUP: work-items of a group"
#endif

#if KIND == 1
#include "common/warp.clh"
#elif KIND == 2
#ifdef cl_khr_subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
#endif

__kernel void lab_exchange(__global uint *out, uint rounds)
{
#if KIND == 0
    __local uint place[GROUP];
    const uint item = get_local_id(0);
#endif
    uint value = get_global_id(0);

    for (uint i = 0; i < rounds; i++) {
#pragma unroll
        for (uint mask = 1; mask < 8; mask *= 2) {
#if KIND == 0
            place[item] = value;
            /* Stored before the other reads it. */
            barrier(CLK_LOCAL_MEM_FENCE);
            value = place[item ^ mask] * 5 + 1;
            /* Read before it is overwritten. */
            barrier(CLK_LOCAL_MEM_FENCE);
#elif KIND == 1
            value = warp_exchange(value, mask) * 5 + 1;
#else
            value = sub_group_shuffle_xor(value, mask) * 5 + 1;
#endif
        }
    }
    out[get_global_id(0)] = value;
}
