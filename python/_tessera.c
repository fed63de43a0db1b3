/* The module _tessera: devices, sessions and calls of any operation, on anything with a buffer.
 *
 * It knows operations by what the library says of them (tessera/generic.h).  Shapes and types are
 * worked out in Python; here it is only made sure that every operand is as large as the problem
 * says. */
#include "_tessera.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The devices, found at the first use; after a fork found anew. */
static tsr_devices *device_list;

static _Thread_local tsr_report last_report;
static _Thread_local Py_ssize_t report_device; /* -1 where the list has it not */
static _Thread_local char report_name[256];
static _Thread_local int has_report;

static PyObject *error_class, *invalid_class, *memory_class, *unsupported_class;

/* ---- errors -------------------------------------------------------------------------------- */

static PyObject *class_of(tsr_status status)
{
    switch (status) {
    case TSR_EINVAL:
    case TSR_ENAME:
    case TSR_EOVERFLOW:
        return invalid_class;
    case TSR_ENOMEM:
        return memory_class;
    case TSR_EUNSUPPORTED:
        return unsupported_class;
    default:
        return error_class;
    }
}

PyObject *raise_error(tsr_status status, const tsr_error *err)
{
    PyObject *class = class_of(status);
    PyObject *message =
        PyUnicode_DecodeUTF8(err->message, (Py_ssize_t)strlen(err->message), "replace");
    PyObject *e = message ? PyObject_CallFunctionObjArgs(class, message, NULL) : NULL;
    PyObject *name = e ? PyUnicode_FromString(tsr_status_name(status)) : NULL;

    if (name && !PyObject_SetAttrString(e, "status", name))
        PyErr_SetObject(class, e);
    Py_XDECREF(name);
    Py_XDECREF(e);
    Py_XDECREF(message);
    return NULL;
}

/* ---- devices ------------------------------------------------------------------------------- */

static tsr_devices *devices(void)
{
    PyThreadState *others;
    tsr_devices *found = NULL;
    tsr_error err = {0};
    tsr_status st;

    if (device_list)
        return device_list;
    others = PyEval_SaveThread();
    st = tsr_devices_find(&found, &err);
    PyEval_RestoreThread(others);
    if (st) {
        raise_error(st, &err);
        return NULL;
    }
    if (device_list) /* another thread was faster */
        tsr_devices_close(found);
    else
        device_list = found;
    return device_list;
}

static const char *kind_name(tsr_kind kind)
{
    static const char *const names[] = {"none", "host", "cpu", "gpu", "accelerator"};

    return names[kind];
}

static PyObject *py_devices(PyObject *self, PyObject *unused)
{
    const tsr_devices *list = devices();
    PyObject *out;

    (void)self, (void)unused;
    if (!list)
        return NULL;
    out = PyTuple_New((Py_ssize_t)tsr_devices_count(list));
    for (size_t i = 0; out && i < tsr_devices_count(list); i++) {
        const tsr_device *d = tsr_devices_get(list, i);
        PyObject *one =
            Py_BuildValue("(nsssnKO)", (Py_ssize_t)i, tsr_device_name(d), tsr_device_platform(d),
                          kind_name(tsr_device_kind(d)), (Py_ssize_t)tsr_device_compute_units(d),
                          (unsigned long long)tsr_device_global_memory(d),
                          tsr_device_unified_memory(d) ? Py_True : Py_False);

        if (!one || PyTuple_SetItem(out, (Py_ssize_t)i, one)) {
            Py_DECREF(out);
            return NULL;
        }
    }
    return out;
}

static PyObject *py_failures(PyObject *self, PyObject *unused)
{
    const tsr_devices *list = devices();
    PyObject *out = list ? PyList_New(0) : NULL;
    const char *line;

    (void)self, (void)unused;
    for (size_t i = 0; out && (line = tsr_devices_failure(list, i)); i++) {
        PyObject *text = PyUnicode_DecodeUTF8(line, (Py_ssize_t)strlen(line), "replace");

        if (!text || PyList_Append(out, text))
            Py_CLEAR(out);
        Py_XDECREF(text);
    }
    return out;
}

