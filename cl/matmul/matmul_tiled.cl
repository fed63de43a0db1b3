/* C := A B: square tiles of A and B in local memory.
 *
 * Idea: a work-group computes one TILE x TILE tile of C.  It walks along k in steps of TILE: all
 *     work-items load one tile of A and one of B into local memory together, then each takes a row
 *     and a column of them from there.  Each element loaded from global memory serves TILE
 *     work-items.
 * Work split: work-item (x, y) of a work-group loads element (y, x) of both tiles and computes
 *     element (y, x) of the tile of C.
 * Parameters: TILE.
 * Launch: 2-D, work-groups of TILE x TILE, one for each tile of C that is begun.
 * Local memory: 2 * TILE * TILE floats.
 * Traffic: 2 k / TILE loads an element: TILE times less than without tiles.
 * Limits: A is m x k, B is k x n, C is m x n, row by row without gaps; m, n and k up to 2^31.
 */
#ifndef TILE
#error "TILE: side of the square tiles"
#endif

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
matmul_tiled(uint m, uint n, uint k, __global const float *restrict a,
             __global const float *restrict b, __global float *restrict c)
{
    __local float tile_a[TILE][TILE];
    __local float tile_b[TILE][TILE];
    const uint x = get_local_id(0);
    const uint y = get_local_id(1);
    const uint row = get_global_id(1);
    const uint column = get_group_id(0) * TILE + x;
    float sum = 0;

    for (uint p0 = 0; p0 < k; p0 += TILE) {
        /* Out-of-range elements load as 0 and add nothing.  Guarding the load, not the work-item,
         * lets everyone reach both barriers. */
        tile_a[y][x] = row < m && p0 + x < k ? a[(ulong)row * k + p0 + x] : 0;
        tile_b[y][x] = p0 + y < k && column < n ? b[(ulong)(p0 + y) * n + column] : 0;
        /* Filled before read: below, we read what other work-items wrote. */
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint p = 0; p < TILE; p++)
            sum += tile_a[y][p] * tile_b[p][x];
        /* Read before refilled: the next round overwrites both tiles. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && column < n)
        c[(ulong)row * n + column] = sum;
}
