/** Transposed copies as a BLAS takes them. */
#ifndef BENCH_TRANSPOSE_PEER_H
#define BENCH_TRANSPOSE_PEER_H

#include <tessera/transpose.h>

#include "peer_blas.h"

#define TRANSPOSE_PEERS(peers, count)                                                              \
    {                                                                                              \
        PEER_ABI, "transpose", sizeof(tsr_transpose_problem), (peers), (count), NULL, NULL         \
    }

/** The operands, in order. */
enum { TRANSPOSE_A, TRANSPOSE_B };

static inline const tsr_transpose_problem *transpose_of(const peer_problem *p)
{
    return (const tsr_transpose_problem *)p->problem;
}

/** NULL, or why a BLAS with 32-bit sizes cannot do it. */
static inline const char *transpose_unsupported(const peer_problem *x)
{
    const tsr_transpose_problem *p = transpose_of(x);

    if ((p->type != TSR_F32 && p->type != TSR_F64) || p->element_bytes)
        return "it takes float32 and float64 only";
    if (p->in_place)
        return "it is compared where another matrix takes the result";
    if (p->batch > 1)
        return "it takes one matrix a call";
    return peer_blas_sizes_unsupported((const size_t[]){p->rows, p->columns}, 2);
}

#endif
