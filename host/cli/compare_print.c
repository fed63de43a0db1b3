#include "cli/compare_print.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "cli/json_print.h"
#include "cli/terminal.h"

/* Files may hold any text. */
static void append_plain(text *out, const char *s)
{
    const size_t start = out->length;

    text_append(out, s);
    if (out->data && !out->failed)
        text_make_plain(out->data + start, "");
}

static void append_padded(text *out, const char *s, size_t width, bool right)
{
    size_t have = text_width(s);

    if (!right)
        append_plain(out, s);
    for (; have < width; have++)
        text_append(out, " ");
    if (right)
        append_plain(out, s);
}

/* ---- text ------------------------------------------------------------------------------------ */

/* A line of its own, broken at `width` columns, without what a terminal takes for commands. */
static void append_line(text *out, const text *line, size_t at, size_t indent, size_t width)
{
    text plain = {0};

    append_plain(&plain, text_get(line));
    text_wrap(out, text_get(&plain), at, indent, width);
    text_append(out, "\n");
    text_free(&plain);
}

static void text_columns(const comparison *c, size_t width, text *out)
{
    text line = {0};

    for (size_t i = 0; i < c->column_count; i++) {
        const compare_column *column = &c->columns[i];
        const result_row *who = column->who;

        text_clear(&line);
        text_format(&line, "[%zu] ", i + 1);
        compare_paths(c, i, &line);
        text_format(&line, ": %s, %s, driver %s, tessera %s%s%s", who->device, who->platform,
                    who->driver, who->version, *who->when ? ", " : "", who->when);
        if (column->base != i)
            text_format(&line, "; ratio to [%zu]", column->base + 1);
        append_line(out, &line, 0, 4, width);
    }
    text_free(&line);
}

/* ---- the fastest of each job ----------------------------------------------------------------- */

static void text_best(const compare_job *entry, size_t column, bool mixed, size_t width, text *out)
{
    const compare_best *b = &entry->best[column];
    text line = {0}, cell = {0};

    text_format(&cell, "[%zu]", column + 1);
    append_padded(&line, text_get(&cell), 6, false);
    text_clear(&cell);
    compare_rate(b->rate, b->row->unit, &cell);
    append_padded(&line, text_get(&cell), 15, true);
    text_clear(&cell);
    if (b->ratio > 0) {
        text_append(&cell, " ");
        compare_number(b->ratio, &cell);
        text_format(&cell, " x [%zu]", b->base + 1);
    }
    append_padded(&line, text_get(&cell), 15, true);
    text_format(&line, "  %s", b->row->name);
    if (mixed)
        text_append(&line, b->wall ? ", wall time" : ", device time");
    text_clear(&cell);
    compare_roof(b->row, b->rate, &cell);
    text_format(&line, "%s%s", cell.length ? ", " : "", text_get(&cell));
    text_append(out, "  ");
    append_line(out, &line, 2, 40, width);
    text_free(&line);
    text_free(&cell);
}

/* "wall time" or "device time"; where columns differ, the column says it. */
static bool by_wall(const compare_job *entry, size_t columns, bool *mixed)
{
    bool wall = false, device = false;

    for (size_t j = 0; j < columns; j++) {
        wall = wall || (entry->best[j].row && entry->best[j].wall);
        device = device || (entry->best[j].row && !entry->best[j].wall);
    }
    *mixed = wall && device;
    return wall;
}

/* Jobs that several columns have; of one column every job. */
static tsr_status text_jobs(const comparison *c, size_t width, text *out, tsr_error *err)
{
    const size_t least = size_min(c->column_count, 2);
    size_t count, shown = 0;
    compare_job *jobs;
    tsr_status st = compare_jobs(c, &jobs, &count, err);
    text line = {0};

    for (size_t i = 0; i < count && !st; i++) {
        bool mixed, wall = by_wall(&jobs[i], c->column_count, &mixed);

        if (jobs[i].columns < least)
            continue;
        if (shown++ == 0)
            text_append(out, "\nfastest variant of each job, and the limit that binds it\n");
        text_clear(&line);
        compare_job_name(&jobs[i], &line);
        text_append(&line, mixed ? "" : wall ? ", wall time" : ", device time");
        append_line(out, &line, 0, 4, width);
        for (size_t j = 0; j < c->column_count; j++)
            if (jobs[i].best[j].row)
                text_best(&jobs[i], j, mixed, width, out);
    }
    if (!st)
        compare_jobs_free(jobs);
    text_free(&line);
    return st;
}

/* ---- every line ------------------------------------------------------------------------------ */

