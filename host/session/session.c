/* clCreateCommandQueue: the call that devices of every version take. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <stdlib.h>
#include <string.h>

#include "base/background.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/forks.h"
#include "session/events.h"
#include "session/pinned.h"
#include "session/probe.h"
#include "session/program.h"
#include "session/source.h"
#include "session/state.h"

static tsr_status apply_options(tsr_session *s, const tsr_session_options *options, tsr_error *err)
{
    const char *folder = options ? options->kernel_dir : NULL;
    tsr_status st;

    if (!folder)
        folder = getenv("TESSERA_KERNEL_DIR");
    if (folder)
        text_append(&s->kernel_dir, folder);
    st = source_check(folder, err);
    if (st)
        return st;
    cache_open(&s->cache);
    s->copies = options && options->copies;
    s->same_kernels = (options && options->same_kernels) || getenv("TESSERA_SAME_KERNELS");
    s->host_calls_memory = options ? options->device_memory : 0;
    if (options && options->no_cache) {
        strcpy(s->cache.why_off, "the session asked for none");
        s->cache.wanted = false;
    }
    if (s->kernel_dir.failed)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for a session");
    return TSR_OK;
}

/* The device of a session that names none, with why it is the host where that is so. */
static tsr_status find_default(tsr_device *out, text *why_host, tsr_error *err)
{
    const char *wanted = getenv("TESSERA_DEVICE");
    const tsr_device *found = NULL;
    tsr_devices *list = NULL;
    tsr_error why = {0};
    size_t count;
    tsr_status st = tsr_devices_find(&list, err);

    if (st)
        return st;
    st = tsr_devices_select(list, NULL, &found, 1, &count, &why);
    if ((st == TSR_ENODEVICE || st == TSR_EUNSUPPORTED) && (!wanted || !*wanted)) {
        const char *failure = st == TSR_ENODEVICE ? tsr_devices_failure(list, 0) : NULL;

        found = tsr_devices_get(list, tsr_devices_count(list) - 1);
        text_format(why_host, "%s", failure ? failure : why.message);
        st = TSR_OK;
    }
    if (st == TSR_OK)
        *out = *found;
    else if (err)
        *err = why;
    tsr_devices_close(list);
    return st;
}

static tsr_status open_session(const tsr_device *device, const tsr_session_options *options,
                               tsr_session **out, tsr_error *err)
{
    cl_command_queue_properties wanted =
        options && options->profile ? CL_QUEUE_PROFILING_ENABLE : 0;
    tsr_status st = TSR_OK;
    tsr_session *s;
    cl_int rc;

    if (device->facts.kind != DEVICE_HOST && (st = forks_check_opencl(err)))
        return st;
    s = calloc(1, sizeof(*s));
    if (!s)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for a session");
    s->forks = forks_so_far();
    s->device = *device;
    s->profiling = wanted != 0;
    st = apply_options(s, options, err);
    if (st != TSR_OK)
        goto cleanup;
    if (device->facts.kind != DEVICE_HOST) {
        const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                    (cl_context_properties)device->platform, 0};

        s->context = clCreateContext(properties, 1, &device->id, NULL, NULL, &rc);
        if (!s->context) {
            st = tsr_fail(err, TSR_ECL, rc, "clCreateContext on %s", device->facts.name);
            goto cleanup;
        }
        s->own_context = true;
        s->queue = clCreateCommandQueue(s->context, device->id, wanted, &rc);
        if (!s->queue) {
            st = tsr_fail(err, TSR_ECL, rc, "clCreateCommandQueue on %s", device->facts.name);
            goto cleanup;
        }
    }
    *out = s;
    s = NULL; /* moved to the caller */

cleanup:
    tsr_session_close(s);
    return st;
}

tsr_status tsr_session_open(const tsr_device *device, const tsr_session_options *options,
                            tsr_session **out, tsr_error *err)
{
    tsr_status st = TSR_OK;
    tsr_device chosen;
    text why_host = {0};

    if (!out)
        return tsr_fail(err, TSR_EINVAL, 0, "tsr_session_open: out is NULL");
    if (!device)
        st = find_default(&chosen, &why_host, err);
    st = st ? st : open_session(device ? device : &chosen, options, out, err);
    if (st == TSR_OK)
        (*out)->why_host = why_host;
    else
        text_free(&why_host);
    return st;
}

/* The device, context and properties of a queue. */
static cl_int read_queue(cl_command_queue queue, tsr_session *s, cl_device_id *id,
                         cl_platform_id *platform)
{
    cl_command_queue_properties properties = 0;
    cl_int rc;

    rc = clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(cl_device_id), id, NULL);
    if (rc == CL_SUCCESS)
        rc = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(cl_context), &s->context, NULL);
    if (rc == CL_SUCCESS)
        rc = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(properties), &properties,
                                   NULL);
    if (rc == CL_SUCCESS)
        rc = clGetDeviceInfo(*id, CL_DEVICE_PLATFORM, sizeof(cl_platform_id), platform, NULL);
    s->out_of_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
    s->profiling = (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
    return rc;
}

