#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/activity.h"
#include "cli/bench_print.h"
#include "cli/messages.h"
#include "cli/tuning_list.h"
#include "core/dispatch.h"
#include "device/device.h"

static bool spent(const bench *b)
{
    const double elapsed = (double)(clock_ns() - b->start) * 1e-9;

    return b->o->budget > 0 && b->done && elapsed >= b->o->budget;
}

bool bench_ended(const bench *b)
{
    return *b->stop || b->unkept;
}

/* ---- variants ----------------------------------------------------------------------------- */

/* Where a row's time went; beside the budget. */
static void explain_row(bench *b, const problem *p, const tsr_run *run, const result_row *row)
{
    const limits *l = b->has_limits ? &b->limits : NULL;
    explanation x;
    tsr_error err = {0};
    tsr_status st;

    bench_begin(b, p, "explained");
    st = explain_call(b->session, p, run, &b->how, &x, &err);
    activity_end();
    if (st) {
        bench_print_error(b, row->name, &err);
    } else {
        if (b->table)
            explain_print(&x, row, l);
        else if (explain_print_json(&x, row, l))
            bench_worsen(b, EXIT_FAILED);
    }
    explain_free(&x);
}

/* Whether to show it: a row that was interrupted before its first sample has neither times nor a
 * reason. */
static bool is_row(const result_row *row)
{
    return row->time.count || row->outcome != RESULT_TIMED;
}

/* A row that the budget does not reach is not measured, and its outcome says so. */
static void measure_row(bench *b, const problem *p, const tsr_run *run, result_row *row)
{
    const bool late = spent(b);
    tsr_error err = {0};
    tsr_status st;

    *row = (result_row){0};
    if (!late)
        bench_begin(b, p, run->variant ? run->variant : "");
    st = (late ? bench_late : bench_variant)(b->session, p, run, &b->how, row, &err);
    activity_end();
    b->done += !late && (st || is_row(row));
    if (st)
        bench_print_error(b, run->variant, &err);
}

static void tell_row(bench *b, const problem *p, const tsr_run *run, result_row *row)
{
    if (!is_row(row) || b->unkept)
        return;
    bench_print_row(b, row);
    if (!b->o->given[OPTION_EXPLAIN] || !row->time.count || bench_ended(b))
        return;
    if (row->timer == TIMER_EVENTS)
        explain_row(b, p, run, row);
    else
        b->unexplained = true;
}

/* ---- peers -------------------------------------------------------------------------------- */

static void on_peer_row(const result_row *row, double ratio, void *context)
{
    bench *b = context;

    activity_end();
    b->compared[b->compared_count++] = (peer_row){.row = *row, .ratio = ratio};
    if (row->outcome == RESULT_WRONG)
        bench_worsen(b, EXIT_BOUND);
}

static void bench_peers(bench *b, const problem *p)
{
    const tsr_run run = {.variant = b->jobs.all ? NULL : b->o->value[OPTION_KERNEL],
                         .set = b->jobs.settings[0].set,
                         .set_count = b->jobs.settings[0].count};
    bench_options how = b->how;
    const peers_comparison compared = {
        .session = b->session, .problem = p, .run = &run, .list = b->peers, .options = &how};
    const bool late = spent(b);
    tsr_error err = {0};
    tsr_status st;

    if (b->how.held && tsr_device_is_host(&b->session->device)) {
        b->unheld = true;
        b->done++;
        return;
    }
    /* What libraries on the host's processor are compared with is what a call gets there; C code
     * has no queue to hold back. */
    how.on_arrays = !how.held;
    bench_begin(b, p, "with peers");
    st = (late ? peers_late : peers_compare)(&compared, on_peer_row, b, &err);
    activity_end();
    if (st)
        bench_worsen(b, print_error("peers", &err, b->session));
    b->done += !late && !*b->stop;
}

/* ---- errors ------------------------------------------------------------------------------- */

/* After the times; the budget does not count it. */
static void bench_errors_of(bench *b, const problem *p)
{
    const peers_comparison compared = {
        .session = b->session, .problem = p, .list = b->peers, .options = &b->how};
    size_t elements[ERRORS_DISTRIBUTIONS];
    tsr_error err = {0};
    tsr_status st;

    bench_begin(b, p, "errors");
    st = bench_errors_measure(&b->errors, &compared, &err);
    activity_end();
    if (st) {
        bench_worsen(b, print_error("errors", &err, b->session));
    } else if (!bench_ended(b) && b->errors.count) {
        bench_errors_elements(&b->errors, elements);
        if (b->table)
            row_errors_head(b->errors.entries->row, elements, ERRORS_DISTRIBUTIONS,
                            b->peers != NULL);
        for (size_t i = 0; i < b->errors.count; i++)
            bench_print_errors(b, &b->errors.entries[i]);
    }
    bench_errors_free(&b->errors);
}

void bench_print_waiting(bench *b)
{
    if (b->early_waits && is_row(&b->early) && !b->unkept)
        bench_print_row(b, &b->early);
    b->early_waits = false;
    bench_print_costs(b);
    bench_print_peers(b);
}

/* ---- everything --------------------------------------------------------------------------- */

