/* clCreateCommandQueue: the call that devices of every version take. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include "measure/peers.h"

#include <bench/peer_catalog.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "core/fields.h"
#include "core/peer_job.h"
#include "measure/input_sets.h"
#include "measure/verify.h"

/* Where `make install` puts libraries, relative to its prefix. */
#ifndef TESSERA_LIBDIR
#define TESSERA_LIBDIR "lib"
#endif

/* ---- modules ------------------------------------------------------------------------------ */

typedef struct peer_file {
    void *handle; /* NULL where it is not loaded */
    const peer_list *list;
    char why[256]; /* it is not loaded */
} peer_file;

struct peers {
    char folder[PATH_MAX];
    peer_file file[PEER_CATALOG_COUNT]; /* in the catalog's order */
    text message;
};

/* Whether any module of the catalog lies in the folder. */
static bool holds_modules(const char *folder)
{
    text path = {0};
    bool found = false;

    for (size_t i = 0; i < PEER_CATALOG_COUNT && !found; i++) {
        text_clear(&path);
        text_format(&path, "%s/%s.so", folder, peer_catalog[i].module);
        found = access(text_get(&path), R_OK) == 0;
    }
    text_free(&path);
    return found;
}

static void find_folder(char out[PATH_MAX])
{
    static const char *const beside[] = {"bench", "../" TESSERA_LIBDIR "/tessera/peers",
                                         "../lib/tessera/peers"};
    const char *wanted = getenv("TESSERA_PEER_DIR");
    char self[PATH_MAX] = "", folder[2 * PATH_MAX];
    char *slash;

    if (wanted && *wanted) {
        snprintf(out, PATH_MAX, "%s", wanted);
        return;
    }
    if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
        self[0] = '\0';
    slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
        snprintf(folder, sizeof(folder), "%s/%s", self, beside[i]);
        if (i == 0 || holds_modules(folder))
            snprintf(out, PATH_MAX, "%.*s", PATH_MAX - 1, folder);
        if (holds_modules(out))
            return;
    }
}

static void load_file(const char *folder, const char *module, peer_file *out)
{
    const peer_list *(*entry)(void) = NULL;
    text path = {0};
    void *symbol;

    text_format(&path, "%s/%s.so", folder, module);
    if (access(text_get(&path), R_OK) != 0) {
        snprintf(out->why, sizeof(out->why), "no %s.so in %.200s", module, folder);
        goto cleanup;
    }
    out->handle = dlopen(text_get(&path), RTLD_NOW | RTLD_LOCAL);
    if (!out->handle) {
        snprintf(out->why, sizeof(out->why), "%s", dlerror());
        goto cleanup;
    }
    symbol = dlsym(out->handle, "peer_module");
    memcpy(&entry, &symbol, sizeof(entry)); /* as POSIX has it: ISO C knows no such cast */
    out->list = entry ? entry() : NULL;
    if (!out->list || out->list->abi != PEER_ABI) {
        snprintf(out->why, sizeof(out->why), "%s.so speaks version %d of the interface, not %d",
                 module, out->list ? out->list->abi : 0, PEER_ABI);
        dlclose(out->handle);
        out->handle = NULL;
        out->list = NULL;
    }

cleanup:
    text_free(&path);
}

tsr_status peers_load(const char *folder, peers **out, tsr_error *err)
{
    peers *p = calloc(1, sizeof(*p));

    if (!p)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for the peers");
    if (folder)
        snprintf(p->folder, sizeof(p->folder), "%s", folder);
    else
        find_folder(p->folder);
    for (size_t i = 0; i < PEER_CATALOG_COUNT; i++)
        load_file(p->folder, peer_catalog[i].module, &p->file[i]);
    *out = p;
    return TSR_OK;
}

void peers_close(peers *p)
{
    if (!p)
        return;
    /* The modules stay loaded: their libraries leave threads behind that would lose their code. */
    text_free(&p->message);
    free(p);
}

