/* What of an experiment's rows is judged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/lab/lab.h"

/* The base is none of the claims, but another point of exactly the same time is one. */
static void the_base_is_no_claim(void **state)
{
    const experiment relative = {.name = "relative"}, of_values = {.claims_values = true};
    result_row row = {.claim = 1, .ratio = 1};

    (void)state;
    assert_true(lab_is_claim(&relative, &row));
    row.base = true;
    assert_false(lab_is_claim(&relative, &row));
    assert_true(lab_is_claim(&of_values, &row));
    row.claim = 0;
    assert_false(lab_is_claim(&of_values, &row));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_base_is_no_claim)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
