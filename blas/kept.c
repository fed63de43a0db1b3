#include "blas/kept.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas/level3.h"
#include "blas/log.h"
#include "blas/rates.h"
#include "tessera/blas.h"

typedef struct kept_memory {
    uintptr_t start;
    size_t bytes;
    cl_mem buffer;    /* NULL: it was not needed yet; needs the device alone */
    bool current;     /* the buffer has what the memory has */
    bool refused;     /* the device has no memory for it */
    unsigned writers; /* calls that write there now */
} kept_memory;

/* The table changes only with both the device and this lock; flags need the lock alone, and so a
 * call that stays on the CPU does not wait for a product of another thread.  It is not held while
 * anything is copied: every call of level 3 takes it, and fork(). */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kept_memory *table;
static size_t table_count, table_size;
static atomic_bool any; /* is there something in the table? */

/* Buffers for the matrices that are not kept, as large as any product needed them until now:
 * allocating memory of a GPU takes longer than many a product.  They need the device. */
static struct {
    cl_mem buffer;
    size_t bytes;
} scratch[3];

/* Functions of libtessera, and of OpenCL, which that has loaded. */
static struct {
    int (*unified_memory)(const tsr_device *);
    uint64_t (*global_memory)(const tsr_device *);
    cl_context (*context)(const tsr_session *);
    cl_command_queue (*queue)(const tsr_session *);
    tsr_status (*matmul)(tsr_session *, const tsr_matmul_problem *, cl_mem, cl_mem, cl_mem,
                         const tsr_run *, tsr_report *, tsr_error *);
} tsr;
static struct {
    cl_mem(CL_API_CALL *create)(cl_context, cl_mem_flags, size_t, void *, cl_int *);
    cl_int(CL_API_CALL *release)(cl_mem);
    cl_int(CL_API_CALL *write)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *,
                               cl_uint, const cl_event *, cl_event *);
    cl_int(CL_API_CALL *write_rect)(cl_command_queue, cl_mem, cl_bool, const size_t *,
                                    const size_t *, const size_t *, size_t, size_t, size_t, size_t,
                                    const void *, cl_uint, const cl_event *, cl_event *);
    cl_int(CL_API_CALL *read_rect)(cl_command_queue, cl_mem, cl_bool, const size_t *,
                                   const size_t *, const size_t *, size_t, size_t, size_t, size_t,
                                   void *, cl_uint, const cl_event *, cl_event *);
    cl_int(CL_API_CALL *finish)(cl_command_queue);
    cl_int(CL_API_CALL *queue_info)(cl_command_queue, cl_command_queue_info, size_t, void *,
                                    size_t *);
    cl_int(CL_API_CALL *device_info)(cl_device_id, cl_device_info, size_t, void *, size_t *);
} cl;

enum { UNKNOWN, USEFUL, USELESS };
static atomic_int usefulness;                         /* of copies on this device */
static _Atomic(cl_ulong) largest_buffer = UINT64_MAX; /* bytes; known where copies are useful */

static bool load_functions(void)
{
    void *opencl = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);

    return opencl && offload_function(NULL, "tsr_device_unified_memory", &tsr.unified_memory) &&
           offload_function(NULL, "tsr_device_global_memory", &tsr.global_memory) &&
           offload_function(NULL, "tsr_session_context", &tsr.context) &&
           offload_function(NULL, "tsr_session_queue", &tsr.queue) &&
           offload_function(NULL, "tsr_matmul_enqueue", &tsr.matmul) &&
           offload_function(opencl, "clCreateBuffer", &cl.create) &&
           offload_function(opencl, "clReleaseMemObject", &cl.release) &&
           offload_function(opencl, "clEnqueueWriteBuffer", &cl.write) &&
           offload_function(opencl, "clEnqueueWriteBufferRect", &cl.write_rect) &&
           offload_function(opencl, "clEnqueueReadBufferRect", &cl.read_rect) &&
           offload_function(opencl, "clFinish", &cl.finish) &&
           offload_function(opencl, "clGetCommandQueueInfo", &cl.queue_info) &&
           offload_function(opencl, "clGetDeviceInfo", &cl.device_info);
}

static cl_int ask_largest_buffer(const tsr_session *session)
{
    cl_device_id id;
    cl_ulong largest;
    cl_int rc = cl.queue_info(tsr.queue(session), CL_QUEUE_DEVICE, sizeof id, &id, NULL);

    if (rc == CL_SUCCESS)
        rc = cl.device_info(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, NULL);
    if (rc == CL_SUCCESS)
        atomic_store(&largest_buffer, largest);
    return rc;
}

/* Is a copy worth anything there?  Asked once: the device is the same as long as the process lives.
 */
