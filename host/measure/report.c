#include "measure/report.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "measure/report_parts.h"

/* What a page shows. */
typedef struct page {
    const comparison *c;
    const compare_file *errors; /* of each file; NULL for none */
    const compare_job *jobs;
    size_t job_count;
} page;

/* ---- text in a page -------------------------------------------------------------------------- */

static void html_text(text *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '&')
            text_append(out, "&amp;");
        else if (*s == '<')
            text_append(out, "&lt;");
        else if (*s == '>')
            text_append(out, "&gt;");
        else if (*s == '"')
            text_append(out, "&quot;");
        else if (*s == '\'')
            text_append(out, "&#39;");
        else if ((unsigned char)*s >= ' ' || *s == '\n' || *s == '\t')
            text_append_bytes(out, s, 1);
    }
}

/* JSON inside <script>: the parser of HTML reads "</script" and "<!--" there, so no '<' stays.  In
 * JSON it stands in strings alone, where the escape means the same. */
static void script_json(text *out, const text *json)
{
    const char *s = text_get(json);

    for (size_t i = 0; i < json->length; i++) {
        if (s[i] == '<' || s[i] == '>' || s[i] == '&')
            text_format(out, "\\u%04x", (unsigned)s[i]);
        else
            text_append_bytes(out, s + i, 1);
    }
}

/* A string of JSON.  A path may hold bytes that are no UTF-8; the reader of the page replaces them.
 */
static void json_string_of(text *out, const char *s)
{
    text_append(out, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            text_format(out, "\\%c", *s);
        else if ((unsigned char)*s < ' ')
            text_format(out, "\\u%04x", (unsigned)*s);
        else
            text_append_bytes(out, s, 1);
    }
    text_append(out, "\"");
}

static void member(text *out, const char *name, const char *value)
{
    text_format(out, "\"%s\":", name);
    json_string_of(out, value);
}

/* ---- formats --------------------------------------------------------------------------------- */

static void duration(text *out, double ns)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "\xC2\xB5s"}, {0, "ns"}};
    size_t i = 0;

    if (!(ns > 0))
        return;
    while (ns < units[i].ns)
        i++;
    text_format(out, "%.3g %s", units[i].ns > 0 ? ns / units[i].ns : ns, units[i].unit);
}

/* ---- devices --------------------------------------------------------------------------------- */

static void fact(text *out, const char *name, const char *value)
{
    if (!*value)
        return;
    text_format(out, "<dt>%s</dt><dd>", name);
    html_text(out, value);
    text_append(out, "</dd>");
}

/* The job of an operation that a card shows: one that most columns have, so that cards show the
 * same one; of these a cold one, and the fastest. */
static const compare_job *card_job(const page *p, const char *op)
{
    const compare_job *shown = NULL;
    double fastest = 0;

    for (size_t i = 0; i < p->job_count; i++) {
        const compare_job *entry = &p->jobs[i];
        double rate = 0;

        if (strcmp(entry->what->op, op) != 0)
            continue;
        for (size_t j = 0; j < p->c->column_count; j++)
            rate = fmax(rate, entry->best[j].rate);
        if (!shown || entry->columns > shown->columns ||
            (entry->columns == shown->columns &&
             (entry->what->cold > shown->what->cold ||
              (entry->what->cold == shown->what->cold && rate > fastest)))) {
            shown = entry;
            fastest = rate;
        }
    }
    return shown;
}

static void device_best(const page *p, size_t column, const char *op, text *out)
{
    const compare_job *entry = card_job(p, op);
    const compare_best *best = entry ? &entry->best[column] : NULL;
    text roof = {0};
    const char *unit;
    double scale;

    if (!best || !best->row)
        return;
    unit = compare_unit(best->row->unit, best->rate, &scale);
    compare_roof(best->row, best->rate, &roof);
    text_format(out, "<li><span class=\"op\">%s</span> <span class=\"rate\"><b>", op);
    compare_number(best->rate * scale, out);
    text_append(out, "</b> ");
    html_text(out, unit);
    text_append(out, "</span><span class=\"how\">");
    html_text(out, best->row->name);
    text_append(out, ", ");
    html_text(out, best->row->problem);
    text_format(out, ", %s time", best->wall ? "wall" : "device");
    if (roof.length) {
        text_append(out, "; ");
        html_text(out, text_get(&roof));
    }
    text_append(out, "</span></li>");
    text_free(&roof);
}

