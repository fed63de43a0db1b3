/* The edges of bins, and how the variants of histogram split a problem: no OpenCL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sizes.h"
#include "core/registry.h"
#include "core/tuning_class.h"
#include "ops/histogram/histogram_problem.h"

/* An edge that float32 cannot hold separates the same elements: 0.1 is between two floats. */
static void edges_separate_the_same_elements(void **state)
{
    float edges[3], tenth = 0.1f; /* above 0.1 */

    (void)state;
    histogram_set_edge(TSR_U8, edges, 0, 0.1, false);
    assert_true(edges[0] == tenth);
    histogram_set_edge(TSR_U8, edges, 0, 0.1, true);
    assert_true(edges[0] == nextafterf(tenth, 0));
    histogram_set_edge(TSR_U8, edges, 0, 0.7, false); /* 0.7f is below 0.7 */
    assert_true(edges[0] == nextafterf(0.7f, 1));
    histogram_set_edge(TSR_U8, edges, 0, 0.7, true);
    assert_true(edges[0] == 0.7f);
    histogram_set_edge(TSR_F32, edges, 0, 0.3, false); /* 0.3f is above 0.3, too */
    assert_true((double)edges[0] >= 0.3 && (double)nextafterf(edges[0], 0) < 0.3);
    /* Of floats they are rounded, as NumPy's are. */
    assert_int_equal(tsr_histogram_edges(TSR_F32, 2, 0.1, 0.3, edges, NULL), TSR_OK);
    assert_true(edges[0] == 0.1f && edges[1] == 0.2f && edges[2] == 0.3f);
    assert_int_equal(tsr_histogram_edge_type(TSR_BF16), TSR_F32);
    assert_int_equal(tsr_histogram_edge_type(TSR_I32), TSR_F64);
}

static void edges_that_there_are_not(void **state)
{
    double edges[2];
    tsr_error err;

    (void)state;
    assert_int_equal(tsr_histogram_edges(TSR_F64, 0, 0, 1, edges, &err), TSR_EINVAL);
    assert_int_equal(tsr_histogram_edges(TSR_F64, 1, 2, 1, edges, &err), TSR_EINVAL);
    assert_int_equal(tsr_histogram_edges(TSR_F64, 1, NAN, 1, edges, &err), TSR_EINVAL);
    assert_int_equal(tsr_histogram_edges(TSR_F64, 1, -1e308, 1e308, edges, &err), TSR_EINVAL);
    assert_int_equal(tsr_histogram_edges(TSR_TYPE_COUNT, 1, 0, 1, edges, &err), TSR_EINVAL);
    assert_int_equal(tsr_histogram_edges(TSR_F64, 1, 0, 1, NULL, &err), TSR_EINVAL);
}

static void edges_ascend(void **state)
{
    const tsr_histogram_problem p = {.type = TSR_F32, .n = 1, .bins = 2, .offset_edges = 1};
    float edges[4] = {9, 1, 1, 2};
    tsr_error err;

    (void)state;
    assert_int_equal(histogram_check_edges(&p, edges, NULL), TSR_OK);
    edges[3] = 0.5f;
    assert_int_equal(histogram_check_edges(&p, edges, &err), TSR_EINVAL);
    assert_non_null(strstr(err.message, "edge 2 is 0.5, below the 1 of edge 1"));
    edges[3] = NAN;
    assert_int_equal(histogram_check_edges(&p, edges, &err), TSR_EINVAL);
    assert_non_null(strstr(err.message, "edge 2 is NaN"));
}

/* A table of 32 bits counts no more than it holds, whatever PER_UNIT says. */
static void tables_do_not_overflow(void **state)
{
    const tsr_histogram_problem structure = {.type = TSR_U8, .n = (size_t)1 << 36, .bins = 256};
    const problem p = problem_from(&operation_histogram, &structure, sizeof(structure));
    const device_facts d = {.kind = DEVICE_GPU,
                            .compute_units = 1,
                            .max_work_group = 256,
                            .max_work_item = {256, 1, 1},
                            .local_memory = 49152};
    const variant *const variants[] = {&histogram_local, &histogram_copies, &histogram_bytes};

    (void)state;
    for (size_t v = 0; v < ARRAY_COUNT(variants); v++) {
        const params chosen = params_default(variants[v]);
        const job j = {.problem = &p, .device = &d, .params = &chosen};
        const command *c;
        plan out;

        assert_null(plan_make(variants[v], &j, &out));
        assert_int_equal(out.count, 2);
        c = &out.commands[1];
        assert_true(structure.n / (c->global[0] / c->local[0]) < UINT32_MAX);
        plan_free(&out);
    }
}

