/* Rows and tuning of sort from before segsort had a name of its own, and its classes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ops/segsort/segsort_problem.h"
#include "result_rows.h"
#include "tuning_classes.h"
#include "tuning_folder.h"

static void a_row_of_an_operation_that_came_apart(void **state)
{
    result_row row = full_row(), got;
    text line = {0};

    (void)state;
    strcpy(row.op, "sort");
    strcpy(row.name, "item-segments");
    strcpy(row.problem, "5000 uint32 in 1 segment of up to 5000");
    written(&row, &line);
    assert_int_equal(result_from_json(text_get(&line), &got, NULL), TSR_OK);
    assert_string_equal(got.op, "segsort");
    assert_string_equal(got.name, "cpu-segments");
    text_free(&line);
}

static void entries_of_an_operation_that_came_apart_stay(void **state)
{
    const device_facts d = gpu("Fast 1", "1.0");
    const problem parts = problem_from(
        &operation_segsort, &(tsr_segsort_problem){{.type = TSR_U32, .n = 5000}, .segments = 7},
        sizeof(tsr_segsort_problem));
    tuning t = entry_of(&d, &parts, 4), found;

    (void)state;
    assert_string_equal(t.problem_class, "4-byte segments below 2^12");
    strcpy(t.op, "sort");
    strcpy(t.variant, "item-segments");
    store(&t);
    assert_true(find(&parts, &d, &found));
    assert_true(found.median_ns == 4);
    assert_string_equal(found.op, "segsort");
    count_ignored(&operation_segsort, 0);
}

static void classes_name_their_problems(void **state)
{
    const problem p = problem_from(
        &operation_segsort,
        &(tsr_segsort_problem){{.type = TSR_U32, .n = 70000, .value_bytes = 4}, .segments = 10},
        sizeof(tsr_segsort_problem));

    (void)state;
    expect_class(&p, "4-byte argsort segments, 2^12 to 2^16 - 1 keys");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_of_an_operation_that_came_apart),
        cmocka_unit_test_setup_teardown(entries_of_an_operation_that_came_apart_stay, make_folder,
                                        drop_folder),
        cmocka_unit_test(classes_name_their_problems),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
