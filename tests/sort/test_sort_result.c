/* Rows of results of sort. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ops/sort/sort_order.h"
#include "result_rows.h"

/* Rows of sorts say how their keys come; those of older files do not, and others never. */
static void a_row_of_a_sort(void **state)
{
    problem p = sort_problem((tsr_sort_problem){.type = TSR_I16, .n = 70, .descending = true});
    result_row row = full_row(), got;
    text line = {0};
    char *other;

    (void)state;
    p.inputs = DISTRIBUTION_SAWTOOTH;
    written(&row, &line);
    assert_null(strstr(text_get(&line), "\"order\""));
    result_problem(&row, &p);
    assert_string_equal(row.problem, "70 int16 descending, sawtooth input");
    written(&row, &line);
    assert_int_equal(result_from_json(text_get(&line), &got, NULL), TSR_OK);
    assert_string_equal(got.order, "sawtooth");
    other = edited(text_get(&line), "order", "\"order\":\"\"");
    refused(other, "'order' is no field of");
    free(other);
    other = edited(text_get(&line), "order", "\"order\":1");
    refused(other, "'order' is not a text");
    free(other);
    p.inputs = DISTRIBUTION_PLAIN;
    result_problem(&row, &p);
    assert_string_equal(row.problem, "70 int16 descending");
    assert_string_equal(row.order, "random");
    /* The first step took every problem. */
    strcpy(row.name, "naive");
    strcpy(row.options, "-DKEY=short -DDESCENDING=1");
    written(&row, &line);
    assert_int_equal(result_from_json(text_get(&line), &got, NULL), TSR_OK);
    assert_string_equal(got.name, "general");
    p = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 70});
    result_problem(&row, &p);
    written(&row, &line);
    assert_int_equal(result_from_json(text_get(&line), &got, NULL), TSR_OK);
    assert_string_equal(got.name, "naive");
    text_free(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_of_a_sort),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
