/* C := alpha op(A) op(B) + beta C in FP32: matrix instructions of a warp on A and B as they are.
 *
 * Idea: three TF32 products, as matmul_wgmma.cl takes them, by mma.sync, whose operands come from
 *     registers.  So nothing need be packed, tiles may be small, and elements are split when they
 *     are there: cp.async brings blocks of A and B to local memory in the order in which they lie,
 *     transposed or not, and each work-item reads what its fragments hold.  The units add up with
 *     truncation, so every 8 along k the sums start from zero and are added in ordinary FP32
 *     registers.
 *     Steps along k are shared as in matmul_stream.cl: by the groups of a tile where there are few
 *     tiles, and by all groups where tiles do not fill the device a whole number of times.  Tiles
 *     of a batch follow one another, product after product.
 * Work split: a group computes TILE_M x TILE_N of C; each of its warps WARP_M x WARP_N, in pieces
 *     of 16 x 8.
 * Parameters: TILE_M, TILE_N, WARP_M, WARP_N; DEPTH, of blocks along k, 16 or 32; STAGES; BAND
 *     (matmul_bands.clh); ALIGNED_A, ALIGNED_B: whether four neighbours that start at a multiple of
 *     4 are 16 aligned bytes; ALIGNED_C, the same of two neighbours; LAST_ADDS (last_group.clh),
 *     not 0; REAL, REAL_BITS, FACTOR, RESULT (matmul_elements.clh), of float; TRANS_A, TRANS_B
 *     (matmul_access.clh); SPLIT, groups for each tile, and PER_UNIT, groups on each unit that
 *     share all steps, of launches alone.
 * Launch: 1-D, work-groups of 32 for each warp: SPLIT for each tile, or PER_UNIT for each compute
 *     unit, and no more than all tiles have steps along k.
 * Workspace: two tiles of sums for each group.
 * Local memory: STAGES blocks of A and B, and padding.
 * Limits: m, n, k and the leading dimensions up to 2^31; tiles below 2^32; a counter for each
 * shared tile; NVIDIA's compute capability 8.0.  Pieces of tiles that may not be split are looked
 * at again, and computed again by fused multiply-adds, and counted, where they cannot be.
 *
 * Which can be split: magnitudes within 2^-50 and 2^50, and zero (tf32.clh).  The work-items add up
 * the squares of all they split: an element above 2^50, infinity or NaN leaves that at 2^100 or
 * more, or NaN.  Where it is less, no element is above, and small ones show in the sums, as
 * matmul_wgmma_fused.cl says of B: one of the k terms lacks less than 2^-74, of either operand,
 * and a sum of at least 2^-37 is good enough.  Else the group reads its rows and columns again.
 *
 * Fragments, g = lane / 4, t = lane % 4 (PTX ISA, "Matrix Fragments for mma.m16n8k8"): element i of
 * A is row g + 8 (i % 2), k t + 4 (i / 2); of B k t + 4 i, column g; of C row g + 8 (i / 2), column
 * 2 t + i % 2.
 */
#include "common/async_copy.clh"
#include "common/in_registers.clh"
#include "common/tf32.clh"
#include "matmul/matmul_access.clh"
#include "matmul/matmul_bands.clh"
#include "matmul/matmul_call.clh"
#include "matmul/matmul_elements.clh"
#include "matmul/matmul_expect.clh"

#if !defined(WARP_M) || !defined(WARP_N) || WARP_M % 16 || WARP_N % 8
#error "WARP_M, WARP_N: rows and columns of a warp's part of a tile, multiples of 16 and 8"
#endif
#if !defined(TILE_M) || !defined(TILE_N) || TILE_M % WARP_M || TILE_N % WARP_N
#error "TILE_M, TILE_N: rows and columns of a work-group's tile, a multiple of a warp's part"
#endif
#if DEPTH != 16 && DEPTH != 32
#error "DEPTH: extent of the blocks along k, 16 or 32"
#endif
#if !defined(STAGES) || STAGES < 2
#error "STAGES: blocks of A and B in flight, 2 or more"
#endif
#if !defined(ALIGNED_A) || !defined(ALIGNED_B) || !defined(ALIGNED_C)
#error "ALIGNED_A, ALIGNED_B, ALIGNED_C: 1 where vectors are aligned, else 0"
#endif

