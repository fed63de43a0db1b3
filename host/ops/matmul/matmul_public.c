#include "base/fail.h"
#include "ops/matmul/matmul_shape.h"
#include "stream/entry.h"

/* What calls that take no scales say of a problem that has some, and those that do of scales that
 * it has not. */
static tsr_status check_scales(const tsr_matmul_problem *p, bool takes, bool scale_a, bool scale_b,
                               tsr_error *err)
{
    if (!p)
        return TSR_OK;
    if (!takes && (p->scale_a || p->scale_b))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "matmul: the problem has scales of rows or columns: call tsr_matmul_scaled "
                        "or tsr_matmul_scaled_enqueue");
    if ((scale_a && !p->scale_a) || (scale_b && !p->scale_b))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "matmul: %s is given, and the problem's member of that name is false",
                        scale_a && !p->scale_a ? "scale_a" : "scale_b");
    return TSR_OK;
}

tsr_status tsr_matmul(tsr_session *session, const tsr_matmul_problem *problem_in, const void *a,
                      const void *b, void *c, const tsr_run *run, tsr_report *report,
                      tsr_error *err)
{
    void *const operands[] = {entry_readable(a), entry_readable(b), c};
    problem p;
    tsr_status st = check_scales(problem_in, false, false, false, err);

    st = st ? st : entry_problem(&operation_matmul, problem_in, sizeof(*problem_in), &p, err);
    return st ? st : entry_run(session, &p, operands, run, report, err);
}

tsr_status tsr_matmul_enqueue(tsr_session *session, const tsr_matmul_problem *problem_in, cl_mem a,
                              cl_mem b, cl_mem c, const tsr_run *run, tsr_report *report,
                              tsr_error *err)
{
    const cl_mem buffers[] = {a, b, c};
    problem p;
    tsr_status st = check_scales(problem_in, false, false, false, err);

    st = st ? st : entry_problem(&operation_matmul, problem_in, sizeof(*problem_in), &p, err);
    return st ? st : entry_enqueue(session, &p, buffers, run, report, err);
}

tsr_status tsr_matmul_scaled(tsr_session *session, const tsr_matmul_problem *problem_in,
                             const tsr_matmul_arrays *x, const tsr_run *run, tsr_report *report,
                             tsr_error *err)
{
    void *operands[MATMUL_OPERANDS];
    problem p;
    tsr_status st;

    if (!x)
        return tsr_fail(err, TSR_EINVAL, 0, "matmul: the arrays are NULL");
    operands[MATMUL_A] = entry_readable(x->a);
    operands[MATMUL_B] = entry_readable(x->b);
    operands[MATMUL_C] = x->c;
    operands[MATMUL_SCALE_A] = entry_readable(x->scale_a);
    operands[MATMUL_SCALE_B] = entry_readable(x->scale_b);
    st = check_scales(problem_in, true, x->scale_a, x->scale_b, err);
    st = st ? st : entry_problem(&operation_matmul, problem_in, sizeof(*problem_in), &p, err);
    return st ? st : entry_run(session, &p, operands, run, report, err);
}

tsr_status tsr_matmul_scaled_enqueue(tsr_session *session, const tsr_matmul_problem *problem_in,
                                     const tsr_matmul_buffers *x, const tsr_run *run,
                                     tsr_report *report, tsr_error *err)
{
    cl_mem buffers[MATMUL_OPERANDS];
    problem p;
    tsr_status st;

    if (!x)
        return tsr_fail(err, TSR_EINVAL, 0, "matmul: the buffers are NULL");
    buffers[MATMUL_A] = x->a;
    buffers[MATMUL_B] = x->b;
    buffers[MATMUL_C] = x->c;
    buffers[MATMUL_SCALE_A] = x->scale_a;
    buffers[MATMUL_SCALE_B] = x->scale_b;
    st = check_scales(problem_in, true, x->scale_a, x->scale_b, err);
    st = st ? st : entry_problem(&operation_matmul, problem_in, sizeof(*problem_in), &p, err);
    return st ? st : entry_enqueue(session, &p, buffers, run, report, err);
}
