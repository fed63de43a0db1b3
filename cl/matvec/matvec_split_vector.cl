/* Matrix-vector product: parts of rows for teams of any size, which keep many vector loads on
 * their way.
 *
 * Idea: memory is fast only while enough of it is asked for: some 25 KB for each unit of a
 *     large GPU, at any moment.  Here every lane of tree-vector's teams asks for LOADS
 *     pieces before it uses the first one, teams are as wide as a row has work for, and
 *     rows that are too few to fill the device are split as in split-row.
 * Work split: work-group g takes part g % parts of TILE_ROWS = LOCAL / TEAM * ROWS rows, from row
 *     g / parts * TILE_ROWS, team t of it row t and each LOCAL / TEAM rows another; lane l the
 *     pieces l, l + TEAM, ... of the part and, of what is left behind its last one, columns l,
 *     l + TEAM, ...  Rows of a team meet the same pieces of x, and are loaded at once.
 *     Where rows do not start at vector boundaries, but A does, A is read by vectors from
 *     the first boundary in each row, and the matching vector of x is shifted out of two
 *     neighbours; elements before that boundary are multiplied one by one.
 * Parameters: TEAM, a power of 2; ROWS of a team, 1, 2 or 4; LOADS; CHECKED, 1 where a lane loads
 *     what is inside alone, for a large A of 32 or 64 bits whose rows are aligned; SHIFTED, 1 where
 *     not all rows of A start at vectors, but the first one and x do; CHECKED needs ROWS = 1, and
 *     SHIFTED that, or LOCAL / TEAM to be a multiple of VEC; VEC, 128 bits, or 64 where rows
 *     start at multiples of those alone, and ALIGNED (matvec_vectors.clh); LOCAL, work-items in a
 *     work-group, a power of 2 of TEAM at least; REAL, REAL_BITS (real.clh); TRANS = 0, STRIDED,
 *     FACTOR, RESULT (matvec.clh); LAST_ADDS (last_group.clh).  PER_UNIT only decides `parts` and
 *     `chunk` on the host.
 * Launch: for each product parts * ceil(rows / TILE_ROWS) work-groups of LOCAL.  Then,
 *     where there are several parts and LAST_ADDS is 0, matvec_add_parts.
 * Workspace: rows * parts elements where there are several parts.
 * Local memory: LOCAL elements, or TILE_ROWS * (TEAM + 1) where ROWS is more than 1.
 * Limits: rows and chunk below 2^31; columns in 64 bits; chunk is a multiple of VEC; A is not
 *     transposed.
 */
#ifndef TEAM
#error "TEAM: work-items that share a row, a power of two up to LOCAL"
#endif

#ifndef ROWS
#error "ROWS: rows of a team, whose pieces are on their way at once"
#endif
#define TEAMS     (LOCAL / TEAM)
#define TILE_ROWS (TEAMS * ROWS)
#include "common/in_registers.clh"
#include "matvec/matvec_parts.clh"
#include "matvec/matvec_vectors.clh"

#if TRANS
#error "TRANS: a vector of a transposed A has elements of many rows"
#endif

#ifndef LOADS
#error "LOADS: pieces of A that a work-item loads at once"
#endif
#if !defined(CHECKED) || (CHECKED && !ALIGNED)
#error "CHECKED: 1 where a lane loads what is inside alone, of an aligned A, else 0"
#endif

#if !defined(SHIFTED) || (SHIFTED && (ALIGNED || STRIDED))
#error "SHIFTED: 1 where rows start at any place of a vector, else 0"
#endif

#if ROWS > 1 && (CHECKED || STRIDED)
#error "ROWS: 1 where A is checked, or x is strided"
#endif
#if ROWS > 1 && SHIFTED && TEAMS % VEC
#error "ROWS: of shifted rows 1, or the teams of a work-group a multiple of VEC"
#endif

/* A lane's piece of a row is a vector of VEC neighbours where those are one load.  Else each would
 * be VEC loads, of which neighbouring lanes' are VEC elements apart: then a piece is one element,
 * so that loads of a team are neighbours. */
#define BY_LANES (!ALIGNED && !SHIFTED)