/* UTF-8 of a string or None.  False, and an exception, for anything else. */
static int utf8_or_none(PyObject *x, const char *what, PyObject **keep, const char **out)
{
    *out = NULL;
    if (x == Py_None)
        return 1;
    if (!PyUnicode_Check(x)) {
        PyErr_Format(PyExc_TypeError, "%s must be a str or None", what);
        return 0;
    }
    *keep = PyUnicode_AsUTF8String(x);
    *out = *keep ? PyBytes_AsString(*keep) : NULL;
    return *out != NULL;
}

static PyObject *py_select(PyObject *self, PyObject *which)
{
    const tsr_devices *list = devices();
    const tsr_device *device = NULL;
    PyObject *keep = NULL, *out = NULL;
    const char *name;
    size_t count = 0;
    tsr_error err = {0};
    tsr_status st;

    (void)self;
    if (!list || !utf8_or_none(which, "a device", &keep, &name))
        return NULL;
    st = tsr_devices_select(list, name, &device, 1, &count, &err);
    Py_XDECREF(keep);
    if (st)
        return raise_error(st, &err);
    for (size_t i = 0; i < tsr_devices_count(list); i++)
        if (tsr_devices_get(list, i) == device)
            out = PyLong_FromSize_t(i);
    return out;
}

/* In a forked child: the list and the sessions of the parent are of no use, and their drivers may
 * not even be told. */
static PyObject *py_forget(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    device_list = NULL;
    has_report = 0;
    Py_RETURN_NONE;
}

/* ---- operations ---------------------------------------------------------------------------- */

static const char *member_kind_name(tsr_member_kind kind)
{
    static const char *const names[] = {"count", "choice",    "flag",   "real",
                                        "type",  "precision", "layout", "scalar"};

    return names[kind];
}

/* Steals `value`; false where it or the dictionary failed. */
static int put(PyObject *dict, const char *key, PyObject *value)
{
    const int ok = value && !PyDict_SetItemString(dict, key, value);

    Py_XDECREF(value);
    return ok;
}

static PyObject *choices_of(const tsr_member *m)
{
    PyObject *out = PyDict_New();

    for (size_t i = 0; out && i < m->choice_count; i++)
        if (!put(out, m->choices[i].name, PyLong_FromSize_t(m->choices[i].value)))
            Py_CLEAR(out);
    return out;
}

static PyObject *members_of(const tsr_operation *op)
{
    PyObject *out = PyList_New(0);
    tsr_member m;

    for (size_t i = 0; out && tsr_operation_member(op, i, &m); i++) {
        PyObject *choices = choices_of(&m);
        PyObject *one =
            choices ? Py_BuildValue("(ssnnzO)", m.name, member_kind_name(m.kind),
                                    (Py_ssize_t)m.offset, (Py_ssize_t)m.bytes, m.meaning, choices)
                    : NULL;

        if (!one || PyList_Append(out, one))
            Py_CLEAR(out);
        Py_XDECREF(one);
        Py_XDECREF(choices);
    }
    return out;
}

static PyObject *types_of(const tsr_operation *op)
{
    PyObject *out = PyDict_New();

    for (int t = 0; out && t < TSR_TYPE_COUNT; t++)
        if (tsr_operation_takes(op, (tsr_type)t) &&
            !put(out, tsr_type_name((tsr_type)t), PyLong_FromLong(t)))
            Py_CLEAR(out);
    return out;
}

static PyObject *start_of(const tsr_operation *op)
{
    PyObject *out = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)tsr_operation_problem_bytes(op));

    if (out)
        tsr_operation_start(op, PyBytes_AsString(out));
    return out;
}

static PyObject *py_operations(PyObject *self, PyObject *unused)
{
    PyObject *out = PyList_New(0);
    const tsr_operation *op;

    (void)self, (void)unused;
    for (size_t i = 0; out && (op = tsr_operation_get(i)); i++) {
        PyObject *one = PyDict_New();

        if (!one || !put(one, "index", PyLong_FromSize_t(i)) ||
            !put(one, "name", PyUnicode_FromString(tsr_operation_name(op))) ||
            !put(one, "summary", PyUnicode_FromString(tsr_operation_summary(op))) ||
            !put(one, "types", types_of(op)) || !put(one, "members", members_of(op)) ||
            !put(one, "start", start_of(op)) || PyList_Append(out, one))
            Py_CLEAR(out);
        Py_XDECREF(one);
    }
    return out;
}

