/* C := alpha op(A) op(B) + beta C in float32: tiles copied beside the work-items.
 *
 * Idea: matmul_pipelined.cl carries the elements of the next tiles through registers.  Here
 *     cp.async copies them from global to local memory beside the work-items, STAGES - 1 pairs of
 *     tiles ahead.  The registers that this frees hold what is multiplied next: the vectors of a
 *     step along k come from local memory while the step before is multiplied, across the barrier
 *     between two tiles too.  A matrix whose neighbours lie along k is turned on its way: 4 bytes a
 *     copy, each into another row of the tile; else a copy takes 16.
 *     Where there are few tiles, groups share k: each writes the sums of its span, and
 *     matmul_parts.clh adds them up in one order.
 * Work split: a group computes TILE_M x TILE_N of C, a work-item SUMS of that
 *     (matmul_warp_block.clh).
 * Parameters: TILE_M, TILE_N, powers of two; SUMS (matmul_warp_block.clh); DEPTH, a multiple of 8;
 *     STAGES, 2 or more; SLICES, sets of work-items; SPLITS, 1 where groups share k; BAND
 *     (matmul_bands.clh); ALIGNED_A, ALIGNED_B: whether four neighbours across k that start at a
 *     multiple of 4 are an aligned vector, 0 where neighbours lie along k; REAL, REAL_BITS, FACTOR,
 *     RESULT (matmul_elements.clh), of float; TRANS_A, TRANS_B (matmul_access.clh).
 * Launch: 3-D, work-groups of TILE_M * TILE_N / SUMS * SLICES x 1 x 1, along the first dimension
 *     one per started tile of C, a layer of them for each product of the batch, or for each span
 *     of k; then matmul_sum_parts.
 * Local memory: STAGES * DEPTH * (TILE_M + TILE_N + 8) elements, or, of several slices, SLICES *
 *     TILE_M * (TILE_N + 4) where that is more.
 * Limits: float32; m, n, k and the leading dimensions up to 2^31; NVIDIA's compute capability 8.0.
 */
#include "matmul/matmul_bands.clh"
#include "matmul/matmul_call.clh"

#ifndef SPLITS
#error "SPLITS: 1 where each group takes a span of k, else 0"
#endif
#define PARTIAL SPLITS
#include "matmul/matmul_copied.clh"
#include "matmul/matmul_parts.clh"

/* call.span is what a layer takes of k, where groups share it: a multiple of DEPTH. */
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
matmul_cp_async(__global const factor *restrict a, __global const factor *restrict b,
                __global float *restrict c, const matmul_call call)
{
    const uint m = call.m, n = call.n, k = call.k;
    const uint lda = call.lda, ldb = call.ldb;
    __local float4 memory[COPIED_BYTES / 16];
    const uint2 tile =
        tile_of_group(get_group_id(0), (n + TILE_N - 1) / TILE_N, (m + TILE_M - 1) / TILE_M);
    const uint i0 = tile.s1 * TILE_M, j0 = tile.s0 * TILE_N;
    const uint front = SPLITS ? get_group_id(2) * call.span : 0;
    const target to = target_of(c + in_batch(call.offset_c, call.stride_c), call.ldc,
                                call.offset_c | call.stride_c, i0, m, j0, n);
    const uint from_i = first_tile_row(i0, m), from_j = first_tile_column(j0, n, to.aligned);
    real4 sum[ROWS * VECTORS_N]; /* row by row */
    real4 before[VECTORS];

#if SLICES > 1 && !PARTIAL
    if (call.beta != 0)
        load_gathered(before, &to, from_i, from_j);
#endif
    multiply_tile(sum, a + in_batch(call.offset_a, call.stride_a) + at_a(0, front, lda),
                  b + in_batch(call.offset_b, call.stride_b) + at_b(front, 0, ldb),
                  (uint2)(lda, ldb), (uint2)(from_i, from_j), (uint2)(m, n),
                  SPLITS ? min(call.span, k - front) : k, local_address(memory));
    gather_slices(sum, to.aligned, local_address(memory));
    store_tile(&to, from_i, from_j, sum, before, call.alpha, call.beta, local_address(memory));
}
