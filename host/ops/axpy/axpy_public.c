#include "ops/axpy/axpy_problem.h"
#include "stream/entry.h"

tsr_status tsr_axpy(tsr_session *session, const tsr_axpy_problem *problem_in, const void *x,
                    const void *y, void *z, const tsr_run *run, tsr_report *report, tsr_error *err)
{
    void *const operands[] = {entry_readable(x), entry_readable(y), z};
    problem p;
    const tsr_status st = entry_problem(&operation_axpy, problem_in, sizeof(*problem_in), &p, err);

    return st ? st : entry_run(session, &p, operands, run, report, err);
}

tsr_status tsr_axpy_enqueue(tsr_session *session, const tsr_axpy_problem *problem_in, cl_mem x,
                            cl_mem y, cl_mem z, const tsr_run *run, tsr_report *report,
                            tsr_error *err)
{
    const cl_mem buffers[] = {x, y, z};
    problem p;
    const tsr_status st = entry_problem(&operation_axpy, problem_in, sizeof(*problem_in), &p, err);

    return st ? st : entry_enqueue(session, &p, buffers, run, report, err);
}
