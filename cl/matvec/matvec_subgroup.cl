/* Matrix-vector product: a row of op(A) per sub-group, added up by sub-group functions.
 *
 * Idea: a sub-group adds its sums without local memory or barriers.
 * Work split: the sub-groups of all work-groups are numbered; number s computes
 *     rows s, s + S, ... for S sub-groups in all, so that every row is covered
 *     whatever size the device gives its sub-groups.  Lane l takes columns l,
 *     l + size, ...
 * Parameters: LOCAL, work-items in a work-group: GROUP, or less where the
 *     device takes fewer; REAL, REAL_BITS (real.clh); TRANS, STRIDED, FACTOR,
 *     RESULT (matvec.clh).
 * Launch: for each product any number of work-groups of LOCAL.
 * Local memory: none.
 * Limits: rows and columns below 2^31; OpenCL C 2.0 or later with
 *     cl_khr_subgroups.
 */
#define SHFL 0
#include "common/sub_group.clh"
#include "matvec/matvec.clh"

#ifndef LOCAL
#error "LOCAL: work-items in a work-group"
#endif

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
matvec_subgroup(__global const factor *restrict a, __global const factor *restrict x,
                __global result *restrict y, const matvec_call call)
{
    const uint rows = (uint)call.rows, columns = (uint)call.columns;
    /* Each group has the same number of sub-groups; the last of a group may be smaller. */
    const uint subgroup = (uint)get_group_id(0) * subgroup_count() + subgroup_number();
    const uint subgroups = (uint)get_num_groups(0) * subgroup_count();
    const uint lane = subgroup_item();
    const uint size = subgroup_size();

    a += of_product(call.offset_a, call.stride_a);
    x += of_product(call.offset_x, call.stride_x);
    y += of_product(call.offset_y, call.stride_y);
    /* One trip count for all lanes of a sub-group: they meet in the reduction. */
    for (uint row = subgroup; row < rows; row += subgroups) {
        REAL sum = 0;

        for (uint c = lane; c < columns; c += size)
            sum +=
                load_factor(a + a_index(call.lda, row, c)) * load_factor(x + v_index(call.incx, c));
        sum = subgroup_sum(sum);
        if (lane == 0)
            update_y(y, row, sum, call);
    }
}
