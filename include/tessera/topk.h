/** The first keys of the sorted order, with the values that go with them and where they stood, on
 *  host memory and on OpenCL buffers. */
#ifndef TESSERA_TOPK_H
#define TESSERA_TOPK_H

#include "tessera/sort.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The first k keys of each row as `sort` would leave them: the least ones, or where it is
 * descending the largest, in order, of equal keys those that stood first.
 *
 * They stand at the start of the row, their indices and values alike; the rest of the row is
 * unspecified, of the index and the values too.  The arrays are as large as for a sort.
 *
 * On a device the kept keys of each part of a row take a workspace; a variant that sorts all keys
 * takes that of a sort (tsr_report.workspace_bytes).
 */
typedef struct tsr_topk_problem {
    tsr_sort_problem sort; /* the keys, and what goes with them, in one row or several */
    size_t k;              /* 1 and more; what is beyond sort.n counts as sort.n */
} tsr_topk_problem;

/** Of no keys, float32, ascending, all else 0, in C and C++: `sort` and `k` follow. */
#define TSR_TOPK_PROBLEM_INIT                                                                      \
    {                                                                                              \
        TSR_SORT_PROBLEM_INIT, 0                                                                   \
    }

/** Find the first keys in host memory.  Synchronous: the contract of tsr_sort, whose rows are
 *  streamed here too. */
TSR_API tsr_status tsr_topk(tsr_session *session, const tsr_topk_problem *problem,
                            const tsr_sort_arrays *arrays, const tsr_run *run, tsr_report *report,
                            tsr_error *err);

/** The same of OpenCL buffers, asynchronous: the contract of tsr_sort_enqueue. */
TSR_API tsr_status tsr_topk_enqueue(tsr_session *session, const tsr_topk_problem *problem,
                                    const tsr_sort_buffers *buffers, const tsr_run *run,
                                    tsr_report *report, tsr_error *err);

#ifdef __cplusplus
}
#endif
#endif
