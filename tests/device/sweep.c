/* sweep OP RUN...: several sweeps of an operation's variants on the CPU's OpenCL device, or in
 * Oclgrind where that is all there is, in one process.
 *
 * A RUN is "VARIANT,TYPE[,WORD]...", of the words tiny, small and defaults, as the options of
 * `tessera verify` have it, pairs, singly and values, as verify_options do, and unoptimized, which
 * leaves out PoCL's optimizations.  A process of its own would cost each run 0.7 s in PoCL's
 * compiler, which reads its library for the first program.
 *
 * Optimized runs come first: PoCL asks for POCL_EXTRA_BUILD_FLAGS at every program until there is a
 * value, which then holds for the life of the process.  A run that is to be optimized and would not
 * be is refused.  A value that the environment has already holds for every run.
 *
 * Exit status: 0 all results were right, or the variant supports nothing here; 1 any other.
 *
 * Needs an OpenCL device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "core/registry.h"
#include "measure/programs_met.h"
#include "measure/verify.h"
#include "tessera/tessera.h"

static const char FLAGS[] = "POCL_EXTRA_BUILD_FLAGS", UNOPTIMIZED[] = "-cl-opt-disable";

static bool read_type(const char *name, tsr_type *out)
{
    for (int t = 0; t < TSR_TYPE_COUNT; t++) {
        if (!strcmp(tsr_type_name((tsr_type)t), name)) {
            *out = (tsr_type)t;
            return true;
        }
    }
    return false;
}

/* What a RUN says. */
typedef struct sweep_run {
    const variant *variant;
    verify_options options;
    bool unoptimized;
} sweep_run;

static bool read_words(char **rest, sweep_run *out)
{
    const char *word;

    while ((word = strtok_r(NULL, ",", rest))) {
        bool *const flag = !strcmp(word, "tiny")          ? &out->options.tiny
                           : !strcmp(word, "small")       ? &out->options.small
                           : !strcmp(word, "defaults")    ? &out->options.defaults
                           : !strcmp(word, "pairs")       ? &out->options.pairs
                           : !strcmp(word, "singly")      ? &out->options.singly
                           : !strcmp(word, "values")      ? &out->options.values
                           : !strcmp(word, "unoptimized") ? &out->unoptimized
                                                          : NULL;

        if (!flag)
            return false;
        *flag = true;
    }
    return true;
}

/* False where a word is unknown.  The run is cut in pieces, which *out refers to. */
static bool read_run(const operation *op, char *run, sweep_run *out)
{
    char *rest = NULL;
    const char *name = strtok_r(run, ",", &rest);
    const char *type = strtok_r(NULL, ",", &rest);
    tsr_error err = {0};

    *out = (sweep_run){.options = {.variant = name, .typed = true, .seed = 1}};
    return name && type && variant_find(op, name, &out->variant, &err) == TSR_OK &&
           read_type(type, &out->options.type) && read_words(&rest, out);
}

/* Of a RUN. */
typedef struct outcome {
    bool values; /* values of tunables alone, whose refusals are not counted */
    bool failed;
} outcome;

static bool on_row(const verify_row *row, void *context)
{
    outcome *of = context;
    /* Nothing ran, and nothing is said of why. */
    const bool empty = !of->values && !row->problems && (!row->unsupported || !*row->detail);

    printf("%s %s/%s %s: %zu problems, %zu failed %s\n%s",
           row->failed || empty ? "FAIL"
           : row->problems      ? "ok  "
                                : "skip",
           row->op->name, row->variant->name, tsr_type_name(row->type), row->problems, row->failed,
           empty ? "although they are supported" : row->detail,
           row->build_log ? row->build_log : "");
    fflush(stdout);
    of->failed |= row->failed || empty;
    return true;
}

/* A session in which programs are optimized or not: both would share those that it keeps. */
typedef struct bench {
    const tsr_device *device;
    tsr_session *session;
    bool unoptimized;
    const variant *variant; /* of the last run */
    programs_met met;       /* by its runs */
} bench;

static tsr_status open_session(bench *b, bool unoptimized, tsr_error *err)
{
    const char *flags = getenv(FLAGS);

    if (b->session && b->unoptimized == unoptimized)
        return TSR_OK;
    if (!unoptimized && flags && strstr(flags, UNOPTIMIZED))
        return tsr_fail(err, TSR_EINVAL, 0, "PoCL keeps %s=%s: optimized runs come before", FLAGS,
                        flags);
    tsr_session_close(b->session);
    b->session = NULL;
    b->unoptimized = unoptimized;
    if (unoptimized)
        setenv(FLAGS, UNOPTIMIZED, 0);
    return tsr_session_open(b->device, NULL, &b->session, err);
}

static bool sweep(bench *b, const operation *op, const char *words)
{
    tsr_error err = {0};
    char pieces[256];
    sweep_run run;
    outcome of;

    printf("%s\n", words);
    if ((size_t)snprintf(pieces, sizeof(pieces), "%s", words) >= sizeof(pieces) ||
        !read_run(op, pieces, &run)) {
        fprintf(stderr, "sweep: '%s' is no run\n", words);
        return false;
    }
    /* Types differ in few lines: two values that met in one need not meet in another.  A value
     * alone is to be in each. */
    if (run.variant != b->variant || run.options.singly)
        programs_met_free(&b->met);
    b->variant = run.variant;
    run.options.met = &b->met;
    of = (outcome){.values = run.options.values};
    if (open_session(b, run.unoptimized, &err) ||
        verify_operation(b->session, op, &run.options, on_row, &of, &err)) {
        fprintf(stderr, "sweep: %s\n", err.message);
        of.failed = true;
    }
    return !of.failed;
}

int main(int argc, char **argv)
{
    tsr_devices *list = NULL;
    bench b = {0};
    const operation *op;
    tsr_error err = {0};
    size_t count;
    int status = 0;

    if (argc < 3) {
        fputs("Usage: sweep OP VARIANT,TYPE[,tiny][,small][,defaults][,pairs[,singly]][,values]"
              "[,unoptimized]...\n",
              stderr);
        return 2;
    }
    if (operation_find(argv[1], "sweep", NULL, &op, &err) || tsr_devices_find(&list, &err) ||
        (tsr_devices_select(list, "cpu", &b.device, 1, &count, NULL) &&
         tsr_devices_select(list, "0:0", &b.device, 1, &count, &err))) {
        fprintf(stderr, "sweep: %s\n", err.message);
        status = 1;
    }
    for (int i = 2; i < argc && b.device; i++)
        status |= !sweep(&b, op, argv[i]);
    tsr_session_close(b.session);
    programs_met_free(&b.met);
    tsr_devices_close(list);
    return status;
}
