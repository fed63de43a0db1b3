#include "measure/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"

enum { NONE = -1 };

/* The limits are one group, however each was measured. */
static bool same_group(const result_row *a, const result_row *b)
{
    if (a->kind == RESULT_LIMIT || b->kind == RESULT_LIMIT)
        return a->kind == b->kind;
    return !strcmp(a->op, b->op) && !strcmp(a->problem, b->problem) && !strcmp(a->type, b->type) &&
           !strcmp(a->precision, b->precision) && a->cold == b->cold && a->timer == b->timer;
}

static bool same_name(const result_row *a, const result_row *b)
{
    return a->kind == b->kind && !strcmp(a->name, b->name) && same_group(a, b);
}

static bool same_device(const result_row *a, const result_row *b)
{
    return !strcmp(a->device, b->device) && !strcmp(a->device_id, b->device_id);
}

static bool same_driver(const result_row *a, const result_row *b)
{
    return same_device(a, b) && !strcmp(a->platform, b->platform) && !strcmp(a->driver, b->driver);
}

static bool same_column(const result_row *a, const result_row *b)
{
    return same_driver(a, b) && !strcmp(a->version, b->version);
}

void compare_name(const compare_line *line, text *out)
{
    text_append(out, result_shown_name(line->what));
    if (line->by_parameters)
        text_format(out, " [%s]", *line->what->parameters ? line->what->parameters : "default");
}

void compare_group_name(const result_row *row, text *out)
{
    if (row->kind == RESULT_LIMIT) {
        text_append(out, "limits of the device");
        return;
    }
    text_format(out, "%s %s", row->op, row->problem);
    /* A problem usually names its type. */
    if (*row->type && !strstr(row->problem, row->type))
        text_format(out, " %s", row->type);
    if (*row->precision)
        text_format(out, ", %s", row->precision);
    text_format(out, ", %s, %s", row->cold ? "cold" : "warm",
                row->timer == TIMER_EVENTS ? "device time"
                : row->timer == TIMER_HELD ? "device time of calls back to back"
                                           : "wall time");
}

void compare_number(double x, text *out)
{
    char digits[64];
    int n;

    if (!(x < 1e15)) {
        text_format(out, "%.3g", x);
        return;
    }
    if (x < 1000) {
        text_format(out,
                    x > 0 && x < 0.1 ? "%.3g"
                    : x < 10         ? "%.3f"
                    : x < 100        ? "%.2f"
                                     : "%.1f",
                    x);
        return;
    }
    n = snprintf(digits, sizeof digits, "%.0f", x);
    for (int i = 0; i < n; i++) {
        text_append_bytes(out, &digits[i], 1);
        if (i + 1 < n && (n - i - 1) % 3 == 0)
            text_append(out, ",");
    }
}

/* ---- checking the files ---------------------------------------------------------------------- */

static bool only_limits(const compare_file *f)
{
    for (size_t i = 0; i < f->count; i++) {
        if (f->rows[i].kind != RESULT_LIMIT)
            return false;
    }
    return true;
}

static const result_row *first_job(const compare_file *f)
{
    for (size_t i = 0; i < f->count; i++) {
        if (f->rows[i].kind != RESULT_LIMIT)
            return &f->rows[i];
    }
    return NULL;
}

static bool share_group(const compare_file *a, const compare_file *b)
{
    for (size_t i = 0; i < a->count; i++) {
        for (size_t j = 0; j < b->count && a->rows[i].kind != RESULT_LIMIT; j++) {
            if (same_group(&a->rows[i], &b->rows[j]))
                return true;
        }
    }
    return false;
}

static tsr_status nothing_common(const compare_file *a, const compare_file *b, tsr_error *err)
{
    text first = {0}, second = {0};
    tsr_status st;

    compare_group_name(first_job(a), &first);
    compare_group_name(first_job(b), &second);
    st = tsr_fail(err, TSR_EINVAL, 0,
                  "%s and %s have no problem in common: the first has '%s', the second '%s'",
                  a->path, b->path, text_get(&first), text_get(&second));
    text_free(&first);
    text_free(&second);
    return st;
}

