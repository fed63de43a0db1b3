/* Matrix-vector product for CPUs, A transposed: its rows are streamed, the sums wait in cache.
 *
 * Idea: a sum down a column of A jumps by lda at every step.  Here a work-item
 *     keeps `tile` sums, those of neighbouring columns, and runs along the rows
 *     of A in explicit vectors, LINES rows at a time so that a sum is loaded and
 *     stored once for as many products.  A may be prefetched.
 * Work split: work-item g takes part g % parts, `chunk` rows of A, of the `tile`
 *     columns of A from column g / parts * tile; the last work-item of them or a
 *     second pass adds the parts up (matvec_parts.clh).
 * Parameters: WIDTH, the most that `tile` is; LINES; VEC, elements of a vector;
 *     PREFETCH (matvec_ahead.clh); LOCAL = 1; REAL, REAL_BITS (real.clh); TRANS = 1,
 *     STRIDED, FACTOR, RESULT (matvec.clh); LAST_ADDS (last_group.clh).  PER_UNIT only
 *     decides `parts` and `chunk` on the host.
 * Launch: for each product parts * ceil(rows / tile) work-groups of 1.  Then,
 *     where there are several parts and LAST_ADDS is 0, matvec_add_parts.
 * Workspace: rows * parts elements where there are several parts.
 * Local memory: 1 element; WIDTH elements of private memory.
 * Limits: rows and chunk below 2^31; columns in 64 bits; A is transposed.
 */
#define AHEAD 1024
#include "matvec/matvec_ahead.clh"
#include "matvec/matvec_parts.clh"

#ifndef WIDTH
#error "WIDTH: the most columns of A that a work-item sums at once"
#endif
#ifndef LINES
#error "LINES: rows of A that a work-item reads at once"
#endif
#ifndef VEC
#error "VEC: elements of a vector: 2, 4, 8 or 16"
#endif

#if !TRANS
#error "TRANS: a row of A that is not transposed has one sum, not many"
#endif
#if LOCAL != 1
#error "LOCAL: has to be 1"
#endif

#define VECTOR REAL_N(VEC)
#define VLOAD  REAL_JOIN_EXPANDED(vload, VEC)
#define VSTORE REAL_JOIN_EXPANDED(vstore, VEC)

/* With VEC expanded. */
#define VLOAD_LINE(n, from) VLOAD_FACTORS(n, 0, from)

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
matvec_columns_vector(__global const factor *restrict a, __global const factor *restrict x,
                      __global result *restrict y, __global REAL *partial,
                      __global group_counter *counters, const matvec_call call)
{
    __local REAL sums[LOCAL];
    const uint rows = (uint)call.rows;
    const uint part = (uint)get_group_id(0) % call.parts;
    const uint first = (uint)get_group_id(0) / call.parts * call.tile;
    const uint count = min(call.tile, rows - first);
    const uint vectors = count / VEC * VEC;
    const ulong begin = (ulong)part * call.chunk;
    const uint length = part_length(begin, call.columns, call.chunk);
    __global const factor *line =
        a + of_product(call.offset_a, call.stride_a) + a_index(call.lda, first, begin);
    REAL sum[WIDTH];
    uint c = 0;

    x += of_product(call.offset_x, call.stride_x) + v_index(call.incx, begin);
    y += of_product(call.offset_y, call.stride_y);
    for (uint r = 0; r < count; r++)
        sum[r] = 0;
    for (; c + LINES <= length; c += LINES, line += LINES * call.lda) {
        REAL by[LINES];
        uint r = 0;

        /* The loops over lines are unrolled: only then does the array live in registers. */
#pragma unroll
        for (uint l = 0; l < LINES; l++)
            by[l] = load_factor(x + v_index(call.incx, c + l));
        for (; r < vectors; r += VEC) {
            VECTOR s = VLOAD(0, sum + r);

#pragma unroll
            for (uint l = 0; l < LINES; l++) {
                fetch_ahead(line + l * call.lda + r);
                s += VLOAD_LINE(VEC, line + l * call.lda + r) * by[l];
            }
            VSTORE(s, 0, sum + r);
        }
        for (; r < count; r++) {
#pragma unroll
            for (uint l = 0; l < LINES; l++)
                sum[r] += load_factor(line + l * call.lda + r) * by[l];
        }
    }
    for (; c < length; c++, line += call.lda)
        for (uint r = 0; r < count; r++)
            sum[r] += load_factor(line + r) * load_factor(x + v_index(call.incx, c));
    for (uint r = 0; r < count; r++)
        keep_sum(sum[r], first + r, part, partial, y, call);
    add_parts_if_last(partial, counters, first, call.tile, y, call, sums);
}
