/* C := alpha op(A) op(B) + beta C by outer products of A's columns and B's rows: for a short k.
 *
 * Idea: where k is short, writing C (and reading it) is most of the traffic, so that C goes through
 *     registers in vectors of 16 bytes, and everything else makes way for it.  A work-item keeps
 *     VECTOR columns of ROWS rows, and for each step along k adds the outer product of ROWS
 *     elements of A and VECTOR of B.  It asks for what C was before anything else.  DEPTH steps of
 *     both factors lie in local memory, as REAL: each is converted and rounded once a group.
 *     Where rows of C do not start at multiples of 16 bytes, the vectors of a row begin up to
 *     VECTOR - 1 elements before it, so that they are aligned.  The next row with as many is
 *     `classes` rows further on.  A group takes rows of one class, and has B in local memory from
 *     that far before its first column on.
 *     A group whose tiles hold all of k goes through PASSES blocks of rows with the same tile of B.
 * Work split: a group computes LANES * VECTOR columns of ITEMS / LANES * ROWS * PASSES rows of a
 *     class.  Neighbours along LANES have neighbouring vectors.
 * Parameters: LANES and ROWS, powers of two, ROWS up to 8; ITEMS, a multiple of LANES; DEPTH, a
 *     power of two; PASSES, a power of two, and 1 where k is longer than DEPTH; READS_C: whether
 *     beta is not 0; VECTOR, results in 16 bytes; ALIGNED: 1 where arrays start at multiples of 16
 *     bytes, else 0, and all rows are one class; REAL, REAL_BITS (real.clh); FACTOR, RESULT
 *     (matmul_elements.clh); ROUNDED (matmul_rounded.clh); TRANS_A, TRANS_B (matmul_access.clh).
 *     call.classes; call.across: groups side by side.
 * Launch: 3-D, work-groups of ITEMS x 1 x 1: `across` for each started block of rows of each class,
 *     a layer of them for each product of the batch.
 * Local memory: DEPTH * (LANES * VECTOR + ITEMS / LANES * ROWS * PASSES + 8 and fewer) of REAL.
 * Traffic: C once, A once for each group across, B once for each PASSES blocks of rows.
 * Limits: m, n, k and the leading dimensions up to 2^31.
 */
#include "common/in_registers.clh"
#include "matmul/matmul_access.clh"
#include "matmul/matmul_call.clh"
#include "matmul/matmul_rounded.clh"

#ifndef ITEMS
#error "ITEMS: work-items of a group"
#endif
#ifndef LANES
#error "LANES: work-items side by side, a power of two"
#endif
#ifndef ROWS
#error "ROWS: rows of a work-item: 1, 2, 4 or 8"
#endif
#ifndef DEPTH
#error "DEPTH: steps along k in local memory, a power of two"
#endif
#ifndef PASSES
#error "PASSES: blocks of rows that use the same tile of B, a power of two"
#endif
#ifndef READS_C
#error "READS_C: whether beta is not 0"
#endif
#ifndef VECTOR
#error "VECTOR: results in 16 bytes: 2, 4 or 8"
#endif
#ifndef ALIGNED
#error "ALIGNED: 1 where arrays start at multiples of 16 bytes, else 0"
#endif

#if REAL_BITS == 64
#define PART 2 /* REAL of 16 bytes */
#else
#define PART 4
#endif
/* One step of few columns: no tiles, and no barriers. */
#define DIRECT  (DEPTH == 1 && VECTOR <= 4)
#define SLOTS   (ITEMS / LANES)
#define BLOCK   (SLOTS * ROWS)
#define HEIGHT  (BLOCK * PASSES)
#define WIDTH   (LANES * VECTOR)
#define PITCH_A (HEIGHT + (ROWS > PART ? ROWS : PART))
#define PITCH_B (WIDTH + PART)
#define LOADS_A ((DEPTH * HEIGHT + ITEMS - 1) / ITEMS)
#define LOADS_B ((DEPTH * WIDTH + ITEMS - 1) / ITEMS)

typedef REAL_N(VECTOR) vector;

/* A vector as C holds it.  Of 16 bits it is words of two, and stays so between memory and
 * arithmetic: else compilers move the halves of a word one by one. */
#define IN_WORDS (RESULT == F16 || RESULT == BF16)
#if IN_WORDS
typedef uint4 packed;
#else
typedef vector packed;
#endif

#if RESULT == F16
static inline float float_of(uint bits)
{
    return FLOAT_OF_F16(, (ushort)bits);
}

static inline uint bits_of(float v)
{
    return F16_OF_FLOAT(, v);
}
#elif RESULT == BF16
static inline float float_of(uint bits)
{
    return as_float(bits << 16);
}

static inline uint bits_of(float v)
{
    return BF16_OF_FLOAT(, v);
}
#endif

static inline vector unpack(packed x)
{
#if IN_WORDS
    const uint *const words = (const uint *)&x;
    vector v;
    float *const one = (float *)&v;

#pragma unroll
    for (uint e = 0; e < VECTOR; e++)
        one[e] = float_of(words[e / 2] >> e % 2 * 16 & 0xFFFFu);
    return v;
#else
    return x;
#endif
}

