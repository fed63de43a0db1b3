#include "base/fail.h"
#include "ops/select/select_problem.h"
#include "stream/entry.h"

tsr_status tsr_select(tsr_session *session, const tsr_select_problem *problem_in,
                      const tsr_select_arrays *arrays, const tsr_run *run, tsr_report *report,
                      tsr_error *err)
{
    problem p;
    const tsr_status st =
        entry_problem(&operation_select, problem_in, sizeof(*problem_in), &p, err);

    if (st)
        return st;
    if (!arrays)
        return tsr_fail(err, TSR_EINVAL, 0, "select: the arrays are NULL");
    return entry_run(
        session, &p,
        (void *const[]){entry_readable(arrays->x), arrays->result, arrays->indices, arrays->count},
        run, report, err);
}

tsr_status tsr_select_enqueue(tsr_session *session, const tsr_select_problem *problem_in,
                              const tsr_select_buffers *buffers, const tsr_run *run,
                              tsr_report *report, tsr_error *err)
{
    problem p;
    const tsr_status st =
        entry_problem(&operation_select, problem_in, sizeof(*problem_in), &p, err);

    if (st)
        return st;
    if (!buffers)
        return tsr_fail(err, TSR_EINVAL, 0, "select: the buffers are NULL");
    return entry_enqueue(
        session, &p,
        (const cl_mem[]){buffers->x, buffers->result, buffers->indices, buffers->count}, run,
        report, err);
}
