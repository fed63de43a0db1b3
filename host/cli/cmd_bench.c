#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/clock.h"
#include "base/elements.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "cli/activity.h"
#include "cli/bench_print.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/job_file.h"
#include "cli/messages.h"
#include "device/device.h"

static void name_missing_peers(const bench *b, peers *p)
{
    const char *message;
    bool nvidia = false;

    for (size_t i = 0; i < b->devices.count; i++)
        nvidia = nvidia || b->devices.device[i]->facts.nvidia;
    if (!b->jobs.op->command->peers)
        hint("%s is compared with no other library: none that --peers knows does this job",
             b->jobs.op->name);
    for (size_t i = 0; (message = peers_note(p, i)); i++)
        hint("%s", message);
    for (size_t i = 0; (message = peers_missing(p, nvidia, i)); i++)
        hint("no peer %s", message);
}

static void plan_repeats(bench *b)
{
    const options *o = b->o;
    const size_t comparisons = b->peers ? b->devices.count * b->jobs.problem_count : 0;
    const bool both = o->given[OPTION_WALL];
    size_t timed;
    double seconds = 1;

    b->rows = comparisons;
    for (size_t i = 0; i < b->devices.count && !o->given[OPTION_BRIEF]; i++)
        b->rows += bench_jobs_count(&b->jobs, o, tsr_device_is_host(b->devices.device[i]));
    /* A comparison is a row, and as many to time as candidates, by each clock. */
    timed = b->rows + (comparisons ? comparisons * peers_count(b->peers) : 0) * (both ? 2 : 1);
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
                             .wall = both,
                             .phases = &b->phases,
                             .stop = b->stop,
                             .expected = &b->expected};
    b->start = clock_ns();
    if (o->budget > 0)
        b->how.deadline = b->start + (uint64_t)(o->budget * 1e9);
}

/* What is left to print of the job that runs. */
static void end_job(bench *b)
{
    tsr_error err = {0};

    bench_print_waiting(b);
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
}

static void hint_where_time_went(const bench *b)
{
    const bench_phases *x = &b->phases;
    const uint64_t all = clock_ns() - b->began;
    const uint64_t rest = all - x->inputs - x->results - x->proofs - x->samples;

    hint("%.1f s: inputs %.1f, first calls and builds %.1f, proofs %.1f, samples of comparisons "
         "%.1f, "
         "samples of single rows and the rest %.1f",
         (double)all * 1e-9, (double)x->inputs * 1e-9, (double)x->results * 1e-9,
         (double)x->proofs * 1e-9, (double)x->samples * 1e-9, (double)rest * 1e-9);
}

static void give_hints(const bench *b)
{
    if (b->limits_missing)
        hint("'tessera roofline' measures the limits that 'of limit' compares with");
    if (*b->on_arrays)
        hint(
            "on a CPU, calls like this run %s, which is C code; those that name a kernel, or whose "
            "buffers cannot be mapped, run kernels",
            b->on_arrays);
    if (b->unexplained)
        hint("C code on the host has no commands for --explain to list");
    if (b->unheld)
        hint("C code on the host has no queue for --held to hold back, so it is not compared with "
             "peers here");
    if (b->job_count)
        hint_where_time_went(b);
}

/* The exit status so far, and a job's: a wrong result outweighs other failures, of which the first
 * one stays. */
static int worse(int before, int status)
{
    return status == EXIT_BOUND || !before ? status : before;
}

/* Called at the end, or when the run is interrupted: see interrupt_watch(). */
static int finish(void *context)
{
    bench *b = context;
    tsr_error err = {0};
    int status;

    if (!b->job_count || *b->stop)
        end_job(b);
    for (size_t i = 0; i < b->file_count; i++)
        if (row_file_close(&b->files[i], &err))
            bench_worsen(b, print_error(b->command->command, &err, NULL));
    if (!b->command->given[OPTION_QUIET])
        give_hints(b);
    status = worse(b->worst, b->status);
    if (*b->stop && b->job_count)
        fprintf(stderr, "tessera: bench: interrupted: %zu of %zu jobs are done\n", b->job - 1,
                b->job_count);
    else if (*b->stop && !status)
        fprintf(stderr, "tessera: %s: interrupted: %zu of %zu rows are done\n", b->command->command,
                b->done, b->rows);
    return *b->stop && !status ? EXIT_INTERRUPTED : status;
}

