#include "stream/host_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "core/enqueue_c.h"
#include "core/first_calls.h"
#include "core/registry.h"
#include "core/strict_tiles.h"
#include "core/view.h"
#include "session/events.h"
#include "session/program.h"
#include "stream/copies.h"
#include "stream/engine.h"

/* One call in progress. */
typedef struct call {
    tsr_session *session;
    problem problem; /* with what the operands say of it */
    operand operand[OPERANDS_MAX];
    size_t operand_count;
    void *array[OPERANDS_MAX]; /* where they are */
    kept_call *known;          /* until pieces of it take its place */
    problem normal;            /* as variants take it */
    selection selection;       /* of the last piece where it is streamed */
    cl_mem buffer[OPERANDS_MAX];
    cl_mem strict_tiles; /* their count, or NULL */
    bool reports;        /* the report is asked for, and what is counted for it alone */
    tsr_report report;
} call;

static tsr_status check_pointers(const call *c, tsr_error *err)
{
    const char *op = c->problem.op->name;

    for (size_t i = 0; i < c->operand_count; i++) {
        const operand *o = &c->operand[i];

        if (o->bytes && !c->array[i])
            return tsr_fail(err, TSR_EINVAL, 0, "%s: %s is NULL and should hold %zu bytes", op,
                            o->name, o->bytes);
        for (size_t k = 0; k < i; k++)
            if (((o->access | c->operand[k].access) & ACCESS_WRITE) &&
                operands_meet(o, c->array[i], &c->operand[k], c->array[k]))
                return tsr_fail(err, TSR_EINVAL, 0, "%s: %s and %s overlap in memory", op,
                                c->operand[k].name, o->name);
    }
    return TSR_OK;
}

/* ---- arrays that are not aligned to their elements ------------------------------------------- */

/* Copy the elements of an operand, and no gap, to where it is from memory that begins with byte
 * `begin` of it. */
static void copy_elements(const operand *o, const void *from, size_t begin, void *to)
{
    const view *x = &o->view;
    const size_t size = tsr_type_size(x->type);

    for (size_t e = 0; e < x->count; e++)
        for (size_t l = 0; l < x->lines; l++) {
            const size_t at = view_line(x, e, l) * size;

            memcpy((unsigned char *)to + at, (const unsigned char *)from + (at - begin),
                   x->length * size);
        }
}

/* Let what lies at no multiple of its element's size be worked on in a copy: C code and the kernels
 * of CPUs load elements as they are aligned.  out[i]: the copy, or NULL. */
static tsr_status copy_unaligned(call *c, void *out[], tsr_error *err)
{
    for (size_t i = 0; i < c->operand_count; i++) {
        const operand *o = &c->operand[i];

        if (!o->bytes || !c->array[i] || (uintptr_t)c->array[i] % tsr_type_size(o->type) == 0)
            continue;
        out[i] = malloc(o->bytes);
        if (!out[i])
            return tsr_fail(err, TSR_ENOMEM, 0,
                            "%s: no memory for a copy of %s (%zu bytes), which is not aligned to "
                            "its elements of %zu bytes",
                            c->problem.op->name, o->name, o->bytes, tsr_type_size(o->type));
        copy_elements(o, c->array[i], 0, out[i]);
        c->array[i] = out[i];
    }
    return TSR_OK;
}

/* ---- arrays that the device works on where they are ------------------------------------------ */

/* What kernels for other devices than CPUs take for granted of a buffer's address; those of CPUs
 * take arrays as they lie. */
enum { BUFFER_ALIGNMENT = 128 };

/* The operand before i whose array is the same one; i where there is none. */
static size_t first_of_array(const call *c, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (c->operand[k].bytes && c->array[k] == c->array[i])
            return k;
    return i;
}

/* OpenCL has no two buffers on the same memory: what lies in a range of memory with another operand
 * is addressed from the start of the first of them, by its offset.  False where that is no whole
 * number of elements, or the operation has no offsets. */
static bool join_arrays(call *c)
{
    const operation *op = c->problem.op;

    for (size_t i = 0; i < c->operand_count; i++)
        for (size_t k = 0; k < c->operand_count; k++) {
            const operand *o = &c->operand[i], *first = &c->operand[k];
            const uintptr_t at = (uintptr_t)c->array[i], start = (uintptr_t)c->array[k];
            const size_t size = tsr_type_size(o->type);

            if (!o->bytes || !first->bytes || at <= start || at >= start + first->bytes)
                continue;
            if (!op->offset || (at - start) % size)
                return false;
            *op->offset(&c->problem, i) += (at - start) / size;
            c->array[i] = c->array[k];
            op->operands(&c->problem, c->operand);
            return join_arrays(c);
        }
    return true;
}

