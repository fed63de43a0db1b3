#include "ops/reduce/reduce_problem.h"
#include "stream/entry.h"

tsr_status tsr_reduce(tsr_session *session, const tsr_reduce_problem *problem_in, const void *x,
                      void *result, const tsr_run *run, tsr_report *report, tsr_error *err)
{
    void *const operands[] = {entry_readable(x), result};
    problem p;
    const tsr_status st =
        entry_problem(&operation_reduce, problem_in, sizeof(*problem_in), &p, err);

    return st ? st : entry_run(session, &p, operands, run, report, err);
}

tsr_status tsr_reduce_enqueue(tsr_session *session, const tsr_reduce_problem *problem_in, cl_mem x,
                              cl_mem result, const tsr_run *run, tsr_report *report, tsr_error *err)
{
    const cl_mem buffers[] = {x, result};
    problem p;
    const tsr_status st =
        entry_problem(&operation_reduce, problem_in, sizeof(*problem_in), &p, err);

    return st ? st : entry_enqueue(session, &p, buffers, run, report, err);
}
