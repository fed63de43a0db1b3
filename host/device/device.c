#include "device/device.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <CL/cl_ext.h>

#include "base/fail.h"
#include "base/forks.h"
#include "device/query.h"

struct tsr_devices {
    tsr_device *device;
    size_t count;
    text *failure;
    size_t failure_count;
};

const char *feature_name(feature f)
{
    static const char *const names[FEATURE_COUNT] = {
        "fp16",          "sub-groups",           "inline PTX",
        "async copies",  "large local memory",   "wgmma",
        "tensor copies", "device-scope atomics", "sub-group shuffles",
        "loads past L1", "warp reductions"};

    return (unsigned)f < FEATURE_COUNT ? names[f] : "unknown feature";
}

const char *feature_meaning(feature f)
{
    static const char *const meanings[FEATURE_COUNT] = {
        [FEATURE_FP16] = "arithmetic on half",
        [FEATURE_SUBGROUPS] = "sub_group_reduce_add and its kin",
        [FEATURE_PTX] = "PTX within OpenCL C",
        [FEATURE_ASYNC_COPY] = "cp.async, copies to local memory while a group computes",
        [FEATURE_LARGE_LOCAL] = "a group may have more local memory than the driver reports",
        [FEATURE_WGMMA] = "matrix instructions of four warps",
        [FEATURE_TENSOR_COPY] = "boxes of a matrix copied by the chip",
        [FEATURE_DEVICE_SCOPE] = "order between work-groups of one launch",
        [FEATURE_SUBGROUP_SHUFFLE] = "work-items read values of one another",
        [FEATURE_LOAD_ONCE] = "values that are read once leave no trace in the first cache",
        [FEATURE_REDUX] = "the least or largest integer of a warp by one instruction"};

    return (unsigned)f < FEATURE_COUNT ? meanings[f] : "";
}

/* "OpenCL 3.0 ..." or "OpenCL C 1.2 ...", after `prefix`, as 300 or 120; 0 where it is neither. */
static unsigned parse_version(const char *s, const char *prefix)
{
    unsigned major, minor;
    size_t skip = strlen(prefix);

    if (strncmp(s, prefix, skip) != 0 || sscanf(s + skip, "%u.%u", &major, &minor) != 2)
        return 0;
    return 100 * major + 10 * minor;
}

/* The highest OpenCL C version; OpenCL 3.0 devices list all, older ones name one. */
static unsigned read_clc_version(cl_device_id id, unsigned cl_version)
{
    cl_name_version versions[32];
    char one[256] = "";
    size_t bytes = 0;
    unsigned best = 0;

    if (cl_version >= 300 &&
        clGetDeviceInfo(id, CL_DEVICE_OPENCL_C_ALL_VERSIONS, 0, NULL, &bytes) == CL_SUCCESS &&
        bytes <= sizeof(versions) &&
        clGetDeviceInfo(id, CL_DEVICE_OPENCL_C_ALL_VERSIONS, bytes, versions, NULL) == CL_SUCCESS) {
        for (size_t i = 0; i < bytes / sizeof(versions[0]); i++) {
            unsigned v = 100 * CL_VERSION_MAJOR(versions[i].version) +
                         10 * CL_VERSION_MINOR(versions[i].version);

            best = v > best ? v : best;
        }
    }
    if (best)
        return best;
    query_string(id, CL_DEVICE_OPENCL_C_VERSION, one, sizeof(one));
    return parse_version(one, "OpenCL C ");
}

static device_kind kind_of(cl_device_type type)
{
    if (type & CL_DEVICE_TYPE_GPU)
        return DEVICE_GPU;
    return type & CL_DEVICE_TYPE_CPU ? DEVICE_CPU : DEVICE_ACCELERATOR;
}

/* What each vendor calls the number of work-items that run in lock step. */
static size_t read_warp_size(cl_device_id id, const device_facts *d)
{
    cl_uint width;

    if (d->kind == DEVICE_CPU)
        return 1;
    if (query_has_extension(id, "cl_nv_device_attribute_query") &&
        query(id, QUERY_WARP_SIZE_NV, &width, sizeof(width)) && width)
        return width;
    if (query_has_extension(id, "cl_amd_device_attribute_query") &&
        query(id, QUERY_WAVEFRONT_WIDTH_AMD, &width, sizeof(width)) && width)
        return width;
    return 32;
}

