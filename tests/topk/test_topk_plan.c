/* How the variants of topk split a problem, what they refuse, and when which is preferred; those of
 * sort do the same here as there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "../sort/sort_plans.h"
#include "base/sizes.h"
#include "core/registry.h"
#include "ops/sort/sort_variants.h"
#include "ops/topk/topk_problem.h"
#include "tuning_classes.h"

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
    return find_of(&operation_topk, "tiles");
}

static problem topk_problem(tsr_topk_problem t)
{
    return problem_from(&operation_topk, &t, sizeof(t));
}

static params small(void)
{
    static const char *const assignments[] = {"KEYS=4", "GROUP=8", NULL};

    return settings(top_tiles(), assignments);
}

/* The first launches have so many work-items; 0 where there is none. */
static void check_items(const variant *v, const device_facts *d, const tsr_topk_problem *t,
                        const size_t items[4])
{
    const params p = params_default(v);
    const problem q = topk_problem(*t);
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
        tsr_topk_problem problem;
        size_t items[4];
    } cases[] = {{{{.type = TSR_U32, .n = 1 << 24, .rows = 1}, .k = 100}, {16 * 4, 1}},
                 /* 80000 of them make a chunk */
                 {{{.type = TSR_U32, .n = 1 << 24, .rows = 1}, .k = 10000}, {64, 8, 1}},
                 {{{.type = TSR_U32, .n = 20000, .rows = 3}, .k = 5}, {2 * 3, 3}},
                 {{{.type = TSR_U32, .n = 1 << 20, .rows = 65}, .k = 5}, {65}}};
    device_facts d = processor();

    (void)state;
    d.local_memory = 512 << 10; /* heaps of 10000 keys */
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_items(find_of(&operation_topk, "cpu-heaps"), &d, &cases[i].problem, cases[i].items);
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
    const variant *item = find_of(&operation_topk, "cpu-heaps");
    const params p = small(), chunks = settings(item, small_chunks);
    const device_facts d = gpu(), cpu = processor();
    problem q = topk_problem(
        (tsr_topk_problem){{.type = TSR_U16, .n = 100, .rows = 3, .value_bytes = 2}, .k = 5});

    (void)state;
    /* 15 values in 32 bytes, 15 indices; four tiles of a row leave 5, 5, 5 and 4 packed ones. */
    check_workspace(top_tiles(), &d, &p, &q, 32 + 15 * 8 + 3 * 19 * 8, 4);
    sort_in(&q)->argsort = true; /* the caller's index, of whole rows */
    check_workspace(top_tiles(), &d, &p, &q, 32 + 3 * 19 * 8, 4);
    /* Elements of 16 bytes begin at a multiple of that: 8 bytes that nobody uses; two chunks of a
     * row leave 5. */
    *sort_in(&q) = (tsr_sort_problem){.type = TSR_F64, .n = 100, .rows = 3, .value_bytes = 2};
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
    problem q = topk_problem((tsr_topk_problem){{.type = TSR_U32, .n = 1000}, .k = 17});

    (void)state;
    check_reason(&q, &p, "its tile of 32 keys can keep at most half of them, not 17");
    check_reason(&q, &normal, "supported");
    sort_in(&q)->n = 32;
    check_reason(&q, &p, "supported");
    sort_in(&q)->n = ((size_t)1 << 31) + 1;
    check_reason(&q, &p, "it indexes in 32 bits: at most 2147483648 keys, not 2147483649");
    q = topk_problem((tsr_topk_problem){{.type = TSR_F64, .n = 1000, .argsort = true}, .k = 3});
    check_reason(&q, &p, "it packs a key and its index in 64 bits, and the key alone has as many");
    /* The largest tile of 48 KiB has 8192 keys of 4 bytes. */
    q = topk_problem((tsr_topk_problem){{.type = TSR_U32, .n = 100000}, .k = 4096});
    check_reason(&q, &normal, "supported");
    topk_in(&q)->k = 4097;
    check_reason(&q, &normal, "its tile of 8192 keys can keep at most half of them, not 4097");
}

