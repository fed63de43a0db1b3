/* Running a call: its programs are built, its buffers taken, its commands enqueued. */

/* clCreateCommandQueue: the call that devices of every version take. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include "core/dispatch.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "core/calls.h"
#include "core/enqueue_c.h"
#include "core/registry.h"
#include "session/events.h"
#include "session/program.h"

_Static_assert((int)BLOCK_BYTES_MAX <= (int)PROGRAM_VALUE_MAX,
               "a step's structure is a kernel's value");

_Static_assert(sizeof(((kept_call *)0)->parameters) == sizeof(((tsr_report *)0)->parameters),
               "a report's parameters are copied from a kept call");

tsr_status dispatch_ended(tsr_session *s, const problem *p, const variant *v, cl_int rc,
                          tsr_error *err)
{
    if (rc == CL_SUCCESS)
        return TSR_OK;
    dispatch_forget_group_counters(s);
    return tsr_fail(err, TSR_ECL, rc, "%s/%s failed while it ran on %s", p->op->name, v->name,
                    session_facts(s)->name);
}

void dispatch_report(const selection *sel, uint64_t start, tsr_report *report)
{
    if (!report->parameters[0] && sel->params.count) /* no command ran */
        params_describe_in(&sel->params, report->parameters, sizeof(report->parameters));
    snprintf(report->variant, sizeof(report->variant), "%s", sel->variant->name);
    snprintf(report->chosen, sizeof(report->chosen), "%s", sel->chosen);
    report->wall_ns = clock_ns() - start;
}

void dispatch_add_report(tsr_report *to, const tsr_report *one)
{
    if (!to->parameters[0]) /* as the first piece runs with them */
        memcpy(to->parameters, one->parameters, sizeof(to->parameters));
    to->build = one->build > to->build ? one->build : to->build;
    to->build_ns += one->build_ns;
    to->commands += one->commands;
    to->workspace_bytes = size_max(to->workspace_bytes, one->workspace_bytes);
    to->tiles += one->tiles;
}

tsr_status dispatch_build(tsr_session *s, kept_call *c, tsr_report *report, tsr_error *err)
{
    const variant *v = c->selection.variant;
    program *before = s->programs, *built = NULL;
    text options = {0}, runs = {0};
    tsr_status st;

    if (c->program || c->plan.count == 0)
        return TSR_OK;
    plan_options(v, session_facts(s), &c->plan, &options);
    plan_kernels(v, &c->plan, &runs);
    if (options.failed || runs.failed)
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory to build %s", v->name);
    else
        st = program_get(s, v->source, text_get(&options), text_get(&runs), &built, err);
    if (!st && report && s->programs != before) {
        report->build = built->built;
        report->build_ns += built->build_ns;
    }
    c->program = built;
    text_free(&options);
    text_free(&runs);
    return st;
}

/* A call of so many commands is not flushed: that takes longer than the rest of it.  One of more
 * is, with these at once, so that the device begins, and at its end. */
enum { UNFLUSHED_MAX = 2 };

/* The objects that the commands of one call refer to. */
typedef struct binding {
    tsr_session *session;
    const kept_call *call;
    const cl_mem *operands; /* in the order of the posed problem */
    const call_ends *ends;
    session_buffer workspace;      /* nothing where none is needed */
    session_buffer group_counters; /* likewise */
    session_image image;           /* likewise */
} binding;

