/* y := A x: a work-item for each row.
 *
 * Idea: the definition.  y(i) is the dot product of row i of A and x, read straight from global
 *     memory.
 * Work split: work-item i computes y(i); those beyond the last row do nothing.  Neighbours run
 *     together and are in different rows: what they load of A lies a row apart, so that each takes
 *     a memory transaction of its own.
 * Launch: 1-D, at least `rows` work-items, in work-groups of any size, GROUP.
 * Local memory: none.
 * Limits: A is rows x columns, row by row without gaps; both below 2^31.
 */
__kernel void matvec_naive(uint rows, uint columns, __global const float *restrict a,
                           __global const float *restrict x, __global float *restrict y)
{
    const uint row = get_global_id(0);
    float sum = 0;

    if (row >= rows)
        return;
    for (uint c = 0; c < columns; c++)
        sum += a[(ulong)row * columns + c] * x[c];
    y[row] = sum;
}
