#include "measure/tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/random.h"
#include "base/sizes.h"
#include "core/fields.h"
#include "core/registry.h"
#include "core/tuning_class.h"
#include "measure/bench.h"
#include "measure/tune_arrays.h"
#include "measure/tune_problems.h"
#include "measure/tune_space.h"
#include "session/events.h"
#include "session/program.h"

enum {
    SAMPLES = 5,   /* of a candidate, in the search */
    FINALISTS = 5, /* timed again */
    FINALISTS_MIN = 3,
    FINAL_CALLS = 8,   /* of a finalist, at least */
    SEARCHED = 3,      /* variants whose tunables are searched */
    FAILURES_MAX = 8,  /* in a row: the device is gone, and not the candidates bad */
    SPACES_MAX = 64,   /* variants of an operation */
    TRIED_MAX = 100000 /* candidates of a class */
};

static const double slow_ratio = 2;       /* a first call this much over the best: given up */
static const double hopeless_ratio = 10;  /* a scout's: the whole is not run */
static const double promising_ratio = 4;  /* a variant's defaults within this: tunables searched */
static const double restart_ratio = 1.3;  /* a random start within this: descended from */
static const double final_ratio = 1.25;   /* within this of the best: timed again, beyond three */
static const double finals_share = 0.2;   /* of the budget */
static const double sampling_limit = 0.3; /* seconds of sampling a candidate */

typedef struct search {
    tsr_session *session;
    const operation *op;
    const tune_options *options;
    tune_problems problems;
    tune_problems scout; /* open where scout_open: a part of the largest problem */
    problem scout_problem;
    bool scout_open;
    size_t scouted; /* the best that scout_ns is of, as an index */
    double scout_ns;
    tune_space space[SPACES_MAX]; /* of each variant that is searched, in the table's order */
    size_t space_count;
    tune_result *result;
    size_t best; /* index into result->tried, SIZE_MAX while there is none */
    size_t capacity;
    const char *stage;
    uint64_t start, deadline; /* of the search before the finals, clock_ns */
    uint64_t end;             /* of it all */
    uint64_t reserved;        /* the deadline until two candidates ran */
    uint64_t spent_ns;        /* by all that were tried, with compiling */
    size_t ran;               /* candidates that the search may choose */
    uint64_t random;
    size_t failures; /* in a row */
    tsr_error *err;
} search;

static bool stopped(const search *x)
{
    return x->options->stop && *x->options->stop;
}

/* Whether there is no time for another candidate: it may take as long as those before it. */
static bool over(const search *x)
{
    const uint64_t expected = x->result->count ? x->spent_ns / x->result->count : 0;
    const uint64_t deadline = x->ran < 2 && x->reserved > x->deadline ? x->reserved : x->deadline;

    return stopped(x) || clock_ns() + expected >= deadline;
}

static const tune_candidate *best_of(const search *x)
{
    return x->best == SIZE_MAX ? NULL : &x->result->tried[x->best];
}

static void report(const search *x, const tune_candidate *last)
{
    const tune_progress p = {
        .stage = x->stage, .tried = x->result->count, .last = last, .best = best_of(x)};

    if (x->options->progress)
        x->options->progress(&p, x->options->context);
}

/* ---- a candidate ------------------------------------------------------------------------- */

static bool same_params(const params *a, const params *b)
{
    return memcmp(a->value, b->value, a->count * sizeof(a->value[0])) == 0;
}

static size_t find(const search *x, const variant *v, const params *p)
{
    for (size_t i = 0; i < x->result->count; i++)
        if (x->result->tried[i].variant == v && same_params(&x->result->tried[i].params, p))
            return i;
    return SIZE_MAX;
}

