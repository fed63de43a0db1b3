/* Matrix-vector product, A transposed: vectors of sums down the columns of A, slice by slice.
 *
 * Idea: neighbours in memory have sums of their own.  A work-item keeps those of a vector of
 *     columns of A, so that a load is 128 bits wide and nothing is added across a vector; and
 *     LOADS rows of A are in flight at once; with two STAGES the next ones arrive while these
 *     are added up.
 * Work split: of `tiles` tiles of WIDTH columns of A, work-group g takes part g / tiles
 *     of tile g % tiles: groups that run together read the same rows, one beside another.
 *     Its work-items are SLICES = LOCAL / ACROSS slices of ACROSS: lane l keeps columns l * VEC
 *     to l * VEC + VEC - 1, slice s reads the rows s, s + SLICES, ... of the part.  A tree
 *     adds the slices up, and the last work-group of a tile or a second pass the parts
 *     (matvec_parts.clh).
 *     Where rows of A do not start at vectors, those of a slice all start at the same place of
 *     one, and its vectors lie so many columns to the left.  The lanes of a tile then have one
 *     vector more than it has columns for, and sums are added up by columns.
 * Parameters: ACROSS, a power of 2 up to LOCAL; STARTS, a power of 2 up to VEC and SLICES: rows of
 *     A from which on they start at the same places of vectors again, 1 where vectors are not
 *     shifted; LOADS; STAGES, 1 or 2; CHECKED, 1 where each row
 *     is asked about before it is loaded, for a large A whose rows are aligned; PAST_L1
 *     (matvec_once.clh); VEC, 128 bits, and ALIGNED (matvec_vectors.clh); LOCAL, work-items in a
 *     work-group: GROUP, or less where the device takes fewer, a power of 2; REAL, REAL_BITS
 *     (real.clh); TRANS = 1, STRIDED, FACTOR, RESULT (matvec.clh); LAST_ADDS (last_group.clh).
 *     PER_UNIT only decides `parts` and `chunk` on the host.
 * Launch: for each product parts * ceil(rows / WIDTH) work-groups of LOCAL.  Then,
 *     where there are several parts and LAST_ADDS is 0, matvec_add_parts.
 * Workspace: rows * parts elements where there are several parts.
 * Local memory: LOCAL * VEC elements.
 * Limits: rows and chunk below 2^31; columns in 64 bits; A is transposed; with STARTS > 1 the first
 *     row of A starts at a vector, and chunk is a multiple of STARTS where there are several parts.
 */
#ifndef ACROSS
#error "ACROSS: work-items side by side along a row of A, a power of two up to LOCAL"
#endif

#include "matvec/matvec_once.clh"
#include "matvec/matvec_parts.clh"

#ifndef LOADS
#error "LOADS: rows of A that a work-item loads at once"
#endif
#if STAGES != 1 && STAGES != 2
#error "STAGES: 2 to load rows of A while those before are added up, 1 after that"
#endif
#if !defined(CHECKED) || (CHECKED && !ALIGNED)
#error "CHECKED: 1 where rows of an aligned A are asked about one by one, else 0"
#endif
#if !TRANS
#error "TRANS: a row of A that is not transposed has one sum, not many"
#endif

#define SLICES  (LOCAL / ACROSS)
#define AT_ONCE (LOADS * SLICES) /* rows of A */

#if !defined(STARTS) || STARTS > VEC || STARTS > 1 && (!ALIGNED || STARTS > SLICES)
#error "STARTS: rows of A that start at different places of vectors, up to VEC and SLICES"
#endif
#define SHIFTED (STARTS > 1)
#define WIDTH   ((ACROSS - SHIFTED) * VEC) /* columns of A in a tile */

/* Elements that a vector has at least where rows of A are read by vectors: aligned ones do not reach
 * beyond the edge. */
#define LEAST_COUNT (ALIGNED && !SHIFTED ? VEC : 1)

/* So many elements before the tile's columns the vectors of a slice begin. */
static inline uint shift_of(uint slice, ulong lda)
{
    return SHIFTED ? slice * (uint)lda % VEC : 0;
}

/* A work-item's vector is VEC neighbours where those are one load.  Else each would be VEC loads,
 * of which neighbours' are VEC elements apart: then a work-item takes every ACROSS-th column of the
 * tile, so that loads of neighbours are neighbours. */
#if ALIGNED
#define LANE_ROW(lane) ((lane)*VEC)
#else
#define LANE_ROW(lane) (lane)
#endif

/* Those of the elements that are below `left`, counted from the work-item's first. */
static inline uint elements_of(uint left)
{
    return ALIGNED ? min((uint)VEC, left) : min((uint)VEC, (left + ACROSS - 1) / ACROSS);
}

