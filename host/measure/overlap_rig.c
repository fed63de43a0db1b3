/* clCreateCommandQueue: the call that devices of every version take. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include "measure/overlap_rig.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "core/groups.h"
#include "session/events.h"

enum { GROUP = 256 };

const affine overlap_round = {1664525u, 1013904223u};

/* First `a`, then `b`. */
static affine both(affine a, affine b)
{
    return (affine){a.multiplier * b.multiplier, a.increment * b.multiplier + b.increment};
}

affine overlap_rounds(size_t rounds)
{
    affine all = {1, 0}, power = overlap_round;

    for (; rounds; rounds /= 2) {
        if (rounds % 2)
            all = both(all, power);
        power = both(power, power);
    }
    return all;
}

/* ---- words --------------------------------------------------------------------------------- */

/* Different in every place, and in each place for every salt. */
static uint32_t word(uint32_t salt, size_t i)
{
    return salt + (uint32_t)i * 2654435761u;
}

static void fill(const overlap_chunk *c, uint32_t salt)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < c->count; i++) {
        c->in[i] = word(salt, c->begin + i);
        c->out[i] = ~0u;
    }
}

/* Whether the chunk's results are what `map` makes of its words. */
static tsr_status check(const overlap_chunk *c, uint32_t salt, affine map, const char *where,
                        tsr_error *err)
{
    size_t first = c->count;

#pragma omp parallel for schedule(static) reduction(min : first)
    for (size_t i = 0; i < c->count; i++)
        if (i < first && c->out[i] != map.multiplier * word(salt, c->begin + i) + map.increment)
            first = i;
    if (first == c->count)
        return TSR_OK;
    return tsr_fail(err, TSR_EBOUND, 0, "word %zu is %u %s, and should be %u", c->begin + first,
                    c->out[first], where,
                    map.multiplier * word(salt, c->begin + first) + map.increment);
}

/* ---- memory -------------------------------------------------------------------------------- */

static bool goes_in(const overlap_job *j)
{
    return j->way != OVERLAP_COPY_OUT;
}

static bool goes_out(const overlap_job *j)
{
    return j->way != OVERLAP_COPY_IN;
}

static tsr_status take_words(overlap_rig *r, uint32_t **pageable, pinned *pin, uint32_t **out,
                             tsr_error *err)
{
    const size_t bytes = r->words * sizeof(uint32_t);
    tsr_status st;

    if (r->job.memory == OVERLAP_PAGEABLE) {
        *out = *pageable = malloc(bytes);
        return *out ? TSR_OK : tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu bytes", bytes);
    }
    st = pinned_take(r->session, bytes, pin, err);
    if (!st)
        *out = (uint32_t *)(void *)pin->at;
    return st;
}

/* Shared virtual memory is handed over allocation by allocation, so that each chunk has its own. */
static tsr_status take_shared(overlap_rig *r, tsr_error *err)
{
    for (size_t i = 0; i < r->chunk_count; i++) {
        overlap_chunk *c = &r->chunks[i];
        const size_t bytes = c->count * sizeof(uint32_t);

        c->in = clSVMAlloc(r->session->context, CL_MEM_READ_ONLY, bytes, 0);
        c->out = clSVMAlloc(r->session->context, CL_MEM_WRITE_ONLY, bytes, 0);
        if (!c->in || !c->out)
            return tsr_fail(err, TSR_ECL, 0, "clSVMAlloc(%zu bytes)", bytes);
    }
    return TSR_OK;
}

static tsr_status take_memory(overlap_rig *r, tsr_error *err)
{
    uint32_t *in = NULL, *out = NULL;
    tsr_status st;

    for (size_t i = 0; i < r->chunk_count; i++) {
        const size_t begin = overlap_chunk_begin(r->words, r->chunk_count, i);

        r->chunks[i].begin = begin;
        r->chunks[i].count = overlap_chunk_begin(r->words, r->chunk_count, i + 1) - begin;
    }
    if (r->job.memory == OVERLAP_SVM)
        return take_shared(r, err);
    st = take_words(r, &r->pageable_in, &r->pinned_in, &in, err);
    st = st ? st : take_words(r, &r->pageable_out, &r->pinned_out, &out, err);
    for (size_t i = 0; i < r->chunk_count && !st; i++) {
        r->chunks[i].in = in + r->chunks[i].begin;
        r->chunks[i].out = out + r->chunks[i].begin;
    }
    return st;
}

