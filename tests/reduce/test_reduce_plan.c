/* The plans of reduce's variants on devices made up here: no OpenCL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/sizes.h"
#include "core/registry.h"
#include "core/tuning_class.h"
#include "ops/reduce/reduce_problem.h"

static device_facts device(device_kind kind, size_t units, size_t work_group)
{
    return (device_facts){.kind = kind,
                          .cl_version = 120,
                          .clc_version = 120,
                          .compute_units = units,
                          .max_work_group = work_group,
                          .max_work_item = {work_group, work_group, work_group},
                          .local_memory = 16384,
                          .denormals_f32 = true};
}

static const size_t sizes[] = {0, 1, 31, 256, 2047, 2049, 100003, (size_t)1 << 33};

/* n, first element and place of the result, as a launch's structure has them. */
static uint64_t block_at(const command *c, size_t member)
{
    uint64_t value;

    memcpy(&value, c->block + member * sizeof(value), sizeof(value));
    return value;
}

static void check_plan(const variant *v, const device_facts *d, size_t n)
{
    const tsr_reduce_problem structure = {.n = n, .offset_x = 3, .offset_result = 5};
    const problem p = problem_from(&operation_reduce, &structure, sizeof(structure));
    params chosen = {.tunables = v->tunables, .count = v->tunable_count};
    job j = {.problem = &p, .device = d, .params = &chosen};
    const command *last;
    size_t local;
    plan out;

    for (size_t i = 0; i < chosen.count; i++)
        chosen.value[i] = v->tunables[i].normal;
    assert_null(plan_make(v, &j, &out));
    local = param(&out.params, "GROUP");
    assert_true(local >= 1 && local <= d->max_work_group);
    assert_true(out.count == 1 || out.count == 2);
    last = &out.commands[out.count - 1];
    assert_int_equal(block_at(&out.commands[0], 0), n);
    assert_int_equal(block_at(&out.commands[0], 1), 3);
    assert_int_equal(block_at(last, 2), 5);
    assert_int_equal(last->global[0], local);
    for (size_t i = 0; i < out.count; i++)
        assert_int_equal(out.commands[i].local[0], local);
    if (out.count == 2) {
        /* Each group leaves one value, which the second launch reads. */
        assert_int_equal(out.workspace / sizeof(float), out.commands[0].global[0] / local);
        assert_int_equal(block_at(last, 0), out.workspace / sizeof(float));
        assert_int_equal(block_at(&out.commands[0], 2), 0);
        assert_int_equal(block_at(last, 1), 0);
    } else {
        assert_int_equal(out.workspace, 0);
    }
    plan_free(&out);
}

static void groups_leave_what_the_last_one_reads(void **state)
{
    const variant *const variants[] = {&reduce_tree, &reduce_vector};
    const device_facts devices[] = {device(DEVICE_CPU, 2, 4096), device(DEVICE_GPU, 132, 1024),
                                    device(DEVICE_GPU, 16, 100), device(DEVICE_ACCELERATOR, 1, 1)};

    (void)state;
    for (size_t v = 0; v < ARRAY_COUNT(variants); v++)
        for (size_t d = 0; d < ARRAY_COUNT(devices); d++)
            for (size_t i = 0; i < ARRAY_COUNT(sizes); i++)
                check_plan(variants[v], &devices[d], sizes[i]);
}

/* Launches of `each` elements a group: each reads what the one before it left, until one value is.
 */
