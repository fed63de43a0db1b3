/* C := alpha op(A) op(B) + beta C: matrix instructions of a warp, mma.sync.
 *
 * Idea: a warp of 32 work-items multiplies 16 x K by K x 8 in one instruction, its operands spread
 *     over their registers.  Blocks of A and B come by asynchronous copies, STAGES - 1 of them
 *     in flight, and lie in local memory in the order in which they come, along k or across it,
 *     padded so that what a warp reads together lies in different banks.  Those copies are of 16
 *     bytes, aligned; of 4 they take several times as long as loads.  So lines that start anywhere
 *     come through registers, a block ahead: TF32 and FP64 an element at a time, others 16 bytes
 *     out of the two aligned vectors they lie in.
 *     Of int8, whose fragments are words of four elements along k, what lies across k comes through
 *     registers too, in squares of 4 x 4 elements, transposed there: in local memory lines are
 *     along k always.
 * Work split: a group computes TILE_M x TILE_N of C, or the sums of a span of k where groups share
 *     it, which the last of them adds up; its warps share the tile, WARPS_M by WARPS_N.  C goes
 *     through local memory, for neighbours to store neighbours: in vectors that are aligned however
 *     a row starts, and one by one before the first and behind the last of them.  What C was
 *     is read before the products where registers hold it.
 * Parameters:
 *     TILE_M, TILE_N; SETS of warps, which share the steps of a block; ITEMS, 32 WARPS_M WARPS_N
 *     SETS;
 *     BLOCK, bytes of a line of a block along k; STAGES;
 *     COPY_A, COPY_B: bytes at whose multiples lines start, 16, 8, 4, 2 or 1;
 *     C_VECTOR (matmul_lanes.clh), 4, or 2 of F64 and where pairs are aligned and fours are not;
 *     SHIFTED: whether rows of C do not all start and end at multiples of it;
 *     EARLY: 1 where what C was is read before the products, and held in registers until then;
 *     SPLITS: 1 where groups share k; LAST_ADDS (last_group.clh), not 0;
 *     LOCAL_BYTES; BAND (matmul_bands.clh); TRANS_A, TRANS_B (matmul_access.clh);
 *     REAL, REAL_BITS (real.clh), FACTOR, RESULT (matmul_elements.clh): factors of F32 for TF32
 *     products, F64, F16, BF16, I8.
 * Launch: 3-D, work-groups of ITEMS x 1 x 1, along the first dimension one per started tile of C, a
 *     layer of them for each product of the batch, or for each span of k.
 * Workspace: the sums of each group, where groups share k.
 * Local memory: LOCAL_BYTES, STAGES blocks and their padding, or the sums of a tile.
 * Limits: m, n and k below 2^31, leading dimensions up to it; NVIDIA's compute capability 8.0 for
 *     float, 16 and 8 bits, 9.0 for double.
 *
 * Fragments, g = lane / 4, t = lane % 4 (PTX ISA, "Matrix Fragments for mma.sync"), in words of 4
 * bytes, of one TF32, two 16-bit or four 8-bit elements along k: word i of A is row g + 8 (i % 2),
 * word 4 (i / 2) + t along k; of B word 4 i + t, column g; of C rows g, g, g + 8, g + 8, columns
 * 2 t and 2 t + 1.  In float64 an element takes the place of a word.
 */
#include "common/async_copy.clh"
#include "common/in_registers.clh"
#include "common/last_group.clh"
#include "common/tf32.clh"
#include "common/warp.clh"
#include "matmul/matmul_access.clh"
#include "matmul/matmul_bands.clh"
#include "matmul/matmul_call.clh"
#include "matmul/matmul_elements.clh"
#include "matmul/matmul_lanes.clh"

#if !defined(TILE_M) || !defined(TILE_N) || !defined(WARPS_M) || !defined(WARPS_N)
#error "TILE_M, TILE_N, WARPS_M, WARPS_N: of a group's tile, and the warps that share it"
#endif
#if TILE_M % (16 * WARPS_M) || TILE_N % (16 * WARPS_N)
#error "a warp takes 16 x 16 outputs, or multiples"
#endif
#if !defined(STAGES) || STAGES < 2
#error "STAGES: blocks of A and B in flight, 2 or more"
#endif
#if !defined(COPY_A) || !defined(COPY_B)
#error "COPY_A, COPY_B: bytes at whose multiples lines start"
#endif
#if !defined(SPLITS) || !defined(LOCAL_BYTES) || !defined(SHIFTED) || !defined(EARLY)
#error "SPLITS, LOCAL_BYTES, SHIFTED, EARLY: as the head of this file says"
#endif

/* Bytes of an element, and elements along k that an instruction takes. */
#if FACTOR == F64
#define SIZE 8
#define K    16
#elif FACTOR == F32
#define SIZE 4
#define K    8
#elif FACTOR == I8
#define SIZE 1
#define K    32
#else
#define SIZE 2
#define K    16
#endif
#if !defined(BLOCK) || BLOCK % (K * SIZE) || ITEMS != 32 * WARPS_M * WARPS_N * SETS
#error "BLOCK: bytes of a line of a block along k, a multiple of K; ITEMS: 32 a warp"
#endif
#if BLOCK % (K * SIZE * SETS)
#error "SETS: of warps, each of which has a step of K in a block, or as many as the others"
#endif
#define DEPTH (BLOCK / SIZE)

