/* Matrix-vector product: a row of op(A) per work-group, reduced in two levels.
 *
 * Idea: a whole work-group on one row keeps more loads in flight where rows are
 *     long.  Each work-item sums its columns, each team reduces its sums, and
 *     the first team reduces the sums of the teams.
 * Work split: work-group g computes rows g, g + groups, ...; work-item i takes
 *     columns i, i + LOCAL, ...
 * Parameters: TEAM, a power of 2; LOCAL, work-items in a work-group: GROUP, or
 *     less where the device takes fewer, a multiple of TEAM; REAL, REAL_BITS
 *     (real.clh); TRANS, STRIDED, FACTOR, RESULT (matvec.clh).
 * Launch: for each product any number of work-groups of LOCAL.
 * Local memory: LOCAL + LOCAL / TEAM elements.
 * Limits: rows and columns below 2^31.
 */
#include "matvec/matvec.clh"

#ifndef TEAM
#error "TEAM: work-items of the first level, a power of two"
#endif
#ifndef LOCAL
#error "LOCAL: work-items in a work-group, a multiple of TEAM"
#endif

#define TEAMS (LOCAL / TEAM)

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
matvec_group_row(__global const factor *restrict a, __global const factor *restrict x,
                 __global result *restrict y, const matvec_call call)
{
    __local REAL partial[LOCAL];
    __local REAL team_total[TEAMS];
    const uint rows = (uint)call.rows, columns = (uint)call.columns;
    const uint item = get_local_id(0);
    const uint team = item / TEAM;
    const uint lane = item % TEAM;
    const uint groups = get_num_groups(0);

    a += of_product(call.offset_a, call.stride_a);
    x += of_product(call.offset_x, call.stride_x);
    y += of_product(call.offset_y, call.stride_y);
    for (uint row = get_group_id(0); row < rows; row += groups) {
        REAL sum = 0;

        for (uint c = item; c < columns; c += LOCAL)
            sum += load_factor(a + a_index(call.lda, row, c)) *
                   load_factor(x + v_index(call.incx, c));
        sum = tree_reduce(partial + item, 1, lane, TEAM, sum);
        if (lane == 0)
            team_total[team] = sum;
        /* Filled before read: the first team reads every team's sum.  And read
         * before refilled: the second level reuses `partial`. */
        barrier(CLK_LOCAL_MEM_FENCE);
        sum = 0;
        if (team == 0)
            for (uint t = lane; t < TEAMS; t += TEAM)
                sum += team_total[t];
        /* The other teams add zeros, and reach the barriers. */
        sum = tree_reduce(partial + item, 1, lane, TEAM, sum);
        if (item == 0)
            update_y(y, row, sum, call);
        /* Read before refilled: the next row reuses both arrays. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