static void check_levels(const variant *v, const device_facts *d, size_t n, size_t loads)
{
    const tsr_reduce_problem structure = {
        .n = n, .offset_x = 3, .offset_result = 5, .any_order = true};
    const problem p = problem_from(&operation_reduce, &structure, sizeof(structure));
    params chosen = {.tunables = v->tunables, .count = v->tunable_count};
    job j = {.problem = &p, .device = d, .params = &chosen};
    size_t count = n, from = 3;
    const char *why;
    plan out;

    for (size_t i = 0; i < chosen.count; i++)
        chosen.value[i] = v->tunables[i].normal;
    why = plan_make(v, &j, &out);
    if (d->max_work_group < 2) {
        assert_non_null(why);
        plan_free(&out);
        return;
    }
    assert_null(why);
    for (size_t i = 0; i < out.count; i++) {
        const command *c = &out.commands[i];
        const size_t groups = c->global[0] / c->local[0];
        const size_t to = (size_t)block_at(c, 2);

        assert_int_equal(block_at(c, 0), count);
        assert_int_equal(block_at(c, 1), from);
        assert_int_equal(groups, size_max(size_div_up(count, loads * c->local[0]), 1));
        if (i + 1 < out.count) {
            assert_true(i == 0 || to >= from + count);
            assert_true((to + groups) * sizeof(float) <= out.workspace);
        }
        count = groups;
        from = to;
    }
    assert_int_equal(count, 1);
    assert_int_equal(from, 5);
    plan_free(&out);
}

static void levels_follow_each_other(void **state)
{
    const device_facts devices[] = {device(DEVICE_CPU, 2, 4096), device(DEVICE_GPU, 132, 1024),
                                    device(DEVICE_GPU, 16, 100), device(DEVICE_ACCELERATOR, 1, 1)};

    (void)state;
    for (size_t d = 0; d < ARRAY_COUNT(devices); d++)
        for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
            check_levels(&reduce_interleaved, &devices[d], sizes[i], 1);
            check_levels(&reduce_sequential, &devices[d], sizes[i], 1);
            check_levels(&reduce_first_add, &devices[d], sizes[i], 2);
        }
}

/* What adds in another order each time has to be allowed to. */
static void sums_by_atomics_are_asked_for(void **state)
{
    const variant *const variants[] = {&reduce_atomic, &reduce_group_atomic};
    const device_facts d = device(DEVICE_GPU, 132, 1024);

    (void)state;
    for (size_t v = 0; v < ARRAY_COUNT(variants); v++)
        for (size_t k = 0; k < 4; k++) {
            const tsr_reduce_problem structure = {
                .n = 1000, .by = k / 2 ? TSR_REDUCE_MAX : TSR_REDUCE_SUM, .any_order = k % 2};
            const problem p = problem_from(&operation_reduce, &structure, sizeof(structure));
            params chosen = {.tunables = variants[v]->tunables,
                             .count = variants[v]->tunable_count};
            job j = {.problem = &p, .device = &d, .params = &chosen};
            plan out;

            for (size_t i = 0; i < chosen.count; i++)
                chosen.value[i] = variants[v]->tunables[i].normal;
            assert_int_equal(plan_make(variants[v], &j, &out) != NULL, k == 0);
            assert_int_equal(out.count, k == 0 ? 0 : 2);
            plan_free(&out);
        }
}

/* The instruction that reduces a warp takes minima and maxima, as groups of whole warps. */
static void warps_reduce_minima_and_maxima(void **state)
{
    device_facts devices[] = {device(DEVICE_GPU, 132, 1024), device(DEVICE_GPU, 132, 16)};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const tsr_reduce_problem structure = {
            .n = 100000, .by = i % 2 ? TSR_REDUCE_MAX : TSR_REDUCE_SUM, .any_order = true};
        const problem p = problem_from(&operation_reduce, &structure, sizeof(structure));
        const params chosen = params_default(&reduce_redux);
        const job j = {.problem = &p, .device = &devices[i / 2], .params = &chosen};
        plan out;
        const char *why;

        devices[i / 2].feature[FEATURE_REDUX] = FEATURE_YES;
        why = plan_make(&reduce_redux, &j, &out);

        if (i == 1) {
            assert_null(why);
            assert_int_equal(out.commands[0].local[0] % 32, 0);
        } else {
            assert_non_null(strstr(why, i == 3 ? "smaller than a warp" : "sums of floats"));
        }
        plan_free(&out);
    }
}

