#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include "measure/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "core/registry.h"
#include "measure/input_sets.h"
#include "measure/occupancy.h"
#include "session/events.h"
#include "session/program.h"

/* Calls that are timed, after one that is not. */
enum { CALLS = 9 };

/* A call in the making. */
typedef struct explained_call {
    tsr_session *session;
    kept_call *call;
    input_sets sets;
    size_t count;    /* commands */
    cl_event *event; /* count of them */
    double *ns;      /* count + 2 rows of CALLS: each command, the call, and between commands */
    size_t calls;    /* that ns has */
} explained_call;

/* ---- what is launched --------------------------------------------------------------------- */

static void describe(const explained_call *t, size_t i, explained *out)
{
    const variant *v = t->call->selection.variant;
    const command *c = &t->call->plan.commands[i];

    *out = (explained){.bound = ""};
    if (c->kind == COMMAND_FILL) {
        snprintf(out->kernel, sizeof(out->kernel), "(fill)");
        out->bytes = (double)c->fill_bytes;
        return;
    }
    if (c->kind == COMMAND_IMAGE) {
        snprintf(out->kernel, sizeof(out->kernel), "(copy to image)");
        out->bytes = c->bytes;
        return;
    }
    snprintf(out->kernel, sizeof(out->kernel), "%s", v->entries[c->entry]);
    out->groups = out->group = 1;
    for (unsigned d = 0; d < c->dims; d++) {
        out->groups *= c->global[d] / c->local[d];
        out->group *= c->local[d];
    }
    out->bytes = c->bytes;
    out->flops = c->flops;
    out->traffic = c->traffic;
}

/* ---- what the compiler made of it --------------------------------------------------------- */

/* The log of NVIDIA's compiler: of a build that no cache has, since one has no log. */
static tsr_status build_log(const explained_call *t, text *log, tsr_error *err)
{
    const tsr_session_options options = {.kernel_dir = text_get(&t->session->kernel_dir),
                                         .no_cache = true};
    const variant *v = t->call->selection.variant;
    tsr_session *twin = NULL;
    program *built = NULL;
    text flags = {0}, runs = {0};
    tsr_status st = tsr_session_adopt(t->session->queue, &options, &twin, err);

    if (st)
        return st;
    twin->device = t->session->device; /* probed already */
    plan_options(v, session_facts(t->session), &t->call->plan, &flags);
    text_format(&flags, " -cl-nv-verbose -DTESSERA_UNSEEN=%llu", (unsigned long long)clock_ns());
    plan_kernels(v, &t->call->plan, &runs);
    st = program_get(twin, v->source, text_get(&flags), text_get(&runs), &built, err);
    if (!st)
        text_append(log, text_get(&built->log));
    text_free(&flags);
    text_free(&runs);
    tsr_session_close(twin);
    return st;
}

static tsr_status note_kernel(const explained_call *t, program *built, const char *log,
                              explained *out, tsr_error *err)
{
    const program_entry *entry = NULL;
    tsr_status st = program_kernel(built, out->kernel, &entry, err);
    unit_capacity unit;

    if (st)
        return st;
    out->local_bytes = (size_t)entry->local_bytes;
    occupancy_read_log(log, out->kernel, &out->registers, &out->spilled);
    if (occupancy_capacity(session_facts(t->session)->nv_capability, &unit))
        out->occupancy =
            occupancy_of(&unit, out->group, out->registers, out->local_bytes, &out->bound);
    return TSR_OK;
}

static tsr_status note_kernels(const explained_call *t, explanation *x, tsr_error *err)
{
    const device_facts *d = session_facts(t->session);
    text log = {0};
    tsr_status st = dispatch_build(t->session, t->call, NULL, err);

    /* Without the log there is still all else. */
    if (!st && d->nvidia && d->kind == DEVICE_GPU)
        build_log(t, &log, NULL);
    for (size_t i = 0; i < x->count && !st; i++)
        if (x->command[i].groups)
            st = note_kernel(t, t->call->program, text_get(&log), &x->command[i], err);
    text_free(&log);
    return st;
}

/* ---- times -------------------------------------------------------------------------------- */

static double *row_of(const explained_call *t, size_t i)
{
    return t->ns + i * CALLS;
}

static tsr_status read_times(explained_call *t, tsr_error *err)
{
    double *call = &row_of(t, t->count)[t->calls], *between = &row_of(t, t->count + 1)[t->calls];
    tsr_status st = events_span(t->event[0], t->event[t->count - 1], call, err);
    double sum = 0;

    for (size_t i = 0; i < t->count && !st; i++) {
        st = events_span(t->event[i], t->event[i], &row_of(t, i)[t->calls], err);
        sum += row_of(t, i)[t->calls];
    }
    *between = *call - sum; /* below 0 where they run side by side */
    return st;
}

