/* One matmul again and again, through the public headers alone: the yardstick of what `tessera
 * bench` reports of the same kernel.
 *
 *     bare_loop DEVICE N SECONDS VARIANT [NAME=VALUE]...
 *
 * N x N x N float32 on one set of random inputs, on a queue that records no times; on `host` in C.
 * Prints two lines, wall times of a call in nanoseconds, each the median of samples taken in turn:
 *
 *     waited NS   a call and its clFinish
 *     queued NS   CALLS calls back to back and one clFinish, divided by CALLS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tessera/tessera.h"

enum { CALLS = 5, SAMPLES_MAX = 10000, WARM_UP = 2 };

typedef struct loop {
    tsr_session *session;
    tsr_matmul_problem problem;
    tsr_run run;
    float *memory[3]; /* A, B, C */
    cl_mem buffer[3]; /* not on `host` */
} loop;

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *x, size_t n)
{
    qsort(x, n, sizeof(*x), compare);
    return (x[n / 2] + x[(n - 1) / 2]) / 2;
}

static tsr_status fail(tsr_error *err, tsr_status status, const char *message)
{
    err->status = status;
    snprintf(err->message, sizeof(err->message), "%s", message);
    return status;
}

/* Uniform in [-1, 1), as the inputs of bench: what a device draws depends on the values. */
static tsr_status make_operand(loop *x, size_t i, size_t n, tsr_error *err)
{
    const size_t count = n * n;
    uint32_t state = (uint32_t)i + 1;

    x->memory[i] = calloc(count, sizeof(float));
    if (!x->memory[i])
        return fail(err, TSR_ENOMEM, "no memory for an operand");
    for (size_t k = 0; k < count; k++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        x->memory[i][k] = (float)(int32_t)(state & 0xFFFFFF00u) * 0x1p-31f;
    }
    if (!tsr_session_queue(x->session))
        return TSR_OK;
    x->buffer[i] =
        clCreateBuffer(tsr_session_context(x->session), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                       count * sizeof(float), x->memory[i], NULL);
    return x->buffer[i] ? TSR_OK : fail(err, TSR_ECL, "clCreateBuffer failed");
}

/* One sample: the time of a call, of `calls` with one wait. */
static tsr_status sample(const loop *x, size_t calls, double *ns, tsr_error *err)
{
    const cl_command_queue queue = tsr_session_queue(x->session);
    const double start = now_ns();
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < calls && !st; i++)
        st = queue ? tsr_matmul_enqueue(x->session, &x->problem, x->buffer[0], x->buffer[1],
                                        x->buffer[2], &x->run, NULL, err)
                   : tsr_matmul(x->session, &x->problem, x->memory[0], x->memory[1], x->memory[2],
                                &x->run, NULL, err);
    if (!st && queue && clFinish(queue) != CL_SUCCESS)
        st = fail(err, TSR_ECL, "clFinish failed");
    *ns = (now_ns() - start) / (double)calls;
    return st;
}

static tsr_status measure(const loop *x, double seconds, tsr_error *err)
{
    static double waited[SAMPLES_MAX], queued[SAMPLES_MAX / CALLS];
    tsr_status st = TSR_OK;
    size_t n = 0;
    double start;

    for (size_t i = 0; i < WARM_UP && !st; i++)
        st = sample(x, CALLS, &queued[0], err);
    start = now_ns();
    while (!st && n + CALLS <= SAMPLES_MAX && (n == 0 || now_ns() - start < seconds * 1e9)) {
        st = sample(x, CALLS, &queued[n / CALLS], err);
        for (size_t i = 0; i < CALLS && !st; i++, n++)
            st = sample(x, 1, &waited[n], err);
    }
    if (!st)
        printf("waited %.0f\nqueued %.0f\n", median(waited, n), median(queued, n / CALLS));
    return st;
}

static tsr_status run(const char *device, size_t n, double seconds, loop *x, tsr_error *err)
{
    const tsr_device *found = NULL;
    tsr_devices *list = NULL;
    size_t count;
    tsr_status st;

    x->problem = (tsr_matmul_problem){.type = TSR_F32, .m = n, .n = n, .k = n, .alpha = 1};
    st = tsr_devices_find(&list, err);
    st = st ? st : tsr_devices_select(list, device, &found, 1, &count, err);
    st = st ? st : tsr_session_open(found, NULL, &x->session, err);
    for (size_t i = 0; i < 3 && !st; i++)
        st = make_operand(x, i, n, err);
    st = st ? st : measure(x, seconds, err);

    if (x->session && tsr_session_queue(x->session))
        clFinish(tsr_session_queue(x->session));
    for (size_t i = 0; i < 3; i++) {
        if (x->buffer[i])
            clReleaseMemObject(x->buffer[i]);
        free(x->memory[i]);
    }
    tsr_session_close(x->session);
    tsr_devices_close(list);
    return st;
}

int main(int argc, char **argv)
{
    tsr_error err = {0};
    loop x = {0};

    if (argc < 5) {
        fputs("Usage: bare_loop DEVICE N SECONDS VARIANT [NAME=VALUE]...\n", stderr);
        return 2;
    }
    x.run = (tsr_run){
        .variant = argv[4], .set = (const char *const *)argv + 5, .set_count = (size_t)argc - 5};
    if (run(argv[1], (size_t)strtoull(argv[2], NULL, 10), atof(argv[3]), &x, &err)) {
        fprintf(stderr, "bare_loop: %s\n", err.message);
        return 1;
    }
    return 0;
}
