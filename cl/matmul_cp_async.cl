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
 * Parameters: TILE_M, TILE_N, powers of two; SUMS (matmul_warp_block.clh); DEPTH, 8 or 16; STAGES,
 *     2 or more; SPLITS, 1 where groups share k; BAND (matmul_bands.clh); ALIGNED_A,
 *     ALIGNED_B, ALIGNED_C: whether four neighbours that start at a multiple of 4 are an
 *     aligned vector; REAL, REAL_BITS, FACTOR, RESULT (matmul_elements.clh), of float;
 *     TRANS_A, TRANS_B (matmul_access.clh).
 * Launch: 3-D, work-groups of TILE_M * TILE_N / SUMS x 1 x 1, along the first dimension one per
 *     started tile of C, a layer of them for each product of the batch, or for each span of k; then
 *     matmul_sum_parts.
 * Local memory: STAGES * DEPTH * (TILE_M + TILE_N + 8) elements.
 * Limits: float32; m, n, k and the leading dimensions up to 2^31; NVIDIA's compute capability 8.0.
 */
#include "async_copy.clh"
#include "in_registers.clh"
#include "matmul_access.clh"
#include "matmul_bands.clh"
#include "matmul_elements.clh"
#include "matmul_parts.clh"

#ifndef TILE_M
#error "TILE_M: rows of a work-group's tile"
#endif
#ifndef TILE_N
#error "TILE_N: columns of a work-group's tile"
#endif
#if DEPTH != 8 && DEPTH != 16
#error "DEPTH: extent of the tiles along k, 8 or 16"
#endif
#if !defined(STAGES) || STAGES < 2
#error "STAGES: pairs of tiles, one of them multiplied and the others under way, 2 or more"
#endif
#if !defined(ALIGNED_A) || !defined(ALIGNED_B)
#error "ALIGNED_A, ALIGNED_B: 1 where vectors of 4 are aligned, else 0"
#endif
#ifndef SPLITS
#error "SPLITS: 1 where each group takes a span of k, else 0"
#endif
#if REAL_BITS != 32
#error "REAL_BITS: 32: copies are of float"
#endif

#include "matmul_warp_block.clh"
#define PARTIAL SPLITS
#include "matmul_update.clh"

#define ITEMS (TILE_M * TILE_N / SUMS)
#if TILE_M * DEPTH % (4 * ITEMS) || TILE_N * DEPTH % (4 * ITEMS)
#error "TILE_M * DEPTH and TILE_N * DEPTH: multiples of 4 * ITEMS, whole vectors for each item"
#endif

/* ---- tiles in local memory ------------------------------------------------------------------- *
 *
 * Element (i, p) of a tile, i across and p along k, is at p ROW + i: a step along k reads vectors.
 * Four elements between rows let a warp that turns its elements, 8 along k of 4 lines, hit each
 * bank once.
 */

#define ROW(side)  (((side) + 4) * 4) /* in bytes, as all below */
#define TILE(side) (DEPTH * ROW(side))
#define STAGE      (TILE(TILE_M) + TILE(TILE_N))

/* Tiles are brought in so many parts, each before EVERY steps of those that are multiplied: copies
 * all at once would hold up the loads of the next steps. */
#define EVERY 4
#define PARTS (DEPTH / EVERY)

/* How the work-items copy a tile: in passes of so many copies each, from a first place on, in
 * elements across and along k.  `along`: neighbours in memory are neighbours along k. */
typedef struct pattern {
    uint width;       /* elements of a copy */
    uint2 first;      /* of this work-item */
    uint2 copy, pass; /* from one copy of a pass to the next, and from pass to pass */
    uint copies, passes;
} pattern;

static inline pattern pattern_of(bool along, bool aligned, uint side)
{
    const uint item = get_local_id(0), width = along || !aligned ? 1 : 4, vectors = side / width;

    if (along) /* 32 bytes of each line */
        return (pattern){1,
                         (uint2)(item / 8, item % 8),
                         (uint2)(0, 8),
                         (uint2)(ITEMS / 8, 0),
                         DEPTH / 8,
                         side * 8 / ITEMS};
    if (vectors <= ITEMS) /* whole lines, a copy each */
        return (pattern){width,
                         (uint2)(item % vectors * width, item / vectors),
                         (uint2)(0, 0),
                         (uint2)(0, ITEMS / vectors),
                         1,
                         DEPTH * vectors / ITEMS};
    return (pattern){width,         (uint2)(item * width, 0), (uint2)(ITEMS * width, 0),
                     (uint2)(0, 1), vectors / ITEMS,          DEPTH};
}

/* A matrix whose rows or columns i0 and on are multiplied, of `most` by k. */
typedef struct operand {
    __global const float *matrix;
    __global const float *next; /* what this work-item copies next, where whole tiles follow */
    uint ld, i0, most;
} operand;

