/* What the sources of the module _tessera share. */
#ifndef PYTHON_TESSERA_H
#define PYTHON_TESSERA_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <pthread.h>

#include "tessera/tessera.h"

enum { POOL_LISTS = 2400 }; /* sizes that a pool tells apart: see pool_size() */

typedef struct kept_memory kept_memory;

/* Memory of a session's device that arrays gave back (_pool.c). */
typedef struct memory_pool {
    kept_memory *newest, *oldest;     /* of all that is kept */
    kept_memory *of_size[POOL_LISTS]; /* the newest of each size */
    size_t kept, kept_bytes;          /* what is kept */
    size_t used_bytes, most_used;     /* what arrays have, and had at most since it was emptied */
    size_t limit;                     /* bytes that are kept at most; 0: nothing is */
    size_t all;                      /* bytes of the device, which used and kept are no more than */
    unsigned long long made, reused; /* buffers that were made, and given out again */
    int closed;                      /* nothing is kept from now on */
    struct memory_pool *next;
} memory_pool;

/* A session, which one thread uses at a time: the others wait for its lock, without the
 * interpreter's. */
typedef struct session_object {
    PyObject head;
    tsr_session *session; /* NULL once it is closed */
    int abandoned;        /* in a forked child: its driver is not even told of releases */
    Py_ssize_t device;    /* in the list of devices; -1 of an adopted queue of another device */
    cl_device_id id;      /* with its context and queue; NULL of the host */
    cl_context context;
    cl_command_queue queue;
    char name[256];    /* of its device */
    int context_stays; /* until the process ends: memory was imported to it (_memory.c) */
    pthread_mutex_t lock;
    memory_pool pool;
} session_object;

/* Sessions of one context that a command concerns: the one that it is enqueued on, and those whose
 * memory it uses.  They are locked by their addresses, without the interpreter's lock. */
typedef struct session_set {
    session_object *one[TSR_OPERANDS_MAX + 1];
    size_t count;
} session_set;

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

/* That of a session which was closed. */
PyObject *raise_closed(void);

/* The buffer of an operand that is in memory which a session can use, whose own session is added to
 * the set; false, and an exception, where it is not. */
int take_memory(session_object *s, PyObject *x, const call_arguments *c, size_t i, cl_mem *out,
                session_set *set);

void sessions_add(session_set *set, session_object *s);
/* Lock all of a set, also where it returns false: then one is closed, and sessions_unlock() is due
 * all the same. */
int sessions_lock(const session_set *set);
void sessions_unlock(const session_set *set);

/* What is enqueued later on a locked session waits for what the others of a set have enqueued; and
 * what they enqueue later waits for what it has.  Between both, no two queues work on one buffer:
 * where they do, PoCL 3.1 maps it for one and unmaps it for the other. */
cl_int session_follow_others(const session_set *set, const session_object *s);
cl_int others_follow_session(const session_set *set, const session_object *s);

/* Lock a session, without the interpreter's lock meanwhile; false, and an exception, if it is
 * closed. */
int session_lock(session_object *s);

/* Whether a call on a session is to be made again, once: it failed for want of memory, and pools
 * kept some.  That is released by now, and work of the session that may still have used it is done.
 * Drivers may give buffers their memory at the first command on them, which is what fails then. */
int may_try_again(session_object *s, tsr_status status, cl_int rc, int *tried);

/* With the interpreter's lock, all of these. */

/* The size of the buffer for so many bytes: the next multiple of 512 bytes, and beyond 1 MiB of 1/8
 * of the power of two below. */
size_t pool_size(size_t bytes);

/* Start one that keeps `limit` bytes at most of a device of `all`. */
void pool_open(memory_pool *p, size_t limit, size_t all);

/* Memory of a size, for what is enqueued from now on; NULL where none is kept. */
cl_mem pool_take(memory_pool *p, size_t size);

/* Release what would make more than the device has of what is used, kept, and `size` bytes. */
void pool_make_room(memory_pool *p, size_t size);

/* Count memory of an array, and take it back from one that is gone: it is released, not kept, where
 * others may have it too. */
void pool_use(memory_pool *p, size_t size);
void pool_give(memory_pool *p, cl_mem memory, size_t size, int shared);

/* Release what all pools keep; whether that was anything. */
int pools_empty(void);

/* Release all, and keep nothing from now on; the same without a word to the driver, in a forked
 * child; and forget the pool. */
void pool_close(memory_pool *p);
void pool_abandon(memory_pool *p);
void pool_remove(memory_pool *p);

PyObject *pool_stats(const memory_pool *p);

/* Methods of a session that are in _memory.c, and the types of the memory and the events that they
 * return. */
PyObject *session_allocate(PyObject *self, PyObject *size);
PyObject *session_memory_stats(PyObject *self, PyObject *unused);
PyObject *session_limit_memory(PyObject *self, PyObject *args);
PyObject *session_memory(PyObject *self, PyObject *args);
PyObject *session_import(PyObject *self, PyObject *args);
PyObject *session_finish(PyObject *self, PyObject *unused);
PyObject *session_mark(PyObject *self, PyObject *unused);
PyObject *session_after(PyObject *self, PyObject *event);
PyObject *session_pci(PyObject *self, PyObject *unused);
int add_memory_types(PyObject *module);

#endif
