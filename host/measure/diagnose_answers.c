#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "measure/diagnose.h"

/* From which part of the time on something binds a call. */
static const double half = 0.5, most = 0.6;

/* Below this part memory is no suspect on a GPU: where each word of 4 bytes comes from a line of
 * its own, of 64 bytes, accesses still take a sixteenth.  It is of the bytes that must move: what
 * is asked for again comes from a cache.  A CPU may be as slow by its instructions. */
static const double some = 0.05;

/* More than so many times what its launches cost a call does not lose by launches. */
static const double too_long = 5;

/* Above this, more than two measurements of one speed differ by, it was a cache, or the speed was
 * measured on a busy machine. */
static const double beyond = 1.05;

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
    const char *cure_cpu; /* on a CPU; NULL: the same */
} remedy;

static const remedy remedies[CAUSES] = {
    [CAUSE_LAUNCHES] =
        {ASK_LAUNCHES, "launch-bound: the device waits for the host",
         "fewer and larger launches: fuse them, put several problems into a batch, or "
         "enqueue many calls before one wait"},
    [CAUSE_BYTES] =
        {ASK_MEMORY, "memory-bound, and at the speed of memory",
         "fewer bytes: fewer passes, a smaller type, work of the next operation fused in, "
         "or several problems that share what is read"},
    [CAUSE_REUSE] = {ASK_MEMORY, "memory-bound: it asks for the same bytes again and again",
                     "tiles in local memory or registers: load once, use many times",
                     "blocks that stay in a cache, and registers: load once, use many times"},
    [CAUSE_ACCESS] = {ASK_MEMORY, "memory-bound by how it accesses memory: far below its speed",
                      "neighbours access neighbours (coalescing), wider loads, more of them under "
                      "way"},
    [CAUSE_LOCAL] =
        {ASK_MEMORY, "bound by local memory",
         "more results a work-item in registers, vectors, and no bank conflicts (padding "
         "or swizzling)",
         "values in registers and vectors: local memory is ordinary memory here, and gains "
         "nothing"},
    [CAUSE_BARRIERS] =
        {ASK_BARRIERS, "bound by synchronization",
         "exchange within a warp or sub-group in registers, deeper tiles for each "
         "barrier",
         "fewer barriers, with more work of each work-item between them: a barrier is "
         "a loop over all work-items of the group here"},
    [CAUSE_DIVERGENCE] = {ASK_DIVERGENCE, "bound by divergence",
                          "let whole warps take the same way: neighbours together, sorted inputs, "
                          "selects in place of branches"},
    [CAUSE_UNITS] = {ASK_UNITS, "compute-bound, beside matrix units that are idle",
                     "a variant or a --precision that uses matrix units"},
    [CAUSE_ROOF] = {ASK_ROOF, "at its roof", "the roof itself: less work, or a faster device"},
    [CAUSE_LATENCY] = {
        ASK_ROOF, "bound by none of these, as far as is known: instructions and latency are left",
        "more independent work for each work-item, more work-items a unit "
        "(tessera occupancy), fewer instructions",
        "vectors, several independent sums for each work-item, fewer instructions and barriers; "
        "memory in order, by whole lines of 64 bytes: work-items without a loop of their own, or "
        "with a stretch each; and at least as many work-groups as there are cores. More work-items "
        "hide no latency here"}};

question cause_question(cause c)
{
    return remedies[c].of;
}

const char *cause_name(cause c)
{
    return c == CAUSE_LATENCY ? "latency" : question_name(cause_question(c));
}