/* ---- blocks in local memory ------------------------------------------------------------------ *
 *
 * `along`: a line holds the DEPTH elements along k of a row of A or column of B, else the `side`
 * elements of one k.
 */
#define LINES(along, side)      ((along) ? (side) : DEPTH)
#define LENGTH(along, side)     ((along) ? DEPTH : (side))
#define PADDING(along)          ((along) ? (SIZE == 8 ? 32 : 16) : SIZE == 2 ? 16 : 32)
#define PITCH(along, side)      (LENGTH(along, side) * SIZE + PADDING(along))
#define TILE_BYTES(along, side) (LINES(along, side) * PITCH(along, side))

/* Whether lines of a block are along k, and whether copies bring it. */
#define ALONG_A  (!TRANS_A || SIZE == 1)
#define ALONG_B  (TRANS_B || SIZE == 1)
#define COPIED_A (COPY_A == 16 && ALONG_A == !TRANS_A)
#define COPIED_B (COPY_B == 16 && ALONG_B == TRANS_B)

#define PITCH_A PITCH(ALONG_A, TILE_M)
#define PITCH_B PITCH(ALONG_B, TILE_N)
#define TILE_A  TILE_BYTES(ALONG_A, TILE_M)
#define STAGE   (TILE_A + TILE_BYTES(ALONG_B, TILE_N))

/* Vectors of 16 bytes of a line, and of a tile that each work-item copies. */
#define VECTORS(along, side) (LENGTH(along, side) * SIZE / 16)
#define COPIES(along, side)  ((LINES(along, side) * VECTORS(along, side) + ITEMS - 1) / ITEMS)

/* Bytes that a work-item moves at once through registers, an element or a vector, how often, and
 * words that it holds of them until then. */
#define UNIT        (SIZE >= 4 ? SIZE : 16)
#define HELD(side)  (((side)*BLOCK / UNIT + ITEMS - 1) / ITEMS)
#define WORDS(side) ((SIZE >= 4 ? 2 : 8) * HELD(side))

/* A sum's line, of a tile of C: rows g lie in different banks. */
#define PITCH_C (TILE_N + 8)

/* An operand: its elements from the first that the group takes, element (`line`, `at`) of the
 * matrix, which has `lines` lines of `length`. */
typedef struct operand {
    __global const factor *from;
    uint ld, line, at, lines, length;
} operand;

/* What of an operand is left from element (line, at) of the block at p0 on, and where it is. */
typedef struct part {
    __global const factor *from;
    int lines, length;
    uint ld;
} part;

static inline part part_from(const operand *x, bool along, uint p0, uint line, uint at)
{
    part r = {x->from, (int)(x->lines - x->line - (along ? 0 : p0)) - (int)line,
              (int)(x->length - x->at - (along ? p0 : 0)) - (int)at, x->ld};

    /* What follows from these is computed for each block: there are no registers to keep it in. */
    __asm__ volatile("" : "+r"(r.ld), "+r"(r.lines), "+r"(r.length));
    r.from += (along ? p0 : (ulong)p0 * r.ld) + (ulong)line * r.ld + at;
    return r;
}

/* Begin to copy this work-item's vectors of the block at p0 along k, with zeros beyond the edges.
 */
IN_REGISTERS void bring(const operand *x, uint tile, bool along, uint side, uint p0)
{
    const uint vectors = VECTORS(along, side), each = 16 / SIZE;
    const uint line = get_local_id(0) / vectors, at = get_local_id(0) % vectors * each;
    const uint to = tile + line * PITCH(along, side) + at * SIZE;
    const part r = part_from(x, along, p0, line, at);

    if (LINES(along, side) * vectors < ITEMS && line >= LINES(along, side))
        return;
#pragma unroll
    for (uint c = 0; c < COPIES(along, side); c++) {
        const uint apart = ITEMS / vectors * c;
        const int inside = (int)apart < r.lines ? clamp(r.length, 0, (int)each) : 0;

        copy_inside(to + apart * PITCH(along, side), r.from + (ulong)apart * r.ld,
                    (uint)inside * SIZE);
    }
}

/* Round to TF32 what this work-item copied. */
IN_REGISTERS void round_copied(uint tile, bool along, uint side)
{
    const uint vectors = VECTORS(along, side);
    const uint line = get_local_id(0) / vectors, at = get_local_id(0) % vectors;
    const uint to = tile + line * PITCH(along, side) + at * 16;

    if (LINES(along, side) * vectors < ITEMS && line >= LINES(along, side))
        return;
#pragma unroll
    for (uint c = 0; c < COPIES(along, side); c++) {
        const uint place = to + ITEMS / vectors * c * PITCH(along, side);
        const uint4 v = local_load(place);

        local_store(place, (uint4)(tf32(as_float(v.s0)), tf32(as_float(v.s1)), tf32(as_float(v.s2)),
                                   tf32(as_float(v.s3))));
    }
}

/* Four elements of 8 bits, of which `left` are in the matrix; zeros beyond. */
static inline uint load_bytes(__global const factor *from, uint copy, int left)
{
    __global const uchar *bytes = (__global const uchar *)from;
    uint v = 0;

    if (copy >= 4 && left >= 4)
        return *(__global const uint *)from;
#pragma unroll
    for (int e = 0; e < 4; e++)
        if (e < left)
            v |= (uint)bytes[e] << 8 * e;
    return v;
}

