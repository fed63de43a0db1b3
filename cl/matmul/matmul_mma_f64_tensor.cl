/* C := alpha op(A) op(B) + beta C in float64: matrix instructions of a warp, fed by tensor copies.
 *
 * Idea: in matmul_mma_f64.cl the work-items that multiply begin every copy themselves, 16 bytes at
 *     a time.  Here the chip copies boxes of A and B (tensor_copy.clh), and one work-item asks for
 *     them, piece after piece: while a tile is stored, the first blocks of the next one arrive.
 *     A row of a box is 128 bytes, 16 elements, and its pieces of 16 bytes are swizzled: that of
 *     place c is at c XOR row mod 8.  An instruction takes elements of A by twos of rows g and
 *     g + 8, and those of B by twos of k, from neighbouring registers; so a lane reads two at once
 *     where they are neighbours in memory too: across k in A, along k in B.  Where both are stored
 *     the other way round, C^T = op(B)^T op(A)^T is computed.  Which lane has which row, column and
 *     k is free, as long as both factors agree on k, and the sums are stored where they belong:
 *     lanes that read together are given those that meet all banks (below).
 * Work split: a group computes TILE_M x TILE_N of C; each of its warps WARP_M x WARP_N, as pieces
 *     of 16 x 8, but for the last four: of these, which leave their registers to the others, one
 *     work-item brings blocks.  What a group takes: matmul_shares.clh.
 * Parameters: TILE_M, TILE_N; WARP_M, a multiple of 32, and WARP_N, of 16; DEPTH, 16; STAGES; BAND
 *     (matmul_bands.clh); TURNED, 1 where C is stored transposed, and A and B have changed places;
 *     ALIGNED_C: whether two neighbours that start at a multiple of 2 are an aligned vector;
 *     UNIT_GROUPS: for how many groups a compute unit is to have registers; REGISTERS of a
 *     work-item that multiplies, and PRODUCER_REGISTERS of the others; PRODUCERS and MAP_BYTES as
 *     the host counts with them; LAST_ADDS (last_group.clh), not 0; REAL, REAL_BITS, FACTOR, RESULT
 *     (matmul_elements.clh): of double; TRANS_A, TRANS_B (matmul_access.clh), not both 0.
 * Launch: 1-D, work-groups of 32 for each warp, one for each tile of C, or SPLIT, or PER_UNIT for
 *     each compute unit, which share their blocks.
 * Workspace: two maps for each group, then two tiles of sums for each group that shares.
 * Local memory: STAGES blocks of A and B, DEPTH * (TILE_M + TILE_N) elements each, and up to 2 KiB.
 * Limits: rows of A and B from multiples of 16 bytes on; m, n, k and the leading dimensions up to
 *     2^31; NVIDIA's compute capability 9.0.
 */
#include "common/in_registers.clh"
#include "common/last_group.clh"
#include "common/tensor_copy.clh"
#include "common/warp.clh"
#include "matmul/matmul_access.clh"
#include "matmul/matmul_bands.clh"
#include "matmul/matmul_call.clh"
#include "matmul/matmul_elements.clh"
#include "matmul/matmul_shares.clh"

static inline bool is_last_consumer(__global group_counter *done, uint groups, __local uint *last);
#define IS_LAST is_last_consumer
#include "matmul/matmul_mma_f64.clh"

#if FACTOR != F64 || RESULT != F64
#error "FACTOR, RESULT: F64"
#endif
#if WARP_M % 32 || WARP_N % 16 || TILE_M % WARP_M || TILE_N % WARP_N
#error                                                                                             \
    "WARP_M, WARP_N: rows, a multiple of 32, and columns, of 16, of a warp; the tile's are multiples"
#endif
#if DEPTH != 16 || MAP_BYTES != 8 * TENSOR_MAP_WORDS
#error "DEPTH, MAP_BYTES: 16 elements along k of a block, and bytes of a map"
#endif
#if !defined(STAGES) || STAGES < 2
#error "STAGES: blocks of A and B in flight, 2 or more"
#endif
#if !defined(ALIGNED_C) || !defined(UNIT_GROUPS)
#error "ALIGNED_C: 1 where vectors of 2 are aligned, else 0; UNIT_GROUPS: groups on a unit"
#endif
#if (TURNED != 0 && TURNED != 1) || (!TRANS_A && !TRANS_B)
#error "TURNED: 1 where C is stored transposed, as where TRANS_A and TRANS_B were both 0, else 0"
#endif
#if PRODUCERS != 128
#error "PRODUCERS: a warp group, which asks for boxes"
#endif
#if !defined(REGISTERS) || !defined(PRODUCER_REGISTERS)
#error "REGISTERS, PRODUCER_REGISTERS: of a work-item that multiplies, and of one that does not"
#endif
#if !LAST_ADDS
#error "LAST_ADDS: 1 or 2: a tile's last group adds up"
#endif

