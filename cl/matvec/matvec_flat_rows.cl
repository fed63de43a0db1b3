/* Matrix-vector product: short rows of A without gaps, read as one array.
 *
 * Idea: rows of a few elements are read neighbour by neighbour only as the one array that
 *     they are.  A work-group reads its stretch of it by vectors and goes on by whole rows,
 *     so that a work-item meets the same columns at every step and holds their elements of
 *     x in registers; what goes through local memory to the work-items that add up rows
 *     are products, and of neighbours that lie in one row for every work-item their sum.
 * Work split: work-group g computes the `tile` rows from g * tile on.  The first `items` of
 *     its work-items read LOADS vectors each, and make TERMS sums of a vector.  Then a
 *     team of work-items adds up a row, as many as there are for each, a power of 2.
 * Parameters: LOADS; VEC, 128 bits, and ALIGNED, of A alone (matvec_vectors.clh); TERMS,
 *     VEC / gcd(columns, VEC); LOCAL, work-items in a work-group: GROUP, or less where the
 *     device takes fewer, a power of 2; REAL, REAL_BITS (real.clh); TRANS = 0, STRIDED,
 *     FACTOR, RESULT (matvec.clh).
 * Launch: for each product work-groups of LOCAL, one per started `tile` rows.  `items` is
 *     the largest multiple of columns / gcd(columns, VEC) up to LOCAL, and their LOADS *
 *     VEC elements each are `tile` rows; without a column both are as for one.
 * Local memory: LOADS * LOCAL * TERMS + LOCAL elements, and where TERMS is 1
 *     LOADS * LOCAL / BANKS more.
 * Limits: columns / gcd(columns, VEC) up to LOCAL; rows below 2^31; A is not transposed
 *     and lda is `columns`.
 */
#include "matvec/matvec_vectors.clh"

#ifndef LOADS
#error "LOADS: vectors of A that a work-item loads at once"
#endif
#ifndef TERMS
#error "TERMS: sums of a vector of A: of VEC / TERMS neighbours each"
#endif
#ifndef LOCAL
#error "LOCAL: work-items in a work-group, a power of two"
#endif
#if TRANS
#error "TRANS: a vector of a transposed A has elements of many rows"
#endif

/* Elements of local memory that a GPU reads at once. */
#define BANKS (1024 / REAL_BITS)

/* Where term t lies.  A row has an odd number of them, and equal terms of neighbouring rows
 * lie in different banks, unless TERMS is 1: then every BANKS terms leave one place out. */
#if TERMS == 1
#define SLOT(t) ((t) + (t) / BANKS)
#else
#define SLOT(t) (t)
#endif

/* Sums of VEC / TERMS neighbours each; v is a variable. */
#if TERMS == VEC
#define NEIGHBOURS_ADDED(v) (v)
#elif TERMS == 1
#define NEIGHBOURS_ADDED(v) ADD_UP(v)
#elif TERMS * 2 == VEC
#define NEIGHBOURS_ADDED(v) ((v).even + (v).odd)
#else
#define NEIGHBOURS_ADDED(v) (((v).even.even + (v).even.odd) + ((v).odd.even + (v).odd.odd))
#endif

/* Keep the terms of vector number `which` of the work-group. */
static inline void keep_terms(__local REAL *terms, uint which, VECTOR products)
{
#if TERMS == 1
    terms[SLOT(which)] = NEIGHBOURS_ADDED(products);
#else
    ((__local REAL_N(TERMS) *)terms)[which] = NEIGHBOURS_ADDED(products);
#endif
}

/* The first `elements` of A times the elements of x in their columns. */
static inline void keep_products(__local REAL *terms, __global const factor *a, uint elements,
                                 uint items, VECTOR of_x)
{
    const uint item = get_local_id(0);
    VECTOR piece[LOADS];

    /* The loops are unrolled: only then does the array live in registers. */
    if (elements == LOADS * items * VEC) {
#pragma unroll
        for (uint u = 0; u < LOADS; u++)
            piece[u] = load_vector(a + (u * items + item) * VEC);
    } else {
#pragma unroll
        for (uint u = 0; u < LOADS; u++) {
            const uint e = (u * items + item) * VEC;

            piece[u] = e + VEC <= elements ? load_vector(a + e)
                                           : edge_vector(a + e, elements > e ? elements - e : 0);
        }
    }
#pragma unroll
    for (uint u = 0; u < LOADS; u++)
        keep_terms(terms, u * items + item, piece[u] * of_x);
}

/* Elements of x in the columns of work-item `item`'s vectors. */
static inline VECTOR x_of_columns(__global const factor *x, ulong incx, uint columns, uint item)
{
    REAL piece[VEC];
    uint c = item * VEC % columns;

#pragma unroll
    for (uint i = 0; i < VEC; i++) {
        piece[i] = load_factor(x + v_index(incx, c));
        c = c + 1 < columns ? c + 1 : 0;
    }
    return REAL_JOIN_EXPANDED(vload, VEC)(0, piece);
}

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
matvec_flat_rows(__global const factor *restrict a, __global const factor *restrict x,
                 __global result *restrict y, const matvec_call call)
{
    /* Aligned to any vector of terms. */
    __local REAL terms[SLOT(LOADS * LOCAL * TERMS)] __attribute__((aligned(64)));
    __local REAL sums[LOCAL];
    const uint rows = (uint)call.rows, columns = (uint)call.columns;
    const uint item = get_local_id(0);
    const uint first = (uint)get_group_id(0) * call.tile;
    const uint count = min(call.tile, rows - first);
    const uint length = columns / (VEC / TERMS); /* terms of a row */
    uint doublings = 0;                          /* of a work-item to a team */
    uint lane;

    while (call.tile << (doublings + 1) <= LOCAL)
        doublings++;
    lane = item & ((1u << doublings) - 1);
    a += of_product(call.offset_a, call.stride_a) + a_index(call.lda, first, 0);
    x += of_product(call.offset_x, call.stride_x);
    y += of_product(call.offset_y, call.stride_y);
    if (item < call.items && columns > 0)
        keep_products(terms, a, count * columns, call.items,
                      x_of_columns(x, call.incx, columns, item));
    /* Filled before read: a row has terms of many work-items. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint base = 0; base < count; base += LOCAL >> doublings) {
        const uint row = base + (item >> doublings);
        REAL sum = 0;

        if (row < count)
            for (uint t = lane; t < length; t += 1u << doublings)
                sum += terms[SLOT(row * length + t)];
        /* Teams of several go through once, and need no barrier before the next round. */
        sum = tree_reduce(sums + item, 1, lane, 1u << doublings, sum);
        if (lane == 0 && row < count)
            update_y(y, first + row, sum, call);
    }
}
