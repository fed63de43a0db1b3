/* C := alpha op(A) op(B) + beta C in FP32: Hopper's matrix instructions on A and B as they are.
 *
 * Idea: three TF32 products, as matmul_wgmma.cl takes them, without packing.  wgmma takes its
 *     second operand from local memory, in a swizzled order along k, and its first from there or
 *     from registers.  So C^T = B^T A^T is computed.  Producers copy A to local memory, split it
 *     there into big and small parts, and store them in that order.  B stays as it comes:
 *     consumers read it in the order in which their registers must hold it, and split it there.
 *     The units add up with truncation, so every 32 along k the sums start from zero and are
 *     added in ordinary FP32 registers.
 *     Where C has fewer tiles than the device has units, groups share k, as in matmul_wgmma.cl.
 * Work split: a group of 384 computes 128 rows by 256 columns of C, or of a part's sums.  Its last
 *     128 produce, blocks of 16 along k, STAGES of them ahead.  The others consume, two warp groups
 *     of 128 columns each, as two pieces of 64.  While one warp group splits and adds, the other's
 *     products keep the matrix units busy.
 * Parameters: STAGES; BAND (matmul_bands.clh); COPY, bytes of B that a copy brings: 16, or 1024,
 *     whole rows of tiles where that can be; ALIGNED_A, ALIGNED_B: whether four neighbours that
 *     start at a multiple of 4 are 16 aligned bytes; PADDED_A, PADDED_B: whether they are copies by
 *     matmul_align.clh, and zeros follow, up to whole tiles and pairs of blocks; TRANS_A, TRANS_B
 *     (matmul_access.clh); tiles, blocks and work-items as the host counts with them (below);
 *     SPLIT, parts of k, of launches alone; ALIGN_ITEMS, ALIGN_LOADS (matmul_align.clh); REAL,
 *     FACTOR and RESULT, of float (matmul_elements.clh); SUM_ITEMS and PARTS_TOGETHER
 *     (matmul_parts.clh).
 * Launch: copies first.  Then 1-D, groups of 384, one per started tile of C, for each part of k;
 *     then the adding up, where there are parts.
 * Local memory: STAGES * (IMAGE_BYTES + RAW_BYTES) + LEAD * LEAD_BYTES, up to 1 KiB of alignment,
 *     and the barriers.
 * Limits: m, n, k and the leading dimensions up to 2^31.  A tile, or its part, that may not be
 *     split is looked at again, and computed again, and counted, where it cannot be.
 *
 * Which tiles can be split: those of magnitudes within 2^-50 and 2^50, and zero (tf32.clh).  The
 * producers look whether A's are.  At B's nobody looks: time for it the multiplications would not
 * hide.  What becomes of those outside shows in C:
 * - The small part of infinity and NaN is NaN, and of what rounds to infinity, infinity, so that
 *   all of a column of C is NaN.  Products that overflow leave it infinite or NaN, too.
 * - A part below 2^-126 may vanish.  So a small element lacks up to 2^-125 beside what splitting
 *   always leaves, and one of the k terms 2^50 * 2^-125 and a few 2^-126, below 2^-74.  A sum of at
 *   least 2^-37 is wrong by up to k 2^-37 of itself then.  The bound of a chain of FP32
 *   multiply-adds is 2^13 times that: k 2^-24 of the sum of the terms' magnitudes, which is no less
 *   than their sum's.
 * So where all sums are finite and at least 2^-37, B is good enough.  Else the consumers read its
 * columns again and look at each element: sums of integers that cancel, or columns of zeros, are
 * found to be as they should be.  If one is outside, they compute by fused multiply-adds.
 *
 * Registers of a consumer, g = lane / 4, t = lane % 4 (PTX ISA, "Register Fragments for
 * wgmma.mma_async.m64nNk8"): element i of the first operand is row g + 8 (i % 2), k t + 4 (i / 2);
 * sum e is row g + 8 (e / 2 % 2), column 8 (e / 4) + 2 t + e % 2.  Each warp has 16 of the 64 rows.
 * Here rows are columns of C, and columns its rows.
 */
#include "common/tf32.clh"
#include "common/warp.clh"
#include "common/wgmma.clh"
#include "matmul/matmul_access.clh"
#include "matmul/matmul_align.clh"
#include "matmul/matmul_bands.clh"
#include "matmul/matmul_parts.clh"
#include "matmul/matmul_strict.clh"

