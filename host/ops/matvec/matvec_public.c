#include "ops/matvec/matvec_shape.h"
#include "stream/entry.h"

tsr_status tsr_matvec(tsr_session *session, const tsr_matvec_problem *problem_in, const void *a,
                      const void *x, void *y, const tsr_run *run, tsr_report *report,
                      tsr_error *err)
{
    void *const operands[] = {entry_readable(a), entry_readable(x), y};
    problem p;
    const tsr_status st =
        entry_problem(&operation_matvec, problem_in, sizeof(*problem_in), &p, err);

    return st ? st : entry_run(session, &p, operands, run, report, err);
}

tsr_status tsr_matvec_enqueue(tsr_session *session, const tsr_matvec_problem *problem_in, cl_mem a,
                              cl_mem x, cl_mem y, const tsr_run *run, tsr_report *report,
                              tsr_error *err)
{
    const cl_mem buffers[] = {a, x, y};
    problem p;
    const tsr_status st =
        entry_problem(&operation_matvec, problem_in, sizeof(*problem_in), &p, err);

    return st ? st : entry_enqueue(session, &p, buffers, run, report, err);
}
