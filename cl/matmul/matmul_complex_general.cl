/* C := alpha op(A) op(B) + beta C of complex matrices: one work-item an output, of any batch.
 *
 * Idea: matmul_general.cl with complex numbers: four real products a step, and op()
 *     may conjugate.
 * Work split: work-item (x, y) computes C(y, x); those beyond the edge do
 *     nothing.
 * Parameters: REAL, REAL_BITS (real.clh): what the two parts of a number are;
 *     TRANS_A, TRANS_B (matmul_access.clh).
 * Launch: 3-D, at least n x m work-items by one a product of the batch, any
 *     work-group size.  sign_a and sign_b are -1 where a factor is conjugated,
 *     else 1; the imaginary parts of alpha and beta come beside the call.
 * Local memory: none.
 * Traffic: 2 k loads an output: 8 flops for every 2 elements loaded.
 * Limits: m, n, k and the leading dimensions up to 2^31.
 */
#include "matmul/matmul_access.clh"
#include "matmul/matmul_call.clh"
#include "matmul/matmul_complex.clh"

__kernel void matmul_complex_general(__global const complex_number *restrict a,
                                     __global const complex_number *restrict b,
                                     __global complex_number *restrict c, const matmul_call call,
                                     REAL sign_a, REAL sign_b, REAL alpha_im, REAL beta_im)
{
    const uint m = call.m, n = call.n, k = call.k;
    const uint lda = call.lda, ldb = call.ldb, ldc = call.ldc;
    const uint j = get_global_id(0);
    const uint i = get_global_id(1);
    complex_number sum = 0;

    if (i >= m || j >= n)
        return;
    a += in_batch(call.offset_a, call.stride_a);
    b += in_batch(call.offset_b, call.stride_b);
    for (uint p = 0; p < k; p++) {
        const complex_number left = with_sign(a[at_a(i, p, lda)], sign_a);
        const complex_number right = with_sign(b[at_b(p, j, ldb)], sign_b);

        sum += left.x * right;
        sum += left.y * (complex_number)(-right.y, right.x);
    }
    c += in_batch(call.offset_c, call.stride_c) + (ulong)i * ldc + j;
    update_complex(c, (complex_number)(call.alpha, alpha_im), sum,
                   (complex_number)(call.beta, beta_im));
}
