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
 * Parameters: ROWS, VECTORS, BITS; REAL, REAL_BITS (real.clh); TRANS_A,
 *     TRANS_B = 0 (matmul_access.clh).  Where BITS is wider than the CPU's
 *     vectors, compilers note that this changes the ABI of functions that take
 *     vectors: harmless, as all of a kernel is built at once.
 * Launch: 2-D, exactly ceil(m / ROWS) x ceil(n / COLUMNS) work-items, any
 *     work-group size.
 * Local memory: none.
 * Traffic: k / COLUMNS loads of A and k / ROWS of B an output.
 * Limits: m, n, k and the leading dimensions up to 2^31; B is not transposed, so
 *     that rows of op(B) are contiguous.
 */
#include "matmul_access.clh"
#include "real.clh"

#ifndef ROWS
#error "ROWS: rows of C that a work-item computes"
#endif
#ifndef VECTORS
#error "VECTORS: vectors of columns that a work-item computes"
#endif
#ifndef BITS
#error "BITS: width of a vector"
#endif

#define LANES   (BITS / REAL_BITS)
#define COLUMNS (VECTORS * LANES)

/* The preprocessor pastes numbers, not expressions. */
#if BITS / REAL_BITS == 2
#define LANES_NUMBER 2
#elif BITS / REAL_BITS == 4
#define LANES_NUMBER 4
#elif BITS / REAL_BITS == 8
#define LANES_NUMBER 8
#elif BITS / REAL_BITS == 16
#define LANES_NUMBER 16
#else
#error "BITS / REAL_BITS: 2, 4, 8 or 16"
#endif

#define VLOAD  REAL_JOIN_EXPANDED(vload, LANES_NUMBER)
#define VSTORE REAL_JOIN_EXPANDED(vstore, LANES_NUMBER)

typedef REAL_N(LANES_NUMBER) vector;

/* Where C has fewer than COLUMNS columns: one output after another. */
static inline void narrow(uint i0, uint m, uint n, uint k, REAL alpha, __global const REAL *a,
                          uint lda, __global const REAL *b, uint ldb, REAL beta, __global REAL *c,
                          uint ldc)
{
    for (uint i = i0; i < min(i0 + ROWS, m); i++) {
        for (uint j = 0; j < n; j++) {
            REAL sum = 0;

            for (uint p = 0; p < k; p++)
                sum += a[at_a(i, p, lda)] * b[at_b(p, j, ldb)];
            REAL_UPDATE(c[(ulong)i * ldc + j], alpha, sum, beta);
        }
    }
}

__kernel void matmul_item_block(uint m, uint n, uint k, REAL alpha, __global const REAL *restrict a,
                                ulong offset_a, uint lda, __global const REAL *restrict b,
                                ulong offset_b, uint ldb, REAL beta, __global REAL *restrict c,
                                ulong offset_c, uint ldc)
{
    const uint i0 = get_global_id(0) * ROWS;
    const uint own = get_global_id(1) * COLUMNS; /* the first column that is this work-item's */
    const uint j0 = min(own, n - COLUMNS);       /* the first that it computes */
    vector sum[ROWS][VECTORS];
    uint row[ROWS]; /* the last rows stand in for those beyond the edge */
    REAL out[ROWS * COLUMNS];

    a += offset_a;
    b += offset_b;
    c += offset_c;
    if (n < COLUMNS) {
        narrow(i0, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
        return;
    }
#pragma unroll
    for (uint r = 0; r < ROWS; r++) {
        row[r] = min(i0 + r, m - 1);
#pragma unroll
        for (uint v = 0; v < VECTORS; v++)
            sum[r][v] = 0;
    }
    for (uint p = 0; p < k; p++) {
        __global const REAL *from = b + (ulong)p * ldb + j0;
        vector part[VECTORS];

#pragma unroll
        for (uint v = 0; v < VECTORS; v++)
            part[v] = VLOAD(v, from);
#pragma unroll
        for (uint r = 0; r < ROWS; r++) {
            const vector scale = (vector)(a[at_a(row[r], p, lda)]);

#pragma unroll
            for (uint v = 0; v < VECTORS; v++)
                sum[r][v] += scale * part[v];
        }
    }
#pragma unroll
    for (uint r = 0; r < ROWS; r++)
#pragma unroll
        for (uint v = 0; v < VECTORS; v++)
            VSTORE(sum[r][v], r * VECTORS + v, out);
    for (uint r = 0; r < min((uint)ROWS, m - i0); r++)
        for (uint j = own - j0; j < COLUMNS; j++)
            REAL_UPDATE(c[(ulong)(i0 + r) * ldc + j0 + j], alpha, out[r * COLUMNS + j], beta);
}
