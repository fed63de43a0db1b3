/* C := alpha op(A) op(B) + beta C: tiles that arrive while others are multiplied.
 *
 * Idea: five changes to matmul_vector.cl.  Each work-item keeps 16 x 8 sums (8 x 8 or
 *     8 x 4 of small tiles), so that six vectors from local memory serve 128
 *     multiply-adds.  The work-items of a warp form a rectangle of 4 x 8, half of
 *     it 2 x 8, so that their loads from local memory meet in few addresses.
 *     There are two pairs of tiles: elements for the next one are on their way
 *     from global memory, in registers, while this one is multiplied, and one
 *     barrier a tile is enough.  Where tiles are small, SLICES sets of work-items
 *     share the steps along k of each, so that a group has warps enough to hide
 *     latency.  And where there are few tiles, groups share k: each writes sums
 *     of its span, and matmul_parts.clh adds them in one order.
 * Work split: a group computes TILE_M x TILE_N of C; 32 neighbouring work-items
 *     compute 4 ROWS x 8 COLUMNS of that, each of them ROWS x COLUMNS: vectors of
 *     four columns, 32 apart, of four rows each, 16 apart.
 * Parameters: TILE_M, TILE_N, powers of two; SUMS = ROWS * COLUMNS: 32, 64 or 128;
 *     DEPTH, a multiple of 8; SLICES; UNROLL, steps of the inner loop that are
 *     written out, and ARRAYS of loops over arrays; SPLITS, 1 where groups share
 *     k; SIZED, 1 where the compiler is told the size of the groups; ALIGNED_C,
 *     ALIGNED_A, ALIGNED_B: whether four neighbours that start at a multiple of 4
 *     are an aligned vector; REAL, REAL_BITS (real.clh); FACTOR, RESULT
 *     (matmul_elements.clh); TRANS_A, TRANS_B (matmul_access.clh); SCALED
 *     (matmul_scales.clh).
 * Launch: 3-D, work-groups of TILE_M * TILE_N / SUMS * SLICES x 1 x 1, one per
 *     started tile of C, a layer of them for each product of the batch, or for
 *     each span of k.
 * Local memory: 2 * DEPTH * (TILE_M + TILE_N + 8) elements, or SLICES / 2 *
 *     TILE_M * TILE_N where that is more.
 * Limits: m, n, k and the leading dimensions up to 2^31.
 */
#include "matmul/matmul_access.clh"
#include "matmul/matmul_call.clh"
#include "matmul/matmul_elements.clh"
#include "matmul/matmul_parts.clh"
#include "matmul/matmul_scales.clh"

#ifndef TILE_M
#error "TILE_M: rows of a work-group's tile"
#endif
#ifndef TILE_N
#error "TILE_N: columns of a work-group's tile"
#endif
#ifndef DEPTH
#error "DEPTH: extent of the tiles along k, a multiple of 8"
#endif
#ifndef SLICES
#error "SLICES: sets of work-items that share the steps of a tile along k, a power of two"
#endif
#ifndef UNROLL
#error "UNROLL: steps along k that are written out"
#endif
#ifndef ARRAYS
#error "ARRAYS: 64 to write loops over arrays out, which stay in registers then; 1 not to"
#endif
#ifndef SPLITS
#error "SPLITS: 1 where each group takes a span of k, else 0"
#endif
#ifndef SIZED
#error "SIZED: 1 to require groups of ITEMS; 0 where a limit of registers is given instead"
#endif

#include "matmul/matmul_warp_block.clh"

/* Work-items that cover the tile, and of the group. */
#define SLICE_ITEMS (TILE_M * TILE_N / SUMS)
#define ITEMS       (SLICE_ITEMS * SLICES)
/* Whether the inside of the matrices has a loop of its own. */
#define APART (SUMS == 128)
/* Steps along k that a slice takes of each tile. */
#define STEPS (DEPTH / SLICES)
/* Four elements between rows, so that a tile stored across them uses more banks. */
#define ROW_A (TILE_M + 4)
#define ROW_B (TILE_N + 4)
#include "matmul/matmul_fetch.clh"
#define PARTIAL SPLITS
#include "matmul/matmul_update_block.clh"