static PyObject *py_precisions(PyObject *self, PyObject *unused)
{
    PyObject *out = PyDict_New();

    (void)self, (void)unused;
    for (int p = TSR_PRECISION_DEFAULT + 1; out && p < TSR_PRECISION_COUNT; p++)
        if (!put(out, tsr_precision_name((tsr_precision)p), PyLong_FromLong(p)))
            Py_CLEAR(out);
    return out;
}

/* The operation and problem of a call; false, and an exception, where there is none such. */
static int take_problem(PyObject *index, PyObject *problem, call_arguments *c)
{
    const size_t i = PyLong_AsSize_t(index);
    tsr_error err = {0};
    tsr_status st;

    if (PyErr_Occurred())
        return 0;
    c->op = tsr_operation_get(i);
    if (!c->op) {
        PyErr_Format(PyExc_IndexError, "there is no operation %zu", i);
        return 0;
    }
    if (!PyBytes_Check(problem) ||
        (size_t)PyBytes_Size(problem) != tsr_operation_problem_bytes(c->op)) {
        PyErr_Format(PyExc_TypeError, "a problem of %s must be %zu bytes",
                     tsr_operation_name(c->op), tsr_operation_problem_bytes(c->op));
        return 0;
    }
    c->problem = (const unsigned char *)PyBytes_AsString(problem);
    st = tsr_operation_operands(c->op, c->problem, c->operand, &c->operand_count, &err);
    if (st)
        raise_error(st, &err);
    return st == TSR_OK;
}

static PyObject *py_operands(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    call_arguments c = {0};
    PyObject *out;

    (void)self;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "operands takes (operation, problem)");
        return NULL;
    }
    if (!take_problem(args[0], args[1], &c))
        return NULL;
    out = PyList_New(0);
    for (size_t i = 0; out && i < c.operand_count; i++) {
        PyObject *one = Py_BuildValue("(ssin)", c.operand[i].name, tsr_type_name(c.operand[i].type),
                                      c.operand[i].access, (Py_ssize_t)c.operand[i].bytes);

        if (!one || PyList_Append(out, one))
            Py_CLEAR(out);
        Py_XDECREF(one);
    }
    return out;
}

/* ---- calls --------------------------------------------------------------------------------- */

static void keep_report(const tsr_report *report, const session_object *s)
{
    last_report = *report;
    report_device = s->device;
    memcpy(report_name, s->name, sizeof(report_name));
    has_report = 1;
}

static PyObject *py_last_report(PyObject *self, PyObject *unused)
{
    static const char *const builds[] = {"none", "cached", "compiled"};
    const tsr_report *r = &last_report;
    PyObject *number;

    (void)self, (void)unused;
    if (!has_report)
        Py_RETURN_NONE;
    number = report_device < 0 ? Py_NewRef(Py_None) : PyLong_FromSsize_t(report_device);
    return Py_BuildValue(
        "{s:s,s:N,s:s,s:s,s:s,s:s,s:K,s:K,s:K,s:K,s:K,s:K,s:n,s:n,s:n,s:n,s:O,s:n,s:n,s:n}",
        "device", report_name, "device_number", number, "kernel", r->variant, "parameters",
        r->parameters, "chosen", r->chosen, "build", builds[r->build], "probe_ns",
        (unsigned long long)r->probe_ns, "build_ns", (unsigned long long)r->build_ns,
        "to_device_ns", (unsigned long long)r->to_device_ns, "device_ns",
        (unsigned long long)r->device_ns, "from_device_ns", (unsigned long long)r->from_device_ns,
        "wall_ns", (unsigned long long)r->wall_ns, "commands", (Py_ssize_t)r->commands,
        "workspace_bytes", (Py_ssize_t)r->workspace_bytes, "to_device_bytes",
        (Py_ssize_t)r->to_device_bytes, "from_device_bytes", (Py_ssize_t)r->from_device_bytes,
        "shared", r->shared ? Py_True : Py_False, "chunks", (Py_ssize_t)r->chunks, "tiles",
        (Py_ssize_t)r->tiles, "strict_tiles", (Py_ssize_t)r->strict_tiles);
}

