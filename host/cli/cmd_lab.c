#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/activity.h"
#include "cli/bench_problem.h"
#include "cli/bench_rows.h"
#include "cli/commands.h"
#include "cli/device_choice.h"
#include "cli/interrupt.h"
#include "cli/json_print.h"
#include "cli/messages.h"
#include "cli/terminal.h"
#include "cli/text_chart.h"
#include "device/device.h"
#include "measure/lab/lab.h"
#include "session/source.h"

/* A point for the chart. */
typedef struct drawn {
    char series[32], x[24];
    double value;
} drawn;

/* One run of the command. */
typedef struct laboratory {
    row_run run;
    const experiment **chosen; /* NULL behind the last */
    size_t size;               /* 0: each experiment's own */
    choice devices;
    /* Of the experiment that is run: */
    const experiment *what;
    size_t rows;
    drawn *drawn;
    size_t drawn_count;
    size_t claims, agreed; /* points of which courses teach something, and where they are right */
} laboratory;

/* ---- the command line ----------------------------------------------------------------------- */

static tsr_status unknown_experiment(const char *name, tsr_error *err)
{
    const char *names[64] = {"all"}, *closest;
    size_t count = 1;
    text list = {0}, meant = {0};
    tsr_status st;

    for (; lab_at(count - 1) && count < sizeof names / sizeof *names; count++) {
        names[count] = lab_at(count - 1)->name;
        text_format(&list, ", %s", names[count]);
    }
    closest = text_closest(name, names, count);
    if (closest)
        text_format(&meant, ": did you mean '%s'?", closest);
    st = tsr_fail(err, TSR_ENAME, 0, "no experiment '%s'%s (lab takes all%s)", name,
                  text_get(&meant), text_get(&list));
    text_free(&list);
    text_free(&meant);
    return st;
}

static tsr_status choose(laboratory *l, tsr_error *err)
{
    const options *o = l->run.o;
    size_t all = 0, count = 0;
    bool sized = false;

    while (lab_at(all))
        all++;
    l->chosen = calloc(o->operand_count * all + 1, sizeof *l->chosen);
    if (!l->chosen)
        return tsr_fail(err, TSR_ENOMEM, 0, "out of memory");
    for (size_t i = 0; i < o->operand_count; i++) {
        if (!strcmp(o->operand[i], "all")) {
            for (size_t k = 0; k < all; k++)
                l->chosen[count++] = lab_at(k);
        } else if (lab_named(o->operand[i])) {
            l->chosen[count++] = lab_named(o->operand[i]);
        } else {
            return unknown_experiment(o->operand[i], err);
        }
    }
    for (size_t i = 0; i < count; i++)
        sized = sized || l->chosen[i]->counted;
    if (o->size_count > 1)
        return tsr_fail(err, TSR_ENAME, 0, "lab takes one --size, not %zu", o->size_count);
    if (o->size_count && !sized)
        return tsr_fail(err, TSR_ENAME, 0, "%s has no --size", o->operand[0]);
    return o->size_count
               ? bench_count(o->size[0], "an experiment",
                             "a whole number above 0 such as 1024, 10M or 2^24", &l->size, err)
               : TSR_OK;
}

/* ---- the list ------------------------------------------------------------------------------- */

static int list_json(void)
{
    json_t *list = json_array();

    for (size_t i = 0; lab_at(i); i++) {
        const experiment *e = lab_at(i);

        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s, s:s?, s:s, s:s, s:s, s:s, s:s?}", "name",
                                        e->name, "summary", e->summary, "knob", e->knob, "size",
                                        e->counted, "unit", e->unit, "claim", e->claim, "on_cpu",
                                        e->on_cpu, "on_gpu", e->on_gpu, "source", e->source));
    }
    return json_print(json_pack("{s:s, s:o}", "schema", "tessera-lab-1", "experiments", list));
}

static int list_experiments(void)
{
    const size_t width = terminal_width(STDOUT_FILENO);
    int longest = 0;

    for (size_t i = 0; lab_at(i); i++)
        if ((int)strlen(lab_at(i)->name) > longest)
            longest = (int)strlen(lab_at(i)->name);
    for (size_t i = 0; lab_at(i); i++) {
        const size_t at = (size_t)longest + 4;
        text line = {0};

        text_format(&line, "  %-*s  ", longest, lab_at(i)->name);
        text_wrap(&line, lab_at(i)->summary, at, at, width);
        puts(text_get(&line));
        text_free(&line);
    }
    puts(
        "\n'tessera lab NAME' runs one, 'tessera lab all' every one; '--source' shows its kernel.");
    return EXIT_DONE;
}

/* Without a name, options that are about running one would do nothing. */
static int list(const options *o)
{
    for (option_id id = 0; id < OPTION_COUNT; id++)
        if (o->given[id] && id != OPTION_JSON && id != OPTION_QUIET)
            return wrong_usage("lab: --%s needs the name of an experiment, or all",
                               option_name(id));
    return o->given[OPTION_JSON] ? list_json() : list_experiments();
}

