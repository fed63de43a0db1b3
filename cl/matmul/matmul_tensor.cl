/* C := alpha op(A) op(B) + beta C: Hopper's matrix instructions, fed by tensor copies.
 *
 * Idea: the chip itself copies boxes of A and B into local memory, in the swizzled order that
 *     wgmma takes, with zeros beyond the edges, and float32 rounded to TF32 on the way: one
 *     instruction an operand and block along k, by one work-item, and no packing.  It finds them by
 *     maps, which every group writes for itself.
 *     What it cannot copy as it is, is staged in workspace before, by a launch or by the groups
 *     that multiply: rows that are not aligned to 16 bytes; rows of large operands that start
 *     inside sectors of 32 bytes; operands whose neighbours do not run
 *     along k, transposed, since wgmma takes TF32 and 8 bits along k alone; float32 that becomes
 *     BF16 or FP16.  Of those wgmma takes both orders.
 *     Of FP8 it keeps few bits of a sum: 13 behind the first of the largest term.  So each stage,
 *     which is 128 along k, is summed up by itself, and added to the others' sums in FP32.
 *     Where C has few tiles, groups share k: each keeps the sums of its part in workspace, and the
 *     last of a tile adds them up, always in the same order.
 *     Of few rows, C^T = op(B)^T op(A)^T is computed: wgmma multiplies 64 rows at least, but as few
 *     columns as there are.
 * Work split: a group computes tiles of C, TILE_M x TILE_N each, or parts of them: a producer keeps
 *     STAGES blocks of A and B in flight, a warp group or two multiply 64 or 128 rows each.  While
 *     they store a tile, the producer fills the stages for the group's next one, if it has one.
 * Parameters: FORMAT of the factors (below); FACTOR and RESULT (matmul_elements.clh); TILE_M, 64,
 *     128 or 256, and TILE_N, 16 or a multiple of 32 up to 256, not both 256; TURNED, 1 where C is
 *     stored transposed, and A and B have changed places; STAGES; BAND (matmul_bands.clh);
 *     TRANS_A, TRANS_B (matmul_access.clh); STAGED_A, STAGED_B: whether they come from workspace;
 *     FUSED: whether the groups that multiply stage; SINGLE: whether each has one tile or part
 *     alone; SPLITS: whether they share k; C_VECTOR (matmul_lanes.clh); SCALED (matmul_scales.clh);
 *     UNIT_GROUPS: for how many groups a compute unit is to have registers; PERSISTENT, of launches
 *     alone; LAST_ADDS (last_group.clh); CONSUMERS, PRODUCERS, PREPARE_ITEMS, PIECE, ROW_BYTES and
 *     MAP_BYTES as the host counts with them (below).
 * Launch: 1-D, the preparation, where a launch of its own stages, in work-groups of 256, one for
 *     each 64 x 64 elements; then groups of CONSUMERS + PRODUCERS: with PERSISTENT = 1 as many as
 *     compute units hold or as there are tiles and parts, with 2 one each.
 * Workspace: two maps a group, what is staged, and sums of parts.
 * Local memory: STAGES * (TILE_M + TILE_N) * 128 bytes and up to 2 KiB beside, and, where C is
 *     stored as it is and a group has several tiles, 2560 bytes a warp; the preparation 16640
 *     bytes.
 * Limits: m, n, k and the leading dimensions up to 2^31.
 */
#include "common/last_group.clh"
#include "common/tensor_copy.clh"
#include "common/warp.clh"
#include "common/wgmma.clh"
#include "matmul/matmul_access.clh"
#include "matmul/matmul_bands.clh"
#include "matmul/matmul_elements.clh"
#include "matmul/matmul_lanes.clh"
#include "matmul/matmul_scales.clh"

#define FORMAT_TF32 0
#define FORMAT_BF16 1
#define FORMAT_F16  2
#define FORMAT_I8   3
#define FORMAT_E4M3 4
#define FORMAT_E5M2 5

#if FORMAT != FORMAT_TF32 && FORMAT != FORMAT_BF16 && FORMAT != FORMAT_F16 &&                      \
    FORMAT != FORMAT_I8 && FORMAT != FORMAT_E4M3 && FORMAT != FORMAT_E5M2
#error "FORMAT: of the factors, 0 for TF32, 1 for BF16, 2 for FP16, 3 for int8, 4 and 5 for FP8"
#endif
/* Whether sums of a stage are kept apart from the others'. */
#define APART (FORMAT == FORMAT_E4M3 || FORMAT == FORMAT_E5M2)
#if TILE_M != 64 && TILE_M != 128 && TILE_M != 256
#error "TILE_M: rows of a work-group's tile, 64, 128 or 256"
#endif
#if (TILE_N != 16 && TILE_N % 32) || TILE_N > 256 || TILE_M + TILE_N > 448 ||                      \
    (APART && TILE_N * (TILE_M == 256 ? 2 : 1) > 192)
#error "TILE_N: its columns, 16, 32, 64, ... 256; 256 x 256 is more than registers hold"
#endif
#ifndef STAGES
#error "STAGES: blocks of A and B in flight"
#endif
#if !defined(STAGED_A) || !defined(STAGED_B)
#error "STAGED_A, STAGED_B: 1 where an operand comes from workspace, else 0"
#endif

#if FORMAT == FORMAT_TF32
#define ELEMENT      float
#define ELEMENT_BITS as_uint
#define ELEMENT_TYPE TENSOR_TF32
#elif FORMAT == FORMAT_I8
#define ELEMENT      char
#define ELEMENT_BITS as_uchar
#define ELEMENT_TYPE TENSOR_8_BIT
#elif APART
#define ELEMENT      uchar
#define ELEMENT_BITS as_uchar
#define ELEMENT_TYPE TENSOR_8_BIT
#else
#define ELEMENT      ushort
#define ELEMENT_BITS as_ushort
#define ELEMENT_TYPE TENSOR_16_BIT
#endif

/* Whether neighbours in what is copied run along k.  TF32 and 8 bits are staged to make them. */
#define ALONG_ALONE (FORMAT == FORMAT_TF32 || FORMAT == FORMAT_I8 || APART)
#define ALONG_A     (ALONG_ALONE || !TRANS_A)
#define ALONG_B     (ALONG_ALONE || TRANS_B)

typedef REAL_N(2) real2;
typedef REAL_N(4) real4;

#if ROW_BYTES != 128
#error "ROW_BYTES: 128, of a row of a box"
#endif
#if CONSUMERS != (TILE_M == 64 ? 128 : 256) || (PRODUCERS != 32 && PRODUCERS != 128)
#error "CONSUMERS, PRODUCERS: a warp group for 64 rows, else two; a warp, or a warp group"
#endif
#if TURNED != 0 && TURNED != 1
#error "TURNED: 1 where C is stored transposed, else 0"
#endif
#if SINGLE != 0 && SINGLE != 1
#error "SINGLE: 1 where no group has more than one tile or part, else 0"
#endif
#if SPLITS != 0 && SPLITS != 1
#error "SPLITS: 1 where groups share k, else 0"
#endif
#ifndef UNIT_GROUPS
#error "UNIT_GROUPS: for how many work-groups a compute unit is to have registers"
#endif
#if FUSED != 0 && (FUSED != 1 || !(STAGED_A || STAGED_B))
#error "FUSED: 1 where the groups that multiply stage, else 0"
#endif
#if !LAST_ADDS
#error "LAST_ADDS: 1 or 2: a tile's last group adds up"
#endif
#if !defined(PREPARE_ITEMS) || !defined(PIECE) || PREPARE_ITEMS % PIECE
#error "PREPARE_ITEMS, PIECE: work-items that stage, a multiple of a side of what they stage"
#endif
#if MAP_BYTES != 8 * TENSOR_MAP_WORDS
#error "MAP_BYTES: 8 * TENSOR_MAP_WORDS, of a map in workspace"
#endif

