/* C := A B: vector loads, and local memory with fewer bank conflicts.
 *
 * Idea: two changes to the register block of matmul_block.cl.  Elements move four at a time: global
 *     to local, local to registers, and in the arithmetic.  And the tile of A is laid out
 *     against bank conflicts: its vectors run along k and are stored across its rows, which are a
 *     multiple of 32 floats long and so start in the same of 32 banks.  Without more, DEPTH / 4
 *     work-items would meet in one bank.  There are two ways out:
 *     - padding (SWIZZLE 0): each row is PAD vectors longer than its data.  With PAD 1 half as many
 *       meet; with 2 all do again.
 *     - swizzling (SWIZZLE 1): the vectors of a row change places, by XOR of their number with one
 *       that follows the row.  It takes no memory, and no two items meet.
 *     Both ways are here, to be timed against each other, and at the edges elements of a vector are
 *     guarded one by one: that is why this file is twice as long as the one before it.
 * Work split: as in matmul_block.cl, but work-item (x, y) computes vectors: rows 4 (y + r SIDE) ...
 *     + 3 and columns 4 (x + s SIDE) ... + 3 for r, s < BLOCK / 4.
 * Parameters: SIDE; BLOCK and DEPTH, multiples of 4; SWIZZLE, and PAD where it is 0.
 * Launch: 2-D, work-groups of SIDE x SIDE, one for each tile of C that is begun.
 * Local memory: 2 * DEPTH * (TILE + 4 * PAD) floats, TILE = SIDE * BLOCK; swizzled, 2 * DEPTH *
 *     TILE.
 * Traffic: the elements of matmul_block.cl, four to a load.
 * Limits: A is m x k, B is k x n, C is m x n, row by row without gaps; m, n and k up to 2^31;
 *     swizzled, TILE is a multiple of 32.
 */
#ifndef SIDE
#error "SIDE: work-items along each side of a group"
#endif
#ifndef BLOCK
#error "BLOCK: elements of C of a work-item along each side, a multiple of 4"
#endif
#ifndef DEPTH
#error "DEPTH: extent of the tiles along k, a multiple of 4"
#endif
#ifndef SWIZZLE
#error "SWIZZLE: 1 where vectors of a row change places, 0 where rows are padded"
#endif
#if !SWIZZLE && !defined(PAD)
#error "PAD: vectors between the rows of a tile"
#endif
#if SWIZZLE && SIDE * BLOCK % 32
#error "SIDE * BLOCK: a multiple of 32, so that what changes places stays in its row"
#endif

#define TILE    (SIDE * BLOCK)
#define ITEMS   (SIDE * SIDE)
#define VECTORS (BLOCK / 4)

#if SWIZZLE
#define ROW (TILE / 4)
/* The first vectors of rows that are stored together lie as far apart as they can: 8 vectors fill
 * all banks once. */
#define PLACED(p, v) ((v) ^ (p) / 4 * (DEPTH < 32 ? 32 / DEPTH : 1))
#else
#define ROW          (TILE / 4 + PAD)
#define PLACED(p, v) (v)
#endif

/* Where vector v of row p of a tile is. */
static inline uint at(uint p, uint v)
{
    return p * ROW + PLACED(p, v);
}

/* Elements i ... i + 3 of a row that has `length` of them; 0 beyond its end. */
static inline float4 load4(__global const float *row, uint i, uint length)
{
    if (i + 4 <= length)
        return vload4(0, row + i);
    return (float4)(i < length ? row[i] : 0, i + 1 < length ? row[i + 1] : 0,
                    i + 2 < length ? row[i + 2] : 0, 0);
}

/* DEPTH steps along k from p0 of A: each vector is spread over four rows of the tile. */
static inline void load_tile_a(__local float *tile, __global const float *a, uint m, uint k,
                               uint row0, uint p0, uint item)
{
    for (uint e = item; e < DEPTH * TILE / 4; e += ITEMS) {
        const uint r = e / (DEPTH / 4), p = e % (DEPTH / 4) * 4;
        const float4 v = row0 + r < m ? load4(a + (ulong)(row0 + r) * k, p0 + p, k) : (float4)(0);

        tile[4 * at(p, r / 4) + r % 4] = v.s0;
        tile[4 * at(p + 1, r / 4) + r % 4] = v.s1;
        tile[4 * at(p + 2, r / 4) + r % 4] = v.s2;
        tile[4 * at(p + 3, r / 4) + r % 4] = v.s3;
    }
}

/* The same of B, whose rows are the tile's. */
static inline void load_tile_b(__local float4 *tile, __global const float *b, uint n, uint k,
                               uint column0, uint p0, uint item)
{
    for (uint e = item; e < DEPTH * TILE / 4; e += ITEMS) {
        const uint p = e / (TILE / 4), v = e % (TILE / 4);

        tile[at(p, v)] =
            p0 + p < k ? load4(b + (ulong)(p0 + p) * n, column0 + 4 * v, n) : (float4)(0);
    }
}

__kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1))) void
matmul_vector(uint m, uint n, uint k, __global const float *restrict a,
              __global const float *restrict b, __global float *restrict c)
{
    __local float4 tile_a[DEPTH * ROW];
    __local float4 tile_b[DEPTH * ROW];
    const uint x = get_local_id(0);
    const uint y = get_local_id(1);
    const uint item = y * SIDE + x;
    /* From the offset on, where a launch of many groups was split. */
    const uint row0 = (get_group_id(1) + get_global_offset(1) / SIDE) * TILE;
    const uint column0 = get_group_id(0) * TILE;
    float4 sum[BLOCK][VECTORS];

#pragma unroll
    for (uint r = 0; r < BLOCK; r++)
#pragma unroll
        for (uint s = 0; s < VECTORS; s++)
            sum[r][s] = 0;
    for (uint p0 = 0; p0 < k; p0 += DEPTH) {
        load_tile_a((__local float *)tile_a, a, m, k, row0, p0, item);
        load_tile_b(tile_b, b, n, k, column0, p0, item);
        /* Filled before read: below, we read what other work-items wrote. */
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint p = 0; p < DEPTH; p++) {
            float4 of_b[VECTORS];

#pragma unroll
            for (uint s = 0; s < VECTORS; s++)
                of_b[s] = tile_b[at(p, x + s * SIDE)];
#pragma unroll
            for (uint r = 0; r < VECTORS; r++) {
                const float4 of_a = tile_a[at(p, y + r * SIDE)];

#pragma unroll
                for (uint s = 0; s < VECTORS; s++) {
                    sum[4 * r][s] += of_a.s0 * of_b[s];
                    sum[4 * r + 1][s] += of_a.s1 * of_b[s];
                    sum[4 * r + 2][s] += of_a.s2 * of_b[s];
                    sum[4 * r + 3][s] += of_a.s3 * of_b[s];
                }
            }
        }
        /* Read before refilled: the next round overwrites both tiles. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (uint r = 0; r < BLOCK; r++)
#pragma unroll
        for (uint s = 0; s < VECTORS; s++) {
            const uint row = row0 + 4 * (y + r / 4 * SIDE) + r % 4;
            const uint column = column0 + 4 * (x + s * SIDE);
            __global float *to = c + (ulong)row * n + column;

            if (row < m && column < n)
                to[0] = sum[r][s].s0;
            if (row < m && column + 1 < n)
                to[1] = sum[r][s].s1;
            if (row < m && column + 2 < n)
                to[2] = sum[r][s].s2;
            if (row < m && column + 3 < n)
                to[3] = sum[r][s].s3;
        }
}
