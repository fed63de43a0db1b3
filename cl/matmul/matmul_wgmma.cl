/* C := alpha op(A) op(B) + beta C: Hopper's matrix instructions on packed operands.
 *
 * Idea: wgmma multiplies tiles that lie in local memory in a swizzled order,
 *     along k.  One kernel packs op(A) and op(B) into workspace, tile by tile,
 *     in exactly that order: transposes, leading dimensions, edges and rounding
 *     to TF32 end there.  The other copies tiles with one bulk copy each
 *     (cp.async.bulk) and multiplies them.
 *     With PRODUCTS = 3, FP32 is kept: x = big + small, both TF32, and A B is
 *     taken as small big + big small + big big.  The units add up with
 *     truncation, so each block of 16 along k starts from zero and its sums are
 *     added in ordinary FP32 registers.  Ootomo and Yokota, "Recovering single
 *     precision accuracy from Tensor Cores while surpassing the FP32
 *     theoretical peak performance", 2022.
 *     Where C has fewer tiles than the device has units, groups share k: each
 *     writes the sums of its part of k into workspace, and a third kernel adds
 *     them up (matmul_parts.clh).
 * Work split: a group of 384 computes TILE_M x TILE_N of C, or of a part's sums: a
 *     producer keeps STAGES tiles of A and B in flight, two warp groups multiply
 *     half the rows each.
 * Parameters: PRODUCTS, 1 (TF32) or 3 (FP32); TILE_M and TILE_N, 128 and 256 either
 *     way round, or both 128; STAGES; BAND, rows of groups that run side by side,
 *     so that they share B in the cache; SPLIT, parts of k, of launches alone;
 *     ALONG_A, ALONG_B: whether 4 elements along k are 16 aligned bytes; TRANS_A,
 *     TRANS_B (matmul_access.clh); for adding up parts, FACTOR and RESULT, F32
 *     (matmul_elements.clh); SUM_ITEMS and PARTS_TOGETHER (matmul_parts.clh); CONSUMERS, PRODUCERS,
 *     PACK_ITEMS, PIECE_ALONG, PIECE_ACROSS, BLOCK_K and ROW_BYTES as the host
 *     counts with them (below).
 * Launch: 1-D, the packing in work-groups of 256, as many as both operands have
 *     pieces; then groups of 384, one per started tile of C, for each part of k;
 *     then the adding up, where there are parts.
 * Local memory: STAGES * (TILE_M + TILE_N) * 128 bytes and up to 1 KiB of alignment.
 * Limits: m, n, k and the leading dimensions up to 2^31.  With PRODUCTS = 3,
 *     magnitudes within 2^-50 and 2^50, or zero: outside, the small parts or
 *     their products would underflow, and infinity minus its big part is NaN.
 *     Tiles that see others are computed by fused multiply-adds, and counted in
 *     strict_tiles, which may be NULL.  Without blocks there is nothing to add up,
 *     and C is scaled alone.
 */
#include "common/tf32.clh"
#include "common/wgmma.clh"
#include "matmul/matmul_access.clh"
#include "matmul/matmul_bands.clh"
#include "matmul/matmul_parts.clh"
#include "matmul/matmul_strict.clh"

#if PRODUCTS != 1 && PRODUCTS != 3
#error "PRODUCTS: 1 for TF32, 3 for FP32"
#endif
#if (TILE_M != 128 && TILE_M != 256) || (TILE_N != 128 && TILE_N != 256)
#error "TILE_M, TILE_N: rows and columns of a work-group's tile, 128 or 256"
#endif
#if TILE_M + TILE_N > 384 || (TILE_N == 256 && PRODUCTS == 3)
#error "TILE_M, TILE_N: its sums are more than the registers hold"
#endif
#ifndef STAGES
#error "STAGES: tiles of A and B in flight"
#endif
#if !defined(ALONG_A) || !defined(ALONG_B)
#error "ALONG_A, ALONG_B: 1 where rows along k are aligned to 16 bytes, else 0"
#endif