#define ROW     (ROW_BYTES / sizeof(ELEMENT))
#define BLOCK_K ROW
#define BYTES_A (TILE_M * ROW_BYTES)
/* Boxes across k are whole rows. */
#define WIDTH_B     (ALONG_B ? TILE_N : (TILE_N + ROW - 1) / ROW * ROW)
#define BYTES_B     (WIDTH_B * ROW_BYTES)
#define STAGE_BYTES (BYTES_A + BYTES_B)

/* ---- preparation --------------------------------------------------------------------------- */

#if FUSED
#define STAGE_ITEMS CONSUMERS
#else
#define STAGE_ITEMS PREPARE_ITEMS
#endif
#define ROWS_AT_ONCE (STAGE_ITEMS / PIECE)
#define PER_ITEM     (PIECE / ROWS_AT_ONCE) /* elements of a piece that a work-item stages */

/* Offsets of operands in elements, and of what is staged and of parts' sums in the workspace in
 * bytes; `pieces` that groups stage, pieces_a of A; parts of k, of `span` blocks each. */
typedef struct tensor_call {
    ulong offset_a, offset_b, offset_c;
    ulong offset_scale_a, offset_scale_b;
    ulong staged_a, staged_b, sums;
    uint m, n, k;
    uint lda, ldb, ldc;
    uint pitch_a, pitch_b, pieces_a, pieces;
    uint span, parts;
    REAL alpha, beta;
} tensor_call;

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

/* The consumers alone wait for each other. */
static inline void consumers_barrier(void)
{
    __asm__ volatile("bar.sync 1, %0;" ::"r"(CONSUMERS) : "memory");
}

/* Those that stage do. */
static inline void stage_barrier(void)
{
#if FUSED
    consumers_barrier();
#else
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

/* Where elements stay as they are, they are staged by words of 8 bytes, which are aligned in the
 * workspace alone. */
#define WHOLE (FACTOR != F32 || FORMAT == FORMAT_TF32)

#if WHOLE
#define WORD       (8 / sizeof(ELEMENT))             /* elements of a word, */
#define ROW_WORDS  (PIECE / WORD)                    /* words of a row, */
#define ITEM_WORDS (PIECE * ROW_WORDS / STAGE_ITEMS) /* and of a work-item, of a piece */

/* WORD neighbours of a row, from column c on, with zeros beyond its end: out of the two aligned
 * words that they lie in, where both end in the row. */
static inline ulong load_word(const operand *o, uint r, uint c)
{
    __global const factor *from = o->x + (ulong)r * o->ld + c;
    const uint after = (uint)(ulong)from % 8; /* bytes behind the start of a word */
    ulong v = 0;

    if (c + 2 * WORD <= o->columns) {
        __global const ulong *words = (__global const ulong *)((ulong)from - after);

        v = words[0];
        if (after)
            v = v >> 8 * after | words[1] << (64 - 8 * after);
        return v;
    }
#pragma unroll
    for (uint e = 0; e < WORD; e++)
        if (c + e < o->columns)
            v |= (ulong)ELEMENT_BITS(from[e]) << 8 * sizeof(ELEMENT) * e;
    return v;
}

/* Stage a piece row by row.  All loads come before the first store: those that follow one would
 * wait for it, as the compiler does not know that they lie apart. */
IN_REGISTERS void stage_words(operand o, uint r0, uint c0)
{
    ulong v[ITEM_WORDS];

#pragma unroll
    for (uint e = 0; e < ITEM_WORDS; e++) {
        const uint word = get_local_id(0) + e * STAGE_ITEMS;
        const uint r = r0 + word / ROW_WORDS, c = c0 + word % ROW_WORDS * WORD;

        v[e] = r < o.rows && c < o.columns ? load_word(&o, r, c) : 0;
    }
#pragma unroll
    for (uint e = 0; e < ITEM_WORDS; e++) {
        const uint word = get_local_id(0) + e * STAGE_ITEMS;
        const uint r = r0 + word / ROW_WORDS, c = c0 + word % ROW_WORDS * WORD;

        if (r < o.rows && c < o.columns)
            *(__global ulong *)(o.to + (ulong)r * o.pitch + c) = v[e];
    }
}
#endif

/* Stage the piece of PIECE x PIECE elements: row by row, and where it is turned through local
 * memory, so that neighbouring work-items write neighbours too.  All loads come before the first
 * store: those that follow one would wait for it, as the compiler does not know that they lie
 * apart.
 */
IN_REGISTERS void stage(operand o, uint piece, __local factor *tile)
{
    const uint across = (o.columns + PIECE - 1) / PIECE;
    const uint r0 = piece / across * PIECE, c0 = piece % across * PIECE;
    const uint x = get_local_id(0) % PIECE, y = get_local_id(0) / PIECE;
    factor v[PER_ITEM];

#if WHOLE
    if (!o.turned) {
        stage_words(o, r0, c0);
        return;
    }
#endif
#pragma unroll
    for (uint e = 0; e < PER_ITEM; e++) {
        const uint r = r0 + y + e * ROWS_AT_ONCE;

        v[e] = r < o.rows && c0 + x < o.columns ? o.x[(ulong)r * o.ld + c0 + x] : 0;
    }
    if (!o.turned) {
#pragma unroll
        for (uint e = 0; e < PER_ITEM; e++) {
            const uint r = r0 + y + e * ROWS_AT_ONCE;

            if (r < o.rows && c0 + x < o.columns)
                o.to[(ulong)r * o.pitch + c0 + x] = element_of(v[e]);
        }
        return;
    }
#pragma unroll
    for (uint e = 0; e < PER_ITEM; e++)
        tile[(y + e * ROWS_AT_ONCE) * (PIECE + 1) + x] = v[e];
    /* Filled before read: below, we read what other work-items wrote. */
    stage_barrier();
#pragma unroll
    for (uint e = 0; e < PER_ITEM; e++) {
        const uint r = c0 + y + e * ROWS_AT_ONCE;

        if (r < o.columns && r0 + x < o.rows)
            o.to[(ulong)r * o.pitch + r0 + x] =
                element_of(tile[x * (PIECE + 1) + y + e * ROWS_AT_ONCE]);
    }
}

/* A, or B, as it is stored. */
static inline operand operand_of(bool of_b, __global const factor *a, __global const factor *b,
                                 __global uchar *work, const tensor_call *call)
{
    const bool across = of_b ? !TRANS_B : TRANS_A; /* rows run across k */
    const uint outside = of_b ? call->n : call->m;
    const operand o = {of_b ? b + call->offset_b : a + call->offset_a,
                       of_b ? call->ldb : call->lda,
                       across ? call->k : outside,
                       across ? outside : call->k,
                       across && (of_b ? ALONG_B : ALONG_A),
                       (__global ELEMENT *)(work + (of_b ? call->staged_b : call->staged_a)),
                       of_b ? call->pitch_b : call->pitch_a};

    return o;
}

/* What is copied of A, or of B: boxes of so many rows of op(A), or columns of op(B). */
static inline tensor tensor_of(bool of_b, __global const factor *a, __global const factor *b,
                               __global uchar *work, const tensor_call *call)
{
    const operand o = operand_of(of_b, a, b, work, call);
    const bool staged = of_b ? STAGED_B : STAGED_A, along = of_b ? ALONG_B : ALONG_A;
    const uint outside = of_b ? call->n : call->m;
    const tensor t = {staged ? (__global const void *)o.to : o.x,
                      along ? call->k : outside,
                      along ? outside : call->k,
                      (ulong)(staged ? o.pitch : o.ld) * sizeof(ELEMENT),
                      ROW,
                      !along ? BLOCK_K
                      : of_b ? TILE_N
                             : TILE_M};

    return t;
}

/* Stage a piece of A, or of B, which come after those of A. */
IN_REGISTERS void stage_piece(__global const factor *a, __global const factor *b,
                              __global uchar *work, const tensor_call *call, uint piece,
                              __local factor *tile)
{
    if (STAGED_A && piece < call->pieces_a)
        stage(operand_of(false, a, b, work, call), piece, tile);
    else if (STAGED_B)
        stage(operand_of(true, a, b, work, call), piece - call->pieces_a, tile);
}

#if !FUSED
/* Stage what has to be, a piece each group. */
__kernel __attribute__((reqd_work_group_size(PREPARE_ITEMS, 1, 1))) void
matmul_tensor_prepare(__global const factor *a, __global const factor *b, __global uchar *work,
                      const tensor_call call)
{
    __local factor tile[PIECE * (PIECE + 1)];
    const uint piece = get_group_id(0);

    stage_piece(a, b, work, &call, piece, tile);
}
#else
/* Where the groups that multiply stage, they take pieces by tickets, so that whoever waits for a
 * piece waits for a group that runs.  Counters: the next ticket, pieces that are staged, and groups
 * that have ended, of which the last leaves them at 0. */
enum { TICKETS_TAKEN, PIECES_DONE, GROUPS_ENDED, STAGE_COUNTERS };

/* The consumers' part. */
IN_REGISTERS void stage_pieces(__global const factor *a, __global const factor *b,
                               __global uchar *work, const tensor_call *call,
                               __global group_counter *counters, __local factor *tile,
                               __local uint *ticket)
{
    uint next = 0, piece;

    if (get_local_id(0) == 0)
        next = count_group(counters + TICKETS_TAKEN);
    for (;;) {
        if (get_local_id(0) == 0)
            *ticket = next;
        /* Written before read. */
        consumers_barrier();
        piece = *ticket;
        if (piece >= call->pieces)
            break;
        if (get_local_id(0) == 0)
            next = count_group(counters + TICKETS_TAKEN);
        stage_piece(a, b, work, call, piece, tile);
        tensor_publish();
        /* All of the piece is written before it counts, and read before it is written again. */
        consumers_barrier();
        if (get_local_id(0) == 0)
            count_group(counters + PIECES_DONE);
    }
    /* What was local memory to turn pieces is written by copies next. */
    tensor_publish();
}

/* Wait until all pieces are staged. */
static inline void await_pieces(const tensor_call *call, __global group_counter *counters)
{
    uint done;

    do {
        __asm__ volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                         : "=r"(done)
                         : "l"(counters + PIECES_DONE)
                         : "memory");
    } while (done < call->pieces);
    tensor_publish();
}

