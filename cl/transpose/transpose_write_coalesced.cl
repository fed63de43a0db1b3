/* B := A^T: neighbours write neighbours.
 *
 * Idea: the definition, seen from B.  Work-items that run together write neighbouring elements of a
 *     row of B, whole cache lines, and read a column of A.  Loads that are apart are waited for, but
 *     what they bring beside the element stays in the cache for a while, where a neighbouring column
 *     may find it; what a store drags along is written back.
 * Work split: work-item (x, y) moves the element in row y and column x of B.
 * Launch: 2-D, at least rows x columns work-items, in work-groups of any size, GROUP_X wide.
 * Local memory: none.
 * Limits: elements of 4 bytes; one matrix, row by row without gaps.
 */
__kernel void transpose_write_coalesced(ulong rows, ulong columns, __global const float *restrict a,
                                        ulong from_a, __global float *restrict b, ulong from_b)
{
    const ulong x = get_global_id(0), y = get_global_id(1);

    if (x < rows && y < columns)
        b[from_b + y * rows + x] = a[from_a + x * columns + y];
}