/* Where the sum of row i of the tile lies among the vectors of ACROSS work-items. */
static inline uint sum_place(uint i)
{
    return ALIGNED ? i : i % ACROSS * VEC + i / ACROSS;
}

/* The first `count` elements of a work-item's vector, at least one.  Others have sums that nobody
 * reads: where A is aligned they are zeros, and nothing else is read; else they are the last one
 * again, since a branch before each load would have them wait for one another. */
static inline VECTOR some_elements(__global const factor *from, uint count)
{
#if ALIGNED
    return edge_vector(from, count);
#else
    REAL piece[VEC];

#pragma unroll
    for (uint i = 0; i < VEC; i++)
        piece[i] = load_factor(from + min(i, count - 1) * ACROSS);
    return REAL_JOIN_EXPANDED(vload, VEC)(0, piece);
#endif
}

/* Whether elements stay as they are stored until they are multiplied: what turns 16 bits into
 * float32 waits for each load behind a branch, and float16's takes registers. */
#define AS_STORED (ALIGNED && (CHECKED || FACTOR == F16 || PAST_L1 == 2))

#if AS_STORED
typedef vector_bits piece_bits;
typedef factor value_bits;
#define PIECE_AT(from)  (*(__global const vector_bits *)(from))
#define VALUE_AT(from)  (*(from))
#define PIECE_OF(piece) vector_of(piece)
#define VALUE_OF(value) element_of(value)
#else
typedef VECTOR piece_bits;
typedef REAL value_bits;
#define PIECE_AT(from)  load_vector(from)
#define VALUE_AT(from)  load_factor(from)
#define PIECE_OF(piece) (piece)
#define VALUE_OF(value) (value)
#endif

/* Vectors of LOADS rows of A, SLICES apart, and the elements of x that they are multiplied by. */
typedef struct stage {
    piece_bits piece[LOADS];
    value_bits value[LOADS];
} stage;

#if CHECKED
/* Those from `a` and `x` on, which belong to column c: zeros from `length` on, and of an aligned A
 * a row is asked about before it is loaded. */
static inline stage load_stage(__global const factor *a, __global const factor *x, ulong lda,
                               ulong incx, uint c, uint length, uint count)
{
    stage s;

    /* Unrolled: only then do the arrays live in registers. */
#pragma unroll
    for (uint u = 0; u < LOADS; u++) {
        __global const factor *from = a + u * SLICES * lda, *from_x = x + v_index(incx, u * SLICES);
        const bool inside = c + u * SLICES < length;

#if PAST_L1 == 2
        s.piece[u] = load_once(from, inside);
        s.value[u] = inside ? VALUE_AT(from_x) : 0;
#else
        s.piece[u] = 0;
        s.value[u] = 0;
        /* One branch for both loads. */
        if (inside) {
            s.piece[u] = PIECE_AT(from);
            s.value[u] = VALUE_AT(from_x);
        }
#endif
    }
    return s;
}
#else
/* Row u of a stage, of those up to row `last`, else zeros; `count` elements of it where A is not
 * aligned. */
static inline void load_row(stage *s, uint u, __global const factor *a, __global const factor *x,
                            ulong lda, ulong incx, uint last, uint count)
{
    const bool inside = u <= last;
    const ulong row = min(u, last) * SLICES;

    /* In any case a row is read, so that no branch stands between loads. */
#if PAST_L1 == 2
    s->piece[u] = load_once(a + row * lda, inside);
#else
#if ALIGNED
    s->piece[u] = PIECE_AT(a + row * lda);
#else
    s->piece[u] = some_elements(a + row * lda, count);
#endif
    s->piece[u] = inside ? s->piece[u] : (piece_bits)(0);
#endif
    s->value[u] = VALUE_AT(x + v_index(incx, row));
    s->value[u] = inside ? s->value[u] : 0;
}

/* Those from `a` and `x` on, which belong to column c: zeros from `length` on. */
static inline stage load_stage(__global const factor *a, __global const factor *x, ulong lda,
                               ulong incx, uint c, uint length, uint count)
{
    stage s;

    /* Unrolled: only then do the arrays live in registers. */
    if (c + (LOADS - 1) * SLICES < length) { /* then nothing is compared */
#pragma unroll
        for (uint u = 0; u < LOADS; u++)
            load_row(&s, u, a, x, lda, incx, LOADS, count);
    } else if (c < length) {
#pragma unroll
        for (uint u = 0; u < LOADS; u++)
            load_row(&s, u, a, x, lda, incx, (length - 1 - c) / SLICES, count);
    } else {
#pragma unroll
        for (uint u = 0; u < LOADS; u++) {
            s.piece[u] = 0;
            s.value[u] = 0;
        }
    }
    return s;
}
#endif