/* Squares of 4 x 4 elements of 8 bits that a work-item moves, of a block that lies across k. */
#define SQUARES(side) (((side)*BLOCK / 16 + ITEMS - 1) / ITEMS)

/* Load them: a register a k. */
IN_REGISTERS void fetch_squares(uint *held, const operand *x, uint side, uint copy, uint p0)
{
#pragma unroll
    for (uint c = 0; c < SQUARES(side); c++) {
        const uint square = get_local_id(0) + c * ITEMS;
        const uint p = square / (side / 4) * 4, at = square % (side / 4) * 4;
        const part r = part_from(x, false, p0, p, at);

#pragma unroll
        for (int e = 0; e < 4; e++) {
            held[4 * c + e] = 0;
            if (p < DEPTH && e < r.lines && r.length > 0)
                held[4 * c + e] = load_bytes(r.from + (ulong)e * r.ld, copy, r.length);
        }
    }
}

/* Byte `e` of each of four words. */
static inline uint bytes_of(const uint *v, uint e)
{
    return (v[0] >> 8 * e & 255) | (v[1] >> 8 * e & 255) << 8 | (v[2] >> 8 * e & 255) << 16 |
           v[3] >> 8 * e << 24;
}

/* Store them in local memory, in lines along k. */
IN_REGISTERS void keep_squares(const uint *held, uint tile, uint side)
{
#pragma unroll
    for (uint c = 0; c < SQUARES(side); c++) {
        const uint square = get_local_id(0) + c * ITEMS;
        const uint p = square / (side / 4) * 4, at = square % (side / 4) * 4;

        if (p < DEPTH) {
#pragma unroll
            for (uint e = 0; e < 4; e++)
                local_store_1(tile + (at + e) * PITCH(true, side) + p, bytes_of(held + 4 * c, e));
        }
    }
}

#if SIZE >= 4
/* Load this work-item's elements of the block at p0. */
IN_REGISTERS void fetch(uint *held, const operand *x, bool along, uint side, uint p0)
{
    const uint units = LENGTH(along, side);
    const uint line = get_local_id(0) / units, at = get_local_id(0) % units;
    const part r = part_from(x, along, p0, line, at);

#pragma unroll
    for (uint c = 0; c < HELD(side); c++) {
        const uint apart = ITEMS / units * c;
        __global const uint *from = (__global const uint *)(r.from + (ulong)apart * r.ld);

        held[2 * c] = held[2 * c + 1] = 0;
        if ((int)apart < r.lines && r.length > 0) {
            held[2 * c] = from[0];
            if (SIZE == 8)
                held[2 * c + 1] = from[1];
        }
    }
}

/* Store them in local memory. */
IN_REGISTERS void keep(const uint *held, const operand *x, uint tile, bool along, uint side,
                       uint p0)
{
    const uint units = LENGTH(along, side);
    const uint line = get_local_id(0) / units, at = get_local_id(0) % units;
    const uint to = tile + line * PITCH(along, side) + at * UNIT;

    (void)x;
    (void)p0;
#pragma unroll
    for (uint c = 0; c < HELD(side); c++) {
        const uint place = to + ITEMS / units * c * PITCH(along, side);

        if (SIZE == 8)
            local_store_2(place, held[2 * c], held[2 * c + 1]);
        else
            local_store_1(place, tf32(as_float(held[2 * c])));
    }
}
#else
/* 32 bits of two words, from bit `first` of the lower one on. */
static inline uint bits_from(uint low, uint high, uint first)
{
    uint bits;

    __asm__("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(bits) : "r"(low), "r"(high), "r"(first));
    return bits;
}

/* Load this work-item's units of the block at p0, 16 bytes in a line: the two aligned vectors that
 * they lie in, each where it has an element of the line.  A vector may begin before the line and
 * end up to 15 bytes behind the matrix.  Beyond a buffer that is harmless: memory is mapped by
 * pages, and an aligned vector lies in the page of that element; what is not of the line is masked
 * by keep(). */
IN_REGISTERS void fetch(uint *held, const operand *x, bool along, uint side, uint p0)
{
    const uint each = UNIT / SIZE, units = LENGTH(along, side) / each;
    const uint line = get_local_id(0) / units, at = get_local_id(0) % units * each;
    const part r = part_from(x, along, p0, line, at);

    if (LINES(along, side) * units < ITEMS && line >= LINES(along, side))
        return;
#pragma unroll
    for (uint c = 0; c < HELD(side); c++) {
        const uint apart = ITEMS / units * c;
        const ulong from = (ulong)(r.from + (ulong)apart * r.ld);
        const uint before = (uint)from % UNIT;
        __global const uint4 *vectors = (__global const uint4 *)(from - before);
        const bool inside = (int)apart < r.lines && r.length > 0;
        uint4 v = 0, w = 0;

        if (inside)
            v = vectors[0];
        if (inside && before + min(r.length, (int)each) * SIZE > UNIT)
            w = vectors[1];
        held[8 * c] = v.s0, held[8 * c + 1] = v.s1, held[8 * c + 2] = v.s2;
        held[8 * c + 3] = v.s3, held[8 * c + 4] = w.s0, held[8 * c + 5] = w.s1;
        held[8 * c + 6] = w.s2, held[8 * c + 7] = w.s3;
    }
}

/* Store them in local memory, with zeros beyond the lines' ends. */
IN_REGISTERS void keep(const uint *held, const operand *x, uint tile, bool along, uint side,
                       uint p0)
{
    const uint each = UNIT / SIZE, units = LENGTH(along, side) / each;
    const uint line = get_local_id(0) / units, at = get_local_id(0) % units * each;
    const uint to = tile + line * PITCH(along, side) + at * SIZE;
    /* Of the address the lowest bits alone count. */
    const uint address = (uint)(ulong)x->from + ((along ? p0 : p0 * x->ld) + at) * SIZE;
    const int length = (int)(x->length - x->at - (along ? p0 : 0)) - (int)at;

    if (LINES(along, side) * units < ITEMS && line >= LINES(along, side))
        return;
#pragma unroll
    for (uint c = 0; c < HELD(side); c++) {
        const uint apart = ITEMS / units * c;
        const uint before = (address + (line + apart) * x->ld * SIZE) % UNIT;
        uint v[6];

        /* Both words are read: an array of which either one is would not stay in registers. */
#pragma unroll
        for (uint e = 0; e < 6; e++) {
            const uint word = held[8 * c + e], other = held[8 * c + e + 2];

            v[e] = before & 8 ? other : word;
        }
#pragma unroll
        for (uint e = 0; e < 5; e++) {
            const uint word = v[e], other = v[e + 1];

            v[e] = before & 4 ? other : word;
        }
#pragma unroll
        for (uint e = 0; e < 4; e++)
            v[e] = bits_from(v[e], v[e + 1], before % 4 * 8);
        if (length < (int)each) {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int left = clamp(length * SIZE - 4 * e, 0, 4); /* bytes of the word */

                v[e] &= left < 4 ? (1u << 8 * left) - 1 : ~0u;
            }
        }
        local_store(to + apart * PITCH(along, side), (uint4)(v[0], v[1], v[2], v[3]));
    }
}
#endif

