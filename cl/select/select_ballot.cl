/* Select: a warp counts by one ballot, and takes one atomic.
 *
 * Idea: a ballot gives each lane the bits of all lanes that select.  The bits
 *     below its own, counted, are its place among the warp's: what a scan in local
 *     memory took log2(GROUP) rounds for takes one instruction, and no barrier.
 *     One lane adds the warp's number to the counter and hands the sum on.
 * Work split: one work-item for each element.
 * Parameters: those of select.clh; GROUP, work-items in a work-group, whole warps.
 * Launch: 1-D, n work-items in work-groups of GROUP, behind select_clear.
 * Local memory: none.
 * Limits: NVIDIA's warps, by inline PTX; as select_atomic.cl.
 */
#include "select/select_counter.clh"

#include "common/warp.clh"

#ifndef GROUP
#error "GROUP: work-items in a work-group, a multiple of 32"
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
select_ballot(__global const BITS *x, __global BITS *result, __global long *indices,
              __global ulong *count, const select_call call)
{
    const ulong i = get_global_id(0);
    const uint lane = (uint)get_local_id(0) % 32;
    const BITS bits = i < call.n ? x[call.from + i] : 0;
    const uint own = i < call.n ? holds(bits, value_of(&call)) : 0;
    const uint lanes = warp_ballot(own);
    uint first = 0;

    if (lane == 0 && lanes)
        first = atomic_add(COUNTER(count, call), popcount(lanes));
    first = warp_broadcast(first, 0);
    if (own)
        put(result, indices, &call, first + popcount(lanes & ((1u << lane) - 1)), bits, i);
}
