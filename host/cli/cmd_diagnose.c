#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/activity.h"
#include "cli/bench_problem.h"
#include "cli/commands.h"
#include "cli/device_choice.h"
#include "cli/interrupt.h"
#include "cli/json_print.h"
#include "cli/kernel_choice.h"
#include "cli/messages.h"
#include "cli/operands.h"
#include "cli/terminal.h"
#include "core/registry.h"
#include "device/device.h"
#include "measure/compare.h"
#include "measure/diagnose.h"
#include "session/state.h"

static const char *const answers[] = {
    [ANSWER_UNKNOWN] = "unknown", [ANSWER_NO] = "no", [ANSWER_YES] = "yes"};

/* ---- the table ---------------------------------------------------------------------------- */

/* Words behind a head of `indent` columns, wrapped. */
static void print_words(const char *head, size_t indent, const char *words)
{
    text out = {0};

    text_append(&out, head);
    text_wrap(&out, words, out.length, indent, terminal_width(STDOUT_FILENO));
    puts(text_get(&out));
    text_free(&out);
}

/* The names of the causes that a step addresses, each once. */
static size_t addressed(const diagnosed_step *s, const char *names[CAUSES])
{
    const char *last = "";
    size_t count = 0;

    for (int c = 0; c < CAUSES; c++) {
        const char *name = cause_name((cause)c);

        if (!(s->answers & 1u << c) || !strcmp(last, name))
            continue;
        names[count++] = name;
        last = name;
    }
    return count;
}

static void print_step(const diagnosed_step *s)
{
    const char *names[CAUSES];
    const size_t count = addressed(s, names);
    text words = {0};
    char head[96];

    text_append(&words, s->idea);
    for (size_t i = 0; i < count; i++)
        text_format(&words, "%s%s", i ? ", " : "; addresses ", names[i]);
    text_format(&words, "%s%s", s->parameters[0] ? "; " : "", s->parameters);
    snprintf(head, sizeof(head), "  %-22s %10.2f us %6.2fx  ", s->name, s->ns / 1e3, s->speedup);
    print_words(head, 6, text_get(&words));
    text_free(&words);
}

static void print_steps(const diagnosis *d)
{
    const char *name = d->row.name, *which = d->any_step ? "" : " that address it";

    if (d->step_count && d->steps[0].speedup > 1)
        printf("%s after %s%s, measured now:\n",
               d->any_step ? "The fastest steps of the ladder" : "Steps of the ladder", name,
               which);
    else if (d->timed_count)
        printf("None of the steps of the ladder after %s%s is faster here%c\n", name, which,
               d->step_count ? ':' : '.');
    else if (d->is_last && d->any_step)
        printf("The ladder has no step after %s.\n", name);
    else if (d->is_last)
        printf("No step of the ladder after %s is known to address it; 'tessera bench %s --kernel "
               "all' times the rest.\n",
               name, d->row.op);
    else if (!d->failed_count)
        printf(
            "The steps of the ladder after %s%s cannot run this problem here: 'tessera kernels %s' "
            "with its size says why.\n",
            name, which, d->row.op);
    for (size_t i = 0; i < d->step_count; i++)
        print_step(&d->steps[i]);
    for (size_t i = 0; i < d->failed_count; i++) {
        char head[96];

        snprintf(head, sizeof(head), "  %-22s could not be measured: ", d->failed[i].name);
        print_words(head, 6, d->failed[i].why.message);
    }
}

/* Whether the commands and the call were timed further apart than two runs of one thing are. */
static bool differ(const diagnosis *d)
{
    const double ratio = d->commands_ns / fmax(d->row.time.median_ns, 1);

    return ratio > 1.5 || ratio < 1 / 1.5;
}