static cl_int set_arg(const program_entry *entry, cl_uint i, const command *c, const binding *b)
{
    const command_arg *a = &c->arg[i];

    switch (a->kind) {
    case ARG_OPERAND:
        return program_set_buffer(entry, i, b->operands[b->call->order[a->index]],
                                  b->session->calls);
    case ARG_WORKSPACE:
        return program_set_buffer(entry, i, b->workspace.memory, b->workspace.call);
    case ARG_GROUP_COUNTERS:
        return program_set_buffer(entry, i, b->group_counters.memory, b->group_counters.call);
    case ARG_NO_BUFFER:
        return program_set_buffer(entry, i, NULL, b->session->calls);
    case ARG_IMAGE:
        return program_set_buffer(entry, i, b->image.memory, b->image.call);
    case ARG_STRICT_COUNTER:
        return program_set_buffer(entry, i, b->ends->strict_tiles, b->session->calls);
    case ARG_SCALAR:
        return program_set_value(entry, i, a->bytes, a->scalar);
    case ARG_BLOCK:
        return program_set_value(entry, i, a->bytes, c->block);
    case ARG_LOCAL:
        break;
    }
    return program_set_value(entry, i, a->bytes, NULL);
}

/* What the compiler made of the kernel may be smaller than what the device allows.  PoCL aborts on
 * too much local memory, so it is checked before the launch; NVIDIA's driver counts a few bytes of
 * its own beyond the limit, takes static arrays over it, and returns an error where it cannot. */
static tsr_status check_launch(const program_entry *e, const command *c, const binding *b,
                               tsr_error *err)
{
    const device_facts *d = session_facts(b->session);
    const size_t local_limit = size_max(d->local_memory, d->large_local);
    size_t items = 1;

    for (unsigned i = 0; i < c->dims; i++)
        items *= c->local[i];
    /* NVIDIA's driver reports 256 for kernels that were compiled for more. */
    if (e->group_limit && items > e->group_limit && e->group_required == 0)
        return tsr_fail(err, TSR_EUNSUPPORTED, 0,
                        "%s: a work-group of %zu work-items is over the kernel's limit of %zu",
                        b->call->selection.variant->name, items, e->group_limit);
    if (e->local_bytes > local_limit && !d->nvidia)
        return tsr_fail(
            err, TSR_EUNSUPPORTED, 0, "%s: %llu bytes of local memory are over the device's %zu",
            b->call->selection.variant->name, (unsigned long long)e->local_bytes, local_limit);
    return TSR_OK;
}

static tsr_status enqueue_launch(const command *c, const binding *b, cl_command_queue queue,
                                 cl_uint n_wait, const cl_event *wait, cl_event *done,
                                 tsr_error *err)
{
    const char *name = b->call->selection.variant->entries[c->entry];
    const program_entry *entry = NULL;
    tsr_status status = program_kernel(b->call->program, name, &entry, err);
    cl_int rc;

    for (unsigned i = 0; i < c->n_args && status == TSR_OK; i++) {
        rc = set_arg(entry, i, c, b);
        if (rc != CL_SUCCESS && b->call->program->replaced.length)
            status = program_mismatch(b->call->program, name, "clSetKernelArg", rc, err);
        else if (rc != CL_SUCCESS)
            status = tsr_fail(err, TSR_ECL, rc, "clSetKernelArg(%s, %u)", name, i);
    }
    if (status == TSR_OK)
        status = check_launch(entry, c, b, err);
    if (status != TSR_OK)
        return status;
    /* PoCL compiles a kernel once more for launches that begin elsewhere than at 0. */
    rc = clEnqueueNDRangeKernel(queue, entry->kernel, c->dims,
                                c->start[1] || c->start[2] ? c->start : NULL, c->global, c->local,
                                n_wait, n_wait ? wait : NULL, done);
    if (rc == CL_INVALID_KERNEL_ARGS && b->call->program->replaced.length) /* it has more */
        return program_mismatch(b->call->program, name, "clEnqueueNDRangeKernel", rc, err);
    if (rc != CL_SUCCESS)
        return tsr_fail(
            err, TSR_ECL, rc, "clEnqueueNDRangeKernel(%s, global %zux%zux%zu, local %zux%zux%zu)",
            name, c->global[0], c->dims > 1 ? c->global[1] : 1, c->dims > 2 ? c->global[2] : 1,
            c->local[0], c->dims > 1 ? c->local[1] : 1, c->dims > 2 ? c->local[2] : 1);
    return TSR_OK;
}

