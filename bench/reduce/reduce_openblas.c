/** OpenBLAS: NRM2 in float32 and float64. */
#include <cblas.h>

#include <tessera/reduce.h>

#include "peer_blas.h"

enum { X, RESULT };

static const tsr_reduce_problem *reduce_of(const peer_problem *p)
{
    return (const tsr_reduce_problem *)p->problem;
}

static const char *unsupported(const peer_problem *p)
{
    const tsr_reduce_problem *r = reduce_of(p);

    if (r->by != TSR_REDUCE_NORM2 || (r->type != TSR_F32 && r->type != TSR_F64))
        return "asked here for the norm of float32 and float64 alone";
    if (r->outer > 1 || r->inner > 1)
        return "asked here for whole arrays alone";
    return peer_blas_sizes_unsupported(&r->n, 1);
}

static int call(void *state, size_t set)
{
    const peer_host *h = state;
    const tsr_reduce_problem *r = reduce_of(&h->sets.problem);
    const void *x = peer_host_set(&h->sets, set, X);
    void *result = peer_host_set(&h->sets, set, RESULT);

    if (r->type == TSR_F32)
        *(float *)result = cblas_snrm2((blasint)r->n, x, 1);
    else
        *(double *)result = cblas_dnrm2((blasint)r->n, x, 1);
    return 0;
}

static void *open(const peer_problem *p, char *why, size_t why_size)
{
    openblas_set_num_threads(openblas_get_num_procs());
    return peer_host_open(p, call, RESULT, why, why_size);
}

static peer the_peer = {.name = "OpenBLAS",
                        .place = PEER_CPU,
                        .unsupported = unsupported,
                        .open = open,
                        .run = peer_host_run,
                        .result = peer_host_result,
                        .close = peer_host_close};

PEER_EXPORT const peer_list *peer_module(void)
{
    static peer_list list = {PEER_ABI, "reduce", sizeof(tsr_reduce_problem), &the_peer, 1,
                             NULL,     NULL};

    the_peer.version = openblas_version();
    list.setting = openblas_setting(&list.setting_why);
    return &list;
}