static tsr_status check_errors(const bench *b, tsr_error *err)
{
    if (!b->o->given[OPTION_ERRORS])
        return TSR_OK;
    if (b->jobs.op->exact)
        return tsr_fail(err, TSR_ENAME, 0, "%s is exact: it has no --errors to measure",
                        b->jobs.op->name);
    if (!b->jobs.op->products)
        return tsr_fail(err, TSR_ENAME, 0, "--errors measures products, and %s has none",
                        b->jobs.op->name);
    if (setting_of(&b->o->settings, "alpha") || setting_of(&b->o->settings, "beta"))
        return tsr_fail(err, TSR_ENAME, 0,
                        "--errors measures A B alone, without --alpha and --beta");
    if (b->o->given[OPTION_TYPE] && !type_is_real(b->o->type))
        return tsr_fail(err, TSR_ENAME, 0,
                        "--errors measures floating-point products, and --type is %s",
                        tsr_type_name(b->o->type));
    if (b->o->given[OPTION_CSV])
        return tsr_fail(err, TSR_ENAME, 0,
                        "--csv has no columns for --errors; --json has its rows");
    return TSR_OK;
}

static tsr_status check_explain(const bench *b, tsr_error *err)
{
    if (b->o->given[OPTION_EXPLAIN] && b->o->given[OPTION_CSV])
        return tsr_fail(err, TSR_ENAME, 0,
                        "--csv has no columns for --explain; the table and --json have its rows");
    return TSR_OK;
}

static tsr_status check_comparison(const bench *b, tsr_error *err)
{
    const bool *given = b->o->given;

    if (given[OPTION_HELD] && !given[OPTION_PEERS])
        return tsr_fail(err, TSR_ENAME, 0, "--held needs --peers: it says how they are timed");
    if (given[OPTION_WALL] && !given[OPTION_HELD])
        return tsr_fail(err, TSR_ENAME, 0, "--wall needs --held: without it the time is wall time");
    if (given[OPTION_BRIEF] && !given[OPTION_PEERS])
        return tsr_fail(err, TSR_ENAME, 0,
                        "--brief needs --peers: it prints the comparison with them alone");
    if (given[OPTION_BRIEF] && given[OPTION_EXPLAIN])
        return tsr_fail(err, TSR_ENAME, 0,
                        "--brief prints no rows of variants, which --explain explains");
    if (given[OPTION_BRIEF] && (b->jobs.all || b->jobs.setting_count > 1))
        return tsr_fail(err, TSR_ENAME, 0,
                        "--brief compares one variant, with one value of each tunable");
    return TSR_OK;
}

static tsr_status check_held_devices(const bench *b, tsr_error *err)
{
    if (!b->o->given[OPTION_HELD])
        return TSR_OK;
    for (size_t i = 0; i < b->devices.count; i++)
        if (!tsr_device_is_host(b->devices.device[i]))
            return TSR_OK;
    return tsr_fail(err, TSR_ENAME, 0, "C code on the host has no queue for --held to hold back");
}

