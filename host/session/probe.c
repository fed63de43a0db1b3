/* clCreateCommandQueue: the call that devices of every version take. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include "session/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "device/query.h"
#include "session/program.h"
#include "session/source.h"

enum {
    PROBE_ITEMS = 64, /* of a probe's one work-group */
    WARP_GROUP = 128, /* work-items that a wgmma takes */
    PROBE_FORMAT = 3  /* part of every key: raise it when the C side of a probe changes */
};

/* Sizes of static local memory to try, largest first, in bytes: what NVIDIA's chips of compute
 * capability 9.0 (227 KiB less 1 KiB that the compiler keeps), 8.0, 8.6 and 7.x hold. */
static const size_t large_local_sizes[] = {231424, 166912, 101376, 65536};

/* What a probe found. */
typedef enum answer {
    ANSWER_YES,
    ANSWER_NO,
    ANSWER_REFUSED, /* the launch: more than the chip holds, or more than is free now */
    ANSWER_NONE     /* something else failed: no answer, and nothing to keep */
} answer;

/* Launch on a queue of the probe's own: the session's may belong to a caller who has work in it. */
static cl_int launch(tsr_session *s, cl_kernel kernel, size_t items, cl_mem buffer, cl_uint *out)
{
    cl_int rc;
    cl_command_queue queue = clCreateCommandQueue(s->context, s->device.id, 0, &rc);

    if (!queue)
        return rc;
    rc = clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffer);
    if (rc == CL_SUCCESS)
        rc = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL);
    if (rc == CL_SUCCESS)
        rc = clFinish(queue);
    if (rc == CL_SUCCESS)
        rc = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, items * sizeof(*out), out, 0, NULL,
                                 NULL);
    clReleaseCommandQueue(queue);
    return rc;
}

static answer launch_failed(cl_int rc)
{
    return rc == CL_OUT_OF_RESOURCES || rc == CL_INVALID_WORK_GROUP_SIZE ? ANSWER_REFUSED
                                                                         : ANSWER_NONE;
}

/* Compile, run one work-group of so many items, on a buffer that comes with the numbers from 0 on,
 * and read one uint each.  ANSWER_NO where the compiler refuses, ANSWER_REFUSED where the launch is
 * refused for what the kernel takes, ANSWER_NONE where something else fails; the reason is then in
 * why. */
static answer run_group(tsr_session *s, const char *source, const char *options, size_t items,
                        cl_uint *out, char *why, size_t why_size)
{
    const size_t most = size_min(s->device.facts.max_work_group, s->device.facts.max_work_item[0]);
    tsr_error err = {0};
    program *p = NULL;
    const program_entry *entry;
    char quiet[128];
    cl_mem buffer;
    cl_int rc;

    if (s->known_only) {
        s->unprobed = true;
        snprintf(why, why_size, "it was not probed yet");
        return ANSWER_NONE;
    }
    /* PoCL 5 writes to standard error how many warnings there are; NVIDIA's compiler says nothing.
     */
    snprintf(quiet, sizeof(quiet), "%s%s", s->device.facts.nvidia ? "" : "-w ", options);

    if (items > most) {
        snprintf(why, why_size, "its probe has work-groups of %zu, and the limit is %zu", items,
                 most);
        return ANSWER_NO;
    }
    if (items * sizeof(*out) > s->device.facts.max_allocation) {
        snprintf(why, why_size, "its probe has a buffer of %zu bytes, and the limit is %llu",
                 items * sizeof(*out), (unsigned long long)s->device.facts.max_allocation);
        return ANSWER_NO;
    }
    if (program_get(s, source, quiet, " probe", &p, &err) != TSR_OK ||
        program_kernel(p, "probe", &entry, &err) != TSR_OK) {
        text_clear(&s->build_log); /* a refusal is the answer that was looked for */
        snprintf(why, why_size, "%s",
                 err.status == TSR_EBUILD ? "the compiler refuses it" : err.message);
        return err.status == TSR_EBUILD || err.status == TSR_EUNSUPPORTED ? ANSWER_NO
                                                                          : launch_failed(err.cl);
    }
    for (unsigned i = 0; i < items; i++)
        out[i] = i;
    buffer = clCreateBuffer(s->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                            items * sizeof(*out), out, &rc);
    if (!buffer) {
        snprintf(why, why_size, "a buffer for the probe: %s (%d)", cl_code_name(rc), rc);
        return ANSWER_NONE;
    }
    rc = launch(s, entry->kernel, items, buffer, out);
    clReleaseMemObject(buffer);
    if (rc == CL_SUCCESS) {
        programs_save(s);
        return ANSWER_YES;
    }
    snprintf(why, why_size, "running the probe: %s (%d)", cl_code_name(rc), rc);
    return launch_failed(rc);
}

