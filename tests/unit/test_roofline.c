/* Where rows stand against made-up limits, and the names of the limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "device/device.h"
#include "measure/roofline.h"
#include "measure/roofline_rig.h"
#include "session/embedded.h"

/* A machine of round numbers: 1000 GFLOP/s, 100 GB/s, so the ridge lies at 10 operations a byte. */
static limits machine(void)
{
    limits l = {0};

    l.of[LIMIT_FP32].value = 1000;
    l.of[LIMIT_FP64].value = 500;
    l.of[LIMIT_MEMORY_READ].value = 100;
    l.of[LIMIT_MEMORY_WRITE].value = 40;
    l.of[LIMIT_MEMORY_COPY].value = 80;
    return l;
}

static result_row row_of(const char *precision, const char *unit, double work, double bytes,
                         double rate)
{
    result_row row = {.work = work, .bytes = bytes, .rate = rate};

    snprintf(row.precision, sizeof(row.precision), "%s", precision);
    snprintf(row.unit, sizeof(row.unit), "%s", unit);
    return row;
}

static void expect_place(const limits *l, result_row row, const char *bound_by, double limit_rate)
{
    roofline_place(l, &row);
    assert_string_equal(row.bound_by, bound_by);
    assert_float_equal(row.limit_rate, limit_rate, 1e-9 * limit_rate);
    assert_float_equal(row.share, limit_rate > 0 ? row.rate / limit_rate : 0, 1e-12);
}

static void arithmetic_bounds_intense_work(void **state)
{
    const limits l = machine();

    (void)state;
    expect_place(&l, row_of("f32", "GFLOP/s", 2e9, 1e8, 250), "fp32", 1000);
    expect_place(&l, row_of("f32-strict", "GFLOP/s", 2e9, 1e8, 250), "fp32", 1000);
    expect_place(&l, row_of("f64", "GFLOP/s", 2e9, 1e8, 250), "fp64", 500);
}

static void memory_bounds_thin_work(void **state)
{
    const limits l = machine();

    (void)state;
    /* 2 operations a byte: 200 GFLOP/s at 100 GB/s. */
    expect_place(&l, row_of("f32", "GFLOP/s", 2e9, 1e9, 50), "memory read", 200);
    /* The ridge, from both sides: 9 and 11 operations a byte. */
    expect_place(&l, row_of("f32", "GFLOP/s", 9e9, 1e9, 50), "memory read", 900);
    expect_place(&l, row_of("f32", "GFLOP/s", 11e9, 1e9, 50), "fp32", 1000);
}

static void rates_of_bytes_are_placed_in_bytes(void **state)
{
    const limits l = machine();

    (void)state;
    expect_place(&l, row_of("f32", "GB/s", 5e8, 1e9, 90), "memory read", 100);
    /* 20 operations a byte: 1000 GFLOP/s are 50 GB/s. */
    expect_place(&l, row_of("f32", "GB/s", 20e9, 1e9, 40), "fp32", 50);
}

static void a_sort_is_placed_on_one_pass(void **state)
{
    const limits l = machine();

    (void)state;
    /* 4-byte keys, read and written: 8 bytes a key at 80 GB/s. */
    expect_place(&l, row_of("", "Mkeys/s", 1e6, 8e6, 100), "memory copy, one pass", 10000);
    /* With an int64 index written beside: 16 bytes a key. */
    expect_place(&l, row_of("", "Mkeys/s", 1e6, 16e6, 100), "memory copy, one pass", 5000);
}

static void the_faster_unit_bounds_a_precision(void **state)
{
    limits l = machine();

    (void)state;
    expect_place(&l, row_of("tf32", "GFLOP/s", 1e12, 1e8, 100), "fp32", 1000);
    l.of[LIMIT_TENSOR_TF32].value = 8000;
    l.of[LIMIT_TENSOR_BF16].value = 16000;
    l.of[LIMIT_TENSOR_F16].value = 17000;
    l.of[LIMIT_TENSOR_F64].value = 900;
    expect_place(&l, row_of("tf32", "GFLOP/s", 1e12, 1e8, 100), "tensor tf32", 8000);
    expect_place(&l, row_of("f32", "GFLOP/s", 1e12, 1e8, 100), "tensor tf32 / 3", 8000 / 3.0);
    expect_place(&l, row_of("f32-strict", "GFLOP/s", 1e12, 1e8, 100), "fp32", 1000);
    expect_place(&l, row_of("bf16", "GFLOP/s", 1e12, 1e8, 100), "tensor bf16", 16000);
    expect_place(&l, row_of("f16", "GFLOP/s", 1e12, 1e8, 100), "tensor f16", 17000);
    expect_place(&l, row_of("f64", "GFLOP/s", 1e12, 1e8, 100), "tensor f64", 900);
}