/* What stands in a cell: the rate with its ratio, or why there is none. */
static void describe_cell(const comparison *c, size_t line, size_t column, double least, text *rate,
                          text *ratio)
{
    compare_verdict v = compare_judge(c, line, column);
    double scale;

    compare_line_unit(c, line, &scale);
    if (compare_has_rate(v.row))
        compare_number(v.row->rate * scale, rate);
    else if (v.row)
        text_append(rate, v.row->outcome == RESULT_TIMED ? "unverified"
                                                         : result_outcome_name(v.row->outcome));
    else
        text_append(rate, v.outcome == COMPARE_MISSING ? "missing" : "-");
    if (v.outcome == COMPARE_RATIO) {
        compare_number(v.ratio, ratio);
        text_append(ratio, least > 0 && compare_lost(&v, least) ? " <" : "  ");
    }
}

enum { RATE_WIDTH = 12, RATIO_WIDTH = 11, NAME_MIN = 24 };

/* A table: the lines of a group in the columns that fit beside their names. */
typedef struct table {
    const comparison *c;
    double least;
    size_t width;        /* of a line */
    size_t line, end;    /* its lines */
    size_t column, last; /* its columns */
    size_t name_width;
} table;

static size_t column_width(const comparison *c, size_t column)
{
    return RATE_WIDTH + (c->columns[column].base == column ? 0 : RATIO_WIDTH);
}

