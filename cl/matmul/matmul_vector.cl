/* C := alpha op(A) op(B) + beta C: vector loads, and local memory with fewer bank
 * conflicts.
 *
 * Idea: two changes to the register block of matmul_block.cl.  Elements move
 *     four at a time: global to local, local to registers, and in the
 *     arithmetic.  And a tile whose source runs along k, which is stored across
 *     its rows, is laid out so that the work-items that do so together meet in
 *     fewer banks.  Rows of a multiple of 32 floats begin in the same of 32
 *     banks, and what is stored together lies in DEPTH / 4 rows, four apart: as
 *     many items would meet.  There are two ways out:
 *     - padding (SWIZZLE 0): each row is PAD vectors longer than its data.  With
 *       PAD 1, and floats, half as many meet; with 2 all do again.
 *     - swizzling (SWIZZLE 1): the vectors of a row change places, by XOR of
 *       their number with one that follows the row.  It takes no memory, and no
 *       two items meet; of doubles, at DEPTH 32, two.
 * Work split: as in matmul_block.cl, but work-item (x, y) computes vectors: rows
 *     4 (y + r SIDE) ... + 3 and columns 4 (x + s SIDE) ... + 3 for
 *     r, s < BLOCK / 4.
 * Parameters: SIDE, BLOCK, DEPTH; SWIZZLE, and PAD where it is 0; REAL, REAL_BITS
 *     (real.clh); FACTOR, RESULT (matmul_elements.clh); TRANS_A, TRANS_B
 *     (matmul_access.clh).
 * Launch: 3-D, work-groups of SIDE x SIDE x 1, one per started tile of C, a
 *     layer of them for each product of the batch.
 * Local memory: 2 * DEPTH * (TILE + 4 * PAD) elements, swizzled 2 * DEPTH * TILE.
 * Traffic: the elements of matmul_block.cl, four to a load.
 * Limits: m, n, k and the leading dimensions up to 2^31; BLOCK and DEPTH are
 *     multiples of 4, and TILE, swizzled, of 32.
 */
#include "matmul/matmul_access.clh"
#include "matmul/matmul_elements.clh"

#ifndef SIDE
#error "SIDE: work-items along each side of a group"
#endif
#ifndef BLOCK
#error "BLOCK: outputs of a work-item along each side, a multiple of 4"
#endif
#ifndef DEPTH
#error "DEPTH: extent of the tiles along k, a multiple of 4"
#endif
#ifndef SWIZZLE
#error "SWIZZLE: 1 where vectors of a row change places, 0 where rows are padded"
#endif
#if !SWIZZLE && !defined(PAD)
#error "PAD: vectors between the rows of a tile"
#endif

#define TILE    (SIDE * BLOCK)
#define ITEMS   (SIDE * SIDE)
#define VECTORS (BLOCK / 4)

#if SWIZZLE
#define ROW (TILE / 4)
/* The vectors that fill all banks once, and which of them the first vector of a row becomes: those
 * of rows that are stored together lie as far apart as they can. */
#define LINE         (1024 / REAL_BITS / 4)
#define FIRST_OF(p)  ((p) / 4 * (4 * LINE > DEPTH ? 4 * LINE / DEPTH : 1))
#define PLACED(p, v) ((v) ^ FIRST_OF(p))
#if TILE % 32
#error "SIDE * BLOCK: a multiple of 32, so that what changes places stays in its row"
#endif
#else
#define ROW          (TILE / 4 + PAD)
#define PLACED(p, v) (v)
#endif

typedef REAL_N(4) real4;

/* Where vector v of row p of a tile is. */
static inline uint at(uint p, uint v)
{
    return p * ROW + PLACED(p, v);
}

/* The first `count` of four elements, the others as 0. */
static inline real4 load4(__global const factor *from, uint count)
{
    real4 v = 0;

    if (count >= 4)
        return VLOAD_FACTORS(4, 0, from);
    if (count > 0)
        v.s0 = load_factor(from);
    if (count > 1)
        v.s1 = load_factor(from + 1);
    if (count > 2)
        v.s2 = load_factor(from + 2);
    return v;
}

/* How many elements there are from index `at` to the end at `limit`: 0 beyond it. */
static inline uint left(uint at, uint limit)
{
    return at < limit ? limit - at : 0;
}