#ifndef STAGES
#error "STAGES: blocks along k in flight"
#endif
#ifndef COPY
#error "COPY: bytes of B that a copy brings, 16 or 1024"
#endif
#if !defined(ALIGNED_A) || !defined(ALIGNED_B)
#error "ALIGNED_A, ALIGNED_B: 1 where vectors of 4 are aligned, else 0"
#endif
#if !defined(PADDED_A) || !defined(PADDED_B)
#error "PADDED_A, PADDED_B: 1 where zeros follow, up to whole tiles, else 0"
#endif

#if TILE_M != 128 || TILE_N != 256 || BLOCK_K != 16 || CONSUMERS != 256 || PRODUCERS != 128
#error                                                                                             \
    "TILE_M, TILE_N, BLOCK_K, CONSUMERS, PRODUCERS: 128, 256, 16, 256 and 128, as registers are used"
#endif
#if !defined(ROW_BYTES) || !defined(ROW_PITCH) || !defined(LEAD)
#error "ROW_BYTES, ROW_PITCH, LEAD: bytes of a row of A's and of B's blocks, and A's blocks ahead"
#endif
/* Whether rows of a tile of B may be copied whole. */
#define WHOLE_ROWS (COPY == 1024 && ALIGNED_B && !TRANS_B)

/* A block of A, split: rows of 16 big and 16 small parts along k, as wgmma.clh has tiles. */
#define IMAGE_BYTES (TILE_M * ROW_BYTES)

/* A block of B as it is in memory: 16 rows of 256 columns, or 256 rows of 16 along k.  A warp reads
 * 4 along k of 8 columns at once, which must lie in different banks: so rows of columns are 32
 * bytes longer than they need be, and those along k have their four vectors swizzled. */
#define RAW_BYTES (TRANS_B ? TILE_N * ROW_PITCH : BLOCK_K * ROW_PITCH)

/* Blocks of A on their way to be split. */
#define LEAD_BYTES (TILE_M * BLOCK_K * 4)

/* Where they start in local memory, from a multiple of 1024. */
#define RAW_AT  (STAGES * IMAGE_BYTES)
#define LEAD_AT (RAW_AT + STAGES * RAW_BYTES)
#define BYTES   (LEAD_AT + LEAD * LEAD_BYTES)

/* Magnitudes in C from there on are sure: see above. */
#define SURE_MIN 0x1p-37f

/* A work-group's tile of C: its first row and column, blocks along k to add up, and addresses in
 * local memory: of the blocks above, and of a barrier a stage that it is full, and empty. */
typedef struct tile {
    uint i0, j0, blocks, memory, full, empty;
} tile;

/* What work-items found about the tile, each 1 where somebody did. */
typedef struct findings {
    uint unsure; /* whether B can be split */
    uint beyond; /* what cannot be split */
} findings;

/* To the next stage.  A barrier's phases alternate: the parity to wait for changes each round. */
static inline void advance(uint *stage, uint *parity)
{
    if (++*stage == STAGES) {
        *stage = 0;
        *parity ^= 1;
    }
}

/* Whether rows of A, or columns of B, up to `end` are there to be read up to `end_k` along k. */
static inline bool reaches_a(const product *p, uint end, uint end_k)
{
    return PADDED_A ? true : end <= p->m && end_k <= p->k;
}

static inline bool reaches_b(const product *p, uint end, uint end_k)
{
    return PADDED_B ? true : end <= p->n && end_k <= p->k;
}

/* ---- producers: A ---------------------------------------------------------------------------- */

/* How many elements there are from `at` on. */
static inline uint inside(uint at, uint most)
{
    return at < most ? most - at : 0;
}

/* Each producer brings four vectors of four: of its chunk of 4 along k for rows that are 32 apart,
 * or, where A has neighbours across k, of four rows for each k of the chunk.  Eight of them, which
 * store to local memory at once, have four chunks of two rows that are 4 apart: other banks. */
static inline uint chunk_of(uint producer)
{
    return producer % 4;
}

static inline uint row_of(uint producer)
{
    return TRANS_A ? producer / 4 * 4 : producer / 32 * 8 + producer / 8 % 4 + producer / 4 % 2 * 4;
}

