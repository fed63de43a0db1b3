/* The public operations: each is its problem and its operands, and the rest is shared. */
#include "base/clock.h"
#include "base/fail.h"
#include "core/registry.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matvec/matvec_shape.h"
#include "ops/sort/sort_order.h"
#include "stream/host_memory.h"

/* Whether what is written of one operand shares bytes with another in the same buffer. */
static bool overlap(const operand *x, const operand *y)
{
    return x->bytes && y->bytes && x->begin < y->bytes && y->begin < x->bytes &&
           ((x->access | y->access) & ACCESS_WRITE);
}

/* Each buffer holds what its operand needs. */
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

/* Check the optional counter buffer. */
static tsr_status check_counter(const problem *p, const tsr_run *run, tsr_error *err)
{
    size_t size = 0;
    cl_int rc;

    if (!run->strict_tiles)
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

static const tsr_run default_run = {0};

/* An operation on buffers, as its caller asks for it. */
typedef struct request {
    tsr_session *session;
    problem problem;
    const cl_mem *buffers; /* of its operands, in order */
    const tsr_run *run;    /* never NULL */
    tsr_report *report;
} request;

/* Its operands are described in `operands`, *count of them. */
static tsr_status check_request(const request *r, operand operands[OPERANDS_MAX], size_t *count,
                                tsr_error *err)
{
    const operation *op = r->problem.op;
    tsr_status st;

    if (!r->session)
        return tsr_fail(err, TSR_EINVAL, 0, "%s: the session is NULL", op->name);
    if (!r->session->queue)
        return tsr_fail(err, TSR_EUNSUPPORTED, 0, "%s: the host has no queue: pass host memory",
                        op->name);
    st = op->check(&r->problem, err);
    if (st)
        return st;
    *count = op->operands(&r->problem, operands);
    st = check_buffers(&r->problem, operands, *count, r->buffers, err);
    return st ? st : check_counter(&r->problem, r->run, err);
}

static tsr_status enqueue(const request *r, tsr_error *err)
{
    const uint64_t start = r->report ? clock_ns() : 0;
    operand operands[OPERANDS_MAX];
    unsigned order[OPERANDS_MAX];
    cl_mem arranged[OPERANDS_MAX] = {NULL};
    tsr_report report = {0};
    const call_ends ends = {.n_wait = r->run->n_wait,
                            .wait = r->run->wait,
                            .last = r->run->done,
                            .strict_tiles = r->run->strict_tiles,
                            .report = r->report ? &report : NULL};
    problem normal;
    selection sel;
    size_t count = 0;
    tsr_status st = check_request(r, operands, &count, err);

    if (st)
        return st;
    normal = problem_normal(&r->problem, order);
    for (size_t i = 0; i < count; i++)
        arranged[i] = r->buffers[order[i]];
    st = dispatch_select(r->session, &normal, r->run, &sel, err);
    st = st ? st : dispatch_enqueue(r->session, &normal, &sel, arranged, &ends, err);
    if (st || !r->report)
        return st;
    dispatch_report(&sel, start, &report);
    *r->report = report;
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

/* A synchronous call has nothing to wait for, and would leave the caller without the event. */
static tsr_status run_on_host_memory(tsr_session *session, const problem *p, void *const operands[],
                                     const tsr_run *run, tsr_report *report, tsr_error *err)
{
    if (run && (run->n_wait || run->done))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "%s: wait and done are of enqueued calls; this one is synchronous",
                        p->op->name);
    return host_memory_run(session, p, operands, run, report, err);
}

tsr_status tsr_matmul(tsr_session *session, const tsr_matmul_problem *problem_in, const void *a,
                      const void *b, void *c, const tsr_run *run, tsr_report *report,
                      tsr_error *err)
{
    problem p = {.op = &operation_matmul};
    void *const operands[] = {readable(a), readable(b), c};

    if (!problem_in)
        return no_problem("matmul", err);
    *matmul_in(&p) = *problem_in;
    return run_on_host_memory(session, &p, operands, run, report, err);
}

tsr_status tsr_matmul_enqueue(tsr_session *session, const tsr_matmul_problem *problem_in, cl_mem a,
                              cl_mem b, cl_mem c, const tsr_run *run, tsr_report *report,
                              tsr_error *err)
{
    const cl_mem buffers[] = {a, b, c};
    request r = {session, {.op = &operation_matmul}, buffers, run ? run : &default_run, report};

    if (!problem_in)
        return no_problem("matmul", err);
    *matmul_in(&r.problem) = *problem_in;
    return enqueue(&r, err);
}

tsr_status tsr_matvec(tsr_session *session, const tsr_matvec_problem *problem_in, const void *a,
                      const void *x, void *y, const tsr_run *run, tsr_report *report,
                      tsr_error *err)
{
    problem p = {.op = &operation_matvec};
    void *const operands[] = {readable(a), readable(x), y};

    if (!problem_in)
        return no_problem("matvec", err);
    *matvec_in(&p) = *problem_in;
    return run_on_host_memory(session, &p, operands, run, report, err);
}

tsr_status tsr_matvec_enqueue(tsr_session *session, const tsr_matvec_problem *problem_in, cl_mem a,
                              cl_mem x, cl_mem y, const tsr_run *run, tsr_report *report,
                              tsr_error *err)
{
    const cl_mem buffers[] = {a, x, y};
    request r = {session, {.op = &operation_matvec}, buffers, run ? run : &default_run, report};

    if (!problem_in)
        return no_problem("matvec", err);
    *matvec_in(&r.problem) = *problem_in;
    return enqueue(&r, err);
}

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
    problem p = {.op = &operation_sort};
    tsr_status st;

    if (!problem_in)
        return no_problem("sort", err);
    if (!arrays)
        return tsr_fail(err, TSR_EINVAL, 0, "sort: the arrays are NULL");
    *sort_in(&p) = *problem_in;
    st = check_asked(problem_in, arrays->index, arrays->values, arrays->segment_offsets, err);
    if (st)
        return st;
    return run_on_host_memory(session, &p,
                              (void *const[]){arrays->keys, arrays->index, arrays->values,
                                              readable(arrays->segment_offsets)},
                              run, report, err);
}

tsr_status tsr_sort_enqueue(tsr_session *session, const tsr_sort_problem *problem_in,
                            const tsr_sort_buffers *buffers, const tsr_run *run, tsr_report *report,
                            tsr_error *err)
{
    request r = {session, {.op = &operation_sort}, NULL, run ? run : &default_run, report};
    tsr_status st;

    if (!problem_in)
        return no_problem("sort", err);
    if (!buffers)
        return tsr_fail(err, TSR_EINVAL, 0, "sort: the buffers are NULL");
    *sort_in(&r.problem) = *problem_in;
    r.buffers =
        (const cl_mem[]){buffers->keys, buffers->index, buffers->values, buffers->segment_offsets};
    st = check_asked(problem_in, buffers->index, buffers->values, buffers->segment_offsets, err);
    return st ? st : enqueue(&r, err);
}