static tsr_status take_buffer(const overlap_rig *r, cl_mem *out, tsr_error *err)
{
    const size_t bytes = size_div_up(r->words, r->chunk_count) * sizeof(uint32_t);
    cl_int rc;

    *out = clCreateBuffer(r->session->context, CL_MEM_READ_WRITE, bytes, NULL, &rc);
    return *out ? TSR_OK : tsr_fail(err, TSR_ECL, rc, "clCreateBuffer(%zu bytes)", bytes);
}

/* The lane that the results of OVERLAP_BOTH_WAYS, and of copies alone, are read on. */
static size_t out_lane(const overlap_job *j)
{
    return j->way == OVERLAP_BOTH_WAYS;
}

static tsr_status take_buffers(overlap_rig *r, tsr_error *err)
{
    const overlap_job *j = &r->job;
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < r->lane_count && !st && j->memory != OVERLAP_SVM; i++) {
        const bool each = j->way == OVERLAP_PIPELINE;

        if (each || (goes_in(j) && i == 0))
            st = take_buffer(r, &r->lanes[i].in, err);
        if (!st && (each || (goes_out(j) && i == out_lane(j))))
            st = take_buffer(r, &r->lanes[i].out, err);
    }
    return st;
}

tsr_status overlap_rig_open(tsr_session *s, cl_kernel kernel, size_t words, size_t rounds,
                            const overlap_job *j, overlap_rig *out, tsr_error *err)
{
    const bool pipeline = j->way == OVERLAP_PIPELINE;
    tsr_status st;

    *out = (overlap_rig){.session = s,
                         .kernel = kernel,
                         .job = *j,
                         .words = words,
                         .rounds = rounds,
                         .chunk_count = pipeline ? j->chunks : 1,
                         .lane_count = pipeline ? j->queues : 1 + out_lane(j)};
    out->chunks = calloc(out->chunk_count, sizeof(*out->chunks));
    out->lanes = calloc(out->lane_count, sizeof(*out->lanes));
    if (!out->chunks || !out->lanes)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu chunks", out->chunk_count);
    st = take_memory(out, err);
    return st ? st : take_buffers(out, err);
}

tsr_status overlap_rig_queues(overlap_rig *r, cl_command_queue_properties properties,
                              tsr_error *err)
{
    for (size_t i = 0; i < r->lane_count; i++) {
        cl_int rc;

        if (r->lanes[i].queue)
            clReleaseCommandQueue(r->lanes[i].queue);
        r->lanes[i].queue =
            clCreateCommandQueue(r->session->context, r->session->device.id, properties, &rc);
        if (!r->lanes[i].queue)
            return tsr_fail(err, TSR_ECL, rc, "clCreateCommandQueue %zu of %zu", i + 1,
                            r->lane_count);
    }
    return TSR_OK;
}

static void free_shared(const overlap_rig *r)
{
    for (size_t i = 0; i < r->chunk_count; i++) {
        const overlap_chunk *c = &r->chunks[i];

        if (c->in_mapped)
            clEnqueueSVMUnmap(r->session->queue, c->in, 0, NULL, NULL);
        if (c->out_mapped)
            clEnqueueSVMUnmap(r->session->queue, c->out, 0, NULL, NULL);
    }
    queue_settle(r->session->queue);
    for (size_t i = 0; i < r->chunk_count; i++) {
        if (r->chunks[i].in)
            clSVMFree(r->session->context, r->chunks[i].in);
        if (r->chunks[i].out)
            clSVMFree(r->session->context, r->chunks[i].out);
    }
}

