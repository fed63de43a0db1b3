/* Memory of a device, and calls on it: the part of the module for arrays that stay there. */
#include "_tessera.h"

#include <stdint.h>
#include <stdio.h>

typedef struct memory_object {
    PyObject head;
    session_object *session;
    cl_mem memory;
    size_t bytes;
    PyObject *owner; /* what hands the memory out again once it is gone, or NULL */
} memory_object;

static PyTypeObject *memory_type;

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

    snprintf(err.message, sizeof(err.message), "%s: OpenCL's error %d", call, (int)rc);
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
    out->memory = memory;
    out->bytes = bytes;
    out->owner = owner;
    Py_XINCREF(owner);
    return (PyObject *)out;
}

/* The session's queue, locked; NULL, and an exception, where there is none. */
static cl_command_queue queue_lock(session_object *s)
{
    cl_command_queue queue;

    if (!session_lock(s))
        return NULL;
    queue = tsr_session_queue(s->session);
    if (!queue) {
        const tsr_error err = {.message =
                                   "the host has no memory of its own, and no queue: NumPy's "
                                   "arrays are in it"};

        pthread_mutex_unlock(&s->lock);
        raise_error(TSR_EUNSUPPORTED, &err);
    }
    return queue;
}

/* ---- methods of a session ------------------------------------------------------------------ */

PyObject *session_allocate(PyObject *self, PyObject *size)
{
    session_object *s = (session_object *)self;
    const size_t bytes = PyLong_AsSize_t(size);
    const int beyond = PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_OverflowError);
    cl_mem memory = NULL;
    cl_int rc = CL_INVALID_BUFFER_SIZE;
    cl_ulong most = 0;

    if (beyond)
        PyErr_Clear();
    if (PyErr_Occurred() || !queue_lock(s))
        return NULL;
    if (!beyond)
        memory = clCreateBuffer(tsr_session_context(s->session), CL_MEM_READ_WRITE,
                                bytes ? bytes : 1, NULL, &rc);
    if (!memory)
        most = most_bytes(s);
    pthread_mutex_unlock(&s->lock);
    if (memory)
        return memory_make(s, memory, bytes, NULL);
    if (rc == CL_INVALID_BUFFER_SIZE || rc == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
        rc == CL_OUT_OF_RESOURCES || rc == CL_OUT_OF_HOST_MEMORY)
        return raise_no_memory(size, most);
    return raise_cl("clCreateBuffer", rc);
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
    return rc ? raise_cl("the buffer", rc) : memory_make(s, memory, bytes, owner);
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

PyObject *session_queue(PyObject *self, PyObject *unused)
{
    session_object *s = (session_object *)self;
    const cl_command_queue queue = queue_lock(s);

    (void)unused;
    if (!queue)
        return NULL;
    pthread_mutex_unlock(&s->lock);
    return PyLong_FromVoidPtr(queue);
}

/* The buffers of a call's operands; false, and an exception, for what is none of this session's. */
static int take_memory(session_object *s, const call_arguments *c, cl_mem out[])
{
    for (size_t i = 0; i < c->operand_count; i++) {
        PyObject *x = PyTuple_GetItem(c->operands, (Py_ssize_t)i);

        if (x == Py_None)
            continue;
        if (Py_TYPE(x) != memory_type) {
            PyErr_Format(PyExc_TypeError, "%s: %s is not in device memory",
                         tsr_operation_name(c->op), c->operand[i].name);
            return 0;
        }
        if (((memory_object *)x)->session != s) {
            PyErr_Format(PyExc_ValueError, "%s: %s is on another device", tsr_operation_name(c->op),
                         c->operand[i].name);
            return 0;
        }
        out[i] = ((memory_object *)x)->memory;
    }
    return 1;
}

PyObject *session_enqueue(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    session_object *s = (session_object *)self;
    PyThreadState *others;
    call_arguments c = {0};
    cl_mem memory[TSR_OPERANDS_MAX] = {NULL};
    tsr_report report;
    tsr_error err;
    tsr_status st = TSR_OK;
    const int ok = take_call(args, count, &c) && take_memory(s, &c, memory);

    if (ok) {
        others = PyEval_SaveThread();
        pthread_mutex_lock(&s->lock);
        st = tsr_operation_enqueue(s->session, c.op, c.problem, memory, &c.run, &report, &err);
        pthread_mutex_unlock(&s->lock);
        PyEval_RestoreThread(others);
        if (st)
            raise_error(st, &err);
        else
            keep_report(&report);
    }
    release_call(&c);
    if (!ok || st)
        return NULL;
    Py_RETURN_NONE;
}

/* ---- methods of memory --------------------------------------------------------------------- */

