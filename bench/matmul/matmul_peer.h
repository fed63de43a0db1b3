/** Products of matrices as a BLAS takes them. */
#ifndef BENCH_MATMUL_PEER_H
#define BENCH_MATMUL_PEER_H

#include <tessera/matmul.h>

#include "peer_blas.h"

#define MATMUL_PEERS(peers, count)                                                                 \
    {                                                                                              \
        PEER_ABI, "matmul", sizeof(tsr_matmul_problem), (peers), (count), NULL, NULL               \
    }

/* A BLAS conjugates what it transposes. */
static inline const char *matmul_conjugates(const tsr_matmul_problem *p)
{
    return (p->conj_a && !p->trans_a) || (p->conj_b && !p->trans_b)
               ? "it conjugates transposed matrices only"
               : NULL;
}

static inline const char *matmul_unsupported(const peer_problem *x)
{
    const tsr_matmul_problem *p = (const tsr_matmul_problem *)x->problem;
    const char *why = matmul_conjugates(p);

    return why ? why : peer_blas_unsupported(x, (const size_t[]){p->m, p->n, p->k}, 3, p->batch);
}

#endif
