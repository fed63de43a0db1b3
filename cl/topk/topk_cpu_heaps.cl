/* The first keys of the sorted order alone, for CPUs: a heap for each work-item.
 *
 * Idea: the first `keep` keys of a whole are among the first `keep` of its parts.
 *     Those of a part stand in a heap, whose root is the last of them.  A key that
 *     comes before the root takes its place; the others are done with, many at a
 *     time: the least of a few vectors is compared with the root.  Of keys in
 *     random order the i-th comes before the root with probability keep / i, so
 *     nearly all the time goes into reading the keys once.
 *     Keys in the opposite order would all come before the root.  So a part is read
 *     in strips that lie scattered over it: after a few of them the root is close
 *     to where it stays, unless the keys fall in just that sequence of strips, where
 *     all of them pass through the heap.
 *     What work-items have left side by side, the next launch takes as its keys.
 * Work split: a work-item alone in its work-group owns a chunk of one row.
 * Parameters: HEAP, keys that are kept at most; LANES (sort_vectors.clh); VECTORS
 *     that are compared at once; STRIP, bytes of a strip at most; CHUNK, of launches
 *     alone; KEY, DESCENDING, WITH_INDEX (sort_key.clh), WITH_ROWS (sort_row.clh),
 *     VALUE_BYTES (sort_values.clh).
 * Launch: 1-D, work-groups of 1, one per started chunk of each row.  The first
 *     launch reads keys, the last one, of a chunk for each row, leaves them; a
 *     launch reads and writes apart, unless it is both.  With VALUE_BYTES then
 *     those of topk_values.clh.
 * Local memory: HEAP keys, and with an index as many uint: a work-item's own, no
 *     barrier.
 * Limits: keep <= HEAP; at most 2^31 keys in a row.
 */
#define PACKED 0 /* vectors hold keys alone, whatever the heap has */

#include "sort/sort_row.clh"
#include "topk/topk_values.clh"
#include "sort/sort_vectors.clh"

#ifndef HEAP
#error "HEAP: keys that are kept at most"
#endif
#ifndef VECTORS
#error "VECTORS: vectors that are compared at once"
#endif
#ifndef STRIP
#error "STRIP: bytes of a strip"
#endif

#define BATCH      (LANES * VECTORS)
#define STRIP_KEYS (STRIP / (KEY_BITS / 8))
/* A chunk has so many strips at least, unless they would be shorter than two batches. */
#define STRIPS_MIN 256
#define STRIP_MIN  min(2 * BATCH, STRIP_KEYS)

/* ---- the heap ---------------------------------------------------------------------------- */

/* Keys of which none comes after that at half its place; places count from 1. */
typedef struct heap {
    __local word *order;
    __local uint *index;
    uint count, keep;
} heap;

static inline element heap_at(const heap *h, uint place)
{
    element e;

    e.order = h->order[place - 1];
    e.index = WITH_INDEX ? h->index[place - 1] : 0;
    return e;
}

static inline void heap_put(const heap *h, uint place, element e)
{
    h->order[place - 1] = e.order;
    if (WITH_INDEX)
        h->index[place - 1] = (uint)e.index;
}

/* Put e at `place` or below, among the first `count`: later keys come up. */
static inline void heap_sink(const heap *h, uint place, uint count, element e)
{
    for (uint child = 2 * place; child <= count; child = 2 * place) {
        if (child < count && out_of_order(heap_at(h, child + 1), heap_at(h, child)))
            child++;
        if (!out_of_order(heap_at(h, child), e))
            break;
        heap_put(h, place, heap_at(h, child));
        place = child;
    }
    heap_put(h, place, e);
}

/* Keys in any order become a heap. */
static inline void heap_order(const heap *h)
{
    for (uint place = h->count / 2; place > 0; place--)
        heap_sink(h, place, h->count, heap_at(h, place));
}

/* The keys of a heap in the wanted order: the root, which is the last, goes to the end. */
static inline void heap_sort(const heap *h)
{
    for (uint count = h->count; count > 1; count--) {
        const element e = heap_at(h, count);

        heap_put(h, count, heap_at(h, 1));
        heap_sink(h, 1, count - 1, e);
    }
}