#define ACROSS (TILE_N / WARP_N) /* warps along a row of the tile */
#define ITEMS  (32 * (TILE_M / WARP_M) * ACROSS)
/* Pieces of a warp's part, and their sums in a work-item, in vectors of four too. */
#define ROWS    (WARP_M / 16)
#define COLUMNS (WARP_N / 8)
#define VECTORS (ROWS * COLUMNS)
#include "matmul/matmul_add_up.clh"

/* Magnitudes in C from there on are sure, and below this sum of squares all elements: see above. */
#define SURE_MIN    0x1p-37f
#define SQUARES_MAX 0x1p100f

/* ---- blocks in local memory ------------------------------------------------------------------ *
 *
 * A block lies there as in global memory: `along`, the DEPTH elements along k of a row of A or
 * column of B are neighbours, else those of one k.  Four or eight more elements a line put what a
 * warp reads together, of eight g and four t, into different banks.
 */

#define LINE(along, side)  ((along) ? DEPTH + 4 : (side) + 8)
#define BLOCK(along, side) (((along) ? (side) : DEPTH) * LINE(along, side))
#define BLOCK_A            BLOCK(!TRANS_A, TILE_M)
#define BLOCK_B            BLOCK(TRANS_B, TILE_N)
#define STAGE              (BLOCK_A + BLOCK_B)

/* Element (i, p) of a block. */
static inline uint place(bool along, uint side, uint i, uint p)
{
    return along ? i * LINE(true, side) + p : p * LINE(false, side) + i;
}

/* An operand from row or column i0 on: what this work-item copies next, and what the matrix has
 * from there: lines, or elements of a line, across k. */
typedef struct operand {
    __global const float *next;
    uint ld, inside;
} operand;

/* Elements of a copy, and copies of a line of a block. */
static inline uint copy_width(bool aligned)
{
    return aligned ? 4 : 1;
}

static inline uint copies_of_line(bool along, bool aligned, uint side)
{
    return (along ? DEPTH : side) / copy_width(aligned);
}

static inline operand operand_of(__global const float *matrix, uint ld, uint i0, uint most,
                                 bool along, bool aligned, uint side)
{
    const uint copies = copies_of_line(along, aligned, side);
    const uint x = get_local_id(0) % copies * copy_width(aligned), line = get_local_id(0) / copies;

    return (operand){matrix + (along ? (ulong)(i0 + line) * ld + x : (ulong)line * ld + i0 + x), ld,
                     most - i0};
}

/* Begin to copy the next block, `left` along k of which are there, with zeros beyond. */
IN_REGISTERS void bring_side(operand *x, uint to, uint left, bool along, bool aligned, uint side)
{
    const uint width = copy_width(aligned), copies = copies_of_line(along, aligned, side);
    const uint lines = along ? side : DEPTH, step = ITEMS / copies;
    const uint at = get_local_id(0) % copies * width, line = get_local_id(0) / copies;
    const uint most = along ? left : x->inside, most_lines = along ? x->inside : left;
    const uint count = at < most ? min(most - at, width) : 0;
    __global const float *from = x->next;

    to += (line * LINE(along, side) + at) * 4;
#pragma unroll
    for (uint v = 0; v < lines / step; v++) {
        const uint there = line + v * step < most_lines ? count : 0;

        if (aligned)
            copy_inside(to + v * step * LINE(along, side) * 4, from, 4 * there);
        else
            copy_word_inside(to + v * step * LINE(along, side) * 4, from, there != 0);
        from += (ulong)step * x->ld;
    }
    x->next += along ? DEPTH : (ulong)DEPTH * x->ld;
}

