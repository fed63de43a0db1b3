/* Probe: tensor copies by a map that a kernel writes, NVIDIA's compute capability 9.0.
 *
 * Idea: copy a box that reaches beyond a matrix on two sides, so that a wrong
 *     map, swizzle, rounding or edge shows.
 * Work split: a warp group copies the box; work-item i adds two words of it,
 *     weighted, into out[i].
 * Launch: 1-D, one work-group of 128.
 * Local memory: 1 KiB and up to 1 KiB of alignment.
 */
#include "common/tensor_copy.clh"

#define ROWS    6  /* of the matrix, which lies in out[0] and so on, */
#define COLUMNS 16 /* before its map */

__kernel __attribute__((reqd_work_group_size(128, 1, 1))) void probe(__global uint *out)
{
    __local uint memory[256 + 256];
    __local ulong arrived[1];
    const uint start = local_address(memory), aligned = (start + 1023) / 1024 * 1024;
    const uint barrier_at = local_address(arrived), i = get_local_id(0);
    __local uint *box = memory + (aligned - start) / 4;
    __global ulong *map = (__global ulong *)(out + ROWS * COLUMNS);
    const tensor t = {out, COLUMNS, ROWS, COLUMNS * 4, 32, 8};

    /* Numbers of which TF32 keeps a part. */
    if (i < ROWS * COLUMNS)
        out[i] = as_uint(1 + (i + 1) * 0x1p-12f);
    tensor_publish();
    if (i == 0) {
        mbarrier_init(barrier_at, 1);
        mbarrier_publish();
    }
    /* Written before copied. */
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (i == 0) {
        TENSOR_DESCRIBE(map, TENSOR_TF32, t);
        tensor_acquire(map);
        mbarrier_arrive_expect(barrier_at, 1024);
        tensor_copy(aligned, map, 4, 2, barrier_at);
    }
    mbarrier_wait(barrier_at, 0);
    /* All have the box before the matrix is overwritten. */
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    out[i] = box[i] + 3 * box[128 + i];
}