/* A launch's structure for an axis: outer, n, inner, stride, step, offsets, parts, chunk. */
enum { AXIS_N = 1, AXIS_PARTS = 7, AXIS_CHUNK = 8 };

static void check_axis(const variant *v, const device_facts *d, const tsr_reduce_problem *structure)
{
    const problem p = problem_from(&operation_reduce, structure, sizeof(*structure));
    const size_t results = reduce_results(structure);
    params chosen = {.tunables = v->tunables, .count = v->tunable_count};
    job j = {.problem = &p, .device = d, .params = &chosen};
    size_t n, parts, chunk;
    const char *why;
    plan out;

    for (size_t i = 0; i < chosen.count; i++)
        chosen.value[i] = v->tunables[i].normal;
    why = plan_make(v, &j, &out);
    if (v == &reduce_rows && structure->inner > 1) {
        assert_non_null(why);
        plan_free(&out);
        return;
    }
    assert_null(why);
    n = (size_t)block_at(&out.commands[0], AXIS_N);
    parts = (size_t)block_at(&out.commands[0], AXIS_PARTS);
    chunk = (size_t)block_at(&out.commands[0], AXIS_CHUNK);
    assert_int_equal(n, structure->n);
    /* The parts have all elements, and none is empty but of no elements. */
    assert_true(parts >= 1 && chunk * parts >= n && (n == 0 || chunk * (parts - 1) < n));
    assert_int_equal(out.count, parts == 1 ? 1 : 2);
    assert_true((out.workspace > 0) == (parts > 1) && out.workspace % (results * parts) == 0);
    for (size_t i = 0; i < out.count; i++)
        assert_true(out.commands[i].global[0] >= out.commands[i].local[0] &&
                    out.commands[i].local[0] <= d->max_work_group);
    if (v == &reduce_columns)
        assert_true(out.commands[0].global[0] >= results * parts);
    plan_free(&out);
}

static void parts_have_all_elements(void **state)
{
    const variant *const variants[] = {&reduce_rows, &reduce_columns};
    const device_facts devices[] = {device(DEVICE_CPU, 2, 4096), device(DEVICE_GPU, 132, 1024),
                                    device(DEVICE_GPU, 16, 100), device(DEVICE_ACCELERATOR, 1, 1)};
    static const size_t extents[] = {1, 3, 1000, 70000};

    (void)state;
    for (size_t v = 0; v < ARRAY_COUNT(variants); v++)
        for (size_t d = 0; d < ARRAY_COUNT(devices); d++)
            for (size_t i = 0; i < ARRAY_COUNT(sizes); i++)
                for (size_t k = 0; k < 16; k++) {
                    const tsr_reduce_problem p = {.n = sizes[i],
                                                  .by = k % 2 ? TSR_REDUCE_ARGMAX : TSR_REDUCE_SUM,
                                                  .outer = extents[k / 4],
                                                  .inner = extents[k % 4]};

                    if (p.n || p.by == TSR_REDUCE_SUM)
                        check_axis(variants[v], &devices[d], &p);
                }
}

/* What lies beyond its neighbours is refused. */
static void strides_do_not_overlap(void **state)
{
    tsr_reduce_problem structure = {.n = 10, .outer = 3, .inner = 4, .step = 4, .stride = 40};
    problem p = problem_from(&operation_reduce, &structure, sizeof(structure));

    (void)state;
    assert_int_equal(operation_reduce.check(&p, NULL), TSR_OK);
    reduce_in(&p)->step = 3;
    assert_int_equal(operation_reduce.check(&p, NULL), TSR_EINVAL);
    reduce_in(&p)->step = 4;
    reduce_in(&p)->stride = 39;
    assert_int_equal(operation_reduce.check(&p, NULL), TSR_EINVAL);
    reduce_in(&p)->outer = 1;
    assert_int_equal(operation_reduce.check(&p, NULL), TSR_OK);
    reduce_in(&p)->stride = 0;
    reduce_in(&p)->n = SIZE_MAX / 2;
    assert_int_equal(operation_reduce.check(&p, NULL), TSR_EOVERFLOW);
}

