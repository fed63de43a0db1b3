#include "ops/histogram/histogram_problem.h"
#include "stream/entry.h"

tsr_status tsr_histogram(tsr_session *session, const tsr_histogram_problem *problem_in,
                         const void *x, const void *edges, int64_t *counts, const tsr_run *run,
                         tsr_report *report, tsr_error *err)
{
    void *const operands[] = {entry_readable(x), entry_readable(edges), counts};
    problem p;
    const tsr_status st =
        entry_problem(&operation_histogram, problem_in, sizeof(*problem_in), &p, err);

    return st ? st : entry_run(session, &p, operands, run, report, err);
}

tsr_status tsr_histogram_enqueue(tsr_session *session, const tsr_histogram_problem *problem_in,
                                 cl_mem x, cl_mem edges, cl_mem counts, const tsr_run *run,
                                 tsr_report *report, tsr_error *err)
{
    const cl_mem buffers[] = {x, edges, counts};
    problem p;
    const tsr_status st =
        entry_problem(&operation_histogram, problem_in, sizeof(*problem_in), &p, err);

    return st ? st : entry_enqueue(session, &p, buffers, run, report, err);
}
