/* Buffers, events and arrays that enqueued calls and calls on host memory take or refuse.
 * Needs an OpenCL device of the type CPU, such as PoCL's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "cpu_session.h"

enum { SIDE = 32, ELEMENTS = SIDE * SIDE, BYTES = ELEMENTS * sizeof(float) };

static const tsr_matmul_problem square = {.m = SIDE, .n = SIDE, .k = SIDE, .alpha = 1};

static float elements[ELEMENTS];

static int open_session(void **state)
{
    static cpu_session c;

    c = (cpu_session){0};
    cpu_session_open(&c, NULL);
    for (size_t i = 0; i < ELEMENTS; i++)
        elements[i] = (float)(i * 7 % 11) - 5;
    *state = &c;
    return 0;
}

static int close_session(void **state)
{
    cpu_session_close(*state);
    return 0;
}

static cl_mem buffer_of(const tsr_session *s, cl_mem_flags access, size_t copies)
{
    const cl_mem_flags content = copies == 1 ? CL_MEM_COPY_HOST_PTR : 0;
    cl_mem m = clCreateBuffer(tsr_session_context(s), access | content, copies * BYTES,
                              content ? elements : NULL, NULL);

    assert_non_null(m);
    return m;
}

static cl_mem part_of(cl_mem whole, size_t origin)
{
    const cl_buffer_region region = {origin, BYTES};
    cl_mem m = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, NULL);

    assert_non_null(m);
    return m;
}

static void refused(tsr_session *s, const cl_mem m[3], const tsr_run *run, const char *message)
{
    tsr_error err = {0};

    assert_int_equal(tsr_matmul_enqueue(s, &square, m[0], m[1], m[2], run, NULL, &err), TSR_EINVAL);
    assert_string_equal(err.message, message);
}

static void taken(tsr_session *s, const tsr_matmul_problem *p, const cl_mem m[3])
{
    tsr_error err = {0};

    if (tsr_matmul_enqueue(s, p, m[0], m[1], m[2], NULL, NULL, &err))
        fail_msg("%s", err.message);
    assert_int_equal(clFinish(tsr_session_queue(s)), CL_SUCCESS);
}

/* Parts of one buffer that have bytes in common are one memory, whatever they are called. */
static void parts_of_one_buffer(void **state)
{
    const cpu_session *c = *state;
    tsr_session *s = c->session;
    cl_mem whole = buffer_of(s, CL_MEM_READ_WRITE, 3), b = buffer_of(s, CL_MEM_READ_WRITE, 1);
    cl_mem first = part_of(whole, 0), next = part_of(whole, BYTES),
           between = part_of(whole, BYTES / 2);

    refused(s, (cl_mem[]){first, b, between}, NULL,
            "matmul: A and C overlap in one buffer: they are within its bytes 0 to 4095 and 2048 "
            "to 6143");
    refused(s, (cl_mem[]){b, next, between}, NULL,
            "matmul: B and C overlap in one buffer: they are within its bytes 4096 to 8191 and "
            "2048 to 6143");
    refused(s, (cl_mem[]){whole, b, first}, NULL,
            "matmul: A and C overlap in one buffer: they are within its bytes 0 to 4095 and 0 to "
            "4095");
    refused(s, (cl_mem[]){b, b, first}, &(tsr_run){.strict_tiles = whole},
            "matmul: C and strict_tiles overlap in one buffer: they are within its bytes 0 to 4095 "
            "and 0 to 3");
    taken(s, &square, (cl_mem[]){first, between, b});
    taken(s, &square, (cl_mem[]){whole, b, next});
    clReleaseMemObject(first);
    clReleaseMemObject(next);
    clReleaseMemObject(between);
    clReleaseMemObject(whole);
    clReleaseMemObject(b);
}

