#include "ops/sort/sort_fields.h"
#include "ops/topk/topk_problem.h"
#include "stream/entry.h"

tsr_status tsr_topk(tsr_session *session, const tsr_topk_problem *problem_in,
                    const tsr_sort_arrays *arrays, const tsr_run *run, tsr_report *report,
                    tsr_error *err)
{
    problem p;
    tsr_status st = entry_problem(&operation_topk, problem_in, sizeof(*problem_in), &p, err);

    st = st ? st : sort_check_arrays(&p, arrays, err);
    return st ? st
              : entry_run(session, &p, (void *const[]){arrays->keys, arrays->index, arrays->values},
                          run, report, err);
}

tsr_status tsr_topk_enqueue(tsr_session *session, const tsr_topk_problem *problem_in,
                            const tsr_sort_buffers *buffers, const tsr_run *run, tsr_report *report,
                            tsr_error *err)
{
    problem p;
    tsr_status st = entry_problem(&operation_topk, problem_in, sizeof(*problem_in), &p, err);

    st = st ? st : sort_check_buffers(&p, buffers, err);
    return st ? st
              : entry_enqueue(session, &p,
                              (const cl_mem[]){buffers->keys, buffers->index, buffers->values}, run,
                              report, err);
}