/* Sums are the same whatever pieces the threads take, and each piece adds to its own table. */
static void sums_do_not_depend_on_threads(void **state)
{
    enum { N = 300000, BINS = 3 };
    const tsr_histogram_problem structure = {
        .type = TSR_U8, .n = N, .bins = BINS, .weights = TSR_HISTOGRAM_F64};
    const problem p = problem_from(&operation_histogram, &structure, sizeof(structure));
    float edges[BINS + 1] = {0, 1, 2, 3};
    double first[BINS], again[BINS], *w = malloc(N * sizeof(*w));
    uint8_t *x = malloc(N);
    void *operands[] = {x, edges, first, w};

    (void)state;
    assert_true(x && w);
    for (size_t i = 0; i < N; i++) {
        x[i] = (uint8_t)(i % BINS);
        w[i] = 1.0 / (double)(i + 1);
    }
    assert_int_equal(histogram_tables.host(&p, operands, NULL), TSR_OK);
    for (size_t bin = 0; bin < BINS; bin++) {
        long double exact = 0;

        for (size_t i = bin; i < N; i += BINS)
            exact += w[i];
        assert_true(fabsl(first[bin] - exact) < 1e-12L);
    }
    operands[HISTOGRAM_COUNTS] = again;
    for (int turn = 0; turn < 5; turn++) {
        assert_int_equal(histogram_tables.host(&p, operands, NULL), TSR_OK);
        assert_memory_equal(first, again, sizeof(first));
    }
    free(x);
    free(w);
}

/* Bins that local memory does not hold are shared by groups, and workspace has a sum for each bin
 * and stretch. */
static void tables_of_work_items_fit(void **state)
{
    const tsr_histogram_problem structure = {
        .type = TSR_F32, .n = 1 << 24, .bins = 1000, .weights = TSR_HISTOGRAM_F32};
    const problem p = problem_from(&operation_histogram, &structure, sizeof(structure));
    const device_facts d = {.kind = DEVICE_GPU,
                            .compute_units = 132,
                            .max_work_group = 1024,
                            .max_work_item = {1024, 1024, 64},
                            .local_memory = 49152};
    const params chosen = params_default(&histogram_own);
    const job j = {.problem = &p, .device = &d, .params = &chosen};
    const command *c;
    plan out;

    (void)state;
    assert_null(plan_make(&histogram_own, &j, &out));
    assert_int_equal(out.count, 2);
    c = &out.commands[0];
    assert_int_equal(c->arg[5].bytes, 48128); /* the driver keeps a KiB */
    assert_int_equal(out.workspace * 3,
                     c->global[0] / c->local[0] * structure.bins * sizeof(float));
    plan_free(&out);
}

/* Tables where an array is read once; atomics where tables would take it many passes. */
static void sums_of_many_bins_go_by_atomics(void **state)
{
    tsr_histogram_problem structure = {
        .type = TSR_F32, .n = 100, .bins = 1000, .weights = TSR_HISTOGRAM_F32};
    const device_facts d = {.kind = DEVICE_GPU};
    const char *names[PREFERENCES_MAX];

    (void)state;
    for (int many = 0; many < 2; many++) {
        problem p;

        structure.bins = many ? 100000 : 1000;
        p = problem_from(&operation_histogram, &structure, sizeof(structure));
        assert_int_equal(operation_histogram.prefer(&p, &d, names), 2);
        assert_string_equal(names[many], "own");
        assert_string_equal(names[!many], "naive");
    }
}

static void reasons_have_their_numbers(void **state)
{
    tsr_histogram_problem structure = {.type = TSR_F64, .n = 100, .bins = 20000};
    device_facts d = {.kind = DEVICE_GPU,
                      .compute_units = 1,
                      .max_work_group = 256,
                      .max_work_item = {256, 1, 1},
                      .local_memory = 49152,
                      .fp64 = true};
    const struct {
        const variant *v;
        const char *why;
    } cases[] = {
        {&histogram_local, "it needs 80000 bytes of local memory, and the device has 49152"},
        {&histogram_few, "it has registers for 16 bins, not for 20000"},
        {&histogram_bytes, "it counts the values of 8 bits, not float64"}};

    (void)state;
    for (size_t i = 0; i <= ARRAY_COUNT(cases); i++) {
        const variant *v = i < ARRAY_COUNT(cases) ? cases[i].v : &histogram_naive;
        const params chosen = params_default(v);
        const problem p = problem_from(&operation_histogram, &structure, sizeof(structure));
        const job j = {.problem = &p, .device = &d, .params = &chosen};
        plan out;
        const char *why;

        d.fp64 = i < ARRAY_COUNT(cases);
        why = plan_make(v, &j, &out);
        assert_non_null(why);
        assert_non_null(
            strstr(why, i < ARRAY_COUNT(cases) ? cases[i].why : "in double precision, which"));
        plan_free(&out);
    }
}

