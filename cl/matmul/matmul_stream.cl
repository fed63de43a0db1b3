/* C := alpha op(A) op(B) + beta C in float32: every group multiplies as many steps along k.
 *
 * Idea: tiles seldom fill the compute units a whole number of times: at the end some units multiply
 *     the last tiles, and the others wait.  Here the last tiles, fewer than two for each
 *     group, are one long row of steps along k, tile after tile, of which every group takes an
 *     equal share, wherever in a tile that begins and ends.  A tile of several groups is added up
 *     by the last of them, always in the same order.  Muthukumaran Osama et al., "Stream-K:
 *     Work-centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the GPU",
 *     PPoPP 2023.
 * Work split: matmul_shares.clh: whole tiles first, as many for each group, and of the steps of the
 *     others an equal share.  A work-item computes SUMS of a tile (matmul_warp_block.clh).
 * Parameters: as matmul_cp_async.cl, without SPLITS; LAST_ADDS (last_group.clh), not 0.
 * Launch: 1-D, groups of TILE_M * TILE_N / SUMS * SLICES: PER_UNIT for each compute unit, or SPLIT
 *     for each tile, and no more than there are shared steps.
 * Workspace: two tiles of sums for each group.
 * Local memory: as matmul_cp_async.cl, and an element more.
 * Limits: float32; one product; m, n, k and the leading dimensions up to 2^31; a counter for each
 *     shared tile; NVIDIA's compute capability 8.0.
 */
#include "matmul/matmul_bands.clh"
#include "matmul/matmul_call.clh"

#define PARTIAL 0
#include "matmul/matmul_copied.clh"

#include "matmul/matmul_add_up.clh"

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
matmul_stream(__global const factor *restrict a, __global const factor *restrict b,
              __global result *restrict c, __global real4 *sums, __global group_counter *counters,
              const matmul_call call)
{
    const uint m = call.m, n = call.n, k = call.k;
    const uint lda = call.lda, ldb = call.ldb;
    __local float4 memory[COPIED_BYTES / 16];
    __local uint last;
    const uint across = (n + TILE_N - 1) / TILE_N, down = (m + TILE_M - 1) / TILE_M;
    shares s = shares_of(get_group_id(0), get_num_groups(0), across * down, call.unshared,
                         max((k + DEPTH - 1) / DEPTH, 1u));
    piece at;

    a += call.offset_a;
    b += call.offset_b;
#pragma unroll 1
    while (shares_next(&s, &at)) {
        const uint2 tile = tile_of_group(at.tile, across, down);
        const uint i0 = tile.s1 * TILE_M, j0 = tile.s0 * TILE_N, front = at.first * DEPTH;
        const target to = target_of(c + call.offset_c, call.ldc, call.offset_c, i0, m, j0, n);
        const uint from_i = first_tile_row(i0, m), from_j = first_tile_column(j0, n, to.aligned);
        real4 sum[ROWS * VECTORS_N]; /* row by row */
        real4 before[VECTORS];

        if (SLICES > 1 && call.beta != 0)
            load_gathered(before, &to, from_i, from_j);
        multiply_tile(sum, a + at_a(0, front, lda), b + at_b(front, 0, ldb), (uint2)(lda, ldb),
                      (uint2)(from_i, from_j), (uint2)(m, n), min(at.count * DEPTH, k - front),
                      local_address(memory));
        gather_slices(sum, to.aligned, local_address(memory));
        if (at.count == s.each || add_up(sum, &s, &at, sums, counters, &last))
            store_tile(&to, from_i, from_j, sum, before, call.alpha, call.beta,
                       local_address(memory));
    }
}
