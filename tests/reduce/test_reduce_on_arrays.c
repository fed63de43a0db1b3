/* Variants in C on a CPU device: what they take, who gets them unasked, and what is said of it.
 * Needs an OpenCL device of the type CPU, such as PoCL's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "core/dispatch.h"
#include "core/registry.h"
#include "device/device.h"
#include "stream/entry.h"
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
    assert_non_null(strstr(report.chosen, "with no kernel to compile or launch"));
    assert_int_equal(report.build, TSR_BUILD_NONE);
    assert_int_equal(report.build_ns, 0);
    assert_int_equal(report.commands, 1);
    assert_true(report.shared && report.device_ns && report.device_ns <= report.wall_ns);
    for (int f = 0; f < FEATURE_COUNT; f++)
        assert_int_equal(session_facts(s)->feature[f], FEATURE_UNKNOWN); /* none was probed */

    least(s, "simd", 0, TSR_OK, &report, NULL);
    assert_string_equal(report.chosen, "named by the caller");
    least(s, "tree", 0, TSR_OK, &report, NULL);
    assert_int_equal(report.build, TSR_BUILD_COMPILED);
    least(s, "loop", 0, TSR_EUNSUPPORTED, &report, &err);
    assert_non_null(strstr(err.message, "it is C code and runs on the device 'host'"));
    tsr_session_close(s);
}

static cl_mem buffer_of(const tsr_session *s, cl_mem_flags flags, size_t bytes)
{
    cl_mem m = clCreateBuffer(tsr_session_context(s), flags, bytes, NULL, NULL);

    assert_non_null(m);
    return m;
}

/* The minimum of 40 elements, -20 among them, that are written to x. */
static void enqueue_least(tsr_session *s, const char *name, cl_mem x, cl_mem result,
                          tsr_report *report)
{
    const tsr_reduce_problem p = {.n = 40, .by = TSR_REDUCE_MIN};
    const tsr_run run = {.variant = name};
    const cl_command_queue queue = tsr_session_queue(s);
    float elements[40], got = 1;
    tsr_error err = {0};

    for (size_t i = 0; i < 40; i++)
        elements[i] = (float)(i * 7 % 40) - 20;
    clEnqueueWriteBuffer(queue, x, CL_FALSE, 0, sizeof(elements), elements, 0, NULL, NULL);
    if (tsr_reduce_enqueue(s, &p, x, result, &run, report, &err))
        fail_msg("%s", err.message);
    clEnqueueReadBuffer(queue, result, CL_TRUE, 0, sizeof(got), &got, 0, NULL, NULL);
    assert_true(got == -20);
}

static void test_small_calls_on_buffers(void **state)
{
    tsr_session *s = open_session(*state, 1), *sharing = open_session(*state, 0);
    cl_mem x = buffer_of(sharing, CL_MEM_READ_WRITE, 160);
    cl_mem result = buffer_of(sharing, CL_MEM_READ_WRITE, 4);
    tsr_report report;

    least(s, NULL, 0, TSR_OK, &report, NULL);
    assert_string_equal(report.variant, "simd");
    assert_int_equal(report.to_device_bytes, 160);
    assert_int_equal(report.commands, 1);
    assert_int_equal(report.build, TSR_BUILD_NONE);
    assert_false(report.shared);
    least(s, "simd", 0, TSR_OK, &report, NULL);
    least(sharing, NULL, 1, TSR_OK, &report, NULL); /* on a copy, whose elements are aligned */
    assert_string_equal(report.variant, "simd");
    assert_false(report.shared);
    enqueue_least(sharing, NULL, x, result, &report);
    assert_string_equal(report.variant, "simd");
    assert_non_null(strstr(report.chosen, "with no kernel to compile or launch"));
    assert_int_equal(report.build, TSR_BUILD_NONE);
    enqueue_least(sharing, "simd", x, result, &report);
    enqueue_least(sharing, "tree", x, result, &report);
    assert_string_equal(report.variant, "tree");
    clReleaseMemObject(x);
    clReleaseMemObject(result);
    tsr_session_close(s);
    tsr_session_close(sharing);
}

/* Operands that are parts of one buffer are where they should be. */
static void test_parts_of_a_buffer(void **state)
{
    tsr_session *s = open_session(*state, 0);
    const cl_buffer_region at_1024 = {1024, 160}, at_512 = {512, 4};
    cl_mem whole = buffer_of(s, CL_MEM_READ_WRITE, 2048);
    cl_mem x = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &at_1024, NULL);
    cl_mem result = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &at_512, NULL);
    tsr_report report;

    enqueue_least(s, "simd", x, result, &report);
    enqueue_least(s, "simd", x, whole, &report);
    clReleaseMemObject(x);
    clReleaseMemObject(result);
    clReleaseMemObject(whole);
    tsr_session_close(s);
}