#define ROW     (DEPTH * 8) /* bytes, of a box */
#define BOX     (16 * ROW)  /* of 16 rows */
#define TILE_A  (TILE_M * ROW)
#define STAGE   (TILE_A + TILE_N * ROW)
#define ALONG_A (!TRANS_A)
#define ALONG_B TRANS_B

#define TEXT(x)          #x
#define TEXT_EXPANDED(x) TEXT(x)

/* The consumers alone wait for each other. */
static inline void consumers_barrier(void)
{
    __asm__ volatile("bar.sync 1, %0;" ::"r"(ITEMS) : "memory");
}

/* ---- sums ------------------------------------------------------------------------------------ *
 *
 * The instruction has row g + 8 h of 16, column c of 8, and k t + 4 q.  Of A and B, and of two
 * pieces 2 v + s side by side, these are:
 *     A across k                       row 2 g + h
 *     A across, B along k              column 16 v + s + 2 (c / 2 mod 2) + 4 (c mod 2) + 8 (c / 4)
 *     A across, B across k             column 16 v + 8 s + c
 *     both with                        k 2 t + q mod 2 + 8 (q / 2)
 *     A along, B along k               row 2 (g mod 4) + g / 4 + 8 h,
 *                                      column 16 v + s + 2 (c mod 4) + 8 (c / 4), k t + 4 q
 */

static inline uint row_of(uint g, uint h)
{
    return ALONG_A ? g % 4 * 2 + g / 4 + 8 * h : 2 * g + h;
}

/* From 16 v on. */
static inline uint column_of(uint c, uint s)
{
    return !ALONG_B  ? 8 * s + c
           : ALONG_A ? s + c % 4 * 2 + c / 4 * 8
                     : s + c / 2 % 2 * 2 + c % 2 * 4 + c / 4 * 8;
}

/* Two sums of a lane that are neighbours in a row of C: the numbers of both, and where the first
 * is, as row and column of the group's tile. */
typedef struct pair {
    uint first, second, row, column;
} pair;

/* Pair e of the 2 WIDE in 16 rows, number r. */
static inline pair pair_of(place at, uint r, uint e)
{
    const uint row = at.row + 16 * r;
    uint h = e / WIDE, s = e % WIDE, u = 0;
    pair p;

    if (TURNED) { /* both halves of a column */
        s = e / 2;
        u = e % 2;
        p.first = 4 * (WIDE * r + s) + u;
        p.second = p.first + 2;
        p.row = at.column + s / 2 * 16 + column_of(2 * at.t + u, s % 2);
        p.column = row + row_of(at.g, 0);
        return p;
    }
    if (ALONG_B) { /* of two pieces */
        u = s % 2;
        s -= u;
    }
    p.first = 4 * (WIDE * r + s) + 2 * h + u;
    p.second = p.first + (ALONG_B ? 4 : 1);
    p.row = row + row_of(at.g, h);
    p.column = at.column + s / 2 * 16 + column_of(2 * at.t + u, s % 2);
    return p;
}

/* This lane's sums of the tile from (first.s0, first.s1) on of a C of size.s0 x size.s1.  What 16
 * rows were is read before any of them is written: reads that follow writes would wait for them. */
