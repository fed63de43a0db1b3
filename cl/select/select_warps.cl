/* Select: one launch, elements in registers, ballots for places, and warps that look back.
 *
 * Idea: as select_look_back.cl; but neighbours load neighbours, each element once,
 *     into registers; a ballot tells every lane of a warp which of 32 neighbours
 *     are selected, and so its own place; and a warp looks back over 64 and more
 *     tiles at a time (warp_look_back.clh).  The order is that of x.
 * Work split: a work-group for a tile of GROUP * ITEMS elements; a warp takes
 *     ITEMS * 32 that follow one another, 32 at a time.
 * Parameters: those of select.clh; GROUP, a multiple of 32; ITEMS, elements of a
 *     work-item.
 * Launch: 1-D, a work-group of GROUP for each tile, behind a fill that clears the
 *     states and, behind them, the ticket.
 * Local memory: a word for each warp, and two more.
 * Limits: fewer than 2^32 elements; NVIDIA only.
 */
#include "select/select.clh"

#if !defined(GROUP) || !defined(ITEMS)
#error "GROUP: work-items in a work-group; ITEMS: elements of each"
#endif

#define WARPS (GROUP / 32)
#define TILE  (GROUP * ITEMS)

#define TOTAL          uint
#define TOTAL_IDENTITY 0
#define STATE_WORDS    1

static inline uint total_join(uint a, uint b)
{
    return a + b;
}

static inline ulong total_bits(uint value)
{
    return value;
}

static inline uint total_of(ulong bits)
{
    return (uint)bits;
}

#include "common/warp_look_back.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
select_warps(__global const BITS *x, __global BITS *result, __global long *indices,
             __global ulong *count, __global ulong *states, const select_call call)
{
    __local uint counts[WARPS], drawn, found;
    const uint item = (uint)get_local_id(0), lane = item % 32, warp = item / 32;
    const uint lower_lanes = (1u << lane) - 1;
    const VALUE value = value_of(&call);
    BITS own[ITEMS];
    uint selected[ITEMS]; /* of each 32 neighbours, the lanes */
    uint of_warp = 0, all = 0, before = 0, tile;
    ulong first, place;

    if (item == 0)
        drawn = take_ticket((__global uint *)(states + call.ticket_at));
    /* Drawn before the others read it. */
    barrier(CLK_LOCAL_MEM_FENCE);
    tile = drawn;
    first = (ulong)tile * TILE + warp * (ITEMS * 32) + lane;
#pragma unroll
    for (uint j = 0; j < ITEMS; j++)
        own[j] = first + j * 32 < call.n ? x[call.from + first + j * 32] : 0;
#pragma unroll
    for (uint j = 0; j < ITEMS; j++) {
        selected[j] = warp_ballot(first + j * 32 < call.n ? holds(own[j], value) : 0);
        of_warp += popcount(selected[j]);
    }
    if (lane == 0)
        counts[warp] = of_warp;
    /* Of all warps, before any adds them. */
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint w = 0; w < WARPS; w++) {
        if (w == warp)
            before = all;
        all += counts[w];
    }
    if (warp == 0) {
        const uint of_tiles = look_back(states, states + call.blocks_at, tile, all);

        if (lane == 0) {
            found = of_tiles;
            if (tile == call.tiles - 1)
                count[call.to_count] = (ulong)of_tiles + all;
        }
    }
    /* Found before the others read it. */
    barrier(CLK_LOCAL_MEM_FENCE);
    place = (ulong)found + before;
#pragma unroll
    for (uint j = 0; j < ITEMS; j++) {
        if (selected[j] >> lane & 1)
            put(result, indices, &call, place + popcount(selected[j] & lower_lanes), own[j],
                first + j * 32);
        place += popcount(selected[j]);
    }
}
