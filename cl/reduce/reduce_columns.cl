/* Reduction along any axis but the last: a work-item for each column, of any type.
 *
 * Idea: the elements of a column lie `step` apart, but those of its neighbours
 *     follow one another: work-items that go down columns side by side read
 *     whole lines of memory, and no work-item waits for another one.  Where
 *     columns are few they are cut into parts, and a second launch reduces what
 *     these leave.
 * Work split: a work-item takes a part of a column; columns side by side follow
 *     one another, then parts, then the `outer` ones.
 * Parameters: GROUP, work-items in a work-group; LOADS, rows that a work-item has
 *     in flight; those of reduce_values.clh.
 *     PER_UNIT only decides the number of parts on the host.
 * Launch: 1-D, work-groups of GROUP, a work-item for each column and part:
 *     reduce_columns, and where there are parts then reduce_columns_parts, a
 *     work-item for each column.
 * Local memory: none.
 * Limits: indexes in 64 bits.
 */
#include "reduce/reduce_values.clh"

#if !defined(GROUP) || !defined(LOADS)
#error "GROUP, LOADS: work-items of a work-group, and rows in flight"
#endif

static inline reduced chains_reduce(chain *chains)
{
#pragma unroll
    for (uint reach = LOADS / 2; reach > 0; reach /= 2)
#pragma unroll
        for (uint l = 0; l < reach; l++)
            chains[l].all = combine(chains[l].all, chains[l + reach].all);
    return chains[0].all;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce_columns(__global const ELEMENT *restrict x, __global RESULT *restrict result,
               __global reduced *restrict left, const reduce_call call)
{
    const ulong unit = get_global_id(0), column = unit % call.inner, rest = unit / call.inner;
    const ulong part = rest % call.parts, o = rest / call.parts;
    const ulong begin = part * call.chunk, end = min(begin + call.chunk, call.n);
    __global const ELEMENT *from = x + call.offset_x + o * call.stride + column;
    chain chains[LOADS];
    ulong i = begin;
    reduced r;

    if (o >= call.outer)
        return;
#pragma unroll
    for (uint l = 0; l < LOADS; l++)
        chains[l] = chain_start();
    for (; i + LOADS <= end; i += LOADS) {
#pragma unroll
        for (uint l = 0; l < LOADS; l++)
            chain_take(&chains[l], from[(i + l) * call.step], i + l);
    }
    for (; i < end; i++)
        chain_take(&chains[0], from[i * call.step], i);
    r = chains_reduce(chains);
    if (call.parts == 1)
        put_result(result + call.offset_result + unit, r, call.n);
    else
        left[unit] = r;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce_columns_parts(__global const reduced *restrict left, __global RESULT *restrict result,
                     const reduce_call call)
{
    const ulong unit = get_global_id(0), column = unit % call.inner, o = unit / call.inner;
    chain c = chain_start();

    if (o >= call.outer)
        return;
    for (ulong p = 0; p < call.parts; p++)
        chain_join(&c, left[(o * call.parts + p) * call.inner + column]);
    put_result(result + call.offset_result + unit, c.all, call.n);
}