/* One call on the next inputs; its times are kept where `keep`. */
static tsr_status run_call(explained_call *t, bool keep, tsr_error *err)
{
    tsr_status st = TSR_OK;
    cl_int rc;

    if (t->sets.next == t->sets.count)
        st = input_sets_restore(&t->sets, err);
    if (st)
        return st;
    st = dispatch_run(t->session, t->call, t->sets.buffer[t->sets.next++],
                      &(call_ends){.each = t->event, .each_room = t->count}, err);
    rc = clFinish(t->session->queue);
    if (!st && rc != CL_SUCCESS)
        st = tsr_fail(err, TSR_ECL, rc, "clFinish after %s", t->call->selection.variant->name);
    if (!st && keep)
        st = read_times(t, err);
    t->calls += !st && keep;
    for (size_t i = 0; i < t->count; i++)
        if (t->event[i])
            clReleaseEvent(t->event[i]);
    memset(t->event, 0, t->count * sizeof(*t->event));
    return st;
}

static tsr_status run_calls(explained_call *t, const bench_options *o, explanation *x,
                            tsr_error *err)
{
    tsr_status st = run_call(t, false, err);

    for (size_t i = 0; i < CALLS && !st && !(t->calls && o->stop && *o->stop); i++)
        st = run_call(t, true, err);
    if (st)
        return st;
    x->call = timing_of(row_of(t, t->count), t->calls, 1);
    x->between = timing_of(row_of(t, t->count + 1), t->calls, 1);
    for (size_t i = 0; i < t->count; i++)
        x->command[i].time = timing_of(row_of(t, i), t->calls, 1);
    return TSR_OK;
}

/* ---- everything --------------------------------------------------------------------------- */

static tsr_status allocate(explained_call *t, explanation *x, tsr_error *err)
{
    t->count = x->count = t->call->plan.count;
    if (!t->count)
        return tsr_fail(err, TSR_EUNSUPPORTED, 0, "%s has nothing to launch",
                        t->call->selection.variant->name);
    x->command = calloc(t->count, sizeof(*x->command));
    t->event = calloc(t->count, sizeof(*t->event));
    t->ns = calloc((t->count + 2) * CALLS, sizeof(*t->ns));
    if (!x->command || !t->event || !t->ns)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu commands", t->count);
    for (size_t i = 0; i < t->count; i++)
        describe(t, i, &x->command[i]);
    return TSR_OK;
}

static void name_it(const explained_call *t, explanation *x)
{
    snprintf(x->name, sizeof(x->name), "%s", t->call->selection.variant->name);
    params_describe_in(&t->call->plan.params, x->parameters, sizeof(x->parameters));
}

tsr_status explain_call(tsr_session *s, const problem *p, const tsr_run *run,
                        const bench_options *options, explanation *out, tsr_error *err)
{
    explained_call t = {.session = s};
    tsr_status st;

    *out = (explanation){.compulsory = p->op->bytes(p)};
    if (!s->profiling || session_facts(s)->kind == DEVICE_HOST)
        return tsr_fail(err, TSR_EINVAL, 0, "the session's queue records no times");
    st = dispatch_call(s, p, run, IN_BUFFERS, &t.call, err);
    st = st ? st : allocate(&t, out, err);
    if (st)
        goto cleanup;
    name_it(&t, out);
    traffic_of(s, p, &t.call->plan, &out->traffic);
    if (!(out->traffic.requested > 0))
        out->unstated = variant_unstated(t.call->selection.variant);
    if (t.count == 1 && out->command[0].bytes <= 0)
        out->command[0].bytes = out->compulsory;
    st = input_sets_open(s, p, options->seed, options->warm, false, &t.sets, err);
    st = st ? st : run_calls(&t, options, out, err);
    st = st ? st : note_kernels(&t, out, err);

cleanup:
    input_sets_close(&t.sets);
    free(t.event);
    free(t.ns);
    return st;
}

void explain_free(explanation *x)
{
    free(x->command);
    *x = (explanation){0};
}

double explain_bytes(const explanation *x)
{
    double sum = 0;

    for (size_t i = 0; i < x->count; i++) {
        if (x->command[i].bytes <= 0)
            return 0;
        sum += x->command[i].bytes;
    }
    return sum;
}