static void read_capability(cl_device_id id, device_facts *d)
{
    cl_uint major, minor;

    d->nvidia = query_has_extension(id, "cl_nv_device_attribute_query");
    if (d->nvidia && query(id, QUERY_COMPUTE_CAPABILITY_MAJOR_NV, &major, sizeof(major)) &&
        query(id, QUERY_COMPUTE_CAPABILITY_MINOR_NV, &minor, sizeof(minor)))
        d->nv_capability = 10 * major + minor;
}

tsr_status device_read(cl_platform_id platform, cl_device_id id, tsr_device *out, tsr_error *err)
{
    device_facts d = {0};
    cl_device_type type = 0;
    cl_device_local_mem_type local_type = CL_GLOBAL;
    cl_device_fp_config f32 = 0, f64 = 0;
    cl_uint units = 0, floats = 0;
    cl_ulong local = 0, global = 0, allocation = 0;
    cl_bool unified = CL_FALSE, images = CL_FALSE;
    cl_device_exec_capabilities runs = 0;
    char version[256] = "";
    cl_int rc;

    rc = clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof(type), &type, NULL);
    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "clGetDeviceInfo(CL_DEVICE_TYPE)");
    d.kind = kind_of(type);
    query_string(id, CL_DEVICE_NAME, d.name, sizeof(d.name));
    query_string(id, CL_DEVICE_VENDOR, d.vendor, sizeof(d.vendor));
    query_string(id, CL_DRIVER_VERSION, d.driver, sizeof(d.driver));
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(d.platform), d.platform, NULL);
    clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof(d.platform_version), d.platform_version,
                      NULL);
    query_string(id, CL_DEVICE_VERSION, version, sizeof(version));
    d.cl_version = parse_version(version, "OpenCL ");
    d.clc_version = read_clc_version(id, d.cl_version);
    query(id, CL_DEVICE_MAX_COMPUTE_UNITS, &units, sizeof(units));
    query(id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, &floats, sizeof(floats));
    query(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, &d.max_work_group, sizeof(d.max_work_group));
    query(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, d.max_work_item, sizeof(d.max_work_item));
    query(id, CL_DEVICE_LOCAL_MEM_SIZE, &local, sizeof(local));
    query(id, CL_DEVICE_LOCAL_MEM_TYPE, &local_type, sizeof(local_type));
    query(id, CL_DEVICE_GLOBAL_MEM_SIZE, &global, sizeof(global));
    query(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, &allocation, sizeof(allocation));
    query(id, CL_DEVICE_HOST_UNIFIED_MEMORY, &unified, sizeof(unified));
    query(id, CL_DEVICE_IMAGE_SUPPORT, &images, sizeof(images));
    /* Images of one channel come with OpenCL 2.0. */
    if (images && d.cl_version >= 200) {
        query(id, CL_DEVICE_IMAGE2D_MAX_WIDTH, &d.image_width, sizeof(d.image_width));
        query(id, CL_DEVICE_IMAGE2D_MAX_HEIGHT, &d.image_height, sizeof(d.image_height));
    }
    query(id, CL_DEVICE_EXECUTION_CAPABILITIES, &runs, sizeof(runs));
    query(id, CL_DEVICE_SINGLE_FP_CONFIG, &f32, sizeof(f32));
    query(id, CL_DEVICE_DOUBLE_FP_CONFIG, &f64, sizeof(f64));
    d.compute_units = units;
    d.vector_bits = (size_t)floats * 8 * sizeof(cl_float);
    d.local_memory = (size_t)local;
    d.local_memory_on_chip = local_type == CL_LOCAL;
    d.global_memory = global;
    d.max_allocation = allocation;
    d.unified_memory = unified;
    d.native_kernels = d.kind == DEVICE_CPU && (runs & CL_EXEC_NATIVE_KERNEL) != 0;
    d.fp64 = f64 != 0;
    d.denormals_f32 = (f32 & CL_FP_DENORM) != 0;
    d.denormals_f64 = (f64 & CL_FP_DENORM) != 0;
    d.compiles_late = strcmp(d.platform, "Portable Computing Language") == 0;
    read_capability(id, &d);
    d.warp_size = read_warp_size(id, &d);
    if (d.cl_version < 120 || d.max_work_group == 0)
        return tsr_fail(err, TSR_ENODEVICE, 0,
                        "device '%s' says '%s', %zu work-items a group: OpenCL 1.2 is needed",
                        d.name, version, d.max_work_group);
    *out = (tsr_device){.platform = platform, .id = id, .facts = d};
    return TSR_OK;
}

