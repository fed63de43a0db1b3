/**
 * cuBLAS: GEMM in float32, float64, complex64 and complex128, in float16 and bfloat16 with float32
 * sums, in int8 with int32 sums, and with float32 operands rounded to TF32.  Batches are one call
 * of its strided GEMM.  And cuBLASLt's products of FP8, which cuBLAS itself has none of.
 *
 * cuBLAS is column-major.  What it takes for a matrix is the transpose of our
 * row-major one, so it is asked for C^T = op(B)^T op(A)^T: operands and sizes
 * swap places, and each keeps its transposition.
 */
#include <cublasLt.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "matmul_peer.h"
#include "peer_cublas.h"

/* Whether it computes in float64: real numbers, or parts of complex ones. */
static int is_f64(const tsr_matmul_problem *p)
{
    return p->type == TSR_F64 || p->type == TSR_C128;
}

static cublasOperation_t operation(int trans, int conjugate)
{
    return trans && conjugate ? CUBLAS_OP_C : cublas_transpose(trans);
}

static cublasStatus_t matmul(cublas_state *s, const void *a, const void *b, void *c)
{
    const tsr_matmul_problem *p = s->sets.problem.problem;
    const cudaDataType_t type = cublas_type(p->type), type_c = p->c_f32            ? CUDA_R_32F
                                                               : p->type == TSR_I8 ? CUDA_R_32I
                                                                                   : type;
    const double alpha_64[2] = {p->alpha, p->alpha_im}, beta_64[2] = {p->beta, p->beta_im};
    const float alpha_32[2] = {(float)p->alpha, (float)p->alpha_im};
    const float beta_32[2] = {(float)p->beta, (float)p->beta_im};
    const int32_t alpha_whole = (int32_t)p->alpha, beta_whole = (int32_t)p->beta;
    const void *alpha = is_f64(p)           ? (const void *)alpha_64
                        : p->type == TSR_I8 ? (const void *)&alpha_whole
                                            : (const void *)alpha_32;
    const void *beta = is_f64(p)           ? (const void *)beta_64
                       : p->type == TSR_I8 ? (const void *)&beta_whole
                                           : (const void *)beta_32;
    const cublasOperation_t op_a = operation(p->trans_a, p->conj_a);
    const cublasOperation_t op_b = operation(p->trans_b, p->conj_b);

    if (p->batch > 1)
        return cublasGemmStridedBatchedEx(
            s->handle, op_b, op_a, (int)p->n, (int)p->m, (int)p->k, alpha, b, type, (int)p->ldb,
            (long long)p->stride_b, a, type, (int)p->lda, (long long)p->stride_a, beta, c, type_c,
            (int)p->ldc, (long long)p->stride_c, (int)p->batch, s->compute, CUBLAS_GEMM_DEFAULT);
    return cublasGemmEx(s->handle, op_b, op_a, (int)p->n, (int)p->m, (int)p->k, alpha, b, type,
                        (int)p->ldb, a, type, (int)p->lda, beta, c, type_c, (int)p->ldc, s->compute,
                        CUBLAS_GEMM_DEFAULT);
}

static void *gemm_open(const peer_problem *p, char *why, size_t why_size)
{
    const cublasComputeType_t compute = is_f64(p->problem)  ? CUBLAS_COMPUTE_64F
                                        : p->type == TSR_I8 ? CUBLAS_COMPUTE_32I
                                                            : CUBLAS_COMPUTE_32F;

    return cublas_open(matmul, compute, p, why, why_size);
}

static void *tf32_open(const peer_problem *p, char *why, size_t why_size)
{
    return cublas_open(matmul, CUBLAS_COMPUTE_32F_FAST_TF32, p, why, why_size);
}

/* ---- FP8 ---------------------------------------------------------------------------------- */

enum { LT_WORKSPACE = 32 << 20 };

/* The operand of the scales of rows, behind which those of columns are. */
enum { SCALE_A = 3 };

/* A product of cuBLASLt as its heuristic chose it.  The sums are its more exact ones, which is what
 * it does unasked. */
typedef struct lt_state {
    cublas_state *common;
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t left, right, added, result;
    cublasLtMatmulAlgo_t algorithm;
    cublasStatus_t prepared; /* whether it could be: no call is made where not */
    void *workspace;
    void *nothing; /* bfloat16 that an FP8 result's beta of 0 does not read, but that has a place */
} lt_state;