static tsr_status enqueue_fill(const command *c, const binding *b, cl_command_queue queue,
                               cl_uint n_wait, const cl_event *wait, cl_event *done, tsr_error *err)
{
    const cl_mem target = c->fill_target.kind == ARG_WORKSPACE
                              ? b->workspace.memory
                              : b->operands[b->call->order[c->fill_target.index]];
    const cl_int rc =
        clEnqueueFillBuffer(queue, target, &c->fill_pattern, sizeof(c->fill_pattern),
                            c->fill_offset, c->fill_bytes, n_wait, n_wait ? wait : NULL, done);

    return rc == CL_SUCCESS
               ? TSR_OK
               : tsr_fail(err, TSR_ECL, rc, "clEnqueueFillBuffer(%zu bytes)", c->fill_bytes);
}

static tsr_status enqueue_image(const command *c, const binding *b, cl_command_queue queue,
                                cl_uint n_wait, const cl_event *wait, cl_event *done,
                                tsr_error *err)
{
    const plan_image *image = &b->call->plan.image;
    const size_t origin[3] = {0, 0, 0}, region[3] = {image->width, image->height, 1};
    const cl_int rc = clEnqueueCopyBufferToImage(
        queue, b->operands[b->call->order[c->image_operand]], b->image.memory, c->image_offset,
        origin, region, n_wait, n_wait ? wait : NULL, done);

    return rc == CL_SUCCESS ? TSR_OK
                            : tsr_fail(err, TSR_ECL, rc, "clEnqueueCopyBufferToImage(%zux%zu)",
                                       image->height, image->width);
}

/* A command, and who brings what it works on. */
static tsr_status enqueue_command(const command *c, const binding *b, cl_command_queue queue,
                                  cl_uint n_wait, const cl_event *wait, cl_event *done,
                                  tsr_error *err)
{
    const arrivals *a = b->ends->arrivals;
    tsr_status status = a ? a->before(a->with, c, queue, err) : TSR_OK;

    if (!status)
        status = c->kind == COMMAND_LAUNCH ? enqueue_launch(c, b, queue, n_wait, wait, done, err)
                 : c->kind == COMMAND_FILL ? enqueue_fill(c, b, queue, n_wait, wait, done, err)
                                           : enqueue_image(c, b, queue, n_wait, wait, done, err);
    if (!status && a)
        status = a->after(a->with, c, queue, err);
    return status;
}

/* The events of a run of commands: the first where it is wanted, and the one that came last. */
typedef struct chain {
    bool wants_first;
    cl_event first;
    cl_event last;
} chain;

static void chain_push(chain *c, cl_event e)
{
    if (c->wants_first && !c->first && clRetainEvent(e) == CL_SUCCESS)
        c->first = e;
    if (c->last)
        clReleaseEvent(c->last);
    c->last = e;
}

static void chain_release(chain *c)
{
    if (c->first)
        clReleaseEvent(c->first);
    if (c->last)
        clReleaseEvent(c->last);
    *c = (chain){0};
}

/* Make `queue` wait for everything enqueued on `before`; flushes it. */
static tsr_status wait_across(cl_command_queue before, cl_command_queue queue, tsr_error *err)
{
    cl_event e = NULL;
    cl_int rc = clEnqueueMarkerWithWaitList(before, 0, NULL, &e);

    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "clEnqueueMarkerWithWaitList");
    clFlush(before);
    rc = clEnqueueBarrierWithWaitList(queue, 1, &e, NULL);
    clReleaseEvent(e);
    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "clEnqueueBarrierWithWaitList");
    return TSR_OK;
}

/* The second queue of a session, which forks from the first one here, once the caller's events are
 * complete. */