void overlap_rig_close(overlap_rig *r)
{
    for (size_t i = 0; r->lanes && i < r->lane_count; i++) {
        overlap_lane *l = &r->lanes[i];

        if (l->queue) {
            queue_settle(l->queue);
            clReleaseCommandQueue(l->queue);
        }
        if (l->in)
            clReleaseMemObject(l->in);
        if (l->out)
            clReleaseMemObject(l->out);
    }
    if (r->chunks && r->job.memory == OVERLAP_SVM)
        free_shared(r);
    if (r->session) {
        pinned_drop(r->session, &r->pinned_in);
        pinned_drop(r->session, &r->pinned_out);
    }
    free(r->pageable_in);
    free(r->pageable_out);
    free(r->chunks);
    free(r->lanes);
    *r = (overlap_rig){0};
}

/* ---- before and after a run ---------------------------------------------------------------- */

/* The host takes a chunk's two allocations, and gives back that of the results. */
static tsr_status fill_shared(const overlap_rig *r, overlap_chunk *c, uint32_t salt, tsr_error *err)
{
    const size_t bytes = c->count * sizeof(uint32_t);
    const cl_command_queue q = r->session->queue;
    cl_int rc = CL_SUCCESS;

    if (!c->in_mapped)
        rc = clEnqueueSVMMap(q, CL_TRUE, CL_MAP_WRITE, c->in, bytes, 0, NULL, NULL);
    c->in_mapped = rc == CL_SUCCESS;
    if (rc == CL_SUCCESS && c->out_mapped)
        rc = clEnqueueSVMUnmap(q, c->out, 0, NULL, NULL);
    c->out_mapped = false;
    if (rc == CL_SUCCESS)
        rc = clEnqueueSVMMap(q, CL_TRUE, CL_MAP_WRITE, c->out, bytes, 0, NULL, NULL);
    if (rc == CL_SUCCESS) {
        c->out_mapped = true;
        fill(c, salt);
        rc = clEnqueueSVMUnmap(q, c->out, 0, NULL, NULL);
        c->out_mapped = false;
    }
    return rc == CL_SUCCESS
               ? TSR_OK
               : tsr_fail(err, TSR_ECL, rc, "mapping %zu bytes of shared virtual memory", bytes);
}

/* Buffers that are copied alone: what is read has the words, what is written has none of them. */
static cl_int fill_buffers(const overlap_rig *r)
{
    const overlap_chunk *c = &r->chunks[0];
    const size_t bytes = c->count * sizeof(uint32_t);
    const cl_uint none = ~0u;
    cl_int rc = CL_SUCCESS;

    if (r->job.way == OVERLAP_PIPELINE)
        return rc;
    if (goes_in(&r->job))
        rc = clEnqueueFillBuffer(r->session->queue, r->lanes[0].in, &none, sizeof(none), 0, bytes,
                                 0, NULL, NULL);
    if (rc == CL_SUCCESS && goes_out(&r->job))
        rc = clEnqueueWriteBuffer(r->session->queue, r->lanes[out_lane(&r->job)].out, CL_TRUE, 0,
                                  bytes, c->in, 0, NULL, NULL);
    return rc;
}

static tsr_status prepare(overlap_rig *r, uint32_t salt, tsr_error *err)
{
    tsr_status st = TSR_OK;
    cl_int rc;

    for (size_t i = 0; i < r->chunk_count && !st; i++) {
        if (r->job.memory == OVERLAP_SVM)
            st = fill_shared(r, &r->chunks[i], salt, err);
        else
            fill(&r->chunks[i], salt);
    }
    if (st)
        return st;
    rc = fill_buffers(r);
    if (rc == CL_SUCCESS)
        rc = clFinish(r->session->queue);
    return rc == CL_SUCCESS ? TSR_OK : tsr_fail(err, TSR_ECL, rc, "preparing a run");
}