/* Whether one of the words of `ops` is the operation's name. */
static bool serves(const peer_catalog_entry *c, const operation *op)
{
    const size_t length = strlen(op->name);

    for (const char *word = c->ops; *word; word += strspn(word, " ")) {
        const size_t n = strcspn(word, " ");

        if (n == length && !strncmp(word, op->name, n))
            return true;
        word += n;
    }
    return false;
}

const char *peers_missing(peers *p, const operation *op, size_t i)
{
    for (size_t k = 0; k < PEER_CATALOG_COUNT; k++) {
        const peer_catalog_entry *c = &peer_catalog[k];

        if (p->file[k].list || !serves(c, op) || i-- > 0)
            continue;
        text_clear(&p->message);
        text_format(&p->message, "%s: %s; it comes with %s and is built with Tessera", c->library,
                    p->file[k].why, c->package);
        return text_get(&p->message);
    }
    return NULL;
}

size_t peers_count(const peers *p, const operation *op)
{
    size_t count = 0;

    for (size_t k = 0; k < PEER_CATALOG_COUNT; k++)
        if (p->file[k].list && serves(&peer_catalog[k], op))
            count += p->file[k].list->count;
    return count;
}

/* ---- one comparison ----------------------------------------------------------------------- */

enum { SLOW_SAMPLES = 3 };

/* A call of a few seconds: one sample has to do, on the host's processor that of the proof. */
static const double long_ns = 3e9;

typedef struct rival {
    const peer *peer;
    problem problem; /* the one asked for, in the peer's precision */
    void *state;
    double call_ns;          /* of its last call alone */
    bool slow;               /* one call takes longer than a row may */
    double ns[SLOW_SAMPLES]; /* samples of a slow one */
    size_t samples;
    size_t entry;      /* its place in what is interleaved, from 1; 0: apart */
    tsr_error failure; /* while it was timed */
    result_row row;
} rival;

typedef struct match {
    peers_match asked;
    input_sets inputs; /* one set: what the peers copy, and what their results are judged by */
    cl_command_queue queue;
    peer_job job;
    contender ours;
    rival *rivals;
    size_t count;
    bool cold;
} match;

static tsr_status run_by(const rival *r, int (*run)(void *, size_t, double *), size_t calls,
                         double *ns, tsr_error *err)
{
    const int code = run(r->state, calls, ns);

    if (code)
        return tsr_fail(err, TSR_EUNSUPPORTED, 0, "%s failed with code %d", r->peer->name, code);
    if (*ns < 1)
        *ns = 1;
    return TSR_OK;
}

/* By the clock that its row names. */
static tsr_status run_rival(void *state, size_t calls, double *ns, tsr_error *err)
{
    const rival *r = state;

    return run_by(r, r->row.timer == TIMER_HELD ? r->peer->run_held : r->peer->run, calls, ns, err);
}

static tsr_status restore_rival(void *state, tsr_error *err)
{
    const rival *r = state;
    const int code = r->peer->restore(r->state);

    return code ? tsr_fail(err, TSR_EUNSUPPORTED, 0, "restoring the keys of %s failed with code %d",
                           r->peer->name, code)
                : TSR_OK;
}

/* OpenBLAS's threads spin for up to 2^28 cycles before they sleep. */
enum { SETTLE_NS = 150000000 };

static contender contender_of(const match *m, rival *r)
{
    const bool on_host =
        r->peer->place == PEER_CPU || is_host_processor(session_facts(m->asked.session));

    const size_t held_most = r->row.timer == TIMER_HELD ? BENCH_HELD_CALLS : 0;

    return (contender){.state = r,
                       .run = run_rival,
                       .most_calls = r->peer->restore ? m->job.problem.sets : held_most,
                       .uses_up = r->peer->restore != NULL,
                       .restore = r->peer->restore ? restore_rival : NULL,
                       .settle_ns = r->peer->place == PEER_CPU ? SETTLE_NS : 0,
                       .warm_ns = on_host ? BENCH_WARM_NS : 0,
                       .failure = &r->failure};
}

