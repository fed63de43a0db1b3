/* Probe: wgmma, NVIDIA's compute capability 9.0.
 *
 * Idea: multiply a 64 x 8 by an 8 x 8 matrix of small whole numbers, other in
 *     every element, so that a wrong layout or a missing instruction shows.
 * Work split: a warp group computes the product; work-item i writes the four
 *     elements that it holds, weighted, to out[i].
 * Launch: 1-D, one work-group of 128.
 * Local memory: 9 KiB and up to 1 KiB of alignment.
 */
#include "common/wgmma.clh"

__kernel __attribute__((reqd_work_group_size(128, 1, 1))) void probe(__global uint *out)
{
    __local float memory[64 * 32 + 8 * 32 + 256];
    const uint start = local_address(memory), aligned = (start + 1023) / 1024 * 1024;
    __local float *a = memory + (aligned - start) / 4, *b = a + 64 * 32;
    const uint i = get_local_id(0);
    float c[4] = {0, 0, 0, 0};

    for (uint e = i; e < 64 * 8; e += 128)
        a[wgmma_word(e / 8, e % 8)] = e / 8 + 3 * (e % 8) + 1;
    for (uint e = i; e < 8 * 8; e += 128)
        b[wgmma_word(e / 8, e % 8)] = 5 * (e / 8) + (e % 8) * (e % 8) + 2;
    wgmma_publish();
    /* Filled before multiplied: the instruction reads what all have stored. */
    barrier(CLK_LOCAL_MEM_FENCE);
    __asm__ volatile(WGMMA "wgmma.fence.sync.aligned;\n\t"
                     WGMMA "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 "
                           "{%0,%1,%2,%3}, %4, %5, 1, 1, 1;\n\t"
                     WGMMA "wgmma.commit_group.sync.aligned;\n\t"
                     WGMMA "wgmma.wait_group.sync.aligned 0;"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "l"(wgmma_tile(aligned)), "l"(wgmma_tile(aligned + 64 * 128))
                     : "memory");
    out[i] = (uint)c[0] + 3 * (uint)c[1] + 5 * (uint)c[2] + 7 * (uint)c[3];
}