#if DEPTH % 8 || DEPTH % SLICES
#error "DEPTH: a multiple of 8 and of SLICES"
#endif

/* Vectors of local memory: both pairs of tiles, later the sums of half the slices. */
#define TILES_VECTORS (2 * DEPTH * (ROW_A + ROW_B) / 4)
#define SUMS_VECTORS  (SLICES / 2 * TILE_M * TILE_N / 4)

/* Where vector e of a tile of `size` lines begins: line x, and y along k.  `along`: the matrix has
 * neighbours along k as neighbours in memory; a warp then takes 32 bytes of each of 16 lines, which
 * it stores across rows of the tile without bank conflicts. */
static inline uint2 place(bool along, uint size, uint e)
{
    return along ? (uint2)(e / 2 % size, (e / (2 * size) * 2 + e % 2) * 4)
                 : (uint2)(e % (size / 4) * 4, e / (size / 4));
}

/* Where a vector of the first tile is in memory; in place of one beyond the last line the last one
 * inside, whose products nobody stores. */
static inline __global const factor *vector_start(lines x, bool along, uint2 at)
{
    const uint i = x.first + at.x;

    return along ? x.from + (ulong)min(i, x.most - 1) * x.ld + at.y
                 : x.from + (ulong)at.y * x.ld + min(i, x.most - min(x.most, 4u));
}

/* Whether vectors of a tile at i0 do not cross the last line. */
static inline bool inside(bool along, uint size, uint i0, uint most)
{
    return along || most - i0 >= size || most % 4 == 0;
}

static inline real4 load_plain(__global const factor *from, bool aligned)
{
    return aligned ? VLOADA_FACTORS(4, from) : VLOAD_FACTORS(4, 0, from);
}

/* This work-item's vectors of whole tiles; *from_a, *from_b move on to the next ones. */
IN_REGISTERS void fetch_plain(real4 *next_a, real4 *next_b, __global const factor **from_a,
                              __global const factor **from_b, ulong step_a, ulong step_b)
{
#pragma unroll ARRAYS
    for (uint e = 0; e < LOADS_A; e++) {
        next_a[e] = load_plain(from_a[e], ALIGNED_A);
        from_a[e] += step_a;
    }
#pragma unroll ARRAYS
    for (uint e = 0; e < LOADS_B; e++) {
        next_b[e] = load_plain(from_b[e], ALIGNED_B);
        from_b[e] += step_b;
    }
}

/* The same at edges, of the tiles at p0: 0 beyond the matrices. */
IN_REGISTERS void fetch_checked(real4 *next_a, real4 *next_b, uint item, lines a, lines b, uint p0,
                                uint k)
{
#pragma unroll ARRAYS
    for (uint e = 0; e < LOADS_A; e++) {
        const uint2 at = place(!TRANS_A, TILE_M, item + e * ITEMS);

        next_a[e] = load_inside(a, !TRANS_A, ALIGNED_A, a.first + at.x, p0 + at.y, k);
    }
#pragma unroll ARRAYS
    for (uint e = 0; e < LOADS_B; e++) {
        const uint2 at = place(TRANS_B, TILE_N, item + e * ITEMS);

        next_b[e] = load_inside(b, TRANS_B, ALIGNED_B, b.first + at.x, p0 + at.y, k);
    }
}

/* Element (i, p) of the tile belongs at p row + i. */
static inline void store_vector(__local REAL *tile, uint row, bool along, uint2 at, real4 v)
{
    __local REAL *to = tile + at.y * row + at.x;

    if (along) {
        to[0] = v.s0;
        to[row] = v.s1;
        to[2 * row] = v.s2;
        to[3 * row] = v.s3;
    } else {
        *(__local real4 *)to = v;
    }
}