IN_REGISTERS void store(__global result *c, uint ldc, uint2 first, uint2 size, REAL alpha,
                        const double *sum, REAL beta)
{
    const uint i0 = first.s0, j0 = first.s1, m = size.s0, n = size.s1;
    const place at = place_of(get_local_id(0));

#pragma unroll
    for (uint r = 0; r < HIGH; r++) {
        double2 out[2 * WIDE];

#pragma unroll
        for (uint e = 0; e < 2 * WIDE; e++)
            out[e] = alpha * (double2)(sum[pair_of(at, r, e).first], sum[pair_of(at, r, e).second]);
        if (beta != 0) {
            double2 before[2 * WIDE];

#pragma unroll
            for (uint e = 0; e < 2 * WIDE; e++) {
                const uint i = i0 + pair_of(at, r, e).row, j = j0 + pair_of(at, r, e).column;
                __global const result *from = c + (ulong)i * ldc + j;

                before[e] = 0;
                if (ALIGNED_C && i < m && j + 1 < n)
                    before[e] = *(__global const double2 *)from;
                else if (i < m)
                    before[e] = (double2)(j < n ? from[0] : 0, j + 1 < n ? from[1] : 0);
            }
#pragma unroll
            for (uint e = 0; e < 2 * WIDE; e++)
                out[e] += beta * before[e];
        }
#pragma unroll
        for (uint e = 0; e < 2 * WIDE; e++) {
            const uint i = i0 + pair_of(at, r, e).row, j = j0 + pair_of(at, r, e).column;
            __global result *to = c + (ulong)i * ldc + j;

            if (ALIGNED_C && i < m && j + 1 < n) {
                *(__global double2 *)to = out[e];
            } else if (i < m) {
                if (j < n)
                    to[0] = out[e].s0;
                if (j + 1 < n)
                    to[1] = out[e].s1;
            }
        }
    }
}

/* Whether `groups` groups have kept their sums of a tile, and this one is the last: is_last_group()
 * of the consumers alone. */
static inline bool is_last_consumer(__global group_counter *done, uint groups, __local uint *last)
{
    bool found;

    /* What the group wrote comes before it is counted. */
    consumers_barrier();
    if (get_local_id(0) == 0) {
        *last = count_group(done) == groups - 1;
        if (*last)
            reset_counter(done);
    }
    /* The last group reads after the others were counted. */
    consumers_barrier();
    found = *last != 0;
    /* Read before it is reused. */
    consumers_barrier();
    return found;
}

/* ---- fragments ------------------------------------------------------------------------------- */

static inline double load_one(uint from)
{
    return as_double(local_load_1(from));
}

static inline double2 load_pair(uint from)
{
    double2 v;

    __asm__ volatile("ld.shared.v2.f64 {%0, %1}, [%2];"
                     : "=d"(v.s0), "=d"(v.s1)
                     : "r"(from)
                     : "memory");
    return v;
}

/* Where this lane's elements begin in a stage: of A, and of both of two pieces of B, for each of
 * two q, or, where both lie along k, the first alone. */
typedef struct lanes {
    uint a[2], b[2][2];
} lanes;

/* The byte of element `e` of row `row` of a box, or of several. */
static inline uint byte_of(uint row, uint e)
{
    return row * ROW + (e / 2 ^ row % 8) * 16 + e % 2 * 8;
}

static inline lanes lanes_of(place at)
{
    lanes l;

#pragma unroll
    for (uint q = 0; q < 2; q++) {
        const uint k = 2 * at.t + q;

        l.a[q] = ALONG_A ? byte_of(at.row + row_of(at.g, 0), at.t)
                         : at.row * ROW + byte_of(k, row_of(at.g, 0));
#pragma unroll
        for (uint s = 0; s < 2; s++) {
            const uint column = column_of(at.g, s);

            l.b[s][q] = TILE_A + (!ALONG_B  ? at.column * ROW + byte_of(k, column)
                                  : ALONG_A ? byte_of(at.column + column, at.t)
                                            : byte_of(at.column + column, 2 * at.t + 8 * q));
        }
    }
    return l;
}

/* 16 x 16 of A.  Four elements along k on is 32 bytes on, which the swizzle turns into XOR; eight
 * rows of a box on is half of it. */
IN_REGISTERS void load_a(double *x, const lanes *l, uint from)
{
#if ALONG_A
#pragma unroll
    for (uint e = 0; e < 8; e++)
        x[e] = load_one(((from + l->a[0]) ^ e / 2 * 32) + e % 2 * (BOX / 2));
#else
#pragma unroll
    for (uint q = 0; q < 4; q++) {
        const double2 v = load_pair(from + l->a[q % 2] + q / 2 * (BOX / 2));

        x[2 * q] = v.s0;
        x[2 * q + 1] = v.s1;
    }
#endif
}

