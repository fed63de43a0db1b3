/* Which rows are compared with which, the ratio and what noise allows, and what a page holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/compare.h"
#include "measure/report.h"

/* A verified row of 1000 x 1000 at `rate` GFLOP/s whose quartiles are `spread` off its median. */
static result_row row_of(const char *device, const char *name, double rate, double spread)
{
    result_row r = {
        .kind = RESULT_KERNEL, .cold = true, .verified = true, .work = 2e9, .bytes = 12e6};

    strcpy(r.op, "first");
    strcpy(r.problem, "1000x1000x1000 float32");
    strcpy(r.type, "float32");
    strcpy(r.precision, "f32");
    strcpy(r.unit, "GFLOP/s");
    strcpy(r.driver, "1.0");
    strcpy(r.device_id, "0:0");
    snprintf(r.device, sizeof r.device, "%s", device);
    snprintf(r.name, sizeof r.name, "%s", name);
    r.rate = rate;
    r.time = (timing){.count = 9, .calls = 1, .median_ns = r.work / rate};
    r.time.low_ns = r.time.median_ns * (1 - spread);
    r.time.high_ns = r.time.median_ns * (1 + spread);
    r.time.min_ns = r.time.low_ns;
    r.time.max_ns = r.time.high_ns;
    return r;
}

static result_row limit_of(const char *device, const char *name, const char *unit, double value)
{
    result_row r = row_of(device, name, value, 0);

    r.kind = RESULT_LIMIT;
    r.verified = false;
    strcpy(r.op, "limit");
    strcpy(r.problem, "");
    strcpy(r.type, "");
    strcpy(r.precision, "");
    snprintf(r.unit, sizeof r.unit, "%s", unit);
    return r;
}

static comparison built(const compare_file *files, size_t count)
{
    comparison c = {0};
    tsr_error err = {0};

    if (compare_build(files, count, &c, &err))
        fail_msg("%s", err.message);
    return c;
}

static size_t line_named(const comparison *c, const char *name)
{
    for (size_t i = 0; i < c->line_count; i++) {
        text t = {0};
        bool found;

        compare_name(&c->lines[i], &t);
        found = !strcmp(text_get(&t), name);
        text_free(&t);
        if (found)
            return i;
    }
    fail_msg("no line '%s'", name);
    return 0;
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9 * fabs(b);
}

static void ratio_is_of_the_medians_and_noise_of_the_favourable_quartiles(void **state)
{
    result_row a = row_of("d", "tiled", 100, 0.05), b = row_of("d", "tiled", 90, 0.05);
    compare_file files[] = {{"a", &a, 1}, {"b", &b, 1}};
    comparison c = built(files, 2);
    compare_verdict v = compare_judge(&c, 0, 1);

    (void)state;
    assert_int_equal(c.column_count, 2);
    assert_int_equal(c.line_count, 1);
    assert_int_equal(v.outcome, COMPARE_RATIO);
    assert_true(near(v.ratio, 0.9));
    /* The base's slower quartile over the new row's faster one, in time. */
    assert_true(near(v.favourable, a.time.high_ns / b.time.low_ns));
    assert_true(near(v.favourable, 0.9 * 1.05 / 0.95));
    assert_false(compare_lost(&v, 0.95));
    assert_true(compare_lost(&v, 0.999));
    assert_int_equal(compare_judge(&c, 0, 0).outcome, COMPARE_NO_BASE);
    compare_close(&c);
}

static void rows_without_quartiles_have_their_median(void **state)
{
    result_row a = row_of("d", "tiled", 100, 0), b = row_of("d", "tiled", 90, 0);
    compare_file files[] = {{"a", &a, 1}, {"b", &b, 1}};
    comparison c;
    compare_verdict v;

    (void)state;
    a.time.low_ns = a.time.high_ns = b.time.low_ns = b.time.high_ns = 0;
    c = built(files, 2);
    v = compare_judge(&c, 0, 1);
    assert_true(near(v.favourable, v.ratio));
    assert_true(compare_lost(&v, 0.95));
    compare_close(&c);
}

