/** OpenBLAS on every core: GEMV in float32 and float64. */
#include <cblas.h>

#include "matvec_peer.h"

static int call(void *state, size_t set)
{
    const peer_host *h = state;
    const tsr_matvec_problem *p = h->sets.problem.problem;
    const blasint m = (blasint)p->rows, n = (blasint)p->columns;
    const CBLAS_TRANSPOSE trans = p->trans ? CblasTrans : CblasNoTrans;
    const void *a = peer_host_set(&h->sets, set, BLAS_LEFT);
    const void *x = peer_host_set(&h->sets, set, BLAS_RIGHT);
    void *y = peer_host_set(&h->sets, set, BLAS_RESULT);

    if (p->type == TSR_F32)
        cblas_sgemv(CblasRowMajor, trans, m, n, (float)p->alpha, a, n, x, 1, (float)p->beta, y, 1);
    else
        cblas_dgemv(CblasRowMajor, trans, m, n, p->alpha, a, n, x, 1, p->beta, y, 1);
    return 0;
}

static void *open(const peer_problem *p, char *why, size_t why_size)
{
    return openblas_open(p, call, why, why_size);
}

static peer the_peer = {.name = "OpenBLAS",
                        .place = PEER_CPU,
                        .unsupported = matvec_unsupported,
                        .open = open,
                        .run = peer_host_run,
                        .result = peer_host_result,
                        .close = peer_host_close};

PEER_EXPORT const peer_list *peer_module(void)
{
    static peer_list list = MATVEC_PEERS(&the_peer, 1);

    the_peer.version = openblas_version();
    list.setting = openblas_setting(&list.setting_why);
    return &list;
}
