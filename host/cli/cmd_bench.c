#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "cli/bench_errors.h"
#include "cli/bench_explain.h"
#include "cli/bench_jobs.h"
#include "cli/bench_overlap.h"
#include "cli/bench_rows.h"
#include "cli/commands.h"
#include "cli/complain.h"
#include "cli/device_choice.h"
#include "cli/interrupt.h"
#include "cli/tuning_list.h"
#include "device/device.h"
#include "measure/bench.h"
#include "measure/peers.h"
#include "measure/roofline.h"
#include "ops/dispatch.h"

enum { GROUP_MOST = 64 };

/* A rate above the limit by more than this is an error of the instrument. */
static const double instrument_margin = 1.03;

/* A row of a comparison with peers, and our rate over its. */
typedef struct peer_row {
    result_row row;
    double ratio;
} peer_row;

/* One run of the command. */
typedef struct bench {
    const options *o;
    bench_jobs jobs;
    choice devices;
    peers *peers;       /* NULL without --peers */
    peer_row *compared; /* room for all rows of a comparison, where there are peers */
    row_file files[2];  /* -o and standard output, where wanted */
    size_t file_count;
    bool table;    /* on standard output */
    bool progress; /* on standard error */
    bench_options how;
    uint64_t start;
    size_t rows, done; /* to measure; measured or refused */
    size_t told, late; /* rows of variants and peers; of them, left out by the budget */
    size_t timed;
    bool limits_missing;
    bool unkept; /* a row could not be written */
    int status;
    const volatile sig_atomic_t *stop; /* Ctrl-C */
    text warned;                       /* of tuning files */

    /* Of the device and the problem that are measured now: */
    tsr_session *session;
    limits limits;
    bool has_limits;
    void *expected; /* of the problem: computed once for all its rows */
    bool headed;    /* the table has its head */
    double first_ns;
    char precision[16];           /* of the variant that peers are compared with */
    result_row costs[GROUP_MOST]; /* rows with costs to list */
    size_t cost_count;
    size_t compared_count; /* rows of `compared`, which are told behind the variants' */
    bench_errors errors;   /* with --errors */
} bench;

static void worsen(bench *b, int status)
{
    b->status = b->status ? b->status : status;
}

/* ---- progress ----------------------------------------------------------------------------- */

static void show_progress(const bench *b, const problem *p, const char *name)
{
    const double elapsed = (double)(clock_ns() - b->start) * 1e-9;
    text what = {0};

    if (!b->progress)
        return;
    p->op->describe(p, &what);
    fprintf(stderr, "\r\033[K[%zu/%zu] %s %s %s on %s", b->done + 1, b->rows, p->op->name,
            text_get(&what), name, tsr_device_name(&b->session->device));
    if (b->done)
        fprintf(stderr, ", about %.0f s left",
                ceil(elapsed / (double)b->done * (double)(b->rows - b->done)));
    fflush(stderr);
    text_free(&what);
}

static void clear_progress(const bench *b)
{
    if (b->progress)
        fputs("\r\033[K", stderr);
}

/* ---- rows --------------------------------------------------------------------------------- */

static void keep_row(bench *b, const result_row *row)
{
    tsr_error err = {0};

    b->told += row->kind != RESULT_ERROR;
    b->late += row->outcome == RESULT_LATE;
    for (size_t i = 0; i < b->file_count; i++) {
        if (!row_file_add(&b->files[i], row, &err))
            continue;
        worsen(b, complain(b->o->command, &err, NULL));
        b->unkept = true; /* what cannot be kept is not worth measuring */
    }
}

/* The place of a row under the roofline; limits of a device say nothing about another's peers. */
static void place_row(bench *b, result_row *row, bool same_device)
{
    if (!b->has_limits) {
        b->limits_missing = b->limits_missing || b->session->context;
        return;
    }
    if (same_device && row->time.count)
        roofline_place(&b->limits, row);
}