static tsr_status open_side(tsr_session *s, const call_ends *ends, tsr_error *err)
{
    cl_int rc = CL_SUCCESS;

    if (ends->n_wait)
        rc = clEnqueueBarrierWithWaitList(s->queue, ends->n_wait, ends->wait, NULL);
    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "clEnqueueBarrierWithWaitList");
    if (!s->side)
        s->side = clCreateCommandQueue(s->context, s->device.id,
                                       s->profiling ? CL_QUEUE_PROFILING_ENABLE : 0, &rc);
    if (!s->side)
        return tsr_fail(
            err, TSR_ECL, rc,
            "clCreateCommandQueue (a second queue, for commands that run at the same time)");
    return wait_across(s->queue, s->side, err);
}

/* Whether commands may be in the second queue that the first has not waited for. */
typedef enum sides { TOGETHER, FORKED } sides;

/* The queue of a command.  Lanes above the first share the second queue; on a queue that is out of
 * order all commands follow one another, by events. */
static tsr_status queue_of(const binding *b, const command *c, sides *state, cl_command_queue *out,
                           tsr_error *err)
{
    tsr_session *s = b->session;
    const sides wanted = c->lane && !s->out_of_order ? FORKED : TOGETHER;
    tsr_status status = TSR_OK;

    *out = s->queue;
    if (wanted == FORKED && *state == TOGETHER)
        status = open_side(s, b->ends, err);
    else if (wanted == TOGETHER && *state == FORKED)
        status = wait_across(s->side, s->queue, err);
    if (status == TSR_OK) {
        *state = wanted;
        if (wanted == FORKED && c->lane > 1)
            *out = s->side;
    }
    return status;
}

/* What stands for the commands of a call that has none. */
static tsr_status enqueue_marker(const binding *b, chain *events, tsr_error *err)
{
    const call_ends *ends = b->ends;
    cl_event e = NULL;
    const cl_int rc = clEnqueueMarkerWithWaitList(b->session->queue, ends->n_wait,
                                                  ends->n_wait ? ends->wait : NULL,
                                                  ends->first || ends->last ? &e : NULL);

    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "clEnqueueMarkerWithWaitList");
    if (e)
        chain_push(events, e);
    return TSR_OK;
}

/* Whether command i of a plan is the first launch of its kernel with its work-group. */
static bool launches_first(const plan *p, size_t i)
{
    const command *c = &p->commands[i];

    for (size_t k = 0; k < i; k++) {
        const command *before = &p->commands[k];

        if (before->kind == COMMAND_LAUNCH && before->entry == c->entry &&
            memcmp(before->local, c->local, sizeof(c->local)) == 0)
            return false;
    }
    return c->kind == COMMAND_LAUNCH;
}

/* Enqueue the commands one after another.  Only those that somebody waits for or times carry an
 * event, which costs time: the first and the last where they are wanted, every one where each is,
 * and on an out-of-order queue. */
static tsr_status enqueue_commands(const binding *b, chain *events, size_t *count, tsr_error *err)
{
    const call_ends *ends = b->ends;
    const bool out_of_order = b->session->out_of_order;
    const plan *p = &b->call->plan;
    sides state = TOGETHER;
    tsr_status st = TSR_OK;

    *count = 0;
    if (p->count == 0)
        return enqueue_marker(b, events, err);
    for (size_t i = 0; i < p->count && st == TSR_OK; i++) {
        const command *c = &p->commands[i];
        const bool handed_out = ends->each && i < ends->each_room;
        const bool noted = ends->launches && !b->call->launched && launches_first(p, i);
        const bool wanted = handed_out || out_of_order || noted || (i == 0 && ends->first) ||
                            (i + 1 == p->count && ends->last);
        cl_command_queue queue;
        cl_event e = NULL;

        st = queue_of(b, c, &state, &queue, err);
        if (st == TSR_OK)
            st = enqueue_command(c, b, queue, i == 0 ? ends->n_wait : out_of_order,
                                 i == 0 ? ends->wait : &events->last, wanted ? &e : NULL, err);
        if (e && handed_out && clRetainEvent(e) == CL_SUCCESS)
            ends->each[i] = e;
        if (e && noted)
            first_launches_note(ends->launches, e);
        if (e)
            chain_push(events, e);
        *count += st == TSR_OK;
        if (*count == UNFLUSHED_MAX && i + 1 < p->count)
            clFlush(b->session->queue);
    }
    assert((st != TSR_OK || state == TOGETHER) && "a variant's last command is of lane 0");
    return st;
}