static cudaDataType_t lt_type_c(const tsr_matmul_problem *p)
{
    return p->c_f32 ? CUDA_R_32F : p->c_bf16 ? CUDA_R_16BF : CUDA_R_8F_E4M3;
}

/* Scales of the rows of op(B)^T and op(A)^T, which it finds by the first set: all have the same. */
static cublasStatus_t lt_scale(lt_state *x)
{
#if CUBLAS_VERSION >= 120900
    static const cublasLtMatmulDescAttributes_t modes[] = {CUBLASLT_MATMUL_DESC_B_SCALE_MODE,
                                                           CUBLASLT_MATMUL_DESC_A_SCALE_MODE};
    static const cublasLtMatmulDescAttributes_t pointers[] = {CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
                                                              CUBLASLT_MATMUL_DESC_A_SCALE_POINTER};
    const cublasLtMatmulMatrixScale_t mode = CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
    cublasStatus_t rc = CUBLAS_STATUS_SUCCESS;

    for (size_t i = 0; i < 2 && !rc; i++) {
        const void *scales = peer_cuda_set(&x->common->sets, 0, SCALE_A + i);

        rc = cublasLtMatmulDescSetAttribute(x->product, modes[i], &mode, sizeof(mode));
        if (!rc)
            rc = cublasLtMatmulDescSetAttribute(x->product, pointers[i], &scales, sizeof(scales));
    }
    return rc;
#else
    (void)x;
    return CUBLAS_STATUS_NOT_SUPPORTED;
#endif
}

static cublasStatus_t lt_prepare(lt_state *x)
{
    const tsr_matmul_problem *p = x->common->sets.problem.problem;
    const cublasLtHandle_t handle = (cublasLtHandle_t)x->common->handle;
    const cublasOperation_t along = CUBLAS_OP_T;
    const cudaDataType_t type_c = lt_type_c(p);
    const size_t bytes = LT_WORKSPACE;
    cublasLtMatmulPreference_t preference = NULL;
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    cublasStatus_t rc = cublasLtMatmulDescCreate(&x->product, CUBLAS_COMPUTE_32F, CUDA_R_32F);

    if (!rc)
        rc = cublasLtMatmulDescSetAttribute(x->product, CUBLASLT_MATMUL_DESC_TRANSA, &along,
                                            sizeof(along));
    if (!rc && p->scale_a)
        rc = lt_scale(x);
    if (!rc)
        rc = cublasLtMatrixLayoutCreate(&x->left, CUDA_R_8F_E4M3, p->k, p->n, (int64_t)p->ldb);
    if (!rc)
        rc = cublasLtMatrixLayoutCreate(&x->right, CUDA_R_8F_E4M3, p->k, p->m, (int64_t)p->lda);
    /* What it adds to an FP8 result, here nothing, is bfloat16. */
    if (!rc)
        rc = cublasLtMatrixLayoutCreate(&x->added, type_c == CUDA_R_8F_E4M3 ? CUDA_R_16BF : type_c,
                                        p->n, p->m, (int64_t)p->ldc);
    if (!rc)
        rc = cublasLtMatrixLayoutCreate(&x->result, type_c, p->n, p->m, (int64_t)p->ldc);
    if (!rc && cudaMalloc(&x->workspace, bytes) != cudaSuccess)
        rc = CUBLAS_STATUS_ALLOC_FAILED;
    if (!rc && type_c == CUDA_R_8F_E4M3 &&
        cudaMalloc(&x->nothing, 2 * p->m * p->ldc) != cudaSuccess)
        rc = CUBLAS_STATUS_ALLOC_FAILED;
    if (!rc)
        rc = cublasLtMatmulPreferenceCreate(&preference);
    if (!rc)
        rc = cublasLtMatmulPreferenceSetAttribute(
            preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof(bytes));
    if (!rc)
        rc = cublasLtMatmulAlgoGetHeuristic(handle, x->product, x->left, x->right, x->added,
                                            x->result, preference, 1, &found, &count);
    if (!rc && count == 0)
        rc = CUBLAS_STATUS_NOT_SUPPORTED;
    if (!rc)
        x->algorithm = found.algo;
    if (preference)
        cublasLtMatmulPreferenceDestroy(preference);
    return rc;
}