static void check_instrument(bench *b, const result_row *row)
{
    if (!row->cold || row->limit_rate <= 0 || row->rate <= instrument_margin * row->limit_rate)
        return;
    fprintf(stderr,
            "tessera: %s: %s %s on %s gives %.4g %s, above the measured limit of %.4g (%s): the "
            "instrument errs, or other work slowed the limit down: 'tessera roofline' measures it "
            "again\n",
            b->o->command, row->name, row->problem, row->device, row->rate, row->unit,
            row->limit_rate, row->bound_by);
    worsen(b, EXIT_BOUND);
}

/* What ran is also measured for its errors, where they are asked for. */
static void note_errors(bench *b, const result_row *row)
{
    tsr_error err = {0};

    if (b->o->given[OPTION_ERRORS] && bench_errors_note(&b->errors, row, &err))
        worsen(b, complain(b->o->command, &err, NULL));
}

static void take_row(bench *b, result_row *row)
{
    place_row(b, row, true);
    clear_progress(b);
    if (b->table && !b->headed)
        row_table_head(row, false);
    b->headed = true;
    if (row->time.count && b->first_ns <= 0)
        b->first_ns = row->time.median_ns;
    if (b->table)
        row_table_line(row, false, b->jobs.all ? b->first_ns : 0, 0, row->precision);
    b->timed += row->time.count > 0;
    keep_row(b, row);
    note_errors(b, row);
    check_instrument(b, row);
    if (row->time.count && row->build_cold_ns > 0 && b->cost_count < GROUP_MOST)
        b->costs[b->cost_count++] = *row;
}

/* ---- variants ----------------------------------------------------------------------------- */

static bool spent(const bench *b)
{
    const double elapsed = (double)(clock_ns() - b->start) * 1e-9;

    return b->o->budget > 0 && b->done && elapsed >= b->o->budget;
}

/* Ended before its time. */
static bool ended(const bench *b)
{
    return *b->stop || b->unkept;
}

static void complain_of_row(bench *b, const char *name, const tsr_error *err)
{
    clear_progress(b);
    worsen(b, complain(name ? name : b->o->command, err, b->session));
}

/* Where a row's time went; beside the budget. */
static void explain_row(bench *b, const problem *p, const tsr_run *run, const result_row *row)
{
    const limits *l = b->has_limits ? &b->limits : NULL;
    explanation x;
    tsr_error err = {0};

    show_progress(b, p, "explained");
    if (explain_call(b->session, p, run, &b->how, &x, &err)) {
        complain_of_row(b, row->name, &err);
    } else {
        clear_progress(b);
        if (b->table)
            explain_print(&x, row, l);
        else if (explain_print_json(&x, row, l))
            worsen(b, EXIT_FAILED);
    }
    explain_free(&x);
}

/* Whether it says something: what was interrupted before its first sample does not. */
static bool is_row(const result_row *row)
{
    return row->time.count || row->outcome != RESULT_TIMED;
}

/* A row that the budget does not reach is not done, but it is named. */
static void measure_row(bench *b, const problem *p, const tsr_run *run, result_row *row)
{
    const bool late = spent(b);
    tsr_error err = {0};
    tsr_status st;

    *row = (result_row){0};
    if (!late)
        show_progress(b, p, run->variant ? run->variant : "");
    st = (late ? bench_late : bench_variant)(b->session, p, run, &b->how, row, &err);
    b->done += !late && (st || is_row(row));
    if (st)
        complain_of_row(b, run->variant, &err);
}

static void tell_row(bench *b, const problem *p, const tsr_run *run, result_row *row)
{
    if (!is_row(row) || b->unkept)
        return;
    take_row(b, row);
    if (b->o->given[OPTION_EXPLAIN] && row->time.count && row->timer == TIMER_EVENTS && !ended(b))
        explain_row(b, p, run, row);
}

static void list_costs(bench *b)
{
    if (b->table && b->cost_count) {
        clear_progress(b);
        row_costs_head();
        for (size_t i = 0; i < b->cost_count; i++)
            row_costs_line(&b->costs[i]);
    }
    b->cost_count = 0;
}

/* ---- peers -------------------------------------------------------------------------------- */

static void on_peer_row(const result_row *row, double ratio, void *context)
{
    bench *b = context;

    b->compared[b->compared_count++] = (peer_row){.row = *row, .ratio = ratio};
    if (row->outcome == RESULT_WRONG)
        worsen(b, EXIT_BOUND);
}

