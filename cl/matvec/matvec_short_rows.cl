/* Matrix-vector product: many short rows of A, brought in through local memory.
 *
 * Idea: where rows are shorter than a team, a team per row idles and a work-item
 *     per row reads scattered elements.  Here a work-group copies the rows it
 *     needs as one stretch, neighbours reading neighbours, and then each
 *     work-item sums its own row out of local memory.
 * Work split: work-group g computes rows g * LOCAL to g * LOCAL + LOCAL - 1,
 *     work-item i one of them; rows longer than TILE come in slabs of TILE
 *     columns.
 * Parameters: TILE, a power of 2; LOCAL, work-items in a work-group: GROUP, or
 *     less where the device takes fewer; REAL, REAL_BITS (real.clh); TRANS =
 *     0, STRIDED, FACTOR, RESULT (matvec.clh).
 * Launch: for each product work-groups of LOCAL, one per started LOCAL rows.
 * Local memory: LOCAL * (TILE + 1) elements.  The odd pitch puts equal columns
 *     of neighbouring rows into different banks.
 * Limits: rows and columns below 2^31; A is not transposed.
 */
#include "matvec/matvec.clh"

#ifndef TILE
#error "TILE: columns of a slab, a power of two"
#endif
#ifndef LOCAL
#error "LOCAL: work-items in a work-group"
#endif
#if TRANS
#error "TRANS: a transposed A has neighbouring rows side by side already"
#endif

#define PITCH (TILE + 1)

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
matvec_short_rows(__global const factor *restrict a, __global const factor *restrict x,
                  __global result *restrict y, const matvec_call call)
{
    __local REAL slab[LOCAL * PITCH];
    const uint rows = (uint)call.rows, columns = (uint)call.columns;
    const uint item = get_local_id(0);
    const uint first = (uint)get_group_id(0) * LOCAL;
    const uint count = min((uint)LOCAL, rows - first);
    REAL sum = 0;

    a += of_product(call.offset_a, call.stride_a);
    x += of_product(call.offset_x, call.stride_x);
    y += of_product(call.offset_y, call.stride_y);
    for (uint c0 = 0; c0 < columns; c0 += TILE) {
        const uint width = min((uint)TILE, columns - c0);
        /* Element e of the slab is (e / width, e % width); both move on by a
         * fixed step from one element of a work-item to its next. */
        uint r = item / width;
        uint c = item % width;

        for (uint e = item; e < count * width; e += LOCAL) {
            slab[r * PITCH + c] = load_factor(a + a_index(call.lda, first + r, c0 + c));
            r += LOCAL / width;
            c += LOCAL % width;
            if (c >= width) {
                c -= width;
                r++;
            }
        }
        /* Filled before read: a row was copied by many work-items. */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < count)
            for (c = 0; c < width; c++)
                sum += slab[item * PITCH + c] * load_factor(x + v_index(call.incx, c0 + c));
        /* Read before refilled: the next round overwrites the slab. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item < count)
        update_y(y, first + item, sum, call);
}
