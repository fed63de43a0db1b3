#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "cli/activity.h"
#include "cli/bench_problem.h"
#include "cli/bench_rows.h"
#include "cli/commands.h"
#include "cli/course_file.h"
#include "cli/device_choice.h"
#include "cli/interrupt.h"
#include "cli/json_print.h"
#include "cli/messages.h"
#include "cli/operands.h"
#include "cli/terminal.h"
#include "core/dispatch.h"
#include "core/registry.h"
#include "core/view.h"
#include "device/device.h"
#include "measure/bench.h"
#include "measure/explain.h"
#include "measure/lab/lab.h"
#include "measure/occupancy.h"
#include "measure/overlap.h"
#include "measure/roofline.h"
#include "measure/trace.h"
#include "measure/traffic.h"

enum { WARP = 32, UNIT_WIDE = 8 /* "commands" */ };

/* What `bench` takes in a row of a course. */
static const option_set bench_takes = {OPTION(OPTION_SIZE) | OPTION(OPTION_TYPE) |
                                           OPTION(OPTION_KERNEL) | OPTION(OPTION_SET) |
                                           OPTION(OPTION_WARM) | OPTION(OPTION_SEED),
                                       WITH_SIZES | WITH_INPUTS, NULL, false};

/* Points of an experiment, which several rows may show. */
typedef struct points {
    const experiment *what;
    size_t size; /* 0: its own */
    result_row *rows;
    size_t count;
    tsr_status st;
    tsr_error err;
} points;

/* A row as it is shown, for the device's scale. */
typedef struct shown_row {
    const course_row *row;
    char series[COURSE_SERIES_SIZE], x[COURSE_X_SIZE], line[COURSE_COMMAND_SIZE];
    double claim;  /* 0: none */
    bool at_least; /* the claim is the least */
} shown_row;

/* The call that was measured last, of which rows behind it may show other figures. */
typedef struct measured_call {
    char line[COURSE_COMMAND_SIZE];  /* "": none */
    char words[COURSE_COMMAND_SIZE]; /* of it, which `given` points to */
    options given;
    tsr_session *session;
    problem problem;
    tsr_run run;
    bench_options how;
    result_row row;
} measured_call;

/* One run of the command. */
typedef struct classroom {
    row_run run;
    choice devices, host;
    course course;
    bool *wanted; /* of each table of the course */
    /* Of the device: */
    tsr_session *session, *on_host; /* NULL until a row runs there */
    const tsr_device *device;
    unsigned scale; /* of course_expand */
    points *points;
    size_t points_count;
    limits limits;
    bool has_limits, sure; /* sure: the speed of memory is of this run, or the better of two */
    overlap *overlap;
    measured_call last;
    char doing[128]; /* the activity: the row that runs */
    /* Of the table that runs: */
    size_t printed; /* its rows */
    int wide, says_wide;
    bool mixed;                               /* rows have units of their own */
    char unit[sizeof((result_row *)0)->unit]; /* in its heading */
    double base;
    size_t claims, agreed;
    bool has_least; /* of the claims some are the least */
} classroom;

/* ---- the list ------------------------------------------------------------------------------- */

static json_t *course_json(const course *c)
{
    json_t *tables = json_array();

    for (size_t t = 0; t < c->table_count; t++) {
        const course_table *what = &c->tables[t];
        json_t *rows = json_array();

        for (size_t i = 0; i < c->row_count; i++)
            if (c->rows[i].table == t)
                json_array_append_new(rows,
                                      json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:s}", "series",
                                                c->rows[i].series, "x", c->rows[i].x, "figure",
                                                course_figure_name(c->rows[i].figure), "says",
                                                c->rows[i].says, "claim", c->rows[i].claim, "base",
                                                c->rows[i].base, "command", c->rows[i].command));
        json_array_append_new(
            tables,
            json_pack("{s:s, s:s, s:s, s:s, s:b, s:s, s:s, s:s, s:s, s:s, s:o}", "name", what->name,
                      "title", what->title, "lines", what->lines, "knob", what->knob,
                      "claims_values", what->claims_values, "says", what->says, "why", what->why,
                      "cpu", what->cpu, "wrong", what->wrong, "see", what->see, "rows", rows));
    }
    return json_pack("{s:s, s:s, s:s, s:o}", "name", c->name, "title", c->title, "about", c->about,
                     "tables", tables);
}

static void list_course(const course *c)
{
    const size_t width = terminal_width(STDOUT_FILENO);

    print_plain(stdout, "%s  %s\n", c->name, c->title);
    for (size_t t = 0; t < c->table_count; t++) {
        text line = {0};

        text_format(&line, "  %-12s ", c->tables[t].name);
        text_wrap(&line, c->tables[t].title, 15, 15, width);
        puts(text_get(&line));
        text_free(&line);
    }
}

