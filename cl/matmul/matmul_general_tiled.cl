/* C := alpha op(A) op(B) + beta C: square tiles of any type and batch.
 *
 * Idea: matmul_tiled.cl in full: transposes, scales, leading dimensions, batches,
 *     every type, and factors rounded as they are loaded.
 * Work split: work-item (x, y) of a work-group loads element (y, x) of both
 *     tiles and computes element (y, x) of the tile of C.
 * Parameters: TILE; REAL, REAL_BITS (real.clh); FACTOR, RESULT
 *     (matmul_elements.clh); ROUNDED (matmul_rounded.clh); SCALED
 *     (matmul_scales.clh); TRANS_A, TRANS_B (matmul_access.clh).
 * Launch: 3-D, work-groups of TILE x TILE x 1, one per started tile of C, a
 *     layer of them for each product of the batch.
 * Local memory: 2 * TILE * TILE elements.
 * Traffic: 2 k / TILE loads an output: TILE times less than without tiles.
 * Limits: m, n, k and the leading dimensions up to 2^31.
 */
#include "matmul/matmul_access.clh"
#include "matmul/matmul_call.clh"
#include "matmul/matmul_rounded.clh"
#include "matmul/matmul_scales.clh"

#ifndef TILE
#error "TILE: side of the square tiles"
#endif

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
matmul_general_tiled(__global const factor *restrict a, __global const factor *restrict b,
                     __global result *restrict c, const matmul_call call SCALE_ARGUMENTS)
{
    const uint m = call.m, n = call.n, k = call.k;
    const uint lda = call.lda, ldb = call.ldb, ldc = call.ldc;
    __local REAL tile_a[TILE][TILE];
    __local REAL tile_b[TILE][TILE];
    const uint x = get_local_id(0);
    const uint y = get_local_id(1);
    const uint i = get_global_id(1);
    const uint j = get_group_id(0) * TILE + x;
    const scales by = SCALES(call.alpha, in_batch(call.offset_scale_a, call.stride_scale_a),
                             in_batch(call.offset_scale_b, call.stride_scale_b));
    REAL sum = 0;

    a += in_batch(call.offset_a, call.stride_a);
    b += in_batch(call.offset_b, call.stride_b);
    for (uint p0 = 0; p0 < k; p0 += TILE) {
        /* Out-of-range elements load as 0 and add nothing.  Guarding the load,
         * not the work-item, lets everyone reach both barriers. */
        tile_a[y][x] = i < m && p0 + x < k ? load_rounded(a + at_a(i, p0 + x, lda)) : 0;
        tile_b[y][x] = p0 + y < k && j < n ? load_rounded(b + at_b(p0 + y, j, ldb)) : 0;
        /* Filled before read: below, we read what other work-items wrote. */
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint p = 0; p < TILE; p++)
            sum += tile_a[y][p] * tile_b[p][x];
        /* Read before refilled: the next round overwrites both tiles. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < m && j < n) {
        c += in_batch(call.offset_c, call.stride_c) + (ulong)i * ldc + j;
        update_result(c, scale_at(&by, i, j), sum, call.beta);
    }
}
