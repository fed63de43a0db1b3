#include "cli/bench_rows.h"

#include <errno.h>
#include <math.h>
#include <stdio_ext.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "cli/messages.h"
#include "core/registry.h"
#include "file/output.h"
#include "file/target.h"

/* ---- lines for programs ------------------------------------------------------------------- */

/* Check that path can be written; "-" is standard output. */
static tsr_status row_file_open(const char *path, bool csv, row_file *out, tsr_error *err)
{
    output *probe = NULL;
    target t;
    tsr_status st = target_resolve(path, &t, err);

    *out = (row_file){.path = path, .csv = csv};
    if (st)
        return st;
    if (t.kind == TARGET_STDOUT) {
        out->stream = stdout;
    } else if (t.kind == TARGET_INPLACE) {
        out->stream = fopen(path, "w");
        if (!out->stream)
            return tsr_fail(err, TSR_EFILE, 0, "%s: cannot open: %s", path, strerror(errno));
    } else {
        st = output_open(path, &probe, err);
        output_discard(probe);
    }
    return st;
}

tsr_status row_files_open(const options *o, row_file files[2], size_t *count, bool *table,
                          tsr_error *err)
{
    const char *path = o->value[OPTION_OUTPUT];
    const bool csv = o->given[OPTION_CSV];
    bool to_stdout = false;
    tsr_status st = TSR_OK;

    if (path) {
        st = row_file_open(path, csv, &files[*count], err);
        to_stdout = files[(*count)++].stream == stdout;
    }
    *table = !to_stdout && !o->given[OPTION_JSON] && (path || !csv);
    if (!st && !*table && !to_stdout)
        st = row_file_open("-", csv, &files[(*count)++], err);
    return st;
}

static tsr_status replace(const row_file *f, tsr_error *err)
{
    output *o = NULL;
    tsr_status st = output_open(f->path, &o, err);

    st = st ? st : output_write_bytes(o, text_get(&f->rows), f->rows.length, err);
    if (st) {
        output_discard(o);
        return st;
    }
    return commit_and_warn(o, err);
}

tsr_status row_file_add(row_file *f, const result_row *row, tsr_error *err)
{
    if (f->csv && f->count == 0)
        result_csv_header(&f->rows);
    f->count++;
    if (f->csv)
        result_to_csv(row, &f->rows);
    else
        result_to_json(row, &f->rows);
    if (f->rows.failed)
        return tsr_fail(err, TSR_ENOMEM, 0, "%s: no memory for %zu rows", f->path, f->count);
    if (!f->stream)
        return replace(f, err);
    fputs(text_get(&f->rows), f->stream);
    text_clear(&f->rows);
    if (fflush(f->stream) == 0)
        return TSR_OK;
    tsr_fail(err, TSR_EFILE, 0, "%s: cannot write: %s",
             f->stream == stdout ? "standard output" : f->path, strerror(errno));
    __fpurge(f->stream); /* it is said once: nothing is left to be written at the end */
    clearerr(f->stream);
    return TSR_EFILE;
}

tsr_status row_file_close(row_file *f, tsr_error *err)
{
    tsr_status st = TSR_OK;

    if (f->stream && f->stream != stdout && fclose(f->stream))
        st = tsr_fail(err, TSR_EFILE, 0, "%s: cannot close: %s", f->path, strerror(errno));
    text_free(&f->rows);
    *f = (row_file){0};
    return st;
}

/* ---- a command that measures row by row ------------------------------------------------------ */

tsr_status row_run_open(const options *o, row_run *out, tsr_error *err)
{
    out->o = o;
    return row_files_open(o, out->files, &out->file_count, &out->table, err);
}

void row_run_fail(row_run *r, int status)
{
    r->status = r->status ? r->status : status;
}

void row_run_add(row_run *r, const result_row *row)
{
    tsr_error err = {0};

    r->done++;
    for (size_t i = 0; i < r->file_count && !r->unkept; i++) {
        if (!row_file_add(&r->files[i], row, &err))
            continue;
        row_run_fail(r, print_error(r->o->command, &err, NULL));
        r->unkept = true;
    }
}

bool row_run_ended(const row_run *r)
{
    return *r->stop || r->unkept || ferror(stdout);
}

int row_run_close(row_run *r, const char *rows)
{
    tsr_error err = {0};

    for (size_t i = 0; i < r->file_count; i++)
        if (row_file_close(&r->files[i], &err))
            row_run_fail(r, print_error(r->o->command, &err, NULL));
    if (!*r->stop || r->status)
        return r->status;
    fprintf(stderr, "tessera: %s: interrupted: %zu %s are done\n", r->o->command, r->done, rows);
    return EXIT_INTERRUPTED;
}

/* ---- the table ---------------------------------------------------------------------------- */

