/* Copies between host and device, and launches: wall time on queues that record none. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "measure/roofline_rig.h"
#include "session/events.h"

enum { LAUNCHES_QUEUED = 1000, LAUNCHES_WAITED = 100 };

/* Host memory: pageable, or a mapped buffer that the driver has pinned. */
typedef struct host_side {
    cl_mem pinned; /* NULL where pageable */
    uint32_t *words;
} host_side;

/* What is copied: `up` to the device, `down` from it; or both at once. */
typedef struct transfer {
    const rig *rig;
    size_t bytes; /* each way */
    bool up, down;
    cl_mem device_up, device_down;
    host_side host_up, host_down;
} transfer;

static tsr_status open_host(const rig *r, bool pinned, size_t bytes, host_side *out, tsr_error *err)
{
    tsr_status st;
    cl_int rc;

    if (!pinned) {
        out->words = malloc(bytes);
        return out->words ? TSR_OK
                          : tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu bytes to copy", bytes);
    }
    st = rig_buffer(r, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, &out->pinned, err);
    if (st)
        return st;
    out->words = clEnqueueMapBuffer(r->queue[0], out->pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                                    0, bytes, 0, NULL, NULL, &rc);
    if (!out->words)
        return tsr_fail(err, TSR_ECL, rc, "clEnqueueMapBuffer(%zu bytes)", bytes);
    return TSR_OK;
}

static void close_host(const rig *r, host_side *h)
{
    if (h->pinned) {
        if (h->words)
            clEnqueueUnmapMemObject(r->queue[0], h->pinned, h->words, 0, NULL, NULL);
        queue_settle(r->queue[0]);
        clReleaseMemObject(h->pinned);
    } else {
        free(h->words);
    }
    *h = (host_side){0};
}

static tsr_status open_transfer(transfer *t, bool pinned, tsr_error *err)
{
    tsr_status st = TSR_OK;

    if (t->up) {
        st = open_host(t->rig, pinned, t->bytes, &t->host_up, err);
        st = st ? st : rig_buffer(t->rig, CL_MEM_READ_WRITE, t->bytes, &t->device_up, err);
    }
    if (t->down) {
        st = st ? st : open_host(t->rig, pinned, t->bytes, &t->host_down, err);
        st = st ? st : rig_buffer(t->rig, CL_MEM_READ_WRITE, t->bytes, &t->device_down, err);
    }
    return st;
}

static void close_transfer(transfer *t)
{
    close_host(t->rig, &t->host_up);
    close_host(t->rig, &t->host_down);
    if (t->device_up)
        clReleaseMemObject(t->device_up);
    if (t->device_down)
        clReleaseMemObject(t->device_down);
    t->device_up = t->device_down = NULL;
}

/* One copy each way that is asked for, begun together; to when the last has ended. */
static tsr_status run_transfer(void *state, double *ns, tsr_error *err)
{
    const transfer *t = state;
    const rig *r = t->rig;
    const uint64_t start = clock_ns();
    cl_int rc = CL_SUCCESS;

    if (t->up)
        rc = clEnqueueWriteBuffer(r->queue[0], t->device_up, CL_FALSE, 0, t->bytes,
                                  t->host_up.words, 0, NULL, NULL);
    if (t->up && rc == CL_SUCCESS)
        rc = clFlush(r->queue[0]);
    if (t->down && rc == CL_SUCCESS)
        rc = clEnqueueReadBuffer(r->queue[1], t->device_down, CL_FALSE, 0, t->bytes,
                                 t->host_down.words, 0, NULL, NULL);
    if (t->down && rc == CL_SUCCESS)
        rc = clFlush(r->queue[1]);
    for (size_t i = 0; i < 2; i++) {
        cl_int finished =
            clFinish(r->queue[i]); /* also after a failure: the memory is freed next */

        rc = rc == CL_SUCCESS ? finished : rc;
    }
    *ns = (double)(clock_ns() - start);
    return rc == CL_SUCCESS ? TSR_OK : tsr_fail(err, TSR_ECL, rc, "copying %zu bytes", t->bytes);
}

/* Different in every word and for every seed. */
static void fill_words(uint32_t *words, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++)
        words[i] = seed + (uint32_t)i * 2654435761u;
}

static tsr_status check_same(const uint32_t *words, size_t count, uint32_t seed, const char *where,
                             tsr_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (words[i] != seed + (uint32_t)i * 2654435761u)
            return tsr_fail(err, TSR_EBOUND, 0, "word %zu of %zu is wrong %s", i, count, where);
    return TSR_OK;
}

/* Put the words of a seed into host memory or, through it, into the buffer that is read; then run
 * once and read back both ends. */