/* The first vector of the block at p0. */
static inline __global const float *vector_of(const product *p, const tile *t, uint producer,
                                              uint p0)
{
    return p->a + at_a(t->i0 + row_of(producer), p0 + chunk_of(producer) * 4, p->lda);
}

/* Begin to copy the vectors of the block at p0, the first to `lead`. */
static inline void bring_a(const product *p, const tile *t, uint producer, uint p0, uint lead)
{
    __global const float *from = vector_of(p, t, producer, p0);

#pragma unroll
    for (uint v = 0; v < 4; v++) {
        const uint i = t->i0 + row_of(producer) + (TRANS_A ? 0 : 32 * v);
        const uint q = p0 + chunk_of(producer) * 4 + (TRANS_A ? v : 0);
        const uint count =
            TRANS_A ? (q < p->k ? inside(i, p->m) : 0) : (i < p->m ? inside(q, p->k) : 0);

        copy_4(lead + v * PRODUCERS * 16, from + v * (TRANS_A ? 1 : 32) * (ulong)p->lda, count,
               ALIGNED_A);
    }
}

/* The same for a block that is in A as a whole, from its first vector on: with no edges to look
 * for. */
static inline void bring_whole_a(const product *p, __global const float *from, uint lead)
{
#pragma unroll
    for (uint v = 0; v < 4; v++)
        copy_16(lead + v * PRODUCERS * 16, from + v * (TRANS_A ? 1 : 32) * (ulong)p->lda);
}

/* Where in an image the big part of the first vector goes. */
static inline uint place_of(uint producer)
{
    const uint row = row_of(producer);

    return row * ROW_BYTES + (chunk_of(producer) ^ (row & 7)) * 16;
}

/* Where the one of vector v goes: of rows that are 32 apart, chunks are swizzled alike; of four
 * from a multiple of 4 on, by one more each. */
static inline uint place_beside(uint first, uint v)
{
    return TRANS_A ? (first ^ v * 16) + v * ROW_BYTES : first + v * 32 * ROW_BYTES;
}

/* Split what has come to `lead`, the first big part to `first`, and measure it. */
static inline void split_a(uint lead, uint first, tf32_sizes *sizes)
{
    /* Four chunks on, before they are swizzled. */
    const uint first_small = first ^ 64;
    float4 x[4];

#pragma unroll
    for (uint v = 0; v < 4; v++)
        x[v] = local_load_floats(lead + v * PRODUCERS * 16);
#pragma unroll
    for (uint v = 0; v < 4; v++) {
        float4 along = x[v];
        uint4 big, small;

        if (TRANS_A && v == 0)
            along = (float4)(x[0].s0, x[1].s0, x[2].s0, x[3].s0);
        if (TRANS_A && v == 1)
            along = (float4)(x[0].s1, x[1].s1, x[2].s1, x[3].s1);
        if (TRANS_A && v == 2)
            along = (float4)(x[0].s2, x[1].s2, x[2].s2, x[3].s2);
        if (TRANS_A && v == 3)
            along = (float4)(x[0].s3, x[1].s3, x[2].s3, x[3].s3);
        tf32_measure(sizes, along);
        tf32_split(&big, &small, along);
        local_store(place_beside(first, v), big);
        local_store(place_beside(first_small, v), small);
    }
}

/* ---- producers: B ---------------------------------------------------------------------------- */

/* Where whole rows are copied, four lanes of each warp copy a row each: this one of a block. */
static inline uint whole_row_of(uint producer)
{
    return producer / 32 * 4 + producer % 4;
}

/* Begin to copy it, from its address on, to the block at `raw`. */
static inline void bring_whole_row(__global const float *from, uint producer, uint raw, uint full)
{
    if (producer % 32 == 0)
        mbarrier_expect(full, 4 * TILE_N * 4);
    /* Announced before copied. */
    warp_barrier();
    if (producer % 32 < 4)
        bulk_copy(raw + whole_row_of(producer) * ROW_PITCH, from, TILE_N * 4, full);
}

