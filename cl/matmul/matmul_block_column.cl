/* C := A B: several elements of one column of C per work-item.
 *
 * Idea: each work-item computes BLOCK elements of C instead of one, all in the same column.  For
 *     every p it reads one element of the tile of B and uses it BLOCK times from a register: BLOCK
 *     + 1 loads from local memory for BLOCK multiply-adds, where one element takes 2 for each.
 * Work split: a work-group of TILE x ROWS work-items, ROWS = TILE / BLOCK, computes a tile of C of
 *     TILE x TILE.  Work-item (x, y) computes column x and rows y, y + ROWS, ...; neighbours in x
 *     read and write neighbours, and share every element of A.  All work-items load TILE x DEPTH of
 *     A and DEPTH x TILE of B together (matmul_tiles.clh).
 * Parameters: TILE, a multiple of BLOCK; BLOCK; DEPTH.
 * Launch: 2-D, work-groups of TILE x ROWS, one for each tile of C that is begun.
 * Local memory: 2 * DEPTH * TILE floats, both tiles with k as the slow dimension.
 * Traffic: 2 k / TILE global and k (1 + 1 / BLOCK) local loads an element.
 * Limits: A is m x k, B is k x n, C is m x n, row by row without gaps; m, n and k up to 2^31.
 */
#ifndef TILE
#error "TILE: side of the tiles of C, a multiple of BLOCK"
#endif
#ifndef BLOCK
#error "BLOCK: elements of C of a work-item"
#endif
#ifndef DEPTH
#error "DEPTH: extent of the tiles along k"
#endif

#define ROWS  (TILE / BLOCK)
#define ITEMS (TILE * ROWS)

#include "matmul/matmul_tiles.clh"

__kernel __attribute__((reqd_work_group_size(TILE, ROWS, 1))) void
matmul_block_column(uint m, uint n, uint k, __global const float *restrict a,
                    __global const float *restrict b, __global float *restrict c)
{
    __local float tile_a[DEPTH][TILE];
    __local float tile_b[DEPTH][TILE];
    const uint x = get_local_id(0);
    const uint y = get_local_id(1);
    const uint item = y * TILE + x;
    /* From the offset on, where a launch of many groups was split. */
    const uint row0 = (get_group_id(1) + get_global_offset(1) / ROWS) * TILE;
    const uint column0 = get_group_id(0) * TILE;
    float sum[BLOCK];

#pragma unroll
    for (uint r = 0; r < BLOCK; r++)
        sum[r] = 0;
    for (uint p0 = 0; p0 < k; p0 += DEPTH) {
        load_tile_a(tile_a, a, m, k, row0, p0, item);
        load_tile_b(tile_b, b, n, k, column0, p0, item);
        /* Filled before read: below, we read what other work-items wrote. */
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint p = 0; p < DEPTH; p++) {
            const float of_b = tile_b[p][x];

#pragma unroll
            for (uint r = 0; r < BLOCK; r++)
                sum[r] += tile_a[p][y + r * ROWS] * of_b;
        }
        /* Read before refilled: the next round overwrites both tiles. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (uint r = 0; r < BLOCK; r++) {
        const uint row = row0 + y + r * ROWS, column = column0 + x;

        if (row < m && column < n)
            c[(ulong)row * n + column] = sum[r];
    }
}
