/** Scaled sums as a BLAS takes them. */
#ifndef BENCH_AXPY_PEER_H
#define BENCH_AXPY_PEER_H

#include <tessera/axpy.h>

#include "peer_blas.h"

#define AXPY_PEERS(peers, count)                                                                   \
    {                                                                                              \
        PEER_ABI, "axpy", sizeof(tsr_axpy_problem), (peers), (count), NULL, NULL                   \
    }

static inline const tsr_axpy_problem *axpy_of(const peer_problem *p)
{
    return (const tsr_axpy_problem *)p->problem;
}

/** NULL, or why a BLAS with 32-bit sizes cannot do it. */
static inline const char *axpy_unsupported(const peer_problem *p)
{
    const tsr_axpy_problem *axpy = axpy_of(p);

    if (axpy->type != TSR_F32 && axpy->type != TSR_F64)
        return "it adds float32 and float64 only";
    if (!axpy->in_place)
        return "it adds to the second array: --in-place";
    return peer_blas_sizes_unsupported(&axpy->n, 1);
}

#endif
