/* C := alpha op(A) op(B) + beta C: tiles that arrive while others are multiplied.
 *
 * Idea: three changes to matmul_vector.cl.  Each work-item keeps 8 x 8 sums, so
 *     four vectors from local memory serve 64 multiply-adds.  The work-items of
 *     a warp form a rectangle of 4 x 8, half of it 2 x 8, so that their loads
 *     from local memory meet in few addresses.  And there are two pairs of
 *     tiles: elements for the next one are on their way from global memory, in
 *     registers, while this one is multiplied, and one barrier a tile is enough.
 * Work split: a group computes TILE_M x TILE_N of C; 32 neighbouring work-items
 *     compute 32 x 64 of that, each of them 4 x 4 in each quarter.
 * Parameters: TILE_M, a multiple of 32, TILE_N, of 64; DEPTH; UNROLL, steps of
 *     the inner loop that are written out; ALIGNED_C, ALIGNED_A, ALIGNED_B:
 *     whether four neighbours that start at a multiple of 4 are an aligned
 *     vector; REAL, REAL_BITS (real.clh); FACTOR, RESULT (matmul_elements.clh);
 *     TRANS_A, TRANS_B (matmul_access.clh).
 * Launch: 3-D, work-groups of TILE_M * TILE_N / 64 x 1 x 1, one per started tile of C, a
 *     layer of them for each product of the batch.
 * Local memory: 2 * DEPTH * (TILE_M + TILE_N + 8) elements.
 * Limits: m, n, k and the leading dimensions up to 2^31.
 */
#include "matmul_access.clh"
#include "matmul_elements.clh"

#ifndef TILE_M
#error "TILE_M: rows of a work-group's tile, a multiple of 32"
#endif
#ifndef TILE_N
#error "TILE_N: columns of a work-group's tile, a multiple of 64"
#endif
#ifndef DEPTH
#error "DEPTH: extent of the tiles along k, a multiple of 4"
#endif
#ifndef UNROLL
#error "UNROLL: steps along k that are written out"
#endif

#define ITEMS (TILE_M * TILE_N / 64)
/* Four elements between rows, so that a tile stored across them uses more banks. */
#define ROW_A (TILE_M + 4)
#define ROW_B (TILE_N + 4)
#include "matmul_fetch.clh"
#include "matmul_update.clh"

/* Where load_vector's vector belongs: element (p, i) of the tile at p row + i. */
static inline void store_vector(__local REAL *tile, uint row, bool along, uint size, uint e,
                                real4 v)
{
    if (along) {
        __local REAL *to = tile + e % (DEPTH / 4) * 4 * row + e / (DEPTH / 4);

        to[0] = v.s0;
        to[row] = v.s1;
        to[2 * row] = v.s2;
        to[3 * row] = v.s3;
    } else {
        *(__local real4 *)(tile + e / (size / 4) * row + e % (size / 4) * 4) = v;
    }
}

IN_REGISTERS void keep(const real4 *next_a, const real4 *next_b, uint item, __local REAL *tile_a,
                       __local REAL *tile_b)
{
#pragma unroll
    for (uint e = 0; e < LOADS_A; e++)
        store_vector(tile_a, ROW_A, !TRANS_A, TILE_M, item + e * ITEMS, next_a[e]);
#pragma unroll
    for (uint e = 0; e < LOADS_B; e++)
        store_vector(tile_b, ROW_B, TRANS_B, TILE_N, item + e * ITEMS, next_b[e]);
}

/* sum[r][h] += element r of `column` times `row`, for four r. */
IN_REGISTERS void multiply(real4 *sum, real4 column, real4 row)
{
    sum[0] += column.s0 * row;
    sum[2] += column.s1 * row;
    sum[4] += column.s2 * row;
    sum[6] += column.s3 * row;
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
matmul_pipelined(uint m, uint n, uint k, REAL alpha, __global const factor *restrict a,
                 ulong offset_a, uint lda, __global const factor *restrict b, ulong offset_b,
                 uint ldb, REAL beta, __global result *restrict c, ulong offset_c, uint ldc,
                 ulong stride_a, ulong stride_b, ulong stride_c)
{
    __local REAL tile_a[2][DEPTH * ROW_A] __attribute__((aligned(32)));
    __local REAL tile_b[2][DEPTH * ROW_B] __attribute__((aligned(32)));
    const uint item = get_local_id(0), warp = item / 32, lane = item % 32;
    const uint i0 = get_group_id(1) * TILE_M, j0 = get_group_id(0) * TILE_N;
    /* This work-item's first row and column in the tile; the others are 16 and 32 further on.  Of
     * each 16 work-items two rows and eight columns: what they load together is 32 and 128 bytes,
     * so that local memory serves them at once. */
    const uint row = warp / (TILE_N / 64) * 32 + (lane / 16 * 2 + lane % 2) * 4;
    const uint column = warp % (TILE_N / 64) * 64 + lane % 16 / 2 * 4;
    real4 next_a[LOADS_A], next_b[LOADS_B];
    real4 sum[8][2]; /* of rows 0 to 3 and 16 to 19, columns 0 to 3 and 32 to 35 */
    uint now = 0;

#pragma unroll
    for (uint r = 0; r < 8; r++) {
        sum[r][0] = 0;
        sum[r][1] = 0;
    }
    a += in_batch(offset_a, stride_a);
    b += in_batch(offset_b, stride_b);
    fetch(next_a, next_b, item, a, lda, i0, m, b, ldb, j0, n, 0, k);
    keep(next_a, next_b, item, tile_a[0], tile_b[0]);
    /* Filled before read: below, we read what other work-items wrote. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint p0 = 0; p0 < k; p0 += DEPTH, now ^= 1) {
        const bool more = k - p0 > DEPTH;

        if (more)
            fetch(next_a, next_b, item, a, lda, i0, m, b, ldb, j0, n, p0 + DEPTH, k);
#pragma unroll UNROLL
        for (uint p = 0; p < DEPTH; p++) {
            __local const REAL *from_a = tile_a[now] + p * ROW_A + row;
            __local const REAL *from_b = tile_b[now] + p * ROW_B + column;
            const real4 upper = *(__local const real4 *)from_a;
            const real4 lower = *(__local const real4 *)(from_a + 16);
            const real4 left = *(__local const real4 *)from_b;
            const real4 right = *(__local const real4 *)(from_b + 32);

            multiply(&sum[0][0], upper, left);
            multiply(&sum[0][1], upper, right);
            multiply(&sum[4][0], lower, left);
            multiply(&sum[4][1], lower, right);
        }
        if (more)
            keep(next_a, next_b, item, tile_a[now ^ 1], tile_b[now ^ 1]);
        /* The other tiles are filled before they are read, and these read before they are
         * refilled in the next round. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c += in_batch(offset_c, stride_c);
#pragma unroll
    for (uint r = 0; r < 8; r++) {
        const uint i = i0 + row + r / 4 * 16 + r % 4;

        update4(c, ldc, i, j0 + column, m, n, alpha, sum[r][0], beta);
        update4(c, ldc, i, j0 + column + 32, m, n, alpha, sum[r][1], beta);
    }
}