#if BLOCK_K != (PRODUCTS == 3 ? 16 : 32) || ROW_BYTES != 128
#error "BLOCK_K, ROW_BYTES: 16 or 32 along k, in rows of 128 bytes, as wgmma takes them"
#endif
#if CONSUMERS != 256 || PRODUCERS != 128 || PACK_ITEMS != 256
#error "CONSUMERS, PRODUCERS, PACK_ITEMS: 256, 128 and 256, as registers and pieces are divided"
#endif
#if PIECE_ALONG != 32 || PIECE_ACROSS != 128
#error "PIECE_ALONG, PIECE_ACROSS: rows of what a group packs, 32 and 128"
#endif

#define STAGE_BYTES ((TILE_M + TILE_N) * ROW_BYTES)

/* ---- packing ------------------------------------------------------------------------------ */

/* Whether x must not be split. */
static inline bool beyond(float x)
{
    return PRODUCTS == 3 && tf32_beyond(x);
}

/* The parts of four elements: both where PRODUCTS = 3, which is never asked for what is beyond. */
static inline void split(uint4 *big, uint4 *small, float4 x)
{
    if (PRODUCTS == 3)
        tf32_split(big, small, x);
    else
        *big = (uint4)(tf32(x.s0), tf32(x.s1), tf32(x.s2), tf32(x.s3));
}

/* An operand to pack: `rows` by k, into images of `tile` rows and BLOCK_K along k each. */
typedef struct operand {
    __global const float *x;
    uint ld, rows, k, blocks, tile;
    __global uint4 *images;
} operand;

/* Row r of the image of block `block` that holds it: 8 chunks of 16 bytes. */
static inline __global uint4 *image_row(const operand *o, uint r, uint block)
{
    return o->images + (((ulong)(r / o->tile) * o->blocks + block) * o->tile + r % o->tile) * 8;
}

/* Pieces of an operand that work-groups pack: PIECE_ALONG rows by as many where (r, p) is at r ld +
 * p, and PIECE_ACROSS rows by BLOCK_K where it is at p ld + r.  Those of a tile follow each other.
 */
static inline uint pieces_along_k(uint blocks, bool along)
{
    return along ? (blocks * BLOCK_K + PIECE_ALONG - 1) / PIECE_ALONG : blocks;
}

/* Pack rows along k; returns whether this work-item met what cannot be split. */
static inline bool pack_along(const operand *o, uint piece, bool aligned)
{
    const uint item = get_local_id(0), across = pieces_along_k(o->blocks, true);
    const uint r = piece / across * PIECE_ALONG + item / 8;
    const uint p = piece % across * PIECE_ALONG + item % 8 * 4;
    const uint block = p / BLOCK_K, chunk = p % BLOCK_K / 4;
    __global const float *from = o->x + (ulong)r * o->ld + p;
    __global uint4 *row = image_row(o, r, block);
    float4 v = 0;
    uint4 big, small;

    if (block >= o->blocks)
        return false;
    if (r < o->rows && p + 4 <= o->k && aligned) {
        v = *(__global const float4 *)from;
    } else if (r < o->rows && p < o->k) {
        v.s0 = from[0];
        v.s1 = p + 1 < o->k ? from[1] : 0;
        v.s2 = p + 2 < o->k ? from[2] : 0;
        v.s3 = p + 3 < o->k ? from[3] : 0;
    }
    split(&big, &small, v);
    row[chunk ^ (r & 7)] = big;
    if (PRODUCTS == 3)
        row[(chunk + 4) ^ (r & 7)] = small;
    return beyond(v.s0) || beyond(v.s1) || beyond(v.s2) || beyond(v.s3);
}

/* The same for rows across k, through local memory, so that whole lines are read and
 * written.  Each half of the work-group takes every other chunk. */
