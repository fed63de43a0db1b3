/* C := alpha op(A) op(B) + beta C in float64: matrix instructions of a warp that never wait.
 *
 * Idea: matmul_mma.cl loads the fragments of a block, multiplies them, and meets at a barrier: its
 *     matrix units idle in between.  Here blocks of A and B come by asynchronous copies, STAGES - 1
 *     of them in flight, and fragments come from local memory one step ahead: those of A while the
 *     16 rows before them are multiplied, those of B as soon as their last product is on its way,
 *     so that the barrier before the next block has products to hide behind.
 *     Groups take a tile each, or, where tiles do not fill the compute units, equal shares of the
 *     blocks along k of all: the last group of a tile adds up what the others kept.
 * Work split: a group computes TILE_M x TILE_N of C; each of its warps WARP_M x WARP_N, as pieces
 *     of 16 x 8.  What a group takes: matmul_shares.clh.
 * Parameters: TILE_M, a power of two where TRANS_A, and TILE_N, one where not TRANS_B; WARP_M, a
 *     multiple of 16, and WARP_N, of 8; DEPTH, a multiple of 16, and 32 or more where WARP_M is 16;
 *     STAGES; BAND (matmul_bands.clh); ALIGNED_A, ALIGNED_B, ALIGNED_C: whether two neighbours that
 *     start at a multiple of 2 are an aligned vector; LAST_ADDS (last_group.clh), not 0; REAL,
 *     REAL_BITS, FACTOR, RESULT (matmul_elements.clh): of double; TRANS_A, TRANS_B
 *     (matmul_access.clh).
 * Launch: 3-D, work-groups of 32 for each warp, along the first dimension one for each tile of C,
 *     or SPLIT, or PER_UNIT for each compute unit, which share their blocks; a layer of them for
 *     each product of the batch.
 * Workspace: two tiles of sums for each group that shares.
 * Local memory: STAGES blocks of A and B, DEPTH * (TILE_M + TILE_N) elements each, and padding.
 * Limits: m, n, k and the leading dimensions up to 2^31; NVIDIA's compute capability 9.0.
 *
 * Fragments, g = lane / 4, t = lane % 4 (PTX ISA, "Matrix Fragments for mma.sync.m16n8k16"):
 * element i of A is row g + 8 (i % 2), k 4 (i / 2) + t; of B k 4 i + t, column g; of C rows g, g,
 * g + 8, g + 8, columns 2 t and 2 t + 1.  An instruction takes a fragment from registers that
 * follow one another in this order; loads of two elements, of which local memory gives no more at
 * once, would have to be moved there.
 */
#include "common/async_copy.clh"
#include "common/in_registers.clh"
#include "common/last_group.clh"
#include "matmul/matmul_access.clh"
#include "matmul/matmul_bands.clh"
#include "matmul/matmul_call.clh"
#include "matmul/matmul_elements.clh"
#include "matmul/matmul_mma_f64.clh"
#include "matmul/matmul_shares.clh"

#if !defined(WARP_M) || WARP_M % 16 || !defined(WARP_N) || WARP_N % 8
#error "WARP_M, WARP_N: rows and columns of a warp, multiples of 16 and 8"
#endif
#if !defined(TILE_M) || TILE_M % WARP_M || !defined(TILE_N) || TILE_N % WARP_N
#error "TILE_M, TILE_N: rows and columns of a work-group's tile, in whole warps"
#endif
#if !defined(DEPTH) || DEPTH % 16 || WARP_M * DEPTH < 32 * 16
#error "DEPTH: extent of the blocks along k, a multiple of 16, which one instruction takes"
#endif
#if !defined(STAGES) || STAGES < 2
#error "STAGES: blocks of A and B in flight, 2 or more"
#endif
#if !defined(ALIGNED_A) || !defined(ALIGNED_B) || !defined(ALIGNED_C)
#error "ALIGNED_A, ALIGNED_B, ALIGNED_C: 1 where vectors of 2 are aligned, else 0"
#endif
#if !LAST_ADDS
#error "LAST_ADDS: 1 or 2: a tile's last group adds up"
#endif