static void tell_peer_row(bench *b, result_row *row, double ratio)
{
    const bool same_device =
        row->place != RESULT_ON_HOST || session_facts(b->session)->kind == DEVICE_CPU;

    if (row->kind == RESULT_KERNEL)
        snprintf(b->precision, sizeof b->precision, "%s", row->precision);
    place_row(b, row, same_device);
    clear_progress(b);
    if (b->table && !b->headed)
        row_table_head(row, true);
    b->headed = true;
    if (b->table)
        row_table_line(row, true, 0, ratio, b->precision);
    keep_row(b, row);
    note_errors(b, row);
}

static void tell_peers(bench *b)
{
    b->headed = false;
    for (size_t i = 0; i < b->compared_count && !b->unkept; i++)
        tell_peer_row(b, &b->compared[i].row, b->compared[i].ratio);
    b->compared_count = 0;
}

static void bench_peers(bench *b, const problem *p)
{
    const tsr_run run = {.variant = b->jobs.all ? NULL : b->o->value[OPTION_KERNEL],
                         .set = b->jobs.settings[0].set,
                         .set_count = b->jobs.settings[0].count};
    const peers_match match = {
        .session = b->session, .problem = p, .run = &run, .list = b->peers, .options = &b->how};
    const bool late = spent(b);
    tsr_error err = {0};

    show_progress(b, p, "with peers");
    if ((late ? peers_late : peers_compare)(&match, on_peer_row, b, &err)) {
        clear_progress(b);
        worsen(b, complain("peers", &err, b->session));
    }
    b->done += !late;
}

/* ---- errors ------------------------------------------------------------------------------- */

static void tell_errors(bench *b, const bench_errors_entry *e)
{
    if (b->table)
        row_errors_line(e->row, ERRORS_FAMILIES, b->peers != NULL,
                        b->errors.entries->row->precision);
    for (int f = 0; f < ERRORS_FAMILIES; f++) {
        keep_row(b, &e->row[f]);
        if (e->row[f].outcome == RESULT_FAILED)
            worsen(b, EXIT_FAILED);
    }
}

/* After the times, and beside the budget. */
static void bench_errors_of(bench *b, const problem *p)
{
    const peers_match match = {
        .session = b->session, .problem = p, .list = b->peers, .options = &b->how};
    size_t elements[ERRORS_FAMILIES];
    tsr_error err = {0};

    show_progress(b, p, "errors");
    if (bench_errors_measure(&b->errors, &match, &err)) {
        clear_progress(b);
        worsen(b, complain("errors", &err, b->session));
    } else if (!ended(b) && b->errors.count) {
        clear_progress(b);
        bench_errors_elements(&b->errors, elements);
        if (b->table)
            row_errors_head(b->errors.entries->row, elements, ERRORS_FAMILIES, b->peers != NULL);
        for (size_t i = 0; i < b->errors.count; i++)
            tell_errors(b, &b->errors.entries[i]);
    }
    bench_errors_free(&b->errors);
}

static void name_missing_peers(const bench *b)
{
    const char *message;

    for (size_t i = 0; (message = peers_missing(b->peers, b->jobs.op, i)); i++)
        hint("no peer %s", message);
}

/* ---- everything --------------------------------------------------------------------------- */

/* The place, among the variants to bench, of the one that a call gets which names none. */
static size_t chosen_place(const bench *b, const problem *p, bool on_host)
{
    selection sel;
    const char *name;

    if (!b->jobs.all || dispatch_select(b->session, p, NULL, &sel, NULL))
        return 0;
    for (size_t v = 0; bench_jobs_variant(&b->jobs, b->o, on_host, v, &name); v++)
        if (!strcmp(name, sel.variant->name))
            return v;
    return 0;
}

static tsr_run run_of(const bench *b, bool on_host, size_t place, size_t setting)
{
    const bench_setting *s = &b->jobs.settings[setting];
    tsr_run run = {.set = s->set, .set_count = s->count};

    bench_jobs_variant(&b->jobs, b->o, on_host, place, &run.variant);
    return run;
}

