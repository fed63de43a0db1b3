/* Scan: each work-item scans a chunk of a line by itself, in three launches.
 *
 * Idea: lines are independent.  A line that is long is cut into chunks; the
 *     first launch finds what each comes to, the second what is before each of
 *     them in its line, and the third scans them from there.  Where a line is one
 *     chunk, the third is the only one.
 * Work split: one work-item for a chunk of a line; neighbours take neighbouring
 *     columns where there are any, and so read neighbouring elements.
 * Parameters: those of scan.clh; COLUMNS, 1 where lines stand side by side; WIDE, 1 where
 *     2^32 chunks or more are to be numbered; UNROLLED, 1 where compilers may copy the bodies
 *     of loops: more loads on their way, against the time to compile.  GROUP, PER_UNIT and
 *     CHUNK decide on the host alone.
 * Launch: 1-D, a work-item for each chunk of each line, or for each line, in any
 *     work-groups.
 * Local memory: none.
 * Limits: the elements of a chunk are read one after another: fast on CPUs, and
 *     on GPUs where there are many columns.  Indexes in 64 bits.
 */
#include "scan/scan.clh"

#if !defined(COLUMNS) || !defined(WIDE) || !defined(UNROLLED)
#error "COLUMNS, WIDE, UNROLLED: 1 for lines side by side, many chunks, loops that may be unrolled"
#endif

/* Of a chunk or a line.  GPUs divide 64 bits by a function, which takes long to compile, too. */
#if WIDE
typedef ulong ordinal;
#else
typedef uint ordinal;
#endif

/* A call, as one argument; the host's chunks_call has the same members. */
typedef struct chunks_call {
    ulong n, inner, lines; /* elements of a line; lines side by side; all lines */
    ulong chunk, chunks;   /* elements of a chunk; chunks of a line */
    ulong from, to;        /* indexes of the first elements of x and of the result */
    ulong segments, from_segments;
    ulong starts; /* index of the first flag in the workspace, counted in flags */
} chunks_call;

/* The chunk of a work-item. */
typedef struct chunk {
    ulong first, step; /* element 0 of its line, and from one to the next, in the order of the
                          scan: modulo 2^64 */
    ulong begin, end;  /* its elements */
} chunk;

static inline ulong inner_of(const chunks_call *call)
{
    return COLUMNS ? call->inner : 1;
}

static inline chunk chunk_of(const chunks_call *call, ordinal id)
{
    const ulong inner = inner_of(call);
    const ordinal column = id % (ordinal)inner, row = id / (ordinal)inner;
    const ordinal number = row % (ordinal)call->chunks, outer = row / (ordinal)call->chunks;
    const ulong line = outer * call->n * inner + column;
    chunk c;

    c.first = REVERSE ? line + (call->n - 1) * inner : line;
    c.step = REVERSE ? 0 - inner : inner;
    c.begin = min(number * call->chunk, call->n);
    c.end = min(c.begin + call->chunk, call->n);
    return c;
}

/* What each chunk comes to: of segments, what comes behind the last start, and whether there is
 * one. */
__kernel void scan_chunk_totals(__global const X *x, __global const ulong *offsets,
                                __global VALUE *totals, __global uchar *starts,
                                const chunks_call call)
{
    const ulong id = get_global_id(0);
    VALUE value = IDENTITY;
    chunk c;

    if (id >= call.lines * call.chunks)
        return;
    c = chunk_of(&call, (ordinal)id);
#if SEGMENTED
    offsets += call.from_segments;
    {
        const ulong next = segment_from(offsets, call.segments, call.n, c.end);
        const ulong last =
            next ? segment_start(offsets, call.segments, call.n, next - 1) : 0;
        const bool starts_here = next && last >= c.begin;

        starts[call.starts + id] = starts_here;
        if (starts_here)
            c.begin = last;
    }
#endif
#if !UNROLLED
#pragma unroll 1
#endif
    for (ulong i = c.begin; i < c.end; i++)
        value = combine(value, load_x(x, call.from + c.first + i * c.step));
    totals[id] = value;
}

/* What is before each chunk in its line, in the place of its total. */
__kernel void scan_chunk_carries(__global VALUE *totals, __global const uchar *starts,
                                 const chunks_call call)
{
    const ulong id = get_global_id(0), inner = inner_of(&call);
    VALUE value = IDENTITY;
    ulong slot;

    if (id >= call.lines)
        return;
    slot = (ordinal)id / (ordinal)inner * call.chunks * inner + (ordinal)id % (ordinal)inner;
#if !UNROLLED
#pragma unroll 1
#endif
    for (ulong i = 0; i < call.chunks; i++, slot += inner) {
        const VALUE own = totals[slot];

        totals[slot] = value;
#if SEGMENTED
        if (starts[call.starts + slot])
            value = own;
        else
#endif
            value = combine(value, own);
    }
}

__kernel void scan_chunks(__global const X *x, __global const ulong *offsets,
                          __global const VALUE *carries, __global RESULT *result,
                          const chunks_call call)
{
    const ulong id = get_global_id(0);
    VALUE value;
    chunk c;
#if SEGMENTED
    ulong segment, start;
#endif

    if (id >= call.lines * call.chunks)
        return;
    c = chunk_of(&call, (ordinal)id);
    value = call.chunks > 1 ? carries[id] : (VALUE)(IDENTITY);
#if SEGMENTED
    offsets += call.from_segments;
    segment = segment_from(offsets, call.segments, call.n, c.begin);
    start = segment < call.segments ? segment_start(offsets, call.segments, call.n, segment)
                                    : call.n;
#endif
#if !UNROLLED
#pragma unroll 1
#endif
    for (ulong i = c.begin; i < c.end; i++) {
        const ulong place = c.first + i * c.step;
        const VALUE own = load_x(x, call.from + place);

#if SEGMENTED
        if (i == start)
            value = IDENTITY;
        while (start <= i && ++segment < call.segments)
            start = segment_start(offsets, call.segments, call.n, segment);
#endif
        if (EXCLUSIVE)
            store_result(result, call.to + place, value);
        value = combine(value, own);
        if (!EXCLUSIVE)
            store_result(result, call.to + place, value);
    }
}
