/* Matrix-vector product for CPUs, short rows: VEC of them at once, added up together.
 *
 * Idea: the last elements of a row, fewer than a vector, and the sum over a
 *     vector's elements cost more than the row itself where it is short.  Here
 *     the end of a row is a vector too, with what is behind the row masked, and
 *     VEC rows are added up by halves: elements beside each other of two vectors
 *     go into one, until one vector has the sums of all the rows.  A may be prefetched.
 * Work split: work-item g takes every VEC rows of a stretch, the g-th of as many
 *     as there are work-items.
 * Parameters: VEC, of what BITS or the registers hold; PREFETCH (matvec_ahead.clh);
 *     LOCAL = 1; REAL, REAL_BITS (real.clh); TRANS = 0, STRIDED, FACTOR, RESULT (matvec.clh).
 *     PER_UNIT only decides how many work-items there are.
 * Launch: for each product any number of work-groups of 1.
 * Local memory: none.
 * Limits: rows and columns below 2^31; A is not transposed.  Gaps and neighbouring rows are read,
 *     masked, but nothing beyond A.
 */
#define AHEAD 4096
#include "matvec/matvec_ahead.clh"
#define ALIGNED 0
#include "matvec/matvec_vectors.clh"

#if LOCAL != 1
#error "LOCAL: has to be 1"
#endif

#define VSTORE REAL_JOIN_EXPANDED(vstore, VEC)

/* Numbers of the elements of a vector, of REAL's size as select() wants it. */
#if REAL_BITS == 64
#define LANE_N REAL_JOIN_EXPANDED(long, VEC)
#else
#define LANE_N REAL_JOIN_EXPANDED(int, VEC)
#endif
/* EVENS and ODDS name lanes: Oclgrind crashes where a vector is put together from shorter ones. */
#if VEC == 16
#define LANES    (LANE_N)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define EVENS(v) v.s0, v.s2, v.s4, v.s6, v.s8, v.sa, v.sc, v.se
#define ODDS(v)  v.s1, v.s3, v.s5, v.s7, v.s9, v.sb, v.sd, v.sf
#elif VEC == 8
#define LANES    (LANE_N)(0, 1, 2, 3, 4, 5, 6, 7)
#define EVENS(v) v.s0, v.s2, v.s4, v.s6
#define ODDS(v)  v.s1, v.s3, v.s5, v.s7
#elif VEC == 4
#define LANES    (LANE_N)(0, 1, 2, 3)
#define EVENS(v) v.s0, v.s2
#define ODDS(v)  v.s1, v.s3
#else
#define LANES    (LANE_N)(0, 1)
#define EVENS(v) v.s0
#define ODDS(v)  v.s1
#endif

/* The elements of x from `whole` on that make no vector, and 0. */
static inline VECTOR end_of_x(__global const factor *x, ulong incx, uint whole, uint columns)
{
    REAL last[VEC];

    for (uint i = 0; i < VEC; i++)
        last[i] = whole + i < columns ? load_factor(x + v_index(incx, whole + i)) : 0;
    return REAL_JOIN_EXPANDED(vload, VEC)(0, last);
}

/* The sums of VEC rows from `row` on, of which vectors hold `whole` elements, and one more `tail`
 * at the end, where x is `x_end`. */
static inline VECTOR sums_of(__global const factor *row, ulong lda, __global const factor *x,
                             ulong incx, uint whole, uint tail, VECTOR x_end)
{
    VECTOR sum[VEC];

    /* The loops over rows are unrolled: only then does the array live in registers. */
#pragma unroll
    for (uint r = 0; r < VEC; r++)
        sum[r] = 0;
    for (uint c = 0; c < whole; c += VEC) {
        const VECTOR v = x_vector(x, incx, c);

#pragma unroll
        for (uint r = 0; r < VEC; r++) {
            fetch_ahead(row + r * lda + c);
            sum[r] += load_vector(row + r * lda + c) * v;
        }
    }
    if (tail) {
        const LANE_N inside = LANES < (LANE_N)(tail);

#pragma unroll
        for (uint r = 0; r < VEC; r++) {
            fetch_ahead(row + r * lda + whole);
            /* Masked before it is multiplied: it may be NaN. */
            sum[r] += select((VECTOR)0, load_vector(row + r * lda + whole), inside) * x_end;
        }
    }
#pragma unroll
    for (uint n = VEC / 2; n > 0; n /= 2) {
#pragma unroll
        for (uint r = 0; r < n; r++)
            sum[r] = (VECTOR)(EVENS(sum[2 * r]), EVENS(sum[2 * r + 1])) +
                     (VECTOR)(ODDS(sum[2 * r]), ODDS(sum[2 * r + 1]));
    }
    return sum[0];
}

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
matvec_short_rows_vector(__global const factor *restrict a, __global const factor *restrict x,
                         __global result *restrict y, const matvec_call call)
{
    const uint rows = (uint)call.rows, columns = (uint)call.columns;
    const uint blocks = (rows + VEC - 1) / VEC;
    const uint groups = get_num_groups(0), group = get_group_id(0);
    const uint begin = (uint)((ulong)blocks * group / groups) * VEC;
    const uint end = min((uint)((ulong)blocks * (group + 1) / groups) * VEC, rows);
    const uint whole = columns / VEC * VEC, tail = columns % VEC;
    const ulong a_end = (rows - 1) * call.lda + columns, reach = whole + (tail ? VEC : 0);
    uint row = begin;

    a += of_product(call.offset_a, call.stride_a);
    x += of_product(call.offset_x, call.stride_x);
    y += of_product(call.offset_y, call.stride_y);

    const VECTOR x_end = end_of_x(x, call.incx, whole, columns);

    for (; row + VEC <= end && (row + VEC - 1) * call.lda + reach <= a_end; row += VEC) {
        REAL sum[VEC];

        VSTORE(sums_of(a + row * call.lda, call.lda, x, call.incx, whole, tail, x_end), 0, sum);
#pragma unroll
        for (uint r = 0; r < VEC; r++)
            update_y(y, row + r, sum[r], call);
    }
    /* The last rows of A, behind which a vector would reach beyond A. */
    for (; row < end; row++) {
        REAL sum = 0;

        for (uint c = 0; c < columns; c++)
            sum += load_factor(a + row * call.lda + c) * load_factor(x + v_index(call.incx, c));
        update_y(y, row, sum, call);
    }
}
