/** OpenBLAS on every core: GEMM in float32, float64, complex64 and complex128. */
#include <cblas.h>

#include "matmul_peer.h"

static CBLAS_TRANSPOSE transpose(int trans, int conjugate)
{
    return !trans ? CblasNoTrans : conjugate ? CblasConjTrans : CblasTrans;
}

static int call(void *state, size_t set)
{
    const peer_host *h = state;
    const tsr_matmul_problem *p = h->sets.problem.problem;
    const blasint m = (blasint)p->m, n = (blasint)p->n, k = (blasint)p->k;
    const blasint lda = (blasint)p->lda, ldb = (blasint)p->ldb, ldc = (blasint)p->ldc;
    const CBLAS_TRANSPOSE op_a = transpose(p->trans_a, p->conj_a);
    const CBLAS_TRANSPOSE op_b = transpose(p->trans_b, p->conj_b);
    const double alpha[2] = {p->alpha, p->alpha_im}, beta[2] = {p->beta, p->beta_im};
    const float alpha_32[2] = {(float)p->alpha, (float)p->alpha_im};
    const float beta_32[2] = {(float)p->beta, (float)p->beta_im};
    const void *a = peer_host_set(&h->sets, set, BLAS_LEFT);
    const void *b = peer_host_set(&h->sets, set, BLAS_RIGHT);
    void *c = peer_host_set(&h->sets, set, BLAS_RESULT);

    if (p->type == TSR_F32)
        cblas_sgemm(CblasRowMajor, op_a, op_b, m, n, k, (float)p->alpha, a, lda, b, ldb,
                    (float)p->beta, c, ldc);
    else if (p->type == TSR_F64)
        cblas_dgemm(CblasRowMajor, op_a, op_b, m, n, k, p->alpha, a, lda, b, ldb, p->beta, c, ldc);
    else if (p->type == TSR_C64)
        cblas_cgemm(CblasRowMajor, op_a, op_b, m, n, k, alpha_32, a, lda, b, ldb, beta_32, c, ldc);
    else
        cblas_zgemm(CblasRowMajor, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
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
