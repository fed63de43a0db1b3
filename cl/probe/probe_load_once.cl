/* Probe: loads past the first-level cache, NVIDIA.
 *
 * Idea: the buffer comes with the numbers from 0 on.  Each work-item loads a vector of them, or,
 *     every third one, none and has zeros.
 * Work split: work-item i loads vector i % 16 and writes the sum of its elements, each by a factor
 *     of its own, to out[i].
 * Launch: 1-D, one work-group of 64.
 */
#include "common/load_once.clh"

__kernel void probe(__global uint *out)
{
    const uint i = get_local_id(0);
    const float4 v = load_once_floats((__global const float *)out + i % 16 * 4, i % 3 != 0);

    /* Loaded before it is overwritten. */
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = as_uint(v.x) + 100 * as_uint(v.y) + 10000 * as_uint(v.z) + 1000000 * as_uint(v.w);
}
