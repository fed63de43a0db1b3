/* C := alpha op(A) op(B) + beta C in float64: matrix instructions of a warp that never wait.
 *
 * Idea: matmul_mma.cl loads the fragments of a block, multiplies them, and meets at a barrier: its
 *     matrix units idle in between.  Here blocks of A and B come by asynchronous copies, STAGES - 1
 *     of them under way, and fragments come from local memory one step ahead: those of A while the
 *     16 rows before them are multiplied, those of B as soon as their last product is on its way,
 *     so that the barrier before the next block has a quarter of this one to hide behind.
 * Work split: a group computes TILE_M x TILE_N of C; each of its warps 64 x 32, as 4 x 4 pieces of
 *     16 x 8.
 * Parameters: TILE_M and TILE_N, 64 or 128; ITEMS, TILE_M TILE_N / 64; DEPTH, 16; STAGES; BAND
 * (matmul_bands.clh); ALIGNED_A, ALIGNED_B: whether two neighbours that start at a multiple of 2
 * are an aligned vector; REAL, REAL_BITS, FACTOR, RESULT (matmul_elements.clh): of double; TRANS_A,
 * TRANS_B (matmul_access.clh). Launch: 3-D, work-groups of TILE_M * TILE_N / 64 x 1 x 1, along the
 * first dimension one per started tile of C, a layer of them for each product of the batch. Local
 * memory: STAGES blocks of A and B, 16 * (TILE_M + TILE_N) elements each, and padding. Limits: m,
 * n, k and the leading dimensions up to 2^31; NVIDIA's compute capability 9.0.
 *
 * Fragments, g = lane / 4, t = lane % 4 (PTX ISA, "Matrix Fragments for mma.sync.m16n8k16"):
 * element i of A is row g + 8 (i % 2), k 4 (i / 2) + t; of B k 4 i + t, column g; of C rows g, g,
 * g + 8, g + 8, columns 2 t and 2 t + 1.  An instruction takes a fragment from registers that
 * follow one another in this order; loads of two elements, of which local memory gives no more at
 * once, would have to be moved there.
 */
#include "common/async_copy.clh"
#include "common/in_registers.clh"
#include "matmul/matmul_access.clh"
#include "matmul/matmul_bands.clh"
#include "matmul/matmul_call.clh"
#include "matmul/matmul_elements.clh"

#if !defined(TILE_M) || TILE_M % 64
#error "TILE_M: rows of a work-group's tile, a multiple of 64"
#endif
#if !defined(TILE_N) || TILE_N % 32
#error "TILE_N: columns of a work-group's tile, a multiple of 32"
#endif
#if !defined(STAGES) || STAGES < 2
#error "STAGES: blocks of A and B under way, 2 or more"
#endif
#if !defined(ALIGNED_A) || !defined(ALIGNED_B)
#error "ALIGNED_A, ALIGNED_B: 1 where vectors of 2 are aligned, else 0"
#endif

#if ITEMS != TILE_M * TILE_N / 64 || DEPTH != 16
#error "ITEMS, DEPTH: 64 outputs a work-item, and 16 along k, which one instruction takes"
#endif

/* ---- tiles in local memory ------------------------------------------------------------------- *
 *
 * A tile lies there as in global memory: `along`, the DEPTH elements along k of a row of A or
 * column of B are neighbours, else those of one k.  Four more elements a line let the lines of
 * four t or g, which half a warp reads together, start in different banks.
 */

/* From line to line, and of a whole tile with `side` lines or `side` elements a line, in bytes. */
#define LINE(along, side) (((along) ? DEPTH + 4 : (side) + 4) * 8)
#define TILE(along, side) (((along) ? (side) : DEPTH) * LINE(along, side))

#define LINE_A LINE(!TRANS_A, TILE_M)
#define LINE_B LINE(TRANS_B, TILE_N)
#define TILE_A TILE(!TRANS_A, TILE_M)
#define STAGE  (TILE_A + TILE(TRANS_B, TILE_N))