/* -1, and an exception, for what is no tuple. */
static Py_ssize_t tuple_size(PyObject *x, const char *what)
{
    if (PyTuple_Check(x))
        return PyTuple_Size(x);
    PyErr_Format(PyExc_TypeError, "%s must be a tuple", what);
    return -1;
}

static int take_settings(PyObject *settings, call_arguments *c)
{
    const Py_ssize_t n = settings == Py_None ? 0 : tuple_size(settings, "settings");

    if (n < 0)
        return 0;
    if ((size_t)n >= sizeof(c->set) / sizeof(c->set[0])) {
        PyErr_SetString(PyExc_ValueError, "too many settings");
        return 0;
    }
    for (Py_ssize_t i = 0; i < n; i++)
        if (!utf8_or_none(PyTuple_GetItem(settings, i), "a setting", &c->settings[i], &c->set[i]))
            return 0;
    c->run.set = c->set;
    c->run.set_count = (size_t)n;
    return 1;
}

/* (operation, problem, operands, kernel, settings) of a call, checked: the exception is set where
 * it returns false.  release_call() follows in either case. */
static int take_call(PyObject *const args[], Py_ssize_t count, call_arguments *c)
{
    PyObject **keep = &c->settings[sizeof(c->settings) / sizeof(c->settings[0]) - 1];
    Py_ssize_t given;

    if (count != 5) {
        PyErr_SetString(PyExc_TypeError,
                        "a call takes (operation, problem, operands, kernel, settings)");
        return 0;
    }
    if (!take_problem(args[0], args[1], c))
        return 0;
    given = tuple_size(args[2], "operands");
    if (given < 0)
        return 0;
    /* Operands that this problem does not have are None, or left out. */
    for (Py_ssize_t i = (Py_ssize_t)c->operand_count; i < given; i++)
        if (PyTuple_GetItem(args[2], i) != Py_None)
            given = -1;
    if (given < (Py_ssize_t)c->operand_count) {
        PyErr_Format(PyExc_TypeError, "%s takes %zu operands", tsr_operation_name(c->op),
                     c->operand_count);
        return 0;
    }
    c->operands = args[2];
    return utf8_or_none(args[3], "a kernel", keep, &c->run.variant) && take_settings(args[4], c);
}

static void release_call(call_arguments *c)
{
    for (size_t i = 0; i < sizeof(c->settings) / sizeof(c->settings[0]); i++)
        Py_XDECREF(c->settings[i]);
}

/* Bytes from the first element of a buffer to the end of its last one; -1 where it goes
 * backwards. */
static Py_ssize_t reach(const Py_buffer *b)
{
    Py_ssize_t last = b->itemsize;

    if (b->len == 0)
        return 0;
    if (!b->strides)
        return b->len;
    for (int i = 0; i < b->ndim; i++) {
        if (b->strides[i] < 0)
            return -1;
        last += (b->shape[i] - 1) * b->strides[i];
    }
    return last;
}

/* The memory of operand i, which the caller releases once it is there. */
static int take_buffer(PyObject *x, const call_arguments *c, size_t i, Py_buffer *out)
{
    const tsr_operand *o = &c->operand[i];
    const int writable = (o->access & TSR_OPERAND_WRITTEN) ? PyBUF_WRITABLE : 0;
    Py_ssize_t there;

    if (x == Py_None) {
        if (o->bytes)
            PyErr_Format(PyExc_ValueError, "%s: %s is None and should have %zu bytes",
                         tsr_operation_name(c->op), o->name, o->bytes);
        return o->bytes == 0;
    }
    if (PyObject_GetBuffer(x, out, PyBUF_STRIDES | writable))
        return 0;
    there = reach(out);
    if (there < 0 || (size_t)there < o->bytes) {
        PyErr_Format(PyExc_ValueError, "%s: %s has %zd bytes and should have %zu",
                     tsr_operation_name(c->op), o->name, there, o->bytes);
        return 0;
    }
    return 1;
}

/* ---- sessions ------------------------------------------------------------------------------ */

static const tsr_error was_closed = {.message =
                                         "the device was closed, or used before this process "
                                         "was forked: its arrays are lost"};

