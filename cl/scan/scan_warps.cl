/* Scan: one launch, elements in registers, and warps that look back.
 *
 * Idea: as scan_look_back.cl, without local memory for the elements and with one
 *     barrier for the tile's total: each work-item has vectors of VEC
 *     neighbours in registers, a warp scans their sums by shuffles, and the first
 *     warp looks back over 64 and more tiles at a time (warp_look_back.clh).
 * Work split: a work-group for a tile of GROUP * VECTORS * VEC elements of a line; a
 *     warp takes VECTORS * 32 * VEC that follow one another, a vector of each lane
 *     at a time.
 * Parameters: those of scan.clh; GROUP, a multiple of 32; VEC, 2 or 4; VECTORS; ALIGNED, 1 where
 *     vectors begin at multiples of their size; AHEAD, how many tiles further on
 *     each group has one fetched into the second-level cache; STATE_WORDS
 *     and SIZED (warp_look_back.clh).
 *     REGISTERS only limits registers, on the host.
 * Launch: 1-D, a work-group of GROUP for each tile, behind a fill that clears the
 *     states where a line has several.
 * Local memory: a value for each warp, and one more.
 * Limits: no segments; lines of neighbours; fewer than 2^32 tiles; NVIDIA only.
 */
#include "scan/scan.clh"

#if !defined(GROUP) || !defined(VEC) || !defined(VECTORS) || !defined(ALIGNED) ||                  \
    !defined(AHEAD) || !defined(STATE_WORDS)
#error "GROUP, VEC, VECTORS, ALIGNED, AHEAD, STATE_WORDS: the tile, and how it is moved"
#endif

#define WARPS (GROUP / 32)
#define ROUND (32 * VEC) /* elements of a warp's vectors */
#define TILE  (GROUP * VECTORS * VEC)

#define TOTAL          VALUE
#define TOTAL_IDENTITY IDENTITY

static inline VALUE total_join(VALUE a, VALUE b)
{
    return combine(a, b);
}

static inline ulong total_bits(VALUE value)
{
#if FLOATS == 64
    return as_ulong(value);
#elif FLOATS
    return as_uint(value);
#else
    return (ulong)value;
#endif
}

static inline VALUE total_of(ulong bits)
{
#if FLOATS == 64
    return as_double(bits);
#elif FLOATS
    return as_float((uint)bits);
#else
    return (VALUE)bits;
#endif
}

#define VECTOR_PASTE(a, b)    a##b
#define VECTOR_EXPANDED(a, b) VECTOR_PASTE(a, b)
#define VECTOR_OF(T)          VECTOR_EXPANDED(T, VEC)

#include "common/warp_look_back.clh"

/* A call, as one argument; the host's warps_call has the same members. */
typedef struct warps_call {
    ulong n, rows;       /* elements of a line, and lines */
    ulong tiles, blocks; /* of a line */
    ulong from, to;      /* indexes of the first elements of x and of the result */
    ulong blocks_at;     /* index in the states */
} warps_call;

/* Where element e of a tile is, in the order of the scan, from its first one. */
#define PLACE(e) (REVERSE ? -(int)(e) : (int)(e))

/* Elements e to e + VEC - 1 of a tile, all of them in the line. */
static inline void load_whole(VALUE v[VEC], __global const X *tile, uint e)
{
    const VECTOR_OF(X) all =
        *(__global const VECTOR_OF(X) *)(tile + PLACE(REVERSE ? e + VEC - 1 : e));
    X own[VEC];

    own[REVERSE ? VEC - 1 : 0] = all.x;
    own[REVERSE ? VEC - 2 : 1] = all.y;
#if VEC == 4
    own[REVERSE ? 1 : 2] = all.z;
    own[REVERSE ? 0 : 3] = all.w;
#endif
#pragma unroll
    for (uint k = 0; k < VEC; k++)
        v[k] = value_of(own[k]);
}

static inline void store_whole(__global RESULT *tile, uint e, const VALUE v[VEC])
{
    VECTOR_OF(RESULT) all;

    all.x = result_of(v[REVERSE ? VEC - 1 : 0]);
    all.y = result_of(v[REVERSE ? VEC - 2 : 1]);
#if VEC == 4
    all.z = result_of(v[REVERSE ? 1 : 2]);
    all.w = result_of(v[REVERSE ? 0 : 3]);
#endif
    *(__global VECTOR_OF(RESULT) *)(tile + PLACE(REVERSE ? e + VEC - 1 : e)) = all;
}

/* The same of a tile of `count` elements; those beyond are the identity. */
static inline void load_part(VALUE v[VEC], __global const X *tile, uint e, uint count)
{
#pragma unroll
    for (uint k = 0; k < VEC; k++)
        v[k] = e + k < count ? value_of(tile[PLACE(e + k)]) : (VALUE)(IDENTITY);
}