/* Whether the device can work on the caller's arrays themselves. */
static bool can_share(call *c)
{
    const device_facts *d = session_facts(c->session);
    bool can = d->unified_memory && !c->session->copies && d->kind != DEVICE_HOST;

    for (size_t i = 0; i < c->operand_count; i++)
        can = can && (d->kind == DEVICE_CPU || (uintptr_t)c->array[i] % BUFFER_ALIGNMENT == 0);
    return can && join_arrays(c);
}

static tsr_status over_allocation(const call *c, const char *what, size_t bytes, tsr_error *err)
{
    const device_facts *d = session_facts(c->session);

    return tsr_fail(err, TSR_EOVERFLOW, 0,
                    "%s: %s needs %zu bytes, and the largest allocation on %s is %llu bytes",
                    c->problem.op->name, what, bytes, d->name,
                    (unsigned long long)d->max_allocation);
}

/* Need against limit, in bytes, before any work. */
static tsr_status check_memory(const call *c, tsr_error *err)
{
    const device_facts *d = session_facts(c->session);
    size_t total = c->known->plan.workspace;

    if (total > d->max_allocation)
        return over_allocation(c, "the workspace", total, err);
    for (size_t i = 0; i < c->operand_count; i++) {
        const operand *o = &c->operand[i];

        if (o->bytes > d->max_allocation)
            return over_allocation(c, o->name, o->bytes, err);
        if (c->report.shared && first_of_array(c, i) != i)
            continue;
        if (!size_add(total, o->bytes, &total))
            return tsr_fail(err, TSR_EOVERFLOW, 0,
                            "%s: the operands have more bytes together than size_t holds",
                            c->problem.op->name);
    }
    if (total > d->global_memory)
        return tsr_fail(err, TSR_EOVERFLOW, 0, "%s needs %zu bytes, and %s has %llu bytes",
                        c->problem.op->name, total, d->name, (unsigned long long)d->global_memory);
    return TSR_OK;
}

/* The device copies lines one by one where they start so far apart: what lies between nearer ones
 * takes less time to copy than to leave out. */
enum { PITCH_MIN = 8 << 10 };

static size_t pitch_of(const operand *o)
{
    return o->view.ld * tsr_type_size(o->type);
}

static bool copied_by_lines(const call *c, const operand *o)
{
    /* NVIDIA's driver copies to lines whose gaps are in the buffer too, the last one's as well. */
    return !view_contiguous(&o->view) && o->view.lines > 1 && pitch_of(o) >= PITCH_MIN &&
           o->bytes + pitch_of(o) <= session_facts(c->session)->max_allocation;
}

/* Buffers are the caller's arrays where those are shared, one for the operands of the same array;
 * else they are memory of the device. */
static tsr_status make_buffer(call *c, size_t i, tsr_error *err)
{
    const operand *o = &c->operand[i];
    const size_t first = c->report.shared ? first_of_array(c, i) : i;
    size_t bytes = o->bytes;
    cl_mem_flags flags = o->access == ACCESS_READ ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE;
    cl_int rc;

    if (first != i) {
        rc = clRetainMemObject(c->buffer[first]);
        if (rc != CL_SUCCESS)
            return tsr_fail(err, TSR_ECL, rc, "%s: clRetainMemObject(%s)", c->problem.op->name,
                            o->name);
        c->buffer[i] = c->buffer[first];
        return TSR_OK;
    }
    for (size_t k = i + 1; k < c->operand_count && c->report.shared; k++)
        if (first_of_array(c, k) == i && c->operand[k].bytes) {
            bytes = size_max(bytes, c->operand[k].bytes);
            flags = c->operand[k].access == ACCESS_READ ? flags : CL_MEM_READ_WRITE;
        }
    if (c->report.shared)
        flags |= CL_MEM_USE_HOST_PTR;
    else if (copied_by_lines(c, o))
        bytes += pitch_of(o);
    c->buffer[i] = clCreateBuffer(c->session->context, flags, bytes,
                                  c->report.shared ? c->array[i] : NULL, &rc);
    if (!c->buffer[i])
        return tsr_fail(err, TSR_ECL, rc, "%s: clCreateBuffer(%s, %zu bytes)", c->problem.op->name,
                        o->name, bytes);
    return TSR_OK;
}