static tsr_status describe_problem(match *m, tsr_error *err)
{
    const problem *q = m->asked.problem;
    peer_problem *w = &m->job.problem;
    tsr_status st = TSR_OK;

    if (q->op->command->peer)
        st = q->op->command->peer(q, (const void *const *)m->inputs.before, &m->job, err);
    w->type = m->inputs.operand[0].type;
    w->cl_context = m->asked.session->context;
    w->cl_device = m->asked.session->device.id;
    w->cl_queue = m->queue;
    w->sets = input_sets_count(m->asked.session, q, m->asked.options->warm, &m->cold);
    /* What is beyond these, such as offsets, the operation's own description points to. */
    for (size_t i = 0; i < m->inputs.operand_count && i < ARRAY_COUNT(w->operand); i++) {
        w->operand[i] = m->inputs.before[i];
        w->bytes[i] = m->inputs.operand[i].bytes;
    }
    return st;
}

static const char *place_unsupported(const peer *p, const device_facts *d)
{
    if (p->place == PEER_OPENCL && d->kind == DEVICE_HOST)
        return "it runs on an OpenCL device";
    if (p->place == PEER_CUDA && !d->nvidia)
        return "it runs on NVIDIA's devices";
    return NULL;
}

/* The problem as a peer does it: in its own precision where it has one that goes with the type. */
static problem problem_of(const match *m, const peer *p)
{
    problem own = *m->asked.problem;

    tsr_precision precision;

    if (p->precision && precision_read(p->precision, &precision))
        problem_set_precision(&own, precision);
    return own.op->check(&own, NULL) ? *m->asked.problem : own;
}

static const char budget_over[] = "the budget is over";

/* NULL, or why something that takes ns does not start any more. */
static const char *too_late(const match *m, double ns)
{
    const uint64_t end = m->asked.options->deadline;

    return end && (double)clock_ns() + ns >= (double)end ? budget_over : NULL;
}

/* What is not timed says why, and is closed. */
static void leave_out(rival *r, result_outcome outcome, const char *why)
{
    result_refuse(&r->row, outcome, why);
    if (r->state)
        r->peer->close(r->state);
    r->state = NULL;
}

/* One call on the first set, and what it wrote. */
static tsr_status call_rival(const match *m, rival *r, void *const after[], tsr_error *err)
{
    const unsigned second = m->job.second;
    tsr_status st = run_by(r, r->peer->run, 1, &r->call_ns, err);
    int code;

    if (st)
        return st;
    code = r->peer->result(r->state, after[m->asked.problem->op->result],
                           second ? after[second] : NULL);
    return code ? tsr_fail(err, TSR_EUNSUPPORTED, 0, "reading its result failed with code %d", code)
                : TSR_OK;
}

/* One call on the first set, judged as ours are. */
static tsr_status prove_rival(const match *m, rival *r, tsr_error *err)
{
    device_facts facts = *session_facts(m->asked.session);
    void *after[OPERANDS_MAX] = {0};
    verdict v = {0};
    tsr_status st = input_sets_copy(&m->inputs, after, err);

    if (r->peer->place != PEER_OPENCL)
        facts.denormals_f32 = facts.denormals_f64 = true;
    st = st ? st : call_rival(m, r, after, err);
    st = st ? st
            : verify_result(&r->problem, &facts, (const void *const *)m->inputs.before,
                            (const void *const *)after, m->asked.options->expected, &v, err);
    r->row.verified = !st;
    r->row.worst = v.worst;
    r->row.sampled = v.sampled;
    for (size_t i = 0; i < OPERANDS_MAX; i++)
        free(after[i]);
    return st;
}

static tsr_status sample_rival(rival *r, tsr_error *err)
{
    tsr_status st = r->peer->restore ? restore_rival(r, err) : TSR_OK;

    return st ? st : run_rival(r, 1, &r->call_ns, err);
}

/* Whether a row can afford few samples of it alone. */
static tsr_status find_pace(const match *m, rival *r, tsr_error *err)
{
    const double slow_ns = m->asked.options->seconds * 1e9;
    tsr_status st;

    /* What lasts so long needs no warming up: its proof was a sample. */
    if (r->call_ns > long_ns && r->peer->place == PEER_CPU && r->row.timer == TIMER_WALL)
        r->ns[r->samples++] = r->call_ns;
    /* The first call on a device may have compiled its kernels; the second is a sample. */
    if (r->call_ns > slow_ns && r->peer->place == PEER_OPENCL && !too_late(m, 0)) {
        st = sample_rival(r, err);
        if (st)
            return st;
        r->ns[r->samples++] = r->call_ns;
    }
    r->slow = r->call_ns > slow_ns;
    return TSR_OK;
}