IN_REGISTERS void keep(const real4 *next_a, const real4 *next_b, uint item, __local REAL *tile_a,
                       __local REAL *tile_b)
{
#pragma unroll ARRAYS
    for (uint e = 0; e < LOADS_A; e++)
        store_vector(tile_a, ROW_A, !TRANS_A, place(!TRANS_A, TILE_M, item + e * ITEMS), next_a[e]);
#pragma unroll ARRAYS
    for (uint e = 0; e < LOADS_B; e++)
        store_vector(tile_b, ROW_B, TRANS_B, place(TRANS_B, TILE_N, item + e * ITEMS), next_b[e]);
}

/* The product of what a slice takes of two tiles, from this work-item's first row and column on. */
IN_REGISTERS void multiply_tiles(real4 *sum, __local const REAL *column_a,
                                 __local const REAL *row_b)
{
#pragma unroll UNROLL
    for (uint p = 0; p < STEPS; p++) {
        real4 from_column[VECTORS_M], from_row[VECTORS_N];

#pragma unroll ARRAYS
        for (uint u = 0; u < VECTORS_M; u++)
            from_column[u] = *(__local const real4 *)(column_a + p * ROW_A + 16 * u);
#pragma unroll ARRAYS
        for (uint v = 0; v < VECTORS_N; v++)
            from_row[v] = *(__local const real4 *)(row_b + p * ROW_B + 32 * v);
#pragma unroll ARRAYS
        for (uint u = 0; u < VECTORS_M; u++)
#pragma unroll ARRAYS
            for (uint v = 0; v < VECTORS_N; v++)
                multiply_vectors(sum + 4 * u * VECTORS_N + v, from_column[u], from_row[v]);
    }
}

