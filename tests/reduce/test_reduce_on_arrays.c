/* Variants in C on a CPU device: what they take, who gets them unasked, and what is said of it.
 * Needs an OpenCL device of the type CPU, such as PoCL's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/sizes.h"
#include "core/calls.h"
#include "core/registry.h"
#include "device/device.h"
#include "tessera/tessera.h"

typedef struct fixture {
    tsr_devices *list;
    const tsr_device *cpu;
} fixture;

static int make_fixture(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    size_t n;

    assert_non_null(f);
    *state = f;
    assert_int_equal(tsr_devices_find(&f->list, NULL), TSR_OK);
    assert_int_equal(tsr_devices_select(f->list, "cpu", &f->cpu, 1, &n, NULL), TSR_OK);
    assert_true(f->cpu->facts.unified_memory);
    return 0;
}

static int drop_fixture(void **state)
{
    fixture *f = *state;

    tsr_devices_close(f->list);
    free(f);
    return 0;
}

static tsr_session *open_session(const fixture *f, int copies)
{
    const tsr_session_options options = {.copies = copies, .no_cache = 1};
    tsr_session *s = NULL;

    assert_int_equal(tsr_session_open(f->cpu, &options, &s, NULL), TSR_OK);
    return s;
}

/* A minimum of 40 elements, the least of which is -20. */
static void least(tsr_session *s, const char *name, size_t shift, tsr_status expected,
                  tsr_report *report, tsr_error *err)
{
    const tsr_reduce_problem p = {.n = 40, .by = TSR_REDUCE_MIN};
    const tsr_run run = {.variant = name};
    unsigned char memory[41 * sizeof(float)];
    float x[40], result = 1;

    for (size_t i = 0; i < 40; i++)
        x[i] = (float)i - 20;
    memcpy(memory + shift, x, sizeof(x));
    assert_int_equal(tsr_reduce(s, &p, (const float *)(const void *)(memory + shift), &result, &run,
                                report, err),
                     expected);
    assert_true(result == (expected ? 1 : -20));
}

static void test_small_calls_on_arrays(void **state)
{
    tsr_session *s = open_session(*state, 0);
    tsr_report report;
    tsr_error err;

    least(s, NULL, 0, TSR_OK, &report, NULL);
    assert_string_equal(report.variant, "simd");
    assert_non_null(strstr(report.chosen, "without compiling or launching a kernel"));
    assert_int_equal(report.build, TSR_BUILD_NONE);
    assert_int_equal(report.build_ns, 0);
    assert_int_equal(report.commands, 1);
    assert_true(report.shared && report.device_ns && report.device_ns <= report.wall_ns);
    for (int f = 0; f < FEATURE_COUNT; f++)
        assert_int_equal(session_facts(s)->feature[f], FEATURE_UNKNOWN); /* none was probed */

    least(s, "simd", 0, TSR_OK, &report, NULL);
    assert_string_equal(report.chosen, "named by the caller");
    least(s, "tree", 0, TSR_OK, &report, NULL);
    assert_int_equal(report.build, TSR_BUILD_COLD);
    least(s, "loop", 0, TSR_EUNSUPPORTED, &report, &err);
    assert_non_null(strstr(err.message, "it is C code and runs on the device 'host'"));
    tsr_session_close(s);
}

static void test_only_arrays(void **state)
{
    static const char why[] = "works on arrays in the host's memory, not in buffers";
    tsr_session *s = open_session(*state, 1), *sharing = open_session(*state, 0);
    const tsr_reduce_problem p = {.n = 40, .by = TSR_REDUCE_MIN};
    const tsr_run run = {.variant = "simd"};
    cl_mem x = clCreateBuffer(tsr_session_context(sharing), CL_MEM_READ_WRITE, 160, NULL, NULL);
    cl_mem result = clCreateBuffer(tsr_session_context(sharing), CL_MEM_READ_WRITE, 4, NULL, NULL);
    tsr_report report;
    tsr_error err;

    least(s, NULL, 0, TSR_OK, &report, NULL);
    assert_string_not_equal(report.variant, "simd");
    least(s, "simd", 0, TSR_EUNSUPPORTED, &report, &err);
    assert_non_null(strstr(err.message, why));

    least(sharing, NULL, 1, TSR_OK, &report, NULL); /* on a copy, whose elements are aligned */
    assert_string_equal(report.variant, "simd");
    assert_false(report.shared);
    /* The same problem on arrays and in buffers is two calls. */
    least(sharing, NULL, 0, TSR_OK, &report, NULL);
    assert_string_equal(report.variant, "simd");
    assert_int_equal(tsr_reduce_enqueue(sharing, &p, x, result, NULL, &report, NULL), TSR_OK);
    assert_string_not_equal(report.variant, "simd");
    assert_int_equal(tsr_reduce_enqueue(sharing, &p, x, result, &run, &report, &err),
                     TSR_EUNSUPPORTED);
    assert_non_null(strstr(err.message, why));

    clFinish(tsr_session_queue(sharing));
    clReleaseMemObject(x);
    clReleaseMemObject(result);
    tsr_session_close(s);
    tsr_session_close(sharing);
}

static void test_which_devices(void **state)
{
    device_facts d = ((fixture *)*state)->cpu->facts;
    const variant *simd = NULL, *loop = NULL, *tree = NULL;
    const operation *reduce = operation_named("reduce");

    assert_int_equal(variant_find(reduce, "simd", &simd, NULL), TSR_OK);
    assert_int_equal(variant_find(reduce, "loop", &loop, NULL), TSR_OK);
    assert_int_equal(variant_find(reduce, "tree", &tree, NULL), TSR_OK);
    assert_true(variant_is_for(simd, &d) && !variant_is_for(loop, &d) && variant_is_for(tree, &d));
    d.unified_memory = false;
    assert_false(variant_is_for(simd, &d));
    d.unified_memory = true;
    d.kind = DEVICE_GPU;
    assert_false(variant_is_for(simd, &d));
    d.kind = DEVICE_HOST;
    assert_true(variant_is_for(simd, &d) && variant_is_for(loop, &d) && !variant_is_for(tree, &d));
}

/* What an operation prefers so is one of its variants for CPUs, whatever the size. */
static void test_preferences_are_for_cpus(void **state)
{
    const device_facts *d = &((fixture *)*state)->cpu->facts;

    for (size_t o = 0; o < operation_count; o++) {
        problem p;

        if (!operations[o]->prefer_c)
            continue;
        for (size_t i = 0; operations[o]->sweep(i, false, &p); i++) {
            unsigned order[OPERANDS_MAX];
            const problem normal = problem_normal(&p, order);
            const char *name = operations[o]->prefer_c(&normal, d);
            const variant *v = NULL;

            if (!name)
                continue;
            assert_int_equal(variant_find(operations[o], name, &v, NULL), TSR_OK);
            assert_true(!v->source && variant_is_for(v, d));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_calls_on_arrays), cmocka_unit_test(test_only_arrays),
        cmocka_unit_test(test_which_devices), cmocka_unit_test(test_preferences_are_for_cpus)};

    return cmocka_run_group_tests_name("C on CPUs", tests, make_fixture, drop_fixture);
}
