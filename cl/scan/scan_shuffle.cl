/* Scan: NVIDIA's warps scan in registers, and a work-group waits once.
 *
 * Idea: the shuffle instruction hands a register to a higher lane of the warp.
 *     After the one of distance d each lane has the sum of the 2 d up to it: five
 *     scan a warp, as Hillis and Steele's rounds do, but without memory and
 *     barriers.  Each warp leaves its total in local memory; behind one barrier,
 *     where the tree of scan_blelloch.cl has two for each of its levels, every
 *     work-item adds the totals of the warps before its own.  Tiles then go on as
 *     there.
 * Work split: a work-group for a tile of 2 GROUP elements, two for each work-item,
 *     GROUP apart.
 * Parameters: GROUP, work-items in a work-group, a multiple of 32.
 * Launch: 1-D, shuffle_tiles of each level, from the elements up to a level of one
 *     tile; then shuffle_add of each, from the one below that down.
 * Local memory: two floats for each warp.
 * Limits: float32 sums of one line; NVIDIA only.
 *
 * Harris, Sengupta and Owens, "Parallel Prefix Sum (Scan) with CUDA", GPU Gems 3, 2007.
 */
#include "common/warp.clh"

#if !defined(GROUP) || GROUP % 32
#error "GROUP: work-items in a work-group, a multiple of 32"
#endif

#define TILE  (2 * GROUP)
#define WARPS (GROUP / 32)

/* A call, as one argument; the host's level_call has the same members. */
typedef struct level_call {
    ulong n, from, to, totals; /* elements; indexes of the first ones of what is read, of what is
                                  written, and of the next level */
    ulong exclusive;           /* levels above the elements always are */
} level_call;

/* The sum over the lanes up to the own one. */
static inline float warp_sum_up_to(float value, uint lane)
{
#pragma unroll
    for (uint distance = 1; distance < 32; distance *= 2) {
        const float lower = as_float(warp_up(as_uint(value), distance));

        value += lane >= distance ? lower : 0;
    }
    return value;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
shuffle_tiles(__global const float *x, __global float *y, __global float *totals,
              const level_call call)
{
    __local float total[2 * WARPS];
    const uint item = get_local_id(0), lane = item % 32, warp = item / 32;
    const ulong start = get_group_id(0) * (ulong)TILE;
    float before[2], up_to[2], sum = 0;

    for (uint k = 0; k < 2; k++) {
        const ulong i = start + k * GROUP + item;
        const float own = i < call.n ? x[call.from + i] : 0;
        float lower;

        up_to[k] = warp_sum_up_to(own, lane);
        lower = as_float(warp_up(as_uint(up_to[k]), 1));
        before[k] = lane > 0 ? lower : 0;
        if (lane == 31)
            total[k * WARPS + warp] = up_to[k];
    }
    /* Of all warps, before those behind add them. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint w = 0; w < 2 * WARPS; w++) {
        /* What is before this warp, in each half of the tile. */
        if (w % WARPS == warp) {
            before[w / WARPS] += sum;
            up_to[w / WARPS] += sum;
        }
        sum += total[w];
    }
    if (item == 0)
        totals[call.totals + get_group_id(0)] = sum;
    for (uint k = 0; k < 2; k++) {
        const ulong i = start + k * GROUP + item;

        if (i < call.n)
            y[call.to + i] = call.exclusive ? before[k] : up_to[k];
    }
}

/* Add what is before each tile to its elements. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
shuffle_add(__global float *y, __global const float *before, const level_call call)
{
    const ulong start = get_group_id(0) * (ulong)TILE;

    for (uint k = 0; k < 2; k++) {
        const ulong i = start + k * GROUP + get_local_id(0);

        if (i < call.n)
            y[call.to + i] += before[call.totals + get_group_id(0)];
    }
}
