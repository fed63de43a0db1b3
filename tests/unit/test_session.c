/* The public calls on a device: queues of the caller's, events, failures that leave things as they
 * were.  Needs an OpenCL device of the type CPU, such as PoCL's. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/real.h"
#include "device/device.h"
#include "session/state.h"
#include "tessera/tessera.h"

enum { SIDE = 40, ELEMENTS = SIDE * SIDE, BYTES = ELEMENTS * sizeof(float) };

/* A context and queue as a caller has them. */
typedef struct fixture {
    tsr_devices *list;
    const tsr_device *device, *host;
    cl_context context;
    cl_command_queue queue;
} fixture;

static int make_fixture(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    tsr_error err = {0};
    size_t n = 0;

    assert_non_null(f);
    *state = f;
    assert_int_equal(tsr_devices_find(&f->list, &err), TSR_OK);
    if (tsr_devices_select(f->list, "cpu", &f->device, 1, &n, &err))
        fail_msg("%s", err.message);
    assert_int_equal(tsr_devices_select(f->list, "host", &f->host, 1, &n, &err), TSR_OK);
    f->context = clCreateContext(NULL, 1, &f->device->id, NULL, NULL, NULL);
    assert_non_null(f->context);
    return 0;
}

static void make_queue(fixture *f, cl_command_queue_properties properties)
{
    f->queue = clCreateCommandQueue(f->context, f->device->id, properties, NULL);
    assert_non_null(f->queue);
}

static cl_uint references(cl_command_queue queue)
{
    cl_uint n = 0;

    clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof(n), &n, NULL);
    return n;
}

static int drop_fixture(void **state)
{
    fixture *f = *state;

    if (f->queue) {
        const struct timespec pause = {.tv_nsec = 1000000};

        /* Only the caller's own reference is left: sessions gave theirs back.  PoCL's threads hold
         * a queue a little longer than the events of its commands say. */
        for (int i = 0; i < 2000 && references(f->queue) != 1; i++)
            nanosleep(&pause, NULL);
        assert_int_equal(references(f->queue), 1);
        clReleaseCommandQueue(f->queue);
    }
    clReleaseContext(f->context);
    tsr_devices_close(f->list);
    free(f);
    return 0;
}

static tsr_session *adopt(fixture *f, cl_command_queue_properties properties)
{
    tsr_session *s = NULL;
    tsr_error err = {0};

    make_queue(f, properties);
    if (tsr_session_adopt(f->queue, NULL, &s, &err))
        fail_msg("%s", err.message);
    assert_ptr_equal(tsr_session_queue(s), f->queue);
    assert_ptr_equal(tsr_session_context(s), f->context);
    return s;
}

static cl_mem buffer_of(const fixture *f, const void *from, size_t bytes)
{
    cl_mem m = clCreateBuffer(f->context, CL_MEM_READ_WRITE | (from ? CL_MEM_COPY_HOST_PTR : 0),
                              bytes, (void *)(uintptr_t)from, NULL);

    assert_non_null(m);
    return m;
}

/* Small integers, so that products of three matrices are exact in any order. */
static void fill(float *a, unsigned seed)
{
    for (size_t i = 0; i < ELEMENTS; i++)
        a[i] = (float)((i * 7 + seed * 13 + i / SIDE) % 5) - 2;
}

static void multiply(const float *a, const float *b, float *c)
{
    for (size_t i = 0; i < SIDE; i++)
        for (size_t j = 0; j < SIDE; j++) {
            float sum = 0;

            for (size_t k = 0; k < SIDE; k++)
                sum += a[i * SIDE + k] * b[k * SIDE + j];
            c[i * SIDE + j] = sum;
        }
}

static const tsr_matmul_problem square = {.m = SIDE, .n = SIDE, .k = SIDE, .alpha = 1};

/* ---- the caller's queue ------------------------------------------------------------------ */

