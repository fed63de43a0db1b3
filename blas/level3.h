/**
 * Calls of level 3: where they run, and the way to the device.
 *
 * A call arrives in either calling sequence, becomes one of column-major matrices
 * (blas/arguments.h), and is run on the device or left to the CPU's BLAS, as TESSERA_BLAS has it.
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

static inline bool blas_has_side(blas_routine r)
{
    return r == BLAS_SYMM || r == BLAS_HEMM || r == BLAS_TRMM || r == BLAS_TRSM;
}

static inline bool blas_has_trans(blas_routine r)
{
    return r != BLAS_SYMM && r != BLAS_HEMM;
}

/** syrk, herk, syr2k, her2k. */
static inline bool blas_is_rank_update(blas_routine r)
{
    return r == BLAS_SYRK || r == BLAS_HERK || r == BLAS_SYR2K || r == BLAS_HER2K;
}

static inline bool blas_is_triangular(blas_routine r)
{
    return r == BLAS_TRMM || r == BLAS_TRSM;
}

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
    bool in_c;                            /* in C's calling sequence, not Fortran's */
    int layout;                           /* of C's */
    int side, uplo, transa, transb, diag; /* as the caller has them; then 'L', 'U', 'N', ... */
    int64_t m, n, k;
    blas_number alpha, beta;
    const void *a, *b;
    void *c;
    int64_t lda, ldb, ldc;
    bool marked;       /* as one that writes what is kept on the device */
    uint64_t tried;    /* its shape is one whose calls are timed (blas/tried.h): the key; else 0 */
    uint64_t tried_ns; /* when it began */
    /* for the log */
    const char *reason; /* why the CPU's BLAS gets it */
    uint64_t start_ns;  /* 0: there is no log */
    uint64_t bytes;     /* that were copied between host and device */
    uint64_t kept;      /* that were not, since the device keeps them */
} blas_call;

/** Calls whose sizes are all below it are left to the CPU's BLAS at once: as it would be decided.
 */
extern _Atomic(uint64_t) blas_small_below[BLAS_ROUTINE_COUNT];

/** Is a call small? `sizes` are those of the call, combined by |; a negative one makes it large. */
static inline bool blas_is_small(blas_routine routine, int64_t sizes)
{
    return (uint64_t)sizes < atomic_load_explicit(&blas_small_below[routine], memory_order_relaxed);
}

/** Look at calls of any size from now on, or at no small ones again. */
void blas_look_at_all(bool all);

/** Run the call on the device, or report its illegal argument.  False: C is as it was, and the
 * CPU's BLAS has to do it. */
bool blas_level3(blas_call *call);

/** It is done, by the CPU's BLAS where not on the device. */
void blas_done(const blas_call *call, bool on_device);

static inline void blas_forwarded(const blas_call *call)
{
    if (call->start_ns || call->marked || call->tried)
        blas_done(call, false);
}

#endif
