/* C := alpha op(A) op(B) + beta C with few rows: each column of B is read once.
 *
 * Idea: memory limits such a product, since an element of B serves as many multiply-adds as C has
 *     rows.  So work-items do what a matvec's would: each takes VECTOR neighbouring columns, walks
 *     down k, and keeps a sum for each row and column; neighbours read neighbouring vectors.
 *     What A has in those steps is the same for all of them, and lies in local memory.  One warp's
 *     loads do not keep memory busy: SLICES sets of work-items take every SLICES-th step of the
 *     same columns, and where there are few columns groups share k (matmul_parts.clh).
 *     With FEW_ROWS 0 the same text computes a C of few columns, whose large factor A is transposed.
 * Work split: a group computes LANES * VECTOR columns of C.
 * Parameters: LANES, a power of two that divides ITEMS; FEW_ROWS, FEW, ITEMS, DEPTH, VECTOR,
 *     ALIGNED, SPLITS (matmul_skinny.clh); REAL, REAL_BITS (real.clh); FACTOR, RESULT
 *     (matmul_elements.clh); ROUNDED (matmul_rounded.clh); TRANS_A, TRANS_B (matmul_access.clh).
 * Launch: 3-D, work-groups of ITEMS x 1 x 1, one per started LANES * VECTOR columns, a layer of them
 *     for each product of the batch, or for each span of k.
 * Local memory: FEW * DEPTH + ITEMS * VECTOR elements.
 * Traffic: the large factor once, the small one once a group.
 * Limits: m, n, k and the leading dimensions up to 2^31.
 */
#include "matmul/matmul_skinny.clh"

#ifndef LANES
#error "LANES: work-items side by side, a power of two"
#endif

#define SLICES (ITEMS / LANES)

/* A sum for each row, from what the tile has of a step on. */
IN_REGISTERS void multiply(vector *sum, __local const REAL *step, vector v)
{
#pragma unroll
    for (uint s = 0; s < FEW; s++)
        sum[s] += step[s] * v;
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
matmul_skinny_columns(__global const factor *restrict a, __global const factor *restrict b,
                      __global output *restrict c, const matmul_call call)
{
    __local REAL tile[FEW * DEPTH] __attribute__((aligned(64)));
    __local vector others[ITEMS];
    const uint item = get_local_id(0), lane = item % LANES, slice = item / LANES;
    const uint o = (get_group_id(0) * LANES + lane) * VECTOR;
    const skinny x = skinny_of(a, b, &call);
    __global const factor *const from = x.large + o;
    vector sum[FEW];

#pragma unroll
    for (uint s = 0; s < FEW; s++)
        sum[s] = 0;
    for (uint p0 = 0; p0 < x.k; p0 += DEPTH) {
        const uint steps = min(x.k - p0, (uint)DEPTH);

        /* What a step needs of the small factor is together. */
        fill(tile, &x, p0, 1, FEW);
        /* Filled before read: below, we read what other work-items wrote. */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (o + VECTOR <= x.many) {
#pragma unroll 4
            for (uint p = slice; p < steps; p += SLICES)
                multiply(sum, tile + p * FEW, load_vector(from + (ulong)(p0 + p) * x.ld_large));
        } else if (o < x.many) {
            for (uint p = slice; p < steps; p += SLICES)
                multiply(sum, tile + p * FEW,
                         load_end(from + (ulong)(p0 + p) * x.ld_large, x.many - o));
        }
        /* Read before overwritten by the next round. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c += in_batch(call.offset_c, call.stride_c);
    /* The first slice adds up the others, row by row, always in the same order. */
#pragma unroll
    for (uint s = 0; s < FEW; s++) {
        if (slice > 0)
            others[item] = sum[s];
        /* Written before read: below, the first slice reads the sums of the others. */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (slice == 0 && s < x.few) {
            REAL out[VECTOR];

            for (uint y = 1; y < SLICES; y++)
                sum[s] += others[y * LANES + lane];
            VSTORE_PRIVATE(VECTOR, sum[s], out);
            for (uint e = 0; e < VECTOR; e++)
                if (o + e < x.many)
                    store_output(c, &call, s, o + e, out[e]);
        }
        /* Read before overwritten by the next round. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
