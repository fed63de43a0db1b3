/* Sort by merges of runs through a bitonic network in registers, for CPUs.
 *
 * Idea: a bitonic sort takes every key through log2(n) sub-stages a stage.  The
 *     network of two vectors merges runs of any length: two sorted vectors,
 *     one of them turned round, are a bitonic sequence; its lesser half is what
 *     comes next, and its greater half meets the next vector of that run whose
 *     next key is the lesser one.
 *
 *         run a   3 4 7 8 | 9 ...      high  3 4 7 8     low   1 2 3 4  -> out
 *         run b   1 2 5 6 | 8 ...      next  1 2 5 6     high  5 6 7 8
 *
 *     So a stage is one pass with 1 + log2(LANES) comparators a key, however
 *     long its runs, and without a branch that depends on the keys.  Chhugani et
 *     al., "Efficient implementation of sorting on multi-core SIMD CPU
 *     architecture", VLDB 2008.
 *     Any part of a merge stands alone: the keys before output position o are
 *     the first i of one run and the first o - i of the other, and a binary
 *     search finds i (merge path; Odeh et al., IPDPS workshops 2012).  So
 *     work-items share long runs out, and each merges STREAMS parts side by side:
 *     a comparator waits for the one before it, and meanwhile the core does those
 *     of the other streams.
 * Work split: a work-item alone in its work-group sorts a block
 *     (sort_vector_block.clh), or merges `piece` keys of output.
 * Parameters: LANES, HELD_SHIFT, BLOCK, PART (sort_vector_block.clh); STREAMS;
 *     PIECE and SPAN, of launches alone; KEY, DESCENDING, WITH_INDEX
 *     (sort_key.clh), VALUE_BYTES (sort_values.clh), WITH_ROWS = 0.
 * Launch: 1-D, work-groups of 1.  sort_item_merges_block with a work-item per
 *     started block of the n keys.  Then, for run = BLOCK, 2 * BLOCK, ... while
 *     run < n: sort_item_merges_merge with a work-item per started piece, a power
 *     of 2 of at least STREAMS * LANES.  Each launch reads what the one before it
 *     wrote, lanes (sort_vectors.clh), and writes elsewhere.  Without an index keys
 *     and workspace take turns so that the last one writes keys; with one, two halves
 *     of the workspace do.  `last` is 1 in the last launch of a key, which leaves
 *     keys.  With VALUE_BYTES those of sort_values.clh go along.
 *     What lies apart may be launched apart, with offsets and n of its own: 2^s
 *     keys that the caches hold (SPAN, in KiB) before the next 2^s.
 * Local memory: BLOCK keys, a work-item's own: no barrier.
 * Limits: n <= 2^31.
 */
#define PACKED WITH_INDEX

#include "sort_values.clh"
#include "sort_vector_block.clh"

#ifndef STREAMS
#error "STREAMS: merges side by side in a work-item"
#endif
/* Vectors that are read with a look at the ends before the next look at what is left. */
#define STEPS_ANY 8

/* Keys and their index start at offsets of their own; key 0 is the one at `position` of all. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
sort_item_merges_block(__global word *keys, __global ulong *index, __global sortable *lanes,
                       ulong offset_keys, ulong offset_index, ulong offset_lanes, uint n,
                       uint position, uint last)
{
    __local vector p[BLOCK / LANES];
    const result to = {lanes + offset_lanes, keys + offset_keys, index + offset_index, last};

    block_sort(p, to.keys, position, &to, get_group_id(0) * BLOCK, n);
}

/* A part of a merge: what has been read and not been written, what is left of both runs, and their
 * next keys. */
typedef struct stream {
    vector high;
    uint a, a_end, b, b_end;
    sortable head_a, head_b;
} stream;

/* All bits where run b comes next.  No branch depends on it: that would be taken at random. */
INLINED uint b_is_next(const stream *s)
{
    return s->head_b < s->head_a ? ~0u : 0u;
}

INLINED void advance(stream *s, uint mask)
{
    s->a += LANES & ~mask;
    s->b += LANES & mask;
}

/* The next vector of the run with the lesser head, where both have more than that left. */
INLINED vector read_whole(__global const sortable *from, stream *s)
{
    const uint mask = b_is_next(s);
    const vector v = VECTOR_LOAD(0, from + (s->a ^ ((s->a ^ s->b) & mask)));

    advance(s, mask);
    s->head_a = from[s->a];
    s->head_b = from[s->b];
    return v;
}

/* A run without a key left has a head that no key comes after. */
INLINED sortable head_of(__global const sortable *from, uint next, uint end)
{
    return next < end ? from[next] : SORTABLE_LAST;
}

/* The next vector of the run with the lesser head, whatever is left. */
INLINED vector read_any(__global const sortable *from, stream *s)
{
    const uint mask = b_is_next(s);
    const uint next = s->a ^ ((s->a ^ s->b) & mask);
    const uint end = s->a_end ^ ((s->a_end ^ s->b_end) & mask);

    advance(s, mask);
    s->head_a = head_of(from, s->a, s->a_end);
    s->head_b = head_of(from, s->b, s->b_end);
    return lanes_load(from, next, end);
}

