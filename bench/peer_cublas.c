/**
 * cuBLAS: GEMM and GEMV in float32 and float64, GEMM in float16 and bfloat16 with
 * float32 sums, of one column for a vector, and GEMM with float32 operands rounded
 * to TF32.  Batches are one call of its strided GEMM or GEMV.
 *
 * cuBLAS is column-major.  What it takes for a matrix is the transpose of our
 * row-major one, so it is asked for C^T = op(B)^T op(A)^T: operands and sizes
 * swap places, and each keeps its transposition.
 */
#include <cublas_v2.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer_cuda_sets.h"

typedef struct cublas_state {
    peer_cuda_sets sets;
    peer_rotation rotation;
    cublasHandle_t handle;
    cublasComputeType_t compute;
} cublas_state;

static cublasOperation_t transpose(int trans)
{
    return trans ? CUBLAS_OP_T : CUBLAS_OP_N;
}

/* As peer.h numbers them. */
enum { TYPE_F32 = 0, TYPE_F64 = 1, TYPE_F16 = 6, TYPE_BF16 = 11 };

static cudaDataType_t cuda_type(int type)
{
    return type == TYPE_F64    ? CUDA_R_64F
           : type == TYPE_F16  ? CUDA_R_16F
           : type == TYPE_BF16 ? CUDA_R_16BF
                               : CUDA_R_32F;
}

static cublasStatus_t matmul(cublas_state *s, const void *a, const void *b, void *c)
{
    const peer_problem *p = &s->sets.problem;
    const cudaDataType_t type = cuda_type(p->type), type_c = p->c_f32 ? CUDA_R_32F : type;
    const float alpha_32 = (float)p->alpha, beta_32 = (float)p->beta;
    const void *alpha = p->type == TYPE_F64 ? (const void *)&p->alpha : (const void *)&alpha_32;
    const void *beta = p->type == TYPE_F64 ? (const void *)&p->beta : (const void *)&beta_32;

    if (p->batch > 1)
        return cublasGemmStridedBatchedEx(
            s->handle, transpose(p->trans_b), transpose(p->trans_a), (int)p->n, (int)p->m,
            (int)p->k, alpha, b, type, (int)peer_columns_b(p), (long long)(p->k * p->n), a, type,
            (int)peer_columns_a(p), (long long)(p->m * p->k), beta, c, type_c, (int)p->n,
            (long long)(p->m * p->n), (int)p->batch, s->compute, CUBLAS_GEMM_DEFAULT);
    return cublasGemmEx(s->handle, transpose(p->trans_b), transpose(p->trans_a), (int)p->n,
                        (int)p->m, (int)p->k, alpha, b, type, (int)peer_columns_b(p), a, type,
                        (int)peer_columns_a(p), beta, c, type_c, (int)p->n, s->compute,
                        CUBLAS_GEMM_DEFAULT);
}

/* Of 16 bits: its GEMV takes them from C++ alone, so x and y are matrices of one column. */
static cublasStatus_t narrow_matvec(cublas_state *s, const void *a, const void *x, void *y)
{
    const peer_problem *p = &s->sets.problem;
    const cudaDataType_t type = cuda_type(p->type), type_y = p->c_f32 ? CUDA_R_32F : type;
    const int rows = (int)(p->trans_a ? p->n : p->m), inner = (int)(p->trans_a ? p->m : p->n);
    const float alpha = (float)p->alpha, beta = (float)p->beta;

    return cublasGemmStridedBatchedEx(
        s->handle, transpose(!p->trans_a), CUBLAS_OP_N, rows, 1, inner, &alpha, a, type, (int)p->n,
        (long long)(p->m * p->n), x, type, inner, inner, &beta, y, type_y, rows, rows,
        p->batch > 1 ? (int)p->batch : 1, s->compute, CUBLAS_GEMM_DEFAULT);
}

/* A batch of float32 or float64. */
static cublasStatus_t batched_matvec(cublas_state *s, const void *a, const void *x, void *y)
{
    const peer_problem *p = &s->sets.problem;
    const cublasOperation_t op = transpose(!p->trans_a);
    const int rows = (int)p->n, columns = (int)p->m, batch = (int)p->batch;
    const long long each = (long long)(p->m * p->n);
    const long long each_x = (long long)(p->trans_a ? p->m : p->n);
    const long long each_y = (long long)(p->trans_a ? p->n : p->m);
    const float alpha = (float)p->alpha, beta = (float)p->beta;

    if (p->type == TYPE_F64)
        return cublasDgemvStridedBatched(s->handle, op, rows, columns, &p->alpha, a, rows, each, x,
                                         1, each_x, &p->beta, y, 1, each_y, batch);
    return cublasSgemvStridedBatched(s->handle, op, rows, columns, &alpha, a, rows, each, x, 1,
                                     each_x, &beta, y, 1, each_y, batch);
}

static cublasStatus_t matvec(cublas_state *s, const void *a, const void *x, void *y)
{
    const peer_problem *p = &s->sets.problem;
    const cublasOperation_t op = transpose(!p->trans_a);
    const int rows = (int)p->n, columns = (int)p->m; /* of A as cuBLAS sees it */

    if (p->type == TYPE_F16 || p->type == TYPE_BF16)
        return narrow_matvec(s, a, x, y);
    if (p->batch > 1)
        return batched_matvec(s, a, x, y);
    if (p->type == TYPE_F32) {
        const float alpha = (float)p->alpha, beta = (float)p->beta;

        return cublasSgemv(s->handle, op, rows, columns, &alpha, a, rows, x, 1, &beta, y, 1);
    }
    return cublasDgemv(s->handle, op, rows, columns, &p->alpha, a, rows, x, 1, &p->beta, y, 1);
}