static inline void store_part(__global RESULT *tile, uint e, uint count, const VALUE v[VEC])
{
#pragma unroll
    for (uint k = 0; k < VEC; k++)
        if (e + k < count)
            tile[PLACE(e + k)] = result_of(v[k]);
}

/* The line of a tile, whose number in it that becomes.  There are fewer than 2^32 tiles: a division
 * of 64 bits would take longer than a load does. */
static inline uint line_of(uint *tile, const warps_call *call)
{
    const uint tiles = (uint)call->tiles, row = call->rows > 1 ? *tile / tiles : 0;

    *tile -= row * tiles;
    return row;
}

/* Bring a tile into the second-level cache, a line of 128 bytes each work-item at a time. */
static inline void prefetch_tile(__global const X *x, const warps_call *call, uint tile)
{
    const ulong row = line_of(&tile, call), first = (ulong)tile * TILE;
    const uint count = (uint)min(call->n - first, (ulong)TILE);

    x += row * call->n + (REVERSE ? call->n - first - count : first);
    for (uint k = get_local_id(0) * (128 / sizeof(X)); k < count; k += GROUP * (128 / sizeof(X)))
        prefetch_line(x + k);
}

__kernel WORK_GROUP void scan_warps(__global const X *x, __global RESULT *result,
                                    __global ulong *states, const warps_call call)
{
    __local VALUE totals[WARPS], found;
    const uint item = (uint)get_local_id(0), lane = item % 32, warp = item / 32;
    VALUE v[VECTORS][VEC], own = IDENTITY, all = IDENTITY, first = IDENTITY;
    const uint e = warp * (VECTORS * ROUND) + lane * VEC; /* the first element, in the tile */
    const uint group = (uint)get_group_id(0);
    uint tile = group, count;
    const ulong row = line_of(&tile, &call);
    ulong begin;

    x += call.from;
    if ((ulong)group + AHEAD < call.rows * call.tiles)
        prefetch_tile(x, &call, group + AHEAD);
    begin = (ulong)tile * TILE;
    count = (uint)min(call.n - begin, (ulong)TILE);
    begin = row * call.n + (REVERSE ? call.n - 1 - begin : begin);
    x += begin;
    result += call.to + begin;
    if (ALIGNED && count == TILE) {
#pragma unroll
        for (uint j = 0; j < VECTORS; j++)
            load_whole(v[j], x, e + j * ROUND);
    } else {
#pragma unroll
        for (uint j = 0; j < VECTORS; j++)
            load_part(v[j], x, e + j * ROUND, count);
    }
    /* What is before each vector in the warp, the vectors before and the lanes before, goes into
     * its elements at once: fewer registers, and more work-groups side by side. */
#pragma unroll
    for (uint j = 0; j < VECTORS; j++) {
        VALUE up_to, before, sum;

#pragma unroll
        for (uint k = 1; k < VEC; k++)
            v[j][k] = combine(v[j][k - 1], v[j][k]);
        up_to = total_scan(v[j][VEC - 1], lane);
        sum = total_broadcast(up_to, 31);
        before = total_up(up_to, 1);
        before = lane ? combine(own, before) : own;
        own = combine(own, sum);
#pragma unroll
        for (uint k = VEC; k-- > 0;)
            v[j][k] = EXCLUSIVE && k == 0 ? before : combine(before, v[j][k - EXCLUSIVE]);
    }
    if (lane == 0)
        totals[warp] = own;
    /* Of all warps, before any adds them. */
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint w = 0; w < WARPS; w++) {
        if (w == warp)
            first = all;
        all = combine(all, totals[w]);
    }
    if (warp == 0) {
        VALUE value = IDENTITY;

        if (call.tiles > 1) {
            __global ulong *of_line = states + row * call.tiles * STATE_WORDS;

            if (lane == 0)
                publish_total(of_line, tile, all);
            value = look_back(of_line, states + call.blocks_at + row * call.blocks * STATE_WORDS,
                              tile, all);
        }
        if (lane == 0)
            found = value;
    }
    /* Found before the others read it. */
    barrier(CLK_LOCAL_MEM_FENCE);
    first = combine(found, first);
#pragma unroll
    for (uint j = 0; j < VECTORS; j++)
#pragma unroll
        for (uint k = 0; k < VEC; k++)
            v[j][k] = combine(first, v[j][k]);
    if (ALIGNED && count == TILE) {
#pragma unroll
        for (uint j = 0; j < VECTORS; j++)
            store_whole(result, e + j * ROUND, v[j]);
    } else {
#pragma unroll
        for (uint j = 0; j < VECTORS; j++)
            store_part(result, e + j * ROUND, count, v[j]);
    }
}