/* Without a name, options that are about running one would do nothing. */
static int list(const options *o)
{
    json_t *all = json_array();
    tsr_error err = {0};
    char name[32];
    int status = EXIT_DONE;

    for (option_id id = 0; id < OPTION_COUNT; id++) {
        if (!o->given[id] || id == OPTION_JSON || id == OPTION_QUIET)
            continue;
        json_decref(all);
        return wrong_usage("course: --%s needs the name of a course, or all", option_name(id));
    }
    for (size_t i = 0; course_at(i, name) && !status; i++) {
        course c;

        if (course_read(name, &c, &err))
            status = print_error(o->command, &err, NULL);
        else if (o->given[OPTION_JSON])
            json_array_append_new(all, course_json(&c));
        else
            list_course(&c);
        course_free(&c);
    }
    if (!status && o->given[OPTION_JSON])
        return json_print(json_pack("{s:s, s:o}", "schema", "tessera-course-1", "courses", all));
    if (!status)
        puts("\n'tessera course NAME' runs one, 'tessera course NAME TABLE' one table of it.");
    json_decref(all);
    return status;
}

/* ---- the command line ----------------------------------------------------------------------- */

static tsr_status unknown_table(const course *c, const char *name, tsr_error *err)
{
    text all = {0};
    tsr_status st;

    for (size_t t = 0; t < c->table_count; t++)
        text_format(&all, "%s %s", t ? "," : "", c->tables[t].name);
    st = tsr_fail(err, TSR_ENAME, 0, "course %s has no table '%s' (it has%s)", c->name, name,
                  text_get(&all));
    text_free(&all);
    return st;
}

/* A course, and of it the tables that are named behind it, or all. */
static tsr_status choose(classroom *c, const char *name, const char *const tables[], size_t count,
                         tsr_error *err)
{
    tsr_status st = course_read(name, &c->course, err);

    if (st)
        return st;
    c->wanted = calloc(c->course.table_count, sizeof *c->wanted);
    if (!c->wanted)
        return tsr_fail(err, TSR_ENOMEM, 0, "out of memory");
    for (size_t t = 0; t < c->course.table_count; t++)
        c->wanted[t] = !count;
    for (size_t i = 0; i < count; i++) {
        size_t t = 0;

        while (t < c->course.table_count && strcmp(tables[i], c->course.tables[t].name) != 0)
            t++;
        if (t == c->course.table_count)
            return unknown_table(&c->course, tables[i], err);
        c->wanted[t] = true;
    }
    return TSR_OK;
}

static void forget(classroom *c)
{
    free(c->wanted);
    c->wanted = NULL;
    course_free(&c->course);
}

/* ---- what rows run -------------------------------------------------------------------------- */

/* Opening a device replaces the activity of the row: begin that again. */
static tsr_status open_for_row(const classroom *c, const tsr_device *device, tsr_session **out,
                               tsr_error *err)
{
    tsr_status st = choice_open(device, c->run.o, out, err);

    activity_begin("%s", c->doing);
    return st;
}

static tsr_status on_device(classroom *c, tsr_error *err)
{
    tsr_status st;

    if (tsr_device_is_host(c->device))
        return tsr_fail(err, TSR_EUNSUPPORTED, 0, "it runs on OpenCL devices, which %s is not",
                        tsr_device_name(c->device));
    if (c->session)
        return TSR_OK;
    st = open_for_row(c, c->device, &c->session, err);
    c->has_limits = !st && roofline_recall(c->session, &c->limits);
    return st;
}

static tsr_status in_c(classroom *c, tsr_error *err)
{
    return c->on_host ? TSR_OK : open_for_row(c, c->host.device[0], &c->on_host, err);
}

/* The device of a variant: steps in C run on the host's processor. */
static tsr_status session_of(classroom *c, const operation *op, const char *name, tsr_session **out,
                             tsr_error *err)
{
    const variant *v = NULL;
    tsr_status st = name ? variant_find(op, name, &v, err) : TSR_OK;
    const bool host = v && !v->source;

    st = st ? st : host ? in_c(c, err) : on_device(c, err);
    *out = host ? c->on_host : c->session;
    return st;
}

/* The limits of the device, where rows show them.  They are kept for later commands, so that
 * --seconds, which is for rows, shortens them only where nothing is to be measured.  The speed of
 * memory, which ridges stand on, is measured again where it was kept: once it was a busy machine's.
 */
static tsr_status find_limits(classroom *c, tsr_error *err)
{
    const options *o = c->run.o;
    tsr_status st = on_device(c, err);

    if (st || c->sure)
        return st;
    if (!c->has_limits) {
        st = choice_limits(c->session, o->given[OPTION_SMALL] ? o->seconds : 0, &c->limits, err);
        c->has_limits = !st;
    } else if (!o->given[OPTION_SMALL]) {
        const limit_result *read = &c->limits.of[LIMIT_MEMORY_READ];
        tsr_error why = {0};

        st = roofline_again(c->session, LIMIT_MEMORY_READ, &c->limits, &why);
        if (st == TSR_ENOMEM)
            return tsr_fail(err, st, 0, "%s", why.message);
        if (read->value > 0 && (st || *read->why_now))
            warn("%s cannot be measured now, and is taken as %.4g %s, of %s: %s",
                 limit_name(LIMIT_MEMORY_READ), read->value, limit_unit(LIMIT_MEMORY_READ),
                 read->when, st ? why.message : read->why_now);
        st = TSR_OK;
    }
    c->sure = !st;
    return st;
}