/* Begin to copy the block of B at p0.  `full` will not complete before it has arrived. */
static inline void bring_b(const product *p, const tile *t, uint producer, uint p0, uint raw,
                           uint full)
{
    if (WHOLE_ROWS && reaches_b(p, t->j0 + TILE_N, p0 + BLOCK_K)) {
        bring_whole_row(p->b + at_b(p0 + whole_row_of(producer), t->j0, p->ldb), producer, raw,
                        full);
        return;
    }
#pragma unroll
    for (uint v = 0; v < TILE_N * BLOCK_K / 4 / PRODUCERS; v++) {
        const uint e = v * PRODUCERS + producer;
        const uint column = TRANS_B ? e / 4 : e % 64 * 4, row = TRANS_B ? e % 4 * 4 : e / 64;
        const uint j = t->j0 + column, q = p0 + row;
        const uint count =
            TRANS_B ? (j < p->n ? inside(q, p->k) : 0) : (q < p->k ? inside(j, p->n) : 0);
        const uint to = TRANS_B ? column * ROW_PITCH + ((row / 4) ^ (column / 2 % 4)) * 16
                                : row * ROW_PITCH + column * 4;

        copy_4(raw + to, p->b + at_b(q, j, p->ldb), count, ALIGNED_B);
    }
    copies_delay(full);
}

/* ---- producers ------------------------------------------------------------------------------- */

/* To the compiler, x has another value from here on. */
#define FORGET(x) __asm__ volatile("" : "+r"(x))

/* Keep the stages filled.  A stage is full when all four warps have split their part of A and all
 * copies of B have arrived.  `whole`, known to the compiler: there are no edges to look for, and
 * addresses go on from block to block. */
IN_REGISTERS void produce(const product *p, const tile *t, bool whole, __local findings *found)
{
    const bool inner = ALIGNED_A && reaches_a(p, t->i0 + TILE_M, 0);
    uint producer = get_local_id(0) - CONSUMERS;
    uint stage = 0, parity = 1, block = 0, slot = 0;
    tf32_sizes sizes = TF32_NONE;
    /* What is to be brought next. */
    __global const float *a = vector_of(p, t, producer, 0);
    __global const float *b = p->b + at_b(whole_row_of(producer), t->j0, p->ldb);

#pragma unroll
    for (uint ahead = 0; ahead < LEAD; ahead++) {
        const uint lead = t->memory + LEAD_AT + ahead * LEAD_BYTES + producer * 16;

        if (ahead < t->blocks && whole)
            bring_whole_a(p, a, lead);
        else if (ahead < t->blocks)
            bring_a(p, t, producer, ahead * BLOCK_K, lead);
        copies_commit();
        a += at_a(0, BLOCK_K, p->lda);
    }
#pragma unroll 1
    do {
        const uint full = t->full + 8 * stage, raw = t->memory + RAW_AT + stage * RAW_BYTES;
        uint lead;

        /* What depends on the producer is recomputed in each round, to save registers. */
        if (!whole)
            FORGET(producer);
        lead = t->memory + LEAD_AT + slot + producer * 16;
        mbarrier_wait(t->empty + 8 * stage, parity);
        if (whole)
            bring_whole_row(b, producer, raw, full);
        else
            bring_b(p, t, producer, block * BLOCK_K, raw, full);
        b += at_b(BLOCK_K, 0, p->ldb);
        /* All but the last batches have arrived, which are of the next blocks of A. */
        COPIES_WAIT(LEAD - 1);
        split_a(lead, t->memory + stage * IMAGE_BYTES + place_of(producer), &sizes);
        /* Before the last arrival, which consumers wait for. */
        if (block + 1 == t->blocks && tf32_any_beyond(sizes))
            found->beyond = 1;
        wgmma_publish();
        /* The warp's stores come before its arrival. */
        warp_barrier();
        if (producer % 32 == 0)
            mbarrier_arrive(full);
        if (whole ? block + LEAD < t->blocks : inner && (block + LEAD + 1) * BLOCK_K <= p->k)
            bring_whole_a(p, a, lead);
        else if (!whole && block + LEAD < t->blocks)
            bring_a(p, t, producer, (block + LEAD) * BLOCK_K, lead);
        copies_commit();
        if (p->beta != 0 && block == (t->blocks > STAGES ? t->blocks - STAGES : 0))
            product_expect(p, t->i0, t->j0, TILE_M, TILE_N, producer, PRODUCERS);
        a += at_a(0, BLOCK_K, p->lda);
        slot = slot + LEAD_BYTES == LEAD * LEAD_BYTES ? 0 : slot + LEAD_BYTES;
        advance(&stage, &parity);
    } while (++block < t->blocks);
    COPIES_WAIT(0);
}

