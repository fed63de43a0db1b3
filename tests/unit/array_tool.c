/**
 * Copy arrays from file to file through the library, for tests that compare
 * with another implementation: array_tool IN OUT [IN OUT]... [--as f32|f64|f16|bf16].
 *
 * Prints type and shape of each as NumPy would, on standard error where OUT is
 * "-".  One that fails is a line on standard error; the others are copied.
 */
#include <stdio.h>
#include <string.h>

#include "file/array.h"
#include "file/output.h"

static void print_shape(FILE *to, const array *a)
{
    fprintf(to, "%s (", array_type_name(a));
    for (unsigned i = 0; i < a->rank; i++)
        fprintf(to, "%s%zu%s", i ? ", " : "", a->shape[i], a->rank == 1 ? "," : "");
    fputs(")\n", to);
}

static tsr_type type_of(const char *as)
{
    return strcmp(as, "f32") == 0    ? TSR_F32
           : strcmp(as, "f16") == 0  ? TSR_F16
           : strcmp(as, "bf16") == 0 ? TSR_BF16
                                     : TSR_F64;
}

static tsr_status copy(const char *in, const char *out, const char *as, tsr_error *err)
{
    array a = {0};
    output *o = NULL;
    tsr_status status = array_read(in, &a, err);

    if (status)
        return status;
    if (as)
        status = array_convert(&a, type_of(as), NULL, err);
    if (status)
        goto cleanup;
    status = output_open(out, &o, err);
    if (status)
        goto cleanup;
    status = output_write(o, &a, err);
    if (status)
        goto cleanup;
    status = output_commit(o, NULL, err);
    o = NULL; /* freed by commit */
    if (!status)
        print_shape(strcmp(out, "-") == 0 ? stderr : stdout, &a);

cleanup:
    output_discard(o);
    array_free(&a);
    return status;
}

int main(int argc, char **argv)
{
    const char *as = NULL;
    tsr_error err;
    int status = 0;

    if (argc > 3 && strcmp(argv[argc - 2], "--as") == 0) {
        as = argv[argc - 1];
        argc -= 2;
    }
    if (argc < 3 || argc % 2 == 0) {
        fprintf(stderr, "usage: array_tool IN OUT [IN OUT]... [--as f32|f64|f16|bf16]\n");
        return 2;
    }
    for (int i = 1; i < argc; i += 2) {
        if (copy(argv[i], argv[i + 1], as, &err)) {
            fprintf(stderr, "%s\n", err.message);
            status = 1;
        }
    }
    return status;
}