/* Load a tile whose source runs along the tile's rows: element (p, i) at p ld + i. */
static inline void load_along(__local real4 *tile, __global const factor *from, uint ld, uint i0,
                              uint size, uint p0, uint k, uint item)
{
    for (uint e = item; e < DEPTH * TILE / 4; e += ITEMS) {
        const uint p = e / (TILE / 4);
        const uint v = e % (TILE / 4);
        const uint i = i0 + 4 * v;

        tile[at(p, v)] =
            p0 + p < k ? load4(from + (ulong)(p0 + p) * ld + i, left(i, size)) : (real4)(0);
    }
}

/* Load a tile whose source runs along k: element (p, i) at i ld + p.  Each vector is spread over
 * four rows of the tile. */
static inline void load_across(__local REAL *tile, __global const factor *from, uint ld, uint i0,
                               uint size, uint p0, uint k, uint item)
{
    for (uint e = item; e < DEPTH * TILE / 4; e += ITEMS) {
        const uint i = e / (DEPTH / 4);
        const uint p = 4 * (e % (DEPTH / 4));
        const real4 v = i0 + i < size ? load4(from + (ulong)(i0 + i) * ld + p0 + p, left(p0 + p, k))
                                      : (real4)(0);

        tile[4 * at(p + 0, i / 4) + i % 4] = v.s0;
        tile[4 * at(p + 1, i / 4) + i % 4] = v.s1;
        tile[4 * at(p + 2, i / 4) + i % 4] = v.s2;
        tile[4 * at(p + 3, i / 4) + i % 4] = v.s3;
    }
}

/* Write the first `count` of four outputs of one row; the others are beyond the edge. */
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

__kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1))) void
matmul_vector(uint m, uint n, uint k, REAL alpha, __global const factor *restrict a, ulong offset_a,
              uint lda, __global const factor *restrict b, ulong offset_b, uint ldb, REAL beta,
              __global result *restrict c, ulong offset_c, uint ldc, ulong stride_a, ulong stride_b,
              ulong stride_c)
{
    __local real4 tile_a[DEPTH * ROW];
    __local real4 tile_b[DEPTH * ROW];
    const uint x = get_local_id(0);
    const uint y = get_local_id(1);
    const uint item = y * SIDE + x;
    const uint i0 = get_group_id(1) * TILE;
    const uint j0 = get_group_id(0) * TILE;
    real4 sum[BLOCK][VECTORS];

#pragma unroll
    for (uint r = 0; r < BLOCK; r++)
#pragma unroll
        for (uint s = 0; s < VECTORS; s++)
            sum[r][s] = 0;
    a += in_batch(offset_a, stride_a);
    b += in_batch(offset_b, stride_b);
    for (uint p0 = 0; p0 < k; p0 += DEPTH) {
        if (TRANS_A)
            load_along(tile_a, a, lda, i0, m, p0, k, item);
        else
            load_across((__local REAL *)tile_a, a, lda, i0, m, p0, k, item);
        if (TRANS_B)
            load_across((__local REAL *)tile_b, b, ldb, j0, n, p0, k, item);
        else
            load_along(tile_b, b, ldb, j0, n, p0, k, item);
        /* Filled before read: below, we read what other work-items wrote. */
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint p = 0; p < DEPTH; p++) {
            real4 row[VECTORS];

#pragma unroll
            for (uint s = 0; s < VECTORS; s++)
                row[s] = tile_b[at(p, x + s * SIDE)];
#pragma unroll
            for (uint r = 0; r < VECTORS; r++) {
                const real4 column = tile_a[at(p, y + r * SIDE)];

#pragma unroll
                for (uint s = 0; s < VECTORS; s++) {
                    sum[4 * r + 0][s] += column.s0 * row[s];
                    sum[4 * r + 1][s] += column.s1 * row[s];
                    sum[4 * r + 2][s] += column.s2 * row[s];
                    sum[4 * r + 3][s] += column.s3 * row[s];
                }
            }
        }
        /* Read before refilled: the next round overwrites both tiles. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c += in_batch(offset_c, stride_c);
#pragma unroll
    for (uint r = 0; r < BLOCK; r++) {
        const uint i = i0 + 4 * (y + r / 4 * SIDE) + r % 4;

#pragma unroll
        for (uint s = 0; s < VECTORS; s++) {
            const uint j = j0 + 4 * (x + s * SIDE);

            if (i < m)
                update4(c + (ulong)i * ldc + j, left(j, n), alpha, sum[r][s], beta);
        }
    }
}
