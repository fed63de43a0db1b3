/* Holding a device back: what is timed is the device's work alone, however long the host takes to
 * enqueue it.  Needs an OpenCL device of the type CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/fail.h"
#include "measure/hold.h"
#include "shared_cpu.h"

enum { NAP_NS = 20 * 1000 * 1000, BYTES = 4096 };

/* What the host does while the device is held back. */
typedef struct slow_host {
    cl_command_queue queue;
    cl_mem buffer;
    int turns; /* how often it was asked to enqueue */
    int fail_at;
} slow_host;

static tsr_status nap_and_fill(void *state, tsr_error *err)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    const cl_uchar zero = 0;
    slow_host *h = state;

    h->turns++;
    if (h->turns == h->fail_at)
        return tsr_fail(err, TSR_EUNSUPPORTED, 0, "turn %d fails", h->turns);
    nanosleep(&nap, NULL);
    assert_int_equal(
        clEnqueueFillBuffer(h->queue, h->buffer, &zero, sizeof(zero), 0, BYTES, 0, NULL, NULL),
        CL_SUCCESS);
    return TSR_OK;
}

static tsr_status enqueue_nothing(void *state, tsr_error *err)
{
    (void)state;
    (void)err;
    return TSR_OK;
}

static slow_host host_of(tsr_session *s)
{
    slow_host h = {.queue = tsr_session_queue(s)};

    h.buffer = clCreateBuffer(tsr_session_context(s), CL_MEM_READ_WRITE, BYTES, NULL, NULL);
    assert_non_null(h.buffer);
    return h;
}

static void the_host_is_not_timed(void **state)
{
    slow_host host = host_of(cpu.session);
    tsr_error err = {0};
    double ns = -1;
    hold h;
    cl_uint steps;

    (void)state;
    /* The first launch may wait for the driver's compiler, and hold longer than its steps do. */
    if (hold_open(cpu.session, &h, &err) || hold_time(&h, enqueue_nothing, NULL, &ns, &err))
        fail_msg("%s", err.message);
    steps = h.steps;
    if (hold_time(&h, nap_and_fill, &host, &ns, &err))
        fail_msg("%s", err.message);
    assert_true(ns > 0);
    assert_true(ns < NAP_NS);
    assert_true(host.turns > 1);
    assert_true(h.steps > steps);
    hold_close(&h);
    assert_int_equal(clReleaseMemObject(host.buffer), CL_SUCCESS);
}

static void what_cannot_be_enqueued_is_told(void **state)
{
    slow_host host = host_of(cpu.session);
    tsr_error err = {0};
    double ns = -1;
    hold h;

    (void)state;
    host.fail_at = 1;
    assert_int_equal(hold_open(cpu.session, &h, NULL), TSR_OK);
    assert_int_equal(hold_time(&h, nap_and_fill, &host, &ns, &err), TSR_EUNSUPPORTED);
    assert_string_equal(err.message, "turn 1 fails");
    hold_close(&h);
    assert_int_equal(clReleaseMemObject(host.buffer), CL_SUCCESS);
}

static void a_queue_without_times_is_refused(void **state)
{
    tsr_session *plain;
    hold h;

    (void)state;
    assert_int_equal(tsr_session_open(cpu.device, NULL, &plain, NULL), TSR_OK);
    assert_int_equal(hold_open(plain, &h, NULL), TSR_EINVAL);
    hold_close(NULL);
    tsr_session_close(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_is_not_timed),
        cmocka_unit_test(what_cannot_be_enqueued_is_told),
        cmocka_unit_test(a_queue_without_times_is_refused),
    };

    return cmocka_run_group_tests(tests, open_profiling_cpu, close_cpu);
}
