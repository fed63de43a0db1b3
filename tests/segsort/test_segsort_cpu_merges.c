/* The variant of segsort for CPUs: the kernels' own text deals every unit to one
 * work-item; the workspace; what is refused, and when it is preferred. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../sort/sort_plans.h"
#include "base/random.h"
#include "base/sizes.h"
#include "core/registry.h"
#include "ops/segsort/segsort_problem.h"

/* ---- the kernels' units, compiled as C ------------------------------------------------------- */

typedef unsigned int uint;
typedef unsigned long ulong;
_Static_assert(sizeof(ulong) == 8, "OpenCL's ulong");

#ifdef __clang__ /* an address space of OpenCL C has a name that C reserves */
#pragma clang diagnostic ignored "-Wreserved-identifier"
#endif
#define __global
#define min(a, b)    ((a) < (b) ? (a) : (b))
#define segsort_call kernel_call // the host's is of the same name
#include "../../cl/segsort/segsort_units.clh"
#undef segsort_call
#undef min

/* Each unit of segments that are long enough is met once, by whom it starts with. */
static void check_units(const uint64_t *offsets, size_t segments, size_t window, uint unit,
                        uint more)
{
    const size_t n = offsets[segments];
    unsigned char *met = calloc(n + 1, 1);
    size_t wanted = 0, found = 0;

    assert_non_null(met);
    for (size_t begin = 0; begin < n; begin += window) {
        const kernel_call call = {.n = n, .segments = segments, .window = window};
        walk w = walk_start(offsets, call, begin, unit, more);

        while (walk_on(&w)) {
            const size_t start = w.found.start + w.at;

            assert_true(start >= begin && start < begin + window && start < n);
            assert_true(w.at % unit == 0 && w.at < w.found.n && w.found.n > more);
            assert_int_equal(w.found.start, offsets[w.number]);
            assert_int_equal(w.found.start + w.found.n, offsets[w.number + 1]);
            assert_int_equal(met[start]++, 0);
            found++;
        }
    }
    for (size_t s = 0; s < segments; s++) {
        const size_t length = offsets[s + 1] - offsets[s];

        wanted += length > more ? size_div_up(length, unit) : 0;
    }
    assert_int_equal(found, wanted);
    free(met);
}

static void test_each_unit_has_one_work_item(void **state)
{
    uint64_t offsets[41], random = 5;

    (void)state;
    for (size_t trial = 0; trial < 2000; trial++) {
        const size_t segments = 1 + random_u64(&random) % 40;
        const size_t most = (size_t)1 << random_u64(&random) % 9;

        offsets[0] = 0;
        for (size_t s = 0; s < segments; s++)
            offsets[s + 1] = offsets[s] + random_u64(&random) % 3 * random_u64(&random) % most;
        for (uint unit = 1; unit <= 64; unit *= 4)
            check_units(offsets, segments, 1 + random_u64(&random) % 100, unit,
                        (uint)(random_u64(&random) % 50));
    }
}

/* Offsets that do not ascend: whatever is met lies within the keys, and there is an end to it. */
static void test_broken_offsets_stay_inside(void **state)
{
    uint64_t offsets[21], random = 7;

    (void)state;
    for (size_t trial = 0; trial < 2000; trial++) {
        const size_t n = 1 + random_u64(&random) % 300;

        for (size_t s = 0; s < 21; s++)
            offsets[s] = random_u64(&random) >> random_u64(&random) % 64;
        for (size_t begin = 0; begin < n; begin += 50) {
            const kernel_call call = {.n = n, .segments = 20, .window = 50};
            walk w = walk_start(offsets, call, begin, 16, 0);
            size_t met = 0;

            for (; walk_on(&w); met++) {
                assert_true(w.number < 20 && w.found.start + w.found.n <= n);
                assert_true(w.at < w.found.n);
            }
            assert_true(met <= 20 * (300 / 16 + 1));
        }
    }
}

/* ---- the plan -------------------------------------------------------------------------------- */

static device_facts cpu(void)
{
    return (device_facts){.kind = DEVICE_CPU,
                          .compute_units = 2,
                          .max_work_group = 4096,
                          .max_work_item = {4096, 4096, 4096},
                          .vector_bits = 512,
                          .local_memory = 512 << 10};
}

static problem in_segments(size_t n, size_t segments, size_t longest)
{
    return segsort_problem((tsr_segsort_problem){
        {.type = TSR_U32, .n = n}, .segments = segments, .segment_longest = longest});
}

