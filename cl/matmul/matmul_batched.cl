/* C := alpha op(A) op(B) + beta C: batches of small products, whole ones in a work-group.
 *
 * Idea: of a small product everything is read once and written once, so what
 *     counts is bytes in flight.  A group takes PRODUCTS whole ones, and each
 *     item asks for all its vectors of A and B before it waits for the first.
 *     Tiles lie in local memory as the matrices do in global memory, transposed
 *     or not, so that copying is vectors in and vectors out; the arithmetic
 *     reads four steps along k at once, as vectors along k where they lie so.
 * Work split: each product has ACROSS * DOWN items of its own, which copy its
 *     tiles and compute ROWS x COLUMNS outputs each.  Lines that are read along
 *     k are dealt out one by one, item y taking y, y + DOWN, ..., the others
 *     four by four: items side by side then read other banks.  Where k is over
 *     DEPTH, the next tiles are asked for after these are multiplied, or with
 *     STAGES = 2 before, to be on their way in registers meanwhile.
 * Parameters: TILE_M, TILE_N, powers of two from m and n on; DEPTH; ROWS and
 *     COLUMNS, multiples of 4; PRODUCTS; STAGES, 1 or 2; ONCE: whether k is at
 *     most DEPTH; WHOLE: whether m is TILE_M, n is TILE_N and k a multiple of
 *     DEPTH, not 0; UNROLL, steps of four along k that are written out;
 *     ALIGNED_A, ALIGNED_B (matmul_fetch.clh), ALIGNED_C (matmul_update.clh);
 *     REAL, REAL_BITS (real.clh); FACTOR, RESULT (matmul_elements.clh); TRANS_A,
 *     TRANS_B (matmul_access.clh).  The host decides DEPTH, ROWS, COLUMNS and
 *     PRODUCTS: at most DEPTH_MAX, ROWS_MAX, COLUMNS_MAX and about GROUP
 *     work-items.
 * Launch: 1-D, work-groups of PRODUCTS * ACROSS * DOWN, one per started
 *     PRODUCTS of the batch.
 * Local memory: PRODUCTS * (TILE_M * LINE_A + TILE_N * LINE_B + GAP) elements,
 *     LINE_A being DEPTH + 4 without TRANS_A, else DEPTH, LINE_B DEPTH + 4 with
 *     TRANS_B, else DEPTH; GAP is TILE_N where that is under 32, else 0.
 * Limits: m and n up to TILE_M and TILE_N; k, the batch and the leading
 *     dimensions up to 2^31.
 */
#include "matmul/matmul_access.clh"
#include "matmul/matmul_call.clh"
#include "matmul/matmul_elements.clh"

#ifndef TILE_M
#error "TILE_M: a power of two, m or more"
#endif
#ifndef TILE_N
#error "TILE_N: a power of two, n or more"
#endif
#ifndef DEPTH
#error "DEPTH: extent of the tiles along k, a multiple of 4"
#endif
#ifndef ROWS
#error "ROWS: rows of C that a work-item computes, a multiple of 4"
#endif
#ifndef COLUMNS
#error "COLUMNS: columns of C that a work-item computes, a multiple of 4"
#endif
#ifndef PRODUCTS
#error "PRODUCTS: products of a work-group"
#endif
#if STAGES != 1 && STAGES != 2
#error "STAGES: 2 where the next tiles are read while these are multiplied, else 1"
#endif
#if !defined(ONCE) || !defined(WHOLE)
#error "ONCE, WHOLE: 1 where k fits one tile, and where tiles have no edges, else 0"
#endif
#ifndef UNROLL
#error "UNROLL: steps of four along k that are written out"
#endif

#define DOWN   (TILE_M / ROWS)
#define ACROSS (TILE_N / COLUMNS)
#define ITEMS  (DOWN * ACROSS)
#include "matmul/matmul_fetch.clh"
#define PARTIAL 0
#include "matmul/matmul_update.clh"

/* All of an item's loads, but on CPUs, where each takes the compiler its time. */
#if UNROLL == 1
#define UNROLL_LOADS 1
#else
#define UNROLL_LOADS 64
#endif

/* Lines along k have four elements between them: a vector from each of eight lines then fills
 * all banks. */
#define LINE_A (DEPTH + (TRANS_A ? 0 : 4))
#define LINE_B (DEPTH + (TRANS_B ? 4 : 0))
/* Products that share a warp begin in other banks. */
#define GAP   (TILE_N < 32 ? TILE_N : 0)
#define SPACE (TILE_M * LINE_A + TILE_N * LINE_B + GAP)

/* Vector `e` of a tile of `size` by DEPTH at p0, in the order of the matrix. */
static inline real4 bring_vector(lines x, bool along, bool aligned, uint size, uint e, uint p0,
                                 uint k)
{
    if (WHOLE) {
        const uint line = along ? e / (DEPTH / 4) : p0 + e / (size / 4);
        const uint at = along ? p0 + e % (DEPTH / 4) * 4 : e % (size / 4) * 4;
        __global const factor *v = x.from + (ulong)line * x.ld + at;

        return aligned ? VLOADA_FACTORS(4, v) : VLOAD_FACTORS(4, 0, v);
    }
    return load_inside(x, along, aligned, along ? e / (DEPTH / 4) : e % (size / 4) * 4,
                       p0 + (along ? e % (DEPTH / 4) * 4 : e / (size / 4)), k);
}

