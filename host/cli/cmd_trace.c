/* tessera trace: where and when the warps of a call ran. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "cli/activity.h"
#include "cli/bench_problem.h"
#include "cli/commands.h"
#include "cli/device_choice.h"
#include "cli/json_print.h"
#include "cli/kernel_choice.h"
#include "cli/messages.h"
#include "cli/operands.h"
#include "device/device.h"
#include "file/output.h"
#include "measure/explain.h"
#include "measure/roofline.h"
#include "measure/trace.h"
#include "session/state.h"

/* What is measured: the call as it runs, what its commands move, and its warps. */
typedef struct measured {
    result_row row;
    explanation explained;
    trace trace;
    double moved;  /* bytes of global memory that its launches move by design; 0: unknown */
    double memory; /* GB/s that a copy reaches; 0: not measured */
} measured;

/* ---- what is printed ------------------------------------------------------------------------ */

/* The occupancy that registers and local memory leave a kernel, 0 to 1; 0: unknown. */
static double possible(const explanation *x, const char *kernel)
{
    for (size_t i = 0; i < x->count; i++)
        if (!strcmp(x->command[i].kernel, kernel))
            return x->command[i].occupancy;
    return 0;
}

static void print_kernel(const measured *m, const traced_kernel *k)
{
    const double may = possible(&m->explained, k->name);
    char most[16] = "-";

    if (!k->launches)
        return;
    if (may > 0)
        snprintf(most, sizeof(most), "%.1f%%", 100 * may);
    printf("  %-28s %8zu %11.2f %11.0f %6zu  %9s %8.1f%% %8.1f%%\n", k->name, k->launches,
           k->ns / 1e3, k->warps, k->units, most, 100 * k->occupancy, 100 * k->balance);
}

static void print_measured(const measured *m)
{
    const result_row *row = &m->row;
    const trace *t = &m->trace;

    printf("%s %s on %s (%s): %s%s%s\n", row->op, row->problem, row->device, row->device_id,
           row->name, row->parameters[0] ? " " : "", row->parameters);
    printf("%.2f us, %.4g %s", row->time.median_ns / 1e3, row->rate, row->unit);
    if (m->moved > 0) {
        const double rate = m->moved / m->explained.call.median_ns;

        printf("; memory %.4g GB/s", rate);
        if (m->memory > 0)
            printf(", %.0f%% of a copy", 100 * rate / m->memory);
    }
    printf("; traced, %.2f us\n\n", t->all.ns / 1e3);
    printf("  %-28s %8s %11s %11s %6s  %9s %9s %9s\n", "kernel", "launches", "us", "warps", "units",
           "possible", "achieved", "balance");
    for (size_t i = 0; i < t->kernel_count; i++)
        print_kernel(m, &t->kernel[i]);
    if (t->kernel_count > 1)
        print_kernel(m, &t->all);
    printf("\npossible, achieved: occupancy, of %zu warps on each of %zu units; balance: time of\n"
           "warps of an average unit over that of the busiest.  The clock moves by %.0f ns.\n",
           t->unit_warps, t->units, t->tick_ns);
}

static json_t *json_kernel(const measured *m, const traced_kernel *k)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kernel", k->name, "launches",
                     json_count(k->launches), "ns", json_number(k->ns), "warps",
                     json_number(k->warps), "units", json_count(k->units), "possible",
                     json_number(possible(&m->explained, k->name)), "achieved",
                     json_number(k->occupancy), "balance", json_number(k->balance));
}

