/* B := A^T: a tile whose columns are shuffled.
 *
 * Idea: the tile as it is, without padding, but element (i, x) is kept at column x XOR i.  In a row
 *     that is another order of the same banks; in a column i takes all values, and so does the bank.
 *     What padding costs is free for more work-groups.
 * Work split: work-group (x, y) moves the tile of TILE x TILE elements that is x tiles to the right and
 *     y down in A; its work-items take a row of the tile, then the one ITEMS further down.
 * Parameters: TILE, rows and columns of a tile, a power of 2; ITEMS, rows of work-items.
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
transpose_swizzle(ulong rows, ulong columns, __global const float *restrict a, ulong from_a,
                   __global float *restrict b, ulong from_b)
{
    __local float tile[TILE][TILE];
    const uint x = (uint)get_local_id(0), y = (uint)get_local_id(1);
    const ulong column = get_group_id(0) * TILE, row = get_group_id(1) * TILE;

    for (uint i = y; i < TILE; i += ITEMS)
        if (row + i < rows && column + x < columns)
            tile[i][x ^ i] = a[from_a + (row + i) * columns + column + x];
    /* Filled before read: a column of the tile comes from other work-items. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = y; i < TILE; i += ITEMS)
        if (column + i < columns && row + x < rows)
            b[from_b + (column + i) * rows + row + x] = tile[x][i ^ x];
}
