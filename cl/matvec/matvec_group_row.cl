/* y := A x: a row for each work-group, reduced in two levels.
 *
 * Idea: all work-items of a group on one row keep more loads in flight where rows are long.  A tree
 *     over all of them would have log2(GROUP) rounds with a barrier for everyone.  Here each team
 *     of TEAM adds its sums up by a tree of its own, all teams in the same rounds, and then the
 *     first team adds up what the teams have.
 * Work split: work-group g computes rows g, g + groups, ...; work-item i takes columns i,
 *     i + GROUP, ...
 * Parameters: TEAM, a power of 2; GROUP, work-items in a work-group, a multiple of TEAM.
 * Launch: 1-D, any number of work-groups of GROUP.
 * Local memory: GROUP + GROUP / TEAM floats.
 * Limits: A is rows x columns, row by row without gaps; both below 2^31.
 */
#ifndef TEAM
#error "TEAM: work-items of the first level, a power of two"
#endif
#ifndef GROUP
#error "GROUP: work-items in a work-group, a multiple of TEAM"
#endif

#define TEAMS (GROUP / TEAM)

/* The sum of `value` over each team of TEAM work-items, in the first of them. */
static inline float team_sum(__local float *sums, float value)
{
    const uint item = get_local_id(0);
    const uint lane = item % TEAM;

    sums[item] = value;
    for (uint reach = TEAM / 2; reach > 0; reach /= 2) {
        /* Filled before read: lane + reach wrote its sum in the round before. */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < reach)
            sums[item] += sums[item + reach];
    }
    return sums[item];
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
matvec_group_row(uint rows, uint columns, __global const float *restrict a,
                 __global const float *restrict x, __global float *restrict y)
{
    __local float sums[GROUP];
    __local float of_teams[TEAMS];
    const uint item = get_local_id(0);

    for (uint row = get_group_id(0); row < rows; row += get_num_groups(0)) {
        float sum = 0;

        for (uint c = item; c < columns; c += GROUP)
            sum += a[(ulong)row * columns + c] * x[c];
        sum = team_sum(sums, sum);
        if (item % TEAM == 0)
            of_teams[item / TEAM] = sum;
        /* Filled before read: the first team reads every team's sum.  And read before refilled: the
         * second level uses `sums` again. */
        barrier(CLK_LOCAL_MEM_FENCE);
        sum = 0;
        if (item < TEAM)
            for (uint t = item; t < TEAMS; t += TEAM)
                sum += of_teams[t];
        /* The other teams add zeros, and reach the barriers. */
        sum = team_sum(sums, sum);
        if (item == 0)
            y[row] = sum;
        /* Read before refilled: the next row uses both arrays again. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
