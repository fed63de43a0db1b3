/* How the variant of sort by merges splits a problem, what it refuses, and where it is preferred.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/sizes.h"
#include "core/registry.h"
#include "ops/sort/sort_order.h"
#include "sort_plans.h"

static device_facts cpu(void)
{
    return (device_facts){.kind = DEVICE_CPU,
                          .compute_units = 2,
                          .max_work_group = 4096,
                          .max_work_item = {4096, 4096, 4096},
                          .local_memory = 512 << 10};
}

/* Lanes stand behind the index and the copy of values. */
static void test_values_follow(void **state)
{
    static const char *const small[] = {"BLOCK=64", NULL};
    const variant *v = find("cpu-merges");
    const params p = settings(v, small);
    const device_facts d = cpu();
    problem q = sort_problem((tsr_sort_problem){.type = TSR_U16, .n = 201, .value_bytes = 2});
    const job j = {&q, &d, &p, false};
    plan out = plan_for(v, &j);

    (void)state;
    /* 201 indices and values of 2 bytes, 6 bytes that nobody uses, and two arrays. */
    assert_int_equal(out.workspace, 201 * 8 + 408 + 2 * 201 * 8);
    assert_int_equal(out.count, 1 + 2 + 2);
    plan_free(&out);
    sort_in(&q)->n = 64; /* a block, and what moves values */
    out = plan_for(v, &j);
    assert_int_equal(out.workspace, 64 * 8 + 64 * 2);
    plan_free(&out);
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* What is finished before the next grows with the cores, by whole powers of 2: launches of one span
 * of 2^20 keys of 4 bytes, and of two of half as many and a merge. */
static void test_spans_follow_the_cores(void **state)
{
    static const struct {
        uint32_t cores;
        size_t spans;
    } cases[] = {{1, 2}, {2, 1}, {3, 1}, {4, 1}};
    static const char *const none[] = {NULL};
    const variant *v = find("cpu-merges");
    const params p = settings(v, none);
    const problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 1 << 20});

    (void)state;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        device_facts d = cpu();
        const job j = {&q, &d, &p, false};
        size_t blocks = 0;
        plan out;

        d.compute_units = cases[c].cores;
        out = plan_for(v, &j);
        for (size_t i = 0; i < out.count; i++)
            blocks += out.commands[i].entry == 0;
        plan_free(&out);
        assert_int_equal(blocks, cases[c].spans);
    }
}

static void test_vectors_are_the_device_s(void **state)
{
    static const struct {
        size_t bits;
        tsr_type type;
        const char *defined;
    } cases[] = {{0, TSR_U32, " -DLANES=8 -DBLOCK=4096"},    {128, TSR_U32, " -DLANES=4 "},
                 {512, TSR_U32, " -DLANES=16 -DBLOCK=4096"}, {1024, TSR_F64, " -DLANES=8 "},
                 {512, TSR_U8, " -DLANES=16 -DBLOCK=16384"}, {256, TSR_I64, " -DLANES=4 "}};
    static const char *const none[] = {NULL};
    const variant *v = find("cpu-merges");
    const params p = settings(v, none);
    device_facts d = cpu();
    problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 1000});
    const job j = {&q, &d, &p, false};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        d.vector_bits = cases[i].bits;
        sort_in(&q)->type = cases[i].type;
        check_options(v, &j, cases[i].defined);
    }
}

static void check_reason(const problem *q, const char *const *assignments, const char *expected)
{
    const device_facts d = cpu();

    check_reason_on("cpu-merges", &d, q, assignments, expected);
}

static void test_unsupported_gives_the_values(void **state)
{
    static const char *const none[] = {NULL}, *const small[] = {"BLOCK=64", "BITS=512", NULL};
    problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 1000});

    (void)state;
    check_reason(&q, none, "supported");
    check_reason(&q, small, "its blocks have at least 256 keys, not 64");
    sort_in(&q)->value_bytes = 4;
    check_reason(&q, none, "supported");
    sort_in(&q)->type = TSR_F64;
    check_reason(&q, none,
                 "it packs a key and its index in 64 bits, and the key alone has as many");
    *sort_in(&q) = (tsr_sort_problem){.type = TSR_U32, .n = 1000, .rows = 2};
    check_reason(&q, none, "it merges runs of one row: see cpu-vectors");
    *sort_in(&q) = (tsr_sort_problem){.type = TSR_U32, .n = ((size_t)1 << 31) + 1};
    check_reason(&q, none, "it indexes in 32 bits: at most 2147483648 keys, not 2147483649");
}

static void test_cpus_prefer_it(void **state)
{
    device_facts d = cpu();
    const problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 15});
    const char *names[PREFERENCES_MAX];

    (void)state;
    operation_sort.prefer(&q, &d, names);
    assert_string_equal(names[0], "cpu-merges");
    d.kind = DEVICE_GPU;
    operation_sort.prefer(&q, &d, names);
    assert_string_not_equal(names[0], "cpu-merges");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_follow),
        cmocka_unit_test(test_spans_follow_the_cores),
        cmocka_unit_test(test_vectors_are_the_device_s),
        cmocka_unit_test(test_unsupported_gives_the_values),
        cmocka_unit_test(test_cpus_prefer_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