/* From one element to the next down a column of A, or along a row of B, and along k. */
#define ACROSS_A (TRANS_A ? 8 : LINE_A)
#define ACROSS_B (TRANS_B ? LINE_B : 8)
#define ALONG_A  (TRANS_A ? LINE_A : 8)
#define ALONG_B  (TRANS_B ? 8 : LINE_B)

/* Vectors of two of each tile that a work-item brings, and how many lines apart. */
#define COPIES(side)         ((side)*DEPTH / 2 / ITEMS)
#define VECTORS(along, side) (((along) ? DEPTH : (side)) / 2)
#define APART(along, side)   (ITEMS / VECTORS(along, side))

/* The next vector that a work-item brings of a matrix: its address, line and place in that. */
typedef struct vector {
    __global const factor *from;
    uint line, at;
} vector;

/* Its first of a matrix whose rows or columns start at i0. */
static inline vector first_vector(__global const factor *from, uint ld, bool along, uint side,
                                  uint i0)
{
    const uint item = get_local_id(0), vectors = VECTORS(along, side);
    const uint line = item / vectors + (along ? i0 : 0), at = item % vectors * 2 + (along ? 0 : i0);

    return (vector){from + (ulong)line * ld + at, line, at};
}

/* Begin to copy vectors of a tile that has room at `tile`, part `part` of `parts`, with zeros
 * beyond `lines` lines of `length`.  Addresses follow from the one before: there are no registers
 * to keep them in. */
IN_REGISTERS void bring(vector *v, uint tile, uint part, uint parts, bool along, uint side,
                        bool aligned, uint ld, uint lines, uint length)
{
    const uint item = get_local_id(0), vectors = VECTORS(along, side);
    const uint first = tile + item / vectors * LINE(along, side) + item % vectors * 16;

#pragma unroll
    for (uint e = part * COPIES(side) / parts; e < (part + 1) * COPIES(side) / parts; e++) {
        copy_2(first + e * APART(along, side) * LINE(along, side), v->from,
               v->line < lines && v->at < length ? length - v->at : 0, aligned);
        v->from += (ulong)ld * APART(along, side);
        v->line += APART(along, side);
    }
    if (along && part + 1 == parts) { /* else the next block's lines are those that follow */
        v->from -= (ulong)ld * side - DEPTH;
        v->line -= side;
        v->at += DEPTH;
    }
}

/* A part of the next blocks of A and B. */
IN_REGISTERS void bring_part(uint stage, uint part, uint parts, vector *a, uint lda, uint m,
                             vector *b, uint ldb, uint n, uint k)
{
    bring(a, stage, part, parts, !TRANS_A, TILE_M, ALIGNED_A, lda, TRANS_A ? k : m,
          TRANS_A ? m : k);
    bring(b, stage + TILE_A, part, parts, TRANS_B, TILE_N, ALIGNED_B, ldb, TRANS_B ? n : k,
          TRANS_B ? k : n);
}

/* ---- fragments ------------------------------------------------------------------------------- */

/* 16 x 16 of A, or 16 x 8 of B, from this lane's first element on. */
IN_REGISTERS void load_a(double *x, uint from)
{
#pragma unroll
    for (uint e = 0; e < 8; e++)
        x[e] = as_double(local_load_1(from + e % 2 * 8 * ACROSS_A + e / 2 * 4 * ALONG_A));
}

IN_REGISTERS void load_b(double *x, uint from)
{
#pragma unroll
    for (uint e = 0; e < 4; e++)
        x[e] = as_double(local_load_1(from + e * 4 * ALONG_B));
}

/* c += a b, 16 x 16 by 16 x 8. */
IN_REGISTERS void multiply(double *c, const double *a, const double *b)
{
    __asm__ volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
                     "{%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
                     : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
                     : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]),
                       "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
}

/* The warp's first row and column in the group's tile, and g and t. */
typedef struct place {
    uint row, column, g, t;
} place;

static inline place place_of(uint item)
{
    const uint warp = item / 32;

    return (place){.row = warp / (TILE_N / 32) * 64,
                   .column = warp % (TILE_N / 32) * 32,
                   .g = item % 32 / 4,
                   .t = item % 4};
}

