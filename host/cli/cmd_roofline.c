#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "cli/activity.h"
#include "cli/bench_problem.h"
#include "cli/commands.h"
#include "cli/device_choice.h"
#include "cli/interrupt.h"
#include "cli/messages.h"
#include "core/registry.h"
#include "device/device.h"
#include "file/output.h"
#include "measure/bench.h"
#include "measure/roofline.h"
#include "session/state.h"

/* Where the rows go: a table for people, and rows of JSON or CSV. */
typedef struct listing {
    const options *options;
    bool table;   /* on standard output */
    text rows;    /* what -o, --json and --csv write */
    bool header;  /* rows begin with the column names already */
    size_t width; /* of the names in the table */
    output *file; /* of -o, NULL without */
    const tsr_device *device;
    size_t kept; /* limits of earlier runs */
    const volatile sig_atomic_t *stop;
} listing;

static void keep_row(listing *out, const result_row *row)
{
    if (!out->options->given[OPTION_CSV]) {
        result_to_json(row, &out->rows);
        return;
    }
    if (!out->header)
        result_csv_header(&out->rows);
    out->header = true;
    result_to_csv(row, &out->rows);
}

/* ---- limits -------------------------------------------------------------------------------- */

static void print_limit(const listing *out, limit l, const limit_result *r)
{
    if (!out->table)
        return;
    if (!(r->value > 0)) {
        printf("    %-19s          -  %s\n", limit_name(l), r->why_not);
        return;
    }
    printf("    %-19s %10.*f  %-7s  +-%4.1f%%  %s%s%s", limit_name(l), r->value < 100 ? 2 : 0,
           r->value, limit_unit(l), 100 * timing_spread(&r->time), limit_idea(l),
           *r->way ? ": " : "", r->way);
    if (r->kept && r->now > 0)
        printf("; kept from %s, now %.*f", r->when, r->now < 100 ? 2 : 0, r->now);
    else if (r->kept)
        printf("; kept from %s, now not measured: %s", r->when, r->why_now);
    if (r->forgotten > 0)
        printf("; an earlier run, forgotten now, reached %.*f: is the machine busy?",
               r->forgotten < 100 ? 2 : 0, r->forgotten);
    fputs("\n", stdout);
}

static bool on_limit(limit l, const limit_result *r, void *context)
{
    listing *out = context;
    result_row row;

    activity_end();
    print_limit(out, l, r);
    fflush(stdout);
    roofline_row(out->device, l, r, &row);
    out->kept += r->kept;
    keep_row(out, &row);
    if (l + 1 < LIMIT_COUNT)
        activity_begin("measuring %s", limit_name((limit)(l + 1)));
    return !ferror(stdout) && !*out->stop;
}

/* ---- the steps of a ladder ----------------------------------------------------------------- */

static void print_step(const listing *out, const result_row *row)
{
    if (!out->table)
        return;
    if (row->outcome != RESULT_TIMED) {
        printf("    %-*s          -  %s\n", (int)out->width, row->name, row->unsupported);
        return;
    }
    printf("    %-*s %10.*f  %-7s", (int)out->width, row->name, row->rate < 100 ? 2 : 0, row->rate,
           row->unit);
    if (row->requested_bytes > 0)
        printf("  %6.3g", row->work / row->requested_bytes);
    else
        printf("  %6s", "-");
    if (row->limit_rate > 0)
        printf("  %6.1f%% of %.*f (%s)", 100 * row->share, row->limit_rate < 100 ? 2 : 0,
               row->limit_rate, row->bound_by);
    fputs("\n", stdout);
}

