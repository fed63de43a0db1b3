/* Probe: copies to local memory beside the work-items, NVIDIA's compute capability 8.0.
 *
 * Idea: the same words by copies of 16 bytes, in order, and of 4, backwards and
 *     every other one as 0: a copy that is late, misplaced or reads too much
 *     shows.
 * Work split: work-item i writes out[i], which is also what is copied.
 * Launch: 1-D, one work-group of 64.
 * Local memory: 512 bytes.
 */
#include "common/async_copy.clh"

__kernel void probe(__global uint *out)
{
    __local uint words[128] __attribute__((aligned(16)));
    const uint i = get_local_id(0), start = local_address(words);

    out[i] = 3 * i + 7;
    /* Written before copied. */
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (i < 16)
        copy_16(start + 16 * i, out + 4 * i);
    copy_word_inside(start + 4 * (127 - i), out + i, i % 2);
    copies_commit();
    COPIES_WAIT(0);
    /* Copied before read, here and by others, and before it is overwritten. */
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    out[i] = words[i ^ 5] + 1000 * words[64 + i];
}
