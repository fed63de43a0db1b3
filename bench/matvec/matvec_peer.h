/** Products of matrix and vector as a BLAS takes them. */
#ifndef BENCH_MATVEC_PEER_H
#define BENCH_MATVEC_PEER_H

#include <tessera/matvec.h>

#include "peer_blas.h"

#define MATVEC_PEERS(peers, count)                                                                 \
    {                                                                                              \
        PEER_ABI, "matvec", sizeof(tsr_matvec_problem), (peers), (count), NULL, NULL               \
    }

static inline const char *matvec_unsupported(const peer_problem *x)
{
    const tsr_matvec_problem *p = (const tsr_matvec_problem *)x->problem;

    return peer_blas_unsupported(x, (const size_t[]){p->rows, p->columns}, 2, p->batch);
}

#endif
