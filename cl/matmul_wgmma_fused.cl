/* C := alpha op(A) op(B) + beta C in FP32: Hopper's matrix instructions on A and B as they are.
 *
 * Idea: three TF32 products, as matmul_wgmma.cl takes them, without packing.  wgmma takes its
 *     second operand from local memory, in a swizzled order along k, and its first from there or
 *     from registers.  So C^T = B^T A^T is computed.  Producers copy A to local memory, split it
 *     there into big and small parts, and store them in that order.  B stays as it comes:
 *     consumers read it in the order in which their registers must hold it, and split it there.
 *     The units add up with truncation, so every 32 along k the sums start from zero and are
 *     added in ordinary FP32 registers.
 * Work split: a group of 384 computes 128 rows by 256 columns of C.  Its last 128 produce, blocks
 *     of 16 along k, STAGES of them ahead.  The others consume, two warp groups of 128 columns
 *     each, as two pieces of 64.  While one warp group splits and adds, the other's products keep
 *     the matrix units busy.
 * Parameters: STAGES; BAND (matmul_bands.clh); COPY, bytes of B that a copy brings: 16, or 1024,
 *     whole rows of tiles where that can be; ALIGNED_A, ALIGNED_B: whether four neighbours that
 *     start at a multiple of 4 are 16 aligned bytes; TRANS_A, TRANS_B (matmul_access.clh).
 * Launch: 1-D, groups of 384, one per started tile of C.
 * Local memory: STAGES * (IMAGE_BYTES + RAW_BYTES) + LEAD * LEAD_BYTES, up to 1 KiB of alignment,
 *     and the barriers.
 * Limits: m, n, k and the leading dimensions up to 2^31.  A tile that sees magnitudes outside
 *     2^-50 and 2^50 other than zero (tf32.clh) is computed again, by fused multiply-adds.
 *
 * Registers of a consumer, g = lane / 4, t = lane % 4 (PTX ISA, "Register Fragments for
 * wgmma.mma_async.m64nNk8"): element i of the first operand is row g + 8 (i % 2), k t + 4 (i / 2);
 * sum e is row g + 8 (e / 2 % 2), column 8 (e / 4) + 2 t + e % 2.  Each warp has 16 of the 64 rows.
 * Here rows are columns of C, and columns its rows.
 */
#include "matmul_access.clh"
#include "matmul_bands.clh"
#include "matmul_strict.clh"
#include "tf32.clh"
#include "wgmma.clh"

#ifndef STAGES
#error "STAGES: blocks along k under way"
#endif
#ifndef COPY
#error "COPY: bytes of B that a copy brings, 16 or 1024"
#endif
#if !defined(ALIGNED_A) || !defined(ALIGNED_B)
#error "ALIGNED_A, ALIGNED_B: 1 where vectors of 4 are aligned, else 0"
#endif

#define TILE_M    128
#define TILE_N    256
#define BLOCK_K   16
#define CONSUMERS 256
#define PRODUCERS 128
/* Whether rows of a tile of B may be copied whole. */
#define WHOLE_ROWS (COPY == 1024 && ALIGNED_B && !TRANS_B)

/* A block of A, split: rows of 16 big and 16 small parts along k, as wgmma.clh has tiles. */
#define ROW_BYTES   128
#define IMAGE_BYTES (TILE_M * ROW_BYTES)

/* A block of B as it is in memory: 16 rows of 256 columns, or 256 rows of 16 along k.  A warp reads
 * 4 along k of 8 columns at once, which must lie in different banks: so rows of columns are 32
 * bytes longer than they need be, and those along k have their four vectors swizzled. */
#define ROW_PITCH (TRANS_B ? 64 : 1056)
#define RAW_BYTES (TRANS_B ? TILE_N * ROW_PITCH : BLOCK_K * ROW_PITCH)

/* Blocks of A on their way to be split. */
#define LEAD       3
#define LEAD_BYTES (TILE_M * BLOCK_K * 4)

/* Where they start in local memory, from a multiple of 1024. */
#define RAW_AT  (STAGES * IMAGE_BYTES)
#define LEAD_AT (RAW_AT + STAGES * RAW_BYTES)
#define BYTES   (LEAD_AT + LEAD * LEAD_BYTES)

/* A work-group's tile of C: its first row and column, blocks along k to add up, and addresses in
 * local memory: of the blocks above, and of a barrier a stage that it is full, and empty. */
typedef struct tile {
    uint i0, j0, blocks, memory, full, empty;
} tile;