static int cublas_call(void *state, size_t set)
{
    cublas_state *s = state;

    return (int)(s->sets.problem.op == PEER_MATMUL ? matmul : matvec)(
        s, peer_cuda_set(&s->sets, set, 0), peer_cuda_set(&s->sets, set, 1),
        peer_cuda_set(&s->sets, set, 2));
}

static int cublas_wait(void *state)
{
    return (int)cudaStreamSynchronize(((cublas_state *)state)->sets.stream);
}

static void cublas_close(void *state)
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
        rc = (int)peer_cuda_set_refill(&s->sets, 0, 2);
    if (rc == 0)
        rc = cublas_wait(s);
    if (rc != 0) {
        peer_say(why, why_size, "its first call failed with status %d", rc);
        return 0;
    }
    peer_rotation_start(&s->rotation, p->sets, 0);
    return 1;
}

static void *open_with(cublasComputeType_t compute, const peer_problem *p, char *why,
                       size_t why_size)
{
    cublas_state *s = calloc(1, sizeof(*s));

    if (!s) {
        peer_say(why, why_size, "no memory");
        return NULL;
    }
    s->compute = compute;
    if (!prepare(s, p, why, why_size)) {
        cublas_close(s);
        return NULL;
    }
    return s;
}

static void *cublas_open(const peer_problem *p, char *why, size_t why_size)
{
    return open_with(p->type == TYPE_F64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, p, why,
                     why_size);
}

static void *tf32_open(const peer_problem *p, char *why, size_t why_size)
{
    return open_with(CUBLAS_COMPUTE_32F_FAST_TF32, p, why, why_size);
}

static int cublas_run(void *state, size_t calls, double *wall_ns)
{
    cublas_state *s = state;

    cudaSetDevice(s->sets.device);
    return peer_time(&s->rotation, calls, cublas_call, cublas_wait, s, wall_ns);
}

static int cublas_run_held(void *state, size_t calls, double *device_ns)
{
    cublas_state *s = state;

    cudaSetDevice(s->sets.device);
    return peer_cuda_time_held(&s->sets, &s->rotation, calls, cublas_call, s, device_ns);
}

static int cublas_result(void *state, void *out, void *out2)
{
    cublas_state *s = state;

    (void)out2;
    cudaSetDevice(s->sets.device);
    return (int)peer_cuda_set_read(&s->sets, 0, 2, out);
}

/* Its strided GEMM and GEMV count products in 32 bits. */
static const char *size_unsupported(const peer_problem *p)
{
    return p->batch > INT_MAX ? "it takes up to 2^31 - 1 products" : peer_blas_size_unsupported(p);
}

/* Operands of 16 bits: in their own precision, which sums in FP32. */
static const char *narrow_unsupported(const peer_problem *p)
{
    return strcmp(p->precision, p->type == TYPE_F16 ? "f16" : "bf16") == 0
               ? size_unsupported(p)
               : "it multiplies 16 bits in their own precision only";
}

static const char *cublas_unsupported(const peer_problem *p)
{
    peer_problem one = *p;
    const char *why;

    one.batch = 1;
    if (p->type == TYPE_F16 || p->type == TYPE_BF16)
        why = narrow_unsupported(p);
    else
        why = p->batch > INT_MAX ? size_unsupported(p) : peer_blas_unsupported(&one);
    return why ? why : peer_cuda_unsupported(p);
}

static const char *tf32_unsupported(const peer_problem *p)
{
    const char *why = size_unsupported(p);

    if (why)
        return why;
    if (p->op != PEER_MATMUL || p->type != TYPE_F32 || strcmp(p->precision, "tf32") != 0)
        return "it multiplies float32 matrices in TF32 only";
    return peer_cuda_unsupported(p);
}

static peer the_peers[] = {
    {.name = "cuBLAS",
     .place = PEER_CUDA,
     .unsupported = cublas_unsupported,
     .open = cublas_open,
     .run = cublas_run,
     .run_held = cublas_run_held,
     .result = cublas_result,
     .close = cublas_close},
    {.name = "cuBLAS TF32",
     .place = PEER_CUDA,
     .precision = "tf32",
     .unsupported = tf32_unsupported,
     .open = tf32_open,
     .run = cublas_run,
     .run_held = cublas_run_held,
     .result = cublas_result,
     .close = cublas_close},
};

PEER_EXPORT const peer_list *peer_module(void)
{
    static const peer_list list = {PEER_ABI, the_peers, sizeof(the_peers) / sizeof(the_peers[0])};
    static char version[64];
    int major = 0, minor = 0, patch = 0;

    cublasGetProperty(MAJOR_VERSION, &major);
    cublasGetProperty(MINOR_VERSION, &minor);
    cublasGetProperty(PATCH_LEVEL, &patch);
    snprintf(version, sizeof(version), "%d.%d.%d", major, minor, patch);
    for (size_t i = 0; i < list.count; i++)
        the_peers[i].version = version;
    return &list;
}
