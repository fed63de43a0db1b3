#include "ops/transpose/transpose_problem.h"
#include "stream/entry.h"

tsr_status tsr_transpose(tsr_session *session, const tsr_transpose_problem *problem_in,
                         const void *a, void *b, const tsr_run *run, tsr_report *report,
                         tsr_error *err)
{
    void *const operands[] = {entry_readable(a), b};
    problem p;
    const tsr_status st =
        entry_problem(&operation_transpose, problem_in, sizeof(*problem_in), &p, err);

    return st ? st : entry_run(session, &p, operands, run, report, err);
}

tsr_status tsr_transpose_enqueue(tsr_session *session, const tsr_transpose_problem *problem_in,
                                 cl_mem a, cl_mem b, const tsr_run *run, tsr_report *report,
                                 tsr_error *err)
{
    const cl_mem buffers[] = {a, b};
    problem p;
    const tsr_status st =
        entry_problem(&operation_transpose, problem_in, sizeof(*problem_in), &p, err);

    return st ? st : entry_enqueue(session, &p, buffers, run, report, err);
}