static void device_card(const page *p, size_t i, text *out)
{
    const comparison *c = p->c;
    const compare_column *column = &c->columns[i];
    const result_row *who = column->who;
    text paths = {0};

    text_format(out, "<article class=\"card c%zu\"><h3><span class=\"key\">%zu</span> ", i % 6,
                i + 1);
    html_text(out, who->device);
    text_append(out, "</h3><ul class=\"best\">");
    for (size_t k = 0; k < operation_count; k++)
        device_best(p, i, operations[k]->name, out);
    text_append(out, "</ul><dl>");
    fact(out, "Vendor", who->vendor);
    fact(out, "Platform", who->platform);
    fact(out, "Driver", who->driver);
    fact(out, "Number", who->device_id);
    fact(out, "Tessera", who->version);
    fact(out, "Measured", who->when);
    compare_paths(c, i, &paths);
    fact(out, "File", text_get(&paths));
    text_free(&paths);
    text_format(out, "<dt>Rows</dt><dd>%zu</dd></dl></article>\n", column->rows);
}

static void part_devices(const page *p, text *out)
{
    for (size_t i = 0; i < p->c->column_count; i++)
        device_card(p, i, out);
}

static void part_title(const page *p, text *out)
{
    const comparison *c = p->c;

    for (size_t i = 0; i < c->column_count; i++) {
        bool seen = false;

        for (size_t j = 0; j < i; j++)
            seen |= !strcmp(c->columns[j].who->device, c->columns[i].who->device);
        if (seen)
            continue;
        if (i)
            text_append(out, ", ");
        html_text(out, c->columns[i].who->device);
    }
}

/* ---- the fastest of each job ----------------------------------------------------------------- */

static void best_cell(const compare_best *b, bool has_ratio, text *out)
{
    text roof = {0}, rate = {0};

    if (!b->row) {
        text_append(out, has_ratio ? "<td></td><td></td>" : "<td></td>");
        return;
    }
    compare_rate(b->rate, b->row->unit, &rate);
    text_append(out, "<td class=\"n\">");
    html_text(out, text_get(&rate));
    text_append(out, "<br><small>");
    html_text(out, b->row->name);
    compare_roof(b->row, b->rate, &roof);
    if (roof.length) {
        text_append(out, "<br>");
        html_text(out, text_get(&roof));
    }
    text_append(out, "</small></td>");
    if (has_ratio)
        text_append(out, "<td class=\"n\">");
    if (has_ratio && b->ratio > 0) {
        compare_number(b->ratio, out);
        text_format(out, "<br><small>to %zu</small>", b->base + 1);
    }
    if (has_ratio)
        text_append(out, "</td>");
    text_free(&roof);
    text_free(&rate);
}

static const char *job_clock(const page *p, const compare_job *entry)
{
    bool wall = false, device = false;

    for (size_t j = 0; j < p->c->column_count; j++) {
        wall = wall || (entry->best[j].row && entry->best[j].wall);
        device = device || (entry->best[j].row && !entry->best[j].wall);
    }
    return !wall ? "device time" : device ? "wall time and device time" : "wall time";
}

/* Whether a job that `least` columns have has a rate in column j. */
static bool has_jobs(const page *p, size_t least, size_t j)
{
    for (size_t i = 0; i < p->job_count; i++)
        if (p->jobs[i].columns >= least && p->jobs[i].best[j].row)
            return true;
    return false;
}

/* Jobs that several columns have; of one column every job.  Columns that have none of them are left
 * out. */