/* Both operands, of which those with aligned lines are copied, and others held in registers.
 * `stage` is where A's tile begins, and behind it B's. */
IN_REGISTERS void bring_both(const operand *a, const operand *b, uint stage, uint p0, uint k)
{
    if (COPIED_A && p0 < k)
        bring(a, stage, !TRANS_A, TILE_M, p0);
    if (COPIED_B && p0 < k)
        bring(b, stage + TILE_A, TRANS_B, TILE_N, p0);
    copies_commit();
}

/* Where elements are TF32. */
IN_REGISTERS void round_both(uint stage)
{
#if FACTOR == F32
    if (COPY_A == 16)
        round_copied(stage, !TRANS_A, TILE_M);
    if (COPY_B == 16)
        round_copied(stage + TILE_A, TRANS_B, TILE_N);
#endif
}

IN_REGISTERS void fetch_both(uint *held_a, uint *held_b, const operand *a, const operand *b,
                             uint p0, uint k)
{
    if (!COPIED_A && p0 < k) {
        if (ALONG_A == TRANS_A)
            fetch_squares(held_a, a, TILE_M, COPY_A, p0);
        else
            fetch(held_a, a, !TRANS_A, TILE_M, p0);
    }
    if (!COPIED_B && p0 < k) {
        if (ALONG_B != TRANS_B)
            fetch_squares(held_b, b, TILE_N, COPY_B, p0);
        else
            fetch(held_b, b, TRANS_B, TILE_N, p0);
    }
}

IN_REGISTERS void keep_both(const uint *held_a, const uint *held_b, const operand *a,
                            const operand *b, uint stage, uint p0)
{
    if (!COPIED_A) {
        if (ALONG_A == TRANS_A)
            keep_squares(held_a, stage, TILE_M);
        else
            keep(held_a, a, stage, !TRANS_A, TILE_M, p0);
    }
    if (!COPIED_B) {
        if (ALONG_B != TRANS_B)
            keep_squares(held_b, stage + TILE_A, TILE_N);
        else
            keep(held_b, b, stage + TILE_A, TRANS_B, TILE_N, p0);
    }
}

/* ---- fragments ------------------------------------------------------------------------------- */

#if FACTOR == F64
typedef double word;
#define WORDS_A 8
#define WORDS_B 4
#else
typedef uint word;
#define WORDS_A 4
#define WORDS_B 2
#endif

/* Four matrices of 8 lines of 16 bytes; `turned`: of 16-bit elements, transposed. */
IN_REGISTERS void load_matrices(uint *v, uint address, bool turned)
{
    if (turned)
        __asm__ volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                         : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                         : "r"(address)
                         : "memory");
    else
        __asm__ volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                         : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                         : "r"(address)
                         : "memory");
}

static inline uint local_load_word(uint address)
{
    uint v;

    __asm__ volatile("ld.shared.b32 %0, [%1];" : "=r"(v) : "r"(address) : "memory");
    return v;
}

static inline word local_word(uint address)
{
#if FACTOR == F64
    return as_double(local_load_1(address));
#else
    return local_load_word(address);
#endif
}