#if BY_LANES
typedef REAL piece;
#define WIDTH 1
#else
typedef VECTOR piece;
#define WIDTH VEC
#endif
#define APART (TEAM * WIDTH) /* columns from piece to piece */

static inline piece load_piece(__global const factor *row, uint c)
{
#if BY_LANES
    return load_factor(row + c);
#else
    return load_vector(row + c);
#endif
}

static inline piece load_x(__global const factor *x, ulong incx, uint c)
{
#if BY_LANES
    return load_factor(x + v_index(incx, c));
#else
    return x_vector(x, incx, c);
#endif
}

static inline REAL sum_of_piece(piece sum)
{
#if BY_LANES
    return sum;
#else
    return ADD_UP(sum);
#endif
}

#if SHIFTED
/* Elements of a row before its first vector and behind its last piece, for each lane: they are
 * fewer than two vectors have (pieces_of). */
#define ENDS ((2 * VEC - 1 + TEAM - 1) / TEAM)

/* Elements `from` to `from` + VEC - 1 of two vectors.  By masks: rows of one warp start at
 * different places.  Vectors are put together element by element, as Oclgrind takes them. */
static inline uint4 elements_from(uint from, uint4 low, uint4 high)
{
    const uint at = from * (16 / VEC); /* bytes */
    const uint eight = at & 8 ? UINT_MAX : 0;
    uint8 words = (uint8)(low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w);

    words = (words.s23456777 & eight) | (words & ~eight);
#if VEC >= 4
    const uint four = at & 4 ? UINT_MAX : 0;

    words = (words.s12345677 & four) | (words & ~four);
#endif
#if VEC >= 8
    const uint odd = at & 2 ? UINT_MAX : 0;
    ushort8 next = as_ushort8(words.s0123).s12345677;

    next.s7 = as_ushort8(words.s1234).s6;
    return (as_uint4(next) & odd) | (words.s0123 & ~odd);
#else
    return words.s0123;
#endif
}

static inline VECTOR factors_of(uint4 bits)
{
#if FACTOR == BF16
    return (VECTOR)(as_float(bits.x << 16), as_float(bits.x & 0xFFFF0000u), as_float(bits.y << 16),
                    as_float(bits.y & 0xFFFF0000u), as_float(bits.z << 16),
                    as_float(bits.z & 0xFFFF0000u), as_float(bits.w << 16),
                    as_float(bits.w & 0xFFFF0000u));
#elif FACTOR == F16
    return FLOAT_OF_F16(8, as_ushort8(bits));
#elif FACTOR == F64
    return as_double2(bits);
#else
    return as_float4(bits);
#endif
}

/* Pieces of a row of `length` elements, wherever its first one starts: so many that there is a
 * vector of x behind each. */
static inline uint pieces_of(uint length)
{
    return max(length / VEC, 1u) - 1;
}

#if ROWS > 1
/* The products of pieces `piece`, `piece` + TEAM, ... up to piece `last` of each row: all are
 * loaded before the first is used, and what is beyond is the last one again, and counts for
 * nothing.  Rows of a team start at the same place of a vector, so that one of x is shifted for
 * all. */
IN_REGISTERS void add_pieces(VECTOR *sum, __global const uint4 *const *row, __global const uint4 *x,
                             uint before, uint piece, uint last)
{
    uint4 from_row[ROWS][LOADS], low[LOADS], high[LOADS];

    /* Unrolled: only then do the arrays live in registers. */
#pragma unroll
    for (uint u = 0; u < LOADS; u++) {
        const uint at = min(piece + u * TEAM, last);

        low[u] = x[at];
        high[u] = x[at + 1];
#pragma unroll
        for (uint r = 0; r < ROWS; r++)
            from_row[r][u] = row[r][at];
    }
#pragma unroll
    for (uint u = 0; u < LOADS; u++) {
        const VECTOR of_x = factors_of(elements_from(before, low[u], high[u]));

#pragma unroll
        for (uint r = 0; r < ROWS; r++)
            sum[r] += piece + u * TEAM <= last ? factors_of(from_row[r][u]) * of_x : (VECTOR)(0);
    }
}