void device_read_host(tsr_device *out)
{
    device_facts d = {.kind = DEVICE_HOST,
                      .fp64 = true,
                      .denormals_f32 = true,
                      .denormals_f64 = true,
                      .unified_memory = true,
                      .warp_size = 1};
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    snprintf(d.name, sizeof(d.name), "host");
    snprintf(d.vendor, sizeof(d.vendor), "host");
    snprintf(d.platform, sizeof(d.platform), "host");
#ifdef __VERSION__
    snprintf(d.driver, sizeof(d.driver), "C compiler %s", __VERSION__);
#endif
    d.compute_units = cores > 0 ? (size_t)cores : 1;
    d.max_work_group = 1;
    if (pages > 0 && page > 0)
        d.global_memory = (uint64_t)pages * (uint64_t)page;
    d.max_allocation = d.global_memory;
    for (unsigned f = 0; f < FEATURE_COUNT; f++) {
        d.feature[f] = FEATURE_NO;
        snprintf(d.feature_why[f], sizeof(d.feature_why[f]), "the host runs C code");
    }
    *out = (tsr_device){.facts = d};
}

/* Room for one more device.  NULL where memory ran out. */
static tsr_device *grow(tsr_devices *list)
{
    tsr_device *bigger = realloc(list->device, (list->count + 1) * sizeof(*bigger));

    if (!bigger)
        return NULL;
    list->device = bigger;
    return &bigger[list->count];
}

static tsr_status add_failure(tsr_devices *list, const char *who, const tsr_error *why)
{
    text *bigger = realloc(list->failure, (list->failure_count + 1) * sizeof(*bigger));

    if (!bigger)
        return TSR_ENOMEM;
    list->failure = bigger;
    bigger[list->failure_count] = (text){0};
    text_format(&bigger[list->failure_count], "%s: %s", who, why->message);
    list->failure_count++;
    return TSR_OK;
}

/* Add every device of one platform; what fails is recorded. */
static tsr_status add_platform(tsr_devices *list, cl_platform_id platform, unsigned index)
{
    char who[200] = "", name[128] = "";
    cl_device_id *ids = NULL;
    tsr_status st = TSR_OK;
    tsr_error why = {0};
    cl_uint n = 0;
    cl_int rc;

    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(name), name, NULL);
    snprintf(who, sizeof(who), "platform %u (%s)", index, name[0] ? name : "no name");
    rc = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &n);
    if (rc != CL_SUCCESS || n == 0) {
        tsr_fail(&why, TSR_ECL, rc,
                 rc && rc != CL_DEVICE_NOT_FOUND ? "clGetDeviceIDs"
                 : strcmp(name, "Portable Computing Language") != 0
                     ? "it has no device"
                     : "it has no device, as where PoCL cannot make its cache folder "
                       "(POCL_CACHE_DIR, or ~/.cache/pocl)");
        return add_failure(list, who, &why);
    }
    ids = calloc(n, sizeof(cl_device_id));
    if (!ids)
        return TSR_ENOMEM;
    rc = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, ids, NULL);
    if (rc != CL_SUCCESS) {
        tsr_fail(&why, TSR_ECL, rc, "clGetDeviceIDs");
        st = add_failure(list, who, &why);
        n = 0;
    }
    for (cl_uint i = 0; i < n && st == TSR_OK; i++) {
        tsr_device *next = grow(list);

        if (!next) {
            st = TSR_ENOMEM;
        } else if (device_read(platform, ids[i], next, &why) != TSR_OK) {
            char which[sizeof(who) + 24];

            snprintf(which, sizeof(which), "%s, device %u:%u", who, index, i);
            st = add_failure(list, which, &why);
        } else {
            next->platform_index = index;
            next->device_index = i;
            list->count++;
        }
    }
    free(ids);
    return st;
}

/* PoCL hands out its platform and devices to other threads before it has set them up.  A forked
 * child, whose parent may have had the lock, does not get as far. */
static pthread_mutex_t listing = PTHREAD_MUTEX_INITIALIZER;

static tsr_status list_platforms(tsr_devices *list)
{
    cl_platform_id *platforms = NULL;
    tsr_status st = TSR_OK;
    tsr_error why = {0};
    cl_uint n = 0;
    cl_int rc;

    rc = clGetPlatformIDs(0, NULL, &n);
    if (rc == CL_PLATFORM_NOT_FOUND_KHR || (rc == CL_SUCCESS && n == 0))
        return TSR_OK;
    if (rc != CL_SUCCESS) {
        tsr_fail(&why, TSR_ECL, rc, "clGetPlatformIDs");
        return add_failure(list, "OpenCL loader", &why);
    }
    platforms = calloc(n, sizeof(cl_platform_id));
    if (!platforms)
        return TSR_ENOMEM;
    rc = clGetPlatformIDs(n, platforms, NULL);
    if (rc != CL_SUCCESS) {
        tsr_fail(&why, TSR_ECL, rc, "clGetPlatformIDs");
        st = add_failure(list, "OpenCL loader", &why);
        n = 0;
    }
    for (cl_uint i = 0; i < n && st == TSR_OK; i++)
        st = add_platform(list, platforms[i], i);
    free(platforms);
    return st;
}

