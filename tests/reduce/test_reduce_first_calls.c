/* First calls of whole arrays on a GPU: nothing is probed.  A CPU stands in for the GPU.
 *
 * Needs an OpenCL device of the type CPU, such as PoCL's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/device.h"
#include "tessera/tessera.h"

enum { LENGTH = 1000 };

static tsr_session *session;

static int open_session(void **state)
{
    const tsr_device *device;
    tsr_devices *list;
    tsr_device gpu;
    tsr_error err = {0};
    size_t n = 0;

    (void)state;
    setenv("TESSERA_CACHE_DIR", "off", 1);
    assert_int_equal(tsr_devices_find(&list, &err), TSR_OK);
    if (tsr_devices_select(list, "cpu", &device, 1, &n, &err))
        fail_msg("%s", err.message);
    gpu = *device;
    gpu.facts.kind = DEVICE_GPU;
    gpu.facts.compiles_late = false;
    gpu.facts.unified_memory = false;
    if (tsr_session_open(&gpu, NULL, &session, &err))
        fail_msg("%s", err.message);
    tsr_devices_close(list);
    return 0;
}

static int close_session(void **state)
{
    (void)state;
    tsr_session_close(session);
    return 0;
}

static void expect(tsr_type type, const void *x, const void *sum, size_t bytes, const char *variant)
{
    const tsr_reduce_problem p = {.type = type, .n = LENGTH, .by = TSR_REDUCE_SUM};
    unsigned char result[8];
    tsr_report report = {0};
    tsr_error err = {0};

    if (tsr_reduce(session, &p, x, result, NULL, &report, &err))
        fail_msg("%s", err.message);
    assert_string_equal(report.variant, variant);
    /* Looking for what is known; a probe would be compiled as the program is. */
    assert_true(report.probe_ns < report.build_ns / 4);
    assert_memory_equal(result, sum, bytes);
}

static void nothing_is_probed(void **state)
{
    static float floats[LENGTH];
    static double doubles[LENGTH];
    const float sum = LENGTH / 2 * (LENGTH - 1);
    const double wide = sum;

    (void)state;
    for (int i = 0; i < LENGTH; i++)
        floats[i] = (float)(doubles[i] = i);
    expect(TSR_F32, floats, &sum, sizeof(sum), "vector");
    expect(TSR_F64, doubles, &wide, sizeof(wide), "rows");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_probed)};

    return cmocka_run_group_tests(tests, open_session, close_session);
}
