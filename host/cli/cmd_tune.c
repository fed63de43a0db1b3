#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "cli/activity.h"
#include "cli/bench_problem.h"
#include "cli/commands.h"
#include "cli/device_choice.h"
#include "cli/interrupt.h"
#include "cli/json_print.h"
#include "cli/messages.h"
#include "cli/operands.h"
#include "cli/tune_report.h"
#include "cli/tuning_list.h"
#include "core/dispatch.h"
#include "core/registry.h"
#include "core/tuning_class.h"
#include "core/tuning_file.h"
#include "file/output.h"
#include "measure/tune.h"

enum { SIZES_MAX = 64, SECONDS_A_CLASS = 30 };

/* The problems of a command line, those of one class next to each other. */
typedef struct search {
    const operation *op;
    problem problems[SIZES_MAX];
    size_t count;
    size_t class_count;
    size_t class_size[SIZES_MAX]; /* problems of each class, in order */
} search;

/* What a search has tried until now, for finish_early() on another thread. */
typedef struct under_way {
    pthread_mutex_t lock;
    const problem *problems; /* count of them; NULL: none goes on */
    size_t count;
    const char *on_arrays;
    tune_result found;        /* a copy */
    uint64_t start, build_ns; /* by the clock, and of the session then */
} under_way;

typedef struct tuning_run {
    const options *o;
    search search;
    choice choice;
    tsr_session *session;
    tune_options options;
    output *file; /* of -o, NULL without */
    tuning entries[SIZES_MAX];
    size_t entry_count;
    size_t done;                   /* classes */
    size_t tried;                  /* candidates, of all classes */
    size_t wrong;                  /* those whose result was wrong */
    bool ran;                      /* something that the search may choose */
    double seconds, build_seconds; /* of all searches, and of them what compilers took */
    text reason;                   /* why the first that did not run did not */
    json_t *classes;
    const tune_result *found; /* of the search that goes on */
    under_way now;
} tuning_run;

/* ---- what to tune ------------------------------------------------------------------------ */

static bool same_class(const problem *a, const problem *b)
{
    text x = {0}, y = {0};
    bool same;

    tuning_class(a, &x);
    tuning_class(b, &y);
    same = strcmp(text_get(&x), text_get(&y)) == 0;
    text_free(&x);
    text_free(&y);
    return same;
}

/* Put a problem behind the others of its class. */
static void insert(search *p, const problem *new_one)
{
    size_t at = 0, c = 0;

    while (c < p->class_count && !same_class(&p->problems[at], new_one))
        at += p->class_size[c++];
    if (c == p->class_count)
        p->class_size[p->class_count++] = 0;
    at += p->class_size[c];
    memmove(&p->problems[at + 1], &p->problems[at], (p->count - at) * sizeof(*p->problems));
    p->problems[at] = *new_one;
    p->class_size[c]++;
    p->count++;
}

static tsr_status plan_sizes(const options *o, const char *const *sizes, size_t count, search *out,
                             tsr_error *err)
{
    tsr_status st = TSR_OK;

    if (count > SIZES_MAX)
        return tsr_fail(err, TSR_ENAME, 0, "%zu sizes are given, and tune takes %d at most", count,
                        SIZES_MAX);
    for (size_t i = 0; i < count && st == TSR_OK; i++) {
        problem p;

        st = bench_problem(out->op, sizes[i], o, &p, err);
        if (st == TSR_OK)
            insert(out, &p);
    }
    return st;
}

/* ---- while it goes on -------------------------------------------------------------------- */

/* Candidates grow one by one, and times are added to them. */
static void copy_what_is_tried(tuning_run *r)
{
    under_way *now = &r->now;
    tune_candidate *tried;

    pthread_mutex_lock(&now->lock);
    tried = realloc(now->found.tried, (r->found->count + 1) * sizeof(*tried));
    if (tried) {
        memcpy(tried, r->found->tried, r->found->count * sizeof(*tried));
        now->found.tried = tried;
        now->found.count = r->found->count;
    }
    now->found.build_seconds = (double)(r->session->build_ns - now->build_ns) * 1e-9;
    pthread_mutex_unlock(&now->lock);
}

