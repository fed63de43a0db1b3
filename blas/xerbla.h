/**
 * What a libblas.so.3 has beside its routines: how illegal arguments are reported.
 *
 * A program's own functions of these names are called instead, and decide what happens.
 */
#ifndef BLAS_XERBLA_H
#define BLAS_XERBLA_H

#include <stddef.h>

#define BLAS_EXPORTED __attribute__((visibility("default")))

/** Whether the call of which xerbla_() hears is one of C's, and of row-major matrices, whose
 * positions handlers exchange then. */
BLAS_EXPORTED extern int CBLAS_CallFromC;
BLAS_EXPORTED extern int RowMajorStrg;

BLAS_EXPORTED void xerbla_(const char *name, const int *info, size_t length);
BLAS_EXPORTED void xerbla_array_(const char *name, const int *length, const int *info);
BLAS_EXPORTED int lsame_(const char *a, const char *b, size_t length_a, size_t length_b);
BLAS_EXPORTED void cblas_xerbla(int info, const char *routine, const char *form, ...);

#endif
