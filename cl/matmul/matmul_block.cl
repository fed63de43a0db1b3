/* C := alpha op(A) op(B) + beta C: a register block per work-item.
 *
 * Idea: matmul_block_column.cl in both dimensions: each work-item computes
 *     BLOCK x BLOCK outputs.  For every p it reads BLOCK elements of each tile
 *     from local memory and uses each of them BLOCK times from a register.
 * Work split: a work-group of SIDE x SIDE work-items computes a tile of C of
 *     TILE x TILE, TILE = SIDE * BLOCK.  Work-item (x, y) computes rows y,
 *     y + SIDE, ... and columns x, x + SIDE, ..., so that neighbours read and
 *     write neighbours.  All work-items load TILE x DEPTH of A and DEPTH x TILE
 *     of B together, in the order in which the elements lie in memory.
 * Parameters: SIDE, BLOCK, DEPTH; REAL, REAL_BITS (real.clh); FACTOR, RESULT
 *     (matmul_elements.clh); TRANS_A, TRANS_B (matmul_access.clh).
 * Launch: 3-D, work-groups of SIDE x SIDE x 1, one per started tile of C, a
 *     layer of them for each product of the batch.
 * Local memory: 2 * DEPTH * TILE elements, both tiles with k as the slow
 *     dimension.
 * Traffic: 2 k / TILE global and 2 k / BLOCK local loads an output.
 * Limits: m, n, k and the leading dimensions up to 2^31.
 */
#ifndef SIDE
#error "SIDE: work-items along each side of a group"
#endif
#ifndef BLOCK
#error "BLOCK: outputs of a work-item along each side"
#endif
#ifndef DEPTH
#error "DEPTH: extent of the tiles along k"
#endif

#define TILE  (SIDE * BLOCK)
#define ITEMS (SIDE * SIDE)

#include "matmul/matmul_tiles.clh"

__kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1))) void
matmul_block(uint m, uint n, uint k, REAL alpha, __global const factor *restrict a, ulong offset_a,
             uint lda, __global const factor *restrict b, ulong offset_b, uint ldb, REAL beta,
             __global result *restrict c, ulong offset_c, uint ldc, ulong stride_a, ulong stride_b,
             ulong stride_c)
{
    __local REAL tile_a[DEPTH][TILE];
    __local REAL tile_b[DEPTH][TILE];
    const uint x = get_local_id(0);
    const uint y = get_local_id(1);
    const uint item = y * SIDE + x;
    const uint i0 = get_group_id(1) * TILE;
    const uint j0 = get_group_id(0) * TILE;
    REAL sum[BLOCK][BLOCK];

#pragma unroll
    for (uint r = 0; r < BLOCK; r++)
#pragma unroll
        for (uint s = 0; s < BLOCK; s++)
            sum[r][s] = 0;
    a += in_batch(offset_a, stride_a);
    b += in_batch(offset_b, stride_b);
    for (uint p0 = 0; p0 < k; p0 += DEPTH) {
        load_tile_a(tile_a, a, lda, i0, m, p0, k, item);
        load_tile_b(tile_b, b, ldb, j0, n, p0, k, item);
        /* Filled before read: below, we read what other work-items wrote. */
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint p = 0; p < DEPTH; p++) {
            REAL column[BLOCK];
            REAL row[BLOCK];

#pragma unroll
            for (uint r = 0; r < BLOCK; r++) {
                column[r] = tile_a[p][y + r * SIDE];
                row[r] = tile_b[p][x + r * SIDE];
            }
#pragma unroll
            for (uint r = 0; r < BLOCK; r++)
#pragma unroll
                for (uint s = 0; s < BLOCK; s++)
                    sum[r][s] += column[r] * row[s];
        }
        /* Read before refilled: the next round overwrites both tiles. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c += in_batch(offset_c, stride_c);
#pragma unroll
    for (uint r = 0; r < BLOCK; r++) {
        const uint i = i0 + y + r * SIDE;

#pragma unroll
        for (uint s = 0; s < BLOCK; s++) {
            const uint j = j0 + x + s * SIDE;

            if (i < m && j < n)
                update_result(c + (ulong)i * ldc + j, alpha, sum[r][s], beta);
        }
    }
}