static bool is_useful(const tsr_session *session, const tsr_device *device)
{
    int now = atomic_load(&usefulness);
    cl_int rc;

    if (now != UNKNOWN)
        return now == USEFUL;
    now = USELESS;
    if (!load_functions())
        log_line("keep: nothing is kept: a function of OpenCL or libtessera is missing");
    else if (!tsr.context(session) || tsr.unified_memory(device))
        log_line("keep: nothing is kept: the device works on the host's memory itself");
    else if ((rc = ask_largest_buffer(session)) != CL_SUCCESS)
        log_line("keep: nothing is kept: OpenCL error %d", (int)rc);
    else
        now = USEFUL;
    atomic_store(&usefulness, now);
    return now == USEFUL;
}

/* ---- what is kept -------------------------------------------------------------------------------
 */

static bool overlaps(const kept_memory *k, uintptr_t start, size_t bytes)
{
    return start < k->start + k->bytes && k->start < start + bytes;
}

/* The entry that has all of a matrix; NULL where none is usable.  With the lock. */
static kept_memory *find(const void *matrix, size_t bytes, size_t element)
{
    const uintptr_t start = (uintptr_t)matrix;

    for (size_t i = 0; i < table_count; i++) {
        kept_memory *k = &table[i];

        if (start >= k->start && start - k->start <= k->bytes &&
            bytes <= k->bytes - (start - k->start))
            return k->writers || k->refused || (start - k->start) % element ? NULL : k;
    }
    return NULL;
}

/* With the lock and the device. */
static bool release(kept_memory *k)
{
    const bool had = k->buffer;

    if (had)
        cl.release(k->buffer);
    k->buffer = NULL;
    k->current = false;
    return had;
}

static bool release_scratch(void)
{
    bool had = false;

    for (size_t i = 0; i < sizeof scratch / sizeof *scratch; i++) {
        if (scratch[i].buffer)
            cl.release(scratch[i].buffer);
        had |= scratch[i].buffer != NULL;
        scratch[i].buffer = NULL;
        scratch[i].bytes = 0;
    }
    return had;
}

tsr_status tsr_blas_keep(const void *memory, size_t bytes)
{
    const uintptr_t start = (uintptr_t)memory;
    tsr_status st = TSR_OK;
    kept_memory *same = NULL;

    if (!memory || !bytes || start + bytes < start)
        return TSR_EINVAL;
    offload_lock();
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < table_count; i++) {
        if (table[i].start == start && table[i].bytes == bytes)
            same = &table[i];
        else if (overlaps(&table[i], start, bytes))
            st = TSR_EINVAL;
    }
    if (same) {
        same->current = same->refused = false; /* the buffer is used again */
    } else if (!st && table_count == table_size) {
        const size_t size = table_size ? 2 * table_size : 16;
        kept_memory *grown = realloc(table, size * sizeof *grown);

        if (grown) {
            table = grown;
            table_size = size;
        } else
            st = TSR_ENOMEM;
    }
    if (!st && !same)
        table[table_count++] = (kept_memory){.start = start, .bytes = bytes};
    atomic_store(&any, table_count > 0);
    pthread_mutex_unlock(&lock);
    blas_look_at_all(table_count > 0);
    offload_end();
    return st;
}

void tsr_blas_drop(const void *memory)
{
    if (!atomic_load(&any))
        return;
    offload_lock();
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < table_count; i++) {
        if (table[i].start == (uintptr_t)memory) {
            release(&table[i]);
            table[i] = table[--table_count];
            break;
        }
    }
    if (table_count == 0)
        release_scratch();
    atomic_store(&any, table_count > 0);
    pthread_mutex_unlock(&lock);
    blas_look_at_all(table_count > 0);
    offload_end();
}

bool kept_give_way(void)
{
    bool had;

    if (!atomic_load(&any))
        return false;
    pthread_mutex_lock(&lock);
    had = release_scratch();
    for (size_t i = 0; i < table_count; i++) {
        if (release(&table[i])) {
            table[i].refused = true;
            log_line("keep: %zu bytes are kept no longer: a product needs the memory",
                     table[i].bytes);
            had = true;
        }
    }
    pthread_mutex_unlock(&lock);
    return had;
}

bool kept_write_begin(const void *memory, size_t bytes)
{
    bool found = false;

    if (!atomic_load(&any) || !bytes)
        return false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < table_count; i++) {
        if (overlaps(&table[i], (uintptr_t)memory, bytes)) {
            table[i].writers++;
            found = true;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void kept_write_end(const void *memory, size_t bytes)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < table_count; i++) {
        if (overlaps(&table[i], (uintptr_t)memory, bytes)) {
            table[i].current = false;
            table[i].writers -= table[i].writers > 0; /* it may have been kept meanwhile */
        }
    }
    pthread_mutex_unlock(&lock);
}