#define STEPS (DEPTH / 16) /* along k, of a block */

#if (TRANS_A && TILE_M & (TILE_M - 1)) || (!TRANS_B && TILE_N & (TILE_N - 1))
#error "TILE_M, TILE_N: powers of two where lines lie across k, in whole passes of the work-items"
#endif

#if TILE_M * DEPTH % (2 * ITEMS) || TILE_N * DEPTH % (2 * ITEMS)
#error "TILE_M * DEPTH and TILE_N * DEPTH: multiples of 2 * ITEMS, whole vectors for each item"
#endif

/* ---- sums ------------------------------------------------------------------------------------ */

/* A tile of C, from (i0, j0) on. */
typedef struct output {
    __global result *c;
    uint ldc, i0, j0, m, n;
} output;

/* Where this lane has pair `e` of piece row `r`: its row, and its first column. */
static inline uint2 pair_place(const output *o, uint r, uint e)
{
    const place at = place_of(get_local_id(0));

    return (uint2)(o->i0 + at.row + (16 * r + 8 * (e % 2) + at.g),
                   o->j0 + at.column + (8 * (e / 2) + 2 * at.t));
}

/* What this lane's pairs of piece row `r` were. */
IN_REGISTERS void read_pairs(const output *o, uint r, double2 *before)
{
#pragma unroll
    for (uint e = 0; e < 2 * WIDE; e++) {
        const uint2 at = pair_place(o, r, e);
        __global const result *from = o->c + (ulong)at.s0 * o->ldc + at.s1;
        const uint left = at.s0 < o->m && at.s1 < o->n ? o->n - at.s1 : 0;

        before[e] = 0;
        if (ALIGNED_C && left > 1)
            before[e] = *(__global const double2 *)from;
        else if (left > 0)
            before[e] = (double2)(from[0], left > 1 ? from[1] : 0);
    }
}

/* Whether what C was is read before the products, as registers hold it then. */
#define EARLY (SUMS <= 16)

/* This lane's sums of the tile.  What 16 rows were is read before any of them is written: reads
 * that follow writes would wait for them. */
IN_REGISTERS void store(const output *o, REAL alpha, const double *sum, REAL beta,
                        const double2 *early)
{
#pragma unroll
    for (uint r = 0; r < HIGH; r++) {
        double2 out[2 * WIDE];

#pragma unroll
        for (uint e = 0; e < 2 * WIDE; e++)
            out[e] = alpha * (double2)(sum[4 * WIDE * r + 2 * e], sum[4 * WIDE * r + 2 * e + 1]);
        if (beta != 0) {
            double2 before[2 * WIDE];

            if (!EARLY)
                read_pairs(o, r, before);
#pragma unroll
            for (uint e = 0; e < 2 * WIDE; e++)
                out[e] += beta * (EARLY ? early[2 * WIDE * r + e] : before[e]);
        }
#pragma unroll
        for (uint e = 0; e < 2 * WIDE; e++) {
            const uint2 at = pair_place(o, r, e);
            __global result *to = o->c + (ulong)at.s0 * o->ldc + at.s1;
            const uint left = at.s0 < o->m && at.s1 < o->n ? o->n - at.s1 : 0;

            if (ALIGNED_C && left > 1) {
                *(__global double2 *)to = out[e];
            } else if (left > 0) {
                to[0] = out[e].s0;
                if (left > 1)
                    to[1] = out[e].s1;
            }
        }
    }
}

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

/* Elements of a copy, copies of each tile that a work-item begins, and how many lines apart. */
#define WIDTH(aligned)                ((aligned) ? 2 : 1)
#define COPIES(aligned, side)         ((side)*DEPTH / WIDTH(aligned) / ITEMS)
#define VECTORS(along, aligned, side) (((along) ? DEPTH : (side)) / WIDTH(aligned))

/* The next copy that a work-item begins of a matrix of `lines` lines of `length`, `ld` apart: its
 * address, line and place in that. */
