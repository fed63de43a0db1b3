/* Memory of a device, and events: the part of the module for arrays that stay there. */
#include "_tessera.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

typedef struct memory_object {
    PyObject head;
    session_object *session;
    cl_mem memory;
    cl_mem root; /* the buffer that it is a part of, from byte `origin` on: itself, from 0 on */
    size_t origin;
    size_t bytes;
    size_t pooled;   /* bytes that the session's pool counts; 0 of what it did not make */
    int shared;      /* others may have it: it does not go back to the pool */
    PyObject *owner; /* what hands the memory out again once it is gone, or NULL */
} memory_object;

/* An event on a session's queue. */
typedef struct event_object {
    PyObject head;
    session_object *session;
    cl_event event;
} event_object;

static PyTypeObject *memory_type, *event_type;

/* The most that the session's device allocates at once; 0 where it does not say. */
static cl_ulong most_bytes(const session_object *s)
{
    cl_device_id device;
    cl_ulong most = 0;

    if (clGetCommandQueueInfo(tsr_session_queue(s->session), CL_QUEUE_DEVICE, sizeof(device),
                              &device, NULL) ||
        clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(most), &most, NULL))
        return 0;
    return most;
}

/* The exception of memory that the device does not have, of so many bytes, a Python int; returns
 * NULL. */
static PyObject *raise_no_memory(PyObject *bytes, cl_ulong most)
{
    tsr_error err = {.status = TSR_ENOMEM};
    PyObject *spelled = PyObject_Str(bytes);
    PyObject *utf8 = spelled ? PyUnicode_AsUTF8String(spelled) : NULL;

    Py_XDECREF(spelled);
    if (!utf8)
        return NULL;
    snprintf(err.message, sizeof(err.message),
             "the device has no %s bytes for an array; it allocates at most %llu at once",
             PyBytes_AsString(utf8), (unsigned long long)most);
    Py_DECREF(utf8);
    return raise_error(TSR_ENOMEM, &err);
}

/* The exception of an OpenCL call; returns NULL. */
static PyObject *raise_cl(const char *call, cl_int rc)
{
    tsr_error err = {.status = TSR_ECL, .cl = rc};

    snprintf(err.message, sizeof(err.message), "%s: OpenCL error %d", call, (int)rc);
    return raise_error(TSR_ECL, &err);
}

/* Takes the caller's reference to the OpenCL object, and one of its own to the owner. */
static PyObject *memory_make(session_object *s, cl_mem memory, size_t bytes, PyObject *owner)
{
    memory_object *out = (memory_object *)PyType_GenericAlloc(memory_type, 0);

    if (!out) {
        clReleaseMemObject(memory);
        return NULL;
    }
    Py_INCREF(&s->head);
    out->session = s;
    out->memory = out->root = memory;
    out->bytes = bytes;
    out->owner = owner;
    Py_XINCREF(owner);
    return (PyObject *)out;
}

/* The same for the caller's buffer, which may be a part of another. */
static PyObject *memory_of_caller(session_object *s, cl_mem memory, size_t bytes, PyObject *owner)
{
    cl_mem root = NULL;
    size_t origin = 0;
    PyObject *out = memory_make(s, memory, bytes, owner);

    if (out &&
        !clGetMemObjectInfo(memory, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof(root), (void *)&root,
                            NULL) &&
        root && !clGetMemObjectInfo(memory, CL_MEM_OFFSET, sizeof(origin), &origin, NULL)) {
        ((memory_object *)out)->root = root; /* which the part retains */
        ((memory_object *)out)->origin = origin;
    }
    return out;
}

/* Whether commands of a session may use another one's memory: it is of the same device and context.
 */
static int may_use(const session_object *s, const session_object *other)
{
    return s == other || (other->session && s->session && s->context == other->context &&
                          s->id == other->id && s->context);
}

/* Where memory is that a session may not use. */
static const char *elsewhere(const session_object *s, const session_object *other)
{
    if (!other->session)
        return "lost: its device was closed, or used before this process was forked";
    if (s->id == other->id && s->id)
        return "in another OpenCL context of the device, and memory stays in its own: "
               "to_pyopencl(x).context is the one of Tessera's arrays";
    return "on another device";
}

void sessions_add(session_set *set, session_object *s)
{
    size_t at = set->count;

    for (size_t i = 0; i < set->count; i++)
        if (set->one[i] == s)
            return;
    for (; at && (uintptr_t)set->one[at - 1] > (uintptr_t)s; at--)
        set->one[at] = set->one[at - 1];
    set->one[at] = s;
    set->count++;
}