/* Whether `bytes` from an offset on are within the memory; else an exception. */
static int within(const memory_object *m, size_t offset, size_t bytes)
{
    if (offset <= m->bytes && bytes <= m->bytes - offset)
        return 1;
    PyErr_Format(PyExc_ValueError, "%zu bytes from %zu on are not in memory of %zu", bytes, offset,
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
    int ok;

    if (!PyArg_ParseTuple(args, "On", &x, &offset) ||
        PyObject_GetBuffer(x, &host, PyBUF_C_CONTIGUOUS | (write ? 0 : PyBUF_WRITABLE)))
        return NULL;
    queue = within(m, (size_t)offset, (size_t)host.len) ? queue_lock(m->session) : NULL;
    ok = queue != NULL;
    if (queue) {
        others = PyEval_SaveThread();
        if (host.len && write)
            rc = clEnqueueWriteBuffer(queue, m->memory, CL_TRUE, (size_t)offset, (size_t)host.len,
                                      host.buf, 0, NULL, NULL);
        else if (host.len)
            rc = clEnqueueReadBuffer(queue, m->memory, CL_TRUE, (size_t)offset, (size_t)host.len,
                                     host.buf, 0, NULL, NULL);
        pthread_mutex_unlock(&m->session->lock);
        PyEval_RestoreThread(others);
    }
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

/* copy(from, from_offset, from_pitches, offset, pitches, region): a box of bytes, of `region`
 * bytes, rows and slices, whose rows and slices are so far apart in each memory. */
static PyObject *memory_copy(PyObject *self, PyObject *args)
{
    memory_object *m = (memory_object *)self, *from;
    Py_ssize_t from_at, at, from_row, from_slice, row, slice, r[3];
    size_t from_origin[3] = {0}, origin[3] = {0}, region[3];
    cl_command_queue queue;
    PyObject *x;
    cl_int rc;

    if (!PyArg_ParseTuple(args, "On(nn)n(nn)(nnn)", &x, &from_at, &from_row, &from_slice, &at, &row,
                          &slice, &r[0], &r[1], &r[2]))
        return NULL;
    from = (memory_object *)x;
    if (Py_TYPE(x) != memory_type || from->session != m->session) {
        PyErr_SetString(PyExc_TypeError, "what is copied is memory of this device");
        return NULL;
    }
    if (r[0] < 1 || r[1] < 1 || r[2] < 1 || from_at < 0 || at < 0 || row < 0 || slice < 0 ||
        from_row < 0 || from_slice < 0) {
        PyErr_SetString(PyExc_ValueError, "a box has positive sides");
        return NULL;
    }
    for (int i = 0; i < 3; i++)
        region[i] = (size_t)r[i];
    if (!box_within(m, (size_t)at, region, (size_t)row, (size_t)slice) ||
        !box_within(from, (size_t)from_at, region, (size_t)from_row, (size_t)from_slice))
        return NULL;
    queue = queue_lock(m->session);
    if (!queue)
        return NULL;
    from_origin[0] = (size_t)from_at;
    origin[0] = (size_t)at;
    if (r[1] == 1 && r[2] == 1)
        rc = clEnqueueCopyBuffer(queue, from->memory, m->memory, (size_t)from_at, (size_t)at,
                                 region[0], 0, NULL, NULL);
    else
        rc = clEnqueueCopyBufferRect(queue, from->memory, m->memory, from_origin, origin, region,
                                     (size_t)from_row, (size_t)from_slice, (size_t)row,
                                     (size_t)slice, 0, NULL, NULL);
    pthread_mutex_unlock(&m->session->lock);
    if (rc)
        return raise_cl("clEnqueueCopyBufferRect", rc);
    Py_RETURN_NONE;
}

/* fill(pattern, bytes): from the start on, repeat the pattern. */
static PyObject *memory_fill(PyObject *self, PyObject *args)
{
    memory_object *m = (memory_object *)self;
    const char *pattern;
    Py_ssize_t length, bytes;
    cl_command_queue queue;
    cl_int rc;

    if (!PyArg_ParseTuple(args, "y#n", &pattern, &length, &bytes) || !within(m, 0, (size_t)bytes))
        return NULL;
    queue = queue_lock(m->session);
    if (!queue)
        return NULL;
    rc = bytes ? clEnqueueFillBuffer(queue, m->memory, pattern, (size_t)length, 0, (size_t)bytes, 0,
                                     NULL, NULL)
               : CL_SUCCESS;
    pthread_mutex_unlock(&m->session->lock);
    if (rc)
        return raise_cl("clEnqueueFillBuffer", rc);
    Py_RETURN_NONE;
}

static void memory_dealloc(PyObject *self)
{
    memory_object *m = (memory_object *)self;
    PyTypeObject *type = Py_TYPE(self);

    if (m->memory && !m->session->abandoned)
        clReleaseMemObject(m->memory);
    Py_XDECREF(m->owner);
    Py_DECREF(&m->session->head);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *memory_handle(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(((memory_object *)self)->memory);
}

static PyObject *memory_bytes(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(((memory_object *)self)->bytes);
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
    {"session", memory_session, NULL, "The session whose device it is on.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot memory_slots[] = {{Py_tp_dealloc, (void *)(uintptr_t)memory_dealloc},
                                     {Py_tp_methods, memory_methods},
                                     {Py_tp_getset, memory_attributes},
                                     {Py_tp_doc, "Memory of a device: a session allocates it."},
                                     {0, NULL}};

static PyType_Spec memory_spec = {.name = "tessera._tessera.Memory",
                                  .basicsize = sizeof(memory_object),
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  .slots = memory_slots};

int add_memory_type(PyObject *module)
{
    memory_type = (PyTypeObject *)PyType_FromSpec(&memory_spec);
    return memory_type ? PyModule_AddObjectRef(module, "Memory", (PyObject *)memory_type) : -1;
}