/* A group ends: its producer waits for nothing any more. */
static inline void end_staging(__global group_counter *counters)
{
    if (count_group(counters + GROUPS_ENDED) == get_num_groups(0) - 1)
        for (uint c = 0; c < STAGE_COUNTERS; c++)
            reset_counter(counters + c);
}
#endif

/* ---- multiplying --------------------------------------------------------------------------- */

/* The sums of 64 rows by TILE_N columns: HELD in each work-item, the first operands of the
 * assembly.  After them come its tiles of A and B. */
#define HELD (TILE_N / 2)
#if TILE_N == 16
#define COLUMNS          "n16"
#define SUMS             "{" WGMMA_SUMS_8 "}"
#define OPERANDS(how, c) OPERANDS_8(how, c, 0)
#define TILE_A           "%8"
#define TILE_B           "%9"
#elif TILE_N == 32
#define COLUMNS          "n32"
#define SUMS             "{" WGMMA_SUMS_16 "}"
#define OPERANDS(how, c) OPERANDS_16(how, c, 0)
#define TILE_A           "%16"
#define TILE_B           "%17"
#elif TILE_N == 64
#define COLUMNS          "n64"
#define SUMS             "{" WGMMA_SUMS_32 "}"
#define OPERANDS(how, c) OPERANDS_32(how, c, 0)
#define TILE_A           "%32"
#define TILE_B           "%33"
#elif TILE_N == 96
#define COLUMNS          "n96"
#define SUMS             "{" WGMMA_SUMS_48 "}"
#define OPERANDS(how, c) OPERANDS_32(how, c, 0), OPERANDS_16(how, c, 32)
#define TILE_A           "%48"
#define TILE_B           "%49"
#elif TILE_N == 128
#define COLUMNS          "n128"
#define SUMS             "{" WGMMA_SUMS_64 "}"
#define OPERANDS(how, c) OPERANDS_64(how, c, 0)
#define TILE_A           "%64"
#define TILE_B           "%65"
#elif TILE_N == 160
#define COLUMNS          "n160"
#define SUMS             "{" WGMMA_SUMS_80 "}"
#define OPERANDS(how, c) OPERANDS_64(how, c, 0), OPERANDS_16(how, c, 64)
#define TILE_A           "%80"
#define TILE_B           "%81"
#elif TILE_N == 192
#define COLUMNS          "n192"
#define SUMS             "{" WGMMA_SUMS_96 "}"
#define OPERANDS(how, c) OPERANDS_64(how, c, 0), OPERANDS_32(how, c, 64)
#define TILE_A           "%96"
#define TILE_B           "%97"
#elif TILE_N == 224
#define COLUMNS          "n224"
#define SUMS             "{" WGMMA_SUMS_112 "}"
#define OPERANDS(how, c) OPERANDS_64(how, c, 0), OPERANDS_32(how, c, 64), OPERANDS_16(how, c, 96)
#define TILE_A           "%112"
#define TILE_B           "%113"
#else
#define COLUMNS          "n256"
#define SUMS             "{" WGMMA_SUMS_128 "}"
#define OPERANDS(how, c) OPERANDS_64(how, c, 0), OPERANDS_64(how, c, 64)
#define TILE_A           "%128"
#define TILE_B           "%129"
#endif

/* A sum in a register: of int8 it is an int, whose bits are those of uint. */
#if FORMAT == FORMAT_I8
#define HELD_SUM(x) "+r"(x)
#else
#define HELD_SUM(x) SUM_UPDATED(x)
#endif