static void test_heaps_that_do_not_fit(void **state)
{
    const variant *v = find_of(&operation_topk, "cpu-heaps");
    const params p = params_default(v);
    problem q = topk_problem((tsr_topk_problem){{.type = TSR_U32, .n = 100000}, .k = 8192});

    (void)state;
    /* 48 KiB have 12288 keys of 4 bytes, and 4096 of 8 with their index. */
    check_reason_of(v, &q, &p, "supported");
    topk_in(&q)->k = 8193;
    check_reason_of(v, &q, &p,
                    "it keeps 16384 keys of 4 bytes in local memory, and the device has 49152 "
                    "bytes");
    q = topk_problem(
        (tsr_topk_problem){{.type = TSR_F64, .n = 100000, .argsort = true}, .k = 2048});
    check_reason_of(v, &q, &p, "supported");
    topk_in(&q)->k = 4097;
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
                 {255, 1, 1, false, false}};
    device_facts d = processor();

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const problem q = topk_problem((tsr_topk_problem){
            {.type = TSR_F32, .n = cases[i].n, .rows = cases[i].rows, .argsort = cases[i].argsort},
            .k = cases[i].top});
        const char *names[PREFERENCES_MAX];
        const size_t count = operation_topk.prefer(&q, &d, names);

        assert_true(count > 0);
        assert_int_equal(!strcmp(names[0], "cpu-heaps"), cases[i].preferred);
        d.kind = DEVICE_GPU;
        operation_topk.prefer(&q, &d, names);
        assert_string_not_equal(names[0], "cpu-heaps");
        d.kind = DEVICE_CPU;
    }
}

/* A plan as text: what it builds and what it enqueues. */
static void write_plan(const variant *v, const device_facts *d, const problem *p, text *out)
{
    const params chosen = params_default(v);
    const job j = {p, d, &chosen, false};
    plan made;
    const char *why = plan_make(v, &j, &made);

    text_append(out, why ? why : "");
    if (!why) {
        plan_options(v, d, &made, out);
        text_format(out, " %zu", made.workspace);
    }
    for (size_t i = 0; !why && i < made.count; i++) {
        const unsigned char *bytes = (const unsigned char *)&made.commands[i];

        for (size_t k = 0; k < sizeof(made.commands[i]); k++)
            text_format(out, "%02x", bytes[k]);
    }
    plan_free(&made);
}

/* So what proves them as sort's proves them here. */
static void test_sorts_are_those_of_sort(void **state)
{
    const device_facts devices[] = {gpu(), processor()};
    size_t shared = 0;
    problem q;

    (void)state;
    for (size_t v = 0; v < operation_topk.variant_count; v++) {
        const variant *own = operation_topk.variants[v], *of_sort;

        if (variant_find(&operation_sort, own->name, &of_sort, NULL) || !own->source)
            continue;
        assert_ptr_equal(own, of_sort);
        shared++;
        for (size_t d = 0; d < ARRAY_COUNT(devices); d++)
            for (size_t i = 0; topk_sweep(i, false, &q); i += 5) {
                const problem sorted = sort_problem(*sort_of(&q));
                text here = {0}, there = {0};

                write_plan(own, &devices[d], &q, &here);
                write_plan(own, &devices[d], &sorted, &there);
                assert_string_equal(text_get(&here), text_get(&there));
                text_free(&here);
                text_free(&there);
            }
    }
    assert_int_equal(shared, operation_topk.variant_count - 5); /* three its own, two in C */
}

