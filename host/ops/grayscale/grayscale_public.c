#include "ops/grayscale/grayscale_problem.h"
#include "stream/entry.h"

tsr_status tsr_grayscale(tsr_session *session, const tsr_grayscale_problem *problem_in,
                         const void *colour, void *grey, const tsr_run *run, tsr_report *report,
                         tsr_error *err)
{
    void *const operands[] = {entry_readable(colour), grey};
    problem p;
    const tsr_status st =
        entry_problem(&operation_grayscale, problem_in, sizeof(*problem_in), &p, err);

    return st ? st : entry_run(session, &p, operands, run, report, err);
}

tsr_status tsr_grayscale_enqueue(tsr_session *session, const tsr_grayscale_problem *problem_in,
                                 cl_mem colour, cl_mem grey, const tsr_run *run, tsr_report *report,
                                 tsr_error *err)
{
    const cl_mem buffers[] = {colour, grey};
    problem p;
    const tsr_status st =
        entry_problem(&operation_grayscale, problem_in, sizeof(*problem_in), &p, err);

    return st ? st : entry_enqueue(session, &p, buffers, run, report, err);
}