/* To the next stage.  A barrier's phases alternate: the parity to wait for changes each round. */
static inline void advance(uint *stage, uint *parity)
{
    if (++*stage == STAGES) {
        *stage = 0;
        *parity ^= 1;
    }
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

static inline uint row_of(uint producer, uint vector)
{
    return TRANS_A ? producer / 4 * 4
                   : producer / 32 * 8 + producer / 8 % 4 + producer / 4 % 2 * 4 + vector * 32;
}

/* Begin to copy them, of the block at p0. */
static inline void bring_a(const product *p, const tile *t, uint producer, uint p0, uint lead)
{
#pragma unroll
    for (uint v = 0; v < 4; v++) {
        const uint i = t->i0 + row_of(producer, v);
        const uint q = p0 + chunk_of(producer) * 4 + (TRANS_A ? v : 0);
        const uint count =
            TRANS_A ? (q < p->k ? inside(i, p->m) : 0) : (i < p->m ? inside(q, p->k) : 0);

        copy_4(lead + (v * PRODUCERS + producer) * 16, p->a + at_a(i, q, p->lda), count, ALIGNED_A);
    }
}

/* The same for a block that is in A as a whole, from the first vector's address on: with no edges
 * to look for. */
static inline void bring_whole_a(const product *p, __global const float *from, uint producer,
                                 uint lead)
{
    const ulong next = TRANS_A ? p->lda : 32 * (ulong)p->lda;

#pragma unroll
    for (uint v = 0; v < 4; v++)
        copy_16(lead + (v * PRODUCERS + producer) * 16, from + v * next);
}

/* Split what has come, into an image, and measure it. */
static inline void split_a(uint producer, uint lead, uint image, tf32_sizes *sizes)
{
    float4 x[4];

#pragma unroll
    for (uint v = 0; v < 4; v++)
        x[v] = as_float4(local_load(lead + (v * PRODUCERS + producer) * 16));
#pragma unroll
    for (uint v = 0; v < 4; v++) {
        const uint row = row_of(producer, v) + (TRANS_A ? v : 0), chunk = chunk_of(producer);
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
        local_store(image + row * ROW_BYTES + (chunk ^ (row & 7)) * 16, big);
        local_store(image + row * ROW_BYTES + ((chunk + 4) ^ (row & 7)) * 16, small);
    }
}

/* ---- producers: B ---------------------------------------------------------------------------- */

/* Begin to copy the block of B at p0.  `full` will not complete before it has arrived. */
static inline void bring_b(const product *p, const tile *t, uint producer, uint p0, uint raw,
                           uint full)
{
    if (WHOLE_ROWS && t->j0 + TILE_N <= p->n && p0 + BLOCK_K <= p->k) {
        /* Four lanes of each warp copy a row each. */
        if (producer % 32 == 0)
            mbarrier_announce(full, 4 * TILE_N * 4);
        /* Announced before copied. */
        warp_barrier();
        if (producer % 32 < 4) {
            const uint row = producer / 32 * 4 + producer % 32;

            bulk_copy(raw + row * ROW_PITCH, p->b + at_b(p0 + row, t->j0, p->ldb), TILE_N * 4,
                      full);
        }
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
 * copies of B have arrived.  *found := 1 where something in A cannot be split. */
static inline void produce(const product *p, const tile *t, __local uint *found)
{
    const bool whole = ALIGNED_A && t->i0 + TILE_M <= p->m;
    uint producer = get_local_id(0) - CONSUMERS;
    uint stage = 0, parity = 1, block = 0, slot = 0;
    tf32_sizes sizes = TF32_NONE;
    /* The first vector of the block that is to be brought next. */
    __global const float *from =
        p->a + at_a(t->i0 + row_of(producer, 0), chunk_of(producer) * 4, p->lda);

#pragma unroll
    for (uint ahead = 0; ahead < LEAD; ahead++) {
        if (ahead < t->blocks)
            bring_a(p, t, producer, ahead * BLOCK_K, t->memory + LEAD_AT + ahead * LEAD_BYTES);
        copies_commit();
        from += at_a(0, BLOCK_K, p->lda);
    }
#pragma unroll 1
    do {
        const uint full = t->full + 8 * stage, lead = t->memory + LEAD_AT + slot * LEAD_BYTES;

        /* What follows from it is computed anew each time: for more there are no registers. */
        FORGET(producer);
        mbarrier_wait(t->empty + 8 * stage, parity);
        bring_b(p, t, producer, block * BLOCK_K, t->memory + RAW_AT + stage * RAW_BYTES, full);
        /* All but the last batches have arrived, which are of the next blocks of A. */
        COPIES_WAIT(LEAD - 1);
        split_a(producer, lead, t->memory + stage * IMAGE_BYTES, &sizes);
        /* Before the last arrival, which consumers wait for. */
        if (block + 1 == t->blocks && tf32_any_beyond(sizes))
            *found = 1;
        wgmma_publish();
        /* The warp's stores come before its arrival. */
        warp_barrier();
        if (producer % 32 == 0)
            mbarrier_arrive(full);
        if (whole && (block + LEAD + 1) * BLOCK_K <= p->k)
            bring_whole_a(p, from, producer, lead);
        else if (block + LEAD < t->blocks)
            bring_a(p, t, producer, (block + LEAD) * BLOCK_K, lead);
        copies_commit();
        from += at_a(0, BLOCK_K, p->lda);
        slot = slot + 1 == LEAD ? 0 : slot + 1;
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
    "sub.f32 small" #i ", x" #i ", big" #i ";\n\t"                                                 \
    "add.u32 small" #i ", small" #i ", 0x1000;\n\t"
/* As tf32_measure and tf32_any_beyond have it.  What they find is stored at `found` at once: ptxas
 * moves all but memory accesses from under running products to where the units would idle. */
#define MEASURE(i, operand)                                                                        \
    "add.u32 size, x" #i ", x" #i ";\n\t"                                                          \
    "max.u32 most, most, size;\n\t"                                                                \
    "sub.u32 size, size, 1;\n\t"                                                                   \
    "min.u32 least, least, size;\n\t"
#define MEASURE_ALL(found)                                                                         \
    "mov.u32 most, 0;\n\t"                                                                         \
    "mov.u32 least, 0xFFFFFFFF;\n\t"                                                               \
    EACH(MEASURE)                                                                                  \
    "setp.gt.u32 beyond, most, " TEXT_EXPANDED(TF32_MOST) ";\n\t"                                  \
    "setp.lt.or.u32 beyond, least, " TEXT_EXPANDED(TF32_LEAST) "-1, beyond;\n\t"                   \
    "@beyond st.shared.u32 [" found "], 1;\n\t"
#define REGISTERS                                                                                  \
    ".reg .b64 a<4>;\n\t"                                                                          \
    ".reg .b32 x<8>, big<8>, small<8>, at, size, most, least;\n\t"                                 \
    ".reg .pred beyond;\n\t"

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
    MEASURE_ALL("%72")                                                                             \
    WGMMA_WAIT("0")

#define UPDATED(x) "+r"(x)
#define WRITTEN(x) "=r"(x)
/* sums := a piece of B^T times A^T over two stages, of which x is the first of B.  Then x is what
 * lies at `next`.  1 is stored at `found` where what came into x cannot be split.  All in one
 * statement: sums that pass from one to another would be held twice. */
#define MULTIPLY_PAIR(sums, x, found, image0, image1, from1, next)                                 \
    __asm__ volatile("{\n\t" REGISTERS                                                             \
                     EACH(TAKE)                                                                    \
                     MULTIPLY_STAGE("%73", "0", "%75")                                             \
                     MULTIPLY_STAGE("%74", "1", "%76")                                             \
                     EACH(GIVE) "}"                                                                \
                     : OPERANDS_64(SUM_WRITTEN, sums, 0), OPERANDS_8(UPDATED, x, 0)                \
                     : "r"(found), "l"(image0), "l"(image1), "r"(from1), "r"(next)                 \
                     : "memory")

/* The first x.  The sums are there for their numbers, and not touched. */
#define LOAD_FIRST(sums, x, found, from)                                                           \
    __asm__ volatile("{\n\t" REGISTERS                                                             \
                     LOAD_ALL("%73")                                                               \
                     MEASURE_ALL("%72")                                                            \
                     EACH(GIVE) "}"                                                                \
                     : OPERANDS_64(SUM_UPDATED, sums, 0), OPERANDS_8(WRITTEN, x, 0)                \
                     : "r"(found), "r"(from)                                                       \
                     : "memory")
/* clang-format on */

IN_REGISTERS void add(float *sums, const float *part)
{
#pragma unroll
    for (uint e = 0; e < 64; e++)
        sums[e] += part[e];
}

/* The work-item's sums of 64 columns of C, from column j0, and 128 rows. */
IN_REGISTERS void store(const product *p, uint i0, uint j0, const float *sums)
{
    const uint warp = get_local_id(0) / 32 % 4, lane = get_local_id(0) % 32;
    const uint i = i0 + lane % 4 * 2, j = j0 + warp * 16 + lane / 4;

#pragma unroll
    for (uint high = 0; high < 2; high++) {
        if (j + 8 * high >= p->n)
            continue;
#pragma unroll
        for (uint e = 0; e < 32; e++)
            if (i + e / 2 * 8 + e % 2 < p->m)
                product_store(p, i + e / 2 * 8 + e % 2, j + 8 * high,
                              sums[e / 2 * 4 + 2 * high + e % 2]);
    }
}

/* Multiply all stages as they arrive, two at once, and store.  Returns whether it has: not where
 * producers or consumers met what cannot be split. */
IN_REGISTERS bool consume(const product *p, const tile *t, __local uint *found)
{
    const uint warp = get_local_id(0) / 32, lane = get_local_id(0) % 32;
    const uint column = warp / 4 * (TILE_N / 2) + warp % 4 * 16 + lane / 4, k = lane % 4;
    /* Of this work-item's first element in the first stage of B. */
    const uint first =
        t->memory + RAW_AT +
        (TRANS_B ? column * ROW_PITCH + (column / 2 % 4) * 16 + k * 4 : k * ROW_PITCH + column * 4);
    const ulong images = wgmma_tile(t->memory);
    const uint found_at = wgmma_address(found);
    uint stage = 0, parity = 0, blocks = t->blocks;
    float part[64], left[64], right[64]; /* sums of the first 64 columns and of the others */
    uint x[HELD];

#pragma unroll
    for (uint e = 0; e < 64; e++) {
        left[e] = 0;
        right[e] = 0;
    }
    mbarrier_wait(t->full, 0);
    LOAD_FIRST(left, x, found_at, first);
    /* A loop that might not run would serialize the instructions. */
#pragma unroll 1
    do {
        const uint stage0 = stage, from0 = first + stage * RAW_BYTES;
        uint stage1, from1, next;

        advance(&stage, &parity);
        stage1 = stage;
        from1 = first + stage * RAW_BYTES;
        mbarrier_wait(t->full + 8 * stage, parity);
        MULTIPLY_PAIR(part, x, found_at, images + stage0 * (IMAGE_BYTES / 16),
                      images + stage1 * (IMAGE_BYTES / 16), from1, from0 + PIECE_BYTES);
        add(left, part);
        advance(&stage, &parity);
        blocks -= 2;
        mbarrier_wait_if(blocks, t->full + 8 * stage, parity);
        /* After the last, there is nothing to read ahead but this once more. */
        next = blocks ? first + stage * RAW_BYTES : from0;
        MULTIPLY_PAIR(part, x, found_at, images + stage0 * (IMAGE_BYTES / 16),
                      images + stage1 * (IMAGE_BYTES / 16), from1 + PIECE_BYTES, next);
        mbarrier_arrive_if(lane == 0, t->empty + 8 * stage0);
        mbarrier_arrive_if(lane == 0, t->empty + 8 * stage1);
        add(right, part);
    } while (blocks);
    /* Found before looked for. */
    strict_barrier();
    if (*found)
        return false;
    store(p, t->i0, t->j0 + warp / 4 * (TILE_N / 2), left);
    store(p, t->i0, t->j0 + warp / 4 * (TILE_N / 2) + 64, right);
    return true;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* k is 0 where there is nothing to add up; then C is scaled alone. */
__kernel __attribute__((reqd_work_group_size(CONSUMERS + PRODUCERS, 1, 1))) void
matmul_wgmma_fused(uint m, uint n, uint k, float alpha, __global const float *a, ulong offset_a,
                   uint lda, __global const float *b, ulong offset_b, uint ldb, float beta,
                   __global float *c, ulong offset_c, uint ldc)
{
    __local uchar memory[BYTES + 1024] __attribute__((aligned(1024)));
    __local ulong barriers[2 * STAGES];
    __local uint found; /* something that cannot be split */
    const product p = {m,  n, k, alpha, a + offset_a, lda, b + offset_b, ldb, beta, c + offset_c,
                       ldc};
    const uint2 at =
        tile_of_group(get_group_id(0), (n + TILE_N - 1) / TILE_N, (m + TILE_M - 1) / TILE_M);
    const tile t = {.i0 = at.y * TILE_M,
                    .j0 = at.x * TILE_N,
                    .blocks = (k + 2 * BLOCK_K - 1) / (2 * BLOCK_K) * 2,
                    .memory = (wgmma_address(memory) + 1023) / 1024 * 1024,
                    .full = wgmma_address(barriers),
                    .empty = wgmma_address(barriers) + 8 * STAGES};

    if (get_local_id(0) == 0) {
        found = 0;
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
        if (k)
            produce(&p, &t, &found);
    } else {
        __asm__ volatile(WGMMA "setmaxnreg.inc.sync.aligned.u32 232;" ::: "memory");
        if (k == 0 || !consume(&p, &t, &found))
            multiply_strictly(&p, t.i0, t.j0, TILE_M, TILE_N, (__local float *)memory);
    }
}
