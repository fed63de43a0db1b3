/*
 * An OpenCL layer (cl_loader_layers) between the loader and the drivers.  It
 *
 *   - counts, per kind of object, references taken (create, retain, events given out) less those
 *     released, and how often each function was called;
 *   - makes the N-th call of one function fail, TESSERA_FAULT=FUNCTION:N:CODE, or that one and all
 *     after it, FUNCTION:N+:CODE; FUNCTION * counts the calls of all.  Such a call does not reach
 * the driver.  FUNCTION clGetEventInfo.status: the N-th execution status read is CODE.
 *
 *   - with TESSERA_OWN_MEMORY set, says that devices have memory of their own, as GPUs do;
 *
 *   - with TESSERA_AS_GPU set, says that devices are GPUs;
 *
 *   - with TESSERA_STRICT_BOXES set, refuses the boxes that NVIDIA's driver refuses;
 *
 *   - with TESSERA_LARGEST_BUFFER=BYTES, says that buffers are that large at most, and refuses
 * others;
 *
 *   - with TESSERA_HOLD_WRITE=FILE, makes the file at the first clEnqueueWriteBuffer, which waits
 *     until somebody removes it, for 20 s at most;
 *
 *   - aborts a child of the process where it calls a function: drivers do not survive fork();
 *
 *   - with TESSERA_KEEP_BUFFERS set, counts the release of a buffer and does not pass it on, and
 * has a write of an operand begin at the start of its buffer and array (oclgrind/simulator.py says
 *     why).
 *
 *   - with TESSERA_ONE_CALL set, lets kernels run until the host reads what they made; launches
 * after that are markers, which take no time in a simulator.
 *
 * At exit it writes to the file that TESSERA_FAULT_REPORT names:
 *
 *     layer ready
 *     calls clCreateBuffer 3
 *     balance mem 0
 *     failed clCreateBuffer 1
 *     early 0
 *     fault clCreateBuffer:2:-5
 *
 * "layer ready" is how a test knows that it was loaded; "failed" says how many calls were made to
 * fail, and the line "fault" is there once one was.  "early" counts the buffers in the caller's
 * memory that were given back while kernels may still have worked on it: nothing had been waited
 * for since. One thread calls OpenCL in what is tested, so the counts are plain.
 */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

enum {
    KIND_CONTEXT,
    KIND_QUEUE,
    KIND_MEM,
    KIND_PROGRAM,
    KIND_KERNEL,
    KIND_EVENT,
    KIND_SVM,
    KIND_COUNT
};

static const char *const kind_names[KIND_COUNT] = {"context", "queue", "mem", "program",
                                                   "kernel",  "event", "svm"};

enum { CALLS_MAX = 64 };

static const cl_icd_dispatch *next;
static cl_icd_dispatch layer;
static long balance[KIND_COUNT];
static struct {
    const char *name;
    unsigned long count, failed;
} calls[CALLS_MAX];
static unsigned long all_calls, early;
static pid_t process; /* that loaded the layer */
static cl_ulong largest_buffer;
static int pending;     /* kernels that nobody has waited for */
static cl_event behind; /* the last marker behind everything in its queue */

static int call_index(const char *name)
{
    for (int i = 0; i < CALLS_MAX; i++) {
        if (!calls[i].name)
            calls[i].name = name;
        if (calls[i].name == name || strcmp(calls[i].name, name) == 0)
            return i;
    }
    abort(); /* CALLS_MAX is too small */
}

/* The code that this call of a function is to fail with, or 0. */
static cl_int fault(const char *name)
{
    const int at = call_index(name);
    const char *wanted = getenv("TESSERA_FAULT");
    const int any = wanted && wanted[0] == '*';
    const size_t length = any ? 1 : strlen(name);
    unsigned long n = ++calls[at].count, which = 0;
    char behind[2] = "";
    int code = 0;

    if (getpid() != process) {
        fprintf(stderr, "fault layer: %s in a child of the process that loaded the driver\n", name);
        abort();
    }
    all_calls += strchr(name, '.') == NULL; /* a status is a part of a call */
    n = any ? all_calls : n;
    if (!wanted || (!any && strncmp(wanted, name, length) != 0) || wanted[length] != ':' ||
        (sscanf(wanted + length, ":%lu:%d", &which, &code) != 2 &&
         sscanf(wanted + length, ":%lu%1[+]:%d", &which, behind, &code) != 3) ||
        (behind[0] ? n < which : n != which))
        return 0;
    calls[at].failed++;
    return code;
}

