/* y := A x: a row for each team of TEAM work-items, whose sums a tree adds up.
 *
 * Idea: the work-items of a team read neighbouring elements of one row, so that A is read in whole
 *     cache lines.  Each then has a sum of its own.  They are added in local memory: the first half
 *     adds what the second half has, then half of those, until one is left.
 *
 *         TEAM 4      s0     s1     s2   s3
 *         reach 2     s0+s2  s1+s3
 *         reach 1     s0+s2+s1+s3
 *
 * Work split: work-group g computes GROUP / TEAM rows from g * GROUP / TEAM on, each team one of
 *     them; work-item `lane` of a team takes columns lane, lane + TEAM, ...
 * Parameters: TEAM, a power of 2; GROUP, work-items in a work-group, a multiple of TEAM.
 * Launch: 1-D, work-groups of GROUP, one for every GROUP / TEAM rows that are begun.
 * Local memory: GROUP floats.
 * Limits: A is rows x columns, row by row without gaps; both below 2^31.
 */
#ifndef TEAM
#error "TEAM: work-items that share a row, a power of two"
#endif
#ifndef GROUP
#error "GROUP: work-items in a work-group, a multiple of TEAM"
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
matvec_tree(uint rows, uint columns, __global const float *restrict a,
            __global const float *restrict x, __global float *restrict y)
{
    __local float sums[GROUP];
    const uint item = get_local_id(0);
    const uint lane = item % TEAM;
    const uint row = (get_group_id(0) * GROUP + item) / TEAM;
    float sum = 0;

    /* A team beyond the last row sums nothing, and reaches the barriers. */
    if (row < rows)
        for (uint c = lane; c < columns; c += TEAM)
            sum += a[(ulong)row * columns + c] * x[c];
    sums[item] = sum;
    for (uint reach = TEAM / 2; reach > 0; reach /= 2) {
        /* Filled before read: lane + reach wrote its sum in the round before. */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < reach)
            sums[item] += sums[item + reach];
    }
    if (lane == 0 && row < rows)
        y[row] = sums[item];
}