/* What the questions are answered from. */
typedef struct inquiry {
    const symptoms *seen;
    const limits *limits;
    diagnosis *d;
    double ns;    /* the commands together */
    bool low;     /* the limit of memory is too low for what the call moved */
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
    const char *run = row->commands == 1 ? " runs" : "s run";
    finding *f = &q->d->found[ASK_LAUNCHES];

    if (!(wall > 0)) {
        say(f, ANSWER_UNKNOWN, 0, "the time of a call by the host's clock was not measured");
        return;
    }
    if (idle >= half && wait > 0 &&
        wall - busy > too_long * (double)(row->commands + 1) * wait * 1e3) {
        say(f, ANSWER_UNKNOWN, idle,
            "a call takes %.1f us by the host's clock and its %zu command%s for %.1f us, but "
            "launches of %.1f us with a wait do not explain the difference: something else kept "
            "the host busy",
            wall / 1e3, row->commands, run, busy / 1e3, wait);
        return;
    }
    say(f, idle >= half ? ANSWER_YES : ANSWER_NO, idle,
        "of %.1f us that a call takes by the host's clock, its %zu command%s for %.1f us%s; a "
        "launch costs %.1f us in a full queue and %.1f us with a wait",
        wall / 1e3, row->commands, run, busy / 1e3,
        busy < q->ns         ? ", from the start of the first to the end of the last"
        : row->commands == 1 ? ""
                             : ", each timed by itself",
        launch, wait);
}

/* "0.28%" or "82%" of something. */
typedef struct percentage {
    char words[24];
} percentage;

static percentage percent(double share)
{
    percentage p;

    snprintf(p.words, sizeof(p.words), share < 0.01 ? "%.2g%%" : "%.0f%%", 100 * share);
    return p;
}

/* Bytes of a call that the caches cannot have had: what is beyond their size, command by command.
 */
static double uncached(const inquiry *q)
{
    const explanation *x = &q->d->call;
    const double held = q->seen->cache;
    double sum = 0;

    if (!(explain_bytes(x) > 0))
        return fmax(x->traffic.compulsory - held, 0);
    for (size_t i = 0; i < x->count; i++)
        sum += fmax(x->command[i].bytes - held, 0);
    return sum;
}

static limit memory_limit(const diagnosis *d)
{
    return work_unit_of(d->row.unit) == WORK_KEYS ? LIMIT_MEMORY_COPY : LIMIT_MEMORY_READ;
}

static bool is_low(const inquiry *q)
{
    const double speed = q->limits->of[memory_limit(q->d)].value;

    return q->seen->cache > 0 && speed > 0 && uncached(q) / speed / q->ns > beyond;
}

static void ask_memory(inquiry *q)
{
    const traffic *t = &q->d->call.traffic;
    const intensity *i = &q->d->place;
    const limit by = memory_limit(q->d);
    const double speed = q->limits->of[by].value, local = q->limits->of[LIMIT_LOCAL_MEMORY].value;
    const double all = explain_bytes(&q->d->call), bytes = all > 0 ? all : t->compulsory;
    const double of_bytes = speed > 0 ? bytes / speed / q->ns : 0;
    const double of_requested = speed > 0 ? t->requested / speed / q->ns : 0;
    const double of_local = local > 0 ? t->local / local / q->ns : 0;
    const bool placed = !(i->least > 0) || i->ridge > 0;
    finding *f = &q->d->found[ASK_MEMORY];
    char asked[40] = "is not stated", what[40] = "must move", moved[128];

    if (t->requested > 0)
        snprintf(asked, sizeof(asked), "takes %s", percent(of_requested).words);
    if (all > 0 && q->d->call.count > 1)
        snprintf(what, sizeof(what), "its %zu commands move", q->d->call.count);
    snprintf(moved, sizeof(moved), "%.4g MB that %s take %s of the time at the speed of memory",
             bytes / 1e6, what, percent(of_bytes).words);
    if (!(speed > 0)) {
        say(f, ANSWER_UNKNOWN, 0, "the speed of memory (%s) was not measured", limit_name(by));
    } else if (q->low) {
        say(f, ANSWER_UNKNOWN, of_bytes,
            "%s, and no cache has them, of %.3g MB: the limit, %s of %.4g GB/s, is too low, as "
            "of a busy machine; 'tessera roofline --limits' measures it again",
            moved, q->seen->cache / 1e6, limit_name(by), speed);
    } else if (of_bytes >= most && of_bytes <= beyond) {
        q->memory = CAUSE_BYTES;
        say(f, ANSWER_YES, of_bytes, "%s", moved);
    } else if (of_local >= half && of_local >= of_requested) {
        q->memory = CAUSE_LOCAL;
        say(f, ANSWER_YES, of_local,
            "%.4g MB of local memory take %.0f%% of the time at its limit, and "
            "%.4g MB of global memory %.0f%%",
            t->local / 1e6, 100 * of_local, bytes / 1e6, 100 * of_bytes);
    } else if (of_bytes > beyond) {
        say(f, ANSWER_NO, of_bytes, "%s: a cache had them", moved);
    } else if (of_requested >= most) {
        q->memory = CAUSE_REUSE;
        say(f, ANSWER_YES, of_requested,
            of_requested > 1
                ? "work-items ask for %.4g MB, %.3g times what is compulsory: %.3g times "
                  "as much as memory moves meanwhile, so that caches have to serve it"
                : "work-items ask for %.4g MB, %.3g times what is compulsory: %.3g of "
                  "what memory moves meanwhile",
            t->requested / 1e6, t->requested / t->compulsory, of_requested);
    } else if (of_local >= half) {
        q->memory = CAUSE_LOCAL;
        say(f, ANSWER_YES, of_local, "%.4g MB of local memory take %.0f%% of the time at its limit",
            t->local / 1e6, 100 * of_local);
    } else if (placed && i->least > 0 && i->least >= i->ridge) {
        say(f, ANSWER_NO, fmax(of_bytes, fmax(of_requested, of_local)),
            "%s, and what work-items ask for %s", moved, asked);
    } else if (!placed) {
        say(f, ANSWER_UNKNOWN, of_bytes,
            "%s, and what work-items ask for %s; what arithmetic takes is unknown: no limit of %s "
            "was measured",
            moved, asked, *q->d->row.precision ? q->d->row.precision : "its type");
    } else if (of_bytes >= some && q->seen->cpu) {
        say(f, ANSWER_UNKNOWN, of_bytes,
            "%s, and what work-items ask for %s: accesses out of order or instructions take the "
            "rest, which a CPU's times do not tell apart",
            moved, asked);
    } else if (of_bytes >= some) {
        q->memory = CAUSE_ACCESS;
        say(f, ANSWER_YES, of_bytes, "%s, and %s",
            i->least > 0 ? "it lies below the ridge of the roofline" : "it has little arithmetic",
            moved);
    } else {
        say(f, ANSWER_UNKNOWN, of_bytes,
            "%s, and what work-items ask for %s: too little to show what it waits for", moved,
            asked);
    }
}

