/**
 * CUB's radix sort, from one array into another, and its merge sort, in place;
 * for an argsort the stable forms with a 64-bit payload.  The radix sort also
 * takes values of 32 and 64 bits as payload.  Its segmented sort, also
 * from one array into another, takes rows and segments, with 32-bit offsets, as
 * its documentation has them.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "peer_cuda_sets.h"
#include "sort_cub_keys.h"
#include "sort_peer.h"

/* Operands here: what goes with keys is their positions or their values. */
enum { KEYS, PAYLOAD, OFFSETS };

typedef struct cub_state {
    peer_cuda_sets sets;
    peer_rotation rotation;
    int64_t *positions; /* what the index operand starts as */
    int *offsets;       /* what the offsets are: of a segmented sort */
    cub_sort *sort;
    int in_place;
    void **out; /* unless in place: output i of set s at [s * 2 + i] */
    void *temporary;
    size_t temporary_bytes;
} cub_state;

static cub_job job_of(const cub_state *s, size_t set)
{
    const peer_problem *p = &s->sets.problem;
    void *keys = peer_cuda_set(&s->sets, set, KEYS);
    void *payload = peer_cuda_set(&s->sets, set, PAYLOAD);
    void *payload_out = s->in_place ? payload : s->out[set * 2 + PAYLOAD];

    return (cub_job){.n = (int)peer_sort_keys(p),
                     .argsort = sort_of(p)->argsort,
                     .descending = sort_of(p)->descending,
                     .segments = (int)peer_sort_parts(p),
                     .offsets = peer_cuda_set(&s->sets, set, OFFSETS),
                     .keys_in = keys,
                     .keys_out = s->in_place ? keys : s->out[set * 2 + KEYS],
                     .index_in = payload,
                     .index_out = payload_out,
                     .value_bytes = sort_of(p)->value_bytes,
                     .values_in = payload,
                     .values_out = payload_out,
                     .stream = s->sets.stream};
}

static int cub_call(void *state, size_t set)
{
    cub_state *s = state;
    const cub_job job = job_of(s, set);

    return (int)s->sort(&job, s->temporary, &s->temporary_bytes);
}

static int cub_wait(void *state)
{
    return (int)cudaStreamSynchronize(((cub_state *)state)->sets.stream);
}

static void cub_close(void *state)
{
    cub_state *s = state;

    if (!s)
        return;
    if (s->sets.memory) {
        cub_wait(s);
        cudaFree(s->temporary);
        for (size_t i = 0; s->out && i < s->sets.problem.sets * 2; i++)
            cudaFree(s->out[i]);
        free(s->out);
        peer_cuda_sets_close(&s->sets);
    }
    free(s->positions);
    free(s->offsets);
    free(s);
}

static int cub_restore(void *state)
{
    cub_state *s = state;
    const size_t used = s->in_place ? s->rotation.sets - s->rotation.fresh : 0;
    cudaError_t rc = cudaSetDevice(s->sets.device);

    for (size_t set = 0; set < used && rc == cudaSuccess; set++) {
        rc = peer_cuda_set_refill(&s->sets, set, KEYS);
        if (rc == cudaSuccess)
            rc = peer_cuda_set_refill(&s->sets, set, PAYLOAD);
    }
    if (rc == cudaSuccess)
        rc = cudaStreamSynchronize(s->sets.stream);
    if (rc == cudaSuccess)
        peer_rotation_start(&s->rotation, s->rotation.sets, s->in_place);
    return (int)rc;
}

/* Outputs and temporary memory. */
static cudaError_t allocate(cub_state *s)
{
    const peer_problem *p = &s->sets.problem;
    cudaError_t rc = cudaSuccess;
    cub_job job;

    if (!s->in_place) {
        s->out = calloc(p->sets * 2, sizeof(void *));
        if (!s->out)
            return cudaErrorMemoryAllocation;
    }
    for (size_t i = 0; s->out && i < p->sets * 2 && rc == cudaSuccess; i++)
        if (p->bytes[i % 2])
            rc = cudaMalloc(&s->out[i], p->bytes[i % 2]);
    if (rc != cudaSuccess)
        return rc;
    job = job_of(s, 0);
    rc = s->sort(&job, NULL, &s->temporary_bytes);
    /* NULL would ask for the size again. */
    if (s->temporary_bytes == 0)
        s->temporary_bytes = 1;
    return rc == cudaSuccess ? cudaMalloc(&s->temporary, s->temporary_bytes) : rc;
}