static inline packed pack(vector v)
{
#if IN_WORDS
    const float *const one = (const float *)&v;
    packed x;
    uint *const words = (uint *)&x;

#pragma unroll
    for (uint e = 0; e < VECTOR; e += 2)
        words[e / 2] = bits_of(one[e]) | bits_of(one[e + 1]) << 16;
    return x;
#else
    return v;
#endif
}

/* A group's part of C. */
typedef struct part {
    uint i0, step;  /* its first row, and from one of its rows to the next */
    uint j0, shift; /* its first column is j0 - shift, which may be before the first of C */
    uint m, n;
} part;

/* Columns j ... of a row, as they were; anything for those outside. */
static inline packed load_before(__global const result *from, uint j, uint n)
{
    packed x = 0;
#if IN_WORDS
    uint *const one = (uint *)&x;
#else
    REAL *const one = (REAL *)&x;
#endif

    if (ALIGNED && j < n && j + VECTOR <= n)
        return *(__global const packed *)from;
#pragma unroll
    for (uint e = 0; e < VECTOR; e++)
        if (j + e < n) {
#if IN_WORDS
            one[e / 2] |= (uint)from[e] << e % 2 * 16;
#else
            one[e] = from[e];
#endif
        }
    return x;
}

static inline void store_after(__global result *to, uint j, uint n, packed x)
{
#if IN_WORDS
    const uint *const one = (const uint *)&x;
#else
    const REAL *const one = (const REAL *)&x;
#endif

    if (ALIGNED && j < n && j + VECTOR <= n) {
        *(__global packed *)to = x;
        return;
    }
#pragma unroll
    for (uint e = 0; e < VECTOR; e++)
        if (j + e < n) {
#if IN_WORDS
            to[e] = (result)(one[e / 2] >> e % 2 * 16);
#else
            to[e] = one[e];
#endif
        }
}

/* Row `e` of the group's: neighbours are neighbouring slots'. */
static inline uint row_of(const part *x, uint e)
{
    return x->i0 + e * x->step;
}

/* This work-item's elements of steps p0 ... of both factors, 0 beyond the edges. */
IN_REGISTERS void fetch(REAL *next_a, REAL *next_b, const part *x, __global const factor *a,
                        __global const factor *b, const matmul_call *call, uint p0)
{
#pragma unroll
    for (uint e = 0; e < LOADS_B; e++) {
        const uint at = get_local_id(0) + e * ITEMS;
        const uint j = x->j0 + (TRANS_B ? at / DEPTH : at % WIDTH) - x->shift;
        const uint p = p0 + (TRANS_B ? at % DEPTH : at / WIDTH);

        next_b[e] = j < x->n && p < call->k && at < DEPTH * WIDTH
                        ? load_rounded(b + at_b(p, j, call->ldb))
                        : 0;
    }
#pragma unroll
    for (uint e = 0; e < LOADS_A; e++) {
        const uint at = get_local_id(0) + e * ITEMS;
        const uint i = row_of(x, TRANS_A ? at % HEIGHT : at / DEPTH);
        const uint p = p0 + (TRANS_A ? at / HEIGHT : at % DEPTH);

        next_a[e] = i < x->m && p < call->k && at < DEPTH * HEIGHT
                        ? load_rounded(a + at_a(i, p, call->lda))
                        : 0;
    }
}

/* Where column `e` of the group's is in a tile of B: vectors of 16 bytes of neighbouring work-items
 * follow one another, so that no two of them meet in a bank. */
static inline uint place(uint e)
{
    return VECTOR == PART ? e : e % VECTOR / PART * (LANES * PART) + e / VECTOR * PART + e % PART;
}

/* Into the tiles: rows of a slot in a block follow one another. */
IN_REGISTERS void keep(__local REAL *tile_a, __local REAL *tile_b, const REAL *next_a,
                       const REAL *next_b)
{
#pragma unroll
    for (uint e = 0; e < LOADS_B; e++) {
        const uint at = get_local_id(0) + e * ITEMS;
        const uint column = TRANS_B ? at / DEPTH : at % WIDTH;

        if (DEPTH * WIDTH % ITEMS == 0 || at < DEPTH * WIDTH)
            tile_b[(TRANS_B ? at % DEPTH : at / WIDTH) * PITCH_B + place(column)] = next_b[e];
    }
#pragma unroll
    for (uint e = 0; e < LOADS_A; e++) {
        const uint at = get_local_id(0) + e * ITEMS;
        const uint row = TRANS_A ? at % HEIGHT : at / DEPTH;

        if (DEPTH * HEIGHT % ITEMS == 0 || at < DEPTH * HEIGHT)
            tile_a[(TRANS_A ? at / HEIGHT : at % DEPTH) * PITCH_A + row / BLOCK * BLOCK +
                   row % SLOTS * ROWS + row % BLOCK / SLOTS] = next_a[e];
    }
}