/* The sums of lane `lane` over `pieces` pieces, which start at element `before` of each row. */
IN_REGISTERS void add_rows(VECTOR *sum, __global const factor *const *row, __global const factor *x,
                           uint before, uint lane, uint pieces)
{
    __global const uint4 *vectors[ROWS];

#pragma unroll
    for (uint r = 0; r < ROWS; r++)
        vectors[r] = (__global const uint4 *)(row[r] + before);
    for (uint base = 0; base < pieces; base += LOADS * TEAM) {
        if (base + LOADS * TEAM <= pieces) /* then nothing is compared */
            add_pieces(sum, vectors, (__global const uint4 *)x, before, base + lane, UINT_MAX);
        else
            add_pieces(sum, vectors, (__global const uint4 *)x, before, base + lane, pieces - 1);
    }
}
#else
/* The products of pieces `piece`, `piece` + TEAM, ... up to piece `last`: all are loaded before the
 * first is used, and what is beyond is the last one again, and counts for nothing. */
static inline VECTOR add_pieces(VECTOR sum, __global const uint4 *row, __global const uint4 *x,
                                uint before, uint piece, uint last)
{
    uint4 from_row[LOADS], low[LOADS], high[LOADS];

    /* Unrolled: only then do the arrays live in registers. */
#pragma unroll
    for (uint u = 0; u < LOADS; u++) {
        const uint at = min(piece + u * TEAM, last);

        from_row[u] = row[at];
        low[u] = x[at];
        high[u] = x[at + 1];
    }
#pragma unroll
    for (uint u = 0; u < LOADS; u++)
        sum += piece + u * TEAM <= last
                   ? factors_of(from_row[u]) * factors_of(elements_from(before, low[u], high[u]))
                   : (VECTOR)(0);
    return sum;
}

/* The sum of lane `lane` over `pieces` pieces, which start at element `before` of a row. */
static inline VECTOR add_row(__global const factor *row, __global const factor *x, uint before,
                             uint lane, uint pieces)
{
    __global const uint4 *row_vectors = (__global const uint4 *)(row + before);
    __global const uint4 *x_vectors = (__global const uint4 *)x;
    VECTOR sum = 0;

    for (uint base = 0; base < pieces; base += LOADS * TEAM) {
        if (base + LOADS * TEAM <= pieces) /* then nothing is compared */
            sum = add_pieces(sum, row_vectors, x_vectors, before, base + lane, UINT_MAX);
        else
            sum = add_pieces(sum, row_vectors, x_vectors, before, base + lane, pieces - 1);
    }
    return sum;
}
#endif
#elif ROWS > 1
/* Pieces as they are stored, since those of 16 bits take half as many registers. */
#if BY_LANES
typedef factor piece_bits;
#define PIECE_OF(bits) element_of(bits)
#else
typedef vector_bits piece_bits;
#define PIECE_OF(bits) vector_of(bits)
#endif

/* The products of LOADS pieces of each row from column c on, those up to column `last`: all are
 * loaded before the first is used.  What is beyond is read at the last place, and counts for
 * nothing. */
IN_REGISTERS void add_pieces(piece *sum, __global const factor *const *row,
                             __global const factor *x, uint c, uint last)
{
    piece_bits from_row[ROWS][LOADS], from_x[LOADS];

    /* Unrolled: only then do the arrays live in registers. */
#pragma unroll
    for (uint u = 0; u < LOADS; u++) {
        const uint at = min(c + u * APART, last);

        from_x[u] = *(__global const piece_bits *)(x + at);
#pragma unroll
        for (uint r = 0; r < ROWS; r++)
            from_row[r][u] = *(__global const piece_bits *)(row[r] + at);
    }
#pragma unroll
    for (uint u = 0; u < LOADS; u++) {
        const piece of_x = c + u * APART <= last ? PIECE_OF(from_x[u]) : (piece)(0);

#pragma unroll
        for (uint r = 0; r < ROWS; r++)
            sum[r] += c + u * APART <= last ? PIECE_OF(from_row[r][u]) * of_x : (piece)(0);
    }
}

/* The products of lane `lane` of the `whole` columns in pieces: all lanes of a team go the same
 * way. */
