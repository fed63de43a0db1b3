/* The public operations: each is its problem and its operands, and the rest is shared. */
#include "base/clock.h"
#include "base/fail.h"
#include "ops/registry.h"
#include "stream/host_memory.h"

/* Whether what is written of one operand shares bytes with another in the same buffer. */
static bool overlap(const operand *x, const operand *y)
{
    return x->bytes && y->bytes && x->begin < y->bytes && y->begin < x->bytes &&
           ((x->access | y->access) & ACCESS_WRITE);
}

/* Each of n buffers holds what its operand needs. */
static tsr_status check_buffers(const problem *p, const operand operands[], size_t n,
                                const cl_mem buffers[], tsr_error *err)
{
    for (size_t i = 0; i < n; i++) {
        size_t size = 0;
        cl_int rc;

        if (operands[i].bytes == 0)
            continue;
        if (!buffers[i])
            return tsr_fail(err, TSR_EINVAL, 0, "%s: buffer %s is NULL and should hold %zu bytes",
                            p->op->name, operands[i].name, operands[i].bytes);
        rc = clGetMemObjectInfo(buffers[i], CL_MEM_SIZE, sizeof(size), &size, NULL);
        if (rc != CL_SUCCESS)
            return tsr_fail(err, TSR_ECL, rc, "%s: clGetMemObjectInfo(%s)", p->op->name,
                            operands[i].name);
        if (size < operands[i].bytes)
            return tsr_fail(err, TSR_EINVAL, 0, "%s: buffer %s has %zu bytes and should have %zu",
                            p->op->name, operands[i].name, size, operands[i].bytes);
        for (size_t k = 0; k < i; k++)
            if (buffers[k] == buffers[i] && overlap(&operands[k], &operands[i]))
                return tsr_fail(err, TSR_EINVAL, 0, "%s: %s and %s overlap in one buffer",
                                p->op->name, operands[k].name, operands[i].name);
    }
    return TSR_OK;
}

/* Where strict tiles are counted, if anybody asks. */
static tsr_status check_counter(const problem *p, const tsr_run *run, tsr_error *err)
{
    size_t size = 0;
    cl_int rc;

    if (!run || !run->strict_tiles)
        return TSR_OK;
    rc = clGetMemObjectInfo(run->strict_tiles, CL_MEM_SIZE, sizeof(size), &size, NULL);
    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "%s: clGetMemObjectInfo(strict_tiles)", p->op->name);
    if (size < sizeof(uint32_t))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "%s: buffer strict_tiles has %zu bytes and should have %zu", p->op->name,
                        size, sizeof(uint32_t));
    return TSR_OK;
}

/* A checked problem, its buffers in the order of the form that variants take. */
static tsr_status dispatch(tsr_session *s, const problem *p, size_t operands,
                           const cl_mem buffers[], const tsr_run *run, const call_ends *ends,
                           selection *sel, tsr_error *err)
{
    unsigned order[OPERANDS_MAX];
    cl_mem arranged[OPERANDS_MAX] = {NULL};
    const problem normal = problem_normal(p, order);
    tsr_status st;

    for (size_t i = 0; i < operands; i++)
        arranged[i] = buffers[order[i]];
    st = dispatch_select(s, &normal, run, sel, err);
    return st ? st : dispatch_enqueue(s, &normal, sel, arranged, ends, err);
}

static tsr_status enqueue(tsr_session *s, const problem *p, const cl_mem buffers[],
                          const tsr_run *run, cl_uint n_wait, const cl_event *wait, cl_event *done,
                          tsr_report *report, tsr_error *err)
{
    const uint64_t start = report ? clock_ns() : 0;
    operand operands[OPERANDS_MAX];
    size_t n = 0;
    tsr_report r = {0};
    const call_ends ends = {.n_wait = n_wait,
                            .wait = wait,
                            .last = done,
                            .strict_tiles = run ? run->strict_tiles : NULL,
                            .report = report ? &r : NULL};
    selection sel;
    tsr_status st;

    if (!s)
        return tsr_fail(err, TSR_EINVAL, 0, "%s: the session is NULL", p->op->name);
    if (!s->queue)
        return tsr_fail(err, TSR_EUNSUITED, 0, "%s: the host has no queue: pass host memory",
                        p->op->name);
    st = p->op->check(p, err);
    if (st == TSR_OK) {
        n = p->op->operands(p, operands);
        st = check_buffers(p, operands, n, buffers, err);
    }
    if (st == TSR_OK)
        st = check_counter(p, run, err);
    if (st == TSR_OK)
        st = dispatch(s, p, n, buffers, run, &ends, &sel, err);
    if (st != TSR_OK || !report)
        return st;
    dispatch_report(&sel, start, &r);
    *report = r;
    return TSR_OK;
}

