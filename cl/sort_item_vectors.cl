/* Bitonic sort by work-items that work alone, in explicit vectors, for CPUs.
 *
 * Idea: on a CPU a work-group runs on one core, and a barrier is a loop over its
 *     work-items.  So each work-item works alone, on as many keys as its core's
 *     cache holds, and a comparator is a min and a max of whole vectors: LANES
 *     of them at once, without a branch.
 *
 *     In a block each lane is a column of its own to begin with.  Sorting the
 *     columns moves no key across lanes:
 *
 *         vector 0   a0 b0 c0 d0        columns a, b, c, d are sorted by the
 *         vector 1   a1 b1 c1 d1        same comparators, at the same time
 *         vector 2   a2 b2 c2 d2
 *
 *     A column is then a run of `count` keys, and log2(LANES) stages merge the
 *     runs; only their strides of `count` and more reach across lanes.  A
 *     transpose on the way out puts the keys of a run side by side.
 *     In a merge of a block neighbours stand in one vector, so its last
 *     log2(LANES) strides reach across lanes: between two transposes they are
 *     strides of whole vectors again.
 *     The network is the flip form that sort_naive.cl explains.  As in
 *     sort_registers.cl a round holds several vectors in registers and does as
 *     many sub-stages as it can before it writes them back; a round whose blocks
 *     do not fit in the nearest cache (PART) goes over all of them, and from
 *     there on each part is finished before the next.
 *     Strides above a block: a work-item copies a piece of each of 2^levels rows
 *     into its buffer, does the `levels` sub-stages there, and copies them back.
 *     The copy is what makes it fast: rows at distances of a power of 2 share
 *     few lines of a cache, and pieces side by side all of them.
 * Work split: a work-item per block, alone in its work-group.
 * Parameters: LANES keys of a vector (sort_vectors.clh); HELD_SHIFT, 2^HELD_SHIFT
 *     vectors in registers; BLOCK keys of a block, at least LANES^2 and
 *     LANES << HELD_SHIFT; PART, bytes of what stays in the nearest cache; LEVELS
 *     and SPAN, of launches alone; KEY, DESCENDING, WITH_INDEX = 0 (sort_key.clh),
 *     WITH_ROWS (sort_row.clh).
 * Launch: 1-D, work-groups of 1.  sort_item_vectors_block with a work-item per
 *     started block of the n keys.  Then, for size = 2 * BLOCK, 4 * BLOCK, ...
 *     up to the first size >= n: sort_item_vectors_pass with its first strides
 *     and flip = 1, then with the next ones and flip = 0, until the least stride
 *     2^shift is BLOCK; each takes 2^shift * 2^levels / BLOCK work-items for
 *     every started block of 2^shift * 2^levels keys, and levels is at most LEVELS,
 *     2^levels BLOCK / LANES.  Then sort_item_vectors_merge, again with a work-item per
 *     block.  `last` is 1 in the last launch of a key: from the first up to it memory
 *     holds places in the order (sort_key.clh), and behind it keys.
 *     What lies apart may be launched apart, with offset_keys and n of its own: 2^s
 *     keys that the cache of all cores holds (SPAN, in KiB) are sorted before the
 *     next 2^s, and above that each stage does its strides of 2^s and more in passes
 *     over all keys, and the others again 2^s keys after 2^s keys.
 *     Of several rows (sort_row.clh) each is n keys, and each launch is all of them.
 * Local memory: BLOCK keys, a work-item's own: no barrier.
 * Limits: n <= 2^31.
 */
#include "sort_row.clh"
#include "sort_vectors.clh"

#ifndef HELD_SHIFT
#error "HELD_SHIFT: exponent of the number of vectors in registers"
#endif
#ifndef BLOCK
#error "BLOCK: keys of a block, a power of 2"
#endif
#ifndef PART
#error "PART: bytes of what stays in the nearest cache, a power of 2"
#endif

#define HELD         (1u << HELD_SHIFT)
#define PART_VECTORS (PART / (LANES * KEY_BITS / 8))

/* ---- vectors in registers ---------------------------------------------------------------- */