static void ask_barriers(inquiry *q)
{
    const barrier_cost *b = &q->seen->barriers;
    const char *s = b->passed > 1 ? "s" : "";
    char who[64] = "a group passes", after[40] = "";
    finding *f = &q->d->found[ASK_BARRIERS];

    if (b->launches > 1) {
        snprintf(who, sizeof(who), "the groups of its %zu launches pass", b->launches);
        snprintf(after, sizeof(after), ", one launch after another");
    }
    if (!(q->d->call.traffic.requested > 0))
        say(f, ANSWER_UNKNOWN, 0, "the variant does not state its barriers");
    else if (!(b->passed > 0))
        say(f, ANSWER_NO, 0, "no work-item waits for another");
    else if (!(b->each_ns > 0))
        say(f, ANSWER_UNKNOWN, 0, "%s %.4g barrier%s%s, whose cost could not be measured", who,
            b->passed, s, after);
    else
        say(f, b->all_ns / q->ns >= half ? ANSWER_YES : ANSWER_NO, b->all_ns / q->ns,
            "%s %.4g barrier%s%s; one of %zu work-item%s takes %.0f ns here, with the "
            "accesses that it orders: for groups that run one after another at most %.0f%% of "
            "the time",
            who, b->passed, s, after, b->group, b->group > 1 ? "s" : "", b->each_ns,
            100 * b->all_ns / q->ns);
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
    if (!q->seen->warps)
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
    const result_row *row = &q->d->row;
    const intensity *i = &q->d->place;
    const double rate = row->rate;
    finding *f = &q->d->found[ASK_UNITS];
    compute_roofs roof;

    roofline_roofs(q->limits, row->precision, &roof);
    if (!(i->least > 0) || !q->seen->products)
        say(f, ANSWER_NO, 0, "it has no products of matrices");
    else if (i->ridge > 0 && i->least < i->ridge)
        say(f, ANSWER_NO, 0,
            "the problem has %.3g FLOPs a byte, below the ridge of %.3g: arithmetic "
            "does not bind it",
            i->least, i->ridge);
    else if (!strcmp(row->precision, "f32-strict"))
        say(f, ANSWER_NO, 0, "its precision, f32-strict, excludes matrix units");
    else if (!(roof.matrix > 0))
        say(f, ANSWER_NO, 0, "this device has no matrix units of %s that kernels reach",
            *row->precision ? row->precision : "its type");
    else if (!(i->ridge > 0))
        say(f, ANSWER_UNKNOWN, 0,
            "whether arithmetic binds it is unknown: the ridge was not measured");
    else if (!(roof.plain > 0))
        say(f, rate >= half * roof.matrix ? ANSWER_NO : ANSWER_UNKNOWN, rate / roof.matrix,
            "%.4g %s are %.0f%% of what matrix units reach (%.4g, %s); what multiply-adds reach "
            "was not measured",
            rate, row->unit, 100 * rate / roof.matrix, roof.matrix, roof.matrix_name);
    else if (rate > roof.plain)
        say(f, ANSWER_NO, rate / roof.matrix,
            "%.4g %s are beyond what multiply-adds reach (%.4g): matrix units (%.4g, %s) do them",
            rate, row->unit, roof.plain, roof.matrix, roof.matrix_name);
    else if (roof.matrix <= roof.plain)
        say(f, ANSWER_NO, rate / roof.plain,
            "matrix units (%.4g, %s) reach no more than multiply-adds (%.4g)", roof.matrix,
            roof.matrix_name, roof.plain);
    else
        say(f, ANSWER_YES, rate / roof.plain,
            "%.4g %s are %.0f%% of what multiply-adds reach; matrix units reach %.4g (%s)", rate,
            row->unit, 100 * rate / roof.plain, roof.matrix, roof.matrix_name);
}

