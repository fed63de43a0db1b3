/* Limit of the matrix instructions of NVIDIA's chips: mma.sync in registers.
 *
 * Idea      a warp keeps A, B and CHAINS accumulators C in registers and adds
 *           A B to each, `steps` times.  A depends on the row alone and B on
 *           the column alone, both small whole numbers: C is exact, and each
 *           lane's share of it is known whatever the order of the sums over k
 * Work      a warp of 32 items computes CHAINS tiles; each item writes the sum
 *           of its accumulators
 * Params    KIND: 0 tf32 m16n8k8, 1 bf16 m16n8k16, 2 f64 m8n8k4 (compute
 *           capability 8.0), 3 f64 m16n8k16 (9.0), 4 f16 m16n8k16, 5 int8
 *           m16n8k32 (8.0); CHAINS
 * Launch    1-D, work-groups of a multiple of 32
 * Limits    steps * k of an instruction <= 2^20, so that FP32 accumulators stay
 *           below 2^24
 *
 * Fragments, g = lane / 4, t = lane % 4 (PTX ISA, "Matrix Fragments for
 * mma.sync"): element i of A lies in row g, of odd i in row g + 8 where there
 * are 16 rows; all of B in column g; C has columns 2 t and 2 t + 1 of row g,
 * then of row g + 8.
 */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#ifndef KIND
#error "KIND: 0 tf32, 1 bf16, 2 and 3 f64, 4 f16, 5 int8"
#endif
#ifndef CHAINS
#error "CHAINS: accumulators of a warp"
#endif

#if KIND == 2 || KIND == 3
#define NUMBER double
#elif KIND == 5
#define NUMBER int
#else
#define NUMBER float
#endif
#if KIND == 2
#define HELD 2 /* elements of C in a lane */
#else
#define HELD 4
#endif

static inline float row_value(uint row)
{
    return 1 + row / 4;
}

static inline float column_value(uint column)
{
    return 1 + column % 2;
}

#if KIND != 2 && KIND != 3
/* A whole number from 1 to 4 in the operand's format, as often as a word of 32 bits holds it: its
 * float32 bits are a tf32 as they are, and their upper half is its bf16. */
static inline uint operand(float value)
{
#if KIND == 0
    return as_uint(value);
#elif KIND == 1
    return (as_uint(value) >> 16) * 0x10001u;
#elif KIND == 4
    /* Of float32 the exponent less the difference of both biases, and the fraction's first bits. */
    return ((as_uint(value) - (112u << 23)) >> 13) * 0x10001u;
#else
    return (uint)value * 0x01010101u;
#endif
}
#endif

static inline void multiply(NUMBER *c, uint lane)
{
    const float upper = row_value(lane / 4), lower = row_value(lane / 4 + 8);
    const float column = column_value(lane / 4);

#if KIND == 0
    __asm__ volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                     "{%0,%1,%2,%3}, {%4,%5,%4,%5}, {%6,%6}, {%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(operand(upper)), "r"(operand(lower)), "r"(operand(column)));
#elif KIND == 1
    __asm__ volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                     "{%0,%1,%2,%3}, {%4,%5,%4,%5}, {%6,%6}, {%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(operand(upper)), "r"(operand(lower)), "r"(operand(column)));
#elif KIND == 4
    __asm__ volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                     "{%0,%1,%2,%3}, {%4,%5,%4,%5}, {%6,%6}, {%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(operand(upper)), "r"(operand(lower)), "r"(operand(column)));
#elif KIND == 5
    __asm__ volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
                     "{%0,%1,%2,%3}, {%4,%5,%4,%5}, {%6,%6}, {%0,%1,%2,%3};"
                     : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                     : "r"(operand(upper)), "r"(operand(lower)), "r"(operand(column)));
#elif KIND == 2
    __asm__ volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
                     "{%0,%1}, {%2}, {%3}, {%0,%1};"
                     : "+d"(c[0]), "+d"(c[1])
                     : "d"((double)upper), "d"((double)column));
#else
    __asm__ volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
                     "{%0,%1,%2,%3}, {%4,%5,%4,%5,%4,%5,%4,%5}, {%6,%6,%6,%6}, {%0,%1,%2,%3};"
                     : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
                     : "d"((double)upper), "d"((double)lower), "d"((double)column));
#endif
}

__kernel void roofline_tensor(__global ulong *out, uint steps)
{
    const uint lane = get_local_id(0) % 32;
    NUMBER c[CHAINS][HELD];
    ulong sum = 0;

#pragma unroll
    for (uint chain = 0; chain < CHAINS; chain++) {
#pragma unroll
        for (uint i = 0; i < HELD; i++)
            c[chain][i] = chain;
    }
    /* Volatile assembly in an unmarked loop is unrolled up to a thousand times. */
#pragma unroll 1
    for (uint s = 0; s < steps; s++) {
#pragma unroll
        for (uint chain = 0; chain < CHAINS; chain++)
            multiply(c[chain], lane);
    }
#pragma unroll
    for (uint chain = 0; chain < CHAINS; chain++) {
#pragma unroll
        for (uint i = 0; i < HELD; i++)
            sum += (ulong)c[chain][i];
    }
    out[get_global_id(0)] = sum;
}