/* One sub-stage among `count` vectors: pairs r and r XOR mask, top being the
 * highest bit of mask.  Unrolled, like all loops over vectors in registers:
 * an array with constant indices lives there. */
INLINED void held_exchange(vector *x, const uint count, const uint top, const uint mask)
{
#pragma unroll
    for (uint pair = 0; pair < count / 2; pair++) {
        const uint r = 2 * pair - (pair & (top - 1));

        vector_exchange(&x[r], &x[r ^ mask]);
    }
}

/* The sub-stages of strides 2^(levels - 1) ... 1. */
INLINED void held_merge(vector *x, const uint count, const int levels)
{
#pragma unroll
    for (int bit = levels - 1; bit >= 0; bit--)
        held_exchange(x, count, 1u << bit, 1u << bit);
}

/* All stages that fit the held vectors. */
INLINED void held_sort(vector *x)
{
#pragma unroll
    for (int top = 0; top < HELD_SHIFT; top++) {
        held_exchange(x, HELD, 1u << top, (2u << top) - 1);
        held_merge(x, HELD, top);
    }
}

/* ---- vectors in the buffer --------------------------------------------------------------- */

/* `levels` sub-stages among `count` vectors, the least stride being 2^shift
 * vectors.  With flip they begin a stage: whoever holds column c of the lower
 * half of its block holds column stride - 1 - c of the upper half.  A function
 * for each number of levels: PoCL unrolls a loop that touches the buffer by a
 * bound that is written down, and not by an argument. */