int sessions_lock(const session_set *set)
{
    int open = 1;

    for (size_t i = 0; i < set->count; i++) {
        pthread_mutex_lock(&set->one[i]->lock);
        open &= set->one[i]->session != NULL;
    }
    return open;
}

void sessions_unlock(const session_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        pthread_mutex_unlock(&set->one[i]->lock);
}

/* What is enqueued later on one session waits for what is enqueued on another by now. */
static cl_int follow(const session_object *s, const session_object *first)
{
    cl_event event = NULL;
    cl_int rc = clEnqueueMarkerWithWaitList(first->queue, 0, NULL, &event);

    rc = rc ? rc : clFlush(first->queue);
    rc = rc ? rc : clEnqueueBarrierWithWaitList(s->queue, 1, &event, NULL);
    if (event)
        clReleaseEvent(event);
    return rc;
}

cl_int session_follow_others(const session_set *set, const session_object *s)
{
    cl_int rc = CL_SUCCESS;

    for (size_t i = 0; i < set->count && !rc; i++)
        if (set->one[i] != s)
            rc = follow(s, set->one[i]);
    return rc;
}

cl_int others_follow_session(const session_set *set, const session_object *s)
{
    cl_int rc = CL_SUCCESS;

    for (size_t i = 0; i < set->count && !rc; i++)
        if (set->one[i] != s)
            rc = follow(set->one[i], s);
    return rc;
}

/* The session's queue, locked; NULL, and an exception, where there is none. */
static cl_command_queue queue_lock(session_object *s)
{
    cl_command_queue queue;

    if (!session_lock(s))
        return NULL;
    queue = tsr_session_queue(s->session);
    if (!queue) {
        const tsr_error err = {
            .message =
                "the device 'host' has no memory of its own and no queue: use NumPy's arrays"};

        pthread_mutex_unlock(&s->lock);
        raise_error(TSR_EUNSUPPORTED, &err);
    }
    return queue;
}

/* ---- methods of a session ------------------------------------------------------------------ */

int may_try_again(session_object *s, tsr_status status, cl_int rc, int *tried)
{
    const int lacked = status == TSR_ENOMEM || rc == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
                       rc == CL_OUT_OF_RESOURCES || rc == CL_OUT_OF_HOST_MEMORY;
    PyThreadState *others;

    if (*tried || !lacked || !pools_empty())
        return 0;
    *tried = 1;
    others = PyEval_SaveThread();
    pthread_mutex_lock(&s->lock);
    if (s->session && tsr_session_queue(s->session))
        clFinish(tsr_session_queue(s->session));
    pthread_mutex_unlock(&s->lock);
    PyEval_RestoreThread(others);
    return 1;
}

/* A new buffer, and the bytes that it has. */
static cl_mem make_buffer(session_object *s, size_t bytes, size_t *size, cl_int *rc)
{
    const cl_context context = tsr_session_context(s->session);
    const size_t least = bytes ? bytes : 1;
    cl_mem out;

    pool_make_room(&s->pool, *size);
    out = clCreateBuffer(context, CL_MEM_READ_WRITE, *size, NULL, rc);
    if (!out && *size > least) { /* rounded up it may be more than there is */
        *size = least;
        out = clCreateBuffer(context, CL_MEM_READ_WRITE, *size, NULL, rc);
    }
    s->pool.made += out != NULL;
    return out;
}

PyObject *session_allocate(PyObject *self, PyObject *number)
{
    session_object *s = (session_object *)self;
    const size_t bytes = PyLong_AsSize_t(number);
    const int beyond = PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_OverflowError);
    size_t size = pool_size(bytes);
    cl_mem memory = NULL;
    cl_int rc = CL_INVALID_BUFFER_SIZE;
    cl_ulong most = 0;
    PyObject *out;
    int tried = 0;

    if (beyond)
        PyErr_Clear();
    if (PyErr_Occurred())
        return NULL;
    if (!beyond)
        memory = pool_take(&s->pool, size);
    while (!memory) {
        if (!queue_lock(s))
            return NULL;
        if (!beyond)
            memory = make_buffer(s, bytes, &size, &rc);
        if (!memory)
            most = most_bytes(s);
        pthread_mutex_unlock(&s->lock);
        if (!memory && !may_try_again(s, TSR_OK, rc, &tried))
            break;
    }
    if (memory) {
        out = memory_make(s, memory, bytes, NULL);
        if (out) {
            ((memory_object *)out)->pooled = size;
            pool_use(&s->pool, size);
        }
        return out;
    }
    if (rc == CL_INVALID_BUFFER_SIZE || rc == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
        rc == CL_OUT_OF_RESOURCES || rc == CL_OUT_OF_HOST_MEMORY)
        return raise_no_memory(number, most);
    return raise_cl("clCreateBuffer", rc);
}

