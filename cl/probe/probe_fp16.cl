/* Probe: arithmetic on half.
 *
 * Idea: square 1 + i / 1024, which is exact in half before and needs rounding
 *     after; give back the bits of the result.
 * Work split: work-item i writes out[i].
 * Launch: 1-D, one work-group of 64.
 */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void probe(__global uint *out)
{
    const uint i = get_global_id(0);
    /* The bits of 1 + i / 1024: the sum is not left to the compiler. */
    const half x = as_half((ushort)(0x3C00 + i));

    out[i] = as_ushort((half)(x * x));
}
