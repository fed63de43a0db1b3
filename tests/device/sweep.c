/* sweep OP VARIANT RUN...: several sweeps of one variant on the CPU's OpenCL device, in one
 * process.
 *
 * A RUN is "TYPE[,tiny][,small][,defaults]", as the options of `tessera verify` have it.  A process
 * of its own would cost each run 0.7 s in PoCL's compiler, which reads its library for the first
 * program.
 *
 * Exit status: 0 all results were right, or the variant supports nothing here; 1 any other.
 *
 * Needs an OpenCL device of the type CPU, such as PoCL's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/registry.h"
#include "measure/verify.h"
#include "tessera/tessera.h"

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

/* What a RUN says; false where a word is unknown. */
static bool read_run(char *run, verify_options *out)
{
    char *rest = NULL;
    const char *word = strtok_r(run, ",", &rest);

    out->typed = true;
    if (!word || !read_type(word, &out->type))
        return false;
    while ((word = strtok_r(NULL, ",", &rest))) {
        bool *const flag = !strcmp(word, "tiny")       ? &out->tiny
                           : !strcmp(word, "small")    ? &out->small
                           : !strcmp(word, "defaults") ? &out->defaults
                                                       : NULL;

        if (!flag)
            return false;
        *flag = true;
    }
    return true;
}

static bool on_row(const verify_row *row, void *failed)
{
    printf("%s %s/%s %s: %zu problems, %zu failed %s\n%s",
           row->failed     ? "FAIL"
           : row->problems ? "ok  "
                           : "skip",
           row->op->name, row->variant->name, tsr_type_name(row->type), row->problems, row->failed,
           row->detail, row->build_log ? row->build_log : "");
    fflush(stdout);
    if (row->failed)
        *(bool *)failed = true;
    return true;
}

static bool sweep(tsr_session *session, const operation *op, const char *name, char *run)
{
    verify_options options = {.variant = name, .seed = 1};
    tsr_error err = {0};
    bool failed = false;

    printf("%s\n", run);
    if (!read_run(run, &options)) {
        fprintf(stderr, "sweep: '%s' is no run\n", run);
        return false;
    }
    if (verify_operation(session, op, &options, on_row, &failed, &err)) {
        fprintf(stderr, "sweep: %s\n", err.message);
        failed = true;
    }
    return !failed;
}

int main(int argc, char **argv)
{
    tsr_devices *list = NULL;
    const tsr_device *device = NULL;
    tsr_session *session = NULL;
    const operation *op;
    const variant *v; /* looked up, so that a wrong name fails */
    tsr_error err = {0};
    size_t count;
    int status = 0;

    if (argc < 4) {
        fputs("Usage: sweep OP VARIANT TYPE[,tiny][,small][,defaults]...\n", stderr);
        return 2;
    }
    if (operation_find(argv[1], "sweep", NULL, &op, &err) || variant_find(op, argv[2], &v, &err) ||
        tsr_devices_find(&list, &err) ||
        tsr_devices_select(list, "cpu", &device, 1, &count, &err) ||
        tsr_session_open(device, NULL, &session, &err)) {
        fprintf(stderr, "sweep: %s\n", err.message);
        status = 1;
    }
    for (int i = 3; i < argc && session; i++)
        status |= !sweep(session, op, argv[2], argv[i]);
    tsr_session_close(session);
    tsr_devices_close(list);
    return status;
}
