/* clCreateCommandQueue: the call that devices of every version take. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include "measure/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "core/dispatch.h"
#include "core/registry.h"
#include "core/strict_tiles.h"
#include "measure/hold.h"
#include "measure/input_sets.h"
#include "measure/traffic.h"
#include "measure/verify.h"
#include "session/events.h"
#include "session/program.h"

enum { SAMPLES_MAX = 10000, SAMPLES_MIN = 3, TIMES_OVER = 20 };

/* ---- how long ----------------------------------------------------------------------------- */

static double seconds_of(const bench_options *o)
{
    return o->seconds > 0 ? o->seconds : 1;
}

static bool stopped(const bench_options *o)
{
    return o->stop && *o->stop;
}

bool bench_is_late(const bench_options *o, double ns)
{
    return o->deadline && (double)clock_ns() + ns >= (double)o->deadline;
}

/* Whether a row that has n samples after `start` wants another. */
static bool go_on(const bench_options *o, size_t n, uint64_t start, double seconds)
{
    const size_t least = o->least_samples ? o->least_samples : 5;
    const double elapsed = (double)(clock_ns() - start) * 1e-9;

    if (stopped(o) || n >= SAMPLES_MAX)
        return false;
    if (n < least)
        return n < SAMPLES_MIN || elapsed < TIMES_OVER * seconds;
    return elapsed < seconds;
}

/* ---- one variant, one problem ------------------------------------------------------------- */

/** A variant with the inputs it runs on. */
typedef struct timed_variant {
    tsr_session *session;
    const problem *problem;
    selection selection;
    input_sets sets;
    void **expected;      /* see bench_options */
    bench_phases *phases; /* of the same; never NULL */
    bench_phases unasked; /* counted into where the options have no phases */
    tsr_report report;
    cl_mem counter;      /* of the call that is judged; NULL before and after it */
    size_t strict_tiles; /* of that call */
    double enqueue_ns;   /* of the last call, on the host */
    double wall_ns;      /* of it, until it had ended; 0 on `host` */
} timed_variant;

/* Where the operands of a variant's calls are; NULL stands for the default, which works in buffers.
 */
static placement place_of(const variant *v)
{
    return v && !v->source ? IN_ARRAYS : IN_BUFFERS;
}

static tsr_status finish(const timed_variant *b, cl_event last, tsr_error *err)
{
    cl_int rc = clFinish(b->session->queue);

    if (rc == CL_SUCCESS && last)
        rc = events_outcome(last);
    return dispatch_ended(b->session, b->problem, b->selection.variant, rc, err);
}

/* Enqueue one call on the next set, and wait for it. */
static tsr_status call_device(timed_variant *b, double *ns, tsr_error *err)
{
    const uint64_t start = clock_ns();
    first_launches launches = {0};
    cl_event first = NULL, last = NULL;
    tsr_status st =
        dispatch_enqueue(b->session, b->problem, &b->selection, b->sets.buffer[b->sets.next],
                         &(call_ends){.first = &first,
                                      .last = &last,
                                      .strict_tiles = b->counter,
                                      .launches = dispatch_late(b->session, &launches),
                                      .report = &b->report},
                         err);

    b->enqueue_ns = (double)(clock_ns() - start);
    dispatch_compiled(b->session, &launches);
    if (st)
        return st;
    st = finish(b, last, err);
    b->wall_ns = fmax((double)(clock_ns() - start), 1);
    if (!st && b->session->profiling)
        st = events_span(first, last, ns, err);
    else if (!st)
        *ns = b->wall_ns;
    if (!st)
        *ns = fmax(*ns, 1);
    clReleaseEvent(first);
    clReleaseEvent(last);
    return st;
}

static tsr_status call_host(timed_variant *b, double *ns, tsr_error *err)
{
    const uint64_t start = clock_ns();
    tsr_status st = b->selection.variant->host(b->problem, b->sets.memory[b->sets.next], err);

    *ns = fmax((double)(clock_ns() - start), 1);
    b->report.commands = 1;
    return st;
}

