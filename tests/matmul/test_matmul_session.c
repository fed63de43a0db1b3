/* Public calls of matmul on a device: the caller's queues and events, host memory, and failures
 * that leave things as they were.  Needs an OpenCL device of the type CPU, such as PoCL's. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session_fixture.h"

static const tsr_matmul_problem square = {.m = SIDE, .n = SIDE, .k = SIDE, .alpha = 1};

/* ---- the caller's queue ------------------------------------------------------------------ */

/* (A B) B in two calls of a kernel or of C code, held back by a user event, read back by the
 * caller's own command. */
static void chain_two_products(fixture *f, cl_command_queue_properties properties,
                               const char *variant)
{
    tsr_session *s = adopt(f, properties);
    float a[ELEMENTS], b[ELEMENTS], ab[ELEMENTS], abb[ELEMENTS], got[ELEMENTS];
    cl_event gate = clCreateUserEvent(f->context, NULL), first = NULL, second = NULL;
    tsr_report report = {0};
    tsr_error err = {0};
    cl_mem x, y, z, t;
    cl_int state = CL_COMPLETE;

    fill(a, 1);
    fill(b, 2);
    multiply(a, b, ab);
    multiply(ab, b, abb);
    x = buffer_of(f, a, BYTES);
    y = buffer_of(f, b, BYTES);
    z = buffer_of(f, NULL, BYTES);
    t = buffer_of(f, NULL, BYTES);
    if (tsr_matmul_enqueue(
            s, &square, x, y, z,
            &(tsr_run){.variant = variant, .n_wait = 1, .wait = &gate, .done = &first}, &report,
            &err))
        fail_msg("%s", err.message);
    assert_true(report.variant[0] && report.commands > 0);
    if (tsr_matmul_enqueue(
            s, &square, z, y, t,
            &(tsr_run){.variant = variant, .n_wait = 1, .wait = &first, .done = &second}, &report,
            &err))
        fail_msg("%s", err.message);
    /* Asynchronous: nothing runs before what it waits for. */
    clGetEventInfo(second, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(state), &state, NULL);
    assert_true(state > CL_COMPLETE);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(f->queue, t, CL_TRUE, 0, BYTES, got, 1, &second, NULL),
                     CL_SUCCESS);
    assert_memory_equal(got, abb, BYTES);
    clReleaseEvent(gate);
    clReleaseEvent(first);
    clReleaseEvent(second);
    clReleaseMemObject(x);
    clReleaseMemObject(y);
    clReleaseMemObject(z);
    clReleaseMemObject(t);
    tsr_session_close(s);
}

static void calls_chain_on_an_in_order_queue(void **state)
{
    chain_two_products(*state, 0, "general");
    chain_two_products(*state, 0, "simd");
}

static void calls_chain_on_an_out_of_order_queue(void **state)
{
    chain_two_products(*state, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, "general");
    chain_two_products(*state, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, "simd");
}

/* Two column-major products of one A and two B, side by side in C, in buffers and in host memory:
 * element (i, j) of a matrix is at i + j ld, and between the columns of C stands what was there. */
static void column_major_batches_are_where_they_should_be(void **state)
{
    enum { M = 3, N = 4, K = 5, LDC = 2 * M + 1, C_SIZE = (N - 1) * LDC + 2 * M };
    fixture *f = *state;
    tsr_session *s = adopt(f, 0), *host = NULL;
    const tsr_matmul_problem p = {.m = M,
                                  .n = N,
                                  .k = K,
                                  .trans_a = true,
                                  .alpha = 1,
                                  .layout = TSR_COLUMN_MAJOR,
                                  .ldc = LDC,
                                  .batch = 2,
                                  .stride_b = K * N,
                                  .stride_c = M};
    float a[ELEMENTS], b[ELEMENTS], want[C_SIZE], got[C_SIZE];
    tsr_error err = {0};
    cl_mem x, y, z;

    fill(a, 1);
    fill(b, 2);
    for (size_t i = 0; i < C_SIZE; i++)
        want[i] = -99;
    for (size_t e = 0; e < 2; e++)
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < N; j++) {
                float sum = 0;

                for (size_t q = 0; q < K; q++)
                    sum += a[q + i * K] * b[e * K * N + q + j * K];
                want[e * M + i + j * LDC] = sum;
            }
    for (size_t i = 0; i < C_SIZE; i++)
        got[i] = -99;
    x = buffer_of(f, a, BYTES);
    y = buffer_of(f, b, BYTES);
    z = buffer_of(f, got, sizeof(got));
    if (tsr_matmul_enqueue(s, &p, x, y, z, NULL, NULL, &err))
        fail_msg("%s", err.message);
    clEnqueueReadBuffer(f->queue, z, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL);
    assert_memory_equal(got, want, sizeof(got));
    for (size_t i = 0; i < C_SIZE; i++)
        got[i] = -99;
    assert_int_equal(tsr_session_open(f->host, NULL, &host, &err), TSR_OK);
    if (tsr_matmul(host, &p, a, b, got, NULL, NULL, &err))
        fail_msg("%s", err.message);
    assert_memory_equal(got, want, sizeof(got));
    clReleaseMemObject(x);
    clReleaseMemObject(y);
    clReleaseMemObject(z);
    tsr_session_close(host);
    tsr_session_close(s);
}