/* What a user gets anyway, and then the peers that it is compared with, so that a budget reaches
 * them; what building it costs, which may take longer than both, comes last. */
static void measure_first(bench *b, const problem *p, const tsr_run *run, result_row *row)
{
    tsr_error err = {0};

    b->how.costs = !b->peers;
    measure_row(b, p, run, row);
    b->how.costs = true;
    if (!b->peers || ended(b))
        return;
    bench_peers(b, p);
    if (row->time.count && !spent(b) && !ended(b) && bench_costs(b->session, p, run, row, &err))
        complain_of_row(b, run->variant, &err);
}

/* Rows are told in the table's order, peers' behind them. */
static void bench_variants(bench *b, const problem *p, bool on_host)
{
    const size_t chosen = chosen_place(b, p, on_host);
    const tsr_run wanted = run_of(b, on_host, chosen, 0);
    result_row early, row;
    const char *name;

    measure_first(b, p, &wanted, &early);
    for (size_t v = 0; bench_jobs_variant(&b->jobs, b->o, on_host, v, &name); v++) {
        for (size_t i = 0; i < b->jobs.setting_count; i++) {
            const tsr_run run = run_of(b, on_host, v, i);
            const bool is_early = v == chosen && i == 0;

            if (!is_early && ended(b))
                continue;
            if (!is_early)
                measure_row(b, p, &run, &row);
            tell_row(b, p, &run, is_early ? &early : &row);
        }
    }
    list_costs(b);
    tell_peers(b);
}

static void bench_problem_on(bench *b, const problem *p, bool on_host)
{
    b->headed = false;
    b->first_ns = 0;
    if (!b->jobs.all || b->peers)
        tuning_warn(b->session, p, b->o, &b->warned);
    bench_variants(b, p, on_host);
    if (b->o->given[OPTION_ERRORS] && !ended(b))
        bench_errors_of(b, p);
    free(b->expected);
    b->expected = NULL;
}

static void bench_device(bench *b, const tsr_device *device)
{
    tsr_error err = {0};

    if (choice_open(device, b->o, &b->session, &err)) {
        worsen(b, complain(tsr_device_name(device), &err, NULL));
        return;
    }
    b->has_limits = b->session->context && roofline_recall(b->session, &b->limits);
    for (size_t i = 0; i < b->jobs.problem_count && !ended(b); i++)
        bench_problem_on(b, &b->jobs.problems[i], tsr_device_is_host(device));
    tsr_session_close(b->session);
    b->session = NULL;
}

/* -o takes the rows; without it, or with "-", --json and --csv have standard output. */
static tsr_status open_files(bench *b, tsr_error *err)
{
    const char *path = b->o->value[OPTION_OUTPUT];
    const bool csv = b->o->given[OPTION_CSV];
    tsr_status st = TSR_OK;

    if (path)
        st = row_file_open(path, csv, &b->files[b->file_count++], err);
    b->table =
        !(path && b->files[0].stream == stdout) && !b->o->given[OPTION_JSON] && (path || !csv);
    if (!st && !b->table && !(path && b->files[0].stream == stdout))
        st = row_file_open("-", csv, &b->files[b->file_count++], err);
    return st;
}

static void plan(bench *b)
{
    const options *o = b->o;
    const size_t comparisons = b->peers ? b->devices.count * b->jobs.problem_count : 0;
    size_t timed;
    double seconds = 1;

    for (size_t i = 0; i < b->devices.count; i++)
        b->rows += bench_jobs_count(&b->jobs, o, tsr_device_is_host(b->devices.device[i])) +
                   (b->peers ? b->jobs.problem_count : 0);
    /* A comparison is a row, and as many to time as contenders. */
    timed = b->rows + (comparisons ? comparisons * peers_count(b->peers, b->jobs.op) : 0);
    /* Inputs, verification, warming up and builds take the larger part of a row's time. */
    if (o->budget > 0 && timed)
        seconds = fmin(1, fmax(o->budget / (double)timed / 4, 0.02));
    b->how = (bench_options){.warm = o->given[OPTION_WARM],
                             .seconds = seconds,
                             .least_samples = o->given[OPTION_REPEAT] ? o->repeat : 0,
                             .seed = o->seed,
                             .costs = true,
                             .stop = b->stop,
                             .expected = &b->expected};
    b->progress = isatty(STDERR_FILENO) && !o->given[OPTION_QUIET];
    b->start = clock_ns();
    if (o->budget > 0)
        b->how.deadline = b->start + (uint64_t)(o->budget * 1e9);
}