/* 16 x K of A from row i and p along k on. */
IN_REGISTERS void load_a(word *x, uint block, uint i, uint p)
{
    const uint lane = get_local_id(0) % 32;

#if FACTOR != F64
    if (ALONG_A) {
        load_matrices(x, block + (i + lane % 16) * PITCH_A + p * SIZE + lane / 16 * 16, false);
        return;
    }
    if (SIZE == 2) {
        load_matrices(
            x, block + (p + lane / 16 * 8 + lane % 8) * PITCH_A + (i + lane / 8 % 2 * 8) * SIZE,
            true);
        return;
    }
#endif
#pragma unroll
    for (uint e = 0; e < WORDS_A; e++) {
        const uint row = i + lane / 4 + e % 2 * 8, q = p + e / 2 * 4 + lane % 4;

        x[e] = local_word(block + (TRANS_A ? q * PITCH_A + row * SIZE : row * PITCH_A + q * SIZE));
    }
}

/* K x 16 of B from column j and p along k on: two fragments. */
IN_REGISTERS void load_b(word *x, uint block, uint j, uint p)
{
    const uint lane = get_local_id(0) % 32;

#if FACTOR != F64
    if (ALONG_B) {
        load_matrices(
            x, block + (j + lane / 16 * 8 + lane % 8) * PITCH_B + p * SIZE + lane / 8 % 2 * 16,
            false);
        return;
    }
    if (SIZE == 2) {
        load_matrices(x, block + (p + lane % 16) * PITCH_B + (j + lane / 16 * 8) * SIZE, true);
        return;
    }
#endif
#pragma unroll
    for (uint e = 0; e < 2 * WORDS_B; e++) {
        const uint column = j + lane / 4 + e / WORDS_B * 8, q = p + e % WORDS_B * 4 + lane % 4;

        x[e] = local_word(block +
                          (TRANS_B ? column * PITCH_B + q * SIZE : q * PITCH_B + column * SIZE));
    }
}

#if FACTOR == I8
#define SUM(x) "+r"(x)
#else
#define SUM(x) "+f"(x)
#endif
#define PRODUCT_32(shape, types)                                                                   \
    __asm__ volatile("mma.sync.aligned." shape ".row.col." types                                   \
                     " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                      \
                     : SUM(c[0]), SUM(c[1]), SUM(c[2]), SUM(c[3])                                  \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

/* c += a b, 16 x K by K x 8. */
IN_REGISTERS void multiply(REAL *c, const word *a, const word *b)
{
#if FACTOR == F64
    __asm__ volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
                     "{%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
                     : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
                     : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]),
                       "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#elif FACTOR == F32
    PRODUCT_32("m16n8k8", "f32.tf32.tf32.f32");
#elif FACTOR == F16
    PRODUCT_32("m16n8k16", "f32.f16.f16.f32");
#elif FACTOR == I8
    PRODUCT_32("m16n8k32", "s32.s8.s8.s32");
#else
    PRODUCT_32("m16n8k16", "f32.bf16.bf16.f32");
#endif
}

/* What a warp computes: in pieces of 16 x 8. */
#define ROWS    (TILE_M / WARPS_M / 16)
#define COLUMNS (TILE_N / WARPS_N / 8)

/* sum += A B for a block, of which this warp's set has every SETS-th step: its rows from i0,
 * columns from j0. */
IN_REGISTERS void multiply_block(REAL *sum, uint stage, uint i0, uint j0, uint set)
{
#pragma unroll
    for (uint step = 0; step < DEPTH; step += K * SETS) {
        const uint p = step + set * K;
        word a[ROWS * WORDS_A], b[COLUMNS * WORDS_B];

#pragma unroll
        for (uint r = 0; r < ROWS; r++)
            load_a(a + r * WORDS_A, stage, i0 + 16 * r, p);
#pragma unroll
        for (uint s = 0; s < COLUMNS; s += 2)
            load_b(b + s * WORDS_B, stage + TILE_A, j0 + 8 * s, p);
#pragma unroll
        for (uint r = 0; r < ROWS; r++)
#pragma unroll
            for (uint s = 0; s < COLUMNS; s++)
                multiply(sum + (COLUMNS * r + s) * 4, a + r * WORDS_A, b + s * WORDS_B);
    }
}

/* ---- results --------------------------------------------------------------------------------- */

#if SPLITS
/* Parts that are read at once. */
#define PARTS_AT_ONCE (ROWS * COLUMNS < 16 ? 16 / (ROWS * COLUMNS) : 1)

/* Where a warp's sums are in C: pieces beyond its edges are neither kept nor read. */
typedef struct corner {
    uint i, j, m, n;
} corner;

static inline bool inside(corner at, uint piece)
{
    return at.i + piece / COLUMNS * 16 < at.m && at.j + piece % COLUMNS * 8 < at.n;
}

static inline REAL_N(4) piece_of(const REAL *sum, uint piece)
{
    return (REAL_N(4))(sum[4 * piece], sum[4 * piece + 1], sum[4 * piece + 2], sum[4 * piece + 3]);
}

IN_REGISTERS void add_piece(REAL *sum, uint piece, REAL_N(4) more)
{
    sum[4 * piece] += more.s0;
    sum[4 * piece + 1] += more.s1;
    sum[4 * piece + 2] += more.s2;
    sum[4 * piece + 3] += more.s3;
}