/* ---- consumers ------------------------------------------------------------------------------- */

/* Four columns along k and those 8 further on for each half of a block, as wgmma takes them from
 * registers: element 4 h + i is column 8 (i % 2), k 8 h + 4 (i / 2), from the work-item's first. */
#define HELD 8

/* The assembly, a step a line. */
/* clang-format off */
#define TEXT(x)          #x
#define TEXT_EXPANDED(x) TEXT(x)
#define LOAD(x, from, bytes) "ld.shared.b32 " x ", [" from "+" TEXT_EXPANDED(bytes) "];\n\t"
#if TRANS_B
#define SWIZZLED(from, chunk) "xor.b32 at, " from ", " TEXT_EXPANDED(chunk) "*16;\n\t"
#define LOAD_ALL(from)                                                                             \
    LOAD("x0", from, 0) LOAD("x1", from, 8 * 64)                                                   \
    SWIZZLED(from, 1) LOAD("x2", "at", 0) LOAD("x3", "at", 8 * 64)                                 \
    SWIZZLED(from, 2) LOAD("x4", "at", 0) LOAD("x5", "at", 8 * 64)                                 \
    SWIZZLED(from, 3) LOAD("x6", "at", 0) LOAD("x7", "at", 8 * 64)
#define PIECE_BYTES (64 * ROW_PITCH)
#else
#define LOAD_ALL(from)                                                                             \
    LOAD("x0", from, 0) LOAD("x1", from, 8 * 4)                                                    \
    LOAD("x2", from, 4 * 1056) LOAD("x3", from, 4 * 1056 + 8 * 4)                                  \
    LOAD("x4", from, 8 * 1056) LOAD("x5", from, 8 * 1056 + 8 * 4)                                  \
    LOAD("x6", from, 12 * 1056) LOAD("x7", from, 12 * 1056 + 8 * 4)
#define PIECE_BYTES (64 * 4)
#endif

/* Text for each of the eight: how(i, operand), after the 64 sums. */
#define EACH(how)                                                                                  \
    how(0, 64) how(1, 65) how(2, 66) how(3, 67) how(4, 68) how(5, 69) how(6, 70) how(7, 71)
#define TAKE(i, operand) "mov.b32 x" #i ", %" #operand ";\n\t"
#define GIVE(i, operand) "mov.b32 %" #operand ", x" #i ";\n\t"
/* As tf32_split has it. */
#define SPLIT(i, operand)                                                                          \
    "add.u32 big" #i ", x" #i ", 0x1000;\n\t"                                                      \
    "and.b32 big" #i ", big" #i ", 0xFFFFE000;\n\t"                                                \
    "sub.f32 small" #i ", x" #i ", big" #i ";\n\t"
#define REGISTERS                                                                                  \
    ".reg .b64 a<4>;\n\t"                                                                          \
    ".reg .b32 x<8>, big<8>, small<8>, at;\n\t"

#define BIG_0   "{big0, big1, big2, big3}"
#define BIG_1   "{big4, big5, big6, big7}"
#define SMALL_0 "{small0, small1, small2, small3}"
#define SMALL_1 "{small4, small5, small6, small7}"
/* sums := keep * sums + b a, for 64 x 8 of B^T and 8 x 128 of A^T. */
#define MULTIPLY(b, a, keep)                                                                       \
    WGMMA "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {" WGMMA_SUMS_64 "}, "             \
          b ", " a ", " keep ", 1, 1;\n\t"
/* Split x and multiply it by a stage of A, whose image has 8 k each of big, big, small, small.  On
 * the way get the next x and measure it. */
#define MULTIPLY_STAGE(image, keep, next)                                                          \
    EACH(SPLIT)                                                                                    \
    "mov.b64 a0, " image ";\n\t"                                                                   \
    "add.s64 a1, a0, 2;\n\tadd.s64 a2, a0, 4;\n\tadd.s64 a3, a0, 6;\n\t"                           \
    WGMMA_FENCE                                                                                    \
    MULTIPLY(SMALL_0, "a0", keep)                                                                  \
    MULTIPLY(BIG_0, "a2", "1")                                                                     \
    MULTIPLY(SMALL_1, "a1", "1")                                                                   \
    MULTIPLY(BIG_1, "a3", "1")                                                                     \
    MULTIPLY(BIG_0, "a0", "1")                                                                     \
    MULTIPLY(BIG_1, "a1", "1")                                                                     \
    WGMMA_COMMIT                                                                                   \
    LOAD_ALL(next)                                                                                 \
    WGMMA_WAIT("0")

