#include "measure/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/registry.h"

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

/* Whether every word of `a` is one of `b`. */
static bool has_words(const char *a, const char *b)
{
    for (size_t n; *(a += strspn(a, " ")); a += n) {
        const char *at = b;
        size_t m;

        n = strcspn(a, " ");
        for (; *(at += strspn(at, " ")); at += m) {
            m = strcspn(at, " ");
            if (m == n && !strncmp(at, a, n))
                break;
        }
        if (!*at)
            return false;
    }
    return true;
}

/* "TILE=16 ROWS=4" are the parameters "ROWS=4 TILE=16". */
static bool same_parameters(const result_row *a, const result_row *b)
{
    return has_words(a->parameters, b->parameters) && has_words(b->parameters, a->parameters);
}

static bool same_column(const result_row *a, const result_row *b)
{
    return result_same_driver(a, b) && !strcmp(a->version, b->version);
}

void compare_name(const compare_line *line, text *out)
{
    text_append(out, result_shown_name(line->what));
    if (line->by_parameters)
        text_format(out, " [%s]", *line->what->parameters ? line->what->parameters : "default");
}

static void job_name(const result_row *row, text *out)
{
    text_format(out, "%s %s", row->op, row->problem);
    /* A problem usually names its type. */
    if (*row->type && !strstr(row->problem, row->type))
        text_format(out, " %s", row->type);
    if (*row->precision)
        text_format(out, ", %s", row->precision);
    text_append(out, row->cold ? ", cold" : ", warm");
}