IN_REGISTERS void bring(operand *a, operand *b, uint stage, uint left)
{
    bring_side(a, stage, left, !TRANS_A, ALIGNED_A, TILE_M);
    bring_side(b, stage + BLOCK_A * 4, left, TRANS_B, ALIGNED_B, TILE_N);
}

/* ---- multiplying ----------------------------------------------------------------------------- */

/* This warp's first row and column in the tile; those of a work-item's fragments. */
static inline uint warp_row(void)
{
    return get_local_id(0) / 32 / ACROSS * WARP_M;
}

static inline uint warp_column(void)
{
    return get_local_id(0) / 32 % ACROSS * WARP_N;
}

/* What a work-item holds of the operands in a step of 8 along k. */
typedef struct fragments {
    float a[ROWS][4], b[COLUMNS][2];
} fragments;

/* Those of the step at p, of a stage. */
IN_REGISTERS void load(fragments *x, __local const float *stage, uint p)
{
    const uint g = get_local_id(0) % 32 / 4, t = get_local_id(0) % 4;
    __local const float *a = stage + place(!TRANS_A, TILE_M, warp_row() + g, t);
    __local const float *b = stage + BLOCK_A + place(TRANS_B, TILE_N, warp_column() + g, t);

#pragma unroll
    for (uint r = 0; r < ROWS; r++)
#pragma unroll
        for (uint e = 0; e < 4; e++)
            x->a[r][e] = a[place(!TRANS_A, TILE_M, 16 * r + e % 2 * 8, p + e / 2 * 4)];
#pragma unroll
    for (uint s = 0; s < COLUMNS; s++)
#pragma unroll
        for (uint e = 0; e < 2; e++)
            x->b[s][e] = b[place(TRANS_B, TILE_N, 8 * s, p + e * 4)];
}

/* As tf32_split has it, of one element; its square is added to those before. */
static inline void split(uint *big, uint *small, float *squares, float x)
{
    *big = (as_uint(x) + 0x1000u) & 0xFFFFE000u;
    *small = as_uint(x - as_float(*big));
    *squares = fma(x, x, *squares);
}

/* c := a b, or c + a b, 16 x 8 by 8 x 8. */
#define MMA "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
IN_REGISTERS void multiply_first(float *c, const uint *a, const uint *b)
{
    __asm__ volatile(MMA "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
                     : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(0.0f));
}

