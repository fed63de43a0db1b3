#include "measure/diagnose.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/registry.h"
#include "measure/occupancy.h"
#include "measure/roofline_rig.h"

/* From which part of the time on something binds a call. */
static const double half = 0.5, most = 0.6;

static const char *const names[QUESTIONS] = {"launches",   "memory",       "barriers",
                                             "divergence", "matrix units", "roof"};

static const char *const questions[QUESTIONS] = {
    "do the host and its launches take longer than the kernels?",
    "is it bound by memory?",
    "do work-items wait for each other?",
    "do branches leave lanes idle?",
    "would matrix units do its arithmetic faster?",
    "how far is the roof?"};

const char *question_name(question q)
{
    return names[q];
}

const char *question_text(question q)
{
    return questions[q];
}

/* What is known of a cause, whatever the operation is. */
typedef struct remedy {
    question of;
    const char *verdict, *cure;
} remedy;

static const remedy remedies[CAUSES] = {
    [CAUSE_LAUNCHES] =
        {ASK_LAUNCHES, "launch-bound: the device waits for the host",
         "fewer and larger launches: fuse them, put several problems into a batch, or "
         "enqueue many calls before one wait"},
    [CAUSE_BYTES] = {ASK_MEMORY, "memory-bound, and at the speed of memory",
                     "fewer bytes: a smaller type, work of the next operation fused in, or several "
                     "problems that share what is read"},
    [CAUSE_REUSE] = {ASK_MEMORY, "memory-bound: it asks for the same bytes again and again",
                     "tiles in local memory or registers: load once, use many times"},
    [CAUSE_ACCESS] = {ASK_MEMORY, "memory-bound by how it accesses memory: far below its speed",
                      "neighbours access neighbours (coalescing), wider loads, more of them under "
                      "way"},
    [CAUSE_LOCAL] =
        {ASK_MEMORY, "bound by local memory",
         "more results a work-item in registers, vectors, and no bank conflicts (padding "
         "or swizzling)"},
    [CAUSE_BARRIERS] = {ASK_BARRIERS, "bound by synchronization",
                        "exchange within a warp or sub-group in registers, deeper tiles for each "
                        "barrier"},
    [CAUSE_DIVERGENCE] = {ASK_DIVERGENCE, "bound by divergence",
                          "let whole warps take the same way: neighbours together, sorted inputs, "
                          "selects in place of branches"},
    [CAUSE_UNITS] = {ASK_UNITS, "compute-bound, beside matrix units that are idle",
                     "a variant or a --precision that uses matrix units"},
    [CAUSE_ROOF] = {ASK_ROOF, "at its roof", "the roof itself: less work, or a faster device"},
    [CAUSE_LATENCY] = {ASK_ROOF, "bound by none of these: instructions and latency are left",
                       "more independent work for each work-item, more work-items a unit "
                       "(tessera occupancy), fewer instructions"}};

/* A diagnosis in the making. */
typedef struct inquiry {
    tsr_session *session;
    const problem *problem;
    const bench_options *options;
    const limits *limits;
    diagnosis *d;
    double ns;    /* the commands together */
    bool warps;   /* work-items run in warps */
    cause memory; /* of ASK_MEMORY, where it is answered with yes */
} inquiry;