static tsr_status check_transfer(transfer *t, tsr_error *err)
{
    const uint32_t seed_up = 0x75700000u, seed_down = 0x646F776Eu;
    const size_t count = t->bytes / sizeof(uint32_t);
    uint32_t *words = malloc(t->bytes);
    tsr_status st = TSR_OK;
    cl_int rc = CL_SUCCESS;
    double ns;

    if (!words)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory to check a copy of %zu bytes", t->bytes);
    if (t->up) {
        fill_words(t->host_up.words, count, seed_up);
        st = rig_spoil(t->rig, t->device_up, t->bytes, err);
    }
    if (t->down) {
        fill_words(words, count, seed_down);
        memset(t->host_down.words, 0xFF, t->bytes);
        if (!st)
            rc = clEnqueueWriteBuffer(t->rig->timed, t->device_down, CL_TRUE, 0, t->bytes, words, 0,
                                      NULL, NULL);
        if (rc)
            st = tsr_fail(err, TSR_ECL, rc, "clEnqueueWriteBuffer(%zu bytes)", t->bytes);
    }
    if (!st) {
        rc = clFinish(t->rig->timed);
        if (rc)
            st = tsr_fail(err, TSR_ECL, rc, "clFinish");
    }
    st = st ? st : run_transfer(t, &ns, err);
    if (!st && t->down)
        st = check_same(t->host_down.words, count, seed_down, "on the host", err);
    if (!st && t->up) {
        st = rig_read(t->rig, t->device_up, words, t->bytes, err);
        st = st ? st : check_same(words, count, seed_up, "on the device", err);
    }
    free(words);
    return st;
}

tsr_status limit_transfer(const rig *r, limit l, limit_result *out, tsr_error *err)
{
    const size_t mib = (size_t)1 << 20;
    const bool both = l == LIMIT_BOTH_WAYS_PINNED;
    const bool pinned = both || l == LIMIT_TO_DEVICE_PINNED || l == LIMIT_FROM_DEVICE_PINNED;
    transfer t = {.rig = r,
                  .bytes = size_min(r->cpu ? 128 * mib : 512 * mib, rig_big_bytes(r)),
                  .up = both || l == LIMIT_TO_DEVICE_PAGEABLE || l == LIMIT_TO_DEVICE_PINNED,
                  .down = both || l == LIMIT_FROM_DEVICE_PAGEABLE || l == LIMIT_FROM_DEVICE_PINNED};
    way w = {.run = run_transfer, .state = &t};
    tsr_status st = open_transfer(&t, pinned, err);

    w.amount = (double)t.bytes * (both ? 2 : 1);
    st = st ? st : check_transfer(&t, err);
    st = st ? st : rig_sample(r, &w, l, out, err);
    close_transfer(&t);
    return st;
}

/* ---- launches ------------------------------------------------------------------------------ */

typedef struct launches {
    const rig *rig;
    cl_kernel kernel;
    cl_mem counter;
    size_t count; /* a run's */
    size_t done;  /* in all */
    bool wait;    /* for each */
} launches;

static tsr_status run_launches(void *state, double *ns, tsr_error *err)
{
    launches *x = state;
    cl_command_queue queue = x->rig->queue[0];
    const size_t one = 1;
    const uint64_t start = clock_ns();
    cl_int rc = CL_SUCCESS;

    for (size_t i = 0; i < x->count && rc == CL_SUCCESS; i++) {
        rc = clEnqueueNDRangeKernel(queue, x->kernel, 1, NULL, &one, &one, 0, NULL, NULL);
        if (rc == CL_SUCCESS && x->wait)
            rc = clFinish(queue);
    }
    if (rc == CL_SUCCESS)
        rc = clFinish(queue);
    *ns = (double)(clock_ns() - start) / (double)x->count;
    session_end_build(x->rig->session); /* PoCL compiles at the first launch */
    x->done += x->count;
    return rc == CL_SUCCESS ? TSR_OK : tsr_fail(err, TSR_ECL, rc, "%zu launches", x->count);
}

/* Whether every launch so far has counted itself. */
static tsr_status check_launches(const launches *x, tsr_error *err)
{
    cl_uint counted = 0;
    tsr_status st = rig_read(x->rig, x->counter, &counted, sizeof(counted), err);

    if (!st && counted != x->done)
        st = tsr_fail(err, TSR_EBOUND, 0, "%u of %zu launches ran", counted, x->done);
    return st;
}

tsr_status limit_launch(const rig *r, limit l, limit_result *out, tsr_error *err)
{
    const cl_uint none = 0;
    launches x = {.rig = r,
                  .count = l == LIMIT_LAUNCH_WAITED ? LAUNCHES_WAITED : LAUNCHES_QUEUED,
                  .wait = l == LIMIT_LAUNCH_WAITED};
    way w = {.run = run_launches, .state = &x, .amount = 1, .calls = x.count};
    cl_int rc;
    tsr_status st =
        rig_kernel(r, "roofline/roofline_launch.cl", "", "roofline_launch", &x.kernel, err);
    double ns;

    st = st ? st : rig_buffer(r, CL_MEM_READ_WRITE, sizeof(none), &x.counter, err);
    if (st)
        return st;
    rc = clEnqueueWriteBuffer(r->timed, x.counter, CL_TRUE, 0, sizeof(none), &none, 0, NULL, NULL);
    if (rc != CL_SUCCESS)
        st = tsr_fail(err, TSR_ECL, rc, "clEnqueueWriteBuffer(%zu bytes)", sizeof(none));
    st = st ? st : rig_args(x.kernel, (rig_arg[]){{&x.counter, sizeof(cl_mem)}}, 1, err);
    st = st ? st : run_launches(&x, &ns, err);
    st = st ? st : check_launches(&x, err);
    st = st ? st : rig_sample(r, &w, l, out, err);
    st = st ? st : check_launches(&x, err); /* and those that were timed */
    clReleaseMemObject(x.counter);
    return st;
}