/* A new candidate's place; NULL without memory, or where there are enough. */
static tune_candidate *append(search *x, const variant *v, const params *p)
{
    tune_result *r = x->result;

    if (r->count >= TRIED_MAX)
        return NULL;
    if (r->count == x->capacity) {
        const size_t capacity = x->capacity ? 2 * x->capacity : 64;
        tune_candidate *bigger = realloc(r->tried, capacity * sizeof(*bigger));

        if (!bigger)
            return NULL;
        r->tried = bigger;
        x->capacity = capacity;
    }
    r->tried[r->count] = (tune_candidate){.variant = v, .params = *p};
    return &r->tried[r->count++];
}

static selection select_candidate(const tune_candidate *c)
{
    return (selection){.variant = c->variant, .params = c->params};
}

static void note(tune_candidate *c, tune_outcome outcome, const char *detail)
{
    c->outcome = outcome;
    snprintf(c->detail, sizeof(c->detail), "%.190s", detail);
}

/* Why it does not run one of the problems, or NULL. */
static const char *unsupported(search *x, const tune_candidate *c, text *reason)
{
    const char *why = NULL;

    for (size_t i = 0; i < x->problems.count && !why; i++)
        why = dispatch_unsupported(x->session, &x->problems.problems[i], c->variant, &c->params,
                                   IN_BUFFERS, reason);
    return why;
}

/* ---- scouting ---------------------------------------------------------------------------- */

static void open_scout(search *x)
{
    const problem *largest = &x->problems.problems[0];

    for (size_t i = 1; i < x->problems.count; i++)
        if (x->op->work(&x->problems.problems[i]) > x->op->work(largest))
            largest = &x->problems.problems[i];
    x->scout_problem = *largest;
    problem_shrink(&x->scout_problem);
    x->scout_open = tune_problems_open(x->session, &x->scout_problem, 1, x->options->seed, true,
                                       &x->scout, NULL) == TSR_OK;
}

/* Time of the second of two calls: the first may still compile.  0 where it does not run. */
static double scout_time(search *x, const tune_candidate *c)
{
    const selection sel = select_candidate(c);
    text reason = {0};
    double ns = 0;
    bool runs = !dispatch_unsupported(x->session, &x->scout_problem, c->variant, &c->params,
                                      IN_BUFFERS, &reason) &&
                tune_problems_sample(&x->scout, &sel, &ns, NULL) == TSR_OK &&
                tune_problems_sample(&x->scout, &sel, &ns, NULL) == TSR_OK;

    text_free(&reason);
    return runs ? ns : 0;
}

/* Whether a candidate is so slow on a part of the problem that it need not run the whole.  Asked
 * only where a slow one would take a good part of the budget. */
static bool hopeless(search *x, const tune_candidate *c)
{
    const tune_candidate *best = best_of(x);
    double ns;

    if (!best || best->time.median_ns * 2 * hopeless_ratio < x->options->seconds * 1e9 / 20)
        return false;
    if (!x->scout.count)
        open_scout(x);
    if (!x->scout_open)
        return false;
    if (x->scouted != x->best) {
        x->scout_ns = scout_time(x, best);
        x->scouted = x->best;
    }
    ns = scout_time(x, c);
    return x->scout_ns > 0 && ns > hopeless_ratio * x->scout_ns;
}

/* ---- trying ------------------------------------------------------------------------------ */

/* Sample until there are enough, or it is seen to be slow. */
static tsr_status time_candidate(search *x, tune_candidate *c, tsr_error *err)
{
    const tune_candidate *best = best_of(x);
    const selection sel = select_candidate(c);
    const uint64_t start = clock_ns();
    double ns[SAMPLES];
    tsr_status st = TSR_OK;
    size_t n = 0;

    /* The first call after the verified one still warms up. */
    st = tune_problems_sample(&x->problems, &sel, &ns[0], err);
    if (st == TSR_OK && best && ns[0] > 2 * slow_ratio * best->time.median_ns) {
        note(c, TUNE_SLOW, "a call takes over four times that of the best");
        return TSR_OK;
    }
    while (st == TSR_OK && n < SAMPLES) {
        st = tune_problems_sample(&x->problems, &sel, &ns[n], err);
        n += st == TSR_OK;
        if (n >= 1 && best && ns[n - 1] > slow_ratio * best->time.median_ns)
            break;
        if (n >= 2 && (double)(clock_ns() - start) * 1e-9 > sampling_limit)
            break;
    }
    if (st == TSR_OK) {
        c->outcome = TUNE_TIMED;
        c->time = timing_of(ns, n, 1);
    }
    return st;
}

