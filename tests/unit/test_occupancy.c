/* How many work-items a compute unit holds, against numbers of NVIDIA's occupancy calculator, and
 * what its compiler's log says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/occupancy.h"

static void check(unsigned capability, size_t group, size_t registers, size_t local, double percent,
                  const char *by)
{
    const char *bound;
    unit_capacity unit;
    double found;

    assert_true(occupancy_capacity(capability, &unit));
    found = 100 * occupancy_of(&unit, group, registers, local, &bound);
    if (!(found > percent - 0.01 && found < percent + 0.01))
        fail_msg("%zu work-items, %zu registers, %zu bytes: %g%%, not %g%%", group, registers,
                 local, found, percent);
    assert_string_equal(bound, by);
}

static void test_what_runs_out_first(void **state)
{
    unit_capacity unit = {0};

    (void)state;
    check(90, 256, 32, 0, 100, "work-items");
    check(90, 256, 0, 0, 100, "work-items");
    check(90, 32, 32, 0, 50, "groups");
    check(90, 256, 56, 0, 50, "registers");    /* 4 groups of 8 warps that take 1792 each */
    check(90, 128, 255, 0, 12.5, "registers"); /* rounded up to 256: 8 warps */
    check(90, 512, 56, 65536, 50, "registers");
    check(90, 512, 56, 131072, 25, "local memory"); /* one group, in 228 KiB */
    check(90, 256, 40, 32768, 75, "registers");
    check(86, 256, 32, 0, 100, "work-items");
    check(86, 256, 32, 49152, 33.3333, "local memory");
    check(100, 32, 32, 0, 50, "groups");
    check(110, 32, 32, 0, 50, "groups");
    check(120, 512, 32, 34816, 66.6667, "local memory"); /* two groups of 35 KiB in 100 */
    check(121, 768, 40, 0, 100, "work-items");
    check(90, 32, 32, 227 * 1024, 1.5625, "local memory");
    check(90, 32, 32, 227 * 1024 + 1, 0, "local memory"); /* more than a group may have */
    check(90, 1024, 65, 0, 0, "registers");               /* no group fits: 72 a work-item */
    assert_false(occupancy_capacity(0, &unit));
    assert_int_equal(unit.items, 0);
    for (size_t i = 0; i < 12; i++)
        assert_true(occupancy_capacity(occupancy_capability_at(i), &unit));
    assert_int_equal(occupancy_capability_at(12), 0);
}

static void test_log_of_the_compiler(void **state)
{
    static const char log[] =
        "ptxas info    : 0 bytes gmem\n"
        "ptxas info    : Compiling entry function 'kernel_b' for 'sm_90'\n"
        "ptxas info    : Function properties for kernel_b\n"
        "    32 bytes stack frame, 124 bytes spill stores, 8 bytes spill loads\n"
        "ptxas info    : Used 255 registers, used 1 barriers, 65536 bytes smem\n"
        "ptxas info    : Compiling entry function 'kernel_a' for 'sm_90'\n"
        "ptxas info    : Function properties for kernel_a\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 56 registers, 400 bytes cmem[0]\n"
        "ptxas info    : Compiling entry function 'cut' for 'sm_90'\n";
    size_t registers = 7, spilled = 8;

    (void)state;
    assert_true(occupancy_read_log(log, "kernel_a", &registers, &spilled));
    assert_int_equal(registers, 56);
    assert_int_equal(spilled, 0);
    assert_true(occupancy_read_log(log, "kernel_b", &registers, &spilled));
    assert_int_equal(registers, 255);
    assert_int_equal(spilled, 124);
    assert_false(occupancy_read_log(log, "cut", &registers, &spilled));
    assert_false(occupancy_read_log(log, "kernel", &registers, &spilled));
    assert_false(occupancy_read_log("", "kernel_a", &registers, &spilled));
    assert_int_equal(registers, 255);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_runs_out_first),
        cmocka_unit_test(test_log_of_the_compiler),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
