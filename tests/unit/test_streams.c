/* Buffers and pinned memory that a session keeps for calls on host memory.  Needs an OpenCL device
 * of the type CPU, such as PoCL's. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "session/pinned.h"
#include "stream_fixture.h"

/* ---- in the place of the loader's ------------------------------------------------------------ */

/* To events: those of writes, and what is retained, less what is released. */
static long event_references;

CL_API_ENTRY cl_int CL_API_CALL clRetainEvent(cl_event event)
{
    cl_int (*next)(cl_event);
    void *found = dlsym(RTLD_NEXT, "clRetainEvent");

    memcpy(&next, &found, sizeof(next));
    event_references++;
    return next(event);
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseEvent(cl_event event)
{
    cl_int (*next)(cl_event);
    void *found = dlsym(RTLD_NEXT, "clReleaseEvent");

    memcpy(&next, &found, sizeof(next));
    event_references--;
    return next(event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer,
                                                     cl_bool blocking, size_t offset, size_t bytes,
                                                     const void *from, cl_uint n,
                                                     const cl_event *waits, cl_event *event)
{
    cl_int (*next)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint,
                   const cl_event *, cl_event *);
    void *found = dlsym(RTLD_NEXT, "clEnqueueWriteBuffer");

    memcpy(&next, &found, sizeof(next));
    event_references += event != NULL;
    return next(queue, buffer, blocking, offset, bytes, from, n, waits, event);
}

/* ---- buffers --------------------------------------------------------------------------------- */

static cl_mem take_buffer(copies *c, size_t bytes)
{
    cl_mem buffer = NULL;

    assert_int_equal(copies_buffer(c, "a test's", bytes, &buffer, NULL), TSR_OK);
    assert_non_null(buffer);
    return buffer;
}

/* Buffers of unlike sizes wait beside one another for the next call. */
static void buffers_of_all_sizes_are_kept(void **state)
{
    enum { SIZES = 3, BUFFERS = 3 * SIZES };
    static const size_t sizes[SIZES] = {100, 3000, 200};
    tsr_session *s = open_session(*state, PAGEABLE, 0);
    cl_mem first[BUFFERS], again[BUFFERS];
    copies *c;

    assert_int_equal(copies_of(s, &c, NULL), TSR_OK);
    for (size_t i = 0; i < BUFFERS; i++) {
        first[i] = take_buffer(c, sizes[i % SIZES]);
        clRetainMemObject(first[i]); /* so that no other gets its address */
    }
    for (size_t i = 0; i < BUFFERS; i++)
        copies_keep(c, first[i], sizes[i % SIZES]);
    for (size_t i = 0; i < BUFFERS; i++)
        again[i] = take_buffer(c, sizes[i / SIZES]);
    for (size_t i = 0; i < BUFFERS; i++) {
        size_t known = 0;

        for (size_t k = 0; k < BUFFERS; k++)
            known += k % SIZES == i / SIZES && first[k] == again[i];
        assert_int_equal(known, 1);
    }
    for (size_t i = 0; i < BUFFERS; i++) {
        copies_keep(c, again[i], sizes[i / SIZES]);
        clReleaseMemObject(first[i]);
    }
    tsr_session_close(s);
}

static cl_uint references_to(cl_mem buffer)
{
    cl_uint count = 0;

    assert_int_equal(
        clGetMemObjectInfo(buffer, CL_MEM_REFERENCE_COUNT, sizeof(count), &count, NULL),
        CL_SUCCESS);
    return count;
}

/* What waits and what callers have is never more than the session's device_memory. */
static void kept_buffers_make_room(void **state)
{
    tsr_session *s = open_session(*state, PAGEABLE, 1000);
    copies *c;
    cl_mem old, other;

    assert_int_equal(copies_of(s, &c, NULL), TSR_OK);
    old = take_buffer(c, 400);
    clRetainMemObject(old); /* the test's own */
    copies_keep(c, old, 400);
    other = take_buffer(c, 600);
    assert_int_equal(references_to(old), 2);
    copies_keep(c, other, 600);
    other = take_buffer(c, 601);
    assert_int_equal(references_to(old), 1);
    copies_keep(c, other, 601);
    clReleaseMemObject(old);
    tsr_session_close(s);
}

/* What waits is a thirty-second of the device's memory, or 192 MiB, at most. */
static void kept_buffers_are_a_share_of_memory(void **state)
{
    tsr_session *s = open_session(*state, PAGEABLE, 0);
    const size_t share = (size_t)(session_facts(s)->global_memory / 32);
    const size_t most = share > 192 << 20 ? share : 192 << 20;
    const size_t bytes[] = {most + 1, most, 2}, references[] = {1, 1, 2}; /* of three, at the end */
    cl_mem buffer[3];
    copies *c;

    assert_int_equal(copies_of(s, &c, NULL), TSR_OK);
    for (size_t i = 0; i < 3; i++) {
        buffer[i] = take_buffer(c, bytes[i]);
        clRetainMemObject(buffer[i]); /* the test's own */
        copies_keep(c, buffer[i], bytes[i]);
        assert_int_equal(references_to(buffer[i]), i ? 2 : 1);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(references_to(buffer[i]), references[i]);
        clReleaseMemObject(buffer[i]);
    }
    copies_empty(s);
    tsr_session_close(s);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Pageable memory goes through pieces of 4 MiB, each with an event of its own. */
static void events_of_pieces_are_given_back(void **state)
{
    enum { PIECES = 6, BYTES = (PIECES - 1) * (4 << 20) + 100 };
    tsr_session *s = open_session(*state, PAGEABLE, 0);
    unsigned char *memory = calloc(BYTES, 1);
    const host_rows rows = host_bytes(memory, BYTES);
    const long before = event_references;
    cl_event sent = NULL;
    copies *c;
    cl_mem buffer;

    assert_non_null(memory);
    assert_int_equal(copies_of(s, &c, NULL), TSR_OK);
    buffer = take_buffer(c, BYTES);
    assert_int_equal(copies_in(c, &rows, (device_place){buffer, 0}, NULL, &sent, NULL), TSR_OK);
    assert_true(event_references > before);
    assert_int_equal(clWaitForEvents(1, &sent), CL_SUCCESS);
    clReleaseEvent(sent);
    copies_keep(c, buffer, BYTES);
    tsr_session_close(s);
    assert_int_equal(event_references, before);
    free(memory);
}

/* ---- pinned memory --------------------------------------------------------------------------- */

static void pinned_memory_is_known(void **state)
{
    const fixture *f = *state;
    tsr_session *s = open_session(f, PAGEABLE, 0), *host = NULL;
    tsr_error err = {0};
    void *a = NULL, *b = NULL, *none = NULL;
    char on_stack;

    assert_int_equal(tsr_pinned_alloc(s, 1000, &a, &err), TSR_OK);
    assert_int_equal(tsr_pinned_alloc(s, 100, &b, &err), TSR_OK);
    assert_true(pinned_holds(s, a, 1000));
    assert_true(pinned_holds(s, (char *)a + 999, 1));
    assert_false(pinned_holds(s, (char *)a + 1, 1000));
    assert_false(pinned_holds(s, &on_stack, 1));
    assert_true(pinned_holds(s, b, 100));
    tsr_pinned_free(s, a);
    assert_false(pinned_holds(s, a, 1));
    assert_true(pinned_holds(s, b, 100));
    tsr_pinned_free(s, NULL);
    assert_int_equal(tsr_pinned_alloc(s, 0, &none, &err), TSR_EINVAL);
    assert_int_equal(tsr_pinned_alloc(NULL, 1, &none, &err), TSR_EINVAL);
    tsr_session_close(s); /* frees b */
    assert_int_equal(tsr_session_open(f->host, NULL, &host, NULL), TSR_OK);
    assert_int_equal(tsr_pinned_alloc(host, 1, &none, &err), TSR_EUNSUPPORTED);
    assert_null(none);
    tsr_session_close(host);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_fixture, drop_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(buffers_of_all_sizes_are_kept),
        TEST(kept_buffers_make_room),
        TEST(kept_buffers_are_a_share_of_memory),
        TEST(events_of_pieces_are_given_back),
        TEST(pinned_memory_is_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
