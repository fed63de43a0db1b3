/** Sort segments of any lengths, each by itself, with values that go with the keys and where they
 *  stood, on host memory and on OpenCL buffers. */
#ifndef TESSERA_SEGSORT_H
#define TESSERA_SEGSORT_H

#include "tessera/sort.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The sort.n keys in as many independent stretches as there are segments, of any lengths, each
 * sorted by itself as a sort would: segment i is the keys from segment_offsets[i] to before
 * segment_offsets[i + 1], both counted from the first key (sort.offset_keys comes on top).
 *
 * These are segments + 1 ascending offsets (uint64, at offset_segments), the first 0 and the last
 * sort.n; equal ones are an empty segment.  An index counts from the start of its segment, and
 * values stay in theirs.  On a device, segments of more than 2^31 keys are refused.
 *
 * segment_longest bounds their lengths, where the caller knows it: without it the bound is sort.n,
 * and launches that longer segments need find nothing to do.  Host memory is looked at, and the
 * length found there.
 *
 * On a device, values take the workspace that they take in a sort of several rows; on CPUs segments
 * that are merged take a copy of the keys, and where an index or values go with them 16 bytes a key
 * (tsr_report.workspace_bytes).
 */
typedef struct tsr_segsort_problem {
    tsr_sort_problem sort;  /* the keys, and what goes with them; its rows are 0 or 1 */
    size_t segments;        /* 0 where there are no keys */
    size_t offset_segments; /* of segment_offsets, counted in offsets */
    size_t segment_longest; /* most keys of a segment; 0, and what is beyond sort.n, counts as
                               sort.n */
} tsr_segsort_problem;

/** No keys in no segments, float32, ascending, all else 0, in C and C++: `sort` and `segments`
 *  follow. */
#define TSR_SEGSORT_PROBLEM_INIT                                                                   \
    {                                                                                              \
        TSR_SORT_PROBLEM_INIT, 0, 0, 0                                                             \
    }

/** What it works on in host memory.  The arrays stay the caller's and must not overlap. */
typedef struct tsr_segsort_arrays {
    void *keys;     /* sort.n keys, each segment sorted in place */
    int64_t *index; /* as many positions where the sort's argsort, else NULL */
    void *values;   /* as many values where its value_bytes, sorted in place, else NULL */
    const uint64_t *segment_offsets; /* segments + 1 of them */
} tsr_segsort_arrays;

/** The same in OpenCL buffers. */
typedef struct tsr_segsort_buffers {
    cl_mem keys, index, values, segment_offsets;
} tsr_segsort_buffers;

/**
 * Sort segments in host memory.  Synchronous: the contract of tsr_sort, but that the device holds
 * all keys at once.
 *
 * @return as tsr_sort; TSR_EINVAL also where the offsets do not start at 0, ascend and end at
 *         sort.n, with the first that is wrong.
 */
TSR_API tsr_status tsr_segsort(tsr_session *session, const tsr_segsort_problem *problem,
                               const tsr_segsort_arrays *arrays, const tsr_run *run,
                               tsr_report *report, tsr_error *err);

/**
 * Enqueue the same of OpenCL buffers, asynchronous: the contract of tsr_sort_enqueue.
 *
 * What segment_offsets holds, and segment_longest, is the caller's promise, and not checked.  Where
 * it is broken, which of the keys, indices and values end up where is unspecified; nothing outside
 * them is touched.
 */
TSR_API tsr_status tsr_segsort_enqueue(tsr_session *session, const tsr_segsort_problem *problem,
                                       const tsr_segsort_buffers *buffers, const tsr_run *run,
                                       tsr_report *report, tsr_error *err);

#ifdef __cplusplus
}
#endif
#endif
