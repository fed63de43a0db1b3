/* B := A^T: through a tile in local memory.
 *
 * Idea: both sides want rows.  A work-group reads the rows of a square tile of A, and writes those of
 *     its transpose in B: whole cache lines either way.  The turn is made in local memory, where a
 *     column may be read as fast as a row; or nearly: the elements of a column are TILE apart, and
 *     with 32 banks of 4 bytes all of them are in one bank, which serves one at a time.
 * Work split: work-group (x, y) moves the tile of TILE x TILE elements that is x tiles to the right and
 *     y down in A; its work-items take a row of the tile, then the one ITEMS further down.
 * Parameters: TILE, rows and columns of a tile; ITEMS, rows of work-items.
 * Launch: 2-D, work-groups of TILE x ITEMS, one for each tile that is begun.
 * Local memory: TILE * TILE floats.
 * Limits: elements of 4 bytes; one matrix, row by row without gaps.
 */
#ifndef TILE
#error "TILE: rows and columns of a tile"
#endif
#ifndef ITEMS
#error "ITEMS: rows of work-items, a divisor of TILE"
#endif

__kernel __attribute__((reqd_work_group_size(TILE, ITEMS, 1))) void
transpose_tile(ulong rows, ulong columns, __global const float *restrict a, ulong from_a,
                __global float *restrict b, ulong from_b)
{
    __local float tile[TILE][TILE];
    const uint x = (uint)get_local_id(0), y = (uint)get_local_id(1);
    const ulong column = get_group_id(0) * TILE, row = get_group_id(1) * TILE;

    for (uint i = y; i < TILE; i += ITEMS)
        if (row + i < rows && column + x < columns)
            tile[i][x] = a[from_a + (row + i) * columns + column + x];
    /* Filled before read: a column of the tile comes from other work-items. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = y; i < TILE; i += ITEMS)
        if (column + i < columns && row + x < rows)
            b[from_b + (column + i) * rows + row + x] = tile[x][i];
}