#define ROUND(name, levels, flip)                                                                  \
    INLINED void name(__local vector *p, uint count, uint shift)                                   \
    {                                                                                              \
        const uint stride = 1u << shift;                                                           \
                                                                                                   \
        for (uint block = 0; block < count; block += stride << (levels)) {                         \
            __local vector *low = p + block, *high = low + (stride << ((levels)-1));               \
                                                                                                   \
            for (uint c = 0; c < stride; c++) {                                                    \
                const uint d = (flip) ? stride - 1 - c : c;                                        \
                vector x[1 << (levels)];                                                           \
                                                                                                   \
                _Pragma("unroll") for (uint r = 0; r < 1u << ((levels)-1); r++)                    \
                {                                                                                  \
                    x[r] = low[r * stride + c];                                                    \
                    x[r + (1u << ((levels)-1))] = high[r * stride + d];                            \
                }                                                                                  \
                held_exchange(x, 1u << (levels), 1u << ((levels)-1),                               \
                              (flip) ? (1u << (levels)) - 1 : 1u << ((levels)-1));                 \
                held_merge(x, 1u << (levels), (levels)-1);                                         \
                _Pragma("unroll") for (uint r = 0; r < 1u << ((levels)-1); r++)                    \
                {                                                                                  \
                    low[r * stride + c] = x[r];                                                    \
                    high[r * stride + d] = x[r + (1u << ((levels)-1))];                            \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

ROUND(strides_1, 1, 0)
ROUND(strides_2, 2, 0)
ROUND(flip_1, 1, 1)
ROUND(flip_2, 2, 1)
#if HELD_SHIFT > 2
ROUND(strides_3, 3, 0)
ROUND(flip_3, 3, 1)
#endif

/* How many of `left` sub-stages the next round does: as few rounds as can be,
 * and as even as can be, since a round of one is no cheaper than one of three. */
INLINED uint next_levels(uint left)
{
    const uint rounds = (left + HELD_SHIFT - 1) / HELD_SHIFT;

    return (left + rounds - 1) / rounds;
}

INLINED void strides_any(__local vector *p, uint count, uint shift, uint levels)
{
    if (levels == 1)
        strides_1(p, count, shift);
    else if (levels == 2)
        strides_2(p, count, shift);
#if HELD_SHIFT > 2
    else
        strides_3(p, count, shift);
#endif
}

INLINED void flip_any(__local vector *p, uint count, uint shift, uint levels)
{
    if (levels == 1)
        flip_1(p, count, shift);
    else if (levels == 2)
        flip_2(p, count, shift);
#if HELD_SHIFT > 2
    else
        flip_3(p, count, shift);
#endif
}

/* The sub-stages of strides 2^(top - 1) ... 2^bottom vectors. */
INLINED void descend(__local vector *p, uint count, uint top, uint bottom)
{
    while (top > bottom && 1u << top > PART_VECTORS) {
        const uint levels = next_levels(top - bottom);

        top -= levels;
        strides_any(p, count, top, levels);
    }
    if (top <= bottom)
        return;
    for (uint part = 0; part < count; part += 1u << top) {
        for (uint left = top; left > bottom;) {
            const uint levels = next_levels(left - bottom);

            left -= levels;
            strides_any(p + part, 1u << top, left, levels);
        }
    }
}

/* Likewise, but strides begin with the flip of blocks of 2^top vectors. */
INLINED void flip_and_descend(__local vector *p, uint count, uint top, uint bottom)
{
    const uint levels = next_levels(top - bottom);

    flip_any(p, count, top - levels, levels);
    descend(p, count, top - levels, bottom);
}

/* The stages that merge sorted columns of 2^from vectors into such of 2^to. */
INLINED void merge_columns(__local vector *p, uint count, uint from, uint to)
{
    for (uint top = from + 1; top <= to; top++)
        flip_and_descend(p, count, top, 0);
}

/* The strides of whole columns: x is a vector of the lower half of each pair of
 * runs, lanes without `bit`, and of the upper half of each, lanes with it; y
 * mirrors it. */
INLINED void flip_lanes(vector *x, vector *y, const uint bit)
{
    const vector mirrored = lanes_swapped(*y, 2 * bit - 1);
    const vector low = min(*x, mirrored), high = max(*x, mirrored);

    *x = lanes_joined(low, high, bit);
    *y = lanes_swapped(lanes_joined(high, low, bit), 2 * bit - 1);
}

INLINED void exchange_lanes(vector *x, const uint bit)
{
    const vector other = lanes_swapped(*x, bit);

    *x = lanes_joined(min(*x, other), max(*x, other), bit);
}

/* The strides of bit / 2 ... 1 columns. */
INLINED void merge_below(vector *x, const uint bit)
{
    if (bit > 4)
        exchange_lanes(x, 4);
    if (bit > 2)
        exchange_lanes(x, 2);
    if (bit > 1)
        exchange_lanes(x, 1);
}

/* The strides of whole columns in the stage that merges runs of `bit` lanes. */
INLINED void merge_lanes(__local vector *p, uint count, const uint bit)
{
    for (uint i = 0; i < count / 2; i++) {
        vector x = p[i], y = p[count - 1 - i];

        flip_lanes(&x, &y, bit);
        merge_below(&x, bit);
        merge_below(&y, bit);
        p[i] = x;
        p[count - 1 - i] = y;
    }
}

/* ---- blocks ------------------------------------------------------------------------------ */

/* 2^shift vectors hold what a block has of n keys; at least as many as are held. */
INLINED uint block_shift(uint start, uint n)
{
    const uint keys = min((uint)BLOCK, n - start);
    uint shift = max(HELD_SHIFT, LANE_SHIFT);

    while ((uint)LANES << shift < keys)
        shift++;
    return shift;
}

/* Whatever vectors hold, the last launch leaves keys. */
INLINED void leave(__global word *keys, uint i, uint n, vector v, uint last)
{
    words_store(keys, i, n, last ? from_orders(v) : v);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
sort_item_vectors_block(__global word *keys, ulong offset_keys, uint n, uint last, uint rows)
{
    __local vector p[BLOCK / LANES];
    const uint start = group_in_row(rows) * BLOCK, shift = block_shift(start, n);
    const uint count = 1u << shift, part = min(count, (uint)PART_VECTORS);
    uint part_shift = HELD_SHIFT;

    keys += offset_keys + row_start(rows, n);
    /* Which key stands in which lane is still open: vectors come as they are. */
    for (uint i = 0; i < count; i += HELD) {
        vector x[HELD];

#pragma unroll
        for (uint r = 0; r < HELD; r++)
            x[r] = to_orders(words_load(keys, start + (i + r) * LANES, n, from_order(ALL_BITS)));
        held_sort(x);
#pragma unroll
        for (uint r = 0; r < HELD; r++)
            p[i + r] = x[r];
    }
    while (1u << part_shift < part)
        part_shift++;
    for (uint i = 0; i < count; i += part)
        merge_columns(p + i, part, HELD_SHIFT, part_shift);
    merge_columns(p, count, part_shift, shift);
    for (uint lane = 0; lane < LANE_SHIFT; lane++) {
        if (lane == 0)
            merge_lanes(p, count, 1);
        else if (lane == 1)
            merge_lanes(p, count, 2);
#if LANES > 4
        else if (lane == 2)
            merge_lanes(p, count, 4);
#endif
#if LANES > 8
        else
            merge_lanes(p, count, 8);
#endif
        descend(p, count, shift, lane < LANE_SHIFT - 1 ? 0 : LANE_SHIFT);
    }
    for (uint i = 0; i < count; i += LANES) {
        vector x[LANES];

#pragma unroll
        for (uint r = 0; r < LANES; r++)
            x[r] = p[i + r];
        held_merge(x, LANES, LANE_SHIFT);
        vectors_transpose(x);
#pragma unroll
        for (uint r = 0; r < LANES; r++)
            leave(keys, start + r * count + i, n, x[r], last);
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
sort_item_vectors_merge(__global word *keys, ulong offset_keys, uint n, uint last, uint rows)
{
    __local vector p[BLOCK / LANES];
    const uint start = group_in_row(rows) * BLOCK, shift = block_shift(start, n);
    const uint count = 1u << shift;

    keys += offset_keys + row_start(rows, n);
    for (uint i = 0; i < count; i++)
        p[i] = words_load(keys, start + i * LANES, n, ALL_BITS);
    descend(p, count, shift, LANE_SHIFT);
    for (uint i = 0; i < count; i += LANES) {
        vector x[LANES];

#pragma unroll
        for (uint r = 0; r < LANES; r++)
            x[r] = p[i + r];
        held_merge(x, LANES, LANE_SHIFT);
        vectors_transpose(x);
        held_merge(x, LANES, LANE_SHIFT);
        vectors_transpose(x);
#pragma unroll
        for (uint r = 0; r < LANES; r++)
            leave(keys, start + (i + r) * LANES, n, x[r], last);
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
sort_item_vectors_pass(__global word *keys, ulong offset_keys, uint n, uint shift, uint levels,
                       uint flip, uint rows)
{
    __local vector p[BLOCK / LANES];
    const uint width = BLOCK >> levels; /* keys of a piece */
    const uint pieces = (1u << shift) / width, item = group_in_row(rows);
    const uint start = (item / pieces) << (shift + levels), column = item % pieces * width;
    const uint mirror = (1u << shift) - width - column;
    uint top = 0, bottom = 0;

    keys += offset_keys + row_start(rows, n);
    while (LANES << top < BLOCK)
        top++;
    bottom = top - levels;
    /* With flip the pieces of the upper half mirror those of the lower.  So do
     * their vectors, end to end of the buffer; what is left is to turn lanes. */
    for (uint r = 0; r < 1u << levels; r++) {
        const bool turned = flip && r >= 1u << levels >> 1;
        const uint from = start + (r << shift) + (turned ? mirror : column);

        for (uint k = 0; k < width / LANES; k++) {
            const vector v = words_load(keys, from + k * LANES, n, ALL_BITS);

            p[(r << bottom) + k] = turned ? lanes_swapped(v, LANES - 1) : v;
        }
    }
    if (flip)
        flip_and_descend(p, BLOCK / LANES, top, bottom);
    else
        descend(p, BLOCK / LANES, top, bottom);
    for (uint r = 0; r < 1u << levels; r++) {
        const bool turned = flip && r >= 1u << levels >> 1;
        const uint to = start + (r << shift) + (turned ? mirror : column);

        for (uint k = 0; k < width / LANES; k++) {
            const vector v = p[(r << bottom) + k];

            words_store(keys, to + k * LANES, n, turned ? lanes_swapped(v, LANES - 1) : v);
        }
    }
}
