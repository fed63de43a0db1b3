/* Probe: atomics in the scope of the device, which order what work-groups write.
 *
 * Idea: the compiler says whether it has them (OpenCL C 3.0, 6.2.1 "Features"; 2.0 always
 *     has); each work-item then adds its number to a sum and hands the sum on.
 * Work split: work-item i writes out[i]; out[0] is the sum while the others write.
 * Launch: 1-D, one work-group of 64.
 */
#if __OPENCL_C_VERSION__ < 200 ||                                                                  \
    (__OPENCL_C_VERSION__ >= 300 && !(defined(__opencl_c_atomic_order_acq_rel) &&                  \
                                      defined(__opencl_c_atomic_scope_device)))
#error "no atomics of acquire-release order in the scope of the device"
#endif

__kernel void probe(__global uint *out)
{
    __global atomic_uint *sum = (__global atomic_uint *)out;
    const uint i = get_local_id(0);
    uint all;

    if (i == 0)
        atomic_init(sum, 5u);
    /* Set before it is added to. */
    barrier(CLK_GLOBAL_MEM_FENCE);
    atomic_fetch_add_explicit(sum, 3 * i, memory_order_acq_rel, memory_scope_device);
    /* Added up before it is read. */
    barrier(CLK_GLOBAL_MEM_FENCE);
    all = atomic_load_explicit(sum, memory_order_acquire, memory_scope_device);
    /* Read by all before it is overwritten. */
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = all + i;
}