static void say(finding *f, answer a, double share, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void say(finding *f, answer a, double share, const char *format, ...)
{
    va_list args;

    f->answer = a;
    f->share = share;
    va_start(args, format);
    vsnprintf(f->evidence, sizeof(f->evidence), format, args);
    va_end(args);
}

/* ---- the questions ------------------------------------------------------------------------ */

static void ask_launches(inquiry *q)
{
    const result_row *row = &q->d->row;
    const double launch = q->limits->of[LIMIT_LAUNCH_QUEUED].value;
    const double wait = q->limits->of[LIMIT_LAUNCH_WAITED].value;
    const double busy = fmin(q->ns, row->time.median_ns), wall = row->wall_ns;
    const double idle = wall > 0 ? 1 - fmin(busy / wall, 1) : 0;
    finding *f = &q->d->found[ASK_LAUNCHES];

    if (!(wall > 0)) {
        say(f, ANSWER_UNKNOWN, 0, "the time of a call by the host's clock was not measured");
        return;
    }
    say(f, idle >= half ? ANSWER_YES : ANSWER_NO, idle,
        "of %.1f us that a call takes by the host's clock, its commands, %zu in number, run for "
        "%.1f us; a "
        "launch costs %.1f us in a full queue and %.1f us with a wait",
        wall / 1e3, row->commands, busy / 1e3, launch, wait);
}

/* Nanoseconds that memory would take at its limit. */
static double memory_ns(const inquiry *q, double bytes)
{
    const limit of =
        work_unit_of(q->d->row.unit) == WORK_KEYS ? LIMIT_MEMORY_COPY : LIMIT_MEMORY_READ;

    return bytes / q->limits->of[of].value;
}

static void ask_memory(inquiry *q)
{
    const traffic *t = &q->d->call.traffic;
    const double all = explain_bytes(&q->d->call);
    const double bytes = all > 0 ? all : t->compulsory,
                 local = q->limits->of[LIMIT_LOCAL_MEMORY].value;
    const double of_bytes = memory_ns(q, bytes) / q->ns;
    const double of_requested = memory_ns(q, t->requested) / q->ns;
    const double of_local = local > 0 ? t->local / local / q->ns : 0;
    const bool intense = q->d->place.ridge > 0 && q->d->place.least >= q->d->place.ridge;
    finding *f = &q->d->found[ASK_MEMORY];
    char asked[48] = "is not stated";

    if (t->requested > 0)
        snprintf(asked, sizeof(asked), "%.0f%%", 100 * of_requested);
    if (of_bytes >= most) {
        q->memory = CAUSE_BYTES;
        say(f, ANSWER_YES, of_bytes,
            "%.4g MB that must move take %.0f%% of the time at the speed of "
            "memory",
            bytes / 1e6, 100 * of_bytes);
    } else if (of_local >= half && of_local >= of_requested) {
        q->memory = CAUSE_LOCAL;
        say(f, ANSWER_YES, of_local,
            "%.4g MB of local memory take %.0f%% of the time at its limit, and "
            "%.4g MB of global memory %.0f%%",
            t->local / 1e6, 100 * of_local, bytes / 1e6, 100 * of_bytes);
    } else if (of_requested >= most) {
        q->memory = CAUSE_REUSE;
        say(f, ANSWER_YES, of_requested,
            "work-items ask for %.4g MB, %.3g times what is compulsory: "
            "%.3g times as much as memory moves meanwhile, so that caches have to serve it",
            t->requested / 1e6, t->requested / t->compulsory, of_requested);
    } else if (of_local >= half) {
        q->memory = CAUSE_LOCAL;
        say(f, ANSWER_YES, of_local, "%.4g MB of local memory take %.0f%% of the time at its limit",
            t->local / 1e6, 100 * of_local);
    } else if (!intense) {
        q->memory = CAUSE_ACCESS;
        say(f, ANSWER_YES, of_bytes,
            "%s, and %.4g MB that must move take only %.0f%% of the time at the speed of memory",
            q->d->place.least > 0 ? "it lies below the ridge of the roofline"
                                  : "it has little arithmetic",
            bytes / 1e6, 100 * of_bytes);
    } else {
        say(f, ANSWER_NO, fmax(of_bytes, fmax(of_requested, of_local)),
            "at the speed of memory %.4g MB that must move take %.0f%% of the time, and what "
            "work-items "
            "ask for %s",
            bytes / 1e6, 100 * of_bytes, asked);
    }
}

/* Groups that run side by side. */
static double groups_at_once(const inquiry *q, const explained *c)
{
    const device_facts *d = session_facts(q->session);
    const double units = (double)size_max(d->compute_units, 1);
    unit_capacity unit;

    if (!(c->occupancy > 0) || !occupancy_capacity(d->nv_capability, &unit))
        return units;
    return units * fmax(1, floor(c->occupancy * (double)unit.items / (double)c->group));
}

/* Nanoseconds of a barrier of one group; 0: it cannot be measured here. */
static double barrier_ns(const inquiry *q, size_t group)
{
    enum { ROUNDS = 256, SAMPLES = 5 };
    const cl_uint rounds = ROUNDS;
    double samples[SAMPLES] = {0}, ns = 0;
    char options[32];
    cl_kernel kernel;
    cl_mem out = NULL;
    tsr_status st;
    rig r;

    if (rig_open(q->session, &r, NULL))
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

static void ask_barriers(inquiry *q)
{
    const explanation *x = &q->d->call;
    double estimate = 0, barriers = 0, last_ns = 0;
    size_t last_group = 0;
    finding *f = &q->d->found[ASK_BARRIERS];

    for (size_t i = 0; i < x->count; i++) {
        const explained *c = &x->command[i];

        if (!(c->traffic.barriers > 0))
            continue;
        if (c->group != last_group)
            last_ns = barrier_ns(q, c->group);
        last_group = c->group;
        barriers += c->traffic.barriers;
        estimate +=
            fmin(c->traffic.barriers * last_ns * ceil((double)c->groups / groups_at_once(q, c)),
                 c->time.median_ns);
    }
    if (!(x->traffic.requested > 0))
        say(f, ANSWER_UNKNOWN, 0, "the variant does not state its barriers");
    else if (!(barriers > 0))
        say(f, ANSWER_NO, 0, "no work-item waits for another");
    else if (!(last_ns > 0))
        say(f, ANSWER_UNKNOWN, 0, "a group passes %.4g barriers, whose cost could not be measured",
            barriers);
    else
        say(f, estimate / q->ns >= half ? ANSWER_YES : ANSWER_NO, estimate / q->ns,
            "a group passes %.4g barriers; one of %zu work-items takes %.0f ns here, with the "
            "accesses "
            "that it orders: at most %.0f%% of the time",
            barriers, last_group, last_ns, 100 * estimate / q->ns);
}

static void ask_divergence(inquiry *q)
{
    const explanation *x = &q->d->call;
    double idle = 0, known = 0;
    finding *f = &q->d->found[ASK_DIVERGENCE];

    for (size_t i = 0; i < x->count; i++) {
        const explained *c = &x->command[i];

        if (!(c->traffic.busy > 0))
            continue;
        idle += (1 - c->traffic.busy) * c->time.median_ns;
        known += c->time.median_ns;
    }
    if (!q->warps)
        say(f, ANSWER_NO, 0,
            "this device has no warps: work-items of a group take their ways one "
            "after another");
    else if (!(known > 0))
        say(f, ANSWER_UNKNOWN, 0, "the variant does not state how many lanes are busy");
    else
        say(f, idle / q->ns >= half ? ANSWER_YES : ANSWER_NO, idle / q->ns,
            "by its design, %.0f%% of the lanes that its warps issue in branches have something to "
            "do",
            100 * (1 - idle / known));
}

static void ask_units(inquiry *q)
{
    static const struct {
        const char *precision;
        limit plain, matrix;
    } units[] = {{"f32", LIMIT_FP32, LIMIT_TENSOR_TF32},
                 {"tf32", LIMIT_FP32, LIMIT_TENSOR_TF32},
                 {"bf16", LIMIT_FP32, LIMIT_TENSOR_BF16},
                 {"f16", LIMIT_FP32, LIMIT_TENSOR_F16},
                 {"f64", LIMIT_FP64, LIMIT_TENSOR_F64}};
    const result_row *row = &q->d->row;
    const intensity *i = &q->d->place;
    finding *f = &q->d->found[ASK_UNITS];
    double plain = 0, matrix = 0;

    for (size_t k = 0; k < ARRAY_COUNT(units); k++)
        if (!strcmp(row->precision, units[k].precision)) {
            plain = q->limits->of[units[k].plain].value;
            matrix = q->limits->of[units[k].matrix].value;
        }
    if (!(i->least > 0) || !q->problem->op->products)
        say(f, ANSWER_NO, 0, "it has no products of matrices");
    else if (i->ridge > 0 && i->least < i->ridge)
        say(f, ANSWER_NO, 0,
            "the problem has %.3g FLOPs a byte, below the ridge of %.3g: arithmetic "
            "does not bind it",
            i->least, i->ridge);
    else if (!(matrix > 0))
        say(f, ANSWER_NO, 0, "this device has no matrix units of %s that kernels reach",
            *row->precision ? row->precision : "its type");
    else if (row->rate > plain)
        say(f, ANSWER_NO, row->rate / matrix,
            "%.4g GFLOP/s are beyond what multiply-adds reach (%.4g): "
            "matrix units (%.4g) do them",
            row->rate, plain, matrix);
    else
        say(f, ANSWER_YES, row->rate / plain,
            "%.4g GFLOP/s are %.0f%% of what multiply-adds reach; "
            "matrix units reach %.4g%s",
            row->rate, 100 * row->rate / plain, matrix,
            strcmp(row->precision, "f32") != 0 ? ""
                                               : " in TF32, a third of that with FP32's accuracy");
}

static void ask_roof(inquiry *q)
{
    const result_row *row = &q->d->row;
    finding *f = &q->d->found[ASK_ROOF];

    if (!(row->limit_rate > 0))
        say(f, ANSWER_UNKNOWN, 0, "no roof is known for it");
    else
        say(f, row->share >= most ? ANSWER_YES : ANSWER_NO, row->share,
            "%.4g %s are %.0f%% of %.4g (%s)", row->rate, row->unit, 100 * row->share,
            row->limit_rate, row->bound_by);
}

/* ---- what binds it ------------------------------------------------------------------------ */

/* The first that is answered with yes, in the order of the questions; but accesses that are slow
 * for another reason than memory are that reason's. */
static cause find_cause(const inquiry *q)
{
    const finding *f = q->d->found;

    if (f[ASK_LAUNCHES].answer == ANSWER_YES)
        return CAUSE_LAUNCHES;
    if (f[ASK_MEMORY].answer == ANSWER_YES && q->memory != CAUSE_ACCESS)
        return q->memory;
    if (f[ASK_BARRIERS].answer == ANSWER_YES)
        return CAUSE_BARRIERS;
    if (f[ASK_DIVERGENCE].answer == ANSWER_YES)
        return CAUSE_DIVERGENCE;
    if (f[ASK_MEMORY].answer == ANSWER_YES)
        return q->memory;
    if (f[ASK_ROOF].answer == ANSWER_YES)
        return CAUSE_ROOF;
    if (f[ASK_UNITS].answer == ANSWER_YES)
        return CAUSE_UNITS;
    return CAUSE_LATENCY;
}

static void settle(inquiry *q)
{
    diagnosis *d = q->d;

    d->cause = find_cause(q);
    d->binds = remedies[d->cause].of;
    d->verdict = remedies[d->cause].verdict;
    d->cure = remedies[d->cause].cure;
}

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

static tsr_status measure_step(inquiry *q, const variant *v, tsr_error *err)
{
    const tsr_run run = {.variant = v->name};
    diagnosed_step step = {.idea = v->idea};
    result_row row = {0};
    tsr_status st = bench_variant(q->session, q->problem, &run, q->options, &row, err);

    if (st || row.outcome != RESULT_TIMED || !row.time.count)
        return st;
    snprintf(step.name, sizeof(step.name), "%s", row.name);
    snprintf(step.parameters, sizeof(step.parameters), "%s", row.parameters);
    step.ns = row.time.median_ns;
    step.speedup = q->d->row.time.median_ns / row.time.median_ns;
    keep_step(q->d, &step);
    return TSR_OK;
}

/* Causes that steps answer: this one, or where none behind the call does, all of its question. */
static unsigned wanted(const inquiry *q)
{
    const operation *op = q->problem->op;
    unsigned alike = 0;
    bool behind = false;

    for (size_t i = 0; i < op->variant_count; i++) {
        if (behind && op->variants[i]->source && (op->variants[i]->answers & 1u << q->d->cause))
            return 1u << q->d->cause;
        behind = behind || !strcmp(op->variants[i]->name, q->d->row.name);
    }
    for (int c = 0; c < CAUSES; c++)
        if (remedies[c].of == q->d->binds)
            alike |= 1u << c;
    return alike;
}

/* Each step behind this one that answers the cause, and can run the problem. */
static tsr_status measure_steps(inquiry *q, tsr_error *err)
{
    const operation *op = q->problem->op;
    const unsigned causes = wanted(q);
    diagnosis *d = q->d;
    bool behind = false;
    tsr_status st = TSR_OK;

    d->is_last = true;
    for (size_t i = 0; i < op->variant_count && !st; i++) {
        const variant *v = op->variants[i];

        if (behind && v->source && (v->answers & causes)) {
            d->is_last = false;
            if (!(q->options->stop && *q->options->stop))
                st = measure_step(q, v, err);
        }
        behind = behind || !strcmp(v->name, d->row.name);
    }
    return st;
}

/* ---- everything --------------------------------------------------------------------------- */

tsr_status diagnose(tsr_session *s, const problem *p, const tsr_run *run,
                    const bench_options *options, const limits *l, diagnosis *out, tsr_error *err)
{
    const device_facts *d = session_facts(s);
    inquiry q = {.session = s,
                 .problem = p,
                 .options = options,
                 .limits = l,
                 .d = out,
                 .warps = d->kind == DEVICE_GPU};
    tsr_status st;

    *out = (diagnosis){0};
    if (d->kind == DEVICE_HOST)
        return tsr_fail(err, TSR_EUNSUPPORTED, 0,
                        "C code on the host has no launches that could be diagnosed");
    st = bench_variant(s, p, run, options, &out->row, err);
    if (!st && out->row.outcome != RESULT_TIMED)
        st = tsr_fail(err, TSR_EUNSUPPORTED, 0, "%s", out->row.unsupported);
    if (!st && !out->row.time.count)
        return TSR_OK; /* interrupted */
    st = st ? st : explain_call(s, p, run, options, &out->call, err);
    if (st)
        return st;
    roofline_place(l, &out->row);
    out->place = intensity_of(&out->call.traffic, l, out->row.precision);
    for (size_t i = 0; i < out->call.count; i++)
        q.ns += out->call.command[i].time.median_ns;
    q.ns = fmax(q.ns, 1);
    ask_launches(&q);
    ask_memory(&q);
    ask_barriers(&q);
    ask_divergence(&q);
    ask_units(&q);
    ask_roof(&q);
    settle(&q);
    return measure_steps(&q, err);
}

void diagnose_free(diagnosis *d)
{
    explain_free(&d->call);
}
