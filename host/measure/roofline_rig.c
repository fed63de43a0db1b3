/* clCreateCommandQueue: the call that devices of every version take. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include "measure/roofline_rig.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/sizes.h"
#include "device/query.h"
#include "session/events.h"

enum { SAMPLES_MIN = 5, SAMPLES_MAX = 500 };

static tsr_status make_queue(tsr_session *s, cl_command_queue_properties properties,
                             cl_command_queue *out, tsr_error *err)
{
    cl_int rc;

    *out = clCreateCommandQueue(s->context, s->device.id, properties, &rc);
    if (!*out)
        return tsr_fail(err, TSR_ECL, rc, "clCreateCommandQueue on %s", s->device.facts.name);
    return TSR_OK;
}

tsr_status rig_queue(tsr_session *s, cl_command_queue *out, tsr_error *err)
{
    return make_queue(s, 0, out, err);
}

tsr_status rig_open(tsr_session *s, rig *out, tsr_error *err)
{
    const bool cpu = s->device.facts.kind == DEVICE_CPU;
    tsr_status st;

    /* A CPU's cores are shared: samples within a time slice of its scheduler, and many of them, so
     * that some are undisturbed. */
    *out = (rig){.session = s,
                 .facts = &s->device.facts,
                 .cpu = cpu,
                 .sample_ns = cpu ? 4e6 : 5e6,
                 .seconds = cpu ? 0.7 : 0.25};
    st = make_queue(s, CL_QUEUE_PROFILING_ENABLE, &out->timed, err);
    for (size_t i = 0; i < 2 && !st; i++)
        st = rig_queue(s, &out->queue[i], err);
    if (st)
        rig_close(out);
    return st;
}

void rig_close(rig *r)
{
    const cl_command_queue queues[] = {r->timed, r->queue[0], r->queue[1]};

    for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
        if (!queues[i])
            continue;
        queue_settle(queues[i]);
        clReleaseCommandQueue(queues[i]);
    }
    *r = (rig){0};
}

/* Operations and bytes in 10^9 a second, launches in microseconds each. */
static double value_of(limit l, double amount, double ns)
{
    return limit_is_cost(l) ? ns * 1e-3 : amount / ns;
}

static bool better(limit l, double value, const limit_result *than)
{
    return than->value == 0 || (limit_is_cost(l) ? value < than->value : value > than->value);
}

tsr_status rig_sample(const rig *r, const way *w, limit l, limit_result *best, tsr_error *err)
{
    double *samples = calloc(SAMPLES_MAX, sizeof(*samples));
    double ns, value;
    uint64_t start;
    size_t n = 0;
    tsr_status st;
    timing t;

    if (!samples)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %d samples", SAMPLES_MAX);
    st = w->run(w->state, &ns, err); /* warm-up */
    start = clock_ns();
    while (!st && n < SAMPLES_MAX &&
           (n < SAMPLES_MIN || (double)(clock_ns() - start) < r->seconds * 1e9)) {
        st = w->run(w->state, &samples[n], err);
        if (!st && !(samples[n] > 0))
            st = tsr_fail(err, TSR_ECL, 0, "by the device's clock it took %g ns", samples[n]);
        n++;
    }
    if (!st) {
        t = timing_of(samples, n, w->calls ? w->calls : 1);
        value = value_of(l, w->amount, t.min_ns);
        if (better(l, value, best)) {
            best->value = value;
            best->amount = w->amount;
            best->time = t;
            snprintf(best->way, sizeof(best->way), "%s", w->how ? w->how : "");
        }
    }
    free(samples);
    return st;
}

tsr_status rig_way_ended(tsr_status st, const limit_result *best)
{
    return best->value > 0 && st != TSR_EBOUND && st != TSR_ENOMEM ? TSR_OK : st;
}