/* The figures that a call's commands tell: rates are of the row's time. */
static tsr_status look_at_commands(const measured_call *m, course_figure figure, result_row *row,
                                   tsr_error *err)
{
    explanation x;
    const explained *longest = NULL;
    tsr_status st;

    if (!m->session->context)
        return tsr_fail(err, TSR_EUNSUPPORTED, 0, "C code has no commands to look at");
    st = explain_call(m->session, &m->problem, &m->run, &m->how, &x, err);
    for (size_t i = 0; !st && i < x.count; i++)
        if (!longest || x.command[i].time.median_ns > longest->time.median_ns)
            longest = &x.command[i];
    row->rate = 0;
    if (longest && figure == FIGURE_OCCUPANCY)
        row->rate = 100 * longest->occupancy;
    else if (longest)
        row->rate = explain_bytes(&x) / row->time.median_ns;
    explain_free(&x);
    return st;
}

/* How full the compute units were, over the whole call. */
static tsr_status look_at_warps(const measured_call *m, result_row *row, tsr_error *err)
{
    trace seen = {0};
    tsr_status st = trace_call(m->session, &m->problem, &m->run, &m->how, &seen, err);

    row->rate = st ? 0 : 100 * seen.all.occupancy;
    trace_free(&seen);
    return st;
}

