#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "cli/activity.h"
#include "cli/bench_problem.h"
#include "cli/commands.h"
#include "cli/device_choice.h"
#include "cli/json_print.h"
#include "cli/kernel_choice.h"
#include "cli/messages.h"
#include "core/registry.h"
#include "measure/verify.h"

typedef struct counters {
    const tsr_device *device; /* of the rows that come */
    const char *file;         /* that runs in the place of the variant; NULL: none */
    const char *folder;       /* of --kernel-dir; NULL: the kernels that are built in */
    bool named;               /* one variant was asked for */
    size_t passed, failed, skipped;
    bool wrong;                                /* a result is: not all failures are errors */
    char why[sizeof((verify_row *)0)->detail]; /* the first row that a file of the user's skips */
    json_t *rows;                              /* NULL for text */
} counters;

typedef enum outcome { OUTCOME_OK, OUTCOME_FAIL, OUTCOME_SKIP } outcome;

static void print_row(const verify_row *row, outcome how, const counters *t)
{
    static const char *const words[] = {"ok  ", "FAIL", "skip"};
    const char *from = t->file ? t->file : row->variant->source ? t->folder : NULL;

    print_plain(stdout, "%s %s/%s%s%s %s on %s: ", words[how], row->op->name, row->variant->name,
                from ? " from " : "", from ? from : "", tsr_type_name(row->type),
                tsr_device_name(t->device));
    if (how == OUTCOME_SKIP)
        printf("%s", row->detail);
    else if (how == OUTCOME_FAIL)
        printf("%zu of %zu problems: %s", row->failed, row->problems, row->detail);
    else
        printf("%zu problems", row->problems);
    if (row->sampled)
        printf(", %zu sampled", row->sampled);
    if (how == OUTCOME_OK && row->worst > 0)
        printf(", worst %.2g of bound", row->worst);
    if (row->tiles)
        printf(", %zu of %zu tiles in plain FP32", row->strict_tiles, row->tiles);
    if (row->never_ran)
        printf("; not tried: %s", row->never_ran_values);
    putchar('\n');
    fflush(stdout);
}

static json_t *row_json(const verify_row *row, outcome how, const counters *t)
{
    static const char *const words[] = {"ok", "fail", "skip"};

    json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:o}", "outcome", words[how], "op",
                               row->op->name, "variant", row->variant->name, "type",
                               tsr_type_name(row->type), "device", device_identity(t->device));

    if (t->file)
        json_object_set_new(object, "kernel_file", json_text(t->file));
    json_object_set_new(object, "problems", json_count(row->problems));
    json_object_set_new(object, "unsupported", json_count(row->unsupported));
    json_object_set_new(object, "failed", json_count(row->failed));
    json_object_set_new(object, "errors", json_count(row->errors));
    json_object_set_new(object, "sampled", json_count(row->sampled));
    json_object_set_new(object, "never_ran",
                        json_text(row->never_ran_values ? row->never_ran_values : ""));
    json_object_set_new(object, "worst", json_number(row->worst));
    json_object_set_new(object, "tiles", json_count(row->tiles));
    json_object_set_new(object, "strict_tiles", json_count(row->strict_tiles));
    json_object_set_new(object, "detail", json_text(row->detail));
    return object;
}

static void on_problem(const operation *op, const variant *v, size_t problems, void *context)
{
    (void)context;
    activity_update("%s/%s: %zu problems", op->name, v->name, problems);
}

static bool on_row(const verify_row *row, void *context)
{
    counters *t = context;
    outcome how = row->failed ? OUTCOME_FAIL : row->problems ? OUTCOME_OK : OUTCOME_SKIP;

    activity_end();
    /* That C runs on the host and kernels on devices is no news, unless one was asked for. */
    if (how == OUTCOME_SKIP && !t->named && !variant_is_for(row->variant, &t->device->facts))
        return true;
    t->passed += how == OUTCOME_OK;
    t->failed += how == OUTCOME_FAIL;
    t->wrong |= row->failed > row->errors;
    t->skipped += how == OUTCOME_SKIP;
    if (t->rows)
        json_array_append_new(t->rows, row_json(row, how, t));
    else if (how == OUTCOME_SKIP && t->file) { /* types that its step does not take */
        if (!*t->why)
            snprintf(t->why, sizeof(t->why), "%s", row->detail);
    } else
        print_row(row, how, t);
    if (row->build_log)
        show_build_log(row->build_log);
    return !ferror(stdout);
}