enum { CELL = 32 };

/* "12.3 ms", with three digits. */
static void time_text(double ns, char out[CELL])
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    size_t u = 0;

    while (u < 3 && ns >= 999.5) {
        ns /= 1000;
        u++;
    }
    snprintf(out, CELL, "%.*f %s", ns < 9.995 ? 2 : ns < 99.95 ? 1 : 0, ns, units[u]);
}

/* The same, "-" for what was not measured. */
static void cost_text(double ns, char out[CELL])
{
    if (ns > 0)
        time_text(ns, out);
    else
        strcpy(out, "-");
}

static void rate_text(double rate, char out[CELL])
{
    snprintf(out, CELL, "%.*f", rate < 9.995 ? 2 : rate < 999.5 ? 1 : 0, rate);
}

void row_figure(double x, char out[16])
{
    snprintf(out, 16, x >= 99.95 ? "%.0f" : x >= 9.995 ? "%.1f" : x >= 0.0995 ? "%.2f" : "%.3g", x);
}

static void factor_text(double x, char out[CELL])
{
    if (x > 0)
        snprintf(out, CELL, "%.*fx", x < 9.995 ? 2 : 1, x);
    else
        strcpy(out, "-");
}

/* The spread of samples in percent; "once" where there is one. */
static void spread_text(const timing *t, char out[CELL])
{
    if (t->count > 1)
        snprintf(out, CELL, "%.1f%%", 100 * timing_spread(t));
    else
        snprintf(out, CELL, "once");
}

static void error_text(const result_row *row, char out[CELL])
{
    const operation *op = operation_named(row->op);

    if (op && op->exact)
        strcpy(out, "exact");
    else
        snprintf(out, CELL, "%.2g%s", row->worst, row->sampled ? " sampled" : "");
}

enum { NAME = 160 };

/* "cuBLAS 12.4 (tf32)": with the precision where it is not the table's.  The name is empty where no
 * variant could be chosen. */
static void name_text(const result_row *row, const char *precision, char out[NAME])
{
    const bool other = strcmp(row->precision, precision) != 0;

    snprintf(out, NAME, "%s%s%s%s%s%s", result_shown_name(row), row->peer_version[0] ? " " : "",
             row->peer_version, other ? " (" : "", other ? row->precision : "", other ? ")" : "");
}

/* Peers carry their versions. */
static int name_width(bool peers)
{
    return peers ? 42 : 24;
}

/* Printed before the reason why a row has no times. */
static const char *const outcome_heads[] = {[RESULT_TIMED] = "",
                                            [RESULT_UNSUPPORTED] = "unsupported: ",
                                            [RESULT_WRONG] = "WRONG: ",
                                            [RESULT_FAILED] = "failed: ",
                                            [RESULT_LATE] = "left out: "};

void row_table_head(const result_row *row, bool peers)
{
    printf("\n%s %s on %s (%s), %s%s\n", row->op, row->problem, row->device, row->device_id,
           row->cold ? "cold" : "warm",
           !peers                     ? ""
           : row->timer == TIMER_HELD ? ", the device's time of calls back to back"
                                      : ", wall time of calls back to back");
    printf("  %-*s %9s %9s %7s %9s %9s %9s %13s\n", name_width(peers), peers ? "library" : "kernel",
           "median", "min", "spread", row->unit, "of limit", peers ? "we are" : "speed-up",
           "error/bound");
}

void row_table_line(const result_row *row, bool peers, double first_ns, double ratio,
                    const char *precision)
{
    char median[CELL], least[CELL], rate[CELL], share[CELL], last[CELL], error[CELL];
    char spread[CELL], name[NAME];

    name_text(row, precision, name);
    if (!row->time.count) {
        printf("  %-*s %s%s\n", name_width(peers), name, outcome_heads[row->outcome],
               row->unsupported[0] ? row->unsupported : "not timed");
        fflush(stdout);
        return;
    }
    time_text(row->time.median_ns, median);
    time_text(row->time.min_ns, least);
    rate_text(row->rate, rate);
    if (row->share > 0)
        snprintf(share, CELL, "%.1f%%", 100 * row->share);
    else
        strcpy(share, "-");
    factor_text(peers ? ratio : first_ns / row->time.median_ns, last);
    error_text(row, error);
    spread_text(&row->time, spread);
    printf("  %-*s %9s %9s %7s %9s %9s %9s %13s%s%s\n", name_width(peers), name, median, least,
           spread, rate, share, last, error, row->parameters[0] ? "  " : "", row->parameters);
    fflush(stdout);
}

void row_overlap_head(const result_row *row)
{
    printf("\n%s %s on %s (%s), wall time\n", row->op, row->problem, row->device, row->device_id);
    printf("  %-20s %6s %6s %9s %9s %7s %7s %9s %15s\n", "memory", "queues", "chunks", "median",
           "min", "spread", row->unit, "speed-up", "creating queues");
}

