/* z := alpha x + y: four elements, 16 bytes, a load.
 *
 * Idea: a work-item of the loop over the grid asks for 4 bytes at a time.  Here it asks for 16, the
 *     most that a GPU loads by one instruction: a quarter of the instructions, and four times the
 *     bytes on their way while it waits.
 * Work split: work-item i computes the four elements from 4 i on, then those as many fours behind
 *     as there are work-items; the last one to three elements are of the first work-items.
 * Parameters: PER_UNIT, on the host: work-groups for each compute unit.  ALIGNED: 1 where x, y and
 *     z begin at a multiple of 16 bytes, else 0: then a vector may be loaded in parts.
 * Launch: 1-D, any number of work-items, in work-groups of any size, GROUP.
 * Local memory: none.
 * Limits: float32, elements that follow one another.  In place y is z, from the same element on.
 */
#ifndef ALIGNED
#error "ALIGNED: 1 where vectors begin at a multiple of 16 bytes, else 0"
#endif

__kernel void axpy_vector(ulong n, float alpha, __global const float *restrict x, ulong from_x,
                          __global const float *y, ulong from_y, __global float *z, ulong from_z)
{
    const ulong vectors = n / 4;

    x += from_x;
    y += from_y;
    z += from_z;
#if ALIGNED
    __global const float4 *x4 = (__global const float4 *)x, *y4 = (__global const float4 *)y;
    __global float4 *z4 = (__global float4 *)z;

    for (ulong i = get_global_id(0); i < vectors; i += get_global_size(0))
        z4[i] = alpha * x4[i] + y4[i];
#else
    for (ulong i = get_global_id(0); i < vectors; i += get_global_size(0))
        vstore4(alpha * vload4(i, x) + vload4(i, y), i, z);
#endif
    for (ulong i = 4 * vectors + get_global_id(0); i < n; i += get_global_size(0))
        z[i] = alpha * x[i] + y[i];
}