static void run_candidate(search *x, tune_candidate *c)
{
    const selection sel = select_candidate(c);
    tsr_error why = {0};
    text reason = {0};
    const char *not_suited = unsupported(x, c, &reason);
    tsr_status st = TSR_OK;

    if (not_suited) {
        note(c, TUNE_UNSUPPORTED, not_suited);
    } else if (hopeless(x, c)) {
        note(c, TUNE_SLOW, "on a small part of the problem it takes over ten times the best's");
    } else {
        st = tune_problems_verify(&x->problems, &sel, &c->worst, &why);
        st = st ? st : time_candidate(x, c, &why);
    }
    if (st == TSR_EUNSUPPORTED) /* what only the built kernel shows */
        note(c, TUNE_UNSUPPORTED, why.message);
    else if (st != TSR_OK)
        note(c, st == TSR_EBOUND ? TUNE_WRONG : TUNE_FAILED, why.message);
    x->failures = c->outcome == TUNE_FAILED ? x->failures + 1 : 0;
    text_free(&reason);
}

/* Whether the search may choose it. */
static bool allowed(const search *x, const tune_candidate *c)
{
    for (size_t i = 0; i < x->space_count; i++)
        if (tune_space_has(&x->space[i], c->variant, &c->params))
            return true;
    return false;
}

/* The candidate, tried now unless it was before; SIZE_MAX without a place for it. */
static size_t try(search *x, const variant *v, const params *p)
{
    size_t at = find(x, v, p);
    const uint64_t start = clock_ns();
    tune_candidate *c;

    if (at != SIZE_MAX)
        return at;
    c = append(x, v, p);
    if (!c)
        return SIZE_MAX;
    at = (size_t)(c - x->result->tried);
    c->outside = !allowed(x, c);
    run_candidate(x, c);
    x->spent_ns += clock_ns() - start;
    x->ran += c->outcome >= TUNE_SLOW && !c->outside;
    if (c->outcome == TUNE_TIMED && !c->outside &&
        (x->best == SIZE_MAX || c->time.median_ns < best_of(x)->time.median_ns))
        x->best = at;
    report(x, c);
    return at;
}

static double time_of(const search *x, size_t at)
{
    const tune_candidate *c = at == SIZE_MAX ? NULL : &x->result->tried[at];

    return c && c->outcome == TUNE_TIMED ? c->time.median_ns : INFINITY;
}

static bool broken(const search *x)
{
    return x->failures >= FAILURES_MAX;
}

/* ---- searching --------------------------------------------------------------------------- */

/* Variants in the operation's order of preference, then the others. */
static size_t order_spaces(const search *x, const tune_space *out[SPACES_MAX])
{
    const char *names[PREFERENCES_MAX];
    const size_t n = x->op->prefer(&x->problems.problems[0], session_facts(x->session), names);
    bool taken[SPACES_MAX] = {false};
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < x->space_count; k++)
            if (!taken[k] && strcmp(names[i], x->space[k].variant->name) == 0) {
                taken[k] = true;
                out[count++] = &x->space[k];
            }
    for (size_t k = 0; k < x->space_count; k++)
        if (!taken[k])
            out[count++] = &x->space[k];
    return count;
}

static bool suits(search *x, const tune_space *space, const params *p)
{
    const tune_candidate c = {.variant = space->variant, .params = *p};
    text reason = {0};
    const bool suited = !unsupported(x, &c, &reason);

    text_free(&reason);
    return suited;
}