/* Keep e if it is among the first so far. */
static inline void consider(heap *h, element e)
{
    if (h->count == h->keep) {
        if (out_of_order(heap_at(h, 1), e))
            heap_sink(h, 1, h->count, e);
        return;
    }
    heap_put(h, ++h->count, e);
    if (h->count == h->keep)
        heap_order(h);
}

/* ---- a chunk ----------------------------------------------------------------------------- */

/* Whether a key of a vector may be one to keep.  The first one in the wanted order, wherever it
 * stands, has an index of `at` or more. */
INLINED bool one_may_stay(const heap *h, vector orders, uint at)
{
    element first;

    /* The least lane by halves, below: all() of PoCL takes several times as long. */
    if (h->count < h->keep)
        return true;
#pragma unroll
    for (uint shift = LANE_SHIFT; shift-- > 0;)
        orders = min(orders, lanes_swapped(orders, 1u << shift));
    first.order = orders.s0;
    first.index = at;
    return out_of_order(heap_at(h, 1), first);
}

static inline void consider_keys(heap *h, __global const word *keys, uint at, uint end)
{
    for (uint i = at; i < end; i++) {
        element e;

        e.order = to_order(keys[i]);
        e.index = i;
        consider(h, e);
    }
}

static inline void consider_strip(heap *h, __global const word *keys, uint at, uint end)
{
    for (; end - at >= BATCH; at += BATCH) {
        vector first = to_orders(VECTOR_LOAD(0, keys + at));

#pragma unroll
        for (uint v = 1; v < VECTORS; v++)
            first = min(first, to_orders(VECTOR_LOAD(v, keys + at)));
        if (!one_may_stay(h, first, at))
            continue;
        for (uint i = at; i < at + BATCH; i += LANES)
            if (one_may_stay(h, to_orders(VECTOR_LOAD(0, keys + i)), i))
                consider_keys(h, keys, i, i + LANES);
    }
    consider_keys(h, keys, at, end);
}

/* Strips scattered: steps of the golden section of `around`, a power of 2, come to each number
 * below it once, and at any time lie almost evenly (Knuth, The Art of Computer Programming 3,
 * section 6.4). */
static inline void consider_chunk(heap *h, __global const word *keys, uint at, uint end)
{
    const uint length = clamp((end - at) / STRIPS_MIN / BATCH * BATCH, (uint)STRIP_MIN,
                              (uint)STRIP_KEYS);
    const uint strips = (end - at + length - 1) / length;
    uint around = 1, step, strip = 0;

    while (around < strips)
        around *= 2;
    step = (uint)(around * 0x9E3779B9ul >> 32) | 1;
    for (uint i = 0; i < around; i++) {
        const uint from = at + strip * length;

        if (strip < strips)
            consider_strip(h, keys, from, min(from + length, end));
        strip = (strip + step) & (around - 1);
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
topk_cpu_heaps_chunk(__global word *keys, __global ulong *index, __global element *stored,
                     const topk_call call)
{
    __local word orders[HEAP];
    __local uint indices[WITH_INDEX ? HEAP : 1];
    const uint n = call.n, keep = call.keep, chunk = call.chunk;
    const uint group = group_in_row(call.rows), at = group * chunk, end = at + min(n - at, chunk);
    const size_t row = row_start(call.rows, 1);
    heap h = {orders, indices, 0, min(end - at, keep)};

    keys += call.offset_keys + row * call.length;
    index += call.offset_index + row * call.index_length;
    if (call.first)
        consider_chunk(&h, keys, at, end);
    else
        for (uint i = at; i < end; i++)
            consider(&h, stored[call.from + row * n + i]);
    if (!call.last) {
        /* Every chunk before the row's last one leaves `keep`. */
        const uint chunks = (n - 1) / chunk, rest = n - chunks * chunk;

        stored += call.to + row * (chunks * keep + min(rest, keep)) + group * keep;
        for (uint i = 0; i < h.count; i++)
            stored[i] = heap_at(&h, i + 1);
        return;
    }
    heap_sort(&h);
    for (uint i = 0; i < h.count; i++) {
        const element e = heap_at(&h, i + 1);

        keys[i] = from_order(e.order);
        if (WITH_INDEX)
            index[i] = (ulong)e.index;
    }
}
