/** OpenBLAS on every core: GEMM in float32 and float64. */
#include <cblas.h>

#include "matmul_peer.h"

static CBLAS_TRANSPOSE transpose(int trans)
{
    return trans ? CblasTrans : CblasNoTrans;
}

static int call(void *state, size_t set)
{
    const peer_host *h = state;
    const tsr_matmul_problem *p = h->sets.problem.problem;
    const blasint m = (blasint)p->m, n = (blasint)p->n, k = (blasint)p->k;
    const blasint lda = (blasint)p->lda, ldb = (blasint)p->ldb, ldc = (blasint)p->ldc;
    const void *a = peer_host_set(&h->sets, set, BLAS_LEFT);
    const void *b = peer_host_set(&h->sets, set, BLAS_RIGHT);
    void *c = peer_host_set(&h->sets, set, BLAS_RESULT);

    if (p->type == TSR_F32)
        cblas_sgemm(CblasRowMajor, transpose(p->trans_a), transpose(p->trans_b), m, n, k,
                    (float)p->alpha, a, lda, b, ldb, (float)p->beta, c, ldc);
    else
        cblas_dgemm(CblasRowMajor, transpose(p->trans_a), transpose(p->trans_b), m, n, k, p->alpha,
                    a, lda, b, ldb, p->beta, c, ldc);
    return 0;
}

static void *open(const peer_problem *p, char *why, size_t why_size)
{
    return openblas_open(p, call, why, why_size);
}

static peer the_peer = {.name = "OpenBLAS",
                        .place = PEER_CPU,
                        .unsupported = matmul_unsupported,
                        .open = open,
                        .run = peer_host_run,
                        .result = peer_host_result,
                        .close = peer_host_close};

PEER_EXPORT const peer_list *peer_module(void)
{
    static peer_list list = MATMUL_PEERS(&the_peer, 1);

    the_peer.version = openblas_version();
    list.setting = openblas_setting(&list.setting_why);
    return &list;
}