/* The place, among the variants to bench, of the default: what a call without --kernel runs. */
static size_t chosen_place(const bench *b, const problem *p, bool on_host)
{
    selection sel;
    const char *name;

    if (!b->jobs.all || dispatch_select(b->session, p, NULL, IN_BUFFERS, &sel, NULL))
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

/* The default, then the peers that it is compared with, so that a small budget reaches both; what
 * building the default costs comes last, as it may take longer than they do. */
static void measure_first(bench *b, const problem *p, const tsr_run *run, result_row *row)
{
    tsr_error err = {0};
    tsr_status st;

    b->how.costs = !b->peers;
    measure_row(b, p, run, row);
    b->how.costs = true;
    b->early_waits = true;
    if (!b->peers || bench_ended(b))
        return;
    bench_peers(b, p);
    if (!row->time.count || spent(b) || bench_ended(b))
        return;
    bench_begin(b, p, "built anew");
    st = bench_costs(b->session, p, run, row, &err);
    activity_end();
    if (st)
        bench_print_error(b, run->variant, &err);
}

/* The variant in C that a call on arrays runs on a CPU device, although a call on buffers, which is
 * measured, runs a kernel; NULL where both run a kernel. */
static const char *c_on_arrays(const bench *b, const problem *p, bool on_host)
{
    selection sel;

    if (on_host || !b->table || (b->o->value[OPTION_KERNEL] && !b->jobs.all) ||
        dispatch_select(b->session, p, NULL, IN_ARRAYS, &sel, NULL) || sel.variant->source)
        return NULL;
    return sel.variant->name;
}

/* A line beside the kernels' rows, in the table alone. */
static void measure_on_arrays(bench *b, const problem *p, const char *name)
{
    const tsr_run run = {.variant = name};
    result_row row;

    measure_row(b, p, &run, &row);
    if (!is_row(&row))
        return;
    bench_print_aside(b, &row);
    if (row.time.count)
        snprintf(b->on_arrays, sizeof(b->on_arrays), "%s", name);
}

/* Rows are printed in the table's order, peers' behind them. */
static void bench_variants(bench *b, const problem *p, bool on_host)
{
    const size_t chosen = chosen_place(b, p, on_host);
    const tsr_run wanted = run_of(b, on_host, chosen, 0);
    const char *in_c = c_on_arrays(b, p, on_host), *name;
    result_row row;

    b->rows += in_c != NULL;
    measure_first(b, p, &wanted, &b->early);
    for (size_t v = 0; bench_jobs_variant(&b->jobs, b->o, on_host, v, &name); v++) {
        for (size_t i = 0; i < b->jobs.setting_count; i++) {
            const tsr_run run = run_of(b, on_host, v, i);
            const bool is_early = v == chosen && i == 0;

            if (!is_early && bench_ended(b))
                continue;
            if (!is_early)
                measure_row(b, p, &run, &row);
            if (is_early)
                b->early_waits = false;
            tell_row(b, p, &run, is_early ? &b->early : &row);
        }
    }
    if (in_c && !bench_ended(b))
        measure_on_arrays(b, p, in_c);
    bench_print_costs(b);
    bench_print_peers(b);
}

static void build_row(bench *b, const problem *p, const tsr_run *run)
{
    tsr_error err = {0};
    tsr_status st;

    if (spent(b)) {
        b->late++;
        b->reported++;
        return;
    }
    bench_begin(b, p, run->variant ? run->variant : "");
    st = bench_build(b->session, p, run, &err);
    activity_end();
    b->done++;
    b->reported++;
    b->timed += !st;
    if (st && st != TSR_EUNSUPPORTED)
        bench_print_error(b, run->variant, &err);
}

/* --build-only: build the program of each row. */
static void build_variants(bench *b, const problem *p, bool on_host)
{
    const char *name;

    for (size_t v = 0; bench_jobs_variant(&b->jobs, b->o, on_host, v, &name); v++)
        for (size_t i = 0; i < b->jobs.setting_count && !bench_ended(b); i++) {
            const tsr_run run = run_of(b, on_host, v, i);

            build_row(b, p, &run);
        }
}

static void bench_problem_on(bench *b, const problem *p, bool on_host)
{
    b->headed = false;
    b->first_ns = 0;
    bench_begin(b, p, "");
    if (!b->jobs.all || b->peers)
        tuning_warn(b->session, p, b->o, &b->warned);
    if (b->o->given[OPTION_BUILD_ONLY])
        build_variants(b, p, on_host);
    else if (b->o->given[OPTION_BRIEF]) {
        bench_peers(b, p);
        bench_print_peers(b);
    } else
        bench_variants(b, p, on_host);
    if (b->o->given[OPTION_ERRORS] && !b->o->given[OPTION_BUILD_ONLY] && !bench_ended(b))
        bench_errors_of(b, p);
    free(b->expected);
    b->expected = NULL;
}

void bench_on_device(bench *b, size_t i)
{
    const tsr_device *device = b->devices.device[i];
    bench_sessions *opened = &b->sessions[i];
    tsr_error err = {0};

    if (!opened->session && choice_open(device, b->command, &opened->session, &err)) {
        bench_worsen(b, print_error(tsr_device_name(device), &err, NULL));
        return;
    }
    b->session = opened->session;
    b->how.unprofiled = &opened->unprofiled;
    b->has_limits = b->session->context && roofline_recall(b->session, &b->limits);
    for (size_t k = 0; k < b->jobs.problem_count && !bench_ended(b); k++)
        bench_problem_on(b, &b->jobs.problems[k], tsr_device_is_host(device));
    b->session = NULL;
}

void bench_close_sessions(bench *b, size_t i)
{
    tsr_session_close(b->sessions[i].unprofiled);
    tsr_session_close(b->sessions[i].session);
    b->sessions[i] = (bench_sessions){0};
}