/* Nothing to compute is still an event to wait for. */
static void an_empty_product_gives_an_event(void **state)
{
    fixture *f = *state;
    tsr_session *s = adopt(f, 0);
    const tsr_matmul_problem p = {.m = 0, .n = 5, .k = 5, .alpha = 1};
    cl_event done = NULL;
    tsr_error err = {0};

    if (tsr_matmul_enqueue(s, &p, NULL, NULL, NULL, &(tsr_run){.done = &done}, NULL, &err))
        fail_msg("%s", err.message);
    assert_non_null(done);
    assert_int_equal(clWaitForEvents(1, &done), CL_SUCCESS);
    clReleaseEvent(done);
    tsr_session_close(s);
}

/* ---- failures ---------------------------------------------------------------------------- */

static void enqueue_fails(tsr_session *s, const tsr_matmul_problem *p, const cl_mem m[3],
                          const tsr_run *run, tsr_status status, const char *part)
{
    cl_event done = (cl_event)&status, sentinel = done;
    tsr_run with_event = run ? *run : (tsr_run){0};
    tsr_report report;
    tsr_error err = {0};

    memset(&report, 0x5a, sizeof(report));
    with_event.done = &done;
    assert_int_equal(tsr_matmul_enqueue(s, p, m[0], m[1], m[2], &with_event, &report, &err),
                     status);
    if (!strstr(err.message, part))
        fail_msg("'%s' does not say '%s'", err.message, part);
    assert_ptr_equal(done, sentinel);
    for (size_t i = 0; i < sizeof(report); i++)
        assert_int_equal(((unsigned char *)&report)[i], 0x5a);
}

static void failing_calls_leave_things_as_they_were(void **state)
{
    fixture *f = *state;
    tsr_session *s = adopt(f, 0);
    float a[ELEMENTS], got[ELEMENTS];
    const tsr_run unknown = {.variant = "tile"};
    const tsr_run value = {.variant = "tiled", .set = (const char *[]){"TILE=31"}, .set_count = 1};
    const tsr_run block = {.variant = "block"};
    const tsr_run lost = {.set = (const char *[]){"TILE=16"}, .set_count = 1};
    tsr_run narrow = {.variant = "block"};
    tsr_matmul_problem p = square;
    cl_mem x, small, c;

    fill(a, 1);
    x = buffer_of(f, a, BYTES);
    c = buffer_of(f, a, BYTES);
    small = buffer_of(f, NULL, BYTES - 1);
    enqueue_fails(s, &p, (cl_mem[]){x, small, c}, NULL, TSR_EINVAL,
                  "buffer B has 6399 bytes and should have 6400");
    enqueue_fails(s, &p, (cl_mem[]){x, x, small}, NULL, TSR_EINVAL, "buffer C has 6399 bytes");
    enqueue_fails(s, &p, (cl_mem[]){NULL, x, c}, NULL, TSR_EINVAL, "buffer A is NULL");
    enqueue_fails(s, &p, (cl_mem[]){x, c, c}, NULL, TSR_EINVAL, "B and C overlap in one buffer");
    enqueue_fails(s, &p, (cl_mem[]){x, x, c}, &unknown, TSR_ENAME, "did you mean 'tiled'?");
    enqueue_fails(s, &p, (cl_mem[]){x, x, c}, &value, TSR_ENAME, "TILE cannot be '31'");
    enqueue_fails(s, &p, (cl_mem[]){x, x, c}, &lost, TSR_ENAME, "needs the kernel to be named");
    enqueue_fails(s, &p, (cl_mem[]){x, x, c}, &(tsr_run){.variant = "tiled", .set_count = 2},
                  TSR_EINVAL, "set is NULL and should hold 2 settings");
    enqueue_fails(s, &p, (cl_mem[]){x, x, c}, &(tsr_run){.n_wait = 3}, TSR_EINVAL,
                  "wait is NULL and should hold 3 events");
    narrow.strict_tiles = buffer_of(f, NULL, 3);
    enqueue_fails(s, &p, (cl_mem[]){x, x, c}, &narrow, TSR_EINVAL,
                  "buffer strict_tiles has 3 bytes and should have 4");
    clReleaseMemObject(narrow.strict_tiles);
    p.precision = TSR_PRECISION_F16;
    enqueue_fails(s, &p, (cl_mem[]){x, x, c}, &block, TSR_EUNSUPPORTED, "f16");
    p = square;
    p.batch = 2; /* of one A and one B */
    p.stride_c = SIDE * SIDE;
    enqueue_fails(s, &p, (cl_mem[]){x, x, c}, NULL, TSR_EINVAL,
                  "buffer C has 6400 bytes and should have 12800");
    p.stride_c = 1;
    enqueue_fails(s, &p, (cl_mem[]){x, x, c}, NULL, TSR_EINVAL, "matrices of C overlap");
    p = square;
    p.layout = TSR_COLUMN_MAJOR; /* messages name what the caller named */
    enqueue_fails(s, &p, (cl_mem[]){x, small, c}, NULL, TSR_EINVAL,
                  "buffer B has 6399 bytes and should have 6400");
    p = square;
    p.ldc = 3;
    enqueue_fails(s, &p, (cl_mem[]){x, x, c}, NULL, TSR_EINVAL, "leading dimension of C");
    /* C has kept its bytes. */
    clEnqueueReadBuffer(f->queue, c, CL_TRUE, 0, BYTES, got, 0, NULL, NULL);
    assert_memory_equal(got, a, BYTES);
    clReleaseMemObject(x);
    clReleaseMemObject(c);
    clReleaseMemObject(small);
    tsr_session_close(s);
}

