/* How few kernels a first call of select compiles on a GPU that is made up here: no OpenCL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/sizes.h"
#include "core/registry.h"
#include "core/tuning_class.h"
#include "made_up_gpu.h"
#include "ops/select/select_problem.h"

static size_t launches(size_t n)
{
    const variant *v = &select_three_launches;
    const tsr_select_problem structure = {.type = TSR_F32, .n = n};
    const problem p = problem_from(&operation_select, &structure, sizeof(structure));
    const params chosen = params_default(v);
    const job j = {.problem = &p, .device = &made_up_gpu, .params = &chosen};
    plan out;
    size_t count;

    assert_null(plan_make(v, &j, &out));
    count = out.count;
    plan_free(&out);
    return count;
}

static void short_arrays_are_one_tile(void **state)
{
    (void)state;
    assert_int_equal(launches(1), 1);
    assert_int_equal(launches(16384), 1);
    assert_int_equal(launches(16385), 3);
    assert_int_equal(launches((size_t)1 << 20), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(short_arrays_are_one_tile)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
