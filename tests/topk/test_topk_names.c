/* Rows and tuning of sort from before topk had a name of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ops/topk/topk_problem.h"
#include "result_rows.h"
#include "tuning_folder.h"

/* Entries of sort from before topk had a name of its own, in the file and under the name of then.
 */
static void entries_of_an_operation_that_came_apart_stay(void **state)
{
    const device_facts d = gpu("Fast 1", "1.0");
    const problem whole = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 5000});
    const problem first =
        problem_from(&operation_topk, &(tsr_topk_problem){{.type = TSR_U32, .n = 5000}, .k = 3},
                     sizeof(tsr_topk_problem));
    tuning t = entry_of(&d, &first, 5), found;

    (void)state;
    strcpy(t.op, "sort");
    strcpy(t.variant, "item-top");
    store(&t);
    t = entry_of(&d, &whole, 6);
    store(&t);
    assert_int_equal(count_files(false), 2);
    assert_true(find(&first, &d, &found));
    assert_true(found.median_ns == 5);
    assert_string_equal(found.op, "topk");
    assert_true(find(&whole, &d, &found));
    assert_true(found.median_ns == 6);
    count_ignored(&operation_sort, 0);
    count_ignored(&operation_topk, 0);
}

/* Rows of sort from before topk had a name of its own. */
static void a_row_of_an_operation_that_came_apart(void **state)
{
    result_row row = full_row(), got;
    text line = {0};

    (void)state;
    strcpy(row.op, "sort");
    strcpy(row.name, "item-top");
    strcpy(row.problem, "first 10 of 5000 uint32");
    written(&row, &line);
    assert_int_equal(result_from_json(text_get(&line), &got, NULL), TSR_OK);
    assert_string_equal(got.op, "topk");
    assert_string_equal(got.name, "cpu-heaps");
    text_clear(&line);
    strcpy(row.problem, "5000 uint32");
    written(&row, &line);
    assert_int_equal(result_from_json(text_get(&line), &got, NULL), TSR_OK);
    assert_string_equal(got.op, "sort");
    text_free(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(entries_of_an_operation_that_came_apart_stay, make_folder,
                                        drop_folder),
        cmocka_unit_test(a_row_of_an_operation_that_came_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