static void show_progress(const tune_progress *p, void *context)
{
    tuning_run *r = context;
    text line = {0};

    copy_what_is_tried(r);

    if (p->last && p->last->outcome == TUNE_WRONG) {
        activity_end();
        tune_print_error(r->search.op, p->last);
    }
    text_format(&line, "%s, %zu tried", p->stage, p->tried);
    if (p->best) {
        text_append(&line, ", best ");
        tune_candidate_text(p->best, &line);
    }
    activity_update("tuning for %.3g s: %s", r->options.seconds, text_get(&line));
    text_free(&line);
}

/* ---- one class --------------------------------------------------------------------------- */

/* Keep the best: in the user's folder, and for -o. */
static tsr_status keep(tuning_run *r, const problem *problems, size_t count,
                       const tune_result *found, text *where, tsr_error *err)
{
    tuning *entry = &r->entries[r->entry_count];

    tune_entry(r->session, problems, count, found, entry);
    r->entry_count++;
    return tuning_store(entry, where, err);
}

static bool interrupted(const tuning_run *r)
{
    return *r->options.stop != 0;
}

/* The variant in C that a call on arrays runs on a CPU device; "" where it runs a kernel. */
static const char *on_arrays(const tuning_run *r, const problem *p)
{
    selection chosen;

    if (!r->session->queue || dispatch_select(r->session, p, NULL, IN_ARRAYS, &chosen, NULL) ||
        chosen.variant->source)
        return "";
    return chosen.variant->name;
}

static void too_short(double seconds, double build_seconds, text *out)
{
    text_format(out, "the time was too short: of %.3g s, compiling took %.3g s", seconds,
                build_seconds);
}

/* Tell what became of a class. */
static void report_class(tuning_run *r, const tune_report *report)
{
    const tune_result *found = report->found;
    text why = {0};

    /* What its candidates say of the whole run. */
    for (size_t i = 0; i < found->count; i++) {
        const tune_candidate *c = &found->tried[i];

        r->wrong += c->outcome == TUNE_WRONG;
        if (c->outside)
            continue;
        r->ran = r->ran || c->outcome >= TUNE_SLOW;
        if (c->detail[0] && !r->reason.length)
            text_format(&r->reason, "%s/%s: %s", r->search.op->name, c->variant->name, c->detail);
    }
    if (r->classes)
        json_array_append_new(r->classes, tune_report_json(report));
    else
        tune_report_print(report);
    fflush(stdout);
    if (found->surpassed)
        fprintf(stderr,
                "tessera: %s: what ran before is faster than what --kernel and --set allow, which "
                "replaces it\n",
                r->o->command);
    if (interrupted(r))
        text_append(&why, "interrupted before the fastest were compared");
    else
        too_short(found->seconds, found->build_seconds, &why);
    if (found->undecided)
        fprintf(stderr, "tessera: %s: tuning unchanged: %s\n", r->o->command, text_get(&why));
    if (found->alone && r->classes) /* a table says so itself */
        fprintf(stderr, "tessera: %s: tuning unchanged: %s was the only candidate\n", r->o->command,
                found->before->variant->name);
    text_free(&why);
}

static tsr_status tune_class(tuning_run *r, const problem *problems, size_t count, tsr_error *err)
{
    tune_result found = {0};
    text where = {0};
    tsr_error search_err = {0};
    tsr_status searched, st = TSR_OK;
    tune_report report = {
        .problems = problems, .count = count, .found = &found, .on_arrays = on_arrays(r, problems)};

    r->found = &found;
    r->now.problems = problems;
    r->now.count = count;
    r->now.on_arrays = report.on_arrays;
    r->now.found.count = 0;
    r->now.start = clock_ns();
    r->now.build_ns = r->session->build_ns;
    activity_begin("tuning for %.3g s", r->options.seconds);
    searched = tune_search(r->session, problems, count, &r->options, &found, &search_err);
    activity_end();
    r->now.problems = NULL;
    if (found.best)
        st = keep(r, problems, count, &found, &where, err);
    report.where = text_get(&where);
    report.on_arrays = on_arrays(r, problems);
    report_class(r, &report);
    r->seconds += found.seconds;
    r->tried += found.count;
    r->build_seconds += found.build_seconds;
    r->found = NULL;
    tune_result_free(&found);
    text_free(&where);
    if (searched != TSR_OK) {
        if (err)
            *err = search_err;
        return searched;
    }
    return st;
}