/* One call on the next set, restored before where calls use their sets up. */
static tsr_status call_next(timed_variant *b, double *ns, tsr_error *err)
{
    tsr_status st;

    if (b->sets.next == b->sets.count) {
        st = input_sets_restore(&b->sets, err);
        if (st)
            return st;
    }
    st = b->sets.buffer ? call_device(b, ns, err) : call_host(b, ns, err);
    b->sets.next++;
    return st;
}

/* Run on the first set and judge the result. */
static tsr_status prove(timed_variant *b, verdict *out, double *ns, tsr_error *err)
{
    void *after[OPERANDS_MAX] = {0};
    uint64_t since = clock_ns();
    kept_call *c;
    tsr_status st = input_sets_results(&b->sets, after, err);

    st = st ? st
            : dispatch_call_of(b->session, b->problem, &b->selection,
                               place_of(b->selection.variant), &c, err);
    /* Only here: a call that is timed counts nothing. */
    st = st ? st : strict_tiles_open(b->session, c, &b->counter, err);
    st = st ? st : call_next(b, ns, err);
    st = st ? st : strict_tiles_read(b->session, b->counter, &b->strict_tiles, err);
    if (b->counter)
        clReleaseMemObject(b->counter);
    b->counter = NULL;
    st = st ? st : input_sets_read(&b->sets, after, err);
    bench_lap(&since, &b->phases->results);
    st = st ? st
            : verify_result(b->problem, session_facts(b->session),
                            (const void *const *)b->sets.before, (const void *const *)after,
                            b->expected, out, err);
    bench_lap(&since, &b->phases->proofs);
    input_sets_free_results(&b->sets, after);
    if (!st && b->session->queue)
        programs_save(b->session);
    return st;
}

/* Run calls until a tenth of the time to measure has passed, at least two unless one is long. */
static tsr_status warm_up(timed_variant *b, const bench_options *o, double first_ns, tsr_error *err)
{
    const double enough = seconds_of(o) * 1e8;
    const uint64_t start = clock_ns();
    tsr_status st = TSR_OK;
    double ns;

    if (first_ns > seconds_of(o) * 1e9)
        return TSR_OK; /* its verification was one */
    for (size_t i = 0; !st && !stopped(o); i++) {
        if (i >= 2 && (double)(clock_ns() - start) >= enough)
            break;
        st = call_next(b, &ns, err);
    }
    return st;
}

/* Samples of one call each. */
static tsr_status take_samples(timed_variant *b, const bench_options *o, result_row *row,
                               tsr_error *err)
{
    double *ns = calloc(SAMPLES_MAX, sizeof(*ns)), *enqueue = calloc(SAMPLES_MAX, sizeof(*ns));
    double *wall = calloc(SAMPLES_MAX, sizeof(*ns));
    tsr_status st = TSR_OK;
    uint64_t start;
    size_t n = 0;

    if (!ns || !enqueue || !wall) {
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory for %d samples", SAMPLES_MAX);
        goto cleanup;
    }
    start = clock_ns();
    while (!st && go_on(o, n, start, seconds_of(o))) {
        st = call_next(b, &ns[n], err);
        enqueue[n] = b->enqueue_ns;
        wall[n] = b->wall_ns;
        n += !st;
    }
    if (st)
        goto cleanup;
    row->time = timing_of(ns, n, 1);
    row->enqueue_ns = timing_of(enqueue, n, 1).median_ns;
    row->wall_ns = timing_of(wall, n, 1).median_ns;
    result_rate(row);

cleanup:
    free(ns);
    free(enqueue);
    free(wall);
    return st;
}

static void describe_variant(const timed_variant *b, result_row *row)
{
    text parameters = {0}, options = {0};
    kept_call *c = NULL; /* stays so where it is unsupported */

    dispatch_call_of(b->session, b->problem, &b->selection, place_of(b->selection.variant), &c,
                     NULL);
    params_describe(c ? &c->plan.params : &b->selection.params, &parameters);
    if (c && b->selection.variant->source)
        plan_options(b->selection.variant, session_facts(b->session), &c->plan, &options);
    snprintf(row->name, sizeof(row->name), "%s", b->selection.variant->name);
    snprintf(row->parameters, sizeof(row->parameters), "%s", text_get(&parameters));
    snprintf(row->options, sizeof(row->options), "%s",
             text_get(&options) + strspn(text_get(&options), " "));
    snprintf(row->chosen, sizeof(row->chosen), "%s", b->selection.chosen);
    row->selected = b->selection.selected;
    row->place = b->selection.variant->source ? RESULT_ON_DEVICE : RESULT_ON_HOST;
    text_free(&parameters);
    text_free(&options);
}