void compare_group_name(const result_row *row, text *out)
{
    if (row->kind == RESULT_LIMIT) {
        text_append(out, "limits of the device");
        return;
    }
    job_name(row, out);
    text_format(out, ", %s",
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

const char *compare_unit(const char *unit, double largest, double *scale)
{
    static const char *const thousands[][2] = {
        {"GFLOP/s", "TFLOP/s"}, {"GB/s", "TB/s"}, {"Gop/s", "Top/s"}, {"Mkeys/s", "Gkeys/s"}};

    *scale = 1;
    for (size_t i = 0; i < sizeof thousands / sizeof *thousands && largest >= 1000; i++) {
        if (!strcmp(unit, thousands[i][0])) {
            *scale = 1e-3;
            return thousands[i][1];
        }
    }
    return unit;
}

void compare_rate(double rate, const char *unit, text *out)
{
    double scale;
    const char *shown = compare_unit(unit, rate, &scale);

    compare_number(rate * scale, out);
    text_format(out, " %s", shown);
}

void compare_short_rate(double rate, const char *unit, text *out)
{
    double scale;
    /* 999.7 is 1000 in three digits. */
    const char *shown = compare_unit(unit, rate >= 999.5 ? 1000 : rate, &scale);

    text_format(out, "%.3g %s", rate * scale, shown);
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

static tsr_status check_files(const compare_file *files, size_t count, tsr_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!files[i].count)
            return tsr_fail(err, TSR_EINVAL, 0, "%s: it has no result", files[i].path);
    return TSR_OK;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* The source that a row of file f belongs to, NONE where there is none yet. */
static ptrdiff_t find_source(const comparison *c, size_t f, const result_row *row)
{
    for (size_t i = 0; i < c->source_count; i++) {
        if (c->sources[i].file == f && same_column(c->sources[i].who, row))
            return (ptrdiff_t)i;
    }
    return NONE;
}

/* Whether two sources measured the same job. */
static bool share_job(const comparison *c, const compare_source *x, const compare_source *y)
{
    const compare_file *a = &c->files[x->file], *b = &c->files[y->file];

    for (size_t i = 0; i < a->count; i++) {
        if (a->rows[i].kind == RESULT_LIMIT || !same_column(&a->rows[i], x->who))
            continue;
        for (size_t j = 0; j < b->count; j++)
            if (same_group(&a->rows[i], &b->rows[j]) && same_column(&b->rows[j], y->who))
                return true;
    }
    return false;
}

/* Whether a source belongs into a column: it has limits of its device, or jobs that none of the
 * column's sources measured. */
static bool extends(const comparison *c, const compare_source *s, size_t column)
{
    const result_row *who = c->columns[column].who;

    if (only_limits(&c->files[c->columns[column].file]))
        return false;
    if (only_limits(&c->files[s->file]))
        return result_same_driver(who, s->who);
    if (!same_column(who, s->who))
        return false;
    for (size_t i = 0; &c->sources[i] < s; i++)
        if (c->sources[i].column == column && share_job(c, &c->sources[i], s))
            return false;
    return true;
}

static void place_source(comparison *c, compare_source *s)
{
    for (s->column = 0; s->column < c->column_count; s->column++)
        if (c->columns[s->column].file != s->file && extends(c, s, s->column))
            return;
    c->columns[c->column_count++] = (compare_column){.file = s->file, .who = s->who};
}

/* Sources and their columns, in the order of the files.  Files of jobs come first where `limits` is
 * false: only then is it known who adopts limits. */
static void add_columns(comparison *c, bool limits)
{
    for (size_t f = 0; f < c->file_count; f++) {
        if (only_limits(&c->files[f]) != limits)
            continue;
        for (size_t i = 0; i < c->files[f].count; i++) {
            const result_row *row = &c->files[f].rows[i];
            ptrdiff_t at = find_source(c, f, row);

            if (at == NONE) {
                at = (ptrdiff_t)c->source_count++;
                c->sources[at] = (compare_source){.file = f, .who = row};
                place_source(c, &c->sources[at]);
            }
            c->columns[c->sources[at].column].rows++;
        }
    }
}

static size_t base_of(const comparison *c, size_t column)
{
    const compare_column *me = &c->columns[column];

    for (size_t i = 0; i < column; i++) {
        if (c->columns[i].file != me->file && result_same_device(c->columns[i].who, me->who))
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

                if (same_name(a, b) && same_column(a, b) && !same_parameters(a, b))
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

        if (same_name(l->what, row) && (!l->by_parameters || same_parameters(l->what, row)))
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

    /* A point of an experiment is one of its knob also where it is alone. */
    line.by_parameters =
        (row->kind == RESULT_LAB && *row->parameters) || has_several_parameters(c, row);
    memmove(c->lines + at + 1, c->lines + at, (c->line_count - at) * sizeof *c->lines);
    c->lines[at] = line;
    c->line_count++;
    return at;
}

/* Where a variant stands in the table of its operation, from 1; 0 of what is not in it. */
static size_t place_in_table(const result_row *row)
{
    const operation *op = row->kind == RESULT_KERNEL ? operation_named(row->op) : NULL;

    for (size_t i = 0; op && i < op->variant_count; i++)
        if (!strcmp(op->variants[i]->name, row->name))
            return i + 1;
    return 0;
}

/* Sort a group's variants as in the operation's table.  Lines that are not in it, such as peers,
 * keep their places. */
static void sort_group(compare_line *lines, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const compare_line line = lines[i];
        const size_t mine = place_in_table(line.what);
        size_t to = i;

        for (size_t k = i; mine && k > 0; k--)
            if (place_in_table(lines[k - 1].what) > mine)
                to = k - 1;
        memmove(lines + to + 1, lines + to, (i - to) * sizeof *lines);
        lines[to] = line;
    }
}

static void fill_cells(comparison *c)
{
    for (size_t f = 0; f < c->file_count; f++) {
        for (size_t i = 0; i < c->files[f].count; i++) {
            const result_row *row = &c->files[f].rows[i];
            size_t line = (size_t)find_line(c, row);
            size_t column = c->sources[find_source(c, f, row)].column;

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
    /* A row makes at most one source, one column and one line. */
    c.sources = calloc(rows, sizeof *c.sources);
    c.columns = calloc(rows, sizeof *c.columns);
    c.lines = calloc(rows, sizeof *c.lines);
    if (!c.sources || !c.columns || !c.lines) {
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory to compare %zu rows", rows);
        goto cleanup;
    }
    add_columns(&c, false);
    add_columns(&c, true);
    for (size_t i = 0; i < c.column_count; i++)
        c.columns[i].base = base_of(&c, i);
    /* Files list the steps of a ladder in its order: what only a later file has goes behind the
     * step that it follows there. */
    for (size_t f = 0; f < c.file_count; f++) {
        ptrdiff_t before = NONE;

        for (size_t i = 0; i < c.files[f].count; i++) {
            const result_row *row = &c.files[f].rows[i];
            ptrdiff_t at = find_line(&c, row);

            before = at == NONE ? (ptrdiff_t)add_line(&c, row, before) : at;
        }
    }
    for (size_t i = 0, end; i < c.line_count; i = end) {
        for (end = i + 1; end < c.line_count && c.lines[end].group == c.lines[i].group; end++)
            ;
        sort_group(c.lines + i, end - i);
    }
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
    free(c->sources);
    free(c->columns);
    free(c->lines);
    free(c->cells);
    *c = (comparison){0};
}

const char *compare_line_unit(const comparison *c, size_t line, double *scale)
{
    const bool apart = c->lines[line].what->kind == RESULT_LIMIT;
    double largest = 0;

    for (size_t i = 0; i < c->line_count; i++) {
        if (apart ? i != line : c->lines[i].group != c->lines[line].group)
            continue;
        for (size_t j = 0; j < c->column_count; j++) {
            const result_row *row = compare_cell(c, i, j);

            if (compare_has_rate(row))
                largest = fmax(largest, row->rate);
        }
    }
    return compare_unit(c->lines[line].what->unit, largest, scale);
}

void compare_paths(const comparison *c, size_t column, text *out)
{
    const char *before = "";

    for (size_t i = 0; i < c->source_count; i++) {
        if (c->sources[i].column != column)
            continue;
        text_format(out, "%s%s", before, c->files[c->sources[i].file].path);
        before = " + ";
    }
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
        v.ratio = result_unit_is_cost(v.row->unit) ? v.base->rate / v.row->rate
                                                   : v.row->rate / v.base->rate;
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

/* ---- the fastest of each job ----------------------------------------------------------------- */

static bool same_job(const result_row *a, const result_row *b)
{
    return !strcmp(a->op, b->op) && !strcmp(a->problem, b->problem) && !strcmp(a->type, b->type) &&
           !strcmp(a->precision, b->precision) && a->cold == b->cold;
}

/* A rate of a row by one clock, 0 where it was not taken by that one. */
static double rate_by(const result_row *row, bool wall)
{
    if (row->timer == TIMER_WALL)
        return wall ? row->rate : 0;
    if (row->timer != TIMER_EVENTS)
        return 0;
    return wall ? row->wall_ns > 0 ? row->rate * row->time.median_ns / row->wall_ns : 0 : row->rate;
}

/* The fastest variant of a job in each column, by one clock. */
static void find_fastest(const comparison *c, const result_row *what, bool wall, compare_best *best)
{
    for (size_t i = 0; i < c->line_count; i++) {
        if (c->lines[i].what->kind != RESULT_KERNEL || !same_job(c->lines[i].what, what))
            continue;
        for (size_t j = 0; j < c->column_count; j++) {
            const result_row *row = compare_cell(c, i, j);
            const double rate = compare_has_rate(row) ? rate_by(row, wall) : 0;

            if (rate > best[j].rate)
                best[j] = (compare_best){.row = row, .rate = rate, .wall = wall};
        }
    }
}

/* Device time where every column has it; else wall time, and device time in columns that have
 * nothing else. */
static void fill_job(const comparison *c, const compare_job *entry, compare_best *by_device)
{
    bool differ = false;

    find_fastest(c, entry->what, true, entry->best);
    find_fastest(c, entry->what, false, by_device);
    for (size_t j = 0; j < c->column_count; j++)
        differ = differ || (entry->best[j].row && !by_device[j].row);
    for (size_t j = 0; j < c->column_count; j++)
        if (!differ || !entry->best[j].row)
            entry->best[j] = by_device[j];
}

static void fill_ratios(const comparison *c, compare_best *best)
{
    for (size_t j = 0; j < c->column_count; j++) {
        size_t base = c->columns[j].base;

        if (!best[base].row || best[base].wall != best[j].wall)
            for (base = 0; base < j && (!best[base].row || best[base].wall != best[j].wall); base++)
                ;
        best[j].base = base;
        if (best[j].row && base != j)
            best[j].ratio = best[j].rate / best[base].rate;
    }
}

static bool is_new_job(const comparison *c, size_t line)
{
    if (c->lines[line].what->kind != RESULT_KERNEL)
        return false;
    for (size_t i = 0; i < line; i++)
        if (c->lines[i].what->kind == RESULT_KERNEL &&
            same_job(c->lines[i].what, c->lines[line].what))
            return false;
    return true;
}

tsr_status compare_jobs(const comparison *c, compare_job **out, size_t *count, tsr_error *err)
{
    compare_job *jobs = calloc(c->line_count + 1, sizeof *jobs);
    compare_best *best = calloc(c->line_count * c->column_count + 1, sizeof *best);
    compare_best *by_device = calloc(c->column_count + 1, sizeof *by_device);
    size_t n = 0;

    if (!jobs || !best || !by_device) {
        free(jobs);
        free(best);
        free(by_device);
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for the jobs of %zu lines", c->line_count);
    }
    jobs[0].best = best;
    for (size_t i = 0; i < c->line_count; i++) {
        compare_job *entry = &jobs[n];

        if (!is_new_job(c, i))
            continue;
        entry->what = c->lines[i].what;
        entry->best = best + n * c->column_count;
        memset(by_device, 0, c->column_count * sizeof *by_device);
        fill_job(c, entry, by_device);
        fill_ratios(c, entry->best);
        for (size_t j = 0; j < c->column_count; j++)
            entry->columns += entry->best[j].row != NULL;
        if (entry->columns)
            n++;
    }
    free(by_device);
    *out = jobs;
    *count = n;
    return TSR_OK;
}

void compare_jobs_free(compare_job *jobs)
{
    if (jobs)
        free(jobs[0].best);
    free(jobs);
}

void compare_job_name(const compare_job *entry, text *out)
{
    job_name(entry->what, out);
}

void compare_roof(const result_row *row, double rate, text *out)
{
    if (row->limit_rate > 0)
        text_format(out, "%.1f%% of %s", 100 * rate / row->limit_rate, row->bound_by);
}
