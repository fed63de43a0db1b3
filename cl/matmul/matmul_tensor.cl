/* C := alpha op(A) op(B) + beta C: Hopper's matrix instructions, fed by tensor copies.
 *
 * Idea: the chip itself copies boxes of A and B into local memory, in the swizzled order that
 *     wgmma takes, with zeros beyond the edges, and float32 rounded to TF32 on the way: one
 *     instruction an operand and block along k, by one work-item, and no packing.
 *     What it cannot copy as it is, a kernel before stages in workspace: rows that are not
 *     aligned to 16 bytes; operands whose neighbours do not run along k, since wgmma takes TF32
 *     along k alone, transposed; float32 that becomes BF16 or FP16.  Of those wgmma takes both
 *     orders.
 * Work split: a group of 384 computes tiles of C, TILE_M x TILE_N each: a producer keeps STAGES
 *     blocks of A and B under way, two warp groups multiply half the rows each.  While they store
 *     a tile, the producer fills the stages for the group's next one.
 * Parameters: FORMAT of the factors (below); FACTOR and RESULT (matmul_elements.clh); TILE_M, 128
 *     or 256, and TILE_N, 128, 192 or 256, not both 256; STAGES; BAND (matmul_bands.clh); TRANS_A,
 *     TRANS_B (matmul_access.clh); STAGED_A, STAGED_B: whether they come from workspace;
 *     CONSUMERS, PRODUCERS, PREPARE_ITEMS, PIECE, ROW_BYTES and MAP_BYTES as the host counts with
 *     them (below).
 * Launch: 1-D, the preparation in work-groups of 256, one for each 64 x 64 elements that are staged
 *     and at least one; then groups of 384, PERSISTENT = 1 as many as compute units or started
 *     tiles of C, 2 one per tile.
 * Local memory: STAGES * (TILE_M + TILE_N) * 128 bytes and up to 1 KiB of alignment; the
 *     preparation 16640 bytes.
 * Limits: m, n, k and the leading dimensions up to 2^31.
 */
#include "common/tensor_copy.clh"
#include "common/warp.clh"
#include "common/wgmma.clh"
#include "matmul/matmul_access.clh"
#include "matmul/matmul_bands.clh"
#include "matmul/matmul_elements.clh"

#define FORMAT_TF32 0
#define FORMAT_BF16 1
#define FORMAT_F16  2

#if FORMAT != FORMAT_TF32 && FORMAT != FORMAT_BF16 && FORMAT != FORMAT_F16
#error "FORMAT: of the factors, 0 for TF32, 1 for BF16, 2 for FP16"
#endif
#if (TILE_M != 128 && TILE_M != 256) || (TILE_N != 128 && TILE_N != 192 && TILE_N != 256) ||       \
    TILE_M + TILE_N > 448
#error "TILE_M, TILE_N: rows and columns of a work-group's tile"
#endif
#ifndef STAGES
#error "STAGES: blocks of A and B under way"
#endif
#if !defined(STAGED_A) || !defined(STAGED_B)
#error "STAGED_A, STAGED_B: 1 where an operand comes from workspace, else 0"
#endif

#if FORMAT == FORMAT_TF32
#define ELEMENT      float
#define ELEMENT_TYPE TENSOR_TF32
#else
#define ELEMENT      ushort
#define ELEMENT_TYPE TENSOR_16_BIT
#endif

/* Whether neighbours in what is copied run along k.  TF32 is staged to make them. */
#define ALONG_A (FORMAT == FORMAT_TF32 || !TRANS_A)
#define ALONG_B (FORMAT == FORMAT_TF32 || TRANS_B)

#if ROW_BYTES != 128
#error "ROW_BYTES: 128, of a row of a box"
#endif
#if CONSUMERS != 256 || PRODUCERS != 128
#error "CONSUMERS, PRODUCERS: 256 and 128, as registers are divided"
#endif
#if !defined(PREPARE_ITEMS) || !defined(PIECE) || PREPARE_ITEMS % PIECE
#error "PREPARE_ITEMS, PIECE: work-items that stage, a multiple of a side of what they stage"
#endif
#if MAP_BYTES != 8 * TENSOR_MAP_WORDS
#error "MAP_BYTES: 8 * TENSOR_MAP_WORDS, of a map in workspace"
#endif