static void part_fastest(const page *p, text *out)
{
    const size_t count = p->c->column_count, least = count < 2 ? count : 2;
    size_t first = 0;

    while (first < count && !has_jobs(p, least, first))
        first++;
    text_append(out, "<thead><tr><th scope=\"col\"></th>");
    for (size_t j = first; j < count; j++) {
        if (!has_jobs(p, least, j))
            continue;
        text_format(out, "<th scope=\"col\" class=\"n\"><span class=\"key k%zu\">%zu</span> ",
                    j % 6, j + 1);
        html_text(out, p->c->columns[j].who->device);
        text_append(out, j > first ? "</th><th scope=\"col\" class=\"n\">Ratio</th>" : "</th>");
    }
    text_append(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < p->job_count; i++) {
        text name = {0};

        if (p->jobs[i].columns < least)
            continue;
        compare_job_name(&p->jobs[i], &name);
        text_append(out, "<tr><th scope=\"row\">");
        html_text(out, text_get(&name));
        text_format(out, ", %s</th>", job_clock(p, &p->jobs[i]));
        for (size_t j = first; j < count; j++)
            if (has_jobs(p, least, j))
                best_cell(&p->jobs[i].best[j], j > first, out);
        text_append(out, "</tr>\n");
        text_free(&name);
    }
    text_append(out, "</tbody>");
}

/* ---- side by side ---------------------------------------------------------------------------- */

static void cell(const comparison *c, size_t line, size_t column, text *out)
{
    const compare_verdict v = compare_judge(c, line, column);

    if (compare_has_rate(v.row)) {
        double scale;

        compare_line_unit(c, line, &scale);
        text_append(out, "<td class=\"n\">");
        compare_number(v.row->rate * scale, out);
    } else if (v.row && v.row->outcome != RESULT_TIMED) {
        text_append(out, "<td class=\"why\" title=\"");
        html_text(out, v.row->unsupported);
        text_append(out, "\">");
        text_append(out, result_outcome_name(v.row->outcome));
    } else if (v.row) {
        text_append(out, "<td class=\"why\">unverified");
    } else {
        text_append(out, v.outcome == COMPARE_MISSING ? "<td class=\"why\">missing" : "<td>");
    }
    text_append(out, "</td>");
    if (c->columns[column].base == column)
        return;
    if (v.outcome != COMPARE_RATIO) {
        text_append(out, "<td></td>");
        return;
    }
    text_format(out, "<td class=\"n %s\">",
                v.favourable < 1 ? "slower"
                : v.ratio > 1    ? "faster"
                                 : "");
    compare_number(v.ratio, out);
    text_append(out, "</td>");
}

static void side_head(const comparison *c, size_t line, text *out)
{
    const result_row *what = c->lines[line].what;
    text name = {0};
    double scale;

    compare_group_name(what, &name);
    text_append(out, "<div class=\"scroll\" tabindex=\"0\"><table><caption>");
    html_text(out, text_get(&name));
    if (what->kind != RESULT_LIMIT) {
        text_append(out, "; ");
        html_text(out, compare_line_unit(c, line, &scale));
    }
    text_append(out, "</caption><thead><tr><th scope=\"col\"></th>");
    for (size_t i = 0; i < c->column_count; i++) {
        text_format(out, "<th scope=\"col\" class=\"n\"><span class=\"key k%zu\">%zu</span> ",
                    i % 6, i + 1);
        html_text(out, c->columns[i].who->device);
        text_append(out, "</th>");
        if (c->columns[i].base != i)
            text_format(out, "<th scope=\"col\" class=\"n\">%zu to %zu</th>", i + 1,
                        c->columns[i].base + 1);
    }
    text_append(out, "</tr></thead><tbody>\n");
    text_free(&name);
}