/* Blocks by windows for all cores, and a launch for each stage of the longest segment. */
static void test_stages_of_the_longest(void **state)
{
    static const char *const small[] = {"BLOCK=256", NULL};
    const variant *v = find_of(&operation_segsort, "cpu-segments");
    const params p = settings(v, small);
    const device_facts d = cpu();
    problem q = in_segments(100000, 50, 2049);
    const job j = {&q, &d, &p, false};
    plan out = plan_for(v, &j);

    (void)state;
    assert_int_equal(out.workspace, 100000 * 4);
    assert_int_equal(out.count, 1 + 4); /* 2049 keys make nine blocks */
    assert_int_equal(out.commands[0].global[0], 16);
    plan_free(&out);
    segsort_in(&q)->segment_longest = 256;
    out = plan_for(v, &j);
    assert_int_equal(out.workspace, 0);
    assert_int_equal(out.count, 1);
    plan_free(&out);
}

/* Behind values and lanes, where the longest segment is not known: it is noted from 0 on. */
static void test_the_longest_is_noted(void **state)
{
    static const char *const small[] = {"BLOCK=64", NULL};
    const variant *v = find_of(&operation_segsort, "cpu-segments");
    const params p = settings(v, small);
    const device_facts d = cpu();
    problem q = in_segments(1001, 10, 0);
    const job j = {&q, &d, &p, false};
    const size_t lanes = 4 * 1001; /* the index, the copy of values, and two arrays */
    plan out;

    (void)state;
    sort_in(&q)->value_bytes = 8;
    out = plan_for(v, &j);
    assert_int_equal(out.workspace, lanes * 8 + 4);
    assert_int_equal(out.commands[0].kind, COMMAND_FILL);
    assert_int_equal(out.commands[0].fill_offset, lanes * 8);
    assert_int_equal(out.commands[0].fill_bytes, 4);
    assert_int_equal(out.count, 2 + 4 + 2);
    plan_free(&out);
}

/* Segments of few keys fill few vectors. */
static void test_short_segments_have_narrow_vectors(void **state)
{
    static const struct {
        size_t n, segments, longest;
        const char *defined;
    } cases[] = {{6400, 100, 128, " -DLANES=8 "},  {6400, 100, 0, " -DLANES=16 "},
                 {3100, 100, 64, " -DLANES=8 "},   {3100, 100, 32, " -DLANES=4 "},
                 {100000, 100, 0, " -DLANES=16 "}, {10, 1, 10, " -DLANES=16 "}};
    const variant *v = find_of(&operation_segsort, "cpu-segments");
    const params p = params_default(v);
    const device_facts d = cpu();

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const problem q = in_segments(cases[i].n, cases[i].segments, cases[i].longest);
        const job j = {&q, &d, &p, false};

        check_options(v, &j, cases[i].defined);
    }
}

static void check_reason(const problem *q, const char *expected)
{
    static const char *const none[] = {NULL};
    const device_facts d = cpu();

    check_reason_on("cpu-segments", &d, q, none, expected);
}

static void test_unsupported_gives_the_values(void **state)
{
    problem q = in_segments(1000, 10, 0);

    (void)state;
    check_reason(&q, "supported");
    sort_in(&q)->argsort = true;
    check_reason(&q, "supported");
    sort_in(&q)->type = TSR_F64;
    check_reason(&q, "it packs a key and its index in 64 bits, and the key alone has as many");
    q = in_segments((size_t)1 << 33, 10, ((size_t)1 << 31) + 1);
    check_reason(&q, "it indexes in 32 bits: segments of at most 2147483648 keys, not 2147483649");
}

static void test_cpus_prefer_it(void **state)
{
    problem q = in_segments(1000, 250, 0);
    device_facts d = cpu();
    const char *names[PREFERENCES_MAX];

    (void)state;
    assert_int_equal(operation_segsort.prefer(&q, &d, names), 2);
    assert_string_equal(names[0], "cpu-segments");
    assert_string_equal(names[1], "segments");
    segsort_in(&q)->segments++;
    assert_int_equal(operation_segsort.prefer(&q, &d, names), 1);
    assert_string_equal(names[0], "segments");
    segsort_in(&q)->segments--;
    d.kind = DEVICE_GPU;
    operation_segsort.prefer(&q, &d, names);
    assert_string_not_equal(names[0], "cpu-segments");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_unit_has_one_work_item),
        cmocka_unit_test(test_broken_offsets_stay_inside),
        cmocka_unit_test(test_stages_of_the_longest),
        cmocka_unit_test(test_the_longest_is_noted),
        cmocka_unit_test(test_short_segments_have_narrow_vectors),
        cmocka_unit_test(test_unsupported_gives_the_values),
        cmocka_unit_test(test_cpus_prefer_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
