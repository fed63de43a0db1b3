/* First calls on a GPU: nothing is probed.  A CPU stands in for the GPU.
 *
 * Needs an OpenCL device of the type CPU, such as PoCL's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stand_in_gpu.h"

enum { LENGTH = 1000, BINS = 10 };

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

/* Bins of one number each, of numbers that take turns. */
static void nothing_is_probed(void **state)
{
    const tsr_histogram_problem p = {.type = TSR_F32, .n = LENGTH, .bins = BINS};
    float x[LENGTH], edges[BINS + 1];
    int64_t counts[BINS];
    tsr_report report = {0};
    tsr_error err = {0};

    (void)state;
    for (int i = 0; i < LENGTH; i++)
        x[i] = (float)(i % BINS);
    for (int i = 0; i <= BINS; i++)
        edges[i] = (float)i;
    if (tsr_histogram(gpu.session, &p, x, edges, counts, NULL, &report, &err))
        fail_msg("%s", err.message);
    assert_string_equal(report.variant, "local");
    assert_true(stand_in_gpu_is_unprobed(&gpu));
    for (int i = 0; i < BINS; i++)
        assert_int_equal(counts[i], LENGTH / BINS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_probed)};

    return cmocka_run_group_tests(tests, open_session, close_session);
}