#define UPDATED(x) "+r"(x)
#define WRITTEN(x) "=r"(x)
/* sums := a piece of B^T times A^T over two stages, of which x is the first of B.  Then x is what
 * lies at `next`.  All in one statement: sums that pass from one to another would be held twice. */
#define MULTIPLY_PAIR(sums, x, image0, image1, from1, next)                                        \
    __asm__ volatile("{\n\t" REGISTERS                                                             \
                     EACH(TAKE)                                                                    \
                     MULTIPLY_STAGE("%72", "0", "%74")                                             \
                     MULTIPLY_STAGE("%73", "1", "%75")                                             \
                     EACH(GIVE) "}"                                                                \
                     : OPERANDS_64(SUM_WRITTEN, sums, 0), OPERANDS_8(UPDATED, x, 0)                \
                     : "l"(image0), "l"(image1), "r"(from1), "r"(next)                             \
                     : "memory")

/* The first x.  The sums are there for their numbers, and not touched. */
#define LOAD_FIRST(sums, x, from)                                                                  \
    __asm__ volatile("{\n\t" REGISTERS                                                             \
                     LOAD_ALL("%72")                                                               \
                     EACH(GIVE) "}"                                                                \
                     : OPERANDS_64(SUM_UPDATED, sums, 0), OPERANDS_8(WRITTEN, x, 0)                \
                     : "r"(from)                                                                   \
                     : "memory")
/* clang-format on */

IN_REGISTERS void add(float *sums, const float *part)
{
#pragma unroll
    for (uint e = 0; e < 64; e++)
        sums[e] += part[e];
}

/* Of a work-item's 64 sums: the row and column of sum e, from those of the first. */
static inline uint down(uint e)
{
    return e / 4 * 8 + e % 2;
}

static inline uint across(uint e)
{
    return e / 2 % 2 * 8;
}

/* Row and column in C of the first sum, of the 64 columns from j0 on. */
static inline uint2 first_of(const tile *t, uint j0)
{
    const uint warp = get_local_id(0) / 32 % 4, lane = get_local_id(0) % 32;

    return (uint2)(t->i0 + lane % 4 * 2, j0 + warp * 16 + lane / 4);
}

/* Whether one of the work-item's sums is too small, or not finite, to vouch for B. */
IN_REGISTERS bool any_unsure(const product *p, const tile *t, uint j0, bool whole,
                             const float *sums)
{
    const uint2 at = first_of(t, j0);
    bool unsure = false;

#pragma unroll
    for (uint e = 0; e < 64; e++)
        if (whole || (at.x + down(e) < p->m && at.y + across(e) < p->n))
            unsure |= !(fabs(sums[e]) >= SURE_MIN && fabs(sums[e]) <= FLT_MAX);
    return unsure;
}

/* Floats from row to row of a warp group's sums in local memory, 128 x 128 of them: what a warp
 * places at once, four rows that are two apart of eight neighbours, is in different banks. */
#define PITCH (TILE_N / 2 + 4)
#if 2 * TILE_M * PITCH * 4 > BYTES
#error "STAGES: too few: the sums do not fit"
#endif

/* Of the work-items of a warp group. */
static inline void group_barrier(void)
{
    __asm__ volatile("bar.sync %0, 128;" ::"r"(2 + get_local_id(0) / 128) : "memory");
}

/* Place the sums of 64 columns where the warp group's first is at `to`. */
IN_REGISTERS void place_sums(uint to, const float *sums)
{
    const uint warp = get_local_id(0) / 32 % 4, lane = get_local_id(0) % 32;

    to += (lane % 4 * 2 * PITCH + warp * 16 + lane / 4) * 4;
#pragma unroll
    for (uint e = 0; e < 64; e++)
        local_store_1(to + (down(e) * PITCH + across(e)) * 4, as_uint(sums[e]));
}

