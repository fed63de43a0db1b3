/**
 * The Frobenius norm of a product of two matrices, which stay on the device.
 *
 *     buffers [DEVICE]
 *
 * C := A B and |C| are enqueued on OpenCL buffers of the session's context.  Its
 * queue is in order, so that the second call finds what the first one leaves; the
 * host waits once, for the one number that it reads.  A and B hold small whole
 * numbers, whose sums float32 holds exactly: the same in plain C is the known
 * answer, but for the rounding of the norm.  Exits with 0 only if they agree.
 *
 *     cc buffers.c $(pkg-config --cflags --libs tessera) -lOpenCL -lm
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tessera/tessera.h"

enum { N = 96 };

static double norm_in_c(const float *a, const float *b)
{
    double sum = 0;

    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double c = 0;

            for (size_t k = 0; k < N; k++)
                c += a[i * N + k] * b[k * N + j];
            sum += c * c;
        }
    return sqrt(sum);
}

/* A buffer that starts as a copy of `from`, or with NULL as anything; NULL: OpenCL failed. */
static cl_mem new_buffer(tsr_session *session, size_t bytes, float *from)
{
    return clCreateBuffer(tsr_session_context(session),
                          CL_MEM_READ_WRITE | (from ? CL_MEM_COPY_HOST_PTR : 0), bytes, from, NULL);
}

/* |A B| by the device.  Buffers may be released once commands that use them are enqueued. */
static tsr_status norm_on_device(tsr_session *session, float *a, float *b, float *norm,
                                 tsr_error *err)
{
    size_t bytes = (size_t)N * N * sizeof(float);
    tsr_matmul_problem product = TSR_MATMUL_PROBLEM_INIT;
    tsr_reduce_problem reduce = TSR_REDUCE_PROBLEM_INIT;
    cl_mem buffer[4] = {new_buffer(session, bytes, a), new_buffer(session, bytes, b),
                        new_buffer(session, bytes, NULL), new_buffer(session, sizeof(*norm), NULL)};
    tsr_status st = TSR_OK;
    cl_int rc;

    product.m = product.n = product.k = N;
    reduce.n = (size_t)N * N;
    reduce.by = TSR_REDUCE_NORM2;
    if (!buffer[0] || !buffer[1] || !buffer[2] || !buffer[3]) {
        st = TSR_ECL;
        snprintf(err->message, sizeof(err->message),
                 "no OpenCL buffers here: on `host`, or no memory");
    }
    if (st == TSR_OK)
        st =
            tsr_matmul_enqueue(session, &product, buffer[0], buffer[1], buffer[2], NULL, NULL, err);
    if (st == TSR_OK)
        st = tsr_reduce_enqueue(session, &reduce, buffer[2], buffer[3], NULL, NULL, err);
    if (st == TSR_OK) {
        rc = clEnqueueReadBuffer(tsr_session_queue(session), buffer[3], CL_TRUE, 0, sizeof(*norm),
                                 norm, 0, NULL, NULL);
        if (rc != CL_SUCCESS) {
            st = TSR_ECL;
            snprintf(err->message, sizeof(err->message), "clEnqueueReadBuffer: error %d", (int)rc);
        }
    }
    for (size_t i = 0; i < 4; i++)
        if (buffer[i])
            clReleaseMemObject(buffer[i]);
    return st;
}

int main(int argc, char **argv)
{
    static float a[N * N], b[N * N];
    tsr_devices *devices = NULL;
    const tsr_device *device = NULL; /* borrowed from devices */
    tsr_session *session = NULL;
    tsr_error err = {0};
    float norm = 0;
    double known;
    size_t found;
    tsr_status st;

    for (size_t i = 0; i < (size_t)N * N; i++) {
        a[i] = (float)(i % 7) - 3;
        b[i] = (float)(i % 5) - 2;
    }
    known = norm_in_c(a, b);
    st = tsr_devices_find(&devices, &err);
    if (st == TSR_OK) /* NULL: TESSERA_DEVICE, else the best */
        st = tsr_devices_select(devices, argc > 1 ? argv[1] : NULL, &device, 1, &found, &err);
    if (st == TSR_OK)
        st = tsr_session_open(device, NULL, &session, &err);
    if (st == TSR_OK)
        st = norm_on_device(session, a, b, &norm, &err);
    if (st != TSR_OK)
        fprintf(stderr, "buffers: %s\n", err.message);
    else
        printf("|A B| is %.3f on %s, and %.3f in C\n", (double)norm, tsr_device_name(device),
               known);
    tsr_session_close(session); /* before the list that its device is in */
    tsr_devices_close(devices);
    return st == TSR_OK && fabs(norm - known) <= 1e-5 * known ? EXIT_SUCCESS : EXIT_FAILURE;
}
