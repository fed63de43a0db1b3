/* C := alpha op(A) op(B) + beta C: several outputs of one column per work-item.
 *
 * Idea: each work-item computes BLOCK outputs instead of one, all in the same
 *     column.  For every p it reads one element of the tile of B and uses it
 *     BLOCK times from a register: BLOCK + 1 loads from local memory for BLOCK
 *     multiply-adds, where one output takes 2 for each.
 * Work split: a work-group of TILE x ROWS work-items, ROWS = TILE / BLOCK,
 *     computes a tile of C of TILE x TILE.  Work-item (x, y) computes column x
 *     and rows y, y + ROWS, ...; neighbours in x read and write neighbours, and
 *     share every element of A.  All work-items load TILE x DEPTH of A and
 *     DEPTH x TILE of B together, in the order in which the elements lie in
 *     memory.
 * Parameters: TILE, BLOCK, DEPTH; REAL, REAL_BITS (real.clh); FACTOR, RESULT
 *     (matmul_elements.clh); TRANS_A, TRANS_B (matmul_access.clh).
 * Launch: 3-D, work-groups of TILE x ROWS x 1, one per started tile of C, a
 *     layer of them for each product of the batch.
 * Local memory: 2 * DEPTH * TILE elements, both tiles with k as the slow
 *     dimension.
 * Traffic: 2 k / TILE global and k (1 + 1 / BLOCK) local loads an output.
 * Limits: m, n, k and the leading dimensions up to 2^31; TILE is a multiple of
 *     BLOCK.
 */
#ifndef TILE
#error "TILE: side of the tiles of C, a multiple of BLOCK"
#endif
#ifndef BLOCK
#error "BLOCK: outputs of a work-item"
#endif
#ifndef DEPTH
#error "DEPTH: extent of the tiles along k"
#endif

#define ROWS  (TILE / BLOCK)
#define ITEMS (TILE * ROWS)

#include "matmul/matmul_tiles.clh"

__kernel __attribute__((reqd_work_group_size(TILE, ROWS, 1))) void
matmul_block_column(uint m, uint n, uint k, REAL alpha, __global const factor *restrict a,
                    ulong offset_a, uint lda, __global const factor *restrict b, ulong offset_b,
                    uint ldb, REAL beta, __global result *restrict c, ulong offset_c, uint ldc,
                    ulong stride_a, ulong stride_b, ulong stride_c)
{
    __local REAL tile_a[DEPTH][TILE];
    __local REAL tile_b[DEPTH][TILE];
    const uint x = get_local_id(0);
    const uint y = get_local_id(1);
    const uint item = y * TILE + x;
    const uint i0 = get_group_id(1) * TILE;
    const uint j0 = get_group_id(0) * TILE;
    const uint j = j0 + x;
    REAL sum[BLOCK];

#pragma unroll
    for (uint r = 0; r < BLOCK; r++)
        sum[r] = 0;
    a += in_batch(offset_a, stride_a);
    b += in_batch(offset_b, stride_b);
    for (uint p0 = 0; p0 < k; p0 += DEPTH) {
        load_tile_a(tile_a, a, lda, i0, m, p0, k, item);
        load_tile_b(tile_b, b, ldb, j0, n, p0, k, item);
        /* Filled before read: below, we read what other work-items wrote. */
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint p = 0; p < DEPTH; p++) {
            const REAL top = tile_b[p][x];

#pragma unroll
            for (uint r = 0; r < BLOCK; r++)
                sum[r] += tile_a[p][y + r * ROWS] * top;
        }
        /* Read before refilled: the next round overwrites both tiles. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c += in_batch(offset_c, stride_c);
#pragma unroll
    for (uint r = 0; r < BLOCK; r++) {
        const uint i = i0 + y + r * ROWS;

        if (i < m && j < n)
            update_result(c + (ulong)i * ldc + j, alpha, sum[r], beta);
    }
}
