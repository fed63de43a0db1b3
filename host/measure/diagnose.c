#include "measure/diagnose.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/registry.h"
#include "device/query.h"
#include "measure/occupancy.h"
#include "measure/roofline_rig.h"

/* ---- barriers ----------------------------------------------------------------------------- */

/* Groups that run side by side. */
static double groups_at_once(tsr_session *s, const explained *c)
{
    const device_facts *d = session_facts(s);
    const double units = (double)size_max(d->compute_units, 1);
    unit_capacity unit;

    if (!(c->occupancy > 0) || !occupancy_capacity(d->nv_capability, &unit))
        return units;
    return units * fmax(1, floor(c->occupancy * (double)unit.items / (double)c->group));
}

/* Nanoseconds of a barrier of one group; 0: it cannot be measured here. */
static double barrier_ns(tsr_session *s, size_t group)
{
    enum { ROUNDS = 256, SAMPLES = 5 };
    const cl_uint rounds = ROUNDS;
    double samples[SAMPLES] = {0}, ns = 0;
    char options[32];
    cl_kernel kernel;
    cl_mem out = NULL;
    tsr_status st;
    rig r;

    if (rig_open(s, &r, NULL))
        return 0;
    snprintf(options, sizeof(options), "-DGROUP=%zu", group);
    st = rig_kernel(&r, "lab/lab_barriers.cl", options, "lab_barriers", &kernel, NULL);
    st = st ? st : rig_buffer(&r, CL_MEM_WRITE_ONLY, group * sizeof(cl_uint), &out, NULL);
    st =
        st ? st
           : rig_args(kernel, (rig_arg[]){{&out, sizeof(out)}, {&rounds, sizeof(rounds)}}, 2, NULL);
    st = st ? st : rig_launch(&r, kernel, group, group, NULL, NULL);
    for (int i = 0; i < SAMPLES && !st; i++)
        st = rig_launch(&r, kernel, group, group, &samples[i], NULL);
    if (!st)
        ns = timing_of(samples, SAMPLES, 1).median_ns / (2.0 * ROUNDS);
    if (out)
        clReleaseMemObject(out);
    rig_close(&r);
    return ns;
}

/* What the barriers of a call take at most: as if no other group filled the wait. */
static barrier_cost cost_of_barriers(tsr_session *s, const explanation *x)
{
    barrier_cost b = {0};

    for (size_t i = 0; i < x->count; i++) {
        const explained *c = &x->command[i];

        if (!(c->traffic.barriers > 0))
            continue;
        if (c->group != b.group)
            b.each_ns = barrier_ns(s, c->group);
        b.group = c->group;
        b.launches++;
        b.passed += c->traffic.barriers;
        b.all_ns +=
            fmin(c->traffic.barriers * b.each_ns * ceil((double)c->groups / groups_at_once(s, c)),
                 c->time.median_ns);
    }
    return b;
}

/* A diagnosis in the making. */
typedef struct inquiry {
    tsr_session *session;
    const problem *problem;
    const bench_options *options;
    diagnosis *d;
} inquiry;

/* ---- the steps that answer it -------------------------------------------------------------- */

/* Keep the fastest ones, in order. */
static void keep_step(diagnosis *d, const diagnosed_step *step)
{
    size_t at = d->step_count;

    while (at > 0 && d->steps[at - 1].ns > step->ns)
        at--;
    if (at == DIAGNOSED_STEPS_MAX)
        return;
    if (d->step_count < DIAGNOSED_STEPS_MAX)
        d->step_count++;
    memmove(&d->steps[at + 1], &d->steps[at], (d->step_count - 1 - at) * sizeof(*d->steps));
    d->steps[at] = *step;
}

/* Steps that are slower by more than this are no answer. */
static const double least_speedup = 0.9;

static tsr_status measure_step(inquiry *q, const variant *v, tsr_error *err)
{
    const tsr_run run = {.variant = v->name};
    diagnosis *d = q->d;
    diagnosed_step step = {.idea = v->idea, .answers = v->answers};
    result_row row = {0};
    tsr_error why = {0};
    const tsr_status st = bench_variant(q->session, q->problem, &run, q->options, &row, &why);

    if (st == TSR_ENOMEM)
        return tsr_fail(err, st, 0, "%s", why.message);
    if (st) {
        failed_step *f = &d->failed[d->failed_count++];

        snprintf(f->name, sizeof(f->name), "%s", v->name);
        f->why = why;
        return TSR_OK;
    }
    if (row.outcome != RESULT_TIMED || !row.time.count)
        return TSR_OK;
    snprintf(step.name, sizeof(step.name), "%s", row.name);
    snprintf(step.parameters, sizeof(step.parameters), "%s", row.parameters);
    step.ns = row.time.median_ns;
    step.speedup = d->row.time.median_ns / row.time.median_ns;
    d->timed_count++;
    if (step.speedup >= least_speedup)
        keep_step(d, &step);
    return TSR_OK;
}

