/* y := A x: a row for each work-group, whose warps add up by NVIDIA's shuffle and one barrier.
 *
 * Idea: matvec_group_row.cl adds up by trees in local memory, with a barrier in each round.  A warp
 *     of 32 work-items needs neither: the shuffle instruction hands a register to a lower lane, and
 *     five of them leave the sum in lane 0.  Each warp writes its sum to local memory, all wait
 *     once, and the first warp adds up what the warps have in the same way.
 * Work split: work-group g computes rows g, g + groups, ...; work-item i takes columns i,
 *     i + GROUP, ...
 * Parameters: GROUP, work-items in a work-group, a multiple of 32, up to 1024.
 * Launch: 1-D, any number of work-groups of GROUP.
 * Local memory: a float for each warp.
 * Limits: A is rows x columns, row by row without gaps; both below 2^31; NVIDIA only.
 */
#include "common/warp.clh"

#ifndef GROUP
#error "GROUP: work-items in a work-group, a multiple of 32"
#endif

#define WARPS (GROUP / 32)

/* The sum of `value` over a warp, in lane 0. */
static inline float sum_of_warp(float value)
{
#pragma unroll
    for (uint distance = 16; distance > 0; distance /= 2)
        value += as_float(warp_down(as_uint(value), distance));
    return value;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
matvec_group_shfl(uint rows, uint columns, __global const float *restrict a,
                  __global const float *restrict x, __global float *restrict y)
{
    __local float of_warps[WARPS];
    const uint item = get_local_id(0), lane = item % 32;

    for (uint row = get_group_id(0); row < rows; row += get_num_groups(0)) {
        float sum = 0;

        for (uint c = item; c < columns; c += GROUP)
            sum += a[(ulong)row * columns + c] * x[c];
        sum = sum_of_warp(sum);
        if (lane == 0)
            of_warps[item / 32] = sum;
        /* Filled before read: the first warp reads every warp's sum. */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < 32) {
            sum = sum_of_warp(lane < WARPS ? of_warps[lane] : 0);
            if (lane == 0)
                y[row] = sum;
        }
        /* Read before refilled: the next row uses `of_warps` again. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