tsr_status tsr_session_adopt(cl_command_queue queue, const tsr_session_options *options,
                             tsr_session **out, tsr_error *err)
{
    tsr_status st = TSR_OK;
    cl_platform_id platform;
    cl_device_id id;
    tsr_session *s;
    cl_int rc;

    if (!out)
        return tsr_fail(err, TSR_EINVAL, 0, "tsr_session_adopt: out is NULL");
    if (!queue)
        return tsr_fail(err, TSR_EINVAL, 0, "tsr_session_adopt: queue is NULL");
    st = forks_check_opencl(err);
    if (st)
        return st;
    forks_note_opencl();
    s = calloc(1, sizeof(*s));
    if (!s)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for a session");
    s->forks = forks_so_far();
    rc = read_queue(queue, s, &id, &platform);
    if (rc != CL_SUCCESS) {
        s->context = NULL; /* not retained */
        st = tsr_fail(err, TSR_ECL, rc, "reading the queue to adopt");
        goto cleanup;
    }
    clRetainContext(s->context);
    clRetainCommandQueue(queue);
    s->queue = queue;
    st = device_read(platform, id, &s->device, err);
    if (st != TSR_OK)
        goto cleanup;
    st = apply_options(s, options, err);
    if (st != TSR_OK)
        goto cleanup;
    *out = s;
    s = NULL; /* moved to the caller */

cleanup:
    tsr_session_close(s);
    return st;
}

static void destroy(void *context)
{
    clReleaseContext(context);
}

/* PoCL takes 0.1 s to destroy what its compiler keeps in a context, and NVIDIA's driver 0.05 to 0.1
 * s for any. */
static bool is_slow_to_destroy(const tsr_session *s)
{
    const device_facts *d = &s->device.facts;

    return d->compiles_late ? s->build_ns || s->probe_ns : d->nvidia && s->own_context;
}

/* Whether a process may end with a context: NVIDIA's driver then drops it in less time than it
 * takes to destroy it, PoCL's threads go on. */
static bool leaves_no_threads(const tsr_session *s)
{
    return s->device.facts.nvidia && s->own_context;
}

static void destroy_in_background(cl_context context)
{
    if (!background_start(destroy, context))
        clReleaseContext(context);
}

void tsr_session_close(tsr_session *s)
{
    /* The driver of a session from before a fork would wait for threads that the child lacks: what
     * the session has stays until the process ends. */
    if (!s || session_check(s, NULL))
        return;
    if (s->queue)
        queue_settle(s->queue);
    session_built(s);
    programs_save(s);
    programs_release(s);
    if (s->copies_kept.data)
        s->copies_kept.release(s->copies_kept.data);
    pinned_release(s);
    if (s->workspace.memory)
        clReleaseMemObject(s->workspace.memory);
    if (s->image.memory)
        clReleaseMemObject(s->image.memory);
    if (s->group_counters.memory)
        clReleaseMemObject(s->group_counters.memory);
    if (s->side)
        clReleaseCommandQueue(s->side); /* nothing runs there: `queue` has waited for it */
    if (s->queue)
        clReleaseCommandQueue(s->queue);
    if (s->context && s->ends_process && leaves_no_threads(s))
        s->context = NULL; /* 0.05 s that a user would wait for */
    else if (s->context && is_slow_to_destroy(s))
        destroy_in_background(s->context);
    else if (s->context)
        clReleaseContext(s->context);
    if (s->background_kept.data)
        s->background_kept.release(s->background_kept.data);
    if (s->tuning.data)
        s->tuning.release(s->tuning.data);
    cache_close(&s->cache);
    text_free(&s->kernel_dir);
    text_free(&s->build_log);
    text_free(&s->why_host);
    free(s);
}

cl_context tsr_session_context(const tsr_session *s)
{
    return s ? s->context : NULL;
}

cl_command_queue tsr_session_queue(const tsr_session *s)
{
    return s ? s->queue : NULL;
}

const char *tsr_session_build_log(const tsr_session *s)
{
    return s ? text_get(&s->build_log) : "";
}

tsr_status session_check(const tsr_session *s, tsr_error *err)
{
    return s->queue ? forks_check_since(s->forks, err) : TSR_OK;
}

void session_building(tsr_session *s, const char *doing, const char *what)
{
    text line = {0};

    if (!s->watch)
        return;
    session_built(s);
    text_format(&line, "%s %s", doing, what);
    s->watch->begin(s->watch->context, text_get(&line));
    s->watched = true;
    text_free(&line);
}

void session_built(tsr_session *s)
{
    if (s->watched)
        s->watch->end(s->watch->context);
    s->watched = false;
}

void session_end_build(tsr_session *s)
{
    session_built(s);
    cache_unlock(&s->building);
}

const device_facts *session_facts(const tsr_session *s)
{
    return &s->device.facts;
}

tsr_status session_probe(tsr_session *s, unsigned features, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (unsigned f = 0; f < FEATURE_COUNT && st == TSR_OK; f++)
        if (features & 1u << f && s->device.facts.feature[f] == FEATURE_UNKNOWN) {
            const uint64_t start = clock_ns();

            st = probe_feature(s, (feature)f, err);
            s->probe_ns += clock_ns() - start;
        }
    return st;
}