/* This work-item's vectors of its product's tiles at p0. */
IN_REGISTERS void bring(real4 *next_a, real4 *next_b, uint item, lines a, lines b, uint p0, uint k)
{
#pragma unroll UNROLL_LOADS
    for (uint e = 0; e < LOADS_A; e++)
        next_a[e] = bring_vector(a, !TRANS_A, ALIGNED_A, TILE_M, item + e * ITEMS, p0, k);
#pragma unroll UNROLL_LOADS
    for (uint e = 0; e < LOADS_B; e++)
        next_b[e] = bring_vector(b, TRANS_B, ALIGNED_B, TILE_N, item + e * ITEMS, p0, k);
}

/* Store vector `e` where it lies in the matrix: lines along k, or rows of `size` across it. */
static inline void keep_vector(__local REAL *tile, bool along, uint size, uint e, real4 v)
{
    const uint at = along ? e / (DEPTH / 4) * (DEPTH + 4) + e % (DEPTH / 4) * 4 : e * 4;

    *(__local real4 *)(tile + at) = v;
}

IN_REGISTERS void keep(const real4 *next_a, const real4 *next_b, uint item, __local REAL *tile_a,
                       __local REAL *tile_b)
{
#pragma unroll UNROLL_LOADS
    for (uint e = 0; e < LOADS_A; e++)
        keep_vector(tile_a, !TRANS_A, TILE_M, item + e * ITEMS, next_a[e]);
#pragma unroll UNROLL_LOADS
    for (uint e = 0; e < LOADS_B; e++)
        keep_vector(tile_b, TRANS_B, TILE_N, item + e * ITEMS, next_b[e]);
}

/* The line of a tile that is number `r` of work-item `first` of `items` that share them. */
static inline uint line_of(bool along, uint first, uint items, uint r)
{
    return along ? first + r * items : 4 * (first + r / 4 * items) + r % 4;
}

/* Elements p + q along k of this item's lines 4 block ... + 3, as vector q of four. */
IN_REGISTERS void read_block(real4 *out, __local const REAL *tile, bool along, uint size,
                             uint first, uint items, uint block, uint p)
{
    if (along) {
        __local const REAL *from = tile + line_of(true, first, items, 4 * block) * (DEPTH + 4) + p;
        const uint next = items * (DEPTH + 4);
        const real4 v0 = *(__local const real4 *)from;
        const real4 v1 = *(__local const real4 *)(from + next);
        const real4 v2 = *(__local const real4 *)(from + 2 * next);
        const real4 v3 = *(__local const real4 *)(from + 3 * next);

        out[0] = (real4)(v0.s0, v1.s0, v2.s0, v3.s0);
        out[1] = (real4)(v0.s1, v1.s1, v2.s1, v3.s1);
        out[2] = (real4)(v0.s2, v1.s2, v2.s2, v3.s2);
        out[3] = (real4)(v0.s3, v1.s3, v2.s3, v3.s3);
    } else {
        __local const REAL *from = tile + p * size + line_of(false, first, items, 4 * block);

        out[0] = *(__local const real4 *)from;
        out[1] = *(__local const real4 *)(from + size);
        out[2] = *(__local const real4 *)(from + 2 * size);
        out[3] = *(__local const real4 *)(from + 3 * size);
    }
}

/* Add what the tiles give in `steps` fours along k. */
IN_REGISTERS void multiply(real4 sum[ROWS][COLUMNS / 4], __local const REAL *tile_a,
                           __local const REAL *tile_b, uint x, uint y, uint steps)
{
#pragma unroll UNROLL
    for (uint step = 0; step < steps; step++) {
        real4 row[COLUMNS / 4][4], column[4];

#pragma unroll
        for (uint h = 0; h < COLUMNS / 4; h++)
            read_block(row[h], tile_b, TRANS_B, TILE_N, x, ACROSS, h, 4 * step);
#pragma unroll
        for (uint g = 0; g < ROWS / 4; g++) {
            read_block(column, tile_a, !TRANS_A, TILE_M, y, DOWN, g, 4 * step);
#pragma unroll
            for (uint h = 0; h < COLUMNS / 4; h++)
#pragma unroll
                for (uint q = 0; q < 4; q++) {
                    sum[4 * g][h] += column[q].s0 * row[h][q];
                    sum[4 * g + 1][h] += column[q].s1 * row[h][q];
                    sum[4 * g + 2][h] += column[q].s2 * row[h][q];
                    sum[4 * g + 3][h] += column[q].s3 * row[h][q];
                }
        }
    }
}

/* Four outputs of row i as they were, anything for those outside: neighbours, or columns ACROSS
 * apart. */
