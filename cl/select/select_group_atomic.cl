/* Select: a scan in each work-group, and one atomic for the whole of it.
 *
 * Idea: 1 for an element that is selected and 0 for another: the sum of those
 *     before a work-item is its place among the group's.  One work-item adds the
 *     group's number to the counter, so that GROUP elements take one atomic, and
 *     neighbours store side by side.  Within a group the order is kept; groups
 *     come as they come.
 * Work split: one work-item for each element.
 * Parameters: those of select.clh; GROUP, work-items in a work-group.
 * Launch: 1-D, n work-items in work-groups of GROUP, behind select_clear.
 * Local memory: GROUP + 1 words.
 * Limits: as select_atomic.cl.
 */
#include "select/select_counter.clh"

#define WARPS 0
#include "common/group_scan.clh"

#ifndef GROUP
#error "GROUP: work-items in a work-group"
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
select_group_atomic(__global const BITS *x, __global BITS *result, __global long *indices,
                    __global ulong *count, const select_call call)
{
    __local uint sums[GROUP], first;
    const ulong i = get_global_id(0);
    const BITS bits = i < call.n ? x[call.from + i] : 0;
    const uint own = i < call.n ? holds(bits, value_of(&call)) : 0;
    const uint before = group_scan(sums, own);

    if (get_local_id(0) == GROUP - 1)
        first = atomic_add(COUNTER(count, call), before + own);
    /* Written before all read it. */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own)
        put(result, indices, &call, first + before, bits, i);
}
