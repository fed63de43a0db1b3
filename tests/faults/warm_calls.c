/* The same enqueued call again and again: what a session that has seen it asks of OpenCL.
 *
 *     warm_calls OP VARIANT CALLS [turns]
 *
 * On the first device of the type CPU.  With `turns` two problems that differ in a scalar alone
 * take turns (matmul and matvec).  What is called is counted by the layer under the loader.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/tessera.h"

enum { SIDE = 48, BUFFERS = 3, BYTES = SIDE * SIDE * sizeof(float) };

static tsr_status call(tsr_session *s, const char *op, const tsr_run *run, double alpha,
                       const cl_mem b[BUFFERS], tsr_error *err)
{
    const tsr_matmul_problem matmul = {.m = SIDE, .n = SIDE, .k = SIDE, .alpha = alpha};
    const tsr_matvec_problem matvec = {.rows = 2, .columns = SIDE * SIDE / 2, .alpha = alpha};
    const tsr_sort_problem sort = {.type = TSR_U32, .n = SIDE * SIDE};

    if (strcmp(op, "matmul") == 0)
        return tsr_matmul_enqueue(s, &matmul, b[0], b[1], b[2], run, NULL, err);
    if (strcmp(op, "matvec") == 0)
        return tsr_matvec_enqueue(s, &matvec, b[0], b[1], b[2], run, NULL, err);
    return tsr_sort_enqueue(s, &sort, &(tsr_sort_buffers){.keys = b[0]}, run, NULL, err);
}

static tsr_status run_calls(tsr_session *s, char **argv, bool turns, tsr_error *err)
{
    const tsr_run run = {.variant = argv[2]};
    const unsigned long calls = strtoul(argv[3], NULL, 10);
    const float zeros[SIDE * SIDE] = {0};
    cl_mem b[BUFFERS] = {NULL};
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < BUFFERS; i++)
        b[i] = clCreateBuffer(tsr_session_context(s), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                              BYTES, (void *)zeros, NULL);
    for (unsigned long i = 0; i < calls && !st; i++)
        st = call(s, argv[1], &run, turns ? (double)(i % 2) + 1 : 1, b, err);
    clFinish(tsr_session_queue(s));
    for (size_t i = 0; i < BUFFERS; i++)
        if (b[i])
            clReleaseMemObject(b[i]);
    return st;
}

int main(int argc, char **argv)
{
    const tsr_device *device = NULL;
    tsr_devices *list = NULL;
    tsr_session *s = NULL;
    tsr_error err = {0};
    tsr_status st;
    size_t n;

    if (argc < 4) {
        fputs("Usage: warm_calls OP VARIANT CALLS [turns]\n", stderr);
        return 2;
    }
    st = tsr_devices_find(&list, &err);
    st = st ? st : tsr_devices_select(list, "cpu", &device, 1, &n, &err);
    st = st ? st : tsr_session_open(device, NULL, &s, &err);
    st = st ? st : run_calls(s, argv, argc > 4, &err);
    if (st)
        fprintf(stderr, "warm_calls: %s\n", err.message);
    tsr_session_close(s);
    tsr_devices_close(list);
    return st != TSR_OK;
}
