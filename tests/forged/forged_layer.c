/*
 * An OpenCL layer (cl_loader_layers) under which every device is another one:
 *
 *     TESSERA_FORGED="MAX_WORK_GROUP_SIZE=4;LOCAL_MEM_SIZE=0;NAME=A device"
 *
 * Values of clGetDeviceInfo by their names without CL_DEVICE_; MAX_WORK_ITEM_SIZES has one number
 * for all dimensions.  The limits hold: a launch or a buffer beyond them fails as it would on such
 * a device, and the file that TESSERA_FORGED_REPORT names gets a line about it.  Each build writes
 * what TESSERA_FORGED_COMPILER says to standard error, as the compilers of some drivers do, and
 * takes TESSERA_FORGED_SECONDS longer.
 */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

typedef enum kind { UINT, ULONG, SIZE, SIZES, STRING } kind;

static const struct {
    const char *name;
    cl_device_info what;
    kind kind;
} known[] = {
    {"CL_DEVICE_TYPE", CL_DEVICE_TYPE, ULONG},
    {"CL_DEVICE_EXECUTION_CAPABILITIES", CL_DEVICE_EXECUTION_CAPABILITIES, ULONG},
    {"CL_DEVICE_MAX_COMPUTE_UNITS", CL_DEVICE_MAX_COMPUTE_UNITS, UINT},
    {"CL_DEVICE_MAX_CLOCK_FREQUENCY", CL_DEVICE_MAX_CLOCK_FREQUENCY, UINT},
    {"CL_DEVICE_MAX_WORK_GROUP_SIZE", CL_DEVICE_MAX_WORK_GROUP_SIZE, SIZE},
    {"CL_DEVICE_MAX_WORK_ITEM_SIZES", CL_DEVICE_MAX_WORK_ITEM_SIZES, SIZES},
    {"CL_DEVICE_MAX_NUM_SUB_GROUPS", CL_DEVICE_MAX_NUM_SUB_GROUPS, UINT},
    {"CL_DEVICE_LOCAL_MEM_SIZE", CL_DEVICE_LOCAL_MEM_SIZE, ULONG},
    {"CL_DEVICE_LOCAL_MEM_TYPE", CL_DEVICE_LOCAL_MEM_TYPE, UINT},
    {"CL_DEVICE_GLOBAL_MEM_SIZE", CL_DEVICE_GLOBAL_MEM_SIZE, ULONG},
    {"CL_DEVICE_GLOBAL_MEM_CACHE_SIZE", CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, ULONG},
    {"CL_DEVICE_MAX_MEM_ALLOC_SIZE", CL_DEVICE_MAX_MEM_ALLOC_SIZE, ULONG},
    {"CL_DEVICE_MEM_BASE_ADDR_ALIGN", CL_DEVICE_MEM_BASE_ADDR_ALIGN, UINT},
    {"CL_DEVICE_HOST_UNIFIED_MEMORY", CL_DEVICE_HOST_UNIFIED_MEMORY, UINT},
    {"CL_DEVICE_SINGLE_FP_CONFIG", CL_DEVICE_SINGLE_FP_CONFIG, ULONG},
    {"CL_DEVICE_DOUBLE_FP_CONFIG", CL_DEVICE_DOUBLE_FP_CONFIG, ULONG},
    {"CL_DEVICE_SVM_CAPABILITIES", CL_DEVICE_SVM_CAPABILITIES, ULONG},
    {"CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT", CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, UINT},
    {"CL_DEVICE_NATIVE_VECTOR_WIDTH_INT", CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, UINT},
    {"CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE", CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, UINT},
    {"CL_DEVICE_NAME", CL_DEVICE_NAME, STRING},
    {"CL_DEVICE_VENDOR", CL_DEVICE_VENDOR, STRING},
    {"CL_DEVICE_VERSION", CL_DEVICE_VERSION, STRING},
    {"CL_DEVICE_OPENCL_C_VERSION", CL_DEVICE_OPENCL_C_VERSION, STRING},
    {"CL_DEVICE_EXTENSIONS", CL_DEVICE_EXTENSIONS, STRING},
};

static const cl_icd_dispatch *next;
static cl_icd_dispatch layer;

/* The forged value of a property, up to the next ';', and its length; NULL where there is none. */
static const char *forged(cl_device_info what, kind *k, size_t *length)
{
    const char *at = getenv("TESSERA_FORGED");
    const char *name = NULL;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].what == what) {
            name = known[i].name + strlen("CL_DEVICE_");
            *k = known[i].kind;
        }
    while (name && at && *at) {
        const size_t n = strlen(name);

        *length = strcspn(at, ";");
        if (strncmp(at, name, n) == 0 && at[n] == '=') {
            *length -= n + 1;
            return at + n + 1;
        }
        at += *length + (at[*length] == ';');
    }
    return NULL;
}

/* A forged number, or what there is no limit below. */
static unsigned long long limit(cl_device_info what)
{
    size_t length;
    kind k;
    const char *value = forged(what, &k, &length);

    return value ? strtoull(value, NULL, 0) : ~0ull;
}

static void violated(const char *what, unsigned long long is, unsigned long long most)
{
    const char *path = getenv("TESSERA_FORGED_REPORT");
    FILE *f = path ? fopen(path, "a") : NULL;

    if (!f)
        return;
    fprintf(f, "%s is %llu, and at most %llu\n", what, is, most);
    fclose(f);
}

static cl_int give(const void *from, size_t bytes, size_t size, void *value, size_t *size_out)
{
    if (value && size < bytes)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, from, bytes);
    if (size_out)
        *size_out = bytes;
    return CL_SUCCESS;
}