/* 16 x 16 of B: two pieces. */
IN_REGISTERS void load_b(double (*y)[4], const lanes *l, uint from)
{
#pragma unroll
    for (uint s = 0; s < 2; s++) {
#if ALONG_B && !ALONG_A
#pragma unroll
        for (uint u = 0; u < 2; u++) {
            const double2 v = load_pair(from + l->b[s][u]);

            y[s][2 * u] = v.s0;
            y[s][2 * u + 1] = v.s1;
        }
#else
#pragma unroll
        for (uint q = 0; q < 4; q++)
            y[s][q] = load_one(ALONG_B ? (from + l->b[s][0]) ^ q * 32
                                       : from + l->b[s][q % 2] + q / 2 * (BOX / 2));
#endif
    }
}

/* ---- a tile ---------------------------------------------------------------------------------- */

/* A place in the ring of stages, and how often it has come round. */
typedef struct ring {
    uint stage, parity;
} ring;

static inline void step_on(ring *p)
{
    if (++p->stage == STAGES) {
        p->stage = 0;
        p->parity ^= 1;
    }
}

/* What the work-items of a group share, as addresses in local memory: stages, and of a barrier a
 * stage that it is full, and empty. */
typedef struct team {
    uint memory, full, empty;
} team;

/* Blocks of a piece: none where k is 0. */
static inline uint blocks_of(const piece *at, uint k)
{
    return min(at->count, (k + DEPTH - 1) / DEPTH - at->first);
}

/* An operand's part of a stage: `side` rows of op(A), or columns of op(B), from x0. */
static inline void bring(uint to, __global const ulong *map, bool along, uint side, uint x0, uint k,
                         uint full)
{
    if (along) {
        tensor_copy(to, map, k, x0, full);
        return;
    }
#pragma unroll
    for (uint x = 0; x < side; x += DEPTH)
        tensor_copy(to + x * ROW, map, x0 + x, k, full);
}

/* Keep the stages filled, piece after piece: one work-item. */
static inline void produce(const team *t, shares s, uint across, uint down, uint k,
                           __global const ulong *maps)
{
    ring p = {0, 1};
    piece at;

#pragma unroll 1
    while (shares_next(&s, &at)) {
        const uint2 tile = tile_of_group(at.tile, across, down);
        const uint blocks = blocks_of(&at, k);

#pragma unroll 1
        for (uint block = 0; block < blocks; block++) {
            const uint to = t->memory + p.stage * STAGE, full = t->full + 8 * p.stage;
            const uint p0 = (at.first + block) * DEPTH;

            mbarrier_wait(t->empty + 8 * p.stage, p.parity);
            mbarrier_arrive_expect(full, STAGE);
            bring(to, maps, ALONG_A, TILE_M, tile.s1 * TILE_M, p0, full);
            bring(to + TILE_A, maps + TENSOR_MAP_WORDS, ALONG_B, TILE_N, tile.s0 * TILE_N, p0,
                  full);
            step_on(&p);
        }
    }
}

/* sum := the products of so many blocks of A and B, as they arrive. */
IN_REGISTERS void multiply_tile(double *sum, const team *t, ring *p, const lanes *l, uint blocks)
{
    double x[2][8], y[WIDE][4]; /* of A, these 16 rows and the next; of B, all columns */
    uint now = t->memory + p->stage * STAGE;

#pragma unroll
    for (uint e = 0; e < SUMS; e++)
        sum[e] = 0;
    if (blocks == 0)
        return;
    mbarrier_wait(t->full + 8 * p->stage, p->parity);
    load_a(x[0], l, now);
#pragma unroll
    for (uint s = 0; s < WIDE; s += 2)
        load_b(y + s, l, now + s * (BOX / 2));
        /* Volatile assembly in an unmarked loop is unrolled up to a thousand times. */
#pragma unroll 1
    do {
        const uint empty = t->empty + 8 * p->stage;

#pragma unroll
        for (uint r = 0; r < HIGH; r++) {
            const uint next = (r + 1) % HIGH; /* rows that are loaded */

            if (next == 0) {
                step_on(p);
                now = t->memory + p->stage * STAGE;
                /* Of the last block what comes next is loaded in vain. */
                if (blocks > 1)
                    mbarrier_wait(t->full + 8 * p->stage, p->parity);
            }
            load_a(x[(r + 1) % 2], l, now + next * BOX);
#pragma unroll
            for (uint s = 0; s < WIDE; s += 2) {
                multiply(sum + (WIDE * r + s) * 4, x[r % 2], y[s]);
                multiply(sum + (WIDE * r + s + 1) * 4, x[r % 2], y[s + 1]);
                /* All fragments of the block are in registers. */
                if (next == 0 && s == 0)
                    mbarrier_arrive_if(get_local_id(0) % 32 == 0, empty);
                if (next == 0)
                    load_b(y + s, l, now + s * (BOX / 2));
            }
        }
    } while (--blocks);
}