/* This lane's sums of the tile of C at (i0, j0). */
IN_REGISTERS void store(__global result *c, uint ldc, uint i0, uint m, uint j0, uint n, REAL alpha,
                        const double *sum, REAL beta)
{
    const place at = place_of(get_local_id(0));

#pragma unroll
    for (uint e = 0; e < 64; e++) {
        const uint i = i0 + at.row + e / 16 * 16 + e / 2 % 2 * 8 + at.g;
        const uint j = j0 + at.column + e / 4 % 4 * 8 + 2 * at.t + e % 2;

        if (i < m && j < n)
            update_result(c + (ulong)i * ldc + j, alpha, sum[e], beta);
    }
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
matmul_mma_f64(__global const factor *restrict a, __global const factor *restrict b,
               __global result *restrict c, const matmul_call call)
{
    const uint m = call.m, n = call.n, k = call.k;
    const uint lda = call.lda, ldb = call.ldb, ldc = call.ldc;
    __local double memory[STAGES * STAGE / 8] __attribute__((aligned(16)));
    const uint2 tile =
        tile_of_group(get_group_id(0), (n + TILE_N - 1) / TILE_N, (m + TILE_M - 1) / TILE_M);
    const uint i0 = tile.s1 * TILE_M, j0 = tile.s0 * TILE_N;
    const place at = place_of(get_local_id(0));
    const uint start = local_address(memory);
    /* This lane's first elements, from a stage's start. */
    const uint lane_a = (at.row + at.g) * ACROSS_A + at.t * ALONG_A;
    const uint lane_b = (at.column + at.g) * ACROSS_B + at.t * ALONG_B + TILE_A;
    vector next_a =
        first_vector(a + in_batch(call.offset_a, call.stride_a), lda, !TRANS_A, TILE_M, i0);
    vector next_b =
        first_vector(b + in_batch(call.offset_b, call.stride_b), ldb, TRANS_B, TILE_N, j0);
    double x[2][8], y[4][4]; /* of A, these 16 rows and the next; of B, all columns */
    double sum[4 * 4 * 4];
    uint now = 0;

#pragma unroll
    for (uint e = 0; e < 64; e++)
        sum[e] = 0;
#pragma unroll
    for (uint ahead = 0; ahead + 1 < STAGES; ahead++) {
        bring_part(start + ahead * STAGE, 0, 1, &next_a, lda, m, &next_b, ldb, n, k);
        copies_commit();
    }
    COPIES_WAIT(STAGES - 2);
    /* Filled before read: below, we read what other work-items copied. */
    barrier(CLK_LOCAL_MEM_FENCE);
    load_a(x[0], start + lane_a);
#pragma unroll
    for (uint s = 0; s < 4; s++)
        load_b(y[s], start + lane_b + s * 8 * ACROSS_B);
        /* Volatile assembly in an unmarked loop is unrolled up to a thousand times. */
#pragma unroll 1
    for (uint p0 = 0; p0 < k; p0 += DEPTH) {
        const uint before = start + (now ? now - 1 : STAGES - 1) * STAGE;

#pragma unroll
        for (uint r = 0; r < 4; r++) {
            if (r == 2)
                copies_commit();
            if (r == 3) {
                now = now + 1 < STAGES ? now + 1 : 0;
                COPIES_WAIT(STAGES - 2);
                /* The next block is filled before it is read, and this one, of which all fragments
                 * are in registers, is read before it is refilled. */
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            load_a(x[(r + 1) % 2], start + now * STAGE + lane_a + (r + 1) % 4 * 16 * ACROSS_A);
#pragma unroll
            for (uint s = 0; s < 4; s++) {
                multiply(sum + (4 * r + s) * 4, x[r % 2], y[s]);
                if (r < 2)
                    bring_part(before, 4 * r + s, 8, &next_a, lda, m, &next_b, ldb, n, k);
                if (r == 3)
                    load_b(y[s], start + now * STAGE + lane_b + s * 8 * ACROSS_B);
            }
        }
    }
    /* None is under way, though of zeros alone, once the group is gone. */
    COPIES_WAIT(0);
    store(c + in_batch(call.offset_c, call.stride_c), ldc, i0, m, j0, n, call.alpha, sum,
          call.beta);
}
