#include "base/fail.h"
#include "ops/sort/sort_fields.h"
#include "stream/entry.h"

static tsr_status check_asked(const problem *p, bool index, bool values, tsr_error *err)
{
    const tsr_sort_problem *s = sort_of(p);
    const struct {
        bool passed, asked;
        const char *name, *field;
    } extras[] = {{index, s->argsort, "an index is", "argsort is false"},
                  {values, s->value_bytes > 0, "values are", "value_bytes is 0"}};

    for (size_t i = 0; i < sizeof(extras) / sizeof(extras[0]); i++)
        if (extras[i].passed && !extras[i].asked)
            return tsr_fail(err, TSR_EINVAL, 0, "%s: %s passed, but %s", p->op->name,
                            extras[i].name, extras[i].field);
    return TSR_OK;
}

tsr_status sort_check_arrays(const problem *p, const tsr_sort_arrays *a, tsr_error *err)
{
    if (!a)
        return tsr_fail(err, TSR_EINVAL, 0, "%s: the arrays are NULL", p->op->name);
    return check_asked(p, a->index, a->values, err);
}

tsr_status sort_check_buffers(const problem *p, const tsr_sort_buffers *b, tsr_error *err)
{
    if (!b)
        return tsr_fail(err, TSR_EINVAL, 0, "%s: the buffers are NULL", p->op->name);
    return check_asked(p, b->index, b->values, err);
}

tsr_status tsr_sort(tsr_session *session, const tsr_sort_problem *problem_in,
                    const tsr_sort_arrays *arrays, const tsr_run *run, tsr_report *report,
                    tsr_error *err)
{
    problem p;
    tsr_status st = entry_problem(&operation_sort, problem_in, sizeof(*problem_in), &p, err);

    st = st ? st : sort_check_arrays(&p, arrays, err);
    return st ? st
              : entry_run(session, &p, (void *const[]){arrays->keys, arrays->index, arrays->values},
                          run, report, err);
}

tsr_status tsr_sort_enqueue(tsr_session *session, const tsr_sort_problem *problem_in,
                            const tsr_sort_buffers *buffers, const tsr_run *run, tsr_report *report,
                            tsr_error *err)
{
    problem p;
    tsr_status st = entry_problem(&operation_sort, problem_in, sizeof(*problem_in), &p, err);

    st = st ? st : sort_check_buffers(&p, buffers, err);
    return st ? st
              : entry_enqueue(session, &p,
                              (const cl_mem[]){buffers->keys, buffers->index, buffers->values}, run,
                              report, err);
}