tsr_status rig_launch(const rig *r, cl_kernel kernel, size_t global, size_t local, double *ns,
                      tsr_error *err)
{
    cl_event done = NULL;
    double unused;
    tsr_status st;
    cl_int rc = clEnqueueNDRangeKernel(r->timed, kernel, 1, NULL, &global, &local, 0, NULL, &done);

    if (rc == CL_SUCCESS)
        rc = clWaitForEvents(1, &done);
    session_end_build(r->session); /* PoCL compiles at the first launch */
    st = rc == CL_SUCCESS ? events_span(done, done, ns ? ns : &unused, err)
                          : tsr_fail(err, TSR_ECL, rc, "launching %zu work-items in groups of %zu",
                                     global, local);
    if (done)
        clReleaseEvent(done);
    return st;
}

tsr_status rig_kernel(const rig *r, const char *source, const char *options, const char *entry,
                      cl_kernel *out, tsr_error *err)
{
    const program_entry *found;
    program *p;
    tsr_status st;
    text runs = {0};

    text_format(&runs, " %s", entry);
    st = program_get(r->session, source, options, text_get(&runs), &p, err);
    text_free(&runs);
    st = st ? st : program_kernel(p, entry, &found, err);
    if (!st)
        *out = found->kernel;
    return st;
}

tsr_status rig_buffer(const rig *r, cl_mem_flags flags, size_t bytes, cl_mem *out, tsr_error *err)
{
    cl_int rc;
    cl_mem buffer = clCreateBuffer(r->session->context, flags, bytes, NULL, &rc);

    if (!buffer)
        return tsr_fail(err, TSR_ECL, rc, "clCreateBuffer(%zu bytes)", bytes);
    *out = buffer;
    return TSR_OK;
}

tsr_status rig_read(const rig *r, cl_mem from, void *to, size_t bytes, tsr_error *err)
{
    cl_int rc = clEnqueueReadBuffer(r->timed, from, CL_TRUE, 0, bytes, to, 0, NULL, NULL);

    return rc == CL_SUCCESS ? TSR_OK
                            : tsr_fail(err, TSR_ECL, rc, "clEnqueueReadBuffer(%zu bytes)", bytes);
}

tsr_status rig_spoil(const rig *r, cl_mem buffer, size_t bytes, tsr_error *err)
{
    const cl_uint pattern = 0xFFFFFFFFu;
    cl_int rc =
        clEnqueueFillBuffer(r->timed, buffer, &pattern, sizeof(pattern), 0, bytes, 0, NULL, NULL);

    return rc == CL_SUCCESS ? TSR_OK
                            : tsr_fail(err, TSR_ECL, rc, "clEnqueueFillBuffer(%zu bytes)", bytes);
}

tsr_status rig_args(cl_kernel kernel, const rig_arg *args, size_t count, tsr_error *err)
{
    for (size_t i = 0; i < count; i++) {
        cl_int rc = clSetKernelArg(kernel, (cl_uint)i, args[i].bytes, args[i].value);

        if (rc != CL_SUCCESS)
            return tsr_fail(err, TSR_ECL, rc, "clSetKernelArg(%zu)", i);
    }
    return TSR_OK;
}

size_t rig_big_bytes(const rig *r)
{
    const size_t mib = (size_t)1 << 20;
    cl_ulong cached = 0;
    uint64_t bytes = r->cpu ? 128 * mib : 2048 * mib;

    query(r->session->device.id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, &cached, sizeof(cached));
    if (bytes / 2 < cached)
        bytes = 2 * cached;
    /* Two of them are in use at once, and others use the memory too. */
    if (bytes > r->facts->global_memory / 8)
        bytes = r->facts->global_memory / 8;
    if (bytes > r->facts->max_allocation)
        bytes = r->facts->max_allocation;
    /* Halves, quarters and work-groups of it are whole. */
    return (size_t)(bytes / (64 * mib) ? bytes / (64 * mib) * (64 * mib) : bytes / mib * mib);
}
