/** OpenBLAS: its transposed copy, OMATCOPY, in float32 and float64; on one thread. */
#include <cblas.h>

#include "transpose_peer.h"

static int call(void *state, size_t set)
{
    const peer_host *h = state;
    const tsr_transpose_problem *p = transpose_of(&h->sets.problem);
    const blasint rows = (blasint)p->rows, columns = (blasint)p->columns;
    const void *a = peer_host_set(&h->sets, set, TRANSPOSE_A);
    void *b = peer_host_set(&h->sets, set, TRANSPOSE_B);

    if (p->type == TSR_F32)
        cblas_somatcopy(CblasRowMajor, CblasTrans, rows, columns, 1, a, columns, b, rows);
    else
        cblas_domatcopy(CblasRowMajor, CblasTrans, rows, columns, 1, a, columns, b, rows);
    return 0;
}

static void *open(const peer_problem *p, char *why, size_t why_size)
{
    return peer_host_open(p, call, TRANSPOSE_B, why, why_size);
}

static peer the_peer = {.name = "OpenBLAS",
                        .place = PEER_CPU,
                        .unsupported = transpose_unsupported,
                        .open = open,
                        .run = peer_host_run,
                        .result = peer_host_result,
                        .close = peer_host_close};

PEER_EXPORT const peer_list *peer_module(void)
{
    static peer_list list = TRANSPOSE_PEERS(&the_peer, 1);

    the_peer.version = openblas_version();
    list.setting = openblas_setting(&list.setting_why);
    return &list;
}
