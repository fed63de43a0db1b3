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
 *     vectors begin at multiples of their size; WIDENED, 1 of sums of integers into wider ones;
 *     AHEAD, how many tiles further on
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
    !defined(WIDENED) || !defined(AHEAD) || !defined(STATE_WORDS)
#error "GROUP, VEC, VECTORS, ALIGNED, WIDENED, AHEAD, STATE_WORDS: the tile, and how it is moved"
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
#define VECTOR_OF_2(T)        VECTOR_EXPANDED(T, 2)

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

/* What a work-item keeps of an element.  A wider sum takes more registers: it is formed again where
 * it is stored. */
#if WIDENED
#define KEPT          X
#define KEPT_OF(x)    (x)
#define KEPT_IDENTITY 0
#else
#define KEPT          VALUE
#define KEPT_OF(x)    value_of(x)
#define KEPT_IDENTITY (VALUE)(IDENTITY)
#endif

/* Elements e to e + VEC - 1 of a tile, all of them in the line. */
static inline void load_whole(KEPT v[VEC], __global const X *tile, uint e)
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
        v[k] = KEPT_OF(own[k]);
}

#if WIDENED && VEC == 4 && !REVERSE
/* Results of 64 bits are 32 bytes of a lane, two stores: neighbours exchange halves, so that each
 * store of the warp fills sectors of memory. */
static inline void store_whole(__global RESULT *tile, uint e, const VALUE v[VEC])
{
    const bool odd = get_local_id(0) % 2;
    __global RESULT *pair = tile + (odd ? e - VEC : e);
    const VALUE theirs_0 = total_exchange(odd ? v[0] : v[2], 1);
    const VALUE theirs_1 = total_exchange(odd ? v[1] : v[3], 1);
    VECTOR_OF_2(RESULT) first, second;

    first.x = result_of(odd ? theirs_0 : v[0]);
    first.y = result_of(odd ? theirs_1 : v[1]);
    second.x = result_of(odd ? v[2] : theirs_0);
    second.y = result_of(odd ? v[3] : theirs_1);
    *(__global VECTOR_OF_2(RESULT) *)(pair + (odd ? 2 : 0)) = first;
    *(__global VECTOR_OF_2(RESULT) *)(pair + (odd ? 6 : 4)) = second;
}
#else
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
#endif

/* The same of a tile of `count` elements; those beyond are the identity. */
static inline void load_part(KEPT v[VEC], __global const X *tile, uint e, uint count)
{
#pragma unroll
    for (uint k = 0; k < VEC; k++)
        v[k] = e + k < count ? KEPT_OF(tile[PLACE(e + k)]) : KEPT_IDENTITY;
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
    KEPT v[VECTORS][VEC];
    VALUE own = IDENTITY, all = IDENTITY, first = IDENTITY;
#if WIDENED
    VALUE before_vector[VECTORS]; /* what is before it in the warp */
#endif
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
#if WIDENED
#pragma unroll
    for (uint j = 0; j < VECTORS; j++) {
        VALUE sum = value_of(v[j][0]), up_to;

#pragma unroll
        for (uint k = 1; k < VEC; k++)
            sum += value_of(v[j][k]);
        up_to = total_scan(sum, lane);
        before_vector[j] = own + up_to - sum;
        own += total_broadcast(up_to, 31);
    }
#else
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
#endif
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
    for (uint j = 0; j < VECTORS; j++) {
        VALUE results[VEC];

#if WIDENED
        VALUE sum = first + before_vector[j];

#pragma unroll
        for (uint k = 0; k < VEC; k++) {
            const VALUE up_to = sum + value_of(v[j][k]);

            results[k] = EXCLUSIVE ? sum : up_to;
            sum = up_to;
        }
#else
#pragma unroll
        for (uint k = 0; k < VEC; k++)
            results[k] = combine(first, v[j][k]);
#endif
        if (ALIGNED && count == TILE)
            store_whole(result, e + j * ROUND, results);
        else
            store_part(result, e + j * ROUND, count, results);
    }
}