static void part_side_by_side(const page *p, text *out)
{
    const comparison *c = p->c;

    for (size_t i = 0; i < c->line_count; i++) {
        const compare_line *l = &c->lines[i];
        text name = {0};

        if (i == 0 || l->group != c->lines[i - 1].group)
            side_head(c, i, out);
        compare_name(l, &name);
        text_format(out, "<tr class=\"%s\"><th scope=\"row\">",
                    l->what->kind == RESULT_PEER ? "peer" : "");
        html_text(out, text_get(&name));
        if (l->what->kind == RESULT_LIMIT) {
            double scale;

            text_append(out, " <small>");
            html_text(out, compare_line_unit(c, i, &scale));
            text_append(out, "</small>");
        }
        text_append(out, "</th>");
        for (size_t j = 0; j < c->column_count; j++)
            cell(c, i, j, out);
        text_append(out, "</tr>\n");
        text_free(&name);
        if (i + 1 == c->line_count || c->lines[i + 1].group != l->group)
            text_append(out, "</tbody></table></div>\n");
    }
}

/* ---- everything ------------------------------------------------------------------------------ */

static void column_name(text *out, const result_row *r)
{
    html_text(out, r->name);
    if (*r->peer_version) {
        text_append(out, " ");
        html_text(out, r->peer_version);
    }
}

static void column_problem(text *out, const result_row *r)
{
    html_text(out, r->op);
    text_append(out, " ");
    html_text(out, r->problem);
}

static void column_precision(text *out, const result_row *r)
{
    html_text(out, r->precision);
}

static void column_how(text *out, const result_row *r)
{
    text_append(out, r->cold ? "cold, " : "warm, ");
    text_append(out, r->timer == TIMER_EVENTS ? "device"
                     : r->timer == TIMER_HELD ? "device, back to back"
                                              : "wall");
}

static void column_rate(text *out, const result_row *r)
{
    text rate = {0};

    if (compare_has_rate(r))
        compare_rate(r->rate, r->unit, &rate);
    html_text(out, text_get(&rate));
    text_free(&rate);
}

static void column_median(text *out, const result_row *r)
{
    duration(out, r->time.median_ns);
}

static void column_spread(text *out, const result_row *r)
{
    if (r->time.median_ns > 0)
        text_format(out, "&#177;%.1f%%", 100 * timing_spread(&r->time));
}

static void column_least(text *out, const result_row *r)
{
    duration(out, r->time.min_ns);
}

static void column_most(text *out, const result_row *r)
{
    duration(out, r->time.max_ns);
}

static void column_samples(text *out, const result_row *r)
{
    if (r->time.count)
        text_format(out, "%zu&#215;%zu", r->time.count, r->time.calls);
}

static void column_share(text *out, const result_row *r)
{
    if (r->share > 0)
        text_format(out, "%.1f%%", 100 * r->share);
    if (r->share > 0) {
        text_append(out, " of ");
        html_text(out, r->bound_by);
    }
}

static void column_error(text *out, const result_row *r)
{
    if (r->verified)
        text_format(out, "%.2g%s", r->worst, r->sampled ? " (sampled)" : "");
    else if (r->kind != RESULT_LIMIT && r->outcome == RESULT_TIMED)
        text_append(out, "not verified");
}

static void column_parameters(text *out, const result_row *r)
{
    html_text(out, r->parameters);
}

static void column_build(text *out, const result_row *r)
{
    duration(out, r->build_cold_ns);
    if (r->build_cached_ns > 0)
        text_append(out, ", cached ");
    duration(out, r->build_cached_ns);
}

static void column_enqueue(text *out, const result_row *r)
{
    duration(out, r->enqueue_ns);
}

static void column_copies(text *out, const result_row *r)
{
    duration(out, r->to_device_ns);
    if (r->from_device_ns > 0)
        text_append(out, " in, ");
    duration(out, r->from_device_ns);
    if (r->from_device_ns > 0)
        text_append(out, " out");
}

static void column_workspace(text *out, const result_row *r)
{
    const double bytes = (double)r->workspace_bytes;

    if (bytes >= 1 << 20)
        text_format(out, "%.4g MiB", bytes / (1 << 20));
    else if (bytes >= 1 << 10)
        text_format(out, "%.4g KiB", bytes / (1 << 10));
    else if (bytes > 0)
        text_format(out, "%.0f B", bytes);
}