PyObject *session_memory_stats(PyObject *self, PyObject *unused)
{
    (void)unused;
    return pool_stats(&((session_object *)self)->pool);
}

/* limit_memory(kept, all): as if the device had that little, for tests. */
PyObject *session_limit_memory(PyObject *self, PyObject *args)
{
    memory_pool *p = &((session_object *)self)->pool;
    Py_ssize_t kept, all;

    if (!PyArg_ParseTuple(args, "nn", &kept, &all))
        return NULL;
    if (kept < 0 || all < 0) {
        PyErr_SetString(PyExc_ValueError, "a limit must not be below 0");
        return NULL;
    }
    p->limit = (size_t)kept;
    p->all = (size_t)all;
    Py_RETURN_NONE;
}

/* The caller's buffer, by its address, which is retained, and its owner, if it has one. */
PyObject *session_memory(PyObject *self, PyObject *args)
{
    session_object *s = (session_object *)self;
    PyObject *handle, *owner = NULL;
    cl_mem memory;
    cl_context context = NULL;
    size_t bytes = 0;
    cl_int rc;

    if (!PyArg_ParseTuple(args, "O|O", &handle, &owner))
        return NULL;
    memory = (cl_mem)PyLong_AsVoidPtr(handle);
    if (PyErr_Occurred() || !queue_lock(s))
        return NULL;
    rc = clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof(bytes), &bytes, NULL);
    rc = rc ? rc : clGetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof(context), &context, NULL);
    if (!rc && context != tsr_session_context(s->session))
        rc = CL_INVALID_CONTEXT;
    rc = rc ? rc : clRetainMemObject(memory);
    pthread_mutex_unlock(&s->lock);
    return rc ? raise_cl("the buffer", rc) : memory_of_caller(s, memory, bytes, owner);
}

/* clCreateBufferWithProperties, which loaders older than OpenCL 3.0 do not have, for a device; NULL
 * where its driver is older. */
static cl_api_clCreateBufferWithProperties create_with_properties(cl_device_id device)
{
    char version[64] = "";

    if (clGetDeviceInfo(device, CL_DEVICE_VERSION, sizeof(version) - 1, version, NULL) ||
        strncmp(version, "OpenCL ", 7) != 0 || version[7] < '3')
        return NULL;
    return (cl_api_clCreateBufferWithProperties)(uintptr_t)dlsym(RTLD_DEFAULT,
                                                                 "clCreateBufferWithProperties");
}

/* Import memory on a queue's device, and acquire it for commands there.  The descriptor is taken
 * over: by the driver once there is memory of it, and else it is closed. */
static cl_int import_on(session_object *s, cl_command_queue queue, int descriptor, size_t bytes,
                        cl_mem *out)
{
    cl_context context = tsr_session_context(s->session);
    char vendor[64] = "";
    cl_api_clCreateBufferWithProperties create = NULL;
    clEnqueueAcquireExternalMemObjectsKHR_fn acquire;
    cl_device_id device = NULL;
    cl_platform_id platform = NULL;
    cl_int rc = clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(device), &device, NULL);
    const cl_mem_properties how[] = {CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR,
                                     (cl_mem_properties)descriptor,
                                     CL_DEVICE_HANDLE_LIST_KHR,
                                     (cl_mem_properties)(uintptr_t)device,
                                     CL_DEVICE_HANDLE_LIST_END_KHR,
                                     0};

    rc = rc ? rc : clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL);
    if (!rc) {
        create = create_with_properties(device);
        rc = CL_INVALID_OPERATION;
    }
    if (create)
        *out = create(context, how, CL_MEM_READ_WRITE, bytes, NULL, &rc);
    if (rc) {
        close(descriptor);
        return rc;
    }
    /* NVIDIA's driver (580) does not return from the release of a context that memory was imported
     * to: it stays until the process ends. */
    if (!s->context_stays &&
        clGetPlatformInfo(platform, CL_PLATFORM_VENDOR, sizeof(vendor) - 1, vendor, NULL) == 0 &&
        strstr(vendor, "NVIDIA"))
        s->context_stays = clRetainContext(context) == CL_SUCCESS;
    acquire = (clEnqueueAcquireExternalMemObjectsKHR_fn)(uintptr_t)
        clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueAcquireExternalMemObjectsKHR");
    return acquire ? acquire(queue, 1, out, 0, NULL, NULL) : CL_SUCCESS;
}

