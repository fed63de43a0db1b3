/**
 * The matvec variants that run on the host, in C.
 *
 * Each takes a checked problem, and A, x and y as in operation_matvec.operands,
 * each pointer at the start of its array (A and x may be NULL where nothing of
 * them is read).  TSR_OK, or TSR_ENOMEM where one needs memory.
 */
#ifndef OPS_MATVEC_HOST_H
#define OPS_MATVEC_HOST_H

#include "ops/variant.h"

/* The operands, in order. */
enum { MATVEC_A, MATVEC_X, MATVEC_Y };

/**
 * op(A) as the loops want it: y has `rows` elements; element (r, c) of op(A) is
 * at r * row_step + c * column_step from the first.
 */
typedef struct matvec_view {
    size_t rows, columns; /* of op(A); columns is 0 where alpha is 0: A and x are not read */
    size_t row_step, column_step;
    bool trans;
    double alpha, beta; /* rounded to the type */
} matvec_view;

matvec_view matvec_view_of(const tsr_matvec_problem *p);

tsr_status matvec_row_pointers(const problem *p, void *const operands[], tsr_error *err);
tsr_status matvec_unroll_2(const problem *p, void *const operands[], tsr_error *err);
tsr_status matvec_unroll_4(const problem *p, void *const operands[], tsr_error *err);
tsr_status matvec_openmp(const problem *p, void *const operands[], tsr_error *err);

/** NULL, or why this build has no matvec_openmp. */
const char *matvec_openmp_unsuited(void);

/* One source, matvec_level.c, compiled with the library's own flags and at four levels. */
tsr_status matvec_contiguous(const problem *p, void *const operands[], tsr_error *err);
tsr_status matvec_contiguous_O0(const problem *p, void *const operands[], tsr_error *err);
tsr_status matvec_contiguous_O1(const problem *p, void *const operands[], tsr_error *err);
tsr_status matvec_contiguous_O2(const problem *p, void *const operands[], tsr_error *err);
tsr_status matvec_contiguous_O3(const problem *p, void *const operands[], tsr_error *err);

#endif