/* Tables leave room for whether a group is the last one: 4 bytes, without which they fit. */
static void tables_and_the_last_group_fit(void **state)
{
    static const struct {
        const variant *v;
        const char *set;
        size_t bins, local_memory;
        const char *why;
    } cases[] = {{&histogram_copies, "COPIES=8", 1536, 49152,
                  "it needs 49156 bytes of local memory, and the device has 49152"},
                 {&histogram_few, "GROUP=256", 16, 18432,
                  "it needs 18436 bytes of local memory, and the device has 18432"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const variant *v = cases[i].v;
        const tsr_histogram_problem structure = {
            .type = TSR_F32, .n = (size_t)1 << 20, .bins = cases[i].bins};
        const problem p = problem_from(&operation_histogram, &structure, sizeof(structure));
        device_facts d = {.kind = DEVICE_GPU,
                          .compute_units = 1,
                          .max_work_group = 1024,
                          .max_work_item = {1024, 1, 1},
                          .local_memory = cases[i].local_memory,
                          .nv_capability = 90};
        params chosen = params_default(v);
        const job j = {.problem = &p, .device = &d, .params = &chosen};
        const char *why;
        plan out;

        assert_int_equal(params_set(v, &chosen, cases[i].set, NULL), TSR_OK);
        why = plan_make(v, &j, &out);
        if (why)
            fail_msg("%s: %s", v->name, why);
        plan_free(&out);
        d.feature[FEATURE_PTX] = FEATURE_YES;
        why = plan_make(v, &j, &out);
        if (!why || strcmp(why, cases[i].why) != 0)
            fail_msg("%s with a last group: %s", v->name, why ? why : "supported");
        plan_free(&out);
    }
}

/* As many tables of bytes as local memory holds beside bins, edges and counts. */
static void copies_fit(void **state)
{
    static const struct {
        size_t local_memory;
        uint32_t copies; /* 0: unsupported */
    } cases[] = {{65536, 32}, {49152, 32}, {43008, 32}, {43007, 16},
                 {26624, 16}, {12288, 2},  {12287, 0}};
    const tsr_histogram_problem structure = {.type = TSR_U8, .n = (size_t)1 << 20, .bins = 256};
    const problem p = problem_from(&operation_histogram, &structure, sizeof(structure));
    device_facts d = {.kind = DEVICE_GPU,
                      .compute_units = 1,
                      .max_work_group = 1024,
                      .max_work_item = {1024, 1, 1}};
    params chosen = params_default(&histogram_bytes);
    const job j = {.problem = &p, .device = &d, .params = &chosen};
    plan out;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        d.local_memory = cases[i].local_memory;
        if (cases[i].copies) {
            assert_null(plan_make(&histogram_bytes, &j, &out));
            assert_int_equal(param(&out.params, "COPIES"), cases[i].copies);
        } else {
            assert_non_null(plan_make(&histogram_bytes, &j, &out));
        }
        plan_free(&out);
    }
    /* What is asked for is not made less. */
    assert_int_equal(params_set(&histogram_bytes, &chosen, "COPIES=32", NULL), TSR_OK);
    d.local_memory = 32768;
    assert_non_null(plan_make(&histogram_bytes, &j, &out));
    plan_free(&out);
}

/* Groups of bytes: a single one of few, then small ones, so that all units have some; and a launch
 * before it where sums of 32 bits could overflow. */
