/* Experiment: a kernel that launches kernels.
 *
 * Idea      where only the device knows what is to be done next, it can enqueue it itself, and the
 *           host does not have to be asked (device-side enqueue, CUDA's dynamic parallelism)
 * Work      each child adds 1 to *count, so that launches which are lost are noticed
 * Params    none; OpenCL C 3.0 with device-side enqueue, of lab_children_enqueue
 * Launch    1-D, one item; lab_children_plain: a launch a child
 */
#ifdef ENQUEUE
__kernel void lab_children_enqueue(__global uint *count, __global uint *failed, uint children)
{
    for (uint i = 0; i < children; i++)
        *failed +=
            enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1, 1), ^{
              atomic_inc(count);
            }) != CLK_SUCCESS;
}
#endif

__kernel void lab_children_plain(__global uint *count)
{
    atomic_inc(count);
}