#define ROW         (ROW_BYTES / sizeof(ELEMENT))
#define BLOCK_K     ROW
#define BYTES_A     (TILE_M * ROW_BYTES)
#define BYTES_B     (TILE_N * ROW_BYTES)
#define STAGE_BYTES (BYTES_A + BYTES_B)

/* ---- preparation --------------------------------------------------------------------------- */

/* An operand as it is stored, and where it is staged: transposed where `turned`. */
typedef struct operand {
    __global const factor *x;
    uint ld, rows, columns;
    bool turned;
    __global ELEMENT *to;
    uint pitch; /* elements between rows of what is staged */
} operand;

/* A factor as it is multiplied; TF32 is rounded when it is copied. */
static inline ELEMENT element_of(factor x)
{
#if FACTOR == F32 && FORMAT != FORMAT_TF32
    ELEMENT bits;

#if FORMAT == FORMAT_BF16
    __asm__("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
#else
    __asm__("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
#endif
    return bits;
#else
    return x;
#endif
}

/* Stage the piece of PIECE x PIECE elements: row by row, and where it is turned through local
 * memory, so that neighbouring work-items write neighbours too. */
IN_REGISTERS void stage(operand o, uint piece, __local factor *tile)
{
    const uint across = (o.columns + PIECE - 1) / PIECE;
    const uint r0 = piece / across * PIECE, c0 = piece % across * PIECE;
    const uint x = get_local_id(0) % PIECE, y = get_local_id(0) / PIECE;

#pragma unroll 4
    for (uint e = y; e < PIECE; e += PREPARE_ITEMS / PIECE) {
        const bool inside = r0 + e < o.rows && c0 + x < o.columns;
        const factor v = inside ? o.x[(ulong)(r0 + e) * o.ld + c0 + x] : 0;

        if (o.turned)
            tile[e * (PIECE + 1) + x] = v;
        else if (inside)
            o.to[(ulong)(r0 + e) * o.pitch + c0 + x] = element_of(v);
    }
    if (!o.turned)
        return;
    /* Filled before read: below, we read what other work-items wrote. */
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 4
    for (uint e = y; e < PIECE; e += PREPARE_ITEMS / PIECE)
        if (c0 + e < o.columns && r0 + x < o.rows)
            o.to[(ulong)(c0 + e) * o.pitch + r0 + x] = element_of(tile[x * (PIECE + 1) + e]);
}

/* Stage what has to be, A by the first pieces_a groups and B by the others, and write the maps,
 * A's and then B's, at the start of the workspace. */
__kernel __attribute__((reqd_work_group_size(PREPARE_ITEMS, 1, 1))) void
matmul_tensor_prepare(uint m, uint n, uint k, __global const factor *a, ulong offset_a, uint lda,
                      __global const factor *b, ulong offset_b, uint ldb, __global uchar *work,
                      ulong staged_a, ulong staged_b, uint pitch_a, uint pitch_b, uint pieces_a)
{
    __local factor tile[PIECE * (PIECE + 1)];
    const operand op_a = {a + offset_a,
                          lda,
                          TRANS_A ? k : m,
                          TRANS_A ? m : k,
                          TRANS_A && ALONG_A,
                          (__global ELEMENT *)(work + staged_a),
                          pitch_a};
    const operand op_b = {b + offset_b,
                          ldb,
                          TRANS_B ? n : k,
                          TRANS_B ? k : n,
                          !TRANS_B && ALONG_B,
                          (__global ELEMENT *)(work + staged_b),
                          pitch_b};
    const uint piece = get_group_id(0);

    if (piece == 0 && get_local_id(0) == 0) {
        const tensor of_a = {STAGED_A ? (__global const void *)op_a.to : op_a.x,
                             ALONG_A ? k : m,
                             ALONG_A ? m : k,
                             (ulong)(STAGED_A ? pitch_a : lda) * sizeof(ELEMENT),
                             ROW,
                             ALONG_A ? TILE_M : BLOCK_K};
        const tensor of_b = {STAGED_B ? (__global const void *)op_b.to : op_b.x,
                             ALONG_B ? k : n,
                             ALONG_B ? n : k,
                             (ulong)(STAGED_B ? pitch_b : ldb) * sizeof(ELEMENT),
                             ROW,
                             ALONG_B ? TILE_N : BLOCK_K};
        __global ulong *maps = (__global ulong *)work;

        TENSOR_DESCRIBE(maps, ELEMENT_TYPE, of_a);
        TENSOR_DESCRIBE(maps + TENSOR_MAP_WORDS, ELEMENT_TYPE, of_b);
    }
    if (STAGED_A && piece < pieces_a)
        stage(op_a, piece, tile);
    else if (STAGED_B)
        stage(op_b, piece - pieces_a, tile);
}

/* ---- multiplying --------------------------------------------------------------------------- */

/* The sums of 64 rows by TILE_N columns: HELD in each work-item, the first operands of the
 * assembly.  After them come its tiles of A and B. */
#define HELD (TILE_N / 2)
#if TILE_N == 128
#define COLUMNS          "n128"
#define SUMS             "{" WGMMA_SUMS_64 "}"
#define OPERANDS(how, c) OPERANDS_64(how, c, 0)
#define TILE_A           "%64"
#define TILE_B           "%65"
#elif TILE_N == 192
#define COLUMNS          "n192"
#define SUMS             "{" WGMMA_SUMS_96 "}"
#define OPERANDS(how, c) OPERANDS_64(how, c, 0), OPERANDS_32(how, c, 64)
#define TILE_A           "%96"
#define TILE_B           "%97"
#else
#define COLUMNS          "n256"
#define SUMS             "{" WGMMA_SUMS_128 "}"
#define OPERANDS(how, c) OPERANDS_64(how, c, 0), OPERANDS_64(how, c, 64)
#define TILE_A           "%128"
#define TILE_B           "%129"
#endif

/* An instruction takes 32 bytes of k.  Only those for 16 bits say whether their operands run
 * across k. */
#if FORMAT == FORMAT_TF32
#define SHAPE "m64" COLUMNS "k8.f32.tf32.tf32 "
#define TURNS ", 1, 1;\n\t"
#else
#define TEXT(x)          #x
#define TEXT_EXPANDED(x) TEXT(x)
#if TRANS_A
#define TURN_A "1"
#else
#define TURN_A "0"
#endif
#if TRANS_B
#define TURN_B "0"
#else
#define TURN_B "1"
#endif
#define TURNS ", 1, 1, " TURN_A ", " TURN_B ";\n\t"
#if FORMAT == FORMAT_BF16
#define SHAPE "m64" COLUMNS "k16.f32.bf16.bf16 "
#else
#define SHAPE "m64" COLUMNS "k16.f32.f16.f16 "
#endif
#endif

/* From one instruction's part of a tile to the next, in 16 bytes: along k, 32 bytes of each row;
 * across, 16 rows of 128. */
#if FORMAT == FORMAT_TF32 || !TRANS_A
#define STEPS_A "add.s64 a1, a0, 2;\n\tadd.s64 a2, a0, 4;\n\tadd.s64 a3, a0, 6;\n\t"
#else
#define STEPS_A "add.s64 a1, a0, 128;\n\tadd.s64 a2, a0, 256;\n\tadd.s64 a3, a0, 384;\n\t"
#endif
#if FORMAT == FORMAT_TF32 || TRANS_B
#define STEPS_B "add.s64 b1, b0, 2;\n\tadd.s64 b2, b0, 4;\n\tadd.s64 b3, b0, 6;\n\t"
#else
#define STEPS_B "add.s64 b1, b0, 128;\n\tadd.s64 b2, b0, 256;\n\tadd.s64 b3, b0, 384;\n\t"
#endif

/* sums += a b, for 64 rows of A and TILE_N columns of B. */
#define MULTIPLY(a, b) WGMMA "wgmma.mma_async.sync.aligned." SHAPE SUMS ", " a ", " b ", 1" TURNS
/* sums += A B for one stage of 64 rows, under way on return. */
#define MULTIPLY_STAGE(sums, a, b)                                                                 \
    __asm__ volatile("{\n\t"                                                                       \
                     ".reg .b64 a<4>, b<4>;\n\t"                                                   \
                     "mov.b64 a0, " TILE_A ";\n\t"                                                 \
                     "mov.b64 b0, " TILE_B                                                         \
                     ";\n\t" STEPS_A STEPS_B WGMMA_FENCE MULTIPLY("a0", "b0") MULTIPLY("a1", "b1") \
                         MULTIPLY("a2", "b2") MULTIPLY("a3", "b3") WGMMA_COMMIT "}"                \
                     : OPERANDS(SUM_UPDATED, sums)                                                 \
                     : "l"(a), "l"(b)                                                              \
                     : "memory")

/* C from its first element, and what becomes of sums. */
typedef struct output {
    uint m, n;
    float alpha, beta;
    __global result *c;
    uint ldc;
    bool pairs, fours; /* two, or four, neighbours from a multiple on are an aligned vector */
} output;

static inline void store(const output *o, uint i, uint j, float sum)
{
    update_result(o->c + (ulong)i * o->ldc + j, o->alpha, sum, o->beta);
}

/* Whether columns j, which is even, and j + 1 go as a pair. */
static inline bool is_pair(const output *o, uint j)
{
    return o->pairs && j + 1 < o->n;
}

/* What two neighbours of C become, which were `before`. */
static inline float2 scaled(const output *o, float2 sums, float2 before)
{
    const float2 out = o->alpha * sums;

    return o->beta == 0 ? out : out + o->beta * before;
}

/* Columns j and j + 1 of row i; what a pair was is read. */
static inline void store_pair(const output *o, uint i, uint j, float2 sums, float2 before)
{
    __global result *to = o->c + (ulong)i * o->ldc + j;

    if (is_pair(o, j)) {
        const float2 out = scaled(o, sums, before);

        VSTOREA_RESULTS(out, 2, to);
        return;
    }
    if (j < o->n)
        store(o, i, j, sums.s0);
    if (j + 1 < o->n)
        store(o, i, j + 1, sums.s1);
}

#if RESULT == F16 || RESULT == BF16
/* Lanes of a warp hold pairs of 4 bytes, and four of them a piece of 16 bytes: half of what memory
 * takes at once.  So lanes exchange pairs, and four write a piece of 32 bytes. */
#define EXCHANGES 1

/* Two neighbours of C as they are stored, rounded to nearest even: the last operand is lower. */
static inline uint pair_bits(float2 v)
{
    uint bits;

#if RESULT == F16
    __asm__("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(v.s1), "f"(v.s0));
#else
    __asm__("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(v.s1), "f"(v.s0));
#endif
    return bits;
}

/* Pairs of a row at `to` and 8 columns on: of two neighbouring lanes the even one stores four
 * columns there, and the odd one four of those 8 on.  `inside`: C has the row.  All lanes of the
 * warp meet here. */
static inline void store_exchanged(__global result *to, bool inside, uint pair, uint next)
{
    const bool odd = get_local_id(0) % 2;
    const uint other = warp_exchange(odd ? pair : next, 1);

    if (inside)
        *(__global uint2 *)(odd ? to + 6 : to) = odd ? (uint2)(other, next) : (uint2)(pair, other);
}
#else
#define EXCHANGES 0
#endif

/* Pair e of the row i or, where `high` is 1, i + 8. */
static inline float2 pair_of(const float *sums, uint high, uint e)
{
    return (float2)(sums[4 * e + 2 * high], sums[4 * e + 2 * high + 1]);
}

/* Rows i and i + 8 of C, columns j, + 1, + 8, + 9, + 16, ...  What a row was is read before any of
 * it is written: reads that follow writes would wait for them, as the compiler does not know that
 * they lie apart.  `whole`: C has all columns of the tile. */
IN_REGISTERS void store_sums(const output *o, uint i, uint j, bool whole, const float *sums)
{
#pragma unroll
    for (uint high = 0; high < 2; high++) {
        __global result *c = o->c + (ulong)(i + 8 * high) * o->ldc + j;
        const bool inside = i + 8 * high < o->m;
        float2 before[HELD / 4];

#pragma unroll
        for (uint e = 0; e < HELD / 4; e++)
            if (inside && o->beta != 0 && is_pair(o, j + 8 * e))
                before[e] = VLOADA_RESULTS(2, (__global const result *)(c + 8 * e));
#if EXCHANGES
        if (whole && o->fours) {
#pragma unroll
            for (uint e = 0; e < HELD / 4; e += 2)
                store_exchanged(c + 8 * e, inside,
                                pair_bits(scaled(o, pair_of(sums, high, e), before[e])),
                                pair_bits(scaled(o, pair_of(sums, high, e + 1), before[e + 1])));
            continue;
        }
#endif
        if (!inside)
            continue;
#pragma unroll
        for (uint e = 0; e < HELD / 4; e++)
            store_pair(o, i + 8 * high, j + 8 * e, pair_of(sums, high, e), before[e]);
    }
}

/* What the work-items of a group share: blocks along k, tiles of C down and across, and addresses
 * in local memory: of the stages, and of a barrier a stage that it is full, and empty. */
typedef struct team {
    uint blocks, down, across, memory, full, empty;
} team;

/* Row and column of the first element of the g-th tile. */
static inline uint2 tile_start(const team *t, uint g)
{
    return tile_of_group(g, t->across, t->down) * (uint2)(TILE_N, TILE_M);
}

/* A place in the ring of stages, and how often it has come round. */
typedef struct place {
    uint stage, parity;
} place;

static inline void step_on(place *p)
{
    if (++p->stage == STAGES) {
        p->stage = 0;
        p->parity ^= 1;
    }
}

/* An operand's part of a stage: `size` rows of op(A), or columns of op(B), from x0. */
static inline void bring(uint to, __global const ulong *map, bool along, uint size, uint x0, uint k,
                         uint full)
{
    if (along) {
        tensor_copy(to, map, k, x0, full);
        return;
    }
    for (uint x = 0; x < size; x += ROW)
        tensor_copy(to + x * ROW_BYTES, map, x0 + x, k, full);
}

/* Keep the stages filled, tile after tile: one work-item. */
static inline void produce(const team *t, __global const ulong *maps)
{
    place p = {0, 1};

    tensor_acquire(maps);
    tensor_acquire(maps + TENSOR_MAP_WORDS);
#pragma unroll 1
    for (uint g = get_group_id(0); g < t->down * t->across; g += get_num_groups(0)) {
        const uint2 start = tile_start(t, g);

#pragma unroll 1
        for (uint block = 0; block < t->blocks; block++) {
            const uint to = t->memory + p.stage * STAGE_BYTES, full = t->full + 8 * p.stage;

            mbarrier_wait(t->empty + 8 * p.stage, p.parity);
            mbarrier_arrive_expect(full, STAGE_BYTES);
            bring(to, maps, ALONG_A, TILE_M, start.y, block * BLOCK_K, full);
            bring(to + BYTES_A, maps + TENSOR_MAP_WORDS, ALONG_B, TILE_N, start.x, block * BLOCK_K,
                  full);
            step_on(&p);
        }
    }
}

/* Multiply the stages of one tile as they arrive, and store. */
IN_REGISTERS void consume(const output *o, const team *t, uint2 start, place *p)
{
    const uint warp = get_local_id(0) / 32, lane = get_local_id(0) % 32;
    const uint i = start.y + warp / 4 * (TILE_M / 2) + warp % 4 * 16 + lane / 4;
    const uint j = start.x + lane % 4 * 2;
    const ulong tile_a = wgmma_tile_turned(t->memory + warp / 4 * (BYTES_A / 2), 0);
    const ulong tile_b = wgmma_tile_turned(t->memory + BYTES_A, ALONG_B ? 0 : ROW * ROW_BYTES);
    uint blocks = t->blocks;
    uint before = 0; /* the barrier of the stage before, 0 at first */
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
        const ulong from_a = tile_a + p->stage * (STAGE_BYTES / 16);
        const ulong from_b = tile_b + p->stage * (STAGE_BYTES / 16);

        mbarrier_wait(t->full + 8 * p->stage, p->parity);
        MULTIPLY_STAGE(upper, from_a, from_b);
#if TILE_M == 256
        MULTIPLY_STAGE(lower, from_a + 64 * ROW_BYTES / 16, from_b);
        __asm__ volatile(WGMMA_WAIT("2")::: "memory");
#else
        __asm__ volatile(WGMMA_WAIT("1")::: "memory");
#endif
        /* All but the last stage's instructions are complete. */
        if (before && lane == 0)
            mbarrier_arrive(before);
        before = t->empty + 8 * p->stage;
        step_on(p);
    } while (--blocks);
    __asm__ volatile(WGMMA_WAIT("0") : OPERANDS(SUM_UPDATED, upper)::"memory");
#if TILE_M == 256
    __asm__ volatile(WGMMA_WAIT("0") : OPERANDS(SUM_UPDATED, lower)::"memory");
#endif
    if (lane == 0)
        mbarrier_arrive(before);
    store_sums(o, i, j, o->n - start.x >= TILE_N, upper);
#if TILE_M == 256
    store_sums(o, i + 64, j, o->n - start.x >= TILE_N, lower);
#endif
}

/* C := beta C on the group's tiles: k is 0. */
static inline void scale(const output *o, const team *t)
{
    for (uint g = get_group_id(0); g < t->down * t->across; g += get_num_groups(0)) {
        const uint2 start = tile_start(t, g);

        for (uint e = get_local_id(0); e < TILE_M * TILE_N; e += get_local_size(0))
            if (start.y + e / TILE_N < o->m && start.x + e % TILE_N < o->n)
                store(o, start.y + e / TILE_N, start.x + e % TILE_N, 0);
    }
}

/* a and b are read through the maps in `work`.  k is 0 where there is nothing to add up. */
__kernel __attribute__((reqd_work_group_size(CONSUMERS + PRODUCERS, 1, 1))) void
matmul_tensor(uint m, uint n, uint k, float alpha, __global const factor *a, ulong offset_a,
              uint lda, __global const factor *b, ulong offset_b, uint ldb, float beta,
              __global result *c, ulong offset_c, uint ldc, __global const uchar *work)
{
    __local uchar memory[STAGES * STAGE_BYTES + 1024] __attribute__((aligned(1024)));
    __local ulong barriers[2 * STAGES];
    const bool pairs = ldc % 2 == 0 && (ulong)(c + offset_c) % (2 * sizeof(result)) == 0;
    const bool fours = ldc % 4 == 0 && (ulong)(c + offset_c) % (4 * sizeof(result)) == 0;
    const output o = {m, n, alpha, beta, c + offset_c, ldc, pairs, fours};
    const team t = {.blocks = (k + BLOCK_K - 1) / BLOCK_K,
                    .down = (m + TILE_M - 1) / TILE_M,
                    .across = (n + TILE_N - 1) / TILE_N,
                    .memory = (local_address(memory) + 1023) / 1024 * 1024,
                    .full = local_address(barriers),
                    .empty = local_address(barriers) + 8 * STAGES};

    if (k == 0) {
        scale(&o, &t);
        return;
    }
    if (get_local_id(0) == 0) {
        for (uint s = 0; s < STAGES; s++) {
            mbarrier_init(t.full + 8 * s, 1);
            mbarrier_init(t.empty + 8 * s, 8);
        }
        mbarrier_publish();
    }
    /* Initialised before used. */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) >= CONSUMERS) {
        __asm__ volatile(WGMMA "setmaxnreg.dec.sync.aligned.u32 24;" ::: "memory");
        if (get_local_id(0) == CONSUMERS)
            produce(&t, (__global const ulong *)work);
    } else {
        place p = {0, 0};

        __asm__ volatile(WGMMA "setmaxnreg.inc.sync.aligned.u32 240;" ::: "memory");
#pragma unroll 1
        for (uint g = get_group_id(0); g < t.down * t.across; g += get_num_groups(0))
            consume(&o, &t, tile_start(&t, g), &p);
    }
}