/* (A B) B in two calls, held back by a user event, read back by the caller's own command. */
static void chain_two_products(fixture *f, cl_command_queue_properties properties)
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
    if (tsr_matmul_enqueue(s, &square, x, y, z,
                           &(tsr_run){.n_wait = 1, .wait = &gate, .done = &first}, &report, &err))
        fail_msg("%s", err.message);
    assert_true(report.variant[0] && report.commands > 0);
    if (tsr_matmul_enqueue(s, &square, z, y, t,
                           &(tsr_run){.n_wait = 1, .wait = &first, .done = &second}, &report, &err))
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
    chain_two_products(*state, 0);
}

static void calls_chain_on_an_out_of_order_queue(void **state)
{
    chain_two_products(*state, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

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

/* Segments in buffers, of which the call knows no length, and some are longer than a tile; and
 * offsets that are none, which reach nothing outside of the keys, the index and the values. */
static void segments_stay_in_their_buffers(void **state)
{
    fixture *f = *state;
    enum { N = 20000, AROUND = 64, ALL = N + 2 * AROUND, SEGMENTS = 7 };
    tsr_session *s = adopt(f, 0);
    const uint64_t offsets[] = {0, 0, 1, 40, 3000, 15000, 15000, N};
    const uint64_t broken[] = {9, UINT64_MAX, 12, 2000000, 5, 19000, 0, 3};
    const char *const set[] = {"TILE=1024"};
    cl_event done = NULL;
    const tsr_run run = {.variant = "segments", .set = set, .set_count = 1, .done = &done};
    const tsr_segsort_problem p = {{.type = TSR_U32,
                                    .n = N,
                                    .argsort = true,
                                    .value_bytes = 4,
                                    .offset_keys = AROUND,
                                    .offset_index = AROUND,
                                    .offset_values = AROUND},
                                   .segments = SEGMENTS};
    static uint32_t keys[ALL], got[ALL], values[ALL];
    static int64_t index[ALL];
    tsr_error err = {0};

    for (uint32_t n = 0; n < ALL; n++)
        keys[n] = n * 2654435761u >> 8;
    for (int turn = 0; turn < 2; turn++) {
        cl_mem k = buffer_of(f, keys, sizeof(keys)), v = buffer_of(f, keys, sizeof(keys));
        cl_mem i, o = buffer_of(f, turn ? broken : offsets, sizeof(offsets));

        memset(index, 0x5A, sizeof(index));
        i = buffer_of(f, index, sizeof(index));
        if (tsr_segsort_enqueue(s, &p, &(tsr_segsort_buffers){k, i, v, o}, &run, NULL, &err))
            fail_msg("%s", err.message);
        assert_int_equal(clWaitForEvents(1, &done), CL_SUCCESS);
        clEnqueueReadBuffer(f->queue, k, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL);
        clEnqueueReadBuffer(f->queue, i, CL_TRUE, 0, sizeof(index), index, 0, NULL, NULL);
        clEnqueueReadBuffer(f->queue, v, CL_TRUE, 0, sizeof(values), values, 0, NULL, NULL);
        for (size_t n = 0; n < AROUND; n++)
            for (size_t at = n; at < ALL; at += N + AROUND) {
                assert_int_equal(got[at], keys[at]);
                assert_int_equal(values[at], keys[at]);
                assert_int_equal(index[at], 0x5A5A5A5A5A5A5A5A);
            }
        for (size_t part = 0; part < SEGMENTS && turn == 0; part++)
            for (size_t n = AROUND + offsets[part]; n < AROUND + offsets[part + 1]; n++) {
                assert_true(n == AROUND + offsets[part] || got[n - 1] <= got[n]);
                assert_in_range(index[n], 0, offsets[part + 1] - offsets[part] - 1);
                assert_int_equal(keys[AROUND + offsets[part] + (size_t)index[n]], got[n]);
                assert_int_equal(values[n], got[n]);
            }
        clReleaseEvent(done);
        clReleaseMemObject(k);
        clReleaseMemObject(i);
        clReleaseMemObject(v);
        clReleaseMemObject(o);
    }
    tsr_session_close(s);
}

/* Offsets in host memory are looked at before anything is sorted. */
static void broken_segments_are_refused(void **state)
{
    fixture *f = *state;
    const tsr_device *const devices[] = {f->device, f->host};
    const tsr_segsort_problem p = {{.type = TSR_U32, .n = 4}, .segments = 2};
    const uint64_t right[] = {0, 3, 4}, broken[] = {0, 5, 4};

    for (size_t i = 0; i < 2; i++) {
        uint32_t keys[] = {9, 8, 7, 6};
        tsr_session *s = NULL;
        tsr_error err = {0};

        assert_int_equal(tsr_session_open(devices[i], NULL, &s, &err), TSR_OK);
        assert_int_equal(tsr_segsort(s, &p,
                                     &(tsr_segsort_arrays){.keys = keys, .segment_offsets = broken},
                                     NULL, NULL, &err),
                         TSR_EINVAL);
        assert_string_equal(err.message, "segsort: segment offset 2 is 4, below the 5 of offset 1");
        assert_int_equal(tsr_segsort(s, &p, &(tsr_segsort_arrays){.keys = keys}, NULL, NULL, &err),
                         TSR_EINVAL);
        assert_non_null(strstr(err.message, "segment offsets is NULL and should hold 24 bytes"));
        assert_int_equal(keys[0], 9);
        if (tsr_segsort(s, &p, &(tsr_segsort_arrays){.keys = keys, .segment_offsets = right}, NULL,
                        NULL, &err))
            fail_msg("%s", err.message);
        assert_true(keys[0] == 7 && keys[1] == 8 && keys[2] == 9 && keys[3] == 6);
        tsr_session_close(s);
    }
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
        assert_non_null(strstr(err.message, "wait and done are of enqueued calls"));
        assert_true(keys[0] == 9 && !done);
    }
    clReleaseEvent(event);
    tsr_session_close(s);
}

static void matvec_waits_and_tells(void **state)
{
    fixture *f = *state;
    tsr_session *s = adopt(f, 0);
    const tsr_matvec_problem p = {.rows = SIDE, .columns = SIDE, .alpha = 2, .beta = 1};
    float a[ELEMENTS], x[SIDE], y[SIDE], got[SIDE];
    cl_event done = NULL;
    tsr_error err = {0};
    cl_mem ma, mx, my;

    fill(a, 3);
    for (size_t i = 0; i < SIDE; i++) {
        x[i] = (float)i;
        y[i] = 100;
    }
    ma = buffer_of(f, a, BYTES);
    mx = buffer_of(f, x, sizeof(x));
    my = buffer_of(f, y, sizeof(y));
    if (tsr_matvec_enqueue(s, &p, ma, mx, my, &(tsr_run){.done = &done}, NULL, &err))
        fail_msg("%s", err.message);
    assert_int_equal(
        clEnqueueReadBuffer(f->queue, my, CL_TRUE, 0, sizeof(got), got, 1, &done, NULL),
        CL_SUCCESS);
    for (size_t i = 0; i < SIDE; i++) {
        float sum = 0;

        for (size_t k = 0; k < SIDE; k++)
            sum += a[i * SIDE + k] * x[k];
        assert_true(got[i] == 2 * sum + 100);
    }
    clReleaseEvent(done);
    clReleaseMemObject(ma);
    clReleaseMemObject(mx);
    clReleaseMemObject(my);
    tsr_session_close(s);
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
    enqueue_fails(s, &p, (cl_mem[]){x, x, c}, &lost, TSR_ENAME, "needs a named kernel");
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

static void a_bad_queue_is_refused(void **state)
{
    tsr_session *s = NULL;
    tsr_error err = {0};

    (void)state;
    assert_int_not_equal(tsr_session_adopt(NULL, NULL, &s, &err), TSR_OK);
    assert_null(s);
    assert_int_equal(err.status, TSR_ECL);
    tsr_session_close(NULL);
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

/* A matrix of 100 x 30 in rows of 33, through 5 rows at a time, both ways: y is what it is at once.
 */
static void a_matrix_is_streamed_in_panels(void **state)
{
    enum { ROWS = 100, COLUMNS = 30, LDA = 33, OFFSET = 2, SLOTS = 3, PANEL = 5 };
    const fixture *f = *state;
    const size_t vectors = (ROWS + COLUMNS) * sizeof(float);
    tsr_matvec_problem p = {.rows = ROWS,
                            .columns = COLUMNS,
                            .lda = LDA,
                            .alpha = 2,
                            .beta = -1,
                            .offset_a = OFFSET,
                            .offset_x = 1,
                            .offset_y = 3};
    tsr_session_options options = {.copies = 1};
    float a[ELEMENTS * 3], x[ELEMENTS], y[ELEMENTS], expected[ELEMENTS];

    for (size_t i = 0; i < 3; i++)
        fill(a + i * ELEMENTS, 4 + (unsigned)i);
    fill(x, 7);
    for (int trans = 0; trans < 2; trans++) {
        tsr_session *s = NULL;
        tsr_report whole = {0}, streamed = {0}, refused = {0};
        tsr_error err = {0};

        p.trans = trans;
        options.device_memory = 0;
        fill(expected, 9);
        assert_int_equal(tsr_session_open(f->device, &options, &s, &err), TSR_OK);
        assert_int_equal(tsr_matvec(s, &p, a, x, expected, NULL, &whole, &err), TSR_OK);
        assert_int_equal(whole.chunks, 0);
        tsr_session_close(s);

        options.device_memory = vectors + (size_t)SLOTS * PANEL * COLUMNS * sizeof(float);
        fill(y, 9);
        assert_int_equal(tsr_session_open(f->device, &options, &s, &err), TSR_OK);
        if (tsr_matvec(s, &p, a, x, y, NULL, &streamed, &err))
            fail_msg("%s", err.message);
        assert_memory_equal(y, expected, sizeof(y));
        assert_int_equal(streamed.chunks, ROWS / PANEL);
        assert_true(streamed.commands >= streamed.chunks);
        tsr_session_close(s);

        options.device_memory = vectors + (size_t)SLOTS * COLUMNS * sizeof(float) - 1;
        assert_int_equal(tsr_session_open(f->device, &options, &s, &err), TSR_OK);
        assert_int_equal(tsr_matvec(s, &p, a, x, y, NULL, &refused, &err), TSR_EOVERFLOW);
        assert_non_null(strstr(err.message, "x, y and 3 lines of A need 880 bytes at once"));
        assert_memory_equal(y, expected, sizeof(y));
        tsr_session_close(s);
    }
}

/* Panels of a matrix in some form give y as it is at once, gaps included: bit by bit, as whole
 * numbers have exact sums in any order, which float16 holds where they are rounded once.  They are
 * `least` or more. */
static void panels_give_the_same(const fixture *f, const tsr_matvec_problem *p, size_t memory,
                                 size_t least)
{
    enum { ARRAY = 4096 };
    const tsr_type type_y = p->y_f32 ? TSR_F32 : p->type;
    const tsr_run run = {.variant = "row-item"};
    tsr_session_options options = {.copies = 1};
    double a[ARRAY], x[ARRAY], y[ARRAY], expected[ARRAY]; /* 8 bytes hold any type */
    tsr_session *s = NULL;
    tsr_report whole = {0}, streamed = {0};
    tsr_error err = {0};

    for (size_t i = 0; i < ARRAY; i++) {
        real_set(p->type, a, i, (double)(i * 7919 % 201) - 60);
        real_set(p->type, x, i, (double)(i * 104729 % 9) - 3);
        real_set(type_y, y, i, p->beta == 0 && i % 2 ? NAN : (double)(i % 11));
    }
    memcpy(expected, y, sizeof(y));
    assert_int_equal(tsr_session_open(f->device, &options, &s, &err), TSR_OK);
    assert_int_equal(tsr_matvec(s, p, a, x, expected, &run, &whole, &err), TSR_OK);
    assert_int_equal(whole.chunks, 0);
    tsr_session_close(s);
    options.device_memory = memory;
    assert_int_equal(tsr_session_open(f->device, &options, &s, &err), TSR_OK);
    if (tsr_matvec(s, p, a, x, y, &run, &streamed, &err))
        fail_msg("%s", err.message);
    assert_memory_equal(y, expected, sizeof(y));
    assert_true(streamed.chunks >= least);
    tsr_session_close(s);
}

static void every_form_is_streamed(void **state)
{
    static const struct {
        tsr_type type;
        bool y_f32;
    } types[] = {{TSR_F32, false}, {TSR_F16, false}, {TSR_F16, true}};

    for (size_t i = 0; i < 8 * sizeof(types) / sizeof(types[0]); i++) {
        const bool columns = (i & 2) != 0, apart = (i & 4) != 0;
        const tsr_matvec_problem p = {.type = types[i / 8].type,
                                      .y_f32 = types[i / 8].y_f32,
                                      .rows = 71,
                                      .columns = 53,
                                      .trans = i & 1,
                                      .layout = columns ? TSR_COLUMN_MAJOR : TSR_ROW_MAJOR,
                                      .lda = columns ? 72 : 55,
                                      .incx = apart ? 3 : 1,
                                      .incy = apart ? 2 : 0,
                                      .alpha = 2,
                                      .beta = apart ? 0 : -1,
                                      .offset_a = 5,
                                      .offset_x = 1,
                                      .offset_y = 3};

        panels_give_the_same(*state, &p, 3000, 4);
    }
}

/* Panels take three quarters of the device's memory, and few long lines go at once where all of it
 * holds them: here of a device that seems to have so many bytes. */
static void panels_leave_room(void **state)
{
    enum { COLUMNS = 9, ROWS = 10, WHOLE = 4 * (ROWS * COLUMNS + COLUMNS + ROWS) };
    enum { FEW = 3, FEW_WHOLE = 4 * (FEW * COLUMNS + COLUMNS + FEW) };
    static const struct {
        size_t rows, memory;
        bool streams, refused;
    } cases[] = {{ROWS, WHOLE / 3 * 4 + 4, false, false},
                 {ROWS, WHOLE, true, false},
                 {FEW, FEW_WHOLE, false, false},
                 {FEW, FEW_WHOLE - 1, false, true}};
    const tsr_session_options options = {.copies = 1};
    const tsr_run run = {.variant = "row-item"};
    const fixture *f = *state;
    float a[ELEMENTS], y[ELEMENTS];

    fill(a, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const tsr_matvec_problem p = {.rows = cases[i].rows, .columns = COLUMNS, .alpha = 1};
        tsr_session *s = NULL;
        tsr_report report = {0};
        tsr_error err = {0};

        assert_int_equal(tsr_session_open(f->device, &options, &s, &err), TSR_OK);
        s->device.facts.global_memory = cases[i].memory;
        assert_int_equal(tsr_matvec(s, &p, a, a, y, &run, &report, &err),
                         cases[i].refused ? TSR_EOVERFLOW : TSR_OK);
        assert_int_equal(report.chunks > 0, cases[i].streams);
        if (cases[i].refused)
            assert_non_null(strstr(err.message, "matvec needs 156 bytes, and "));
        tsr_session_close(s);
    }
}

/* In each form, in whole products and in panels: side by side, or with one A or x for all. */
static void every_form_of_a_batch_is_streamed(void **state)
{
    enum { ROWS = 17, COLUMNS = 16, BATCH = 5, PANELS = 700, GROUPS = 4500, SHARED = 1600 };

    for (size_t i = 0; i < 64; i++) {
        const bool trans = i & 1, columns = (i & 2) != 0, apart = (i & 4) != 0;
        const size_t x = trans ? ROWS : COLUMNS, y = trans ? COLUMNS : ROWS;
        const bool beside = apart && (i & 16);
        const tsr_matvec_problem p = {.type = i & 8 ? TSR_F16 : TSR_F32,
                                      .rows = ROWS,
                                      .columns = COLUMNS,
                                      .trans = trans,
                                      .layout = columns ? TSR_COLUMN_MAJOR : TSR_ROW_MAJOR,
                                      .lda = 19,
                                      .incx = apart ? BATCH : 1,
                                      .incy = apart ? BATCH + 1 : 0,
                                      .alpha = 2,
                                      .beta = apart ? 0 : -1,
                                      .offset_a = 5,
                                      .offset_x = 1,
                                      .offset_y = 3,
                                      .batch = BATCH,
                                      .stride_a = i & 32 ? 0 : 19 * ROWS + 2,
                                      .stride_x = i & 16 ? beside : x * (apart ? BATCH : 1),
                                      .stride_y = beside ? 1 : y * (apart ? BATCH + 1 : 1) + 2};

        panels_give_the_same(*state, &p, PANELS, 2);
        panels_give_the_same(*state, &p,
                             (i & 32 ? SHARED : GROUPS) * tsr_type_size(p.type) / sizeof(float), 2);
    }
}

/* At once where that is allowed, else product by product. */
static void a_batch_is_streamed_where_it_must_be(void **state)
{
    enum { ROWS = 10, COLUMNS = 9, BATCH = 3 };
    const fixture *f = *state;
    const size_t bytes = (BATCH * ROWS * COLUMNS + COLUMNS + BATCH * ROWS) * sizeof(float);
    const tsr_matvec_problem p = {.rows = ROWS,
                                  .columns = COLUMNS,
                                  .alpha = 1,
                                  .batch = BATCH,
                                  .stride_a = (size_t)ROWS * COLUMNS,
                                  .stride_y = ROWS};
    const tsr_run run = {.variant = "row-item"};
    float a[ELEMENTS], y[2][ELEMENTS];

    fill(a, 1);
    for (int short_of = 0; short_of < 2; short_of++) {
        const tsr_session_options options = {.copies = 1, .device_memory = bytes - short_of};
        tsr_session *s = NULL;
        tsr_report report = {0};
        tsr_error err = {0};

        fill(y[short_of], 2);
        assert_int_equal(tsr_session_open(f->device, &options, &s, &err), TSR_OK);
        if (tsr_matvec(s, &p, a, a, y[short_of], &run, &report, &err))
            fail_msg("%s", err.message);
        assert_int_equal(report.chunks, short_of ? BATCH : 0);
        tsr_session_close(s);
    }
    assert_memory_equal(y[0], y[1], sizeof(y[0]));
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

/* More than the largest allocation: need and limit, in bytes, before any work. */
static void what_the_device_cannot_hold_is_refused(void **state)
{
    const fixture *f = *state;
    const size_t n = (size_t)(f->device->facts.max_allocation / sizeof(float)) + 1;
    const tsr_matvec_problem p = {.rows = 1, .columns = n, .alpha = 1};
    tsr_session *s = NULL;
    tsr_error err = {0};
    /* Never touched: the size is refused first. */
    float *a = malloc(n * sizeof(float)), *x = malloc(n * sizeof(float)), y = 0;
    char need[32];

    assert_non_null(a);
    assert_non_null(x);
    assert_int_equal(tsr_session_open(f->device, NULL, &s, &err), TSR_OK);
    snprintf(need, sizeof(need), "A needs %zu bytes", n * sizeof(float));
    assert_int_equal(tsr_matvec(s, &p, a, x, &y, NULL, NULL, &err), TSR_EOVERFLOW);
    assert_non_null(strstr(err.message, need));
    free(a);
    free(x);
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
    assert_int_equal(first.build, TSR_BUILD_COLD);
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
        TEST(many_commands_keep_their_order),
        TEST(both_queues_wait_for_the_caller),
        TEST(segments_stay_in_their_buffers),
        TEST(broken_segments_are_refused),
        TEST(arrays_not_asked_for_are_refused),
        TEST(events_are_of_enqueued_calls),
        TEST(matvec_waits_and_tells),
        TEST(column_major_batches_are_where_they_should_be),
        TEST(an_empty_product_gives_an_event),
        TEST(failing_calls_leave_things_as_they_were),
        TEST(the_host_has_no_queue),
        TEST(a_bad_queue_is_refused),
        TEST(products_of_host_arrays_are_right),
        TEST(arrays_are_worked_on_where_they_are),
        TEST(a_matrix_is_streamed_in_panels),
        TEST(every_form_is_streamed),
        TEST(panels_leave_room),
        TEST(every_form_of_a_batch_is_streamed),
        TEST(a_batch_is_streamed_where_it_must_be),
        TEST(a_product_is_streamed_in_tiles),
        TEST(a_product_that_no_tile_fits),
        TEST(one_array_may_be_both_factors),
        TEST(null_arrays_are_refused),
        TEST(what_the_device_cannot_hold_is_refused),
        TEST(a_broken_kernel_gives_its_log),
        TEST(a_program_is_built_once_a_session),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