static answer run(tsr_session *s, const char *source, const char *options, cl_uint *out, char *why,
                  size_t why_size)
{
    return run_group(s, source, options, PROBE_ITEMS, out, why, why_size);
}

static bool is_nvidia(const device_facts *d, char *why, size_t size)
{
    if (!d->nvidia)
        snprintf(why, size, "the vendor is not NVIDIA");
    return d->nvidia;
}

/* What has instructions that came with a compute capability, 80 for 8.0. */
static bool is_nvidia_from(const device_facts *d, unsigned capability, char *why, size_t size)
{
    if (!is_nvidia(d, why, size))
        return false;
    if (d->nv_capability < capability)
        snprintf(why, size, "compute capability %u.%u, and its instructions come with %u.%u",
                 d->nv_capability / 10, d->nv_capability % 10, capability / 10, capability % 10);
    return d->nv_capability >= capability;
}

/* What has instructions of compute capability 9.0, which later chips have not. */
static bool is_hopper(const device_facts *d, char *why, size_t size)
{
    if (!is_nvidia(d, why, size))
        return false;
    if (d->nv_capability != 90)
        snprintf(why, size, "compute capability %u.%u, and it is used on 9.0 alone",
                 d->nv_capability / 10, d->nv_capability % 10);
    return d->nv_capability == 90;
}

/* Whether each item of a group gave what it should have. */
static answer compare(const cl_uint *got, size_t items, cl_uint (*expected)(unsigned item),
                      char *why, size_t size)
{
    for (unsigned i = 0; i < items; i++) {
        if (got[i] != expected(i)) {
            snprintf(why, size, "it computes wrongly: item %u gave 0x%08x", i, got[i]);
            return ANSWER_NO;
        }
    }
    return ANSWER_YES;
}

/* run_group, and whether each item gave what it should have.  Up to WARP_GROUP items. */
static answer run_expecting(tsr_session *s, const char *source, const char *options, size_t items,
                            cl_uint (*expected)(unsigned item), char *why, size_t size)
{
    cl_uint got[WARP_GROUP];
    const answer ran = run_group(s, source, options, items, got, why, size);

    return ran == ANSWER_YES ? compare(got, items, expected, why, size) : ran;
}

/* "-cl-std=CL3.0" for the device's highest OpenCL C. */
static void standard(const device_facts *d, char *out, size_t size)
{
    snprintf(out, size, "-cl-std=CL%u.%u", d->clc_version / 100, d->clc_version / 10 % 10);
}

/* 1 + i / 1024 in half, squared and rounded to nearest even: the bits of the exact
 * (1 + i / 1024)^2 rounded to 11 bits.  All products lie in [1, 2). */
static cl_uint fp16_expected(unsigned item)
{
    const unsigned exact = (1024 + item) * (1024 + item); /* in units of 2^-20 */

    return 0x3C00 + ((exact + 511 + (exact >> 10 & 1)) >> 10) - 1024;
}

static answer probe_fp16(tsr_session *s, char *why, size_t size)
{
    cl_uint got[PROBE_ITEMS];
    answer ran;

    /* Only NVIDIA's driver is known to compile half without reporting it; PoCL's compiler writes
     * to standard error when it refuses. */
    if (!query_has_extension(s->device.id, "cl_khr_fp16") && !s->device.facts.nvidia) {
        snprintf(why, size, "the device reports none");
        return ANSWER_NO;
    }
    ran = run(s, "probe/probe_fp16.cl", "-cl-std=CL1.2", got, why, size);
    return ran == ANSWER_YES ? compare(got, PROBE_ITEMS, fp16_expected, why, size) : ran;
}

