/**
 * Ranks packages of Debian 12 by PageRank: important is what important ones need.
 *
 *     package_rank DATA_FOLDER [DEVICE]
 *
 * debian_deps.mtx has an entry (i, j) where package i depends on package j, and
 * line i of debian_deps_names.txt is the name of package i.  A surfer walks from
 * a package to one of its dependencies, each as likely; from a package without
 * any, and otherwise too with probability 0.15, to a package picked from all n.
 * The rank of a package is how often he is there, after 100 steps of
 *
 *     y := 0.85 A x + 0.15 / n,
 *
 * A[j][i] being the probability of the way from i to j: y := alpha A x + beta y
 * with alpha = 0.85, and beta = 1 on a y that was filled with 0.15 / n.
 * (Brin and Page, The Anatomy of a Large-Scale Hypertextual Web Search Engine,
 * 1998.)
 *
 * This example enqueues: A goes to the device once and stays there, x and y
 * change places after each step, and the host waits only for the last step.
 * Exits with 0 only if the first five packages and their ranks are the known
 * ones.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "example.h"
#include "read_data.h"
#include "tessera/tessera.h"

enum { STEPS = 100, FIRST = 5 };

static const float damping = 0.85F;

static const struct {
    const char *name;
    double rank;
} known[FIRST] = {{"libc6", 0.19228},
                  {"libgcc-s1", 0.17472},
                  {"gcc-12-base", 0.07867},
                  {"python3", 0.01620},
                  {"perl", 0.01501}};

/* A, n x n, of which every column sums to 1; the caller frees it.  NULL: no memory. */
static float *transitions(const pattern *depends)
{
    size_t n = depends->rows;
    size_t *needs = calloc(n, sizeof(*needs)); /* dependencies of each package */
    float *a = calloc(n * n, sizeof(*a));

    if (!needs || !a) {
        free(needs);
        free(a);
        return NULL;
    }
    for (size_t e = 0; e < depends->count; e++)
        needs[depends->entries[e].row]++;
    for (size_t e = 0; e < depends->count; e++) {
        const entry *d = &depends->entries[e];

        a[d->column * n + d->row] += 1.0F / (float)needs[d->row];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n && needs[i] == 0; j++)
            a[j * n + i] = 1.0F / (float)n;
    free(needs);
    return a;
}

static tsr_status opencl_fail(tsr_error *err, const char *call, cl_int rc)
{
    example_fail(err, TSR_ECL, "%s: OpenCL error %d", call, (int)rc);
    err->cl = rc;
    return TSR_ECL;
}

/*
 * Enqueue y := teleport, then y += alpha A x.  The fill is a command of our own
 * on the session's queue: an event chains it to the library's.  *last is what
 * the step waits for, and becomes what the next one waits for; NULL: nothing.
 */
static tsr_status enqueue_step(tsr_session *session, const tsr_matvec_problem *problem, cl_mem a,
                               cl_mem x, cl_mem y, cl_event *last, tsr_report *report,
                               tsr_error *err)
{
    float teleport = (1.0F - damping) / (float)problem->rows;
    cl_event filled = NULL, multiplied = NULL;
    const tsr_run run = {.n_wait = 1, .wait = &filled, .done = &multiplied};
    tsr_status st;
    cl_int rc;

    rc = clEnqueueFillBuffer(tsr_session_queue(session), y, &teleport, sizeof(teleport), 0,
                             problem->rows * sizeof(float), *last ? 1 : 0, *last ? last : NULL,
                             &filled);
    if (rc != CL_SUCCESS)
        return opencl_fail(err, "clEnqueueFillBuffer", rc);
    st = tsr_matvec_enqueue(session, problem, a, x, y, &run, report, err);
    clReleaseEvent(filled);
    if (st != TSR_OK)
        return st;
    if (*last)
        clReleaseEvent(*last);
    *last = multiplied;
    return TSR_OK;
}

