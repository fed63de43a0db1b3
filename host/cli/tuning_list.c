#include "cli/tuning_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json_print.h"
#include "cli/terminal.h"
#include "core/dispatch.h"
#include "core/registry.h"
#include "core/tuning_class.h"
#include "core/tuning_file.h"

/* Ignored files and entries are printed, or appended to a list where there is one. */
typedef struct sink {
    const operation *op;
    json_t *list; /* NULL: print */
} sink;

static bool visit(const tuning *t, const char *file, const char *ignored, void *context)
{
    const sink *out = context;
    text reason = {0};

    if (t)
        ignored = tuning_stale(out->op, t, &reason);
    if (ignored) {
        if (out->list)
            json_array_append_new(out->list, json_pack("{s:o, s:o}", "file", json_text(file), "why",
                                                       json_text(ignored)));
        else
            print_line(2, "tuning ignored: %s: %s", file, ignored);
    }
    text_free(&reason);
    return true;
}

static void list_ignored(const operation *op, json_t *list)
{
    sink out = {.op = op, .list = list};

    tuning_read(op, NULL, visit, &out);
}

/* The entries in force that are not stale; the caller frees *out. */
static size_t in_force(tsr_session *s, const operation *op, tuning **out)
{
    size_t n = tuning_in_force(op, session_facts(s), out), kept = 0;
    text reason = {0};

    for (size_t i = 0; i < n; i++)
        if (!tuning_stale(op, &(*out)[i], &reason))
            (*out)[kept++] = (*out)[i];
    text_free(&reason);
    return kept;
}

static void warn(const char *file, const char *why, void *context)
{
    text *warned = context;
    text line = {0};

    text_format(&line, "tessera: warning: %s: ignored: %s\n", file, why);
    if (line.data)
        text_make_plain(line.data, "\n");
    if (!strstr(text_get(warned), text_get(&line))) {
        fputs(text_get(&line), stderr);
        text_append(warned, text_get(&line));
    }
    text_free(&line);
}

void tuning_warn(tsr_session *s, const problem *p, const options *o, text *warned)
{
    const char *kernel = o->value[OPTION_KERNEL];

    if (!o->given[OPTION_QUIET] && (!kernel || !strcmp(kernel, "all")))
        tuning_trouble(p, session_facts(s), warn, warned);
}

static void print_chosen(tsr_session *s, const problem *p)
{
    selection sel;
    tsr_error err = {0};
    text parameters = {0}, fixed = {0};

    if (dispatch_select(s, p, NULL, IN_ARRAYS, &sel, &err) != TSR_OK) {
        print_line(2, "runs nothing: %s", err.message);
        return;
    }
    params_describe(&sel.params, &parameters);
    params_append_fixed(text_get(&parameters), &fixed);
    print_line(2, "runs %s%s (%s)", sel.variant->name, text_get(&fixed), sel.chosen);
    text_free(&parameters);
    text_free(&fixed);
}

void tuning_list_print(tsr_session *s, const problem *p)
{
    tuning *list = NULL;
    const size_t n = in_force(s, p->op, &list);
    text holds = {0}, fixed = {0};

    print_chosen(s, p);
    for (size_t i = 0; i < n; i++) {
        text_clear(&holds);
        text_clear(&fixed);
        tuning_class_text(p->op, list[i].problem_class, &holds);
        params_append_fixed(list[i].parameters, &fixed);
        print_line(2, "tuned for %s: %s%s (%s entry of %s%s%s%s)", text_get(&holds),
                   list[i].variant, text_get(&fixed), list[i].level, list[i].where,
                   list[i].embedded ? ", embedded" : "",
                   *list[i].faster_than ? "; on arrays faster than " : "", list[i].faster_than);
    }
    text_free(&holds);
    text_free(&fixed);
    list_ignored(p->op, NULL);
    free(list);
}

static json_t *chosen_json(tsr_session *s, const problem *p)
{
    selection sel;
    text parameters = {0};
    json_t *object;

    if (dispatch_select(s, p, NULL, IN_ARRAYS, &sel, NULL) != TSR_OK)
        return json_null();
    params_describe(&sel.params, &parameters);
    object = json_pack("{s:s, s:s, s:o}", "variant", sel.variant->name, "parameters",
                       text_get(&parameters), "why", json_text(sel.chosen));
    text_free(&parameters);
    return object;
}

json_t *tuning_list_json(tsr_session *s, const problem *p)
{
    json_t *entries = json_array(), *ignored = json_array();
    text holds = {0};
    tuning *list = NULL;
    const size_t n = in_force(s, p->op, &list);

    for (size_t i = 0; i < n; i++) {
        text_clear(&holds);
        tuning_class_text(p->op, list[i].problem_class, &holds);
        json_array_append_new(
            entries, json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:b, s:s, s:o, s:s}", "class",
                               list[i].problem_class, "holds", text_get(&holds), "variant",
                               list[i].variant, "parameters", list[i].parameters, "level",
                               list[i].level, "file", json_text(list[i].where), "embedded",
                               list[i].embedded, "problem", list[i].problem, "median_ns",
                               json_number(list[i].median_ns), "faster_than", list[i].faster_than));
    }
    text_free(&holds);
    free(list);
    list_ignored(p->op, ignored);
    return json_pack("{s:o, s:o, s:o}", "chosen", chosen_json(s, p), "entries", entries, "ignored",
                     ignored);
}