static void drop_buffer(session_buffer *kept)
{
    if (kept->memory)
        clReleaseMemObject(kept->memory);
    *kept = (session_buffer){0};
}

/* At least out->bytes bytes, of which a new buffer has `content`, or anything where that is NULL.
 * On an in-order queue calls follow one another, and what the session keeps serves them all;
 * another buffer is the call's, which releases it. */
static tsr_status take_buffer(const binding *b, session_buffer *kept, const void *content,
                              const char *what, session_buffer *out, tsr_error *err)
{
    const size_t bytes = out->bytes;
    tsr_session *s = b->session;
    const cl_mem_flags flags = CL_MEM_READ_WRITE | (content ? CL_MEM_COPY_HOST_PTR : 0);
    cl_int rc;

    if (bytes > kept->bytes)
        drop_buffer(kept);
    if (kept->memory) {
        *out = *kept;
        return TSR_OK;
    }
    *out = (session_buffer){
        clCreateBuffer(s->context, flags, bytes, (void *)(uintptr_t)content, &rc), bytes, s->calls};
    if (!out->memory)
        return tsr_fail(err, TSR_ECL, rc, "%s: clCreateBuffer(%zu bytes of %s)",
                        b->call->selection.variant->name, bytes, what);
    if (!s->out_of_order)
        *kept = *out;
    return TSR_OK;
}

static tsr_status take_workspace(binding *b, size_t bytes, tsr_error *err)
{
    if (bytes == 0)
        return TSR_OK;
    b->workspace.bytes = bytes;
    return take_buffer(b, &b->session->workspace, NULL, "workspace", &b->workspace, err);
}

/* Counters of groups that are done, where a command of the plan has them. */
static tsr_status take_group_counters(binding *b, tsr_error *err)
{
    static const uint32_t zeros[GROUP_COUNTERS_MAX];

    if (!b->call->plan.has_group_counters)
        return TSR_OK;
    b->group_counters.bytes = sizeof(zeros);
    return take_buffer(b, &b->session->group_counters, zeros, "counters", &b->group_counters, err);
}

/* The image of a plan: on an in-order queue one that the session keeps, for the next calls that
 * want the same. */
static tsr_status take_image(binding *b, tsr_error *err)
{
    const plan_image *wanted = &b->call->plan.image;
    tsr_session *s = b->session;
    const cl_image_format format = {CL_R, wanted->type == TSR_U8 ? CL_UNSIGNED_INT8 : CL_FLOAT};
    const cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                                 .image_width = wanted->width,
                                 .image_height = wanted->height};
    cl_int rc;

    if (wanted->width == 0)
        return TSR_OK;
    b->image = s->image;
    if (b->image.memory && b->image.width == wanted->width && b->image.height == wanted->height &&
        b->image.type == wanted->type)
        return TSR_OK;
    if (s->image.memory)
        clReleaseMemObject(s->image.memory);
    s->image = (session_image){0};
    b->image =
        (session_image){clCreateImage(s->context, CL_MEM_READ_ONLY, &format, &shape, NULL, &rc),
                        wanted->width, wanted->height, wanted->type, s->calls};
    if (!b->image.memory)
        return tsr_fail(err, TSR_ECL, rc, "%s: clCreateImage(%zux%zu %s)",
                        b->call->selection.variant->name, wanted->height, wanted->width,
                        tsr_type_name(wanted->type));
    if (!s->out_of_order)
        s->image = b->image;
    return TSR_OK;
}

/* Release what a call took, unless the session keeps it. */
static void give_back(const session_buffer *taken, const session_buffer *kept)
{
    if (taken->memory && taken->memory != kept->memory)
        clReleaseMemObject(taken->memory);
}

void dispatch_forget_group_counters(tsr_session *s)
{
    drop_buffer(&s->group_counters);
}