static void nothing_has_no_minimum(void **state)
{
    tsr_reduce_problem structure = {.by = TSR_REDUCE_SUM};
    problem p = problem_from(&operation_reduce, &structure, sizeof(structure));

    (void)state;
    assert_int_equal(operation_reduce.check(&p, NULL), TSR_OK);
    for (structure.by = TSR_REDUCE_MIN; structure.by <= TSR_REDUCE_ARGMAX; structure.by++) {
        p = problem_from(&operation_reduce, &structure, sizeof(structure));
        assert_int_equal(operation_reduce.check(&p, NULL), TSR_EINVAL);
    }
    for (structure.by = TSR_REDUCE_MEAN; structure.by <= TSR_REDUCE_COUNT + 1; structure.by++) {
        p = problem_from(&operation_reduce, &structure, sizeof(structure));
        assert_int_equal(operation_reduce.check(&p, NULL),
                         structure.by <= TSR_REDUCE_COUNT ? TSR_OK : TSR_EINVAL);
    }
}

/* From a power of 2 to the next, whatever is combined. */
static void expect_class(size_t n, size_t by, const char *name, const char *holds)
{
    const tsr_reduce_problem structure = {.n = n, .by = by};
    const problem p = problem_from(&operation_reduce, &structure, sizeof(structure));
    text got = {0};

    tuning_class(&p, &got);
    assert_string_equal(text_get(&got), name);
    text_clear(&got);
    tuning_class_text(&operation_reduce, name, &got);
    assert_string_equal(text_get(&got), holds);
    text_free(&got);
}

static void classes_come_from_the_problem(void **state)
{
    const tsr_reduce_problem rows = {.type = TSR_I8, .n = 100, .by = TSR_REDUCE_ANY, .outer = 5};
    const problem p = problem_from(&operation_reduce, &rows, sizeof(rows));
    text got = {0};

    (void)state;
    tuning_class(&p, &got);
    assert_string_equal(text_get(&got), "int8 any 4x64x1");
    text_clear(&got);
    tuning_class_text(&operation_reduce, "int8 any 4x64x1", &got);
    assert_string_equal(text_get(&got), "int8 any, outer 4-7, N 64-127, inner 1");
    text_clear(&got);
    for (size_t i = 0; i < 3; i++) {
        static const char *const bad[] = {"int8 many 64", "int9 any 64", "int8 any 64x"};

        assert_false(operation_reduce.class_text(bad[i], &got));
    }
    text_free(&got);
    expect_class(1, TSR_REDUCE_SUM, "float32 sum 1", "float32 sum, N 1");
    expect_class(1024, TSR_REDUCE_MIN, "float32 min 1024", "float32 min, N 1024-2047");
    expect_class(2047, TSR_REDUCE_MAX, "float32 max 1024", "float32 max, N 1024-2047");
}

