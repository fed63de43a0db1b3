/**
 * The arguments of a call of level 3: which one is illegal, and the call as one of column-major
 * matrices.
 *
 * What is legal, and in which order it is looked at, is as in the reference BLAS.  C's options are
 * looked at before its sizes, which are those of the column-major equation: there the reference's C
 * functions call Fortran's.  Options that some BLAS have beside it, a conjugated matrix that is not
 * transposed, are left to the CPU's BLAS.
 *
 * The check is part of every function of level 3 (blas/entries.h), whose compiler knows the routine
 * and the type: of a small call it takes three nanoseconds.
 */
#ifndef BLAS_ARGUMENTS_H
#define BLAS_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "blas/level3.h"

/** So that each function of level 3 has but the checks of its own routine. */
#define BLAS_INLINE inline __attribute__((always_inline))

enum { BLAS_ROW_MAJOR = 101, BLAS_COLUMN_MAJOR = 102 };

/** The letter of an option: of C's enumeration, where `in_c`, whose numbers are `first` and those
 * that follow, for these letters; 0 where it is none. */
static inline int blas_letter(bool in_c, int option, int first, const char *letters, int count)
{
    if (!in_c)
        return option >= 'a' && option <= 'z' ? option - ('a' - 'A') : option;
    return option >= first && option < first + count ? letters[option - first] : 0;
}

static inline bool blas_is_trans(const blas_call *call, int letter)
{
    const bool real = call->type == 's' || call->type == 'd';

    switch (call->routine) {
    case BLAS_SYRK:
    case BLAS_SYR2K:
        return letter == 'N' || letter == 'T' || (letter == 'C' && real);
    case BLAS_HERK:
    case BLAS_HER2K:
        return letter == 'N' || letter == 'C';
    default: /* R: conjugated alone, which is not in the reference */
        return letter == 'N' || letter == 'T' || letter == 'C' || letter == 'R';
    }
}

/**
 * Replace the options by their letters.
 *
 * @return The position of the first illegal one among Fortran's arguments, from 1; 0: all are
 * legal.
 */
static BLAS_INLINE int blas_illegal_option(blas_call *call)
{
    const bool in_c = call->in_c;
    const blas_routine r = call->routine;
    int position = 0;

    if (blas_has_side(r)) {
        call->side = blas_letter(in_c, call->side, 141, "LR", 2);
        position++;
        if (call->side != 'L' && call->side != 'R')
            return position;
    }
    if (r != BLAS_GEMM) {
        call->uplo = blas_letter(in_c, call->uplo, 121, "UL", 2);
        position++;
        if (call->uplo != 'U' && call->uplo != 'L')
            return position;
    }
    if (blas_has_trans(r)) {
        call->transa = blas_letter(in_c, call->transa, 111, "NTCR", 4);
        position++;
        if (!blas_is_trans(call, call->transa))
            return position;
    }
    if (r == BLAS_GEMM) {
        call->transb = blas_letter(in_c, call->transb, 111, "NTCR", 4);
        position++;
        if (!blas_is_trans(call, call->transb))
            return position;
    }
    if (blas_is_triangular(r)) {
        call->diag = blas_letter(in_c, call->diag, 131, "NU", 2);
        position++;
        if (call->diag != 'U' && call->diag != 'N')
            return position;
    }
    return 0;
}

/** A row-major matrix is the transpose of a column-major one: make the call, whose options are
 * letters, that of the transposed equation. */
static BLAS_INLINE void blas_transpose_equation(blas_call *call)
{
    const blas_call given = *call;

    if (given.side)
        call->side = given.side == 'L' ? 'R' : 'L';
    if (given.uplo)
        call->uplo = given.uplo == 'U' ? 'L' : 'U';
    if (blas_is_rank_update(given.routine)) {
        const bool hermitian = given.routine == BLAS_HERK || given.routine == BLAS_HER2K;

        call->transa = given.transa != 'N' ? 'N' : hermitian ? 'C' : 'T';
        if (hermitian)
            call->alpha.im = -given.alpha.im;
        return;
    }
    call->m = given.n;
    call->n = given.m;
    if (given.routine == BLAS_GEMM) {
        call->a = given.b;
        call->lda = given.ldb;
        call->transa = given.transb;
        call->b = given.a;
        call->ldb = given.lda;
        call->transb = given.transa;
    }
}

/** The position of the first illegal size or leading dimension of a call of column-major matrices
 * whose options are letters; 0: all are legal. */
static BLAS_INLINE int blas_illegal_size(const blas_call *call)
{
    const blas_routine r = call->routine;
    const bool update = blas_is_rank_update(r), triangular = blas_is_triangular(r);
    const bool has_b = r != BLAS_SYRK && r != BLAS_HERK && !triangular;
    const bool a_as_is = call->transa == 'N' || call->transa == 'R';
    const bool b_as_is = call->transb == 'N' || call->transb == 'R';
    int64_t rows_a, rows_b, rows_c = update ? call->n : call->m;
    int position = triangular ? 4 : 2; /* of the last option */

    if (r == BLAS_GEMM) {
        rows_a = a_as_is ? call->m : call->k;
        rows_b = b_as_is ? call->k : call->n;
    } else if (update) {
        rows_a = rows_b = a_as_is ? call->n : call->k;
    } else {
        rows_a = call->side == 'L' ? call->m : call->n;
        rows_b = call->m;
    }
    if (!update) {
        position++;
        if (call->m < 0)
            return position;
    }
    position++;
    if (call->n < 0)
        return position;
    if (update || r == BLAS_GEMM) {
        position++;
        if (call->k < 0)
            return position;
    }
    position += 3; /* alpha, A, lda */
    if (call->lda < 1 || call->lda < rows_a)
        return position;
    if (has_b) {
        position += 2;
        if (call->ldb < 1 || call->ldb < rows_b)
            return position;
    }
    position += triangular ? 2 : 3; /* beta, C, ldc; what trmm and trsm overwrite has no beta */
    if (call->ldc < 1 || call->ldc < rows_c)
        return position;
    return 0;
}

static inline bool blas_layout_is_legal(const blas_call *call)
{
    return !call->in_c || call->layout == BLAS_ROW_MAJOR || call->layout == BLAS_COLUMN_MAJOR;
}

/** Are all arguments legal? It changes a copy of the call. */
static BLAS_INLINE bool blas_is_legal(blas_call call)
{
    if (!blas_layout_is_legal(&call) || blas_illegal_option(&call))
        return false;
    if (call.layout == BLAS_ROW_MAJOR)
        blas_transpose_equation(&call);
    return !blas_illegal_size(&call);
}

/**
 * Make the call one of column-major matrices whose options are letters.
 *
 * @return False where an argument is illegal.  That is reported, as the reference does it:
 *         by cblas_xerbla() where it is the layout or an option of C's, else by xerbla_().
 */
bool blas_take_arguments(blas_call *call);

#endif
