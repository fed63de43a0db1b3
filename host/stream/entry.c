#include "stream/entry.h"

#include <stdio.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/clock.h"
#include "base/fail.h"
#include "base/forks.h"
#include "core/dispatch.h"
#include "core/enqueue_c.h"
#include "core/first_calls.h"
#include "core/view.h"
#include "session/default.h"
#include "stream/host_memory.h"

/* A buffer as part of the memory that it is made of: a sub-buffer is one of its parent's. */
typedef struct memory {
    cl_mem whole;
    size_t origin; /* bytes from its start */
} memory;

static tsr_status ask(cl_mem buffer, cl_mem_info what, void *out, size_t bytes, const char *op,
                      const char *name, tsr_error *err)
{
    const cl_int rc = clGetMemObjectInfo(buffer, what, bytes, out, NULL);

    return rc == CL_SUCCESS ? TSR_OK
                            : tsr_fail(err, TSR_ECL, rc, "%s: clGetMemObjectInfo(%s)", op, name);
}

/* A buffer of the session's context that holds the operand and may be used as the call does. */
static tsr_status check_buffer(const tsr_session *s, const char *op, const operand *o,
                               cl_mem buffer, memory *out, tsr_error *err)
{
    size_t size = 0;
    cl_context context = NULL;
    cl_mem_flags flags = 0;
    cl_mem parent = NULL;
    tsr_status st;

    *out = (memory){buffer, 0};
    if (!buffer)
        return tsr_fail(err, TSR_EINVAL, 0, "%s: buffer %s is NULL and should hold %zu bytes", op,
                        o->name, o->bytes);
    st = ask(buffer, CL_MEM_SIZE, &size, sizeof size, op, o->name, err);
    st = st ? st : ask(buffer, CL_MEM_CONTEXT, &context, sizeof context, op, o->name, err);
    st = st ? st : ask(buffer, CL_MEM_FLAGS, &flags, sizeof flags, op, o->name, err);
    st = st ? st
            : ask(buffer, CL_MEM_ASSOCIATED_MEMOBJECT, &parent, sizeof parent, op, o->name, err);
    if (!st && parent) {
        out->whole = parent;
        st = ask(buffer, CL_MEM_OFFSET, &out->origin, sizeof out->origin, op, o->name, err);
    }
    if (st)
        return st;
    if (context != s->context)
        return tsr_fail(err, TSR_EINVAL, 0, "%s: buffer %s is of another context than the session",
                        op, o->name);
    if (size < o->bytes)
        return tsr_fail(err, TSR_EINVAL, 0, "%s: buffer %s has %zu bytes and should have %zu", op,
                        o->name, size, o->bytes);
    if ((flags & CL_MEM_READ_ONLY) && (o->access & ACCESS_WRITE))
        return tsr_fail(err, TSR_EINVAL, 0, "%s: buffer %s is CL_MEM_READ_ONLY and is written", op,
                        o->name);
    if ((flags & CL_MEM_WRITE_ONLY) && ((o->access & ACCESS_READ) || o->read_back))
        return tsr_fail(err, TSR_EINVAL, 0, "%s: buffer %s is CL_MEM_WRITE_ONLY and is read", op,
                        o->name);
    return TSR_OK;
}

/* The buffers of the operands and, behind them, that of the counter of strict tiles, where there is
 * one.  What is written has no element in common with another. */
static tsr_status check_buffers(const tsr_session *s, const kept_call *c, const cl_mem buffers[],
                                cl_mem strict_tiles, tsr_error *err)
{
    static const view one = {TSR_U32, 1, 1, 1, 0, 1, 0};
    const char *op = c->posed.op->name;
    const operand counter =
        strict_tiles ? view_operand("strict_tiles", &one, ACCESS_READ_WRITE) : (operand){0};
    memory m[OPERANDS_MAX + 1];

    for (size_t i = 0; i <= c->operand_count; i++) {
        const operand *o = i < c->operand_count ? &c->operand[i] : &counter;
        tsr_status st;

        if (o->bytes == 0)
            continue;
        st = check_buffer(s, op, o, i < c->operand_count ? buffers[i] : strict_tiles, &m[i], err);
        if (st)
            return st;
        for (size_t k = 0; k < i; k++) {
            const operand *other = &c->operand[k];

            if (other->bytes && m[k].whole == m[i].whole &&
                ((other->access | o->access) & ACCESS_WRITE) &&
                operands_meet(other, (void *)m[k].origin, o, (void *)m[i].origin))
                return tsr_fail(err, TSR_EINVAL, 0,
                                "%s: %s and %s overlap in one buffer: they are within its bytes "
                                "%zu to %zu and %zu to %zu",
                                op, other->name, o->name, m[k].origin + other->begin,
                                m[k].origin + other->bytes - 1, m[i].origin + o->begin,
                                m[i].origin + o->bytes - 1);
        }
    }
    return TSR_OK;
}

