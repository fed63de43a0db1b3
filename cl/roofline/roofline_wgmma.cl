/* Limit of Hopper's matrix instructions: wgmma on tiles in local memory.
 *
 * Idea      a warp group adds the product of a 64-row and a 128-row tile, both
 *           resident in local memory, to its accumulators, `steps` times.  A
 *           depends on the row alone and B on the column alone, small whole
 *           numbers: C is exact, and each item's share of it is known
 * Work      a work-group is one warp group and computes 64 x 128 elements;
 *           each item writes the sum of its 64
 * Params    KIND: 0 tf32 (k is 32 a step), 1 bf16 (64)
 * Launch    1-D, work-groups of 128
 * Local     24 KiB and up to 1 KiB of alignment
 * Limits    steps <= 2^11, so that sums stay below 2^23
 */
#include "common/wgmma.clh"

#ifndef KIND
#error "KIND: 0 tf32, 1 bf16"
#endif

#if KIND == 0
#define MULTIPLY "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 "
#define TAIL ", 1, 1, 1;\n\t"
#else
#define MULTIPLY "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
#define TAIL ", 1, 1, 1, 0, 0;\n\t"
#endif

#define MULTIPLY_ADD(a, b) WGMMA MULTIPLY "{" WGMMA_SUMS_64 "}, " a ", " b TAIL

/* A whole number below 256: its float32 bits are a tf32 as they are, and their upper half is its
 * bf16, here twice for two neighbours in k. */
static inline uint operand(float value)
{
#if KIND == 0
    return as_uint(value);
#else
    return (as_uint(value) >> 16) * 0x10001u;
#endif
}

__kernel __attribute__((reqd_work_group_size(128, 1, 1))) void roofline_wgmma(__global ulong *out,
                                                                              uint steps)
{
    __local uint memory[(64 + 128) * 32 + 256];
    const uint start = local_address(memory), aligned = (start + 1023) / 1024 * 1024;
    __local uint *tiles = memory + (aligned - start) / 4;
    const ulong a = wgmma_tile(aligned), b = wgmma_tile(aligned + 64 * 128);
    const uint i = get_local_id(0);
    float c[64];
    ulong sum = 0;

    /* All words of a row are the same, so where the swizzle puts them does not matter. */
    for (uint w = i; w < 64 * 32; w += 128)
        tiles[w] = operand(1 + w / 32 / 4);
    for (uint w = i; w < 128 * 32; w += 128)
        tiles[64 * 32 + w] = operand(1 + w / 32 % 2);
    wgmma_publish();
    /* Filled before multiplied: the instruction reads what all have stored. */
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint e = 0; e < 64; e++)
        c[e] = 0;
    /* A loop that might not run would serialize the instructions. */
#pragma unroll 1
    do {
        __asm__ volatile(WGMMA_FENCE
                         MULTIPLY_ADD("%64", "%68")
                         MULTIPLY_ADD("%65", "%69")
                         MULTIPLY_ADD("%66", "%70")
                         MULTIPLY_ADD("%67", "%71")
                         WGMMA_COMMIT
                         WGMMA_WAIT("0")
                         : OPERANDS_64(SUM_UPDATED, c, 0)
                         : "l"(a), "l"(a + 2), "l"(a + 4), "l"(a + 6),
                           "l"(b), "l"(b + 2), "l"(b + 4), "l"(b + 6)
                         : "memory");
    } while (--steps);
#pragma unroll
    for (uint e = 0; e < 64; e++)
        sum += (ulong)c[e];
    out[get_global_id(0)] = sum;
}