static answer probe_subgroups(tsr_session *s, char *why, size_t size)
{
    cl_uint got[PROBE_ITEMS];
    answer ran;
    cl_uint reported = 1;
    char options[32];

    /* OpenCL 3.0 reports 0 where there are none; asking the compiler then costs time for nothing.
     */
    if (!query_has_extension(s->device.id, "cl_khr_subgroups") &&
        query(s->device.id, CL_DEVICE_MAX_NUM_SUB_GROUPS, &reported, sizeof(reported)) &&
        reported == 0) {
        snprintf(why, size, "the device reports none");
        return ANSWER_NO;
    }
    standard(session_facts(s), options, sizeof(options));
    ran = run(s, "probe/probe_subgroups.cl", options, got, why, size);
    if (ran != ANSWER_YES)
        return ran;
    if (got[0] == 0 || got[0] > PROBE_ITEMS) {
        snprintf(why, size, "it computes wrongly: sums over a sub-group are off");
        return ANSWER_NO;
    }
    for (unsigned i = 0; i < PROBE_ITEMS; i++) {
        if (i < PROBE_ITEMS / got[0] * got[0] && got[i] != got[0]) {
            snprintf(why, size, "it computes wrongly: item %u saw %u work-items", i, got[i]);
            return ANSWER_NO;
        }
    }
    s->device.facts.subgroup_size = got[0];
    return ANSWER_YES;
}

/* Of the lane that a shuffle reads from. */
static cl_uint ptx_expected(unsigned item)
{
    return 3 * (item ^ 5u) + 7;
}

static answer probe_ptx(tsr_session *s, char *why, size_t size)
{
    if (!is_nvidia(&s->device.facts, why, size))
        return ANSWER_NO;
    return run_expecting(s, "probe/probe_ptx.cl", "-cl-std=CL1.2", PROBE_ITEMS, ptx_expected, why,
                         size);
}

/* Both ends of what its warp has. */
static cl_uint redux_expected(unsigned item)
{
    cl_int least = INT32_MAX, most = INT32_MIN;

    for (unsigned lane = item / 32 * 32; lane < item / 32 * 32 + 32; lane++) {
        const cl_int value = 11 * (cl_int)(7 * lane % 61) - 300;

        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    return (cl_uint)(1000 * most + least);
}

static answer probe_redux(tsr_session *s, char *why, size_t size)
{
    if (!is_nvidia_from(&s->device.facts, 80, why, size))
        return ANSWER_NO;
    return run_expecting(s, "probe/probe_redux.cl", "-cl-std=CL1.2", PROBE_ITEMS, redux_expected,
                         why, size);
}

/* Words by copies of 16 bytes, and by copies of 4 from the last to the first, every other one 0. */
static cl_uint async_copy_expected(unsigned item)
{
    const unsigned other = PROBE_ITEMS - 1 - item;

    return 3 * (item ^ 5u) + 7 + (other % 2 ? 1000 * (3 * other + 7) : 0);
}

static answer probe_async_copy(tsr_session *s, char *why, size_t size)
{
    if (!is_nvidia_from(&s->device.facts, 80, why, size))
        return ANSWER_NO;
    return run_expecting(s, "probe/probe_async_copy.cl", "-cl-std=CL1.2", PROBE_ITEMS,
                         async_copy_expected, why, size);
}

static cl_uint large_local_expected(unsigned item)
{
    return 5 * (PROBE_ITEMS - 1 - item) + 11;
}

static answer probe_large_local(tsr_session *s, char *why, size_t size)
{
    cl_uint got[PROBE_ITEMS];
    char options[64];

    if (!is_nvidia(&s->device.facts, why, size))
        return ANSWER_NO;
    for (size_t k = 0; k < sizeof(large_local_sizes) / sizeof(large_local_sizes[0]); k++) {
        const size_t bytes = large_local_sizes[k];
        answer ran;

        if (bytes <= s->device.facts.local_memory)
            break;
        snprintf(options, sizeof(options), "-cl-std=CL1.2 -DLOCAL_WORDS=%zu", bytes / 4);
        /* A chip that holds less refuses at build or at launch: the next size may fit. */
        ran = run(s, "probe/probe_large_local.cl", options, got, why, size);
        if (ran == ANSWER_NONE)
            return ran;
        if (ran == ANSWER_YES)
            ran = compare(got, PROBE_ITEMS, large_local_expected, why, size);
        if (ran == ANSWER_YES) {
            s->device.facts.large_local = bytes;
            return ANSWER_YES;
        }
    }
    snprintf(why, size, "no size beyond the reported %zu bytes builds and runs",
             s->device.facts.local_memory);
    return ANSWER_NO;
}

/* A lane's four elements of the 64 x 8 product of probe_wgmma.cl, weighted. */
static cl_uint wgmma_expected(unsigned item)
{
    const unsigned row = item / 32 * 16 + item % 32 / 4, column = item % 4 * 2;
    cl_uint sum = 0;

    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = 0; k < 8; k++)
            sum += (2 * i + 1) * (row + i / 2 * 8 + 3 * k + 1) * (5 * (column + i % 2) + k * k + 2);
    return sum;
}

