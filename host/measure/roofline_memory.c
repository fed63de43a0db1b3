/* Global memory: what is written is known word by word, so one sum proves a write, copy or read. */
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "device/query.h"
#include "measure/roofline_rig.h"

/* A way of walking through memory: see roofline_memory.cl. */
typedef struct walk {
    bool cpu, tiled, runs, stream;
    unsigned ahead;
    unsigned count; /* vectors an item touches; 0: few items, that share all of it */
    const char *how;
} walk;

static const walk walks[] = {
    {true, true, false, false, 4, 0, "a run for each work-item"},
    {true, true, true, false, 8, 0, "eight runs for each work-item"},
    {true, true, false, true, 4, 0, "a run for each work-item, stores past the cache"},
    {false, false, false, false, 8, 0, "all work-items side by side"},
    {false, true, false, false, 8, 16, "16 vectors a work-item"},
    {false, true, false, false, 8, 32, "32 vectors a work-item"},
};

/* A walk over buffers of this device. */
typedef struct traffic {
    const rig *rig;
    const walk *walk;
    unsigned width; /* words of a vector */
    size_t global, local;
    cl_uint count;
    cl_uint seed;
    cl_kernel write, copy, read;
    cl_kernel timed; /* one of them */
    cl_mem a, b;     /* b only for copies */
    cl_mem sums;
} traffic;

static size_t words_of(const traffic *t)
{
    return t->global * t->count * t->width;
}

static tsr_status launch(const traffic *t, cl_kernel kernel, double *ns, tsr_error *err)
{
    return rig_launch(t->rig, kernel, t->global, t->local, ns, err);
}

static tsr_status run_traffic(void *state, double *ns, tsr_error *err)
{
    const traffic *t = state;

    return launch(t, t->timed, ns, err);
}

/* Split `bytes` among work-items. */
static void divide(traffic *t, size_t bytes)
{
    const rig *r = t->rig;
    const size_t vectors = bytes / (t->width * sizeof(cl_uint));
    const size_t units = r->facts->compute_units;

    t->local = r->cpu ? 1 : size_min(256, r->facts->max_work_group);
    if (t->walk->count) {
        t->count = t->walk->count;
        t->global = vectors / t->count / t->local * t->local;
    } else {
        t->global = size_round_up(units * (r->cpu ? 16 : 2048), t->local);
        t->count = (cl_uint)(vectors / t->global / t->walk->ahead * t->walk->ahead);
    }
}

static tsr_status build(traffic *t, tsr_error *err)
{
    char options[128];
    tsr_status st;

    snprintf(options, sizeof(options),
             "-DELEMENT=uint -DWIDTH=%u -DAHEAD=%u -DTILED=%d -DRUNS=%d -DSTREAM=%d", t->width,
             t->walk->ahead, t->walk->tiled, t->walk->runs, t->walk->stream);
    st = rig_kernel(t->rig, "roofline/roofline_memory.cl", options, "roofline_write", &t->write,
                    err);
    st = st ? st
            : rig_kernel(t->rig, "roofline/roofline_memory.cl", options, "roofline_copy", &t->copy,
                         err);
    return st ? st
              : rig_kernel(t->rig, "roofline/roofline_memory.cl", options, "roofline_read",
                           &t->read, err);
}

/* Whether `from` holds seed, seed + 1, ...: by the sum of its words. */
static tsr_status check_words(const traffic *t, const cl_mem *from, tsr_error *err)
{
    const uint64_t words = words_of(t);
    const uint32_t expected = (uint32_t)(words * t->seed + words * (words - 1) / 2);
    cl_uint *sums = malloc(t->global * sizeof(*sums));
    uint32_t got = 0;
    tsr_status st;

    if (!sums)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu sums", t->global);
    st = rig_spoil(t->rig, t->sums, t->global * sizeof(*sums), err);
    st = st ? st
            : rig_args(t->read,
                       (rig_arg[]){{from, sizeof(cl_mem)},
                                   {&t->sums, sizeof(cl_mem)},
                                   {&t->count, sizeof(t->count)}},
                       3, err);
    st = st ? st : launch(t, t->read, NULL, err);
    st = st ? st : rig_read(t->rig, t->sums, sums, t->global * sizeof(*sums), err);
    for (size_t i = 0; i < t->global && !st; i++)
        got += sums[i];
    if (!st && got != expected)
        st = tsr_fail(err, TSR_EBOUND, 0, "the words in memory add up to 0x%08x, not 0x%08x", got,
                      expected);
    free(sums);
    return st;
}