/* NULL, or why a peer cannot do the problem; *wanted is the problem as it gets it. */
static const char *rival_unsupported(const match *m, const rival *r, peer_problem *wanted)
{
    const char *why = place_unsupported(r->peer, session_facts(m->asked.session));

    *wanted = m->job.problem;
    wanted->precision = r->row.precision;
    return why ? why : r->peer->unsupported(wanted);
}

/* NULL once it has copied the inputs, or why it has not; `reason` holds what it composed. */
static const char *enter_rival(rival *r, const peer_problem *wanted, char reason[256])
{
    reason[0] = '\0';
    r->state = r->peer->open(wanted, reason, 256);
    return r->state ? NULL : reason[0] ? reason : "it did not open";
}

/* Open and prove one peer; what keeps it out goes into its row. */
static void open_rival(const match *m, rival *r)
{
    const char *why, *late = NULL;
    peer_problem wanted;
    char reason[256];
    tsr_error err = {0};

    why = rival_unsupported(m, r, &wanted);
    if (!why && r->row.timer == TIMER_HELD && !r->peer->run_held)
        why = "it cannot be held back";
    if (!why)
        why = late = too_late(m, 0);
    if (!why)
        why = enter_rival(r, &wanted, reason);
    /* Opening may have built its kernels, and its first call may build more. */
    if (!why)
        why = late = too_late(m, 0);
    if (!why && (prove_rival(m, r, &err) || find_pace(m, r, &err)))
        why = err.message;
    if (why)
        leave_out(r,
                  late                       ? RESULT_LATE
                  : err.status == TSR_EBOUND ? RESULT_WRONG
                  : err.status               ? RESULT_FAILED
                                             : RESULT_UNSUITED,
                  why);
}

static const char *place_name(peer_place place)
{
    return place == PEER_CPU      ? "on the host's processor"
           : place == PEER_OPENCL ? "on the same OpenCL device"
                                  : "through CUDA";
}

static tsr_status list_rivals(match *m, tsr_error *err)
{
    size_t most = 0;

    for (size_t i = 0; i < PEER_CATALOG_COUNT; i++)
        most += m->asked.list->file[i].list ? m->asked.list->file[i].list->count : 0;
    m->rivals = calloc(most + 1, sizeof(*m->rivals));
    if (!m->rivals)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu peers", most);
    for (size_t i = 0; i < PEER_CATALOG_COUNT; i++) {
        const peer_list *l = m->asked.list->file[i].list;

        if (!serves(&peer_catalog[i], m->asked.problem->op))
            continue;
        for (size_t k = 0; l && k < l->count; k++) {
            rival *r = &m->rivals[m->count++];

            r->peer = &l->peers[k];
            r->problem = problem_of(m, r->peer);
            result_start(&r->row, &m->asked.session->device);
            result_problem(&r->row, &r->problem);
            r->row.kind = RESULT_PEER;
            r->row.seed = m->asked.options->seed;
            r->row.timer = m->asked.options->held ? TIMER_HELD : TIMER_WALL;
            r->row.cold = m->cold;
            snprintf(r->row.name, sizeof(r->row.name), "%s", r->peer->name);
            snprintf(r->row.peer_version, sizeof(r->row.peer_version), "%s",
                     r->peer->version ? r->peer->version : "");
            snprintf(r->row.chosen, sizeof(r->row.chosen), "%s", place_name(r->peer->place));
            r->row.place = r->peer->place == PEER_CPU      ? RESULT_ON_HOST
                           : r->peer->place == PEER_OPENCL ? RESULT_ON_DEVICE
                                                           : RESULT_BY_CUDA;
        }
    }
    return TSR_OK;
}