static void what_was_not_measured_bounds_nothing(void **state)
{
    limits l = machine();
    result_row row = row_of("f32", "GFLOP/s", 2e9, 1e8, 250);

    (void)state;
    roofline_place(&l, &row);
    l.of[LIMIT_FP32].value = 0;
    roofline_place(&l, &row); /* what an earlier call wrote does not stay */
    assert_string_equal(row.bound_by, "");
    assert_true(row.share == 0 && row.limit_rate == 0);
    expect_place(&l, row_of("f64", "GFLOP/s", 2e9, 1e8, 250), "fp64", 500);
    expect_place(&l, row_of("", "GFLOP/s", 2e9, 1e8, 250), "", 0);
    expect_place(&l, row_of("odd", "GFLOP/s", 2e9, 1e8, 250), "", 0);
    l.of[LIMIT_MEMORY_READ].value = l.of[LIMIT_MEMORY_COPY].value = 0;
    expect_place(&l, row_of("f64", "GFLOP/s", 2e9, 1e8, 250), "", 0);
    expect_place(&l, row_of("", "Mkeys/s", 1e6, 8e6, 100), "", 0);
}

static void every_limit_has_its_own_name(void **state)
{
    (void)state;
    for (int i = 0; i < LIMIT_COUNT; i++) {
        assert_non_null(limit_name((limit)i));
        assert_true(*limit_name((limit)i) && *limit_idea((limit)i));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(limit_name((limit)i), limit_name((limit)j));
        assert_int_equal(limit_is_cost((limit)i), strcmp(limit_unit((limit)i), "us") == 0);
    }
}

static void a_limit_becomes_a_row(void **state)
{
    const limit_result copied = {
        .value = 80,
        .amount = 8e9,
        .time = {.count = 9, .calls = 1, .min_ns = 1e8, .median_ns = 1.2e8},
        .way = "side by side"};
    const limit_result none = {.why_not = "the device has no fp64", .outcome = RESULT_UNSUPPORTED};
    const limit_result failed = {.why_not = "clCreateBuffer", .outcome = RESULT_FAILED};
    tsr_device device;
    result_row row;

    (void)state;
    device_read_host(&device);
    roofline_row(&device, LIMIT_MEMORY_COPY, &copied, &row);
    assert_int_equal(row.kind, RESULT_LIMIT);
    assert_string_equal(row.op, "limit");
    assert_string_equal(row.name, "memory copy");
    assert_string_equal(row.unit, "GB/s");
    assert_string_equal(row.parameters, "side by side");
    assert_true(row.rate == 80 && row.bytes == 8e9 && row.work == 0 && row.verified && row.cold);
    assert_int_equal(row.timer, TIMER_EVENTS);
    assert_true(row.time.median_ns == 1.2e8 && row.time.count == 9);
    roofline_row(&device, LIMIT_FP64, &none, &row);
    assert_true(row.rate == 0 && !row.verified);
    assert_string_equal(row.unsupported, "the device has no fp64");
    assert_int_equal(row.outcome, RESULT_UNSUPPORTED);
    roofline_row(&device, LIMIT_FP64, &failed, &row);
    assert_int_equal(row.outcome, RESULT_FAILED);
    assert_string_equal(row.unsupported, "clCreateBuffer");
    roofline_row(&device, LIMIT_LAUNCH_WAITED, &copied, &row);
    assert_int_equal(row.timer, TIMER_WALL);
}

static void the_host_has_no_limits(void **state)
{
    const tsr_session_options options = {.no_cache = 1};
    tsr_session *s = NULL;
    tsr_error err = {0};
    tsr_device device;
    limits l;

    (void)state;
    device_read_host(&device);
    assert_int_equal(tsr_session_open(&device, &options, &s, &err), TSR_OK);
    assert_false(roofline_recall(s, &l));
    assert_int_equal(roofline_measure(s, false, 0, &l, NULL, NULL, &err), TSR_EUNSUPPORTED);
    assert_non_null(strstr(err.message, "host runs C"));
    tsr_session_close(s);
}

/* Else limits of an older kernel are recalled. */
static void every_kernel_decides_what_is_kept(void **state)
{
    size_t found = 0;

    (void)state;
    for (size_t i = 0; i < embedded_file_count; i++) {
        const char *name = embedded_files[i].name;
        bool listed = false;

        if (strncmp(name, "roofline/", 9) != 0 || strcmp(name + strlen(name) - 3, ".cl") != 0)
            continue;
        found++;
        for (size_t k = 0; roofline_source(k); k++)
            listed = listed || !strcmp(roofline_source(k), name);
        if (!listed)
            fail_msg("%s is not among the sources of the limits", name);
    }
    assert_non_null(roofline_source(found - 1));
    assert_null(roofline_source(found));
}