static int print_sources(const laboratory *l)
{
    const char *wanted = l->run.o->value[OPTION_KERNEL_DIR];
    const char *folder = wanted ? wanted : getenv("TESSERA_KERNEL_DIR");

    for (size_t i = 0; l->chosen[i]; i++) {
        const experiment *e = l->chosen[i];
        text source = {0};
        tsr_error err = {0};
        tsr_status st = TSR_OK;

        if (!e->source && l->chosen[1])
            continue; /* one of several */
        if (!e->source)
            st = tsr_fail(&err, TSR_EUNSUPPORTED, 0,
                          "%s has no kernel: it is C, in host/measure/lab/ of Tessera's sources",
                          e->name);
        st = st ? st : source_read(folder, e->source, &source, &err);
        if (!st)
            fputs(text_get(&source), stdout);
        text_free(&source);
        if (st)
            return print_error(l->run.o->command, &err, NULL);
    }
    return EXIT_DONE;
}

/* ---- what an experiment prints -------------------------------------------------------------- */

/* Of the first row: its size is the one that was rounded to whole work-groups. */
static void print_head(const laboratory *l, const result_row *row)
{
    const experiment *e = l->what;

    printf("%s%s: %s\n  on %s (%s)", l->run.done ? "\n" : "", e->name, e->summary, row->device,
           row->device_id);
    if (e->counted)
        printf(", %s %s", row->size, e->counted);
    puts("");
    print_paragraph("What courses teach: ", e->claim);
    printf("\n  %-18s %11s %9s %7s%s %9s\n", "", e->knob, e->unit, "spread",
           e->claims_values ? "" : "    x base", "courses");
}

static void print_row(const laboratory *l, const result_row *row)
{
    const experiment *e = l->what;
    char value[16], ratio[16], claim[16], spread[16] = "once";

    printf("  %-18s %11s ", row->name, row->x);
    if (row->outcome != RESULT_TIMED) {
        printf("%s: %s\n", result_outcome_name(row->outcome), row->unsupported);
        fflush(stdout);
        return;
    }
    if (row->time.count > 1)
        snprintf(spread, sizeof(spread), "%.1f%%", 100 * timing_spread(&row->time));
    row_figure(row->rate, value);
    printf("%9s %7s", value, spread);
    if (row->ratio > 0) {
        row_figure(row->ratio, ratio);
        printf(" %9s", ratio);
    }
    if (row->claim > 0) {
        row_figure(row->claim, claim);
        printf(" %9s  %s", claim,
               !lab_is_claim(e, row)                          ? "the base"
               : lab_agrees(lab_compared(e, row), row->claim) ? "agrees"
                                                              : "differs");
    }
    puts("");
    fflush(stdout);
}

static bool seen_before(const drawn *points, size_t i, bool by_x)
{
    for (size_t k = 0; k < i; k++)
        if (!strcmp(by_x ? points[k].x : points[k].series, by_x ? points[i].x : points[i].series))
            return true;
    return false;
}

static size_t index_of(const char *const *names, size_t count, const char *name)
{
    size_t i = 0;

    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i;
}

/* In ascending order where each is a number. */
static void sort_labels(const char **x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (lab_amount(x[i]) < 0)
            return;
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && lab_amount(x[k - 1]) > lab_amount(x[k]); k--) {
            const char *other = x[k];

            x[k] = x[k - 1];
            x[k - 1] = other;
        }
}

static void print_chart(const laboratory *l)
{
    const size_t count = l->drawn_count;
    const char **series = calloc(count + 1, sizeof *series), **x = calloc(count + 1, sizeof *x);
    double *values = NULL;
    text_chart chart = {.unit = l->what->unit, .knob = l->what->knob};
    text picture = {0};

    for (size_t i = 0; series && x && i < count; i++) {
        if (!seen_before(l->drawn, i, false))
            series[chart.series_count++] = l->drawn[i].series;
        if (!seen_before(l->drawn, i, true))
            x[chart.x_count++] = l->drawn[i].x;
    }
    if (x)
        sort_labels(x, chart.x_count);
    values = calloc(chart.series_count * chart.x_count + 1, sizeof *values);
    for (size_t i = 0; values && i < count; i++)
        values[index_of(series, chart.series_count, l->drawn[i].series) * chart.x_count +
               index_of(x, chart.x_count, l->drawn[i].x)] = l->drawn[i].value;
    chart.series = series;
    chart.x = x;
    chart.values = values;
    if (values)
        text_chart_draw(&chart, terminal_width(STDOUT_FILENO), &picture);
    if (picture.length)
        printf("\n%s", text_get(&picture));
    text_free(&picture);
    free(values);
    free(series);
    free(x);
}

