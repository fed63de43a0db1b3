#include "core/enqueue_c.h"

#include "base/fail.h"
#include "base/sizes.h"

/* What the native kernel gets: a copy, which the driver makes. */
typedef struct c_call {
    tsr_status (*function)(const problem *p, void *const operands[], tsr_error *err);
    problem problem;
    void *operand[OPERANDS_MAX];
    atomic_int *failed; /* the session's, which waits for its queue before it ends */
} c_call;

/* The range of memory that operands have in one buffer, of which they may be sub-buffers: it is
 * mapped once.  OpenCL has no two maps of the same bytes where one is written. */
typedef struct mapping {
    cl_mem buffer; /* none is another's part */
    size_t begin, end;
    cl_map_flags flags;
    unsigned char *at; /* where byte `begin` is; NULL: not mapped */
} mapping;

/* The commands of a call so far. */
typedef struct sequence {
    cl_command_queue queue;
    bool chained; /* each waits for the one before, on a queue that is out of order */
    bool wants_last;
    cl_uint n_wait; /* of the next command */
    const cl_event *wait;
    cl_event *first; /* wanted, and not there yet; or NULL */
    cl_event last;   /* of the command before; NULL: it has none */
} sequence;

bool c_reaches_buffers(const device_facts *d)
{
    return d->native_kernels && d->unified_memory;
}

bool c_may_map(const kept_call *c, const cl_mem operands[])
{
    const cl_mem_flags forbids =
        CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY;

    for (size_t i = 0; i < c->operand_count; i++) {
        cl_mem_flags flags = 0;

        if (c->operand[i].bytes && (clGetMemObjectInfo(operands[i], CL_MEM_FLAGS, sizeof(flags),
                                                       &flags, NULL) != CL_SUCCESS ||
                                    (flags & forbids)))
            return false;
    }
    return true;
}

tsr_status c_failure(tsr_session *s, tsr_error *err)
{
    const tsr_status st = (tsr_status)atomic_exchange(&s->c_failed, TSR_OK);

    return st ? tsr_fail(err, st, 0,
                         "a call enqueued before this one had no memory for its C code, and has no "
                         "result")
              : TSR_OK;
}

static void CL_CALLBACK run(void *memory)
{
    const c_call *c = memory;
    const tsr_status st = c->function(&c->problem, c->operand, NULL);

    if (st)
        atomic_store(c->failed, (int)st);
}

/* The event that the next command is to have, or NULL. */
static cl_event *event_of(const sequence *q, bool ends, cl_event *e)
{
    *e = NULL;
    return q->chained || q->first || (ends && q->wants_last) ? e : NULL;
}

static void step(sequence *q, cl_event e)
{
    if (e && q->first && clRetainEvent(e) == CL_SUCCESS)
        *q->first = e;
    q->first = NULL;
    if (q->last)
        clReleaseEvent(q->last);
    q->last = e;
    q->n_wait = q->chained;
    q->wait = q->chained ? &q->last : NULL;
}

/* The buffer that an operand's is a part of, and where. */
static cl_int find_whole(cl_mem buffer, cl_mem *whole, size_t *origin)
{
    cl_mem parent = NULL;
    cl_int rc =
        clGetMemObjectInfo(buffer, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof(parent), &parent, NULL);

    *whole = parent ? parent : buffer;
    *origin = 0;
    if (rc == CL_SUCCESS && parent)
        rc = clGetMemObjectInfo(buffer, CL_MEM_OFFSET, sizeof(*origin), origin, NULL);
    return rc;
}

/* What is to be mapped: returns how many mappings; of[i] and origin[i] are those of operand i. */
static size_t plan_mappings(const kept_call *c, const cl_mem operands[], mapping out[],
                            size_t of[OPERANDS_MAX], size_t origin[OPERANDS_MAX], cl_int *rc)
{
    size_t count = 0;

    *rc = CL_SUCCESS;
    for (size_t i = 0; i < c->operand_count && *rc == CL_SUCCESS; i++) {
        const operand *o = &c->operand[i];
        size_t k = 0;
        cl_mem whole;

        if (!o->bytes)
            continue;
        *rc = find_whole(operands[i], &whole, &origin[i]);
        while (k < count && out[k].buffer != whole)
            k++;
        if (k == count)
            out[count++] = (mapping){.buffer = whole, .begin = SIZE_MAX, .flags = CL_MAP_READ};
        out[k].begin = size_min(out[k].begin, origin[i] + o->begin);
        out[k].end = size_max(out[k].end, origin[i] + o->bytes);
        out[k].flags |= o->access & ACCESS_WRITE ? CL_MAP_WRITE : 0;
        of[i] = k;
    }
    return count;
}

tsr_status c_enqueue(tsr_session *s, const kept_call *c, const cl_mem operands[], cl_uint n_wait,
                     const cl_event *wait, cl_event *first, cl_event *last, tsr_error *err)
{
    const char *op = c->posed.op->name, *name = c->selection.variant->name;
    sequence q = {.queue = s->queue,
                  .chained = s->out_of_order,
                  .wants_last = last != NULL,
                  .n_wait = n_wait,
                  .wait = n_wait ? wait : NULL,
                  .first = first};
    c_call call = {
        .function = c->selection.variant->host, .problem = c->normal, .failed = &s->c_failed};
    size_t of[OPERANDS_MAX], origin[OPERANDS_MAX];
    mapping map[OPERANDS_MAX];
    tsr_status st = TSR_OK;
    cl_event e;
    cl_int rc;
    const size_t maps = plan_mappings(c, operands, map, of, origin, &rc);

    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "%s/%s: clGetMemObjectInfo", op, name);
    for (size_t k = 0; k < maps && !st; k++) {
        map[k].at = clEnqueueMapBuffer(q.queue, map[k].buffer, CL_FALSE, map[k].flags, map[k].begin,
                                       map[k].end - map[k].begin, q.n_wait, q.wait,
                                       event_of(&q, false, &e), &rc);
        if (rc == CL_SUCCESS)
            step(&q, e);
        else
            st = tsr_fail(err, TSR_ECL, rc, "%s/%s: clEnqueueMapBuffer(%zu bytes)", op, name,
                          map[k].end - map[k].begin);
    }
    for (size_t i = 0; i < c->operand_count && !st; i++) {
        const size_t posed = c->order[i];

        if (c->operand[posed].bytes)
            call.operand[i] =
                map[of[posed]].at + ((ptrdiff_t)origin[posed] - (ptrdiff_t)map[of[posed]].begin);
    }
    if (!st) {
        rc = clEnqueueNativeKernel(q.queue, run, &call, sizeof(call), 0, NULL, NULL, q.n_wait,
                                   q.wait, event_of(&q, maps == 0, &e));
        if (rc == CL_SUCCESS)
            step(&q, e);
        else
            st = tsr_fail(err, TSR_ECL, rc, "%s/%s: clEnqueueNativeKernel", op, name);
    }
    for (size_t k = 0; k < maps; k++) {
        if (!map[k].at)
            continue;
        rc = clEnqueueUnmapMemObject(q.queue, map[k].buffer, map[k].at, q.n_wait, q.wait,
                                     event_of(&q, k + 1 == maps, &e));
        if (rc == CL_SUCCESS)
            step(&q, e);
        else if (!st)
            st = tsr_fail(err, TSR_ECL, rc, "%s/%s: clEnqueueUnmapMemObject", op, name);
    }
    if (st || !last) {
        if (q.last)
            clReleaseEvent(q.last);
        return st;
    }
    *last = q.last;
    return TSR_OK;
}
