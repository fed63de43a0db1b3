/* Select: one launch, vectors in registers, and warps that look back.
 *
 * Idea: as select_look_back.cl; but each element is loaded once, neighbours by
 *     neighbours; one scan of a warp by shuffles finds the places of up to four
 *     rows of its elements, whose counts are the bytes of a word; the selected
 *     ones are put side by side in local memory and stored from there, neighbours
 *     by neighbours; and a warp looks back over 64 and more tiles at a time
 *     (warp_look_back.clh).  The order is that of x.
 * Work split: a work-group for a tile of GROUP * ROWS * 4 elements; a warp takes
 *     ROWS rows of 128 that follow one another, a vector of four each lane.
 * Parameters: those of select.clh; GROUP, a multiple of 32; ROWS, up to 4; ALIGNED, 1
 *     where vectors begin at multiples of their size; AHEAD, how many tiles further
 *     on each group has one fetched into the second-level cache; SIZED
 *     (warp_look_back.clh).
 *     REGISTERS only limits registers, on the host.
 * Launch: 1-D, a work-group of GROUP for each tile, behind a fill that clears the
 *     states where there are several.
 * Local memory: a tile, a word for each warp, and one more.
 * Limits: fewer than 2^32 elements; NVIDIA only.
 */
#include "select/select.clh"

#if !defined(GROUP) || !defined(ROWS) || !defined(ALIGNED) || !defined(AHEAD)
#error "GROUP, ROWS, ALIGNED, AHEAD: the tile, and how it is moved"
#endif

#define WARPS (GROUP / 32)
#define TILE  (GROUP * ROWS * 4)

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

#include "common/vector4.clh"
#include "common/warp_look_back.clh"

/* Four elements, all of them in the array. */
static inline void load_whole(BITS v[4], __global const BITS *x)
{
    const VECTOR_OF(BITS) four = *(__global const VECTOR_OF(BITS) *)x;

    v[0] = four.x;
    v[1] = four.y;
    v[2] = four.z;
    v[3] = four.w;
}

/* Elements e to e + 3 of a tile of `count`; those beyond are 0. */
static inline void load_part(BITS v[4], __global const BITS *tile, uint e, uint count)
{
#pragma unroll
    for (uint k = 0; k < 4; k++)
        v[k] = e + k < count ? tile[e + k] : 0;
}

__kernel WORK_GROUP void select_warps(__global const BITS *x, __global BITS *result,
                                      __global long *indices, __global ulong *count,
                                      __global ulong *states, const select_call call)
{
    __local BITS kept[TILE]; /* the selected elements of the tile */
#if WITH_INDICES
    __local ushort places[TILE]; /* and where they are in it */
#endif
    __local uint counts[WARPS], found;
    const uint item = (uint)get_local_id(0), lane = item % 32, warp = item / 32;
    const uint in_tile = warp * (ROWS * 128) + lane * 4;
    const VALUE value = value_of(&call);
    BITS v[ROWS][4];
    uint selected = 0; /* the work-item's elements, as bits */
    uint by_row = 0;   /* how many of them a row has, a byte each; then with those of the
                          lanes before */
    const uint tile = (uint)get_group_id(0);
    const ulong first = (ulong)tile * TILE;
    const uint count_x = (uint)min(call.n - first, (ulong)TILE);
    uint of_warp, all = 0, before = 0;

    for (uint k = item * (128 / sizeof(BITS)); k < TILE; k += GROUP * (128 / sizeof(BITS)))
        if (first + AHEAD * (ulong)TILE + k < call.n)
            prefetch_line(x + call.from + first + AHEAD * (ulong)TILE + k);
    x += call.from + first;
    if (ALIGNED && count_x == TILE) {
#pragma unroll
        for (uint j = 0; j < ROWS; j++)
            load_whole(v[j], x + in_tile + j * 128);
    } else {
#pragma unroll
        for (uint j = 0; j < ROWS; j++)
            load_part(v[j], x, in_tile + j * 128, count_x);
    }
#pragma unroll
    for (uint j = 0; j < ROWS; j++) {
#pragma unroll
        for (uint k = 0; k < 4; k++)
            if (holds(v[j][k], value) && in_tile + j * 128 + k < count_x) {
                selected |= 1u << (4 * j + k);
                by_row += 1u << 8 * j;
            }
    }
    {
        const uint up_to = warp_scan(by_row, lane), rows = warp_broadcast(up_to, 31);

        by_row = up_to - by_row;
        of_warp = (rows & 255) + (rows >> 8 & 255) + (rows >> 16 & 255) + (rows >> 24);
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
        if (item == 0)
            publish_total(states, tile, all);
#pragma unroll
        for (uint j = 0; j < ROWS; j++) {
            uint place = before + (by_row >> 8 * j & 255);

#pragma unroll
            for (uint k = 0; k < 4; k++)
                if (selected >> (4 * j + k) & 1) {
                    kept[place] = v[j][k];
#if WITH_INDICES
                    places[place] = (ushort)(in_tile + j * 128 + k);
#endif
                    place++;
                }
            before += rows >> 8 * j & 255;
        }
    }
    if (warp == 0) {
        const uint of_tiles = look_back(states, states + call.blocks_at, tile, all);

        if (lane == 0) {
            found = of_tiles;
            if (tile == call.tiles - 1)
                count[call.to_count] = (ulong)of_tiles + all;
        }
    }
    /* Found, and all that is kept is there, before others read it. */
    barrier(CLK_LOCAL_MEM_FENCE);
    result += call.to + found;
    for (uint i = item; i < all; i += GROUP)
        result[i] = kept[i];
#if WITH_INDICES
    indices += call.to_indices + found;
    for (uint i = item; i < all; i += GROUP)
        indices[i] = (long)(first + places[i]);
#endif
}