/* Refuse a row, with the reason alone: the row has the names of operation, variant and device. */
static void note_refusal(const problem *p, const tsr_error *why, result_row *row)
{
    const char *message = why->message;
    char who[512];
    int length = snprintf(who, sizeof(who), "%s/%s on %s: ", p->op->name, row->name, row->device);

    if (length > 0 && strncmp(message, who, (size_t)length) == 0)
        message += length;
    result_refuse(row,
                  why->status == TSR_EBOUND         ? RESULT_WRONG
                  : why->status == TSR_EUNSUPPORTED ? RESULT_UNSUPPORTED
                                                    : RESULT_FAILED,
                  message);
}

/* Select the named variant, or the default of a call: one on arrays where that is asked for, else
 * one on buffers, which is a kernel. */
static tsr_status choose(tsr_session *s, const problem *p, const tsr_run *run, bool on_arrays,
                         selection *out, tsr_error *err)
{
    const variant *named = NULL;
    tsr_status st = p->op->check(p, err);

    if (!st && run && run->variant)
        st = variant_find(p->op, run->variant, &named, err);
    if (st)
        return st;
    return dispatch_select(s, p, run, !named && on_arrays ? IN_ARRAYS : place_of(named), out, err);
}

/* False where no variant was named and none is supported: then the selection has the last one that
 * was considered. */
static bool is_chosen(const timed_variant *b, const tsr_run *run, tsr_status st)
{
    return b->selection.variant && (!st || (run && run->variant));
}

/* Choose, and make the inputs.  TSR_EUNSUPPORTED also where the problem is too big for the device.
 */
static tsr_status variant_open(tsr_session *s, const problem *p, const tsr_run *run,
                               const bench_options *o, timed_variant *out, tsr_error *err)
{
    uint64_t since = clock_ns();
    tsr_status st;

    *out = (timed_variant){.session = s, .problem = p, .expected = o->expected};
    out->phases = o->phases ? o->phases : &out->unasked;
    st = choose(s, p, run, o->on_arrays, &out->selection, err);
    if (st)
        return st;
    st = input_sets_open(s, p, o->seed, o->warm, !out->selection.variant->source, &out->sets, err);
    bench_lap(&since, &out->phases->inputs);
    if (st == TSR_EOVERFLOW && err)
        err->status = TSR_EUNSUPPORTED;
    return st == TSR_EOVERFLOW ? TSR_EUNSUPPORTED : st;
}

static void variant_close(timed_variant *b)
{
    input_sets_close(&b->sets);
}

/* What the plan states; the call is kept. */
static void note_traffic(const timed_variant *b, result_row *row)
{
    kept_call *call = NULL;
    traffic t;

    if (!b->selection.variant->source ||
        dispatch_call_of(b->session, b->problem, &b->selection, IN_BUFFERS, &call, NULL))
        return;
    t = traffic_sum(&call->plan);
    row->requested_bytes = t.requested;
    row->local_traffic_bytes = t.local;
}

static void note_report(const timed_variant *b, const verdict *v, result_row *row)
{
    note_traffic(b, row);
    row->verified = v->ok;
    row->worst = v->worst;
    row->sampled = v->sampled;
    row->commands = b->report.commands;
    row->workspace_bytes = b->report.workspace_bytes;
    row->tiles = b->report.tiles;
    row->strict_tiles = b->strict_tiles;
    row->cold = b->sets.cold;
    row->timer = b->sets.buffer ? TIMER_EVENTS : TIMER_WALL;
}

