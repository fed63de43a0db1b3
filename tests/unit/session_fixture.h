/* Sessions for tests of the public calls on a device: queues of the caller's, buffers, small
 * matrices. The test that includes it needs an OpenCL device of the type CPU, such as PoCL's. */
#ifndef UNIT_SESSION_FIXTURE_H
#define UNIT_SESSION_FIXTURE_H

#include <stdlib.h>
#include <time.h>

#include "device/device.h"
#include "tessera/tessera.h"

enum { SIDE = 40, ELEMENTS = SIDE * SIDE, BYTES = ELEMENTS * sizeof(float) };

/* A context and queue as a caller has them. */
typedef struct fixture {
    tsr_devices *list;
    const tsr_device *device, *host;
    cl_context context;
    cl_command_queue queue;
} fixture;

static inline int make_fixture(void **state)
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

static inline void make_queue(fixture *f, cl_command_queue_properties properties)
{
    f->queue = clCreateCommandQueue(f->context, f->device->id, properties, NULL);
    assert_non_null(f->queue);
}

static inline cl_uint references(cl_command_queue queue)
{
    cl_uint n = 0;

    clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof(n), &n, NULL);
    return n;
}

static inline int drop_fixture(void **state)
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

static inline tsr_session *adopt(fixture *f, cl_command_queue_properties properties)
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

static inline cl_mem buffer_of(const fixture *f, const void *from, size_t bytes)
{
    cl_mem m = clCreateBuffer(f->context, CL_MEM_READ_WRITE | (from ? CL_MEM_COPY_HOST_PTR : 0),
                              bytes, (void *)(uintptr_t)from, NULL);

    assert_non_null(m);
    return m;
}

/* Small integers, so that products of three matrices are exact in any order. */
static inline void fill(float *a, unsigned seed)
{
    for (size_t i = 0; i < ELEMENTS; i++)
        a[i] = (float)((i * 7 + seed * 13 + i / SIDE) % 5) - 2;
}

static inline void multiply(const float *a, const float *b, float *c)
{
    for (size_t i = 0; i < SIDE; i++)
        for (size_t j = 0; j < SIDE; j++) {
            float sum = 0;

            for (size_t k = 0; k < SIDE; k++)
                sum += a[i * SIDE + k] * b[k * SIDE + j];
            c[i * SIDE + j] = sum;
        }
}

#endif