static inline bool pack_across(const operand *o, uint piece, __local uint4 *image)
{
    const uint item = get_local_id(0) % PIECE_ACROSS, part = get_local_id(0) / PIECE_ACROSS;
    const uint block = piece % o->blocks, r0 = piece / o->blocks * PIECE_ACROSS, r = r0 + item;
    __global uint4 *out = image_row(o, r0, block);
    bool any = false;

#pragma unroll
    for (uint i = 0; i < BLOCK_K / 8; i++) {
        const uint chunk = 2 * i + part;
        float v[4];
        uint4 big, small;

#pragma unroll
        for (uint e = 0; e < 4; e++) {
            const uint p = block * BLOCK_K + chunk * 4 + e;

            v[e] = r < o->rows && p < o->k ? o->x[(ulong)p * o->ld + r] : 0;
            any = any || beyond(v[e]);
        }
        split(&big, &small, (float4)(v[0], v[1], v[2], v[3]));
        image[item * 8 + (chunk ^ (item & 7))] = big;
        if (PRODUCTS == 3)
            image[item * 8 + ((chunk + 4) ^ (item & 7))] = small;
    }
    /* Filled before copied: below, we copy what other work-items wrote. */
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint i = 0; i < 4; i++)
        out[i * PACK_ITEMS + get_local_id(0)] = image[i * PACK_ITEMS + get_local_id(0)];
    return any;
}

/* The scalars of a call; the host's packed_call has the same members. */
typedef struct packed_call {
    ulong images_a, images_b, flags; /* bytes of the workspace before them */
    uint blocks;                     /* along k */
    uint span;                       /* of them in each part of k */
    uint pieces_a;                   /* of those that groups pack, A's */
    matmul_call product;
} packed_call;

/* op(A) into images of TILE_M rows, by the first pieces_a groups, and the transpose of op(B) into
 * images of TILE_N rows, by the others.  Flag of a piece: it holds what cannot be split. */
__kernel __attribute__((reqd_work_group_size(PACK_ITEMS, 1, 1))) void
matmul_wgmma_pack(__global const float *a, __global const float *b, __global uchar *work,
                  const packed_call call)
{
    __local uint4 image[PIECE_ACROSS * 8];
    __local uint found;
    const matmul_call *p = &call.product;
    const uint piece = get_group_id(0);
    bool any;

    if (get_local_id(0) == 0)
        found = 0;
    if (piece < call.pieces_a) {
        const operand x = {a + p->offset_a,
                           p->lda,
                           p->m,
                           p->k,
                           call.blocks,
                           TILE_M,
                           (__global uint4 *)(work + call.images_a)};

        any = TRANS_A ? pack_across(&x, piece, image) : pack_along(&x, piece, ALONG_A);
    } else {
        const operand x = {b + p->offset_b,
                           p->ldb,
                           p->n,
                           p->k,
                           call.blocks,
                           TILE_N,
                           (__global uint4 *)(work + call.images_b)};

        any = TRANS_B ? pack_along(&x, piece - call.pieces_a, ALONG_B)
                      : pack_across(&x, piece - call.pieces_a, image);
    }
    /* Cleared before found. */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (any)
        found = 1;
    /* Written before read: work-item 0 reads what any of them found. */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        ((__global uint *)(work + call.flags))[piece] = found;
}

/* ---- multiplying --------------------------------------------------------------------------- */

/* The sums of 64 rows by TILE_N columns: HELD in each work-item, the first operands of the
 * assembly.  After them come its tiles of A and B. */
#define HELD (TILE_N / 2)
#if TILE_N == 128
#define SHAPE            "m64n128k8"
#define SUMS             "{" WGMMA_SUMS_64 "}"
#define OPERANDS(how, c) OPERANDS_64(how, c, 0)
#define TILE_A           "%64"
#define TILE_B           "%65"
#else
#define SHAPE            "m64n256k8"
#define SUMS             "{" WGMMA_SUMS_128 "}"
#define OPERANDS(how, c) OPERANDS_64(how, c, 0), OPERANDS_64(how, c, 64)
#define TILE_A           "%128"
#define TILE_B           "%129"
#endif