static answer probe_wgmma(tsr_session *s, char *why, size_t size)
{
    if (!is_hopper(&s->device.facts, why, size))
        return ANSWER_NO;
    return run_expecting(s, "probe/probe_wgmma.cl", "-cl-std=CL1.2", WARP_GROUP, wgmma_expected,
                         why, size);
}

/* Word `at` of the box that probe_tensor_copy.cl copies: from row 2 and column 4 of its matrix of 6
 * by 16, rows of 32 words with their 16-byte chunks swizzled, 0 outside, and rounded to
 * TF32, ties to even. */
static cl_uint tensor_word(unsigned at)
{
    const unsigned row = at / 32, column = ((at % 32 / 4) ^ (row & 7)) * 4 + at % 4;
    const float x = 1 + (float)((row + 2) * 16 + column + 4 + 1) * 0x1p-12F;
    cl_uint bits;

    if (row + 2 >= 6 || column + 4 >= 16)
        return 0;
    memcpy(&bits, &x, sizeof(bits));
    return (bits + 0xFFF + (bits >> 13 & 1)) & 0xFFFFE000u;
}

static cl_uint tensor_copy_expected(unsigned item)
{
    return tensor_word(item) + 3 * tensor_word(128 + item);
}

static answer probe_tensor_copy(tsr_session *s, char *why, size_t size)
{
    if (!is_hopper(&s->device.facts, why, size))
        return ANSWER_NO;
    return run_expecting(s, "probe/probe_tensor_copy.cl", "-cl-std=CL1.2", WARP_GROUP,
                         tensor_copy_expected, why, size);
}

/* 5 and three times all items, and the item. */
static cl_uint device_scope_expected(unsigned item)
{
    return 5 + 3 * (PROBE_ITEMS * (PROBE_ITEMS - 1) / 2) + item;
}

static answer probe_device_scope(tsr_session *s, char *why, size_t size)
{
    const cl_device_atomic_capabilities wanted =
        CL_DEVICE_ATOMIC_ORDER_ACQ_REL | CL_DEVICE_ATOMIC_SCOPE_DEVICE;
    cl_device_atomic_capabilities reported = 0;
    cl_uint got[PROBE_ITEMS];
    char options[32];
    answer ran;

    /* Earlier compilers have none. */
    if (s->device.facts.clc_version < 200) {
        snprintf(why, size, "its OpenCL C is %u.%u, and 2.0 is the first to have them",
                 s->device.facts.clc_version / 100, s->device.facts.clc_version / 10 % 10);
        return ANSWER_NO;
    }
    /* The memory of a CPU is one for all its cores, so that what it reports is enough: compiling
     * the probe would be a good part of a first call. */
    if (s->device.facts.kind == DEVICE_CPU) {
        if (s->device.facts.clc_version < 300 ||
            (query(s->device.id, CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, &reported,
                   sizeof(reported)) &&
             (reported & wanted) == wanted))
            return ANSWER_YES;
        snprintf(why, size, "the device reports none");
        return ANSWER_NO;
    }
    standard(&s->device.facts, options, sizeof(options));
    ran = run(s, "probe/probe_device_scope.cl", options, got, why, size);
    return ran == ANSWER_YES ? compare(got, PROBE_ITEMS, device_scope_expected, why, size) : ran;
}

static answer probe_subgroup_shuffle(tsr_session *s, char *why, size_t size)
{
    cl_uint got[PROBE_ITEMS];
    char options[32];
    answer ran;

    if (!query_has_extension(s->device.id, "cl_khr_subgroup_shuffle")) {
        snprintf(why, size, "the device reports none");
        return ANSWER_NO;
    }
    standard(session_facts(s), options, sizeof(options));
    ran = run(s, "probe/probe_subgroup_shuffle.cl", options, got, why, size);
    if (ran != ANSWER_YES)
        return ran;
    for (unsigned i = 0; i < PROBE_ITEMS; i++) {
        if (got[i] == 0 || got[i] % SHUFFLE_TEAM) {
            snprintf(why, size, "item %u is in a sub-group of %u, or got what is another's", i,
                     got[i]);
            return ANSWER_NO;
        }
    }
    return ANSWER_YES;
}

/* Vectors of four numbers, and none for every third item. */
static cl_uint load_once_expected(unsigned item)
{
    const unsigned first = item % 16 * 4;

    return item % 3 ? first + 100 * (first + 1) + 10000 * (first + 2) + 1000000 * (first + 3) : 0;
}

