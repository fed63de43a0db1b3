/* C := alpha op(A) op(B) + beta C with few rows: each column of B is read once.
 *
 * Idea: memory limits such a product, since an element of B serves as many multiply-adds as C has
 *     rows.  So work-items do what a matvec's would: each takes VECTOR columns, walks down k, and
 *     keeps a sum for each row and column; neighbours read neighbours.  What A has in those steps
 *     is the same for all of them, and lies in local memory.  Memory answers late: a work-item has
 *     the loads of its next BATCH steps in flight while it multiplies, SLICES sets of work-items
 *     take every SLICES-th step of the same columns, and groups share k (matmul_parts.clh).
 *     With FEW_ROWS 0 the same text computes a C of few columns, whose large factor A is
 *     transposed.
 * Work split: a group computes LANES * VECTOR columns of C.
 * Parameters: LANES and SLICES, whose product is ITEMS; FEW_ROWS, FEW, ITEMS, DEPTH (a multiple of
 *     SLICES * BATCH), VECTOR, ALIGNED, BATCH, CHUNK, SPLITS, LAST_ADDS (matmul_skinny.clh); REAL,
 *     REAL_BITS (real.clh); FACTOR, RESULT (matmul_elements.clh); ROUNDED (matmul_rounded.clh);
 *     TRANS_A, TRANS_B (matmul_access.clh).
 * Launch: 3-D, work-groups of ITEMS x 1 x 1, one per started LANES * VECTOR columns, a layer of
 *     them for each product of the batch, or for each span of k.
 * Local memory: PITCH * DEPTH elements, or SLICES * CHUNK * LINE where that is more.
 * Traffic: the large factor once, the small one once a group.
 * Limits: m, n, k and the leading dimensions up to 2^31.
 */
#include "matmul/matmul_skinny.clh"

#if !defined(LANES) || !defined(SLICES)
#error "LANES, SLICES: work-items side by side, and sets of them"
#endif

#define COLUMNS (LANES * VECTOR)
/* From step to step in the tile: long ones with a gap of 16 bytes, for fewer bank conflicts. */
#define PITCH (FEW < 8 ? FEW : (FEW + 3) / 4 * 4 + 128 / REAL_BITS)
/* From row to row of the sums.  Columns of C are stored one after another: their gap is for those
 * who read then. */
#define LINE       (COLUMNS + (FEW_ROWS ? 0 : VECTOR))
#define TILE_REALS (PITCH * DEPTH)
#define SUM_REALS  (SLICES * CHUNK * LINE)
/* Where slice `y` has its sum of column o, row s of a chunk. */
#define SUM_AT(s, o, y) (((y)*CHUNK + (s)) * LINE + (o))
#define OUTPUTS         COLUMNS
#define PEERS           SLICES
#define EACH            VECTOR
#include "matmul/matmul_skinny_sums.clh"

/* The work-item's vectors of BATCH steps from `p` on, SLICES apart.  The group's steps begin with
 * p - slice: where all of them are inside, no load is guarded. */
IN_REGISTERS void load_batch(factor *v, const skinny *x, const uint *place, uint p, uint slice)
{
    if (p - slice + SLICES * BATCH <= x->k) {
#pragma unroll
        for (uint u = 0; u < BATCH; u++)
#pragma unroll
            for (uint l = 0; l < LOADS; l++)
                load_raw(v + u * VECTOR,
                         x->large + (ulong)(p + u * SLICES) * x->ld_large + place[l], l);
        return;
    }
#pragma unroll
    for (uint u = 0; u < BATCH; u++)
#pragma unroll
        for (uint l = 0; l < LOADS; l++)
            if (p + u * SLICES < x->k)
                load_raw(v + u * VECTOR,
                         x->large + (ulong)(p + u * SLICES) * x->ld_large + place[l], l);
            else
                load_zeros(v + u * VECTOR, l);
}

/* A sum for each row and column, from what the tile has of those steps. */
IN_REGISTERS void multiply(REAL *sum, __local const REAL *tile, const factor *v)
{
#pragma unroll
    for (uint u = 0; u < BATCH; u++) {
        REAL value[VECTOR];

#pragma unroll
        for (uint e = 0; e < VECTOR; e++)
            value[e] = value_of(v[u * VECTOR + e]);
#pragma unroll
        for (uint s = 0; s < FEW; s++) {
            const REAL w = tile[u * SLICES * PITCH + s];

#pragma unroll
            for (uint e = 0; e < VECTOR; e++)
                sum[s * VECTOR + e] += w * value[e];
        }
    }
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
matmul_skinny_columns(__global const factor *restrict a, __global const factor *restrict b, TARGETS,
                      const matmul_call call)
{
    __local REAL local_reals[TILE_REALS > SUM_REALS ? TILE_REALS : SUM_REALS]
        __attribute__((aligned(64)));
    const uint lane = get_local_id(0) % LANES, slice = get_local_id(0) / LANES;
    const uint first = get_group_id(0) * COLUMNS;
    const skinny x = skinny_of(a, b, &call);
    factor v[BATCH * VECTOR], next[BATCH * VECTOR];
    uint place[LOADS], own[VECTOR];
    REAL old[CHUNKS * SHARE(OUTPUTS)];
    REAL sum[FEW * VECTOR]; /* row by row */

#pragma unroll
    for (uint e = 0; e < FEW * VECTOR; e++)
        sum[e] = 0;
        /* In place of columns beyond the last one the last, whose products nobody stores. */
#pragma unroll
    for (uint l = 0; l < LOADS; l++)
        place[l] = min(first + PLACE(lane, LANES, l), x.many - A_LOAD);
    load_batch(v, &x, place, slice, slice);
#if SPLITS && LAST_ADDS
    __global output *const to = parts + (ulong)get_group_id(2) * call.m * call.n;
#else
    __global output *const to = c + in_batch(call.offset_c, call.stride_c);
#endif
    if (OLD_AHEAD(OUTPUTS) && call.beta != 0)
        load_olds(old, to, &call, &x, first, OUTPUTS);
    for (uint p0 = 0; p0 < x.k; p0 += DEPTH) {
        const uint steps = min(x.k - p0, (uint)DEPTH);

        /* What a step needs of the small factor is together. */
        fill(local_reals, &x, p0, 1, PITCH);
        /* Filled before read: below, we read what other work-items wrote. */
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint p = 0; p < steps; p += SLICES * BATCH) {
            load_batch(next, &x, place, p0 + p + SLICES * BATCH + slice, slice);
            multiply(sum, local_reals + (p + slice) * PITCH, v);
#pragma unroll
            for (uint e = 0; e < BATCH * VECTOR; e++)
                v[e] = next[e];
        }
        /* Read before overwritten, by the next round or by the sums. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (uint e = 0; e < VECTOR; e++)
        own[e] = PLACE(lane, LANES, e);
    store_sums(sum, (sharer){own, slice}, local_reals, to, &call, &x, first, old);
#if SPLITS && LAST_ADDS
    add_parts(parts, c + call.offset_c, counters, &call, &x, first, OUTPUTS, local_reals);
#endif
}