/* How far the courses are right here, and why they are not. */
static void print_end(const laboratory *l, const tsr_device *device)
{
    const bool cpu = device->facts.kind == DEVICE_CPU;

    print_chart(l);
    puts("");
    if (l->claims)
        printf("  Courses predict %zu point%s; %zu agree%s here, within a factor of 1.5.\n",
               l->claims, l->claims == 1 ? "" : "s", l->agreed, l->agreed == 1 ? "s" : "");
    if (cpu || l->agreed < l->claims || !l->claims)
        print_paragraph(cpu ? "Why a CPU differs: " : "Why a GPU differs: ",
                        cpu ? l->what->on_cpu : l->what->on_gpu);
    fflush(stdout);
}

/* ---- running -------------------------------------------------------------------------------- */

/* Of the first row: whole work-groups, or the least that an experiment can do. */
static void say_what_is_raised(const laboratory *l, const result_row *row)
{
    if (l->size && l->what->counted && strtoull(row->size, NULL, 10) != l->size)
        hint("%s: --size %zu is raised to %s %s", l->what->name, l->size, row->size,
             l->what->counted);
}

static bool on_row(const result_row *row, void *context)
{
    laboratory *l = context;
    drawn *grown;

    activity_end();
    if (!l->rows)
        say_what_is_raised(l, row);
    if (l->run.table && !l->rows)
        print_head(l, row);
    if (l->run.table)
        print_row(l, row);
    l->rows++;
    row_run_add(&l->run, row);
    if (row->outcome == RESULT_TIMED) {
        grown = realloc(l->drawn, (l->drawn_count + 1) * sizeof *grown);
        if (!grown) {
            row_run_fail(&l->run, out_of_memory());
            return false;
        }
        l->drawn = grown;
        snprintf(grown[l->drawn_count].series, sizeof grown->series, "%.31s", row->name);
        snprintf(grown[l->drawn_count].x, sizeof grown->x, "%s", row->x);
        grown[l->drawn_count++].value = row->rate;
        l->claims += lab_is_claim(l->what, row);
        l->agreed +=
            lab_is_claim(l->what, row) && lab_agrees(lab_compared(l->what, row), row->claim);
    }
    activity_begin("experiment %s", l->what->name);
    return !row_run_ended(&l->run);
}

static void run_experiment(laboratory *l, tsr_session *s, const tsr_device *device)
{
    const lab_options how = {.size = l->size,
                             .samples = l->run.o->given[OPTION_REPEAT] ? l->run.o->repeat : 0,
                             .stop = l->run.stop,
                             .on_row = on_row,
                             .context = l};
    tsr_error err = {0};
    tsr_status st;

    l->rows = l->drawn_count = l->claims = l->agreed = 0;
    activity_begin("experiment %s", l->what->name);
    st = lab_run(s, l->what, &how, &err);
    activity_end();
    if (l->run.table && l->rows)
        print_end(l, device);
    if (st)
        row_run_fail(&l->run, print_error(l->what->name, &err, s));
}

static void run_device(laboratory *l, const tsr_device *device)
{
    tsr_session *s = NULL;
    tsr_error err = {0};

    if (tsr_device_is_host(device))
        tsr_fail(&err, TSR_EUNSUPPORTED, 0, "it has no queues: experiments run on OpenCL devices");
    else
        choice_open(device, l->run.o, &s, &err);
    if (!s) {
        row_run_fail(&l->run, print_error(tsr_device_name(device), &err, NULL));
        return;
    }
    for (size_t i = 0; l->chosen[i] && !row_run_ended(&l->run); i++) {
        l->what = l->chosen[i];
        run_experiment(l, s, device);
    }
    tsr_session_close(s);
}

/* Also of one that is interrupted: see interrupt_watch(). */
static int finish(void *context)
{
    laboratory *l = context;

    return row_run_close(&l->run, "points");
}

int cmd_lab(const options *o)
{
    laboratory l = {.run.o = o};
    tsr_error err = {0};
    tsr_status st;
    int status;

    if (!o->operand_count)
        return list(o);
    if (o->given[OPTION_SOURCE] && o->given[OPTION_JSON])
        return wrong_usage("lab: --source and --json exclude each other");
    st = choose(&l, &err);
    if (!st && o->given[OPTION_SOURCE]) {
        status = print_sources(&l);
        free(l.chosen);
        return status;
    }
    st = st ? st : choice_find(o, &l.devices, &err);
    st = st ? st : row_run_open(o, &l.run, &err);
    if (st) {
        status = print_error(o->command, &err, NULL);
    } else {
        l.run.stop = interrupt_watch(finish, &l);
        for (size_t i = 0; i < l.devices.count && !row_run_ended(&l.run); i++)
            /* `all` leaves the host out, which has no queues. */
            if (l.devices.count == 1 || !tsr_device_is_host(l.devices.device[i]))
                run_device(&l, l.devices.device[i]);
        status = finish(&l);
    }
    choice_close(&l.devices);
    free(l.drawn);
    free(l.chosen);
    return status;
}