/* Every file with jobs shares one with a file before it; files of limits go with any. */
static tsr_status check_files(const compare_file *files, size_t count, tsr_error *err)
{
    const compare_file *first = NULL;

    for (size_t i = 0; i < count; i++) {
        bool shares = false;

        if (!files[i].count)
            return tsr_fail(err, TSR_EINVAL, 0, "%s: it has no result", files[i].path);
        if (only_limits(&files[i]))
            continue;
        for (size_t j = 0; j < i && !shares; j++)
            shares = share_group(&files[j], &files[i]);
        if (first && !shares)
            return nothing_common(first, &files[i], err);
        if (!first)
            first = &files[i];
    }
    return TSR_OK;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* The column that a row of file f belongs to, NONE where there is none yet. */
static ptrdiff_t find_column(const comparison *c, size_t f, const result_row *row)
{
    for (size_t i = 0; i < c->column_count; i++) {
        if (c->columns[i].file == f && same_column(c->columns[i].who, row))
            return (ptrdiff_t)i;
    }
    return NONE;
}

/* A column of jobs that takes the limits of another file. */
static ptrdiff_t adopting_column(const comparison *c, const result_row *row)
{
    for (size_t i = 0; i < c->column_count; i++) {
        if (same_driver(c->columns[i].who, row) && !only_limits(&c->files[c->columns[i].file]))
            return (ptrdiff_t)i;
    }
    return NONE;
}

static ptrdiff_t column_of(const comparison *c, size_t f, const result_row *row)
{
    ptrdiff_t at = only_limits(&c->files[f]) ? adopting_column(c, row) : NONE;

    return at == NONE ? find_column(c, f, row) : at;
}

/* Columns in the order of the files.  Files of jobs come first where `limits` is false: only then
 * is it known who adopts limits. */
static void add_columns(comparison *c, bool limits)
{
    for (size_t f = 0; f < c->file_count; f++) {
        if (only_limits(&c->files[f]) != limits)
            continue;
        for (size_t i = 0; i < c->files[f].count; i++) {
            const result_row *row = &c->files[f].rows[i];
            ptrdiff_t at = column_of(c, f, row);

            if (at == NONE) {
                at = (ptrdiff_t)c->column_count++;
                c->columns[at] = (compare_column){.file = f, .who = row};
            }
            c->columns[at].rows++;
        }
    }
}

static size_t base_of(const comparison *c, size_t column)
{
    const compare_column *me = &c->columns[column];

    for (size_t i = 0; i < column; i++) {
        if (c->columns[i].file != me->file && same_device(c->columns[i].who, me->who))
            return i;
    }
    for (size_t i = 0; i < column; i++) {
        if (c->columns[i].file != me->file && !strcmp(c->columns[i].who->device, me->who->device))
            return i;
    }
    return 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Whether a column holds this line with several parameters. */
static bool has_several_parameters(const comparison *c, const result_row *row)
{
    for (size_t f = 0; f < c->file_count; f++) {
        for (size_t i = 0; i < c->files[f].count; i++) {
            const result_row *a = &c->files[f].rows[i];

            if (!same_name(a, row) || a->kind == RESULT_PEER)
                continue;
            for (size_t j = i + 1; j < c->files[f].count; j++) {
                const result_row *b = &c->files[f].rows[j];

                if (same_name(a, b) && same_column(a, b) &&
                    strcmp(a->parameters, b->parameters) != 0)
                    return true;
            }
        }
    }
    return false;
}

static ptrdiff_t find_line(const comparison *c, const result_row *row)
{
    for (size_t i = 0; i < c->line_count; i++) {
        const compare_line *l = &c->lines[i];

        if (same_name(l->what, row) &&
            (!l->by_parameters || !strcmp(l->what->parameters, row->parameters)))
            return (ptrdiff_t)i;
    }
    return NONE;
}

/* The group of a row, a new one where no line has it yet. */
static size_t group_of(comparison *c, const result_row *row)
{
    for (size_t i = 0; i < c->line_count; i++) {
        if (same_group(c->lines[i].what, row))
            return c->lines[i].group;
    }
    return c->group_count++;
}

/* Where a new line of a group goes: behind the line `before`, else at the group's end. */
static size_t place_of(const comparison *c, size_t group, ptrdiff_t before)
{
    size_t at = c->line_count;

    if (before != NONE && c->lines[before].group == group)
        return (size_t)before + 1;
    while (at > 0 && c->lines[at - 1].group > group)
        at--;
    return at;
}

static size_t add_line(comparison *c, const result_row *row, ptrdiff_t before)
{
    compare_line line = {.what = row, .group = group_of(c, row)};
    size_t at = place_of(c, line.group, before);

    line.by_parameters = has_several_parameters(c, row);
    memmove(c->lines + at + 1, c->lines + at, (c->line_count - at) * sizeof *c->lines);
    c->lines[at] = line;
    c->line_count++;
    return at;
}

/* Files list the steps of a ladder in its order: what only a later file has goes behind the step
 * that it follows there. */
static void add_lines(comparison *c)
{
    for (size_t f = 0; f < c->file_count; f++) {
        ptrdiff_t before = NONE;

        for (size_t i = 0; i < c->files[f].count; i++) {
            const result_row *row = &c->files[f].rows[i];
            ptrdiff_t at = find_line(c, row);

            before = at == NONE ? (ptrdiff_t)add_line(c, row, before) : at;
        }
    }
}

static void fill_cells(comparison *c)
{
    for (size_t f = 0; f < c->file_count; f++) {
        for (size_t i = 0; i < c->files[f].count; i++) {
            const result_row *row = &c->files[f].rows[i];
            size_t line = (size_t)find_line(c, row);
            size_t column = (size_t)column_of(c, f, row);

            const result_row **cell = &c->cells[line * c->column_count + column];

            /* A row that a budget kept from being measured takes nothing from one that was. */
            if (!*cell || row->outcome != RESULT_LATE)
                *cell = row;
        }
    }
}

tsr_status compare_build(const compare_file *files, size_t count, comparison *out, tsr_error *err)
{
    comparison c = {.files = files, .file_count = count};
    tsr_status st = check_files(files, count, err);
    size_t rows = 0, cells;

    if (st)
        return st;
    for (size_t f = 0; f < count; f++)
        rows += files[f].count;
    /* A row makes at most one column and one line. */
    c.columns = calloc(rows, sizeof *c.columns);
    c.lines = calloc(rows, sizeof *c.lines);
    if (!c.columns || !c.lines) {
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory to compare %zu rows", rows);
        goto cleanup;
    }
    add_columns(&c, false);
    add_columns(&c, true);
    for (size_t i = 0; i < c.column_count; i++)
        c.columns[i].base = base_of(&c, i);
    add_lines(&c);
    if (size_mul(c.line_count, c.column_count, &cells))
        c.cells = calloc(cells, sizeof *c.cells);
    if (!c.cells) {
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu lines of %zu columns", c.line_count,
                      c.column_count);
        goto cleanup;
    }
    fill_cells(&c);
    *out = c;
    c = (comparison){0}; /* moved to the caller */

cleanup:
    compare_close(&c);
    return st;
}

void compare_close(comparison *c)
{
    free(c->columns);
    free(c->lines);
    free(c->cells);
    *c = (comparison){0};
}

/* ---- verdicts -------------------------------------------------------------------------------- */

const result_row *compare_cell(const comparison *c, size_t line, size_t column)
{
    return c->cells[line * c->column_count + column];
}

bool compare_has_rate(const result_row *row)
{
    return row && row->outcome == RESULT_TIMED && row->rate > 0 && isfinite(row->rate) &&
           (row->verified || row->kind == RESULT_LIMIT);
}

const char *compare_outcome_name(compare_outcome outcome)
{
    static const char *const names[] = {[COMPARE_RATIO] = "ratio",
                                        [COMPARE_NO_BASE] = "no base",
                                        [COMPARE_MISSING] = "missing",
                                        [COMPARE_UNSUPPORTED] = "unsupported",
                                        [COMPARE_UNVERIFIED] = "unverified"};

    return names[outcome];
}

/* How much faster than the median the faster quartile is, and how much slower the slower one. */
static double faster_quartile(const result_row *row)
{
    return row->time.low_ns > 0 && row->time.median_ns > 0 ? row->time.median_ns / row->time.low_ns
                                                           : 1;
}

static double slower_quartile(const result_row *row)
{
    return row->time.high_ns > 0 && row->time.median_ns > 0
               ? row->time.median_ns / row->time.high_ns
               : 1;
}

compare_verdict compare_judge(const comparison *c, size_t line, size_t column)
{
    compare_verdict v = {.outcome = COMPARE_NO_BASE, .row = compare_cell(c, line, column)};

    if (c->columns[column].base == column)
        return v;
    v.base = compare_cell(c, line, c->columns[column].base);
    if (v.row && v.row->outcome == RESULT_TIMED && !compare_has_rate(v.row)) {
        v.outcome = COMPARE_UNVERIFIED;
    } else if (!compare_has_rate(v.base)) {
        v.outcome = COMPARE_NO_BASE;
    } else if (!v.row) {
        v.outcome = v.base->kind == RESULT_LIMIT ? COMPARE_NO_BASE : COMPARE_MISSING;
    } else if (v.row->outcome != RESULT_TIMED) {
        v.outcome = COMPARE_UNSUPPORTED;
    } else {
        v.outcome = COMPARE_RATIO;
        v.ratio =
            strcmp(v.row->unit, "us") ? v.row->rate / v.base->rate : v.base->rate / v.row->rate;
        v.favourable = v.ratio * faster_quartile(v.row) / slower_quartile(v.base);
    }
    return v;
}

bool compare_judged(const compare_verdict *v)
{
    if (v->outcome != COMPARE_RATIO || v->row->kind == RESULT_PEER)
        return false;
    return v->row->kind == RESULT_LIMIT || (v->row->time.count >= COMPARE_SAMPLES_MIN &&
                                            v->base->time.count >= COMPARE_SAMPLES_MIN);
}

bool compare_broken(const compare_verdict *v)
{
    return v->outcome == COMPARE_UNSUPPORTED &&
           (v->row->kind == RESULT_KERNEL || v->row->kind == RESULT_OVERLAP) &&
           (v->row->outcome == RESULT_WRONG || v->row->outcome == RESULT_FAILED);
}

bool compare_lost(const compare_verdict *v, double least)
{
    return compare_broken(v) || (v->outcome == COMPARE_RATIO && v->favourable < least);
}
