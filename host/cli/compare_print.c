#include "cli/compare_print.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json_print.h"

/* Files may hold any text. */
static void append_plain(text *out, const char *s)
{
    const size_t start = out->length;

    text_append(out, s);
    if (out->data && !out->failed)
        text_make_plain(out->data + start, "");
}

/* Characters as they stand in a column: bytes that do not continue one of UTF-8. */
static size_t width_of(const char *s)
{
    size_t n = 0;

    for (; *s; s++)
        n += ((unsigned char)*s & 0xC0) != 0x80;
    return n;
}

static void append_padded(text *out, const char *s, size_t width, bool right)
{
    size_t have = width_of(s);

    if (!right)
        append_plain(out, s);
    for (; have < width; have++)
        text_append(out, " ");
    if (right)
        append_plain(out, s);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void text_columns(const comparison *c, text *out)
{
    for (size_t i = 0; i < c->column_count; i++) {
        const compare_column *column = &c->columns[i];
        const result_row *who = column->who;

        text_format(out, "[%zu] ", i + 1);
        append_plain(out, c->files[column->file].path);
        text_append(out, ": ");
        append_plain(out, who->device);
        text_append(out, ", ");
        append_plain(out, who->platform);
        text_append(out, ", driver ");
        append_plain(out, who->driver);
        text_append(out, ", tessera ");
        append_plain(out, who->version);
        if (*who->when) {
            text_append(out, ", ");
            append_plain(out, who->when);
        }
        if (column->base != i)
            text_format(out, "; ratio to [%zu]", column->base + 1);
        text_append(out, "\n");
    }
}

/* What stands in a cell: the rate with its ratio, or why there is none. */
static void describe_cell(const comparison *c, size_t line, size_t column, double least, text *rate,
                          text *ratio)
{
    compare_verdict v = compare_judge(c, line, column);

    if (compare_has_rate(v.row))
        compare_number(v.row->rate, rate);
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

enum { RATE_WIDTH = 12, RATIO_WIDTH = 10 };

static void text_head(const comparison *c, size_t line, size_t name_width, text *out)
{
    text head = {0};

    compare_group_name(c->lines[line].what, &head);
    text_append(out, "\n");
    append_plain(out, text_get(&head));
    if (c->lines[line].what->kind != RESULT_LIMIT)
        text_format(out, "; %s", c->lines[line].what->unit);
    text_append(out, "\n");
    append_padded(out, "", name_width + 2, false);
    for (size_t i = 0; i < c->column_count; i++) {
        text_clear(&head);
        text_format(&head, "[%zu]", i + 1);
        append_padded(out, text_get(&head), RATE_WIDTH, true);
        if (c->columns[i].base != i) {
            text_clear(&head);
            text_format(&head, "/[%zu]  ", c->columns[i].base + 1);
            append_padded(out, text_get(&head), RATIO_WIDTH, true);
        }
    }
    text_append(out, "\n");
    text_free(&head);
}

static void line_name(const compare_line *l, text *out)
{
    text_clear(out);
    compare_name(l, out);
    if (l->what->kind == RESULT_LIMIT)
        text_format(out, " (%s)", l->what->unit);
}

static void text_line(const comparison *c, size_t line, size_t name_width, double least, text *out)
{
    text name = {0}, rate = {0}, ratio = {0};

    line_name(&c->lines[line], &name);
    text_append(out, "  ");
    append_padded(out, text_get(&name), name_width, false);
    for (size_t i = 0; i < c->column_count; i++) {
        text_clear(&rate);
        text_clear(&ratio);
        describe_cell(c, line, i, least, &rate, &ratio);
        append_padded(out, text_get(&rate), RATE_WIDTH, true);
        if (c->columns[i].base != i)
            append_padded(out, text_get(&ratio), RATIO_WIDTH, true);
    }
    while (out->length && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
    text_append(out, "\n");
    text_free(&name);
    text_free(&rate);
    text_free(&ratio);
}

void compare_as_text(const comparison *c, double least, text *out)
{
    size_t width = 16;
    text name = {0};

    for (size_t i = 0; i < c->line_count; i++) {
        line_name(&c->lines[i], &name);
        if (width_of(text_get(&name)) > width)
            width = width_of(text_get(&name));
    }
    text_free(&name);
    text_columns(c, out);
    for (size_t i = 0; i < c->line_count; i++) {
        if (i == 0 || c->lines[i].group != c->lines[i - 1].group)
            text_head(c, i, width, out);
        text_line(c, i, width, least, out);
    }
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

    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "file",
                     json_text(c->files[column->file].path), "device", json_text(who->device),
                     "device_id", json_text(who->device_id), "platform", json_text(who->platform),
                     "driver", json_text(who->driver), "version", json_text(who->version), "when",
                     json_text(who->when), "rows", json_count(column->rows), "base",
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

void compare_as_json(const comparison *c, double least, text *out)
{
    json_t *columns = json_array(), *lines = json_array(), *document;
    char *dumped;

    for (size_t i = 0; i < c->column_count; i++)
        json_array_append_new(columns, column_json(c, i));
    for (size_t i = 0; i < c->line_count; i++)
        json_array_append_new(lines, line_json(c, i, least));
    document =
        json_pack("{s:s, s:o, s:o, s:o}", "schema", "tessera-compare-1", "fail_below",
                  least > 0 ? json_number(least) : json_null(), "columns", columns, "lines", lines);
    dumped = document ? json_dumps(document, JSON_INDENT(2)) : NULL;
    if (dumped)
        text_format(out, "%s\n", dumped);
    else
        out->failed = true;
    free(dumped);
    json_decref(document);
}
