/* Work-groups that fit a device: powers of two, along one dimension and as a square. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/groups.h"

static device_facts device(size_t group, size_t x, size_t y)
{
    device_facts d = {.max_work_group = group};

    d.max_work_item[0] = x;
    d.max_work_item[1] = y;
    return d;
}

static void the_smaller_limit_counts(void **state)
{
    const device_facts wide = device(256, 1024, 64), narrow = device(1024, 256, 64);

    (void)state;
    assert_int_equal(group_limit(&wide, 0), 256);
    assert_int_equal(group_limit(&narrow, 0), 256);
    assert_int_equal(group_limit(&narrow, 1), 64);
}

static void what_is_unknown_limits_nothing(void **state)
{
    const device_facts some = device(512, 0, 0), none = device(0, 0, 0);

    (void)state;
    assert_int_equal(group_limit(&some, 0), 512);
    assert_int_equal(group_limit(&none, 0), 1);
    assert_int_equal(group_fit(&none, 0, 64), 1);
    assert_int_equal(group_fit_square(&none, 16), 1);
}

static void sizes_are_powers_of_two(void **state)
{
    const device_facts d = device(1024, 1024, 1024), odd = device(100, 100, 100);

    (void)state;
    assert_int_equal(group_fit(&d, 0, 256), 256);
    assert_int_equal(group_fit(&d, 0, 255), 128);
    assert_int_equal(group_fit(&d, 0, 4096), 1024);
    assert_int_equal(group_fit(&d, 0, 1), 1);
    assert_int_equal(group_fit(&odd, 0, 256), 64);
    assert_int_equal(group_fit(&d, 0, SIZE_MAX), 1024);
}

static void squares_fit_each_side_and_the_whole(void **state)
{
    const device_facts d = device(256, 1024, 1024), flat = device(1024, 1024, 4),
                       high = device(1024, 4, 1024), odd = device(200, 200, 200);

    (void)state;
    assert_int_equal(group_fit_square(&d, 16), 16);
    assert_int_equal(group_fit_square(&d, 32), 16);
    assert_int_equal(group_fit_square(&d, 8), 8);
    assert_int_equal(group_fit_square(&flat, 32), 4);
    assert_int_equal(group_fit_square(&high, 32), 4);
    assert_int_equal(group_fit_square(&odd, 32), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smaller_limit_counts),
        cmocka_unit_test(what_is_unknown_limits_nothing),
        cmocka_unit_test(sizes_are_powers_of_two),
        cmocka_unit_test(squares_fit_each_side_and_the_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