/* Causes that steps answer: this one, or where none after the call does, all of its question. */
static unsigned wanted(const inquiry *q)
{
    const operation *op = q->problem->op;
    unsigned alike = 0;
    bool after = false;

    for (size_t i = 0; i < op->variant_count; i++) {
        if (after && op->variants[i]->source && (op->variants[i]->answers & 1u << q->d->cause))
            return 1u << q->d->cause;
        after = after || !strcmp(op->variants[i]->name, q->d->row.name);
    }
    for (int c = 0; c < CAUSES; c++)
        if (cause_question((cause)c) == cause_question(q->d->cause))
            alike |= 1u << c;
    return alike;
}

/* Each step after this one that answers the cause, and can run the problem; on a CPU each that can
 * run it. */
static tsr_status measure_steps(inquiry *q, tsr_error *err)
{
    const operation *op = q->problem->op;
    const unsigned causes = wanted(q);
    diagnosis *d = q->d;
    bool after = false;
    tsr_status st = TSR_OK;

    d->is_last = true;
    d->failed = calloc(size_max(op->variant_count, 1), sizeof(*d->failed));
    if (!d->failed)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for the steps of %s", op->name);
    for (size_t i = 0; i < op->variant_count && !st; i++) {
        const variant *v = op->variants[i];

        if (after && v->source && (d->any_step || (v->answers & causes))) {
            d->is_last = false;
            if (!(q->options->stop && *q->options->stop))
                st = measure_step(q, v, err);
        }
        after = after || !strcmp(v->name, d->row.name);
    }
    return st;
}

static void answer_beside(const limits *l, const symptoms *seen, diagnosis *d)
{
    roofline_place(l, &d->row);
    d->place = intensity_of(&d->call.traffic, l, d->row.precision);
    diagnose_answer(seen, d);
}

/* ---- everything --------------------------------------------------------------------------- */

tsr_status diagnose_build(tsr_session *s, const problem *p, const tsr_run *run, tsr_error *err)
{
    const variant *v = NULL;
    const tsr_status st = run->variant ? variant_find(p->op, run->variant, &v, err) : TSR_OK;

    if (st)
        return st;
    if (session_facts(s)->kind == DEVICE_HOST || (v && !v->source))
        return tsr_fail(err, TSR_EUNSUPPORTED, 0,
                        "C code on the host has no launches that could be diagnosed");
    return bench_build(s, p, run, err);
}

tsr_status diagnose(tsr_session *s, const problem *p, const tsr_run *run,
                    const bench_options *options, limits *l, diagnosis *out, tsr_error *err)
{
    const device_facts *d = session_facts(s);
    inquiry q = {.session = s, .problem = p, .options = options, .d = out};
    symptoms seen = {.limits = l,
                     .products = p->op->products,
                     .warps = d->kind == DEVICE_GPU,
                     .cpu = d->kind == DEVICE_CPU};
    cl_ulong cached = 0;
    tsr_status st;

    *out = (diagnosis){.low_limit = LIMIT_COUNT, .any_step = d->kind == DEVICE_CPU};
    st = bench_variant(s, p, run, options, &out->row, err);
    if (!st && out->row.outcome != RESULT_TIMED)
        st = tsr_fail(err, TSR_EUNSUPPORTED, 0, "%s", out->row.unsupported);
    if (!st && !out->row.time.count)
        return TSR_OK; /* interrupted */
    st = st ? st : explain_call(s, p, run, options, &out->call, err);
    if (st)
        return st;
    query(s->device.id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, &cached, sizeof(cached));
    seen.cache = (double)cached;
    seen.barriers = cost_of_barriers(s, &out->call);
    answer_beside(l, &seen, out);
    if (out->low_limit != LIMIT_COUNT) {
        /* Where it cannot be measured again the answers stand on the limit that there is. */
        if (roofline_again(s, out->low_limit, l, err) == TSR_ENOMEM)
            return TSR_ENOMEM;
        answer_beside(l, &seen, out);
    }
    return measure_steps(&q, err);
}

void diagnose_free(diagnosis *d)
{
    explain_free(&d->call);
    free(d->failed);
}
