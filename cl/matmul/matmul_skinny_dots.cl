/* C := alpha op(A) op(B^T) + beta C with few rows: each line of B is read once, along k.
 *
 * Idea: memory limits such a product, since an element of B serves as many multiply-adds as C has
 *     rows.  B is stored with k along its lines, so an output is a dot product of two lines; TEAM
 *     work-items share it, and read neighbouring vectors.  Each team takes LINES lines of B at
 *     once, with a sum for each of them and each row of C: a vector of A, which lies in local
 *     memory, then serves LINES dot products.  Where there are few lines groups share k
 *     (matmul_parts.clh).
 *     With FEW_ROWS 0 the same text computes a C of few columns, whose large factor is A.
 * Work split: a group computes ITEMS / TEAM * LINES columns of C.
 * Parameters: TEAM and LINES, powers of two; FEW_ROWS, FEW, ITEMS, DEPTH (a multiple of TEAM *
 *     VECTOR), VECTOR, ALIGNED, SPLITS (matmul_skinny.clh); REAL, REAL_BITS (real.clh); FACTOR,
 *     RESULT (matmul_elements.clh); ROUNDED (matmul_rounded.clh); TRANS_A, TRANS_B
 *     (matmul_access.clh).
 * Launch: 3-D, work-groups of ITEMS x 1 x 1, one per started ITEMS / TEAM * LINES columns, a layer
 *     of them for each product of the batch, or for each span of k.
 * Local memory: FEW * DEPTH elements, or ITEMS / TEAM * (TEAM + 1) * the smaller of FEW * LINES and
 *     TEAM where that is more.
 * Traffic: the large factor once, the small one once a group.
 * Limits: m, n, k and the leading dimensions up to 2^31.
 */
#include "matmul/matmul_skinny.clh"

#ifndef TEAM
#error "TEAM: work-items that share an output"
#endif
#ifndef LINES
#error "LINES: lines of the large factor that a team takes at once"
#endif

#define TEAMS (ITEMS / TEAM)
#define SUMS  (FEW * LINES)
/* Sums that a team adds up at once, and where those of one are in local memory: no two of the
 * work-items that read them meet in a bank. */
#define CHUNK       (SUMS < TEAM ? SUMS : TEAM)
#define PITCH       (TEAM + 1)
#define CHUNK_REALS (TEAMS * CHUNK * PITCH)

static inline REAL add_product(REAL sum, vector x, vector y)
{
    sum += x.s0 * y.s0;
    sum += x.s1 * y.s1;
#if VECTOR > 2
    sum += x.s2 * y.s2;
    sum += x.s3 * y.s3;
#endif
#if VECTOR > 4
    sum += x.s4 * y.s4;
    sum += x.s5 * y.s5;
    sum += x.s6 * y.s6;
    sum += x.s7 * y.s7;
#endif
    return sum;
}

/* A sum for each row and line, from what the tile has of the same steps on. */
IN_REGISTERS void multiply(REAL *sum, __local const REAL *steps, const vector *v)
{
#pragma unroll
    for (uint s = 0; s < FEW; s++) {
        const vector w = *(__local const vector *)(steps + s * DEPTH);

#pragma unroll
        for (uint l = 0; l < LINES; l++)
            sum[s * LINES + l] = add_product(sum[s * LINES + l], v[l], w);
    }
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
matmul_skinny_dots(__global const factor *restrict a, __global const factor *restrict b,
                   __global output *restrict c, const matmul_call call)
{
    __local REAL tile[FEW * DEPTH > CHUNK_REALS ? FEW * DEPTH : CHUNK_REALS]
        __attribute__((aligned(64)));
    const uint item = get_local_id(0), lane = item % TEAM, team = item / TEAM;
    const uint o0 = (get_group_id(0) * TEAMS + team) * LINES;
    const skinny x = skinny_of(a, b, &call);
    /* In place of lines beyond the last one the last, whose products nobody stores. */
    __global const factor *line[LINES];
    __local REAL *const chunk = tile + team * (CHUNK * PITCH);
    REAL sum[SUMS]; /* row by row */

#pragma unroll
    for (uint l = 0; l < LINES; l++)
        line[l] = x.large + (ulong)min(o0 + l, x.many - 1) * x.ld_large;
#pragma unroll
    for (uint e = 0; e < SUMS; e++)
        sum[e] = 0;
    for (uint p0 = 0; p0 < x.k; p0 += DEPTH) {
        const uint steps = min(x.k - p0, (uint)DEPTH);
        uint p = lane * VECTOR;

        fill(tile, &x, p0, DEPTH, 1);
        /* Filled before read: below, we read what other work-items wrote. */
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 2
        for (; p + VECTOR <= steps; p += TEAM * VECTOR) {
            vector v[LINES];

#pragma unroll
            for (uint l = 0; l < LINES; l++)
                v[l] = load_vector(line[l] + p0 + p);
            multiply(sum, tile + p, v);
        }
        if (p < steps) {
            vector v[LINES];

#pragma unroll
            for (uint l = 0; l < LINES; l++)
                v[l] = load_end(line[l] + p0 + p, steps - p);
            multiply(sum, tile + p, v);
        }
        /* Read before overwritten by the next round. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c += in_batch(call.offset_c, call.stride_c);
    /* Work-item e of a team adds up sum e of all of them. */
#pragma unroll
    for (uint first = 0; first < SUMS; first += CHUNK) {
        const uint s = (first + lane) / LINES, o = o0 + lane % LINES;
        REAL all = 0;

#pragma unroll
        for (uint e = 0; e < CHUNK; e++)
            chunk[e * PITCH + lane] = sum[first + e];
        /* Written before read: below, we read what the team wrote. */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < CHUNK && s < x.few && o < x.many) {
            for (uint e = 0; e < TEAM; e++)
                all += chunk[lane * PITCH + e];
            store_output(c, &call, s, o, all);
        }
        /* Read before overwritten by the next round. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
