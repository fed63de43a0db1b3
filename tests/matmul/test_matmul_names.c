/* Rows of results of matmul, those among them that have names from before these were changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ops/matmul/matmul_shape.h"
#include "result_rows.h"

/* Names that now mean something else: told apart by what the kernel was built with. */
static void old_names_are_what_they_are_now(void **state)
{
    static const struct {
        const char *name, *problem, *options, *now;
    } cases[] = {
        {"naive", "4x5x6 float32", "-DREAL=float -DTRANS_A=0", "row-first"},
        {"naive", "4x5x6 float64", "-DREAL=double -DTRANS_A=0", "row-first"},
        {"naive", "4x5x6 float32", "", "naive"},
        {"coalesced", "4x5x6 float32", "-DREAL=float -DTRANS_A=0", "naive"},
        {"coalesced", "4x5x6 float32 tf32", "-DREAL=float -DTRANS_A=0", "general"},
        {"coalesced", "4x5x6 float32", "", "general"},
        {"tiled", "4x5x6 float32", "-DREAL=float -DTILE=16", "tiled"},
        {"tiled", "4x5x6 float32 x 3", "-DREAL=float -DTILE=16", "general-tiled"},
        {"tiled", "4x5x6 float32", "-DTILE=2", "tiled"},
        {"item-block", "4x5x6 float32", "", "cpu-block"},
        {"cuBLAS", "4x5x6 float32", "", "cuBLAS"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        result_row row = full_row(), got;
        text line = {0};

        snprintf(row.name, sizeof(row.name), "%s", cases[i].name);
        snprintf(row.problem, sizeof(row.problem), "%s", cases[i].problem);
        snprintf(row.options, sizeof(row.options), "%s", cases[i].options);
        written(&row, &line);
        assert_int_equal(result_from_json(text_get(&line), &got, NULL), TSR_OK);
        assert_string_equal(got.name, cases[i].now);
        text_free(&line);
    }
}

static void old_tunables_are_renamed(void **state)
{
    result_row row = full_row(), got;
    text line = {0};

    (void)state;
    strcpy(row.name, "batched");
    strcpy(row.parameters, "GROUP=128 ROWS_MOST=8 COLUMNS_MOST=4 DEPTH_MOST=64 STAGES=1");
    written(&row, &line);
    assert_int_equal(result_from_json(text_get(&line), &got, NULL), TSR_OK);
    assert_string_equal(got.parameters, "GROUP=128 ROWS_MAX=8 COLUMNS_MAX=4 DEPTH_MAX=64 STAGES=1");
    text_free(&line);
}

static void a_row_says_its_problem(void **state)
{
    const problem p =
        matmul_problem((tsr_matmul_problem){.type = TSR_F64, .m = 2, .n = 3, .k = 4, .alpha = 1});
    result_row row = {0};

    (void)state;
    result_problem(&row, &p);
    assert_string_equal(row.size, "2x3x4");
    assert_string_equal(row.precision, "f64");
    assert_string_equal(row.problem, "2x3x4 float64");
    assert_true(row.work == 48 && row.bytes == 8 * (8 + 12 + 6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_names_are_what_they_are_now),
        cmocka_unit_test(old_tunables_are_renamed),
        cmocka_unit_test(a_row_says_its_problem),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
