/* Limit of Hopper's matrix instructions: wgmma on tiles in local memory.
 *
 * Idea      a warp group adds the product of a 64-row and a 128-row tile, both
 *           resident in local memory, to its accumulators, `steps` times.  A
 *           depends on the row alone and B on the column alone, both powers of
 *           two, and each item's share of C is known.  C is exact as long as sums
 *           have bits for it: those of FP8 take in each product with 13 bits below
 *           the largest, so that 2^12 products are exact, those of 2^5 steps
 * Work      a work-group is one warp group and computes 64 x 128 elements;
 *           each item writes the sum of its 64
 * Params    KIND: 0 tf32, 1 bf16, 2 f16, 3 fp8 (e4m3), 4 int8; SPARSE 1: of four
 *           neighbours of A along k (of two of tf32) the first two (one) are
 *           stored and the others zero, and an instruction takes twice as many of B
 * Launch    1-D, work-groups of 128
 * Local     24 KiB and up to 1 KiB of alignment
 * Limits    steps <= 2^10, so that other sums stay below 2^24
 */
#include "common/wgmma.clh"

#if !defined(KIND) || KIND < 0 || KIND > 4
#error "KIND: 0 tf32, 1 bf16, 2 f16, 3 fp8, 4 int8"
#endif
#ifndef SPARSE
#error "SPARSE: 1 where half of A is zero by its format, else 0"
#endif

#if KIND == 4
#define SUM               int
#define NUMBER_UPDATED(x) "+r"(x)
#else
#define SUM               float
#define NUMBER_UPDATED(x) SUM_UPDATED(x)
#endif

/* An instruction takes 32 bytes of A along k.  Behind the tiles it says to add to the sums, but for
 * integers that factors keep their signs, and of 16 bits that both run along k. */
#if KIND == 0
#define TYPES ".f32.tf32.tf32 "
#define TAIL  ", 1, 1, 1;\n\t"
#elif KIND == 1
#define TYPES ".f32.bf16.bf16 "
#define TAIL  ", 1, 1, 1, 0, 0;\n\t"
#elif KIND == 2
#define TYPES ".f32.f16.f16 "
#define TAIL  ", 1, 1, 1, 0, 0;\n\t"
#elif KIND == 3
#define TYPES ".f32.e4m3.e4m3 "
#define TAIL  ", 1, 1, 1;\n\t"
#else
#define TYPES ".s32.s8.s8 "
#define TAIL  ", 1;\n\t"
#endif
#if (KIND == 0 && !SPARSE)
#define DEPTH "k8"
#elif KIND == 0 || ((KIND == 1 || KIND == 2) && !SPARSE)
#define DEPTH "k16"
#elif KIND == 1 || KIND == 2 || !SPARSE
#define DEPTH "k32"
#else
#define DEPTH "k64"
#endif
#if SPARSE
#define MULTIPLY "wgmma.mma_async.sp.sync.aligned.m64n128" DEPTH TYPES
/* Places of what is stored, 4 bits a group: the first two of four, or the first of two. */
#define PLACES ", %72, 0"
/* An instruction takes 64 bytes of B, all of whose words are the same in a row. */
#define STEP_B 4
#else
#define MULTIPLY "wgmma.mma_async.sync.aligned.m64n128" DEPTH TYPES
#define PLACES   ""
#define STEP_B   2
#endif
#define PLACES_STORED 0x44444444u

#define MULTIPLY_ADD(a, b) WGMMA MULTIPLY "{" WGMMA_SUMS_64 "}, " a ", " b PLACES TAIL

/* 2^x, x below 4, as often as a word of 32 bits holds it. */
static inline uint operand(uint x)
{
#if KIND == 0
    return (x + 127) << 23;
#elif KIND == 1
    return ((x + 127) << 7) * 0x10001u;
#elif KIND == 2
    return ((x + 15) << 10) * 0x10001u;
#elif KIND == 3
    return ((x + 7) << 3) * 0x01010101u;
#else
    return (1u << x) * 0x01010101u;
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
    SUM c[64];
    ulong sum = 0;

    /* All words of a row are the same, so where the swizzle puts them does not matter. */
    for (uint w = i; w < 64 * 32; w += 128)
        tiles[w] = operand(w / 32 / 4 % 4);
    for (uint w = i; w < 128 * 32; w += 128)
        tiles[64 * 32 + w] = operand(w / 32 % 2);
    wgmma_publish();
    /* Filled before multiplied: the instruction reads what all have stored. */
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint e = 0; e < 64; e++)
        c[e] = 0;
        /* A loop that might not run would serialize the instructions. */
#pragma unroll 1
    do {
        __asm__ volatile(WGMMA_FENCE MULTIPLY_ADD("%64", "%68") MULTIPLY_ADD("%65", "%69")
                             MULTIPLY_ADD("%66", "%70") MULTIPLY_ADD("%67", "%71")
                                 WGMMA_COMMIT WGMMA_WAIT("0")
                         : OPERANDS_64(NUMBER_UPDATED, c, 0)
                         : "l"(a), "l"(a + 2), "l"(a + 4), "l"(a + 6), "l"(b), "l"(b + STEP_B),
                           "l"(b + 2 * STEP_B % 8), "l"(b + 3 * STEP_B % 8), "r"(PLACES_STORED)
                         : "memory");
    } while (--steps);
#pragma unroll
    for (uint e = 0; e < 64; e++)
        sum += (ulong)c[e];
    out[get_global_id(0)] = sum;
}
