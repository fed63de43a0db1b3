/* Scan: one launch, in which each tile learns from those before it what it starts from.
 *
 * Idea: decoupled look-back.  A tile publishes what it comes to, its aggregate,
 *     goes back over the tiles before it until one has published what all up to
 *     its end come to, its prefix, and publishes its own prefix.  x is read from
 *     memory once.  On its way back a tile adds nothing: it adds the aggregates
 *     that it passed when it comes forward again, in the order of the tiles.  So
 *     each prefix is the one before it combined with one aggregate, whoever found
 *     it and wherever its way back ended, and sums have the same bits in every run.
 * Work split: a work-group for a tile of GROUP * ITEMS elements of a line.
 * Parameters: those of scan_tile.clh; PUBLISHES, how tiles publish (publish.clh).
 * Launch: 1-D, a work-group of GROUP for each tile, behind a fill that clears the
 *     states and, behind them, the ticket.
 * Local memory: a tile, GROUP values with their flags, and two words.
 * Limits: lines of neighbours; fewer than 2^32 tiles; work-groups that have started
 *     make progress while others wait for them.
 *
 * Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016.
 */
#include "scan/scan_tile.clh"

#include "common/publish.clh"

/* States of a tile, from 0, where nothing is published. */
#define AGGREGATE 1
#define STARTS    2 /* an aggregate behind the start of a segment: it is the prefix as well */
#define PREFIX    3

/* What is before a tile in its line, which is not the line's first. */
static inline VALUE look_back(__global published *states, __global const VALUE *aggregates,
                              __global const VALUE *prefixes, uint tile)
{
    uint k = tile;
    uint state = AGGREGATE;
    VALUE value;

    while (state == AGGREGATE) {
        k--;
        do
            state = published_at(states + k);
        while (state == 0);
    }
    value = state == PREFIX ? prefixes[k] : aggregates[k];
    while (++k < tile)
        value = combine(value, aggregates[k]);
    return value;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
scan_look_back(__global const X *x, __global const ulong *offsets, __global RESULT *result,
               __global published *states, __global VALUE *values_of_tiles, const tiles_call call)
{
    __local VALUE tile[TILE_MEMORY], values[GROUP], found;
    __local uint flags[GROUP], drawn;
    __global VALUE *aggregates = values_of_tiles + call.aggregates;
    __global VALUE *prefixes = values_of_tiles + call.prefixes;
    const uint item = get_local_id(0);
    carry before, own, all;
    uint number;
    extent e;

    if (item == 0)
        drawn = take_ticket(states + call.rows * call.tiles);
    /* Drawn before the others read it. */
    barrier(CLK_LOCAL_MEM_FENCE);
    number = drawn;
    e = extent_of(&call, number);
    offsets += call.from_segments;
    load_tile(tile, x, &call, &e);
    own = own_total(tile, offsets, &call, &e);
    own = before_item(values, flags, own, &all);
    if (item == 0) {
        VALUE value = IDENTITY;

        if (number % call.tiles > 0) {
            aggregates[number] = all.value;
            publish(states + number, all.starts ? STARTS : AGGREGATE);
            value = look_back(states, aggregates, prefixes, number);
        }
        found = value;
        if (!all.starts || number % call.tiles == 0) {
            prefixes[number] = all.starts ? all.value : combine(value, all.value);
            publish(states + number, PREFIX);
        }
    }
    /* Found before the others read it. */
    barrier(CLK_LOCAL_MEM_FENCE);
    before.value = found;
    before.starts = 0;
    scan_own(tile, offsets, &call, &e, join(before, own).value);
    store_tile(tile, result, &call, &e);
}
