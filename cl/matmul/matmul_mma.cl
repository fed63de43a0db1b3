/* C := alpha op(A) op(B) + beta C: matrix instructions of a warp, mma.sync.
 *
 * Idea: the tiles of matmul_pipelined.cl, but a warp of 32 work-items multiplies
 *     16 x K by K x 8 in one instruction, its operands spread over their
 *     registers.  Tiles stay in local memory in the order in which they come,
 *     along k or across it, padded so that the elements that a warp reads
 *     together lie in different banks.
 * Work split: a group of 256 computes 128 x 128 of C; each of its 8 warps
 *     64 x 32, as 4 x 4 pieces of 16 x 8.
 * Parameters: DEPTH, a multiple of 16; ALIGNED_A, ALIGNED_B (matmul_fetch.clh);
 *     REAL, REAL_BITS (real.clh), FACTOR, RESULT (matmul_elements.clh): float for
 *     TF32 products, double for FP64;
 *     TRANS_A, TRANS_B (matmul_access.clh); TILE_M, TILE_N, ITEMS: 128, 128, 256.
 * Launch: 3-D, work-groups of 256 x 1 x 1, one per started tile of C, a
 *     layer of them for each product of the batch.
 * Local memory: 4 tiles of 128 rows and DEPTH along k, and their padding.
 * Limits: m, n, k and the leading dimensions up to 2^31; NVIDIA's compute
 *     capability 8.0 for float, 9.0 for double.
 *
 * Fragments, g = lane / 4, t = lane % 4 (PTX ISA, "Matrix Fragments for
 * mma.sync"): element i of A is row g + 8 (i % 2), k 4 (i / 2) + t; of B k
 * 4 i + t, column g; of C rows g, g, g + 8, g + 8, columns 2 t and 2 t + 1.
 */
#include "common/tf32.clh"
#include "matmul/matmul_access.clh"
#include "matmul/matmul_call.clh"
#include "matmul/matmul_elements.clh"

#ifndef DEPTH
#error "DEPTH: extent of the tiles along k, a multiple of 16"
#endif

#if TILE_M != 128 || TILE_N != 128 || ITEMS != 256
#error "TILE_M, TILE_N, ITEMS: 128, 128 and 256, as warps share a tile"
#endif
#include "matmul/matmul_fetch.clh"

/* Along k of one instruction. */
#if REAL_BITS == 64
#define K 16
#else
#define K 8
#endif
#define HELD_A (K / 2)
#define HELD_B (K / 4)

/* A line of a tile: DEPTH elements along k and 4 more, or 128 across it and more, so that the
 * lines of t or g start in different banks. */
#define LINE(along) ((along) ? DEPTH + 4 : 128 + 256 / REAL_BITS)
#define TILE(along) ((along) ? 128 * LINE(1) : DEPTH * LINE(0))

/* Element (i, p) of a tile. */
static inline uint place(bool along, uint i, uint p)
{
    return along ? i * LINE(1) + p : p * LINE(0) + i;
}

/* What the unit multiplies. */
static inline real4 rounded(real4 v)
{
#if REAL_BITS == 64
    return v;
#else
    return (real4)(as_float(tf32(v.s0)), as_float(tf32(v.s1)), as_float(tf32(v.s2)),
                   as_float(tf32(v.s3)));
#endif
}

IN_REGISTERS void keep(const real4 *next, uint loads, bool along, uint item, __local REAL *tile)
{
#pragma unroll
    for (uint l = 0; l < loads; l++) {
        const uint e = item + l * ITEMS;
        const uint i = along ? e / (DEPTH / 4) : e % 32 * 4;
        const uint p = along ? e % (DEPTH / 4) * 4 : e / 32;

        *(__local real4 *)(tile + place(along, i, p)) = rounded(next[l]);
    }
}

/* c += a b, 16 x K by K x 8. */
IN_REGISTERS void multiply(REAL *c, const REAL *a, const REAL *b)
{
#if REAL_BITS == 64
    __asm__ volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
                     "{%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
                     : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
                     : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]),
                       "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
    __asm__ volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                     "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(as_uint(a[0])), "r"(as_uint(a[1])), "r"(as_uint(a[2])),
                       "r"(as_uint(a[3])), "r"(as_uint(b[0])), "r"(as_uint(b[1])));