/* Keep this group's sums, of a span of k; whether every group has that shares the tile, and `sum`
 * is that of the tile, its parts always added in the same order.  Of two sets of warps the first
 * keeps the sums of both, and each adds up every other part. */
IN_REGISTERS bool add_up(REAL *sum, corner at, __global REAL_N(4) * parts,
                         __global group_counter *counters, uint count, __local void *memory)
{
    const uint item = get_local_id(0) % (ITEMS / SETS), set = get_local_id(0) / (ITEMS / SETS);
    __global REAL_N(4) *all =
        parts + (ulong)get_group_id(0) * count * (ROWS * COLUMNS * (ITEMS / SETS)) + item;
    __global REAL_N(4) *mine = all + (ulong)get_group_id(2) * (ROWS * COLUMNS * (ITEMS / SETS));

#if SETS > 1
    __local REAL_N(4) *second = (__local REAL_N(4) *)memory + item;

#pragma unroll
    for (uint v = 0; v < ROWS * COLUMNS; v++)
        if (set == 1)
            second[v * (ITEMS / SETS)] = piece_of(sum, v);
    /* Written before read: below, the first set reads what the second wrote. */
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint v = 0; v < ROWS * COLUMNS; v++)
        if (set == 0)
            add_piece(sum, v, second[v * (ITEMS / SETS)]);
#endif
#pragma unroll
    for (uint v = 0; v < ROWS * COLUMNS; v++)
        if (set == 0 && inside(at, v))
            mine[v * (ITEMS / SETS)] = piece_of(sum, v);
    if (!is_last_group(counters + get_group_id(0), count, (__local uint *)memory))
        return false;
#pragma unroll
    for (uint e = 0; e < ROWS * COLUMNS * 4; e++)
        sum[e] = 0;
#pragma unroll 1
    for (uint first = set; first < count; first += PARTS_AT_ONCE * SETS) {
        REAL_N(4) theirs[PARTS_AT_ONCE * ROWS * COLUMNS];

#pragma unroll
        for (uint e = 0; e < PARTS_AT_ONCE * ROWS * COLUMNS; e++) {
            const uint g = first + e / (ROWS * COLUMNS) * SETS, v = e % (ROWS * COLUMNS);

            theirs[e] = 0;
            if (g < count && inside(at, v))
                theirs[e] = all[(g * ROWS * COLUMNS + v) * (ITEMS / SETS)];
        }
#pragma unroll
        for (uint e = 0; e < PARTS_AT_ONCE * ROWS * COLUMNS; e++)
            add_piece(sum, e % (ROWS * COLUMNS), theirs[e]);
    }
    return true;
}
#endif

/* A group's tile of C in global memory, from (i0, j0) on. */
typedef struct output {
    __global result *c;
    uint ldc, i0, j0, m, n;
} output;

/* Elements before the first aligned vector of a row of the tile.  Rows that a multiple of LANE lies
 * between have as many. */
static inline uint front_of(const output *o, uint row)
{
    return SHIFTED
               ? -(uint)((ulong)(o->c + (ulong)(o->i0 + row) * o->ldc + o->j0) / sizeof(result)) %
                     LANE
               : 0;
}

/* Sums of a row lie so far behind its start in local memory that vectors are aligned there too. */
static inline uint shift_of(uint front)
{
    return SHIFTED ? (LANE - front) % LANE : 0;
}

/* LANE neighbours as they are stored. */
#if RESULT == F16 || RESULT == BF16
#if LANE == 4
typedef uint2 packed;
#else
typedef uint packed;
#endif

static inline float2 pair_of(uint bits)
{
#if RESULT == F16
    float2 v;

    __asm__("{ .reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h; }"
            : "=f"(v.s0), "=f"(v.s1)
            : "r"(bits));
    return v;
#else
    return (float2)(as_float(bits << 16), as_float(bits & 0xFFFF0000u));
#endif
}

static inline REAL real_of(result x)
{
    return pair_of(x).s0;
}

static inline REAL_N(LANE) unpack(packed x)
{
#if LANE == 4
    return (float4)(pair_of(x.s0), pair_of(x.s1));
#else
    return pair_of(x);
#endif
}
#else
typedef REAL_N(LANE) packed;

static inline REAL real_of(result x)
{
    return x;
}

static inline REAL_N(LANE) unpack(packed x)
{
    return x;
}
#endif

/* Vectors of the tile for each work-item, and as many as it reads at once; and elements at both
 * ends of rows, of which there are up to LANE - 1 each. */
#define STORES   (TILE_M * TILE_N / LANE / ITEMS)
#define TOGETHER (STORES < 8 ? STORES : 8)
#define ENDS     (SHIFTED ? (TILE_M * 2 * LANE + ITEMS - 1) / ITEMS : 1)

#if EARLY && STORES > TOGETHER
#error "EARLY: of tiles that a work-item reads at once"
#endif

/* What of C is added to. */
typedef struct addends {
    packed lanes[TOGETHER];
    result ends[ENDS];
} addends;

/* What a work-item has of the tile: of rows `row`, row + step, ..., what starts at `column`.  `to`
 * is in C, of the first of them; `rows` of the tile has C there. */
typedef struct column_part {
    __global result *to;
    uint row, step, column, shift, rows;
} column_part;

static inline uint rows_of(const output *o)
{
    return min(o->m - o->i0, (uint)TILE_M);
}

