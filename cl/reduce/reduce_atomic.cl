/* Reduction: every work-item combines its element with the result by an atomic operation.
 *
 * Idea: the result is one place in memory that all want to change.  OpenCL C 1.2
 *     has no atomic addition of floats, so each work-item reads the result,
 *     combines, and writes by compare-and-exchange; where another one was faster
 *     it tries again.  NVIDIA adds by one instruction.  All wait for each other: the
 *     slowest step, and what the others are there to avoid.  A sum is added in the order
 *     in which the work-items come, another one each time.
 * Work split: a work-item takes one element.
 * Parameters: BY, GROUP (reduce.clh); ADDS (reduce_atomically.clh).
 * Launch: reduce_atomic_start, one work-item; then 1-D, work-groups of GROUP, a work-item an
 *     element.
 * Local memory: none.
 * Limits: float32; indexes in 64 bits.
 */
#include "reduce/reduce_atomically.clh"

/* The result starts as the value that changes nothing. */
__kernel void reduce_atomic_start(__global float *result, const reduce_call call)
{
    result[call.to] = IDENTITY;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce_atomic(__global const float *restrict x, volatile __global uint *result,
              const reduce_call call)
{
    const ulong i = get_global_id(0);

    if (i < call.n)
        combine_atomically(result + call.to, x[call.from + i]);
}
