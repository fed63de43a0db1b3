/* How few kernels a first call of scan compiles on a GPU that is made up here: no OpenCL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/sizes.h"
#include "core/registry.h"
#include "core/tuning_class.h"
#include "made_up_gpu.h"
#include "ops/scan/scan_problem.h"

static void plan_chunks(tsr_scan_problem structure, plan *out)
{
    const variant *v = &scan_chunks;
    const problem p = problem_from(&operation_scan, &structure, sizeof(structure));
    const params chosen = params_default(v);
    const job j = {.problem = &p, .device = &made_up_gpu, .params = &chosen};

    assert_null(plan_make(v, &j, out));
}

static size_t launches(size_t n, size_t inner)
{
    plan out;
    size_t count;

    plan_chunks((tsr_scan_problem){.type = TSR_F32, .n = n, .inner = inner}, &out);
    count = out.count;
    plan_free(&out);
    return count;
}

static void short_rows_are_whole(void **state)
{
    (void)state;
    assert_int_equal(launches(1, 1), 1);
    assert_int_equal(launches(16384, 1), 1);
    assert_int_equal(launches(16385, 1), 3);
    assert_int_equal(launches(16384, 10), 3); /* columns */
    assert_int_equal(launches(4096, 10), 1);
    assert_int_equal(launches((size_t)1 << 20, 1), 3);
}

/* Ordinals of chunks have 32 bits where there are no more than these count. */
static void ordinals_are_as_wide_as_chunks_are_many(void **state)
{
    (void)state;
    for (int many = 0; many < 2; many++) {
        plan out;

        plan_chunks((tsr_scan_problem){.type = TSR_F32, .n = 1, .outer = UINT32_MAX + (size_t)many},
                    &out);
        assert_non_null(strstr(text_get(&out.defines), many ? " -DWIDE=1" : " -DWIDE=0"));
        plan_free(&out);
    }
}

static void the_result_of_no_problem_has_no_type(void **state)
{
    (void)state;
    assert_int_equal(tsr_scan_result_type(NULL), TSR_TYPE_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(short_rows_are_whole),
                                       cmocka_unit_test(ordinals_are_as_wide_as_chunks_are_many),
                                       cmocka_unit_test(the_result_of_no_problem_has_no_type)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
