#include "cli/bench_print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/activity.h"
#include "cli/device_choice.h"
#include "cli/messages.h"
#include "device/device.h"

/* A rate above the limit by more than this is an error of the instrument. */
static const double instrument_margin = 1.03;

void bench_worsen(bench *b, int status)
{
    b->status = b->status ? b->status : status;
}

void bench_print_error(bench *b, const char *name, const tsr_error *err)
{
    bench_worsen(b, print_error(name ? name : b->o->command, err, b->session));
}

void bench_begin(const bench *b, const problem *p, const char *name)
{
    const double elapsed = (double)(clock_ns() - b->start) * 1e-9;
    text what = {0}, line = {0};

    p->op->describe(p, &what);
    if (b->job_count)
        text_format(&line, "job %zu of %zu ", b->job, b->job_count);
    text_format(&line, "[%zu/%zu]", b->done + 1, b->rows);
    if (b->done)
        text_format(&line, " about %.0f s left,",
                    ceil(elapsed / (double)b->done * (double)(b->rows - b->done)));
    text_format(&line, " %s %s%s%s on %s", p->op->name, text_get(&what), *name ? " " : "", name,
                tsr_device_name(&b->session->device));
    activity_begin("%s", text_get(&line));
    text_free(&line);
    text_free(&what);
}

static void keep_row(bench *b, const result_row *row)
{
    tsr_error err = {0};

    b->reported += row->kind != RESULT_ERROR;
    b->late += row->outcome == RESULT_LATE;
    for (size_t i = 0; i < b->file_count; i++) {
        if (!row_file_add(&b->files[i], row, &err))
            continue;
        bench_worsen(b, print_error(b->o->command, &err, NULL));
        b->unkept = true; /* what cannot be kept is not worth measuring */
    }
}

/* The place of a row under the roofline; limits of a device say nothing about another's peers. */
static void place_row(bench *b, result_row *row, bool same_device)
{
    if (!b->has_limits) {
        b->limits_missing = b->limits_missing || (b->session->context && row->time.count);
        return;
    }
    if (same_device && row->time.count)
        roofline_place(&b->limits, row);
}

/* On a CPU stores wait in its caches and reach memory while others read: a call that stores as much
 * as it reads may take no longer than its reads alone, at twice the rate that limits those. */
static double margin_of(const bench *b, const result_row *row)
{
    const device_kind kind = session_facts(b->session)->kind;
    const bool stores = strcmp(row->bound_by, limit_name(LIMIT_MEMORY_READ)) == 0;

    return (kind == DEVICE_CPU && stores ? 2 : 1) * instrument_margin;
}

static void check_instrument(bench *b, const result_row *row)
{
    if (!row->cold || row->limit_rate <= 0 || row->rate <= margin_of(b, row) * row->limit_rate)
        return;
    fprintf(
        stderr,
        "tessera: %s: %s %s on %s gives %.4g %s, above the measured limit of %.4g (%s): the timing "
        "is wrong, or other work slowed the limit's measurement; 'tessera roofline' repeats it\n",
        b->o->command, row->name, row->problem, row->device, row->rate, row->unit, row->limit_rate,
        row->bound_by);
    bench_worsen(b, EXIT_BOUND);
}

/* What ran is also measured for its errors, where they are asked for. */
static void note_errors(bench *b, const result_row *row)
{
    tsr_error err = {0};

    if (b->o->given[OPTION_ERRORS] && bench_errors_note(&b->errors, row, &err))
        bench_worsen(b, print_error(b->o->command, &err, NULL));
}

/* A kernel of somebody's own has a step's arguments, and the name of its file. */
static void name_file(const bench *b, result_row *row)
{
    const char *file = kernel_file_name(b->o);
    const size_t length = file ? strcspn(file, ".") : 0;

    if (file && row->kind != RESULT_PEER && row->subject != SUBJECT_PEER)
        snprintf(row->name, sizeof(row->name), "%.*s", (int)(length ? length : strlen(file)), file);
}

/* Above the first row of a table. */
static void print_head(bench *b, const result_row *row)
{
    const char *folder = b->o->value[OPTION_KERNEL_DIR];

    if (b->table && !b->headed) {
        if (folder)
            print_plain(stdout, "\nwith the kernel files of %s\n", folder);
        row_table_head(row, false);
    }
    b->headed = true;
}

void bench_print_aside(bench *b, result_row *row)
{
    place_row(b, row, true);
    print_head(b, row);
    if (b->table)
        row_table_line(row, false, 0, 0, row->precision);
}

void bench_print_row(bench *b, result_row *row)
{
    note_errors(b, row); /* by the name of the variant */
    name_file(b, row);
    place_row(b, row, true);
    print_head(b, row);
    if (row->time.count && b->first_ns <= 0)
        b->first_ns = row->time.median_ns;
    if (b->table)
        row_table_line(row, false, b->jobs.all ? b->first_ns : 0, 0, row->precision);
    b->timed += row->time.count > 0;
    keep_row(b, row);
    check_instrument(b, row);
    if (row->time.count && row->build_cold_ns > 0 && b->cost_count < GROUP_MAX)
        b->costs[b->cost_count++] = *row;
}

void bench_print_costs(bench *b)
{
    if (b->table && b->cost_count) {
        row_costs_head();
        for (size_t i = 0; i < b->cost_count; i++)
            row_costs_line(&b->costs[i]);
    }
    b->cost_count = 0;
}

static void tell_peer_row(bench *b, result_row *row, double ratio)
{
    const bool same_device =
        row->place != RESULT_ON_HOST || session_facts(b->session)->kind == DEVICE_CPU;

    if (row->kind == RESULT_KERNEL) {
        snprintf(b->precision, sizeof b->precision, "%s", row->precision);
        b->headed = false; /* of each clock */
        b->timed += row->time.count > 0;
    }
    note_errors(b, row);
    name_file(b, row);
    place_row(b, row, same_device);
    if (b->table && !b->headed)
        row_table_head(row, true);
    b->headed = true;
    if (b->table)
        row_table_line(row, true, 0, ratio, b->precision);
    keep_row(b, row);
}

void bench_print_peers(bench *b)
{
    b->headed = false;
    for (size_t i = 0; i < b->compared_count && !b->unkept; i++)
        tell_peer_row(b, &b->compared[i].row, b->compared[i].ratio);
    b->compared_count = 0;
}

void bench_print_errors(bench *b, bench_errors_entry *e)
{
    for (int f = 0; f < ERRORS_DISTRIBUTIONS; f++)
        name_file(b, &e->row[f]);
    if (b->table)
        row_errors_line(e->row, ERRORS_DISTRIBUTIONS, b->peers != NULL,
                        b->errors.entries->row->precision);
    for (int f = 0; f < ERRORS_DISTRIBUTIONS; f++) {
        keep_row(b, &e->row[f]);
        if (e->row[f].outcome == RESULT_FAILED)
            bench_worsen(b, EXIT_FAILED);
    }
}
