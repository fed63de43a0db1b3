/* A session on one device of a context that has two: PoCL shows the CPU twice where it is asked to.
 * Needs an OpenCL device of the type CPU. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "device/device.h"
#include "session/program.h"
#include "tessera/tessera.h"

/* A platform with two devices of the type CPU at least; false where there is none. */
static bool find_two(cl_device_id two[2])
{
    cl_platform_id platforms[8];
    cl_uint count = 0, found = 0;

    if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS)
        return false;
    for (cl_uint i = 0; i < count && i < 8; i++)
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 2, two, &found) == CL_SUCCESS &&
            found >= 2)
            return true;
    return false;
}

/* A program is one of both, and built for the session's alone: its binary is the one kept. */
static void binary_of(cl_context context, cl_device_id device)
{
    const tsr_session_options options = {.no_cache = 1};
    const tsr_sort_problem p = {.type = TSR_U32, .n = 8};
    const tsr_run run = {.variant = "general"};
    uint32_t keys[] = {8, 7, 6, 5, 4, 3, 2, 1};
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    unsigned char *binary = NULL;
    tsr_session *s = NULL;
    tsr_error err = {0};
    size_t size = 0;

    assert_non_null(queue);
    if (tsr_session_adopt(queue, &options, &s, &err) ||
        tsr_sort(s, &p, &(tsr_sort_arrays){.keys = keys}, &run, NULL, &err))
        fail_msg("%s", err.message);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(keys[i], i + 1);
    assert_non_null(s->programs);
    if (program_binary(s->programs, &binary, &size, &err))
        fail_msg("%s", err.message);
    assert_true(size > 0);
    free(binary);
    tsr_session_close(s);
    clReleaseCommandQueue(queue);
}

static void a_binary_is_the_devices_own(void **state)
{
    cl_device_id two[2];
    cl_context context;

    (void)state;
    if (!find_two(two))
        skip();
    context = clCreateContext(NULL, 2, two, NULL, NULL, NULL);
    assert_non_null(context);
    binary_of(context, two[0]);
    binary_of(context, two[1]);
    clReleaseContext(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_binary_is_the_devices_own)};

    setenv("POCL_DEVICES", "basic pthread", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