void kept_before_fork(void)
{
    pthread_mutex_lock(&lock);
}

void kept_after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

/* The buffers are objects of a driver that a child must not call, not even to release them. */
void kept_after_fork_in_child(bool used)
{
    pthread_mutex_init(&lock, NULL);
    if (!used)
        return;
    table_count = 0;
    memset(scratch, 0, sizeof scratch);
    atomic_store(&usefulness, USELESS);
    atomic_store(&any, false);
}

/* ---- products -----------------------------------------------------------------------------------
 */

/* A stored matrix, by columns, and where it is on the device. */
typedef struct operand {
    const void *at;
    size_t rows, columns, ld; /* in elements */
    size_t element;
    cl_mem buffer;
    size_t offset, device_ld; /* in elements */
    bool kept;
} operand;

enum { A, B, C };

static void describe(const offload_product *p, operand out[3])
{
    const size_t element = p->f64 ? sizeof(double) : sizeof(float);

    out[A] = (operand){
        p->a, p->trans_a ? p->k : p->m, p->trans_a ? p->m : p->k, p->lda, element, NULL, 0, 0,
        false};
    out[B] = (operand){
        p->b, p->trans_b ? p->n : p->k, p->trans_b ? p->k : p->n, p->ldb, element, NULL, 0, 0,
        false};
    out[C] = (operand){p->c, p->m, p->n, p->ldc, element, NULL, 0, 0, false};
}

/* From its first element to its last, in bytes. */
static size_t span_of(const operand *o)
{
    return ((o->columns - 1) * o->ld + o->rows) * o->element;
}

static double bytes_of(const operand *o)
{
    return (double)o->rows * (double)o->columns * (double)o->element;
}

/* Whether it is better to multiply with so many bytes that are kept than on host memory.  Where
 * libtessera streams, plain copies of what is not kept take as long as its for twice the bytes. */
static bool is_better(const operand o[3], bool reads_c, double kept)
{
    const double all = bytes_of(&o[A]) + bytes_of(&o[B]) + bytes_of(&o[C]);
    const double copied = all + (reads_c ? bytes_of(&o[C]) : 0);

    return kept > 0 && (!rates_are_streamed(all) || kept >= copied / 2);
}

bool kept_any(void)
{
    return atomic_load(&any) && atomic_load(&usefulness) != USELESS;
}

double kept_bytes(const offload_product *p)
{
    const double largest = (double)atomic_load(&largest_buffer);
    operand o[3];
    double kept = 0;
    bool fits = true;

    if (!kept_any())
        return 0;
    describe(p, o);
    pthread_mutex_lock(&lock);
    for (int i = A; i <= C; i++) {
        if (i != C && o[i].at && find(o[i].at, span_of(&o[i]), o[i].element))
            kept += bytes_of(&o[i]);
        else
            fits &= bytes_of(&o[i]) <= largest;
    }
    pthread_mutex_unlock(&lock);
    return fits && is_better(o, p->beta != 0, kept) ? kept : 0;
}

/*
 * The kept memory that has a matrix, copied to the device where that has no current copy; NULL
 * where there is none, or the device has no memory for it.  With the device.
 *
 * The copy may be of gigabytes.  It counts as current from its beginning on: a call that writes
 * there meanwhile, which is not to the matrix itself, clears that at its end.
 */