/* The class whose search does not return, as far as it came. */
static void report_under_way(tuning_run *r)
{
    under_way *now = &r->now;
    const tune_report report = {.problems = now->problems,
                                .count = now->count,
                                .found = &now->found,
                                .where = "",
                                .on_arrays = now->on_arrays};

    pthread_mutex_lock(&now->lock);
    now->found.stopped = true;
    now->found.seconds = (double)(clock_ns() - now->start) * 1e-9;
    for (size_t i = 0; i < now->found.count; i++)
        now->found.undecided = now->found.undecided || now->found.tried[i].outcome >= TUNE_TIMED;
    if (now->problems && now->found.count)
        report_class(r, &report);
    pthread_mutex_unlock(&now->lock);
}

static tsr_status tune_classes(tuning_run *r, tsr_error *err)
{
    const search *p = &r->search;
    const double budget =
        r->o->budget > 0 ? r->o->budget : (double)(SECONDS_A_CLASS * p->class_count);
    const uint64_t start = clock_ns();
    double left = budget;
    tsr_status st = TSR_OK;
    text warned = {0};
    size_t at = 0;

    for (size_t i = 0; i < p->count; i++)
        tuning_warn(r->session, &p->problems[i], r->o, &warned);
    text_free(&warned);
    for (size_t c = 0; c < p->class_count && st == TSR_OK && !interrupted(r); c++) {
        left = fmax(budget - (double)(clock_ns() - start) * 1e-9, 0);
        /* The first candidate may take as long as those before it. */
        if (c && left * (double)r->tried <= r->seconds) {
            fprintf(stderr,
                    "tessera: %s: after %.3g s there is no time in the budget for %zu of %zu "
                    "classes of problems; a --budget above %.6g takes more of them\n",
                    r->o->command, budget - left, p->class_count - c, p->class_count, budget);
            break;
        }
        /* What one class does not need, or needs more, is the later ones'. */
        r->options.seconds = left / (double)(p->class_count - c);
        r->options.reserve = left - r->options.seconds;
        st = tune_class(r, &p->problems[at], p->class_size[c], err);
        at += p->class_size[c];
        r->done += !interrupted(r);
    }
    return st;
}

/* ---- the command ------------------------------------------------------------------------- */

static tsr_status write_entries(tuning_run *r, tsr_error *err)
{
    text content = {0};
    tsr_status st;

    if (!r->file || !r->entry_count)
        return TSR_OK;
    st = tuning_write_text(r->entries, r->entry_count, &content, err);
    if (st == TSR_OK)
        st = output_write_bytes(r->file, text_get(&content), content.length, err);
    text_free(&content);
    if (st == TSR_OK) {
        st = commit_and_warn(r->file, err);
        r->file = NULL; /* freed by it */
    }
    return st;
}

static tsr_status check_command(tuning_run *r, tsr_error *err)
{
    const options *o = r->o;
    tsr_status st = operation_asked(o, o->operand[0], "blas", &r->search.op, err);

    if (o->given[OPTION_JSON] && o->given[OPTION_OUTPUT] && !strcmp(o->value[OPTION_OUTPUT], "-"))
        return tsr_fail(err, TSR_ENAME, 0, "--json and -o - both write to standard output");
    /* The variants without such a tunable would be searched as if nothing had been said. */
    if (!st && o->set_count && !r->options.variant)
        return tsr_fail(err, TSR_ENAME, 0, "--set %s needs --kernel V, whose tunable it is",
                        o->set[0]);
    st = st ? st : tune_check(r->search.op, &r->options, err);
    return st ? st : plan_sizes(o, o->size, o->size_count, &r->search, err);
}