static void times_are_the_better_the_shorter(void **state)
{
    result_row a = limit_of("d", "launch waited", "us", 10),
               b = limit_of("d", "launch waited", "us", 20);
    compare_file files[] = {{"a", &a, 1}, {"b", &b, 1}};
    comparison c = built(files, 2);

    (void)state;
    assert_true(near(compare_judge(&c, 0, 1).ratio, 0.5));
    compare_close(&c);
}

/* Each difference alone makes rows of another problem. */
static void what_differs_is_not_compared(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        result_row a = row_of("d", "tiled", 100, 0), b = a;
        compare_file files[] = {{"first.json", &a, 1}, {"second.json", &b, 1}};
        comparison c;

        if (i == 0)
            strcpy(b.op, "second");
        else if (i == 1)
            strcpy(b.problem, "1001x1000x1000 float32");
        else if (i == 2)
            strcpy(b.type, "float64");
        else if (i == 3)
            strcpy(b.precision, "tf32");
        else if (i == 4)
            b.cold = false;
        else
            b.timer = TIMER_WALL;
        c = built(files, 2);
        assert_int_equal(c.group_count, 2);
        assert_int_equal(c.line_count, 2);
        /* Nothing to compare: two files about one device. */
        assert_int_equal(c.column_count, 1);
        compare_close(&c);
    }
}

/* A file of the same job stands beside the first, whatever else it has. */
static void files_of_one_job_are_two_columns(void **state)
{
    result_row a = row_of("d", "tiled", 100, 0), b[] = {a, a}, c_other = a;
    compare_file files[] = {{"a", &a, 1}, {"b", b, 2}, {"c", &c_other, 1}};
    comparison c;
    text paths = {0};

    (void)state;
    strcpy(b[1].type, "float64");
    strcpy(c_other.precision, "tf32");
    c = built(files, 3);
    assert_int_equal(c.column_count, 2);
    compare_paths(&c, 0, &paths);
    assert_string_equal(text_get(&paths), "a + c");
    assert_int_equal(c.columns[0].rows, 2);
    assert_int_equal(c.columns[1].rows, 2);
    text_free(&paths);
    compare_close(&c);
}

static void the_order_of_parameters_does_not_matter(void **state)
{
    result_row a[] = {row_of("d", "tiled", 1, 0), row_of("d", "tiled", 2, 0)};
    result_row b = row_of("d", "tiled", 3, 0);
    compare_file files[] = {{"a", a, 2}, {"b", &b, 1}};
    comparison c;

    (void)state;
    strcpy(a[0].parameters, "TILE=16 ROWS=4");
    strcpy(a[1].parameters, "TILE=16 ROWS=44");
    strcpy(b.parameters, "ROWS=4 TILE=16");
    c = built(files, 2);
    assert_int_equal(c.line_count, 2);
    assert_ptr_equal(compare_cell(&c, 0, 1), &b);
    assert_null(compare_cell(&c, 1, 1));
    compare_close(&c);
    /* Some of them are others. */
    for (size_t some = 0; some < 2; some++) {
        strcpy(a[some].parameters, "TILE=16");
        strcpy(a[1 - some].parameters, "TILE=16 ROWS=4");
        c = built(files, 2);
        assert_int_equal(c.line_count, 2);
        assert_null(compare_cell(&c, some, 1));
        assert_ptr_equal(compare_cell(&c, 1 - some, 1), &b);
        compare_close(&c);
    }
}