/* Store the sums of 64 columns from j0 on of a tile that C has all of, where beta is 0.  Without a
 * way through local memory a product of 2048 takes 141.1 us of an H200, with it 141.9. */
IN_REGISTERS void store_whole(const product *p, const tile *t, uint j0, const float *sums)
{
    const uint2 at = first_of(t, j0);
    __global float *c = product_at(p, at.x, at.y);

#pragma unroll
    for (uint e = 0; e < 64; e++)
        c[down(e) * (ulong)p->ldc + across(e)] = p->alpha * sums[e];
}

/* Store the sums of a warp group's 128 columns from j0 on, through local memory, so that neighbours
 * of C are stored together. */
IN_REGISTERS void store(const product *p, const tile *t, uint j0, const float *left,
                        const float *right)
{
    const uint warp = get_local_id(0) / 32, first = warp % 4 * 32;
    const uint own = t->memory + warp / 4 * (TILE_M * PITCH * 4);

    place_sums(own, left);
    place_sums(own + 64 * 4, right);
    /* Placed before stored: below, we read what other warps placed. */
    group_barrier();
    product_store_rows(p, t->i0 + first, j0, own + first * PITCH * 4, PITCH, 32, TILE_N / 2 / 32);
}

/* Whether some of `width` rows or columns of `depth` elements along k cannot be split.  Two of them
 * are `beside` elements apart, and two along k are `along`; `most` is as many as there can be. */
IN_REGISTERS bool any_beyond(__global const float *x, ulong beside, ulong along, uint width,
                             uint depth, uint most)
{
    bool beyond = false;

#pragma unroll 1
    for (uint p0 = 0; p0 < depth; p0 += 32)
#pragma unroll 16
        for (uint v = 0; v < most * 32 / CONSUMERS; v++) {
            /* Neighbouring work-items read neighbours.  Beyond the edges they look at the last ones
             * again, so that no branch stands between the loads: they run side by side. */
            const uint e = v * CONSUMERS + get_local_id(0);
            const uint w = min(along == 1 ? e / 32 : e % most, width - 1);
            const uint q = min(p0 + (along == 1 ? e % 32 : e / most), depth - 1);

            beyond |= tf32_beyond(x[w * beside + q * along]);
        }
    return beyond;
}

/* Whether something in the tile's columns of B cannot be split. */
IN_REGISTERS bool columns_beyond(const product *p, const tile *t)
{
    return any_beyond(p->b + at_b(0, t->j0, p->ldb), TRANS_B ? p->ldb : 1, TRANS_B ? 1 : p->ldb,
                      p->n - t->j0, p->k, TILE_N);
}

/* Multiply all stages as they arrive, two at once, and store.  Returns whether it has: not where
 * there is something that cannot be split. */
