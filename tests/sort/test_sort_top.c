/* How the variants of sort that find the first keys alone split a problem, what they refuse, and
 * when which is preferred. */
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

static device_facts gpu(void)
{
    return (device_facts){.kind = DEVICE_GPU,
                          .max_work_group = 1024,
                          .max_work_item = {1024, 1024, 64},
                          .local_memory = 49152};
}

static device_facts processor(void)
{
    device_facts d = gpu();

    d.kind = DEVICE_CPU;
    d.compute_units = 16;
    d.vector_bits = 256;
    return d;
}

static const variant *top_tiles(void)
{
    return find("top-tiles");
}

static params small(void)
{
    static const char *const assignments[] = {"KEYS=4", "GROUP=8", NULL};

    return settings(top_tiles(), assignments);
}

/* The first launches have so many work-items; 0 where there is none. */
static void check_items(const variant *v, const device_facts *d, const tsr_sort_problem *s,
                        const size_t items[4])
{
    const params p = params_default(v);
    const problem q = sort_problem(*s);
    const job j = {&q, d, &p, false};
    plan out = plan_for(v, &j);

    for (size_t i = 0; i < 4; i++)
        assert_int_equal(i < out.count ? out.commands[i].global[0] : 0, items[i]);
    plan_free(&out);
}

/* Chunks for all cores, as long as each is worth while; of many rows one each.  Fewer and fewer
 * work-items share what these leave. */
static void test_chunks_for_all_cores(void **state)
{
    static const struct {
        tsr_sort_problem problem;
        size_t items[4];
    } cases[] = {{{.type = TSR_U32, .n = 1 << 24, .rows = 1, .top = 100}, {16 * 4, 1}},
                 /* 80000 of them make a chunk */
                 {{.type = TSR_U32, .n = 1 << 24, .rows = 1, .top = 10000}, {64, 8, 1}},
                 {{.type = TSR_U32, .n = 20000, .rows = 3, .top = 5}, {2 * 3, 3}},
                 {{.type = TSR_U32, .n = 1 << 20, .rows = 65, .top = 5}, {65}}};
    device_facts d = processor();

    (void)state;
    d.local_memory = 512 << 10; /* heaps of 10000 keys */
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_items(find("cpu-top"), &d, &cases[i].problem, cases[i].items);
}

static void check_workspace(const variant *v, const device_facts *d, const params *p,
                            const problem *q, size_t bytes, size_t commands)
{
    const job j = {q, d, p, false};
    plan out = plan_for(v, &j);

    assert_int_equal(out.workspace, bytes);
    assert_int_equal(out.count, commands);
    plan_free(&out);
}

/* Every launch has its place in the workspace beside the values that are kept and their index. */
static void test_values_follow(void **state)
{
    static const char *const small_chunks[] = {"CHUNK=64", NULL};
    const variant *item = find("cpu-top");
    const params p = small(), chunks = settings(item, small_chunks);
    const device_facts d = gpu(), cpu = processor();
    problem q = sort_problem(
        (tsr_sort_problem){.type = TSR_U16, .n = 100, .rows = 3, .top = 5, .value_bytes = 2});

    (void)state;
    /* 15 values in 32 bytes, 15 indices; four tiles of a row leave 5, 5, 5 and 4 packed ones. */
    check_workspace(top_tiles(), &d, &p, &q, 32 + 15 * 8 + 3 * 19 * 8, 4);
    sort_in(&q)->argsort = true; /* the caller's index, of whole rows */
    check_workspace(top_tiles(), &d, &p, &q, 32 + 3 * 19 * 8, 4);
    /* Elements of 16 bytes begin at a multiple of that: 8 bytes that nobody uses; two chunks of a
     * row leave 5. */
    *sort_in(&q) =
        (tsr_sort_problem){.type = TSR_F64, .n = 100, .rows = 3, .top = 5, .value_bytes = 2};
    check_workspace(item, &cpu, &chunks, &q, 32 + 15 * 8 + 8 + 3 * 10 * 16, 4);
}

static void check_reason_of(const variant *v, const problem *q, const params *p,
                            const char *expected)
{
    const device_facts d = gpu();
    const job j = {q, &d, p, false};
    plan out;
    const char *why = plan_make(v, &j, &out);

    assert_string_equal(why ? why : "supported", expected);
    plan_free(&out);
}

