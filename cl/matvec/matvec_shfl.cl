/* Matrix-vector product: a row of op(A) per warp, added up by NVIDIA's shuffle instruction.
 *
 * Idea: NVIDIA's OpenCL has no sub-group functions, but its compiler takes
 *     inline PTX: shfl.sync.down hands a register to a lower lane, without local
 *     memory or barriers.
 * Work split: a warp of 32 work-items computes one row, lane l columns l,
 *     l + 32, ...
 * Parameters: LOCAL, work-items in a work-group: GROUP, or less where the
 *     device takes fewer, a multiple of WARP, which is 32; REAL, REAL_BITS (real.clh); TRANS,
 *     STRIDED, FACTOR, RESULT (matvec.clh).
 * Launch: for each product work-groups of LOCAL, one per started LOCAL / 32
 *     rows.
 * Local memory: none.
 * Limits: rows and columns below 2^31; NVIDIA only.
 */
#define SHFL 1
#include "common/sub_group.clh"
#include "matvec/matvec.clh"

#ifndef LOCAL
#error "LOCAL: work-items in a work-group, a multiple of 32"
#endif

#if WARP != 32
#error "WARP: work-items of a warp, 32, as the shuffle's mask has it"
#endif

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
matvec_shfl(__global const factor *restrict a, __global const factor *restrict x,
            __global result *restrict y, const matvec_call call)
{
    const uint rows = (uint)call.rows, columns = (uint)call.columns;
    const uint item = get_local_id(0);
    const uint lane = item % WARP;
    const uint row = (uint)get_group_id(0) * (LOCAL / WARP) + item / WARP;
    REAL sum = 0;

    a += of_product(call.offset_a, call.stride_a);
    x += of_product(call.offset_x, call.stride_x);
    y += of_product(call.offset_y, call.stride_y);
    /* A warp beyond the last row sums nothing and shuffles with the others. */
    if (row < rows)
        for (uint c = lane; c < columns; c += WARP)
            sum +=
                load_factor(a + a_index(call.lda, row, c)) * load_factor(x + v_index(call.incx, c));
    sum = subgroup_sum(sum);
    if (lane == 0 && row < rows)
        update_y(y, row, sum, call);
}
