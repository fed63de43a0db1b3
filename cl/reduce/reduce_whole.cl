/* Reduction of a whole array of any type in one launch.
 *
 * Idea: reduce_last_group.cl for every type and reduction.  Groups count themselves as they end,
 *     and the one that comes last combines what all have left, by number, so that a sum has the
 *     same bits every time.  Where an index is asked for, no work-item keeps one for each element:
 *     it keeps the block that its best element is in.  The last group looks for the element, in
 *     the one block that is left.
 * Work split: blocks of GROUP * LOADS * VEC elements, which follow one another; groups take them
 *     in turns, and the last, incomplete one element by element.
 * Parameters: GROUP, work-items in a work-group, a power of two; LOADS, vectors that a work-item
 *     has in flight; VEC, elements of one; ALIGNED, 1 where the array begins at a multiple of VEC
 *     elements; those of reduce_values.clh; LAST_ADDS (last_group.clh), 1 or 2.  PER_UNIT only
 *     decides the number of groups on the host.
 * Launch: 1-D, work-groups of GROUP: reduce_whole, or a single one of reduce_whole_alone.
 * Local memory: a reduced value for each work-item and a counter.
 * Limits: elements that follow one another; indexes in 64 bits.
 */
#if !defined(GROUP) || !defined(LOADS)
#error "GROUP, LOADS: work-items of a group and their loads"
#endif

#include "common/last_group.clh"
#include "reduce/reduce_loads.clh"

#define REDUCED reduced
#define COMBINE combine
#include "common/group_reduce.clh"

#define BLOCK ((ulong)GROUP * LOADS * VEC)

/* The group's share of x.  The first work-item gets the result; its index is that of a block. */
static inline reduced reduce_share(__global const ELEMENT *restrict x, ulong n,
                                   __local reduced *shared)
{
    const ulong whole = n / BLOCK * BLOCK;
    const uint item = (uint)get_local_id(0);
    chain all = chain_start();

    for (ulong i = get_group_id(0) * BLOCK; i < whole; i += get_num_groups(0) * BLOCK) {
        loaded next[LOADS];
        together block = 0;

#pragma unroll
        for (uint l = 0; l < LOADS; l++)
            next[l] = load(x, i + (l * GROUP + item) * VEC, 1);
#pragma unroll
        for (uint l = 0; l < LOADS; l++)
#pragma unroll
            for (uint p = 0; p < PIECES; p++) {
                ELEMENT elements[TAKEN];

                spread(next[l], p, elements);
                block = l == 0 && p == 0 ? take_together(elements)
                                         : join_together(block, take_together(elements));
            }
        chain_take_block(&all, block, i);
    }
    for (ulong i = whole + get_global_id(0); i < n; i += 4 * get_global_size(0)) {
        ELEMENT next[4];

        /* All that is left of a short array is on its way at once. */
#pragma unroll
        for (uint l = 0; l < 4; l++)
            if (i + l * get_global_size(0) < n)
                next[l] = x[i + l * get_global_size(0)];
#pragma unroll
        for (uint l = 0; l < 4; l++)
            if (i + l * get_global_size(0) < n)
                chain_take(&all, next[l], whole);
    }
    return tree_reduce(shared + item, 1, item, GROUP, all.all);
}

#if WITH_INDEX
/* Set *found to the index of the first element, of the block from `begin` on, that is as good as
 * `best`. */
static inline void find_in_block(__global const ELEMENT *restrict x, ulong n, VALUE best,
                                 ulong begin, __local uint *found)
{
    const uint item = (uint)get_local_id(0), count = (uint)min(n - begin, BLOCK);
    uint first = UINT_MAX;

    /* From the end on, so that the last one found is the first. */
#pragma unroll
    for (uint k = LOADS * VEC; k > 0; k -= TAKEN) {
        ELEMENT elements[TAKEN];

        /* These loads are on their way before the first is looked at. */
#pragma unroll
        for (uint j = 0; j < TAKEN; j++)
            if ((k - 1 - j) * GROUP + item < count)
                elements[j] = x[begin + (k - 1 - j) * GROUP + item];
#pragma unroll
        for (uint j = 0; j < TAKEN; j++)
            if ((k - 1 - j) * GROUP + item < count && !precedes(best, NUMBER(elements[j])))
                first = (k - 1 - j) * GROUP + item;
    }
    if (first != UINT_MAX)
        atomic_min(found, first);
}
#endif

/* Store the result of which the first work-item has the value. */
static inline void finish(__global const ELEMENT *restrict x, __global RESULT *restrict result,
                          const reduce_call *call, reduced r, __local reduced *shared,
                          __local uint *found)
{
#if WITH_INDEX
    if (get_local_id(0) == 0) {
        shared[0] = r;
        *found = UINT_MAX;
    }
    /* There before all look for it. */
    barrier(CLK_LOCAL_MEM_FENCE);
    r = shared[0];
    /* There is no block where every element is what a reduction starts from. */
    if (r.index != ULONG_MAX)
        find_in_block(x, call->n, r.value, r.index, found);
    /* Found by all before it is read. */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (r.index != ULONG_MAX)
        r.index += *found;
#endif
    if (get_local_id(0) == 0)
        put_result(result + call->offset_result, r, call->n);
}

/* Of a short array a single work-group has all. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce_whole_alone(__global const ELEMENT *restrict x, __global RESULT *restrict result,
                   const reduce_call call)
{
    __local reduced shared[GROUP];
    __local uint found;

    x += call.offset_x;
    finish(x, result, &call, reduce_share(x, call.n, shared), shared, &found);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce_whole(__global const ELEMENT *restrict x, __global RESULT *restrict result,
             __global reduced *left, __global group_counter *done, const reduce_call call)
{
    __local reduced shared[GROUP];
    __local uint last;
    const uint item = (uint)get_local_id(0), groups = (uint)get_num_groups(0);
    chain all = chain_start();
    reduced r;

    x += call.offset_x;
    r = reduce_share(x, call.n, shared);
    if (item == 0)
        left[get_group_id(0)] = r;
    if (!is_last_group(done, groups, &last))
        return;
    for (uint g = item; g < groups; g += GROUP)
        chain_join(&all, left[g]);
    r = tree_reduce(shared + item, 1, item, GROUP, all.all);
    finish(x, result, &call, r, shared, &last);
}
