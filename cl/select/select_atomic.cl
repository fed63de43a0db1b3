/* Select: one atomic counter says where each element goes.
 *
 * Idea: a work-item looks at one element; if it is selected, the work-item adds 1
 *     to a counter in global memory, and what it held before is the place.  There
 *     is no more to it, and all who select wait for one word of memory.  The order
 *     is that in which they get there, another one each time.
 * Work split: one work-item for each element.
 * Parameters: those of select.clh.  GROUP decides on the host alone.
 * Launch: 1-D, n work-items in any work-groups, behind select_clear.
 * Local memory: none.
 * Limits: any order; counts in 32 bits, which are the lower half of the count on
 *     little-endian devices.
 */
#include "select/select_counter.clh"

__kernel void select_atomic(__global const BITS *x, __global BITS *result, __global long *indices,
                            __global ulong *count, const select_call call)
{
    const ulong i = get_global_id(0);

    if (i < call.n) {
        const BITS bits = x[call.from + i];

        if (holds(bits, value_of(&call)))
            put(result, indices, &call, atomic_inc(COUNTER(count, call)), bits, i);
    }
}