/* Events of the session's context. */
static tsr_status check_events(const tsr_session *s, const char *op, const tsr_run *run,
                               tsr_error *err)
{
    for (cl_uint i = 0; i < run->n_wait; i++) {
        cl_context context = NULL;
        cl_int rc;

        if (!run->wait[i])
            return tsr_fail(err, TSR_EINVAL, 0, "%s: wait[%u] is NULL", op, (unsigned)i);
        rc = clGetEventInfo(run->wait[i], CL_EVENT_CONTEXT, sizeof context, &context, NULL);
        if (rc != CL_SUCCESS)
            return tsr_fail(err, TSR_ECL, rc, "%s: clGetEventInfo(wait[%u])", op, (unsigned)i);
        if (context != s->context)
            return tsr_fail(err, TSR_EINVAL, 0,
                            "%s: wait[%u] is an event of another context than the session", op,
                            (unsigned)i);
    }
    return TSR_OK;
}

tsr_status entry_problem(const operation *op, const void *structure, size_t bytes, problem *out,
                         tsr_error *err)
{
    if (!structure)
        return tsr_fail(err, TSR_EINVAL, 0, "%s: the problem is NULL", op->name);
    *out = (problem){.op = op};
    memcpy(out->bytes, structure, bytes);
    return TSR_OK;
}

/* What a caller says of a run, wherever its operands are. */
static tsr_status check_run(const operation *op, const tsr_run *run, tsr_error *err)
{
    if (run->set_count && !run->set)
        return tsr_fail(err, TSR_EINVAL, 0, "%s: set is NULL and should hold %zu settings",
                        op->name, run->set_count);
    for (size_t i = 0; i < run->set_count; i++)
        if (!run->set[i])
            return tsr_fail(err, TSR_EINVAL, 0, "%s: setting %zu is NULL", op->name, i);
    if (run->n_wait && !run->wait)
        return tsr_fail(err, TSR_EINVAL, 0, "%s: wait is NULL and should hold %u events", op->name,
                        (unsigned)run->n_wait);
    return TSR_OK;
}

/* It ran, and the report says by which variant: add why that is one of the host. */
static void add_why_host(const tsr_session *s, tsr_report *report)
{
    const char *why = text_get(&s->why_host);
    size_t end;

    if (!why[0])
        return;
    end = strlen(report->chosen);
    snprintf(report->chosen + end, sizeof(report->chosen) - end, "; on host: %s", why);
}

static tsr_status run_on(tsr_session *s, const problem *p, void *const operands[],
                         const tsr_run *run, tsr_report *report, tsr_error *err)
{
    tsr_status st = session_check(s, err);

    st = st ? st : c_failure(s, err);
    if (st)
        return st;
#ifdef _OPENMP
    if (forks_so_far()) {
        const int threads = omp_get_max_threads();

        omp_set_num_threads(1); /* those of a team from before the fork are not there */
        st = host_memory_run(s, p, operands, run, report, err);
        omp_set_num_threads(threads);
    } else
#endif
        st = host_memory_run(s, p, operands, run, report, err);
    if (!st && report)
        add_why_host(s, report);
    return st;
}

tsr_status entry_run(tsr_session *s, const problem *p, void *const operands[], const tsr_run *run,
                     tsr_report *report, tsr_error *err)
{
    tsr_status st = run ? check_run(p->op, run, err) : TSR_OK;

    if (st)
        return st;
    if (run && (run->n_wait || run->done))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "%s: wait and done are for enqueued calls, and this one is synchronous",
                        p->op->name);
    if (s)
        return run_on(s, p, operands, run, report, err);
    st = default_session_take(&s, err);
    if (st)
        return st;
    st = run_on(s, p, operands, run, report, err);
    default_session_give_back();
    return st;
}

tsr_status entry_enqueue(tsr_session *s, const problem *p, const cl_mem buffers[],
                         const tsr_run *run, tsr_report *report, tsr_error *err)
{
    static const tsr_run default_run = {0};
    const uint64_t start = report ? clock_ns() : 0;
    tsr_report taken = {0};
    call_ends ends = {.report = report ? &taken : NULL};
    uint64_t probed;
    placement place;
    kept_call *c;
    tsr_status st;

    if (!s)
        return tsr_fail(err, TSR_EINVAL, 0,
                        "%s: the session is NULL, and buffers belong to the context of one",
                        p->op->name);
    if (!s->queue)
        return tsr_fail(err, TSR_EUNSUPPORTED, 0,
                        "%s: the device 'host' has no queue: call the function for host memory",
                        p->op->name);
    st = session_check(s, err);
    st = st ? st : c_failure(s, err);
    if (st)
        return st;
    probed = s->probe_ns;
    place = c_reaches_buffers(session_facts(s)) ? IN_MAPPED : IN_BUFFERS;
    if (!run)
        run = &default_run;
    ends.n_wait = run->n_wait;
    ends.wait = run->wait;
    ends.last = run->done;
    ends.strict_tiles = run->strict_tiles;
    st = check_run(p->op, run, err);
    st = st ? st : check_events(s, p->op->name, run, err);
    st = st ? st : first_call(s, p, run, place, &c, ends.report, err);
    st = st ? st : check_buffers(s, c, buffers, run->strict_tiles, err);
    if (!st && !c->selection.variant->source && !c_may_map(c, buffers))
        st = dispatch_call(s, p, run, IN_BUFFERS, &c, err);
    st = st ? st : dispatch_run(s, c, buffers, &ends, err);
    session_end_build(s); /* nobody waits for what the caller does next */
    if (st || !report)
        return st;
    taken.probe_ns = s->probe_ns - probed;
    dispatch_report(&c->selection, start, &taken);
    *report = taken;
    return TSR_OK;
}