static int finish(bench *b)
{
    tsr_error err = {0};
    const bool quiet = b->o->given[OPTION_QUIET];

    for (size_t i = 0; i < b->file_count; i++)
        if (row_file_close(&b->files[i], &err))
            worsen(b, complain(b->o->command, &err, NULL));
    if (b->late && !ended(b))
        fprintf(stderr,
                "tessera: %s: the budget is over after %.3g s: %zu of %zu rows are done, and a "
                "--budget above %s takes more of them\n",
                b->o->command, (double)(clock_ns() - b->start) * 1e-9, b->told - b->late, b->told,
                b->o->value[OPTION_BUDGET]);
    else if (!ended(b) && !b->status && !b->timed) {
        tsr_fail(&err, TSR_EUNSUITED, 0, "nothing ran");
        worsen(b, complain(b->o->command, &err, NULL));
    }
    if (b->limits_missing && b->timed && !quiet)
        hint("'tessera roofline' measures the limits that 'of limit' compares with");
    if (*b->stop && !b->status) {
        fprintf(stderr, "tessera: %s: interrupted: %zu of %zu rows are done\n", b->o->command,
                b->done, b->rows);
        return EXIT_INTERRUPTED;
    }
    return b->status;
}

static tsr_status check_errors(const bench *b, tsr_error *err)
{
    if (!b->o->given[OPTION_ERRORS])
        return TSR_OK;
    if (b->jobs.op == &operation_sort)
        return tsr_fail(err, TSR_ENAME, 0, "a sort is exact: it has no --errors to measure");
    if (b->o->given[OPTION_CSV])
        return tsr_fail(err, TSR_ENAME, 0,
                        "--csv has no columns for --errors, which JSON lines have");
    return TSR_OK;
}

static tsr_status check_explain(const bench *b, tsr_error *err)
{
    if (b->o->given[OPTION_EXPLAIN] && b->o->given[OPTION_CSV])
        return tsr_fail(err, TSR_ENAME, 0,
                        "--csv has no columns for --explain, which the table and --json have");
    return TSR_OK;
}

static tsr_status load_peers(bench *b, tsr_error *err)
{
    tsr_status st = peers_load(NULL, &b->peers, err);
    const size_t rows = st ? 0 : peers_count(b->peers, b->jobs.op) + 1;

    if (st)
        return st;
    b->compared = calloc(rows, sizeof *b->compared);
    return b->compared ? TSR_OK : tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu rows", rows);
}

static tsr_status prepare(bench *b, tsr_error *err)
{
    tsr_status st = bench_jobs_read(b->o, &b->jobs, err);

    st = st ? st : check_errors(b, err);
    st = st ? st : check_explain(b, err);
    st = st ? st : choice_find(b->o, &b->devices, err);
    if (!st && b->o->given[OPTION_PEERS])
        st = load_peers(b, err);
    return st ? st : open_files(b, err);
}

int cmd_bench(const options *o)
{
    bench *b;
    tsr_error err = {0};
    int status;

    if (!strcmp(o->operand[0], "overlap"))
        return bench_overlap(o);
    b = calloc(1, sizeof *b);
    if (!b)
        return out_of_memory();
    b->o = o;
    if (prepare(b, &err)) {
        status = complain(o->command, &err, NULL);
    } else {
        b->stop = interrupt_watch();
        plan(b);
        if (b->peers && !o->given[OPTION_QUIET])
            name_missing_peers(b);
        for (size_t i = 0; i < b->devices.count && !ended(b); i++)
            bench_device(b, b->devices.device[i]);
        status = finish(b);
    }
    peers_close(b->peers);
    free(b->compared);
    choice_close(&b->devices);
    bench_jobs_free(&b->jobs);
    bench_errors_free(&b->errors);
    text_free(&b->warned);
    free(b);
    return status;
}