static kept_memory *keep_current(const operand *o, tsr_session *session, const tsr_device *device,
                                 uint64_t *copied, bool *was_current)
{
    const uint64_t half = tsr.global_memory(device) / 2;
    uint64_t taken = 0;
    kept_memory *k;
    cl_int rc = CL_SUCCESS;

    pthread_mutex_lock(&lock);
    k = find(o->at, span_of(o), o->element);
    *was_current = k && k->current;
    if (k)
        k->current = true;
    pthread_mutex_unlock(&lock);
    if (!k || *was_current)
        return k;

    for (size_t i = 0; i < table_count; i++)
        taken += table[i].buffer || &table[i] == k ? table[i].bytes : 0;
    if (taken > half)
        log_line(
            "keep: %zu bytes are not kept: the device has %llu, of which half are for products",
            k->bytes, (unsigned long long)tsr.global_memory(device));
    else {
        if (!k->buffer)
            k->buffer = cl.create(tsr.context(session), CL_MEM_READ_ONLY, k->bytes, NULL, &rc);
        if (k->buffer)
            rc = cl.write(tsr.queue(session), k->buffer, CL_TRUE, 0, k->bytes,
                          (const void *)k->start, 0, NULL, NULL);
        if (rc == CL_SUCCESS) {
            *copied += k->bytes;
            return k;
        }
        log_line("keep: %zu bytes are not kept: OpenCL error %d", k->bytes, (int)rc);
    }
    pthread_mutex_lock(&lock);
    release(k);
    k->refused = true;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static tsr_status fail(tsr_error *err, cl_int rc, const char *what, size_t bytes)
{
    err->status = TSR_ECL;
    err->cl = rc;
    snprintf(err->message, sizeof err->message, "%s of %zu bytes: OpenCL error %d", what, bytes,
             (int)rc);
    return TSR_ECL;
}

/* Copy a matrix to a buffer, where its columns follow one another; or from there. */
static tsr_status copy_columns(tsr_session *session, const operand *o, bool back, tsr_error *err)
{
    const size_t start[3] = {0, 0, 0}, column = o->rows * o->element, pitch = o->ld * o->element;
    const size_t region[3] = {column, o->columns, 1};
    void *at = (void *)(uintptr_t)o->at;
    cl_int rc;

    if (back)
        rc = cl.read_rect(tsr.queue(session), o->buffer, CL_TRUE, start, start, region, column, 0,
                          pitch, 0, at, 0, NULL, NULL);
    else
        rc = cl.write_rect(tsr.queue(session), o->buffer, CL_TRUE, start, start, region, column, 0,
                           pitch, 0, at, 0, NULL, NULL);
    return rc == CL_SUCCESS
               ? TSR_OK
               : fail(err, rc, back ? "a copy from the device" : "a copy to the device",
                      column * o->columns);
}

/* A buffer for a matrix that is not kept. */
static tsr_status take_scratch(tsr_session *session, int i, operand *o, tsr_error *err)
{
    const size_t bytes = o->rows * o->columns * o->element;
    cl_int rc;

    if (scratch[i].bytes < bytes) {
        if (scratch[i].buffer)
            cl.release(scratch[i].buffer);
        scratch[i].bytes = 0;
        scratch[i].buffer = cl.create(tsr.context(session), CL_MEM_READ_WRITE, bytes, NULL, &rc);
        if (!scratch[i].buffer)
            return fail(err, rc, "a buffer", bytes);
        scratch[i].bytes = bytes;
    }
    o->buffer = scratch[i].buffer;
    o->device_ld = o->rows;
    return TSR_OK;
}

kept_outcome kept_multiply(tsr_session *session, const tsr_device *device, const offload_product *p,
                           const tsr_matmul_problem *problem, uint64_t *copied, uint64_t *kept,
                           tsr_error *err)
{
    tsr_matmul_problem on_buffers = *problem;
    uint64_t bytes_copied = 0, bytes_kept = 0;
    operand o[3];
    tsr_status st = TSR_OK;

    if (!atomic_load(&any) || !is_useful(session, device) || kept_bytes(p) == 0)
        return KEPT_NOTHING;
    describe(p, o);
    for (int i = A; i <= B; i++) {
        bool current;
        const kept_memory *k = keep_current(&o[i], session, device, &bytes_copied, &current);

        if (!k)
            continue;
        o[i].kept = true;
        o[i].buffer = k->buffer;
        o[i].offset = ((uintptr_t)o[i].at - k->start) / o[i].element;
        o[i].device_ld = o[i].ld;
        bytes_kept += current ? (uint64_t)bytes_of(&o[i]) : 0;
    }
    *copied += bytes_copied;
    if (kept_bytes(p) == 0) /* what the device had no memory for counts no longer */
        return KEPT_NOTHING;

    for (int i = A; i <= C && !st; i++) {
        if (o[i].kept)
            continue;
        st = take_scratch(session, i, &o[i], err);
        if (!st && (i != C || p->beta != 0)) {
            st = copy_columns(session, &o[i], false, err);
            *copied += st ? 0 : (uint64_t)bytes_of(&o[i]);
        }
    }
    on_buffers.lda = o[A].device_ld;
    on_buffers.ldb = o[B].device_ld;
    on_buffers.ldc = o[C].device_ld;
    on_buffers.offset_a = o[A].offset;
    on_buffers.offset_b = o[B].offset;
    st = st ? st
            : tsr.matmul(session, &on_buffers, o[A].buffer, o[B].buffer, o[C].buffer, NULL, NULL,
                         err);
    st = st ? st : copy_columns(session, &o[C], true, err);
    if (st) {
        cl.finish(tsr.queue(session));
        return KEPT_FAILED;
    }
    *copied += (uint64_t)bytes_of(&o[C]);
    *kept += bytes_kept;
    return KEPT_DONE;
}
