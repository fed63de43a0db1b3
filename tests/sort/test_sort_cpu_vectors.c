/* How the variant of sort in explicit vectors splits a problem, what it refuses, and where it is
 * preferred. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/registry.h"
#include "ops/sort/sort_order.h"
#include "sort_plans.h"

static device_facts cpu(void)
{
    return (device_facts){.kind = DEVICE_CPU,
                          .max_work_group = 4096,
                          .max_work_item = {4096, 4096, 4096},
                          .local_memory = 512 << 10};
}

/* ---- the workspace ----------------------------------------------------------------------------
 */

/* With an index lanes are left for other launches behind what values need, unless there is one
 * launch alone. */
static void test_workspace_of_an_index(void **state)
{
    static const struct {
        tsr_sort_problem problem;
        size_t bytes;
    } cases[] = {
        {{.type = TSR_U64, .n = 1000}, 0},
        {{.type = TSR_U16, .n = 1000, .value_bytes = 4}, (1000 + 500 + 1000) * 8},
        {{.type = TSR_U16, .n = 1000, .rows = 3, .value_bytes = 4}, 3 * (1000 + 500 + 1000) * 8},
        {{.type = TSR_U16, .n = 64, .value_bytes = 4}, 64 * 8 + 64 * 4}};
    static const char *const small[] = {"BLOCK=64", "BITS=128", "LEVELS=2", "SPAN=1", NULL};
    const variant *v = find("cpu-vectors");
    const params p = settings(v, small);
    const device_facts d = cpu();

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const problem q = sort_problem(cases[i].problem);
        const job j = {&q, &d, &p, false};
        plan out = plan_for(v, &j);

        assert_int_equal(out.workspace, cases[i].bytes);
        plan_free(&out);
    }
}

/* ---- the layout -------------------------------------------------------------------------------
 */

static void check_block(const device_facts *d, const tsr_sort_problem *s, size_t lanes,
                        size_t block)
{
    static const char *const none[] = {NULL};
    const variant *v = find("cpu-vectors");
    const params p = settings(v, none);
    const problem q = sort_problem(*s);
    const job j = {&q, d, &p, false};

    assert_int_equal(defined(v, &j, "LANES"), lanes);
    assert_int_equal(defined(v, &j, "BLOCK"), block);
}

static void test_blocks_follow_the_key(void **state)
{
    static const struct {
        tsr_sort_problem problem;
        size_t lanes, block;
    } cases[] = {{{.type = TSR_U8, .n = 1000}, 16, 1 << 17},
                 {{.type = TSR_F16, .n = 1000}, 16, 1 << 16},
                 {{.type = TSR_F32, .n = 1000}, 8, 1 << 15},
                 {{.type = TSR_I64, .n = 1000}, 4, 1 << 14},
                 /* 64 bits with an index; and rows that do not fill as many vectors as lanes. */
                 {{.type = TSR_U8, .n = 1000, .argsort = true}, 4, 1 << 14},
                 {{.type = TSR_U16, .n = 129, .rows = 2}, 16, 1 << 16},
                 {{.type = TSR_U16, .n = 128, .rows = 2}, 8, 1 << 16},
                 {{.type = TSR_U16, .n = 32, .rows = 2}, 4, 1 << 16},
                 {{.type = TSR_U16, .n = 2, .rows = 2}, 4, 1 << 16},
                 {{.type = TSR_U16, .n = 2, .rows = 1}, 16, 1 << 16}};
    const tsr_sort_problem usual = {.type = TSR_U32, .n = 1000};
    device_facts d = cpu();

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_block(&d, &cases[i].problem, cases[i].lanes, cases[i].block);
    /* What local memory has room for, rounded down to a power of 2. */
    d.local_memory = 48 << 10;
    check_block(&d, &usual, 8, 1 << 13);
}

static void check_reason(const problem *q, const char *const *assignments, const char *expected)
{
    const device_facts d = cpu();

    check_reason_on("cpu-vectors", &d, q, assignments, expected);
}

static void test_unsupported_gives_the_values(void **state)
{
    static const char *const none[] = {NULL}, *const large[] = {"BLOCK=131072", NULL},
                             *const small[] = {"BLOCK=256", "BITS=512", "LEVELS=5", NULL},
                             *const many[] = {"BLOCK=256", NULL};
    problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 1000});

    (void)state;
    check_reason(&q, none, "supported");
    check_reason(&q, large, "supported");
    check_reason(&q, small,
                 "blocks of 256 keys are too small for vectors of 16 keys in 2^5 registers");
    check_reason(&q, many,
                 "blocks of 256 keys are too small for vectors of 8 keys in 2^8 registers");
    sort_in(&q)->type = TSR_F64;
    check_reason(&q, large, "it needs 1048576 bytes of local memory, and the device has 524288");
    sort_in(&q)->argsort = true;
    check_reason(&q, none,
                 "it packs a key and its index in 64 bits, and the key alone has as many");
    *sort_in(&q) = (tsr_sort_problem){.type = TSR_U32, .n = ((size_t)1 << 31) + 1};
    check_reason(&q, none, "it indexes in 32 bits: at most 2147483648 keys, not 2147483649");
}

/* On CPUs alone, for rows that are not very short, and behind cpu-merges for keys of one row. */
static void test_cpus_prefer_it(void **state)
{
    device_facts d = cpu();
    problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 15});
    const char *names[PREFERENCES_MAX];

    (void)state;
    operation_sort.prefer(&q, &d, names);
    assert_string_equal(names[1], "cpu-vectors");
    sort_in(&q)->rows = 2;
    sort_in(&q)->n = 8;
    operation_sort.prefer(&q, &d, names);
    assert_string_equal(names[0], "rows");
    sort_in(&q)->n = 9;
    operation_sort.prefer(&q, &d, names);
    assert_string_equal(names[0], "cpu-vectors");
    d.kind = DEVICE_GPU;
    operation_sort.prefer(&q, &d, names);
    assert_string_equal(names[0], "rows-shfl");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workspace_of_an_index),
        cmocka_unit_test(test_blocks_follow_the_key),
        cmocka_unit_test(test_unsupported_gives_the_values),
        cmocka_unit_test(test_cpus_prefer_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