static void text_head(const table *t, text *out)
{
    const comparison *c = t->c;
    text head = {0};
    double scale;

    compare_group_name(c->lines[t->line].what, &head);
    if (c->lines[t->line].what->kind != RESULT_LIMIT)
        text_format(&head, "; %s", compare_line_unit(c, t->line, &scale));
    text_append(out, "\n");
    append_line(out, &head, 0, 4, t->width);
    append_padded(out, "", t->name_width + 2, false);
    for (size_t i = t->column; i < t->last; i++) {
        text_clear(&head);
        text_format(&head, "[%zu]", i + 1);
        append_padded(out, text_get(&head), RATE_WIDTH, true);
        if (c->columns[i].base != i) {
            text_clear(&head);
            text_format(&head, "/[%zu]  ", c->columns[i].base + 1);
            append_padded(out, text_get(&head), RATIO_WIDTH, true);
        }
    }
    while (out->length && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
    text_append(out, "\n");
    text_free(&head);
}

/* The versions of a peer's library, each once; one on the host adds the processor that it has
 * detected. */
static void line_versions(const comparison *c, size_t line, text *out)
{
    const char *before = " ";

    for (size_t i = 0; i < c->column_count; i++) {
        const result_row *row = compare_cell(c, line, i), *same = NULL;

        for (size_t j = 0; j < i && row && !same; j++) {
            same = compare_cell(c, line, j);
            if (same && strcmp(same->peer_version, row->peer_version) != 0)
                same = NULL;
        }
        if (!row || same || !*row->peer_version)
            continue;
        text_format(out, "%s%s", before, row->peer_version);
        before = "; ";
    }
}

static void line_name(const comparison *c, size_t line, text *out)
{
    double scale;

    text_clear(out);
    compare_name(&c->lines[line], out);
    line_versions(c, line, out);
    if (c->lines[line].what->kind == RESULT_LIMIT)
        text_format(out, " (%s)", compare_line_unit(c, line, &scale));
}

/* What does not fit beside the cells goes below, further in. */
static void text_line(const table *t, size_t line, text *out)
{
    text name = {0}, wrapped = {0}, rate = {0}, ratio = {0};
    const char *rest;

    line_name(t->c, line, &name);
    text_wrap(&wrapped, text_get(&name), 0, 2, t->name_width);
    rest = text_get(&wrapped) + strcspn(text_get(&wrapped), "\n");
    text_clear(&name);
    text_append_bytes(&name, text_get(&wrapped), (size_t)(rest - text_get(&wrapped)));
    text_append(out, "  ");
    append_padded(out, text_get(&name), t->name_width, false);
    for (size_t i = t->column; i < t->last; i++) {
        text_clear(&rate);
        text_clear(&ratio);
        describe_cell(t->c, line, i, t->least, &rate, &ratio);
        append_padded(out, text_get(&rate), RATE_WIDTH, true);
        if (t->c->columns[i].base != i)
            append_padded(out, text_get(&ratio), RATIO_WIDTH, true);
    }
    while (out->length && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
    text_append(out, "\n");
    while (*rest) {
        const size_t length = strcspn(rest + 1, "\n");

        text_clear(&name);
        text_append_bytes(&name, rest + 1, length);
        text_append(out, "  ");
        append_plain(out, text_get(&name));
        text_append(out, "\n");
        rest += 1 + length;
    }
    text_free(&name);
    text_free(&wrapped);
    text_free(&rate);
    text_free(&ratio);
}

/* Whether a file has a row for one of its cells. */
static bool has_rows(const table *t)
{
    for (size_t i = t->line; i < t->end; i++)
        for (size_t j = t->column; j < t->last; j++)
            if (compare_cell(t->c, i, j))
                return true;
    return false;
}

/* One group, in as many tables as its columns take; those of columns without a row are one line. */
static void text_group(table *t, text *out)
{
    size_t longest = NAME_MIN;
    text name = {0}, none = {0};

    for (size_t i = t->line; i < t->end; i++) {
        line_name(t->c, i, &name);
        longest = size_max(longest, text_width(text_get(&name)));
    }
    text_free(&name);
    for (t->column = 0; t->column < t->c->column_count; t->column = t->last) {
        size_t cells = column_width(t->c, t->column);

        for (t->last = t->column + 1; t->last < t->c->column_count; t->last++) {
            if (2 + NAME_MIN + cells + column_width(t->c, t->last) > t->width)
                break;
            cells += column_width(t->c, t->last);
        }
        t->name_width =
            size_min(longest, t->width > 2 + NAME_MIN + cells ? t->width - 2 - cells : NAME_MIN);
        if (has_rows(t)) {
            text_head(t, out);
            for (size_t i = t->line; i < t->end; i++)
                text_line(t, i, out);
            continue;
        }
        for (size_t j = t->column; j < t->last; j++)
            text_format(&none, "%s[%zu]", none.length ? ", " : "  none of these in ", j + 1);
    }
    if (none.length)
        append_line(out, &none, 0, 4, t->width);
    text_free(&none);
}

tsr_status compare_as_text(const comparison *c, double least, size_t width, text *out,
                           tsr_error *err)
{
    table t = {.c = c, .least = least, .width = width};
    tsr_status st;

    text_columns(c, width, out);
    st = text_jobs(c, width, out, err);
    for (; t.line < c->line_count && !st; t.line = t.end) {
        t.end = t.line + 1;
        while (t.end < c->line_count && c->lines[t.end].group == c->lines[t.line].group)
            t.end++;
        text_group(&t, out);
    }
    return st;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void csv_record(const comparison *c, size_t line, size_t column, text *out)
{
    const compare_verdict v = compare_judge(c, line, column);
    const result_row *what = c->lines[line].what, *who = c->columns[column].who;
    const char *const fields[] = {what->op,
                                  what->problem,
                                  what->type,
                                  what->precision,
                                  what->cold ? "cold" : "warm",
                                  result_timer_name(what->timer),
                                  result_kind_name(what->kind),
                                  what->name,
                                  v.row ? v.row->parameters : "",
                                  what->unit,
                                  c->files[c->columns[column].file].path,
                                  who->device,
                                  who->driver,
                                  who->version,
                                  compare_outcome_name(v.outcome)};

    if (!v.row && v.outcome != COMPARE_MISSING)
        return;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        text_append_csv(out, fields[i]);
        text_append(out, ",");
    }
    if (compare_has_rate(v.row))
        text_format(out, "%.9g", v.row->rate);
    text_append(out, ",");
    if (v.outcome == COMPARE_RATIO)
        text_format(out, "%.9g,%.9g\r\n", v.ratio, v.favourable);
    else
        text_append(out, ",\r\n");
}

void compare_as_csv(const comparison *c, text *out)
{
    text_append(out, "op,problem,type,precision,temperature,timer,kind,name,parameters,unit,file,"
                     "device,driver,version,outcome,rate,ratio,favourable_ratio\r\n");
    for (size_t i = 0; i < c->line_count; i++) {
        for (size_t j = 0; j < c->column_count; j++)
            csv_record(c, i, j, out);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *column_json(const comparison *c, size_t i)
{
    const compare_column *column = &c->columns[i];
    const result_row *who = column->who;
    text paths = {0};
    json_t *file;

    compare_paths(c, i, &paths);
    file = json_text(text_get(&paths));
    text_free(&paths);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "file", file, "device",
                     json_text(who->device), "device_id", json_text(who->device_id), "platform",
                     json_text(who->platform), "driver", json_text(who->driver), "version",
                     json_text(who->version), "when", json_text(who->when), "rows",
                     json_count(column->rows), "base",
                     column->base == i ? json_null() : json_count(column->base));
}

static json_t *cell_json(const comparison *c, size_t line, size_t column, double least)
{
    const compare_verdict v = compare_judge(c, line, column);
    const bool rated = compare_has_rate(v.row), ratio = v.outcome == COMPARE_RATIO;
    json_t *cell = json_object();

    json_object_set_new(cell, "rate", rated && v.row ? json_number(v.row->rate) : json_null());
    json_object_set_new(cell, "outcome", json_string(compare_outcome_name(v.outcome)));
    json_object_set_new(cell, "ratio", ratio ? json_number(v.ratio) : json_null());
    json_object_set_new(cell, "favourable_ratio", ratio ? json_number(v.favourable) : json_null());
    json_object_set_new(cell, "why",
                        v.row && *v.row->unsupported ? json_text(v.row->unsupported) : json_null());
    if (least > 0)
        json_object_set_new(cell, "lost", json_boolean(compare_lost(&v, least)));
    return cell;
}

static json_t *line_json(const comparison *c, size_t line, double least)
{
    const result_row *what = c->lines[line].what;
    json_t *cells = json_array(), *object = json_object();
    text name = {0};

    for (size_t i = 0; i < c->column_count; i++)
        json_array_append_new(cells, cell_json(c, line, i, least));
    compare_name(&c->lines[line], &name);
    json_object_set_new(object, "op", json_text(what->op));
    json_object_set_new(object, "problem", json_text(what->problem));
    json_object_set_new(object, "type", json_text(what->type));
    json_object_set_new(object, "precision", json_text(what->precision));
    json_object_set_new(object, "cold", json_boolean(what->cold));
    json_object_set_new(object, "timer", json_string(result_timer_name(what->timer)));
    json_object_set_new(object, "name", json_text(text_get(&name)));
    json_object_set_new(object, "unit", json_text(what->unit));
    json_object_set_new(object, "cells", cells);
    text_free(&name);
    return object;
}

/* The fastest of each column, null where it has none. */
static json_t *job_json(const comparison *c, const compare_job *entry)
{
    json_t *best = json_array(), *object = json_object();

    for (size_t j = 0; j < c->column_count; j++) {
        const compare_best *b = &entry->best[j];

        if (!b->row) {
            json_array_append_new(best, json_null());
            continue;
        }
        json_array_append_new(
            best, json_pack("{s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o}", "name",
                            json_text(b->row->name), "parameters", json_text(b->row->parameters),
                            "rate", json_number(b->rate), "time", b->wall ? "wall" : "device",
                            "ratio", b->ratio > 0 ? json_number(b->ratio) : json_null(), "base",
                            b->ratio > 0 ? json_count(b->base) : json_null(), "share",
                            b->row->share > 0 ? json_number(b->row->share) : json_null(),
                            "bound_by", json_text(b->row->bound_by)));
    }
    json_object_set_new(object, "op", json_text(entry->what->op));
    json_object_set_new(object, "problem", json_text(entry->what->problem));
    json_object_set_new(object, "type", json_text(entry->what->type));
    json_object_set_new(object, "precision", json_text(entry->what->precision));
    json_object_set_new(object, "cold", json_boolean(entry->what->cold));
    json_object_set_new(object, "unit", json_text(entry->what->unit));
    json_object_set_new(object, "best", best);
    return object;
}

tsr_status compare_as_json(const comparison *c, double least, text *out, tsr_error *err)
{
    json_t *columns, *jobs, *lines, *document;
    compare_job *list;
    size_t job_count;
    tsr_status st = compare_jobs(c, &list, &job_count, err);
    char *dumped;

    if (st)
        return st;
    columns = json_array();
    jobs = json_array();
    lines = json_array();
    for (size_t i = 0; i < job_count; i++)
        json_array_append_new(jobs, job_json(c, &list[i]));
    compare_jobs_free(list);
    for (size_t i = 0; i < c->column_count; i++)
        json_array_append_new(columns, column_json(c, i));
    for (size_t i = 0; i < c->line_count; i++)
        json_array_append_new(lines, line_json(c, i, least));
    document = json_pack("{s:s, s:o, s:o, s:o, s:o}", "schema", "tessera-compare-1", "fail_below",
                         least > 0 ? json_number(least) : json_null(), "columns", columns, "jobs",
                         jobs, "lines", lines);
    dumped = document ? json_dumps(document, JSON_INDENT(2)) : NULL;
    if (dumped) {
        text_append_json(out, dumped);
        text_append(out, "\n");
    } else {
        out->failed = true;
    }
    free(dumped);
    json_decref(document);
    return TSR_OK;
}