/* Rows of a tile that a warp group multiplies: 64, or twice that. */
#define GROUP_ROWS (TILE_M / (CONSUMERS / 128))
#define HALVES     (GROUP_ROWS / 64)
/* Elements of C that a work-item reads at once where they are no pairs. */
#define SINGLES (HELD < 16 ? HELD : 16)

#define TEXT(x)          #x
#define TEXT_EXPANDED(x) TEXT(x)

/* An instruction takes 32 bytes of k.  Only those for 16 bits say whether their operands run
 * across k. */
#if FORMAT == FORMAT_TF32
#define SHAPE "m64" COLUMNS "k8.f32.tf32.tf32 "
#define TURNS ", 1, 1;\n\t"
#elif FORMAT == FORMAT_I8
#define SHAPE "m64" COLUMNS "k32.s32.s8.s8 "
#define TURNS ";\n\t"
#elif FORMAT == FORMAT_E4M3
#define SHAPE "m64" COLUMNS "k32.f32.e4m3.e4m3 "
#define TURNS ", 1, 1;\n\t"
#elif FORMAT == FORMAT_E5M2
#define SHAPE "m64" COLUMNS "k32.f32.e5m2.e5m2 "
#define TURNS ", 1, 1;\n\t"
#else
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
#if ALONG_A
#define STEPS_A "add.s64 a1, a0, 2;\n\tadd.s64 a2, a0, 4;\n\tadd.s64 a3, a0, 6;\n\t"
#else
#define STEPS_A "add.s64 a1, a0, 128;\n\tadd.s64 a2, a0, 256;\n\tadd.s64 a3, a0, 384;\n\t"
#endif
#if ALONG_B
#define STEPS_B "add.s64 b1, b0, 2;\n\tadd.s64 b2, b0, 4;\n\tadd.s64 b3, b0, 6;\n\t"
#else
#define STEPS_B "add.s64 b1, b0, 128;\n\tadd.s64 b2, b0, 256;\n\tadd.s64 b3, b0, 384;\n\t"
#endif

/* sums += a b, for 64 rows of A and TILE_N columns of B; or sums = a b where `adds` is 0. */
#define MULTIPLY_OR(a, b, adds)                                                                    \
    WGMMA "wgmma.mma_async.sync.aligned." SHAPE SUMS ", " a ", " b ", " adds TURNS
#define MULTIPLY(a, b) MULTIPLY_OR(a, b, "1")
/* Of sums that are kept apart a stage's first is not added. */
#if APART
#define MULTIPLY_FIRST(a, b) MULTIPLY_OR(a, b, "0")
#else
#define MULTIPLY_FIRST(a, b) MULTIPLY(a, b)
#endif
/* sums += A B for one stage of 64 rows, or = A B, in flight on return. */
#define MULTIPLY_STAGE(sums, a, b)                                                                 \
    __asm__ volatile(                                                                              \
        "{\n\t"                                                                                    \
        ".reg .b64 a<4>, b<4>;\n\t"                                                                \
        "mov.b64 a0, " TILE_A ";\n\t"                                                              \
        "mov.b64 b0, " TILE_B ";\n\t" STEPS_A STEPS_B WGMMA_FENCE MULTIPLY_FIRST("a0", "b0")       \
            MULTIPLY("a1", "b1") MULTIPLY("a2", "b2") MULTIPLY("a3", "b3") WGMMA_COMMIT "}"        \
        : OPERANDS(HELD_SUM, sums)                                                                 \
        : "l"(a), "l"(b)                                                                           \
        : "memory")

/* C from its first element, and what becomes of sums. */
typedef struct output {
    uint m, n;
    scales by;
    REAL beta;
    __global result *c;
    uint ldc;
} output;

/* Element (i, j) of the product. */
static inline __global result *at(const output *o, uint i, uint j)
{
    return TURNED ? o->c + (ulong)j * o->ldc + i : o->c + (ulong)i * o->ldc + j;
}

/* Whether sums go to C through local memory: but for several tiles of aligned vectors of 2 bytes an
 * element or more, of which lanes store enough at once.  Those with scales do, of which a lane
 * needs few at a time there: the scales of all columns of its sums are more than registers hold. */
#define THROUGH (!TURNED && (SINGLE || C_VECTOR < 4 || RESULT_FP8 || SCALED))

#if THROUGH
/* Sums go to C through local memory that each warp has for itself, PASS columns of 16 rows at a
 * time: lanes hold pairs of eight rows, and memory takes whole lines.  Where nothing is to come any
 * more to the stages, they have room for all columns, and what follows is a loop: instructions that
 * run once have to be fetched from memory first.  Else it is PASS columns a warp.  A lane reads and
 * writes LANE neighbours at once; rows in local memory lie PITCH apart, so that lanes meet
 * different banks.
 */
#define PASS   (TILE_N < 32 ? TILE_N : 32)
#define PLACED (SINGLE ? TILE_N : PASS)
#define PITCH  (PLACED + 8)
#define ACROSS (PASS / LANE) /* lanes of a row, */
#define DOWN   (32 / ACROSS) /* rows at once, */
#define STEPS  (16 / DOWN)   /* and how often */
#define OWN    (16 * PITCH)  /* elements that a warp has */

#if SINGLE && CONSUMERS / 32 * OWN * 4 > STAGES * (TILE_M + TILE_N) * ROW_BYTES
#error "STAGES: too few for the sums of a group's one tile, which take their place"
#endif

/* What C was, of the lane's STEPS rows from `row` on. */
IN_REGISTERS void read_pass(const output *o, uint row, uint column, REAL *before)
{
    __global const result *from = at(o, row, column);

#pragma unroll
    for (uint s = 0; s < STEPS; s++) {
        if (row + s * DOWN < o->m && column < o->n)
            read_lane(from, o->n - column, before + s * LANE);
        from += (ulong)DOWN * o->ldc;
    }
}

/* The scales of LANE columns; of those beyond the last one its own. */
IN_REGISTERS void column_scales(const output *o, uint column, REAL *columns)
{
#pragma unroll
    for (uint e = 0; e < LANE; e++)
        columns[e] = column_scale(&o->by, min(column + e, o->n - 1));
}

/* A pass that overwrites: a loop, as instructions that run once would have to be fetched first. */
static inline void write_pass(const output *o, __local const REAL *take, uint row, uint column)
{
    __global result *to = at(o, row, column);
    REAL columns[LANE];

    column_scales(o, column, columns);
#pragma unroll 4
    for (uint s = 0; s < STEPS; s++) {
        const REAL scale = row < o->m ? row_scale(&o->by, row) : 1;
        REAL out[LANE];

#pragma unroll
        for (uint e = 0; e < LANE; e++)
            out[e] = scale_of(&o->by, scale, columns[e]) * take[e];
        if (row < o->m && column < o->n)
            write_lane(to, o->n - column, out);
        row += DOWN;
        to += (ulong)DOWN * o->ldc;
        take += DOWN * PITCH;
    }
}

/* A pass that adds to what C was. */
IN_REGISTERS void update_pass(const output *o, __local const REAL *take, uint row, uint column,
                              const REAL *before)
{
    __global result *to = at(o, row, column);
    REAL columns[LANE];

    column_scales(o, column, columns);
#pragma unroll
    for (uint s = 0; s < STEPS; s++) {
        const REAL scale = row + s * DOWN < o->m ? row_scale(&o->by, row + s * DOWN) : 1;
        REAL out[LANE];

#pragma unroll
        for (uint e = 0; e < LANE; e++)
            out[e] = scale_of(&o->by, scale, columns[e]) * take[s * DOWN * PITCH + e] +
                     o->beta * before[s * LANE + e];
        if (row + s * DOWN < o->m && column < o->n)
            write_lane(to, o->n - column, out);
        to += (ulong)DOWN * o->ldc;
    }
}

