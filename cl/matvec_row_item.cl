/* Matrix-vector product: a row of op(A) per work-item.
 *
 * Idea: the plain loop.  Neighbouring work-items read A lda elements apart, each
 *     its own row, and side by side where A is transposed.
 * Work split: work-item g computes y[g]; no sharing.
 * Parameters: LOCAL, work-items in a work-group: GROUP, or less where the device
 *     takes fewer; REAL, REAL_BITS (real.clh); TRANS (matvec.clh).
 * Launch: 1-D, work-groups of LOCAL, at least `rows` work-items.
 * Local memory: none.
 * Limits: columns below 2^32; rows in 64 bits.
 */
#include "matvec.clh"

#ifndef LOCAL
#error "LOCAL: work-items in a work-group"
#endif

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
matvec_row_item(__global const REAL *restrict a, __global const REAL *restrict x,
                __global REAL *restrict y, ulong rows, uint columns, ulong lda, ulong offset_a,
                ulong offset_x, ulong offset_y, REAL alpha, REAL beta)
{
    const ulong row = get_global_id(0);
    REAL sum = 0;

    if (row >= rows)
        return;
    a += offset_a;
    x += offset_x;
    for (uint c = 0; c < columns; c++)
        sum += a[a_index(lda, row, c)] * x[c];
    REAL_UPDATE(y[offset_y + row], alpha, sum, beta);
}
