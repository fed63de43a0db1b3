/* Where what a call asks for lies beside the ridge, on made-up limits, and the sums of a plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/traffic.h"

/* 1000 GFLOP/s and 100 GB/s: the ridge is at 10 FLOPs a byte. */
static limits machine(void)
{
    limits l = {0};

    l.of[LIMIT_FP32].value = 1000;
    l.of[LIMIT_TENSOR_TF32].value = 6000;
    l.of[LIMIT_MEMORY_READ].value = 100;
    return l;
}

static void a_call_lies_beside_the_ridge(void **state)
{
    const limits l = machine();
    const traffic t = {.compulsory = 100, .requested = 8000, .flops = 2000};
    const intensity strict = intensity_of(&t, &l, "f32-strict");
    const intensity none = intensity_of(&t, &l, "");
    const intensity split = intensity_of(&t, &l, "f32");

    (void)state;
    assert_float_equal(strict.ridge, 10, 0);
    assert_float_equal(strict.asked, 0.25, 0);
    assert_float_equal(strict.least, 20, 0);
    assert_string_equal(strict.limit, "fp32");
    assert_float_equal(none.ridge, 10, 0);
    assert_float_equal(split.ridge, 20, 0); /* a third of the matrix units */
    assert_string_equal(intensity_word(strict.asked, strict.ridge), "memory-bound");
    assert_string_equal(intensity_word(strict.least, strict.ridge), "compute-bound");
    assert_string_equal(intensity_word(10, 10), "compute-bound");
}

static void what_is_unknown_is_zero(void **state)
{
    const traffic t = {.compulsory = 100, .flops = 2000}, keys = {.compulsory = 8, .requested = 8};
    const intensity unplaced = intensity_of(&t, NULL, "f32"), none = intensity_of(&keys, NULL, "");

    (void)state;
    assert_float_equal(unplaced.ridge, 0, 0);
    assert_float_equal(unplaced.asked, 0, 0);
    assert_float_equal(unplaced.least, 20, 0);
    assert_float_equal(none.asked, 0, 0);
    assert_float_equal(none.least, 0, 0);
}

static void a_plan_is_the_sum_of_its_commands(void **state)
{
    command commands[] = {
        {.kind = COMMAND_FILL, .fill_bytes = 16},
        {.kind = COMMAND_LAUNCH,
         .flops = 5,
         .traffic = {.requested = 100, .local = 40, .barriers = 3}},
        {.kind = COMMAND_LAUNCH, .flops = 7, .traffic = {.requested = 20, .barriers = 1}}};
    const plan whole = {.commands = commands, .count = 3}, none = {0};
    traffic t = traffic_sum(&whole);

    (void)state;
    assert_float_equal(t.requested, 136, 0);
    assert_float_equal(t.local, 40, 0);
    assert_float_equal(t.barriers, 4, 0);
    assert_float_equal(t.flops, 12, 0);
    assert_float_equal(traffic_sum(&none).requested, 0, 0);
    commands[2].traffic.requested = 0; /* not stated: nor is the sum */
    t = traffic_sum(&whole);
    assert_float_equal(t.requested, 0, 0);
    assert_float_equal(t.local, 0, 0);
    assert_float_equal(t.flops, 12, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_lies_beside_the_ridge),
        cmocka_unit_test(what_is_unknown_is_zero),
        cmocka_unit_test(a_plan_is_the_sum_of_its_commands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
