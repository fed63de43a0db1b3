/* C := alpha op(A) op(B) + beta C: tiles brought by async_work_group_copy.
 *
 * Idea: the register blocks of matmul_block.cl on two pairs of tiles: while one
 *     is multiplied, OpenCL's own asynchronous copies bring the next one into
 *     the other, and one barrier a tile is enough.  Who copies is the device's
 *     matter: a copy engine, where it has one, or the work-items.  A matrix whose
 *     neighbours lie along k is turned on its way, by copies that gather elements
 *     a leading dimension apart.
 * Work split: as in matmul_block.cl; a tile is DEPTH copies, a row of it each, that
 *     the group begins and waits for together.
 * Parameters: SIDE, BLOCK, DEPTH; REAL, REAL_BITS (real.clh); FACTOR, RESULT
 *     (matmul_elements.clh), of float or double; TRANS_A, TRANS_B
 *     (matmul_access.clh).
 * Launch: 3-D, work-groups of SIDE x SIDE x 1, one per started tile of C, a
 *     layer of them for each product of the batch.
 * Local memory: 4 * DEPTH * TILE elements, TILE = SIDE * BLOCK: all tiles with k
 *     as the slow dimension.
 * Limits: m, n, k and the leading dimensions up to 2^31.
 */
#include "matmul/matmul_access.clh"
#include "matmul/matmul_call.clh"
#include "matmul/matmul_elements.clh"

#ifndef SIDE
#error "SIDE: work-items along each side of a group"
#endif
#ifndef BLOCK
#error "BLOCK: outputs of a work-item along each side"
#endif
#ifndef DEPTH
#error "DEPTH: extent of the tiles along k"
#endif
#if (FACTOR != F32 && FACTOR != F64) || FACTOR != RESULT
#error "FACTOR, RESULT: both F32 or both F64: copies convert nothing"
#endif

#define TILE  (SIDE * BLOCK)
#define ITEMS (SIDE * SIDE)

/* Begin to copy rows of a tile, one for each of `steps` along k, each of `inside` elements; what is
 * beyond them is 0.  `along`: neighbours in memory are neighbours along k. */
static inline event_t bring(__local REAL *tile, __global const REAL *from, uint ld, bool along,
                            uint inside, uint steps, event_t others)
{
    if (inside < TILE || steps < DEPTH)
        for (uint e = get_local_id(1) * SIDE + get_local_id(0); e < DEPTH * TILE; e += ITEMS)
            if (e % TILE >= inside || e / TILE >= steps)
                tile[e] = 0;
    for (uint p = 0; p < steps; p++) {
        __local REAL *row = tile + p * TILE;

        if (along)
            others = async_work_group_strided_copy(row, from + p, inside, ld, others);
        else
            others = async_work_group_copy(row, from + (ulong)p * ld, inside, others);
    }
    return others;
}

/* The same of both tiles at p0; their event. */
static inline event_t bring_both(__local REAL *tile_a, __local REAL *tile_b, lines a, lines b,
                                 uint p0, uint k)
{
    const uint steps = min(k - p0, (uint)DEPTH);
    const event_t first = bring(tile_a, a.from + at_a(a.first, p0, a.ld), a.ld, !TRANS_A,
                                min(a.most - a.first, (uint)TILE), steps, 0);

    return bring(tile_b, b.from + at_b(p0, b.first, b.ld), b.ld, TRANS_B,
                 min(b.most - b.first, (uint)TILE), steps, first);
}

__kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1))) void
matmul_async(__global const factor *restrict a, __global const factor *restrict b,
             __global result *restrict c, const matmul_call call)
{
    const uint m = call.m, n = call.n, k = call.k;
    const uint lda = call.lda, ldb = call.ldb, ldc = call.ldc;
    __local REAL tile_a[2][DEPTH * TILE];
    __local REAL tile_b[2][DEPTH * TILE];
    const uint x = get_local_id(0);
    const uint y = get_local_id(1);
    /* From the offset on, where a launch of many groups was split. */
    const uint i0 = (get_group_id(1) + get_global_offset(1) / SIDE) * TILE;
    const uint j0 = get_group_id(0) * TILE;
    lines from_a = {a, lda, i0, m}, from_b = {b, ldb, j0, n};
    REAL sum[BLOCK][BLOCK];
    event_t arrival = 0;
    uint now = 0;

#pragma unroll
    for (uint r = 0; r < BLOCK; r++)
#pragma unroll
        for (uint s = 0; s < BLOCK; s++)
            sum[r][s] = 0;
    from_a.from += in_batch(call.offset_a, call.stride_a);
    from_b.from += in_batch(call.offset_b, call.stride_b);
    if (k > 0)
        arrival = bring_both(tile_a[0], tile_b[0], from_a, from_b, 0, k);
    for (uint p0 = 0; p0 < k; p0 += DEPTH, now ^= 1) {
        wait_group_events(1, &arrival);
        /* These tiles are filled before they are read, and the others, which were read in the round
         * before, are not refilled earlier. */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (k - p0 > DEPTH)
            arrival = bring_both(tile_a[now ^ 1], tile_b[now ^ 1], from_a, from_b, p0 + DEPTH, k);
        for (uint p = 0; p < DEPTH; p++) {
            REAL column[BLOCK];
            REAL row[BLOCK];

#pragma unroll
            for (uint r = 0; r < BLOCK; r++) {
                column[r] = tile_a[now][p * TILE + y + r * SIDE];
                row[r] = tile_b[now][p * TILE + x + r * SIDE];
            }
#pragma unroll
            for (uint r = 0; r < BLOCK; r++)
#pragma unroll
                for (uint s = 0; s < BLOCK; s++)
                    sum[r][s] += column[r] * row[s];
        }
    }
    c += in_batch(call.offset_c, call.stride_c);
#pragma unroll
    for (uint r = 0; r < BLOCK; r++) {
        const uint i = i0 + y + r * SIDE;

#pragma unroll
        for (uint s = 0; s < BLOCK; s++) {
            const uint j = j0 + x + s * SIDE;

            if (i < m && j < n)
                update_result(c + (ulong)i * ldc + j, call.alpha, sum[r][s], call.beta);
        }
    }
}
