/* Probe: a warp's minimum and maximum by one instruction, NVIDIA from compute capability 8.0 on.
 *
 * Idea: values of either sign that are ordered neither by lane nor by bits, and
 *     differ from warp to warp: nothing but redux.sync gives both ends of each.
 * Work split: work-item i writes out[i].
 * Launch: 1-D, one work-group of 64, two warps.
 */
__kernel void probe(__global uint *out)
{
    const uint i = get_global_id(0);
    const int mine = 11 * (int)(7 * i % 61) - 300;
    int least = 0, most = 0;

    __asm__ volatile("redux.sync.min.s32 %0, %1, 0xffffffff;" : "=r"(least) : "r"(mine));
    __asm__ volatile("redux.sync.max.s32 %0, %1, 0xffffffff;" : "=r"(most) : "r"(mine));
    out[i] = (uint)(1000 * most + least);
}
