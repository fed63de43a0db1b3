#include "cli/tune_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/json_print.h"
#include "cli/messages.h"
#include "core/fields.h"
#include "core/registry.h"
#include "core/tuning_class.h"
#include "measure/compare.h"
#include "measure/result.h"

void tune_candidate_text(const tune_candidate *c, text *out)
{
    text parameters = {0};

    text_append(out, c->variant->name);
    params_describe(&c->params, &parameters);
    params_append_fixed(text_get(&parameters), out);
    text_free(&parameters);
}

void tune_print_error(const operation *op, const tune_candidate *c)
{
    text name = {0};

    tune_candidate_text(c, &name);
    fprintf(stderr, "tessera: %s/%s is WRONG and left out: %s\n", op->name, text_get(&name),
            c->detail);
    text_free(&name);
}

static void class_of(const tune_report *r, text *out)
{
    tuning_class(&r->problems[0], out);
}

/* A candidate's rate; 0 where a class has several problems, as their mean time is no problem's. */
static double rate_of(const tune_report *r, const tune_candidate *c)
{
    result_row row = {0};

    if (r->count != 1)
        return 0;
    result_problem(&row, &r->problems[0]);
    row.time = c->time;
    result_rate(&row);
    return row.rate;
}

static size_t count_outcome(const tune_result *found, tune_outcome outcome)
{
    size_t n = 0;

    for (size_t i = 0; i < found->count; i++)
        n += found->tried[i].outcome == outcome;
    return n;
}

static int by_time(const void *a, const void *b)
{
    const tune_candidate *x = *(const tune_candidate *const *)a;
    const tune_candidate *y = *(const tune_candidate *const *)b;

    return (x->time.median_ns > y->time.median_ns) - (x->time.median_ns < y->time.median_ns);
}

/* What the search decided on a finalist. */
static const char *role(const tune_result *found, const tune_candidate *c)
{
    if (c == found->best)
        return c == found->before ? "chosen, as before" : "chosen";
    if (c == found->before)
        return c->tied && !found->alone ? "before; a tie" : "before";
    return c->tied ? "a tie" : "";
}

static void print_finalist(const tune_report *r, const tune_candidate *c)
{
    const double rate = rate_of(r, c);
    double scale;
    text name = {0};

    tune_candidate_text(c, &name);
    printf("  %-44s %10.4f ms +-%2.0f%%", text_get(&name), c->time.median_ns * 1e-6,
           100 * timing_spread(&c->time));
    if (rate > 0) {
        const char *unit =
            compare_unit(work_unit_name(problem_unit(&r->problems[0])), rate, &scale);

        printf(" %9.2f %s", rate * scale, unit);
    }
    printf("%s%s\n", *role(r->found, c) ? "  " : "", role(r->found, c));
    text_free(&name);
}

static void print_finalists(const tune_report *r)
{
    const tune_result *found = r->found;
    const tune_candidate **list = malloc((found->count + 1) * sizeof(const tune_candidate *));
    size_t n = 0;

    for (size_t i = 0; list && i < found->count; i++)
        if (found->tried[i].outcome == TUNE_FINAL || &found->tried[i] == found->best)
            list[n++] = &found->tried[i];
    if (n)
        qsort(list, n, sizeof(*list), by_time);
    for (size_t i = 0; i < n; i++)
        print_finalist(r, list[i]);
    free(list);
}

/* What calls on arrays run on a CPU that has C code for them, and why. */
static void print_on_arrays(const tune_report *r)
{
    const tune_result *found = r->found;

    if (*r->on_arrays)
        printf("  calls on arrays run %s, C code, on this CPU", r->on_arrays);
    else if (found->faster_than_c)
        printf("  calls on arrays run %s", found->best->variant->name);
    else
        return;
    if (found->c_code)
        printf(": %s takes %.4f ms, and %s %.4f ms", found->best->variant->name,
               found->kernel_ns * 1e-6, found->c_code->name, found->c_ns * 1e-6);
    putchar('\n');
}

