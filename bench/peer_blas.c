#include "peer_blas.h"

#include <limits.h>
#include <string.h>
#include <tessera/types.h>

const char *peer_blas_sizes_unsupported(const size_t *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (sizes[i] == 0)
            return "an empty matrix has nothing to time";
    for (size_t i = 0; i < count; i++)
        if (sizes[i] > INT_MAX)
            return "it takes dimensions up to 2^31 - 1";
    return NULL;
}

const char *peer_blas_unsupported(const peer_problem *p, const size_t *sizes, size_t count,
                                  size_t batch)
{
    const char *why = peer_blas_sizes_unsupported(sizes, count);

    if (why)
        return why;
    if (batch > 1)
        return "it multiplies one pair of matrices a call, or one matrix and vector";
    if (p->type == TSR_F32)
        return strcmp(p->precision, "f32") == 0 || strcmp(p->precision, "f32-strict") == 0
                   ? NULL
                   : "it multiplies float32 in FP32 only";
    if (p->type == TSR_F64)
        return strcmp(p->precision, "f64") == 0 ? NULL : "it multiplies float64 in FP64 only";
    if (p->type == TSR_C64 || p->type == TSR_C128)
        return strcmp(p->precision, p->type == TSR_C128 ? "f64" : "f32") == 0 ||
                       (p->type == TSR_C64 && strcmp(p->precision, "f32-strict") == 0)
                   ? NULL
                   : "it multiplies complex numbers in the precision of their parts only";
    return "it multiplies float32 and float64 only, and complex numbers of these";
}