void row_overlap_line(const result_row *row, double one_queue_ns)
{
    char median[CELL], least[CELL], rate[CELL], last[CELL], spread[CELL], creating[CELL];

    printf("  %-20s %6zu %6zu ", row->name, row->queues, row->chunks);
    if (!row->time.count) {
        printf("%s%s\n", outcome_heads[row->outcome],
               row->unsupported[0] ? row->unsupported : "not timed");
        fflush(stdout);
        return;
    }
    time_text(row->time.median_ns, median);
    time_text(row->time.min_ns, least);
    rate_text(row->rate, rate);
    factor_text(one_queue_ns / row->time.median_ns, last);
    cost_text(row->queue_ns, creating);
    spread_text(&row->time, spread);
    printf("%9s %9s %7s %7s %9s %15s\n", median, least, spread, rate, last, creating);
    fflush(stdout);
}

/* An error in units of u; "inf" where what should be finite is not. */
static void units_text(double error, double roundoff, char out[CELL])
{
    snprintf(out, CELL, "%.3g", error / roundoff);
}

/* "4096 elements sampled (special 3950)": in brackets the distributions that have fewer elements,
 * as those that may overflow are left out. */
static void print_elements(const result_row rows[], const size_t elements[], size_t distributions)
{
    const char *before = " (";
    size_t most = 0;

    for (size_t f = 0; f < distributions; f++)
        most = size_max(most, elements[f]);
    printf("%zu elements%s", most, rows->sampled ? " sampled" : "");
    for (size_t f = 0; f < distributions; f++) {
        if (elements[f] == most)
            continue;
        printf("%s%s %zu", before, rows[f].distribution, elements[f]);
        before = ", ";
    }
    puts(*before == ',' ? ")" : "");
}

void row_errors_head(const result_row rows[], const size_t elements[], size_t distributions,
                     bool peers)
{
    printf("  errors: |C - exact| / (|A| |B|) in units of u = 2^%.0f, ", log2(rows->roundoff));
    print_elements(rows, elements, distributions);
    printf("  %-*s %9s", name_width(peers), "", "");
    for (size_t f = 0; f < distributions; f++)
        printf(" %17s", rows[f].distribution);
    printf("\n  %-*s %9s", name_width(peers), peers ? "library" : "kernel", rows->unit);
    for (size_t f = 0; f < distributions; f++)
        printf(" %9s %7s", "max", "rms");
    printf(" %9s\n", "classes");
}

void row_errors_line(const result_row rows[], size_t distributions, bool peers,
                     const char *precision)
{
    char name[NAME], rate[CELL] = "-", most[CELL], mean[CELL];
    size_t wrong = 0;

    name_text(rows, precision, name);
    if (rows->time.count)
        rate_text(rows->rate, rate);
    printf("  %-*s %9s", name_width(peers), name, rate);
    for (size_t f = 0; f < distributions; f++) {
        if (rows[f].outcome == RESULT_FAILED) {
            printf("  failed: %s\n", rows[f].unsupported);
            return;
        }
        units_text(rows[f].error_max, rows[f].roundoff, most);
        units_text(rows[f].error_rms, rows[f].roundoff, mean);
        printf(" %9s %7s", most, mean);
        wrong += rows[f].class_errors;
    }
    if (wrong)
        printf(" %3zu wrong", wrong);
    else
        printf(" %9s", "right");
    printf("%s%s\n", rows->parameters[0] ? "  " : "", rows->parameters);
    fflush(stdout);
}

void row_costs_head(void)
{
    printf("  %-24s %10s %12s %9s %19s %19s %8s\n", "costs apart", "compiling", "from cache",
           "enqueue", "copies to device", "from device", "commands");
}

/* "1.2 ms (12.3 GB/s)" */
static void copy_text(double ns, double bytes, char out[CELL])
{
    char time[CELL];

    if (ns > 0) {
        time_text(ns, time);
        snprintf(out, CELL, "%.12s (%.1f GB/s)", time, bytes / ns);
    } else {
        strcpy(out, "-");
    }
}

void row_costs_line(const result_row *row)
{
    char cold[CELL], cached[CELL], enqueue[CELL], to[CELL], from[CELL];

    cost_text(row->build_cold_ns, cold);
    cost_text(row->build_cached_ns, cached);
    cost_text(row->enqueue_ns, enqueue);
    copy_text(row->to_device_ns, row->to_device_bytes, to);
    copy_text(row->from_device_ns, row->from_device_bytes, from);
    printf("  %-24s %10s %12s %9s %19s %19s %8zu\n", row->name, cold, cached, enqueue, to, from,
           row->commands);
    fflush(stdout);
}
