/* y := A x: x comes through local memory, once for all rows of a work-group.
 *
 * Idea: where each team reads x for its own row, x passes through the caches once for every row.
 *     Here a work-group copies TILE elements of x into local memory, and each of its teams uses
 *     them for ROWS rows: what is loaded from global memory for each row is A alone.
 * Work split: work-group g computes the GROUP / TEAM * ROWS rows from g * GROUP / TEAM * ROWS on, a
 *     team of TEAM work-items ROWS of them, GROUP / TEAM apart; work-item `lane` of a team takes
 *     columns lane, lane + TEAM, ... of each tile of x.  A tree adds up the sums of a team, as in
 *     matvec_tree.cl.
 * Parameters: TEAM, a power of 2; ROWS; TILE; GROUP, work-items in a work-group, a multiple of
 *     TEAM.
 * Launch: 1-D, work-groups of GROUP, one for every GROUP / TEAM * ROWS rows that are begun.
 * Local memory: TILE + GROUP floats.
 * Limits: A is rows x columns, row by row without gaps; both below 2^31.
 */
#ifndef TEAM
#error "TEAM: work-items that share a row, a power of two"
#endif
#ifndef ROWS
#error "ROWS: rows of a team"
#endif
#ifndef TILE
#error "TILE: elements of x in local memory at a time"
#endif
#ifndef GROUP
#error "GROUP: work-items in a work-group, a multiple of TEAM"
#endif

#define TEAMS (GROUP / TEAM)

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
matvec_local_x(uint rows, uint columns, __global const float *restrict a,
               __global const float *restrict x, __global float *restrict y)
{
    __local float tile[TILE];
    __local float sums[GROUP];
    const uint item = get_local_id(0);
    const uint lane = item % TEAM;
    const uint first = get_group_id(0) * TEAMS * ROWS + item / TEAM;
    float sum[ROWS];

    /* Loops over rows are unrolled: only then does the array live in registers. */
#pragma unroll
    for (uint r = 0; r < ROWS; r++)
        sum[r] = 0;
    for (uint c0 = 0; c0 < columns; c0 += TILE) {
        const uint width = min((uint)TILE, columns - c0);

        for (uint c = item; c < width; c += GROUP)
            tile[c] = x[c0 + c];
        /* Filled before read: every work-item brought a part of the tile. */
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint c = lane; c < width; c += TEAM) {
#pragma unroll
            for (uint r = 0; r < ROWS; r++) {
                /* Beyond the last row the last one is summed again, and not stored. */
                const uint row = min(first + r * TEAMS, rows - 1);

                sum[r] += a[(ulong)row * columns + c0 + c] * tile[c];
            }
        }
        /* Read before refilled: the next round overwrites the tile. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (uint r = 0; r < ROWS; r++) {
        const uint row = first + r * TEAMS;

        sums[item] = sum[r];
        for (uint reach = TEAM / 2; reach > 0; reach /= 2) {
            /* Filled before read: lane + reach wrote its sum in the round before. */
            barrier(CLK_LOCAL_MEM_FENCE);
            if (lane < reach)
                sums[item] += sums[item + reach];
        }
        if (lane == 0 && row < rows)
            y[row] = sums[item];
        /* Read before refilled: the next row uses the sums again. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