static void print_diagnosis(const diagnosis *d, const char *file)
{
    const result_row *row = &d->row;
    char head[64];
    text rate = {0}, measured = {0};

    compare_short_rate(row->rate, row->unit, &rate);
    printf("%s %s on %s (%s): %s%s%s%s%s, %.1f us by the %s clock, %s\n", row->op, row->problem,
           row->device, row->device_id, row->name, file ? " from " : "", file ? file : "",
           row->parameters[0] ? " " : "", row->parameters, row->time.median_ns / 1e3,
           row->timer == TIMER_WALL ? "host's" : "device's", text_get(&rate));
    text_free(&rate);
    text_format(
        &measured,
        "2 to 4 are answered from its commands, each timed by itself, together %.1f us; 5 and 6 "
        "from the rate above, and 1 from the shorter of both times%s.",
        d->commands_ns / 1e3,
        differ(d) ? ". So far apart they show waits between commands, or other work on "
                    "this machine"
                  : "");
    print_words("", 0, text_get(&measured));
    text_free(&measured);
    for (int q = 0; q < QUESTIONS; q++) {
        const finding *f = &d->found[q];

        snprintf(head, sizeof(head), "  %d %-12s %-7s  ", q + 1, question_name((question)q),
                 answers[f->answer]);
        print_words(head, sizeof("  1 matrix units unknown  ") - 1, f->evidence);
    }
    print_words("It is ", 6, d->verdict);
    print_words("What helps: ", 12, d->cure);
    print_steps(d);
    fflush(stdout);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static json_t *json_diagnosis(const diagnosis *d, const char *file)
{
    json_t *found = json_array(), *steps = json_array(), *failed = json_array(), *all;

    for (int q = 0; q < QUESTIONS; q++)
        json_array_append_new(
            found,
            json_pack("{s:s, s:s, s:s, s:o, s:o}", "name", question_name((question)q), "question",
                      question_text((question)q), "answer", answers[d->found[q].answer], "share",
                      json_number(d->found[q].share), "evidence", json_text(d->found[q].evidence)));
    for (size_t i = 0; i < d->step_count; i++) {
        const diagnosed_step *step = &d->steps[i];
        const char *names[CAUSES];
        const size_t count = addressed(step, names);
        json_t *causes = json_array();

        for (size_t c = 0; c < count; c++)
            json_array_append_new(causes, json_string(names[c]));
        json_array_append_new(
            steps, json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "name", step->name, "parameters",
                             step->parameters, "idea", step->idea, "addresses", causes, "median_ns",
                             json_number(step->ns), "speedup", json_number(step->speedup)));
    }
    for (size_t i = 0; i < d->failed_count; i++)
        json_array_append_new(failed, json_pack("{s:s, s:o}", "name", d->failed[i].name, "reason",
                                                json_text(d->failed[i].why.message)));
    all = json_pack("{s:s, s:s, s:o, s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:s, s:o, s:s, s:s, "
                    "s:s, s:o, s:o}",
                    "schema", "tessera-diagnose-1", "op", d->row.op, "problem",
                    json_text(d->row.problem), "name", d->row.name, "parameters", d->row.parameters,
                    "device", json_text(d->row.device), "device_id", d->row.device_id, "median_ns",
                    json_number(d->row.time.median_ns), "commands_ns", json_number(d->commands_ns),
                    "wall_ns", json_number(d->row.wall_ns), "rate", json_number(d->row.rate),
                    "unit", d->row.unit, "questions", found, "binds", d->binds, "verdict",
                    d->verdict, "cure", d->cure, "steps", steps, "failed_steps", failed);
    if (file)
        json_object_set_new(all, "kernel_file", json_text(file));
    return all;
}

/* ---- the command -------------------------------------------------------------------------- */

static int interrupted(void *context)
{
    (void)context;
    fprintf(stderr, "tessera: diagnose: interrupted\n");
    return EXIT_INTERRUPTED;
}

static tsr_status diagnose_on(tsr_session *s, const problem *p, const options *o,
                              const volatile sig_atomic_t *stop, diagnosis *out, tsr_error *err)
{
    const tsr_run run = {.variant = o->value[OPTION_KERNEL],
                         .set = (const char *const *)o->set,
                         .set_count = o->set_count};
    const bench_options how = {.seconds = 0.1,
                               .least_samples = 5,
                               .seed = o->seed,
                               .warm = o->given[OPTION_WARM],
                               .stop = stop};
    limits found = {0};
    tsr_status st;

    /* Measuring limits takes long the first time: a kernel that does not build should fail at once.
     */
    activity_begin("building %s", p->op->name);
    st = diagnose_build(s, p, &run, err);
    activity_end();
    st = st ? st : choice_limits(s, 0, &found, err);
    if (st)
        return st;
    activity_begin("diagnosing %s", p->op->name);
    st = diagnose(s, p, &run, &how, &found, out, err);
    activity_end();
    return st;
}

static const char *usual_size(const operation *op, tsr_session *s)
{
    return session_facts(s)->kind == DEVICE_CPU ? op->command->sizes.roofline_cpu
                                                : op->command->sizes.roofline;
}

int cmd_diagnose(const options *o)
{
    const volatile sig_atomic_t *stop = interrupt_watch(interrupted, NULL);
    const operation *op = NULL;
    choice devices = {0};
    tsr_session *session = NULL;
    diagnosis d = {0};
    tsr_error err = {0};
    problem p;
    int status = EXIT_DONE;

    if (o->size_count > 1)
        return wrong_usage("diagnose takes one --size");
    if (operation_asked(o, o->operand[0], NULL, &op, &err) ||
        kernel_choice(op, o->value[OPTION_KERNEL], o, NULL, NULL, &err) ||
        (o->size_count && bench_problem(op, o->size[0], o, &p, &err)) ||
        choice_find_one(o, &devices, &err) || choice_open(devices.device[0], o, &session, &err) ||
        (!o->size_count && bench_problem(op, usual_size(op, session), o, &p, &err)) ||
        diagnose_on(session, &p, o, stop, &d, &err))
        status = print_error(o->command, &err, session);
    else if (*stop)
        status = interrupted(NULL);
    else if (o->given[OPTION_JSON])
        status = json_print(json_diagnosis(&d, kernel_file_name(o)));
    else {
        print_diagnosis(&d, kernel_file_name(o));
        if (session_facts(session)->kind == DEVICE_CPU)
            hint("this is a kernel; on a CPU, calls on arrays may run C code instead, for which "
                 "'tessera bench %s' has a row",
                 op->name);
    }
    diagnose_free(&d);
    tsr_session_close(session);
    choice_close(&devices);
    return status;
}