static void check_reason(const problem *q, const params *p, const char *expected)
{
    check_reason_of(top_tiles(), q, p, expected);
}

static void test_unsupported_gives_the_values(void **state)
{
    const params p = small(), normal = params_default(top_tiles());
    problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 1000});

    (void)state;
    check_reason(&q, &p, "it finds the first keys alone, and all are wanted");
    sort_in(&q)->top = 17;
    check_reason(&q, &p, "a tile of 32 keys keeps at most half of them, not 17");
    check_reason(&q, &normal, "supported");
    sort_in(&q)->n = 32;
    check_reason(&q, &p, "supported");
    sort_in(&q)->n = ((size_t)1 << 31) + 1;
    check_reason(&q, &p, "it indexes in 32 bits: at most 2147483648 keys, not 2147483649");
    *sort_in(&q) = (tsr_sort_problem){.type = TSR_F64, .n = 1000, .argsort = true, .top = 3};
    check_reason(&q, &p, "it packs a key and its index in 64 bits, and the key alone has as many");
    /* The largest tile of 48 KiB has 8192 keys of 4 bytes. */
    *sort_in(&q) = (tsr_sort_problem){.type = TSR_U32, .n = 100000, .top = 4096};
    check_reason(&q, &normal, "supported");
    sort_in(&q)->top = 4097;
    check_reason(&q, &normal, "a tile of 8192 keys keeps at most half of them, not 4097");
}

static void test_heaps_that_do_not_fit(void **state)
{
    const variant *v = find("cpu-top");
    const params p = params_default(v);
    problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 100000});

    (void)state;
    check_reason_of(v, &q, &p, "it finds the first keys alone, and all are wanted");
    /* 48 KiB have 12288 keys of 4 bytes, and 4096 of 8 with their index. */
    sort_in(&q)->top = 8192;
    check_reason_of(v, &q, &p, "supported");
    sort_in(&q)->top = 8193;
    check_reason_of(v, &q, &p,
                    "it keeps 16384 keys of 4 bytes in local memory, and the device has 49152 "
                    "bytes");
    *sort_in(&q) = (tsr_sort_problem){.type = TSR_F64, .n = 100000, .argsort = true, .top = 2048};
    check_reason_of(v, &q, &p, "supported");
    sort_in(&q)->top = 4097;
    check_reason_of(v, &q, &p,
                    "it keeps 8192 keys of 12 bytes in local memory, and the device has 49152 "
                    "bytes");
    sort_in(&q)->n = ((size_t)1 << 31) + 1;
    check_reason_of(v, &q, &p, "it indexes in 32 bits: at most 2147483648 keys, not 2147483649");
}

/* On CPUs, where few of the keys are kept: fewer where sorting all of them is fast. */
static void test_cpus_prefer_heaps(void **state)
{
    static const struct {
        size_t n, rows, top;
        bool argsort, preferred;
    } cases[] = {{1 << 16, 1, 256, false, true},  {1 << 16, 1, 257, false, false},
                 {1 << 20, 1, 1024, false, true}, {1 << 20, 1, 1025, false, false},
                 {1 << 20, 1, 4096, true, true},  {1 << 20, 1, 4097, true, false},
                 {1 << 23, 1, 8192, true, true},  {1 << 23, 1, 8193, true, false},
                 {1000, 7, 3, false, true},       {1000, 7, 4, true, false},
                 {255, 1, 1, false, false},       {1 << 20, 1, 0, false, false}};
    device_facts d = processor();

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const problem q = sort_problem((tsr_sort_problem){.type = TSR_F32,
                                                          .n = cases[i].n,
                                                          .rows = cases[i].rows,
                                                          .top = cases[i].top,
                                                          .argsort = cases[i].argsort});
        const char *names[PREFERENCES_MAX];
        const size_t count = operation_sort.prefer(&q, &d, names);

        assert_true(count > 0);
        assert_int_equal(!strcmp(names[0], "cpu-top"), cases[i].preferred);
        d.kind = DEVICE_GPU;
        operation_sort.prefer(&q, &d, names);
        assert_string_not_equal(names[0], "cpu-top");
        d.kind = DEVICE_CPU;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunks_for_all_cores),
        cmocka_unit_test(test_values_follow),
        cmocka_unit_test(test_unsupported_gives_the_values),
        cmocka_unit_test(test_heaps_that_do_not_fit),
        cmocka_unit_test(test_cpus_prefer_heaps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
