/* Matrix-vector product: x comes through local memory, once for all rows of a work-group.
 *
 * Idea: where each team reads x for its own row, x passes through the caches once for
 *     every row.  Here a work-group copies TILE elements of it into local memory, and
 *     each of its teams uses them for ROWS rows; loads from global memory are A's alone.
 * Work split: work-group g computes the rows from g * TEAMS * ROWS on, team t those
 *     TEAMS apart from the t-th of them; lane l takes columns l, l + TEAM, ... of each
 *     tile.  Where A is transposed, neighbours in memory are neighbouring rows of
 *     op(A): then work-items are dealt to the teams in turn, as in tree.
 * Parameters: TEAM, a power of 2; ROWS; TILE; LOCAL, work-items in a
 *     work-group: GROUP, or less where the device takes fewer, a multiple of
 *     TEAM; REAL, REAL_BITS (real.clh); TRANS, STRIDED, FACTOR, RESULT
 *     (matvec.clh).
 * Launch: for each product work-groups of LOCAL, one per started TEAMS * ROWS
 *     rows.
 * Local memory: TILE + ROWS * LOCAL elements.
 * Limits: rows and columns below 2^31.
 */
#include "matvec/matvec.clh"

#ifndef TEAM
#error "TEAM: work-items that share a row, a power of two"
#endif
#ifndef ROWS
#error "ROWS: rows of a team"
#endif
#ifndef TILE
#error "TILE: elements of x in local memory at a time"
#endif
#ifndef LOCAL
#error "LOCAL: work-items in a work-group, a multiple of TEAM"
#endif

#define TEAMS (LOCAL / TEAM)

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
matvec_local_x(__global const factor *restrict a, __global const factor *restrict x,
               __global result *restrict y, const matvec_call call)
{
    __local REAL slab[TILE];
    __local REAL partial[ROWS * LOCAL];
    const uint rows = (uint)call.rows, columns = (uint)call.columns;
    const uint item = get_local_id(0);
    const uint team = TRANS ? item % TEAMS : item / TEAM;
    const uint lane = TRANS ? item / TEAMS : item % TEAM;
    const uint first = (uint)get_group_id(0) * TEAMS * ROWS + team;
    __global const factor *line[ROWS];
    REAL sum[ROWS];

    a += of_product(call.offset_a, call.stride_a);
    x += of_product(call.offset_x, call.stride_x);
    y += of_product(call.offset_y, call.stride_y);
    /* The loops over rows are unrolled: only then do the arrays live in registers. */
#pragma unroll
    for (uint r = 0; r < ROWS; r++) {
        /* Beyond the last row the last one is summed again, and not stored. */
        line[r] = a + a_index(call.lda, min(first + r * TEAMS, rows - 1), 0);
        sum[r] = 0;
    }
    for (uint c0 = 0; c0 < columns; c0 += TILE) {
        const uint width = min((uint)TILE, columns - c0);

        for (uint c = item; c < width; c += LOCAL)
            slab[c] = load_factor(x + v_index(call.incx, c0 + c));
        /* Filled before read: every work-item brought a part of the tile. */
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint c = lane; c < width; c += TEAM) {
            const REAL value = slab[c];

#pragma unroll
            for (uint r = 0; r < ROWS; r++)
                sum[r] += load_factor(line[r] + a_index(call.lda, 0, c0 + c)) * value;
        }
        /* Read before refilled: the next round overwrites the tile. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (uint r = 0; r < ROWS; r++)
        partial[r * LOCAL + item] = sum[r];
    /* Each row has memory of its own for its tree. */
#pragma unroll 1
    for (uint r = 0; r < ROWS; r++) {
        __local REAL *mine = partial + r * LOCAL + item;
        const uint row = first + r * TEAMS;
        const REAL total = tree_reduce(mine, TRANS ? TEAMS : 1, lane, TEAM, *mine);

        if (lane == 0 && row < rows)
            update_y(y, row, total, call);
    }
}
