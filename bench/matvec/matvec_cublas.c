/**
 * cuBLAS: GEMV in float32 and float64, and GEMM of one column in float16 and bfloat16 with float32
 * sums.  Batches are one call of its strided forms.  cuBLAS is column-major: our row-major A is the
 * transpose of what it takes.
 */
#include "matvec_peer.h"
#include "peer_cublas.h"

/* Of 16 bits: its GEMV takes them from C++ alone, so x and y are matrices of one column. */
static cublasStatus_t narrow_matvec(cublas_state *s, const void *a, const void *x, void *y)
{
    const tsr_matvec_problem *p = s->sets.problem.problem;
    const cudaDataType_t type = cublas_type(p->type), type_y = p->y_f32 ? CUDA_R_32F : type;
    const int rows = (int)(p->trans ? p->columns : p->rows),
              inner = (int)(p->trans ? p->rows : p->columns);
    const float alpha = (float)p->alpha, beta = (float)p->beta;

    return cublasGemmStridedBatchedEx(
        s->handle, cublas_transpose(!p->trans), CUBLAS_OP_N, rows, 1, inner, &alpha, a, type,
        (int)p->columns, (long long)(p->rows * p->columns), x, type, inner, inner, &beta, y, type_y,
        rows, rows, p->batch > 1 ? (int)p->batch : 1, s->compute, CUBLAS_GEMM_DEFAULT);
}

/* A batch of float32 or float64. */
static cublasStatus_t batched_matvec(cublas_state *s, const void *a, const void *x, void *y)
{
    const tsr_matvec_problem *p = s->sets.problem.problem;
    const cublasOperation_t op = cublas_transpose(!p->trans);
    const int rows = (int)p->columns, columns = (int)p->rows, batch = (int)p->batch;
    const long long each = (long long)(p->rows * p->columns);
    const long long each_x = (long long)(p->trans ? p->rows : p->columns);
    const long long each_y = (long long)(p->trans ? p->columns : p->rows);
    const float alpha = (float)p->alpha, beta = (float)p->beta;

    if (p->type == TSR_F64)
        return cublasDgemvStridedBatched(s->handle, op, rows, columns, &p->alpha, a, rows, each, x,
                                         1, each_x, &p->beta, y, 1, each_y, batch);
    return cublasSgemvStridedBatched(s->handle, op, rows, columns, &alpha, a, rows, each, x, 1,
                                     each_x, &beta, y, 1, each_y, batch);
}

static cublasStatus_t matvec(cublas_state *s, const void *a, const void *x, void *y)
{
    const tsr_matvec_problem *p = s->sets.problem.problem;
    const cublasOperation_t op = cublas_transpose(!p->trans);
    const int rows = (int)p->columns, columns = (int)p->rows; /* of A as cuBLAS sees it */

    if (p->type == TSR_F16 || p->type == TSR_BF16)
        return narrow_matvec(s, a, x, y);
    if (p->batch > 1)
        return batched_matvec(s, a, x, y);
    if (p->type == TSR_F32) {
        const float alpha = (float)p->alpha, beta = (float)p->beta;

        return cublasSgemv(s->handle, op, rows, columns, &alpha, a, rows, x, 1, &beta, y, 1);
    }
    return cublasDgemv(s->handle, op, rows, columns, &p->alpha, a, rows, x, 1, &p->beta, y, 1);
}

static void *gemv_open(const peer_problem *p, char *why, size_t why_size)
{
    return cublas_open(matvec, p->type == TSR_F64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, p, why,
                       why_size);
}

static const char *gemv_unsupported(const peer_problem *x)
{
    const tsr_matvec_problem *p = x->problem;

    return cublas_unsupported(x, (const size_t[]){p->rows, p->columns}, 2, p->batch);
}

static peer the_peer = {.name = "cuBLAS",
                        .place = PEER_CUDA,
                        .unsupported = gemv_unsupported,
                        .open = gemv_open,
                        .run = cublas_run,
                        .run_held = cublas_run_held,
                        .result = cublas_result,
                        .close = cublas_close};

PEER_EXPORT const peer_list *peer_module(void)
{
    static const peer_list list = MATVEC_PEERS(&the_peer, 1);

    the_peer.version = cublas_version();
    return &list;
}
