/**
 * What the generated functions of the library (blas/generate.cmake) are made of.
 *
 * They are compiled twice: with integers of 32 bits and the usual names, and, where BLAS_ILP64 is
 * defined, with integers of 64 bits and names that end in 64_, as OpenBLAS and SciPy have them.
 */
#ifndef BLAS_ENTRIES_H
#define BLAS_ENTRIES_H

#include <complex.h>
#include <stddef.h>
#include <stdint.h>

#include "blas/arguments.h"
#include "blas/cpu.h"
#include "blas/level3.h"

#ifdef BLAS_ILP64
typedef int64_t blas_int;
#define FORTRAN(name) name##_64_
#define CBLAS(name)   cblas_##name##64_
#else
typedef int32_t blas_int;
#define FORTRAN(name) name##_
#define CBLAS(name)   cblas_##name
#endif

#define STRING(name)  STRING_(name)
#define STRING_(name) #name

/** Function i of the CPU's BLAS; before its first call, one that looks it up and calls it. */
#define target(i) atomic_load_explicit(&targets[i], memory_order_acquire)

static inline blas_number number_s(const void *value)
{
    return (blas_number){*(const float *)value, 0};
}

static inline blas_number number_d(const void *value)
{
    return (blas_number){*(const double *)value, 0};
}

static inline blas_number number_c(const void *value)
{
    const float *parts = value;

    return (blas_number){parts[0], parts[1]};
}

static inline blas_number number_z(const void *value)
{
    const double *parts = value;

    return (blas_number){parts[0], parts[1]};
}

#endif
