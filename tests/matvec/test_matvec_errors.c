/* How errors of a product of a matrix and a vector are measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "measure/errors.h"
#include "ops/matvec/matvec_shape.h"

/* y := op(A) x is a product of one column. */
static void samples(void **state)
{
    const problem p = matvec_problem((tsr_matvec_problem){
        .type = TSR_F64, .rows = 50, .columns = 30, .trans = true, .alpha = 1});
    error_case c = {0};
    const double *a, *x;

    (void)state;
    assert_int_equal(errors_open(&p, 7, ERRORS_CANCELLING, &c, NULL), TSR_OK);
    assert_false(c.sampled);
    a = c.before[0];
    x = c.before[1];
    assert_int_equal(c.count, 30);
    for (size_t s = 0; s < c.count; s++) {
        long double sum = 0;

        for (size_t q = 0; q < 50; q++)
            sum += (long double)a[q * 30 + s] * x[q];
        assert_int_equal(c.samples[s].at, s);
        assert_true(fabsl(sum - c.samples[s].exact) <= 0x1p-58L * c.samples[s].scale);
        assert_true(fabsl(sum) < 0.02L * c.samples[s].scale);
    }
    errors_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(samples)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