/* The peers of the job's operation: loaded already, or now. */
static tsr_status load_peers(bench *b, tsr_error *err)
{
    bench_loaded *more;
    tsr_status st;
    size_t rows;

    b->peers = NULL;
    for (size_t i = 0; i < b->loaded_count; i++)
        if (b->loaded[i].op == b->jobs.op)
            b->peers = b->loaded[i].list;
    if (!b->peers) {
        more = realloc(b->loaded, (b->loaded_count + 1) * sizeof *more);
        if (!more)
            return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu lists of peers",
                            b->loaded_count + 1);
        b->loaded = more;
        activity_begin("loading peers");
        st = peers_load(b->jobs.op, NULL, &b->peers, err);
        activity_end();
        if (st)
            return st;
        b->loaded[b->loaded_count++] = (bench_loaded){b->jobs.op, b->peers};
    }
    /* By each of two clocks. */
    rows = 2 * (peers_count(b->peers) + 1);
    b->compared = calloc(rows, sizeof *b->compared);
    return b->compared ? TSR_OK : tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu rows", rows);
}

/* What can be said of the job before a device is looked for. */
static tsr_status read_job(bench *b, tsr_error *err)
{
    tsr_status st = bench_jobs_read(b->o, &b->jobs, err);

    st = st ? st : check_errors(b, err);
    st = st ? st : check_explain(b, err);
    return st ? st : check_comparison(b, err);
}

/* Beside a GPU, host memory takes no part in what is timed, but each problem takes and frees many
 * large arrays, and pages that come anew from the kernel take longer than filling them.  So they
 * are kept. */
static void keep_pages(const choice *c)
{
#ifdef __GLIBC__
    bool on_host = false;

    for (size_t i = 0; i < c->count; i++)
        on_host = on_host || is_host_processor(&c->device[i]->facts);
    if (on_host)
        return;
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
#else
    (void)c;
#endif
}

static tsr_status find_devices(bench *b, tsr_error *err)
{
    tsr_status st = choice_find(b->command, &b->devices, err);

    if (st)
        return st;
    keep_pages(&b->devices);
    b->sessions = calloc(b->devices.count, sizeof *b->sessions);
    return b->sessions
               ? TSR_OK
               : tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu sessions", b->devices.count);
}

static tsr_status ready_job(bench *b, tsr_error *err)
{
    tsr_status st = check_held_devices(b, err);

    if (st || !b->o->given[OPTION_PEERS] || b->o->given[OPTION_BUILD_ONLY])
        return st;
    return load_peers(b, err);
}

static void run_job(bench *b)
{
    plan_repeats(b);
    if (b->peers && !b->o->given[OPTION_QUIET] && !b->job_count)
        name_missing_peers(b, b->peers);
    for (size_t i = 0; i < b->devices.count && !bench_ended(b); i++)
        bench_on_device(b, i);
}

static void free_job(bench *b)
{
    free(b->compared);
    b->compared = NULL;
    b->peers = NULL;
    bench_jobs_free(&b->jobs);
    bench_errors_free(&b->errors);
    options_free(&b->given);
}

/* ---- a file of jobs ----------------------------------------------------------------------- */

/* Options that the command line of --jobs takes and a line of the file does not. */
static const option_id of_command[] = {OPTION_DEVICE, OPTION_KERNEL_DIR, OPTION_OUTPUT, OPTION_JSON,
                                       OPTION_CSV,    OPTION_QUIET,      OPTION_JOBS};

/* Options of a line of the file alone: of a problem, its variants and its inputs, and of
 * `overlap`. */
static const option_id of_jobs[] = {OPTION_SIZE,   OPTION_TYPE,   OPTION_KERNEL, OPTION_SET,
                                    OPTION_QUEUES, OPTION_CHUNKS, OPTION_PINNED, OPTION_ROUNDS};

static int refuse_option(const options *o, const option_id ids[], size_t count, const char *why)
{
    for (size_t i = 0; i < count; i++)
        if (o->given[ids[i]])
            return wrong_usage("%s: --%s %s", o->command, option_name(ids[i]), why);
    return EXIT_DONE;
}

/* On one command line only: in a file of jobs these options are ignored where the command has
 * --build-only. */
