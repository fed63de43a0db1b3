/* Minimum or maximum: a warp combines by one instruction.
 *
 * Idea: as reduce_shuffle.cl, but where that takes five shuffles and five
 *     comparisons, redux.sync has the warp's least or largest integer at once.
 *     Floats become integers of the same order: the bits, of negative ones with
 *     all but the sign inverted.  A NaN becomes the integer that wins, which is a
 *     NaN's on the way back.  There is no such instruction for sums of floats.
 * Work split: a work-item takes two elements, GROUP apart; a work-group leaves
 *     one value of 2 * GROUP.
 * Parameters: BY, 1 or 2; GROUP (reduce.clh), a multiple of 32.
 * Launch: as reduce_first_add.
 * Local memory: an int for each warp.
 * Limits: minima and maxima of float32; NVIDIA from compute capability 8.0 on; indexes in
 *     64 bits.
 */
#include "common/warp.clh"
#include "reduce/reduce.clh"

#define WARPS (GROUP / 32)

#if GROUP % 32 || WARPS > 32
#error "GROUP: a multiple of 32, up to 1024"
#endif
#if BY != 1 && BY != 2
#error "BY: 1 for the minimum, 2 for the maximum"
#endif

/* Bits of either sign in the order of the floats; its own inverse. */
static inline int ordered(int bits)
{
    return bits ^ (bits >> 31 & INT_MAX);
}

static inline int key_of(float x)
{
    if (isnan(x))
        return BY == 1 ? INT_MIN : INT_MAX;
    return ordered(as_int(x));
}

static inline int warp_combine(int key)
{
    return BY == 1 ? warp_least(key) : warp_most(key);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce_redux(__global const float *restrict x, __global float *restrict result,
             const reduce_call call)
{
    __local int left[WARPS];
    const uint item = (uint)get_local_id(0), lane = item % 32;
    const ulong i = get_group_id(0) * (ulong)(2 * GROUP) + item;
    const float first = i < call.n ? x[call.from + i] : IDENTITY;
    const float second = i + GROUP < call.n ? x[call.from + i + GROUP] : IDENTITY;
    int key = warp_combine(key_of(combine(first, second)));

    if (lane == 0)
        left[item / 32] = key;
    /* Of all warps, before the first one reads them. */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < 32) {
        key = warp_combine(lane < WARPS ? left[lane] : key_of(IDENTITY));
        if (lane == 0)
            result[call.to + get_group_id(0)] = as_float(ordered(key));
    }
}