/* What is known of a row before anything runs. */
static void start_row(tsr_session *s, const problem *p, const tsr_run *run,
                      const bench_options *options, result_row *row)
{
    result_start(row, &s->device);
    result_problem(row, p);
    row->seed = options->seed;
    row->timer = session_facts(s)->kind == DEVICE_HOST ? TIMER_WALL : TIMER_EVENTS;
    input_sets_count(s, p, options->warm, &row->cold);
    if (run && run->variant)
        snprintf(row->name, sizeof(row->name), "%s", run->variant);
}

tsr_status bench_late(tsr_session *s, const problem *p, const tsr_run *run,
                      const bench_options *options, result_row *out, tsr_error *err)
{
    timed_variant b = {.session = s, .problem = p};
    result_row row;
    tsr_error why = {0};
    tsr_status st;

    start_row(s, p, run, options, &row);
    st = choose(s, p, run, options->on_arrays, &b.selection, &why);
    if (is_chosen(&b, run, st))
        describe_variant(&b, &row);
    if (st)
        note_refusal(p, &why, &row);
    else
        result_refuse(&row, RESULT_LATE, "the budget is over");
    *out = row;
    if (st && st != TSR_EUNSUPPORTED && err)
        *err = why;
    return st == TSR_EUNSUPPORTED ? TSR_OK : st;
}

tsr_status bench_variant(tsr_session *s, const problem *p, const tsr_run *run,
                         const bench_options *options, result_row *out, tsr_error *err)
{
    timed_variant b = {0};
    result_row row;
    tsr_error why = {0};
    verdict v = {0};
    double first_ns = 0, proof_ns;
    uint64_t start;
    tsr_status st;

    if (!s->profiling && session_facts(s)->kind != DEVICE_HOST)
        return tsr_fail(err, TSR_EINVAL, 0, "the session's queue records no times");
    start_row(s, p, run, options, &row);
    st = variant_open(s, p, run, options, &b, &why);
    if (is_chosen(&b, run, st))
        describe_variant(&b, &row);
    start = clock_ns();
    st = st ? st : prove(&b, &v, &first_ns, &why);
    proof_ns = (double)(clock_ns() - start);
    if (!st || st == TSR_EBOUND)
        note_report(&b, &v, &row);
    st = st ? st : warm_up(&b, options, first_ns, &why);
    st = st ? st : take_samples(&b, options, &row, &why);
    variant_close(&b);
    if (!st && options->costs && row.time.count && !stopped(options) &&
        !bench_is_late(options, proof_ns)) /* it built once, too */
        st = bench_costs(s, p, run, &row, &why);
    if (st)
        note_refusal(p, &why, &row);
    *out = row;
    if (st && st != TSR_EUNSUPPORTED && err)
        *err = why;
    return st == TSR_EUNSUPPORTED ? TSR_OK : st;
}

tsr_status bench_build(tsr_session *s, const problem *p, const tsr_run *run, tsr_error *err)
{
    const bench_options one_set = {.seed = 1, .warm = true};
    timed_variant b = {0};
    kept_call *c;
    double ns;
    tsr_status st;

    if (session_facts(s)->compiles_late) {
        st = variant_open(s, p, run, &one_set, &b, err);
        st = st ? st : call_next(&b, &ns, err);
        variant_close(&b);
    } else {
        st = choose(s, p, run, false, &b.selection, err);
        st = st || !b.selection.variant->source
                 ? st
                 : dispatch_call_of(s, p, &b.selection, IN_BUFFERS, &c, err);
        st = st || !b.selection.variant->source ? st : dispatch_build(s, c, NULL, err);
    }
    if (!st && s->queue)
        programs_save(s);
    return st;
}

/* ---- costs -------------------------------------------------------------------------------- */

/* Wall time of building and running a first call in a session of its own on the same queue, less
 * a usual call's; 0 where it was not built in the wanted way. */
