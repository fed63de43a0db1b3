/* Public calls of sort on a device: the caller's queues and events, host memory, and failures that
 * leave things as they were.  Needs an OpenCL device of the type CPU, such as PoCL's. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "session_fixture.h"

/* A sort is many commands: on an out-of-order queue each waits for the one before. */
static void many_commands_keep_their_order(void **state)
{
    fixture *f = *state;
    tsr_session *s = adopt(f, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    enum { N = 5000 };
    const tsr_sort_problem p = {.type = TSR_U32, .n = N, .argsort = true};
    cl_event done = NULL;
    const tsr_run run = {.variant = "general", .done = &done};
    static uint32_t keys[N], got[N];
    static int64_t index[N];
    tsr_report report = {0};
    tsr_error err = {0};
    cl_mem k, i;

    for (uint32_t n = 0; n < N; n++)
        keys[n] = n * 2654435761u >> 8;
    k = buffer_of(f, keys, sizeof(keys));
    i = buffer_of(f, NULL, sizeof(index));
    if (tsr_sort_enqueue(s, &p, &(tsr_sort_buffers){.keys = k, .index = i}, &run, &report, &err))
        fail_msg("%s", err.message);
    assert_string_equal(report.variant, "general");
    assert_true(report.commands > 50);
    assert_int_equal(clWaitForEvents(1, &done), CL_SUCCESS);
    clEnqueueReadBuffer(f->queue, k, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL);
    clEnqueueReadBuffer(f->queue, i, CL_TRUE, 0, sizeof(index), index, 0, NULL, NULL);
    for (size_t n = 0; n < N; n++) {
        assert_true(n == 0 || got[n - 1] <= got[n]);
        assert_in_range(index[n], 0, N - 1);
        assert_int_equal(keys[index[n]], got[n]);
    }
    clReleaseEvent(done);
    clReleaseMemObject(k);
    clReleaseMemObject(i);
    tsr_session_close(s);
}

/* Two chunks of a sort run in two queues, neither before what the caller has the call wait
 * for: the keys come last. */
static void both_queues_wait_for_the_caller(void **state)
{
    fixture *f = *state;
    enum { N = 1 << 21 };
    tsr_session *s = adopt(f, 0);
    cl_command_queue other = clCreateCommandQueue(f->context, f->device->id, 0, NULL);
    const char *const set[] = {"CHUNK=20", "QUEUES=2"};
    cl_event gate = clCreateUserEvent(f->context, NULL), done = NULL;
    const tsr_run run = {.variant = "fused-passes",
                         .set = set,
                         .set_count = 2,
                         .n_wait = 1,
                         .wait = &gate,
                         .done = &done};
    const tsr_sort_problem p = {.type = TSR_U32, .n = N};
    const struct timespec pause = {.tv_nsec = 200000000};
    uint32_t *keys = malloc(N * sizeof(*keys));
    tsr_error err = {0};
    cl_mem k;

    assert_non_null(keys);
    for (uint32_t n = 0; n < N; n++)
        keys[n] = 0;
    k = buffer_of(f, keys, N * sizeof(*keys));
    if (tsr_sort_enqueue(s, &p, &(tsr_sort_buffers){.keys = k}, &run, NULL, &err))
        fail_msg("%s", err.message);
    clFlush(f->queue);
    nanosleep(&pause, NULL);
    for (uint32_t n = 0; n < N; n++)
        keys[n] = n * 2654435761u;
    assert_int_equal(
        clEnqueueWriteBuffer(other, k, CL_TRUE, 0, N * sizeof(*keys), keys, 0, NULL, NULL),
        CL_SUCCESS);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(
        clEnqueueReadBuffer(f->queue, k, CL_TRUE, 0, N * sizeof(*keys), keys, 1, &done, NULL),
        CL_SUCCESS);
    for (size_t n = 1; n < N; n++)
        assert_true(keys[n - 1] < keys[n]); /* the multiplier is odd: no two are equal */
    clReleaseEvent(gate);
    clReleaseEvent(done);
    clReleaseMemObject(k);
    clReleaseCommandQueue(other);
    free(keys);
    tsr_session_close(s);
}

/* Who passes an array that the problem does not ask for has forgotten to ask. */
static void arrays_not_asked_for_are_refused(void **state)
{
    fixture *f = *state;
    const tsr_device *const devices[] = {f->device, f->host};
    const tsr_sort_problem p = {.type = TSR_U32, .n = 2};

    for (size_t i = 0; i < 2; i++) {
        uint32_t keys[] = {9, 8}, values[] = {1, 2};
        int64_t index[2] = {5, 5};
        tsr_session *s = NULL;
        tsr_error err = {0};

        assert_int_equal(tsr_session_open(devices[i], NULL, &s, &err), TSR_OK);
        assert_int_equal(
            tsr_sort(s, &p, &(tsr_sort_arrays){.keys = keys, .index = index}, NULL, NULL, &err),
            TSR_EINVAL);
        assert_string_equal(err.message, "sort: an index is passed, but argsort is false");
        assert_int_equal(
            tsr_sort(s, &p, &(tsr_sort_arrays){.keys = keys, .values = values}, NULL, NULL, &err),
            TSR_EINVAL);
        assert_string_equal(err.message, "sort: values are passed, but value_bytes is 0");
        assert_true(keys[0] == 9 && keys[1] == 8);
        tsr_session_close(s);
    }
}

/* A call on host memory is done when it returns: it has no event to give. */
static void events_are_of_enqueued_calls(void **state)
{
    fixture *f = *state;
    const tsr_sort_problem p = {.type = TSR_U32, .n = 2};
    uint32_t keys[] = {9, 8};
    const tsr_sort_arrays arrays = {.keys = keys};
    cl_event event = clCreateUserEvent(f->context, NULL), done = NULL;
    const tsr_run runs[] = {{.n_wait = 1, .wait = &event}, {.done = &done}};
    tsr_session *s = adopt(f, 0);

    for (size_t i = 0; i < 2; i++) {
        tsr_error err = {0};

        assert_int_equal(tsr_sort(s, &p, &arrays, &runs[i], NULL, &err), TSR_EINVAL);
        assert_non_null(strstr(err.message, "wait and done are for enqueued calls"));
        assert_true(keys[0] == 9 && !done);
    }
    clReleaseEvent(event);
    tsr_session_close(s);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_fixture, drop_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(many_commands_keep_their_order),
        TEST(both_queues_wait_for_the_caller),
        TEST(arrays_not_asked_for_are_refused),
        TEST(events_are_of_enqueued_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
