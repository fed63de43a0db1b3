#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/elements.h"
#include "base/fail.h"
#include "cli/activity.h"
#include "cli/bench_print.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/messages.h"

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

static void name_missing_peers(const bench *b)
{
    const char *message;
    bool nvidia = false;

    for (size_t i = 0; i < b->devices.count; i++)
        nvidia = nvidia || b->devices.device[i]->facts.nvidia;
    for (size_t i = 0; (message = peers_note(b->peers, i)); i++)
        hint("%s", message);
    for (size_t i = 0; (message = peers_missing(b->peers, nvidia, i)); i++)
        hint("no peer %s", message);
}

static void plan_repeats(bench *b)
{
    const options *o = b->o;
    const size_t comparisons = b->peers ? b->devices.count * b->jobs.problem_count : 0;
    size_t timed;
    double seconds = 1;

    for (size_t i = 0; i < b->devices.count; i++)
        b->rows += bench_jobs_count(&b->jobs, o, tsr_device_is_host(b->devices.device[i])) +
                   (b->peers ? b->jobs.problem_count : 0);
    /* A comparison is a row, and as many to time as candidates. */
    timed = b->rows + (comparisons ? comparisons * peers_count(b->peers) : 0);
    /* Inputs, verification, warming up and builds take the larger part of a row's time. */
    if (o->seconds > 0)
        seconds = o->seconds;
    if (o->budget > 0 && timed)
        seconds = fmin(seconds, fmax(o->budget / (double)timed / 4, 0.02));
    b->how = (bench_options){.warm = o->given[OPTION_WARM],
                             .seconds = seconds,
                             .least_samples = o->given[OPTION_REPEAT] ? o->repeat : 0,
                             .seed = o->seed,
                             .costs = true,
                             .held = o->given[OPTION_HELD],
                             .stop = b->stop,
                             .expected = &b->expected};
    b->start = clock_ns();
    if (o->budget > 0)
        b->how.deadline = b->start + (uint64_t)(o->budget * 1e9);
}

/* Also of a bench that is interrupted: see interrupt_watch(). */
static int finish(void *context)
{
    bench *b = context;
    tsr_error err = {0};
    const bool quiet = b->o->given[OPTION_QUIET];

    bench_print_waiting(b);
    for (size_t i = 0; i < b->file_count; i++)
        if (row_file_close(&b->files[i], &err))
            bench_worsen(b, print_error(b->o->command, &err, NULL));
    if (b->late && !bench_ended(b))
        fprintf(stderr,
                "tessera: %s: the budget is over after %.3g s: %zu of %zu rows are left out; a "
                "--budget above %s takes more of them\n",
                b->o->command, (double)(clock_ns() - b->start) * 1e-9, b->late, b->reported,
                b->o->value[OPTION_BUDGET]);
    else if (!bench_ended(b) && !b->status && !b->timed) {
        tsr_fail(&err, TSR_EUNSUPPORTED, 0, "nothing ran");
        bench_worsen(b, print_error(b->o->command, &err, NULL));
    }
    if (b->limits_missing && b->timed && !quiet)
        hint("'tessera roofline' measures the limits that 'of limit' compares with");
    if (*b->on_arrays && !quiet)
        hint("calls of this kind run %s, C code, on a CPU, unless they name a kernel or their "
             "buffers cannot be mapped; the other row is of the kernel",
             b->on_arrays);
    if (b->unexplained && !quiet)
        hint("C code on the host has no commands that --explain could list");
    if (b->unheld && !quiet)
        hint("C code on the host has no queue that --held could hold back: it has no peers here");
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
    if (b->jobs.op->exact)
        return tsr_fail(err, TSR_ENAME, 0, "%s is exact: it has no --errors to measure",
                        b->jobs.op->name);
    if (!b->jobs.op->products)
        return tsr_fail(err, TSR_ENAME, 0, "%s has no products, and --errors is of products",
                        b->jobs.op->name);
    if (setting_of(&b->o->settings, "alpha") || setting_of(&b->o->settings, "beta"))
        return tsr_fail(err, TSR_ENAME, 0, "--errors is of A B alone, without --alpha and --beta");
    if (b->o->given[OPTION_TYPE] && type_is_complex(b->o->type))
        return tsr_fail(err, TSR_ENAME, 0, "--errors is of real products, and --type is %s",
                        tsr_type_name(b->o->type));
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

static tsr_status check_held(const bench *b, tsr_error *err)
{
    if (!b->o->given[OPTION_HELD])
        return TSR_OK;
    if (!b->o->given[OPTION_PEERS])
        return tsr_fail(err, TSR_ENAME, 0, "--held needs --peers: it is how they are timed");
    if (b->jobs.op->uses_up)
        return tsr_fail(err, TSR_ENAME, 0,
                        "--held repeats calls on the same inputs, which %s uses up",
                        b->jobs.op->name);
    return TSR_OK;
}

static tsr_status check_held_devices(const bench *b, tsr_error *err)
{
    if (!b->o->given[OPTION_HELD])
        return TSR_OK;
    for (size_t i = 0; i < b->devices.count; i++)
        if (!tsr_device_is_host(b->devices.device[i]))
            return TSR_OK;
    return tsr_fail(err, TSR_ENAME, 0,
                    "C code on the host has no queue that --held could hold back");
}

static tsr_status load_peers(bench *b, tsr_error *err)
{
    tsr_status st;
    size_t rows;

    activity_begin("loading peers");
    st = peers_load(b->jobs.op, NULL, &b->peers, err);
    activity_end();
    rows = st ? 0 : peers_count(b->peers) + 1;
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
    st = st ? st : check_held(b, err);
    st = st ? st : choice_find(b->o, &b->devices, err);
    st = st ? st : check_held_devices(b, err);
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
        status = print_error(o->command, &err, NULL);
    } else {
        b->stop = interrupt_watch(finish, b);
        plan_repeats(b);
        if (b->peers && !o->given[OPTION_QUIET])
            name_missing_peers(b);
        for (size_t i = 0; i < b->devices.count && !bench_ended(b); i++)
            bench_on_device(b, b->devices.device[i]);
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
