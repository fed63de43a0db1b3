#include "cli/course_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/files.h"
#include "base/sizes.h"
#include "base/text.h"
#include "session/embedded.h"

enum { COURSE_FILE_MAX = 1 << 20, SCALES = 3, ROW_NAME_MAX = 15 };

static const char suffix[] = ".course";

static const char *const figures[] = {[FIGURE_RATE] = "rate",
                                      [FIGURE_FLOPS] = "flops",
                                      [FIGURE_TIME] = "time",
                                      [FIGURE_COPIES] = "copies",
                                      [FIGURE_LAUNCHES] = "launches",
                                      [FIGURE_INTENSITY] = "intensity",
                                      [FIGURE_LOADS] = "loads",
                                      [FIGURE_A_LOAD] = "flops-a-load",
                                      [FIGURE_LOCAL] = "local-intensity",
                                      [FIGURE_OCCUPANCY] = "occupancy",
                                      [FIGURE_ACHIEVED] = "achieved",
                                      [FIGURE_MOVED] = "moved",
                                      [FIGURE_OF_COPY] = "of-copy",
                                      [FIGURE_SHARE] = "share"};

const char *course_figure_name(course_figure f)
{
    return figures[f];
}

const char *course_at(size_t i, char name[32])
{
    if (i >= embedded_course_count)
        return NULL;
    snprintf(name, 32, "%.*s", (int)strcspn(embedded_courses[i].name, "."),
             embedded_courses[i].name);
    return name;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Where the reader is: a logical line, in place. */
typedef struct reader {
    const char *path;
    char *next;
    size_t number;      /* of the line, from 1 */
    size_t behind;      /* line ends of the logical line before it */
    const char *series; /* of rows to come */
    course_figure figure;
    course *out;
} reader;

static tsr_status bad(const reader *r, const char *what, tsr_error *err)
{
    return tsr_fail(err, TSR_EFILE, 0, "%s: line %zu: %s", r->path, r->number, what);
}

/* The next line that is no comment, with those that go on with it; NULL behind the last. */
static char *next_line(reader *r)
{
    char *line, *from, *to;

    do {
        r->number += r->behind;
        r->behind = 0;
        line = from = to = r->next;
        if (!*line)
            return NULL;
        while (*from && !(*from == '\n' && from[1] != ' ')) {
            if (*from == '\n') {
                r->behind++;
                from += 1 + strspn(from + 1, " ");
                *to++ = ' ';
            } else if (*from == '\r' && (from[1] == '\n' || !from[1])) {
                from++; /* of a line end as Windows has it */
            } else {
                *to++ = *from++;
            }
        }
        r->behind++;
        r->next = *from ? from + 1 : from;
        while (to > line && to[-1] == ' ')
            to--;
        *to = '\0';
    } while (*line == '#' || !*line);
    return line;
}

/* The text behind the first word, which ends there. */
static char *cut_word(char *line)
{
    char *end = line + strcspn(line, " ");

    if (!*end)
        return end;
    *end = '\0';
    return end + 1 + strspn(end + 1, " ");
}

/* ---- what they make -------------------------------------------------------------------------- */

static tsr_status no_memory(const reader *r, tsr_error *err)
{
    return tsr_fail(err, TSR_ENOMEM, 0, "%s: no memory for it", r->path);
}

static tsr_status add_table(reader *r, char *rest, tsr_error *err)
{
    course *c = r->out;
    course_table *more = realloc(c->tables, (c->table_count + 1) * sizeof *more);
    const char *title = cut_word(rest);

    if (!more)
        return no_memory(r, err);
    c->tables = more;
    for (size_t t = 0; t < c->table_count; t++)
        if (!strcmp(more[t].name, rest))
            return bad(r, "there is a table of that name", err);
    if (strlen(c->name) + 1 + strlen(rest) > ROW_NAME_MAX)
        return bad(r, "the names of course and table have more than 14 letters", err);
    r->series = "";
    r->figure = FIGURE_RATE;
    more += c->table_count++;
    *more = (course_table){rest, title, "", "step", "", "", "", "", "", false};
    return TSR_OK;
}

/* Cut a row's field off: up to " | ", or the end. */
static char *cut_field(char **at)
{
    char *field = *at, *end = *at ? strstr(*at, " | ") : NULL;

    *at = end ? end + 3 : NULL;
    if (end)
        *end = '\0';
    if (!field)
        return NULL;
    for (char *last = field + strlen(field); last > field && last[-1] == ' ';)
        *--last = '\0';
    return field;
}

/* Whether a text fits in so many bytes at every scale. */
static bool fits(const char *from, size_t size)
{
    char out[COURSE_COMMAND_SIZE + 1];

    for (unsigned scale = 0; scale < SCALES; scale++) {
        course_expand(from, scale, out, size + 1);
        if (strlen(out) == size)
            return false;
    }
    return true;
}

/* Whether a text that fits is a number above 0, ">" and such a number, or "-", at every scale. */
static bool is_claim(const char *from)
{
    char out[COURSE_CLAIM_SIZE], *end;

    for (unsigned scale = 0; scale < SCALES; scale++) {
        const char *at = out;
        double value;

        course_expand(from, scale, out, sizeof out);
        at += *at == '>';
        value = strtod(at, &end);
        if (strcmp(out, "-") != 0 && (end == at || *end || !(value > 0) || !isfinite(value)))
            return false;
    }
    return true;
}

static bool has_few_words(const char *from)
{
    char out[COURSE_COMMAND_SIZE];

    for (unsigned scale = 0; scale < SCALES; scale++) {
        size_t words = 0;

        course_expand(from, scale, out, sizeof out);
        for (const char *at = out + strspn(out, " "); *at; words++) {
            at += strcspn(at, " ");
            at += strspn(at, " ");
        }
        if (words > COURSE_WORDS_MAX)
            return false;
    }
    return true;
}

/* What is wrong with a row; NULL: nothing.  A text that was cut would be another one. */
static const char *row_fault(const course_row *row)
{
    return !fits(row->series, COURSE_SERIES_SIZE)     ? "the series has more than 47 bytes"
           : !fits(row->x, COURSE_X_SIZE)             ? "X has more than 23 bytes"
           : !fits(row->command, COURSE_COMMAND_SIZE) ? "the command has more than 159 bytes"
           : !has_few_words(row->command)             ? "the command has more than 32 words"
           : !fits(row->claim, COURSE_CLAIM_SIZE) || !is_claim(row->claim)
               ? "a claim is a number above 0 of at most 15 bytes, > and one, or -"
               : NULL;
}

static tsr_status add_row(reader *r, char *rest, bool base, tsr_error *err)
{
    course *c = r->out;
    course_row *more = realloc(c->rows, (c->row_count + 1) * sizeof *more);
    course_row row = {
        .table = c->table_count - 1, .figure = r->figure, .base = base, .series = r->series};
    const char *claim;

    if (!more)
        return no_memory(r, err);
    c->rows = more;
    row.x = cut_field(&rest);
    row.says = cut_field(&rest);
    claim = cut_field(&rest);
    row.command = rest;
    if (!claim || !rest)
        return bad(r, "a row is X | SAYS | CLAIM | COMMAND", err);
    row.claim = claim;
    if (row_fault(&row))
        return bad(r, row_fault(&row), err);
    c->rows[c->row_count++] = row;
    return TSR_OK;
}

static tsr_status set_figure(reader *r, const char *rest, tsr_error *err)
{
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        if (strcmp(figures[i], rest) != 0)
            continue;
        r->figure = (course_figure)i;
        return TSR_OK;
    }
    return bad(r, "there is no such figure", err);
}

