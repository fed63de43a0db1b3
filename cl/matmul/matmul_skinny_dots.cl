/* C := alpha op(A) op(B^T) + beta C with few rows: each line of B is read once, along k.
 *
 * Idea: memory limits such a product, since an element of B serves as many multiply-adds as C has
 *     rows.  B is stored with k along its lines, so an output is a dot product of two lines; TEAM
 *     work-items share it, and read neighbours.  Each team takes LINES lines of B at once, with a
 *     sum for each of them and each row of C: what it reads of A, which lies in local memory, then
 *     serves LINES dot products.  The smaller the team, the more teams read the same of A at the
 *     same time, which costs local memory one access.  Memory answers late: a work-item has its
 *     next BATCH vectors of each line in flight while it multiplies, and groups share k
 *     (matmul_parts.clh).
 *     With FEW_ROWS 0 the same text computes a C of few columns, whose large factor is A.
 * Work split: a group computes ITEMS / TEAM * LINES columns of C.
 * Parameters: TEAM, which divides ITEMS; LINES; FEW_ROWS, FEW, ITEMS, DEPTH (a multiple of TEAM *
 *     VECTOR * BATCH), VECTOR, ALIGNED, BATCH, CHUNK, SPLITS, LAST_ADDS (matmul_skinny.clh); REAL,
 *     REAL_BITS (real.clh); FACTOR, RESULT (matmul_elements.clh); ROUNDED (matmul_rounded.clh);
 *     TRANS_A, TRANS_B (matmul_access.clh).
 * Launch: 3-D, work-groups of ITEMS x 1 x 1, one per started ITEMS / TEAM * LINES columns, a layer
 *     of them for each product of the batch, or for each span of k.
 * Local memory: FEW * PITCH elements, or CHUNK * OUTPUTS * (TEAM + 1) where that is more.
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

#define TEAMS   (ITEMS / TEAM)
#define OUTPUTS (TEAMS * LINES) /* of a group, in each row */
#define STEPS   (TEAM * VECTOR) /* along k, that a team takes at once */
/* From row to row in the tile: with a gap of 16 bytes, for fewer bank conflicts as it is filled. */
#define PITCH      (DEPTH + 128 / REAL_BITS)
#define TILE_REALS (FEW * PITCH)
/* Where work-item `lane` has its sum of an output, row s of a chunk, line o: no two that read
 * together meet in a bank. */
#define SUM_AT(s, o, lane) ((FEW_ROWS ? (s)*OUTPUTS + (o) : (o)*CHUNK + (s)) * (TEAM + 1) + (lane))
#define SUM_REALS          (CHUNK * OUTPUTS * (TEAM + 1))
#define PEERS              TEAM
#define EACH               LINES
#include "matmul/matmul_skinny_sums.clh"

/* The work-item's vectors of each line in BATCH times STEPS from p on.  Where all of these are
 * inside, no load is guarded. */
IN_REGISTERS void load_batch(factor *v, __global const factor *const *line, uint lane, uint p,
                             uint k)
{
    if (p + STEPS * BATCH <= k) {
#pragma unroll
        for (uint u = 0; u < BATCH * LINES; u++)
#pragma unroll
            for (uint l = 0; l < LOADS; l++)
                load_raw(v + u * VECTOR,
                         line[u % LINES] + p + u / LINES * STEPS + PLACE(lane, TEAM, l), l);
        return;
    }
#pragma unroll
    for (uint u = 0; u < BATCH * LINES; u++)
#pragma unroll
        for (uint l = 0; l < LOADS; l++) {
            const uint at = p + u / LINES * STEPS + PLACE(lane, TEAM, l);

            if (at < k)
                load_raw(v + u * VECTOR, line[u % LINES] + at, l);
            else
                load_zeros(v + u * VECTOR, l);
        }
}

/* A sum for each row and line, from what the tile has of those steps. */
IN_REGISTERS void multiply(REAL *sum, __local const REAL *tile, uint lane, const factor *v)
{
#pragma unroll
    for (uint u = 0; u < BATCH; u++) {
        REAL value[LINES * VECTOR];

#pragma unroll
        for (uint e = 0; e < LINES * VECTOR; e++)
            value[e] = value_of(v[u * LINES * VECTOR + e]);
#pragma unroll
        for (uint s = 0; s < FEW; s++) {
            REAL w[VECTOR];

#pragma unroll
            for (uint e = 0; e < VECTOR; e++)
                w[e] = tile[s * PITCH + u * STEPS + PLACE(lane, TEAM, e)];
#pragma unroll
            for (uint l = 0; l < LINES; l++)
#pragma unroll
                for (uint e = 0; e < VECTOR; e++)
                    sum[s * LINES + l] += w[e] * value[l * VECTOR + e];
        }
    }
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
matmul_skinny_dots(__global const factor *restrict a, __global const factor *restrict b, TARGETS,
                   const matmul_call call)
{
    __local REAL local_reals[TILE_REALS > SUM_REALS ? TILE_REALS : SUM_REALS]
        __attribute__((aligned(64)));
    const uint lane = get_local_id(0) % TEAM, team = get_local_id(0) / TEAM;
    const uint first = get_group_id(0) * OUTPUTS;
    const skinny x = skinny_of(a, b, &call);
    /* Neighbouring teams take neighbouring lines.  In place of those beyond the last one the last,
     * whose products nobody stores. */
    __global const factor *line[LINES];
    factor v[BATCH * LINES * VECTOR], next[BATCH * LINES * VECTOR];
    REAL sum[FEW * LINES]; /* row by row */
    uint own[LINES];
    REAL old[CHUNKS * SHARE(OUTPUTS)];

#pragma unroll
    for (uint l = 0; l < LINES; l++)
        line[l] = x.large + (ulong)min(first + l * TEAMS + team, x.many - 1) * x.ld_large;
#pragma unroll
    for (uint e = 0; e < FEW * LINES; e++)
        sum[e] = 0;
    load_batch(v, line, lane, 0, x.k);
#if SPLITS && LAST_ADDS
    __global output *const to = parts + (ulong)get_group_id(2) * call.m * call.n;
#else
    __global output *const to = c + in_batch(call.offset_c, call.stride_c);
#endif
    if (OLD_AHEAD(OUTPUTS) && call.beta != 0)
        load_olds(old, to, &call, &x, first, OUTPUTS);
    for (uint p0 = 0; p0 < x.k; p0 += DEPTH) {
        const uint steps = min(x.k - p0, (uint)DEPTH);

        fill(local_reals, &x, p0, PITCH, 1);
        /* Filled before read: below, we read what other work-items wrote. */
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint p = 0; p < steps; p += STEPS * BATCH) {
            load_batch(next, line, lane, p0 + p + STEPS * BATCH, x.k);
            multiply(sum, local_reals + p, lane, v);
#pragma unroll
            for (uint e = 0; e < BATCH * LINES * VECTOR; e++)
                v[e] = next[e];
        }
        /* Read before overwritten, by the next round or by the sums. */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (uint l = 0; l < LINES; l++)
        own[l] = l * TEAMS + team;
    store_sums(sum, (sharer){own, lane}, local_reals, to, &call, &x, first, old);
#if SPLITS && LAST_ADDS
    add_parts(parts, c + call.offset_c, counters, &call, &x, first, OUTPUTS, local_reals);
#endif
}
