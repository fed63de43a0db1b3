/* Limit of local memory: read a tile over and over.
 *
 * Idea      an item reads DEPTH vectors a round, neighbours next to each other
 *           (no bank conflicts), one address for all of them.  The rows move on
 *           by one each round, so no load can be kept; after ROWS rounds an
 *           item has seen the whole tile once, and its sum is known
 * Work      each item sums `rounds` rows, lane by lane, and writes the sum
 * Params    ELEMENT uint, WIDTH, ROWS (a power of 2), DEPTH; PITCH, vectors
 *           from one of an item's reads to the next: ROWS, or one more where
 *           reads of the same item, not of neighbours, fall on the same bank
 * Launch    1-D, any work-group size; rounds a multiple of ROWS
 * Local     PITCH * DEPTH vectors
 */
#include "roofline/roofline_lanes.clh"

#ifndef ROWS
#error "ROWS: rows of the tile, a power of 2"
#endif
#ifndef PITCH
#error "PITCH: ROWS or more"
#endif
#ifndef DEPTH
#error "DEPTH: vectors of a row"
#endif

__kernel void roofline_local(__global VECTOR *out, uint rounds, uint seed)
{
    __local VECTOR tile[PITCH * DEPTH];
    const uint item = get_local_id(0);
    VECTOR sum[DEPTH];

    for (uint i = item; i < PITCH * DEPTH; i += get_local_size(0))
        tile[i] = (VECTOR)(seed + i * WIDTH) + LANES;
#pragma unroll
    for (uint d = 0; d < DEPTH; d++)
        sum[d] = 0;
    /* Filled before read: below, everyone reads all of it. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = 0; r < rounds; r++) {
        __local const VECTOR *row = tile + ((item + r) & (ROWS - 1));

#pragma unroll
        for (uint d = 0; d < DEPTH; d++)
            sum[d] += row[d * PITCH];
    }
#pragma unroll
    for (uint d = 1; d < DEPTH; d++)
        sum[0] += sum[d];
    out[get_global_id(0)] = sum[0];
}