/* Where a variant's defaults do not suit, the first combination that does. */
static size_t try_variant(search *x, const tune_space *space)
{
    params p;
    bool suited;

    if (space->total == 0)
        return SIZE_MAX;
    tune_space_usual(space, &p);
    suited = suits(x, space, &p);
    for (size_t i = 0; !suited && i < space->total && i < TRIED_MAX; i++) {
        tune_space_at(space, i, &p);
        suited = suits(x, space, &p);
    }
    if (!suited)
        tune_space_usual(space, &p);
    return try(x, space->variant, &p);
}

/* One tunable at a time, as long as that helps. */
static void descend(search *x, const tune_space *space, size_t at)
{
    bool better = isfinite(time_of(x, at)); /* else there is nothing to descend from */

    while (better && !over(x) && !broken(x)) {
        better = false;
        for (size_t t = 0; t < space->variant->tunable_count; t++) {
            for (size_t k = 0; k < space->count[t] && !over(x) && !broken(x); k++) {
                params p = x->result->tried[at].params;
                size_t next;

                p.value[t] = space->value[t][k];
                next = try(x, space->variant, &p);
                if (time_of(x, next) < time_of(x, at)) {
                    at = next;
                    better = true;
                }
            }
        }
    }
}

/* A combination that was not tried, from a random one on; false where there is none. */
static bool untried(search *x, const tune_space *space, params *out)
{
    const size_t total = space->total < TRIED_MAX ? space->total : TRIED_MAX;
    const size_t start = (size_t)(random_u64(&x->random) % (total ? total : 1));

    for (size_t i = 0; i < total; i++) {
        tune_space_at(space, (start + i) % total, out);
        if (find(x, space->variant, out) == SIZE_MAX)
            return true;
    }
    return false;
}

/* True once every combination was tried. */
static bool search_tunables(search *x, const tune_space *space, size_t usual)
{
    params p;

    descend(x, space, usual);
    while (!over(x) && !broken(x)) {
        size_t at;

        if (!untried(x, space, &p))
            return true;
        at = try(x, space->variant, &p);
        if (at == SIZE_MAX)
            return false;
        if (time_of(x, at) < restart_ratio * time_of(x, x->best))
            descend(x, space, at);
    }
    return !untried(x, space, &p);
}

/* The variants whose tunables are worth a search, best first. */
static size_t promising(const search *x, const tune_space *const spaces[], const size_t usual[],
                        size_t count, size_t out[SEARCHED])
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        size_t k = n;

        if (!isfinite(time_of(x, usual[i])) || spaces[i]->total < 2 ||
            time_of(x, usual[i]) > promising_ratio * time_of(x, x->best))
            continue;
        if (n == SEARCHED && time_of(x, usual[i]) >= time_of(x, usual[out[n - 1]]))
            continue;
        if (n < SEARCHED)
            n++;
        else
            k--;
        for (; k > 0 && time_of(x, usual[i]) < time_of(x, usual[out[k - 1]]); k--)
            out[k] = out[k - 1];
        out[k] = i;
    }
    return n;
}

/* The best gets half of what is left, the next half of the rest; what one does not need is the
 * next one's. */
static void search_all(search *x)
{
    const tune_space *spaces[SPACES_MAX];
    size_t usual[SPACES_MAX], chosen[SEARCHED], n;
    const size_t count = order_spaces(x, spaces);
    const uint64_t deadline = x->deadline;
    bool all = true;

    x->stage = "variants";
    for (size_t i = 0; i < count; i++) {
        const bool skipped = over(x) || broken(x);

        usual[i] = skipped ? SIZE_MAX : try_variant(x, spaces[i]);
        all = all && !skipped;
    }
    x->stage = "tunables";
    n = promising(x, spaces, usual, count, chosen);
    for (size_t i = 0; i < n && !broken(x); i++) {
        const uint64_t now = clock_ns();

        if (now < deadline)
            x->deadline = i + 1 < n ? now + (deadline - now) / 2 : deadline;
        all = search_tunables(x, spaces[chosen[i]], usual[chosen[i]]) && all;
    }
    x->deadline = deadline;
    x->result->complete = all && !stopped(x);
}

/* ---- finals ------------------------------------------------------------------------------ */

