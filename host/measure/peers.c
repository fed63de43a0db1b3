/* clCreateCommandQueue: the call that devices of every version take. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include "measure/peers.h"

#include <bench/peer.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "core/fields.h"
#include "measure/input_sets.h"
#include "measure/verify.h"

/* Where `make install` puts libraries, relative to its prefix. */
#ifndef TESSERA_LIBDIR
#define TESSERA_LIBDIR "lib"
#endif

/* ---- modules ------------------------------------------------------------------------------ */

typedef struct peer_file {
    const peer_list *list; /* NULL where it is not loaded */
    char why[256];         /* it is not loaded */
    char note[256];        /* what is said of it where it is loaded; "" for nothing */
} peer_file;

struct peers {
    const operation *op;
    char folder[PATH_MAX];
    peer_file *file; /* file_count of them, in the order of the operation's libraries */
    size_t file_count;
    text message;
};

/* "FOLDER/peer_sort_std.so". */
static void module_path(const char *folder, const operation *op, const peer_library *l, text *out)
{
    text_clear(out);
    text_format(out, "%s/peer_%s_%s.so", folder, op->name, l->name);
}

/* Whether any of the operation's modules lies in the folder. */
static bool holds_modules(const char *folder, const operation *op)
{
    text path = {0};
    bool found = false;

    for (const peer_library *l = op->command->peers; l && l->name && !found; l++) {
        module_path(folder, op, l, &path);
        found = access(text_get(&path), R_OK) == 0;
    }
    text_free(&path);
    return found;
}

static void find_folder(const operation *op, char out[PATH_MAX])
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
        if (i == 0 || holds_modules(folder, op))
            snprintf(out, PATH_MAX, "%.*s", PATH_MAX - 1, folder);
        if (holds_modules(out, op))
            return;
    }
}

/* The module's list; NULL where it has none. */
static const peer_list *list_of(void *handle)
{
    const peer_list *(*entry)(void) = NULL;
    void *symbol = dlsym(handle, "peer_module");

    memcpy(&entry, &symbol, sizeof(entry)); /* as POSIX has it: ISO C knows no such cast */
    return entry ? entry() : NULL;
}

