/* Select: one launch, in which each tile learns from those before it where its elements go.
 *
 * Idea: decoupled look-back (look_back.clh): a tile counts what it selects and
 *     publishes that, looks back over the tiles before it until one has published
 *     where it ended, and stores from there on.  x comes from memory once; the
 *     second look at an element is at one that a cache has.  The order is that of
 *     x.
 * Work split: as select_three_launches.cl; tiles are taken by tickets.
 * Parameters: those of select.clh; GROUP, work-items in a work-group; STATES, how
 *     tiles publish (look_back.clh); UNROLLED (select_three_launches.cl).  ITEMS decides
 *     on the host alone.
 * Launch: 1-D, a work-group for each tile, behind a fill that clears states and
 *     ticket: one of each tile, and the ticket behind them.
 * Local memory: GROUP + 2 words.
 * Limits: fewer than 2^31 elements; work-groups that have started make
 *     progress while others wait for them.
 */
#include "select/select_tile.clh"

#include "common/look_back.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
select_look_back(__global const BITS *x, __global BITS *result, __global long *indices,
                 __global ulong *count, __global state *states, const select_call call)
{
    __local uint sums[GROUP], drawn, first;
    const uint item = get_local_id(0);
    uint tile, own, before;

    if (item == 0)
        drawn = take_ticket(states + call.tiles);
    /* Drawn before the others read it. */
    barrier(CLK_LOCAL_MEM_FENCE);
    tile = drawn;
    own = count_own(x, &call, tile);
    before = group_scan(sums, own);
    if (item == GROUP - 1) {
        const uint all = before + own;

        if (tile > 0)
            state_publish(states + tile, 1 + all);
        first = tile > 0 ? look_back(states, tile, 1, 0) : 0;
        state_publish(states + tile, STATE_PREFIX + first + all);
        if (tile == call.tiles - 1)
            count[call.to_count] = first + all;
    }
    /* Found before the others read it. */
    barrier(CLK_LOCAL_MEM_FENCE);
    put_own(x, result, indices, &call, tile, first + before);
}