static int check_build_only(const options *o)
{
    static const option_id of_times[] = {OPTION_PEERS, OPTION_HELD, OPTION_ERRORS, OPTION_EXPLAIN,
                                         OPTION_OUTPUT};

    if (!o->given[OPTION_BUILD_ONLY])
        return EXIT_DONE;
    return refuse_option(o, of_times, ARRAY_COUNT(of_times),
                         "is of what is timed, and --build-only times nothing");
}

static int check_command(const options *o)
{
    static const char why[] = "is an option of a job, which the file of --jobs gives";

    if (o->operand_count)
        return wrong_usage("%s: both '%s' and --jobs say what to run", o->command, o->operand[0]);
    if (o->settings.count)
        return wrong_usage("%s: --%s %s", o->command, o->settings.list[0].option, why);
    if (o->given[OPTION_KERNEL_FILE])
        return wrong_usage("%s: --kernel-file replaces one variant, and --jobs may run many",
                           o->command);
    return refuse_option(o, of_jobs, ARRAY_COUNT(of_jobs), why);
}

/* Seconds that the command's --budget leaves. */
static double seconds_left(const bench *b)
{
    return b->command->budget - (double)(clock_ns() - b->began) * 1e-9;
}

static int parse_job(const bench *b, const job_line *line, options *out)
{
    int status = options_parse(line->argc, line->argv, b->command->takes, out);

    if (!status && out->operand_count != 1)
        status = wrong_usage("bench: %zu operations are named: a job has one", out->operand_count);
    if (!status && !strcmp(out->operand[0], "overlap"))
        status = wrong_usage("bench: overlap cannot be a job in a file");
    if (!status && (out->given[OPTION_HELP] || out->given[OPTION_VERSION]))
        status = wrong_usage("bench: a job has neither --help nor --version");
    if (!status && out->given[OPTION_KERNEL_FILE])
        status = wrong_usage("bench: a job has no --kernel-file");
    if (!status)
        status = refuse_option(out, of_command, ARRAY_COUNT(of_command),
                               "is an option of the command, not of a job");
    status = status ? status : check_build_only(out);
    if (status)
        return status;
    /* What a job does not give is the command line's. */
    out->seed = out->given[OPTION_SEED] ? out->seed : b->command->seed;
    out->repeat = out->given[OPTION_REPEAT] ? out->repeat : b->command->repeat;
    out->seconds = out->given[OPTION_SECONDS] ? out->seconds : b->command->seconds;
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (out->given[id] || !b->command->given[id])
            continue;
        out->given[id] = true;
        out->value[id] = b->command->value[id];
    }
    if (b->command->budget > 0) {
        /* 0 would be no budget. */
        const double left = fmax(seconds_left(b), 1e-9);

        out->budget = out->budget > 0 ? fmin(out->budget, left) : left;
    }
    return EXIT_DONE;
}

static void name_line(const bench *b, const job_line *line, int status)
{
    print_plain(stderr, "tessera: bench: %s: line %zu: status %d: %s\n",
                b->command->value[OPTION_JOBS], line->number, status, line->line);
}

/* Before the first job runs, which may take hours: what is wrong with each of them. */
static int check_jobs(bench *b, const job_file *f)
{
    int worst = EXIT_DONE;

    for (size_t i = 0; i < f->count; i++) {
        tsr_error err = {0};
        int status = parse_job(b, &f->jobs[i], &b->given);

        if (!status && read_job(b, &err))
            status = print_error(b->o->command, &err, NULL);
        if (status)
            name_line(b, &f->jobs[i], status);
        worst = worse(worst, status);
        free_job(b);
    }
    return worst;
}