/* Where the operands are while they are worked on.  What has to be streamed is left to kernels. */
static placement place_of(const call *c)
{
    const device_facts *d = session_facts(c->session);
    size_t total = 0;
    bool fits = c_reaches_buffers(d) && !c->session->host_calls_memory;

    if (c->report.shared)
        return IN_ARRAYS;
    for (size_t i = 0; i < c->operand_count; i++)
        fits = fits && c->operand[i].bytes <= d->max_allocation &&
               size_add(total, c->operand[i].bytes, &total);
    return fits && total <= d->global_memory ? IN_MAPPED : IN_BUFFERS;
}

/* ---- copies of arrays ------------------------------------------------------------------------ */

/* Copy each matrix of operand i as a rectangle, which lies in its buffer as it does in its array.
 */
static cl_int copy_lines(const call *c, size_t i, bool back)
{
    const cl_command_queue queue = c->session->queue;
    const view *x = &c->operand[i].view;
    const size_t size = tsr_type_size(x->type), pitch = pitch_of(&c->operand[i]);
    const size_t region[] = {x->length * size, x->lines, 1}, start[] = {0, 0, 0};
    cl_int rc = CL_SUCCESS;

    for (size_t e = 0; e < x->count && rc == CL_SUCCESS; e++) {
        const size_t at = view_line(x, e, 0) * size, there[] = {at % pitch, at / pitch, 0};
        unsigned char *here = (unsigned char *)c->array[i] + at;

        rc = back ? clEnqueueReadBufferRect(queue, c->buffer[i], CL_TRUE, there, start, region,
                                            pitch, 0, pitch, 0, here, 0, NULL, NULL)
                  : clEnqueueWriteBufferRect(queue, c->buffer[i], CL_TRUE, there, start, region,
                                             pitch, 0, pitch, 0, here, 0, NULL, NULL);
    }
    return rc;
}

/* Copy the elements of operand i back through memory that holds the gaps too, which are not the
 * result's: whoever writes them meanwhile loses nothing. */
static tsr_status copy_elements_back(const call *c, size_t i, cl_int *rc, tsr_error *err)
{
    const operand *o = &c->operand[i];
    const size_t bytes = o->bytes - o->begin;
    unsigned char *copy = malloc(bytes);

    if (!copy)
        return tsr_fail(err, TSR_ENOMEM, 0, "%s: no memory for a copy of %s (%zu bytes)",
                        c->problem.op->name, o->name, bytes);
    *rc = clEnqueueReadBuffer(c->session->queue, c->buffer[i], CL_TRUE, o->begin, bytes, copy, 0,
                              NULL, NULL);
    if (*rc == CL_SUCCESS)
        copy_elements(o, copy, o->begin, c->array[i]);
    free(copy);
    return TSR_OK;
}

static tsr_status operands_in(call *c, tsr_error *err)
{
    uint64_t start = clock_ns();

    for (size_t i = 0; i < c->operand_count; i++) {
        const operand *o = &c->operand[i];
        const bool by_lines = copied_by_lines(c, o);
        const size_t bytes = by_lines ? view_bytes(&o->view) : o->bytes - o->begin;
        tsr_status st;
        cl_int rc;

        if (o->bytes == 0)
            continue;
        st = make_buffer(c, i, err);
        if (st)
            return st;
        if (o->whole || c->report.shared)
            continue;
        rc = by_lines
                 ? copy_lines(c, i, false)
                 : clEnqueueWriteBuffer(c->session->queue, c->buffer[i], CL_TRUE, o->begin, bytes,
                                        (unsigned char *)c->array[i] + o->begin, 0, NULL, NULL);
        if (rc != CL_SUCCESS)
            return tsr_fail(err, TSR_ECL, rc, "%s: copying %s to the device (%zu bytes)",
                            c->problem.op->name, o->name, bytes);
        c->report.to_device_bytes += bytes;
    }
    c->report.to_device_ns = clock_ns() - start;
    return TSR_OK;
}

/* Map and unmap a buffer that is the caller's array: what the device wrote is then visible there.
 */