/* Verify on one device; what kept it from running is complained of, and the rest goes on. */
static int verify_device(const options *o, const operation *only, const tsr_device *device,
                         counters *t)
{
    const verify_options wanted = {.variant = t->named ? o->value[OPTION_KERNEL] : NULL,
                                   .set = o->set,
                                   .set_count = o->set_count,
                                   .seed = o->seed,
                                   .tiny = o->given[OPTION_TINY],
                                   .small = o->given[OPTION_SMALL],
                                   .defaults = o->given[OPTION_DEFAULTS],
                                   .stop = o->given[OPTION_STOP_ON_FAILURE],
                                   .fails_at_once = t->file != NULL,
                                   .typed = o->given[OPTION_TYPE],
                                   .type = o->type,
                                   .progress = on_problem};
    tsr_session *session = NULL;
    tsr_error err = {0};
    tsr_status st = choice_open(device, o, &session, &err);
    int status = st ? print_error(tsr_device_name(device), &err, NULL) : EXIT_DONE;
    const operation *op;

    t->device = device;
    for (size_t i = 0; !st && (op = operation_at(i)); i++) {
        if (only && op != only)
            continue;
        if (verify_operation(session, op, &wanted, on_row, t, &err))
            status = print_error(tsr_device_name(device), &err, session);
    }
    activity_end();
    tsr_session_close(session);
    return status;
}

static int finish(const options *o, counters *t, int status)
{
    tsr_error err = {0};

    if (t->rows) {
        int printed = json_print(
            json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "schema", "tessera-verify-1", "seed",
                      json_count(o->seed), "rows", t->rows, "passed", json_count(t->passed),
                      "failed", json_count(t->failed), "skipped", json_count(t->skipped)));

        status = status ? status : printed;
    } else {
        printf("%zu passed, %zu failed, %zu skipped (seed %" PRIu64 ")\n", t->passed, t->failed,
               t->skipped, o->seed);
    }
    if (t->failed)
        return t->wrong ? EXIT_BOUND : EXIT_FAILED;
    if (!status && !t->passed) {
        tsr_fail(&err, TSR_EUNSUPPORTED, 0, "nothing ran%s%s", *t->why ? ": " : "", t->why);
        status = print_error(o->command, &err, NULL);
    }
    return status;
}

/* --kernel, --set and --type are checked once, before any device is opened. */
static tsr_status check_names(const options *o, const operation *op, bool *named, tsr_error *err)
{
    const char *name = o->value[OPTION_KERNEL];
    problem of_type;
    tsr_status st = TSR_OK;

    if (name && !strcmp(name, "all"))
        name = NULL;
    *named = name != NULL;
    if (name && !op)
        return tsr_fail(err, TSR_ENAME, 0, "--kernel %s needs the operation, whose variant it is",
                        name);
    if (op && o->given[OPTION_TYPE])
        st = bench_problem(op, NULL, o, &of_type, err);
    return st ? st : kernel_choice(op, name, o, NULL, NULL, err);
}

int cmd_verify(const options *o)
{
    const operation *op = NULL;
    tsr_error err = {0};
    choice found = {0};
    counters sum = {.file = kernel_file_name(o), .folder = o->value[OPTION_KERNEL_DIR]};
    tsr_status st =
        o->operand_count ? operation_find(o->operand[0], o->command, NULL, &op, &err) : TSR_OK;
    int status = EXIT_DONE;

    st = st ? st : check_names(o, op, &sum.named, &err);
    st = st ? st : choice_find(o, &found, &err);
    if (st) {
        status = print_error(o->command, &err, NULL);
        choice_close(&found);
        return status;
    }
    if (o->given[OPTION_JSON])
        sum.rows = json_array();
    for (size_t i = 0; i < found.count; i++) {
        int one = verify_device(o, op, found.device[i], &sum);

        status = status ? status : one;
    }
    status = finish(o, &sum, status);
    choice_close(&found);
    return status;
}
