/* What any OpenCL program pays, from start to end: the floor of a first call.
 *
 *     bare_opencl gpu|cpu|accelerator|all [kernel]
 *
 * lists the platforms and opens a context and a queue on the first device of that type; with
 * `kernel` it also builds a kernel of one line, runs it and reads its result.  It prints one line,
 * {"platforms_ms": .., "context_ms": .., "build_ms": .., "run_ms": ..}, and leaves what it has to
 * the end of the process, as the command does on a GPU, where that takes the least time.
 */
/* clCreateCommandQueue: the call that devices of every version take. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <CL/cl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

enum { PLATFORMS_MAX = 8, ITEMS = 256 };

static const struct {
    const char *name;
    cl_device_type type;
} types[] = {{"gpu", CL_DEVICE_TYPE_GPU},
             {"cpu", CL_DEVICE_TYPE_CPU},
             {"accelerator", CL_DEVICE_TYPE_ACCELERATOR},
             {"all", CL_DEVICE_TYPE_ALL}};

static cl_device_id find_device(const char *name)
{
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_device_id device = NULL;
    cl_device_type type = 0;
    cl_uint n = 0;

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(types[i].name, name) == 0)
            type = types[i].type;
    if (!type || clGetPlatformIDs(PLATFORMS_MAX, platforms, &n))
        return NULL;
    for (cl_uint i = 0; i < n && i < PLATFORMS_MAX && !device; i++)
        if (clGetDeviceIDs(platforms[i], type, 1, &device, NULL))
            device = NULL;
    return device;
}

/* Each value doubled. */
static int run(cl_context context, cl_command_queue queue, cl_program program)
{
    const size_t items = ITEMS;
    float x[ITEMS];
    cl_kernel kernel;
    cl_mem memory;
    cl_int rc;

    for (int i = 0; i < ITEMS; i++)
        x[i] = (float)i;
    kernel = clCreateKernel(program, "twice", &rc);
    if (!kernel)
        return rc;
    memory = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(x), x, &rc);
    rc = rc ? rc : clSetKernelArg(kernel, 0, sizeof(memory), &memory);
    rc = rc ? rc : clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL);
    rc = rc ? rc : clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof(x), x, 0, NULL, NULL);
    return rc ? rc : x[ITEMS - 1] != 2 * (ITEMS - 1);
}

int main(int argc, char **argv)
{
    const char *source = "__kernel void twice(__global float *x) { x[get_global_id(0)] *= 2; }";
    const uint64_t start = clock_ns();
    uint64_t listed, opened, built, ran;
    cl_command_queue queue;
    cl_device_id device;
    cl_context context;
    cl_program program;
    cl_int rc;

    device = argc > 1 ? find_device(argv[1]) : NULL;
    listed = clock_ns();
    context = device ? clCreateContext(NULL, 1, &device, NULL, NULL, &rc) : NULL;
    queue = context ? clCreateCommandQueue(context, device, 0, &rc) : NULL;
    opened = built = ran = clock_ns();
    if (!queue)
        return fprintf(stderr, "bare_opencl: no such device\n"), 1;
    if (argc > 2) {
        program = clCreateProgramWithSource(context, 1, &source, NULL, &rc);
        if (!program || clBuildProgram(program, 1, &device, "", NULL, NULL))
            return fprintf(stderr, "bare_opencl: the kernel is not built\n"), 1;
        built = clock_ns();
        if (run(context, queue, program))
            return fprintf(stderr, "bare_opencl: the kernel does not run\n"), 1;
        ran = clock_ns();
    }
    printf("{\"platforms_ms\": %.1f, \"context_ms\": %.1f, \"build_ms\": %.1f, \"run_ms\": %.1f}\n",
           (double)(listed - start) / 1e6, (double)(opened - listed) / 1e6,
           (double)(built - opened) / 1e6, (double)(ran - built) / 1e6);
    return 0;
}
