/* No keys and one key are in order: nothing is compiled for them.  Needs an OpenCL device of the
 * type CPU, such as PoCL's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/sizes.h"
#include "tessera/tessera.h"

static void test_nothing_is_compiled(void **state)
{
    static const char *const variants[] = {NULL, "cpu-merges", "cpu-vectors", "general",
                                           "fused-passes"};
    const tsr_session_options options = {.no_cache = 1};
    tsr_devices *list;
    const tsr_device *cpu;
    tsr_session *s;
    size_t count;

    (void)state;
    assert_int_equal(tsr_devices_find(&list, NULL), TSR_OK);
    assert_int_equal(tsr_devices_select(list, "cpu", &cpu, 1, &count, NULL), TSR_OK);
    assert_int_equal(tsr_session_open(cpu, &options, &s, NULL), TSR_OK);
    for (size_t v = 0; v < ARRAY_COUNT(variants); v++) {
        for (size_t n = 0; n < 2; n++) {
            const tsr_sort_problem p = {.type = TSR_U32, .n = n};
            const tsr_run run = {.variant = variants[v]};
            uint32_t key = 5;
            tsr_report report;
            tsr_error err = {0};

            if (tsr_sort(s, &p, &(tsr_sort_arrays){.keys = &key}, &run, &report, &err))
                fail_msg("%s", err.message);
            assert_int_equal(report.build, TSR_BUILD_NONE);
            assert_int_equal(report.build_ns, 0);
            assert_int_equal(key, 5);
        }
    }
    tsr_session_close(s);
    tsr_devices_close(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_is_compiled)};

    return cmocka_run_group_tests_name("sort of nothing", tests, NULL, NULL);
}
