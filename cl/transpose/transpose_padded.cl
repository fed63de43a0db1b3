/* B := A^T: a tile with a column to spare.
 *
 * Idea: the tile's rows are one element longer than they need be, so that the elements of a column
 *     are TILE + 1 apart: each in the bank next to that of the one before, and all are served at
 *     once.
 * Work split: work-group (x, y) moves the tile of TILE x TILE elements that is x tiles to the right and
 *     y down in A; its work-items take a row of the tile, then the one ITEMS further down.
 * Parameters: TILE, rows and columns of a tile; ITEMS, rows of work-items.
 * Launch: 2-D, work-groups of TILE x ITEMS, one for each tile that is begun.
 * Local memory: TILE * (TILE + 1) floats.
 * Limits: elements of 4 bytes; one matrix, row by row without gaps.
 */
#ifndef TILE
#error "TILE: rows and columns of a tile"
#endif
#ifndef ITEMS
#error "ITEMS: rows of work-items, a divisor of TILE"
#endif

__kernel __attribute__((reqd_work_group_size(TILE, ITEMS, 1))) void
transpose_padded(ulong rows, ulong columns, __global const float *restrict a, ulong from_a,
                  __global float *restrict b, ulong from_b)
{
    __local float tile[TILE][TILE + 1];
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