static inline __global const float *element(__global const float *matrix, uint ld, bool along,
                                            uint i, uint p)
{
    return matrix + (along ? (ulong)i * ld + p : (ulong)p * ld + i);
}

static inline operand operand_of(__global const float *matrix, uint ld, uint i0, uint most,
                                 bool along, bool aligned, uint side)
{
    const uint2 first = pattern_of(along, aligned, side).first;

    return (operand){matrix, element(matrix, ld, along, i0 + first.s0, first.s1), ld, i0, most};
}

/* Begin to copy part `part` of a whole tile.  Addresses follow from the one before: there are no
 * registers to keep them in. */
IN_REGISTERS void bring_plain(operand *x, uint tile, uint part, bool along, bool aligned, uint side)
{
    const pattern s = pattern_of(along, aligned, side);
    const uint to = tile + s.first.s1 * ROW(side) + s.first.s0 * 4;

#pragma unroll
    for (uint t = part * s.passes / PARTS; t < (part + 1) * s.passes / PARTS; t++) {
#pragma unroll
        for (uint e = 0; e < s.copies; e++) {
            const uint2 at = t * s.pass + e * s.copy;
            const uint place = to + at.s1 * ROW(side) + at.s0 * 4;

            if (s.width == 4)
                copy_16(place, x->next + e * s.copy.s0);
            else
                copy_word(place, x->next + e * (along ? s.copy.s1 : s.copy.s0));
        }
        x->next += (ulong)x->ld * (along ? s.pass.s0 : s.pass.s1);
    }
    if (along && part + 1 == PARTS) /* else the next tile's lines are those that follow */
        x->next -= (ulong)x->ld * side - DEPTH;
}

/* The same of a tile at p0 that the matrix does not fill, with zeros beyond it. */
IN_REGISTERS void bring_checked(const operand *x, uint tile, uint part, bool along, bool aligned,
                                uint side, uint p0, uint k)
{
    const pattern s = pattern_of(along, aligned, side);

#pragma unroll
    for (uint t = part * s.passes / PARTS; t < (part + 1) * s.passes / PARTS; t++)
#pragma unroll
        for (uint e = 0; e < s.copies; e++) {
            const uint2 at = s.first + t * s.pass + e * s.copy;
            const uint i = x->i0 + at.s0, p = p0 + at.s1;
            const uint place = tile + at.s1 * ROW(side) + at.s0 * 4;
            __global const float *from = element(x->matrix, x->ld, along, i, p);
            const bool inside = i < x->most && p < k;

            if (s.width == 4)
                copy_4(place, from, inside ? x->most - i : 0, true);
            else
                copy_word_inside(place, from, inside);
        }
}

/* A part of the tiles at p0; nothing beyond k.  `inside`: the matrices fill them. */
IN_REGISTERS void bring(operand *a, operand *b, uint stage, uint part, bool inside, uint p0, uint k)
{
    if (inside) {
        bring_plain(a, stage, part, !TRANS_A, ALIGNED_A, TILE_M);
        bring_plain(b, stage + TILE(TILE_M), part, TRANS_B, ALIGNED_B, TILE_N);
    } else if (p0 < k) {
        bring_checked(a, stage, part, !TRANS_A, ALIGNED_A, TILE_M, p0, k);
        bring_checked(b, stage + TILE(TILE_M), part, TRANS_B, ALIGNED_B, TILE_N, p0, k);
    }
}

/* ---- multiplying ----------------------------------------------------------------------------- */

/* What a work-item multiplies in a step: of a column of A and of a row of B. */
typedef struct vectors {
    real4 column[VECTORS_M], row[VECTORS_N];
} vectors;

/* Those of step p, from this work-item's first row and column on. */
IN_REGISTERS void load(vectors *x, uint column_a, uint row_b, uint p)
{
#pragma unroll
    for (uint u = 0; u < VECTORS_M; u++)
        x->column[u] = local_load_floats(column_a + p * ROW(TILE_M) + 64 * u);
#pragma unroll
    for (uint v = 0; v < VECTORS_N; v++)
        x->row[v] = local_load_floats(row_b + p * ROW(TILE_N) + 128 * v);
}

IN_REGISTERS void multiply(real4 *sum, const vectors *x)
{
#pragma unroll
    for (uint u = 0; u < VECTORS_M; u++)
#pragma unroll
        for (uint v = 0; v < VECTORS_N; v++)
            multiply_vectors(sum + 4 * u * VECTORS_N + v, x->column[u], x->row[v]);
}

/* Stages of the ring, each where it begins in local memory: that which is multiplied, the one
 * before it, and the first and the last. */
typedef struct ring {
    uint now, before, first, last;
} ring;

/* Multiply the tiles of a stage, at p0, while those STAGES - 1 tiles on are brought in place of the
 * ones before.  x[0]: the vectors of the first step, in the end those of the next tiles. */