/* For peers on the device: one that records no times. */
static tsr_status open_queue(match *m, tsr_error *err)
{
    const tsr_session *s = m->asked.session;
    cl_int rc;

    if (!s->context)
        return TSR_OK;
    m->queue = clCreateCommandQueue(s->context, s->device.id, 0, &rc);
    return m->queue
               ? TSR_OK
               : tsr_fail(err, TSR_ECL, rc, "clCreateCommandQueue on %s", session_facts(s)->name);
}

static tsr_status open_match(match *m, tsr_error *err)
{
    const peers_match *a = &m->asked;
    tsr_status st;

    /* Ours first: what cannot be compared needs no peers. */
    st = bench_contender_open(a->session, a->problem, a->run, a->options, &m->ours, err);
    st = st ? st : input_sets_open(a->session, a->problem, a->options->seed, true, &m->inputs, err);
    st = st ? st : open_queue(m, err);
    if (st)
        return st;
    st = describe_problem(m, err);
    st = st ? st : list_rivals(m, err);
    for (size_t i = 0; i < m->count && !st; i++)
        if (!a->options->stop || !*a->options->stop)
            open_rival(m, &m->rivals[i]);
    return st;
}

static void close_match(match *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->rivals[i].state)
            m->rivals[i].peer->close(m->rivals[i].state);
    free(m->rivals);
    bench_contender_close(&m->ours);
    input_sets_close(&m->inputs);
    free(m->job.owned);
    if (m->queue)
        clReleaseCommandQueue(m->queue);
}

/* One that is slow, apart from the others: as many samples as it and the budget leave. */
static void time_slow(const match *m, rival *r)
{
    const size_t wanted = r->call_ns > long_ns ? 1 : SLOW_SAMPLES;
    const bench_options *o = m->asked.options;
    const char *late = NULL;

    while (r->samples < wanted && !(o->stop && *o->stop) && !late) {
        late = too_late(m, r->call_ns);
        if (late)
            break;
        if (sample_rival(r, &r->failure)) {
            leave_out(r, RESULT_FAILED, r->failure.message);
            return;
        }
        r->ns[r->samples++] = r->call_ns;
    }
    if (r->samples)
        r->row.time = timing_of(r->ns, r->samples, 1);
    else if (late)
        leave_out(r, RESULT_LATE, late);
}

/* Enter ours and the peers that can keep up; returns how many. */
static size_t enter_all(match *m, contender c[])
{
    double round_ns = 0;
    size_t n = 1;

    c[0] = m->ours;
    for (size_t i = 0; i < m->count; i++) {
        rival *r = &m->rivals[i];
        const char *late;

        if (!r->state || r->slow)
            continue;
        /* One call to warm up, and one sample. */
        late = too_late(m, 2 * (round_ns + r->call_ns));
        if (late) {
            leave_out(r, RESULT_LATE, late);
            continue;
        }
        round_ns += r->call_ns;
        r->entry = n;
        c[n++] = contender_of(m, r);
    }
    return n;
}

static void take_times(match *m, const timing times[])
{
    for (size_t i = 0; i < m->count; i++) {
        rival *r = &m->rivals[i];

        if (!r->entry)
            continue;
        r->row.time = times[r->entry];
        if (r->failure.status)
            leave_out(r, RESULT_FAILED, r->failure.message);
    }
}

/* Ours and the peers that can keep up, interleaved; the slow ones each apart. */
static tsr_status time_all(match *m, timing *ours, tsr_error *err)
{
    contender *c = calloc(m->count + 1, sizeof(*c));
    timing *times = calloc(m->count + 1, sizeof(*times));
    tsr_status st = TSR_OK;

    if (!c || !times)
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu peers", m->count);
    st = st ? st : bench_interleave(c, enter_all(m, c), m->asked.options, times, err);
    if (st)
        goto cleanup;
    *ours = times[0];
    take_times(m, times);
    for (size_t i = 0; i < m->count; i++)
        if (m->rivals[i].state && m->rivals[i].slow)
            time_slow(m, &m->rivals[i]);

cleanup:
    free(c);
    free(times);
    return st;
}

/* Ours, then the peers'; what was interrupted before it had a time has no row, nor have peers
 * without ours. */
