#include "base/fail.h"
#include "ops/histogram/histogram_problem.h"
#include "stream/entry.h"

/* The problem of a call that has weights, or has none. */
static tsr_status problem_of(const tsr_histogram_problem *structure, bool weighted, problem *out,
                             tsr_error *err)
{
    const tsr_status st =
        entry_problem(&operation_histogram, structure, sizeof(*structure), out, err);

    if (!st && weighted != (structure->weights != TSR_HISTOGRAM_COUNTS))
        return tsr_fail(err, TSR_EINVAL, 0,
                        weighted
                            ? "histogram: the problem has no weights: call tsr_histogram, or name "
                              "their type in the member weights"
                            : "histogram: the problem has weights: call tsr_histogram_weighted");
    return st;
}

tsr_status tsr_histogram(tsr_session *session, const tsr_histogram_problem *problem_in,
                         const void *x, const void *edges, int64_t *counts, const tsr_run *run,
                         tsr_report *report, tsr_error *err)
{
    void *const operands[] = {entry_readable(x), entry_readable(edges), counts};
    problem p;
    const tsr_status st = problem_of(problem_in, false, &p, err);

    return st ? st : entry_run(session, &p, operands, run, report, err);
}

tsr_status tsr_histogram_enqueue(tsr_session *session, const tsr_histogram_problem *problem_in,
                                 cl_mem x, cl_mem edges, cl_mem counts, const tsr_run *run,
                                 tsr_report *report, tsr_error *err)
{
    const cl_mem buffers[] = {x, edges, counts};
    problem p;
    const tsr_status st = problem_of(problem_in, false, &p, err);

    return st ? st : entry_enqueue(session, &p, buffers, run, report, err);
}

tsr_status tsr_histogram_weighted(tsr_session *session, const tsr_histogram_problem *problem_in,
                                  const tsr_histogram_inputs *in, void *sums, const tsr_run *run,
                                  tsr_report *report, tsr_error *err)
{
    const tsr_histogram_inputs given = in ? *in : (tsr_histogram_inputs){0};
    void *const operands[] = {entry_readable(given.x), entry_readable(given.edges), sums,
                              entry_readable(given.weights)};
    problem p;
    const tsr_status st = problem_of(problem_in, true, &p, err);

    return st ? st : entry_run(session, &p, operands, run, report, err);
}

tsr_status tsr_histogram_weighted_enqueue(tsr_session *session,
                                          const tsr_histogram_problem *problem_in,
                                          const tsr_histogram_buffers *in, cl_mem sums,
                                          const tsr_run *run, tsr_report *report, tsr_error *err)
{
    const tsr_histogram_buffers given = in ? *in : (tsr_histogram_buffers){0};
    const cl_mem buffers[] = {given.x, given.edges, sums, given.weights};
    problem p;
    const tsr_status st = problem_of(problem_in, true, &p, err);

    return st ? st : entry_enqueue(session, &p, buffers, run, report, err);
}