static inline real4 load_outputs(__global const result *c, uint ldc, uint i, uint j, uint m, uint n)
{
    __global const result *from = c + (ulong)i * ldc + j;
    real4 v = 0;

    if (!TRANS_B)
        return load_before4(c, ldc, i, j, m, n);
    if (i >= m)
        return v;
    if (j < n)
        v.s0 = load_result(from);
    if (j + ACROSS < n)
        v.s1 = load_result(from + ACROSS);
    if (j + 2 * ACROSS < n)
        v.s2 = load_result(from + 2 * ACROSS);
    if (j + 3 * ACROSS < n)
        v.s3 = load_result(from + 3 * ACROSS);
    return v;
}

static inline void store_outputs(__global result *c, uint ldc, uint i, uint j, uint m, uint n,
                                 real4 v)
{
    __global result *to = c + (ulong)i * ldc + j;

    if (!TRANS_B)
        store4(c, ldc, i, j, m, n, v);
    if (!TRANS_B || i >= m)
        return;
    if (j < n)
        store_result(to, v.s0);
    if (j + ACROSS < n)
        store_result(to + ACROSS, v.s1);
    if (j + 2 * ACROSS < n)
        store_result(to + 2 * ACROSS, v.s2);
    if (j + 3 * ACROSS < n)
        store_result(to + 3 * ACROSS, v.s3);
}

/* Outputs of item (x, y) of a C of size.s0 x size.s1.  What C was is read before any of it is
 * written: reads that follow writes would wait for them. */
IN_REGISTERS void store(real4 sum[ROWS][COLUMNS / 4], __global result *c, uint ldc, uint x, uint y,
                        uint2 size, REAL alpha, REAL beta)
{
    const uint m = size.s0, n = size.s1;

#pragma unroll
    for (uint r = 0; r < ROWS; r++)
#pragma unroll
        for (uint h = 0; h < COLUMNS / 4; h++)
            sum[r][h] *= alpha;
    if (beta != 0) {
#pragma unroll
        for (uint r = 0; r < ROWS; r++)
#pragma unroll
            for (uint h = 0; h < COLUMNS / 4; h++)
                sum[r][h] += beta * load_outputs(c, ldc, line_of(!TRANS_A, y, DOWN, r),
                                                 line_of(TRANS_B, x, ACROSS, 4 * h), m, n);
    }
#pragma unroll
    for (uint r = 0; r < ROWS; r++)
#pragma unroll
        for (uint h = 0; h < COLUMNS / 4; h++)
            store_outputs(c, ldc, line_of(!TRANS_A, y, DOWN, r), line_of(TRANS_B, x, ACROSS, 4 * h),
                          m, n, sum[r][h]);
}

__kernel __attribute__((reqd_work_group_size(PRODUCTS * ITEMS, 1, 1))) void
matmul_batched(__global const factor *restrict a, __global const factor *restrict b,
               __global result *restrict c, const matmul_call call)
{
    const uint m = call.m, n = call.n, k = call.k;
    const uint lda = call.lda, ldb = call.ldb, ldc = call.ldc;
    __local REAL tiles[PRODUCTS * SPACE] __attribute__((aligned(32)));
    const uint item = get_local_id(0) % ITEMS;
    const uint x = item % ACROSS, y = item / ACROSS;
    const uint own = get_group_id(0) * PRODUCTS + get_local_id(0) / ITEMS;
    /* Items without a product read the last one, so that everyone reaches the barriers. */
    const uint product = min(own, call.batch - 1);
    __local REAL *tile_a = tiles + get_local_id(0) / ITEMS * SPACE;
    __local REAL *tile_b = tile_a + TILE_M * LINE_A;
    const uint rows = WHOLE ? TILE_M : m, columns = WHOLE ? TILE_N : n;
    lines from_a = {a, lda, 0, rows}, from_b = {b, ldb, 0, columns};
    real4 next_a[LOADS_A], next_b[LOADS_B];
    real4 sum[ROWS][COLUMNS / 4];

#pragma unroll
    for (uint r = 0; r < ROWS; r++)
#pragma unroll
        for (uint h = 0; h < COLUMNS / 4; h++)
            sum[r][h] = 0;
    from_a.from += call.offset_a + product * call.stride_a;
    from_b.from += call.offset_b + product * call.stride_b;
    bring(next_a, next_b, item, from_a, from_b, 0, k);
    for (uint p0 = 0;; p0 += DEPTH) {
        const bool more = !ONCE && k - p0 > DEPTH;

        keep(next_a, next_b, item, tile_a, tile_b);
        /* Filled before read: below, we read what other work-items wrote. */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (STAGES == 2 && more)
            bring(next_a, next_b, item, from_a, from_b, p0 + DEPTH, k);
        /* Beyond k tiles hold 0, which adds nothing, and fours of them alone are left out. */
        multiply(sum, tile_a, tile_b, x, y,
                 WHOLE || more ? DEPTH / 4 : (min(k - p0, (uint)DEPTH) + 3) / 4);
        if (!more)
            break;
        if (STAGES == 1)
            bring(next_a, next_b, item, from_a, from_b, p0 + DEPTH, k);
        /* Read before refilled: the next round overwrites both tiles. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (own < call.batch)
        store(sum, c + call.offset_c + product * call.stride_c, ldc, x, y, (uint2)(rows, columns),
              call.alpha, call.beta);
}