static void the_host_has_no_queue(void **state)
{
    const fixture *f = *state;
    tsr_session *s = NULL;
    tsr_error err = {0};

    assert_int_equal(tsr_session_open(f->host, NULL, &s, &err), TSR_OK);
    assert_null(tsr_session_queue(s));
    assert_null(tsr_session_context(s));
    enqueue_fails(s, &square, (cl_mem[]){NULL, NULL, NULL}, NULL, TSR_EUNSUPPORTED, "no queue");
    tsr_session_close(s);
}

/* ---- host memory ------------------------------------------------------------------------- */

static void products_of_host_arrays_are_right(void **state)
{
    const fixture *f = *state;
    const tsr_device *const devices[] = {f->device, f->host};
    float a[ELEMENTS], b[ELEMENTS], c[ELEMENTS], expected[ELEMENTS];

    fill(a, 4);
    fill(b, 5);
    multiply(a, b, expected);
    for (size_t i = 0; i < 2; i++) {
        const tsr_session_options options = {.profile = 1, .copies = i == 0};
        tsr_session *s = NULL;
        tsr_report report = {0};
        tsr_error err = {0};

        assert_int_equal(tsr_session_open(devices[i], &options, &s, &err), TSR_OK);
        memset(c, 0xff, sizeof(c)); /* NaN, which beta == 0 does not read */
        if (tsr_matmul(s, &square, a, b, c, NULL, &report, &err))
            fail_msg("%s", err.message);
        assert_memory_equal(c, expected, BYTES);
        assert_true(report.variant[0] && report.chosen[0]);
        assert_true(report.device_ns > 0 && report.wall_ns >= report.device_ns);
        assert_int_equal(report.shared, i);
        assert_int_equal(report.to_device_bytes, i ? 0 : 2 * BYTES);
        assert_int_equal(report.from_device_bytes, i ? 0 : BYTES);
        tsr_session_close(s);
    }
}

/* Arrays of the caller's begin where he likes: no kernel takes them for aligned vectors. */
static void arrays_are_worked_on_where_they_are(void **state)
{
    static const char *const names[] = {"naive",     "tiled",      "vector",   "pipelined",
                                        "cpu-block", "cpu-panels", "cpu-split"};
    const fixture *f = *state;
    float a[ELEMENTS + 1], b[ELEMENTS + 1], c[ELEMENTS + 2], expected[ELEMENTS];
    tsr_session *s = NULL;
    tsr_error err = {0};

    fill(a + 1, 4);
    fill(b + 1, 5);
    multiply(a + 1, b + 1, expected);
    assert_int_equal(tsr_session_open(f->device, NULL, &s, &err), TSR_OK);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const tsr_run run = {.variant = names[i]};
        tsr_report report = {0};

        memset(c, 0xff, sizeof(c));
        if (tsr_matmul(s, &square, a + 1, b + 1, c + 1, &run, &report, &err))
            fail_msg("%s", err.message);
        assert_memory_equal(c + 1, expected, BYTES);
        assert_true(isnan(c[0]) && isnan(c[ELEMENTS + 1])); /* nothing is written beside them */
        assert_true(report.shared);
        assert_int_equal(report.to_device_bytes + report.from_device_bytes, 0);
    }
    tsr_session_close(s);
}