/* a0 and b0 are the tiles' first 8 elements along k, a1 and b1 the next ones, and so on. */
#define TILES                                                                                      \
    ".reg .b64 a<4>, b<4>;\n\t"                                                                    \
    "mov.b64 a0, " TILE_A ";\n\t"                                                                  \
    "mov.b64 b0, " TILE_B ";\n\t"                                                                  \
    "add.s64 a1, a0, 2;\n\tadd.s64 a2, a0, 4;\n\tadd.s64 a3, a0, 6;\n\t"                           \
    "add.s64 b1, b0, 2;\n\tadd.s64 b2, b0, 4;\n\tadd.s64 b3, b0, 6;\n\t"
/* sums := keep * sums + a b, for 64 x 8 of A and 8 x TILE_N of B. */
#define MULTIPLY(a, b, keep)                                                                       \
    WGMMA "wgmma.mma_async.sync.aligned." SHAPE ".f32.tf32.tf32 " SUMS ", " a ", " b ", " keep     \
          ", 1, 1;\n\t"
#define BEGIN "{\n\t" TILES WGMMA_FENCE

#if PRODUCTS == 3
/* t := A B for one stage of 64 rows: 8 k each of big, big, small, small. */
#define MULTIPLY_STAGE(t, a, b)                                                                    \
    __asm__ volatile(BEGIN MULTIPLY("a2", "b0", "0") MULTIPLY("a0", "b2", "1")                     \
                         MULTIPLY("a3", "b1", "1") MULTIPLY("a1", "b3", "1")                       \
                             MULTIPLY("a0", "b0", "1") MULTIPLY("a1", "b1", "1")                   \
                                 WGMMA_COMMIT WGMMA_WAIT("0") "}"                                  \
                     : OPERANDS(SUM_WRITTEN, t)                                                    \
                     : "l"(a), "l"(b)                                                              \
                     : "memory")
#else
/* sums += A B for one stage of 64 rows, in flight on return. */
#define MULTIPLY_STAGE(sums, a, b)                                                                 \
    __asm__ volatile(BEGIN MULTIPLY("a0", "b0", "1") MULTIPLY("a1", "b1", "1")                     \
                         MULTIPLY("a2", "b2", "1") MULTIPLY("a3", "b3", "1") WGMMA_COMMIT "}"      \
                     : OPERANDS(SUM_UPDATED, sums)                                                 \
                     : "l"(a), "l"(b)                                                              \
                     : "memory")
#endif

/* Columns of a warp's 16 rows that go through local memory at once, and floats from row to row of
 * them there: four rows of eight neighbours are in different banks. */
#define PASS  64
#define PITCH (PASS + 8)

/* The warp's 16 rows of C from i on, columns from j on, through its own local memory at `own`. */
IN_REGISTERS void store_sums(const product *p, uint i, uint j, const float *sums, uint own)
{
    const uint lane = get_local_id(0) % 32, first = own + (lane / 4 * PITCH + lane % 4 * 2) * 4;

#pragma unroll
    for (uint pass = 0; pass < TILE_N / PASS; pass++) {
#pragma unroll
        for (uint e = 0; e < PASS / 4; e++)
            local_store_2(first + (e % 2 * 8 * PITCH + e / 2 * 8) * 4,
                          as_uint(sums[pass * (PASS / 2) + 2 * e]),
                          as_uint(sums[pass * (PASS / 2) + 2 * e + 1]));
        /* Placed before stored: below, we read what other lanes placed. */
        warp_barrier();
        product_store_rows(p, i, j + pass * PASS, own, PITCH, 16, PASS / 32);
        /* Read before it is overwritten. */
        warp_barrier();
    }
}

