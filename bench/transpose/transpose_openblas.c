/** OpenBLAS: its transposed copy, OMATCOPY, of elements of 4 and 8 bytes; on one thread. */
#include <cblas.h>
#include <tessera/transpose.h>

#include "peer_blas.h"

enum { A, B };

static const tsr_transpose_problem *problem_of(const peer_problem *p)
{
    return (const tsr_transpose_problem *)p->problem;
}

static int call(void *state, size_t set)
{
    const peer_host *h = state;
    const tsr_transpose_problem *p = problem_of(&h->sets.problem);
    const blasint rows = (blasint)p->rows, columns = (blasint)p->columns;
    const void *a = peer_host_set(&h->sets, set, A);
    void *b = peer_host_set(&h->sets, set, B);

    if (p->type == TSR_F32)
        cblas_somatcopy(CblasRowMajor, CblasTrans, rows, columns, 1, a, columns, b, rows);
    else
        cblas_domatcopy(CblasRowMajor, CblasTrans, rows, columns, 1, a, columns, b, rows);
    return 0;
}

static const char *unsupported(const peer_problem *x)
{
    const tsr_transpose_problem *p = problem_of(x);

    if ((p->type != TSR_F32 && p->type != TSR_F64) || p->element_bytes)
        return "it takes float32 and float64 only";
    if (p->in_place)
        return "it is compared where another matrix takes the result";
    if (p->batch > 1)
        return "it takes one matrix a call";
    return peer_blas_sizes_unsupported((const size_t[]){p->rows, p->columns}, 2);
}

static void *open(const peer_problem *p, char *why, size_t why_size)
{
    return peer_host_open(p, call, B, why, why_size);
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
    static peer_list list = {PEER_ABI, "transpose", sizeof(tsr_transpose_problem), &the_peer, 1,
                             NULL,     NULL};

    the_peer.version = openblas_version();
    list.setting = openblas_setting(&list.setting_why);
    return &list;
}