typedef struct finalist {
    search *search;
    size_t at;
} finalist;

static tsr_status run_finalist(void *state, size_t calls, double *ns, tsr_error *err)
{
    const finalist *f = state;
    const selection sel = select_candidate(&f->search->result->tried[f->at]);

    return tune_problems_batch(&f->search->problems, &sel, calls, ns, err);
}

/* The fastest of the search, and what runs until now. */
static size_t choose_finalists(search *x, size_t before, size_t out[FINALISTS + 1])
{
    size_t n = 0;
    bool there = before == SIZE_MAX || x->result->tried[before].outcome != TUNE_TIMED;

    while (n < FINALISTS) {
        size_t next = SIZE_MAX;

        for (size_t i = 0; i < x->result->count; i++) {
            bool taken = false;

            for (size_t k = 0; k < n; k++)
                taken = taken || out[k] == i;
            if (!taken && !x->result->tried[i].outside && time_of(x, i) < time_of(x, next))
                next = i;
        }
        if (!(time_of(x, next) <=
              (n < FINALISTS_MIN ? slow_ratio : final_ratio) * time_of(x, x->best)))
            break;
        out[n++] = next;
        there = there || next == before;
    }
    if (!there)
        out[n++] = before;
    return n;
}

/* A variant earlier in the table is the simpler one; of one variant, the candidate with more
 * defaults. */
static bool simpler(const tune_candidate *a, const tune_candidate *b)
{
    size_t a_defaults = 0, b_defaults = 0;

    if (a->variant != b->variant)
        return a->variant < b->variant;
    for (size_t t = 0; t < a->params.count; t++) {
        a_defaults += a->params.value[t] == a->params.tunables[t].normal;
        b_defaults += b->params.value[t] == b->params.tunables[t].normal;
    }
    return a_defaults > b_defaults;
}

/* No tie with the fastest for what takes longer by more than this, however much the samples spread.
 */
static const double TIE_MAX = 0.1;

/* Of the candidates that tie with the fastest within the noise, choose what calls ran before, or
 * else the simplest. */
static void judge(search *x, const size_t *finalists, size_t n, size_t before)
{
    tune_result *r = x->result;
    const tune_candidate *fastest = NULL;

    for (size_t i = 0; i < n; i++) {
        const tune_candidate *c = &r->tried[finalists[i]];

        if (!c->outside && (!fastest || c->time.median_ns < fastest->time.median_ns))
            fastest = c;
    }
    r->fastest = r->best = fastest;
    for (size_t i = 0; i < n; i++) {
        tune_candidate *c = &r->tried[finalists[i]];
        const double spread =
            fmin(fmax(timing_spread(&c->time), timing_spread(&fastest->time)), TIE_MAX);

        /* What is outside may be faster than the fastest. */
        c->tied = c->time.median_ns <= fastest->time.median_ns * (1 + spread) &&
                  c->time.median_ns * (1 + spread) >= fastest->time.median_ns;
        if (c->outside && !c->tied && c->time.median_ns < fastest->time.median_ns)
            r->surpassed = true;
        if (c->tied && !c->outside && simpler(c, r->best))
            r->best = c;
        if (c->tied)
            r->spread = fmax(r->spread, spread);
    }
    if (before != SIZE_MAX && r->tried[before].tied && !r->tried[before].outside)
        r->best = &r->tried[before];
}

/* About how many seconds the fewest samples take that decide. */
static double finals_seconds(const search *x, const size_t *finalists, size_t n)
{
    double ns = 0;

    for (size_t i = 0; i < n; i++)
        ns +=
            FINAL_CALLS * x->result->tried[finalists[i]].time.median_ns * (double)x->problems.count;
    return ns * 1e-9;
}

/* Time the finalists again, by calls as a program makes them: enqueued back to back, the host's own
 * time included. */