static void groups_of_bytes(void **state)
{
    static const struct {
        size_t n, groups, local, launches;
        uint32_t copies;
    } cases[] = {{0, 1, 1024, 1, 32},
                 {1 << 14, 1, 1024, 1, 32},
                 {(1 << 14) + 1, 5, 256, 1, 16},
                 {1 << 18, 64, 256, 1, 16},
                 {1 << 20, 128, 512, 1, 16},
                 {1 << 22, 132, 1024, 1, 32},
                 {UINT32_MAX, 132, 1024, 1, 32},
                 {(size_t)UINT32_MAX + 1, 132, 1024, 2, 32}};
    const device_facts d = {.kind = DEVICE_GPU,
                            .compute_units = 132,
                            .max_work_group = 1024,
                            .max_work_item = {1024, 1, 1},
                            .local_memory = 49152,
                            .nv_capability = 90,
                            .feature = {[FEATURE_PTX] = FEATURE_YES}};
    const params chosen = params_default(&histogram_bytes);

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const tsr_histogram_problem structure = {.type = TSR_U8, .n = cases[i].n, .bins = 256};
        const problem p = problem_from(&operation_histogram, &structure, sizeof(structure));
        const job j = {.problem = &p, .device = &d, .params = &chosen};
        const command *c;
        plan out;

        assert_null(plan_make(&histogram_bytes, &j, &out));
        assert_int_equal(out.count, cases[i].launches);
        c = &out.commands[out.count - 1];
        assert_int_equal(c->local[0], cases[i].local);
        assert_int_equal(c->global[0] / c->local[0], cases[i].groups);
        assert_int_equal(param(&out.params, "COPIES"), cases[i].copies);
        plan_free(&out);
    }
}

static void classes_come_from_the_fields(void **state)
{
    tsr_histogram_problem structure = {.type = TSR_U8, .n = 2047, .bins = 256};
    problem p = problem_from(&operation_histogram, &structure, sizeof(structure));
    text got = {0};

    (void)state;
    tuning_class(&p, &got);
    assert_string_equal(text_get(&got), "uint8 n 1024x256");
    text_free(&got);
    structure.weights = TSR_HISTOGRAM_F64;
    p = problem_from(&operation_histogram, &structure, sizeof(structure));
    tuning_class(&p, &got);
    assert_string_equal(text_get(&got), "uint8 float64 n 1024x256");
    text_free(&got);
}

/* Sums of weights, by the function for them alone. */
static void weights_have_a_function(void **state)
{
    const float x[] = {0.5f, 1.5f, 1.7f}, edges[] = {0, 1, 2};
    const double weights[] = {1, 2, 4};
    double sums[2] = {0};
    int64_t counts[2];
    tsr_histogram_problem p = {.type = TSR_F32, .n = 3, .bins = 2, .weights = TSR_HISTOGRAM_F64};
    const tsr_histogram_inputs in = {x, edges, weights};
    tsr_devices *list = NULL;
    tsr_session *s = NULL;
    tsr_error err;

    (void)state;
    assert_int_equal(tsr_devices_find_host(&list, &err), TSR_OK);
    assert_int_equal(tsr_session_open(tsr_devices_get(list, 0), NULL, &s, &err), TSR_OK);
    assert_int_equal(tsr_histogram_weighted(s, &p, &in, sums, NULL, NULL, &err), TSR_OK);
    assert_true(sums[0] == 1 && sums[1] == 6);
    assert_int_equal(tsr_histogram_weighted(s, &p, NULL, sums, NULL, NULL, &err), TSR_EINVAL);
    assert_int_equal(tsr_histogram(s, &p, x, edges, counts, NULL, NULL, &err), TSR_EINVAL);
    assert_int_equal(tsr_histogram_weighted_enqueue(s, &p, NULL, NULL, NULL, NULL, &err),
                     TSR_EUNSUPPORTED); /* the host has no buffers */
    p.weights = TSR_HISTOGRAM_COUNTS;
    assert_int_equal(tsr_histogram_weighted(s, &p, &in, sums, NULL, NULL, &err), TSR_EINVAL);
    tsr_session_close(s);
    tsr_devices_close(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_separate_the_same_elements),
        cmocka_unit_test(edges_that_there_are_not),
        cmocka_unit_test(edges_ascend),
        cmocka_unit_test(weights_have_a_function),
        cmocka_unit_test(tables_do_not_overflow),
        cmocka_unit_test(sums_do_not_depend_on_threads),
        cmocka_unit_test(tables_of_work_items_fit),
        cmocka_unit_test(sums_of_many_bins_go_by_atomics),
        cmocka_unit_test(reasons_have_their_numbers),
        cmocka_unit_test(tables_and_the_last_group_fit),
        cmocka_unit_test(copies_fit),
        cmocka_unit_test(groups_of_bytes),
        cmocka_unit_test(classes_come_from_the_fields),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