/* Keep the stages filled: one work-item, a bulk copy an operand. */
static inline void produce(__global const uchar *a, __global const uchar *b, uint blocks,
                           uint tiles, uint full, uint empty)
{
    uint stage = 0, parity = 1;

#pragma unroll 1
    do {
        const uint to = tiles + stage * STAGE_BYTES, done = full + 8 * stage;

        mbarrier_wait(empty + 8 * stage, parity);
        mbarrier_arrive_expect(done, STAGE_BYTES);
        bulk_copy(to, a, TILE_M * ROW_BYTES, done);
        bulk_copy(to + TILE_M * ROW_BYTES, b, TILE_N * ROW_BYTES, done);
        a += TILE_M * ROW_BYTES;
        b += TILE_N * ROW_BYTES;
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    } while (--blocks);
}

/* Multiply all stages as they arrive, and store the tile of C that starts at (i0, j0). */
IN_REGISTERS void consume(const product *p, uint i0, uint j0, uint blocks, uint tiles, uint full,
                          uint empty)
{
    const uint warp = get_local_id(0) / 32, lane = get_local_id(0) % 32;
    const uint i = i0 + warp / 4 * (TILE_M / 2) + warp % 4 * 16;
    const uint own = tiles + warp * (16 * PITCH * 4);
    const ulong tile_a = wgmma_tile(tiles + warp / 4 * (TILE_M / 2) * ROW_BYTES);
    const ulong tile_b = wgmma_tile(tiles + TILE_M * ROW_BYTES);
    uint stage = 0, parity = 0;
#if PRODUCTS == 1
    uint before = 0; /* the barrier of the stage before, 0 at first */
#else
    float t[HELD];
#endif
    float upper[HELD];
#if TILE_M == 256
    float lower[HELD];
#endif

#pragma unroll
    for (uint e = 0; e < HELD; e++)
        upper[e] = 0;
#if TILE_M == 256
#pragma unroll
    for (uint e = 0; e < HELD; e++)
        lower[e] = 0;
#endif
        /* A loop that might not run would serialize the instructions. */
#pragma unroll 1
    do {
        const ulong from_a = tile_a + stage * (STAGE_BYTES / 16);
        const ulong from_b = tile_b + stage * (STAGE_BYTES / 16);

        mbarrier_wait(full + 8 * stage, parity);
#if PRODUCTS == 3
        MULTIPLY_STAGE(t, from_a, from_b);
#if TILE_M == 256
#pragma unroll
        for (uint e = 0; e < HELD; e++)
            upper[e] += t[e];
        MULTIPLY_STAGE(t, from_a + 64 * ROW_BYTES / 16, from_b);
#endif
        if (lane == 0)
            mbarrier_arrive(empty + 8 * stage);
#pragma unroll
        for (uint e = 0; e < HELD; e++)
#if TILE_M == 256
            lower[e] += t[e];
#else
            upper[e] += t[e];
#endif
#else
        MULTIPLY_STAGE(upper, from_a, from_b);
#if TILE_M == 256
        MULTIPLY_STAGE(lower, from_a + 64 * ROW_BYTES / 16, from_b);
        __asm__ volatile(WGMMA_WAIT("2")::: "memory");
#else
        __asm__ volatile(WGMMA_WAIT("1")::: "memory");
#endif
        if (before && lane == 0)
            mbarrier_arrive(before);
        before = empty + 8 * stage;
#endif
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    } while (--blocks);
#if PRODUCTS == 1
    __asm__ volatile(WGMMA_WAIT("0") : OPERANDS(SUM_UPDATED, upper)::"memory");
#if TILE_M == 256
    __asm__ volatile(WGMMA_WAIT("0") : OPERANDS(SUM_UPDATED, lower)::"memory");
#endif
#endif
    /* All tiles are read before sums take their place. */
    strict_barrier();
    store_sums(p, i, j0, upper, own);
#if TILE_M == 256
    store_sums(p, i + 64, j0, lower, own);
#endif
}

