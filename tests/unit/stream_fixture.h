/* Calls on host memory that are streamed through a device in pieces: what they give is what comes
 * of the same call at once, from pageable and from pinned memory, on queues of each kind.  The test
 * that includes it needs an OpenCL device of the type CPU, such as PoCL's, which copies because it
 * is asked to. */
#ifndef UNIT_STREAM_FIXTURE_H
#define UNIT_STREAM_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "core/registry.h"
#include "device/device.h"
#include "session/state.h"
#include "stream/copies.h"
#include "stream/host_memory.h"
#include "stream/partition.h"
#include "tessera/tessera.h"

enum { ROOM = 1 << 18 }; /* bytes of each array */

enum { ARRAYS = 3 };

/* Where the arrays of a call are, and on whose queue it runs. */
typedef enum place { PAGEABLE, PINNED, OUT_OF_ORDER, PLACES } place;

typedef struct fixture {
    tsr_devices *list;
    const tsr_device *device, *host;
    cl_context context;
    cl_command_queue queue;
    unsigned char *before[ARRAYS], *expected[ARRAYS];
} fixture;

static inline int make_fixture(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    uint64_t seed = 1;
    size_t n = 0;

    assert_non_null(f);
    *state = f;
    assert_int_equal(tsr_devices_find(&f->list, NULL), TSR_OK);
    assert_int_equal(tsr_devices_select(f->list, "cpu", &f->device, 1, &n, NULL), TSR_OK);
    assert_int_equal(tsr_devices_select(f->list, "host", &f->host, 1, &n, NULL), TSR_OK);
    f->context = clCreateContext(NULL, 1, &f->device->id, NULL, NULL, NULL);
    f->queue = clCreateCommandQueue(f->context, f->device->id,
                                    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);
    assert_non_null(f->queue);
    for (size_t i = 0; i < ARRAYS; i++) {
        f->before[i] = malloc(ROOM);
        f->expected[i] = malloc(ROOM);
        assert_non_null(f->before[i]);
        assert_non_null(f->expected[i]);
        for (size_t k = 0; k < ROOM; k++)
            f->before[i][k] = (unsigned char)random_u64(&seed);
    }
    return 0;
}

static inline int drop_fixture(void **state)
{
    fixture *f = *state;

    for (size_t i = 0; i < ARRAYS; i++) {
        free(f->before[i]);
        free(f->expected[i]);
    }
    clReleaseCommandQueue(f->queue);
    clReleaseContext(f->context);
    tsr_devices_close(f->list);
    free(f);
    return 0;
}

static inline tsr_session *open_session(const fixture *f, place where, size_t memory)
{
    const tsr_session_options options = {.copies = 1, .device_memory = memory};
    tsr_session *s = NULL;
    tsr_error err = {0};
    const tsr_status st = where == OUT_OF_ORDER ? tsr_session_adopt(f->queue, &options, &s, &err)
                                                : tsr_session_open(f->device, &options, &s, &err);

    if (st)
        fail_msg("%s", err.message);
    return s;
}

/* Copies of what the arrays were before a call, some bytes into the memory that holds them. */
typedef struct arrays {
    unsigned char *memory[ARRAYS], *at[ARRAYS];
} arrays;

static inline arrays take_arrays(const fixture *f, tsr_session *s, place where)
{
    enum { SHIFT = 64 };
    arrays a;

    for (size_t i = 0; i < ARRAYS; i++) {
        void *memory = NULL;

        if (where == PINNED)
            assert_int_equal(tsr_pinned_alloc(s, ROOM + SHIFT, &memory, NULL), TSR_OK);
        else
            memory = malloc(ROOM + SHIFT);
        assert_non_null(memory);
        a.memory[i] = memory;
        a.at[i] = a.memory[i] + SHIFT;
        memcpy(a.at[i], f->before[i], ROOM);
    }
    return a;
}

