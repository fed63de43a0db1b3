/* Probe: inline PTX assembly, NVIDIA.
 *
 * Idea: each lane fetches 3 * lane + 7 from lane ^ 5 of its warp: nothing but a
 *     working shfl.sync can give that.
 * Work split: work-item i writes out[i].
 * Launch: 1-D, one work-group of 64, two warps.
 */
__kernel void probe(__global uint *out)
{
    const uint i = get_global_id(0);
    const uint mine = 3 * i + 7;
    uint theirs = 0;

    __asm__ volatile("shfl.sync.bfly.b32 %0, %1, 5, 0x1f, 0xffffffff;" : "=r"(theirs) : "r"(mine));
    out[i] = theirs;
}
