#include "ops/matmul/matmul_shape.h"
#include "stream/entry.h"

tsr_status tsr_matmul(tsr_session *session, const tsr_matmul_problem *problem_in, const void *a,
                      const void *b, void *c, const tsr_run *run, tsr_report *report,
                      tsr_error *err)
{
    void *const operands[] = {entry_readable(a), entry_readable(b), c};
    problem p;
    const tsr_status st =
        entry_problem(&operation_matmul, problem_in, sizeof(*problem_in), &p, err);

    return st ? st : entry_run(session, &p, operands, run, report, err);
}

tsr_status tsr_matmul_enqueue(tsr_session *session, const tsr_matmul_problem *problem_in, cl_mem a,
                              cl_mem b, cl_mem c, const tsr_run *run, tsr_report *report,
                              tsr_error *err)
{
    const cl_mem buffers[] = {a, b, c};
    problem p;
    const tsr_status st =
        entry_problem(&operation_matmul, problem_in, sizeof(*problem_in), &p, err);

    return st ? st : entry_enqueue(session, &p, buffers, run, report, err);
}
