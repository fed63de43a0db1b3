/* B := A^T: tiles of elements of any size, of a batch of matrices with rows at any distance.
 *
 * Idea: as transpose_padded.  Narrow elements have larger tiles, so that a row of one is a cache line
 *     and more, and more of them to spare, so that a column is in all banks.
 * Work split: work-group g moves tile g % tiles of matrix g / tiles, counted row by row; its
 *     work-items, TILE across and ITEMS down, take a row of the tile, then the one ITEMS further
 *     down.
 *     A row of B may begin in the middle of what memory writes at a time: there the
 *     tile's part of it begins up to SECTOR - 1 elements early.
 * Parameters: PART, PARTS, TILE, ITEMS (transpose_element.clh); SECTOR, elements that
 *     memory writes at a time, a power of two, or 1 where no row begins within.
 * Launch: 1-D, work-groups of TILE * ITEMS, one for each tile that is begun.
 * Local memory: TILE rows of a tile and what is to spare.
 * Limits: fewer than 2^32 tiles.
 */
#include "transpose/transpose_element.clh"

#if TILE % SECTOR
#error "SECTOR: a divisor of TILE, so that all tiles of a row of B begin as early"
#endif

/* Loads of a work-item. */
#define LOADS ((TILE + SECTOR - 1 + ITEMS - 1) / ITEMS)

/* A call, as one argument; the host's transpose_call has the same members. */
typedef struct transpose_call {
    ulong rows, columns;      /* of A */
    ulong from_a, from_b;     /* the first element of each */
    ulong ld_a, ld_b;         /* from row to row */
    ulong stride_a, stride_b; /* from matrix to matrix */
} transpose_call;

__kernel __attribute__((reqd_work_group_size(TILE *ITEMS, 1, 1))) void
transpose_general(__global const element *restrict a, __global element *restrict b,
                  const transpose_call call)
{
    __local element tile[(TILE + SECTOR - 1) * PITCH];
    const uint across = (uint)((call.columns + TILE - 1) / TILE);
    const uint down = (uint)((call.rows + SECTOR - 1 + TILE - 1) / TILE);
    const uint strip = (uint)get_group_id(0) / across, matrix = strip / down;
    const ulong row = (ulong)(strip % down) * TILE;
    const ulong column = (ulong)((uint)get_group_id(0) % across) * TILE;
    const uint x = (uint)get_local_id(0) % TILE, y = (uint)get_local_id(0) / TILE;
    const uint columns = (uint)min(call.columns - column, (ulong)TILE);
    const ulong from_b = call.from_b + matrix * call.stride_b + column * call.ld_b + row;
    element next[LOADS];
    const ulong first = row + y - (SECTOR - 1); /* wraps above the first: no row */
    const bool inside = x < columns;

    a += call.from_a + matrix * call.stride_a + column + x + first * call.ld_a;
    /* All loads are on their way before the first is waited for. */
#pragma unroll
    for (uint l = 0; l < LOADS; l++, a += ITEMS * call.ld_a)
        if (inside && first + l * ITEMS < call.rows && y + l * ITEMS < TILE + SECTOR - 1)
            next[l] = *a;
#pragma unroll
    for (uint l = 0; l < LOADS; l++)
        if (inside && first + l * ITEMS < call.rows && y + l * ITEMS < TILE + SECTOR - 1)
            tile[(y + l * ITEMS) * PITCH + x] = next[l];
    /* Filled before read: a column of the tile comes from other work-items. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = y; i < columns; i += ITEMS) {
        const ulong to = from_b + i * call.ld_b;
        const uint early = (uint)(to % SECTOR);
        const ulong r = row + x - early; /* likewise */

        if (r < call.rows)
            b[to - early + x] = tile[(x + SECTOR - 1 - early) * PITCH + i];
    }
}
