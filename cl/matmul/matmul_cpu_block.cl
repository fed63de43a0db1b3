/* C := alpha op(A) op(B) + beta C: a block of explicit vectors per work-item, for CPUs.
 *
 * Idea: on a CPU a work-group runs on one core, local memory is ordinary memory,
 *     and a barrier is a loop over the work-items.  So each work-item works
 *     alone: it keeps ROWS x VECTORS vectors of C in registers and adds, for
 *     every p, ROWS elements of A times VECTORS vectors of one row of B.
 * Work split: work-item (x, y) computes rows ROWS * x ... and columns
 *     COLUMNS * y ..., COLUMNS = VECTORS * BITS / REAL_BITS.  Neighbours in x
 *     share their columns of B, which stay in the cache.  The last work-items
 *     are moved back inside the matrix: they compute some outputs twice and
 *     store only their own.
 * Rounding: each time that they are read, A's elements one by one.
 * Parameters: ROWS, VECTORS, BITS (matmul_registers.clh); REAL, REAL_BITS
 *     (real.clh); FACTOR, RESULT (matmul_elements.clh); ROUNDED
 *     (matmul_rounded.clh); TRANS_A, TRANS_B = 0 (matmul_access.clh).
 * Launch: 3-D, exactly ceil(m / ROWS) x ceil(n / COLUMNS) work-items by one a
 *     product of the batch, any work-group size.
 * Local memory: none.
 * Traffic: k / COLUMNS loads of A and k / ROWS of B an output.
 * Limits: m, n, k and the leading dimensions up to 2^31; B is not transposed, so
 *     that rows of op(B) are contiguous.
 */
#include "matmul/matmul_access.clh"
#include "matmul/matmul_call.clh"

#define COPIED_A 0
#define COPIED_B 0
#define COPIED_C 0
#include "matmul/matmul_registers.clh"

__kernel void matmul_cpu_block(__global const factor *restrict a, __global const factor *restrict b,
                               __global result *restrict c, const matmul_call call)
{
    const uint m = call.m, n = call.n, k = call.k;
    const uint lda = call.lda, ldb = call.ldb, ldc = call.ldc;
    const uint i0 = get_global_id(0) * ROWS;
    const uint own = get_global_id(1) * COLUMNS; /* the first column that is this work-item's */
    const uint j0 = min(own, n - COLUMNS);       /* the first that it computes */
    __global result *out;
    __global const factor *row[ROWS];
    vector sum[ROWS][VECTORS];

    a += in_batch(call.offset_a, call.stride_a);
    b += in_batch(call.offset_b, call.stride_b);
    c += in_batch(call.offset_c, call.stride_c);
    out = c + (ulong)i0 * ldc + j0;
    if (n < COLUMNS) { /* one output after another */
        for (uint i = i0; i < min(i0 + ROWS, m); i++) {
            for (uint j = 0; j < n; j++) {
                REAL one = 0;

                for (uint p = 0; p < k; p++)
                    one += load_rounded(a + at_a(i, p, lda)) * load_rounded(b + at_b(p, j, ldb));
                update_result(c + (ulong)i * ldc + j, call.alpha, one, call.beta);
            }
        }
        return;
    }
#pragma unroll
    for (uint r = 0; r < ROWS; r++)
        row[r] = a + at_a(min(i0 + r, m - 1), 0, lda); /* the last row stands in beyond the edge */
    multiply(sum, row, TRANS_A ? lda : 1, b + j0, ldb, k);
    if (m - i0 >= ROWS && own == j0)
        update_whole(sum, call.alpha, call.beta, out, ldc);
    else
        update_part(sum, m - i0, own - j0, COLUMNS, call.alpha, call.beta, out, ldc);
}