static tsr_status first_call(const timed_variant *b, const variant *v, tsr_build wanted,
                             double usual_ns, double *ns, tsr_error *err)
{
    const tsr_session_options options = {.kernel_dir = text_get(&b->session->kernel_dir),
                                         .no_cache = wanted == TSR_BUILD_COMPILED};
    timed_variant twin = *b;
    tsr_status st = tsr_session_adopt(b->session->queue, &options, &twin.session, err);
    uint64_t start;
    double device_ns;

    if (st)
        return st;
    twin.session->device = b->session->device; /* probed already */
    twin.session->watch = b->session->watch;
    twin.selection.variant = v;
    twin.sets.next = 0;
    start = clock_ns();
    st = call_device(&twin, &device_ns, err);
    *ns = (double)(clock_ns() - start) - usual_ns;
    /* A call's own time varies: building takes at least what it took by itself. */
    if (!st && twin.session->programs)
        *ns = fmax(*ns, (double)twin.session->programs->build_ns);
    if (!st && (!twin.session->programs || twin.session->programs->built != wanted))
        *ns = 0;
    tsr_session_close(twin.session);
    return st;
}

static tsr_status build_costs(const timed_variant *b, result_row *row, tsr_error *err)
{
    const variant *v = b->selection.variant;
    variant unseen = *v;
    text build = {0};
    tsr_status st;

    text_format(&build, "%s -DTESSERA_UNSEEN=%llu", v->build ? v->build : "",
                (unsigned long long)clock_ns());
    unseen.build = text_get(&build);
    st = first_call(b, &unseen, TSR_BUILD_COMPILED, row->time.median_ns, &row->build_cold_ns, err);
    if (!st && !b->session->cache.why_off[0]) {
        programs_save(b->session);
        st = first_call(b, v, TSR_BUILD_CACHED, row->time.median_ns, &row->build_cached_ns, err);
    }
    text_free(&build);
    return st;
}

/* Copy operand i there or back, waiting; returns the wall time, or -1. */
static double copy_time(const timed_variant *b, size_t i, void *memory, bool back)
{
    const size_t bytes = b->sets.operand[i].bytes;
    const cl_mem buffer = b->sets.buffer[0][i];
    const uint64_t start = clock_ns();
    const cl_int rc = back ? clEnqueueReadBuffer(b->session->queue, buffer, CL_TRUE, 0, bytes,
                                                 memory, 0, NULL, NULL)
                           : clEnqueueWriteBuffer(b->session->queue, buffer, CL_TRUE, 0, bytes,
                                                  memory, 0, NULL, NULL);

    return rc == CL_SUCCESS ? (double)(clock_ns() - start) : -1;
}

/* What a call on host memory copies where device and host share none, in ordinary (pageable)
 * memory: medians of three. */
static tsr_status copy_costs(const timed_variant *b, result_row *row, tsr_error *err)
{
    enum { TIMES = 3 };
    double ns[TIMES];

    for (size_t i = 0; i < 2 * b->sets.operand_count; i++) {
        const operand *o = &b->sets.operand[i / 2];
        const bool back = i % 2;

        if (!o->bytes || (back ? o->access == ACCESS_READ : o->whole))
            continue;
        for (size_t k = 0; k < TIMES; k++) {
            ns[k] = copy_time(b, i / 2, b->sets.before[i / 2], back);
            if (ns[k] < 0)
                return tsr_fail(err, TSR_ECL, 0, "copying %s (%zu bytes) failed", o->name,
                                o->bytes);
        }
        if (back) {
            row->from_device_ns += timing_of(ns, TIMES, 1).median_ns;
            row->from_device_bytes += (double)o->bytes;
        } else {
            row->to_device_ns += timing_of(ns, TIMES, 1).median_ns;
            row->to_device_bytes += (double)o->bytes;
        }
    }
    return TSR_OK;
}

tsr_status bench_costs(tsr_session *s, const problem *p, const tsr_run *run, result_row *row,
                       tsr_error *err)
{
    const bench_options one_set = {.seed = row->seed, .warm = true};
    tsr_status st = TSR_OK;
    timed_variant b = {0};

    if (session_facts(s)->kind == DEVICE_HOST)
        return TSR_OK; /* C code is built already, and its operands are where they should be */
    st = variant_open(s, p, run, &one_set, &b, err);
    if (!st && b.sets.buffer)
        st = build_costs(&b, row, err);
    if (!st && b.sets.buffer)
        st = copy_costs(&b, row, err);
    variant_close(&b);
    return st;
}

