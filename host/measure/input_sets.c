#include "measure/input_sets.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "device/query.h"

enum { SETS_MAX = 1024, CACHE_TIMES = 4 };

static const size_t gpu_cache_least = (size_t)128 << 20, cpu_cache_least = (size_t)16 << 20;

/* Bytes of the last-level cache, as far as it is known. */
static size_t cache_bytes(const tsr_session *s)
{
    const device_facts *d = session_facts(s);
    cl_ulong reported = 0;
    long level3 = 0;

#ifdef _SC_LEVEL3_CACHE_SIZE
    if (is_host_processor(d))
        level3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    if (d->kind != DEVICE_HOST)
        query(s->device.id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, &reported, sizeof(reported));
    if (level3 > 0 && (cl_ulong)level3 > reported)
        reported = (cl_ulong)level3;
    return size_max((size_t)reported, d->kind == DEVICE_GPU ? gpu_cache_least : cpu_cache_least);
}

static size_t memory_bytes(const tsr_session *s)
{
    const device_facts *d = session_facts(s);
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const size_t host = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : SIZE_MAX;

    if (d->kind == DEVICE_HOST)
        return host;
    /* A device without memory of its own takes the host's. */
    return d->unified_memory ? size_min(host, (size_t)d->global_memory) : (size_t)d->global_memory;
}

static size_t set_bytes(const problem *p)
{
    operand x[OPERANDS_MAX];
    const size_t count = p->op->operands(p, x);
    size_t total = 0;

    for (size_t i = 0; i < count; i++)
        if (!size_add(total, x[i].bytes, &total))
            return SIZE_MAX;
    return size_max(total, 1);
}

size_t input_sets_count(const tsr_session *s, const problem *p, bool warm, bool *cold)
{
    const size_t bytes = set_bytes(p), llc = cache_bytes(s), memory = memory_bytes(s);
    size_t count = size_div_up(CACHE_TIMES * llc, bytes) + 1;

    count = size_min(count, size_min(SETS_MAX, memory / 8 / bytes));
    if (count < 2)
        count = bytes <= memory / 4 ? 2 : 1;
    if (warm)
        count = 1;
    /* One set beyond the cache pushes its own beginning out. */
    *cold = !warm && (count > 1 ? (count - 1) * bytes >= llc : bytes / CACHE_TIMES >= llc);
    return count;
}

static tsr_status fill_before(input_sets *x, uint64_t seed, tsr_error *err)
{
    for (size_t i = 0; i < x->operand_count; i++) {
        /* One byte at least, so that NULL means no memory. */
        x->before[i] = malloc(x->operand[i].bytes + 1);
        if (!x->before[i])
            return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu bytes of %s",
                            x->operand[i].bytes, x->operand[i].name);
    }
    x->problem->op->fill(x->problem, seed, x->problem->inputs, x->before);
    return TSR_OK;
}

static tsr_status make_buffer(const input_sets *x, size_t i, cl_mem *out, tsr_error *err)
{
    const operand *o = &x->operand[i];
    cl_int rc;

    *out = clCreateBuffer(x->session->context, CL_MEM_READ_WRITE, o->bytes, NULL, &rc);
    if (!*out)
        return tsr_fail(err, TSR_ECL, rc, "%s: clCreateBuffer(%s, %zu bytes)", x->problem->op->name,
                        o->name, o->bytes);
    return TSR_OK;
}

static tsr_status write_buffer(const input_sets *x, size_t i, cl_mem to, tsr_error *err)
{
    const cl_int rc = clEnqueueWriteBuffer(x->session->queue, to, CL_TRUE, 0, x->operand[i].bytes,
                                           x->before[i], 0, NULL, NULL);

    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "copying %s to the device (%zu bytes)",
                        x->operand[i].name, x->operand[i].bytes);
    return TSR_OK;
}

static tsr_status copy_buffer(const input_sets *x, size_t i, cl_mem from, cl_mem to, tsr_error *err)
{
    const cl_int rc =
        clEnqueueCopyBuffer(x->session->queue, from, to, 0, 0, x->operand[i].bytes, 0, NULL, NULL);

    if (rc != CL_SUCCESS)
        return tsr_fail(err, TSR_ECL, rc, "clEnqueueCopyBuffer(%s, %zu bytes)", x->operand[i].name,
                        x->operand[i].bytes);
    return TSR_OK;
}

/* Operand i on the device: from the host once, from there to every other set. */
static tsr_status open_buffers(input_sets *x, size_t i, tsr_error *err)
{
    const bool kept = x->operand[i].access == ACCESS_READ_WRITE;
    tsr_status st = TSR_OK;

    if (x->operand[i].bytes == 0)
        return TSR_OK;
    if (kept) {
        st = make_buffer(x, i, &x->fresh[i], err);
        st = st ? st : write_buffer(x, i, x->fresh[i], err);
    }
    for (size_t k = 0; k < x->count && !st; k++) {
        st = make_buffer(x, i, &x->buffer[k][i], err);
        if (st == TSR_OK)
            st = k == 0 ? write_buffer(x, i, x->buffer[k][i], err)
                        : copy_buffer(x, i, x->buffer[0][i], x->buffer[k][i], err);
    }
    return st;
}

static tsr_status open_memory(input_sets *x, size_t i, tsr_error *err)
{
    for (size_t k = 0; k < x->count; k++) {
        x->memory[k][i] = malloc(x->operand[i].bytes + 1);
        if (!x->memory[k][i])
            return tsr_fail(err, TSR_ENOMEM, 0, "no memory for set %zu of %s, %zu bytes", k,
                            x->operand[i].name, x->operand[i].bytes);
        memcpy(x->memory[k][i], x->before[i], x->operand[i].bytes);
    }
    return TSR_OK;
}

