/* Matrix-vector product: each row of op(A) split over several work-groups.
 *
 * Idea: few long rows leave most of a device idle when a row goes to one
 *     work-group.  The columns are cut into parts, a work-group each, and the last
 *     one of a row adds the parts up, or a second pass where groups cannot be counted.
 * Work split: work-group g sums part g % parts of ROWS rows from row
 *     g / parts * ROWS; a team of LOCAL / ROWS work-items shares a row, and
 *     neighbouring work-items belong to neighbouring rows, so that a transposed
 *     A is read in stretches of ROWS elements.
 * Parameters: LOCAL, work-items in a work-group: GROUP, or less where the
 *     device takes fewer, a power of 2; ROWS, a power of 2 up to LOCAL, 1
 *     where A is not transposed; REAL, REAL_BITS (real.clh); TRANS, STRIDED,
 *     FACTOR, RESULT (matvec.clh); LAST_ADDS (last_group.clh).  PER_UNIT, the
 *     work-groups per compute unit to aim at, only decides `parts` and `chunk` on
 *     the host.
 * Launch: for each product parts * ceil(rows / ROWS) work-groups of LOCAL.
 *     Then, where there are several parts and LAST_ADDS is 0, matvec_add_parts.
 * Workspace: rows * parts elements where there are several parts.
 * Local memory: LOCAL elements.
 * Limits: rows and chunk below 2^31; columns in 64 bits.
 */
#ifndef ROWS
#error "ROWS: rows of op(A) that a work-group takes, a power of two up to LOCAL"
#endif

#include "matvec/matvec_parts.clh"

#define LANES (LOCAL / ROWS)

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
matvec_split_row(__global const factor *restrict a, __global const factor *restrict x,
                 __global result *restrict y, __global REAL *partial,
                 __global group_counter *counters, const matvec_call call)
{
    __local REAL sums[LOCAL];
    const uint rows = (uint)call.rows;
    const uint item = get_local_id(0);
    const uint lane = item / ROWS;
    const uint part = (uint)get_group_id(0) % call.parts;
    const uint row = (uint)get_group_id(0) / call.parts * ROWS + item % ROWS;
    const ulong begin = (ulong)part * call.chunk;
    const uint length = part_length(begin, call.columns, call.chunk);
    REAL sum = 0;

    a += of_product(call.offset_a, call.stride_a);
    x += of_product(call.offset_x, call.stride_x);
    y += of_product(call.offset_y, call.stride_y);
    /* A team beyond the last row sums nothing, and reaches the barriers. */
    if (row < rows)
        for (uint c = lane; c < length; c += LANES)
            sum += load_factor(a + a_index(call.lda, row, begin + c)) *
                   load_factor(x + v_index(call.incx, begin + c));
    sum = tree_reduce(sums + item, ROWS, lane, LANES, sum);
    if (lane == 0 && row < rows)
        keep_sum(sum, row, part, partial, y, call);
    add_parts_if_last(partial, counters, row - item % ROWS, ROWS, y, call, sums);
}