static double over(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* Take the figure of a row that bench_variant has filled; what is not known is 0. */
static tsr_status take_figure(classroom *c, course_figure figure, result_row *row, tsr_error *err)
{
    static const char *const units[] = {[FIGURE_FLOPS] = "GFLOP/s",
                                        [FIGURE_TIME] = "us",
                                        [FIGURE_COPIES] = "us",
                                        [FIGURE_LAUNCHES] = "commands",
                                        [FIGURE_INTENSITY] = "op/byte",
                                        [FIGURE_LOADS] = "loads",
                                        [FIGURE_A_LOAD] = "op/load",
                                        [FIGURE_LOCAL] = "op/byte",
                                        [FIGURE_OCCUPANCY] = "%",
                                        [FIGURE_ACHIEVED] = "%",
                                        [FIGURE_MOVED] = "GB/s",
                                        [FIGURE_OF_COPY] = "%",
                                        [FIGURE_SHARE] = "%"};
    product_loads loads = {0};
    tsr_status st;

    if (figure == FIGURE_RATE)
        return TSR_OK;
    snprintf(row->unit, sizeof(row->unit), "%s", units[figure]);
    if (figure == FIGURE_ACHIEVED)
        return look_at_warps(&c->last, row, err);
    if (figure == FIGURE_OCCUPANCY || figure == FIGURE_MOVED || figure == FIGURE_OF_COPY) {
        st = look_at_commands(&c->last, figure, row, err);
        if (!st && figure == FIGURE_OF_COPY) {
            st = find_limits(c, err);
            row->rate = st ? 0 : 100 * over(row->rate, c->limits.of[LIMIT_MEMORY_COPY].value);
        }
        return st;
    }
    if (figure == FIGURE_LOADS || figure == FIGURE_A_LOAD) {
        loads = traffic_loads(&c->last.problem, row->requested_bytes, row->commands);
        if (!(loads.all > 0))
            return tsr_fail(err, TSR_EUNSUPPORTED, 0,
                            "loads are counted only of a product in one command, with operands of "
                            "one type, whose kernel states its traffic");
    }
    if (figure == FIGURE_SHARE && c->has_limits)
        roofline_place(&c->limits, row);
    row->rate = figure == FIGURE_FLOPS       ? row->work / row->time.median_ns
                : figure == FIGURE_TIME      ? row->time.median_ns * 1e-3
                : figure == FIGURE_COPIES    ? (row->to_device_ns + row->from_device_ns) * 1e-3
                : figure == FIGURE_LAUNCHES  ? (double)row->commands
                : figure == FIGURE_INTENSITY ? over(row->work, row->requested_bytes)
                : figure == FIGURE_LOADS     ? loads.of_input
                : figure == FIGURE_A_LOAD    ? over(row->work, loads.all)
                : figure == FIGURE_LOCAL     ? over(row->work, row->local_traffic_bytes)
                                             : 100 * row->share;
    return TSR_OK;
}

static void forget_call(classroom *c)
{
    options_free(&c->last.given);
    memset(&c->last, 0, sizeof c->last);
}

/* The words of a command, in place. */
static int split(char *words, char *argv[COURSE_WORDS_MAX + 1])
{
    char *rest = NULL;
    int argc = 0;

    for (char *word = strtok_r(words, " ", &rest); word && argc < COURSE_WORDS_MAX;
         word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    argv[argc] = NULL;
    return argc;
}

/* Measure the call of a command. */
static tsr_status measure_call(classroom *c, const char *line, bool costs, tsr_error *err)
{
    measured_call *m = &c->last;
    char *argv[COURSE_WORDS_MAX + 1];
    const operation *op = NULL;
    int argc;
    tsr_status st = TSR_OK;

    forget_call(c);
    m->how = (bench_options){.seconds = c->run.o->given[OPTION_SECONDS] ? c->run.o->seconds : 0.2,
                             .least_samples = c->run.o->given[OPTION_REPEAT] ? c->run.o->repeat : 0,
                             .costs = costs,
                             .stop = c->run.stop};
    snprintf(m->words, sizeof(m->words), "%s", line);
    argc = split(m->words, argv);
    if (options_parse(argc, argv, &bench_takes, &m->given))
        return tsr_fail(err, TSR_ENAME, 0, "'%s' is no command of bench", line);
    m->how.seed = m->given.seed;
    m->how.warm = m->given.given[OPTION_WARM];
    m->run = (tsr_run){.variant = m->given.value[OPTION_KERNEL],
                       .set = m->given.set,
                       .set_count = m->given.set_count};
    if (m->given.operand_count != 1)
        return tsr_fail(err, TSR_ENAME, 0, "'%s' names %zu operations, not one", line,
                        m->given.operand_count);
    st = operation_asked(&m->given, m->given.operand[0], NULL, &op, err);
    st = st ? st
            : bench_problem(op, m->given.size_count ? m->given.size[0] : NULL, &m->given,
                            &m->problem, err);
    st = st ? st : session_of(c, op, m->run.variant, &m->session, err);
    st = st ? st : bench_variant(m->session, &m->problem, &m->run, &m->how, &m->row, err);
    if (!st && m->row.outcome == RESULT_TIMED && m->row.time.count)
        snprintf(m->line, sizeof(m->line), "%s", line);
    return st;
}

static tsr_status run_bench(classroom *c, const shown_row *r, result_row *row, tsr_error *err)
{
    const course_figure figure = r->row->figure;
    const bool costs = figure == FIGURE_COPIES;
    tsr_status st = TSR_OK;

    if (strcmp(c->last.line, r->line) != 0 || c->last.how.costs != costs)
        st = measure_call(c, r->line, costs, err);
    *row = c->last.row;
    return st || !*c->last.line ? st : take_figure(c, figure, row, err);
}

static bool keep_point(const result_row *row, void *context)
{
    points *p = context;
    result_row *more = realloc(p->rows, (p->count + 1) * sizeof *more);

    if (!more)
        return false;
    p->rows = more;
    p->rows[p->count++] = *row;
    return true;
}

/* "NAME" or "NAME SIZE": an experiment is run once for all rows that show points of it. */
static tsr_status find_points(classroom *c, char *name, const points **out, tsr_error *err)
{
    enum { SMALL = 64, SMALL_MAX = 128 };
    const bool small = c->run.o->given[OPTION_SMALL];
    char *size = strchr(name, ' '), *end = NULL;
    const size_t asked = size ? strtoull(size, &end, 10) : 0;
    const experiment *e;
    lab_options how = {.samples = c->run.o->given[OPTION_REPEAT] ? c->run.o->repeat : 0,
                       .size = small ? SMALL : 0,
                       .stop = c->run.stop,
                       .on_row = keep_point};
    points *p;

    if (size)
        *size = '\0';
    e = lab_named(name);
    if (!e)
        return tsr_fail(err, TSR_ENAME, 0, "there is no experiment '%s'", name);
    if (size && (!asked || *end || !e->counted))
        return tsr_fail(err, TSR_ENAME, 0, "%s takes no size '%s'", name, size + 1);
    for (size_t i = 0; i < c->points_count; i++)
        if (c->points[i].what == e && c->points[i].size == asked)
            return *out = &c->points[i], TSR_OK;
    p = realloc(c->points, (c->points_count + 1) * sizeof *p);
    if (!p)
        return tsr_fail(err, TSR_ENOMEM, 0, "out of memory");
    c->points = p;
    p += c->points_count++;
    *p = (points){.what = e, .size = asked};
    how.size = !e->counted ? 0 : !asked ? how.size : small ? size_min(asked, SMALL_MAX) : asked;
    how.context = p;
    p->st = lab_run(c->session, e, &how, &p->err);
    *out = p;
    return TSR_OK;
}

/* Devices may end a series early, as they have less memory, units or room in a group; what no
 * series has, or is left out within one, is mistyped. */
static tsr_status no_point(const points *p, const char *series, const char *x, tsr_error *err)
{
    const result_row *last = NULL;

    for (size_t i = 0; i < p->count; i++)
        if (!strcmp(p->rows[i].name, series) &&
            (!last || lab_amount(p->rows[i].x) > lab_amount(last->x)))
            last = &p->rows[i];
    if (!last)
        return tsr_fail(err, TSR_ENAME, 0, "%s has no series '%s'", p->what->name, series);
    if (lab_amount(last->x) >= 0 && lab_amount(x) > lab_amount(last->x))
        return tsr_fail(err, TSR_EUNSUPPORTED, 0, "%s of lab %s ends at %s here", series,
                        p->what->name, last->x);
    return tsr_fail(err, TSR_ENAME, 0, "%s, %s has no point '%s'", p->what->name, series, x);
}

/* "lab EXPERIMENT [SIZE] / SERIES / X" */
static tsr_status run_lab(classroom *c, char *words, result_row *row, tsr_error *err)
{
    char *name = words + strspn(words, " "), *series = strstr(name, " / ");
    char *x = series ? strstr(series + 3, " / ") : NULL;
    const points *p = NULL;
    tsr_status st = on_device(c, err);

    if (st)
        return st;
    if (!x)
        return tsr_fail(err, TSR_ENAME, 0,
                        "a lab command of a course is EXPERIMENT [SIZE] / SERIES / X, not '%s'",
                        name);
    *series = *x = '\0';
    series += 3;
    x += 3;
    st = find_points(c, name, &p, err);
    if (st)
        return st;
    for (size_t i = 0; i < p->count; i++) {
        const bool refused = !*p->rows[i].x && p->rows[i].outcome != RESULT_TIMED;

        if ((!*p->rows[i].name || !strcmp(p->rows[i].name, series)) &&
            (refused || !strcmp(p->rows[i].x, x))) {
            *row = p->rows[i];
            return TSR_OK;
        }
    }
    if (p->st)
        return *err = p->err, p->st;
    return no_point(p, series, x, err);
}

static tsr_status run_limit(classroom *c, const char *name, result_row *row, tsr_error *err)
{
    tsr_status st = on_device(c, err);
    size_t l = 0;

    name += strspn(name, " ");
    while (l < LIMIT_COUNT && strcmp(limit_name((limit)l), name) != 0)
        l++;
    if (l == LIMIT_COUNT)
        return tsr_fail(err, TSR_ENAME, 0, "there is no limit '%s'", name);
    st = st ? st : find_limits(c, err);
    if (!st)
        roofline_row(c->device, (limit)l, &c->limits.of[l], row);
    return st;
}

/* "overlap MEMORY QUEUES" */
static tsr_status run_overlap(classroom *c, const char *words, result_row *row, tsr_error *err)
{
    const bool small = c->run.o->given[OPTION_SMALL];
    overlap_job j = {.way = OVERLAP_PIPELINE, .chunks = small ? 8 : 32};
    overlap_options how = {.seconds = c->run.o->given[OPTION_SECONDS] ? c->run.o->seconds : 0.2,
                           .samples = c->run.o->given[OPTION_REPEAT] ? c->run.o->repeat : 0,
                           .seed = 1,
                           .stop = c->run.stop};
    char memory[16];
    tsr_status st = on_device(c, err);

    if (st)
        return st;
    if (sscanf(words, "%15s %zu", memory, &j.queues) != 2 || !j.queues ||
        j.queues > OVERLAP_QUEUES_MAX)
        return tsr_fail(err, TSR_ENAME, 0,
                        "an overlap command of a course is MEMORY QUEUES, not '%s'", words);
    while (j.memory < OVERLAP_MEMORY_COUNT && strcmp(overlap_memory_name(j.memory), memory) != 0)
        j.memory++;
    if (j.memory == OVERLAP_MEMORY_COUNT)
        return tsr_fail(err, TSR_ENAME, 0, "there is no memory '%s'", memory);
    how.words = small ? 1 << 16 : overlap_usual_words(c->session);
    st = c->overlap ? TSR_OK : overlap_open(c->session, &how, &c->overlap, err);
    if (!st && overlap_unsupported(c->overlap, &j))
        return tsr_fail(err, TSR_EUNSUPPORTED, 0, "%s", overlap_unsupported(c->overlap, &j));
    st = st ? st : overlap_measure(c->overlap, &j, row, err);
    return st;
}

/* "occupancy GROUP REGISTERS LOCAL CAPABILITY" */
static tsr_status run_occupancy(const classroom *c, const char *words, result_row *row,
                                tsr_error *err)
{
    size_t group, registers, local;
    unsigned major, minor;
    unit_capacity unit;
    const char *bound;

    if (sscanf(words, "%zu %zu %zu %u.%u", &group, &registers, &local, &major, &minor) != 5)
        return tsr_fail(err, TSR_ENAME, 0,
                        "an occupancy command of a course is GROUP REGISTERS LOCAL CAPABILITY, not "
                        "'%s'",
                        words);
    if (!occupancy_capacity(10 * major + minor, &unit))
        return tsr_fail(err, TSR_ENAME, 0,
                        "what a unit of compute capability %u.%u holds is not "
                        "known",
                        major, minor);
    result_start(row, c->device);
    row->rate =
        floor(occupancy_of(&unit, group, registers, local, &bound) * (double)unit.items / WARP);
    row->verified = true;
    snprintf(row->unit, sizeof(row->unit), "warps");
    return TSR_OK;
}

static tsr_status run_command(classroom *c, const shown_row *r, result_row *row, tsr_error *err)
{
    char words[COURSE_COMMAND_SIZE];
    const size_t first = strcspn(r->line, " ");
    char *rest = words + first + strspn(r->line + first, " ");

    snprintf(words, sizeof words, "%s", r->line);
    if (!strncmp(words, "bench ", 6))
        return run_bench(c, r, row, err);
    if (!strncmp(words, "lab ", 4))
        return run_lab(c, rest, row, err);
    if (!strncmp(words, "limit ", 6))
        return run_limit(c, rest, row, err);
    if (!strncmp(words, "overlap ", 8))
        return run_overlap(c, rest, row, err);
    if (!strncmp(words, "occupancy ", 10))
        return run_occupancy(c, rest, row, err);
    return tsr_fail(err, TSR_ENAME, 0, "'%s' is neither bench, lab, limit, overlap nor occupancy",
                    words);
}

/* ---- tables --------------------------------------------------------------------------------- */

static void show(const classroom *c, const course_row *r, shown_row *out)
{
    char claim[COURSE_CLAIM_SIZE];

    out->row = r;
    course_expand(r->series, c->scale, out->series, sizeof(out->series));
    course_expand(r->x, c->scale, out->x, sizeof(out->x));
    course_expand(r->claim, c->scale, claim, sizeof claim);
    course_expand(r->command, c->scale, out->line, sizeof(out->line));
    out->at_least = *claim == '>';
    out->claim = fmax(strtod(claim + out->at_least, NULL), 0); /* "-" is none */
}

/* What a row is called in the table. */
static void label_of(const shown_row *r, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s", r->series, *r->series ? ", " : "", r->x);
}

/* Whether rows of a table differ in their unit, by their figures and what they run. */
static bool is_mixed(const classroom *c, size_t number)
{
    const course_row *first = NULL;

    for (size_t i = 0; i < c->course.row_count; i++) {
        const course_row *r = &c->course.rows[i];

        if (r->table != number)
            continue;
        first = first ? first : r;
        if (r->figure != first->figure || !strncmp(r->command, "limit ", 6) ||
            strncmp(r->command, first->command, strcspn(first->command, " ") + 1) != 0)
            return true;
    }
    return false;
}

static void print_head(classroom *c, const course_table *t, size_t number, const char *unit)
{
    shown_row shown;
    char label[96];

    c->wide = (int)text_width(t->knob);
    c->says_wide = (int)text_width("document");
    for (size_t i = 0; i < c->course.row_count; i++) {
        const course_row *r = &c->course.rows[i];

        if (r->table != number)
            continue;
        show(c, r, &shown);
        label_of(&shown, label, sizeof label);
        if ((int)text_width(label) > c->wide)
            c->wide = (int)text_width(label);
        if ((int)text_width(r->says) > c->says_wide)
            c->says_wide = (int)text_width(r->says);
    }
    print_plain(stdout, "%s%s:%s  %s: %s\n", c->run.done ? "\n" : "", c->course.name, t->lines,
                t->name, t->title);
    if (*t->says)
        print_paragraph("The document: ", t->says);
    c->mixed = is_mixed(c, number);
    snprintf(c->unit, sizeof(c->unit), "%s", c->mixed ? "here" : unit);
    printf("\n  %-*s  %-*s  %9s%*s%s\n", c->wide, t->knob, c->says_wide, "document", c->unit,
           c->mixed ? UNIT_WIDE + 1 : 0, "",
           t->claims_values ? "  expected" : "    x base  expected");
}

/* Whether the figure means nothing where little work is done. */
static bool is_of_time(course_figure f, const result_row *row)
{
    return row->time.count && f != FIGURE_LAUNCHES && f != FIGURE_INTENSITY && f != FIGURE_LOADS &&
           f != FIGURE_A_LOAD && f != FIGURE_LOCAL && f != FIGURE_OCCUPANCY;
}

/* Whether a row that was timed is compared with its claim: not the base, and nothing where that is
 * not known. */
static bool is_judged(const classroom *c, const course_table *t, const shown_row *r,
                      const result_row *row)
{
    return row->claim > 0 && (t->claims_values || (!row->base && row->ratio > 0)) &&
           !(c->run.o->given[OPTION_SMALL] && is_of_time(r->row->figure, row));
}

static bool claim_holds(const course_table *t, const shown_row *r, const result_row *row)
{
    const double got = t->claims_values ? row->rate : row->ratio;

    return r->at_least ? got >= row->claim : lab_agrees(got, row->claim);
}

static const char *judgement(const course_table *t, const shown_row *r, const result_row *row)
{
    const bool holds = claim_holds(t, r, row);

    return r->at_least ? holds ? "reached" : "missed" : holds ? "agrees" : "differs";
}

static void print_row(classroom *c, const course_table *t, const shown_row *r,
                      const result_row *row)
{
    char label[96], value[16], ratio[16], claim[16];

    label_of(r, label, sizeof label);
    printf("  %s%*s  %s%*s  ", label, c->wide - (int)text_width(label), "", r->row->says,
           c->says_wide - (int)text_width(r->row->says), "");
    if (row->outcome != RESULT_TIMED) {
        const size_t at = 6 + (size_t)(c->wide + c->says_wide);
        text why = {0}, lines = {0};

        text_format(&why, "%s: %s", result_outcome_name(row->outcome), row->unsupported);
        text_wrap(&lines, text_get(&why), at, at < 40 ? at : 6, terminal_width(STDOUT_FILENO));
        puts(text_get(&lines));
        text_free(&lines);
        text_free(&why);
        fflush(stdout);
        return;
    }
    row_figure(row->rate, value);
    printf("%9s", value);
    if (c->mixed || strcmp(row->unit, c->unit) != 0)
        printf(" %-*s", c->mixed ? UNIT_WIDE : 0, row->unit);
    if (!t->claims_values) {
        row_figure(row->ratio, ratio);
        printf(" %9s", row->ratio > 0 ? ratio : "");
    }
    if (row->claim > 0) {
        snprintf(claim, sizeof claim, "%.6g", row->claim); /* the digits of the course */
        printf(" %*s%s", 9 - (int)strlen(claim), r->at_least ? ">" : "", claim);
    }
    if (is_judged(c, t, r, row))
        printf("  %s", judgement(t, r, row));
    puts("");
    fflush(stdout);
}

static bool is_cpu(const tsr_device *d)
{
    return d->facts.kind == DEVICE_CPU || tsr_device_is_host(d);
}

static void print_end(const classroom *c, const course_table *t)
{
    const bool cpu = is_cpu(c->device) && *t->cpu;

    puts("");
    if (c->claims)
        printf("  %zu of %zu %s here, within a factor of 1.5.\n", c->agreed, c->claims,
               c->has_least ? "are reached, or agree" : "agree");
    if (*t->why)
        print_paragraph(cpu ? "Why, on a GPU: " : "Why: ", t->why);
    if (cpu)
        print_paragraph("Why, on a CPU: ", t->cpu);
    if (*t->wrong)
        print_paragraph("Where the document errs: ", t->wrong);
    if (*t->see)
        printf("  More: %s\n", t->see); /* not wrapped: a command is copied */
    fflush(stdout);
}

/* The row as files have it: of kind `lab`, whose experiment is the table. */
static void enter_row(const classroom *c, const course_table *t, const shown_row *r,
                      result_row *row)
{
    if (!*row->device)
        result_start(row, c->device);
    row->kind = RESULT_LAB;
    snprintf(row->op, sizeof(row->op), "lab");
    snprintf(row->problem, sizeof(row->problem), "course %s, %s", c->course.name, t->name);
    row->size[0] = row->type[0] = row->precision[0] = row->order[0] = '\0';
    row->requested_bytes = row->local_traffic_bytes = row->wall_ns = 0;
    row->tiles = row->strict_tiles = 0;
    snprintf(row->name, sizeof(row->name), "%s", *r->series ? r->series : "here");
    snprintf(row->parameters, sizeof(row->parameters), "%s=%s", t->knob, r->x);
    snprintf(row->chosen, sizeof(row->chosen), "%s", r->line);
    snprintf(row->experiment, sizeof(row->experiment), "%s %s", c->course.name, t->name);
    snprintf(row->knob, sizeof(row->knob), "%s", t->knob);
    snprintf(row->x, sizeof(row->x), "%s", r->x);
    row->claim = r->claim;
    row->base = r->row->base;
    row->ratio = 0;
}

static void add_row(classroom *c, const course_table *t, const shown_row *r, result_row *row)
{
    if (row->outcome == RESULT_TIMED) {
        if (r->row->base)
            c->base = row->rate;
        if (c->base > 0 && !t->claims_values)
            row->ratio = row->rate / c->base;
        c->claims += is_judged(c, t, r, row);
        c->has_least = c->has_least || (is_judged(c, t, r, row) && r->at_least);
        c->agreed += is_judged(c, t, r, row) && claim_holds(t, r, row);
    } else if (r->row->base) {
        c->base = 0; /* what follows has nothing to be compared with */
    }
    if (c->run.table && !c->printed++)
        print_head(c, t, r->row->table, row->unit);
    if (c->run.table)
        print_row(c, t, r, row);
    row_run_add(&c->run, row);
}

static void run_row(classroom *c, const course_table *t, const course_row *r)
{
    shown_row shown;
    result_row row = {0};
    tsr_error err = {0};
    tsr_status st;

    show(c, r, &shown);
    snprintf(c->doing, sizeof(c->doing), "course %s, %s: %s", c->course.name, t->name, shown.x);
    activity_begin("%s", c->doing);
    st = run_command(c, &shown, &row, &err);
    activity_end();
    if (*c->run.stop && (st || !row.time.count))
        return;
    enter_row(c, t, &shown, &row);
    if (st && row.outcome == RESULT_TIMED)
        result_refuse(&row,
                      st == TSR_EUNSUPPORTED ? RESULT_UNSUPPORTED
                      : st == TSR_EBOUND     ? RESULT_WRONG
                                             : RESULT_FAILED,
                      err.message);
    else if (!st && row.outcome == RESULT_TIMED && !(row.rate > 0))
        result_refuse(&row, RESULT_UNSUPPORTED,
                      r->figure == FIGURE_OCCUPANCY
                          ? "the device does not report what a compute unit holds"
                          : "this figure is not known on this device");
    add_row(c, t, &shown, &row);
    if (st && st != TSR_EUNSUPPORTED)
        row_run_fail(&c->run, print_error(shown.x, &err, c->session));
    else if (row.outcome == RESULT_WRONG)
        row_run_fail(&c->run, EXIT_BOUND);
    else if (row.outcome == RESULT_FAILED)
        row_run_fail(&c->run, EXIT_FAILED);
}

static void run_tables(classroom *c)
{
    for (size_t t = 0; t < c->course.table_count; t++) {
        const course_table *what = &c->course.tables[t];

        if (!c->wanted[t] || row_run_ended(&c->run))
            continue;
        c->printed = c->claims = c->agreed = 0;
        c->base = 0;
        c->has_least = false;
        for (size_t i = 0; i < c->course.row_count && !row_run_ended(&c->run); i++)
            if (c->course.rows[i].table == t)
                run_row(c, what, &c->course.rows[i]);
        if (c->run.table && c->printed)
            print_end(c, what);
    }
}

static void run_device(classroom *c, const tsr_device *device)
{
    char id[DEVICE_ID_SIZE];

    c->device = device;
    c->scale = c->run.o->given[OPTION_SMALL] ? 0 : is_cpu(device) ? 1 : 2;
    c->has_limits = c->sure = false;
    device_id_text(device, id);
    if (c->run.table)
        print_plain(stdout, "%s%s: %s\n  on %s (%s)%s\n\n", c->run.done ? "\n" : "", c->course.name,
                    c->course.title, tsr_device_name(device), id,
                    c->scale ? "" : "\n  with little work: times and rates mean nothing");
    run_tables(c);
    for (size_t i = 0; i < c->points_count; i++)
        free(c->points[i].rows);
    c->points_count = 0;
    overlap_close(c->overlap);
    c->overlap = NULL;
    forget_call(c);
    tsr_session_close(c->session);
    c->session = NULL;
}

/* Also of one that is interrupted: see interrupt_watch(). */
static int finish(void *context)
{
    classroom *c = context;

    return row_run_close(&c->run, "rows");
}

static void run_course(classroom *c)
{
    for (size_t i = 0; i < c->devices.count && !row_run_ended(&c->run); i++)
        /* `all` leaves the host out, which most rows do not run on. */
        if (c->devices.count == 1 || !tsr_device_is_host(c->devices.device[i]))
            run_device(c, c->devices.device[i]);
}

/* Courses one after another: "all", or a name with tables behind it. */
static int run_courses(classroom *c)
{
    const options *o = c->run.o;
    char name[32];
    tsr_error err = {0};

    if (strcmp(o->operand[0], "all") != 0) {
        run_course(c);
        return finish(c);
    }
    for (size_t i = 0; course_at(i, name) && !row_run_ended(&c->run); i++) {
        forget(c);
        if (choose(c, name, NULL, 0, &err))
            row_run_fail(&c->run, print_error(o->command, &err, NULL));
        else
            run_course(c);
    }
    return finish(c);
}

int cmd_course(const options *o)
{
    classroom c = {.run.o = o};
    options of_host = {.command = o->command};
    tsr_error err = {0};
    char first[32];
    bool all;
    int status;

    if (!o->operand_count)
        return list(o);
    all = !strcmp(o->operand[0], "all");
    if (all && o->operand_count > 1)
        return wrong_usage("course: all takes no table, and '%s' is named", o->operand[1]);
    of_host.given[OPTION_DEVICE] = true;
    of_host.value[OPTION_DEVICE] = "host";
    if (choose(&c, all ? course_at(0, first) : o->operand[0], o->operand + 1,
               all ? 0 : o->operand_count - 1, &err) ||
        choice_find(o, &c.devices, &err) || choice_find(&of_host, &c.host, &err) ||
        row_run_open(o, &c.run, &err)) {
        status = print_error(o->command, &err, NULL);
    } else {
        c.run.stop = interrupt_watch(finish, &c);
        status = run_courses(&c);
    }
    forget(&c);
    free(c.points);
    tsr_session_close(c.on_host);
    choice_close(&c.devices);
    choice_close(&c.host);
    return status;
}