PyObject *raise_closed(void)
{
    return raise_error(TSR_EINVAL, &was_closed);
}

int session_lock(session_object *s)
{
    PyThreadState *others;

    if (pthread_mutex_trylock(&s->lock)) {
        others = PyEval_SaveThread();
        pthread_mutex_lock(&s->lock);
        PyEval_RestoreThread(others);
    }
    if (s->session)
        return 1;
    pthread_mutex_unlock(&s->lock);
    raise_closed();
    return 0;
}

/* Whether a call can be made again after one that failed: none of its operands is read and
 * written. */
static int is_repeatable(const call_arguments *c)
{
    for (size_t i = 0; i < c->operand_count; i++)
        if (c->operand[i].access == (TSR_OPERAND_READ | TSR_OPERAND_WRITTEN))
            return 0;
    return 1;
}

/* A call's order among those of other sessions, as the library reports what failed; err may be
 * NULL. */
static tsr_status report_order(cl_int rc, tsr_error *err)
{
    if (!rc)
        return TSR_OK;
    if (err) {
        err->cl = rc;
        snprintf(err->message, sizeof(err->message),
                 "waiting for the queues of other arrays: OpenCL error %d", (int)rc);
    }
    return TSR_ECL;
}

/* Without the interpreter's lock.  A session that was closed is none: the library would take its
 * own default one, on whatever device. */
static tsr_status run_call(const session_set *set, session_object *s, const call_arguments *c,
                           void *const array[], const cl_mem memory[], tsr_report *report,
                           tsr_error *err)
{
    tsr_status st, after;

    if (!sessions_lock(set)) {
        sessions_unlock(set);
        *err = was_closed;
        return TSR_EINVAL;
    }
    st = report_order(session_follow_others(set, s), err);
    if (!st) {
        st = memory ? tsr_operation_enqueue(s->session, c->op, c->problem, memory, &c->run, report,
                                            err)
                    : tsr_operation_run(s->session, c->op, c->problem, array, &c->run, report, err);
        after = report_order(others_follow_session(set, s), st ? NULL : err);
        st = st ? st : after;
    }
    sessions_unlock(set);
    return st;
}