static void tell(match *m, result_row *ours, peers_row *row, void *context)
{
    result_rate(ours);
    if (!ours->time.count && ours->outcome == RESULT_TIMED)
        return;
    row(ours, ours->time.count ? 1 : 0, context);
    for (size_t i = 0; i < m->count; i++) {
        result_row *theirs = &m->rivals[i].row;
        const bool timed = theirs->time.count && ours->time.count;

        result_rate(theirs);
        if (timed || theirs->outcome != RESULT_TIMED)
            row(theirs, timed ? theirs->time.median_ns / ours->time.median_ns : 0, context);
    }
}

tsr_status peers_compare(const peers_match *asked, peers_row *row, void *context, tsr_error *err)
{
    bench_options how = *asked->options;
    match m = {.asked = *asked};
    void *expected = NULL;
    result_row ours;
    tsr_status st;

    m.asked.options = &how;
    if (!how.expected)
        how.expected = &expected;
    result_start(&ours, &asked->session->device);
    result_problem(&ours, asked->problem);
    ours.seed = how.seed;
    st = open_match(&m, err);
    if (!st)
        bench_contender_describe(&m.ours, &ours);
    st = st ? st : time_all(&m, &ours.time, err);
    if (!st)
        tell(&m, &ours, row, context);
    close_match(&m);
    free(expected);
    return st;
}

tsr_status peers_late(const peers_match *asked, peers_row *row, void *context, tsr_error *err)
{
    match m = {.asked = *asked};
    result_row ours;
    tsr_status st;

    st = bench_late(asked->session, asked->problem, asked->run, asked->options, &ours, err);
    if (st)
        return st;
    ours.timer = asked->options->held ? TIMER_HELD : TIMER_WALL;
    m.cold = ours.cold;
    st = list_rivals(&m, err);
    for (size_t i = 0; i < m.count && !st; i++)
        leave_out(&m.rivals[i], RESULT_LATE, budget_over);
    if (!st)
        tell(&m, &ours, row, context);
    close_match(&m);
    return st;
}

/* ---- results ------------------------------------------------------------------------------ */

static void tell_product(const match *m, rival *r, void *const after[], peers_result *told,
                         void *context)
{
    peer_problem wanted;
    char reason[256];
    tsr_error why = {0};
    const char *unsupported = rival_unsupported(m, r, &wanted);
    const unsigned result = m->asked.problem->op->result;

    /* What another peer wrote is nobody's result. */
    memcpy(after[result], m->inputs.before[result], m->inputs.operand[result].bytes);
    if (!unsupported)
        unsupported = enter_rival(r, &wanted, reason);
    if (unsupported)
        tsr_fail(&why, TSR_EUNSUPPORTED, 0, "%s", unsupported);
    else
        call_rival(m, r, after, &why);
    told(&r->row, why.status ? NULL : after[result], &why, context);
    if (r->state)
        r->peer->close(r->state);
    r->state = NULL;
}

tsr_status peers_products(const peers_match *asked, void *const operands[], peers_wanted *wanted,
                          peers_result *told, void *context, tsr_error *err)
{
    match m = {.asked = *asked, .inputs = {.problem = asked->problem}};
    void *after[OPERANDS_MAX] = {0};
    tsr_status st;

    m.inputs.operand_count = asked->problem->op->operands(asked->problem, m.inputs.operand);
    memcpy(m.inputs.before, operands, m.inputs.operand_count * sizeof(*operands));
    st = open_queue(&m, err);
    st = st ? st : describe_problem(&m, err);
    m.job.problem.sets = 1;
    st = st ? st : list_rivals(&m, err);
    st = st ? st : input_sets_copy(&m.inputs, after, err);
    for (size_t i = 0; i < m.count && !st; i++)
        if ((!asked->options->stop || !*asked->options->stop) && wanted(&m.rivals[i].row, context))
            tell_product(&m, &m.rivals[i], after, told, context);
    for (size_t i = 0; i < OPERANDS_MAX; i++)
        free(after[i]);
    m.inputs = (input_sets){0}; /* the operands stay the caller's */
    close_match(&m);
    return st;
}