/* Whole numbers, so that sums are exact in any order: C is what it is at once, gaps included. */
static void streamed_as_at_once(const fixture *f, const tsr_matmul_problem *p, size_t memory)
{
    tsr_session_options options = {.copies = 1};
    float a[ELEMENTS], b[ELEMENTS], c[ELEMENTS], expected[ELEMENTS];
    tsr_session *s = NULL;
    tsr_report whole = {0}, streamed = {0};
    tsr_error err = {0};

    fill(a, 4);
    fill(b, 5);
    fill(c, 6);
    for (size_t i = 0; p->beta == 0 && i < ELEMENTS; i++)
        c[i] = NAN;
    memcpy(expected, c, sizeof(c));
    assert_int_equal(tsr_session_open(f->device, &options, &s, &err), TSR_OK);
    assert_int_equal(tsr_matmul(s, p, a, b, expected, NULL, &whole, &err), TSR_OK);
    assert_int_equal(whole.chunks, 0);
    tsr_session_close(s);
    options.device_memory = memory;
    assert_int_equal(tsr_session_open(f->device, &options, &s, &err), TSR_OK);
    if (tsr_matmul(s, p, a, b, c, NULL, &streamed, &err))
        fail_msg("%s", err.message);
    assert_memory_equal(c, expected, sizeof(c));
    assert_true(streamed.chunks > 1 && streamed.commands >= streamed.chunks);
    assert_int_equal(streamed.from_device_bytes, p->m * p->n * sizeof(float));
    tsr_session_close(s);
}

static void a_product_is_streamed_in_tiles(void **state)
{
    enum { LD = 33 };
    static const size_t memory[] = {280, 900, 3000, 6000};

    for (int form = 0; form < 16; form++)
        streamed_as_at_once(
            *state,
            &(tsr_matmul_problem){.m = 23,
                                  .n = 31,
                                  .k = 17,
                                  .trans_a = form & 1,
                                  .trans_b = (form & 2) != 0,
                                  .layout = form & 4 ? TSR_COLUMN_MAJOR : TSR_ROW_MAJOR,
                                  .alpha = 2,
                                  .beta = form & 8 ? 0 : -1,
                                  .lda = LD,
                                  .ldb = LD,
                                  .ldc = LD,
                                  .offset_a = 2,
                                  .offset_b = 1,
                                  .offset_c = 3},
            memory[form % 4 ^ form / 4]);
}

/* Too little memory for a tile of one element is refused before C is touched. */
static void a_product_that_no_tile_fits(void **state)
{
    const fixture *f = *state;
    const tsr_session_options options = {.copies = 1, .device_memory = 4 * 4 * SIDE + 8 - 1};
    float a[ELEMENTS], c[ELEMENTS], before[ELEMENTS];
    tsr_session *s = NULL;
    tsr_error err = {0};

    fill(a, 1);
    fill(c, 2);
    memcpy(before, c, sizeof(c));
    assert_int_equal(tsr_session_open(f->device, &options, &s, &err), TSR_OK);
    assert_int_equal(tsr_matmul(s, &square, a, a, c, NULL, NULL, &err), TSR_EOVERFLOW);
    assert_non_null(strstr(err.message, "3 rows of op(A) and a column of op(B) need 648 bytes at "
                                        "once, and 647 are allowed"));
    assert_memory_equal(c, before, sizeof(c));
    tsr_session_close(s);
}

/* OpenCL has no two buffers on the same memory: one serves both. */
static void one_array_may_be_both_factors(void **state)
{
    const fixture *f = *state;
    float a[ELEMENTS], c[ELEMENTS], expected[ELEMENTS];
    tsr_session *s = NULL;
    tsr_report report = {0};
    tsr_error err = {0};

    fill(a, 4);
    multiply(a, a, expected);
    assert_int_equal(tsr_session_open(f->device, NULL, &s, &err), TSR_OK);
    if (tsr_matmul(s, &square, a, a, c, NULL, &report, &err))
        fail_msg("%s", err.message);
    assert_memory_equal(c, expected, BYTES);
    assert_true(report.shared);
    assert_int_equal(report.to_device_bytes, 0);
    tsr_session_close(s);
}

