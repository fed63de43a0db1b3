/* Matrix-vector product: a row of op(A) per team of work-items, tree in local memory.
 *
 * Idea: the TEAM work-items of a team read neighbouring elements of one row, so
 *     that a row-major A is read in whole cache lines; their sums are added by a
 *     tree.
 * Work split: work-group g computes rows g * TEAMS to g * TEAMS + TEAMS - 1,
 *     team t of it one row; lane l takes columns l, l + TEAM, ...  Where A is
 *     transposed, neighbours in memory are neighbouring rows of op(A): then
 *     work-items are dealt to the teams in turn, and each team still sums one
 *     row.
 * Parameters: TEAM, a power of 2; LOCAL, work-items in a work-group: GROUP, or
 *     less where the device takes fewer, a multiple of TEAM; REAL, REAL_BITS
 *     (real.clh); TRANS, STRIDED, FACTOR, RESULT (matvec.clh).
 * Launch: for each product work-groups of LOCAL, one per started TEAMS rows.
 * Local memory: LOCAL elements.
 * Limits: rows and columns below 2^31.
 */
#include "matvec/matvec.clh"

#ifndef TEAM
#error "TEAM: work-items that share a row, a power of two"
#endif
#ifndef LOCAL
#error "LOCAL: work-items in a work-group, a multiple of TEAM"
#endif

#define TEAMS (LOCAL / TEAM)

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
matvec_tree(__global const factor *restrict a, __global const factor *restrict x,
                 __global result *restrict y, const matvec_call call)
{
    __local REAL partial[LOCAL];
    const uint rows = (uint)call.rows, columns = (uint)call.columns;
    const uint item = get_local_id(0);
    const uint team = TRANS ? item % TEAMS : item / TEAM;
    const uint lane = TRANS ? item / TEAMS : item % TEAM;
    const uint row = (uint)get_group_id(0) * TEAMS + team;
    REAL sum = 0;

    a += of_product(call.offset_a, call.stride_a);
    x += of_product(call.offset_x, call.stride_x);
    y += of_product(call.offset_y, call.stride_y);
    /* A team beyond the last row sums nothing, and reaches the barriers. */
    if (row < rows)
        for (uint c = lane; c < columns; c += TEAM)
            sum += load_factor(a + a_index(call.lda, row, c)) *
                   load_factor(x + v_index(call.incx, c));
    sum = tree_reduce(partial + item, TRANS ? TEAMS : 1, lane, TEAM, sum);
    if (lane == 0 && row < rows)
        update_y(y, row, sum, call);
}
