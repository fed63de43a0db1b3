#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/bench_problem.h"
#include "cli/commands.h"
#include "cli/device_choice.h"
#include "cli/interrupt.h"
#include "cli/json_print.h"
#include "cli/messages.h"
#include "cli/operands.h"
#include "cli/terminal.h"
#include "cli/tune_report.h"
#include "cli/tuning_list.h"
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

typedef struct tuning_run {
    const options *o;
    search search;
    choice choice;
    tsr_session *session;
    tune_options options;
    output *file; /* of -o, NULL without */
    tuning entries[SIZES_MAX];
    size_t entry_count;
    size_t wrong; /* candidates whose result was wrong */
    bool ran;     /* something that the search may choose */
    text reason;  /* why the first that did not run did not */
    json_t *classes;
    bool on_terminal;
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
        return tsr_fail(err, TSR_ENAME, 0, "%zu sizes are more than %d", count, SIZES_MAX);
    for (size_t i = 0; i < count && st == TSR_OK; i++) {
        problem p;

        st = bench_problem(out->op, sizes[i], o, &p, err);
        if (st == TSR_OK)
            insert(out, &p);
    }
    return st;
}

/* ---- while it goes on -------------------------------------------------------------------- */

static void show_progress(const tune_progress *p, void *context)
{
    const tuning_run *r = context;
    text line = {0};

    if (p->last && p->last->outcome == TUNE_WRONG)
        tune_print_error(r->search.op, p->last, r->on_terminal);
    if (!r->on_terminal)
        return;
    text_format(&line, "%s: %zu tried, %.0f s left", p->stage, p->tried, p->seconds_left);
    if (p->best) {
        text_append(&line, ", best ");
        tune_candidate_text(p->best, &line);
    }
    progress_show(text_get(&line));
    text_free(&line);
}

static void clear_progress(const tuning_run *r)
{
    if (r->on_terminal)
        progress_clear();
}

/* ---- one class --------------------------------------------------------------------------- */

/* Keep the best: in the user's folder, and for -o. */
static tsr_status keep(tuning_run *r, const problem *problems, size_t count,
                       const tune_result *found, text *where, tsr_error *err)
{
    tuning *entry = &r->entries[r->entry_count];

    tune_entry(r->session, problems, count, found->best, entry);
    r->entry_count++;
    return tuning_store(entry, where, err);
}

/* What its candidates say of the whole run. */
static void note_candidates(tuning_run *r, const tune_result *found)
{
    for (size_t i = 0; i < found->count; i++) {
        const tune_candidate *c = &found->tried[i];

        r->wrong += c->outcome == TUNE_WRONG;
        if (c->outside)
            continue;
        r->ran = r->ran || c->outcome >= TUNE_SLOW;
        if (c->detail[0] && !r->reason.length)
            text_format(&r->reason, "%s/%s: %s", r->search.op->name, c->variant->name, c->detail);
    }
}

static bool interrupted(const tuning_run *r)
{
    return *r->options.stop != 0;
}

static tsr_status tune_class(tuning_run *r, const problem *problems, size_t count, tsr_error *err)
{
    tune_result found;
    text where = {0};
    tsr_error search_err = {0};
    tsr_status searched =
        tune_search(r->session, problems, count, &r->options, &found, &search_err);
    tsr_status st = TSR_OK;
    tune_report report = {.problems = problems, .count = count, .found = &found};

    clear_progress(r);
    if (found.best)
        st = keep(r, problems, count, &found, &where, err);
    report.where = text_get(&where);
    note_candidates(r, &found);
    if (r->classes)
        json_array_append_new(r->classes, tune_report_json(&report));
    else
        tune_report_print(&report);
    fflush(stdout);
    if (found.surpassed)
        fprintf(stderr,
                "tessera: %s: what ran until now is faster than what --kernel and --set allow, "
                "which takes its place\n",
                r->o->command);
    if (found.undecided)
        fprintf(stderr, "tessera: %s: nothing kept: %s\n", r->o->command,
                interrupted(r) ? "interrupted before the fastest were compared"
                               : "the time was too short");
    if (found.alone)
        fprintf(stderr,
                "tessera: %s: nothing kept: %s, which runs as before, was compared with nothing\n",
                r->o->command, found.before->variant->name);
    tune_result_free(&found);
    text_free(&where);
    if (searched != TSR_OK) {
        if (err)
            *err = search_err;
        return searched;
    }
    return st;
}

static tsr_status tune_classes(tuning_run *r, tsr_error *err)
{
    const search *p = &r->search;
    const double budget =
        r->o->budget > 0 ? r->o->budget : (double)(SECONDS_A_CLASS * p->class_count);
    tsr_status st = TSR_OK;
    text warned = {0};
    size_t at = 0;

    for (size_t i = 0; i < p->count; i++)
        tuning_warn(r->session, &p->problems[i], r->o, &warned);
    text_free(&warned);
    r->options.seconds = budget / (double)p->class_count;
    for (size_t c = 0; c < p->class_count && st == TSR_OK && !interrupted(r); c++) {
        st = tune_class(r, &p->problems[at], p->class_size[c], err);
        at += p->class_size[c];
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
        st = output_commit(r->file, err);
        r->file = NULL; /* freed by it */
    }
    return st;
}

static tsr_status check_command(tuning_run *r, tsr_error *err)
{
    const options *o = r->o;
    tsr_status st = operation_asked(o, o->operand[0], NULL, &r->search.op, err);

    if (o->given[OPTION_JSON] && o->given[OPTION_OUTPUT] && !strcmp(o->value[OPTION_OUTPUT], "-"))
        return tsr_fail(err, TSR_ENAME, 0, "--json and -o - both want standard output");
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
    if (interrupted(r))
        return EXIT_INTERRUPTED;
    if (r->wrong)
        return EXIT_BOUND;
    if (!r->ran) {
        tsr_fail(&err, TSR_EUNSUPPORTED, 0, "nothing ran: %s",
                 r->reason.length ? text_get(&r->reason) : "the time was too short");
        return print_error(r->o->command, &err, NULL);
    }
    return status;
}

int cmd_tune(const options *o)
{
    tuning_run r = {.o = o,
                    .options = {.variant = o->value[OPTION_KERNEL],
                                .set = o->set,
                                .set_count = o->set_count,
                                .warm = o->given[OPTION_WARM],
                                .seed = o->seed,
                                .stop = interrupt_watch(),
                                .progress = show_progress},
                    .on_terminal = isatty(STDERR_FILENO) && !o->given[OPTION_QUIET]};
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
    if (st == TSR_OK)
        st = tune_classes(&r, &err);
    status = st ? print_error(o->command, &err, r.session) : finish(&r);
    /* What was found is kept, whatever ended the search. */
    st = write_entries(&r, &err);
    if (st != TSR_OK && !status)
        status = print_error(o->command, &err, NULL);
    output_discard(r.file);
    text_free(&r.reason);
    json_decref(r.classes);
    tsr_session_close(r.session);
    choice_close(&r.choice);
    return status;
}
