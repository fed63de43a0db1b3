/* z := alpha x + y: a work-item for each element.
 *
 * Idea: the definition.  Neighbouring work-items read and write neighbouring elements, so that
 *     memory is read in whole cache lines; but each does two operations and ends, and the device
 *     starts as many as there are elements.
 * Work split: work-item i computes z(i); those beyond the last element do nothing.
 * Launch: 1-D, at least n work-items, in work-groups of any size, GROUP.
 * Local memory: none.
 * Limits: float32, elements that follow one another.  In place y is z, from the same element on.
 */
__kernel void axpy_naive(ulong n, float alpha, __global const float *restrict x, ulong from_x,
                         __global const float *y, ulong from_y, __global float *z, ulong from_z)
{
    const ulong i = get_global_id(0);

    if (i < n)
        z[from_z + i] = alpha * x[from_x + i] + y[from_y + i];
}
