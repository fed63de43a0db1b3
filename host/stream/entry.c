#include "stream/entry.h"

#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/clock.h"
#include "base/fail.h"
#include "base/forks.h"
#include "core/dispatch.h"
#include "core/view.h"
#include "session/state.h"
#include "stream/host_memory.h"

/* Each buffer holds what its operand needs. */
static tsr_status check_buffers(const kept_call *c, const cl_mem buffers[], tsr_error *err)
{
    const operand *operands = c->operand;
    const char *op = c->posed.op->name;

    for (size_t i = 0; i < c->operand_count; i++) {
        size_t size = 0;
        cl_int rc;

        if (operands[i].bytes == 0)
            continue;
        if (!buffers[i])
            return tsr_fail(err, TSR_EINVAL, 0, "%s: buffer %s is NULL and should hold %zu bytes",
                            op, operands[i].name, operands[i].bytes);
        rc = clGetMemObjectInfo(buffers[i], CL_MEM_SIZE, sizeof(size), &size, NULL);
        if (rc != CL_SUCCESS)
            return tsr_fail(err, TSR_ECL, rc, "%s: clGetMemObjectInfo(%s)", op, operands[i].name);
        if (size < operands[i].bytes)
            return tsr_fail(err, TSR_EINVAL, 0, "%s: buffer %s has %zu bytes and should have %zu",
                            op, operands[i].name, size, operands[i].bytes);
        for (size_t k = 0; k < i; k++)
            if (buffers[k] == buffers[i] &&
                ((operands[k].access | operands[i].access) & ACCESS_WRITE) &&
                operands_meet(&operands[k], NULL, &operands[i], NULL))
                return tsr_fail(err, TSR_EINVAL, 0, "%s: %s and %s overlap in one buffer", op,
                                operands[k].name, operands[i].name);
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

tsr_status entry_run(tsr_session *s, const problem *p, void *const operands[], const tsr_run *run,
                     tsr_report *report, tsr_error *err)
{
    tsr_status st = run ? check_run(p->op, run, err) : TSR_OK;

    if (!st && s)
        st = session_check(s, err);
    if (st)
        return st;
    if (run && (run->n_wait || run->done))
        return tsr_fail(err, TSR_EINVAL, 0,
                        "%s: wait and done are of enqueued calls; this one is synchronous",
                        p->op->name);
#ifdef _OPENMP
    if (forks_so_far()) {
        const int threads = omp_get_max_threads();

        omp_set_num_threads(1); /* those of a team from before the fork are not there */
        st = host_memory_run(s, p, operands, run, report, err);
        omp_set_num_threads(threads);
        return st;
    }
#endif
    return host_memory_run(s, p, operands, run, report, err);
}

tsr_status entry_enqueue(tsr_session *s, const problem *p, const cl_mem buffers[],
                         const tsr_run *run, tsr_report *report, tsr_error *err)
{
    static const tsr_run default_run = {0};
    const uint64_t start = report ? clock_ns() : 0;
    tsr_report taken = {0};
    call_ends ends = {.report = report ? &taken : NULL};
    uint64_t probed;
    kept_call *c;
    tsr_status st;

    if (!s)
        return tsr_fail(err, TSR_EINVAL, 0, "%s: the session is NULL", p->op->name);
    if (!s->queue)
        return tsr_fail(err, TSR_EUNSUPPORTED, 0, "%s: the host has no queue: pass host memory",
                        p->op->name);
    st = session_check(s, err);
    if (st)
        return st;
    probed = s->probe_ns;
    if (!run)
        run = &default_run;
    ends.n_wait = run->n_wait;
    ends.wait = run->wait;
    ends.last = run->done;
    ends.strict_tiles = run->strict_tiles;
    st = check_run(p->op, run, err);
    st = st ? st : dispatch_call(s, p, run, IN_BUFFERS, &c, err);
    st = st ? st : check_buffers(c, buffers, err);
    st = st ? st : check_counter(p, run, err);
    st = st ? st : dispatch_run(s, c, buffers, &ends, err);
    cache_unlock(&s->building); /* nobody waits for what the caller does next */
    if (st || !report)
        return st;
    taken.probe_ns = s->probe_ns - probed;
    dispatch_report(&c->selection, start, &taken);
    *report = taken;
    return TSR_OK;
}
