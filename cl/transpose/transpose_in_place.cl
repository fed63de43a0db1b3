/* B := B^T, of square matrices: two tiles change places.
 *
 * Idea: the tile at (i, j) is where the transpose of the one at (j, i) goes, and the reverse.  A
 *     work-group reads both into local memory before it writes either, and nothing else is needed: no
 *     second matrix.  Those on the diagonal are by themselves.
 * Work split: work-group g is tile g % tiles of matrix g / tiles, counted row by row; one that is below
 *     the diagonal does nothing, since its partner does.  Work-items take rows as in
 *     transpose_general.
 * Parameters: PART, PARTS, TILE, ITEMS (transpose_element.clh).
 * Launch: 1-D, work-groups of TILE * ITEMS, one for each tile that is begun.
 * Local memory: two tiles.
 */
#include "transpose/transpose_element.clh"

/* A call, as one argument; the host's square_call has the same members. */
typedef struct square_call {
    ulong n;      /* rows and columns */
    ulong from;   /* the first element */
    ulong ld;     /* from row to row */
    ulong stride; /* from matrix to matrix */
} square_call;

__kernel __attribute__((reqd_work_group_size(TILE *ITEMS, 1, 1))) void
transpose_in_place(__global element *b, const square_call call)
{
    __local element upper[TILE * PITCH], lower[TILE * PITCH];
    const ulong across = (call.n + TILE - 1) / TILE;
    const ulong matrix = get_group_id(0) / (across * across);
    const ulong row = get_group_id(0) / across % across * TILE;
    const ulong column = get_group_id(0) % across * TILE;
    const uint x = (uint)get_local_id(0) % TILE, y = (uint)get_local_id(0) / TILE;
    const uint rows = (uint)min(call.n - row, (ulong)TILE);
    const uint columns = (uint)min(call.n - column, (ulong)TILE);
    const bool mine = row <= column, pair = row < column;
    __global element *above, *below;

    b += call.from + matrix * call.stride;
    above = b + row * call.ld + column;
    below = b + column * call.ld + row;
    for (uint i = y; i < rows && mine; i += ITEMS)
        if (x < columns)
            upper[i * PITCH + x] = above[i * call.ld + x];
    for (uint i = y; i < columns && pair; i += ITEMS)
        if (x < rows)
            lower[i * PITCH + x] = below[i * call.ld + x];
    /* Both are read before either is written, and columns come from other work-items. */
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (uint i = y; i < columns && mine; i += ITEMS)
        if (x < rows)
            below[i * call.ld + x] = upper[x * PITCH + i];
    for (uint i = y; i < rows && pair; i += ITEMS)
        if (x < columns)
            above[i * call.ld + x] = lower[x * PITCH + i];
}