/* One launch, for a whole array alone; groups that are several leave a value each. */
static void a_whole_array_is_one_launch(void **state)
{
    const struct {
        tsr_reduction by;
        size_t n, outer, offset;
        const char *why;
        size_t left;
    } cases[] = {
        {TSR_REDUCE_ANY, 0, 1, 0, NULL, 0},
        {TSR_REDUCE_ANY, 4096, 1, 0, NULL, 0},
        {TSR_REDUCE_ANY, 4097, 1, 0, NULL, 2},
        {TSR_REDUCE_ANY, 1u << 30, 1, 0, NULL, 132 * 8},
        {TSR_REDUCE_ARGMAX, 1u << 30, 1, 0, NULL, 132 * 4},
        {TSR_REDUCE_ARGMAX, (size_t)1 << 44, 1, 0, "it numbers blocks of elements in 32 bits", 0},
        {TSR_REDUCE_ANY, 4096, 1, 1, NULL, 4}, /* no vectors */
        {TSR_REDUCE_ANY, 4096, 2, 0, "it takes a whole array without gaps", 0},
    };
    device_facts d = device(DEVICE_GPU, 132, 1024);

    (void)state;
    for (size_t i = 0; i <= ARRAY_COUNT(cases); i++) {
        const size_t c = i % ARRAY_COUNT(cases);
        const tsr_reduce_problem structure = {.by = cases[c].by,
                                              .type = TSR_F32,
                                              .n = cases[c].n,
                                              .outer = cases[c].outer,
                                              .offset_x = cases[c].offset};
        const problem p = problem_from(&operation_reduce, &structure, sizeof(structure));
        const params chosen = params_default(&reduce_whole);
        const job j = {.problem = &p, .device = &d, .params = &chosen};
        const char *why;
        plan out;

        d.feature[FEATURE_DEVICE_SCOPE] = i < ARRAY_COUNT(cases) ? FEATURE_YES : FEATURE_NO;
        why = plan_make(&reduce_whole, &j, &out);
        if (i == ARRAY_COUNT(cases) || cases[c].why) {
            assert_non_null(why);
            assert_non_null(strstr(why, i == c ? cases[c].why : "no atomic operations"));
        } else {
            assert_null(why);
            assert_int_equal(out.count, 1);
            assert_int_equal(out.workspace, cases[c].left * sizeof(uint64_t));
        }
        plan_free(&out);
    }
}

/* Floats alone, where the instruction exists. */
static void extremes_are_instructions_where_there_are_any(void **state)
{
    const struct {
        tsr_type type;
        tsr_reduction by;
        unsigned capability;
        bool defined;
    } cases[] = {
        {TSR_F32, TSR_REDUCE_MAX, 80, true},  {TSR_F32, TSR_REDUCE_ARGMIN, 90, true},
        {TSR_BF16, TSR_REDUCE_MIN, 90, true}, {TSR_F32, TSR_REDUCE_MAX, 75, false},
        {TSR_F64, TSR_REDUCE_MAX, 90, false}, {TSR_I32, TSR_REDUCE_MAX, 90, false},
        {TSR_F32, TSR_REDUCE_SUM, 90, false},
    };
    device_facts d = device(DEVICE_GPU, 132, 1024);

    (void)state;
    d.fp64 = true;
    d.feature[FEATURE_PTX] = FEATURE_YES;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const tsr_reduce_problem structure = {.by = cases[i].by, .type = cases[i].type, .n = 5000};
        const problem p = problem_from(&operation_reduce, &structure, sizeof(structure));
        const params chosen = params_default(&reduce_whole);
        const job j = {.problem = &p, .device = &d, .params = &chosen};
        plan out;

        d.nv_capability = cases[i].capability;
        assert_null(plan_make(&reduce_whole, &j, &out));
        assert_int_equal(strstr(text_get(&out.defines), "NAN_EXTREMES=1") != NULL,
                         cases[i].defined);
        plan_free(&out);
    }
}

/* C reads an array on a CPU as fast as memory does, however long it is. */
static void long_arrays_are_reduced_in_c(void **state)
{
    const device_facts d = device(DEVICE_CPU, 2, 4096);

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        const tsr_reduce_problem structure = {.n = sizes[i]};
        const problem p = problem_from(&operation_reduce, &structure, sizeof(structure));

        assert_non_null(operation_reduce.prefer_c(&p, &d));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_leave_what_the_last_one_reads),
        cmocka_unit_test(nothing_has_no_minimum),
        cmocka_unit_test(parts_have_all_elements),
        cmocka_unit_test(levels_follow_each_other),
        cmocka_unit_test(sums_by_atomics_are_asked_for),
        cmocka_unit_test(warps_reduce_minima_and_maxima),
        cmocka_unit_test(strides_do_not_overlap),
        cmocka_unit_test(a_whole_array_is_one_launch),
        cmocka_unit_test(extremes_are_instructions_where_there_are_any),
        cmocka_unit_test(long_arrays_are_reduced_in_c),
        cmocka_unit_test(classes_come_from_the_problem),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