static void buffers_for_one_direction(void **state)
{
    const cpu_session *c = *state;
    tsr_session *s = c->session;
    cl_mem both = buffer_of(s, CL_MEM_READ_WRITE, 1), in = buffer_of(s, CL_MEM_READ_ONLY, 1),
           out = buffer_of(s, CL_MEM_WRITE_ONLY, 2), index = buffer_of(s, CL_MEM_WRITE_ONLY, 2);
    tsr_matmul_problem added = square;
    tsr_error err = {0};

    refused(s, (cl_mem[]){both, in, in}, NULL,
            "matmul: buffer C is CL_MEM_READ_ONLY and is written");
    refused(s, (cl_mem[]){out, in, both}, NULL,
            "matmul: buffer A is CL_MEM_WRITE_ONLY and is read");
    taken(s, &square, (cl_mem[]){in, in, out});
    added.beta = 1;
    assert_int_equal(tsr_matmul_enqueue(s, &added, in, in, out, NULL, NULL, &err), TSR_EINVAL);
    assert_string_equal(err.message, "matmul: buffer C is CL_MEM_WRITE_ONLY and is read");
    /* A sort reads what it wrote of the index. */
    assert_int_equal(tsr_sort_enqueue(s, &(tsr_sort_problem){.n = ELEMENTS, .argsort = true},
                                      &(tsr_sort_buffers){.keys = both, .index = index}, NULL, NULL,
                                      &err),
                     TSR_EINVAL);
    assert_string_equal(err.message, "sort: buffer index is CL_MEM_WRITE_ONLY and is read");
    clReleaseMemObject(both);
    clReleaseMemObject(in);
    clReleaseMemObject(out);
    clReleaseMemObject(index);
}

static void another_context(void **state)
{
    const cpu_session *c = *state;
    tsr_session *s = c->session, *other = NULL;
    tsr_error err = {0};
    cl_mem own, foreign;
    cl_event events[2];

    assert_int_equal(tsr_session_open(c->device, NULL, &other, &err), TSR_OK);
    own = buffer_of(s, CL_MEM_READ_WRITE, 1);
    foreign = buffer_of(other, CL_MEM_READ_WRITE, 1);
    events[0] = clCreateUserEvent(tsr_session_context(s), NULL);
    events[1] = clCreateUserEvent(tsr_session_context(other), NULL);
    refused(s, (cl_mem[]){own, own, foreign}, NULL,
            "matmul: buffer C is of another context than the session");
    refused(s, (cl_mem[]){foreign, own, own}, NULL,
            "matmul: buffer A is of another context than the session");
    refused(s, (cl_mem[]){own, own, own}, &(tsr_run){.n_wait = 2, .wait = events},
            "matmul: wait[1] is an event of another context than the session");
    clReleaseEvent(events[1]);
    events[1] = NULL;
    refused(s, (cl_mem[]){own, own, own}, &(tsr_run){.n_wait = 2, .wait = events},
            "matmul: wait[1] is NULL");
    clReleaseEvent(events[0]);
    clReleaseMemObject(own);
    clReleaseMemObject(foreign);
    tsr_session_close(other);
}

/* At an odd address, on the CPU's device and on the host: a C with gaps, which keep their bytes. */
static void arrays_at_any_address(void **state)
{
    enum { LD = SIDE + 3, C_BYTES = SIDE * LD * sizeof(float) };
    const cpu_session *c = *state;
    tsr_session *host = NULL;
    const tsr_device *device = NULL;
    tsr_matmul_problem p = square;
    static char a[BYTES + 1], b[BYTES + 3], got[C_BYTES + 5], wanted[C_BYTES];
    tsr_error err = {0};
    size_t n;

    p.ldc = LD;
    p.beta = 2;
    memcpy(a + 1, elements, BYTES);
    memcpy(b + 3, elements, BYTES);
    assert_int_equal(tsr_devices_select(c->list, "host", &device, 1, &n, &err), TSR_OK);
    assert_int_equal(tsr_session_open(device, NULL, &host, &err), TSR_OK);
    for (size_t i = 0; i < 2; i++) {
        tsr_session *s = i ? host : c->session;
        float *aligned = (void *)wanted;
        tsr_report report = {0};

        memset(wanted, 0, sizeof wanted);
        memset(got, 0, sizeof got);
        for (size_t k = 0; k < SIDE * LD; k++) {
            const float value = (float)(k % 13);

            aligned[k] = value;
            memcpy(got + 5 + k * sizeof value, &value, sizeof value);
        }
        if (tsr_matmul(s, &p, elements, elements, wanted, NULL, &report, &err) || !report.shared)
            fail_msg("%s", err.message);
        if (tsr_matmul(s, &p, a + 1, b + 3, got + 5, NULL, &report, &err))
            fail_msg("%s", err.message);
        assert_false(report.shared);
        assert_memory_equal(got + 5, wanted, C_BYTES);
    }
    tsr_session_close(host);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_session, close_session)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(parts_of_one_buffer),
        TEST(buffers_for_one_direction),
        TEST(another_context),
        TEST(arrays_at_any_address),
    };

    return cmocka_run_group_tests_name("matmul_buffers", tests, NULL, NULL);
}
