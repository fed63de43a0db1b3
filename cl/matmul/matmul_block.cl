/* C := A B: a register block per work-item.
 *
 * Idea: matmul_block_column.cl in both dimensions: each work-item computes BLOCK x BLOCK elements
 *     of C.  For every p it reads BLOCK elements of each tile from local memory and uses each of
 *     them BLOCK times from a register.
 * Work split: a work-group of SIDE x SIDE work-items computes a tile of C of TILE x TILE, TILE =
 *     SIDE * BLOCK.  Work-item (x, y) computes rows y, y + SIDE, ... and columns x, x + SIDE, ...,
 *     so that neighbours read and write neighbours.  All work-items load TILE x DEPTH of A and
 *     DEPTH x TILE of B together (matmul_tiles.clh).
 * Parameters: SIDE, BLOCK, DEPTH.
 * Launch: 2-D, work-groups of SIDE x SIDE, one for each tile of C that is begun.
 * Local memory: 2 * DEPTH * TILE floats, both tiles with k as the slow dimension.
 * Traffic: 2 k / TILE global and 2 k / BLOCK local loads an element.
 * Limits: A is m x k, B is k x n, C is m x n, row by row without gaps; m, n and k up to 2^31.
 */
#ifndef SIDE
#error "SIDE: work-items along each side of a group"
#endif
#ifndef BLOCK
#error "BLOCK: elements of C of a work-item along each side"
#endif
#ifndef DEPTH
#error "DEPTH: extent of the tiles along k"
#endif

#define TILE  (SIDE * BLOCK)
#define ITEMS (SIDE * SIDE)

#include "matmul/matmul_tiles.clh"

__kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1))) void
matmul_block(uint m, uint n, uint k, __global const float *restrict a,
             __global const float *restrict b, __global float *restrict c)
{
    __local float tile_a[DEPTH][TILE];
    __local float tile_b[DEPTH][TILE];
    const uint x = get_local_id(0);
    const uint y = get_local_id(1);
    const uint item = y * SIDE + x;
    /* From the offset on, where a launch of many groups was split. */
    const uint row0 = (get_group_id(1) + get_global_offset(1) / SIDE) * TILE;
    const uint column0 = get_group_id(0) * TILE;
    float sum[BLOCK][BLOCK];

#pragma unroll
    for (uint r = 0; r < BLOCK; r++)
#pragma unroll
        for (uint s = 0; s < BLOCK; s++)
            sum[r][s] = 0;
    for (uint p0 = 0; p0 < k; p0 += DEPTH) {
        load_tile_a(tile_a, a, m, k, row0, p0, item);
        load_tile_b(tile_b, b, n, k, column0, p0, item);
        /* Filled before read: below, we read what other work-items wrote. */
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint p = 0; p < DEPTH; p++) {
            float of_a[BLOCK];
            float of_b[BLOCK];

#pragma unroll
            for (uint r = 0; r < BLOCK; r++) {
                of_a[r] = tile_a[p][y + r * SIDE];
                of_b[r] = tile_b[p][x + r * SIDE];
            }
#pragma unroll
            for (uint r = 0; r < BLOCK; r++)
#pragma unroll
                for (uint s = 0; s < BLOCK; s++)
                    sum[r][s] += of_a[r] * of_b[s];
        }
        /* Read before refilled: the next round overwrites both tiles. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (uint r = 0; r < BLOCK; r++)
#pragma unroll
        for (uint s = 0; s < BLOCK; s++) {
            const uint row = row0 + y + r * SIDE, column = column0 + x + s * SIDE;

            if (row < m && column < n)
                c[(ulong)row * n + column] = sum[r][s];
        }
}
