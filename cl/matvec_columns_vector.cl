/* Matrix-vector product for CPUs, A transposed: its rows are streamed, the sums wait in cache.
 *
 * Idea: a sum down a column of A jumps by lda at every step.  Here a work-item
 *     keeps WIDTH sums, those of neighbouring columns, and runs along the rows
 *     of A in explicit vectors, four rows at a time so that a sum is loaded and
 *     stored once for four products.
 * Work split: work-item g takes part g % parts, `chunk` rows of A, of the WIDTH
 *     columns of A from column g / parts * WIDTH; the last work-item of them or a
 *     second pass adds the parts up (matvec_parts.clh).
 * Parameters: WIDTH, a multiple of 8; LOCAL = 1; REAL, REAL_BITS (real.clh);
 *     TRANS = 1, STRIDED, FACTOR, RESULT (matvec.clh); LAST_ADDS (last_group.clh).
 *     PER_UNIT only decides `parts` and `chunk` on the host.
 * Launch: for each product parts * ceil(rows / WIDTH) work-groups of 1.  Then,
 *     where there are several parts and LAST_ADDS is 0, matvec_add_parts.
 * Workspace: rows * parts elements where there are several parts.
 * Local memory: 1 element; WIDTH elements of private memory.
 * Limits: rows and chunk below 2^31; columns in 64 bits; A is transposed.
 */
#ifndef WIDTH
#error "WIDTH: columns of A that a work-item sums at once, a multiple of 8"
#endif

#define TILE_ROWS WIDTH
#include "matvec_parts.clh"

#if !TRANS
#error "TRANS: a row of A that is not transposed has one sum, not many"
#endif
#if LOCAL != 1
#error "LOCAL: has to be 1"
#endif

/* 256 bits: an AVX register, or two of a smaller unit.  Wider ones gain nothing here, and
 * compilers for CPUs without them warn. */
#if REAL_BITS == 64
#define VEC 4
#else
#define VEC 8
#endif

#define VECTOR REAL_N(VEC)
#define VLOAD  REAL_JOIN_EXPANDED(vload, VEC)
#define VSTORE REAL_JOIN_EXPANDED(vstore, VEC)

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
matvec_columns_vector(__global const factor *restrict a, __global const factor *restrict x,
                      __global result *restrict y, uint rows, ulong columns, ulong lda,
                      ulong offset_a, ulong offset_x, ulong offset_y, ulong incx, ulong incy,
                      ulong stride_a, ulong stride_x, ulong stride_y, uint parts, uint chunk,
                      __global REAL *restrict partial, __global tally *restrict tallies,
                      REAL alpha, REAL beta)
{
    __local REAL sums[LOCAL];
    const uint part = (uint)get_group_id(0) % parts;
    const uint first = (uint)get_group_id(0) / parts * WIDTH;
    const uint count = min((uint)WIDTH, rows - first);
    const uint vectors = count / VEC * VEC;
    const ulong begin = (ulong)part * chunk;
    const uint length = part_length(begin, columns, chunk);
    __global const factor *line = a + of_product(offset_a, stride_a) + a_index(lda, first, begin);
    REAL sum[WIDTH];
    uint c = 0;

    x += of_product(offset_x, stride_x) + v_index(incx, begin);
    y += of_product(offset_y, stride_y);
    for (uint r = 0; r < count; r++)
        sum[r] = 0;
    for (; c + 4 <= length; c += 4, line += 4 * lda) {
        const REAL x0 = load_factor(x + v_index(incx, c));
        const REAL x1 = load_factor(x + v_index(incx, c + 1));
        const REAL x2 = load_factor(x + v_index(incx, c + 2));
        const REAL x3 = load_factor(x + v_index(incx, c + 3));
        uint r = 0;

        for (; r < vectors; r += VEC) {
            VECTOR s = VLOAD(0, sum + r);

            s += VLOAD_FACTORS(VEC, 0, line + r) * x0;
            s += VLOAD_FACTORS(VEC, 0, line + lda + r) * x1;
            s += VLOAD_FACTORS(VEC, 0, line + 2 * lda + r) * x2;
            s += VLOAD_FACTORS(VEC, 0, line + 3 * lda + r) * x3;
            VSTORE(s, 0, sum + r);
        }
        for (; r < count; r++)
            sum[r] += (load_factor(line + r) * x0 + load_factor(line + lda + r) * x1) +
                      (load_factor(line + 2 * lda + r) * x2 + load_factor(line + 3 * lda + r) * x3);
    }
    for (; c < length; c++, line += lda)
        for (uint r = 0; r < count; r++)
            sum[r] += load_factor(line + r) * load_factor(x + v_index(incx, c));
    for (uint r = 0; r < count; r++)
        keep_sum(sum[r], rows, first + r, part, parts, partial, y, incy, alpha, beta);
    add_parts_if_last(partial, tallies, first, rows, parts, y, incy, alpha, beta, sums);
}