static cl_int sync_to_host(cl_command_queue queue, cl_mem buffer, size_t bytes)
{
    cl_int rc;
    void *at =
        clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, bytes, 0, NULL, NULL, &rc);

    if (rc == CL_SUCCESS)
        rc = clEnqueueUnmapMemObject(queue, buffer, at, 0, NULL, NULL);
    return rc;
}

static tsr_status operands_out(call *c, tsr_error *err)
{
    const cl_command_queue queue = c->session->queue;
    uint64_t start = clock_ns();

    for (size_t i = 0; i < c->operand_count; i++) {
        const operand *o = &c->operand[i];
        const size_t bytes = view_bytes(&o->view);
        tsr_status st = TSR_OK;
        cl_int rc = CL_SUCCESS;

        if (o->bytes == 0 || o->access == ACCESS_READ)
            continue;
        if (c->report.shared)
            rc = sync_to_host(queue, c->buffer[i], o->bytes);
        else if (view_contiguous(&o->view))
            rc = clEnqueueReadBuffer(queue, c->buffer[i], CL_TRUE, o->begin, bytes,
                                     (unsigned char *)c->array[i] + o->begin, 0, NULL, NULL);
        else if (copied_by_lines(c, o))
            rc = copy_lines(c, i, true);
        else
            st = copy_elements_back(c, i, &rc, err);
        if (st)
            return st;
        if (rc != CL_SUCCESS)
            return tsr_fail(err, TSR_ECL, rc,
                            c->report.shared ? "%s: mapping %s (%zu bytes)"
                                             : "%s: copying %s from the device (%zu bytes)",
                            c->problem.op->name, o->name, bytes);
        c->report.from_device_bytes += c->report.shared ? 0 : bytes;
    }
    if (c->report.shared) {
        const cl_int rc = clFinish(queue);

        if (rc != CL_SUCCESS)
            return tsr_fail(err, TSR_ECL, rc, "%s: clFinish, when the arrays are unmapped",
                            c->problem.op->name);
    }
    c->report.from_device_ns = clock_ns() - start;
    return TSR_OK;
}

/* Device time of the commands; 0 on a queue that records none. */
static uint64_t span(const tsr_session *s, cl_event first, cl_event last)
{
    double ns = 0;

    if (s->profiling)
        events_span(first, last, &ns, NULL);
    return (uint64_t)ns;
}

static tsr_status compute(call *c, tsr_error *err)
{
    const bool late = c->session->profiling && session_facts(c->session)->compiles_late;
    first_launches launches = {0};
    cl_event first = NULL, last = NULL;
    uint64_t compiled, within;
    cl_int rc;
    tsr_status st = dispatch_run(c->session, c->known, c->buffer,
                                 &(call_ends){.first = c->session->profiling ? &first : NULL,
                                              .last = &last,
                                              .strict_tiles = c->strict_tiles,
                                              .launches = late ? &launches : NULL,
                                              .report = &c->report},
                                 err);

    if (st != TSR_OK) {
        first_launches_take(&launches, NULL, &within);
        return st;
    }
    if (c->session->watched) {
        first_launches_wait(&launches, c->session->queue);
        session_built(c->session);
    }
    rc = clFinish(c->session->queue);
    if (rc == CL_SUCCESS)
        rc = events_outcome(last);
    st = c_failure(c->session, err);
    if (rc != CL_SUCCESS)
        st = dispatch_ended(c->session, &c->problem, c->selection.variant, rc, err);
    else
        c->report.device_ns = span(c->session, first, last);
    compiled = first_launches_take(&launches, first, &within);
    c->report.build_ns += compiled;
    c->report.device_ns -= c->report.device_ns > within ? within : c->report.device_ns;
    if (st == TSR_OK)
        st = strict_tiles_read(c->session, c->strict_tiles, &c->report.strict_tiles, err);
    event_forget(&first);
    event_forget(&last);
    return st;
}

