/* Matrix-vector product, A transposed: narrow A without gaps, read as one array.
 *
 * Idea: lines of a few elements leave a team along them idle, and whatever lies along them
 *     alone is short.  Here a work-group reads A as the array that it is, neighbours reading
 *     neighbouring vectors, and goes on by whole lines: each element of a work-item's vector
 *     belongs to the same column of A at every step, and has a sum of its own.
 * Work split: work-group g takes part g, `chunk` rows of A.  As many of its work-items read
 *     as have vectors of whole rows together; a step of theirs covers `span` rows, and
 *     LOADS steps are loaded at once.  Sums of equal columns, `rows` elements apart, are
 *     added in local memory by halves, and the last work-group or a second pass adds the
 *     parts up (matvec_parts.clh).
 * Parameters: LOADS; VEC, 128 bits, and ALIGNED, of A alone (matvec_vectors.clh);
 *     LOCAL, work-items in a work-group: GROUP, or less where the device takes fewer, a
 *     power of 2; REAL, REAL_BITS (real.clh); TRANS = 1, STRIDED, FACTOR, RESULT
 *     (matvec.clh); LAST_ADDS (last_group.clh).  PER_UNIT only decides `parts` and
 *     `chunk` on the host: chunk * rows is a multiple of VEC where there are several parts.
 * Launch: for each product `parts` work-groups of LOCAL.  Then, where there are several
 *     parts and LAST_ADDS is 0, matvec_add_parts.
 * Workspace: rows * parts elements where there are several parts.
 * Local memory: LOCAL * VEC elements.
 * Limits: rows / gcd(rows, VEC) up to LOCAL; chunk below 2^31; columns in 64 bits; A is
 *     transposed and lda is `rows`.
 */
#include "matvec_parts.clh"
#include "matvec_vectors.clh"

#ifndef LOADS
#error "LOADS: vectors of A that a work-item loads at once"
#endif
#if !TRANS
#error "TRANS: a row of A that is not transposed has one sum, not many"
#endif

/* Elements at[0], at[1], ... of x, the first `count` of them, and zeros. */
static inline VECTOR x_of_elements(__global const factor *x, ulong incx, const uint *at, uint count)
{
    REAL piece[VEC];

#pragma unroll
    for (uint i = 0; i < VEC; i++)
        piece[i] = i < count ? load_factor(x + v_index(incx, at[i])) : 0;
    return REAL_JOIN_EXPANDED(vload, VEC)(0, piece);
}

/* The products of LOADS steps from step s on, `step` elements and `span` rows of A apart, those
 * before step `whole`: all vectors are loaded before the first is used. */
static inline VECTOR add_steps(VECTOR sum, __global const factor *a, __global const factor *x,
                               ulong incx, const uint *at, uint step, uint span, uint s,
                               uint whole)
{
    VECTOR from_a[LOADS], from_x[LOADS];

    /* Unrolled: only then do the arrays live in registers. */
#pragma unroll
    for (uint u = 0; u < LOADS; u++) {
        const bool inside = s + u < whole;

        from_a[u] = inside ? load_vector(a + (ulong)(s + u) * step) : (VECTOR)(0);
        from_x[u] = x_of_elements(x + v_index(incx, (s + u) * span), incx, at, inside ? VEC : 0);
    }
#pragma unroll
    for (uint u = 0; u < LOADS; u++)
        sum += from_a[u] * from_x[u];
    return sum;
}

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
matvec_short_columns(__global const factor *restrict a, __global const factor *restrict x,
                     __global result *restrict y, uint rows, ulong columns, ulong lda,
                     ulong offset_a, ulong offset_x, ulong offset_y, ulong incx, ulong incy,
                     ulong stride_a, ulong stride_x, ulong stride_y, uint parts, uint chunk,
                     __global REAL * partial, __global tally * tallies, REAL alpha,
                     REAL beta)
{
    __local VECTOR vectors[LOCAL];
    __local REAL *sums = (__local REAL *)vectors;
    const uint item = get_local_id(0);
    /* Work-items whose vectors end where a row of A does; `rows & -rows` divides both. */
    const uint cycle = rows / min((uint)VEC, rows & -rows);
    const uint items = LOCAL / cycle * cycle;
    const uint step = items * VEC;
    const uint span = step / rows;
    const uint part = get_group_id(0);
    const ulong begin = (ulong)part * chunk;
    const uint length = part_length(begin, columns, chunk);
    const uint whole = length / span;
    uint at[VEC]; /* rows of A of the vector's elements, from the step's first */
    VECTOR sum = 0;

    a += of_product(offset_a, stride_a) + begin * rows + item * VEC;
    x += of_product(offset_x, stride_x) + v_index(incx, begin);
    y += of_product(offset_y, stride_y);
#pragma unroll
    for (uint i = 0; i < VEC; i++)
        at[i] = (item * VEC + i) / rows;
    /* The others read nothing, and reach the barriers. */
    if (item < items) {
        const uint left = length % span * rows; /* elements of the last step */
        const uint count = left > item * VEC ? min((uint)VEC, left - item * VEC) : 0;

        for (uint s = 0; s < whole; s += LOADS)
            sum = add_steps(sum, a, x, incx, at, step, span, s, whole);
        a += (ulong)whole * step;
        x += v_index(incx, whole * span);
        sum += edge_vector(a, count) * x_of_elements(x, incx, at, count);
    }
    vectors[item] = sum;
    /* Filled before read: equal columns are of different work-items. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint count = span; count > 1;) {
        const uint kept = (count + 1) / 2;

        for (uint e = item; e < (count - kept) * rows; e += LOCAL)
            sums[e] += sums[e + kept * rows];
        /* Written before read: the next round halves what this one left. */
        barrier(CLK_LOCAL_MEM_FENCE);
        count = kept;
    }
    for (uint row = item; row < rows; row += LOCAL)
        keep_sum(sums[row], rows, row, part, parts, partial, y, incy, alpha, beta);
    add_parts_if_last(partial, tallies, 0, rows, rows, parts, y, incy, alpha, beta, sums);
}