/* Run what is to be timed once, on memory that held something else, and check it. */
static tsr_status check_traffic(traffic *t, limit l, tsr_error *err)
{
    const size_t bytes = words_of(t) * sizeof(cl_uint);
    const cl_mem *result = l == LIMIT_MEMORY_COPY ? &t->b : &t->a;
    tsr_status st = rig_spoil(t->rig, *result, bytes, err);

    st = st ? st
            : rig_args(t->write,
                       (rig_arg[]){{&t->a, sizeof(cl_mem)},
                                   {&t->count, sizeof(t->count)},
                                   {&t->seed, sizeof(t->seed)}},
                       3, err);
    st = st ? st : launch(t, t->write, NULL, err);
    if (l == LIMIT_MEMORY_COPY) {
        st = st ? st
                : rig_args(t->copy,
                           (rig_arg[]){{&t->a, sizeof(cl_mem)},
                                       {&t->b, sizeof(cl_mem)},
                                       {&t->count, sizeof(t->count)}},
                           3, err);
        st = st ? st : launch(t, t->copy, NULL, err);
    }
    return st ? st : check_words(t, result, err);
}

static tsr_status measure_walk(traffic *t, limit l, limit_result *out, tsr_error *err)
{
    way w = {.run = run_traffic, .state = t, .how = t->walk->how};
    tsr_status st = build(t, err);

    w.amount = (double)(words_of(t) * sizeof(cl_uint)) * (l == LIMIT_MEMORY_COPY ? 2 : 1);
    t->timed = l == LIMIT_MEMORY_READ ? t->read : l == LIMIT_MEMORY_WRITE ? t->write : t->copy;
    st =
        st ? st : rig_buffer(t->rig, CL_MEM_READ_WRITE, t->global * sizeof(cl_uint), &t->sums, err);
    st = st ? st : check_traffic(t, l, err);
    st = st ? st : rig_sample(t->rig, &w, l, out, err);
    if (t->sums)
        clReleaseMemObject(t->sums);
    t->sums = NULL;
    return st;
}

/* Four words are what a lane's widest access takes; a core's is its widest vector. */
static unsigned vector_words(const rig *r)
{
    cl_uint width = 4;

    if (r->cpu)
        query(r->session->device.id, CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, &width, sizeof(width));
    return width == 8 || width == 16 ? width : 4;
}

tsr_status limit_memory(const rig *r, limit l, limit_result *out, tsr_error *err)
{
    const size_t bytes = rig_big_bytes(r);
    traffic t = {.rig = r, .width = vector_words(r), .seed = 0x5EED0000u + (cl_uint)l};
    tsr_status st = rig_buffer(r, CL_MEM_READ_WRITE, bytes, &t.a, err);

    if (!st && l == LIMIT_MEMORY_COPY)
        st = rig_buffer(r, CL_MEM_READ_WRITE, bytes, &t.b, err);
    for (size_t i = 0; i < sizeof(walks) / sizeof(walks[0]) && !st; i++) {
        t.walk = &walks[i];
        if (t.walk->cpu != r->cpu || (t.walk->stream && l == LIMIT_MEMORY_READ))
            continue;
        divide(&t, bytes);
        st = rig_way_ended(measure_walk(&t, l, out, err), out);
        t.seed += LIMIT_COUNT; /* the words of one walk never pass for another's */
    }
    if (t.b)
        clReleaseMemObject(t.b);
    if (t.a)
        clReleaseMemObject(t.a);
    return st;
}