typedef struct vector {
    __global const factor *from;
    uint line, at;
    uint ld, lines, length;
} vector;

/* A pass of all work-items covers whole lines, or a part of one. */
static inline uint2 first_place(bool along, bool aligned, uint side)
{
    const uint item = get_local_id(0), vectors = VECTORS(along, aligned, side);

    return (uint2)(item / vectors, item % vectors * WIDTH(aligned));
}

/* This work-item's first copy of those lines, of k steps each. */
static inline vector first_vector(lines x, bool along, bool aligned, uint side, uint k)
{
    const uint2 first = first_place(along, aligned, side);
    const uint line = first.s0 + (along ? x.first : 0), at = first.s1 + (along ? 0 : x.first);

    return (vector){
        x.from + (ulong)line * x.ld + at, line, at, x.ld, along ? x.most : k, along ? k : x.most};
}

/* Begin to copy vectors of a tile that has room at `tile`, part `part` of `parts`, with zeros
 * beyond the matrix.  Addresses follow from the one before: there are no registers to keep them
 * in. */
IN_REGISTERS void bring(vector *v, uint tile, uint part, uint parts, bool along, bool aligned,
                        uint side)
{
    const uint vectors = VECTORS(along, aligned, side), copies = COPIES(aligned, side);
    const uint apart = vectors < ITEMS ? ITEMS / vectors : 1;  /* lines, from pass to pass */
    const uint passes = vectors > ITEMS ? vectors / ITEMS : 1; /* of a line */
    const uint2 first = first_place(along, aligned, side);
    const uint to = tile + first.s0 * LINE(along, side) + first.s1 * 8;

#pragma unroll
    for (uint e = part * copies / parts; e < (part + 1) * copies / parts; e++) {
        const uint on = e % passes * ITEMS * WIDTH(aligned);
        const uint place = to + e / passes * apart * LINE(along, side) + on * 8;
        const bool inside = v->line < v->lines && v->at + on < v->length;

        if (aligned)
            copy_inside(place, v->from + on, inside ? 16 : 0);
        else
            copy_8_inside(place, v->from + on, inside);
        if (e % passes == passes - 1) {
            v->from += (ulong)v->ld * apart;
            v->line += apart;
        }
    }
    if (along && part + 1 == parts) { /* else the next block's lines are those that follow */
        v->from -= (ulong)v->ld * side - DEPTH;
        v->line -= side;
        v->at += DEPTH;
    }
}