static void column_chosen(text *out, const result_row *r)
{
    html_text(out, r->outcome == RESULT_TIMED ? r->chosen : r->unsupported);
}

static void column_options(text *out, const result_row *r)
{
    html_text(out, r->options);
}

static const struct {
    const char *heading;
    const char *css; /* classes: "n" is a number, "screen" is left out in print */
    void (*write)(text *out, const result_row *row);
} everything[] = {
    {"Name", "", column_name},
    {"Problem", "", column_problem},
    {"Precision", "", column_precision},
    {"Rate", "n", column_rate},
    {"Median", "n", column_median},
    {"Quartiles", "n", column_spread},
    {"Fastest", "n screen", column_least},
    {"Slowest", "n screen", column_most},
    {"Samples &#215; calls", "n screen", column_samples},
    {"Of the limit", "n", column_share},
    {"Error / bound", "n", column_error},
    {"Inputs, timer", "", column_how},
    {"Parameters", "", column_parameters},
    {"Build", "screen", column_build},
    {"Enqueue", "n screen", column_enqueue},
    {"Copies", "", column_copies},
    {"Workspace", "n screen", column_workspace},
    {"Chosen, or why not", "long screen", column_chosen},
    {"Compiled with", "long screen", column_options},
};

enum { EVERYTHING = sizeof everything / sizeof *everything };

