/* Reduction along the last axis: a team of work-items for each row, of any type.
 *
 * Idea: the elements of a row follow one another, so neighbouring work-items
 *     read neighbouring elements, as many as a row deserves: a whole work-group
 *     for a long one, a few work-items for a short one, several rows side by
 *     side.  Few very long rows, such as a whole array, are cut into parts; a
 *     second launch reduces what these leave.
 * Work split: a team of TEAM work-items takes a part of a row; the GROUP / TEAM
 *     teams of a work-group take parts that follow one another, and work-groups
 *     take turns.
 * Parameters: GROUP, work-items in a work-group; TEAM, a power of 2 up to GROUP;
 *     LOADS, loads that a work-item has in flight; VEC, elements of one: 1, 2, 4, 8 or 16,
 *     above 1 where those of a row follow one another; ALIGNED, 1 where rows and their
 *     parts begin at multiples of VEC elements; ONE_ROW, 1 where there is one row; UNROLLED, 1
 *     where compilers may copy the bodies of loops: more loads on their way, against the time to
 *     compile; those of reduce_values.clh.
 *     PER_UNIT only decides the number of groups and parts on the host.
 * Launch: 1-D, any number of work-groups of GROUP: reduce_rows, and where there
 *     are parts then reduce_rows_parts.
 * Local memory: a reduced value for each work-item.
 * Limits: indexes in 64 bits.
 */
#include "reduce/reduce_loads.clh"

#define REDUCED reduced
#define COMBINE combine
#include "common/group_reduce.clh"

#if !defined(GROUP) || !defined(TEAM) || !defined(LOADS)
#error "GROUP, TEAM, LOADS: work-items of a group and of a team, and their loads"
#endif
#if !defined(ONE_ROW) || !defined(UNROLLED)
#error "ONE_ROW, UNROLLED: 1 where there is one row, and where loops may be unrolled"
#endif

#define TEAMS (GROUP / TEAM)

/* Take what was loaded: element number `index` and those behind it. */
static inline void take_loaded(chain *c, loaded x, ulong index)
{
#pragma unroll
    for (uint p = 0; p < PIECES; p++) {
        ELEMENT elements[TAKEN];

        spread(x, p, elements);
        if (VEC == 1)
            chain_take(c, elements[0], index);
        else
            chain_take_several(c, elements, index + p * TAKEN);
    }
}

/* The chains of this work-item, and then those of its team; the first work-item gets the result. */
static inline reduced team_reduce(__local reduced *shared, chain *chains)
{
    const uint item = get_local_id(0);
    reduced r;

#pragma unroll
    for (uint reach = LOADS / 2; reach > 0; reach /= 2)
#pragma unroll
        for (uint l = 0; l < reach; l++)
            chains[l].all = combine(chains[l].all, chains[l + reach].all);
    if (TEAM == 1)
        return chains[0].all;
    r = tree_reduce(shared + item, 1, item % TEAM, TEAM, chains[0].all);
    /* Read before the next parts overwrite it. */
    barrier(CLK_LOCAL_MEM_FENCE);
    return r;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce_rows(__global const ELEMENT *restrict x, __global RESULT *restrict result,
            __global reduced *restrict left, const reduce_call call)
{
    __local reduced shared[GROUP];
    const uint item = (uint)get_local_id(0), lane = item % TEAM;
    const ulong units = ONE_ROW ? call.parts : call.outer * call.parts;

    x += call.offset_x;
    result += call.offset_result;
    /* One trip count for all work-items of the group: they meet at the barriers. */
    for (ulong first = get_group_id(0) * (ulong)TEAMS; first < units;
         first += get_num_groups(0) * (ulong)TEAMS) {
        const ulong unit = first + item / TEAM, row = ONE_ROW ? 0 : unit / call.parts;
        const ulong begin = (ONE_ROW ? unit : unit % call.parts) * call.chunk;
        const ulong end = unit < units ? min(begin + call.chunk, call.n) : begin;
        __global const ELEMENT *from = x + row * call.stride;
        chain chains[LOADS];
        ulong i = begin + lane * VEC;
        reduced r;

#pragma unroll
        for (uint l = 0; l < LOADS; l++)
            chains[l] = chain_start();
#if !UNROLLED
#pragma unroll 1
#endif
        for (; i + (LOADS - 1) * TEAM * VEC + VEC <= end; i += LOADS * TEAM * VEC) {
            loaded next[LOADS];

#pragma unroll
            for (uint l = 0; l < LOADS; l++)
                next[l] = load(from, i + l * TEAM * VEC, call.step);
#pragma unroll
            for (uint l = 0; l < LOADS; l++)
                take_loaded(&chains[l], next[l], i + l * TEAM * VEC);
        }
        /* Fewer are left than one turn takes: again all loads, of which some are none. */
        if (i + VEC <= end) {
            loaded next[LOADS];

#pragma unroll
            for (uint l = 0; l < LOADS; l++)
                if (i + l * TEAM * VEC + VEC <= end)
                    next[l] = load(from, i + l * TEAM * VEC, call.step);
#pragma unroll
            for (uint l = 0; l < LOADS; l++)
                if (i + l * TEAM * VEC + VEC <= end)
                    take_loaded(&chains[l], next[l], i + l * TEAM * VEC);
        }
        /* The part's last elements, fewer than VEC. */
        for (i = end - (end - begin) % VEC + lane; VEC > 1 && i < end; i += TEAM)
            chain_take(&chains[0], from[i * call.step], i);
        r = team_reduce(shared, chains);
        if (lane == 0 && unit < units) {
            if (call.parts == 1)
                put_result(result + row, r, call.n);
            else
                left[unit] = r;
        }
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce_rows_parts(__global const reduced *restrict left, __global RESULT *restrict result,
                  const reduce_call call)
{
    __local reduced shared[GROUP];
    const uint item = (uint)get_local_id(0), lane = item % TEAM;

    result += call.offset_result;
    for (ulong first = get_group_id(0) * (ulong)TEAMS; first < call.outer;
         first += get_num_groups(0) * (ulong)TEAMS) {
        const ulong row = first + item / TEAM;
        chain chains[LOADS];
        reduced r;

#pragma unroll
        for (uint l = 0; l < LOADS; l++)
            chains[l] = chain_start();
#if !UNROLLED
#pragma unroll 1
#endif
        for (ulong p = lane; p < call.parts && row < call.outer; p += TEAM)
            chain_join(&chains[0], left[row * call.parts + p]);
        r = team_reduce(shared, chains);
        if (lane == 0 && row < call.outer)
            put_result(result + row, r, call.n);
    }
}
