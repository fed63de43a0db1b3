/* C := alpha op(A) op(B) + beta C: tiles that the lanes of a sub-group share.
 *
 * Idea: no local memory and no barrier.  The tile of A lies in the registers of
 *     the sub-group, ROWS rows by one step along k for each lane, who reads its
 *     part once; at each step the lane that has it hands an element of each row
 *     to all others.  Each of them multiplies those with its own columns of B,
 *     which it reads as vectors: an element of B serves ROWS multiply-adds, one
 *     of A those of all lanes.
 * Work split: a sub-group computes ROWS rows of C by 4 * VECTORS columns a lane, as
 *     often as WIDTH columns of C need.  The sub-groups of all work-groups along the
 *     first dimension are numbered; number s computes strips s, s + S, ... for S
 *     sub-groups in all, so that every row is covered whatever size the device
 *     gives its sub-groups.
 * Parameters: ROWS; VECTORS; GROUP, work-items in a work-group; WIDTH, a
 *     multiple of 4; ALIGNED_B: whether four neighbours that start at a multiple of
 *     4 are an aligned vector; SHFL (sub_group.clh); REAL, REAL_BITS (real.clh); FACTOR,
 *     RESULT (matmul_elements.clh); TRANS_A, TRANS_B (matmul_access.clh).
 * Launch: 3-D, work-groups of GROUP x 1 x 1, any number of them along the first
 *     dimension, along the second one for each started WIDTH columns, a layer of
 *     them for each product of the batch.
 * Local memory: none.
 * Limits: m, n, k and the leading dimensions up to 2^31.
 */
#include "common/in_registers.clh"
#include "common/sub_group.clh"
#include "matmul/matmul_access.clh"
#include "matmul/matmul_call.clh"
#include "matmul/matmul_load4.clh"

#ifndef ROWS
#error "ROWS: rows of C in registers"
#endif
#ifndef VECTORS
#error "VECTORS: vectors of four columns of a lane"
#endif
#ifndef GROUP
#error "GROUP: work-items in a work-group"
#endif
#ifndef WIDTH
#error "WIDTH: columns of C that a layer of work-groups computes"
#endif
#ifndef ALIGNED_B
#error "ALIGNED_B: 1 where vectors of 4 are aligned, else 0"
#endif

/* The product, A and B from their first element, and the columns up to which this layer goes. */
typedef struct product {
    uint m, end, k;
    __global const factor *a;
    uint lda;
    __global const factor *b;
    uint ldb;
} product;

/* Columns j ... j + 3 of row p of op(B), 0 beyond this layer's. */
static inline real4 load_row(const product *x, uint p, uint j)
{
#if TRANS_B
    real4 v = 0;

    if (j < x->end)
        v.s0 = load_factor(x->b + at_b(p, j, x->ldb));
    if (j + 1 < x->end)
        v.s1 = load_factor(x->b + at_b(p, j + 1, x->ldb));
    if (j + 2 < x->end)
        v.s2 = load_factor(x->b + at_b(p, j + 2, x->ldb));
    if (j + 3 < x->end)
        v.s3 = load_factor(x->b + at_b(p, j + 3, x->ldb));
    return v;
#else
    return load4(x->b + at_b(p, 0, x->ldb), j, x->end, ALIGNED_B);
#endif
}

/* sum := op(A) op(B) for rows i0 and on, and this lane's columns: vectors from j on, `apart`
 * columns from one to the next.  All lanes come here together. */
IN_REGISTERS void multiply(real4 *sum, const product *x, uint i0, uint j, uint apart)
{
    const uint lanes = subgroup_size(), lane = subgroup_item();

#pragma unroll
    for (uint e = 0; e < ROWS * VECTORS; e++)
        sum[e] = 0;
    for (uint p0 = 0; p0 < x->k; p0 += lanes) {
        const uint steps = min(lanes, x->k - p0);
        REAL mine[ROWS]; /* of column p0 + lane of op(A) */

#pragma unroll
        for (uint r = 0; r < ROWS; r++) {
            mine[r] = lane < steps && i0 + r < x->m
                          ? load_factor(x->a + at_a(i0 + r, p0 + lane, x->lda))
                          : 0;
        }
        /* Several rows of B are in flight at once; and volatile assembly in an unmarked loop is
         * unrolled up to a thousand times. */
#pragma unroll 4
        for (uint p = 0; p < steps; p++) {
            real4 row[VECTORS];

#pragma unroll
            for (uint v = 0; v < VECTORS; v++)
                row[v] = load_row(x, p0 + p, j + v * apart);
#pragma unroll
            for (uint r = 0; r < ROWS; r++) {
                const REAL scale = subgroup_value_of(mine[r], p);

#pragma unroll
                for (uint v = 0; v < VECTORS; v++)
                    sum[r * VECTORS + v] += scale * row[v];
            }
        }
    }
}

/* The first `count` of four neighbours of C. */
static inline void update4(__global result *to, uint count, REAL alpha, real4 sum, REAL beta)
{
    if (count > 0)
        update_result(to, alpha, sum.s0, beta);
    if (count > 1)
        update_result(to + 1, alpha, sum.s1, beta);
    if (count > 2)
        update_result(to + 2, alpha, sum.s2, beta);
    if (count > 3)
        update_result(to + 3, alpha, sum.s3, beta);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
matmul_subgroup(__global const factor *restrict a, __global const factor *restrict b,
                __global result *restrict c, const matmul_call call)
{
    const uint m = call.m, n = call.n, k = call.k;
    const uint lda = call.lda, ldb = call.ldb, ldc = call.ldc;
    /* From the offset on, where a launch of many groups was split. */
    const uint front = (get_group_id(1) + get_global_offset(1)) * WIDTH;
    const uint end = front + min(n - front, (uint)WIDTH);
    const product x = {m,   end,
                       k,   a + in_batch(call.offset_a, call.stride_a),
                       lda, b + in_batch(call.offset_b, call.stride_b),
                       ldb};
    /* Each group has the same number of sub-groups; the last of a group may be smaller. */
    const uint subgroup = get_group_id(0) * subgroup_count() + subgroup_number();
    const uint subgroups = get_num_groups(0) * subgroup_count();
    const uint apart = 4 * subgroup_size();

    c += in_batch(call.offset_c, call.stride_c);
    /* One trip count for all lanes of a sub-group: they meet where elements of A are handed on. */
    for (uint strip = subgroup; strip <= (m - 1) / ROWS; strip += subgroups)
        for (uint j0 = front; j0 < end; j0 += VECTORS * apart) {
            const uint i0 = strip * ROWS, j = j0 + 4 * subgroup_item();
            real4 sum[ROWS * VECTORS];

            multiply(sum, &x, i0, j, apart);
#pragma unroll
            for (uint e = 0; e < ROWS * VECTORS; e++) {
                const uint i = i0 + e / VECTORS, at = j + e % VECTORS * apart;

                if (i < m && at < end)
                    update4(c + (ulong)i * ldc + at, end - at, call.alpha, sum[e], call.beta);
            }
        }
}