void tune_report_print(const tune_report *r)
{
    static const char *const words[] = {"unsupported", "failed", "wrong",
                                        "slow",        "timed",  "finalists"};
    const tune_result *found = r->found;
    text problems = {0}, holds = {0};
    size_t printed = 0;

    for (size_t i = 0; i < r->count; i++) {
        text_append(&problems, i ? ", " : "");
        r->problems[i].op->describe(&r->problems[i], &problems);
    }
    printf("%s %s\n", r->problems[0].op->name, text_get(&problems));
    print_finalists(r);
    printf("  tried %zu", found->count);
    for (int k = TUNE_OUTCOME_COUNT - 1; k >= 0; k--) {
        const size_t n = count_outcome(found, (tune_outcome)k);

        if (n)
            printf("%s %zu %s", printed++ ? "," : ":", n, words[k]);
    }
    printf("; %s after %.1f s",
           found->complete  ? "nothing left to try"
           : found->stopped ? "interrupted"
                            : "the time is spent",
           found->seconds);
    if (found->build_seconds >= 0.05)
        printf(", %.1f s of them compiling", found->build_seconds);
    putchar('\n');
    text_clear(&problems);
    class_of(r, &holds);
    tuning_class_text(r->problems[0].op, text_get(&holds), &problems);
    if (found->undecided)
        printf("  tuning unchanged: the fastest were not compared\n");
    else if (found->alone)
        printf("  tuning unchanged: it was the only candidate\n");
    else if (!found->best)
        printf("  tuning unchanged: nothing ran\n");
    else if (*r->where)
        print_plain(stdout, "  kept for %s in %s\n", text_get(&problems), r->where);
    print_on_arrays(r);
    text_free(&problems);
    text_free(&holds);
}

/* ---- JSON -------------------------------------------------------------------------------- */

static json_t *candidate_json(const tune_report *r, const tune_candidate *c)
{
    static const char *const words[] = {"unsupported", "failed", "wrong", "slow", "timed", "final"};
    text parameters = {0};
    json_t *object;

    if (!c)
        return json_null();
    params_describe(&c->params, &parameters);
    object = json_pack("{s:s, s:o, s:s}", "variant", c->variant->name, "parameters",
                       json_text(text_get(&parameters)), "outcome", words[c->outcome]);
    text_free(&parameters);
    if (c->outcome >= TUNE_TIMED) {
        json_object_set_new(object, "median_ns", json_number(c->time.median_ns));
        json_object_set_new(object, "min_ns", json_number(c->time.min_ns));
        json_object_set_new(object, "max_ns", json_number(c->time.max_ns));
        json_object_set_new(object, "spread", json_number(timing_spread(&c->time)));
        json_object_set_new(object, "samples", json_count(c->time.count));
        json_object_set_new(object, "calls", json_count(c->time.calls));
        if (r->count == 1)
            json_object_set_new(object, "rate", json_number(rate_of(r, c)));
        json_object_set_new(object, "worst", json_number(c->worst));
        json_object_set_new(object, "tied", json_boolean(c->tied));
    }
    if (c->detail[0])
        json_object_set_new(object, "detail", json_text(c->detail));
    return object;
}

/* How the best and the C code of calls on arrays compare there. */
static json_t *against_c_json(const tune_result *found)
{
    if (!found->c_code)
        return json_null();
    return json_pack("{s:s, s:o, s:o, s:b}", "variant", found->c_code->name, "median_ns",
                     json_number(found->c_ns), "best_ns", json_number(found->kernel_ns), "faster",
                     found->faster_than_c);
}

json_t *tune_report_json(const tune_report *r)
{
    const tune_result *found = r->found;
    json_t *tried = json_array(), *problems = json_array(), *object;
    text name = {0}, holds = {0};

    for (size_t i = 0; i < r->count; i++) {
        text_clear(&name);
        r->problems[i].op->describe(&r->problems[i], &name);
        json_array_append_new(problems, json_text(text_get(&name)));
    }
    for (size_t i = 0; i < found->count; i++)
        json_array_append_new(tried, candidate_json(r, &found->tried[i]));
    text_clear(&name);
    class_of(r, &name);
    tuning_class_text(r->problems[0].op, text_get(&name), &holds);
    object = json_pack(
        "{s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o}", "class",
        json_text(text_get(&name)), "holds", json_text(text_get(&holds)), "problems", problems,
        "unit", work_unit_name(problem_unit(&r->problems[0])), "best",
        candidate_json(r, found->best), "fastest", candidate_json(r, found->fastest), "before",
        candidate_json(r, found->before), "kept", *r->where ? json_text(r->where) : json_null(),
        "complete", found->complete, "interrupted", found->stopped, "tried", tried, "seconds",
        json_number(found->seconds), "build_seconds", json_number(found->build_seconds),
        "on_arrays", *r->on_arrays ? json_text(r->on_arrays) : json_null(), "against_c",
        against_c_json(found));

    text_free(&name);
    text_free(&holds);
    return object;
}
