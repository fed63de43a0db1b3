/* z := alpha x + y: few work-items, each of which takes many elements.
 *
 * Idea: as many work-groups as the device runs at a time, and a loop.  A work-item that is done
 *     with an element goes on to the one that is as far behind as there are work-items (the stride
 *     of the grid), so that neighbours still read neighbours, and none is started anew for two
 *     operations.  The launch has one size for every n.
 * Work split: work-item i computes z(i), z(i + work-items), ...
 * Parameters: PER_UNIT, on the host: work-groups for each compute unit.
 * Launch: 1-D, any number of work-items, in work-groups of any size, GROUP.
 * Local memory: none.
 * Limits: float32, elements that follow one another.  In place y is z, from the same element on.
 */
__kernel void axpy_grid_stride(ulong n, float alpha, __global const float *restrict x, ulong from_x,
                               __global const float *y, ulong from_y, __global float *z,
                               ulong from_z)
{
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0))
        z[from_z + i] = alpha * x[from_x + i] + y[from_y + i];
}