/* A line within a table. */
static tsr_status read_member(reader *r, const char *word, char *rest, tsr_error *err)
{
    course_table *t = &r->out->tables[r->out->table_count - 1];
    const struct {
        const char *word;
        const char **to;
    } texts[] = {{"lines", &t->lines}, {"knob", &t->knob},    {"says", &t->says},
                 {"why", &t->why},     {"cpu", &t->cpu},      {"wrong", &t->wrong},
                 {"see", &t->see},     {"series", &r->series}};

    if (!strcmp(word, "knob") && strlen(rest) > ROW_NAME_MAX)
        return bad(r, "a knob has at most 15 bytes", err);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(word, texts[i].word) != 0)
            continue;
        *texts[i].to = rest;
        return TSR_OK;
    }
    if (!strcmp(word, "row") || !strcmp(word, "base"))
        return add_row(r, rest, *word == 'b', err);
    if (!strcmp(word, "figure"))
        return set_figure(r, rest, err);
    if (!strcmp(word, "claims") && !strcmp(rest, "values"))
        return t->claims_values = true, TSR_OK;
    return tsr_fail(err, TSR_EFILE, 0, "%s: line %zu: '%s' is no keyword of a table", r->path,
                    r->number, word);
}

static tsr_status read_lines(reader *r, tsr_error *err)
{
    course *c = r->out;
    tsr_status st = TSR_OK;
    char *line;

    while (!st && (line = next_line(r))) {
        char *rest = cut_word(line);

        if (!strcmp(line, "course")) {
            c->title = cut_word(rest);
            c->name = rest;
        } else if (!strcmp(line, "about")) {
            c->about = rest;
        } else if (!strcmp(line, "table")) {
            st = add_table(r, rest, err);
        } else if (!c->table_count) {
            st = bad(r, "no keyword before the first table", err);
        } else {
            st = read_member(r, line, rest, err);
        }
    }
    if (!st && (!*c->name || !c->row_count))
        st = bad(r, "it names no course, or has no row", err);
    return st;
}