/* ---- candidates --------------------------------------------------------------------------- */

typedef struct variant_candidate {
    tsr_session *unprofiled; /* timed by TIMER_WALL; NULL: not yet, or C code */
    bool owns_it;
    timed_variant timed; /* its session is the one that it is timed in */
    verdict verdict;
    bool held; /* timed by `hold` */
    hold hold;
    size_t calls; /* that it enqueues at a time */
} variant_candidate;

static tsr_status make_calls(variant_candidate *e, size_t calls, tsr_error *err)
{
    timed_variant *b = &e->timed;
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < calls && !st; i++) {
        const size_t set = b->sets.next++ % b->sets.count;

        if (b->sets.memory)
            st = b->selection.variant->host(b->problem, b->sets.memory[set], err);
        else
            st = dispatch_enqueue(b->session, b->problem, &b->selection, b->sets.buffer[set],
                                  &(call_ends){0}, err);
    }
    return st;
}

static tsr_status run_candidate(void *state, size_t calls, double *ns, tsr_error *err)
{
    variant_candidate *e = state;
    const uint64_t start = clock_ns();
    tsr_status st = make_calls(e, calls, err);

    if (!st && e->timed.sets.buffer)
        st = finish(&e->timed, NULL, err);
    *ns = fmax((double)(clock_ns() - start), 1);
    return st;
}

static tsr_status enqueue_candidate(void *state, tsr_error *err)
{
    variant_candidate *e = state;

    return make_calls(e, e->calls, err);
}

static tsr_status run_held_candidate(void *state, size_t calls, double *ns, tsr_error *err)
{
    variant_candidate *e = state;
    tsr_status st;

    e->calls = calls;
    st = hold_time(&e->hold, enqueue_candidate, e, ns, err);
    if (!st)
        *ns = fmax(*ns, 1);
    return st;
}

static tsr_status restore_candidate(void *state, tsr_error *err)
{
    variant_candidate *e = state;

    return input_sets_restore(&e->timed.sets, err);
}

/* Whether a set of inputs serves one call only.  Where results accumulate in place, calls may
 * follow one another on one set, as peers' do, since no time depends on the values. */
static bool calls_use_up(const input_sets *x)
{
    return x->in_place && x->problem->op->uses_up;
}

/* Calls that a driver takes while the device is held back. */
static size_t held_calls(const timed_variant *s)
{
    const size_t fit = BENCH_HELD_COMMANDS / size_max(s->report.commands, 1);

    return size_max(size_min(fit, BENCH_HELD_CALLS), 1);
}

/* A variant for bench_interleave, held back or not as it is set. */
static candidate candidate_of(variant_candidate *e)
{
    const input_sets *x = &e->timed.sets;
    size_t most = e->held ? held_calls(&e->timed) : 0;

    if (calls_use_up(x))
        most = most ? size_min(most, x->count) : x->count;
    return (candidate){.state = e,
                       .run = e->held ? run_held_candidate : run_candidate,
                       .most_calls = most,
                       .uses_up = calls_use_up(x),
                       .restore = calls_use_up(x) ? restore_candidate : NULL,
                       .warm_ns =
                           is_host_processor(session_facts(e->timed.session)) ? BENCH_WARM_NS : 0};
}

/* A session like s, on a queue with these properties. */
static tsr_status session_on(tsr_session *s, cl_command_queue_properties properties,
                             tsr_session **out, tsr_error *err)
{
    const tsr_session_options options = {.kernel_dir = text_get(&s->kernel_dir),
                                         .no_cache = s->cache.why_off[0] != '\0'};
    cl_command_queue queue;
    tsr_status st;
    cl_int rc;

    queue = clCreateCommandQueue(s->context, s->device.id, properties, &rc);
    if (!queue)
        return tsr_fail(err, TSR_ECL, rc, "clCreateCommandQueue on %s", session_facts(s)->name);
    st = tsr_session_adopt(queue, &options, out, err);
    clReleaseCommandQueue(queue); /* the session holds it */
    if (st)
        return st;
    (*out)->device = s->device; /* probed already */
    (*out)->watch = s->watch;
    return TSR_OK;
}