static inline vector columns_at(__local const REAL *tile, uint lane)
{
    vector v;
    REAL_N(PART) *const parts = (REAL_N(PART) *)&v;

#pragma unroll
    for (uint e = 0; e < VECTOR / PART; e++)
        parts[e] = *(__local const REAL_N(PART) *)(tile + (e * LANES + lane) * PART);
    return v;
}

/* Add the outer product of a step. */
IN_REGISTERS void add_outer(vector *sum, __local const REAL *rows, vector columns)
{
#if ROWS == 1
    const REAL own = *rows;
#else
    const REAL_N(ROWS) own = *(__local const REAL_N(ROWS) *)rows;
#endif
    const REAL *const x = (const REAL *)&own;

#pragma unroll
    for (uint r = 0; r < ROWS; r++)
        sum[r] += x[r] * columns;
}

/* What C was in a work-item's rows of block `pass`. */
IN_REGISTERS void load_block(packed *before, __global const result *to, const part *x, uint ldc,
                             uint j, uint slot, uint pass)
{
#pragma unroll
    for (uint r = 0; r < ROWS; r++) {
        const uint i = row_of(x, pass * BLOCK + r * SLOTS + slot);

        before[r] = 0;
        if (i < x->m)
            before[r] = load_before(to + (ulong)i * ldc, j, x->n);
    }
}

/* Add the outer products of all steps, from global memory. */
IN_REGISTERS void add_direct(vector *sum, const part *x, __global const factor *a,
                             __global const factor *b, const matmul_call *call, uint first, uint j)
{
    for (uint p = 0; p < call->k; p++) {
        vector columns = 0;
        REAL *const one = (REAL *)&columns;

#pragma unroll
        for (uint e = 0; e < VECTOR; e++)
            if (j + e < x->n)
                one[e] = load_rounded(b + at_b(p, j + e, call->ldb));
#pragma unroll
        for (uint r = 0; r < ROWS; r++) {
            const uint i = row_of(x, first + r * SLOTS);

            if (i < x->m)
                sum[r] += load_rounded(a + at_a(i, p, call->lda)) * columns;
        }
    }
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
matmul_outer(__global const factor *restrict a, __global const factor *restrict b,
             __global result *restrict c, const matmul_call call)
{
    __local REAL tile_a[DEPTH * PITCH_A] __attribute__((aligned(64)));
    __local REAL tile_b[DEPTH * PITCH_B] __attribute__((aligned(64)));
    const uint lane = get_local_id(0) % LANES, slot = get_local_id(0) / LANES;
    const uint group = get_group_id(0), down = group / call.across, q = down % call.classes;
    const ulong first = in_batch(call.offset_c, call.stride_c);
    const part x = {.i0 = down / call.classes * (HEIGHT * call.classes) + q,
                    .step = call.classes,
                    .j0 = group % call.across * WIDTH,
                    .shift = ALIGNED ? (uint)(first + (ulong)q * call.ldc) % VECTOR : 0,
                    .m = call.m,
                    .n = call.n};
    const uint j = x.j0 + lane * VECTOR - x.shift;
    __global result *const to =
        c + ((long)first + (long)x.j0 + (long)(lane * VECTOR) - (long)x.shift);
    packed before[ROWS];
    vector sum[ROWS];
    REAL next_a[LOADS_A], next_b[LOADS_B];

    if (READS_C)
        load_block(before, to, &x, call.ldc, j, slot, 0);
    a += in_batch(call.offset_a, call.stride_a);
    b += in_batch(call.offset_b, call.stride_b);
#pragma unroll 1
    for (uint pass = 0; pass < PASSES; pass++) {
        if (READS_C && pass > 0)
            load_block(before, to, &x, call.ldc, j, slot, pass);
#pragma unroll
        for (uint r = 0; r < ROWS; r++)
            sum[r] = 0;
        if (DIRECT)
            add_direct(sum, &x, a, b, &call, pass * BLOCK + slot, j);
        for (uint p0 = 0; !DIRECT && p0 < call.k; p0 += DEPTH) {
            const uint steps = min(call.k - p0, (uint)DEPTH);

            if (pass == 0) {
                fetch(next_a, next_b, &x, a, b, &call, p0);
                keep(tile_a, tile_b, next_a, next_b);
                /* Filled before read: below, we read what other work-items wrote. */
                barrier(CLK_LOCAL_MEM_FENCE);
            }
#pragma unroll 4
            for (uint p = 0; p < steps; p++)
                add_outer(sum, tile_a + p * PITCH_A + pass * BLOCK + slot * ROWS,
                          columns_at(tile_b + p * PITCH_B, lane));
#if PASSES == 1
            /* Read before overwritten by the next round. */
            barrier(CLK_LOCAL_MEM_FENCE);
#endif
        }
#pragma unroll
        for (uint r = 0; r < ROWS; r++) {
            const uint i = row_of(&x, pass * BLOCK + r * SLOTS + slot);
            const vector scaled = call.alpha * sum[r];

            if (i < x.m)
                store_after(to + (ulong)i * call.ldc, j, x.n,
                            pack(READS_C ? scaled + call.beta * unpack(before[r]) : scaled));
        }
    }
}