/* A call on host memory, or one that is enqueued on memory of the device. */
static PyObject *call(PyObject *self, PyObject *const *args, Py_ssize_t count, int enqueued)
{
    session_object *s = (session_object *)self;
    PyThreadState *others;
    call_arguments c = {0};
    Py_buffer buffer[TSR_OPERANDS_MAX];
    void *array[TSR_OPERANDS_MAX] = {NULL};
    cl_mem memory[TSR_OPERANDS_MAX] = {NULL};
    tsr_report report;
    tsr_error err;
    tsr_status st = TSR_OK;
    session_set set = {.count = 0};
    int ok = take_call(args, count, &c);

    memset(buffer, 0, sizeof(buffer));
    sessions_add(&set, s);
    for (size_t i = 0; ok && i < c.operand_count; i++) {
        PyObject *x = PyTuple_GetItem(c.operands, (Py_ssize_t)i);

        ok = enqueued ? take_memory(s, x, &c, i, &memory[i], &set)
                      : take_buffer(x, &c, i, &buffer[i]);
        array[i] = buffer[i].buf;
    }
    if (ok) {
        int tried = 0;

        do {
            err.cl = 0;
            others = PyEval_SaveThread();
            st = run_call(&set, s, &c, array, enqueued ? memory : NULL, &report, &err);
            PyEval_RestoreThread(others);
        } while (st && may_try_again(s, st, err.cl, &tried) && is_repeatable(&c));
        if (st)
            raise_error(st, &err);
        else
            keep_report(&report, s);
    }
    for (size_t i = 0; i < c.operand_count; i++)
        if (buffer[i].obj)
            PyBuffer_Release(&buffer[i]);
    release_call(&c);
    if (!ok || st)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *session_run(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    return call(self, args, count, 0);
}

static PyObject *session_enqueue(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    return call(self, args, count, 1);
}

static PyObject *session_close(PyObject *self, PyObject *unused)
{
    session_object *s = (session_object *)self;
    PyThreadState *others;
    tsr_session *closed;

    (void)unused;
    pool_close(&s->pool);
    others = PyEval_SaveThread();
    pthread_mutex_lock(&s->lock);
    closed = s->session;
    s->session = NULL;
    tsr_session_close(closed);
    pthread_mutex_unlock(&s->lock);
    PyEval_RestoreThread(others);
    Py_RETURN_NONE;
}

/* In a forked child: drivers do not survive the fork, so nothing is released. */
static PyObject *session_abandon(PyObject *self, PyObject *unused)
{
    session_object *s = (session_object *)self;

    (void)unused;
    s->session = NULL;
    s->abandoned = 1;
    pool_abandon(&s->pool);
    pthread_mutex_init(&s->lock, NULL); /* another thread of the parent may have held it */
    Py_RETURN_NONE;
}

/* What a session is on; its device is named as the list has it, or else as OpenCL does. */
static void describe_session(session_object *s, const char *name)
{
    s->context = tsr_session_context(s->session);
    s->queue = tsr_session_queue(s->session);
    if (s->queue)
        clGetCommandQueueInfo(s->queue, CL_QUEUE_DEVICE, sizeof(s->id), &s->id, NULL);
    if (name)
        snprintf(s->name, sizeof(s->name), "%s", name);
    else
        clGetDeviceInfo(s->id, CL_DEVICE_NAME, sizeof(s->name) - 1, s->name, NULL);
}

/* The index of a device of OpenCL's in the list, by its numbers; -1 where it has none. */
static Py_ssize_t list_index(cl_device_id id)
{
    enum { MOST = 64 };
    const tsr_devices *list = devices();
    const tsr_device *found = NULL;
    cl_platform_id platform = NULL, platforms[MOST];
    cl_device_id ids[MOST];
    cl_uint platform_count = 0, count = 0, p = 0, d = 0;
    char numbers[32];
    size_t found_count;

    PyErr_Clear();
    clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL);
    clGetPlatformIDs(MOST, platforms, &platform_count);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MOST, ids, &count);
    while (p < platform_count && p < MOST && platforms[p] != platform)
        p++;
    while (d < count && d < MOST && ids[d] != id)
        d++;
    if (!list || p == platform_count || p == MOST || d == count || d == MOST)
        return -1;
    snprintf(numbers, sizeof(numbers), "%u:%u", p, d);
    if (tsr_devices_select(list, numbers, &found, 1, &found_count, NULL))
        return -1;
    for (size_t i = 0; i < tsr_devices_count(list); i++)
        if (tsr_devices_get(list, i) == found)
            return (Py_ssize_t)i;
    return -1;
}

static PyObject *session_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    static char *names[] = {"device", "copies", "profile", "device_memory", "by_default", NULL};
    PyThreadState *others;
    tsr_session_options options = {0};
    Py_ssize_t index, device_memory = 0;
    int by_default = 0; /* nobody named it: reports then say why it is the host */
    const tsr_devices *list;
    const tsr_device *device;
    tsr_session *session = NULL;
    session_object *out;
    tsr_error err = {0};
    tsr_status st;

    if (!PyArg_ParseTupleAndKeywords(args, named, "n|ppnp", names, &index, &options.copies,
                                     &options.profile, &device_memory, &by_default))
        return NULL;
    list = devices();
    device = list && index >= 0 ? tsr_devices_get(list, (size_t)index) : NULL;
    if (!device || device_memory < 0) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "there is no device %zd", index);
        return NULL;
    }
    options.device_memory = (size_t)device_memory;
    others = PyEval_SaveThread();
    st = tsr_session_open(by_default ? NULL : device, &options, &session, &err);
    PyEval_RestoreThread(others);
    if (st)
        return raise_error(st, &err);
    out = (session_object *)PyType_GenericAlloc(type, 0);
    if (!out) {
        tsr_session_close(session);
        return NULL;
    }
    out->session = session;
    out->device = index;
    describe_session(out, tsr_device_name(device));
    pool_open(&out->pool, (size_t)(tsr_device_global_memory(device) / 4),
              (size_t)tsr_device_global_memory(device));
    pthread_mutex_init(&out->lock, NULL);
    return (PyObject *)out;
}