static tsr_status check_run(overlap_rig *r, uint32_t salt, tsr_error *err)
{
    const affine as_it_was = {1, 0};
    overlap_chunk *c = &r->chunks[0];
    tsr_status st = TSR_OK;
    cl_int rc;

    if (r->job.way == OVERLAP_PIPELINE) {
        const affine map = overlap_rounds(r->rounds);

        for (size_t i = 0; i < r->chunk_count && !st; i++)
            st = check(&r->chunks[i], salt, map, "after the kernel", err);
        return st;
    }
    if (goes_out(&r->job))
        st = check(c, salt, as_it_was, "on the host", err);
    if (st || !goes_in(&r->job))
        return st;
    rc = clEnqueueReadBuffer(r->session->queue, r->lanes[0].in, CL_TRUE, 0,
                             c->count * sizeof(uint32_t), c->out, 0, NULL, NULL);
    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "reading back what was copied in");
    return check(c, salt, as_it_was, "on the device", err);
}

/* ---- the run ------------------------------------------------------------------------------- */

static cl_int compute(const overlap_rig *r, const overlap_lane *l, const overlap_chunk *c,
                      cl_event *event)
{
    const size_t local = group_fit(session_facts(r->session), 0, GROUP);
    const size_t global = size_round_up(c->count, local);
    const cl_uint count = (cl_uint)c->count, rounds = (cl_uint)r->rounds;
    const bool shared = r->job.memory == OVERLAP_SVM;
    cl_int rc = shared ? clSetKernelArgSVMPointer(r->kernel, 0, c->in)
                       : clSetKernelArg(r->kernel, 0, sizeof(l->in), &l->in);

    if (rc == CL_SUCCESS)
        rc = shared ? clSetKernelArgSVMPointer(r->kernel, 1, c->out)
                    : clSetKernelArg(r->kernel, 1, sizeof(l->out), &l->out);
    if (rc == CL_SUCCESS)
        rc = clSetKernelArg(r->kernel, 2, sizeof(count), &count);
    if (rc == CL_SUCCESS)
        rc = clSetKernelArg(r->kernel, 3, sizeof(rounds), &rounds);
    if (rc == CL_SUCCESS)
        rc = clEnqueueNDRangeKernel(l->queue, r->kernel, 1, NULL, &global, &local, 0, NULL, event);
    return rc;
}

static cl_int enqueue(const overlap_rig *r, const overlap_lane *l, overlap_chunk *c, bar_what what,
                      cl_event *event)
{
    const size_t bytes = c->count * sizeof(uint32_t);
    const bool shared = r->job.memory == OVERLAP_SVM;
    cl_int rc;

    switch (what) {
    case BAR_COPY_IN:
        if (!shared)
            return clEnqueueWriteBuffer(l->queue, l->in, CL_FALSE, 0, bytes, c->in, 0, NULL, event);
        rc = clEnqueueSVMUnmap(l->queue, c->in, 0, NULL, event);
        c->in_mapped = c->in_mapped && rc != CL_SUCCESS;
        return rc;
    case BAR_KERNEL:
        return compute(r, l, c, event);
    case BAR_COPY_OUT:
        if (!shared)
            return clEnqueueReadBuffer(l->queue, l->out, CL_FALSE, 0, bytes, c->out, 0, NULL,
                                       event);
        rc = clEnqueueSVMMap(l->queue, CL_FALSE, CL_MAP_READ, c->out, bytes, 0, NULL, event);
        c->out_mapped = rc == CL_SUCCESS;
        return rc;
    }
    return CL_INVALID_VALUE;
}

/* The commands that a timeline is made of. */
typedef struct marks {
    size_t count;
    struct {
        cl_event event;
        size_t lane;
        bar_what what;
    } of[RESULT_BARS_MAX];
} marks;

static const char *const command_names[] = {"copying a chunk in", "enqueueing the kernel",
                                            "copying a chunk out"};

