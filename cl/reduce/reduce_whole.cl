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
 * Local memory: a reduced value for each work-item and two numbers.
 * Limits: elements that follow one another; indexes in 64 bits, blocks in 32.
 */
#if !defined(GROUP) || !defined(LOADS)
#error "GROUP, LOADS: work-items of a group and their loads"
#endif

#include "common/last_group.clh"

/* An index is that of a block, until the last group looks for the element. */
#define INDEX uint
#include "reduce/reduce_loads.clh"

#define BLOCK ((ulong)GROUP * LOADS * VEC)

/* What a work-item makes of its part of the group's share of x.  Where `exact`, of fewer elements
 * than a block, an index is that of an element at once. */
static inline reduced take_share(__global const ELEMENT *restrict x, ulong n, bool exact)
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
        chain_take_block(&all, block, i / BLOCK);
    }
    for (ulong i = whole + get_global_id(0); i < n; i += 4 * get_global_size(0)) {
        ELEMENT next[4];

        /* All that is left of a short array is in flight at once. */
#pragma unroll
        for (uint l = 0; l < 4; l++)
            if (i + l * get_global_size(0) < n)
                next[l] = x[i + l * get_global_size(0)];
#if LEAST || LARGEST
#pragma unroll
        for (uint l = 0; l < 4; l++)
            if (i + l * get_global_size(0) < n)
                chain_take(&all, next[l], exact ? i + l * get_global_size(0) : whole / BLOCK);
#else
        {
            VALUE terms[4];

#pragma unroll
            for (uint l = 0; l < 4; l++)
                terms[l] = i + l * get_global_size(0) < n ? TERM(next[l]) : 0;
            chain_sum(&all, (terms[0] + terms[1]) + (terms[2] + terms[3]));
        }
#endif
    }
    return all.all;
}

/* Work-items that combine the values of a group, each those of as many; what they have the first
 * one combines, or all where an index is asked for. */
#define FOLDING (GROUP > 256 ? 32 : GROUP > 64 ? 16 : GROUP > 16 ? 8 : GROUP)

#if LEAST || LARGEST
#define JOIN(a, b) BETTER(a, b)
#else
#define JOIN(a, b) ((a) + (b))
#endif

/* The best of `count` values, `step` apart, or their sum. */
static inline VALUE fold(__local const VALUE *values, uint count, uint step)
{
    VALUE some[4];

    if (count < 4) {
        some[0] = values[0];
#pragma unroll
        for (uint k = 1; k < count; k++)
            some[0] = JOIN(some[0], values[k * step]);
        return some[0];
    }
#pragma unroll
    for (uint k = 0; k < 4; k++)
        some[k] = values[k * step];
#pragma unroll
    for (uint k = 4; k < count; k++)
        some[k % 4] = JOIN(some[k % 4], values[k * step]);
    some[0] = JOIN(some[0], some[1]);
    some[2] = JOIN(some[2], some[3]);
    return JOIN(some[0], some[2]);
}

/* The best that the work-items of a group have, with the least index of those that have it, which
 * all of them get; or without an index the best or the sum, which the first one gets.  Two barriers
 * in place of the eight of a tree.  `first` and `shared` are free for reuse behind another barrier.
 */
static inline reduced group_reduce(reduced mine, __local reduced *shared, __local uint *first)
{
    __local VALUE *values = (__local VALUE *)shared;
    const uint item = (uint)get_local_id(0);
    reduced all;

    if (item == 0)
        *first = NO_INDEX;
    values[item] = mine.value;
    /* Filled before read. */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < FOLDING)
        values[item] = fold(values + item, GROUP / FOLDING, FOLDING);
    /* Combined before they are read again. */
    barrier(CLK_LOCAL_MEM_FENCE);
#if WITH_INDEX
    all.value = fold(values, FOLDING, 1);
    if (mine.index != NO_INDEX && !precedes(all.value, mine.value))
        atomic_min(first, mine.index);
    /* Found by all before it is read. */
    barrier(CLK_LOCAL_MEM_FENCE);
    all.index = *first;
#else
    all = nothing();
    if (item == 0) /* all would take longer: they wait for one another */
        all.value = fold(values, FOLDING, 1);