/* Need against limit, before anything is allocated. */
static tsr_status check_memory(const input_sets *x, tsr_error *err)
{
    const device_facts *d = session_facts(x->session);
    const size_t bytes = set_bytes(x->problem), memory = memory_bytes(x->session);

    if (bytes > memory)
        return tsr_fail(err, TSR_EOVERFLOW, 0, "it needs %zu bytes, and %s has %zu", bytes, d->name,
                        memory);
    for (size_t i = 0; i < x->operand_count && d->kind != DEVICE_HOST; i++) {
        if (x->operand[i].bytes > d->max_allocation)
            return tsr_fail(err, TSR_EOVERFLOW, 0,
                            "%s needs %zu bytes, and the largest allocation on %s is %llu",
                            x->operand[i].name, x->operand[i].bytes, d->name,
                            (unsigned long long)d->max_allocation);
    }
    return TSR_OK;
}

tsr_status input_sets_open(tsr_session *s, const problem *p, uint64_t seed, bool warm,
                           bool in_memory, input_sets *out, tsr_error *err)
{
    input_sets *x = out;
    tsr_status st;
    cl_int rc;

    *x = (input_sets){.session = s, .problem = p};
    x->operand_count = p->op->operands(p, x->operand);
    x->count = input_sets_count(s, p, warm, &x->cold);
    st = check_memory(x, err);
    if (st)
        return st;
    if (in_memory)
        x->memory = calloc(x->count, sizeof(*x->memory));
    else
        x->buffer = calloc(x->count, sizeof(*x->buffer));
    if (!x->memory && !x->buffer)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu sets of inputs", x->count);
    st = fill_before(x, seed, err);
    for (size_t i = 0; i < x->operand_count && !st; i++) {
        x->in_place = x->in_place || x->operand[i].access == ACCESS_READ_WRITE;
        st = in_memory ? open_memory(x, i, err) : open_buffers(x, i, err);
    }
    if (st || in_memory)
        return st;
    rc = clFinish(s->queue);
    return rc == CL_SUCCESS ? TSR_OK
                            : tsr_fail(err, TSR_ECL, rc, "copying %zu sets of inputs", x->count);
}

void input_sets_close(input_sets *x)
{
    for (size_t i = 0; i < x->operand_count; i++) {
        for (size_t k = 0; k < x->count; k++) {
            if (x->buffer && x->buffer[k][i])
                clReleaseMemObject(x->buffer[k][i]);
            if (x->memory)
                free(x->memory[k][i]);
        }
        if (x->fresh[i])
            clReleaseMemObject(x->fresh[i]);
        free(x->before[i]);
    }
    free(x->buffer);
    free(x->memory);
    *x = (input_sets){0};
}

tsr_status input_sets_restore(input_sets *x, tsr_error *err)
{
    tsr_status st = TSR_OK;
    cl_int rc = CL_SUCCESS;

    const size_t used = size_min(size_max(x->next, 1), x->count);

    x->next = 0;
    if (!x->in_place)
        return TSR_OK;
    for (size_t k = 0; k < used; k++) {
        for (size_t i = 0; i < x->operand_count && !st; i++) {
            if (x->operand[i].access != ACCESS_READ_WRITE || !x->operand[i].bytes)
                continue;
            if (x->memory)
                memcpy(x->memory[k][i], x->before[i], x->operand[i].bytes);
            else
                st = copy_buffer(x, i, x->fresh[i], x->buffer[k][i], err);
        }
    }
    if (x->buffer)
        rc = clFinish(x->session->queue);
    if (!st && rc != CL_SUCCESS)
        st = tsr_fail(err, TSR_ECL, rc, "restoring %zu sets of inputs", used);
    return st;
}

tsr_status input_sets_read(const input_sets *x, void *const after[], tsr_error *err)
{
    for (size_t i = 0; i < x->operand_count; i++) {
        const operand *o = &x->operand[i];
        cl_int rc = CL_SUCCESS;

        if (!(o->access & ACCESS_WRITE) || !o->bytes)
            continue;
        if (x->memory)
            memcpy(after[i], x->memory[0][i], o->bytes);
        else
            rc = clEnqueueReadBuffer(x->session->queue, x->buffer[0][i], CL_TRUE, 0, o->bytes,
                                     after[i], 0, NULL, NULL);
        if (rc != CL_SUCCESS)
            return tsr_fail(err, TSR_ECL, rc, "copying %s from the device (%zu bytes)", o->name,
                            o->bytes);
    }
    return TSR_OK;
}

static tsr_status copy_operand(const input_sets *x, size_t i, void **out, tsr_error *err)
{
    *out = malloc(x->operand[i].bytes + 1);
    if (!*out)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu bytes of %s", x->operand[i].bytes,
                        x->operand[i].name);
    memcpy(*out, x->before[i], x->operand[i].bytes);
    return TSR_OK;
}

tsr_status input_sets_copy(const input_sets *x, void *after[OPERANDS_MAX], tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < x->operand_count && !st; i++)
        st = copy_operand(x, i, &after[i], err);
    return st;
}

tsr_status input_sets_results(const input_sets *x, void *after[OPERANDS_MAX], tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < x->operand_count && !st; i++) {
        if (x->operand[i].access & ACCESS_WRITE)
            st = copy_operand(x, i, &after[i], err);
        else
            after[i] = x->before[i];
    }
    return st;
}

void input_sets_free_results(const input_sets *x, void *after[OPERANDS_MAX])
{
    for (size_t i = 0; i < x->operand_count; i++) {
        if (after[i] != x->before[i])
            free(after[i]);
        after[i] = NULL;
    }
}