IN_REGISTERS void multiply_tiles(real4 *sum, vectors *x, ring *at, uint lane_a, uint lane_b,
                                 operand *a, operand *b, bool inside, uint p0, uint k)
{
#pragma unroll
    for (uint p = 0; p < DEPTH; p++) {
        if (p + 1 == DEPTH) {
            copies_commit();
            COPIES_WAIT(STAGES - 2);
            /* The next tiles are filled before they are read, and these, of which the last vectors
             * are in registers, read before they are refilled. */
            barrier(CLK_LOCAL_MEM_FENCE);
            at->before = at->now;
            at->now = at->now == at->last ? at->first : at->now + STAGE;
        }
        load(&x[(p + 1) % 2], at->now + lane_a, at->now + lane_b, (p + 1) % DEPTH);
        if (p % EVERY == 0)
            bring(a, b, at->before, p / EVERY, inside, p0 + (STAGES - 1) * DEPTH, k);
        multiply(sum, &x[p % 2]);
    }
}

/* `span` is what a layer takes of k, where groups share it: a multiple of DEPTH. */
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
matmul_cp_async(uint m, uint n, uint k, REAL alpha, __global const factor *restrict a,
                ulong offset_a, uint lda, __global const factor *restrict b, ulong offset_b,
                uint ldb, REAL beta, __global output *restrict c, ulong offset_c, uint ldc,
                ulong stride_a, ulong stride_b, ulong stride_c, uint span)
{
    __local float4 memory[STAGES * STAGE / 16];
    const uint item = get_local_id(0);
    const uint2 tile =
        tile_of_group(get_group_id(0), (n + TILE_N - 1) / TILE_N, (m + TILE_M - 1) / TILE_M);
    const uint i0 = tile.s1 * TILE_M, j0 = tile.s0 * TILE_N;
    const uint row = warp_block_row(item / 32, item % 32);
    const uint column = warp_block_column(item / 32, item % 32);
    /* Whether C has all rows and columns of this tile: copies need no look across k then. */
    const bool whole = m - i0 >= TILE_M && n - j0 >= TILE_N;
    const uint start = local_address(memory), last = start + (STAGES - 1) * STAGE;
    const uint lane_a = row * 4, lane_b = TILE(TILE_M) + column * 4; /* from a stage's start */
    const uint front = SPLITS ? get_group_id(2) * span : 0;
    operand from_a = operand_of(a + in_batch(offset_a, stride_a) + at_a(0, front, lda), lda, i0, m,
                                !TRANS_A, ALIGNED_A, TILE_M);
    operand from_b = operand_of(b + in_batch(offset_b, stride_b) + at_b(front, 0, ldb), ldb, j0, n,
                                TRANS_B, ALIGNED_B, TILE_N);
    ring at = {start, last, start, last};
    vectors x[2];                /* of this step and the next */
    real4 sum[ROWS * VECTORS_N]; /* row by row */
    uint p0 = 0;

    /* From here on k is this group's span, with which the matrices begin. */
    if (SPLITS)
        k = min(span, k - front);
#pragma unroll
    for (uint v = 0; v < ROWS * VECTORS_N; v++)
        sum[v] = 0;
#pragma unroll
    for (uint ahead = 0; ahead + 1 < STAGES; ahead++) {
#pragma unroll
        for (uint part = 0; part < PARTS; part++)
            bring(&from_a, &from_b, start + ahead * STAGE, part, whole && (ahead + 1) * DEPTH <= k,
                  ahead * DEPTH, k);
        copies_commit();
    }
    COPIES_WAIT(STAGES - 2);
    /* Filled before read: below, we read what other work-items copied. */
    barrier(CLK_LOCAL_MEM_FENCE);
    load(&x[0], start + lane_a, start + lane_b, 0);
    /* Two loops, so that nothing branches in the first one, where the compiler then mixes copies,
     * loads and multiply-adds.  Volatile assembly in an unmarked loop is unrolled up to a thousand
     * times. */
    if (whole)
#pragma unroll 1
        for (; p0 + STAGES * DEPTH <= k; p0 += DEPTH)
            multiply_tiles(sum, x, &at, lane_a, lane_b, &from_a, &from_b, true, p0, k);
#pragma unroll 1
    for (; p0 < k; p0 += DEPTH)
        multiply_tiles(sum, x, &at, lane_a, lane_b, &from_a, &from_b, false, p0, k);
    c += in_batch(offset_c, stride_c);
#pragma unroll
    for (uint r = 0; r < ROWS; r++)
#pragma unroll
        for (uint v = 0; v < VECTORS_N; v++)
            update4(c, ldc, i0 + row + r / 4 * 16 + r % 4, j0 + column + 32 * v, m, n, alpha,
                    sum[r * VECTORS_N + v], beta);
}