/* PLACED columns of sums to the local memory of the warp. */
IN_REGISTERS void place_sums(__local REAL *own, const REAL *sums)
{
    const uint lane = get_local_id(0) % 32;
    __local REAL *put = own + lane / 4 * PITCH + lane % 4 * 2;

#pragma unroll
    for (uint e = 0; e < PLACED / 4; e++)
        *(__local real2 *)(put + e % 2 * 8 * PITCH + e / 2 * 8) =
            (real2)(sums[2 * e], sums[2 * e + 1]);
}

#if SINGLE
#define PASSES (TILE_N / PASS)

/* C as loaded: 16-bit elements stay in pairs, since converting would wait for each load. */
#define IN_PAIRS ((RESULT == F16 || RESULT == BF16) && LANE > 1)
#if IN_PAIRS
typedef uint kept_c;
#define KEPT_LANE (LANE / 2)
#else
typedef REAL kept_c;
#define KEPT_LANE LANE
#endif
#define KEPT_PASS (KEPT_LANE * STEPS)

/* Whether read_pass converts, and so waits for each load. */
#define CONVERTED (RESULT != F32 && RESULT != I32 && !IN_PAIRS)
/* Whether registers hold C beside the sums: then it is loaded before the product. */
#define AHEAD                                                                                      \
    (!SPLITS && HALVES == 1 && HELD + PASSES * KEPT_PASS <= 160 && !CONVERTED)
/* Passes whose C is read at once: all, or as many as the registers take that sums leave. */
#define TOGETHER                                                                                   \
    (AHEAD                           ? PASSES                                                      \
     : CONVERTED                     ? 2 - PASSES % 2                                              \
     : PASSES > 4 && PASSES % 2 == 0 ? PASSES / 2                                                  \
                                     : PASSES)

/* As read_pass. */
IN_REGISTERS void keep_pass(const output *o, uint row, uint column, kept_c *before)
{
#if IN_PAIRS
    __global const result *from = at(o, row, column);

#pragma unroll
    for (uint s = 0; s < STEPS; s++) {
        if (row + s * DOWN < o->m && column < o->n) {
#if LANE == 4
            const uint2 v = *(__global const uint2 *)from;

            before[2 * s] = v.s0;
            before[2 * s + 1] = v.s1;
#else
            before[s] = o->n - column > 1 ? *(__global const uint *)from : *from;
#endif
        }
        from += (ulong)DOWN * o->ldc;
    }
#else
    read_pass(o, row, column, before);
#endif
}

/* Those of all passes that are read at once, from the lane's first column on. */
IN_REGISTERS void keep_passes(const output *o, uint row, uint column, kept_c *before)
{
#pragma unroll
    for (uint t = 0; t < TOGETHER; t++)
        keep_pass(o, row, column + t * PASS, before + t * KEPT_PASS);
}

/* The REALs of a pass. */
IN_REGISTERS void kept_reals(const kept_c *before, REAL *out)
{
#pragma unroll
    for (uint e = 0; e < LANE * STEPS; e++)
#if IN_PAIRS && RESULT == F16
        out[e] = vload_half(e % 2, (const half *)(before + e / 2));
#elif IN_PAIRS
        out[e] = as_float(e % 2 ? before[e / 2] & 0xFFFF0000u : before[e / 2] << 16);
#else
        out[e] = before[e];
#endif
}

/* The lane's first row and column of the warp's 16 rows from i on, columns from j on. */
static inline uint2 lane_start(uint i, uint j)
{
    const uint lane = get_local_id(0) % 32;

    return (uint2)(i + lane / ACROSS, j + lane % ACROSS * LANE);
}

/* The sums of a warp's 16 rows from i on, columns from j on, of which a lane holds pairs.  What C
 * was is there, or goes to the registers that sums leave: reads that follow writes would wait for
 * them. */
IN_REGISTERS void store_sums(const output *o, __local REAL *own, uint i, uint j, const REAL *sums,
                             kept_c *before)
{
    const uint lane = get_local_id(0) % 32;
    const uint2 start = lane_start(i, j);
    uint column = start.y;
    __local const REAL *take = own + lane / ACROSS * PITCH + lane % ACROSS * LANE;

    place_sums(own, sums);
    /* Placed before stored: below, we read what other lanes placed. */
    warp_barrier();
    if (o->beta == 0) {
#pragma unroll 1
        for (uint pass = 0; pass < PASSES; pass++)
            write_pass(o, take + pass * PASS, start.x, column + pass * PASS);
        return;
    }
#pragma unroll 1
    for (uint pass = 0; pass < PASSES; pass += TOGETHER) {
        if (!AHEAD)
            keep_passes(o, start.x, column, before);
#pragma unroll
        for (uint t = 0; t < TOGETHER; t++) {
            REAL reals[LANE * STEPS];

            kept_reals(before + t * KEPT_PASS, reals);
            update_pass(o, take + t * PASS, start.x, column + t * PASS, reals);
        }
        column += TOGETHER * PASS;
        take += TOGETHER * PASS;
    }
}

#else
/* The sums of a warp's 16 rows from i on, columns from j on, of which a lane holds pairs.  What C
 * was is read a pass ahead: reads that follow writes would wait for them. */
IN_REGISTERS void store_sums(const output *o, __local REAL *own, uint i, uint j, const REAL *sums)
{
    const uint lane = get_local_id(0) % 32;
    const uint row = i + lane / ACROSS;
    uint column = j + lane % ACROSS * LANE;
    __local const REAL *take = own + lane / ACROSS * PITCH + lane % ACROSS * LANE;
    REAL before[LANE * STEPS], next[LANE * STEPS];

#pragma unroll
    for (uint e = 0; e < LANE * STEPS; e++)
        before[e] = next[e] = 0;
    if (o->beta != 0)
        read_pass(o, row, column, next);
#pragma unroll
    for (uint first = 0; first < TILE_N; first += PASS) {
        place_sums(own, sums + first / 2);
        /* Placed before stored: below, we read what other lanes placed. */
        warp_barrier();
        if (o->beta == 0) {
            write_pass(o, take, row, column);
        } else {
#pragma unroll
            for (uint e = 0; e < LANE * STEPS; e++)
                before[e] = next[e];
            if (first + PASS < TILE_N)
                read_pass(o, row, column + PASS, next);
            update_pass(o, take, row, column, before);
        }
        column += PASS;
        /* Read before it is overwritten. */
        warp_barrier();
    }
}
#endif

#endif

#if !THROUGH || !SINGLE
#define AHEAD 0
#endif

/* Whether lines of C are to be in the second-level cache when they are read.  Of a wide tile that is
 * the only one of its group they would come before what is multiplied. */
#define EXPECTED (!TURNED && !SPLITS && !AHEAD && !(SINGLE && TILE_N > 128))