/* How many vectors can be read before a run has less than one and a key left. */
INLINED uint whole_vectors(const stream *s)
{
    const uint a = s->a < s->a_end ? (s->a_end - s->a - 1) / LANES : 0;
    const uint b = s->b < s->b_end ? (s->b_end - s->b - 1) / LANES : 0;

    return min(a, b);
}

/* The lesser half of two sorted vectors, and the greater one, each sorted: a bitonic merge of both
 * together.  Position p of it has log2(LANES) + 1 bits.  A sub-stage compares positions that differ
 * in one bit: the bit that tells both vectors apart, while the others are the lane's.  Trading lanes
 * makes the next lower bit the one that does, and leaves the one above it to the lane.  In the end
 * position p is lane p / 2 of vector p % 2. */
INLINED void merge_vectors(vector *low, vector *high)
{
    *high = lanes_swapped(*high, LANES - 1);
    vector_exchange(low, high);
#pragma unroll
    for (uint shift = LANE_SHIFT; shift-- > 0;) {
        lanes_trade(low, high, 1u << shift);
        vector_exchange(low, high);
    }
    lanes_zip(low, high);
}

/* How many of the first `out` keys of a merge come from the run at `a`: the least i such that key i
 * of it comes no earlier than key out - 1 - i of the run at `b`. */
INLINED uint merge_path(__global const sortable *from, uint a, uint count_a, uint b, uint count_b,
                        uint out)
{
    uint low = out > count_b ? out - count_b : 0, high = min(out, count_a);

    while (low < high) {
        const uint middle = low + (high - low) / 2;

        if (from[a + middle] < from[b + out - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The part of the merge of runs of `length` that writes keys `begin` up to `end`. */
INLINED void stream_open(__global const sortable *from, uint length, uint n, uint begin, uint end,
                         stream *s)
{
    const uint a = begin & ~(2 * length - 1), b = min(a + length, n);
    const uint count_a = b - a, count_b = min(n - b, length);
    const uint a_begin = merge_path(from, a, count_a, b, count_b, begin - a);
    const uint a_end = merge_path(from, a, count_a, b, count_b, end - a);

    s->a = a + a_begin;
    s->a_end = a + a_end;
    s->b = b + (begin - a - a_begin);
    s->b_end = b + (end - a - a_end);
    s->head_a = head_of(from, s->a, s->a_end);
    s->head_b = head_of(from, s->b, s->b_end);
    s->high = read_any(from, s);
}

/* Keys `begin` up to `end`, which runs of `length` merge to, in parts of `part` at most. */
INLINED void merge_parts(__global const sortable *from, const result *to, uint n, uint length,
                         uint begin, uint end, uint part)
{
    for (uint at = begin; at < end; at += part) {
        const uint stop = min(at + part, end);
        stream s;

        stream_open(from, length, n, at, stop, &s);
        for (uint i = at; i < stop; i += LANES) {
            vector low = read_any(from, &s);

            merge_vectors(&low, &s.high);
            leave(to, i, stop, low);
        }
    }
}

/* The next `steps` vectors of each stream; `whole`: they are read without a look at the ends. */
INLINED void merge_steps(__global const sortable *from, const result *to, uint at, stream *s, uint part,
                         uint steps, const bool whole)
{
    for (uint i = 0; i < steps * LANES; i += LANES) {
#pragma unroll
        for (uint k = 0; k < STREAMS; k++) {
            vector low = whole ? read_whole(from, &s[k]) : read_any(from, &s[k]);

            merge_vectors(&low, &s[k].high);
            leave_whole(to, at + k * part + i, low);
        }
    }
}

/* The same for STREAMS whole parts. */
INLINED void merge_side_by_side(__global const sortable *from, const result *to, uint n, uint length,
                                uint begin, uint part)
{
    stream s[STREAMS];
    uint steps;

#pragma unroll
    for (uint k = 0; k < STREAMS; k++)
        stream_open(from, length, n, begin + k * part, begin + (k + 1) * part, &s[k]);
    for (uint left = part / LANES; left > 0; left -= steps) {
        uint whole = left;

#pragma unroll
        for (uint k = 0; k < STREAMS; k++)
            whole = min(whole, whole_vectors(&s[k]));
        steps = whole ? whole : min(left, (uint)STEPS_ANY);
        if (whole)
            merge_steps(from, to, begin + part - left * LANES, s, part, steps, true);
        else
            merge_steps(from, to, begin + part - left * LANES, s, part, steps, false);
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
sort_item_merges_merge(__global word *keys, __global ulong *index, __global const sortable *from,
                       __global sortable *lanes, ulong offset_keys, ulong offset_index,
                       ulong offset_from, ulong offset_lanes, uint n, uint length, uint piece,
                       uint last)
{
    const uint start = get_group_id(0) * piece, stop = min(start + piece, n);
    const uint part = min(piece / STREAMS, 2 * length), step = part * STREAMS;
    const result to = {lanes + offset_lanes, keys + offset_keys, index + offset_index, last};
    uint begin = start;

    from += offset_from;
    for (; stop - begin >= step; begin += step)
        merge_side_by_side(from, &to, n, length, begin, part);
    merge_parts(from, &to, n, length, begin, stop, part);
}
