#include "base/fail.h"
#include "ops/segsort/segsort_problem.h"
#include "ops/sort/sort_fields.h"
#include "stream/entry.h"

tsr_status tsr_segsort(tsr_session *session, const tsr_segsort_problem *problem_in,
                       const tsr_segsort_arrays *arrays, const tsr_run *run, tsr_report *report,
                       tsr_error *err)
{
    problem p;
    tsr_status st = entry_problem(&operation_segsort, problem_in, sizeof(*problem_in), &p, err);

    if (st)
        return st;
    st = sort_check_arrays(
        &p, arrays ? &(tsr_sort_arrays){arrays->keys, arrays->index, arrays->values} : NULL, err);
    if (st)
        return st;
    return entry_run(session, &p,
                     (void *const[]){arrays->keys, arrays->index, arrays->values,
                                     entry_readable(arrays->segment_offsets)},
                     run, report, err);
}

tsr_status tsr_segsort_enqueue(tsr_session *session, const tsr_segsort_problem *problem_in,
                               const tsr_segsort_buffers *buffers, const tsr_run *run,
                               tsr_report *report, tsr_error *err)
{
    problem p;
    tsr_status st = entry_problem(&operation_segsort, problem_in, sizeof(*problem_in), &p, err);

    if (st)
        return st;
    st = sort_check_buffers(
        &p, buffers ? &(tsr_sort_buffers){buffers->keys, buffers->index, buffers->values} : NULL,
        err);
    if (st)
        return st;
    return entry_enqueue(
        session, &p,
        (const cl_mem[]){buffers->keys, buffers->index, buffers->values, buffers->segment_offsets},
        run, report, err);
}