/* Run a job; returns its status. */
static int one_of_many(bench *b, const job_line *line)
{
    const size_t loaded = b->loaded_count;
    tsr_error err = {0};
    int status = parse_job(b, line, &b->given);

    /* Counters and flags of the job before are gone. */
    b->rows = b->done = b->reported = b->late = b->timed = 0;
    b->status = EXIT_DONE;
    if (!status && (read_job(b, &err) || ready_job(b, &err)))
        status = print_error(b->o->command, &err, NULL);
    if (!status) {
        if (b->loaded_count > loaded && !b->o->given[OPTION_QUIET])
            name_missing_peers(b, b->peers);
        run_job(b);
        if (*b->stop)
            return b->status; /* finish() ends it */
        end_job(b);
        status = b->status;
    }
    free_job(b);
    /* After a device error a context may be of no more use: the next job opens another. */
    for (size_t i = 0; i < b->devices.count && status == EXIT_FAILED; i++)
        bench_close_sessions(b, i);
    return status;
}

static void run_jobs(bench *b, const job_file *f)
{
    const char *path = b->command->value[OPTION_JOBS];
    size_t late = 0;

    b->job_count = f->count;
    for (b->job = 1; b->job <= f->count && !bench_ended(b); b->job++) {
        const job_line *line = &f->jobs[b->job - 1];
        uint64_t start = clock_ns();
        int status;

        if (b->command->budget > 0 && b->job > 1 && seconds_left(b) <= 0) {
            print_plain(stderr, "tessera: bench: %s: line %zu is left out: %s\n", path,
                        line->number, line->line);
            late++;
            continue;
        }
        status = one_of_many(b, line);
        b->worst = worse(b->worst, status);
        if (*b->stop)
            break;
        if (!b->command->given[OPTION_QUIET])
            fprintf(stderr, "%zu of %zu, %.1f s: %s\n", b->job, f->count,
                    (double)(clock_ns() - start) * 1e-9, line->line);
        if (status)
            name_line(b, line, status);
    }
    if (!late)
        return;
    fprintf(stderr,
            "tessera: bench: the budget is over after %.3g s: %zu of %zu jobs are left out\n",
            (double)(clock_ns() - b->began) * 1e-9, late, f->count);
    b->worst = worse(b->worst, EXIT_FAILED);
}

/* ---- the command -------------------------------------------------------------------------- */

static int bench_many(bench *b)
{
    tsr_error err = {0};
    job_file f = {0};
    int status = check_command(b->command);

    if (status)
        return status;
    b->o = &b->given;
    status = job_file_read(b->command->value[OPTION_JOBS], &f, &err)
                 ? print_error(b->command->command, &err, NULL)
                 : check_jobs(b, &f);
    if (!status && (find_devices(b, &err) ||
                    row_files_open(b->command, b->files, &b->file_count, &b->table, &err)))
        status = print_error(b->command->command, &err, NULL);
    if (!status) {
        b->stop = interrupt_watch(finish, b);
        run_jobs(b, &f);
        status = finish(b);
    }
    job_file_free(&f);
    return status;
}

static int bench_one(bench *b)
{
    tsr_error err = {0};

    b->o = b->command;
    if (read_job(b, &err) || find_devices(b, &err) || ready_job(b, &err) ||
        row_files_open(b->command, b->files, &b->file_count, &b->table, &err))
        return print_error(b->command->command, &err, NULL);
    b->stop = interrupt_watch(finish, b);
    run_job(b);
    return finish(b);
}

int cmd_bench(const options *o)
{
    bench *b;
    int status;

    if (o->operand_count && !strcmp(o->operand[0], "overlap"))
        return bench_overlap(o);
    status = check_build_only(o);
    if (status)
        return status;
    b = calloc(1, sizeof *b);
    if (!b)
        return out_of_memory();
    b->command = o;
    b->began = clock_ns();
    status = o->given[OPTION_JOBS] ? bench_many(b) : bench_one(b);
    free_job(b);
    for (size_t i = 0; i < b->loaded_count; i++)
        peers_close(b->loaded[i].list);
    free(b->loaded);
    for (size_t i = 0; b->sessions && i < b->devices.count; i++)
        bench_close_sessions(b, i);
    free(b->sessions);
    choice_close(&b->devices);
    text_free(&b->warned);
    free(b);
    return status;
}
