/* Reduction: NVIDIA's warps combine in registers, and a work-group waits once.
 *
 * Idea: as reduce_subgroup.cl, where there are no sub-group functions: the shuffle
 *     instruction hands a register to a lower lane of the warp, five times, and
 *     any operation combines what comes.  One barrier a work-group is left.
 * Work split: a work-item takes two elements, GROUP apart; a work-group leaves
 *     one value of 2 * GROUP.
 * Parameters: BY, GROUP (reduce.clh), a multiple of 32.
 * Launch: as reduce_first_add.
 * Local memory: a float for each warp.
 * Limits: float32; NVIDIA only; indexes in 64 bits.
 */
#include "common/warp.clh"
#include "reduce/reduce.clh"

#define WARPS (GROUP / 32)

#if GROUP % 32 || WARPS > 32
#error "GROUP: a multiple of 32, up to 1024"
#endif

/* The values of a warp combined, in lane 0. */
static inline float warp_combine(float value)
{
#pragma unroll
    for (uint distance = 16; distance > 0; distance /= 2)
        value = combine(value, as_float(warp_down(as_uint(value), distance)));
    return value;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce_shuffle(__global const float *restrict x, __global float *restrict result,
               const reduce_call call)
{
    __local float left[WARPS];
    const uint item = (uint)get_local_id(0), lane = item % 32;
    const ulong i = get_group_id(0) * (ulong)(2 * GROUP) + item;
    const float first = i < call.n ? x[call.from + i] : IDENTITY;
    const float second = i + GROUP < call.n ? x[call.from + i + GROUP] : IDENTITY;
    float value = warp_combine(combine(first, second));

    if (lane == 0)
        left[item / 32] = value;
    /* Of all warps, before the first one reads them. */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < 32) {
        value = warp_combine(lane < WARPS ? left[lane] : IDENTITY);
        if (lane == 0)
            result[call.to + get_group_id(0)] = value;
    }
}
