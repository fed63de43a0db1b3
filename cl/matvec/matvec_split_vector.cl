/* Matrix-vector product: parts of rows for teams of any size, which keep many vector loads on
 * their way.
 *
 * Idea: memory is fast only while enough of it is asked for: some 25 KB for each unit of a
 *     large GPU, at any moment.  Here every lane of tree-vector's teams asks for LOADS
 *     vectors before it uses the first one, teams are as wide as a row has work for, and
 *     rows that are too few to fill the device are split as in split-row.
 * Work split: work-group g takes part g % parts of TILE_ROWS = LOCAL / TEAM rows, from row
 *     g / parts * TILE_ROWS, team t of it one row; lane l the vectors l, l + TEAM, ... of
 *     the part and, of what is left behind its last one, columns l, l + TEAM, ...
 * Parameters: TEAM, a power of 2; LOADS; VEC, 128 bits, and ALIGNED (matvec_vectors.clh);
 *     LOCAL, work-items in a work-group, a power of 2 of TEAM at least; REAL, REAL_BITS
 *     (real.clh); TRANS = 0, STRIDED, FACTOR, RESULT (matvec.clh); LAST_ADDS
 *     (last_group.clh).  PER_UNIT only decides `parts` and `chunk` on the host.
 * Launch: for each product parts * ceil(rows / TILE_ROWS) work-groups of LOCAL.  Then,
 *     where there are several parts and LAST_ADDS is 0, matvec_add_parts.
 * Workspace: rows * parts elements where there are several parts.
 * Local memory: LOCAL elements.
 * Limits: rows and chunk below 2^31; columns in 64 bits; chunk is a multiple of VEC; A is not
 *     transposed.
 */
#ifndef TEAM
#error "TEAM: work-items that share a row, a power of two up to LOCAL"
#endif

#define TILE_ROWS (LOCAL / TEAM)
#include "matvec/matvec_parts.clh"
#include "matvec/matvec_vectors.clh"

#if TRANS
#error "TRANS: a vector of a transposed A has elements of many rows"
#endif

#ifndef LOADS
#error "LOADS: vectors of A that a work-item loads at once"
#endif

#define STEP (TEAM * VEC) /* columns from one vector of a lane to its next */

/* A lane's vector is VEC neighbours where those are one load.  Else each would be VEC loads, of
 * which neighbouring lanes' are VEC elements apart: then a lane takes every TEAM-th column, so that
 * loads of a team are neighbours. */
#if ALIGNED
#define LANE_COLUMN(lane) ((lane)*VEC)
#else
#define LANE_COLUMN(lane) (lane)
#endif

/* What is beyond the end is read at its last place, and counts for nothing: a branch before each
 * load would have them wait for one another. */
#if ALIGNED
typedef VECTOR piece;
#define PIECES LOADS
#else
typedef REAL piece;
#define PIECES (LOADS * VEC)
#endif
#define APART (TEAM * VEC * LOADS / PIECES) /* columns from piece to piece */

static inline piece load_piece(__global const factor *row, uint c)
{
#if ALIGNED
    return load_vector(row + c);
#else
    return load_factor(row + c);
#endif
}

static inline piece load_x(__global const factor *x, ulong incx, uint c)
{
#if ALIGNED
    return x_vector(x, incx, c);
#else
    return load_factor(x + v_index(incx, c));
#endif
}

/* The products of pieces from column c on, those up to column `last`: all are loaded before the
 * first is used. */
static inline VECTOR add_pieces(VECTOR sum, __global const factor *row, __global const factor *x,
                                ulong incx, uint c, uint last)
{
    piece from_row[PIECES], from_x[PIECES];

    /* Unrolled: only then do the arrays live in registers. */
#pragma unroll
    for (uint u = 0; u < PIECES; u++) {
        from_row[u] = load_piece(row, min(c + u * APART, last));
        from_x[u] = load_x(x, incx, min(c + u * APART, last));
    }
#if ALIGNED
#pragma unroll
    for (uint u = 0; u < PIECES; u++)
        sum += c + u * APART <= last ? from_row[u] * from_x[u] : (VECTOR)(0);
#else
#pragma unroll
    for (uint u = 0; u < PIECES; u += VEC) {
        REAL products[VEC];

#pragma unroll
        for (uint i = 0; i < VEC; i++)
            products[i] = c + (u + i) * APART <= last ? from_row[u + i] * from_x[u + i] : 0;
        sum += REAL_JOIN_EXPANDED(vload, VEC)(0, products);
    }
#endif
    return sum;
}

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
matvec_split_vector(__global const factor *restrict a, __global const factor *restrict x,
                    __global result *restrict y, __global REAL *partial,
                    __global group_counter *counters, const matvec_call call)
{
    __local REAL sums[LOCAL];
    const uint rows = (uint)call.rows;
    const uint item = get_local_id(0), lane = item % TEAM;
    const uint part = (uint)get_group_id(0) % call.parts;
    const uint first = (uint)get_group_id(0) / call.parts * TILE_ROWS;
    const uint row = first + item / TEAM;
    const ulong begin = (ulong)part * call.chunk;
    /* A team beyond the last row sums nothing, and reaches the barriers. */
    const uint length = row < rows ? part_length(begin, call.columns, call.chunk) : 0;
    const uint vectors = ALIGNED ? length / VEC * VEC : length; /* columns in pieces */
    VECTOR partial_sums = 0;
    REAL sum;

    a += of_product(call.offset_a, call.stride_a) + a_index(call.lda, min(row, rows - 1), begin);
    x += of_product(call.offset_x, call.stride_x) + v_index(call.incx, begin);
    y += of_product(call.offset_y, call.stride_y);
    for (uint c = LANE_COLUMN(lane); c < vectors; c += LOADS * STEP)
        if (c + (PIECES - 1) * APART < vectors) /* then nothing is compared */
            partial_sums = add_pieces(partial_sums, a, x, call.incx, c, UINT_MAX);
        else
            partial_sums =
                add_pieces(partial_sums, a, x, call.incx, c, vectors - (ALIGNED ? VEC : 1));
    sum = ADD_UP(partial_sums);
    for (uint c = vectors + lane; c < length; c += TEAM)
        sum += load_factor(a + c) * load_factor(x + v_index(call.incx, c));
    sum = tree_reduce(sums + item, 1, lane, TEAM, sum);
    if (lane == 0 && row < rows)
        keep_sum(sum, row, part, partial, y, call);
    add_parts_if_last(partial, counters, first, TILE_ROWS, y, call, sums);
}