/* All steps on the session's queue.  `rank` holds the start, and receives the end. */
static tsr_status rank_on_queue(tsr_session *session, const tsr_matvec_problem *problem, float *a,
                                float *rank, tsr_report *report, tsr_error *err)
{
    cl_context context = tsr_session_context(session);
    size_t bytes = problem->rows * sizeof(float);
    cl_mem matrix = NULL, x = NULL, y = NULL;
    cl_event last = NULL;
    tsr_status st = TSR_OK;
    cl_int rc;

    matrix = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, problem->rows * bytes,
                            a, &rc);
    if (matrix)
        x = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, rank, &rc);
    if (x)
        y = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &rc);
    if (!y) {
        st = opencl_fail(err, "clCreateBuffer", rc);
        goto cleanup;
    }
    for (size_t step = 0; step < STEPS && st == TSR_OK; step++) {
        cl_mem swapped = x;

        st = enqueue_step(session, problem, matrix, x, y, &last, report, err);
        x = y;
        y = swapped;
    }
    if (st != TSR_OK)
        goto cleanup;
    /* Blocking: the one time that the host waits. */
    rc =
        clEnqueueReadBuffer(tsr_session_queue(session), x, CL_TRUE, 0, bytes, rank, 1, &last, NULL);
    if (rc != CL_SUCCESS)
        st = opencl_fail(err, "clEnqueueReadBuffer", rc);

cleanup:
    /* OpenCL keeps what enqueued commands still use. */
    if (last)
        clReleaseEvent(last);
    if (y)
        clReleaseMemObject(y);
    if (x)
        clReleaseMemObject(x);
    if (matrix)
        clReleaseMemObject(matrix);
    return st;
}

/* The same for the device `host`, which has neither queue nor buffers. */
static tsr_status rank_in_host_memory(tsr_session *session, const tsr_matvec_problem *problem,
                                      const float *a, float *rank, tsr_report *report,
                                      tsr_error *err)
{
    size_t n = problem->rows;
    float *y = calloc(n, sizeof(*y));
    tsr_status st = TSR_OK;

    if (!y)
        return example_fail(err, TSR_ENOMEM, "no memory for a step");
    for (size_t step = 0; step < STEPS && st == TSR_OK; step++) {
        for (size_t i = 0; i < n; i++)
            y[i] = (1.0F - damping) / (float)n;
        st = tsr_matvec(session, problem, a, rank, y, NULL, report, err);
        memcpy(rank, y, n * sizeof(*y));
    }
    free(y);
    return st;
}

/* Prints the first packages, which it takes out of `rank`; true if they are the known ones. */
static bool report_first(float *rank, const lines *names)
{
    bool as_known = true;

    for (size_t place = 0; place < FIRST; place++) {
        size_t best = 0;
        bool same;

        for (size_t i = 1; i < names->count; i++)
            if (rank[i] > rank[best])
                best = i;
        /* Known to 5 digits, and float32 may round the last one the other way. */
        same = !strcmp(names->line[best], known[place].name) &&
               fabs((double)rank[best] - known[place].rank) < 0.00001;
        printf("  %.5f  %-12s %s\n", (double)rank[best], names->line[best],
               same ? "as known" : "NOT as known");
        rank[best] = 0;
        as_known &= same;
    }
    return as_known;
}

static tsr_status rank_packages(tsr_session *session, const tsr_device *device, const char *folder,
                                bool *as_known, tsr_error *err)
{
    tsr_matvec_problem problem = {.type = TSR_F32, .alpha = damping, .beta = 1};
    pattern depends = {0};
    lines names = {0};
    float *a = NULL, *rank = NULL;
    tsr_report step;
    tsr_status st;
    size_t n;

    st = read_pattern(folder, "debian_deps.mtx", &depends, err);
    n = depends.rows;
    if (st == TSR_OK)
        st = read_lines(folder, "debian_deps_names.txt", n, &names, err);
    if (st != TSR_OK)
        goto cleanup;
    if (depends.columns != n || n < FIRST) {
        st = example_fail(err, TSR_EINVAL, "%zu x %zu is no such matrix", n, depends.columns);
        goto cleanup;
    }
    a = transitions(&depends);
    rank = calloc(n, sizeof(*rank));
    if (!a || !rank) {
        st = example_fail(err, TSR_ENOMEM, "no memory for the matrix");
        goto cleanup;
    }
    for (size_t i = 0; i < n; i++)
        rank[i] = 1.0F / (float)n;
    problem.rows = n;
    problem.columns = n;
    if (tsr_device_is_host(device))
        st = rank_in_host_memory(session, &problem, a, rank, &step, err);
    else
        st = rank_on_queue(session, &problem, a, rank, &step, err);
    if (st != TSR_OK)
        goto cleanup;
    printf("%zu packages on %s\n  matvec variant %s: %d steps\n", n, tsr_device_name(device),
           step.variant, STEPS);
    *as_known = report_first(rank, &names);

cleanup:
    free(rank);
    free(a);
    lines_free(&names);
    free(depends.entries);
    return st;
}

int main(int argc, char **argv)
{
    return example_main(argc, argv, "package_rank", rank_packages);
}