static void refused(tsr_session *s, cl_mem x, cl_mem result)
{
    static const char why[] = "works on arrays in the host's memory, not on these buffers";
    const tsr_reduce_problem p = {.n = 40, .by = TSR_REDUCE_MIN};
    const tsr_run run = {.variant = "simd"};
    tsr_error err = {0};

    assert_int_equal(tsr_reduce_enqueue(s, &p, x, result, &run, NULL, &err), TSR_EUNSUPPORTED);
    assert_non_null(strstr(err.message, why));
}

/* Buffers that the host may not map, and those of a device that runs kernels alone. */
static void test_buffers_out_of_reach(void **state)
{
    const fixture *f = *state;
    const tsr_session_options copies = {.copies = 1, .no_cache = 1};
    tsr_device kernels_alone = *f->cpu;
    tsr_session *s = open_session(f, 0), *other = NULL;
    cl_mem x = buffer_of(s, CL_MEM_READ_WRITE, 160), result = buffer_of(s, CL_MEM_READ_WRITE, 4);
    cl_mem hidden = buffer_of(s, CL_MEM_HOST_WRITE_ONLY, 160);
    tsr_report report;

    enqueue_least(s, NULL, hidden, result, &report);
    assert_string_not_equal(report.variant, "simd");
    refused(s, hidden, result);
    enqueue_least(s, NULL, x, result, &report);
    assert_string_equal(report.variant, "simd");
    clReleaseMemObject(x);
    clReleaseMemObject(hidden);
    clReleaseMemObject(result);
    tsr_session_close(s);

    assert_true(kernels_alone.facts.native_kernels);
    kernels_alone.facts.native_kernels = false;
    assert_int_equal(tsr_session_open(&kernels_alone, &copies, &other, NULL), TSR_OK);
    x = buffer_of(other, CL_MEM_READ_WRITE, 160);
    result = buffer_of(other, CL_MEM_READ_WRITE, 4);
    enqueue_least(other, NULL, x, result, &report);
    assert_string_not_equal(report.variant, "simd");
    refused(other, x, result);
    least(other, NULL, 0, TSR_OK, &report, NULL);
    assert_string_not_equal(report.variant, "simd");
    clReleaseMemObject(x);
    clReleaseMemObject(result);
    tsr_session_close(other);
}

static tsr_status find_no_memory(const problem *p, void *const operands[], tsr_error *err)
{
    (void)operands;
    return tsr_fail(err, TSR_ENOMEM, 0, "%s: no memory", p->op->name);
}

/* C code that fails once its call has returned: the next call says so, and those behind it run. */
static void test_failure_of_an_enqueued_call(void **state)
{
    tsr_session *s = open_session(*state, 0);
    const tsr_reduce_problem p = {.n = 40, .by = TSR_REDUCE_MIN};
    cl_mem x = buffer_of(s, CL_MEM_READ_WRITE, 160), result = buffer_of(s, CL_MEM_READ_WRITE, 4);
    const variant *simd = NULL;
    variant failing;
    kept_call *kept;
    tsr_report report;
    tsr_error err = {0};
    problem posed;

    assert_int_equal(variant_find(operation_named("reduce"), "simd", &simd, NULL), TSR_OK);
    failing = *simd;
    failing.host = find_no_memory;
    assert_int_equal(entry_problem(operation_named("reduce"), &p, sizeof(p), &posed, &err), TSR_OK);
    assert_int_equal(dispatch_call(s, &posed, NULL, IN_MAPPED, &kept, &err), TSR_OK);
    assert_ptr_equal(kept->selection.variant, simd);
    kept->selection.variant = &failing;
    assert_int_equal(tsr_reduce_enqueue(s, &p, x, result, NULL, NULL, &err), TSR_OK);
    clFinish(tsr_session_queue(s));
    kept->selection.variant = simd;
    assert_int_equal(tsr_reduce_enqueue(s, &p, x, result, NULL, NULL, &err), TSR_ENOMEM);
    assert_non_null(strstr(err.message, "enqueued before this one had no memory for its C code"));
    enqueue_least(s, NULL, x, result, &report);
    clReleaseMemObject(x);
    clReleaseMemObject(result);
    tsr_session_close(s);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_small_calls_on_arrays),
                                       cmocka_unit_test(test_small_calls_on_buffers),
                                       cmocka_unit_test(test_parts_of_a_buffer),
                                       cmocka_unit_test(test_buffers_out_of_reach),
                                       cmocka_unit_test(test_failure_of_an_enqueued_call),
                                       cmocka_unit_test(test_which_devices),
                                       cmocka_unit_test(test_preferences_are_for_cpus)};

    return cmocka_run_group_tests_name("C on CPUs", tests, make_fixture, drop_fixture);
}