/* Place one variant: measured in this run, verified before. */
static tsr_status place_variant(tsr_session *s, const limits *l, const problem *p, const variant *v,
                                listing *out, tsr_error *err)
{
    const double given = out->options->seconds;
    const bench_options wanted = {
        .seconds = given > 0 ? given : 0.3, .least_samples = 3, .seed = 1, .stop = out->stop};
    const tsr_run run = {.variant = v->name};
    result_row row = {0};
    tsr_status st;

    activity_begin("placing %s", v->name);
    st = bench_variant(s, p, &run, &wanted, &row, err);
    activity_end();
    if (row.outcome == RESULT_TIMED && !row.time.count)
        return st; /* interrupted before its first sample */
    if (row.outcome == RESULT_TIMED)
        roofline_place(l, &row);
    print_step(out, &row);
    fflush(stdout);
    keep_row(out, &row);
    return st;
}

static void head_ladder(listing *out, const problem *p)
{
    const double flops = p->op->work(p), bytes = p->op->bytes(p);
    text what = {0};

    out->width = 19;
    for (size_t i = 0; i < p->op->variant_count; i++)
        if (strlen(p->op->variants[i]->name) > out->width)
            out->width = strlen(p->op->variants[i]->name);
    p->op->describe(p, &what);
    if (out->table)
        printf(
            "\n  %s %s: %.3g %s a byte, and behind the rates those a byte that a step asks for\n",
            p->op->name, text_get(&what), flops / bytes,
            p->op->unit == WORK_KEYS ? "keys" : "operations");
    text_free(&what);
}

/* Place each step of an operation that runs on devices, on one problem. */
static int place_ladder(tsr_session *s, const limits *l, const operation *op, const char *size,
                        listing *out)
{
    const options *o = out->options;
    int status = EXIT_DONE;
    tsr_error err = {0};
    problem p;

    if (bench_problem(op, size, o, &p, &err))
        return print_error(o->command, &err, NULL);
    head_ladder(out, &p);
    for (size_t i = 0; i < op->variant_count && !*out->stop; i++) {
        if (!op->variants[i]->source)
            continue;
        if (place_variant(s, l, &p, op->variants[i], out, &err))
            status = print_error(op->variants[i]->name, &err, s);
    }
    return status;
}

/* The ladder of an operation on each size that is asked for. */
static int place_ladders(tsr_session *s, const limits *l, const operation *op, listing *out)
{
    const options *o = out->options;
    int status = EXIT_DONE, one;

    if (!o->size_count)
        return place_ladder(s, l, op,
                            session_facts(s)->kind == DEVICE_CPU ? op->command->sizes.roofline_cpu
                                                                 : op->command->sizes.roofline,
                            out);
    for (size_t i = 0; i < o->size_count && !*out->stop; i++) {
        one = place_ladder(s, l, op, o->size[i], out);
        status = status ? status : one;
    }
    return status;
}

/* Whether every size is one of every operation: checked before anything is measured. */
static tsr_status check_sizes(const options *o, const operation *const *ops, tsr_error *err)
{
    const size_t count = o->operand_count ? o->operand_count : 1;
    tsr_status st = TSR_OK;
    problem p;

    for (size_t i = 0; i < count * o->size_count && !st; i++)
        st = bench_problem(ops[i / o->size_count], o->size[i % o->size_count], o, &p, err);
    return st;
}

/* ---- devices ------------------------------------------------------------------------------- */

static int measure_device(const tsr_device *device, const operation *const *ops, size_t op_count,
                          listing *out)
{
    tsr_session *session = NULL;
    tsr_error err = {0};
    limits found = {0};
    char id[DEVICE_ID_SIZE];
    int status = EXIT_DONE, one;
    tsr_status st;

    out->device = device;
    device_id_text(device, id);
    if (choice_open(device, out->options, &session, &err))
        return print_error(tsr_device_name(device), &err, NULL);
    if (out->table && !tsr_device_is_host(device))
        printf("%s %s\n", id, tsr_device_name(device));
    out->kept = 0;
    activity_begin("measuring %s", limit_name((limit)0));
    st = roofline_measure(session, out->options->given[OPTION_FRESH], out->options->seconds, &found,
                          on_limit, out, &err);
    activity_end();
    if (st)
        status = print_error(tsr_device_name(device), &err, session);
    if (out->kept && !out->options->given[OPTION_QUIET])
        hint("%zu of the limits of %s are from earlier runs, which reached more; 'tessera roofline "
             "--fresh' forgets them",
             out->kept, tsr_device_name(device));
    for (size_t i = 0; i < op_count && !status && !*out->stop; i++) {
        one = place_ladders(session, &found, ops[i], out);
        status = status ? status : one;
    }
    tsr_session_close(session);
    return status;
}

