/* What the sources of the module _tessera share. */
#ifndef PYTHON_TESSERA_H
#define PYTHON_TESSERA_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <pthread.h>

#include "tessera/tessera.h"

/* A session, which one thread uses at a time: the others wait for its lock, without the
 * interpreter's. */
typedef struct session_object {
    PyObject head;
    tsr_session *session; /* NULL once it is closed */
    int abandoned;        /* in a forked child: its driver is not even told of releases */
    Py_ssize_t device;    /* in the list of devices; -1 of an adopted queue */
    pthread_mutex_t lock;
} session_object;

/* What a call takes beside its operands, and what is released behind it. */
typedef struct call_arguments {
    const tsr_operation *op;
    const unsigned char *problem;
    tsr_operand operand[TSR_OPERANDS_MAX];
    size_t operand_count;
    PyObject *operands; /* a tuple of as many, borrowed */
    tsr_run run;
    PyObject *settings[16]; /* UTF-8 of the strings below and, last, of the kernel; owned */
    const char *set[16];
} call_arguments;

/* Set the exception of a failed call, with the library's line; returns NULL. */
PyObject *raise_error(tsr_status status, const tsr_error *err);

/* The buffer of an operand that is in a session's memory; false, and an exception, where it is
 * not. */
int take_memory(session_object *s, PyObject *x, const call_arguments *c, size_t i, cl_mem *out);

/* Lock a session, without the interpreter's lock meanwhile; false, and an exception, if it is
 * closed. */
int session_lock(session_object *s);

/* Methods of a session that are in _memory.c, and the types of the memory and the events that they
 * return. */
PyObject *session_allocate(PyObject *self, PyObject *size);
PyObject *session_memory(PyObject *self, PyObject *args);
PyObject *session_import(PyObject *self, PyObject *args);
PyObject *session_finish(PyObject *self, PyObject *unused);
PyObject *session_mark(PyObject *self, PyObject *unused);
PyObject *session_after(PyObject *self, PyObject *event);
PyObject *session_queue(PyObject *self, PyObject *unused);
PyObject *session_pci(PyObject *self, PyObject *unused);
int add_memory_types(PyObject *module);

#endif
