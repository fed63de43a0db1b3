/* Matrix-vector product: a row of op(A) per work-item.
 *
 * Idea: the plain loop.  Neighbouring work-items read A lda elements apart, each
 *     its own row, and side by side where A is transposed.  Of a short row
 *     LOADS elements are loaded before the first is used: they take as long as one.
 * Work split: work-item g computes y[g]; no sharing.
 * Parameters: LOCAL, work-items in a work-group: GROUP, or less where the
 *     device takes fewer; LOADS, elements of a row that are loaded at once;
 *     REAL, REAL_BITS (real.clh); TRANS, STRIDED, FACTOR, RESULT (matvec.clh).
 * Launch: for each product work-groups of LOCAL, at least `rows` work-items.
 * Local memory: none.
 * Limits: columns and LOADS up to 2^32 together; rows in 64 bits.
 */
#include "matvec/matvec.clh"

#ifndef LOCAL
#error "LOCAL: work-items in a work-group"
#endif
#ifndef LOADS
#error "LOADS: elements of a row that are loaded at once; 1: the plain loop"
#endif

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
matvec_row_item(__global const factor *restrict a, __global const factor *restrict x,
                __global result *restrict y, const matvec_call call)
{
    const uint columns = (uint)call.columns;
    const ulong row = get_global_id(0);
    REAL sum = 0;

    if (row >= call.rows)
        return;
    a += of_product(call.offset_a, call.stride_a);
    x += of_product(call.offset_x, call.stride_x);
    y += of_product(call.offset_y, call.stride_y);
    for (uint c = 0; c < columns; c += LOADS) {
        REAL element[LOADS], value[LOADS];

        /* Unrolled: only then do the arrays live in registers. */
#pragma unroll
        for (uint u = 0; u < LOADS; u++) {
            element[u] = 0;
            value[u] = 0;
            if (c + u < columns) {
                element[u] = load_factor(a + a_index(call.lda, row, c + u));
                value[u] = load_factor(x + v_index(call.incx, c + u));
            }
        }
#pragma unroll
        for (uint u = 0; u < LOADS; u++)
            sum += element[u] * value[u];
    }
    update_y(y, row, sum, call);
}