/* Move the events to whoever wants them, and report what the call took. */
static void hand_over(const binding *b, chain *events)
{
    const plan *p = &b->call->plan;
    tsr_report *report = b->ends->report;

    if (report) {
        report->commands = p->count;
        report->workspace_bytes = p->workspace + plan_image_bytes(p);
        report->tiles = p->tiles;
        memcpy(report->parameters, b->call->parameters, sizeof(report->parameters));
    }
    if (b->ends->first) {
        *b->ends->first = events->first;
        events->first = NULL;
    }
    if (b->ends->last) {
        *b->ends->last = events->last;
        events->last = NULL;
    }
}

/* Enqueue a call of a variant in C. */
static tsr_status run_c(const binding *b, tsr_error *err)
{
    const call_ends *ends = b->ends;
    chain events = {0};
    const kept_call *c = b->call;
    tsr_status st;

    if (c->place != IN_MAPPED)
        return tsr_fail(err, TSR_EUNSUPPORTED, 0, "%s/%s: C code does not run on these buffers",
                        c->posed.op->name, c->selection.variant->name);
    st = c_enqueue(b->session, c, b->operands, ends->n_wait, ends->wait,
                   ends->first ? &events.first : NULL, ends->last ? &events.last : NULL, err);
    if (st)
        queue_settle(b->session->queue); /* the operands are the caller's again */
    else
        hand_over(b, &events);
    if (!st && ends->report)
        ends->report->commands = 1;
    chain_release(&events);
    return st;
}

tsr_status dispatch_run(tsr_session *s, kept_call *c, const cl_mem operands[],
                        const call_ends *ends, tsr_error *err)
{
    binding b = {.session = s, .call = c, .operands = operands, .ends = ends};
    chain events = {.wants_first = ends->first != NULL};
    size_t commands = 0;
    tsr_status st;

    if (!c->selection.variant->source)
        return run_c(&b, err);
    s->calls++;
    st = dispatch_build(s, c, ends->report, err);
    if (st == TSR_OK)
        st = take_workspace(&b, c->plan.workspace, err);
    if (st == TSR_OK)
        st = take_image(&b, err);
    if (st == TSR_OK)
        st = take_group_counters(&b, err);
    if (st == TSR_OK)
        st = enqueue_commands(&b, &events, &commands, err);
    if (st == TSR_OK && commands > UNFLUSHED_MAX)
        clFlush(s->queue);
    if (st != TSR_OK && (commands || ends->arrivals)) { /* the operands are the caller's again */
        queue_settle(s->queue);
        if (s->side)
            queue_settle(s->side);
    }
    /* OpenCL keeps a released buffer until the commands that use it are done. */
    give_back(&b.workspace, &s->workspace);
    give_back(&b.group_counters, &s->group_counters);
    if (b.image.memory && b.image.memory != s->image.memory)
        clReleaseMemObject(b.image.memory);
    c->launched = c->launched || !st;
    if (!ends->launches)
        session_built(s);
    if (st == TSR_OK)
        hand_over(&b, &events);
    else
        dispatch_forget_group_counters(s);
    chain_release(&events);
    return st;
}

tsr_status dispatch_enqueue(tsr_session *s, const problem *p, const selection *sel,
                            const cl_mem operands[], const call_ends *ends, tsr_error *err)
{
    kept_call *c;
    const tsr_status st = dispatch_call_of(s, p, sel, IN_BUFFERS, &c, err);

    return st ? st : dispatch_run(s, c, operands, ends, err);
}

first_launches *dispatch_late(const tsr_session *s, first_launches *room)
{
    return session_facts(s)->compiles_late ? room : NULL;
}

void dispatch_compiled(tsr_session *s, first_launches *l)
{
    const uint64_t start = clock_ns();
    uint64_t within;

    if (l->count) {
        first_launches_wait(l, s->queue);
        s->build_ns += clock_ns() - start;
    }
    session_built(s);
    first_launches_take(l, NULL, &within);
}