static tsr_status no_problem(const char *op, tsr_error *err)
{
    return tsr_fail(err, TSR_EINVAL, 0, "%s: the problem is NULL", op);
}

/* Operands that are only read are handed on without const: one array type serves all. */
static void *readable(const void *array)
{
    return (void *)(uintptr_t)array;
}

tsr_status tsr_matmul(tsr_session *session, const tsr_matmul_problem *problem_in, const void *a,
                      const void *b, void *c, const tsr_run *run, tsr_report *report,
                      tsr_error *err)
{
    problem p = {.op = &operation_matmul};
    void *const operands[] = {readable(a), readable(b), c};

    if (!problem_in)
        return no_problem("matmul", err);
    p.matmul = *problem_in;
    return host_memory_run(session, &p, operands, run, report, err);
}

tsr_status tsr_matmul_enqueue(tsr_session *session, const tsr_matmul_problem *problem_in, cl_mem a,
                              cl_mem b, cl_mem c, const tsr_run *run, cl_uint n_wait,
                              const cl_event *wait, cl_event *done, tsr_report *report,
                              tsr_error *err)
{
    problem p = {.op = &operation_matmul};
    const cl_mem buffers[] = {a, b, c};

    if (!problem_in)
        return no_problem("matmul", err);
    p.matmul = *problem_in;
    return enqueue(session, &p, buffers, run, n_wait, wait, done, report, err);
}

tsr_status tsr_matvec(tsr_session *session, const tsr_matvec_problem *problem_in, const void *a,
                      const void *x, void *y, const tsr_run *run, tsr_report *report,
                      tsr_error *err)
{
    problem p = {.op = &operation_matvec};
    void *const operands[] = {readable(a), readable(x), y};

    if (!problem_in)
        return no_problem("matvec", err);
    p.matvec = *problem_in;
    return host_memory_run(session, &p, operands, run, report, err);
}

tsr_status tsr_matvec_enqueue(tsr_session *session, const tsr_matvec_problem *problem_in, cl_mem a,
                              cl_mem x, cl_mem y, const tsr_run *run, cl_uint n_wait,
                              const cl_event *wait, cl_event *done, tsr_report *report,
                              tsr_error *err)
{
    problem p = {.op = &operation_matvec};
    const cl_mem buffers[] = {a, x, y};

    if (!problem_in)
        return no_problem("matvec", err);
    p.matvec = *problem_in;
    return enqueue(session, &p, buffers, run, n_wait, wait, done, report, err);
}

tsr_status tsr_sort(tsr_session *session, const tsr_sort_problem *problem_in, void *keys,
                    int64_t *index, void *values, const uint64_t *segment_offsets,
                    const tsr_run *run, tsr_report *report, tsr_error *err)
{
    problem p = {.op = &operation_sort};
    void *const operands[] = {keys, index, values, readable(segment_offsets)};

    if (!problem_in)
        return no_problem("sort", err);
    p.sort = *problem_in;
    return host_memory_run(session, &p, operands, run, report, err);
}

tsr_status tsr_sort_enqueue(tsr_session *session, const tsr_sort_problem *problem_in, cl_mem keys,
                            cl_mem index, cl_mem values, cl_mem segment_offsets, const tsr_run *run,
                            cl_uint n_wait, const cl_event *wait, cl_event *done,
                            tsr_report *report, tsr_error *err)
{
    problem p = {.op = &operation_sort};
    const cl_mem buffers[] = {keys, index, values, segment_offsets};

    if (!problem_in)
        return no_problem("sort", err);
    p.sort = *problem_in;
    return enqueue(session, &p, buffers, run, n_wait, wait, done, report, err);
}