IN_REGISTERS void add_rows(piece *sum, __global const factor *const *row, __global const factor *x,
                           uint lane, uint whole)
{
    for (uint base = 0; base < whole; base += LOADS * APART) {
        if (base + LOADS * APART <= whole) /* then nothing is compared */
            add_pieces(sum, row, x, base + lane * WIDTH, UINT_MAX);
        else
            add_pieces(sum, row, x, base + lane * WIDTH, whole - WIDTH);
    }
}
#elif CHECKED
/* The products of LOADS pieces from column c on, those below `end`: all are loaded before the first
 * is used, and nothing is read twice. */
static inline piece add_pieces(piece sum, __global const factor *row, __global const factor *x,
                               ulong incx, uint c, uint end)
{
    const bool inside = c + (LOADS - 1) * APART < end;
    piece from_row[LOADS], from_x[LOADS];

    /* Unrolled: only then do the arrays live in registers.  Without a branch for each where all are
     * inside. */
    if (inside) {
#pragma unroll
        for (uint u = 0; u < LOADS; u++) {
            from_row[u] = load_vector(row + c + u * APART);
            from_x[u] = x_vector(x, incx, c + u * APART);
        }
    } else {
#pragma unroll
        for (uint u = 0; u < LOADS; u++) {
            from_row[u] = 0;
            from_x[u] = 0;
            if (c + u * APART < end) {
                from_row[u] = load_vector(row + c + u * APART);
                from_x[u] = x_vector(x, incx, c + u * APART);
            }
        }
    }
#pragma unroll
    for (uint u = 0; u < LOADS; u++)
        sum += from_row[u] * from_x[u];
    return sum;
}

/* The products of lane `lane` of the `whole` columns in pieces. */
static inline piece add_row(__global const factor *row, __global const factor *x, ulong incx,
                            uint lane, uint whole)
{
    piece sum = 0;

    for (uint c = lane * WIDTH; c < whole; c += LOADS * APART)
        sum = add_pieces(sum, row, x, incx, c, whole);
    return sum;
}
#else
/* The products of LOADS pieces from column c on, those up to column `last`: all are loaded before
 * the first is used.  What is beyond is read at the last place, and counts for nothing: a branch
 * before each load would have them wait for one another. */
static inline piece add_pieces(piece sum, __global const factor *row, __global const factor *x,
                               ulong incx, uint c, uint last)
{
    piece from_row[LOADS], from_x[LOADS];

    /* Unrolled: only then do the arrays live in registers. */
#pragma unroll
    for (uint u = 0; u < LOADS; u++) {
        from_row[u] = load_piece(row, min(c + u * APART, last));
        from_x[u] = load_x(x, incx, min(c + u * APART, last));
    }
#pragma unroll
    for (uint u = 0; u < LOADS; u++)
        sum += c + u * APART <= last ? from_row[u] * from_x[u] : (piece)(0);
    return sum;
}

/* The products of lane `lane` of the `whole` columns in pieces: all lanes of a team go the same
 * way.
 */
static inline piece add_row(__global const factor *row, __global const factor *x, ulong incx,
                            uint lane, uint whole)
{
    piece sum = 0;

    for (uint base = 0; base < whole; base += LOADS * APART) {
        if (base + LOADS * APART <= whole) /* then nothing is compared */
            sum = add_pieces(sum, row, x, incx, base + lane * WIDTH, UINT_MAX);
        else
            sum = add_pieces(sum, row, x, incx, base + lane * WIDTH, whole - WIDTH);
    }
    return sum;
}
#endif