/* A part of the next blocks of A and B. */
IN_REGISTERS void bring_part(vector *a, vector *b, uint stage, uint part, uint parts)
{
    bring(a, stage, part, parts, !TRANS_A, ALIGNED_A, TILE_M);
    bring(b, stage + TILE_A, part, parts, TRANS_B, ALIGNED_B, TILE_N);
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

/* ---- a tile ---------------------------------------------------------------------------------- */

/* sum := the products of the k steps with which a and b begin, of the tile where they meet. */
IN_REGISTERS void multiply_tile(double *sum, lines a, lines b, uint k, uint start)
{
    const place at = place_of(get_local_id(0));
    /* This lane's first elements, from a stage's start. */
    const uint lane_a = (at.row + at.g) * ACROSS_A + at.t * ALONG_A;
    const uint lane_b = (at.column + at.g) * ACROSS_B + at.t * ALONG_B + TILE_A;
    vector next_a = first_vector(a, !TRANS_A, ALIGNED_A, TILE_M, k);
    vector next_b = first_vector(b, TRANS_B, ALIGNED_B, TILE_N, k);
    double x[2][8], y[WIDE][4]; /* of A, these 16 rows and the next; of B, all columns */
    uint now = 0;

#pragma unroll
    for (uint e = 0; e < SUMS; e++)
        sum[e] = 0;
#pragma unroll
    for (uint ahead = 0; ahead + 1 < STAGES; ahead++) {
        bring_part(&next_a, &next_b, start + ahead * STAGE, 0, 1);
        copies_commit();
    }
    COPIES_WAIT(STAGES - 2);
    /* Filled before read: below, we read what other work-items copied. */
    barrier(CLK_LOCAL_MEM_FENCE);
    load_a(x[0], start + lane_a);
#pragma unroll
    for (uint s = 0; s < WIDE; s++)
        load_b(y[s], start + lane_b + s * 8 * ACROSS_B);
        /* Volatile assembly in an unmarked loop is unrolled up to a thousand times. */
#pragma unroll 1
    for (uint p0 = 0; p0 < k; p0 += DEPTH) {
        const uint before = start + (now ? now - 1 : STAGES - 1) * STAGE;

#pragma unroll
        for (uint r = 0; r < STEPS * HIGH; r++) {
            /* The 16 rows, or the first of the next step, whose fragments are loaded. */
            const uint next = (r + 1) % HIGH, step = (r + 1) / HIGH % STEPS;

            if (r == STEPS * HIGH / 2)
                copies_commit();
            if (r == STEPS * HIGH - 1) {
                now = now + 1 < STAGES ? now + 1 : 0;
                COPIES_WAIT(STAGES - 2);
                /* The next block is filled before it is read, and this one, of which all fragments
                 * are in registers, is read before it is refilled. */
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            load_a(x[(r + 1) % 2],
                   start + now * STAGE + lane_a + next * 16 * ACROSS_A + step * 16 * ALONG_A);
#pragma unroll
            for (uint s = 0; s < WIDE; s++) {
                multiply(sum + (WIDE * (r % HIGH) + s) * 4, x[r % 2], y[s]);
                if (r < STEPS * HIGH / 2)
                    bring_part(&next_a, &next_b, before, WIDE * r + s, STEPS * HIGH / 2 * WIDE);
                if (next == 0)
                    load_b(y[s],
                           start + now * STAGE + lane_b + s * 8 * ACROSS_B + step * 16 * ALONG_B);
            }
        }
    }
    /* None is in flight, though of zeros alone, once the group goes on. */
    COPIES_WAIT(0);
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
matmul_mma_f64(__global const factor *restrict a, __global const factor *restrict b,
               __global result *restrict c, __global double2 *sums,
               __global group_counter *counters, const matmul_call call)
{
    const uint m = call.m, n = call.n, k = call.k;
    const uint lda = call.lda, ldb = call.ldb, ldc = call.ldc;
    __local double memory[STAGES * STAGE / 8] __attribute__((aligned(16)));
    __local uint last;
    const uint across = (n + TILE_N - 1) / TILE_N, down = (m + TILE_M - 1) / TILE_M;
    shares s = shares_of(get_group_id(0), get_num_groups(0), across * down, call.unshared,
                         max((k + DEPTH - 1) / DEPTH, 1u));
    piece at;

    a += in_batch(call.offset_a, call.stride_a);
    b += in_batch(call.offset_b, call.stride_b);
    c += in_batch(call.offset_c, call.stride_c);
#pragma unroll 1
    while (shares_next(&s, &at)) {
        const uint2 tile = tile_of_group(at.tile, across, down);
        const uint i0 = tile.s1 * TILE_M, j0 = tile.s0 * TILE_N, front = at.first * DEPTH;
        const output o = {c, ldc, i0, j0, m, n};
        double2 before[EARLY ? SUMS / 2 : 1];
        double sum[SUMS];

#pragma unroll
        for (uint r = 0; EARLY && r < HIGH; r++)
            if (call.beta != 0)
                read_pairs(&o, r, before + 2 * WIDE * r);
        multiply_tile(sum, (lines){a + at_a(0, front, lda), lda, i0, m},
                      (lines){b + at_b(front, 0, ldb), ldb, j0, n},
                      min(at.count * DEPTH, k - front), local_address(memory));
        if (at.count == s.each ||
            add_up(sum, &s, &at, (uint2)(m - i0, n - j0), sums, counters, &last))
            store(&o, call.alpha, sum, call.beta, before);
        /* Fragments of this piece, loaded ahead, are read before the next piece's blocks come. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