/* Memory that another interface exported as a file descriptor, which is taken over. */
PyObject *session_import(PyObject *self, PyObject *args)
{
    const tsr_error refused = {.message = "the driver of this device cannot import memory"};
    session_object *s = (session_object *)self;
    cl_command_queue queue;
    cl_mem memory = NULL;
    cl_int rc;
    PyObject *owner;
    Py_ssize_t bytes;
    int descriptor;

    if (!PyArg_ParseTuple(args, "inO", &descriptor, &bytes, &owner))
        return NULL;
    queue = queue_lock(s);
    if (!queue) {
        close(descriptor);
        return NULL;
    }
    rc = import_on(s, queue, descriptor, (size_t)bytes, &memory);
    pthread_mutex_unlock(&s->lock);
    if (!rc)
        return memory_make(s, memory, (size_t)bytes, owner);
    if (memory)
        clReleaseMemObject(memory);
    if (rc == CL_INVALID_OPERATION || rc == CL_INVALID_PROPERTY || rc == CL_INVALID_VALUE)
        return raise_error(TSR_EUNSUPPORTED, &refused);
    return raise_cl("importing memory", rc);
}

PyObject *session_pci(PyObject *self, PyObject *unused)
{
    session_object *s = (session_object *)self;
    const cl_command_queue queue = queue_lock(s);
    cl_device_pci_bus_info_khr at;
    cl_device_id device = NULL;
    cl_int rc;

    (void)unused;
    if (!queue)
        return NULL;
    rc = clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(device), &device, NULL);
    rc = rc ? rc : clGetDeviceInfo(device, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof(at), &at, NULL);
    pthread_mutex_unlock(&s->lock);
    if (rc)
        Py_RETURN_NONE;
    return Py_BuildValue("(III)", at.pci_domain, at.pci_bus, at.pci_device);
}

PyObject *session_finish(PyObject *self, PyObject *unused)
{
    session_object *s = (session_object *)self;
    const cl_command_queue queue = queue_lock(s);
    PyThreadState *others;
    cl_int rc;

    (void)unused;
    if (!queue)
        return NULL;
    others = PyEval_SaveThread();
    rc = clFinish(queue);
    pthread_mutex_unlock(&s->lock);
    PyEval_RestoreThread(others);
    if (rc)
        return raise_cl("clFinish", rc);
    Py_RETURN_NONE;
}

PyObject *session_mark(PyObject *self, PyObject *unused)
{
    session_object *s = (session_object *)self;
    const cl_command_queue queue = queue_lock(s);
    cl_event event = NULL;
    event_object *out;
    cl_int rc;

    (void)unused;
    if (!queue)
        return NULL;
    rc = clEnqueueMarkerWithWaitList(queue, 0, NULL, &event);
    rc = rc ? rc : clFlush(queue); /* so that another queue may wait for it */
    pthread_mutex_unlock(&s->lock);
    out = rc ? NULL : (event_object *)PyType_GenericAlloc(event_type, 0);
    if (!out) {
        if (event)
            clReleaseEvent(event);
        return rc ? raise_cl("clEnqueueMarkerWithWaitList", rc) : NULL;
    }
    Py_INCREF(&s->head);
    out->session = s;
    out->event = event;
    return (PyObject *)out;
}

/* Wait for an event on the host, without the interpreter's lock. */
static cl_int wait_for(cl_event event)
{
    PyThreadState *others = PyEval_SaveThread();
    const cl_int rc = clWaitForEvents(1, &event);

    PyEval_RestoreThread(others);
    return rc;
}

