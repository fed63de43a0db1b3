/* The library's own time of a warm enqueued product of 64 x 64 matrices, in nanoseconds:
 *
 *     call_time DEVICE [MAX]
 *
 * Fails where it is above MAX.  The session knows the call, and the driver does nothing: the
 * functions of OpenCL that such a call uses are defined here and return at once.  Of many rounds
 * the shortest counts, by the processor's time of this thread, so that other work on the machine
 * disturbs little.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tessera/tessera.h"

enum { SIDE = 64, ROUNDS = 200, CALLS = 2000 };

/* ---- in the place of the loader's ----------------------------------------------------------- */

CL_API_ENTRY cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint i, size_t bytes,
                                               const void *value)
{
    (void)kernel, (void)i, (void)bytes, (void)value;
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                                       cl_uint dims, const size_t *offset,
                                                       const size_t *global, const size_t *local,
                                                       cl_uint n_wait, const cl_event *wait,
                                                       cl_event *done)
{
    (void)queue, (void)kernel, (void)dims, (void)offset, (void)global, (void)local;
    (void)n_wait, (void)wait, (void)done;
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clFlush(cl_command_queue queue)
{
    (void)queue;
    return CL_SUCCESS;
}

static tsr_session *session; /* whose context all buffers are of */

/* Buffers that are read and written and no sub-buffers. */
CL_API_ENTRY cl_int CL_API_CALL clGetMemObjectInfo(cl_mem buffer, cl_mem_info what, size_t size,
                                                   void *value, size_t *size_out)
{
    (void)buffer, (void)size, (void)size_out;
    if (what == CL_MEM_SIZE)
        *(size_t *)value = SIDE * SIDE * sizeof(float);
    else if (what == CL_MEM_CONTEXT)
        *(cl_context *)value = tsr_session_context(session);
    else if (what == CL_MEM_FLAGS)
        *(cl_mem_flags *)value = CL_MEM_READ_WRITE;
    else if (what == CL_MEM_ASSOCIATED_MEMOBJECT)
        *(cl_mem *)value = NULL;
    else
        return CL_INVALID_VALUE;
    return CL_SUCCESS;
}

/* ---- the calls ------------------------------------------------------------------------------- */

static double thread_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static tsr_status time_calls(tsr_session *s, const cl_mem b[3], double *best, tsr_error *err)
{
    static const tsr_matmul_problem p = {.m = SIDE, .n = SIDE, .k = SIDE, .alpha = 1};
    static const tsr_run kernel = {.variant = "cpu-block"};
    tsr_status st = tsr_matmul_enqueue(s, &p, b[0], b[1], b[2], &kernel, NULL, err);

    for (int r = 0; r < ROUNDS && !st; r++) {
        const double start = thread_ns();
        double ns;

        for (int i = 0; i < CALLS && !st; i++)
            st = tsr_matmul_enqueue(s, &p, b[0], b[1], b[2], &kernel, NULL, err);
        ns = (thread_ns() - start) / CALLS;
        if (r == 0 || ns < *best)
            *best = ns;
    }
    return st;
}

int main(int argc, char **argv)
{
    const tsr_device *device = NULL;
    tsr_devices *list = NULL;
    tsr_session *s = NULL;
    tsr_error err = {0};
    cl_mem b[3] = {NULL};
    double best = 0;
    tsr_status st;
    size_t n;

    if (argc < 2) {
        fputs("Usage: call_time DEVICE [MAX]\n", stderr);
        return 2;
    }
    st = tsr_devices_find(&list, &err);
    st = st ? st : tsr_devices_select(list, argv[1], &device, 1, &n, &err);
    st = st ? st : tsr_session_open(device, NULL, &s, &err);
    session = s;
    for (size_t i = 0; i < 3 && !st; i++)
        b[i] = clCreateBuffer(tsr_session_context(s), CL_MEM_READ_WRITE,
                              SIDE * SIDE * sizeof(float), NULL, NULL);
    st = st ? st : time_calls(s, b, &best, &err);
    if (st)
        fprintf(stderr, "call_time: %s\n", err.message);
    else
        printf("%.0f ns\n", best);
    for (size_t i = 0; i < 3; i++)
        if (b[i])
            clReleaseMemObject(b[i]);
    tsr_session_close(s);
    tsr_devices_close(list);
    return st || (argc > 2 && best > strtod(argv[2], NULL));
}