/* Set the variable that a module asks for, once it is closed: its text goes with it. */
static void *load_again(const char *path, void *handle, const peer_list *list, char note[256])
{
    const char *equals = strchr(list->setting, '=');
    char name[64], value[64];

    snprintf(name, sizeof(name), "%.*s", (int)(equals - list->setting), list->setting);
    snprintf(value, sizeof(value), "%s", equals + 1);
    snprintf(note, 256, "%s (%s)", list->setting_why, list->setting);
    dlclose(handle);
    setenv(name, value, 0);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void load_file(const peers *p, const peer_library *l, peer_file *out)
{
    const peer_list *list;
    text path = {0};
    void *handle;

    module_path(p->folder, p->op, l, &path);
    if (access(text_get(&path), R_OK) != 0) {
        snprintf(out->why, sizeof(out->why), "no peer_%s_%s.so in %.200s", p->op->name, l->name,
                 p->folder);
        goto cleanup;
    }
    handle = dlopen(text_get(&path), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        snprintf(out->why, sizeof(out->why), "%s", dlerror());
        goto cleanup;
    }
    list = list_of(handle);
    if (list && list->abi == PEER_ABI && list->setting) {
        handle = load_again(text_get(&path), handle, list, out->note);
        list = handle ? list_of(handle) : NULL;
    } else if (list && list->abi == PEER_ABI && list->setting_why) {
        snprintf(out->note, sizeof(out->note), "%s", list->setting_why);
    }
    if (list && list->abi == PEER_ABI && !strcmp(list->operation, p->op->name) &&
        list->problem_bytes == p->op->command->problem_bytes) {
        out->list = list;
        goto cleanup;
    }
    snprintf(out->why, sizeof(out->why), "peer_%s_%s.so is of another version of Tessera",
             p->op->name, l->name);
    if (handle)
        dlclose(handle);

cleanup:
    text_free(&path);
}

tsr_status peers_load(const operation *op, const char *folder, peers **out, tsr_error *err)
{
    const peer_library *libraries = op->command->peers;
    peers *p = calloc(1, sizeof(*p));

    if (!p)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for the peers");
    p->op = op;
    while (libraries && libraries[p->file_count].name)
        p->file_count++;
    p->file = calloc(p->file_count + 1, sizeof(*p->file));
    if (!p->file) {
        free(p);
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for the peers");
    }
    if (folder)
        snprintf(p->folder, sizeof(p->folder), "%s", folder);
    else
        find_folder(op, p->folder);
    for (size_t i = 0; i < p->file_count; i++)
        load_file(p, &libraries[i], &p->file[i]);
    *out = p;
    return TSR_OK;
}

void peers_close(peers *p)
{
    if (!p)
        return;
    /* The modules stay loaded: their libraries leave threads behind that would lose their code. */
    text_free(&p->message);
    free(p->file);
    free(p);
}

const char *peers_missing(peers *p, bool nvidia, size_t i)
{
    for (size_t k = 0; k < p->file_count; k++) {
        const peer_library *l = &p->op->command->peers[k];

        if (p->file[k].list || (l->nvidia && !nvidia) || i-- > 0)
            continue;
        text_clear(&p->message);
        text_format(&p->message, "%s: %s; it comes with %s and is built with Tessera", l->library,
                    p->file[k].why, l->package);
        return text_get(&p->message);
    }
    return NULL;
}

const char *peers_note(const peers *p, size_t i)
{
    for (size_t k = 0; k < p->file_count; k++)
        if (p->file[k].list && *p->file[k].note && i-- == 0)
            return p->file[k].note;
    return NULL;
}

size_t peers_count(const peers *p)
{
    size_t count = 0;

    for (size_t i = 0; i < p->file_count; i++)
        count += p->file[i].list ? p->file[i].list->count : 0;
    return count;
}

/* ---- one comparison ----------------------------------------------------------------------- */

enum { SLOW_SAMPLES = 3 };

/* Of a call that takes longer there is one sample; on the host's processor that is the proof's. */
static const double long_ns = 3e9;

typedef struct peer_entry {
    const peer *peer;
    problem problem; /* the one asked for, in the peer's precision */
    void *state;
    double call_ns;          /* of its last call alone */
    bool slow;               /* one call takes longer than a row may */
    double ns[SLOW_SAMPLES]; /* samples of a slow one */
    size_t samples;
    size_t position;   /* among what is interleaved, from 1; 0: apart */
    tsr_error failure; /* while it was timed */
    result_row row;
} peer_entry;

typedef struct comparison {
    peers_comparison asked;
    const input_sets *inputs; /* what the peers copy, and what their results are judged by */
    cl_command_queue queue;
    peer_problem described;
    candidate ours;
    peer_entry *entries;
    size_t count;
    bool cold;
    result_timer timer;   /* of this pass */
    bench_phases *phases; /* never NULL */
} comparison;

static tsr_status run_by(const peer_entry *e, int (*run)(void *, size_t, double *), size_t calls,
                         double *ns, tsr_error *err)
{
    const int code = run(e->state, calls, ns);

    if (code)
        return tsr_fail(err, TSR_EUNSUPPORTED, 0, "%s failed with code %d", e->peer->name, code);
    if (*ns < 1)
        *ns = 1;
    return TSR_OK;
}

/* By the clock that its row names. */
static tsr_status run_peer(void *state, size_t calls, double *ns, tsr_error *err)
{
    const peer_entry *e = state;

    return run_by(e, e->row.timer == TIMER_HELD ? e->peer->run_held : e->peer->run, calls, ns, err);
}

static tsr_status restore_peer(void *state, tsr_error *err)
{
    const peer_entry *e = state;
    const int code = e->peer->restore(e->state);

    return code ? tsr_fail(err, TSR_EUNSUPPORTED, 0,
                           "restoring the inputs of %s failed with code %d", e->peer->name, code)
                : TSR_OK;
}

/* OpenBLAS's threads spin for up to 2^28 cycles before they sleep. */
enum { SETTLE_NS = 150000000 };

/* Calls of many launches each that a driver takes before the first has ended. */
enum { HELD_SORTS = 16 };

static candidate candidate_of(const comparison *m, peer_entry *e)
{
    const bool on_host =
        e->peer->place == PEER_CPU || is_host_processor(session_facts(m->asked.session));

    size_t most = e->row.timer == TIMER_HELD ? BENCH_HELD_CALLS : 0;

    /* What uses its inputs up, or is compared with what does, has several passes and launches. */
    if (most && m->asked.problem->op->uses_up)
        most = HELD_SORTS;
    if (e->peer->restore)
        most = most ? size_min(most, m->described.sets) : m->described.sets;
    return (candidate){.state = e,
                       .run = run_peer,
                       .most_calls = most,
                       .uses_up = e->peer->restore != NULL,
                       .restore = e->peer->restore ? restore_peer : NULL,
                       .settle_ns = e->peer->place == PEER_CPU ? SETTLE_NS : 0,
                       .warm_ns = on_host ? BENCH_WARM_NS : 0,
                       .failure = &e->failure};
}

/* The problem as peers get it, but for the precision. */
static void describe_problem(comparison *m)
{
    const problem *q = m->asked.problem;

    m->described = (peer_problem){
        .type = (int)m->inputs->operand[0].type,
        .sets = input_sets_count(m->asked.session, q, m->asked.options->warm, &m->cold),
        .cl_context = m->asked.session->context,
        .cl_device = m->asked.session->device.id,
        .cl_queue = m->queue};
    for (size_t i = 0; i < m->inputs->operand_count; i++) {
        m->described.operand[i] = m->inputs->before[i];
        m->described.bytes[i] = m->inputs->operand[i].bytes;
    }
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
static problem problem_of(const comparison *m, const peer *p)
{
    problem own = *m->asked.problem;

    tsr_precision precision;

    if (p->precision && precision_read(p->precision, &precision))
        problem_set_precision(&own, precision);
    return own.op->check(&own, NULL) ? *m->asked.problem : own;
}

static const char budget_over[] = "the budget is over";

/* NULL, or why something that takes ns is not started. */
static const char *too_late(const comparison *m, double ns)
{
    return bench_is_late(m->asked.options, ns) ? budget_over : NULL;
}

/* Close an entry that is not timed, and give its row the reason. */
static void leave_out(peer_entry *e, result_outcome outcome, const char *why)
{
    result_refuse(&e->row, outcome, why);
    if (e->state)
        e->peer->close(e->state);
    e->state = NULL;
}

/* One call on the first set, and what it wrote. */
static tsr_status call_peer(peer_entry *e, void *const after[], tsr_error *err)
{
    tsr_status st = run_by(e, e->peer->run, 1, &e->call_ns, err);
    int code;

    if (st)
        return st;
    code = e->peer->result(e->state, after);
    return code ? tsr_fail(err, TSR_EUNSUPPORTED, 0, "reading its result failed with code %d", code)
                : TSR_OK;
}

/* One call on the first set, judged as ours are. */
static tsr_status prove_peer(const comparison *m, peer_entry *e, tsr_error *err)
{
    device_facts facts = *session_facts(m->asked.session);
    void *after[OPERANDS_MAX] = {0};
    verdict v = {0};
    uint64_t since = clock_ns();
    tsr_status st = input_sets_results(m->inputs, after, err);

    if (e->peer->place != PEER_OPENCL)
        facts.denormals_f32 = facts.denormals_f64 = true;
    st = st ? st : call_peer(e, after, err);
    bench_lap(&since, &m->phases->results);
    st = st ? st
            : verify_result(&e->problem, &facts, (const void *const *)m->inputs->before,
                            (const void *const *)after, m->asked.options->expected, &v, err);
    e->row.verified = !st;
    e->row.worst = v.worst;
    e->row.sampled = v.sampled;
    bench_lap(&since, &m->phases->proofs);
    input_sets_free_results(m->inputs, after);
    return st;
}

static tsr_status sample_peer(peer_entry *e, tsr_error *err)
{
    tsr_status st = e->peer->restore ? restore_peer(e, err) : TSR_OK;

    return st ? st : run_peer(e, 1, &e->call_ns, err);
}

/* Find out how long a call takes, and whether it is timed apart, with few samples. */
static tsr_status find_pace(const comparison *m, peer_entry *e, tsr_error *err)
{
    const double slow_ns = m->asked.options->seconds * 1e9;
    tsr_status st;

    /* What lasts so long needs no warming up: its proof was a sample. */
    if (e->call_ns > long_ns && e->peer->place == PEER_CPU && e->row.timer == TIMER_WALL)
        e->ns[e->samples++] = e->call_ns;
    /* The first call on a device may have compiled its kernels; the second is a sample. */
    if (e->call_ns > slow_ns && e->peer->place == PEER_OPENCL && !too_late(m, 0)) {
        st = sample_peer(e, err);
        if (st)
            return st;
        e->ns[e->samples++] = e->call_ns;
    }
    e->slow = e->call_ns > slow_ns;
    return TSR_OK;
}

/* NULL, or why a peer cannot do the problem; *wanted is the problem as it gets it. */
static const char *peer_unsupported(const comparison *m, const peer_entry *e, peer_problem *wanted)
{
    const char *why = place_unsupported(e->peer, session_facts(m->asked.session));

    *wanted = m->described;
    wanted->problem = e->problem.bytes;
    wanted->precision = e->row.precision;
    return why ? why : e->peer->unsupported(wanted);
}

/* NULL once it has copied the inputs, or why it has not; `reason` holds what it composed. */
static const char *open_state(peer_entry *e, const peer_problem *wanted, char reason[256])
{
    reason[0] = '\0';
    e->state = e->peer->open(wanted, reason, 256);
    return e->state ? NULL : reason[0] ? reason : "it did not open";
}

/* Open and prove one peer; what keeps it out goes into its row. */
static void open_peer(const comparison *m, peer_entry *e)
{
    const char *why, *late = NULL;
    peer_problem wanted;
    char reason[256];
    tsr_error err = {0};
    uint64_t since;

    why = peer_unsupported(m, e, &wanted);
    if (!why && e->row.timer == TIMER_HELD && !e->peer->run_held)
        why = "it cannot be held back";
    if (!why)
        why = late = too_late(m, 0);
    since = clock_ns();
    if (!why)
        why = open_state(e, &wanted, reason);
    bench_lap(&since, &m->phases->inputs);
    /* Opening may have built its kernels, and its first call may build more. */
    if (!why)
        why = late = too_late(m, 0);
    if (!why && (prove_peer(m, e, &err) || find_pace(m, e, &err)))
        why = err.message;
    if (why)
        leave_out(e,
                  late                       ? RESULT_LATE
                  : err.status == TSR_EBOUND ? RESULT_WRONG
                  : err.status               ? RESULT_FAILED
                                             : RESULT_UNSUPPORTED,
                  why);
}

static const char *place_name(peer_place place)
{
    return place == PEER_CPU      ? "on the host's processor"
           : place == PEER_OPENCL ? "on the same OpenCL device"
                                  : "through CUDA";
}

static tsr_status list_peers(comparison *m, tsr_error *err)
{
    m->entries = calloc(peers_count(m->asked.list) + 1, sizeof(*m->entries));
    if (!m->entries)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu peers", peers_count(m->asked.list));
    for (size_t i = 0; i < m->asked.list->file_count; i++) {
        const peer_list *l = m->asked.list->file[i].list;

        for (size_t k = 0; l && k < l->count; k++) {
            peer_entry *e = &m->entries[m->count++];

            e->peer = &l->peers[k];
            e->problem = problem_of(m, e->peer);
            result_start(&e->row, &m->asked.session->device);
            result_problem(&e->row, &e->problem);
            e->row.kind = RESULT_PEER;
            e->row.seed = m->asked.options->seed;
            e->row.timer = m->timer;
            e->row.cold = m->cold;
            snprintf(e->row.name, sizeof(e->row.name), "%s", e->peer->name);
            snprintf(e->row.peer_version, sizeof(e->row.peer_version), "%s",
                     e->peer->version ? e->peer->version : "");
            snprintf(e->row.chosen, sizeof(e->row.chosen), "%s", place_name(e->peer->place));
            e->row.place = e->peer->place == PEER_CPU      ? RESULT_ON_HOST
                           : e->peer->place == PEER_OPENCL ? RESULT_ON_DEVICE
                                                           : RESULT_BY_CUDA;
        }
    }
    return TSR_OK;
}

/* Open a queue for peers on the device that records no times. */
static tsr_status open_queue(comparison *m, tsr_error *err)
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

static tsr_status open_comparison(comparison *m, tsr_error *err)
{
    const peers_comparison *a = &m->asked;
    tsr_status st;

    /* Ours first: what cannot be compared needs no peers. */
    st = bench_candidate_open(a->session, a->problem, a->run, a->options, &m->ours, err);
    st = st ? st : open_queue(m, err);
    if (st)
        return st;
    m->inputs = bench_candidate_inputs(&m->ours);
    describe_problem(m);
    st = list_peers(m, err);
    for (size_t i = 0; i < m->count && !st; i++)
        if (!a->options->stop || !*a->options->stop)
            open_peer(m, &m->entries[i]);
    return st;
}

static void close_comparison(comparison *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->entries[i].state)
            m->entries[i].peer->close(m->entries[i].state);
    free(m->entries);
    if (m->ours.state)
        bench_candidate_close(&m->ours);
    if (m->queue)
        clReleaseCommandQueue(m->queue);
}

/* Time a slow entry apart from the others, with as many samples as the budget has time for. */
static void time_slow(const comparison *m, peer_entry *e)
{
    const size_t wanted = e->call_ns > long_ns ? 1 : SLOW_SAMPLES;
    const bench_options *o = m->asked.options;
    const char *late = NULL;

    while (e->samples < wanted && !(o->stop && *o->stop) && !late) {
        late = too_late(m, e->call_ns);
        if (late)
            break;
        if (sample_peer(e, &e->failure)) {
            leave_out(e, RESULT_FAILED, e->failure.message);
            return;
        }
        e->ns[e->samples++] = e->call_ns;
    }
    if (e->samples)
        e->row.time = timing_of(e->ns, e->samples, 1);
    else if (late)
        leave_out(e, RESULT_LATE, late);
}

/* Enter ours and the peers that can keep up; returns how many. */
static size_t enter_all(comparison *m, candidate c[])
{
    double round_ns = 0;
    size_t n = 1;

    c[0] = m->ours;
    for (size_t i = 0; i < m->count; i++) {
        peer_entry *e = &m->entries[i];
        const char *late;

        if (!e->state || e->slow)
            continue;
        /* One call to warm up, and one sample. */
        late = too_late(m, 2 * (round_ns + e->call_ns));
        if (late) {
            leave_out(e, RESULT_LATE, late);
            continue;
        }
        round_ns += e->call_ns;
        e->position = n;
        c[n++] = candidate_of(m, e);
    }
    return n;
}

/* Ours and the peers that can keep up, interleaved; the slow ones each apart. */
static tsr_status time_all(comparison *m, timing *ours, tsr_error *err)
{
    candidate *c = calloc(m->count + 1, sizeof(*c));
    timing *times = calloc(m->count + 1, sizeof(*times));
    tsr_status st = TSR_OK;

    if (!c || !times)
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu peers", m->count);
    st = st ? st : bench_interleave(c, enter_all(m, c), m->asked.options, times, err);
    if (st)
        goto cleanup;
    *ours = times[0];
    for (size_t i = 0; i < m->count; i++) {
        peer_entry *e = &m->entries[i];

        if (!e->position)
            continue;
        e->row.time = times[e->position];
        if (e->failure.status)
            leave_out(e, RESULT_FAILED, e->failure.message);
    }
    for (size_t i = 0; i < m->count; i++)
        if (m->entries[i].state && m->entries[i].slow)
            time_slow(m, &m->entries[i]);

cleanup:
    free(c);
    free(times);
    return st;
}

/* Give our row, then the peers'.  An entry that was interrupted before it had a time has no row,
 * and without ours there are none. */
static void give_rows(const comparison *m, result_row *ours, peers_row *row, void *context)
{
    result_rate(ours);
    if (!ours->time.count && ours->outcome == RESULT_TIMED)
        return;
    row(ours, ours->time.count ? 1 : 0, context);
    for (size_t i = 0; i < m->count; i++) {
        result_row *theirs = &m->entries[i].row;
        const bool timed = theirs->time.count && ours->time.count;

        result_rate(theirs);
        if (timed || theirs->outcome != RESULT_TIMED)
            row(theirs, timed ? theirs->time.median_ns / ours->time.median_ns : 0, context);
    }
}

/* One pass: by the clock that m->timer names. */
static tsr_status time_pass(comparison *m, result_row *ours, peers_row *row, void *context,
                            tsr_error *err)
{
    tsr_status st;

    bench_candidate_describe(&m->ours, ours);
    st = time_all(m, &ours->time, err);
    if (!st)
        give_rows(m, ours, row, context);
    return st;
}

/* Turn the entries that are still open from TIMER_HELD to TIMER_WALL.  Those that were refused have
 * their rows. */
static tsr_status turn_to_wall(comparison *m, tsr_error *err)
{
    size_t left = 0;

    m->timer = TIMER_WALL;
    for (size_t i = 0; i < m->count; i++) {
        peer_entry *e = &m->entries[i];

        if (!e->state)
            continue;
        e->row.timer = TIMER_WALL;
        e->row.time = (timing){0};
        e->samples = e->position = 0;
        e->failure = (tsr_error){0};
        m->entries[left++] = *e;
    }
    m->count = left;
    return bench_candidate_to_wall(&m->ours, err);
}

tsr_status peers_compare(const peers_comparison *asked, peers_row *row, void *context,
                         tsr_error *err)
{
    bench_options how = *asked->options;
    bench_phases unasked = {0};
    comparison m = {.asked = *asked,
                    .timer = how.held ? TIMER_HELD : TIMER_WALL,
                    .phases = how.phases ? how.phases : &unasked};
    void *expected = NULL;
    result_row ours, again;
    tsr_status st;

    m.asked.options = &how;
    if (!how.expected)
        how.expected = &expected;
    result_start(&ours, &asked->session->device);
    result_problem(&ours, asked->problem);
    ours.seed = how.seed;
    again = ours;
    st = open_comparison(&m, err);
    st = st ? st : time_pass(&m, &ours, row, context, err);
    if (!st && how.held && how.wall && !(how.stop && *how.stop)) {
        st = turn_to_wall(&m, err);
        st = st ? st : time_pass(&m, &again, row, context, err);
    }
    close_comparison(&m);
    free(expected);
    return st;
}

tsr_status peers_late(const peers_comparison *asked, peers_row *row, void *context, tsr_error *err)
{
    comparison m = {.asked = *asked, .timer = asked->options->held ? TIMER_HELD : TIMER_WALL};
    result_row ours;
    tsr_status st;

    st = bench_late(asked->session, asked->problem, asked->run, asked->options, &ours, err);
    if (st)
        return st;
    ours.timer = m.timer;
    m.cold = ours.cold;
    st = list_peers(&m, err);
    for (size_t i = 0; i < m.count && !st; i++)
        leave_out(&m.entries[i], RESULT_LATE, budget_over);
    if (!st)
        give_rows(&m, &ours, row, context);
    close_comparison(&m);
    return st;
}

/* ---- results ------------------------------------------------------------------------------ */

static void product_of_peer(const comparison *m, peer_entry *e, void *const after[],
                            peers_result *result, void *context)
{
    peer_problem wanted;
    char reason[256];
    tsr_error why = {0};
    const char *unsupported = peer_unsupported(m, e, &wanted);
    const unsigned which = m->asked.problem->op->result;

    /* Not what another peer wrote. */
    memcpy(after[which], m->inputs->before[which], m->inputs->operand[which].bytes);
    if (!unsupported)
        unsupported = open_state(e, &wanted, reason);
    if (unsupported)
        tsr_fail(&why, TSR_EUNSUPPORTED, 0, "%s", unsupported);
    else
        call_peer(e, after, &why);
    result(&e->row, why.status ? NULL : after[which], &why, context);
    if (e->state)
        e->peer->close(e->state);
    e->state = NULL;
}

tsr_status peers_products(const peers_comparison *asked, void *const operands[],
                          peers_wanted *wanted, peers_result *result, void *context, tsr_error *err)
{
    input_sets inputs = {.problem = asked->problem};
    comparison m = {.asked = *asked, .inputs = &inputs, .timer = TIMER_WALL};
    void *after[OPERANDS_MAX] = {0};
    tsr_status st;

    inputs.operand_count = asked->problem->op->operands(asked->problem, inputs.operand);
    memcpy(inputs.before, operands, inputs.operand_count * sizeof(*operands));
    st = open_queue(&m, err);
    describe_problem(&m);
    m.described.sets = 1;
    st = st ? st : list_peers(&m, err);
    st = st ? st : input_sets_copy(&inputs, after, err);
    for (size_t i = 0; i < m.count && !st; i++)
        if ((!asked->options->stop || !*asked->options->stop) && wanted(&m.entries[i].row, context))
            product_of_peer(&m, &m.entries[i], after, result, context);
    for (size_t i = 0; i < OPERANDS_MAX; i++)
        free(after[i]);
    close_comparison(&m);
    return st;
}
