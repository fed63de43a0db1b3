/**
 * A sort between two kernels of the program's own, on the program's own queue.
 *
 *     own_queue
 *
 * The program has OpenCL objects of its own: a context, an out-of-order queue and
 * two kernels.  The first fills a buffer with keys, the library sorts them, and the
 * second counts those that are smaller than the one before.  Events alone put the
 * three in order, and no key comes to the host.  Exits with 0 only if all keys are
 * in order.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tessera/tessera.h"

enum { KEYS = 100000 };

static const char source[] =
    "kernel void fill(global uint *keys)\n"
    "{\n"
    "    uint i = get_global_id(0);\n"
    "\n"
    "    keys[i] = i * 2654435761u;\n" /* Knuth's multiplicative hash */
    "}\n"
    "\n"
    "kernel void count_descents(global const uint *keys, global uint *count)\n"
    "{\n"
    "    uint i = get_global_id(0);\n"
    "\n"
    "    if (i > 0 && keys[i] < keys[i - 1])\n"
    "        atomic_inc(count);\n"
    "}\n";

/* What the program has of OpenCL; zero-initialised, and released by main(). */
typedef struct objects {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel fill, count_descents;
    cl_mem keys, count;
} objects;

static cl_int set_up(objects *o, cl_device_id device)
{
    const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES,
                                              CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    const char *text = source;
    cl_uint zero = 0;
    cl_int rc;

    o->context = clCreateContext(NULL, 1, &device, NULL, NULL, &rc);
    if (!rc)
        o->queue = clCreateCommandQueueWithProperties(o->context, device, properties, &rc);
    if (!rc)
        o->program = clCreateProgramWithSource(o->context, 1, &text, NULL, &rc);
    if (!rc)
        rc = clBuildProgram(o->program, 1, &device, "", NULL, NULL);
    if (!rc)
        o->fill = clCreateKernel(o->program, "fill", &rc);
    if (!rc)
        o->count_descents = clCreateKernel(o->program, "count_descents", &rc);
    if (!rc)
        o->keys = clCreateBuffer(o->context, CL_MEM_READ_WRITE, KEYS * sizeof(cl_uint), NULL, &rc);
    if (!rc)
        o->count = clCreateBuffer(o->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                  sizeof(zero), &zero, &rc);
    if (!rc)
        rc = clSetKernelArg(o->fill, 0, sizeof(o->keys), &o->keys);
    if (!rc)
        rc = clSetKernelArg(o->count_descents, 0, sizeof(o->keys), &o->keys);
    if (!rc)
        rc = clSetKernelArg(o->count_descents, 1, sizeof(o->count), &o->count);
    return rc;
}

/* Fill, sort, count, and read the count: commands that wait for one another by their events. */
static cl_int run(const objects *o, tsr_session *session, cl_uint *descents, tsr_error *err)
{
    const size_t keys = KEYS;
    tsr_sort_problem problem = TSR_SORT_PROBLEM_INIT;
    cl_event filled = NULL, sorted = NULL, counted = NULL;
    const tsr_run order = {.n_wait = 1, .wait = &filled, .done = &sorted};
    cl_int rc;

    problem.type = TSR_U32;
    problem.n = KEYS;
    rc = clEnqueueNDRangeKernel(o->queue, o->fill, 1, NULL, &keys, NULL, 0, NULL, &filled);
    if (!rc && tsr_sort_enqueue(session, &problem, &(tsr_sort_buffers){.keys = o->keys}, &order,
                                NULL, err) != TSR_OK)
        rc = err->cl ? err->cl : CL_INVALID_OPERATION;
    if (!rc)
        rc = clEnqueueNDRangeKernel(o->queue, o->count_descents, 1, NULL, &keys, NULL, 1, &sorted,
                                    &counted);
    if (!rc)
        rc = clEnqueueReadBuffer(o->queue, o->count, CL_TRUE, 0, sizeof(*descents), descents, 1,
                                 &counted, NULL);
    clFinish(o->queue); /* after a failure too: nothing is released that still runs */
    if (counted)
        clReleaseEvent(counted);
    if (sorted)
        clReleaseEvent(sorted);
    if (filled)
        clReleaseEvent(filled);
    return rc;
}

int main(void)
{
    objects o = {0};
    cl_platform_id platform;
    cl_device_id device;
    tsr_session *session = NULL;
    tsr_error err = {.message = "OpenCL failed"};
    cl_uint descents = KEYS;
    cl_int rc;

    rc = clGetPlatformIDs(1, &platform, NULL);
    if (!rc)
        rc = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
    if (!rc)
        rc = set_up(&o, device);
    if (!rc && tsr_session_adopt(o.queue, NULL, &session, &err) != TSR_OK)
        rc = err.cl ? err.cl : CL_INVALID_OPERATION;
    if (!rc)
        rc = run(&o, session, &descents, &err);
    if (rc)
        fprintf(stderr, "own_queue: %s (%d)\n", err.message, (int)rc);
    else
        printf("%d keys sorted, %u of them smaller than the one before\n", KEYS, descents);

    tsr_session_close(session);
    if (o.count)
        clReleaseMemObject(o.count);
    if (o.keys)
        clReleaseMemObject(o.keys);
    if (o.count_descents)
        clReleaseKernel(o.count_descents);
    if (o.fill)
        clReleaseKernel(o.fill);
    if (o.program)
        clReleaseProgram(o.program);
    if (o.queue)
        clReleaseCommandQueue(o.queue);
    if (o.context)
        clReleaseContext(o.context);
    return !rc && descents == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