static void ask_roof(inquiry *q)
{
    const result_row *row = &q->d->row;
    const bool memory = !strncmp(row->bound_by, "memory ", 7);
    char roof[160], at[40] = "";
    finding *f = &q->d->found[ASK_ROOF];

    if (memory && work_unit_of(row->unit) == WORK_FLOPS)
        snprintf(at, sizeof(at), ", at %.3g FLOPs a byte", row->work / row->bytes);
    snprintf(roof, sizeof(roof), "%.4g %s are %s of %.4g %s (%s%s)", row->rate, row->unit,
             percent(row->share).words, row->limit_rate, row->unit, row->bound_by, at);
    if (!(row->limit_rate > 0))
        say(f, ANSWER_UNKNOWN, 0, "no roof is known for it");
    else if (row->share > beyond && q->low && memory)
        say(f, ANSWER_UNKNOWN, row->share, "%s, more than a cache explains: the limit is too low",
            roof);
    else if (row->share > beyond && memory)
        say(f, ANSWER_UNKNOWN, row->share, "%s: a cache had the data, whose roof is not measured",
            roof);
    else
        say(f, row->share >= most ? ANSWER_YES : ANSWER_NO, row->share, "%s", roof);
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

void diagnose_answer(const symptoms *seen, diagnosis *d)
{
    inquiry q = {.seen = seen, .limits = seen->limits, .d = d};

    for (size_t i = 0; i < d->call.count; i++)
        q.ns += d->call.command[i].time.median_ns;
    q.ns = fmax(q.ns, 1);
    d->commands_ns = q.ns;
    q.low = is_low(&q);
    d->low_limit = q.low ? memory_limit(d) : LIMIT_COUNT;
    ask_launches(&q);
    ask_memory(&q);
    ask_barriers(&q);
    ask_divergence(&q);
    ask_units(&q);
    ask_roof(&q);
    d->cause = find_cause(&q);
    d->binds = cause_name(d->cause);
    d->verdict = remedies[d->cause].verdict;
    d->cure = seen->cpu && remedies[d->cause].cure_cpu ? remedies[d->cause].cure_cpu
                                                       : remedies[d->cause].cure;
    if (q.low && d->cause == CAUSE_LATENCY) {
        d->binds = "unknown";
        d->verdict = "unknown what binds it: the limit of memory is too low for what it moved";
        d->cure = "'tessera roofline --limits' while nothing else runs, and then this again";
    }
}