static void close_candidate(variant_candidate *e)
{
    if (!e)
        return;
    hold_close(&e->hold);
    variant_close(&e->timed);
    if (e->owns_it)
        tsr_session_close(e->unprofiled);
    free(e);
}

/* The session of TIMER_WALL: the one that the options keep, or its own. */
static tsr_status open_unprofiled(variant_candidate *e, tsr_session *s, tsr_session **kept,
                                  tsr_error *err)
{
    tsr_status st = TSR_OK;

    if (kept && *kept) {
        e->unprofiled = *kept;
        return TSR_OK;
    }
    st = session_on(s, 0, &e->unprofiled, err);
    e->owns_it = !st && !kept;
    if (!st && kept)
        *kept = e->unprofiled;
    return st;
}

tsr_status bench_candidate_open(tsr_session *s, const problem *p, const tsr_run *run,
                                const bench_options *options, candidate *out, tsr_error *err)
{
    variant_candidate *e = calloc(1, sizeof(*e));
    const bool on_device = session_facts(s)->kind != DEVICE_HOST;
    tsr_status st = TSR_OK;
    double ns;

    if (!e)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for a candidate");
    e->held = options->held;
    if (!on_device && e->held)
        st = tsr_fail(err, TSR_EUNSUPPORTED, 0, "C code on the host has no queue to hold back");
    else if (on_device && (!e->held || options->wall))
        st = open_unprofiled(e, s, options->unprofiled, err);
    st = st ? st
            : variant_open(on_device && !e->held ? e->unprofiled : s, p, run, options, &e->timed,
                           err);
    st = st ? st : prove(&e->timed, &e->verdict, &ns, err);
    if (!st && e->held)
        st = hold_open(s, &e->hold, err);
    if (st)
        goto cleanup;
    if (calls_use_up(&e->timed.sets))
        e->hold.renew = restore_candidate;
    *out = candidate_of(e);
    e = NULL; /* moved to the caller */

cleanup:
    close_candidate(e);
    return st;
}

tsr_status bench_candidate_to_wall(candidate *c, tsr_error *err)
{
    variant_candidate *e = c->state;
    tsr_status st;

    e->held = false;
    e->timed.session = e->unprofiled;
    *c = candidate_of(e);
    /* A first call, which loads its programs. */
    st = make_calls(e, 1, err);
    st = st ? st : finish(&e->timed, NULL, err);
    return st || !calls_use_up(&e->timed.sets) ? st : input_sets_restore(&e->timed.sets, err);
}

const input_sets *bench_candidate_inputs(const candidate *c)
{
    const variant_candidate *e = c->state;

    return &e->timed.sets;
}

void bench_candidate_close(candidate *c)
{
    close_candidate(c->state);
    *c = (candidate){0};
}

void bench_candidate_describe(const candidate *c, result_row *row)
{
    const variant_candidate *e = c->state;

    describe_variant(&e->timed, row);
    note_report(&e->timed, &e->verdict, row);
    row->timer = e->held ? TIMER_HELD : TIMER_WALL;
}

/* ---- side by side ------------------------------------------------------------------------- */

enum { CALLS_MAX = 1000, SAMPLES_AIM = 20, ROUNDS_MAX = 2000 };

/* The first call after another candidate's finds caches and threads as that one left them: of calls
 * below this, one more goes before each sample, untimed. */
static const double brief_ns = 1e7;

static bool is_out(const candidate *c)
{
    return c->failure && c->failure->status;
}

/* What goes before a sample, untimed: a call, or such samples for the candidate's warm_ns.  Inputs
 * that are used up allow for a call. */
static tsr_status run_untimed(candidate *c, size_t calls, tsr_error *err)
{
    const bool lasts = c->warm_ns && !c->uses_up;
    const uint64_t start = clock_ns();
    double untimed;
    tsr_status st;

    do
        st = c->run(c->state, lasts ? calls : 1, &untimed, err);
    while (!st && lasts && clock_ns() - start < c->warm_ns);
    return st;
}

