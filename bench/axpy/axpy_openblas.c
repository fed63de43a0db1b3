/** OpenBLAS on every core: AXPY in float32 and float64. */
#include <cblas.h>

#include "axpy_peer.h"

static int call(void *state, size_t set)
{
    const peer_host *h = state;
    const tsr_axpy_problem *p = axpy_of(&h->sets.problem);
    const void *x = peer_host_set(&h->sets, set, BLAS_LEFT);
    void *z = peer_host_set(&h->sets, set, BLAS_RESULT);

    if (p->type == TSR_F32)
        cblas_saxpy((blasint)p->n, (float)p->alpha, x, 1, z, 1);
    else
        cblas_daxpy((blasint)p->n, p->alpha, x, 1, z, 1);
    return 0;
}

static void *open(const peer_problem *p, char *why, size_t why_size)
{
    return openblas_open(p, call, why, why_size);
}

static peer the_peer = {.name = "OpenBLAS",
                        .place = PEER_CPU,
                        .unsupported = axpy_unsupported,
                        .open = open,
                        .run = peer_host_run,
                        .result = peer_host_result,
                        .close = peer_host_close};

PEER_EXPORT const peer_list *peer_module(void)
{
    static peer_list list = AXPY_PEERS(&the_peer, 1);

    the_peer.version = openblas_version();
    list.setting = openblas_setting(&list.setting_why);
    return &list;
}