static tsr_status add_platforms(tsr_devices *list)
{
    tsr_status st;
    tsr_error why = {0};

    if (forks_check_opencl(&why))
        return add_failure(list, "OpenCL loader", &why);
    forks_note_opencl();
    pthread_mutex_lock(&listing);
    st = list_platforms(list);
    pthread_mutex_unlock(&listing);
    return st;
}

/* The list of `host` and, before it, what the loader finds where that is asked. */
static tsr_status find(bool opencl, tsr_devices **out, tsr_error *err)
{
    tsr_devices *list = calloc(1, sizeof(*list));
    tsr_device *host;

    if (!list)
        goto no_memory;
    if (opencl && add_platforms(list) != TSR_OK)
        goto no_memory;
    host = grow(list);
    if (!host)
        goto no_memory;
    device_read_host(host);
    list->count++;
    *out = list;
    return TSR_OK;

no_memory:
    tsr_devices_close(list);
    return tsr_fail(err, TSR_ENOMEM, 0, "no memory for the list of devices");
}

tsr_status tsr_devices_find(tsr_devices **out, tsr_error *err)
{
    if (!out)
        return tsr_fail(err, TSR_EINVAL, 0, "tsr_devices_find: out is NULL");
    return find(true, out, err);
}

tsr_status tsr_devices_find_host(tsr_devices **out, tsr_error *err)
{
    if (!out)
        return tsr_fail(err, TSR_EINVAL, 0, "tsr_devices_find_host: out is NULL");
    return find(false, out, err);
}

void tsr_devices_close(tsr_devices *list)
{
    if (!list)
        return;
    for (size_t i = 0; i < list->failure_count; i++)
        text_free(&list->failure[i]);
    free(list->failure);
    free(list->device);
    free(list);
}

size_t tsr_devices_count(const tsr_devices *list)
{
    return list ? list->count : 0;
}

const tsr_device *tsr_devices_get(const tsr_devices *list, size_t i)
{
    return list && i < list->count ? &list->device[i] : NULL;
}

const char *tsr_devices_failure(const tsr_devices *list, size_t i)
{
    return list && i < list->failure_count ? text_get(&list->failure[i]) : NULL;
}

const char *tsr_device_name(const tsr_device *device)
{
    return device ? device->facts.name : "";
}

const char *tsr_device_platform(const tsr_device *device)
{
    return device ? device->facts.platform : "";
}

int tsr_device_is_host(const tsr_device *device)
{
    return tsr_device_kind(device) == TSR_KIND_HOST;
}

tsr_kind tsr_device_kind(const tsr_device *device)
{
    static const tsr_kind kinds[] = {[DEVICE_HOST] = TSR_KIND_HOST,
                                     [DEVICE_CPU] = TSR_KIND_CPU,
                                     [DEVICE_GPU] = TSR_KIND_GPU,
                                     [DEVICE_ACCELERATOR] = TSR_KIND_ACCELERATOR};

    return device ? kinds[device->facts.kind] : TSR_KIND_NONE;
}

size_t tsr_device_compute_units(const tsr_device *device)
{
    return device ? device->facts.compute_units : 0;
}

uint64_t tsr_device_global_memory(const tsr_device *device)
{
    return device ? device->facts.global_memory : 0;
}

int tsr_device_unified_memory(const tsr_device *device)
{
    return device && device->facts.unified_memory;
}

static bool contains(const char *haystack, const char *needle)
{
    size_t n = strlen(needle);

    for (; *haystack; haystack++) {
        size_t i = 0;

        while (i < n && tolower((unsigned char)haystack[i]) == tolower((unsigned char)needle[i]))
            i++;
        if (i == n)
            return true;
    }
    return false;
}

/* Whether the selector names this device; `versions`: by what its platform and driver say of their
 * versions, where alone PoCL gives the name that people know it by. */
static bool matches(const tsr_device *d, const char *which, bool versions)
{
    unsigned platform, device;
    int end = 0;

    if (sscanf(which, "%u:%u%n", &platform, &device, &end) == 2 && which[end] == '\0')
        return d->platform_index == platform && d->device_index == device;
    if (versions)
        return contains(d->facts.platform_version, which) || contains(d->facts.driver, which);
    return contains(d->facts.platform, which) || contains(d->facts.vendor, which) ||
           contains(d->facts.name, which);
}