static tsr_status run_finals(search *x, size_t before)
{
    size_t at[FINALISTS + 1];
    const size_t n = choose_finalists(x, before, at);
    finalist finalists[FINALISTS + 1];
    candidate candidates[FINALISTS + 1];
    timing times[FINALISTS + 1] = {0};
    const double left = ((double)x->end - (double)clock_ns()) * 1e-9;
    const bench_options options = {.seconds = fmin(fmax(left / (double)(n ? n : 1), 0.05), 3),
                                   .least_samples = 5,
                                   .stop = x->options->stop};
    tsr_status st;

    if (left < 0 && finals_seconds(x, at, n) > finals_share * x->options->seconds + 1)
        return TSR_OK; /* undecided */
    x->stage = "finalists";
    report(x, NULL);
    for (size_t i = 0; i < n; i++) {
        finalists[i] = (finalist){x, at[i]};
        candidates[i] = (candidate){.state = &finalists[i],
                                    .run = run_finalist,
                                    .most_calls = tune_problems_calls(&x->problems),
                                    .uses_up = tune_problems_calls(&x->problems) != 0};
    }
    st = bench_interleave(candidates, n, &options, times, x->err);
    if (st != TSR_OK)
        return st;
    for (size_t i = 0; i < n; i++)
        if (times[i].count < 3)
            return TSR_OK; /* stopped: nothing is decided, and the times of the search remain */
    for (size_t i = 0; i < n; i++) {
        x->result->tried[at[i]].time = times[i];
        x->result->tried[at[i]].outcome = TUNE_FINAL;
    }
    judge(x, at, n, before);
    return st;
}

/* ---- the whole --------------------------------------------------------------------------- */

static tsr_status make_spaces(const operation *op, const device_facts *d, const tune_options *o,
                              tune_space out[SPACES_MAX], size_t *count, tsr_error *err)
{
    tsr_status st = TSR_OK;

    *count = 0;
    for (size_t i = 0; i < op->variant_count && st == TSR_OK; i++) {
        const variant *v = op->variants[i];

        if (o->variant ? strcmp(o->variant, v->name) != 0
                       : d && !v->source != (d->kind == DEVICE_HOST))
            continue;
        if (*count == SPACES_MAX)
            return tsr_fail(err, TSR_EOVERFLOW, 0, "%s has over %d variants", op->name, SPACES_MAX);
        st = tune_space_make(v, o->set, o->set_count, &out[*count], err);
        ++*count;
    }
    return st;
}

tsr_status tune_check(const operation *op, const tune_options *o, tsr_error *err)
{
    tune_space spaces[SPACES_MAX];
    const variant *found;
    size_t count;
    tsr_status st = o->variant ? variant_find(op, o->variant, &found, err) : TSR_OK;

    st = st ? st : make_spaces(op, NULL, o, spaces, &count, err);
    for (size_t k = 0; k < o->set_count && st == TSR_OK; k++) {
        const size_t length = strcspn(o->set[k], "=");
        bool known = false;

        for (size_t i = 0; i < count; i++)
            for (size_t t = 0; t < spaces[i].variant->tunable_count; t++) {
                known =
                    known || tunable_has_name(&spaces[i].variant->tunables[t], o->set[k], length);
            }
        if (!known)
            st = tsr_fail(err, TSR_ENAME, 0, "no kernel of %s%s%s has the tunable of '%s'",
                          op->name, o->variant ? "/" : "", o->variant ? o->variant : "", o->set[k]);
    }
    return st;
}

/* Try what a call runs until now. */
static size_t try_before(search *x)
{
    selection now;

    if (dispatch_select(x->session, &x->problems.problems[0], NULL, IN_BUFFERS, &now, NULL) !=
        TSR_OK)
        return SIZE_MAX;
    return try(x, now.variant, &now.params);
}

/* A candidate wins in the finals only: the search's own times are a few samples each, taken at
 * different moments.  A single candidate wins without finals where no other is left to try, unless
 * it is what calls run already. */