static inline void drop_arrays(tsr_session *s, place where, const arrays *a)
{
    for (size_t i = 0; i < ARRAYS; i++) {
        if (where == PINNED)
            tsr_pinned_free(s, a->memory[i]);
        else
            free(a->memory[i]);
    }
}

static inline void expect_before(fixture *f)
{
    for (size_t i = 0; i < ARRAYS; i++)
        memcpy(f->expected[i], f->before[i], ROOM);
}

/* Small whole numbers, whose sums are exact in any order. */
static inline void fill_whole(fixture *f)
{
    for (size_t i = 0; i < ARRAYS; i++)
        for (size_t k = 0; k < ROOM / sizeof(float); k++) {
            const float x = (float)(f->before[i][4 * k] % 9) - 4;

            memcpy(f->before[i] + 4 * k, &x, sizeof(x));
        }
}

static inline tsr_status compute_on(tsr_session *s, const problem *p,
                                    unsigned char *const at[ARRAYS], tsr_report *report,
                                    tsr_error *err)
{
    void *const operands[ARRAYS] = {at[0], at[1], at[2]};

    return host_memory_run(s, p, operands, NULL, report, err);
}

/* Products on the host, and streamed: the same bytes. */
static inline void computes_as_host(fixture *f, const problem *p, size_t memory, size_t chunks)
{
    tsr_session *s = NULL;
    tsr_error err = {0};

    expect_before(f);
    assert_int_equal(tsr_session_open(f->host, NULL, &s, NULL), TSR_OK);
    assert_int_equal(compute_on(s, p, f->expected, NULL, NULL), TSR_OK);
    tsr_session_close(s);
    for (place where = PAGEABLE; where < PLACES; where++) {
        tsr_report report = {0};
        arrays a;

        s = open_session(f, where, memory);
        a = take_arrays(f, s, where);
        if (compute_on(s, p, a.at, &report, &err))
            fail_msg("%s", err.message);
        for (size_t i = 0; i < ARRAYS; i++)
            assert_memory_equal(a.at[i], f->expected[i], ROOM);
        assert_int_equal(report.chunks, chunks);
        assert_true(report.commands >= chunks);
        drop_arrays(s, where, &a);
        tsr_session_close(s);
    }
}

/* How it is cut by a session of so much device_memory (0: what the device has). */
static inline partition chosen_for(tsr_session *s, const problem *p, size_t memory)
{
    partition how;
    selection sel;

    s->host_calls_memory = memory;
    assert_int_equal(dispatch_select(s, p, NULL, IN_BUFFERS, &sel, NULL), TSR_OK);
    assert_int_equal(partition_choose(s, p, &sel, &how, NULL), TSR_OK);
    return how;
}

/* Whether so many bytes are refused, and for the number of pieces. */
static inline bool too_little(tsr_session *s, const problem *p, const selection *sel, size_t bytes,
                              tsr_error *err)
{
    partition how;
    tsr_status st;

    s->host_calls_memory = bytes;
    st = partition_choose(s, p, sel, &how, err);
    if (st) {
        assert_int_equal(st, TSR_EOVERFLOW);
        assert_non_null(strstr(err->message, " pieces, and at most 4096 are allowed: it needs "));
    }
    return st != TSR_OK;
}

/* What would fall into more pieces than are allowed is refused, and the bytes that the message
 * names are the fewest that are not. */
static inline void refuses_pieces(tsr_session *s, const problem *p, size_t bytes)
{
    tsr_error err = {0};
    selection sel;
    size_t least = 0;

    assert_int_equal(dispatch_select(s, p, NULL, IN_BUFFERS, &sel, &err), TSR_OK);
    assert_true(too_little(s, p, &sel, bytes, &err));
    assert_int_equal(sscanf(strstr(err.message, "needs "), "needs %zu bytes", &least), 1);
    assert_true(least > bytes);
    assert_false(too_little(s, p, &sel, least, &err));
    assert_true(too_little(s, p, &sel, least - 1, &err));
}

#endif