static inline VECTOR add_stage(VECTOR sum, const stage *s)
{
#pragma unroll
    for (uint u = 0; u < LOADS; u++)
        sum += PIECE_OF(s->piece[u]) * VALUE_OF(s->value[u]);
    return sum;
}

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
matvec_column_slices(__global const factor *restrict a, __global const factor *restrict x,
                     __global result *restrict y, __global REAL *partial,
                     __global group_counter *counters, const matvec_call call)
{
    __local VECTOR sums[LOCAL];
    const uint rows = (uint)call.rows;
    const uint item = get_local_id(0);
    const uint slice = item / ACROSS;
    const uint tiles = (uint)get_num_groups(0) / call.parts;
    const uint part = (uint)get_group_id(0) / tiles;
    const uint first = (uint)get_group_id(0) % tiles * WIDTH;
    const uint shift = shift_of(slice, call.lda);
    const uint row = first + LANE_ROW(item % ACROSS); /* of op(A), `shift` behind the lane's first */
    /* Rows of op(A) of this work-item: fewer than VEC at the edge, none beyond. */
    const uint count = row < min(first + WIDTH, rows) + shift ? elements_of(rows + shift - row) : 0;
    const ulong begin = (ulong)part * call.chunk;
    const uint length = part_length(begin, call.columns, call.chunk);
    uint end = length;
    VECTOR sum = 0;
    uint c = slice;

    a += of_product(call.offset_a, call.stride_a) + a_index(call.lda, row, begin + slice) - shift;
    x += of_product(call.offset_x, call.stride_x) + v_index(call.incx, begin + slice);
    y += of_product(call.offset_y, call.stride_y);
#if SHIFTED
    /* What is behind a row of A is the next one, but for the last row. */
    if (count < VEC && begin + length == call.columns && length > 0 &&
        (length - 1) % SLICES == slice) {
        end = length - 1;
        sum = edge_vector(a + (end - slice) * call.lda, count) *
              load_factor(x + v_index(call.incx, end - slice));
    }
#endif
    if (count >= LEAST_COUNT) {
#if STAGES == 2
        stage now = load_stage(a, x, call.lda, call.incx, c, end, count);

        for (; c < end; c += AT_ONCE) {
            a += AT_ONCE * call.lda;
            x += v_index(call.incx, AT_ONCE);
            /* On its way while the one before is added up. */
            const stage next = load_stage(a, x, call.lda, call.incx, c + AT_ONCE, end, count);

            sum = add_stage(sum, &now);
            now = next;
        }
#else
        for (; c < end; c += AT_ONCE) {
            const stage now = load_stage(a, x, call.lda, call.incx, c, end, count);

            sum = add_stage(sum, &now);
            a += AT_ONCE * call.lda;
            x += v_index(call.incx, AT_ONCE);
        }
#endif
    }
#if !SHIFTED
    /* Beyond the edge there is nothing to read; of an aligned A some_elements reads none there. */
    for (; (ALIGNED || count > 0) && c < length; c += SLICES) {
        sum += some_elements(a, count) * load_factor(x);
        a += SLICES * call.lda;
        x += v_index(call.incx, SLICES);
    }
#endif
    sums[item] = sum;
    /* Four at a time: half as many barriers as by pairs.  Slices that are STARTS apart have the same
     * columns in a vector. */
    for (uint left = SLICES; left > STARTS;) {
        const uint each = left / STARTS < 4 ? left / STARTS : 4;

        left /= each;
        /* Filled before read: other slices wrote their sums in the round before. */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (slice < left && each == 4)
            sums[item] = (sums[item] + sums[item + 2 * left * ACROSS]) +
                         (sums[item + left * ACROSS] + sums[item + 3 * left * ACROSS]);
        else if (slice < left)
            sums[item] += sums[item + left * ACROSS];
    }
    /* Filled before read: what others added up, so that neighbours store neighbouring sums. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < WIDTH && first + i < rows; i += LOCAL) {
        REAL of_column = 0;

#pragma unroll
        for (uint s = 0; s < STARTS; s++)
            of_column += ((__local const REAL *)sums)[s * ACROSS * VEC + sum_place(i) +
                                                      shift_of(s, call.lda)];
        keep_sum(of_column, first + i, part, partial, y, call);
    }
    add_parts_if_last(partial, counters, first, WIDTH, y, call, (__local REAL *)sums);
}
