/* C := alpha op(A) op(B) + beta C: one work-item an output, of any type and batch.
 *
 * Idea: matmul_naive.cl in full: transposes, scales, leading dimensions, batches,
 *     every type, and factors rounded as they are loaded.
 * Work split: work-item (x, y) computes C(y, x); those beyond the edge do
 *     nothing.  Neighbours in x are in neighbouring columns: they share every
 *     load of A, and their loads of B and stores in C coalesce.  (Only where B
 *     is transposed do its loads lie ldb apart.)
 * Parameters: REAL, REAL_BITS (real.clh); FACTOR, RESULT (matmul_elements.clh);
 *     ROUNDED (matmul_rounded.clh); SCALED (matmul_scales.clh); TRANS_A, TRANS_B
 *     (matmul_access.clh).
 * Launch: 3-D, at least n x m work-items by one a product of the batch, any
 *     work-group size.
 * Local memory: none.
 * Traffic: 2 k loads an output: 2 flops for every 2 elements loaded.
 * Limits: m, n, k and the leading dimensions up to 2^31.
 */
#include "matmul/matmul_access.clh"
#include "matmul/matmul_call.clh"
#include "matmul/matmul_rounded.clh"
#include "matmul/matmul_scales.clh"

__kernel void matmul_general(__global const factor *restrict a, __global const factor *restrict b,
                             __global result *restrict c, const matmul_call call SCALE_ARGUMENTS)
{
    const uint m = call.m, n = call.n, k = call.k;
    const uint lda = call.lda, ldb = call.ldb, ldc = call.ldc;
    const uint j = get_global_id(0);
    const uint i = get_global_id(1);
    const scales by = SCALES(call.alpha, in_batch(call.offset_scale_a, call.stride_scale_a),
                             in_batch(call.offset_scale_b, call.stride_scale_b));
    REAL sum = 0;

    if (i >= m || j >= n)
        return;
    a += in_batch(call.offset_a, call.stride_a);
    b += in_batch(call.offset_b, call.stride_b);
    for (uint p = 0; p < k; p++)
        sum += load_rounded(a + at_a(i, p, lda)) * load_rounded(b + at_b(p, j, ldb));
    c += in_batch(call.offset_c, call.stride_c) + (ulong)i * ldc + j;
    update_result(c, scale_at(&by, i, j), sum, call.beta);
}