/* Vectors of LANE: neighbouring work-items have neighbouring ones. */
static inline column_part lanes_of(const output *o)
{
    const uint across = TILE_N / LANE, row = get_local_id(0) / across, front = front_of(o, row);
    const uint column = front + get_local_id(0) % across * LANE;

    return (column_part){o->c + (ulong)(o->i0 + row) * o->ldc + o->j0 + column,
                         row,
                         ITEMS / across,
                         column,
                         shift_of(front),
                         column + LANE <= min(o->n - o->j0, (uint)TILE_N) ? rows_of(o) : 0};
}

/* Elements before the first vector of a row, and behind the last: LANE work-items for each. */
static inline column_part ends_of(const output *o)
{
    const uint row = get_local_id(0) / (2 * LANE), x = get_local_id(0) % (2 * LANE);
    const uint length = min(o->n - o->j0, (uint)TILE_N), front = min(front_of(o, row), length);
    const uint behind = length - (length - front) % LANE;
    const uint column = x < LANE ? x : behind + x - LANE;

    return (column_part){o->c + (ulong)(o->i0 + row) * o->ldc + o->j0 + column,
                         row,
                         ITEMS / (2 * LANE),
                         column,
                         shift_of(front_of(o, row)),
                         column < (x < LANE ? front : length) ? rows_of(o) : 0};
}

#if ITEMS / (TILE_N / LANE) % LANE || ITEMS / (2 * LANE) % LANE
#error "ITEMS: from row to row of a work-item it is a multiple of LANE"
#endif

/* Whether C has the work-item's row `e`. */
static inline bool has_row(const column_part *x, uint e)
{
    return x->row + e * x->step < x->rows;
}

static inline __global result *row_at(const output *o, const column_part *x, uint e)
{
    return x->to + (ulong)(e * x->step) * o->ldc;
}

IN_REGISTERS void read_lanes(const output *o, const column_part *x, uint first, addends *before)
{
#pragma unroll
    for (uint l = 0; l < TOGETHER; l++) {
        before->lanes[l] = 0;
        if (has_row(x, first + l))
            before->lanes[l] = *(__global const packed *)row_at(o, x, first + l);
    }
}

IN_REGISTERS void read_ends(const output *o, const column_part *x, addends *before)
{
#pragma unroll
    for (uint e = 0; SHIFTED && e < ENDS; e++) {
        before->ends[e] = 0;
        if (has_row(x, e))
            before->ends[e] = *row_at(o, x, e);
    }
}

/* Have the tile in the second-level cache when it is read. */
static inline void expect(const output *o)
{
    const uint each = 128 / sizeof(result), lines = TILE_N / each + 1;

    const uint length = min(o->n - o->j0, (uint)TILE_N);

    for (uint e = get_local_id(0); e < TILE_M * lines; e += ITEMS) {
        const uint row = o->i0 + e / lines, at = e % lines * each;

        if (at < length + each && row < o->m)
            prefetch_line(o->c + (ulong)row * o->ldc + o->j0 + min(at, length - 1));
    }
}

/* Sums of LANE columns of local memory, or of one, of all sets of warps. */
static inline REAL_N(LANE) lane_sums(__local const REAL *sums, uint row, uint column)
{
    REAL_N(LANE) v = *(__local const REAL_N(LANE) *)(sums + row * PITCH_C + column);

#pragma unroll
    for (uint s = 1; s < SETS; s++)
        v += *(__local const REAL_N(LANE) *)(sums + (s * TILE_M + row) * PITCH_C + column);
    return v;
}

static inline REAL one_sum(__local const REAL *sums, uint row, uint column)
{
    REAL v = sums[row * PITCH_C + column];

#pragma unroll
    for (uint s = 1; s < SETS; s++)
        v += sums[(s * TILE_M + row) * PITCH_C + column];
    return v;
}

/* The group's tile of C, from its sums in local memory. */
IN_REGISTERS void store(const output *o, REAL alpha, __local const REAL *sums, REAL beta,
                        addends *before)
{
    const column_part lanes = lanes_of(o), ends = ends_of(o);

    if (beta != 0 && !EARLY)
        read_ends(o, &ends, before);
#pragma unroll 1
    for (uint first = 0; first < STORES; first += TOGETHER) {
        if (beta != 0 && !EARLY)
            read_lanes(o, &lanes, first, before);
#pragma unroll
        for (uint l = 0; l < TOGETHER; l++) {
            REAL_N(LANE) out;

            if (!has_row(&lanes, first + l))
                continue;
            out = alpha *
                  lane_sums(sums, lanes.row + (first + l) * lanes.step, lanes.shift + lanes.column);
            if (beta != 0)
                out += beta * unpack(before->lanes[l]);
            write_lane(row_at(o, &lanes, first + l), LANE, (const REAL *)&out);
        }
    }
#pragma unroll
    for (uint e = 0; SHIFTED && e < ENDS; e++)
        if (has_row(&ends, e)) {
            const REAL scaled =
                alpha * one_sum(sums, ends.row + e * ends.step, ends.shift + ends.column);

            store_result(row_at(o, &ends, e),
                         beta == 0 ? scaled : scaled + beta * real_of(before->ends[e]));
        }
}