static void decide(search *x)
{
    tune_result *r = x->result;
    size_t ran = 0;
    bool decided;

    for (size_t i = 0; i < r->count; i++)
        ran += r->tried[i].outcome >= TUNE_SLOW && !r->tried[i].outside;
    r->alone = ran == 1 && r->complete && r->best && r->best == r->before;
    decided = r->best && r->best->outcome == TUNE_FINAL && (ran > 1 || r->complete) && !r->alone;
    r->undecided = r->best && !decided && !r->alone;
    if (!decided)
        r->best = r->fastest = NULL;
}

static void start_clock(search *x)
{
    const double budget = x->options->seconds * 1e9;
    const uint64_t now = clock_ns();

    x->start = now;
    x->end = now + (uint64_t)budget;
    x->deadline = now + (uint64_t)(budget * (1 - finals_share));
    x->reserved = x->deadline + (uint64_t)(x->options->reserve * 1e9);
}

tsr_status tune_search(tsr_session *s, const problem *problems, size_t count, const tune_options *o,
                       tune_result *out, tsr_error *err)
{
    search x = {.session = s,
                .op = problems[0].op,
                .options = o,
                .result = out,
                .best = SIZE_MAX,
                .scouted = SIZE_MAX,
                .random = o->seed,
                .err = err};
    const uint64_t build_ns = s->build_ns;
    size_t before = SIZE_MAX;
    tsr_status st;

    *out = (tune_result){0};
    start_clock(&x);
    st = make_spaces(x.op, session_facts(s), o, x.space, &x.space_count, err);
    st = st ? st : tune_problems_open(s, problems, count, o->seed, o->warm, &x.problems, err);
    if (st != TSR_OK)
        goto cleanup;
    x.stage = "variants";
    before = try_before(&x);
    search_all(&x);
    out->best = out->fastest = best_of(&x);
    if (out->best && !stopped(&x) && !broken(&x))
        st = run_finals(&x, before);
    else if (broken(&x))
        st =
            tsr_fail(err, TSR_ECL, 0, "%d candidates in a row failed, at last %s: %s", FAILURES_MAX,
                     out->tried[out->count - 1].variant->name, out->tried[out->count - 1].detail);
    if (before != SIZE_MAX && out->tried[before].outcome >= TUNE_TIMED)
        out->before = &out->tried[before];
    decide(&x);
    tune_problems_close(&x.problems);
    tune_problems_close(&x.scout);
    if (!st && out->best && !stopped(&x))
        st = tune_on_arrays(s, problems, count, o, out, err);
    out->stopped = stopped(&x);
    out->seconds = (double)(clock_ns() - x.start) * 1e-9;
    out->build_seconds = (double)(s->build_ns - build_ns) * 1e-9;

cleanup:
    tune_problems_close(&x.problems);
    tune_problems_close(&x.scout);
    /* Hundreds of programs that are not run again are not kept. */
    if (s->queue)
        queue_settle(s->queue);
    programs_release(s);
    return st;
}

void tune_result_free(tune_result *r)
{
    free(r->tried);
    *r = (tune_result){0};
}

void tune_entry(const tsr_session *s, const problem *problems, size_t count,
                const tune_result *found, tuning *out)
{
    const tune_candidate *best = found->best;
    text t = {0};

    *out = (tuning){.median_ns = best->time.median_ns};
    tuning_owner(session_facts(s), out);
    snprintf(out->op, sizeof(out->op), "%s", problems[0].op->name);
    snprintf(out->variant, sizeof(out->variant), "%s", best->variant->name);
    if (found->faster_than_c)
        snprintf(out->faster_than, sizeof(out->faster_than), "%s", found->c_code->name);
    tuning_class(&problems[0], &t);
    snprintf(out->problem_class, sizeof(out->problem_class), "%s", text_get(&t));
    text_clear(&t);
    for (size_t i = 0; i < count; i++) {
        text_append(&t, i ? ", " : "");
        problems[i].op->describe(&problems[i], &t);
    }
    snprintf(out->problem, sizeof(out->problem), "%s", text_get(&t));
    text_free(&t);
    params_describe_in(&best->params, out->parameters, sizeof(out->parameters));
}
