/* Memory of a device that arrays gave back, kept for the next ones of about the same size.
 *
 * Making a buffer and releasing it costs a GPU's driver more than a small kernel, and releasing one
 * that work is enqueued on may wait for that work.  All that uses a session's arrays goes through
 * its one queue, in order: what is enqueued on memory that was given back comes after what was
 * enqueued on it before, so nothing waits here.
 *
 * The interpreter's lock protects all of it.  It is not the session's lock: whoever has that may be
 * waiting for the interpreter, which the end of an array holds. */
#include "_tessera.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEP = 512,         /* sizes of up to SMALL are multiples of this */
    SMALL = 1 << 20,    /* and larger ones of 1/8 of the power of two below */
    SMALL_BITS = 20,    /* SMALL is 2 to this */
    BUFFERS_MAX = 1024, /* a driver keeps account of each */
    EIGHTHS_BITS = 3    /* 1/8 is 2 to the minus this */
};

/* Memory in a pool, in two lists: of all by the time that they were given back, and of its size. */
struct kept_memory {
    cl_mem memory;
    size_t bytes;
    kept_memory *newer, *older;
    kept_memory *newer_of_size, *older_of_size;
};

static memory_pool *pools; /* of the sessions there are */

static unsigned log2_of(size_t n)
{
    unsigned out = 0;

    while (n >>= 1)
        out++;
    return out;
}

size_t pool_size(size_t bytes)
{
    const size_t step =
        bytes <= SMALL ? (size_t)STEP : (size_t)1 << (log2_of(bytes) - (unsigned)EIGHTHS_BITS);

    if (!bytes)
        return step;
    return bytes <= SIZE_MAX - step ? (bytes + step - 1) / step * step : bytes;
}

/* Where the memory of a size, one of pool_size(), is listed. */
static size_t list_of(size_t size)
{
    unsigned power;

    if (size <= SMALL)
        return size / STEP - 1;
    power = log2_of(size);
    return SMALL / STEP + (size_t)(power - SMALL_BITS) * 8 + (size >> (power - EIGHTHS_BITS)) - 8;
}

_Static_assert(SMALL / STEP + (8 * sizeof(size_t) - SMALL_BITS) * 8 == POOL_LISTS,
               "a list for each size");

static void unlink_memory(memory_pool *p, kept_memory *k)
{
    *(k->newer ? &k->newer->older : &p->newest) = k->older;
    *(k->older ? &k->older->newer : &p->oldest) = k->newer;
    *(k->newer_of_size ? &k->newer_of_size->older_of_size : &p->of_size[list_of(k->bytes)]) =
        k->older_of_size;
    if (k->older_of_size)
        k->older_of_size->newer_of_size = k->newer_of_size;
    p->kept_bytes -= k->bytes;
    p->kept--;
}

/* The most that is kept now: no more than what arrays once had, all of them together. */
static size_t most_kept(const memory_pool *p)
{
    return p->limit < p->most_used ? p->limit : p->most_used;
}

/* Release the oldest until there are no more than so many bytes. */
static void shrink(memory_pool *p, size_t bytes)
{
    while (p->kept_bytes > bytes || p->kept > BUFFERS_MAX) {
        kept_memory *k = p->oldest;

        unlink_memory(p, k);
        clReleaseMemObject(k->memory);
        free(k);
    }
}

void pool_open(memory_pool *p, size_t limit, size_t all)
{
    p->limit = limit;
    p->all = all;
    p->next = pools;
    pools = p;
}

cl_mem pool_take(memory_pool *p, size_t size)
{
    kept_memory *k = p->of_size[list_of(size)];
    cl_mem out = NULL;

    if (k) {
        out = k->memory;
        unlink_memory(p, k);
        free(k);
        p->reused++;
    }
    return out;
}

void pool_make_room(memory_pool *p, size_t size)
{
    const size_t taken = p->used_bytes <= SIZE_MAX - size ? p->used_bytes + size : SIZE_MAX;

    if (p->kept)
        shrink(p, taken < p->all ? p->all - taken : 0);
}

void pool_use(memory_pool *p, size_t size)
{
    p->used_bytes += size;
    if (p->used_bytes > p->most_used)
        p->most_used = p->used_bytes;
}

void pool_give(memory_pool *p, cl_mem memory, size_t size, int shared)
{
    kept_memory *k = NULL, **list;

    p->used_bytes -= size;
    if (!shared && !p->closed && size <= most_kept(p) && size == pool_size(size))
        k = malloc(sizeof(*k));
    if (!k) {
        clReleaseMemObject(memory);
        return;
    }
    list = &p->of_size[list_of(size)];
    *k = (kept_memory){.memory = memory, .bytes = size, .older = p->newest, .older_of_size = *list};
    *(p->newest ? &p->newest->newer : &p->oldest) = k;
    p->newest = k;
    if (*list)
        (*list)->newer_of_size = k;
    *list = k;
    p->kept_bytes += size;
    p->kept++;
    shrink(p, most_kept(p));
}

/* Take out all that a pool keeps, in front of a chain by `older`. */
static kept_memory *emptied(memory_pool *p, kept_memory *chain)
{
    if (p->oldest)
        p->oldest->older = chain;
    chain = p->newest ? p->newest : chain;
    p->newest = p->oldest = NULL;
    memset(p->of_size, 0, sizeof(p->of_size));
    p->kept = p->kept_bytes = 0;
    p->most_used = p->used_bytes;
    return chain;
}

static void release_chain(kept_memory *chain)
{
    PyThreadState *others;

    if (!chain)
        return;
    others = PyEval_SaveThread();
    while (chain) {
        kept_memory *k = chain;

        chain = k->older;
        clReleaseMemObject(k->memory);
        free(k);
    }
    PyEval_RestoreThread(others);
}

int pools_empty(void)
{
    kept_memory *chain = NULL;
    int any;

    for (memory_pool *p = pools; p; p = p->next)
        chain = emptied(p, chain);
    any = chain != NULL;
    release_chain(chain);
    return any;
}

void pool_close(memory_pool *p)
{
    p->closed = 1;
    release_chain(emptied(p, NULL));
}

void pool_abandon(memory_pool *p)
{
    kept_memory *chain = emptied(p, NULL);

    p->closed = 1;
    while (chain) {
        kept_memory *k = chain;

        chain = k->older;
        free(k);
    }
}

void pool_remove(memory_pool *p)
{
    memory_pool **at = &pools;

    while (*at && *at != p)
        at = &(*at)->next;
    if (*at)
        *at = p->next;
}

PyObject *pool_stats(const memory_pool *p)
{
    return Py_BuildValue("{s:n,s:n,s:n,s:n,s:K,s:K}", "used_bytes", (Py_ssize_t)p->used_bytes,
                         "kept_bytes", (Py_ssize_t)p->kept_bytes, "kept", (Py_ssize_t)p->kept,
                         "limit_bytes", (Py_ssize_t)p->limit, "made", p->made, "reused", p->reused);
}