/* The sums of all slices end up in those of the first, halved from round to round. */
IN_REGISTERS void add_slices(real4 *sum, __local real4 *shared, uint slice, uint item)
{
#pragma unroll ARRAYS
    for (uint half_of = SLICES / 2; half_of > 0; half_of /= 2) {
        if (slice >= half_of && slice < 2 * half_of) {
#pragma unroll ARRAYS
            for (uint v = 0; v < SUMS / 4; v++)
                shared[((slice - half_of) * (SUMS / 4) + v) * SLICE_ITEMS + item] = sum[v];
        }
        /* Written before read: below, a slice reads the sums of another one. */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (slice < half_of) {
#pragma unroll ARRAYS
            for (uint v = 0; v < SUMS / 4; v++)
                sum[v] += shared[(slice * (SUMS / 4) + v) * SLICE_ITEMS + item];
        }
        /* Read before overwritten by the next round. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* NVIDIA's compiler takes a limit of registers only for kernels without a required size. */
#if SIZED
#define GROUP __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
#else
#define GROUP
#endif

/* call.span is what a layer takes of k, where groups share it: a multiple of DEPTH. */
__kernel GROUP void matmul_pipelined(__global const factor *restrict a,
                                     __global const factor *restrict b, __global output *restrict c,
                                     const matmul_call call SCALE_ARGUMENTS)
{
    const uint m = call.m, n = call.n;
    const uint lda = call.lda, ldb = call.ldb, ldc = call.ldc;
    __local real4 shared[TILES_VECTORS > SUMS_VECTORS ? TILES_VECTORS : SUMS_VECTORS]
        __attribute__((aligned(32)));
    __local REAL *tiles_a = (__local REAL *)shared, *tiles_b = tiles_a + 2 * DEPTH * ROW_A;
    const uint item = get_local_id(0), slice = item / SLICE_ITEMS;
    const uint warp = item % SLICE_ITEMS / 32, lane = item % 32;
    /* From the offset on, where a launch of many groups was split. */
    const uint i0 = (get_group_id(1) + get_global_offset(1)) * TILE_M;
    const uint j0 = get_group_id(0) * TILE_N;
    const uint front = SPLITS ? get_group_id(2) * call.span : 0;
    const uint k = SPLITS ? min(call.span, call.k - front) : call.k;
    const uint row = warp_block_row(warp, lane), column = warp_block_column(warp, lane);
    lines all_a = {a, lda, i0, m}, all_b = {b, ldb, j0, n};
    const bool plain = inside(!TRANS_A, TILE_M, i0, m) && inside(TRANS_B, TILE_N, j0, n);
    const ulong step_a = TRANS_A ? (ulong)DEPTH * lda : DEPTH;
    const ulong step_b = TRANS_B ? DEPTH : (ulong)DEPTH * ldb;
    __global const factor *from_a[LOADS_A], *from_b[LOADS_B];
    real4 next_a[LOADS_A], next_b[LOADS_B];
    real4 sum[ROWS * VECTORS_N]; /* row by row */
    __local const REAL *columns_a = tiles_a + slice * STEPS * ROW_A + row;
    __local const REAL *rows_b = tiles_b + slice * STEPS * ROW_B + column;
    const scales by = SCALES(call.alpha, in_batch(call.offset_scale_a, call.stride_scale_a),
                             in_batch(call.offset_scale_b, call.stride_scale_b));
    uint now = 0, p0 = 0;

#pragma unroll ARRAYS
    for (uint v = 0; v < ROWS * VECTORS_N; v++)
        sum[v] = 0;
    /* k is this group's span, and the matrices begin with it. */
    all_a.from += in_batch(call.offset_a, call.stride_a) + at_a(0, front, lda);
    all_b.from += in_batch(call.offset_b, call.stride_b) + at_b(front, 0, ldb);
#pragma unroll ARRAYS
    for (uint e = 0; e < LOADS_A; e++)
        from_a[e] = vector_start(all_a, !TRANS_A, place(!TRANS_A, TILE_M, item + e * ITEMS));
#pragma unroll ARRAYS
    for (uint e = 0; e < LOADS_B; e++)
        from_b[e] = vector_start(all_b, TRANS_B, place(TRANS_B, TILE_N, item + e * ITEMS));
    if (plain && k >= DEPTH)
        fetch_plain(next_a, next_b, from_a, from_b, step_a, step_b);
    else
        fetch_checked(next_a, next_b, item, all_a, all_b, 0, k);
    keep(next_a, next_b, item, tiles_a, tiles_b);
    /* Filled before read: below, we read what other work-items wrote. */
    barrier(CLK_LOCAL_MEM_FENCE);
    /* Many sums have a loop of their own for the inside of the matrices: nothing branches in it, so
     * that the compiler mixes loads and multiply-adds. */
    for (; APART && plain && k - p0 >= 2 * DEPTH; p0 += DEPTH, now ^= 1) {
        fetch_plain(next_a, next_b, from_a, from_b, step_a, step_b);
        multiply_tiles(sum, columns_a + now * DEPTH * ROW_A, rows_b + now * DEPTH * ROW_B);
        keep(next_a, next_b, item, tiles_a + (now ^ 1) * DEPTH * ROW_A,
             tiles_b + (now ^ 1) * DEPTH * ROW_B);
        /* The other tiles are filled before they are read, and these read before they are
         * refilled in the next round. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (; p0 < k; p0 += DEPTH, now ^= 1) {
        const uint left = k - p0;

        if (!APART && plain && left >= 2 * DEPTH)
            fetch_plain(next_a, next_b, from_a, from_b, step_a, step_b);
        else if (left > DEPTH)
            fetch_checked(next_a, next_b, item, all_a, all_b, p0 + DEPTH, k);
        multiply_tiles(sum, columns_a + now * DEPTH * ROW_A, rows_b + now * DEPTH * ROW_B);
        if (left > DEPTH)
            keep(next_a, next_b, item, tiles_a + (now ^ 1) * DEPTH * ROW_A,
                 tiles_b + (now ^ 1) * DEPTH * ROW_B);
        /* As above. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    add_slices(sum, shared, slice, item % SLICE_ITEMS);
    if (slice > 0)
        return;
    update_block(c + in_batch(call.offset_c, call.stride_c), ldc, (uint2)(i0 + row, j0 + column),
                 (uint2)(m, n), &by, sum, call.beta);
}