PyObject *session_after(PyObject *self, PyObject *handle)
{
    session_object *s = (session_object *)self;
    const cl_event event = (cl_event)PyLong_AsVoidPtr(handle);
    cl_command_queue queue, before = NULL; /* NULL is that of an event that the host completes */
    cl_context context = NULL;
    int on_queue;
    cl_int rc;

    if (PyErr_Occurred())
        return NULL;
    queue = queue_lock(s);
    if (!queue)
        return NULL;
    rc = clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof(context), &context, NULL);
    rc = rc ? rc
            : clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof(before), (void *)&before, NULL);
    /* What another queue has not sent off yet may never begin. */
    if (!rc && before && before != queue)
        rc = clFlush(before);
    /* A queue waits for events of its own context alone. */
    on_queue = context == s->context;
    if (!rc && on_queue)
        rc = clEnqueueBarrierWithWaitList(queue, 1, &event, NULL);
    pthread_mutex_unlock(&s->lock);
    if (!rc && !on_queue)
        rc = wait_for(event);
    if (rc)
        return raise_cl("waiting for the event", rc);
    Py_RETURN_NONE;
}

int take_memory(session_object *s, PyObject *x, const call_arguments *c, size_t i, cl_mem *out,
                session_set *set)
{
    const char *name = tsr_operation_name(c->op), *operand = c->operand[i].name;
    tsr_error err = {.status = TSR_EINVAL};

    if (x == Py_None)
        return 1;
    if (Py_TYPE(x) != memory_type) {
        PyErr_Format(PyExc_TypeError, "%s: %s is not in device memory", name, operand);
        return 0;
    }
    if (!may_use(s, ((memory_object *)x)->session)) {
        PyErr_Format(PyExc_ValueError, "%s: %s is %s", name, operand,
                     elsewhere(s, ((memory_object *)x)->session));
        return 0;
    }
    if (((memory_object *)x)->bytes < c->operand[i].bytes) { /* the buffer may be larger */
        snprintf(err.message, sizeof(err.message), "%s: %s has %zu bytes and should have %zu", name,
                 operand, ((memory_object *)x)->bytes, c->operand[i].bytes);
        raise_error(TSR_EINVAL, &err);
        return 0;
    }
    *out = ((memory_object *)x)->memory;
    sessions_add(set, ((memory_object *)x)->session);
    return 1;
}

/* ---- methods of memory --------------------------------------------------------------------- */

/* Whether `bytes` from an offset on are within the memory; else an exception. */
static int within(const memory_object *m, size_t offset, size_t bytes)
{
    if (offset <= m->bytes && bytes <= m->bytes - offset)
        return 1;
    PyErr_Format(PyExc_ValueError,
                 "%zu bytes from byte %zu on are not within a memory of %zu bytes", bytes, offset,
                 m->bytes);
    return 0;
}

/* Copy between host memory and the device's, and wait for that. */
static PyObject *transfer(memory_object *m, PyObject *args, int write)
{
    PyThreadState *others;
    Py_buffer host = {0};
    PyObject *x;
    Py_ssize_t offset;
    cl_command_queue queue;
    cl_int rc = CL_SUCCESS;
    int ok, tried = 0;

    if (!PyArg_ParseTuple(args, "On", &x, &offset) ||
        PyObject_GetBuffer(x, &host, PyBUF_C_CONTIGUOUS | (write ? 0 : PyBUF_WRITABLE)))
        return NULL;
    ok = within(m, (size_t)offset, (size_t)host.len);
    do {
        queue = ok ? queue_lock(m->session) : NULL;
        ok = queue != NULL;
        if (!ok)
            break;
        others = PyEval_SaveThread();
        if (host.len && write)
            rc = clEnqueueWriteBuffer(queue, m->memory, CL_TRUE, (size_t)offset, (size_t)host.len,
                                      host.buf, 0, NULL, NULL);
        else if (host.len)
            rc = clEnqueueReadBuffer(queue, m->memory, CL_TRUE, (size_t)offset, (size_t)host.len,
                                     host.buf, 0, NULL, NULL);
        pthread_mutex_unlock(&m->session->lock);
        PyEval_RestoreThread(others);
    } while (may_try_again(m->session, TSR_OK, rc, &tried));
    PyBuffer_Release(&host);
    if (!ok)
        return NULL;
    if (rc)
        return raise_cl(write ? "clEnqueueWriteBuffer" : "clEnqueueReadBuffer", rc);
    Py_RETURN_NONE;
}

static PyObject *memory_write(PyObject *self, PyObject *args)
{
    return transfer((memory_object *)self, args, 1);
}

static PyObject *memory_read(PyObject *self, PyObject *args)
{
    return transfer((memory_object *)self, args, 0);
}