#endif
    return all;
}

#if WITH_INDEX
/* Set *found to the index of the first element, of the block from `begin` on, that is as good as
 * `best`. */
static inline void find_in_block(__global const ELEMENT *restrict x, ulong n, VALUE best,
                                 ulong begin, __local uint *found)
{
    const uint item = (uint)get_local_id(0);
    uint first = UINT_MAX;

    if (n - begin >= BLOCK) {
        loaded next[LOADS];

#pragma unroll
        for (uint l = 0; l < LOADS; l++)
            next[l] = load(x, begin + (l * GROUP + item) * VEC, 1);
            /* From the end on, so that the last one found is the first. */
#pragma unroll
        for (uint l = LOADS; l-- > 0;)
#pragma unroll
            for (uint p = PIECES; p-- > 0;) {
                ELEMENT elements[TAKEN];

                spread(next[l], p, elements);
#pragma unroll
                for (uint k = TAKEN; k-- > 0;)
                    if (!precedes(best, NUMBER(elements[k])))
                        first = (l * GROUP + item) * VEC + p * TAKEN + k;
            }
    } else {
        const uint count = (uint)(n - begin);

        for (uint i = item; i < count && first == UINT_MAX; i += 4 * GROUP) {
            ELEMENT next[4];

#pragma unroll
            for (uint k = 0; k < 4; k++)
                if (i + k * GROUP < count)
                    next[k] = x[begin + i + k * GROUP];
#pragma unroll
            for (uint k = 4; k-- > 0;)
                if (i + k * GROUP < count && !precedes(best, NUMBER(next[k])))
                    first = i + k * GROUP;
        }
    }
    if (first != UINT_MAX)
        atomic_min(found, first);
}
#endif

/* Store the result, which the first work-item has, and all where it has an index. */
static inline void finish(__global const ELEMENT *restrict x, __global RESULT *restrict result,
                          const reduce_call *call, reduced r, __local uint *found)
{
#if WITH_INDEX
    ulong index = 0;

    /* There is no block where every element is what a reduction starts from. */
    if (r.index != NO_INDEX) {
        find_in_block(x, call->n, r.value, r.index * BLOCK, found);
        /* Found by all before it is read. */
        barrier(CLK_LOCAL_MEM_FENCE);
        index = r.index * BLOCK + *found;
    }
    if (get_local_id(0) == 0)
        result[call->offset_result] = (RESULT)index;
#else
    if (get_local_id(0) == 0)
        put_result(result + call->offset_result, r, call->n);
#endif
}

/* Of a short array a single work-group has all. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce_whole_alone(__global const ELEMENT *restrict x, __global RESULT *restrict result,
                   const reduce_call call)
{
    __local reduced shared[GROUP];
    __local uint first, found;
    const bool exact = call.n < BLOCK;
    reduced r;

    /* There before it is added to: group_reduce() has barriers. */
    if (get_local_id(0) == 0)
        found = UINT_MAX;
    x += call.offset_x;
    r = group_reduce(take_share(x, call.n, exact), shared, &first);
    if (!exact)
        finish(x, result, &call, r, &found);
    else if (get_local_id(0) == 0)
        put_result(result + call.offset_result, r, call.n);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce_whole(__global const ELEMENT *restrict x, __global RESULT *restrict result,
             __global reduced *left, __global group_counter *done, const reduce_call call)
{
    __local reduced shared[GROUP];
    __local uint first, found;
    const uint item = (uint)get_local_id(0), groups = (uint)get_num_groups(0);
    chain all = chain_start();
    reduced r;

    x += call.offset_x;
    r = group_reduce(take_share(x, call.n, false), shared, &first);
    if (item == 0)
        left[get_group_id(0)] = r;
    if (!is_last_group(done, groups, &found))
        return;
    if (item == 0)
        found = UINT_MAX;
    /* Of no need to the language, as group_reduce() has barriers: without it PoCL loses the store.
     */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint g = item; g < groups; g += GROUP)
        chain_join(&all, left[g]);
    finish(x, result, &call, group_reduce(all.all, shared, &first), &found);
}