static answer probe_load_once(tsr_session *s, char *why, size_t size)
{
    if (!is_nvidia_from(&s->device.facts, 75, why, size))
        return ANSWER_NO;
    return run_expecting(s, "probe/probe_load_once.cl", "-cl-std=CL1.2", PROBE_ITEMS,
                         load_once_expected, why, size);
}

/* The number that a present feature carries beside "yes": kept with the answer in the cache. */
static size_t *detail(device_facts *d, feature f)
{
    if (f == FEATURE_SUBGROUPS)
        return &d->subgroup_size;
    return f == FEATURE_LARGE_LOCAL ? &d->large_local : NULL;
}

/* Whether an earlier process has probed this device and driver. */
static bool recall(tsr_session *s, feature f, const char *key)
{
    device_facts *d = &s->device.facts;
    unsigned char *data = NULL;
    text why = {0};
    size_t size = 0, *number = detail(d, f);

    if (!cache_load(&s->cache, key, &data, &size, &why))
        return false;
    d->feature[f] = size && data[0] == 'y' ? FEATURE_YES : FEATURE_NO;
    if (number && d->feature[f] == FEATURE_YES)
        *number = strtoull((char *)data + 1, NULL, 10);
    snprintf(d->feature_why[f], sizeof(d->feature_why[f]), "%s", text_get(&why));
    text_free(&why);
    free(data);
    return true;
}

tsr_status probe_feature(tsr_session *s, feature f, tsr_error *err)
{
    static const struct {
        answer (*decide)(tsr_session *s, char *why, size_t size);
        const char *source;
    } probes[FEATURE_COUNT] = {
        [FEATURE_FP16] = {probe_fp16, "probe/probe_fp16.cl"},
        [FEATURE_SUBGROUPS] = {probe_subgroups, "probe/probe_subgroups.cl"},
        [FEATURE_PTX] = {probe_ptx, "probe/probe_ptx.cl"},
        [FEATURE_ASYNC_COPY] = {probe_async_copy, "probe/probe_async_copy.cl"},
        [FEATURE_LARGE_LOCAL] = {probe_large_local, "probe/probe_large_local.cl"},
        [FEATURE_WGMMA] = {probe_wgmma, "probe/probe_wgmma.cl"},
        [FEATURE_TENSOR_COPY] = {probe_tensor_copy, "probe/probe_tensor_copy.cl"},
        [FEATURE_DEVICE_SCOPE] = {probe_device_scope, "probe/probe_device_scope.cl"},
        [FEATURE_SUBGROUP_SHUFFLE] = {probe_subgroup_shuffle, "probe/probe_subgroup_shuffle.cl"},
        [FEATURE_LOAD_ONCE] = {probe_load_once, "probe/probe_load_once.cl"},
        [FEATURE_REDUX] = {probe_redux, "probe/probe_redux.cl"}};
    device_facts *d = &s->device.facts;
    const size_t *number = detail(d, f);
    char platform[256] = "";
    tsr_status st = TSR_OK;
    text key = {0}, kept = {0};

    clGetPlatformInfo(s->device.platform, CL_PLATFORM_VERSION, sizeof(platform), platform, NULL);
    text_format(&key, "probe of %s on %s\nformat %d\nplatform %s %s\ndriver %s\n", feature_name(f),
                d->name, PROBE_FORMAT, d->platform, platform, d->driver);
    if (source_read(text_get(&s->kernel_dir), probes[f].source, &key, NULL) != TSR_OK)
        text_append(&key, "no source\n");
    if (key.failed) {
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory to probe %s", feature_name(f));
    } else if (!recall(s, f, text_get(&key))) {
        char why[sizeof(d->feature_why[f])] = "";
        const answer found = probes[f].decide(s, why, sizeof(why));

        if (s->known_only && found == ANSWER_NONE)
            st = tsr_fail(err, TSR_EUNSUPPORTED, 0, "%s: %s", feature_name(f), why);
        else
            d->feature[f] = found == ANSWER_YES ? FEATURE_YES : FEATURE_NO;
        if (found == ANSWER_YES)
            why[0] = '\0';
        memcpy(d->feature_why[f], why, sizeof(why));
        text_format(&kept, "%c%zu", found == ANSWER_YES ? 'y' : 'n', number ? *number : 0);
        if ((found == ANSWER_YES || found == ANSWER_NO) && !kept.failed)
            cache_store(&s->cache, text_get(&key), (const unsigned char *)text_get(&kept),
                        kept.length, why);
    }
    text_free(&key);
    text_free(&kept);
    return st;
}