static void took(int kind, const void *object)
{
    balance[kind] += object != NULL;
}

static cl_int released(int kind, cl_int rc)
{
    balance[kind] -= rc == CL_SUCCESS;
    return rc;
}

static cl_int retained(int kind, cl_int rc)
{
    balance[kind] += rc == CL_SUCCESS;
    return rc;
}

static void report(void)
{
    const char *path = getenv("TESSERA_FAULT_REPORT");
    FILE *f = path ? fopen(path, "w") : NULL;
    unsigned long failed = 0;

    if (!f)
        return;
    fputs("layer ready\n", f);
    for (int i = 0; i < CALLS_MAX && calls[i].name; i++)
        fprintf(f, "calls %s %lu\nfailed %s %lu\n", calls[i].name, calls[i].count, calls[i].name,
                calls[i].failed);
    for (int i = 0; i < CALLS_MAX; i++)
        failed += calls[i].failed;
    for (int k = 0; k < KIND_COUNT; k++)
        fprintf(f, "balance %s %ld\n", kind_names[k], balance[k]);
    fprintf(f, "early %lu\n", early);
    if (failed)
        fprintf(f, "fault %s\n", getenv("TESSERA_FAULT"));
    fclose(f);
}

/* ---- calls that return a code ------------------------------------------------------------ */

