#include "base/fail.h"
#include "ops/sort/sort_order.h"
#include "stream/entry.h"

/* What the problem does not ask for must not be there: whoever passes it has forgotten to ask. */
static tsr_status check_asked(const tsr_sort_problem *p, bool index, bool values,
                              bool segment_offsets, tsr_error *err)
{
    const struct {
        bool passed, asked;
        const char *name, *field;
    } extras[] = {{index, p->argsort, "an index is", "argsort is false"},
                  {values, p->value_bytes > 0, "values are", "value_bytes is 0"},
                  {segment_offsets, p->segments > 0, "segment_offsets are", "segments is 0"}};

    for (size_t i = 0; i < sizeof(extras) / sizeof(extras[0]); i++)
        if (extras[i].passed && !extras[i].asked)
            return tsr_fail(err, TSR_EINVAL, 0, "sort: %s passed, but %s", extras[i].name,
                            extras[i].field);
    return TSR_OK;
}

tsr_status tsr_sort(tsr_session *session, const tsr_sort_problem *problem_in,
                    const tsr_sort_arrays *arrays, const tsr_run *run, tsr_report *report,
                    tsr_error *err)
{
    problem p;
    tsr_status st = entry_problem(&operation_sort, problem_in, sizeof(*problem_in), &p, err);

    if (st)
        return st;
    if (!arrays)
        return tsr_fail(err, TSR_EINVAL, 0, "sort: the arrays are NULL");
    st = check_asked(problem_in, arrays->index, arrays->values, arrays->segment_offsets, err);
    if (st)
        return st;
    return entry_run(session, &p,
                     (void *const[]){arrays->keys, arrays->index, arrays->values,
                                     entry_readable(arrays->segment_offsets)},
                     run, report, err);
}

tsr_status tsr_sort_enqueue(tsr_session *session, const tsr_sort_problem *problem_in,
                            const tsr_sort_buffers *buffers, const tsr_run *run, tsr_report *report,
                            tsr_error *err)
{
    problem p;
    tsr_status st = entry_problem(&operation_sort, problem_in, sizeof(*problem_in), &p, err);

    if (st)
        return st;
    if (!buffers)
        return tsr_fail(err, TSR_EINVAL, 0, "sort: the buffers are NULL");
    st = check_asked(problem_in, buffers->index, buffers->values, buffers->segment_offsets, err);
    if (st)
        return st;
    return entry_enqueue(
        session, &p,
        (const cl_mem[]){buffers->keys, buffers->index, buffers->values, buffers->segment_offsets},
        run, report, err);
}