/* The same of a box of bytes, rows and slices, one at least of each. */
static int box_within(const memory_object *m, size_t offset, const size_t region[3], size_t row,
                      size_t slice)
{
    /* Rows and slices do not overlap.  Each term is at most the memory's size, or past its end. */
    const int fits = region[0] <= m->bytes && (region[1] == 1 || row >= region[0]) &&
                     (region[2] == 1 || slice >= row) &&
                     (!row || region[1] - 1 <= m->bytes / row) &&
                     (!slice || region[2] - 1 <= m->bytes / slice);

    return within(m, offset,
                  fits ? region[0] + (region[1] - 1) * row + (region[2] - 1) * slice : SIZE_MAX);
}

/* Where a box is in a memory: its rows, and slices of them, are so many bytes apart. */
typedef struct box_side {
    const memory_object *in;
    size_t at, row, slice;
} box_side;

/* Pitches as OpenCL requires them, which are at least a row and a slice even where there is only
 * one. */
static box_side with_pitches(box_side s, const size_t region[3])
{
    s.row = region[1] == 1 && s.row < region[0] ? region[0] : s.row;
    s.slice = region[2] == 1 ? region[1] * s.row : s.slice;
    return s;
}

/* Whether a memory has room for a box's rows and slices with what lies between them, behind the
 * last one too.  box_within() has seen to it that they are not 0. */
static int has_whole(const box_side *s, const size_t region[3])
{
    return region[1] <= s->in->bytes / s->row && region[2] <= s->in->bytes / s->slice;
}

/* Enqueue the copy of a box.  NVIDIA's driver (580) refuses a box of which whole rows and slices,
 * with what lies behind the last, are more than the buffer: the last slice, or row, goes by itself
 * then. */
static cl_int copy_box(cl_command_queue queue, box_side from, box_side to, const size_t region[3])
{
    const size_t origin[3] = {to.at, 0, 0}, from_origin[3] = {from.at, 0, 0};
    const int axis = region[2] > 1 ? 2 : 1;
    size_t part[3] = {region[0], region[1], region[2]};
    cl_int rc;

    if (region[1] == 1 && region[2] == 1)
        return clEnqueueCopyBuffer(queue, from.in->memory, to.in->memory, from.at, to.at, region[0],
                                   0, NULL, NULL);
    from = with_pitches(from, region);
    to = with_pitches(to, region);
    if (has_whole(&from, region) && has_whole(&to, region))
        return clEnqueueCopyBufferRect(queue, from.in->memory, to.in->memory, from_origin, origin,
                                       region, from.row, from.slice, to.row, to.slice, 0, NULL,
                                       NULL);
    part[axis]--;
    rc = copy_box(queue, from, to, part);
    from.at += part[axis] * (axis == 2 ? from.slice : from.row);
    to.at += part[axis] * (axis == 2 ? to.slice : to.row);
    part[axis] = 1;
    return rc ? rc : copy_box(queue, from, to, part);
}

/* copy(from, from_offset, from_pitches, offset, pitches, region): a box of bytes, of `region`
 * bytes, rows and slices, whose rows and slices are so far apart in each memory. */