static tsr_status prepare(tuning_run *r, tsr_error *err)
{
    const options *o = r->o;
    tsr_status st = choice_find_one(o, &r->choice, err);

    st = st ? st : choice_open(r->choice.device[0], o, &r->session, err);
    if (!st && !o->size_count) {
        const typical_sizes *usual = &r->search.op->command->sizes;
        const char *const *sizes =
            session_facts(r->session)->kind == DEVICE_GPU ? usual->tune : usual->tune_cpu;
        size_t n = 0;

        while (sizes[n])
            n++;
        st = plan_sizes(o, sizes, n, &r->search, err);
    }
    /* Told before the search, not after it. */
    st = st ? st : tuning_check_folder(err);
    if (!st && o->given[OPTION_OUTPUT])
        st = output_open(o->value[OPTION_OUTPUT], &r->file, err);
    return st;
}

static int finish(tuning_run *r)
{
    int status = EXIT_DONE;
    tsr_error err = {0};

    if (r->classes) {
        status =
            json_print(json_pack("{s:s, s:s, s:o, s:o, s:O}", "schema", "tessera-tune-1", "op",
                                 r->search.op->name, "device", device_identity(r->choice.device[0]),
                                 "seed", json_count(r->o->seed), "classes", r->classes));
    }
    if (interrupted(r)) {
        fprintf(stderr, "tessera: %s: interrupted: %zu of %zu classes of problems are done\n",
                r->o->command, r->done, r->search.class_count);
        return EXIT_INTERRUPTED;
    }
    if (r->wrong)
        return EXIT_BOUND;
    if (!r->ran) {
        if (!r->reason.length)
            too_short(r->seconds, r->build_seconds, &r->reason);
        tsr_fail(&err, TSR_EUNSUPPORTED, 0, "nothing ran: %s", text_get(&r->reason));
        return print_error(r->o->command, &err, NULL);
    }
    return status;
}

/* Of a search that is interrupted: see interrupt_watch().  What was found is kept. */
static int finish_early(void *context)
{
    tuning_run *r = context;
    tsr_error err = {0};

    report_under_way(r);
    if (write_entries(r, &err))
        print_error(r->o->command, &err, NULL);
    return finish(r);
}

int cmd_tune(const options *o)
{
    if (!strcmp(o->operand[0], "blas"))
        return tune_blas(o);
    tuning_run r = {.o = o,
                    .options = {.variant = o->value[OPTION_KERNEL],
                                .set = o->set,
                                .set_count = o->set_count,
                                .warm = o->given[OPTION_WARM],
                                .seed = o->seed,
                                .progress = show_progress},
                    .now.lock = PTHREAD_MUTEX_INITIALIZER};
    tsr_error err = {0};
    tsr_status st;
    int status;

    r.options.context = &r;
    if (r.options.variant && !strcmp(r.options.variant, "all"))
        r.options.variant = NULL;
    st = check_command(&r, &err);
    if (st == TSR_OK)
        st = prepare(&r, &err);
    if (st == TSR_OK && o->given[OPTION_JSON])
        r.classes = json_array();
    if (st == TSR_OK) {
        r.options.stop = interrupt_watch(finish_early, &r);
        st = tune_classes(&r, &err);
    }
    status = st ? print_error(o->command, &err, r.session) : finish(&r);
    /* What was found is kept, whatever ended the search. */
    st = write_entries(&r, &err);
    if (st != TSR_OK && !status)
        status = print_error(o->command, &err, NULL);
    output_discard(r.file);
    text_free(&r.reason);
    tune_result_free(&r.now.found);
    json_decref(r.classes);
    tsr_session_close(r.session);
    choice_close(&r.choice);
    return status;
}