/* ---- where they are -------------------------------------------------------------------------- */

static tsr_status no_course(const char *name, tsr_error *err)
{
    char known[32];
    text all = {0}, with_table = {0};
    tsr_status st;

    for (size_t i = 0; course_at(i, known); i++) {
        course c;
        const bool there = !course_read(known, &c, NULL);

        text_format(&all, ", %s", known);
        for (size_t t = 0; there && t < c.table_count; t++)
            if (strcmp(c.tables[t].name, name) == 0)
                text_format(&with_table,
                            with_table.length ? ", %s" : ": it is a table of course %s", known);
        course_free(&c);
    }
    /* Without a closest one: numbers are none closer than others. */
    st = tsr_fail(err, TSR_ENAME, 0, "no course '%s'%s (there are all%s)", name,
                  text_get(&with_table), text_get(&all));
    text_free(&all);
    text_free(&with_table);
    return st;
}

static bool is_path(const char *name)
{
    const size_t length = strlen(name), tail = sizeof suffix - 1;

    return strchr(name, '/') || (length > tail && !strcmp(name + length - tail, suffix));
}

static tsr_status find(const char *name, char **out, tsr_error *err)
{
    char known[32];
    text why = {0};
    tsr_status st = TSR_OK;
    size_t size;

    if (is_path(name)) {
        if (!file_read(name, COURSE_FILE_MAX, FILE_OF_ANYBODY, out, &size, &why))
            st = tsr_fail(err, TSR_EFILE, 0, "%s: %s", name, text_get(&why));
        else if (memchr(*out, '\0', size))
            st = tsr_fail(err, TSR_EFILE, 0, "%s: it is not text: it has a zero byte", name);
        text_free(&why);
        return st;
    }
    for (size_t i = 0; course_at(i, known); i++) {
        if (strcmp(known, name) != 0)
            continue;
        *out = strdup(embedded_courses[i].text);
        return *out ? TSR_OK : tsr_fail(err, TSR_ENOMEM, 0, "no memory for course %s", name);
    }
    return no_course(name, err);
}

tsr_status course_read(const char *name, course *out, tsr_error *err)
{
    reader r = {.path = name, .number = 1, .series = "", .out = out};
    tsr_status st;

    *out = (course){.name = "", .title = "", .about = ""};
    st = find(name, &out->text, err);
    r.next = out->text;
    return st ? st : read_lines(&r, err);
}

void course_free(course *c)
{
    free(c->tables);
    free(c->rows);
    free(c->text);
    *c = (course){0};
}

void course_expand(const char *from, unsigned scale, char *out, size_t size)
{
    size_t n = 0;

    for (const char *c = from; *c && n + 1 < size; c++) {
        const char *end = *c == '{' ? strchr(c, '}') : NULL;
        const char *part = c + 1;

        if (!end) {
            out[n++] = *c;
            continue;
        }
        for (unsigned i = 0; i < scale; i++) {
            const char *bar = memchr(part, '|', (size_t)(end - part));

            part = bar ? bar + 1 : part;
        }
        while (part < end && *part != '|' && n + 1 < size)
            out[n++] = *part++;
        c = end;
    }
    out[n] = '\0';
}