static PyObject *memory_copy(PyObject *self, PyObject *args)
{
    memory_object *m = (memory_object *)self, *from;
    Py_ssize_t from_at, at, from_row, from_slice, row, slice, r[3];
    size_t region[3];
    session_set set = {.count = 0};
    PyThreadState *others;
    PyObject *x;
    int tried = 0, open;
    cl_int rc, after;

    if (!PyArg_ParseTuple(args, "On(nn)n(nn)(nnn)", &x, &from_at, &from_row, &from_slice, &at, &row,
                          &slice, &r[0], &r[1], &r[2]))
        return NULL;
    from = (memory_object *)x;
    if (Py_TYPE(x) != memory_type) {
        PyErr_SetString(PyExc_TypeError, "only memory of a device can be copied");
        return NULL;
    }
    if (!may_use(m->session, from->session)) {
        PyErr_Format(PyExc_ValueError, "the memory to copy from is %s",
                     elsewhere(m->session, from->session));
        return NULL;
    }
    if (r[0] < 1 || r[1] < 1 || r[2] < 1 || from_at < 0 || at < 0 || row < 0 || slice < 0 ||
        from_row < 0 || from_slice < 0) {
        PyErr_SetString(
            PyExc_ValueError,
            "the sides of a copied box must be at least 1, and offsets and pitches not below 0");
        return NULL;
    }
    for (int i = 0; i < 3; i++)
        region[i] = (size_t)r[i];
    if (!box_within(m, (size_t)at, region, (size_t)row, (size_t)slice) ||
        !box_within(from, (size_t)from_at, region, (size_t)from_row, (size_t)from_slice))
        return NULL;
    sessions_add(&set, m->session);
    sessions_add(&set, from->session);
    do {
        others = PyEval_SaveThread();
        open = sessions_lock(&set);
        rc = open ? session_follow_others(&set, m->session) : CL_INVALID_CONTEXT;
        if (!rc)
            rc = copy_box(m->session->queue,
                          (box_side){from, (size_t)from_at, (size_t)from_row, (size_t)from_slice},
                          (box_side){m, (size_t)at, (size_t)row, (size_t)slice}, region);
        /* A part may be under way although another failed. */
        after = open ? others_follow_session(&set, m->session) : CL_SUCCESS;
        rc = rc ? rc : after;
        sessions_unlock(&set);
        PyEval_RestoreThread(others);
    } while (may_try_again(m->session, TSR_OK, rc, &tried));
    if (!open)
        return raise_closed();
    if (rc)
        return raise_cl("copying memory of a device", rc);
    Py_RETURN_NONE;
}

/* fill(pattern, bytes): from the start on, repeat the pattern. */
static PyObject *memory_fill(PyObject *self, PyObject *args)
{
    memory_object *m = (memory_object *)self;
    const char *pattern;
    Py_ssize_t length, bytes;
    cl_command_queue queue;
    int tried = 0;
    cl_int rc;

    if (!PyArg_ParseTuple(args, "y#n", &pattern, &length, &bytes) || !within(m, 0, (size_t)bytes))
        return NULL;
    do {
        queue = queue_lock(m->session);
        if (!queue)
            return NULL;
        rc = bytes ? clEnqueueFillBuffer(queue, m->memory, pattern, (size_t)length, 0,
                                         (size_t)bytes, 0, NULL, NULL)
                   : CL_SUCCESS;
        pthread_mutex_unlock(&m->session->lock);
    } while (may_try_again(m->session, TSR_OK, rc, &tried));
    if (rc)
        return raise_cl("clEnqueueFillBuffer", rc);
    Py_RETURN_NONE;
}