static void rates_have_the_unit_of_their_size(void **state)
{
    static const struct {
        double rate;
        const char *unit, *shown, *in_three;
    } cases[] = {{999, "GFLOP/s", "999.0 GFLOP/s", "999 GFLOP/s"},
                 {999.7, "GB/s", "999.7 GB/s", "1 TB/s"},
                 {971288, "GFLOP/s", "971.3 TFLOP/s", "971 TFLOP/s"},
                 {4596, "GB/s", "4.596 TB/s", "4.6 TB/s"},
                 {42800, "Mkeys/s", "42.80 Gkeys/s", "42.8 Gkeys/s"},
                 {811.2, "Mkeys/s", "811.2 Mkeys/s", "811 Mkeys/s"},
                 {2000, "us", "2,000 us", "2e+03 us"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        text shown = {0};

        compare_rate(cases[i].rate, cases[i].unit, &shown);
        assert_string_equal(text_get(&shown), cases[i].shown);
        text_clear(&shown);
        compare_short_rate(cases[i].rate, cases[i].unit, &shown);
        assert_string_equal(text_get(&shown), cases[i].in_three);
        text_free(&shown);
    }
}

static void each_clock_has_a_name(void **state)
{
    static const char *const names[] = {[TIMER_EVENTS] = ", cold, device time",
                                        [TIMER_WALL] = ", cold, wall time",
                                        [TIMER_HELD] = ", cold, device time of calls back to back"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        result_row row = row_of("d", "tiled", 100, 0);
        text name = {0};
        const char *end;

        row.timer = (result_timer)i;
        compare_group_name(&row, &name);
        end = strstr(text_get(&name), names[i]);
        assert_non_null(end);
        assert_string_equal(end, names[i]);
        text_free(&name);
    }
}

static void a_file_without_rows_is_refused(void **state)
{
    result_row a = row_of("d", "tiled", 100, 0);
    compare_file files[] = {{"a", &a, 1}, {"b", NULL, 0}};
    comparison c = {0};
    tsr_error err = {0};

    (void)state;
    assert_int_equal(compare_build(files, 2, &c, &err), TSR_EINVAL);
    assert_string_equal(err.message, "b: it has no result");
}

static void a_ladder_keeps_its_order_when_a_later_file_has_more_steps(void **state)
{
    result_row a[] = {row_of("d", "naive", 1, 0), row_of("d", "vector", 3, 0)};
    result_row b[] = {row_of("d", "naive", 1, 0), row_of("d", "tiled", 2, 0),
                      row_of("d", "vector", 3, 0), row_of("d", "warp", 4, 0)};
    compare_file files[] = {{"a", a, 2}, {"b", b, 4}};
    comparison c = built(files, 2);
    static const char *const names[] = {"naive", "tiled", "vector", "warp"};

    (void)state;
    assert_int_equal(c.line_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(line_named(&c, names[i]), i);
    assert_int_equal(compare_judge(&c, 1, 1).outcome, COMPARE_NO_BASE);
    compare_close(&c);
}

static void missing_unsupported_and_unverified_have_no_ratio(void **state)
{
    result_row a[] = {row_of("d", "naive", 1, 0), row_of("d", "tiled", 2, 0),
                      row_of("d", "vector", 3, 0), row_of("d", "warp", 4, 0)};
    result_row b[] = {row_of("d", "naive", 1, 0), row_of("d", "tiled", 0, 0),
                      row_of("d", "warp", 9, 0)};
    compare_file files[] = {{"a", a, 4}, {"b", b, 3}};
    comparison c;

    (void)state;
    result_refuse(&b[1], RESULT_UNSUPPORTED, "no sub-groups");
    b[2].verified = false;
    c = built(files, 2);
    assert_int_equal(compare_judge(&c, line_named(&c, "naive"), 1).outcome, COMPARE_RATIO);
    assert_int_equal(compare_judge(&c, line_named(&c, "tiled"), 1).outcome, COMPARE_UNSUPPORTED);
    assert_int_equal(compare_judge(&c, line_named(&c, "vector"), 1).outcome, COMPARE_MISSING);
    assert_int_equal(compare_judge(&c, line_named(&c, "warp"), 1).outcome, COMPARE_UNVERIFIED);
    compare_close(&c);
}

/* What a budget left out hides no earlier or later time of the same line. */
static void what_was_left_out_hides_nothing(void **state)
{
    result_row a[] = {row_of("d", "naive", 1, 0), row_of("d", "naive", 0, 0),
                      row_of("d", "tiled", 0, 0), row_of("d", "tiled", 2, 0),
                      row_of("d", "warp", 0, 0)};
    compare_file file = {"a", a, 5};
    comparison c;

    (void)state;
    result_refuse(&a[1], RESULT_LATE, "the budget is over");
    result_refuse(&a[2], RESULT_LATE, "the budget is over");
    result_refuse(&a[4], RESULT_LATE, "the budget is over");
    c = built(&file, 1);
    assert_ptr_equal(compare_cell(&c, line_named(&c, "naive"), 0), &a[0]);
    assert_ptr_equal(compare_cell(&c, line_named(&c, "tiled"), 0), &a[3]);
    assert_ptr_equal(compare_cell(&c, line_named(&c, "warp"), 0), &a[4]);
    compare_close(&c);
}

static void parameters_are_told_apart_where_a_column_has_several(void **state)
{
    result_row a[] = {row_of("d", "tiled", 1, 0), row_of("d", "tiled", 2, 0),
                      row_of("d", "naive", 1, 0)};
    result_row b[] = {row_of("d", "tiled", 5, 0), row_of("d", "naive", 1, 0)};
    compare_file files[] = {{"a", a, 3}, {"b", b, 2}};
    comparison c;

    (void)state;
    strcpy(a[0].parameters, "TILE=8");
    strcpy(a[1].parameters, "TILE=16");
    strcpy(b[0].parameters, "TILE=16");
    strcpy(b[1].parameters, "ROWS=4"); /* `naive` has one set of parameters a column: one line */
    c = built(files, 2);
    assert_int_equal(c.line_count, 3);
    assert_int_equal(compare_judge(&c, line_named(&c, "tiled [TILE=8]"), 1).outcome,
                     COMPARE_MISSING);
    assert_true(near(compare_judge(&c, line_named(&c, "tiled [TILE=16]"), 1).ratio, 2.5));
    assert_true(near(compare_judge(&c, line_named(&c, "naive"), 1).ratio, 1));
    compare_close(&c);
}

/* Alone in its group, as the one size of a course's table whose inputs are cold. */
static void a_point_alone_says_of_what_it_is(void **state)
{
    result_row points[] = {row_of("GPU", "here", 1, 0), row_of("GPU", "here", 2, 0)};
    compare_file file = {"a", points, 2};
    comparison c;

    (void)state;
    for (int i = 0; i < 2; i++) {
        points[i].kind = RESULT_LAB;
        points[i].cold = i;
        strcpy(points[i].parameters, i ? "n=64" : "n=32");
    }
    c = built(&file, 1);
    line_named(&c, "here [n=32]");
    line_named(&c, "here [n=64]");
    compare_close(&c);
}

static void the_last_row_of_a_line_counts(void **state)
{
    result_row a[] = {row_of("d", "tiled", 1, 0), row_of("d", "tiled", 2, 0)};
    compare_file file = {"a", a, 2};
    comparison c = built(&file, 1);

    (void)state;
    assert_int_equal(c.line_count, 1);
    assert_ptr_equal(compare_cell(&c, 0, 0), &a[1]);
    compare_close(&c);
}

static void a_device_is_compared_with_itself(void **state)
{
    result_row a[] = {row_of("gpu", "tiled", 100, 0), row_of("cpu", "tiled", 1, 0)};
    result_row b[] = {row_of("cpu", "tiled", 2, 0), row_of("gpu", "tiled", 300, 0)};
    compare_file files[] = {{"a", a, 2}, {"b", b, 2}};
    comparison c = built(files, 2);

    (void)state;
    assert_int_equal(c.column_count, 4);
    assert_int_equal(c.columns[0].base, 0);
    assert_int_equal(c.columns[1].base, 0);
    assert_true(near(compare_judge(&c, 0, 2).ratio, 2));
    assert_true(near(compare_judge(&c, 0, 3).ratio, 3));
    compare_close(&c);
}

static void a_file_of_limits_joins_the_column_of_its_device(void **state)
{
    result_row l[] = {limit_of("d", "fp32", "GFLOP/s", 1000), limit_of("e", "fp32", "GFLOP/s", 5)};
    result_row a = row_of("d", "tiled", 100, 0);
    compare_file files[] = {{"limits", l, 2}, {"a", &a, 1}};
    comparison c = built(files, 2);

    (void)state;
    assert_int_equal(c.column_count, 2);
    assert_string_equal(c.columns[0].who->device, "d");
    assert_ptr_equal(compare_cell(&c, line_named(&c, "fp32"), 0), &l[0]);
    assert_ptr_equal(compare_cell(&c, line_named(&c, "fp32"), 1), &l[1]);
    compare_close(&c);
}

static void limits_are_one_group_and_none_is_missing(void **state)
{
    result_row a[] = {limit_of("d", "fp32", "GFLOP/s", 1000),
                      limit_of("d", "memory read", "GB/s", 10), row_of("d", "tiled", 100, 0)};
    result_row b[] = {limit_of("d", "fp32", "GFLOP/s", 900), row_of("d", "tiled", 100, 0)};
    compare_file files[] = {{"a", a, 3}, {"b", b, 2}};
    comparison c;

    (void)state;
    a[1].cold = false;
    a[1].timer = TIMER_WALL;
    strcpy(a[1].problem, "how it is measured");
    c = built(files, 2);
    assert_int_equal(c.group_count, 2);
    assert_true(near(compare_judge(&c, line_named(&c, "fp32"), 1).ratio, 0.9));
    assert_int_equal(compare_judge(&c, line_named(&c, "memory read"), 1).outcome, COMPARE_NO_BASE);
    compare_close(&c);
}

static void number_is(double x, const char *expected)
{
    text t = {0};

    compare_number(x, &t);
    assert_string_equal(text_get(&t), expected);
    text_free(&t);
}

static void numbers_are_readable(void **state)
{
    (void)state;
    number_is(0.8125, "0.812");
    number_is(13.44, "13.44");
    number_is(729, "729.0");
    number_is(5042.4, "5,042");
    number_is(309648, "309,648");
    number_is(1234567, "1,234,567");
    number_is((double)INFINITY, "inf");
}

static void a_page_keeps_names_as_text(void **state)
{
    result_row rows[] = {row_of("</script><b>{{data}}", "tiled", 100, 0),
                         row_of("</script><b>{{data}}", "block", 100, 0)};
    compare_file file = {"a", rows, 2};
    comparison c;
    text page = {0};
    tsr_error err = {0};

    (void)state;
    rows[1].outcome = RESULT_UNSUPPORTED;
    rows[1].verified = false;
    strcpy(rows[1].unsupported, "no \"x\" 'y' onclick=\"z");
    c = built(&file, 1);
    assert_int_equal(report_html(&c, NULL, &page, &err), TSR_OK);
    assert_non_null(
        strstr(text_get(&page), "title=\"no &quot;x&quot; &#39;y&#39; onclick=&quot;z\""));
    assert_non_null(strstr(text_get(&page), "&lt;/script&gt;&lt;b&gt;{{data}}"));
    assert_non_null(strstr(text_get(&page), "\\u003c/script\\u003e"));
    assert_null(strstr(text_get(&page), "</script><b>"));
    text_free(&page);
    compare_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ratio_is_of_the_medians_and_noise_of_the_favourable_quartiles),
        cmocka_unit_test(rows_without_quartiles_have_their_median),
        cmocka_unit_test(times_are_the_better_the_shorter),
        cmocka_unit_test(what_differs_is_not_compared),
        cmocka_unit_test(files_of_one_job_are_two_columns),
        cmocka_unit_test(the_order_of_parameters_does_not_matter),
        cmocka_unit_test(rates_have_the_unit_of_their_size),
        cmocka_unit_test(each_clock_has_a_name),
        cmocka_unit_test(a_file_without_rows_is_refused),
        cmocka_unit_test(a_ladder_keeps_its_order_when_a_later_file_has_more_steps),
        cmocka_unit_test(missing_unsupported_and_unverified_have_no_ratio),
        cmocka_unit_test(what_was_left_out_hides_nothing),
        cmocka_unit_test(parameters_are_told_apart_where_a_column_has_several),
        cmocka_unit_test(a_point_alone_says_of_what_it_is),
        cmocka_unit_test(the_last_row_of_a_line_counts),
        cmocka_unit_test(a_device_is_compared_with_itself),
        cmocka_unit_test(a_file_of_limits_joins_the_column_of_its_device),
        cmocka_unit_test(limits_are_one_group_and_none_is_missing),
        cmocka_unit_test(numbers_are_readable),
        cmocka_unit_test(a_page_keeps_names_as_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