/* Both sweeps have every type with an index and without, and every family. */
static void test_the_sweep_has_every_type(void **state)
{
    problem q;

    (void)state;
    for (int tiny = 0; tiny < 2; tiny++) {
        size_t seen[TSR_TYPE_COUNT][2] = {{0}}, family[DISTRIBUTION_COUNT] = {0}, count = 0;

        for (; topk_sweep(count, tiny, &q); count++) {
            assert_int_equal(operation_topk.check(&q, NULL), TSR_OK);
            seen[sort_of(&q)->type][sort_of(&q)->argsort]++;
            family[q.inputs]++;
        }
        for (int t = 0; t < TSR_TYPE_COUNT; t++)
            assert_true(!sort_takes((tsr_type)t) || (seen[t][0] && seen[t][1]));
        for (int f = DISTRIBUTION_UNIFORM; f < DISTRIBUTION_COUNT; f++)
            assert_true(family[f] > 0);
    }
}

static void test_describe(void **state)
{
    problem q = topk_problem((tsr_topk_problem){{.type = TSR_U32, .n = 9, .rows = 4}, .k = 3});
    text t = {0};

    (void)state;
    operation_topk.describe(&q, &t);
    assert_string_equal(text_get(&t), "first 3 of each of 4 rows of 9 uint32");
    text_clear(&t);
    sort_in(&q)->rows = 1;
    topk_in(&q)->k = 12;
    operation_topk.describe(&q, &t);
    assert_string_equal(text_get(&t), "first 9 of 9 uint32");
    text_free(&t);
    topk_in(&q)->k = 0;
    assert_int_equal(operation_topk.check(&q, NULL), TSR_EINVAL);
}

/* The first keys of each row alone are looked at, in their stable order. */
static void test_proof(void **state)
{
    enum { N = 30, ROWS = 7, K = 4 };
    uint32_t before[N * ROWS], keys[N * ROWS];
    int64_t index[N * ROWS];
    const void *const given[] = {before, index}, *const found[] = {keys, index};
    verdict v;

    (void)state;
    for (int descending = 0; descending < 2; descending++) {
        const problem q = topk_problem((tsr_topk_problem){
            {.type = TSR_U32, .n = N, .rows = ROWS, .argsort = true, .descending = descending},
            .k = K});
        uint32_t *const of_key[] = {&keys[N - 1], &keys[N + K], &keys[N + K - 1]};
        int64_t *const of_index[] = {&index[K], &index[K - 1]};

        operation_topk.fill(&q, 3, DISTRIBUTION_FEW, (void *const[]){before, index});
        memcpy(keys, before, sizeof(keys));
        assert_int_equal(sort_qsort.host(&q, (void *const[]){keys, index}, NULL), TSR_OK);
        for (size_t i = 0; i < 3; i++) {
            operation_topk.verify(&q, NULL, given, found, NULL, &v, NULL);
            assert_true(v.ok);
            *of_key[i] ^= 1;
            operation_topk.verify(&q, NULL, given, found, NULL, &v, NULL);
            assert_int_equal(v.ok, i < 2);
            *of_key[i] ^= 1;
        }
        for (size_t i = 0; i < 2; i++) {
            *of_index[i] ^= 1;
            operation_topk.verify(&q, NULL, given, found, NULL, &v, NULL);
            assert_int_equal(v.ok, i < 1);
            *of_index[i] ^= 1;
        }
    }
}

/* The first and the last problem of a range are of it, their neighbours of another. */
static void classes_name_their_problems(void **state)
{
    problem p = problem_from(&operation_topk,
                             &(tsr_topk_problem){{.type = TSR_U32, .n = 4095, .rows = 8}, .k = 3},
                             sizeof(tsr_topk_problem));

    (void)state;
    expect_class(&p, "4-byte rows top, 1 to 2^12 - 1 keys");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunks_for_all_cores),
        cmocka_unit_test(test_values_follow),
        cmocka_unit_test(test_unsupported_gives_the_values),
        cmocka_unit_test(test_heaps_that_do_not_fit),
        cmocka_unit_test(test_cpus_prefer_heaps),
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_proof),
        cmocka_unit_test(test_sorts_are_those_of_sort),
        cmocka_unit_test(test_the_sweep_has_every_type),
        cmocka_unit_test(classes_name_their_problems),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
