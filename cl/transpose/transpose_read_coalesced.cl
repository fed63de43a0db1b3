/* B := A^T: neighbours read neighbours.
 *
 * Idea: the definition, seen from A.  Work-items that run together read neighbouring elements of a
 *     row, whole cache lines; but they write a column of B, whose elements are a row apart, so that
 *     each store is a memory transaction of its own.
 * Work split: work-item (x, y) moves the element in row y and column x of A.
 * Launch: 2-D, at least columns x rows work-items, in work-groups of any size, GROUP_X wide.
 * Local memory: none.
 * Limits: elements of 4 bytes; one matrix, row by row without gaps.
 */
__kernel void transpose_read_coalesced(ulong rows, ulong columns, __global const float *restrict a,
                                       ulong from_a, __global float *restrict b, ulong from_b)
{
    const ulong x = get_global_id(0), y = get_global_id(1);

    if (x < columns && y < rows)
        b[from_b + x * rows + y] = a[from_a + y * columns + x];
}
