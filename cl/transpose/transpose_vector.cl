/* B := A^T: tiles by vectors of four elements, 16 bytes.
 *
 * Idea: as transpose_padded, but a work-item loads four neighbours of a row of A by one instruction,
 *     and stores four of a row of B: a quarter of the instructions, and larger tiles, whose rows
 *     are longer stretches of memory.  All loads of a work-item come before its first store.  In
 *     local memory the four go one by one: the rows of the tile have odd lengths.
 * Work split: work-group g moves tile g of A, counted row by row; its work-items are TILE / 4
 *     across and ITEMS down, and take rows of the tile in turns.
 * Parameters: TILE, rows and columns of a tile, a multiple of 4; ITEMS, rows of work-items, a
 *     divisor of TILE; ALIGNED: 1 where rows of A and of B begin at multiples of four elements,
 *     else 0: then a vector may be loaded in parts.
 * Launch: 1-D, work-groups of TILE / 4 * ITEMS, one for each tile that is begun.
 * Local memory: TILE * (TILE + 1) floats.
 * Limits: elements of 4 bytes; one matrix, row by row without gaps; fewer than 2^32 tiles.
 */
#ifndef TILE
#error "TILE: rows and columns of a tile, a multiple of 4"
#endif
#ifndef ITEMS
#error "ITEMS: rows of work-items, a divisor of TILE"
#endif
#ifndef ALIGNED
#error "ALIGNED: 1 where rows begin at multiples of 16 bytes, else 0"
#endif

#define VECTORS (TILE / 4)

#if ALIGNED
#define LOAD(from)   (*(__global const float4 *)(from))
#define STORE(v, to) (*(__global float4 *)(to) = (v))
#else
#define LOAD(from)   vload4(0, from)
#define STORE(v, to) vstore4(v, 0, to)
#endif

__kernel __attribute__((reqd_work_group_size(VECTORS *ITEMS, 1, 1))) void
transpose_vector(ulong rows, ulong columns, __global const float *restrict a, ulong from_a,
                 __global float *restrict b, ulong from_b)
{
    __local float tile[TILE][TILE + 1];
    const uint x = (uint)get_local_id(0) % VECTORS * 4, y = (uint)get_local_id(0) / VECTORS;
    const uint across = (uint)((columns + TILE - 1) / TILE), group = (uint)get_group_id(0);
    const ulong row = (ulong)(group / across) * TILE, column = (ulong)(group % across) * TILE;
    float4 next[TILE / ITEMS];

    a += from_a + row * columns + column;
    b += from_b + column * rows + row;
    /* All loads are on their way before the first is waited for. */
#pragma unroll
    for (uint l = 0; l < TILE / ITEMS; l++)
        if (row + y + l * ITEMS < rows && column + x + 4 <= columns)
            next[l] = LOAD(a + (y + l * ITEMS) * columns + x);
#pragma unroll
    for (uint l = 0; l < TILE / ITEMS; l++) {
        const uint i = y + l * ITEMS;

        if (row + i < rows && column + x + 4 <= columns) {
            tile[i][x] = next[l].x;
            tile[i][x + 1] = next[l].y;
            tile[i][x + 2] = next[l].z;
            tile[i][x + 3] = next[l].w;
        } else if (row + i < rows) {
            for (uint k = x; k < x + 4 && column + k < columns; k++)
                tile[i][k] = a[i * columns + k];
        }
    }
    /* Filled before read: a column of the tile comes from other work-items. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = y; i < TILE; i += ITEMS) {
        if (column + i < columns && row + x + 4 <= rows) {
            const float4 v = (float4)(tile[x][i], tile[x + 1][i], tile[x + 2][i], tile[x + 3][i]);

            STORE(v, b + i * rows + x);
        } else if (column + i < columns) {
            for (uint k = x; k < x + 4 && row + k < rows; k++)
                b[i * rows + k] = tile[k][i];
        }
    }
}
