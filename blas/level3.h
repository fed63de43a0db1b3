/**
 * Calls of level 3: where they run, and the way to the device.
 *
 * A call arrives in either calling sequence, becomes one of column-major matrices, and is run on
 * the device or left to the CPU's BLAS, as TESSERA_BLAS has it.  A call with an illegal argument is
 * left to the CPU's BLAS, which reports it in its own way.
 */
#ifndef BLAS_LEVEL3_H
#define BLAS_LEVEL3_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "blas/cpu.h"

typedef enum blas_routine {
    BLAS_GEMM,
    BLAS_SYMM,
    BLAS_HEMM,
    BLAS_SYRK,
    BLAS_HERK,
    BLAS_SYR2K,
    BLAS_HER2K,
    BLAS_TRMM,
    BLAS_TRSM,
    BLAS_ROUTINE_COUNT
} blas_routine;

typedef struct blas_number {
    double re, im;
} blas_number;

/** A call.  Arguments that a routine does not have are 0.  The matrix that trmm and trsm overwrite,
 *  BLAS's B, is c. */
typedef struct blas_call {
    blas_routine routine;
    char type;                            /* 's', 'd', 'c' or 'z' */
    const char *name;                     /* "dgemm" */
    size_t integer_bytes;                 /* of the caller's integers: 4 or 8 */
    blas_function fortran;                /* the CPU's, in Fortran's calling sequence */
    int layout;                           /* of C's calling sequence; 0: the call is in Fortran's */
    int side, uplo, transa, transb, diag; /* as the caller has them; then 'L', 'U', 'N', ... */
    int64_t m, n, k;
    blas_number alpha, beta;
    const void *a, *b;
    void *c;
    int64_t lda, ldb, ldc;
    /* for the log */
    const char *reason; /* why the CPU's BLAS gets it */
    uint64_t start_ns;  /* 0: there is no log */
    uint64_t bytes;     /* that were copied between host and device */
} blas_call;

/** Calls whose sizes are all below it are left to the CPU's BLAS at once: as it would be decided.
 */
extern _Atomic(uint64_t) blas_small_below;

/** Is a call small? `sizes` are those of the call, combined by |; a negative one makes it large. */
static inline bool blas_is_small(int64_t sizes)
{
    return (uint64_t)sizes < atomic_load_explicit(&blas_small_below, memory_order_relaxed);
}

/** Run the call on the device.  False: C is as it was, and the CPU's BLAS has to do it. */
bool blas_level3(blas_call *call);

/** The CPU's BLAS has done it: for the log. */
void blas_forwarded_logged(const blas_call *call);

static inline void blas_forwarded(const blas_call *call)
{
    if (call->start_ns)
        blas_forwarded_logged(call);
}

#endif