/* "0:0 NAME (PLATFORM), host" */
static void append_devices(const tsr_devices *list, text *out)
{
    for (size_t i = 0; i + 1 < list->count; i++)
        text_format(out, "%u:%u %s (%s), ", list->device[i].platform_index,
                    list->device[i].device_index, list->device[i].facts.name,
                    list->device[i].facts.platform);
    text_append(out, "host");
}

static tsr_status no_match(const tsr_devices *list, const char *from, const char *which,
                           const char *how, tsr_error *err)
{
    text there = {0};

    append_devices(list, &there);
    tsr_fail(err, TSR_ENAME, 0, "%sdevice '%s' %s; there are %s", from, which, how,
             text_get(&there));
    text_free(&there);
    return TSR_ENAME;
}

/* The name is right, and the machine has no such device. */
static tsr_status none_of_kind(const tsr_devices *list, const char *from, const char *kind,
                               tsr_error *err)
{
    text there = {0};

    append_devices(list, &there);
    tsr_fail(err, TSR_ENODEVICE, 0, "%sno %s was found; there are %s", from, kind,
             text_get(&there));
    text_free(&there);
    return TSR_ENODEVICE;
}

/* The first device of a kind, or NULL. */
static const tsr_device *first_of(const tsr_devices *list, device_kind kind)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->device[i].facts.kind == kind)
            return &list->device[i];
    return NULL;
}

static const tsr_device *preferred(const tsr_devices *list)
{
    const device_kind order[] = {DEVICE_GPU, DEVICE_ACCELERATOR, DEVICE_CPU};

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        if (first_of(list, order[i]))
            return first_of(list, order[i]);
    return NULL;
}

/* How many devices a name or number matches; where none is called so, the versions of platforms and
 * drivers count.  Fills out, where it is not NULL, with up to max. */
static size_t all_matches(const tsr_devices *list, const char *which, const tsr_device **out,
                          size_t max)
{
    size_t n = 0;

    for (int versions = 0; versions < 2 && n == 0; versions++) {
        for (size_t i = 0; i + 1 < list->count; i++) {
            if (strcmp(which, "all") != 0 && !matches(&list->device[i], which, versions))
                continue;
            if (out && n < max)
                out[n] = &list->device[i];
            n++;
        }
    }
    return n;
}

tsr_status tsr_devices_select(const tsr_devices *list, const char *which, const tsr_device **out,
                              size_t max, size_t *count, tsr_error *err)
{
    static const struct {
        const char *name, *text;
        device_kind kind;
    } kinds[] = {{"cpu", "CPU", DEVICE_CPU},
                 {"gpu", "GPU", DEVICE_GPU},
                 {"accelerator", "accelerator", DEVICE_ACCELERATOR},
                 {"host", "host", DEVICE_HOST}};
    /* A name in the environment is easily forgotten. */
    const char *from = which ? "" : "TESSERA_DEVICE: ";
    const tsr_device *found[1];
    size_t n;

    if (!list || !out || !count)
        return tsr_fail(err, TSR_EINVAL, 0, "tsr_devices_select: %s is NULL",
                        !list  ? "list"
                        : !out ? "out"
                               : "count");
    if (!which)
        which = getenv("TESSERA_DEVICE");
    if (max == 0)
        return tsr_fail(err, TSR_EINVAL, 0, "tsr_devices_select: no room for a device");
    if (list->count == 1 && (!which || strcmp(which, "host") != 0)) {
        const tsr_status st = forks_check_opencl(err);

        return st ? st : tsr_fail(err, TSR_ENODEVICE, 0, "no OpenCL device was found");
    }
    if (!which || !*which) {
        found[0] = preferred(list);
        if (!found[0])
            return tsr_fail(err, TSR_ENODEVICE, 0, "no GPU, accelerator or CPU was found");
        out[0] = found[0];
        *count = 1;
        return TSR_OK;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(which, kinds[i].name) != 0)
            continue;
        found[0] = first_of(list, kinds[i].kind);
        if (!found[0])
            return none_of_kind(list, from, kinds[i].text, err);
        out[0] = found[0];
        *count = 1;
        return TSR_OK;
    }
    n = all_matches(list, which, NULL, 0);
    if (n == 0)
        return no_match(list, from, which, "is not there", err);
    if (n > 1 && strcmp(which, "all") != 0)
        return no_match(list, from, which, "fits several", err);
    all_matches(list, which, out, max);
    *count = n < max ? n : max;
    return TSR_OK;
}