static cublasStatus_t lt_matmul(cublas_state *s, const void *a, const void *b, void *c)
{
    const tsr_matmul_problem *p = s->sets.problem.problem;
    const float alpha = (float)p->alpha, beta = (float)p->beta;
    lt_state *x = s->more;

    if (!x) {
        x = s->more = calloc(1, sizeof(*x));
        if (!x)
            return CUBLAS_STATUS_ALLOC_FAILED;
        x->common = s;
        x->prepared = lt_prepare(x);
    }
    if (x->prepared)
        return x->prepared;
    return cublasLtMatmul((cublasLtHandle_t)s->handle, x->product, &alpha, b, x->left, a, x->right,
                          &beta, x->nothing ? x->nothing : c, x->added, c, x->result, &x->algorithm,
                          x->workspace, LT_WORKSPACE, s->sets.stream);
}

static void lt_close(void *state)
{
    cublas_state *s = state;
    lt_state *x = s ? s->more : NULL;

    if (x) {
        cublasLtMatrixLayoutDestroy(x->left);
        cublasLtMatrixLayoutDestroy(x->right);
        cublasLtMatrixLayoutDestroy(x->added);
        cublasLtMatrixLayoutDestroy(x->result);
        cublasLtMatmulDescDestroy(x->product);
        cudaFree(x->workspace);
        cudaFree(x->nothing);
        free(x);
    }
    cublas_close(s);
}

static void *lt_open(const peer_problem *p, char *why, size_t why_size)
{
    return cublas_open(lt_matmul, CUBLAS_COMPUTE_32F, p, why, why_size);
}

static const char *lt_unsupported(const peer_problem *x)
{
    const tsr_matmul_problem *p = x->problem;
    const char *why = peer_blas_sizes_unsupported((const size_t[]){p->m, p->n, p->k}, 3);

    if (p->type != TSR_F8E4M3 || strcmp(x->precision, "f8") != 0)
        why = "it multiplies e4m3 matrices only, as matrix units do";
    else if (p->batch > 1)
        why = "it is asked for one product a call";
    else if (p->trans_a || !p->trans_b)
        why = "it takes FP8 along k only: with --trans-b";
    else if (p->k % 16 || p->m % 16 || p->n % 16 || p->lda % 16 || p->ldb % 16 || p->ldc % 16)
        why = "it takes FP8 in multiples of 16 elements";
    else if (p->scale_a != p->scale_b)
        why = "it takes scales of rows and of columns together";
    else if (!p->c_f32 && !p->c_bf16 && p->beta != 0)
        why = "it adds bfloat16 to an FP8 result";
    return why ? why : peer_cuda_unsupported(x);
}

static const char *gemm_unsupported(const peer_problem *x)
{
    const tsr_matmul_problem *p = x->problem;
    const char *why = matmul_conjugates(p);

    if (p->type == TSR_I8 && (p->lda % 4 || p->ldb % 4 || p->ldc % 4))
        why = "it takes int8 with lines from multiples of 4 elements";
    return why ? why : cublas_unsupported(x, (const size_t[]){p->m, p->n, p->k}, 3, p->batch);
}

static const char *tf32_unsupported(const peer_problem *p)
{
    peer_problem as_f32 = *p;

    if (p->type != TSR_F32 || strcmp(p->precision, "tf32") != 0)
        return "it multiplies float32 matrices in TF32 only";
    as_f32.precision = "f32";
    return gemm_unsupported(&as_f32);
}

static peer the_peers[] = {
    {.name = "cuBLAS",
     .place = PEER_CUDA,
     .unsupported = gemm_unsupported,
     .open = gemm_open,
     .run = cublas_run,
     .run_held = cublas_run_held,
     .result = cublas_result,
     .close = cublas_close},
    {.name = "cuBLASLt FP8",
     .place = PEER_CUDA,
     .unsupported = lt_unsupported,
     .open = lt_open,
     .run = cublas_run,
     .run_held = cublas_run_held,
     .result = cublas_result,
     .close = lt_close},
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
    static const peer_list list = MATMUL_PEERS(the_peers, sizeof(the_peers) / sizeof(the_peers[0]));

    for (size_t i = 0; i < list.count; i++)
        the_peers[i].version = cublas_version();
    return &list;
}