static void a_failing_way_leaves_what_another_measured(void **state)
{
    const limit_result none = {0}, some = {.value = 10};

    (void)state;
    assert_int_equal(rig_way_ended(TSR_OK, &some), TSR_OK);
    assert_int_equal(rig_way_ended(TSR_ECL, &some), TSR_OK);
    assert_int_equal(rig_way_ended(TSR_EBUILD, &some), TSR_OK);
    assert_int_equal(rig_way_ended(TSR_ECL, &none), TSR_ECL);
    assert_int_equal(rig_way_ended(TSR_EBOUND, &some), TSR_EBOUND);
    assert_int_equal(rig_way_ended(TSR_ENOMEM, &some), TSR_ENOMEM);
}

static limit_result reached(double value)
{
    limit_result r = {.value = value, .way = "a way"};

    snprintf(r.when, sizeof(r.when), "day %g", value);
    return r;
}

/* The better of two runs, limit by limit: a cost is the better the smaller. */
static void the_better_run_counts(void **state)
{
    const limit_result none = {0}, earlier = reached(7);
    limit_result r = reached(5);

    (void)state;
    limit_merge(LIMIT_FP32, &earlier, &r);
    assert_true(r.value == 7 && r.kept && r.now == 5 && !*r.why_now);
    assert_string_equal(r.when, "day 7");
    r = reached(9);
    limit_merge(LIMIT_FP32, &earlier, &r);
    assert_true(r.value == 9 && !r.kept);
    assert_string_equal(r.when, "day 9");
    r = reached(9);
    limit_merge(LIMIT_LAUNCH_QUEUED, &earlier, &r);
    assert_true(r.value == 7 && r.kept && r.now == 9);
    r = reached(5);
    limit_merge(LIMIT_LAUNCH_QUEUED, &earlier, &r);
    assert_true(r.value == 5 && !r.kept);
    r = reached(5);
    limit_merge(LIMIT_FP32, &none, &r);
    assert_true(r.value == 5 && !r.kept);
    limit_merge(LIMIT_LAUNCH_QUEUED, &none, &r);
    assert_true(r.value == 5 && !r.kept);
}

/* A fresh run forgets the earlier one, but not without a word where that was far better. */
static void what_was_far_better_is_named(void **state)
{
    const limit_result none = {0}, earlier = reached(7);
    limit_result r = reached(3);

    (void)state;
    limit_note_forgotten(LIMIT_FP32, &earlier, &r);
    assert_true(r.value == 3 && r.forgotten == 7);
    r = reached(5);
    limit_note_forgotten(LIMIT_FP32, &earlier, &r);
    assert_true(r.forgotten == 0);
    r = reached(15);
    limit_note_forgotten(LIMIT_LAUNCH_QUEUED, &earlier, &r);
    assert_true(r.forgotten == 7);
    limit_note_forgotten(LIMIT_FP32, &none, &r);
    assert_true(r.forgotten == 0);
}

/* A run that could not measure takes nothing away; one that measured wrong says so. */
static void what_was_not_measured_now_counts_from_before(void **state)
{
    const limit_result earlier = reached(7);
    limit_result r = {.why_not = "no memory", .outcome = RESULT_FAILED};

    (void)state;
    limit_merge(LIMIT_FP32, &earlier, &r);
    assert_true(r.value == 7 && r.kept && r.now == 0 && !*r.why_not);
    assert_int_equal(r.outcome, RESULT_TIMED);
    assert_string_equal(r.why_now, "no memory");
    r = (limit_result){.why_not = "1 of 8 work-items gave a wrong result", .outcome = RESULT_WRONG};
    limit_merge(LIMIT_FP32, &earlier, &r);
    assert_true(r.value == 0 && !r.kept && r.outcome == RESULT_WRONG && !*r.why_now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_bounds_intense_work),
        cmocka_unit_test(memory_bounds_thin_work),
        cmocka_unit_test(rates_of_bytes_are_placed_in_bytes),
        cmocka_unit_test(a_sort_is_placed_on_one_pass),
        cmocka_unit_test(the_faster_unit_bounds_a_precision),
        cmocka_unit_test(what_was_not_measured_bounds_nothing),
        cmocka_unit_test(every_limit_has_its_own_name),
        cmocka_unit_test(a_limit_becomes_a_row),
        cmocka_unit_test(the_host_has_no_limits),
        cmocka_unit_test(every_kernel_decides_what_is_kept),
        cmocka_unit_test(a_failing_way_leaves_what_another_measured),
        cmocka_unit_test(the_better_run_counts),
        cmocka_unit_test(what_was_far_better_is_named),
        cmocka_unit_test(what_was_not_measured_now_counts_from_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
