/* One sort again and again: every answer is the first one to the bit, and that is right.
 *
 *     sort_again DEVICE N TIMES [VARIANT [NAME=VALUE]...]
 *
 * N random keys of uint32, the same each time, on OpenCL buffers; after the first sort the keys are
 * copied back from the input and sorted anew TIMES - 1 times, compared on the host each time.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/tessera.h"

typedef struct again {
    tsr_session *session;
    tsr_sort_problem problem;
    tsr_run run;
    uint32_t *input, *first, *now; /* n keys each */
    cl_mem given, keys;
} again;

static tsr_status fail(tsr_error *err, tsr_status status, const char *message, size_t number)
{
    err->status = status;
    snprintf(err->message, sizeof(err->message), "%s (%zu)", message, number);
    return status;
}

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static tsr_status make(again *x, size_t n, tsr_error *err)
{
    const cl_context context = tsr_session_context(x->session);
    const size_t bytes = n * sizeof(uint32_t);
    uint32_t state = 1;

    x->input = malloc(bytes);
    x->first = malloc(bytes);
    x->now = malloc(bytes);
    if (!x->input || !x->first || !x->now)
        return fail(err, TSR_ENOMEM, "no memory for so many keys", n);
    for (size_t i = 0; i < n; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        x->input[i] = state;
    }
    x->given =
        clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, x->input, NULL);
    x->keys = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, NULL);
    return x->given && x->keys ? TSR_OK : fail(err, TSR_ECL, "clCreateBuffer for so many keys", n);
}

/* Sort the input into x->keys, and read them into `out`. */
static tsr_status sort(const again *x, uint32_t *out, tsr_error *err)
{
    const cl_command_queue queue = tsr_session_queue(x->session);
    const size_t bytes = x->problem.n * sizeof(uint32_t);
    tsr_status st;

    if (clEnqueueCopyBuffer(queue, x->given, x->keys, 0, 0, bytes, 0, NULL, NULL) != CL_SUCCESS)
        return fail(err, TSR_ECL, "clEnqueueCopyBuffer", bytes);
    st = tsr_sort_enqueue(x->session, &x->problem, &(tsr_sort_buffers){.keys = x->keys}, &x->run,
                          NULL, err);
    if (st == TSR_OK &&
        clEnqueueReadBuffer(queue, x->keys, CL_TRUE, 0, bytes, out, 0, NULL, NULL) != CL_SUCCESS)
        st = fail(err, TSR_ECL, "clEnqueueReadBuffer", bytes);
    return st;
}

static tsr_status repeat(const again *x, size_t times, tsr_error *err)
{
    const size_t n = x->problem.n, bytes = n * sizeof(uint32_t);
    tsr_status st = sort(x, x->first, err);

    for (size_t i = 1; i < times && st == TSR_OK; i++) {
        st = sort(x, x->now, err);
        if (st == TSR_OK && memcmp(x->first, x->now, bytes) != 0)
            st = fail(err, TSR_EINVAL, "another answer than the first one's", i);
    }
    if (st != TSR_OK)
        return st;
    qsort(x->input, n, sizeof(*x->input), compare);
    return memcmp(x->first, x->input, bytes) == 0
               ? TSR_OK
               : fail(err, TSR_EINVAL, "not the sorted input", n);
}

static tsr_status run(const char *device, size_t times, again *x, tsr_error *err)
{
    const tsr_device *found = NULL;
    tsr_devices *list = NULL;
    size_t count;
    tsr_status st = tsr_devices_find(&list, err);

    st = st ? st : tsr_devices_select(list, device, &found, 1, &count, err);
    st = st ? st : tsr_session_open(found, NULL, &x->session, err);
    st = st ? st : make(x, x->problem.n, err);
    st = st ? st : repeat(x, times, err);
    if (x->given)
        clReleaseMemObject(x->given);
    if (x->keys)
        clReleaseMemObject(x->keys);
    free(x->input);
    free(x->first);
    free(x->now);
    tsr_session_close(x->session);
    tsr_devices_close(list);
    return st;
}

int main(int argc, char **argv)
{
    tsr_error err = {0};
    again x = {.problem = {.type = TSR_U32}};

    if (argc < 4) {
        fputs("Usage: sort_again DEVICE N TIMES [VARIANT [NAME=VALUE]...]\n", stderr);
        return 2;
    }
    x.problem.n = (size_t)strtoull(argv[2], NULL, 10);
    if (argc > 4)
        x.run = (tsr_run){.variant = argv[4],
                          .set = (const char *const *)argv + 5,
                          .set_count = (size_t)argc - 5};
    if (run(argv[1], (size_t)strtoull(argv[3], NULL, 10), &x, &err)) {
        fprintf(stderr, "sort_again: %s\n", err.message);
        return 1;
    }
    printf("%s sorts of %s keys of uint32, seed 1: one answer, the right one\n", argv[3], argv[2]);
    return 0;
}