/* The offsets of segments, as an operand that rotates as the keys do; 0 where memory is missing. */
static int with_offsets(cub_state *s, const peer_problem *p, peer_problem *held)
{
    const size_t parts = peer_sort_parts(p), count = parts + 1;

    if (parts == 1)
        return 1;
    s->offsets = malloc(count * sizeof(*s->offsets));
    if (!s->offsets)
        return 0;
    s->offsets[0] = 0;
    for (size_t i = 0; i < parts; i++) {
        size_t begin, end;

        peer_sort_part(p, i, &begin, &end);
        s->offsets[i + 1] = (int)end;
    }
    held->operand[OFFSETS] = s->offsets;
    held->bytes[OFFSETS] = count * sizeof(*s->offsets);
    return 1;
}

/* Fill a new state; 0 with *why where that fails. */
static int prepare(cub_state *s, const peer_problem *p, char *why, size_t why_size)
{
    peer_problem held;
    double unused;
    cudaError_t rc;

    if (peer_with_positions(p, &held, &s->positions) != 0) {
        peer_say(why, why_size, "no memory for %zu positions", peer_sort_keys(p));
        return 0;
    }
    if (sort_of(p)->value_bytes) {
        held.operand[PAYLOAD] = p->operand[SORT_VALUES];
        held.bytes[PAYLOAD] = p->bytes[SORT_VALUES];
    }
    if (!with_offsets(s, p, &held)) {
        peer_say(why, why_size, "no memory for the offsets of %zu segments", peer_sort_parts(p));
        return 0;
    }
    if (peer_cuda_sets_open(&s->sets, &held, why, why_size) != 0)
        return 0;
    rc = allocate(s);
    if (rc != cudaSuccess) {
        peer_say(why, why_size, "cudaMalloc of outputs and %zu temporary bytes: %s",
                 s->temporary_bytes, cudaGetErrorString(rc));
        return 0;
    }
    peer_rotation_start(&s->rotation, p->sets, s->in_place);
    /* The first call loads its kernels. */
    rc = (cudaError_t)peer_time(&s->rotation, 1, cub_call, cub_wait, s, &unused);
    if (rc != cudaSuccess) {
        peer_say(why, why_size, "its first call failed: %s", cudaGetErrorString(rc));
        return 0;
    }
    rc = (cudaError_t)cub_restore(s);
    if (rc != cudaSuccess) {
        peer_say(why, why_size, "restoring its keys failed: %s", cudaGetErrorString(rc));
        return 0;
    }
    return 1;
}

static void *open_with(cub_sort *sort, int in_place, const peer_problem *p, char *why,
                       size_t why_size)
{
    cub_state *s = calloc(1, sizeof(*s));

    if (!s) {
        peer_say(why, why_size, "no memory");
        return NULL;
    }
    s->sort = sort;
    s->in_place = in_place;
    if (!prepare(s, p, why, why_size)) {
        cub_close(s);
        return NULL;
    }
    return s;
}

static void *radix_open(const peer_problem *p, char *why, size_t why_size)
{
    static cub_sort *const sorts[SORT_TYPES] = {CUB_SORTS(cub_radix)};

    return open_with(sorts[p->type], 0, p, why, why_size);
}

static void *merge_open(const peer_problem *p, char *why, size_t why_size)
{
    static cub_sort *const sorts[SORT_TYPES] = {CUB_SORTS(cub_merge)};

    return open_with(sorts[p->type], 1, p, why, why_size);
}

