/* CUB: what its peers share. */
#include "peer_cub.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct cub_state {
    peer_cuda_sets sets;
    peer_rotation rotation;
    cub_algorithm *algorithm;
    unsigned results;
    void *temporary;
    size_t temporary_bytes;
} cub_state;

static int cub_call(void *state, size_t set)
{
    cub_state *s = state;
    const cub_arguments a = {.problem = &s->sets.problem,
                             .operand = &s->sets.memory[set * PEER_OPERANDS],
                             .temporary = s->temporary,
                             .temporary_bytes = &s->temporary_bytes,
                             .stream = s->sets.stream};

    return (int)s->algorithm(&a);
}

static int cub_wait(void *state)
{
    return (int)cudaStreamSynchronize(((cub_state *)state)->sets.stream);
}

void cub_close(void *state)
{
    cub_state *s = state;

    if (!s)
        return;
    if (s->sets.memory) {
        cub_wait(s);
        cudaFree(s->temporary);
        peer_cuda_sets_close(&s->sets);
    }
    free(s);
}

/* Fill a new state; false with *why where that fails. */
static int prepare(cub_state *s, const peer_problem *p, char *why, size_t why_size)
{
    const char *step = "asking for its temporary memory";
    double unused;
    int rc;

    if (peer_cuda_sets_open(&s->sets, p, why, why_size) != 0)
        return 0;
    peer_rotation_start(&s->rotation, p->sets, 0);
    rc = cub_call(s, 0);
    if (rc == 0) {
        step = "cudaMalloc of its temporary memory";
        /* NULL would ask for the size again. */
        s->temporary_bytes = s->temporary_bytes ? s->temporary_bytes : 1;
        rc = (int)cudaMalloc(&s->temporary, s->temporary_bytes);
    }
    if (rc == 0) {
        step = "its first call"; /* it loads the kernels */
        rc = peer_time(&s->rotation, 1, cub_call, cub_wait, s, &unused);
    }
    /* It has written to results whose rest is to be kept. */
    for (size_t i = 0; i < PEER_OPERANDS && rc == 0; i++)
        if (s->results >> i & 1)
            rc = (int)peer_cuda_set_refill(&s->sets, 0, i);
    if (rc == 0)
        rc = cub_wait(s);
    if (rc != 0) {
        peer_say(why, why_size, "%s failed: %s", step, cudaGetErrorString((cudaError_t)rc));
        return 0;
    }
    peer_rotation_start(&s->rotation, p->sets, 0);
    return 1;
}

void *cub_open(cub_algorithm *algorithm, unsigned results, const peer_problem *p, char *why,
               size_t why_size)
{
    cub_state *s = calloc(1, sizeof(*s));

    if (!s) {
        peer_say(why, why_size, "no memory");
        return NULL;
    }
    s->algorithm = algorithm;
    s->results = results;
    if (!prepare(s, p, why, why_size)) {
        cub_close(s);
        return NULL;
    }
    return s;
}

int cub_run(void *state, size_t calls, double *wall_ns)
{
    cub_state *s = state;

    cudaSetDevice(s->sets.device);
    return peer_time(&s->rotation, calls, cub_call, cub_wait, s, wall_ns);
}

int cub_run_held(void *state, size_t calls, double *device_ns)
{
    cub_state *s = state;

    cudaSetDevice(s->sets.device);
    return peer_cuda_time_held(&s->sets, &s->rotation, calls, cub_call, s, device_ns);
}

int cub_result(void *state, void *const out[])
{
    cub_state *s = state;
    cudaError_t rc = cudaSetDevice(s->sets.device);

    for (size_t i = 0; i < PEER_OPERANDS && rc == cudaSuccess; i++)
        if (s->results >> i & 1)
            rc = peer_cuda_set_read(&s->sets, 0, i, out[i]);
    return (int)rc;
}

const peer_problem *cub_problem(const void *state)
{
    return &((const cub_state *)state)->sets.problem;
}

const char *cub_version(int number)
{
    static char version[64];

    snprintf(version, sizeof(version), "%d.%d.%d", number / 100000, number / 100 % 1000,
             number % 100);
    return version;
}
