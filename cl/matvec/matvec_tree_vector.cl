/* Matrix-vector product: a row of A per team of work-items, which loads explicit vectors.
 *
 * Idea: tree with loads of VEC neighbours, the widest that hardware has: fewer
 *     instructions for as many bytes, and more of them in flight at once.  Elements of
 *     16 bits, of which a lane's own is narrow, need it most.
 * Work split: work-group g computes rows g * TEAMS to g * TEAMS + TEAMS - 1, team t of it
 *     one row; lane l takes the vectors l, l + TEAM, ... and, of what is left behind the
 *     last one, columns l, l + TEAM, ...
 * Parameters: TEAM, a power of 2; VEC, what BITS holds, and ALIGNED (matvec_vectors.clh);
 *     LOCAL, work-items in a work-group: GROUP, or less where the device takes fewer, a
 *     multiple of TEAM; REAL, REAL_BITS (real.clh); TRANS = 0, STRIDED, FACTOR, RESULT
 *     (matvec.clh).
 * Launch: for each product work-groups of LOCAL, one per started TEAMS rows.
 * Local memory: LOCAL elements.
 * Limits: rows and columns below 2^31; A is not transposed.
 */
#include "matvec/matvec_vectors.clh"

#if TRANS
#error "TRANS: a vector of a transposed A has elements of many rows"
#endif
#ifndef TEAM
#error "TEAM: work-items that share a row, a power of two"
#endif
#ifndef LOCAL
#error "LOCAL: work-items in a work-group, a multiple of TEAM"
#endif

#define TEAMS (LOCAL / TEAM)

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
matvec_tree_vector(__global const factor *restrict a, __global const factor *restrict x,
                   __global result *restrict y, const matvec_call call)
{
    __local REAL partial[LOCAL];
    const uint rows = (uint)call.rows, columns = (uint)call.columns;
    const uint item = get_local_id(0);
    const uint lane = item % TEAM;
    const uint row = (uint)get_group_id(0) * TEAMS + item / TEAM;
    const uint vectors = columns / VEC * VEC;
    VECTOR sums = 0;
    REAL sum;

    a += of_product(call.offset_a, call.stride_a);
    x += of_product(call.offset_x, call.stride_x);
    y += of_product(call.offset_y, call.stride_y);
    /* A team beyond the last row sums nothing, and reaches the barriers. */
    if (row < rows)
        for (uint c = lane * VEC; c < vectors; c += TEAM * VEC)
            sums += load_vector(a + a_index(call.lda, row, c)) * x_vector(x, call.incx, c);
    sum = ADD_UP(sums);
    if (row < rows)
        for (uint c = vectors + lane; c < columns; c += TEAM)
            sum +=
                load_factor(a + a_index(call.lda, row, c)) * load_factor(x + v_index(call.incx, c));
    sum = tree_reduce(partial + item, 1, lane, TEAM, sum);
    if (lane == 0 && row < rows)
        update_y(y, row, sum, call);
}