static cl_int begin(overlap_rig *r, size_t lane, size_t chunk, bar_what what, marks *m)
{
    const bool marked = m && m->count < RESULT_BARS_MAX;
    const cl_int rc = enqueue(r, &r->lanes[lane], &r->chunks[chunk], what,
                              marked ? &m->of[m->count].event : NULL);

    if (rc != CL_SUCCESS)
        r->broken = command_names[what];
    if (marked && rc == CL_SUCCESS) {
        m->of[m->count].lane = lane;
        m->of[m->count++].what = what;
    }
    return rc;
}

/* Flush each queue once it has something to do. */
static cl_int begin_all(overlap_rig *r, marks *m)
{
    cl_int rc = CL_SUCCESS;

    if (r->job.way != OVERLAP_PIPELINE) {
        if (goes_in(&r->job))
            rc = begin(r, 0, 0, BAR_COPY_IN, m);
        if (rc == CL_SUCCESS)
            rc = clFlush(r->lanes[0].queue);
        if (rc == CL_SUCCESS && goes_out(&r->job))
            rc = begin(r, out_lane(&r->job), 0, BAR_COPY_OUT, m);
        return rc;
    }
    for (size_t c = 0; c < r->chunk_count && rc == CL_SUCCESS; c++) {
        const size_t lane = c % r->lane_count;

        for (int what = BAR_COPY_IN; what <= BAR_COPY_OUT && rc == CL_SUCCESS; what++)
            rc = begin(r, lane, c, (bar_what)what, m);
        if (rc == CL_SUCCESS)
            rc = clFlush(r->lanes[lane].queue);
    }
    return rc;
}

/* After a failure too: the memory is used again, or freed, next. */
static cl_int end_all(const overlap_rig *r, cl_int rc)
{
    for (size_t i = 0; i < r->lane_count; i++)
        if (clFlush(r->lanes[i].queue) != CL_SUCCESS && rc == CL_SUCCESS)
            rc = CL_OUT_OF_RESOURCES;
    for (size_t i = 0; i < r->lane_count; i++) {
        const cl_int finished = clFinish(r->lanes[i].queue);

        rc = rc == CL_SUCCESS ? finished : rc;
    }
    session_end_build(r->session); /* PoCL compiles at the first launch */
    return rc;
}

static cl_int clock_of(cl_event e, cl_profiling_info what, cl_ulong *out)
{
    return clGetEventProfilingInfo(e, what, sizeof(*out), out, NULL);
}

/* The bars, from the first START on; the events are released.  A command whose times the driver
 * does not report has no bar. */
static void draw(marks *m, result_row *row)
{
    cl_ulong start[RESULT_BARS_MAX], end[RESULT_BARS_MAX], first = ~(cl_ulong)0;
    size_t n = 0;

    for (size_t i = 0; i < m->count; i++) {
        if (clock_of(m->of[i].event, CL_PROFILING_COMMAND_START, &start[n]) == CL_SUCCESS &&
            clock_of(m->of[i].event, CL_PROFILING_COMMAND_END, &end[n]) == CL_SUCCESS &&
            start[n] <= end[n]) {
            if (start[n] < first)
                first = start[n];
            row->bars[n].queue = m->of[i].lane;
            row->bars[n++].what = m->of[i].what;
        }
        clReleaseEvent(m->of[i].event);
    }
    row->bar_count = n;
    for (size_t i = 0; i < n; i++) {
        row->bars[i].start_ns = (double)(start[i] - first);
        row->bars[i].end_ns = (double)(end[i] - first);
    }
}

tsr_status overlap_rig_run(overlap_rig *r, uint32_t salt, double *ns, result_row *timeline,
                           tsr_error *err)
{
    marks m = {0};
    tsr_status st = prepare(r, salt, err);
    uint64_t start;
    cl_int rc;

    if (st)
        return st;
    r->broken = "waiting for the queues";
    start = clock_ns();
    rc = end_all(r, begin_all(r, timeline ? &m : NULL));
    *ns = (double)(clock_ns() - start);
    if (timeline)
        draw(&m, timeline);
    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "%s, of %zu chunks over %zu queues", r->broken,
                        r->chunk_count, r->lane_count);
    return check_run(r, salt, err);
}