/* A session on the caller's queue, by its address. */
static PyObject *session_adopt(PyObject *type, PyObject *handle)
{
    cl_command_queue queue = (cl_command_queue)PyLong_AsVoidPtr(handle);
    cl_command_queue_properties properties = 0;
    session_object *out;
    tsr_session *session = NULL;
    tsr_error err = {.message = "the queue is out of order, and only events would order calls on "
                                "its arrays: use an in-order queue"};
    tsr_status st;

    if (PyErr_Occurred())
        return NULL;
    if (queue &&
        !clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(properties), &properties, NULL) &&
        (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
        return raise_error(TSR_EUNSUPPORTED, &err);
    st = tsr_session_adopt(queue, NULL, &session, &err);
    if (st)
        return raise_error(st, &err);
    out = (session_object *)PyType_GenericAlloc((PyTypeObject *)type, 0);
    if (!out) {
        tsr_session_close(session);
        return NULL;
    }
    out->session = session;
    describe_session(out, NULL);
    out->device = list_index(out->id);
    pool_open(&out->pool, 0, 0); /* its memory is the caller's affair: none is kept */
    pthread_mutex_init(&out->lock, NULL);
    return (PyObject *)out;
}

static void session_dealloc(PyObject *self)
{
    session_object *s = (session_object *)self;
    PyTypeObject *type = Py_TYPE(self);

    PyThreadState *others;

    pool_close(&s->pool);
    pool_remove(&s->pool);
    others = PyEval_SaveThread();
    tsr_session_close(s->session);
    PyEval_RestoreThread(others);
    pthread_mutex_destroy(&s->lock);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *session_device(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSsize_t(((session_object *)self)->device);
}

static PyObject *session_lost(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(!((session_object *)self)->session);
}

static PyObject *session_handle(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(((session_object *)self)->queue);
}

static PyMethodDef session_methods[] = {
    {"run", (PyCFunction)(void (*)(void))session_run, METH_FASTCALL,
     "run(operation, problem, operands, kernel, settings): a call on host memory."},
    {"enqueue", (PyCFunction)(void (*)(void))session_enqueue, METH_FASTCALL,
     "enqueue(operation, problem, operands, kernel, settings): a call on memory of the device."},
    {"allocate", session_allocate, METH_O, "allocate(bytes): memory of the device."},
    {"memory_stats", session_memory_stats, METH_NOARGS,
     "What its arrays have, and the pool keeps."},
    {"limit_memory", session_limit_memory, METH_VARARGS,
     "limit_memory(kept, all): bytes that the pool keeps at most, and that the device has."},
    {"memory", session_memory, METH_VARARGS,
     "memory(handle, owner): that of a cl_mem, by its address; the owner is kept with it."},
    {"import_memory", session_import, METH_VARARGS,
     "import_memory(descriptor, bytes, owner): that of another interface, by the file descriptor "
     "that it is exported as, which it takes over, and closes where it raises; the owner is kept "
     "with it."},
    {"finish", session_finish, METH_NOARGS, "Wait for all that was enqueued."},
    {"mark", session_mark, METH_NOARGS, "An event that completes with all that was enqueued."},
    {"after", session_after, METH_O,
     "after(handle): what is enqueued later waits for a cl_event, by its address."},
    {"pci", session_pci, METH_NOARGS,
     "(domain, bus, device) where the driver says where its device is, else None."},
    {"adopt", session_adopt, METH_O | METH_CLASS, "adopt(handle): on a cl_command_queue."},
    {"close", session_close, METH_NOARGS, "Release the device."},
    {"abandon", session_abandon, METH_NOARGS, "Forget the device, in a forked child."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef session_attributes[] = {
    {"device", session_device, NULL, "Its index in devices(), or -1.", NULL},
    {"lost", session_lost, NULL, "Whether it was closed, or opened before this process was forked.",
     NULL},
    {"handle", session_handle, NULL, "The address of its cl_command_queue; 0 of the host.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot session_slots[] = {{Py_tp_new, (void *)(uintptr_t)session_new},
                                      {Py_tp_dealloc, (void *)(uintptr_t)session_dealloc},
                                      {Py_tp_methods, session_methods},
                                      {Py_tp_getset, session_attributes},
                                      {Py_tp_doc, "A device that calls run on."},
                                      {0, NULL}};

static PyType_Spec session_spec = {.name = "tessera._tessera.Session",
                                   .basicsize = sizeof(session_object),
                                   .flags = Py_TPFLAGS_DEFAULT,
                                   .slots = session_slots};

/* ---- the module ---------------------------------------------------------------------------- */

static PyObject *py_version(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyUnicode_FromString(tsr_version());
}

static PyObject *py_empty_pools(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    pools_empty();
    Py_RETURN_NONE;
}

static const char last_report_doc[] =
    "What this thread's last call did: a dict; None before the first one.\n\n"
    "device and device_number are what ran it, as devices() has it; kernel, parameters and chosen\n"
    "the variant, its tunables, and why it was chosen; build is \"none\", \"cached\" or\n"
    "\"compiled\".  Times are nanoseconds, 0 where they were not measured.  shared is whether the\n"
    "arrays were worked on where they are, without a copy.\n\n"
    ">>> import numpy as np\n"
    ">>> import tessera as ts\n"
    ">>> ts.sort(np.array([2.0, 1.0]), device=\"host\")\n"
    "array([1., 2.])\n"
    ">>> report = ts.last_report()\n"
    ">>> report[\"device\"], report[\"to_device_bytes\"], report[\"shared\"]\n"
    "('host', 0, True)\n"
    ">>> report[\"wall_ns\"] > 0\n"
    "True\n";

static PyMethodDef functions[] = {
    {"version", py_version, METH_NOARGS, "Version of the library."},
    {"devices", py_devices, METH_NOARGS,
     "(index, name, platform, kind, compute units, bytes, shares the host's memory) of each."},
    {"failures", py_failures, METH_NOARGS, "What failed while devices were listed."},
    {"select", py_select, METH_O, "Index of the device of that name; of the default one for None."},
    {"forget", py_forget, METH_NOARGS, "List devices anew: in a forked child."},
    {"operations", py_operations, METH_NOARGS, "Every operation: a dict each."},
    {"precisions", py_precisions, METH_NOARGS, "Precisions by their names."},
    {"operands", (PyCFunction)(void (*)(void))py_operands, METH_FASTCALL,
     "(name, type, access, bytes) of each operand of a problem."},
    {"empty_pools", py_empty_pools, METH_NOARGS, "Release the memory that is kept for arrays."},
    {"last_report", py_last_report, METH_NOARGS, last_report_doc},
    {NULL, NULL, 0, NULL}};

static PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_tessera", .m_size = -1,
                             .m_methods = functions};

/* An exception class that is also one of Python's own; NULL base: of Exception alone. */
static PyObject *new_error(const char *name, const char *doc, PyObject *base)
{
    PyObject *bases = base ? PyTuple_Pack(2, error_class, base) : NULL;
    PyObject *class = base && !bases ? NULL : PyErr_NewExceptionWithDoc(name, doc, bases, NULL);

    Py_XDECREF(bases);
    return class;
}

PyMODINIT_FUNC PyInit__tessera(void)
{
    PyObject *m = PyModule_Create(&module);
    PyObject *session = m ? PyType_FromSpec(&session_spec) : NULL;

    error_class =
        new_error("tessera.Error",
                  "A call that failed; `status` names why, \"TSR_EBUILD\" for instance.", NULL);
    if (session && error_class) {
        invalid_class =
            new_error("tessera.InvalidError",
                      "An argument, shape or name that the library refuses.", PyExc_ValueError);
        memory_class =
            new_error("tessera.OutOfMemoryError", "Host memory is exhausted.", PyExc_MemoryError);
        unsupported_class = new_error("tessera.UnsupportedError",
                                      "The kernel cannot run this problem on this device.",
                                      PyExc_NotImplementedError);
    }
    if (!invalid_class || !memory_class || !unsupported_class ||
        PyModule_AddObjectRef(m, "Error", error_class) ||
        PyModule_AddObjectRef(m, "InvalidError", invalid_class) ||
        PyModule_AddObjectRef(m, "OutOfMemoryError", memory_class) ||
        PyModule_AddObjectRef(m, "UnsupportedError", unsupported_class) ||
        PyModule_AddObjectRef(m, "Session", session) || add_memory_types(m))
        Py_CLEAR(m);
    Py_XDECREF(session);
    return m;
}
