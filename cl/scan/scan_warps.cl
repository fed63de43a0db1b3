/* Scan: one launch, elements in registers, and warps that look back.
 *
 * Idea: as scan_look_back.cl, without local memory for the elements and with one
 *     barrier for the tile's total: each work-item has vectors of four
 *     neighbours in registers, a warp scans their sums by shuffles, and the first
 *     warp looks back over 64 and more tiles at a time (warp_look_back.clh).
 * Work split: a work-group for a tile of GROUP * VECTORS * 4 elements of a line; a
 *     warp takes VECTORS * 128 that follow one another, a vector of each lane
 *     at a time.
 * Parameters: those of scan.clh; GROUP, a multiple of 32; VECTORS; ALIGNED, 1 where
 *     vectors begin at multiples of their size; AHEAD, how many tiles further on
 *     each group has one fetched into the second-level cache; STATE_WORDS
 *     (warp_look_back.clh).
 * Launch: 1-D, a work-group of GROUP for each tile, behind a fill that clears the
 *     states and, behind them, the ticket.
 * Local memory: a value for each warp, and two more.
 * Limits: no segments; lines of neighbours; fewer than 2^32 tiles; NVIDIA only.
 */
#include "scan/scan.clh"

#if !defined(GROUP) || !defined(VECTORS) || !defined(ALIGNED) || !defined(AHEAD) ||                \
    !defined(STATE_WORDS)
#error "GROUP, VECTORS, ALIGNED, AHEAD, STATE_WORDS: the tile, and how it is moved"
#endif

#define WARPS (GROUP / 32)
#define TILE  (GROUP * VECTORS * 4)

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

#include "common/vector4.clh"
#include "common/warp_look_back.clh"

/* A call, as one argument; the host's warps_call has the same members. */
typedef struct warps_call {
    ulong n, rows;         /* elements of a line, and lines */
    ulong tiles, blocks;   /* of a line */
    ulong from, to;        /* indexes of the first elements of x and of the result */
    ulong blocks_at, ticket_at; /* indexes in the states */
} warps_call;

/* Elements i to i + 3 of a line that begins at `line`, of which those from n on are the identity. */
static inline void load_vector(VALUE v[4], __global const X *x, ulong line, ulong i, ulong n)
{
#if ALIGNED
    if (i + 4 <= n) {
        const ulong at = line + (REVERSE ? n - 4 - i : i);
        const VECTOR_OF(X) four = *(__global const VECTOR_OF(X) *)(x + at);
        X own[4];

        own[REVERSE ? 3 : 0] = four.x;
        own[REVERSE ? 2 : 1] = four.y;
        own[REVERSE ? 1 : 2] = four.z;
        own[REVERSE ? 0 : 3] = four.w;
#pragma unroll
        for (uint k = 0; k < 4; k++)
            v[k] = value_of(own[k]);
        return;
    }
#endif
#pragma unroll
    for (uint k = 0; k < 4; k++)
        v[k] = i + k < n ? load_x(x, line + (REVERSE ? n - 1 - i - k : i + k)) : (VALUE)(IDENTITY);
}

static inline void store_vector(__global RESULT *result, ulong line, ulong i, ulong n,
                                const VALUE v[4])
{
#if ALIGNED
    if (i + 4 <= n) {
        const ulong at = line + (REVERSE ? n - 4 - i : i);
        VECTOR_OF(RESULT) four;

        four.x = result_of(v[REVERSE ? 3 : 0]);
        four.y = result_of(v[REVERSE ? 2 : 1]);
        four.z = result_of(v[REVERSE ? 1 : 2]);
        four.w = result_of(v[REVERSE ? 0 : 3]);
        *(__global VECTOR_OF(RESULT) *)(result + at) = four;
        return;
    }
#endif
#pragma unroll
    for (uint k = 0; k < 4; k++)
        if (i + k < n)
            store_result(result, line + (REVERSE ? n - 1 - i - k : i + k), v[k]);
}

/* Bring a tile into the second-level cache, a line of 128 bytes each work-item at a time. */
static inline void prefetch_tile(__global const X *x, const warps_call *call, ulong number)
{
    const ulong first = number % call->tiles * TILE, row = number / call->tiles;

    if (row < call->rows) {
        const uint count = (uint)min(call->n - first, (ulong)TILE);

        x += row * call->n + (REVERSE ? call->n - first - count : first);
        for (uint k = get_local_id(0) * (128 / sizeof(X)); k < count; k += GROUP * (128 / sizeof(X)))
            prefetch_line(x + k);
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
scan_warps(__global const X *x, __global RESULT *result, __global ulong *states,
           const warps_call call)
{
    __local VALUE totals[WARPS], found;
    __local uint drawn;
    const uint item = (uint)get_local_id(0), lane = item % 32, warp = item / 32;
    VALUE v[VECTORS][4], before[VECTORS], own = IDENTITY, all = IDENTITY, first = IDENTITY;
    ulong line, row, i;
    uint tile;

    if (item == 0)
        drawn = take_ticket((__global uint *)(states + call.ticket_at));
    /* Drawn before the others read it. */
    barrier(CLK_LOCAL_MEM_FENCE);
    row = drawn / call.tiles;
    tile = (uint)(drawn % call.tiles);
    line = row * call.n;
    i = (ulong)tile * TILE + warp * (VECTORS * 128) + lane * 4;
    prefetch_tile(x + call.from, &call, (ulong)drawn + AHEAD);
#pragma unroll
    for (uint j = 0; j < VECTORS; j++)
        load_vector(v[j], x, call.from + line, i + j * 128, call.n);
#pragma unroll
    for (uint j = 0; j < VECTORS; j++) {
        v[j][1] = combine(v[j][0], v[j][1]);
        v[j][2] = combine(v[j][1], v[j][2]);
        v[j][3] = combine(v[j][2], v[j][3]);
        before[j] = total_scan(v[j][3], lane);
    }
    /* What is before each vector in the warp: the vectors before, and the lanes before. */
#pragma unroll
    for (uint j = 0; j < VECTORS; j++) {
        const VALUE sum = total_broadcast(before[j], 31), lower = total_up(before[j], 1);

        before[j] = lane ? combine(own, lower) : own;
        own = combine(own, sum);
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

        if (call.tiles > 1)
            value = look_back(states + row * call.tiles * STATE_WORDS,
                              states + call.blocks_at + row * call.blocks * STATE_WORDS, tile, all);
        if (lane == 0)
            found = value;
    }
    /* Found before the others read it. */
    barrier(CLK_LOCAL_MEM_FENCE);
    first = combine(found, first);
#pragma unroll
    for (uint j = 0; j < VECTORS; j++) {
        const VALUE start = combine(first, before[j]);
        VALUE out[4];

        if (EXCLUSIVE)
            out[0] = start;
#pragma unroll
        for (uint k = EXCLUSIVE; k < 4; k++)
            out[k] = combine(start, v[j][k - EXCLUSIVE]);
        store_vector(result, call.to + line, i + j * 128, call.n, out);
    }
}