/* Whether any flag of a tile is set, for the whole work-group. */
static inline bool flagged(__global const uint *a, uint count_a, __global const uint *b,
                           uint count_b, __local uint *found)
{
    uint any = 0;

    if (get_local_id(0) == 0)
        *found = 0;
    for (uint i = get_local_id(0); i < count_a; i += get_local_size(0))
        any |= a[i];
    for (uint i = get_local_id(0); i < count_b; i += get_local_size(0))
        any |= b[i];
    /* Cleared before found. */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (any)
        *found = 1;
    /* Written before read: work-item 0 reads what any of them found. */
    barrier(CLK_LOCAL_MEM_FENCE);
    return *found;
}

/* Each part has `span` blocks, and the last what is left of them.  Where there are several, c is
 * where their sums go, one matrix of m x n after another, alpha is 1 and beta 0. */
__kernel __attribute__((reqd_work_group_size(CONSUMERS + PRODUCERS, 1, 1))) void
matmul_wgmma(__global const float *a, __global const float *b, __global float *c,
             __global const uchar *work, __global uint *strict_tiles, const packed_call call)
{
    __local uchar memory[STAGES * STAGE_BYTES + 1024] __attribute__((aligned(1024)));
    __local ulong barriers[2 * STAGES];
    __local uint found;
    const uint tiles = (local_address(memory) + 1023) / 1024 * 1024;
    const uint full = local_address(barriers), empty = full + 8 * STAGES;
    product p = product_of_call(a, b, c, &call.product);
    const uint item = get_local_id(0), blocks = call.blocks, span = call.span;
    const uint columns = (p.n + TILE_N - 1) / TILE_N, rows = (p.m + TILE_M - 1) / TILE_M;
    const uint part = get_group_id(0) / (rows * columns), first = part * span;
    const uint count = min(blocks - first, span);
    const uint2 at = tile_of_group(get_group_id(0) % (rows * columns), columns, rows);
    const uint flags_a =
        pieces_along_k(blocks, !TRANS_A) * (TILE_M / (TRANS_A ? PIECE_ACROSS : PIECE_ALONG));
    const uint flags_b =
        pieces_along_k(blocks, TRANS_B) * (TILE_N / (TRANS_B ? PIECE_ALONG : PIECE_ACROSS));
    __global const uint *flag = (__global const uint *)(work + call.flags);
    bool strictly = blocks == 0;

    product_take_part(&p, part, first * BLOCK_K, span * BLOCK_K);
#if PRODUCTS == 3
    /* All parts of a tile go the same way, whichever of them has what cannot be split. */
    strictly = strictly || flagged(flag + at.y * flags_a, flags_a,
                                   flag + call.pieces_a + at.x * flags_b, flags_b, &found);
#endif
    if (strictly) {
        if (blocks && part == 0)
            count_strict_tile(strict_tiles);
        if (item < STRICT_ITEMS)
            multiply_strictly(&p, at.y * TILE_M, at.x * TILE_N, TILE_M, TILE_N,
                              (__local float *)memory);
        return;
    }
    if (item == 0) {
        for (uint s = 0; s < STAGES; s++) {
            mbarrier_init(full + 8 * s, 1);
            mbarrier_init(empty + 8 * s, 8);
        }
        mbarrier_publish();
    }
    /* Initialised before used. */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item >= CONSUMERS) {
        __asm__ volatile(WGMMA "setmaxnreg.dec.sync.aligned.u32 24;" ::: "memory");
        if (item == CONSUMERS)
            produce(work + call.images_a + ((ulong)at.y * blocks + first) * TILE_M * ROW_BYTES,
                    work + call.images_b + ((ulong)at.x * blocks + first) * TILE_N * ROW_BYTES,
                    count, tiles, full, empty);
        else if (item >= CONSUMERS + 32 && p.beta != 0)
            product_expect(&p, at.y * TILE_M, at.x * TILE_N, TILE_M, TILE_N,
                           item - CONSUMERS - 32, PRODUCERS - 32);
    } else {
        __asm__ volatile(WGMMA "setmaxnreg.inc.sync.aligned.u32 240;" ::: "memory");
        consume(&p, at.y * TILE_M, at.x * TILE_N, count, tiles, full, empty);
    }
}