#endif
}

/* sum += A B for K along k from p0: this warp's rows from i0, columns from j0. */
IN_REGISTERS void multiply_slice(REAL *sum, __local const REAL *tile_a, uint i0,
                                 __local const REAL *tile_b, uint j0, uint p0)
{
    const uint g = get_local_id(0) % 32 / 4, t = get_local_id(0) % 4;
    REAL a[4][HELD_A], b[4][HELD_B];

#pragma unroll
    for (uint r = 0; r < 4; r++)
#pragma unroll
        for (uint e = 0; e < HELD_A; e++)
            a[r][e] = tile_a[place(!TRANS_A, i0 + 16 * r + g + e % 2 * 8, p0 + e / 2 * 4 + t)];
#pragma unroll
    for (uint s = 0; s < 4; s++)
#pragma unroll
        for (uint e = 0; e < HELD_B; e++)
            b[s][e] = tile_b[place(TRANS_B, j0 + 8 * s + g, p0 + e * 4 + t)];
#pragma unroll
    for (uint r = 0; r < 4; r++)
#pragma unroll
        for (uint s = 0; s < 4; s++)
            multiply(sum + (4 * r + s) * 4, a[r], b[s]);
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
matmul_mma(__global const factor *restrict a, __global const factor *restrict b,
           __global result *restrict c, const matmul_call call)
{
    const uint m = call.m, n = call.n, k = call.k;
    const uint lda = call.lda, ldb = call.ldb, ldc = call.ldc;
    __local REAL tile_a[2][TILE(!TRANS_A)] __attribute__((aligned(32)));
    __local REAL tile_b[2][TILE(TRANS_B)] __attribute__((aligned(32)));
    const uint item = get_local_id(0), warp = item / 32, lane = item % 32;
    /* From the offset on, where a launch of many groups was split. */
    const uint i0 = (get_group_id(1) + get_global_offset(1)) * TILE_M;
    const uint j0 = get_group_id(0) * TILE_N;
    const uint row = warp / 4 * 64, column = warp % 4 * 32; /* of the warp, in the tile */
    real4 next_a[LOADS_A], next_b[LOADS_B];
    REAL sum[4 * 4 * 4];
    uint now = 0;

#pragma unroll
    for (uint e = 0; e < 64; e++)
        sum[e] = 0;
    a += in_batch(call.offset_a, call.stride_a);
    b += in_batch(call.offset_b, call.stride_b);
    fetch(next_a, next_b, item, a, lda, i0, m, b, ldb, j0, n, 0, k);
    keep(next_a, LOADS_A, !TRANS_A, item, tile_a[0]);
    keep(next_b, LOADS_B, TRANS_B, item, tile_b[0]);
    /* Filled before read: below, we read what other work-items wrote. */
    barrier(CLK_LOCAL_MEM_FENCE);
    /* Volatile assembly in an unmarked loop is unrolled up to a thousand times. */
#pragma unroll 1
    for (uint p0 = 0; p0 < k; p0 += DEPTH, now ^= 1) {
        const bool more = k - p0 > DEPTH;

        if (more)
            fetch(next_a, next_b, item, a, lda, i0, m, b, ldb, j0, n, p0 + DEPTH, k);
#pragma unroll
        for (uint p = 0; p < DEPTH; p += K)
            multiply_slice(sum, tile_a[now], row, tile_b[now], column, p);
        if (more) {
            keep(next_a, LOADS_A, !TRANS_A, item, tile_a[now ^ 1]);
            keep(next_b, LOADS_B, TRANS_B, item, tile_b[now ^ 1]);
        }
        /* The other tiles are filled before they are read, and these read before they are
         * refilled in the next round. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c += in_batch(call.offset_c, call.stride_c);
#pragma unroll
    for (uint e = 0; e < 64; e++) {
        const uint i = i0 + row + e / 16 * 16 + lane / 4 + e / 2 % 2 * 8;
        const uint j = j0 + column + e / 4 % 4 * 8 + lane % 4 * 2 + e % 2;

        if (i < m && j < n)
            update_result(c + (ulong)i * ldc + j, call.alpha, sum[e], call.beta);
    }
}