static void memory_dealloc(PyObject *self)
{
    memory_object *m = (memory_object *)self;
    PyTypeObject *type = Py_TYPE(self);

    if (m->memory && !m->session->abandoned) {
        if (m->pooled)
            pool_give(&m->session->pool, m->memory, m->pooled, m->shared);
        else
            clReleaseMemObject(m->memory);
    }
    Py_XDECREF(m->owner);
    Py_DECREF(&m->session->head);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *memory_handle(PyObject *self, void *unused)
{
    memory_object *m = (memory_object *)self;

    (void)unused;
    m->shared = 1; /* whoever asks may retain it, and use it on another queue */
    return PyLong_FromVoidPtr(m->memory);
}

static PyObject *memory_bytes(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(((memory_object *)self)->bytes);
}

static PyObject *memory_place(PyObject *self, void *unused)
{
    const memory_object *m = (memory_object *)self;

    (void)unused;
    return Py_BuildValue("(Nn)", PyLong_FromVoidPtr(m->root), (Py_ssize_t)m->origin);
}

static PyObject *memory_session(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef((PyObject *)((memory_object *)self)->session);
}

static PyMethodDef memory_methods[] = {
    {"write", memory_write, METH_VARARGS, "write(buffer, offset): copy host memory to it."},
    {"read", memory_read, METH_VARARGS, "read(buffer, offset): copy it to host memory."},
    {"copy", memory_copy, METH_VARARGS,
     "copy(from, from_offset, from_pitches, offset, pitches, region): copy a box of bytes."},
    {"fill", memory_fill, METH_VARARGS, "fill(pattern, bytes)."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef memory_attributes[] = {
    {"handle", memory_handle, NULL, "The address of the cl_mem.", NULL},
    {"bytes", memory_bytes, NULL, "Its size.", NULL},
    {"place", memory_place, NULL,
     "(buffer, byte) where it starts: what is a part of another buffer is in that one.", NULL},
    {"session", memory_session, NULL, "The session whose device it is on.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

/* ---- events -------------------------------------------------------------------------------- */

/* The event of an object; NULL, and an exception, in a forked child, which is not to ask a driver.
 */
static cl_event event_of(PyObject *self)
{
    event_object *e = (event_object *)self;
    const tsr_error err = {.message = "the event is of a device that was used before this process "
                                      "was forked"};

    if (!e->session->abandoned)
        return e->event;
    raise_error(TSR_EINVAL, &err);
    return NULL;
}

static PyObject *event_wait(PyObject *self, PyObject *unused)
{
    const cl_event event = event_of(self);
    const cl_int rc = event ? wait_for(event) : CL_SUCCESS;

    (void)unused;
    if (!event)
        return NULL;
    if (rc)
        return raise_cl("clWaitForEvents", rc);
    Py_RETURN_NONE;
}

static PyObject *event_is_done(PyObject *self, void *unused)
{
    const cl_event event = event_of(self);
    cl_int status = CL_QUEUED, rc;

    (void)unused;
    if (!event)
        return NULL;
    rc = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL);
    if (rc || status < 0)
        return raise_cl("the event", rc ? rc : status);
    return PyBool_FromLong(status == CL_COMPLETE);
}

static PyObject *event_handle(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(((event_object *)self)->event);
}

static void event_dealloc(PyObject *self)
{
    event_object *e = (event_object *)self;
    PyTypeObject *type = Py_TYPE(self);

    if (!e->session->abandoned)
        clReleaseEvent(e->event);
    Py_DECREF(&e->session->head);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyMethodDef event_methods[] = {
    {"wait", event_wait, METH_NOARGS, "Wait until what it stands for is done."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef event_attributes[] = {
    {"handle", event_handle, NULL, "The address of the cl_event.", NULL},
    {"is_done", event_is_done, NULL, "Whether what it stands for is done.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot event_slots[] = {
    {Py_tp_dealloc, (void *)(uintptr_t)event_dealloc},
    {Py_tp_methods, event_methods},
    {Py_tp_getset, event_attributes},
    {Py_tp_doc, "An event of OpenCL's: the attribute `event` of an array on a device is one."},
    {0, NULL}};

static PyType_Spec event_spec = {.name = "tessera.Event",
                                 .basicsize = sizeof(event_object),
                                 .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 .slots = event_slots};

/* ---- no buffer ------------------------------------------------------------------------------ */

/* Device memory has no buffer that the host could read: the error names what to call instead. */
static int refuse_buffer(PyObject *self, Py_buffer *out, int flags)
{
    (void)self, (void)flags;
    out->obj = NULL;
    PyErr_SetString(PyExc_TypeError, "the memory of an array on a device is not the host's: "
                                     "tessera.to_numpy(x) copies it, for memoryview() too");
    return -1;
}

static PyType_Slot bufferless_slots[] = {
    {Py_bf_getbuffer, (void *)(uintptr_t)refuse_buffer},
    {Py_tp_doc, "What arrays on a device are made of: it says why they have no buffer."},
    {0, NULL}};

static PyType_Spec bufferless_spec = {.name = "tessera._tessera.Bufferless",
                                      .basicsize = sizeof(PyObject),
                                      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                      .slots = bufferless_slots};

/* ---- types ---------------------------------------------------------------------------------- */

static PyType_Slot memory_slots[] = {{Py_tp_dealloc, (void *)(uintptr_t)memory_dealloc},
                                     {Py_tp_methods, memory_methods},
                                     {Py_tp_getset, memory_attributes},
                                     {Py_tp_doc, "Memory of a device: a session allocates it."},
                                     {0, NULL}};

static PyType_Spec memory_spec = {.name = "tessera._tessera.Memory",
                                  .basicsize = sizeof(memory_object),
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  .slots = memory_slots};

int add_memory_types(PyObject *module)
{
    PyObject *bufferless = PyType_FromSpec(&bufferless_spec);
    int failed;

    memory_type = (PyTypeObject *)PyType_FromSpec(&memory_spec);
    event_type = (PyTypeObject *)PyType_FromSpec(&event_spec);
    failed = !bufferless || !memory_type || !event_type ||
             PyModule_AddObjectRef(module, "Bufferless", bufferless) ||
             PyModule_AddObjectRef(module, "Memory", (PyObject *)memory_type) ||
             PyModule_AddObjectRef(module, "Event", (PyObject *)event_type);
    Py_XDECREF(bufferless);
    return failed ? -1 : 0;
}