IN_REGISTERS bool consume(const product *p, const tile *t, bool whole, __local findings *found)
{
    const uint warp = get_local_id(0) / 32, lane = get_local_id(0) % 32;
    const uint column = warp / 4 * (TILE_N / 2) + warp % 4 * 16 + lane / 4, k = lane % 4;
    /* Of this work-item's first element in the first stage of B. */
    const uint first =
        t->memory + RAW_AT +
        (TRANS_B ? column * ROW_PITCH + (column / 2 % 4) * 16 + k * 4 : k * ROW_PITCH + column * 4);
    const ulong images = wgmma_tile(t->memory);
    const uint j0 = t->j0 + warp / 4 * (TILE_N / 2);
    uint stage = 0, parity = 0, blocks = t->blocks;
    float part[64], left[64], right[64]; /* sums of the first 64 columns and of the others */
    uint x[HELD];

#pragma unroll
    for (uint e = 0; e < 64; e++) {
        left[e] = 0;
        right[e] = 0;
    }
    mbarrier_wait(t->full, 0);
    LOAD_FIRST(left, x, first);
    /* A loop that might not run would serialize the instructions. */
#pragma unroll 1
    do {
        const uint stage0 = stage, from0 = first + stage * RAW_BYTES;
        uint stage1, from1, next;

        advance(&stage, &parity);
        stage1 = stage;
        from1 = first + stage * RAW_BYTES;
        mbarrier_wait(t->full + 8 * stage, parity);
        MULTIPLY_PAIR(part, x, images + stage0 * (IMAGE_BYTES / 16),
                      images + stage1 * (IMAGE_BYTES / 16), from1, from0 + PIECE_BYTES);
        add(left, part);
        advance(&stage, &parity);
        blocks -= 2;
        mbarrier_wait_if(blocks, t->full + 8 * stage, parity);
        /* After the last, there is nothing to read ahead but this once more. */
        next = blocks ? first + stage * RAW_BYTES : from0;
        MULTIPLY_PAIR(part, x, images + stage0 * (IMAGE_BYTES / 16),
                      images + stage1 * (IMAGE_BYTES / 16), from1 + PIECE_BYTES, next);
        mbarrier_arrive_if(lane == 0, t->empty + 8 * stage0);
        mbarrier_arrive_if(lane == 0, t->empty + 8 * stage1);
        add(right, part);
    } while (blocks);
    if (any_unsure(p, t, j0, whole, left) || any_unsure(p, t, j0 + 64, whole, right))
        found->unsure = 1;
    /* Found before looked for. */
    strict_barrier();
    if (found->beyond)
        return false;
    if (found->unsure) {
        /* Looked for, above, before found. */
        strict_barrier();
        if (columns_beyond(p, t))
            found->beyond = 1;
        /* Found before looked for. */
        strict_barrier();
        if (found->beyond)
            return false;
    }
    if (whole && p->beta == 0) {
        store_whole(p, t, j0, left);
        store_whole(p, t, j0 + 64, right);
    } else {
        store(p, t, j0, left, right);
    }
    return true;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* call.k is 0 where there is nothing to add up; then C is scaled alone.  Tiles that cannot be split
 * are counted in strict_tiles, which may be NULL. */
__kernel __attribute__((reqd_work_group_size(CONSUMERS + PRODUCERS, 1, 1))) void
matmul_wgmma_fused(__global const float *a, __global const float *b, __global float *c,
                   __global uint *strict_tiles, const matmul_call call)
{
    __local uchar memory[BYTES + 1024] __attribute__((aligned(1024)));
    __local ulong barriers[2 * STAGES];
    __local findings found;
    product p = product_of_call(a, b, c, &call);
    const uint m = p.m, n = p.n;
    const uint across = (n + TILE_N - 1) / TILE_N, down = (m + TILE_M - 1) / TILE_M;
    const uint part = get_group_id(0) / (across * down);
    const uint2 at = tile_of_group(get_group_id(0) % (across * down), across, down);
    tile t = {.i0 = at.y * TILE_M,
              .j0 = at.x * TILE_N,
              .memory = (local_address(memory) + 1023) / 1024 * 1024,
              .full = local_address(barriers),
              .empty = local_address(barriers) + 8 * STAGES};
    const bool whole = t.i0 + TILE_M <= m && t.j0 + TILE_N <= n;
    bool filled;
    uint k;

    product_take_part(&p, part, part * call.span, call.span);
    k = p.k;
    t.blocks = (k + 2 * BLOCK_K - 1) / (2 * BLOCK_K) * 2;
    filled = reaches_a(&p, t.i0 + TILE_M, t.blocks * BLOCK_K) &&
             reaches_b(&p, t.j0 + TILE_N, t.blocks * BLOCK_K);
    if (get_local_id(0) == 0) {
        found.unsure = found.beyond = 0;
        for (uint s = 0; s < STAGES; s++) {
            mbarrier_init(t.full + 8 * s, PRODUCERS / 32);
            mbarrier_init(t.empty + 8 * s, CONSUMERS / 32);
        }
        mbarrier_publish();
    }
    /* Initialised before used. */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) >= CONSUMERS) {
        __asm__ volatile(WGMMA "setmaxnreg.dec.sync.aligned.u32 40;" ::: "memory");
        if (WHOLE_ROWS && ALIGNED_A && filled && k)
            produce(&p, &t, true, &found);
        else if (k)
            produce(&p, &t, false, &found);
    } else {
        __asm__ volatile(WGMMA "setmaxnreg.inc.sync.aligned.u32 232;" ::: "memory");
        if (k == 0 || !consume(&p, &t, whole, &found)) {
            if (k)
                count_strict_tile(strict_tiles);
            multiply_strictly(&p, t.i0, t.j0, TILE_M, TILE_N, (__local float *)memory);
        }
    }
}