/* A call that passes on, unless it is the one to fail. */
#define PASS(function, parameters, arguments)                                                      \
    static CL_API_ENTRY cl_int CL_API_CALL at_##function parameters                                \
    {                                                                                              \
        const cl_int code = fault(#function);                                                      \
                                                                                                   \
        return code ? code : next->function arguments;                                             \
    }

PASS(clGetPlatformIDs, (cl_uint n, cl_platform_id *out, cl_uint *count), (n, out, count))
PASS(clGetPlatformInfo, (cl_platform_id p, cl_platform_info i, size_t s, void *v, size_t *r),
     (p, i, s, v, r))
PASS(clGetDeviceIDs,
     (cl_platform_id p, cl_device_type t, cl_uint n, cl_device_id *out, cl_uint *count),
     (p, t, n, out, count))
PASS(clGetDeviceInfo, (cl_device_id d, cl_device_info i, size_t s, void *v, size_t *r),
     (d, i, s, v, r))

static CL_API_ENTRY cl_int CL_API_CALL at_clGetDeviceInfo_changed(cl_device_id d, cl_device_info i,
                                                                  size_t s, void *v, size_t *r)
{
    const cl_int code = at_clGetDeviceInfo(d, i, s, v, r);

    if (code == CL_SUCCESS && i == CL_DEVICE_HOST_UNIFIED_MEMORY && v &&
        getenv("TESSERA_OWN_MEMORY"))
        memset(v, 0, sizeof(cl_bool));
    if (code == CL_SUCCESS && i == CL_DEVICE_TYPE && v && getenv("TESSERA_AS_GPU"))
        *(cl_device_type *)v = CL_DEVICE_TYPE_GPU;
    if (code == CL_SUCCESS && i == CL_DEVICE_MAX_MEM_ALLOC_SIZE && v && largest_buffer)
        memcpy(v, &largest_buffer, sizeof largest_buffer);
    return code;
}
PASS(clGetCommandQueueInfo,
     (cl_command_queue q, cl_command_queue_info i, size_t s, void *v, size_t *r), (q, i, s, v, r))
PASS(clBuildProgram,
     (cl_program p, cl_uint n, const cl_device_id *d, const char *o,
      void(CL_CALLBACK *f)(cl_program, void *), void *u),
     (p, n, d, o, f, u))
PASS(clGetProgramInfo, (cl_program p, cl_program_info i, size_t s, void *v, size_t *r),
     (p, i, s, v, r))
PASS(clGetProgramBuildInfo,
     (cl_program p, cl_device_id d, cl_program_build_info i, size_t s, void *v, size_t *r),
     (p, d, i, s, v, r))
PASS(clSetKernelArgSVMPointer, (cl_kernel k, cl_uint i, const void *p), (k, i, p))
PASS(clSetKernelArg, (cl_kernel k, cl_uint i, size_t s, const void *v), (k, i, s, v))
PASS(clGetKernelWorkGroupInfo,
     (cl_kernel k, cl_device_id d, cl_kernel_work_group_info i, size_t s, void *v, size_t *r),
     (k, d, i, s, v, r))
PASS(clGetMemObjectInfo, (cl_mem m, cl_mem_info i, size_t s, void *v, size_t *r), (m, i, s, v, r))

static CL_API_ENTRY cl_int CL_API_CALL at_clWaitForEvents(cl_uint n, const cl_event *e)
{
    cl_int rc = fault("clWaitForEvents");

    if (rc)
        return rc;
    rc = next->clWaitForEvents(n, e);
    for (cl_uint i = 0; i < n; i++)
        pending &= rc != CL_SUCCESS || e[i] != behind;
    return rc;
}

PASS(clGetEventProfilingInfo, (cl_event e, cl_profiling_info i, size_t s, void *v, size_t *r),
     (e, i, s, v, r))
PASS(clFlush, (cl_command_queue q), (q))

static CL_API_ENTRY cl_int CL_API_CALL at_clFinish(cl_command_queue q)
{
    cl_int rc = fault("clFinish");

    if (rc)
        return rc;
    rc = next->clFinish(q);
    pending &= rc != CL_SUCCESS;
    return rc;
}

static CL_API_ENTRY cl_int CL_API_CALL at_clGetEventInfo(cl_event e, cl_event_info i, size_t s,
                                                         void *v, size_t *r)
{
    cl_int code = fault("clGetEventInfo");
    cl_int rc = code ? code : next->clGetEventInfo(e, i, s, v, r);

    if (rc == CL_SUCCESS && i == CL_EVENT_COMMAND_EXECUTION_STATUS && v && s >= sizeof(cl_int)) {
        code = fault("clGetEventInfo.status");
        if (code)
            memcpy(v, &code, sizeof(code));
    }
    return rc;
}

/* ---- objects ----------------------------------------------------------------------------- */

#define COUNTED(kind, Object, object)                                                              \
    static CL_API_ENTRY cl_int CL_API_CALL at_clRetain##Object(object x)                           \
    {                                                                                              \
        const cl_int code = fault("clRetain" #Object);                                             \
                                                                                                   \
        return code ? code : retained(kind, next->clRetain##Object(x));                            \
    }                                                                                              \
    static CL_API_ENTRY cl_int CL_API_CALL at_clRelease##Object(object x)                          \
    {                                                                                              \
        const cl_int code = fault("clRelease" #Object);                                            \
                                                                                                   \
        return code ? code : released(kind, next->clRelease##Object(x));                           \
    }

COUNTED(KIND_CONTEXT, Context, cl_context)
COUNTED(KIND_QUEUE, CommandQueue, cl_command_queue)

static CL_API_ENTRY cl_int CL_API_CALL at_clRetainMemObject(cl_mem m)
{
    const cl_int code = fault("clRetainMemObject");

    return code ? code : retained(KIND_MEM, next->clRetainMemObject(m));
}

static CL_API_ENTRY cl_int CL_API_CALL at_clReleaseMemObject(cl_mem m)
{
    const cl_int code = fault("clReleaseMemObject");
    cl_mem_flags flags = 0;

    next->clGetMemObjectInfo(m, CL_MEM_FLAGS, sizeof flags, &flags, NULL);
    early += pending && (flags & CL_MEM_USE_HOST_PTR);
    return code ? code : released(KIND_MEM, next->clReleaseMemObject(m));
}

static CL_API_ENTRY cl_int CL_API_CALL at_clReleaseMemObject_kept(cl_mem m)
{
    (void)m;
    return released(KIND_MEM, CL_SUCCESS);
}

COUNTED(KIND_PROGRAM, Program, cl_program)
COUNTED(KIND_KERNEL, Kernel, cl_kernel)
COUNTED(KIND_EVENT, Event, cl_event)

#define CREATE(kind, object, function, parameters, arguments)                                      \
    static CL_API_ENTRY object CL_API_CALL at_##function parameters                                \
    {                                                                                              \
        const cl_int code = fault(#function);                                                      \
        object made;                                                                               \
                                                                                                   \
        if (code) {                                                                                \
            if (rc)                                                                                \
                *rc = code;                                                                        \
            return NULL;                                                                           \
        }                                                                                          \
        made = next->function arguments;                                                           \
        took(kind, made);                                                                          \
        return made;                                                                               \
    }

CREATE(KIND_CONTEXT, cl_context, clCreateContext,
       (const cl_context_properties *p, cl_uint n, const cl_device_id *d,
        void(CL_CALLBACK *f)(const char *, const void *, size_t, void *), void *u, cl_int *rc),
       (p, n, d, f, u, rc))
CREATE(KIND_CONTEXT, cl_context, clCreateContextFromType,
       (const cl_context_properties *p, cl_device_type t,
        void(CL_CALLBACK *f)(const char *, const void *, size_t, void *), void *u, cl_int *rc),
       (p, t, f, u, rc))
CREATE(KIND_QUEUE, cl_command_queue, clCreateCommandQueue,
       (cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *rc), (c, d, p, rc))
CREATE(KIND_QUEUE, cl_command_queue, clCreateCommandQueueWithProperties,
       (cl_context c, cl_device_id d, const cl_queue_properties *p, cl_int *rc), (c, d, p, rc))
CREATE(KIND_MEM, cl_mem, clCreateBuffer,
       (cl_context c, cl_mem_flags m, size_t s, void *h, cl_int *rc), (c, m, s, h, rc))

static CL_API_ENTRY cl_mem CL_API_CALL at_clCreateBuffer_limited(cl_context c, cl_mem_flags m,
                                                                 size_t s, void *h, cl_int *rc)
{
    if (s <= largest_buffer)
        return at_clCreateBuffer(c, m, s, h, rc);
    if (rc)
        *rc = CL_INVALID_BUFFER_SIZE;
    return NULL;
}

CREATE(KIND_MEM, cl_mem, clCreateSubBuffer,
       (cl_mem m, cl_mem_flags g, cl_buffer_create_type t, const void *i, cl_int *rc),
       (m, g, t, i, rc))
CREATE(KIND_MEM, cl_mem, clCreateImage,
       (cl_context c, cl_mem_flags g, const cl_image_format *f, const cl_image_desc *d, void *p,
        cl_int *rc),
       (c, g, f, d, p, rc))
CREATE(KIND_PROGRAM, cl_program, clCreateProgramWithSource,
       (cl_context c, cl_uint n, const char **s, const size_t *l, cl_int *rc), (c, n, s, l, rc))
CREATE(KIND_PROGRAM, cl_program, clCreateProgramWithBinary,
       (cl_context c, cl_uint n, const cl_device_id *d, const size_t *l, const unsigned char **b,
        cl_int *s, cl_int *rc),
       (c, n, d, l, b, s, rc))
CREATE(KIND_KERNEL, cl_kernel, clCreateKernel, (cl_program p, const char *name, cl_int *rc),
       (p, name, rc))
CREATE(KIND_EVENT, cl_event, clCreateUserEvent, (cl_context c, cl_int *rc), (c, rc))

/* ---- commands, which give events out ----------------------------------------------------- */

#define COMMAND(function, parameters, arguments)                                                   \
    static CL_API_ENTRY cl_int CL_API_CALL at_##function parameters                                \
    {                                                                                              \
        cl_int rc = fault(#function);                                                              \
                                                                                                   \
        if (rc)                                                                                    \
            return rc;                                                                             \
        rc = next->function arguments;                                                             \
        if (rc == CL_SUCCESS && e)                                                                 \
            took(KIND_EVENT, *e);                                                                  \
        return rc;                                                                                 \
    }

static CL_API_ENTRY cl_int CL_API_CALL at_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k,
                                                                 cl_uint d, const size_t *o,
                                                                 const size_t *g, const size_t *l,
                                                                 cl_uint n, const cl_event *w,
                                                                 cl_event *e)
{
    cl_int rc = fault("clEnqueueNDRangeKernel");

    if (rc)
        return rc;
    rc = next->clEnqueueNDRangeKernel(q, k, d, o, g, l, n, w, e);
    pending |= rc == CL_SUCCESS;
    if (rc == CL_SUCCESS && e)
        took(KIND_EVENT, *e);
    return rc;
}

/* ---- one call alone --------------------------------------------------------------------- */

static int launched, has_read;

static CL_API_ENTRY cl_int CL_API_CALL at_clEnqueueNDRangeKernel_once(
    cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g, const size_t *l,
    cl_uint n, const cl_event *w, cl_event *e)
{
    launched = 1;
    return has_read ? layer.clEnqueueMarkerWithWaitList(q, n, w, e)
                    : at_clEnqueueNDRangeKernel(q, k, d, o, g, l, n, w, e);
}

static CL_API_ENTRY cl_int CL_API_CALL at_clEnqueueNativeKernel(
    cl_command_queue q, void(CL_CALLBACK *f)(void *), void *a, size_t s, cl_uint b, const cl_mem *m,
    const void **p, cl_uint n, const cl_event *w, cl_event *e)
{
    cl_int rc = fault("clEnqueueNativeKernel");

    if (rc)
        return rc;
    rc = next->clEnqueueNativeKernel(q, f, a, s, b, m, p, n, w, e);
    pending |= rc == CL_SUCCESS;
    if (rc == CL_SUCCESS && e)
        took(KIND_EVENT, *e);
    return rc;
}

COMMAND(clEnqueueReadBuffer,
        (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, void *p, cl_uint n,
         const cl_event *w, cl_event *e),
        (q, m, b, o, s, p, n, w, e))
COMMAND(clEnqueueWriteBuffer,
        (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, const void *p, cl_uint n,
         const cl_event *w, cl_event *e),
        (q, m, b, o, s, p, n, w, e))
COMMAND(clEnqueueReadBufferRect,
        (cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *h, const size_t *s,
         size_t r, size_t l, size_t x, size_t y, void *p, cl_uint n, const cl_event *w,
         cl_event *e),
        (q, m, b, o, h, s, r, l, x, y, p, n, w, e))
static CL_API_ENTRY cl_int CL_API_CALL at_clEnqueueReadBuffer_once(cl_command_queue q, cl_mem m,
                                                                   cl_bool b, size_t o, size_t s,
                                                                   void *p, cl_uint n,
                                                                   const cl_event *w, cl_event *e)
{
    has_read |= launched;
    return at_clEnqueueReadBuffer(q, m, b, o, s, p, n, w, e);
}

/* An operand, which lies in its array as it does in its buffer, is written by a blocking call. */
static CL_API_ENTRY cl_int CL_API_CALL at_clEnqueueWriteBuffer_from_start(
    cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
    const void *ptr, cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    const size_t before = blocking ? offset : 0;

    return at_clEnqueueWriteBuffer(queue, buffer, blocking, offset - before, size + before,
                                   (const char *)ptr - before, n_wait, wait, event);
}

static CL_API_ENTRY cl_int CL_API_CALL at_clEnqueueWriteBuffer_held(
    cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
    const void *ptr, cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    const struct timespec pause = {0, 1000000};
    const char *path = getenv("TESSERA_HOLD_WRITE");
    const int file = calls[call_index("clEnqueueWriteBuffer")].count == 0
                         ? open(path, O_CREAT | O_EXCL | O_WRONLY, 0600)
                         : -1;

    for (int i = 0; file >= 0 && i < 20000 && access(path, F_OK) == 0; i++)
        nanosleep(&pause, NULL);
    if (file >= 0) {
        unlink(path);
        close(file);
    }
    return at_clEnqueueWriteBuffer(queue, buffer, blocking, offset, size, ptr, n_wait, wait, event);
}

COMMAND(clEnqueueWriteBufferRect,
        (cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *h, const size_t *s,
         size_t r, size_t l, size_t x, size_t y, const void *p, cl_uint n, const cl_event *w,
         cl_event *e),
        (q, m, b, o, h, s, r, l, x, y, p, n, w, e))
COMMAND(clEnqueueCopyBuffer,
        (cl_command_queue q, cl_mem a, cl_mem m, size_t x, size_t y, size_t s, cl_uint n,
         const cl_event *w, cl_event *e),
        (q, a, m, x, y, s, n, w, e))
COMMAND(clEnqueueCopyBufferToImage,
        (cl_command_queue q, cl_mem a, cl_mem m, size_t x, const size_t *o, const size_t *g,
         cl_uint n, const cl_event *w, cl_event *e),
        (q, a, m, x, o, g, n, w, e))
COMMAND(clEnqueueFillBuffer,
        (cl_command_queue q, cl_mem m, const void *p, size_t t, size_t o, size_t s, cl_uint n,
         const cl_event *w, cl_event *e),
        (q, m, p, t, o, s, n, w, e))
COMMAND(clEnqueueUnmapMemObject,
        (cl_command_queue q, cl_mem m, void *p, cl_uint n, const cl_event *w, cl_event *e),
        (q, m, p, n, w, e))

/* NVIDIA's driver wants all rows of a rectangle in the buffer whole, the last one's gap too. */
static int has_whole_rows(cl_mem buffer, const size_t *origin, const size_t *region, size_t pitch)
{
    size_t bytes = 0;

    next->clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    return (origin[1] + region[1]) * (pitch ? pitch : region[0]) <= bytes;
}

static CL_API_ENTRY cl_int CL_API_CALL at_clEnqueueReadBufferRect_whole(
    cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *h, const size_t *s,
    size_t r, size_t l, size_t x, size_t y, void *p, cl_uint n, const cl_event *w, cl_event *e)
{
    return has_whole_rows(m, o, s, r)
               ? at_clEnqueueReadBufferRect(q, m, b, o, h, s, r, l, x, y, p, n, w, e)
               : CL_INVALID_VALUE;
}

static CL_API_ENTRY cl_int CL_API_CALL at_clEnqueueWriteBufferRect_whole(
    cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *h, const size_t *s,
    size_t r, size_t l, size_t x, size_t y, const void *p, cl_uint n, const cl_event *w,
    cl_event *e)
{
    return has_whole_rows(m, o, s, r)
               ? at_clEnqueueWriteBufferRect(q, m, b, o, h, s, r, l, x, y, p, n, w, e)
               : CL_INVALID_VALUE;
}

static CL_API_ENTRY cl_int CL_API_CALL at_clEnqueueMarkerWithWaitList(cl_command_queue q, cl_uint n,
                                                                      const cl_event *w,
                                                                      cl_event *e)
{
    cl_int rc = fault("clEnqueueMarkerWithWaitList");

    if (rc)
        return rc;
    rc = next->clEnqueueMarkerWithWaitList(q, n, w, e);
    if (rc == CL_SUCCESS && e) {
        took(KIND_EVENT, *e);
        behind = n ? behind : *e;
    }
    return rc;
}

COMMAND(clEnqueueBarrierWithWaitList,
        (cl_command_queue q, cl_uint n, const cl_event *w, cl_event *e), (q, n, w, e))

COMMAND(clEnqueueSVMMap,
        (cl_command_queue q, cl_bool b, cl_map_flags f, void *p, size_t s, cl_uint n,
         const cl_event *w, cl_event *e),
        (q, b, f, p, s, n, w, e))
COMMAND(clEnqueueSVMUnmap, (cl_command_queue q, void *p, cl_uint n, const cl_event *w, cl_event *e),
        (q, p, n, w, e))

static CL_API_ENTRY void *CL_API_CALL at_clSVMAlloc(cl_context c, cl_svm_mem_flags f, size_t s,
                                                    cl_uint a)
{
    void *at = fault("clSVMAlloc") ? NULL : next->clSVMAlloc(c, f, s, a);

    took(KIND_SVM, at);
    return at;
}

static CL_API_ENTRY void CL_API_CALL at_clSVMFree(cl_context c, void *p)
{
    next->clSVMFree(c, p);
    balance[KIND_SVM] -= p != NULL;
}

static CL_API_ENTRY void *CL_API_CALL at_clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool b,
                                                            cl_map_flags f, size_t o, size_t s,
                                                            cl_uint n, const cl_event *w,
                                                            cl_event *e, cl_int *rc)
{
    cl_int failed = fault("clEnqueueMapBuffer");
    void *at = NULL;

    if (!failed)
        at = next->clEnqueueMapBuffer(q, m, b, f, o, s, n, w, e, &failed);
    if (at && e)
        took(KIND_EVENT, *e);
    if (rc)
        *rc = failed;
    return at;
}

/* ---- the layer --------------------------------------------------------------------------- */

CL_API_ENTRY cl_int CL_API_CALL __attribute__((visibility("default")))
clGetLayerInfo(cl_layer_info what, size_t size, void *value, size_t *size_out)
{
    static const char name[] = "tessera faults";
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    const void *from = what == CL_LAYER_NAME ? (const void *)name : (const void *)&version;
    const size_t bytes = what == CL_LAYER_NAME ? sizeof(name) : sizeof(version);

    if (what != CL_LAYER_NAME && what != CL_LAYER_API_VERSION)
        return CL_INVALID_VALUE;
    if (value && size < bytes)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, from, bytes);
    if (size_out)
        *size_out = bytes;
    return CL_SUCCESS;
}

#define TAKE(function) layer.function = at_##function
#define TAKE_COUNTED(Object)                                                                       \
    do {                                                                                           \
        TAKE(clRetain##Object);                                                                    \
        TAKE(clRelease##Object);                                                                   \
    } while (0)

/* NVIDIA's driver wants the buffer to hold whole rows and slices, padding behind the last one
 * included; within one buffer OpenCL wants equal pitches on both sides. */
static CL_API_ENTRY cl_int CL_API_CALL at_clEnqueueCopyBufferRect_strict(
    cl_command_queue q, cl_mem from, cl_mem to, const size_t *from_origin, const size_t *origin,
    const size_t *region, size_t from_row, size_t from_slice, size_t row, size_t slice, cl_uint n,
    const cl_event *wait, cl_event *out)
{
    size_t from_bytes = 0, bytes = 0;

    next->clGetMemObjectInfo(from, CL_MEM_SIZE, sizeof from_bytes, &from_bytes, NULL);
    next->clGetMemObjectInfo(to, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    if ((from_origin[2] + region[2]) * from_slice > from_bytes ||
        (from_origin[1] + region[1]) * from_row > from_bytes ||
        (origin[2] + region[2]) * slice > bytes || (origin[1] + region[1]) * row > bytes ||
        (from == to && (from_row != row || from_slice != slice)))
        return CL_INVALID_VALUE;
    return next->clEnqueueCopyBufferRect(q, from, to, from_origin, origin, region, from_row,
                                         from_slice, row, slice, n, wait, out);
}

static void take_over(void)
{
    const char *largest = getenv("TESSERA_LARGEST_BUFFER");

    TAKE(clGetPlatformIDs);
    TAKE(clGetPlatformInfo);
    TAKE(clGetDeviceIDs);
    TAKE(clGetDeviceInfo);
    TAKE(clGetCommandQueueInfo);
    TAKE(clBuildProgram);
    TAKE(clGetProgramInfo);
    TAKE(clGetProgramBuildInfo);
    TAKE(clSetKernelArg);
    TAKE(clGetKernelWorkGroupInfo);
    TAKE(clGetMemObjectInfo);
    TAKE(clWaitForEvents);
    TAKE(clGetEventInfo);
    TAKE(clGetEventProfilingInfo);
    TAKE(clFlush);
    TAKE(clFinish);
    TAKE(clCreateContext);
    TAKE(clCreateContextFromType);
    TAKE(clCreateCommandQueue);
    TAKE(clCreateCommandQueueWithProperties);
    TAKE(clCreateBuffer);
    TAKE(clCreateSubBuffer);
    TAKE(clCreateImage);
    TAKE(clCreateProgramWithSource);
    TAKE(clCreateProgramWithBinary);
    TAKE(clCreateKernel);
    TAKE(clCreateUserEvent);
    TAKE(clEnqueueNDRangeKernel);
    TAKE(clEnqueueReadBuffer);
    layer.clEnqueueReadBufferRect = at_clEnqueueReadBufferRect_whole;
    layer.clEnqueueWriteBufferRect = at_clEnqueueWriteBufferRect_whole;
    TAKE(clEnqueueWriteBuffer);
    TAKE(clEnqueueNativeKernel);
    TAKE(clEnqueueMapBuffer);
    TAKE(clEnqueueUnmapMemObject);
    TAKE(clEnqueueCopyBuffer);
    TAKE(clEnqueueCopyBufferToImage);
    TAKE(clEnqueueFillBuffer);
    TAKE(clEnqueueMarkerWithWaitList);
    TAKE(clEnqueueSVMMap);
    TAKE(clEnqueueSVMUnmap);
    TAKE(clSVMAlloc);
    TAKE(clSVMFree);
    TAKE(clSetKernelArgSVMPointer);
    TAKE(clEnqueueBarrierWithWaitList);
    TAKE_COUNTED(Context);
    TAKE_COUNTED(CommandQueue);
    TAKE_COUNTED(MemObject);
    TAKE_COUNTED(Program);
    TAKE_COUNTED(Kernel);
    TAKE_COUNTED(Event);
    largest_buffer = largest ? strtoull(largest, NULL, 10) : 0;
    if (getenv("TESSERA_OWN_MEMORY") || getenv("TESSERA_AS_GPU") || largest_buffer)
        layer.clGetDeviceInfo = at_clGetDeviceInfo_changed;
    if (largest_buffer)
        layer.clCreateBuffer = at_clCreateBuffer_limited;
    if (getenv("TESSERA_STRICT_BOXES"))
        layer.clEnqueueCopyBufferRect = at_clEnqueueCopyBufferRect_strict;
    if (getenv("TESSERA_HOLD_WRITE"))
        layer.clEnqueueWriteBuffer = at_clEnqueueWriteBuffer_held;
    if (getenv("TESSERA_ONE_CALL")) {
        layer.clEnqueueNDRangeKernel = at_clEnqueueNDRangeKernel_once;
        layer.clEnqueueReadBuffer = at_clEnqueueReadBuffer_once;
    }
    if (getenv("TESSERA_KEEP_BUFFERS")) {
        layer.clReleaseMemObject = at_clReleaseMemObject_kept;
        layer.clEnqueueWriteBuffer = at_clEnqueueWriteBuffer_from_start;
    }
}

CL_API_ENTRY cl_int CL_API_CALL __attribute__((visibility("default")))
clInitLayer(cl_uint entries, const cl_icd_dispatch *target, cl_uint *entries_out,
            const cl_icd_dispatch **layer_out)
{
    const cl_uint known = sizeof(layer) / sizeof(layer.clGetPlatformIDs);

    if (entries < known)
        return CL_INVALID_VALUE;
    next = target;
    process = getpid();
    layer = *target;
    take_over();
    atexit(report);
    *entries_out = known;
    *layer_out = &layer;
    return CL_SUCCESS;
}