#if EXPECTED
/* Where C is added to, fetch the lines of the warp's rows of it. */
static inline void expect_sums(const output *o, uint i, uint j)
{
    const uint row = i + get_local_id(0) % 16, line = 128 / sizeof(result);

    if (o->beta == 0 || row >= o->m)
        return;
    for (uint c = j + get_local_id(0) % 32 / 16 * line; c < min(j + TILE_N, o->n); c += 2 * line)
        prefetch_line(at(o, row, c));
}
#endif

#if !TURNED && !THROUGH
/* Sum of pair e of row i or, where high is 1, i + 8. */
#define FIRST(high, e) (4 * (e) + 2 * (high))
/* Pairs that are read at once, as registers hold them: whole rounds of those that a row has. */
#define PAIRS (HELD < 64 ? HELD / 4 : HELD % 64 ? HELD / 8 : 16)
#if HELD / 4 % PAIRS != 0
#error "TILE_N: PAIRS do not divide the pairs of a row"
#endif

#if RESULT == F16 || RESULT == BF16
/* Lanes of a warp hold pairs of 4 bytes, and four of them a piece of 16 bytes: half of what memory
 * takes at once.  So lanes exchange pairs, and four write a piece of 32 bytes. */
#define EXCHANGES 1

/* Pairs of columns j and j + 8 of a row that starts at `to`: of two neighbouring lanes the even one
 * stores four columns from j on, and the odd one four of those 8 on.  `inside`: C has the row.  All
 * lanes of the warp meet here. */
static inline void store_exchanged(const output *o, __global result *to, uint j, bool inside,
                                   uint pair, uint next)
{
    const bool odd = get_local_id(0) % 2;
    const uint other = warp_exchange(odd ? pair : next, 1), column = odd ? j + 6 : j;

    if (inside && column < o->n)
        *(__global uint2 *)(to + column) = odd ? (uint2)(other, next) : (uint2)(pair, other);
}
#else
#define EXCHANGES 0
#endif

/* What the sums of a row become.  What it was is read before any of it is written: reads that
 * follow writes would wait for them, as the compiler does not know that they lie apart. */
IN_REGISTERS void update_row(const output *o, uint row, uint j, uint high, REAL *sums)
{
#pragma unroll
    for (uint e = 0; e < HELD / 4; e++) {
        sums[FIRST(high, e)] *= o->by.alpha;
        sums[FIRST(high, e) + 1] *= o->by.alpha;
    }
    if (o->beta == 0 || row >= o->m)
        return;
#pragma unroll
    for (uint first = 0; first < HELD / 4; first += PAIRS) {
        real2 before[PAIRS];

#pragma unroll
        for (uint e = 0; e < PAIRS; e++) {
            const uint column = j + 8 * (first + e);

            before[e] = 0;
            if (column < o->n)
                before[e] = VLOADA_RESULTS(2, at(o, row, column));
        }
#pragma unroll
        for (uint e = 0; e < PAIRS; e++) {
            sums[FIRST(high, first + e)] += o->beta * before[e].s0;
            sums[FIRST(high, first + e) + 1] += o->beta * before[e].s1;
        }
    }
}

/* Rows i and i + 8 of C, columns j, + 1, + 8, + 9, + 16, ... */
IN_REGISTERS void store_sums(const output *o, uint i, uint j, REAL *sums)
{
#pragma unroll
    for (uint high = 0; high < 2; high++) {
        const uint row = i + 8 * high;
        __global result *to = at(o, row, 0);

        update_row(o, row, j, high, sums);
#pragma unroll
        for (uint e = 0; e < HELD / 4; e += EXCHANGES ? 2 : 1) {
            const REAL *pair = sums + FIRST(high, e);
#if EXCHANGES
            store_exchanged(o, to, j + 8 * e, row < o->m, pair_bits((float2)(pair[0], pair[1])),
                            pair_bits((float2)(pair[4], pair[5])));
#else
            if (row < o->m && j + 8 * e < o->n)
                *(__global real2 *)(to + j + 8 * e) = (real2)(pair[0], pair[1]);
#endif
        }
    }
}

#elif TURNED && SINGLE
/* The only tile of a group goes to C, which is stored transposed, through local memory, where
 * nothing is to come any more: that takes a loop of few instructions, where one for each sum would
 * have to be fetched from memory first, and neighbouring work-items write neighbours.  Rows of the
 * tile lie PITCH apart, so that work-items meet different banks. */
#define PITCH (TILE_N + 1)

#if TILE_M * PITCH * 4 > STAGES * (TILE_M + TILE_N) * ROW_BYTES
#error "STAGES: as many as hold the sums of a tile"
#endif

/* Rows `row` and row + 8 of the tile, columns `column`, + 1, + 8, + 9, ... */
IN_REGISTERS void place_sums(__local REAL *tile, uint row, uint column, const REAL *sums)
{
#pragma unroll
    for (uint e = 0; e < HELD / 2; e++) {
        __local REAL *to = tile + (row + e % 2 * 8) * PITCH + column + e / 2 * 8;

        to[0] = sums[2 * e];
        to[1] = sums[2 * e + 1];
    }
}

#define ONES 16 /* as many at once are read before they are written */

/* One by one, neighbours of C by neighbouring work-items. */
static inline void store_tile(const output *o, __local const REAL *tile, uint2 start)
{
#pragma unroll 1
    for (uint first = get_local_id(0); first < TILE_M * TILE_N; first += ONES * CONSUMERS) {
        REAL before[ONES];

#pragma unroll
        for (uint b = 0; b < ONES; b++) {
            const uint e = first + b * CONSUMERS, r = e % TILE_M, c = e / TILE_M;

            if (o->beta != 0 && e < TILE_M * TILE_N && start.y + r < o->m && start.x + c < o->n)
                before[b] = load_result(at(o, start.y + r, start.x + c));
        }
#pragma unroll
        for (uint b = 0; b < ONES; b++) {
            const uint e = first + b * CONSUMERS, r = e % TILE_M, c = e / TILE_M;

            if (e < TILE_M * TILE_N && start.y + r < o->m && start.x + c < o->n) {
                const REAL scaled =
                    scale_at(&o->by, start.y + r, start.x + c) * tile[r * PITCH + c];

                update_result(at(o, start.y + r, start.x + c), 1,
                              o->beta == 0 ? scaled : scaled + o->beta * before[b], 0);
            }
        }
    }
}

#elif TURNED
/* Sum e is that of row i + ROW_OF(e), column j + COLUMN_OF(e). */
#define ROW_OF(e)    ((e) / 2 % 2 * 8)
#define COLUMN_OF(e) ((e) / 4 * 8 + (e) % 2)

/* Columns i and i + 8 of C, element by element.  SINGLES at once are read before they are written.
 */
IN_REGISTERS void store_sums(const output *o, uint i, uint j, const REAL *sums)
{
#pragma unroll
    for (uint first = 0; first < HELD; first += SINGLES) {
        REAL before[SINGLES];

#pragma unroll
        for (uint e = 0; e < SINGLES; e++) {
            const uint r = i + ROW_OF(first + e), c = j + COLUMN_OF(first + e);

            before[e] = o->beta != 0 && r < o->m && c < o->n ? load_result(at(o, r, c)) : 0;
        }
#pragma unroll
        for (uint e = 0; e < SINGLES; e++) {
            const uint r = i + ROW_OF(first + e), c = j + COLUMN_OF(first + e);

            if (r < o->m && c < o->n) {
                const REAL scaled = scale_at(&o->by, r, c) * sums[first + e];

                update_result(at(o, r, c), 1, o->beta == 0 ? scaled : scaled + o->beta * before[e],
                              0);
            }
        }
    }
}

