/**
 * cuBLAS: GEAM in float32 and float64, with one matrix.  cuBLAS is column-major: our row-major A is
 * the transpose of what it takes, and B is of what it makes.
 */
#include "peer_cublas.h"
#include "transpose_peer.h"

static cublasStatus_t geam(cublas_state *s, const void *a, const void *b, void *unused)
{
    const tsr_transpose_problem *p = transpose_of(&s->sets.problem);
    const int rows = (int)p->rows, columns = (int)p->columns;
    const float one = 1, zero = 0;
    const double wide_one = 1, wide_zero = 0;
    void *result = (void *)b; /* the second operand is the one that is written */

    (void)unused;
    if (p->type == TSR_F32)
        return cublasSgeam(s->handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, columns, &one, a, columns,
                           &zero, result, rows, result, rows);
    return cublasDgeam(s->handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, columns, &wide_one, a, columns,
                       &wide_zero, result, rows, result, rows);
}

static void *open(const peer_problem *p, char *why, size_t why_size)
{
    return cublas_open_to(TRANSPOSE_B, geam,
                          p->type == TSR_F64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, p, why,
                          why_size);
}

static const char *unsupported(const peer_problem *p)
{
    const char *why = transpose_unsupported(p);

    return why ? why : peer_cuda_unsupported(p);
}

static peer the_peer = {.name = "cuBLAS",
                        .place = PEER_CUDA,
                        .unsupported = unsupported,
                        .open = open,
                        .run = cublas_run,
                        .run_held = cublas_run_held,
                        .result = cublas_result,
                        .close = cublas_close};

PEER_EXPORT const peer_list *peer_module(void)
{
    static const peer_list list = TRANSPOSE_PEERS(&the_peer, 1);

    the_peer.version = cublas_version();
    return &list;
}