/* The operations that the command line names; the first where it names none. */
static tsr_status find_ladders(const options *o, const operation **ops, tsr_error *err)
{
    tsr_status st = TSR_OK;

    ops[0] = operation_at(0);
    for (size_t i = 0; i < o->operand_count && !st; i++)
        st = operation_find(o->operand[i], o->command, NULL, &ops[i], err);
    return st;
}

/* Write the rows where they are asked for. */
static int write_rows(listing *out)
{
    const char *who = out->options->command, *rows = text_get(&out->rows);
    output *file = out->file;
    tsr_error err = {0};

    if (out->rows.failed)
        return out_of_memory();
    if (!out->table)
        fputs(rows, stdout);
    if (!file || !out->rows.length)
        return EXIT_DONE;
    if (output_write_bytes(file, rows, out->rows.length, &err))
        return print_error(who, &err, NULL);
    out->file = NULL; /* freed by the commit */
    return commit_and_warn(file, &err) ? print_error(who, &err, NULL) : EXIT_DONE;
}

/* Of a run that is interrupted: see interrupt_watch(). */
static int finish_early(void *context)
{
    listing *out = context;

    write_rows(out);
    fprintf(stderr,
            "tessera: %s: interrupted: what was measured is written; limits are kept for later "
            "once all of a device are measured\n",
            out->options->command);
    return EXIT_INTERRUPTED;
}

/* Measure each device; `host` is left out of `all`, since limits are those of OpenCL devices. */
static int measure_devices(const options *o, const choice *devices, const operation *const *ops,
                           listing *out)
{
    const size_t count = o->given[OPTION_LIMITS] ? 0 : o->operand_count ? o->operand_count : 1;
    int status = EXIT_DONE, one;

    for (size_t i = 0; i < devices->count && !*out->stop; i++) {
        if (devices->count > 1 && tsr_device_is_host(devices->device[i]))
            continue;
        if (i && out->table)
            fputs("\n", stdout);
        one = measure_device(devices->device[i], ops, count, out);
        status = status ? status : one;
    }
    return status;
}

int cmd_roofline(const options *o)
{
    const char *path = o->value[OPTION_OUTPUT];
    const bool to_stdout = path && !strcmp(path, "-");
    listing out = {.options = o,
                   .table =
                       !o->given[OPTION_JSON] && (!o->given[OPTION_CSV] || path) && !to_stdout};
    const operation **ops = calloc(o->operand_count + 1, sizeof(*ops));
    choice devices = {0};
    tsr_error err = {0};
    int status = EXIT_DONE, written;

    if (!ops)
        return out_of_memory();
    if (o->given[OPTION_LIMITS] && (o->operand_count || o->size_count)) {
        status = wrong_usage("roofline: --limits measures no variant: it takes no %s",
                             o->operand_count ? "operation" : "--size");
        goto cleanup;
    }
    if (find_ladders(o, ops, &err) || check_sizes(o, ops, &err) || choice_find(o, &devices, &err) ||
        (path && !to_stdout && output_open(path, &out.file, &err))) {
        status = print_error(o->command, &err, NULL);
        goto cleanup;
    }
    out.stop = interrupt_watch(finish_early, &out);
    status = measure_devices(o, &devices, ops, &out);
    if (*out.stop) {
        status = finish_early(&out);
    } else {
        written = write_rows(&out);
        status = status ? status : written;
    }

cleanup:
    output_discard(out.file);
    text_free(&out.rows);
    choice_close(&devices);
    free(ops);
    return status;
}