#endif

/* What the work-items of a group share: blocks along k, and those of a part of it; tiles of C down
 * and across, and pieces, which are those of every part; addresses in local memory: of the stages,
 * and of a barrier a stage that it is full, and empty. */
typedef struct team {
    uint blocks, span, down, across, pieces, memory, full, empty;
} team;

/* A tile's part of k: where it starts, in elements of C and in blocks, and how many blocks. */
typedef struct piece {
    uint tile, part;
    uint2 start;
    uint first, count;
} piece;

/* All tiles of a part come before the next part's: groups that run side by side share blocks. */
static inline piece piece_of(const team *t, uint g)
{
    const uint tiles = t->down * t->across;
    piece p = {.tile = g % tiles, .part = g / tiles};

    p.start = tile_of_group(p.tile, t->across, t->down) * (uint2)(TILE_N, TILE_M);
    p.first = p.part * t->span;
    p.count = min(t->span, t->blocks - p.first);
    return p;
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

/* Keep the stages filled, piece after piece: one work-item. */
static inline void produce(const team *t, __global const ulong *maps)
{
    place p = {0, 1};

    /* Here, as it wrote one of the maps alone. */
    tensor_acquire(maps);
    tensor_acquire(maps + TENSOR_MAP_WORDS);
#pragma unroll 1
    for (uint g = get_group_id(0); g < t->pieces; g += get_num_groups(0)) {
        const piece x = piece_of(t, g);

#pragma unroll 1
        for (uint block = x.first; block < x.first + x.count; block++) {
            const uint to = t->memory + p.stage * STAGE_BYTES, full = t->full + 8 * p.stage;

            mbarrier_wait(t->empty + 8 * p.stage, p.parity);
            mbarrier_arrive_expect(full, STAGE_BYTES);
            bring(to, maps, ALONG_A, TILE_M, x.start.y, block * BLOCK_K, full);
            bring(to + BYTES_A, maps + TENSOR_MAP_WORDS, ALONG_B, WIDTH_B, x.start.x,
                  block * BLOCK_K, full);
            step_on(&p);
        }
    }
}

/* ---- parts of k ---------------------------------------------------------------------------- */

/* Where parts' sums are kept, how many parts a tile has, and who has counted. */
typedef struct keeping {
    __global real4 *sums;
    __global group_counter *counters;
    __local uint *last;
    uint parts, tiles;
} keeping;

/* Of 64 rows of a tile, the vectors of sums of this work-item. */
static inline __global real4 *kept(const keeping *k, const piece *x, uint part, uint low)
{
    return k->sums + (ulong)((part * k->tiles + x->tile) * HALVES + low) * (HELD / 4) * CONSUMERS +
           get_local_id(0);
}

IN_REGISTERS void keep(__global real4 *to, const REAL *sums)
{
#pragma unroll
    for (uint e = 0; e < HELD / 4; e++)
        to[e * CONSUMERS] = (real4)(sums[4 * e], sums[4 * e + 1], sums[4 * e + 2], sums[4 * e + 3]);
}

/* Whether all parts of the tile are kept, and this group is the last of them. */
static inline bool is_last_part(const keeping *k, const piece *x)
{
    bool found;

    /* What the group wrote comes before it is counted. */
    consumers_barrier();
    if (get_local_id(0) == 0) {
        *k->last = count_group(k->counters + x->tile) == k->parts - 1;
        if (*k->last)
            reset_counter(k->counters + x->tile);
    }
    /* The last group reads after the others were counted. */
    consumers_barrier();
    found = *k->last != 0;
    /* Read before it is written again. */
    consumers_barrier();
    return found;
}

/* The sums of all parts, always in the same order. */
IN_REGISTERS void add_up(const keeping *k, const piece *x, uint low, REAL *sums)
{
#pragma unroll
    for (uint e = 0; e < HELD; e++)
        sums[e] = 0;
#pragma unroll 1
    for (uint part = 0; part < k->parts; part++) {
        __global const real4 *from = kept(k, x, part, low);

#pragma unroll
        for (uint e = 0; e < HELD / 4; e++) {
            const real4 v = from[e * CONSUMERS];

            sums[4 * e] += v.s0;
            sums[4 * e + 1] += v.s1;
            sums[4 * e + 2] += v.s2;
            sums[4 * e + 3] += v.s3;
        }
    }
}

/* ---- a piece ------------------------------------------------------------------------------- */

/* Multiply the stages of one piece as they arrive, and store. */
IN_REGISTERS void consume(const output *o, const team *t, const keeping *k, const piece *x,
                          place *p, __local REAL *tile)
{
    const uint warp = get_local_id(0) / 32, lane = get_local_id(0) % 32;
    const uint i = x->start.y + warp / 4 * GROUP_ROWS + warp % 4 * 16; /* the warp's first row */
    const ulong tile_a = wgmma_tile_turned(t->memory + warp / 4 * (GROUP_ROWS * ROW_BYTES), 0);
    const ulong tile_b = wgmma_tile_turned(t->memory + BYTES_A, ALONG_B ? 0 : ROW * ROW_BYTES);
    uint blocks = x->count;
#if !APART
    uint before = 0; /* the barrier of the stage before, 0 at first */
#else
    REAL stage_upper[HELD];
#if HALVES == 2
    REAL stage_lower[HELD];
#endif
#endif
    REAL upper[HELD];
#if HALVES == 2
    REAL lower[HELD];
#endif

#if THROUGH && SINGLE
    kept_c before_c[TOGETHER * KEPT_PASS];

    if (AHEAD && o->beta != 0) {
        const uint2 from = lane_start(i, x->start.x);

        keep_passes(o, from.x, from.y, before_c);
    }
#endif
#if EXPECTED
    expect_sums(o, i, x->start.x);
#if HALVES == 2
    expect_sums(o, i + 64, x->start.x);
#endif
#endif

#pragma unroll
    for (uint e = 0; e < HELD; e++)
        upper[e] = 0;
#if HALVES == 2
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
#if APART
        MULTIPLY_STAGE(stage_upper, from_a, from_b);
#if HALVES == 2
        MULTIPLY_STAGE(stage_lower, from_a + 64 * ROW_BYTES / 16, from_b);
        __asm__ volatile(WGMMA_WAIT("0") : OPERANDS(HELD_SUM, stage_lower)::"memory");
#endif
        /* While one warp group adds, the other multiplies. */
        __asm__ volatile(WGMMA_WAIT("0") : OPERANDS(HELD_SUM, stage_upper)::"memory");
        if (lane == 0)
            mbarrier_arrive(t->empty + 8 * p->stage);
#pragma unroll
        for (uint e = 0; e < HELD; e++)
            upper[e] += stage_upper[e];
#if HALVES == 2
#pragma unroll
        for (uint e = 0; e < HELD; e++)
            lower[e] += stage_lower[e];
#endif
#else
        MULTIPLY_STAGE(upper, from_a, from_b);
#if HALVES == 2
        MULTIPLY_STAGE(lower, from_a + 64 * ROW_BYTES / 16, from_b);
        __asm__ volatile(WGMMA_WAIT("2")::: "memory");
#else
        __asm__ volatile(WGMMA_WAIT("1")::: "memory");
#endif
        /* All but the last stage's instructions are complete. */
        if (before && lane == 0)
            mbarrier_arrive(before);
        before = t->empty + 8 * p->stage;
#endif
        step_on(p);
    } while (--blocks);
#if !APART
    __asm__ volatile(WGMMA_WAIT("0") : OPERANDS(HELD_SUM, upper)::"memory");
#if HALVES == 2
    __asm__ volatile(WGMMA_WAIT("0") : OPERANDS(HELD_SUM, lower)::"memory");
#endif
    if (lane == 0)
        mbarrier_arrive(before);
#endif
#if SPLITS
    keep(kept(k, x, x->part, 0), upper);
#if HALVES == 2
    keep(kept(k, x, x->part, 1), lower);
#endif
    if (!is_last_part(k, x))
        return;
    add_up(k, x, 0, upper);
#if HALVES == 2
    add_up(k, x, 1, lower);
#endif
#endif /* SPLITS */
#if THROUGH
#if SINGLE
    /* Both warp groups have multiplied what is overwritten. */
    consumers_barrier();
#endif
#if SINGLE
    store_sums(o, tile + warp * OWN, i, x->start.x, upper, before_c);
#if HALVES == 2
    /* Read before it is overwritten. */
    warp_barrier();
    store_sums(o, tile + warp * OWN, i + 64, x->start.x, lower, before_c);
#endif
#else
    store_sums(o, tile + warp * OWN, i, x->start.x, upper);
#if HALVES == 2
    store_sums(o, tile + warp * OWN, i + 64, x->start.x, lower);
#endif
#endif
#elif TURNED && SINGLE
    /* Both warp groups have multiplied what is overwritten. */
    consumers_barrier();
    place_sums(tile, i - x->start.y + lane / 4, lane % 4 * 2, upper);
#if HALVES == 2
    place_sums(tile, i - x->start.y + lane / 4 + 64, lane % 4 * 2, lower);
#endif
    /* Placed before stored: below, we read what other work-items placed. */
    consumers_barrier();
    store_tile(o, tile, x->start);
#else
    store_sums(o, i + lane / 4, x->start.x + lane % 4 * 2, upper);
#if HALVES == 2
    store_sums(o, i + lane / 4 + 64, x->start.x + lane % 4 * 2, lower);
#endif
#endif
}