static void null_arrays_are_refused(void **state)
{
    const fixture *f = *state;
    tsr_session *s = NULL;
    tsr_error err = {0};
    float c[ELEMENTS];

    assert_int_equal(tsr_session_open(f->device, NULL, &s, &err), TSR_OK);
    memset(c, 0x5a, sizeof(c));
    assert_int_equal(tsr_matmul(s, &square, NULL, c, c, NULL, NULL, &err), TSR_EINVAL);
    assert_non_null(strstr(err.message, "A is NULL and should hold 6400 bytes"));
    for (size_t i = 0; i < BYTES; i++)
        assert_int_equal(((unsigned char *)c)[i], 0x5a);
    tsr_session_close(s);
}

/* ---- builds ------------------------------------------------------------------------------ */

static void a_broken_kernel_gives_its_log(void **state)
{
    const fixture *f = *state;
    char folder[] = "/tmp/tessera-session-XXXXXX", inner[48], path[80];
    const tsr_run run = {.variant = "naive"};
    tsr_session_options options = {0};
    tsr_session *s = NULL;
    tsr_error err = {0};
    float a[ELEMENTS], c[ELEMENTS];
    FILE *file;

    assert_non_null(mkdtemp(folder));
    snprintf(inner, sizeof(inner), "%s/matmul", folder);
    assert_int_equal(mkdir(inner, 0700), 0);
    snprintf(path, sizeof(path), "%s/matmul_naive.cl", inner);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("kernel void matmul_naive(global float *a)\n{\n    a[0] = undeclared_name;\n}\n", file);
    fclose(file);
    options.kernel_dir = folder;
    assert_int_equal(tsr_session_open(f->device, &options, &s, &err), TSR_OK);
    assert_string_equal(tsr_session_build_log(s), "");
    fill(a, 1);
    memset(c, 0x5a, sizeof(c));
    assert_int_equal(tsr_matmul(s, &square, a, a, c, &run, NULL, &err), TSR_EBUILD);
    assert_non_null(strstr(tsr_session_build_log(s), "undeclared_name"));
    assert_non_null(strstr(tsr_session_build_log(s), "matmul/matmul_naive.cl")); /* where to look */
    assert_non_null(strstr(err.message, "undeclared_name"));
    for (size_t i = 0; i < BYTES; i++)
        assert_int_equal(((unsigned char *)c)[i], 0x5a);
    tsr_session_close(s);
    remove(path);
    rmdir(inner);
    rmdir(folder);
}

static void a_program_is_built_once_a_session(void **state)
{
    const fixture *f = *state;
    const tsr_session_options options = {.no_cache = 1};
    const tsr_run run = {.variant = "general"};
    tsr_session *s = NULL;
    tsr_report first = {0}, second = {0};
    tsr_error err = {0};
    float a[ELEMENTS], c[ELEMENTS];

    fill(a, 1);
    assert_int_equal(tsr_session_open(f->device, &options, &s, &err), TSR_OK);
    assert_int_equal(tsr_matmul(s, &square, a, a, c, &run, &first, &err), TSR_OK);
    assert_int_equal(tsr_matmul(s, &square, a, a, c, &run, &second, &err), TSR_OK);
    assert_int_equal(first.build, TSR_BUILD_COMPILED);
    assert_true(first.build_ns > 0);
    assert_int_equal(second.build, TSR_BUILD_NONE);
    assert_int_equal(second.build_ns, 0);
    tsr_session_close(s);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_fixture, drop_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(calls_chain_on_an_in_order_queue),
        TEST(calls_chain_on_an_out_of_order_queue),
        TEST(column_major_batches_are_where_they_should_be),
        TEST(an_empty_product_gives_an_event),
        TEST(failing_calls_leave_things_as_they_were),
        TEST(the_host_has_no_queue),
        TEST(products_of_host_arrays_are_right),
        TEST(arrays_are_worked_on_where_they_are),
        TEST(a_product_is_streamed_in_tiles),
        TEST(a_product_that_no_tile_fits),
        TEST(one_array_may_be_both_factors),
        TEST(null_arrays_are_refused),
        TEST(a_broken_kernel_gives_its_log),
        TEST(a_program_is_built_once_a_session),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