static tsr_status run_on_device(call *c, tsr_error *err)
{
    tsr_status st = check_memory(c, err);

    if (st == TSR_OK)
        st = dispatch_build(c->session, c->known, &c->report, err);
    if (st == TSR_OK)
        st = operands_in(c, err);
    if (st == TSR_OK && c->reports)
        st = strict_tiles_open(c->session, c->known, &c->strict_tiles, err);
    if (st == TSR_OK)
        st = compute(c, err);
    if (st == TSR_OK)
        st = operands_out(c, err);
    /* After a failure too, nothing works on the caller's arrays any more. */
    if (st != TSR_OK && c->report.shared)
        queue_settle(c->session->queue);
    for (size_t i = 0; i < c->operand_count; i++)
        if (c->buffer[i])
            clReleaseMemObject(c->buffer[i]);
    if (c->strict_tiles)
        clReleaseMemObject(c->strict_tiles);
    if (st == TSR_OK)
        programs_save(c->session);
    return st;
}

static tsr_status run_on_host(call *c, tsr_error *err)
{
    uint64_t start = clock_ns();
    void *arrays[OPERANDS_MAX] = {NULL};
    tsr_status st;

    for (size_t i = 0; i < c->operand_count; i++)
        arrays[i] = c->array[c->known->order[i]];
    st = c->selection.variant->host(&c->normal, arrays, err);
    c->report.device_ns = clock_ns() - start;
    c->report.commands = 1;
    c->report.shared = 1;
    return st;
}

static tsr_status stream(call *c, const partition *how, const tsr_run *run, tsr_error *err)
{
    void *arrays[OPERANDS_MAX] = {NULL};
    const stream_call streamed = {.session = c->session,
                                  .problem = &c->normal,
                                  .operands = arrays,
                                  .run = run,
                                  .selection = &c->selection,
                                  .counts = c->reports,
                                  .report = &c->report};
    tsr_status st;

    for (size_t i = 0; i < c->operand_count; i++)
        arrays[i] = c->array[c->known->order[i]];
    st = how->kind->run ? how->kind->run(&streamed, how, err) : engine_run(&streamed, how, err);
    if (st == TSR_OK)
        programs_save(c->session);
    else
        copies_empty(c->session);
    return st;
}

static tsr_status run_where(call *c, const tsr_run *run, tsr_error *err)
{
    partition how = {0};
    tsr_status st = TSR_OK;

    if (!c->selection.variant->source && c->known->place != IN_MAPPED)
        return run_on_host(c, err);
    if (c->session->host_calls_memory)
        copies_empty(c->session);
    if (!c->report.shared && c->selection.variant->source)
        st = partition_choose(c->session, &c->normal, &c->selection, &how, err);
    if (st)
        return st;
    return how.kind ? stream(c, &how, run, err) : run_on_device(c, err);
}

/* Check the problem and the caller's arrays, and look at what they say of it. */
static tsr_status check_call(call *c, void *const operands[], void *aligned[], tsr_error *err)
{
    const operation *op = c->problem.op;
    tsr_status st = op->check(&c->problem, err);

    if (st != TSR_OK)
        return st;
    c->operand_count = op->operands(&c->problem, c->operand);
    memcpy(c->array, operands, c->operand_count * sizeof(*operands));
    st = check_pointers(c, err);
    st = st ? st : copy_unaligned(c, aligned, err);
    if (st == TSR_OK && op->inspect)
        st = op->inspect(&c->problem, (const void *const *)c->array, err);
    return st;
}

tsr_status host_memory_run(tsr_session *s, const problem *p, void *const operands[],
                           const tsr_run *run, tsr_report *report, tsr_error *err)
{
    uint64_t start = clock_ns(), probed;
    call c = {.session = s, .problem = *p, .reports = report != NULL};
    void *aligned[OPERANDS_MAX] = {NULL};
    tsr_status st;

    probed = s->probe_ns;
    st = check_call(&c, operands, aligned, err);
    if (st == TSR_OK) {
        c.report.shared = can_share(&c);
        st = first_call(s, &c.problem, run, place_of(&c), &c.known, &c.report, err);
    }
    if (st == TSR_OK) {
        c.normal = c.known->normal;
        c.selection = c.known->selection;
        st = run_where(&c, run, err);
    }
    session_end_build(s);
    for (size_t i = 0; i < c.operand_count; i++) {
        if (!st && aligned[i] && (c.operand[i].access & ACCESS_WRITE))
            copy_elements(&c.operand[i], aligned[i], 0, operands[i]);
        c.report.shared = c.report.shared && !aligned[i];
        free(aligned[i]);
    }
    if (st != TSR_OK || !report)
        return st;
    c.report.probe_ns = s->probe_ns - probed;
    dispatch_report(&c.selection, start, &c.report);
    *report = c.report;
    return TSR_OK;
}