/* A sample; TSR_OK also where one that may fail does: it is out then, and *ns untouched. */
static tsr_status run_one(candidate *c, size_t calls, bool brief, double *ns, tsr_error *err)
{
    tsr_error *why = c->failure ? c->failure : err;
    tsr_status st = c->restore ? c->restore(c->state, why) : TSR_OK;

    if (!st && brief)
        st = run_untimed(c, calls, why);
    st = st ? st : c->run(c->state, calls, ns, why);
    if (c->settle_ns)
        nanosleep(&(struct timespec){.tv_nsec = (long)c->settle_ns}, NULL);
    return c->failure ? TSR_OK : st;
}

/* Warm up, and find how many calls a sample takes to last a SAMPLES_AIM-th of the time, and whether
 * one is brief. */
static tsr_status calibrate(candidate *c, const bench_options *o, size_t *calls, bool *brief,
                            tsr_error *err)
{
    const double aim = seconds_of(o) * 1e9 / SAMPLES_AIM;
    double ns = 0;
    tsr_status st = TSR_OK;

    *calls = 1;
    for (int i = 0; i < 3 && !st && !stopped(o) && !(i && bench_is_late(o, 0)); i++) {
        double each;

        st = run_one(c, *calls, false, &ns, err);
        if (st || is_out(c))
            break;
        each = ns / (double)*calls;
        *brief = each < fmax(brief_ns, c->warm_ns);
        *calls = each * CALLS_MAX < aim ? CALLS_MAX : size_max((size_t)(aim / each), 1);
        if (c->most_calls)
            *calls = size_min(*calls, c->most_calls);
        /* Of one that is long, its verification was the warm-up. */
        if (ns > (i ? aim : seconds_of(o) * 1e9))
            break;
    }
    /* The untimed call uses an input up, too. */
    *brief = *brief && !(c->uses_up && c->most_calls == 1);
    if (*brief && c->uses_up)
        *calls = size_min(*calls, c->most_calls - 1);
    return st;
}

/* Which candidate has the i-th turn of a round: each goes first once, then they go backwards, so
 * that none always comes after the same other, whose heat and caches it finds. */
static size_t turn(size_t round, size_t i, size_t count)
{
    return (round + (round / count % 2 ? count - i : i)) % count;
}

tsr_status bench_interleave(candidate *candidates, size_t count, const bench_options *options,
                            timing *times, tsr_error *err)
{
    size_t *calls = calloc(count + 1, sizeof(*calls)), rounds = 0;
    bool *brief = calloc(count + 1, sizeof(*brief));
    double *ns = calloc(count * ROUNDS_MAX + 1, sizeof(*ns));
    const double seconds = seconds_of(options) * (double)count;
    tsr_status st = TSR_OK;
    uint64_t start, since = clock_ns();

    if (!calls || !brief || !ns) {
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory for the times of %zu candidates", count);
        goto cleanup;
    }
    for (size_t i = 0; i < count && !st; i++)
        st = calibrate(&candidates[i], options, &calls[i], &brief[i], err);
    start = clock_ns();
    while (!st && rounds < ROUNDS_MAX && go_on(options, rounds, start, seconds) &&
           !(rounds && bench_is_late(options, 0))) {
        for (size_t i = 0; i < count && !st; i++) {
            const size_t which = turn(rounds, i, count);
            double *sample = &ns[which * ROUNDS_MAX + rounds];

            if (is_out(&candidates[which]))
                continue;
            st = run_one(&candidates[which], calls[which], brief[which], sample, err);
            *sample /= (double)size_max(calls[which], 1);
        }
        rounds += !st;
    }
    for (size_t i = 0; i < count && !st; i++)
        times[i] = timing_of(&ns[i * ROUNDS_MAX], is_out(&candidates[i]) ? 0 : rounds, calls[i]);
    if (options->phases)
        bench_lap(&since, &options->phases->samples);

cleanup:
    free(calls);
    free(brief);
    free(ns);
    return st;
}
