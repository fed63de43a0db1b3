/* Matrix-vector product for CPUs: a few rows of A per work-item, in explicit vectors.
 *
 * Idea: a compiler must not reorder a sum, so a plain loop over a row adds one
 *     element at a time.  Here each of ROWS rows has a vector of VEC sums: the
 *     vector units are used, the chains of additions overlap, and each piece of
 *     x is loaded once for all the rows.  A may be prefetched.  This is the default on CPUs, for
 *     every type and problem, and so shares more files than the steps that are read first.
 * Work split: work-item g sums part g % parts of ROWS rows from row
 *     g / parts * ROWS.  Few rows are cut into several parts, which the last
 *     work-item of them or a second pass adds up (matvec_parts.clh).
 * Parameters: ROWS; VEC and ALIGNED = 0 (matvec_vectors.clh); PREFETCH
 *     (matvec_ahead.clh); LOCAL = 1; REAL, REAL_BITS (real.clh); TRANS = 0, STRIDED, FACTOR, RESULT
 *     (matvec.clh); LAST_ADDS (last_group.clh).  PER_UNIT only decides `parts` and
 *     `chunk` on the host.
 * Launch: for each product parts * ceil(rows / ROWS) work-groups of 1:
 *     work-items of a CPU gain nothing from each other.  Then, where there are
 *     several parts and LAST_ADDS is 0, matvec_add_parts.
 * Workspace: rows * parts elements where there are several parts.
 * Local memory: 1 element.
 * Limits: rows and chunk below 2^31; columns in 64 bits; A is not transposed.
 */
#define AHEAD 1024
#include "matvec/matvec_ahead.clh"
#include "matvec/matvec_parts.clh"
#include "matvec/matvec_vectors.clh"

#ifndef ROWS
#error "ROWS: rows of A that a work-item takes"
#endif

#if LOCAL != 1
#error "LOCAL: has to be 1"
#endif

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
matvec_rows_vector(__global const factor *restrict a, __global const factor *restrict x,
                   __global result *restrict y, __global REAL *partial,
                   __global group_counter *counters, const matvec_call call)
{
    __local REAL sums[LOCAL];
    const uint rows = (uint)call.rows;
    const uint part = (uint)get_group_id(0) % call.parts;
    const uint first = (uint)get_group_id(0) / call.parts * ROWS;
    const ulong begin = (ulong)part * call.chunk;
    const uint length = part_length(begin, call.columns, call.chunk);
    const uint vectors = length / VEC * VEC;
    __global const factor *row[ROWS];
    VECTOR sum[ROWS];

    /* The loops over rows are unrolled: only then do the arrays live in registers. */
    a += of_product(call.offset_a, call.stride_a);
    x += of_product(call.offset_x, call.stride_x) + v_index(call.incx, begin);
    y += of_product(call.offset_y, call.stride_y);
#pragma unroll
    for (uint r = 0; r < ROWS; r++) {
        /* Beyond the last row the last one is summed again, and not stored. */
        row[r] = a + a_index(call.lda, min(first + r, rows - 1), begin);
        sum[r] = 0;
    }
    for (uint c = 0; c < vectors; c += VEC) {
        const VECTOR v = x_vector(x, call.incx, c);

#pragma unroll
        for (uint r = 0; r < ROWS; r++) {
            fetch_ahead(row[r] + c);
            sum[r] += load_vector(row[r] + c) * v;
        }
    }
#pragma unroll
    for (uint r = 0; r < ROWS; r++) {
        REAL total = ADD_UP(sum[r]);

        for (uint c = vectors; c < length; c++)
            total += load_factor(row[r] + c) * load_factor(x + v_index(call.incx, c));
        if (first + r < rows)
            keep_sum(total, first + r, part, partial, y, call);
    }
    add_parts_if_last(partial, counters, first, ROWS, y, call, sums);
}