static void part_everything(const page *p, text *out)
{
    const comparison *c = p->c;

    text_append(out, "<thead><tr><th scope=\"col\"></th>");
    for (size_t k = 0; k < EVERYTHING; k++)
        text_format(out, "<th scope=\"col\" class=\"%s\">%s</th>", everything[k].css,
                    everything[k].heading);
    text_append(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < c->line_count; i++) {
        for (size_t j = 0; j < c->column_count; j++) {
            const result_row *row = compare_cell(c, i, j);

            if (!row)
                continue;
            text_format(out, "<tr><td><span class=\"key k%zu\">%zu</span></td>", j % 6, j + 1);
            for (size_t k = 0; k < EVERYTHING; k++) {
                text_format(out, "<td class=\"%s\">", everything[k].css);
                everything[k].write(out, row);
                text_append(out, "</td>");
            }
            text_append(out, "</tr>\n");
        }
    }
    text_append(out, "</tbody>\n");
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* The next word of a problem that is not its precision, and its length; 0 at the end. */
static size_t next_word(const char **at, const char *precision)
{
    size_t n;

    for (;; *at += n) {
        *at += strspn(*at, " ");
        n = strcspn(*at, " ");
        if (n == 0 || n != strlen(precision) || strncmp(*at, precision, n) != 0)
            return n;
    }
}

/* Whether two rows are of one problem, each in a precision of its own. */
static bool same_problem(const result_row *a, const result_row *b)
{
    const char *x = a->problem, *y = b->problem;
    size_t n;

    do {
        n = next_word(&x, a->precision);
        if (n != next_word(&y, b->precision) || strncmp(x, y, n) != 0)
            return false;
        x += n;
        y += n;
    } while (n);
    return true;
}

/* Rows of one table: a job on a device, whatever the precision. */
static bool same_errors(const result_row *a, const result_row *b)
{
    return !strcmp(a->op, b->op) && same_problem(a, b) && !strcmp(a->type, b->type) &&
           !strcmp(a->device, b->device) && !strcmp(a->device_id, b->device_id) &&
           a->roundoff == b->roundoff;
}

/* Rows of one variant or peer, which are one line. */
static bool same_subject(const result_row *a, const result_row *b)
{
    return same_errors(a, b) && a->subject == b->subject && !strcmp(a->name, b->name) &&
           !strcmp(a->parameters, b->parameters) && !strcmp(a->problem, b->problem) &&
           strcmp(a->distribution, b->distribution) != 0;
}

/* How many rows, from the first of them, are of one line: one of each distribution. */
static size_t errors_line(const result_row *rows, size_t count)
{
    size_t n = 1;

    while (n < count && same_subject(&rows[0], &rows[n]))
        n++;
    return n;
}

static void errors_head(const result_row *rows, size_t distributions, text *out)
{
    text_append(out, "<div class=\"scroll\" tabindex=\"0\"><table><caption>");
    column_problem(out, rows);
    text_append(out, " on ");
    html_text(out, rows->device);
    text_format(out, "; errors in units of %.3g</caption><thead><tr><th scope=\"col\"></th>",
                rows->roundoff);
    text_append(out, "<th scope=\"col\">Precision</th><th scope=\"col\" class=\"n\">Rate</th>");
    for (size_t f = 0; f < distributions; f++) {
        text_append(out, "<th scope=\"col\" class=\"n\">");
        html_text(out, rows[f].distribution);
        text_append(out, ": max</th><th scope=\"col\" class=\"n\">rms</th>");
    }
    text_append(out, "<th scope=\"col\" class=\"n\">Wrong classes</th></tr></thead><tbody>\n");
}

/* In units of the roundoff; what is not finite, and should be, is no number of them. */
static void errors_value(double error, double roundoff, text *out)
{
    text_append(out, "<td class=\"n\">");
    if (isfinite(error) && roundoff > 0)
        text_format(out, "%.3g", error / roundoff);
    else
        text_append(out, "&#8734;");
    text_append(out, "</td>");
}

static void errors_cells(const result_row *rows, size_t distributions, text *out)
{
    size_t wrong = 0;

    text_format(out, "<tr class=\"%s\"><th scope=\"row\">",
                rows->subject == SUBJECT_PEER ? "peer" : "");
    column_name(out, rows);
    if (*rows->parameters) {
        text_append(out, " <small>");
        html_text(out, rows->parameters);
        text_append(out, "</small>");
    }
    text_append(out, "</th><td>");
    html_text(out, rows->precision);
    text_append(out, "</td><td class=\"n\">");
    column_rate(out, rows);
    text_append(out, "</td>");
    for (size_t f = 0; f < distributions; f++) {
        if (rows[f].outcome == RESULT_FAILED) {
            text_append(out, "<td class=\"why\">failed</td><td></td>");
            continue;
        }
        errors_value(rows[f].error_max, rows[f].roundoff, out);
        errors_value(rows[f].error_rms, rows[f].roundoff, out);
        wrong += rows[f].class_errors;
    }
    text_format(out, "<td class=\"n\">%zu</td></tr>\n", wrong);
}

static void errors_of_file(const compare_file *file, text *out)
{
    const result_row *rows = file->rows;

    for (size_t i = 0, n; i < file->count; i += n) {
        n = errors_line(&rows[i], file->count - i);
        if (i == 0 || !same_errors(&rows[i - 1], &rows[i]))
            errors_head(&rows[i], n, out);
        errors_cells(&rows[i], n, out);
        if (i + n == file->count || !same_errors(&rows[i], &rows[i + n]))
            text_append(out, "</tbody></table></div>\n");
    }
}

static bool has_errors(const comparison *c, const compare_file *errors)
{
    bool found = false;

    for (size_t f = 0; errors && f < c->file_count; f++)
        found = found || errors[f].count;
    return found;
}

/* The same rows for the script. */
static void errors_data(const comparison *c, const compare_file *errors, text *out)
{
    text json = {0};
    bool first = true;

    text_append(&json, "[");
    for (size_t f = 0; f < c->file_count; f++) {
        for (size_t i = 0; i < errors[f].count; i++) {
            text_append(&json, first ? "" : ",");
            result_to_json(&errors[f].rows[i], &json);
            first = false;
        }
    }
    text_append(&json, "]");
    text_append(out, "<script type=\"application/json\" id=\"error-rows\">");
    script_json(out, &json);
    text_append(out, "</script>\n");
    out->failed |= json.failed;
    text_free(&json);
}

/* A part of the page where any file has such rows, and the link to it. */
static void part_errors(const page *p, text *out)
{
    if (!has_errors(p->c, p->errors))
        return;
    text_append(
        out, "<section id=\"errors\"><h2>Errors against speed</h2>\n"
             "<p class=\"note\">Largest value and root mean square of |C - exact| / (|A| |B|), "
             "element by element, in units of the roundoff of C's type, on four distributions of "
             "inputs; wrong classes count elements that are NaN, an infinity or finite and "
             "should be another of these.</p>\n<div class=\"figures\"></div>\n");
    errors_data(p->c, p->errors, out);
    for (size_t f = 0; f < p->c->file_count; f++)
        errors_of_file(&p->errors[f], out);
    text_append(out, "</section>\n");
}

static void part_errors_link(const page *p, text *out)
{
    if (has_errors(p->c, p->errors))
        text_append(out, "<a href=\"#errors\">Errors</a>");
}

/* ---- overlap --------------------------------------------------------------------------------- */

static bool has_overlap(const comparison *c)
{
    for (size_t i = 0; i < c->line_count; i++)
        if (c->lines[i].what->kind == RESULT_OVERLAP)
            return true;
    return false;
}

/* A part of the page where there are such rows; the script draws their timelines. */
static void part_overlap(const page *p, text *out)
{
    if (has_overlap(p->c))
        text_append(
            out, "<section id=\"overlap\"><h2>Overlap</h2>\n"
                 "<p class=\"note\">An array in host memory, in chunks: copied in, computed and "
                 "copied out over several queues. Rates count both ways, and creating the queues "
                 "apart. A timeline is of one run on queues that record times, by the device's "
                 "clock: commands that stand above one another ran at once.</p>\n"
                 "<div class=\"figures wide\"></div></section>\n");
}

static void part_overlap_link(const page *p, text *out)
{
    if (has_overlap(p->c))
        text_append(out, "<a href=\"#overlap\">Overlap</a>");
}

/* ---- the laboratory -------------------------------------------------------------------------- */

static bool has_lab(const comparison *c)
{
    for (size_t i = 0; i < c->line_count; i++)
        if (c->lines[i].what->kind == RESULT_LAB)
            return true;
    return false;
}

/* The same of experiments; the script draws a chart of each. */
static void part_lab(const page *p, text *out)
{
    if (has_lab(p->c))
        text_append(
            out, "<section id=\"lab\"><h2>Laboratory</h2>\n"
                 "<p class=\"note\">Experiments of <code>tessera lab</code>: one knob is turned, "
                 "and what the device makes of it stands beside what courses on GPUs teach "
                 "(dashed). <code>tessera lab NAME</code> says what that is, and why a device "
                 "may differ; so does <code>tessera course NAME TABLE</code> of a table of a "
                 "course.</p>\n"
                 "<div class=\"figures\"></div></section>\n");
}

static void part_lab_link(const page *p, text *out)
{
    if (has_lab(p->c))
        text_append(out, "<a href=\"#lab\">Laboratory</a>");
}

/* ---- the script's data ----------------------------------------------------------------------- */

static void data_columns(const comparison *c, text *json)
{
    text_append(json, "{\"schema\":\"tessera-report-1\",\"columns\":[");
    for (size_t i = 0; i < c->column_count; i++) {
        const result_row *who = c->columns[i].who;
        text paths = {0};

        text_append(json, i ? ",{" : "{");
        compare_paths(c, i, &paths);
        member(json, "file", text_get(&paths));
        text_free(&paths);
        text_append(json, ",");
        member(json, "device", who->device);
        text_append(json, ",");
        member(json, "driver", who->driver);
        text_append(json, ",");
        member(json, "when", who->when);
        text_format(json, ",\"base\":%zu}", c->columns[i].base);
    }
    text_append(json, "],\n");
}

/* A line is its name, its group, and a row or null for each column. */
static void data_lines(const comparison *c, text *json)
{
    text_append(json, "\"lines\":[");
    for (size_t i = 0; i < c->line_count; i++) {
        text name = {0}, group = {0};

        compare_name(&c->lines[i], &name);
        compare_group_name(c->lines[i].what, &group);
        text_append(json, i ? ",\n{" : "{");
        member(json, "name", text_get(&name));
        text_append(json, ",");
        member(json, "title", text_get(&group));
        text_format(json, ",\"group\":%zu,\"cells\":[", c->lines[i].group);
        for (size_t j = 0; j < c->column_count; j++) {
            const result_row *row = compare_cell(c, i, j);

            text_append(json, j ? "," : "");
            if (row)
                result_to_json(row, json);
            else
                text_append(json, "null");
        }
        text_append(json, "]}");
        json->failed |= name.failed || group.failed;
        text_free(&name);
        text_free(&group);
    }
    text_append(json, "],\n");
}

/* A job is its first row, and of each column the fastest variant, its rate and clock, or null. */
static void data_jobs(const page *p, text *json)
{
    text_append(json, "\"jobs\":[");
    for (size_t i = 0; i < p->job_count; i++) {
        text name = {0};

        compare_job_name(&p->jobs[i], &name);
        text_append(json, i ? ",\n{" : "{");
        member(json, "title", text_get(&name));
        text_append(json, ",\"first\":");
        result_to_json(p->jobs[i].what, json);
        text_append(json, ",\"best\":[");
        for (size_t j = 0; j < p->c->column_count; j++) {
            const compare_best *b = &p->jobs[i].best[j];

            text_append(json, j ? "," : "");
            if (!b->row) {
                text_append(json, "null");
                continue;
            }
            text_append(json, "{");
            member(json, "name", b->row->name);
            text_append(json, ",");
            member(json, "clock", b->wall ? "wall time" : "device time");
            text_format(json, ",\"rate\":%.17g}", b->rate);
        }
        text_append(json, "]}");
        json->failed |= name.failed;
        text_free(&name);
    }
    text_append(json, "]}");
}

static void part_data(const page *p, text *out)
{
    text json = {0};

    data_columns(p->c, &json);
    data_lines(p->c, &json);
    data_jobs(p, &json);
    script_json(out, &json);
    out->failed |= json.failed;
    text_free(&json);
}

static void part_chart_library(const page *p, text *out)
{
    (void)p;
    text_append(out, (const char *)report_chart_library);
}

static void part_version(const page *p, text *out)
{
    (void)p;
    html_text(out, tsr_version());
}

/* ---- the page -------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*write)(const page *p, text *out);
} parts[] = {{"title", part_title},
             {"version", part_version},
             {"devices", part_devices},
             {"fastest", part_fastest},
             {"side-by-side", part_side_by_side},
             {"everything", part_everything},
             {"overlap", part_overlap},
             {"overlap-link", part_overlap_link},
             {"lab", part_lab},
             {"lab-link", part_lab_link},
             {"errors", part_errors},
             {"errors-link", part_errors_link},
             {"data", part_data},
             {"chart-library", part_chart_library}};

static void write_part(const page *p, const char *name, size_t length, text *out)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strlen(parts[i].name) == length && !strncmp(parts[i].name, name, length)) {
            parts[i].write(p, out);
            return;
        }
    }
    assert(!"the template names a part that is none");
}

tsr_status report_html(const comparison *c, const compare_file *errors, text *out, tsr_error *err)
{
    const char *at = (const char *)report_template, *open;
    page p = {.c = c, .errors = errors};
    compare_job *jobs;
    tsr_status st = compare_jobs(c, &jobs, &p.job_count, err);

    if (st)
        return st;
    p.jobs = jobs;
    /* What a part writes is not looked at again: "{{" in a device's name stays. */
    while ((open = strstr(at, "{{"))) {
        const char *close = strstr(open, "}}");

        assert(close);
        text_append_bytes(out, at, (size_t)(open - at));
        write_part(&p, open + 2, (size_t)(close - open - 2), out);
        at = close + 2;
    }
    text_append(out, at);
    compare_jobs_free(jobs);
    if (out->failed)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for the report of %zu lines", c->line_count);
    return TSR_OK;
}