static json_t *json_measured(const measured *m)
{
    const result_row *row = &m->row;
    json_t *kernels = json_array();

    for (size_t i = 0; i < m->trace.kernel_count; i++)
        if (m->trace.kernel[i].launches)
            json_array_append_new(kernels, json_kernel(m, &m->trace.kernel[i]));
    return json_pack(
        "{s:s, s:s, s:o, s:s, s:s, s:o, s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "schema", "tessera-trace-1", "op", row->op, "problem", json_text(row->problem), "name",
        row->name, "parameters", row->parameters, "device", json_text(row->device), "device_id",
        row->device_id, "median_ns", json_number(row->time.median_ns), "rate",
        json_number(row->rate), "unit", row->unit, "memory_bytes", json_number(m->moved),
        "memory_limit", json_number(m->memory), "units", json_count(m->trace.units), "unit_warps",
        json_count(m->trace.unit_warps), "tick_ns", json_number(m->trace.tick_ns), "kernels",
        kernels, "call", json_kernel(m, &m->trace.all));
}

/* ---- the command ---------------------------------------------------------------------------- */

static tsr_status measure(tsr_session *s, const problem *p, const options *o, measured *m,
                          tsr_error *err)
{
    const tsr_run run = {.variant = o->value[OPTION_KERNEL],
                         .set = (const char *const *)o->set,
                         .set_count = o->set_count};
    const bench_options how = {
        .seconds = 0.1, .least_samples = 5, .seed = o->seed, .warm = o->given[OPTION_WARM]};
    limits found = {0};
    tsr_status st;

    activity_begin("tracing %s", p->op->name);
    /* First, since it says what cannot be traced. */
    st = trace_call(s, p, &run, &how, &m->trace, err);
    st = st ? st : bench_variant(s, p, &run, &how, &m->row, err);
    st = st ? st : explain_call(s, p, &run, &how, &m->explained, err);
    activity_end();
    if (st)
        return st;
    m->moved = explain_bytes(&m->explained);
    if (roofline_recall(s, &found))
        m->memory = found.of[LIMIT_MEMORY_COPY].value;
    return TSR_OK;
}

/* Write the picture and end the file. */
static tsr_status draw(const measured *m, output **file, tsr_error *err)
{
    text svg = {0}, title = {0};
    tsr_status st = TSR_OK;

    text_format(&title, "%s %s on %s: %s, occupancy %.1f%%, balance %.1f%%", m->row.op,
                m->row.problem, m->row.device, m->row.name, 100 * m->trace.all.occupancy,
                100 * m->trace.all.balance);
    trace_draw(&m->trace, text_get(&title), &svg);
    if (title.failed || svg.failed)
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory for the picture");
    st = st ? st : output_write_bytes(*file, text_get(&svg), svg.length, err);
    if (!st) {
        st = commit_and_warn(*file, err);
        *file = NULL;
    }
    text_free(&svg);
    text_free(&title);
    return st;
}

int cmd_trace(const options *o)
{
    const operation *op = NULL;
    choice devices = {0};
    tsr_session *session = NULL;
    output *file = NULL;
    measured m = {0};
    tsr_error err = {0};
    const bool to_stdout = o->given[OPTION_OUTPUT] && !strcmp(o->value[OPTION_OUTPUT], "-");
    problem p;
    int status = EXIT_DONE;

    if (o->size_count > 1)
        return wrong_usage("trace takes one --size");
    if (to_stdout && o->given[OPTION_JSON])
        return wrong_usage("trace: --json and -o - both write to standard output");
    if (operation_asked(o, o->operand[0], NULL, &op, &err) ||
        kernel_choice(op, o->value[OPTION_KERNEL], o, NULL, NULL, &err) ||
        bench_problem(op, o->size_count ? o->size[0] : op->command->sizes.roofline, o, &p, &err) ||
        choice_find_one(o, &devices, &err) || choice_open(devices.device[0], o, &session, &err) ||
        (o->given[OPTION_OUTPUT] && output_open(o->value[OPTION_OUTPUT], &file, &err)) ||
        measure(session, &p, o, &m, &err) || (file && draw(&m, &file, &err)))
        status = print_error(o->command, &err, session);
    else if (o->given[OPTION_JSON])
        status = json_print(json_measured(&m));
    else if (!to_stdout)
        print_measured(&m);
    output_discard(file);
    trace_free(&m.trace);
    explain_free(&m.explained);
    tsr_session_close(session);
    choice_close(&devices);
    return status;
}