/* call.span is what a layer takes of k, where groups share it: a multiple of DEPTH. */
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
matmul_mma(__global const factor *restrict a, __global const factor *restrict b,
           __global result *restrict c,
#if SPLITS
           __global REAL_N(4) * parts, __global group_counter *counters,
#endif
           const matmul_call call)
{
    const uint m = call.m, n = call.n;
    __local ulong memory[LOCAL_BYTES / 8] __attribute__((aligned(16)));
    const uint item = get_local_id(0), warp = item / 32, lane = item % 32;
    const uint2 tile =
        tile_of_group(get_group_id(0), (n + TILE_N - 1) / TILE_N, (m + TILE_M - 1) / TILE_M);
    const uint i0 = tile.s1 * TILE_M, j0 = tile.s0 * TILE_N;
    const uint set = warp / (WARPS_M * WARPS_N);
    const uint row = warp / WARPS_N % WARPS_M * (TILE_M / WARPS_M); /* of the warp, in the tile */
    const uint column = warp % WARPS_N * (TILE_N / WARPS_N);
    const uint front = SPLITS ? get_group_id(2) * call.span : 0;
    const uint k = SPLITS ? min(call.span, call.k - front) : call.k;
    const ulong first_a = in_batch(call.offset_a, call.stride_a) + at_a(i0, front, call.lda);
    const ulong first_b = in_batch(call.offset_b, call.stride_b) + at_b(front, j0, call.ldb);
    /* k is this group's span, and the matrices begin with it. */
    const operand x = {a + first_a,      call.lda,        TRANS_A ? 0 : i0,
                       TRANS_A ? i0 : 0, TRANS_A ? k : m, TRANS_A ? m : k};
    const operand y = {b + first_b,      call.ldb,        TRANS_B ? j0 : 0,
                       TRANS_B ? 0 : j0, TRANS_B ? n : k, TRANS_B ? k : n};
    const uint start = local_address(memory);
    __local REAL *sums = (__local REAL *)memory;
    uint held_a[WORDS(TILE_M)], held_b[WORDS(TILE_N)];
    /* No stride where layers share a product. */
    const output o = {c + in_batch(call.offset_c, call.stride_c), call.ldc, i0, j0, m, n};
    REAL sum[ROWS * COLUMNS * 4];
    addends before;
    uint now = 0;

#pragma unroll
    for (uint e = 0; e < ROWS * COLUMNS * 4; e++)
        sum[e] = 0;
    fetch_both(held_a, held_b, &x, &y, 0, k);
#pragma unroll
    for (uint s = 0; s + 1 < STAGES; s++)
        bring_both(&x, &y, start + s * STAGE, s * DEPTH, k);
    if (call.beta != 0 && EARLY) {
        const column_part lanes = lanes_of(&o), ends = ends_of(&o);

        read_lanes(&o, &lanes, 0, &before);
        read_ends(&o, &ends, &before);
    } else if (call.beta != 0 && !SPLITS) {
        expect(&o);
    }
    if (k > 0)
        keep_both(held_a, held_b, &x, &y, start, 0);
    fetch_both(held_a, held_b, &x, &y, DEPTH, k);
    COPIES_WAIT(STAGES - 2);
    round_both(start);
    /* Filled before read: below, we read what other work-items brought. */
    barrier(CLK_LOCAL_MEM_FENCE);
    /* Volatile assembly in an unmarked loop is unrolled up to a thousand times. */
#pragma unroll 1
    for (uint p0 = 0; p0 < k; p0 += DEPTH) {
        const uint next = now + 1 < STAGES ? now + 1 : 0, before = now ? now - 1 : STAGES - 1;
        const bool more = k - p0 > DEPTH;

        bring_both(&x, &y, start + before * STAGE, p0 + (STAGES - 1) * DEPTH, k);
        if (more)
            keep_both(held_a, held_b, &x, &y, start + next * STAGE, p0 + DEPTH);
        fetch_both(held_a, held_b, &x, &y, p0 + 2 * DEPTH, k);
        multiply_block(sum, start + now * STAGE, row, column, set);
        COPIES_WAIT(STAGES - 2);
        if (more)
            round_both(start + next * STAGE);
        /* The next block is filled before it is read, and this one read before it is refilled. */
        barrier(CLK_LOCAL_MEM_FENCE);
        now = next;
    }
#if SPLITS
    if (!add_up(sum, (corner){i0 + row, j0 + column, m, n}, parts, counters, call.parts, memory))
        return;
#endif
    /* Of rows that 8 or 16 lie between. */
    sums += (set * TILE_M + row + lane / 4) * PITCH_C + column + lane % 4 * 2 +
            shift_of(front_of(&o, row + lane / 4));
#pragma unroll
    for (uint e = 0; e < ROWS * COLUMNS * 4; e += 2) {
        __local REAL *to =
            sums + (e / (COLUMNS * 4) * 16 + e / 2 % 2 * 8) * PITCH_C + e / 4 % COLUMNS * 8;

        if (SHIFTED) {
            to[0] = sum[e];
            to[1] = sum[e + 1];
        } else {
            *(__local REAL_N(2) *)to = (REAL_N(2))(sum[e], sum[e + 1]);
        }
    }
    /* Written before read: below, we read what other work-items wrote. */
    barrier(CLK_LOCAL_MEM_FENCE);
    store(&o, call.alpha, (__local const REAL *)memory, call.beta, &before);
}