static void *segments_open(const peer_problem *p, char *why, size_t why_size)
{
    static cub_sort *const sorts[SORT_TYPES] = {CUB_SORTS(cub_segments)};

    return open_with(sorts[p->type], 0, p, why, why_size);
}

static int cub_run(void *state, size_t calls, double *wall_ns)
{
    cub_state *s = state;

    cudaSetDevice(s->sets.device);
    return peer_time(&s->rotation, calls, cub_call, cub_wait, s, wall_ns);
}

static int cub_run_held(void *state, size_t calls, double *device_ns)
{
    cub_state *s = state;

    cudaSetDevice(s->sets.device);
    return peer_cuda_time_held(&s->sets, &s->rotation, calls, cub_call, s, device_ns);
}

static int cub_result(void *state, void *const out[])
{
    cub_state *s = state;
    const peer_problem *p = &s->sets.problem;
    const cub_job job = job_of(s, 0);
    cudaError_t rc;

    cudaSetDevice(s->sets.device);
    rc = cudaMemcpyAsync(out[SORT_KEYS], job.keys_out, p->bytes[KEYS], cudaMemcpyDeviceToHost,
                         job.stream);
    if (rc == cudaSuccess && p->bytes[PAYLOAD])
        rc = cudaMemcpyAsync(out[job.argsort ? SORT_INDEX : SORT_VALUES], job.values_out,
                             p->bytes[PAYLOAD], cudaMemcpyDeviceToHost, job.stream);
    return (int)(rc == cudaSuccess ? cudaStreamSynchronize(job.stream) : rc);
}

static const char *cub_unsupported(const peer_problem *p)
{
    const char *why = peer_sequence_unsupported(p, SORT_TYPES);

    return why ? why : peer_cuda_unsupported(p);
}

/* The same of keys with values, as they are without. */
static const char *radix_unsupported(const peer_problem *p)
{
    const size_t bytes = sort_of(p)->value_bytes;
    const char *why;

    if (bytes && sort_of(p)->argsort)
        return "it sorts positions or values along, not both";
    if (bytes && bytes != 4 && bytes != 8)
        return "it is built for values of 4 and 8 bytes";
    if (peer_sort_parts(p) > 1)
        return "it sorts one sequence a call, not rows or segments";
    why = peer_keys_unsupported(p, SORT_TYPES);
    return why ? why : peer_cuda_unsupported(p);
}

static const char *segments_unsupported(const peer_problem *p)
{
    const char *why = peer_sort_unsupported(p, SORT_TYPES);

    if (!why && peer_sort_parts(p) == 1)
        why = "it sorts rows or segments, and there is one sequence";
    if (!why && peer_sort_parts(p) > INT_MAX)
        why = "it takes up to 2^31 - 1 segments";
    return why ? why : peer_cuda_unsupported(p);
}

static peer the_peers[] = {
    {.name = "CUB radix sort",
     .place = PEER_CUDA,
     .unsupported = radix_unsupported,
     .open = radix_open,
     .run = cub_run,
     .run_held = cub_run_held,
     .result = cub_result,
     .close = cub_close},
    {.name = "CUB merge sort",
     .place = PEER_CUDA,
     .unsupported = cub_unsupported,
     .open = merge_open,
     .run = cub_run,
     .run_held = cub_run_held,
     .restore = cub_restore,
     .result = cub_result,
     .close = cub_close},
    {.name = "CUB segmented sort",
     .place = PEER_CUDA,
     .unsupported = segments_unsupported,
     .open = segments_open,
     .run = cub_run,
     .run_held = cub_run_held,
     .result = cub_result,
     .close = cub_close},
};

PEER_EXPORT const peer_list *peer_module(void)
{
    const size_t count = sizeof(the_peers) / sizeof(the_peers[0]);
    static char version[64];
    const int cub = cub_version_u32();

    snprintf(version, sizeof(version), "%d.%d.%d", cub / 100000, cub / 100 % 1000, cub % 100);
    for (size_t i = 0; i < count; i++)
        the_peers[i].version = version;
    return peer_sort_module(the_peers, count);
}