IN_REGISTERS void multiply_more(float *c, const uint *a, const uint *b)
{
    __asm__ volatile(MMA "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* sum += the products of a step: small big, big small, big big, of a row of pieces at once, so that
 * none waits for the one before. */
IN_REGISTERS void multiply_step(float4 *sum, float *squares, const fragments *x)
{
    uint big_b[COLUMNS][2], small_b[COLUMNS][2];

#pragma unroll
    for (uint s = 0; s < COLUMNS; s++)
#pragma unroll
        for (uint e = 0; e < 2; e++)
            split(&big_b[s][e], &small_b[s][e], &squares[e], x->b[s][e]);
#pragma unroll
    for (uint r = 0; r < ROWS; r++) {
        uint big_a[4], small_a[4];
        float part[COLUMNS][4];

#pragma unroll
        for (uint e = 0; e < 4; e++)
            split(&big_a[e], &small_a[e], &squares[e % 2], x->a[r][e]);
#pragma unroll
        for (uint s = 0; s < COLUMNS; s++)
            multiply_first(part[s], small_a, big_b[s]);
#pragma unroll
        for (uint s = 0; s < COLUMNS; s++)
            multiply_more(part[s], big_a, small_b[s]);
#pragma unroll
        for (uint s = 0; s < COLUMNS; s++)
            multiply_more(part[s], big_a, big_b[s]);
#pragma unroll
        for (uint s = 0; s < COLUMNS; s++)
            sum[r * COLUMNS + s] += (float4)(part[s][0], part[s][1], part[s][2], part[s][3]);
    }
}

/* A tile of op(A) and op(B): from row i0 and column j0 on, over k columns of op(A). */
typedef struct tile {
    __global const float *a, *b;
    uint lda, ldb, i0, j0, m, n, k;
} tile;

/* sum := this work-item's part of the product.  Every work-item of the group has to call this, and
 * may do so again at once.  Returns whether the elements may be beyond what can be split. */
IN_REGISTERS bool multiply_tile(float4 *sum, const tile *x, __local float *memory)
{
    operand a = operand_of(x->a, x->lda, x->i0, x->m, !TRANS_A, ALIGNED_A, TILE_M);
    operand b = operand_of(x->b, x->ldb, x->j0, x->n, TRANS_B, ALIGNED_B, TILE_N);
    const uint blocks = (x->k + DEPTH - 1) / DEPTH, start = local_address(memory);
    float squares[2] = {0, 0};
    uint now = 0, next = STAGES - 1; /* stages: that which is multiplied, and to be filled */

#pragma unroll
    for (uint v = 0; v < VECTORS; v++)
        sum[v] = 0;
#pragma unroll 1
    for (uint ahead = 0; ahead + 1 < STAGES; ahead++) {
        if (ahead < blocks)
            bring(&a, &b, start + ahead * STAGE * 4, x->k - ahead * DEPTH);
        copies_commit();
    }
#pragma unroll 1
    for (uint block = 0; block < blocks; block++) {
        __local const float *stage = memory + now * STAGE;
        fragments held[2];

        COPIES_WAIT(STAGES - 2);
        /* Filled before read, and the stage before this, which is filled next, read before. */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (block + STAGES - 1 < blocks)
            bring(&a, &b, start + next * STAGE * 4, x->k - (block + STAGES - 1) * DEPTH);
        copies_commit();
        load(&held[0], stage, 0);
#pragma unroll
        for (uint p = 0; p < DEPTH; p += 8) {
            if (p + 8 < DEPTH)
                load(&held[(p / 8 + 1) % 2], stage, p + 8);
            multiply_step(sum, squares, &held[p / 8 % 2]);
        }
        now = now + 1 == STAGES ? 0 : now + 1;
        next = next + 1 == STAGES ? 0 : next + 1;
    }
    return !(squares[0] + squares[1] < SQUARES_MAX);
}

/* ---- what cannot be split -------------------------------------------------------------------- */

/* Whether this work-item meets such an element in `most` rows or columns of `k` along k. */
static inline bool any_beyond(__global const float *from, uint ld, bool along, uint most, uint k)
{
    const uint warp = get_local_id(0) / 32, lane = get_local_id(0) % 32;
    const uint lines = along ? most : k, length = along ? k : most;
    bool found = false;

#pragma unroll 1
    for (uint line = warp; line < lines; line += ITEMS / 32)
#pragma unroll 4
        for (uint x = lane; x < length; x += 32)
            found |= tf32_beyond(from[(ulong)line * ld + x]);
    return found;
}

static inline bool tile_beyond(const tile *x)
{
    return any_beyond(x->a + at_a(x->i0, 0, x->lda), x->lda, !TRANS_A,
                      min(x->m - x->i0, TILE_M + 0u), x->k) ||
           any_beyond(x->b + at_b(0, x->j0, x->ldb), x->ldb, TRANS_B,
                      min(x->n - x->j0, TILE_N + 0u), x->k);
}

/* Row and column in C of sum[0].s0 of this work-item.  Those of sum[v].s0 are v / COLUMNS * 16 and
 * v % COLUMNS * 8 on; s1 is its neighbour in the row, and s2 and s3 are 8 rows below the two. */
static inline uint first_row(const tile *x)
{
    return x->i0 + warp_row() + get_local_id(0) % 32 / 4;
}

static inline uint first_column(const tile *x)
{
    return x->j0 + warp_column() + get_local_id(0) % 4 * 2;
}

/* The product by fused multiply-adds, elements as they come from global memory: rows and columns
 * beyond the last are the last again, whose sums nobody stores. */
IN_REGISTERS void multiply_strictly(float4 *sum, const tile *x)
{
    const uint i = first_row(x), j = first_column(x);

#pragma unroll
    for (uint v = 0; v < VECTORS; v++)
        sum[v] = 0;
#pragma unroll 1
    for (uint p = 0; p < x->k; p++) {
        float left[2 * ROWS], top[2 * COLUMNS];

#pragma unroll
        for (uint e = 0; e < 2 * ROWS; e++)
            left[e] = x->a[at_a(min(i + 8 * e, x->m - 1), p, x->lda)];
#pragma unroll
        for (uint e = 0; e < 2 * COLUMNS; e++)
            top[e] = x->b[at_b(p, min(j + e / 2 * 8 + e % 2, x->n - 1), x->ldb)];
#pragma unroll
        for (uint v = 0; v < VECTORS; v++) {
            const uint r = v / COLUMNS * 2, s = v % COLUMNS * 2;

            sum[v].s0 = fma(left[r], top[s], sum[v].s0);
            sum[v].s1 = fma(left[r], top[s + 1], sum[v].s1);
            sum[v].s2 = fma(left[r + 1], top[s], sum[v].s2);
            sum[v].s3 = fma(left[r + 1], top[s + 1], sum[v].s3);
        }
    }
}

static inline bool is_unsure(float sum, bool inside)
{
    return inside && !(fabs(sum) >= SURE_MIN && fabs(sum) <= FLT_MAX);
}

/* Whether one of the work-item's sums is too small, or not finite, to vouch for A and B. */
IN_REGISTERS bool any_unsure(const float4 *sum, const tile *x)
{
    const uint i = first_row(x), j = first_column(x);
    bool unsure = false;

#pragma unroll
    for (uint v = 0; v < VECTORS; v++) {
        const uint row = i + v / COLUMNS * 16, column = j + v % COLUMNS * 8;
        const bool left = column < x->n, right = column + 1 < x->n;

        unsure |= is_unsure(sum[v].s0, row < x->m && left);
        unsure |= is_unsure(sum[v].s1, row < x->m && right);
        unsure |= is_unsure(sum[v].s2, row + 8 < x->m && left);
        unsure |= is_unsure(sum[v].s3, row + 8 < x->m && right);
    }
    return unsure;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Whether any work-item of the group says so; *found is local memory, 0 before and after. */
static inline bool any_of_group(bool yes, __local uint *found)
{
    bool any;

    if (yes)
        *found = 1;
    /* Written before read. */
    barrier(CLK_LOCAL_MEM_FENCE);
    any = *found != 0;
    if (any) {
        /* Read before it is 0 again, and that before it is written again. */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_local_id(0) == 0)
            *found = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return any;
}

/* C(i, j) and its neighbour := out, where they are inside: `first` and `second` say of each. */
static inline void store_pair(__global float *c, bool first, bool second, float2 out)
{
    if (ALIGNED_C && second) {
        *(__global float2 *)c = out;
        return;
    }
    if (first)
        c[0] = out.s0;
    if (second)
        c[1] = out.s1;
}

/* What they are, and 0 for one that is not inside. */
static inline float2 load_pair(__global const float *c, bool first, bool second)
{
    if (ALIGNED_C && second)
        return *(__global const float2 *)c;
    return (float2)(first ? c[0] : 0, second ? c[1] : 0);
}

/* What C was is read before any of it is written: reads that follow writes would wait for them. */
IN_REGISTERS void store_tile(const float4 *sum, const tile *x, __global float *c, uint ldc,
                             float alpha, float beta)
{
    const uint i = first_row(x), j = first_column(x);
    float2 out[2 * ROWS * COLUMNS]; /* row by row */

#pragma unroll
    for (uint v = 0; v < 2 * ROWS * COLUMNS; v++) {
        const uint r = v / COLUMNS;
        const float4 all = sum[r / 2 * COLUMNS + v % COLUMNS];

        out[v] = alpha * (r % 2 ? all.s23 : all.s01);
    }
    if (beta != 0) {
#pragma unroll
        for (uint v = 0; v < 2 * ROWS * COLUMNS; v++) {
            const uint row = i + 8 * (v / COLUMNS), column = j + 8 * (v % COLUMNS);

            out[v] += beta * load_pair(c + (ulong)row * ldc + column, row < x->m && column < x->n,
                                       row < x->m && column + 1 < x->n);
        }
    }
#pragma unroll
    for (uint v = 0; v < 2 * ROWS * COLUMNS; v++) {
        const uint row = i + 8 * (v / COLUMNS), column = j + 8 * (v % COLUMNS);

        store_pair(c + (ulong)row * ldc + column, row < x->m && column < x->n,
                   row < x->m && column + 1 < x->n, out[v]);
    }
}

/* Whether C is prefetched: in the smallest tiles that takes registers, and fewer groups fit. */
#define EXPECTED (TILE_M > 32)

/* Fetch what C is. */
static inline void expect_tile(const tile *x, __global const float *c, uint ldc)
{
    expect_rows(c + (ulong)x->i0 * ldc + x->j0, (ulong)ldc * sizeof(float),
                min(x->m - x->i0, TILE_M + 0u),
                min(x->n - x->j0, TILE_N + 0u) * (uint)sizeof(float), TILE_N * (uint)sizeof(float),
                get_local_id(0), ITEMS);
}

/* Pieces of tiles that cannot be split are counted in strict_tiles, which may be NULL. */
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
matmul_mma_3xtf32(__global const factor *restrict a, __global const factor *restrict b,
                  __global result *restrict c, __global float4 *sums,
                  __global group_counter *counters, __global uint *strict_tiles,
                  const matmul_call call)
{
    __local float4 memory[STAGES * STAGE / 4];
    __local uint last, found;
    const uint across = (call.n + TILE_N - 1) / TILE_N, down = (call.m + TILE_M - 1) / TILE_M;
    const uint tiles = across * down; /* of a product */
    shares s = shares_of(get_group_id(0), get_num_groups(0), tiles * call.batch, call.unshared,
                         max((call.k + DEPTH - 1) / DEPTH, 1u));
    piece at;

    if (get_local_id(0) == 0)
        found = 0;
#pragma unroll 1
    while (shares_next(&s, &at)) {
        const uint product = at.tile / tiles;
        const uint2 place = tile_of_group(at.tile % tiles, across, down);
        const uint front = at.first * DEPTH;
        const tile x = {a + call.offset_a + product * call.stride_a + at_a(0, front, call.lda),
                        b + call.offset_b + product * call.stride_b + at_b(front, 0, call.ldb),
                        call.lda,
                        call.ldb,
                        place.s1 * TILE_M,
                        place.s0 * TILE_N,
                        call.m,
                        call.n,
                        min(at.count * DEPTH, call.k - front)};
        float4 sum[VECTORS]; /* of pieces, row by row */
        bool unsure;

        /* Read before refilled: of the piece before. */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (EXPECTED && call.beta != 0 && at.first == 0)
            expect_tile(&x, c + call.offset_c + product * call.stride_c, call.ldc);
        unsure = multiply_tile(sum, &x, (__local float *)memory);
        unsure |= any_unsure(sum, &x);
        if (any_of_group(unsure, &found) && any_of_group(tile_beyond(&x), &found)) {
            if (strict_tiles && get_local_id(0) == 0)
                atomic_inc(strict_tiles);
            multiply_strictly(sum, &x);
        }
        if (at.count == s.each || add_up(sum, &s, &at, sums, counters, &last))
            store_tile(sum, &x, c + call.offset_c + product * call.stride_c, call.ldc, call.alpha,
                       call.beta);
    }
}