/* C := beta C on the group's tiles: k is 0. */
static inline void scale(const output *o, const team *t)
{
    for (uint g = get_group_id(0); g < t->pieces; g += get_num_groups(0)) {
        const uint2 start = piece_of(t, g).start;

        for (uint e = get_local_id(0); e < TILE_M * TILE_N; e += get_local_size(0)) {
            const uint i = start.y + e / TILE_N, j = start.x + e % TILE_N;

            if (i < o->m && j < o->n)
                update_result(at(o, i, j), o->by.alpha, 0, o->beta);
        }
    }
}

/* a and b are read through maps that the group writes into `work`.  k is 0 where there is nothing
 * to add up. */
__kernel __attribute__((reqd_work_group_size(CONSUMERS + PRODUCERS, 1, 1))) void
matmul_tensor(__global const factor *a, __global const factor *b, __global result *c,
              __global uchar *work, __global group_counter *counters,
              const tensor_call call SCALE_ARGUMENTS)
{
    __local uchar memory[STAGES * STAGE_BYTES + 1024] __attribute__((aligned(1024)));
    __local ulong barriers[2 * STAGES];
    __local ulong maps_local[2 * TENSOR_MAP_WORDS] __attribute__((aligned(128)));
#if THROUGH && !SINGLE
    __local REAL own[CONSUMERS / 32 * OWN];
#else
    __local REAL *own = (__local REAL *)memory; /* where nothing is to come any more */
#endif
    __local uint last;
    const output o = {call.m,
                      call.n,
                      SCALES(call.alpha, call.offset_scale_a, call.offset_scale_b),
                      call.beta,
                      c + call.offset_c,
                      call.ldc};
    const uint down = (call.m + TILE_M - 1) / TILE_M, across = (call.n + TILE_N - 1) / TILE_N;
    const team t = {.blocks = (call.k + BLOCK_K - 1) / BLOCK_K,
                    .span = call.span,
                    .down = down,
                    .across = across,
                    .pieces = down * across * call.parts,
                    .memory = (local_address(memory) + 1023) / 1024 * 1024,
                    .full = local_address(barriers),
                    .empty = local_address(barriers) + 8 * STAGES};
    const keeping k = {(__global real4 *)(work + call.sums), counters + 4 * FUSED, &last,
                       call.parts, down * across};

#if UNIT_GROUPS > 1
    __asm__ volatile("//@groups " TEXT_EXPANDED(UNIT_GROUPS));
#endif
    if (call.k == 0) {
        scale(&o, &t);
        return;
    }
    if (get_local_id(0) == 0) {
        for (uint s = 0; s < STAGES; s++) {
            mbarrier_init(t.full + 8 * s, 1);
            mbarrier_init(t.empty + 8 * s, CONSUMERS / 32);
        }
        mbarrier_publish();
    }
    /* Initialised before used. */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) >= CONSUMERS) {
        const uint lane = get_local_id(0) - CONSUMERS;
        __global ulong *maps = (__global ulong *)work;

        maps += get_group_id(0) * (2 * TENSOR_MAP_WORDS);
        if (lane < 2) {
            __global ulong *map = maps + lane * TENSOR_MAP_WORDS;
            const tensor of = tensor_of(lane, a, b, work, &call);

            TENSOR_DESCRIBE_AT(local_address(maps_local) + lane * 8 * TENSOR_MAP_WORDS, map,
                               ELEMENT_TYPE, of);
        }
        if (lane < 32)
            warp_barrier();
#if PRODUCERS == 128
        __asm__ volatile(WGMMA "setmaxnreg.dec.sync.aligned.u32 24;" ::: "memory");
#endif
#if FUSED
        /* The consumers have left the local memory of the stages. */
        if (lane < 32)
            __asm__ volatile("bar.sync 2, %0;" ::"r"(CONSUMERS + 32) : "memory");
#endif
        /* Compared so, and once: else the compiler takes it for several work-items, whose copies it
         * would begin in a loop. */
        if (get_local_id(0) == CONSUMERS) {
#if FUSED
            await_pieces(&call, counters);
#endif
            produce(&t, maps);
        }
    } else {
        place p = {0, 0};

#if PRODUCERS == 128
        __asm__ volatile(WGMMA "setmaxnreg.inc.sync.aligned.u32 240;" ::: "memory");
#endif
#if FUSED
        stage_pieces(a, b, work, &call, counters, (__local factor *)memory, &last);
        __asm__ volatile("bar.arrive 2, %0;" ::"r"(CONSUMERS + 32) : "memory");
#endif
#pragma unroll 1
        for (uint g = get_group_id(0); g < t.pieces; g += get_num_groups(0)) {
            const piece x = piece_of(&t, g);

            consume(&o, &t, &k, &x, &p, own);
        }
#if FUSED
        if (get_local_id(0) == 0)
            end_staging(counters);
#endif
    }
}
