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
 * Parameters: LOADS; ROWS_MET, rows of A that a vector meets at most: 1 where `rows` is a
 *     multiple of VEC, else 2, but VEC where `rows` is less than VEC - 1; PAST_L1
 *     (matvec_once.clh); VEC, 128 bits, and ALIGNED, of A alone (matvec_vectors.clh);
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
#include "matvec/matvec_once.clh"
#include "matvec/matvec_parts.clh"

#ifndef LOADS
#error "LOADS: vectors of A that a work-item loads at once"
#endif
#if ROWS_MET != 1 && ROWS_MET != 2 && ROWS_MET != VEC
#error "ROWS_MET: rows of A that have elements of one vector, at most: 1, 2 or VEC"
#endif
#if !TRANS
#error "TRANS: a row of A that is not transposed has one sum, not many"
#endif

/* Elements at[0], at[1], ... of x, those below `lines`, of which there is one at least, and zeros:
 * as edge_vector. */
static inline VECTOR x_of_elements(__global const factor *x, ulong incx, const uint *at, uint lines)
{
    REAL piece[VEC];

#pragma unroll
    for (uint i = 0; i < VEC; i++) {
        piece[i] = load_factor(x + v_index(incx, min(at[i], lines - 1)));
        piece[i] = at[i] < lines ? piece[i] : 0;
    }
    return REAL_JOIN_EXPANDED(vload, VEC)(0, piece);
}

/* Vectors of A stay as they are stored until they are multiplied: of 16 bits they take half as many
 * registers.  What is not aligned is put together as it is loaded. */
#if ALIGNED
typedef vector_bits piece_bits;
#define PIECE_OF(piece) vector_of(piece)
#else
typedef VECTOR piece_bits;
#define PIECE_OF(piece) (piece)
#endif

/* A vector of A where it is inside, else zeros, and nothing is read. */
static inline piece_bits load_piece(__global const factor *from, bool inside)
{
#if PAST_L1 == 2
    return load_once(from, inside);
#elif ALIGNED
    return inside ? *(__global const vector_bits *)from : (vector_bits)(0);
#else
    return inside ? load_vector(from) : (VECTOR)(0);
#endif
}

/* What a vector of A needs of x: by ROWS_MET one element, those of its first and last row, or one
 * for each of its elements. */
#if ROWS_MET == 1
typedef REAL x_bits;
#elif ROWS_MET == 2
typedef REAL_N(2) x_bits;
#else
typedef VECTOR x_bits;
#endif

/* All of it where it is inside, else zeros, and nothing is read. */
static inline x_bits load_x(__global const factor *x, ulong incx, const uint *at, bool inside)
{
#if ROWS_MET == 1
    return inside ? load_factor(x + v_index(incx, at[0])) : 0;
#elif ROWS_MET == 2
    const REAL first = inside ? load_factor(x + v_index(incx, at[0])) : 0;
    const REAL last = inside ? load_factor(x + v_index(incx, at[VEC - 1])) : 0;

    return (x_bits)(first, last);
#else
    return inside ? x_of_elements(x, incx, at, UINT_MAX) : (VECTOR)(0);
#endif
}

/* The element of x for each element of the vector. */
static inline VECTOR x_vector_of(x_bits x, const uint *at)
{
#if ROWS_MET == 2
    REAL piece[VEC];

#pragma unroll
    for (uint i = 0; i < VEC; i++)
        piece[i] = at[i] == at[0] ? x.s0 : x.s1;
    return REAL_JOIN_EXPANDED(vload, VEC)(0, piece);
#else
    return (VECTOR)(x);
#endif
}

/* The products of LOADS steps from step s on, apart.s0 elements and apart.s1 rows of A apart, those
 * before step `whole`: all vectors are loaded before the first is used, without a branch for each
 * where all are inside. */
static inline VECTOR add_steps(VECTOR sum, __global const factor *a, __global const factor *x,
                               ulong incx, const uint *at, uint2 apart, uint s, uint whole)
{
    const uint step = apart.s0, span = apart.s1;
    piece_bits from_a[LOADS];
    x_bits from_x[LOADS];

    /* Unrolled: only then do the arrays live in registers. */
    if (whole - s >= LOADS) {
#pragma unroll
        for (uint u = 0; u < LOADS; u++) {
            from_a[u] = load_piece(a + (ulong)(s + u) * step, true);
            from_x[u] = load_x(x + v_index(incx, (s + u) * span), incx, at, true);
        }
    } else {
#pragma unroll
        for (uint u = 0; u < LOADS; u++) {
            const bool inside = s + u < whole;

            from_a[u] = load_piece(a + (ulong)(s + u) * step, inside);
            from_x[u] = load_x(x + v_index(incx, (s + u) * span), incx, at, inside);
        }
    }
#pragma unroll
    for (uint u = 0; u < LOADS; u++)
        sum += PIECE_OF(from_a[u]) * x_vector_of(from_x[u], at);
    return sum;
}

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
matvec_short_columns(__global const factor *restrict a, __global const factor *restrict x,
                     __global result *restrict y, __global REAL *partial,
                     __global group_counter *counters, const matvec_call call)
{
    __local VECTOR vectors[LOCAL];
    __local REAL *sums = (__local REAL *)vectors;
    const uint rows = (uint)call.rows;
    const uint item = get_local_id(0);
    /* Work-items whose vectors end where a row of A does; `rows & -rows` divides both. */
    const uint cycle = rows / min((uint)VEC, rows & -rows);
    const uint items = LOCAL / cycle * cycle;
    const uint step = items * VEC;
    const uint span = step / rows;
    const uint part = get_group_id(0);
    const ulong begin = (ulong)part * call.chunk;
    const uint length = part_length(begin, call.columns, call.chunk);
    const uint whole = length / span;
    uint at[VEC]; /* rows of A of the vector's elements, from the step's first */
    VECTOR sum = 0;

    a += of_product(call.offset_a, call.stride_a) + begin * rows + item * VEC;
    x += of_product(call.offset_x, call.stride_x) + v_index(call.incx, begin);
    y += of_product(call.offset_y, call.stride_y);
#pragma unroll
    for (uint i = 0; i < VEC; i++)
        at[i] = (item * VEC + i) / rows;
    /* The others read nothing, and reach the barriers. */
    if (item < items) {
        const uint lines = length % span, left = lines * rows; /* of the last step, and elements */
        const uint count = left > item * VEC ? min((uint)VEC, left - item * VEC) : 0;

        for (uint s = 0; s < whole; s += LOADS)
            sum = add_steps(sum, a, x, call.incx, at, (uint2)(step, span), s, whole);
        a += (ulong)whole * step;
        x += v_index(call.incx, whole * span);
        if (count)
            sum += edge_vector(a, count) * x_of_elements(x, call.incx, at, lines);
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
        keep_sum(sums[row], row, part, partial, y, call);
    add_parts_if_last(partial, counters, 0, rows, y, call, sums);
}
