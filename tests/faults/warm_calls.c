/* The same enqueued call again and again: what a session that has seen it asks of OpenCL.
 *
 *     warm_calls_OP VARIANT CALLS [turns]
 *
 * On the first device of the type CPU.  With `turns` two problems that differ in a scalar alone
 * take turns.  What is called is counted by the layer under the loader.
 */
#include <stdio.h>
#include <stdlib.h>

#include "warm_calls.h"

static tsr_status run_calls(tsr_session *s, char **argv, bool turns, tsr_error *err)
{
    const tsr_run run = {.variant = argv[1]};
    const unsigned long calls = strtoul(argv[2], NULL, 10);
    static const float zeros[WARM_ELEMENTS];
    cl_mem b[WARM_BUFFERS] = {NULL};
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < WARM_BUFFERS; i++)
        b[i] = clCreateBuffer(tsr_session_context(s), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                              sizeof(zeros), (void *)zeros, NULL);
    for (unsigned long i = 0; i < calls && !st; i++)
        st = warm_call(s, &run, turns ? (double)(i % 2) + 1 : 1, b, err);
    clFinish(tsr_session_queue(s));
    for (size_t i = 0; i < WARM_BUFFERS; i++)
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

    if (argc < 3) {
        fputs("Usage: warm_calls_OP VARIANT CALLS [turns]\n", stderr);
        return 2;
    }
    st = tsr_devices_find(&list, &err);
    st = st ? st : tsr_devices_select(list, "cpu", &device, 1, &n, &err);
    st = st ? st : tsr_session_open(device, NULL, &s, &err);
    st = st ? st : run_calls(s, argv, argc > 3, &err);
    if (st)
        fprintf(stderr, "warm_calls: %s\n", err.message);
    tsr_session_close(s);
    tsr_devices_close(list);
    return st != TSR_OK;
}