static CL_API_ENTRY cl_int CL_API_CALL at_clGetDeviceInfo(cl_device_id device, cl_device_info what,
                                                          size_t size, void *value,
                                                          size_t *size_out)
{
    size_t length = 0, sizes[3];
    kind k = UINT;
    const char *as = forged(what, &k, &length);
    const cl_ulong number = as && k != STRING ? strtoull(as, NULL, 0) : 0;
    const cl_uint narrow = (cl_uint)number;
    char text[4096];

    if (!as)
        return next->clGetDeviceInfo(device, what, size, value, size_out);
    switch (k) {
    case UINT:
        return give(&narrow, sizeof narrow, size, value, size_out);
    case ULONG:
        return give(&number, sizeof number, size, value, size_out);
    case SIZE:
    case SIZES:
        sizes[0] = sizes[1] = sizes[2] = (size_t)number;
        return give(sizes, k == SIZE ? sizeof *sizes : sizeof sizes, size, value, size_out);
    default:
        snprintf(text, sizeof text, "%.*s", (int)length, as);
        return give(text, strlen(text) + 1, size, value, size_out);
    }
}

static CL_API_ENTRY cl_int CL_API_CALL at_clGetKernelWorkGroupInfo(cl_kernel kernel,
                                                                   cl_device_id device,
                                                                   cl_kernel_work_group_info what,
                                                                   size_t size, void *value,
                                                                   size_t *size_out)
{
    const unsigned long long most = limit(CL_DEVICE_MAX_WORK_GROUP_SIZE);
    const cl_int rc = next->clGetKernelWorkGroupInfo(kernel, device, what, size, value, size_out);

    if (rc == CL_SUCCESS && what == CL_KERNEL_WORK_GROUP_SIZE && value && *(size_t *)value > most)
        *(size_t *)value = (size_t)most;
    return rc;
}

static CL_API_ENTRY cl_mem CL_API_CALL at_clCreateBuffer(cl_context c, cl_mem_flags flags,
                                                         size_t size, void *host, cl_int *rc)
{
    const unsigned long long most = limit(CL_DEVICE_MAX_MEM_ALLOC_SIZE);

    if (size <= most)
        return next->clCreateBuffer(c, flags, size, host, rc);
    violated("a buffer", size, most);
    if (rc)
        *rc = CL_INVALID_BUFFER_SIZE;
    return NULL;
}

static CL_API_ENTRY cl_int CL_API_CALL at_clEnqueueNDRangeKernel(
    cl_command_queue q, cl_kernel kernel, cl_uint dims, const size_t *offset, const size_t *global,
    const size_t *local, cl_uint n_wait, const cl_event *wait, cl_event *done)
{
    const unsigned long long group_most = limit(CL_DEVICE_MAX_WORK_GROUP_SIZE);
    const unsigned long long items_most = limit(CL_DEVICE_MAX_WORK_ITEM_SIZES);
    const unsigned long long local_most = limit(CL_DEVICE_LOCAL_MEM_SIZE);
    unsigned long long group = 1;
    cl_device_id device = NULL;
    cl_ulong bytes = 0;

    for (cl_uint i = 0; i < dims && local; i++) {
        group *= local[i];
        if (local[i] > items_most) {
            violated("an extent of a work-group", local[i], items_most);
            return CL_INVALID_WORK_ITEM_SIZE;
        }
    }
    if (group > group_most) {
        violated("a work-group", group, group_most);
        return CL_INVALID_WORK_GROUP_SIZE;
    }
    next->clGetCommandQueueInfo(q, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    next->clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes,
                                   NULL);
    if (bytes > local_most) {
        violated("local memory", bytes, local_most);
        return CL_OUT_OF_RESOURCES;
    }
    return next->clEnqueueNDRangeKernel(q, kernel, dims, offset, global, local, n_wait, wait, done);
}

static CL_API_ENTRY cl_int CL_API_CALL
at_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                  const char *options, void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    const char *chatter = getenv("TESSERA_FORGED_COMPILER");
    const char *seconds = getenv("TESSERA_FORGED_SECONDS");
    const char *end = getenv("TESSERA_FORGED_END");

    if (chatter)
        fprintf(stderr, "%s\n", chatter);
    for (unsigned left = seconds ? (unsigned)atoi(seconds) : 0; left;)
        left = sleep(left); /* a signal does not end it */
    if (end && !strcmp(end, "abort"))
        abort();
    if (end)
        exit(1);
    return next->clBuildProgram(program, count, devices, options, notify, data);
}

CL_API_ENTRY cl_int CL_API_CALL __attribute__((visibility("default")))
clGetLayerInfo(cl_layer_info what, size_t size, void *value, size_t *size_out)
{
    static const char name[] = "tessera forged devices";
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;

    if (what == CL_LAYER_NAME)
        return give(name, sizeof name, size, value, size_out);
    if (what == CL_LAYER_API_VERSION)
        return give(&version, sizeof version, size, value, size_out);
    return CL_INVALID_VALUE;
}

CL_API_ENTRY cl_int CL_API_CALL __attribute__((visibility("default")))
clInitLayer(cl_uint entries, const cl_icd_dispatch *target, cl_uint *entries_out,
            const cl_icd_dispatch **layer_out)
{
    const cl_uint count = sizeof(layer) / sizeof(layer.clGetPlatformIDs);

    if (entries < count)
        return CL_INVALID_VALUE;
    next = target;
    layer = *target;
    layer.clGetDeviceInfo = at_clGetDeviceInfo;
    layer.clGetKernelWorkGroupInfo = at_clGetKernelWorkGroupInfo;
    layer.clCreateBuffer = at_clCreateBuffer;
    layer.clEnqueueNDRangeKernel = at_clEnqueueNDRangeKernel;
    layer.clBuildProgram = at_clBuildProgram;
    *entries_out = count;
    *layer_out = &layer;
    return CL_SUCCESS;
}
