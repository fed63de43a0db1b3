/* First calls of a whole array on a GPU: nothing is probed.  A CPU stands in for the GPU.
 *
 * Needs an OpenCL device of the type CPU, such as PoCL's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stand_in_gpu.h"

enum { LENGTH = 1000 };

static cpu_session gpu;

static int open_session(void **state)
{
    (void)state;
    stand_in_gpu_open(&gpu);
    return 0;
}

static int close_session(void **state)
{
    (void)state;
    cpu_session_close(&gpu);
    return 0;
}

static void nothing_is_probed(void **state)
{
    const tsr_reduce_problem p = {.type = TSR_F32, .n = LENGTH, .by = TSR_REDUCE_SUM};
    float x[LENGTH], sum = 0;
    tsr_report report = {0};
    tsr_error err = {0};

    (void)state;
    for (int i = 0; i < LENGTH; i++)
        x[i] = (float)i;
    if (tsr_reduce(gpu.session, &p, x, &sum, NULL, &report, &err))
        fail_msg("%s", err.message);
    assert_string_equal(report.variant, "tree");
    assert_true(stand_in_gpu_is_unprobed(&gpu));
    assert_true(sum == 0.5 * LENGTH * (LENGTH - 1));
}

static void other_types_probe_nothing_either(void **state)
{
    tsr_reduce_problem p = {.type = TSR_I32, .n = LENGTH, .by = TSR_REDUCE_ARGMAX};
    int32_t x[LENGTH];
    int64_t result = 0;
    tsr_report report = {0};
    tsr_error err = {0};

    (void)state;
    for (int i = 0; i < LENGTH; i++)
        x[i] = i == 700 ? 1000 : i % 600;
    if (tsr_reduce(gpu.session, &p, x, &result, NULL, &report, &err))
        fail_msg("%s", err.message);
    assert_string_equal(report.variant, "rows");
    assert_int_equal(result, 700);
    p.by = TSR_REDUCE_SUM;
    if (tsr_reduce(gpu.session, &p, x, &result, NULL, &report, &err))
        fail_msg("%s", err.message);
    assert_string_equal(report.variant, "rows");
    assert_true(stand_in_gpu_is_unprobed(&gpu));
    assert_int_equal(result, 600 * 599 / 2 + 400 * 399 / 2 + 1000 - 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_probed),
                                       cmocka_unit_test(other_types_probe_nothing_either)};

    return cmocka_run_group_tests(tests, open_session, close_session);
}
