/** Products of matrices as a BLAS takes them. */
#ifndef BENCH_MATMUL_PEER_H
#define BENCH_MATMUL_PEER_H

#include <tessera/matmul.h>

#include "peer_blas.h"

#define MATMUL_PEERS(peers, count)                                                                 \
    {                                                                                              \
        PEER_ABI, "matmul", sizeof(tsr_matmul_problem), (peers), (count), NULL, NULL               \
    }

static inline const char *matmul_unsupported(const peer_problem *x)
{
    const tsr_matmul_problem *p = (const tsr_matmul_problem *)x->problem;

    return peer_blas_unsupported(x, (const size_t[]){p->m, p->n, p->k}, 3, p->batch);
}

#endif