__kernel __attribute__((reqd_work_group_size(ITEMS + PRODUCERS, 1, 1))) void
matmul_mma_f64_tensor(__global const factor *a, __global const factor *b,
                      __global result *restrict c, __global uchar *work,
                      __global group_counter *counters, const matmul_call call)
{
    const uint m = call.m, n = call.n, k = call.k;
    __local uchar memory[STAGES * STAGE + 1024] __attribute__((aligned(1024)));
    __local ulong barriers[2 * STAGES];
    __local ulong maps_local[2 * TENSOR_MAP_WORDS] __attribute__((aligned(128)));
    __local uint last;
    const uint across = (n + TILE_N - 1) / TILE_N, down = (m + TILE_M - 1) / TILE_M;
    const uint item = get_local_id(0);
    const team t = {.memory = (local_address(memory) + 1023) / 1024 * 1024,
                    .full = local_address(barriers),
                    .empty = local_address(barriers) + 8 * STAGES};
    shares s = shares_of(get_group_id(0), get_num_groups(0), across * down, call.unshared,
                         max((k + DEPTH - 1) / DEPTH, 1u));

#if UNIT_GROUPS > 1
    __asm__ volatile("//@groups " TEXT_EXPANDED(UNIT_GROUPS));
#endif
    if (item == 0) {
        for (uint e = 0; e < STAGES; e++) {
            mbarrier_init(t.full + 8 * e, 1);
            mbarrier_init(t.empty + 8 * e, ITEMS / 32);
        }
        mbarrier_publish();
    }
    /* Initialised before used. */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item >= ITEMS) {
        __global ulong *maps = (__global ulong *)work + get_group_id(0) * (2 * TENSOR_MAP_WORDS);
        const uint lane = item - ITEMS;

        __asm__ volatile(WGMMA
                         "setmaxnreg.dec.sync.aligned.u32 " TEXT_EXPANDED(PRODUCER_REGISTERS) ";" ::
                             : "memory");
        if (lane < 2) {
            const bool of_b = lane, along = of_b ? ALONG_B : ALONG_A;
            const uint outside = of_b ? n : m;
            const tensor of = {of_b ? b + call.offset_b : a + call.offset_a,
                               along ? k : outside,
                               along ? outside : k,
                               (ulong)(of_b ? call.ldb : call.lda) * 8,
                               DEPTH,
                               !along ? DEPTH
                               : of_b ? TILE_N
                                      : TILE_M};
            __global ulong *map = maps + lane * TENSOR_MAP_WORDS;

            TENSOR_DESCRIBE_AT(local_address(maps_local) + lane * MAP_BYTES, map, TENSOR_64_BIT,
                               of);
        }
        if (lane < 32)
            warp_barrier();
        if (lane == 0) {
            /* By the work-item that copies, which wrote one of the maps alone. */
            tensor_acquire(maps);
            tensor_acquire(maps + TENSOR_MAP_WORDS);
            produce(&t, s, across, down, k, maps);
        }
    } else {
        __global double2 *sums = (__global double2 *)(work + get_num_groups(0) * (2 * MAP_BYTES));
        const lanes l = lanes_of(place_of(item));
        ring p = {0, 0};
        piece at;

        __asm__ volatile(WGMMA "setmaxnreg.inc.sync.aligned.u32 " TEXT_EXPANDED(REGISTERS) ";" ::
                             : "memory");
#pragma unroll 1
        while (shares_next(&s, &at)) {
            const uint2 tile = tile_of_group(at.tile, across, down);
            double sum[SUMS];

            multiply_tile(sum, &t, &p, &l, blocks_of(&at, k));
            if (at.count == s.each ||
                add_up(sum, &s, &at, (uint2)(TILE_M, TILE_N), sums, counters, &last))
                store(c + call.offset_c, call.ldc,
                      TURNED ? (uint2)(tile.s0 * TILE_N, tile.s1 * TILE_M)
                             : (uint2)(tile.s1 * TILE_M, tile.s0 * TILE_N),
                      TURNED ? (uint2)(n, m) : (uint2)(m, n), call.alpha, sum, call.beta);
        }
    }
}
