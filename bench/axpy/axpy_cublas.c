/** cuBLAS: AXPY in float32 and float64. */
#include "axpy_peer.h"
#include "peer_cublas.h"

static cublasStatus_t axpy(cublas_state *s, const void *x, const void *y, void *z)
{
    const tsr_axpy_problem *p = axpy_of(&s->sets.problem);
    const float alpha = (float)p->alpha;

    (void)y;
    if (p->type == TSR_F32)
        return cublasSaxpy(s->handle, (int)p->n, &alpha, x, 1, z, 1);
    return cublasDaxpy(s->handle, (int)p->n, &p->alpha, x, 1, z, 1);
}

static void *open(const peer_problem *p, char *why, size_t why_size)
{
    return cublas_open(axpy, p->type == TSR_F64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, p, why,
                       why_size);
}

static const char *unsupported(const peer_problem *p)
{
    const char *why = axpy_unsupported(p);

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
    static const peer_list list = AXPY_PEERS(&the_peer, 1);

    the_peer.version = cublas_version();
    return &list;
}
