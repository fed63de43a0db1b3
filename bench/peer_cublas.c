/* cuBLAS: what its peers share. */
#include "peer_cublas.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer_blas.h"

cublasOperation_t cublas_transpose(int trans)
{
    return trans ? CUBLAS_OP_T : CUBLAS_OP_N;
}

cudaDataType_t cublas_type(int type)
{
    return type == TSR_F64    ? CUDA_R_64F
           : type == TSR_F16  ? CUDA_R_16F
           : type == TSR_BF16 ? CUDA_R_16BF
           : type == TSR_C64  ? CUDA_C_32F
           : type == TSR_C128 ? CUDA_C_64F
           : type == TSR_I8   ? CUDA_R_8I
                              : CUDA_R_32F;
}

static int cublas_call(void *state, size_t set)
{
    cublas_state *s = state;

    return (int)s->product(s, peer_cuda_set(&s->sets, set, BLAS_LEFT),
                           peer_cuda_set(&s->sets, set, BLAS_RIGHT),
                           peer_cuda_set(&s->sets, set, BLAS_RESULT));
}

static int cublas_wait(void *state)
{
    return (int)cudaStreamSynchronize(((cublas_state *)state)->sets.stream);
}

void cublas_close(void *state)
{
    cublas_state *s = state;

    if (!s)
        return;
    if (s->handle)
        cublasDestroy(s->handle);
    peer_cuda_sets_close(&s->sets);
    free(s);
}

/* Fill a new state; false with *why where that fails. */
static int prepare(cublas_state *s, const peer_problem *p, char *why, size_t why_size)
{
    cublasStatus_t status;
    double unused;
    int rc;

    if (peer_cuda_sets_open(&s->sets, p, why, why_size) != 0)
        return 0;
    status = cublasCreate(&s->handle);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasSetStream(s->handle, s->sets.stream);
    if (status != CUBLAS_STATUS_SUCCESS) {
        peer_say(why, why_size, "cublasCreate: %s", cublasGetStatusString(status));
        return 0;
    }
    peer_rotation_start(&s->rotation, p->sets, 0);
    /* The first call loads its kernels and takes its workspace. */
    rc = peer_time(&s->rotation, 1, cublas_call, cublas_wait, s, &unused);
    /* It has added to C or y, too. */
    if (rc == 0)
        rc = (int)peer_cuda_set_refill(&s->sets, 0, s->result);
    if (rc == 0)
        rc = cublas_wait(s);
    if (rc != 0) {
        peer_say(why, why_size, "its first call failed with status %d", rc);
        return 0;
    }
    peer_rotation_start(&s->rotation, p->sets, 0);
    return 1;
}

void *cublas_open(cublas_product *product, cublasComputeType_t compute, const peer_problem *p,
                  char *why, size_t why_size)
{
    return cublas_open_to(BLAS_RESULT, product, compute, p, why, why_size);
}

void *cublas_open_to(size_t result, cublas_product *product, cublasComputeType_t compute,
                     const peer_problem *p, char *why, size_t why_size)
{
    cublas_state *s = calloc(1, sizeof(*s));

    if (!s) {
        peer_say(why, why_size, "no memory");
        return NULL;
    }
    s->product = product;
    s->result = result;
    s->compute = compute;
    if (!prepare(s, p, why, why_size)) {
        cublas_close(s);
        return NULL;
    }
    return s;
}

int cublas_run(void *state, size_t calls, double *wall_ns)
{
    cublas_state *s = state;

    cudaSetDevice(s->sets.device);
    return peer_time(&s->rotation, calls, cublas_call, cublas_wait, s, wall_ns);
}

int cublas_run_held(void *state, size_t calls, double *device_ns)
{
    cublas_state *s = state;

    cudaSetDevice(s->sets.device);
    return peer_cuda_time_held(&s->sets, &s->rotation, calls, cublas_call, s, device_ns);
}

int cublas_result(void *state, void *const out[])
{
    cublas_state *s = state;

    cudaSetDevice(s->sets.device);
    return (int)peer_cuda_set_read(&s->sets, 0, s->result, out[s->result]);
}

const char *cublas_unsupported(const peer_problem *p, const size_t *sizes, size_t count,
                               size_t batch)
{
    const char *why;

    /* Its strided GEMM and GEMV count products in 32 bits. */
    if (batch > INT_MAX)
        why = "it takes up to 2^31 - 1 products";
    else if (p->type != TSR_F16 && p->type != TSR_BF16 && p->type != TSR_I8)
        why = peer_blas_unsupported(p, sizes, count, 1);
    /* Operands of 16 bits: in their own precision, which sums in FP32. */
    else if (p->type != TSR_I8 && strcmp(p->precision, p->type == TSR_F16 ? "f16" : "bf16") != 0)
        why = "it multiplies 16 bits in their own precision only";
    else
        why = peer_blas_sizes_unsupported(sizes, count);
    return why ? why : peer_cuda_unsupported(p);
}

const char *cublas_version(void)
{
    static char version[64];
    int major = 0, minor = 0, patch = 0;

    cublasGetProperty(MAJOR_VERSION, &major);
    cublasGetProperty(MINOR_VERSION, &minor);
    cublasGetProperty(PATCH_LEVEL, &patch);
    snprintf(version, sizeof(version), "%d.%d.%d", major, minor, patch);
    return version;
}