/* Of the sums of a row, where a team has several, so that rows start in different banks. */
#define PITCH (TEAM + 1)

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
matvec_split_vector(__global const factor *restrict a, __global const factor *restrict x,
                    __global result *restrict y, __global REAL *partial,
                    __global group_counter *counters, const matvec_call call)
{
#if ROWS > 1
    __local REAL sums[TILE_ROWS * PITCH];
    const uint rows = (uint)call.rows;
    const uint item = get_local_id(0), lane = item % TEAM;
    const uint part = (uint)get_group_id(0) % call.parts;
    const uint first = (uint)get_group_id(0) / call.parts * TILE_ROWS;
    const ulong begin = (ulong)part * call.chunk;
    const uint length = part_length(begin, call.columns, call.chunk);
    const uint mine = first + item / TEAM;
#if SHIFTED
    const uint start = min(mine, rows - 1) * (uint)call.lda % VEC;
    const uint before = (VEC - start) % VEC;    /* elements before the first vector */
    const uint whole = pieces_of(length) * VEC; /* columns in pieces */
#else
    const uint before = 0, whole = length / WIDTH * WIDTH;
#endif
    __global const factor *row[ROWS];
    piece sum[ROWS];

    a += of_product(call.offset_a, call.stride_a);
    x += of_product(call.offset_x, call.stride_x) + begin;
    y += of_product(call.offset_y, call.stride_y);
#pragma unroll
    for (uint r = 0; r < ROWS; r++) {
        /* Rows beyond the last one are the team's first again, and are not stored. */
        const uint i = mine + r * TEAMS < rows ? mine + r * TEAMS : min(mine, rows - 1);

        row[r] = a + a_index(call.lda, i, begin);
        sum[r] = 0;
    }
#if SHIFTED
    add_rows(sum, row, x, before, lane, whole / VEC);
#else
    add_rows(sum, row, x, lane, whole);
#endif
#pragma unroll
    for (uint r = 0; r < ROWS; r++) {
        REAL all = sum_of_piece(sum[r]);

        /* What is before the pieces and behind them. */
        for (uint e = lane; e < length - whole; e += TEAM) {
            const uint c = e < before ? e : e + whole;

            all += load_factor(row[r] + c) * load_factor(x + c);
        }
        sums[(item / TEAM + r * TEAMS) * PITCH + lane] = all;
    }
    /* Filled before read: below, we read what other lanes summed. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint t = item; t < min((uint)TILE_ROWS, rows - first); t += LOCAL) {
        REAL all = 0;

#pragma unroll 8
        for (uint e = 0; e < TEAM; e++)
            all += sums[t * PITCH + e];
        keep_sum(all, first + t, part, partial, y, call);
    }
    add_parts_if_last(partial, counters, first, TILE_ROWS, y, call, sums);
#else
    __local REAL sums[LOCAL];
    const uint rows = (uint)call.rows;
    const uint item = get_local_id(0), lane = item % TEAM;
    const uint part = (uint)get_group_id(0) % call.parts;
    const uint first = (uint)get_group_id(0) / call.parts * TILE_ROWS;
    const uint row = first + item / TEAM;
    const ulong begin = (ulong)part * call.chunk;
    /* A team beyond the last row sums nothing, and reaches the barriers. */
    const uint length = row < rows ? part_length(begin, call.columns, call.chunk) : 0;
#if SHIFTED
    const uint start = min(row, rows - 1) * (uint)call.lda % VEC;
    const uint before = (VEC - start) % VEC;    /* elements before the first vector */
    const uint whole = pieces_of(length) * VEC; /* columns in pieces */
    const uint ends = length - whole;
    REAL end_a[ENDS], end_x[ENDS];
#else
    const uint whole = length / WIDTH * WIDTH; /* columns in pieces */
#endif
    REAL sum;

    a += of_product(call.offset_a, call.stride_a) + a_index(call.lda, min(row, rows - 1), begin);
    x += of_product(call.offset_x, call.stride_x) + v_index(call.incx, begin);
    y += of_product(call.offset_y, call.stride_y);
#if SHIFTED
    /* First and at once, since they are on their way while pieces are added up. */
#pragma unroll
    for (uint u = 0; u < ENDS; u++) {
        const uint e = lane + u * TEAM, c = e >= ends ? 0 : e < before ? e : e + whole;

        end_a[u] = load_factor(a + c);
        end_x[u] = load_factor(x + c);
    }
    sum = ADD_UP(add_row(a, x, before, lane, whole / VEC));
#pragma unroll
    for (uint u = 0; u < ENDS; u++)
        sum += lane + u * TEAM < ends ? end_a[u] * end_x[u] : 0;
#else
    sum = sum_of_piece(add_row(a, x, call.incx, lane, whole));
    for (uint c = whole + lane; c < length; c += TEAM)
        sum += load_factor(a + c) * load_factor(x + v_index(call.incx, c));
#endif
    sum = tree_reduce(sums + item, 1, lane, TEAM, sum);
    if (lane == 0 && row < rows)
        keep_sum(sum, row, part, partial, y, call);
    add_parts_if_last(partial, counters, first, TILE_ROWS, y, call, sums);
#endif
}
