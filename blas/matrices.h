/** Blocks of column-major matrices of the four types of BLAS, and what the CPU does with them. */
#ifndef BLAS_MATRICES_H
#define BLAS_MATRICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "blas/level3.h"

/** Type of the elements. */
typedef struct element {
    bool f64, complex;
    size_t size; /* in bytes */
} element;

element element_of(char type);

/** op(M), or a block of it: `at` is its first element, in memory too. */
typedef struct matrix {
    char *at;
    int64_t ld;
    int op; /* 'N', 'T' or 'C': of the stored matrix */
} matrix;

/** The block of op(M) that begins at its row i and column j. */
matrix matrix_block(element type, matrix m, int64_t i, int64_t j);

/** op(M)^T or, where conjugated, op(M)^H; op(M) is not conjugated in the first case. */
matrix matrix_transposed(matrix m, bool conjugated);

/** A matrix of rows x columns; its elements are set by the caller.  .at is NULL where there is no
 *  memory.  One thread at a time takes and gives them back. */
matrix matrix_alloc(element type, int64_t rows, int64_t columns);

/** Give one back, or nothing where its .at is NULL.  Some memory is kept for the next: the system
 *  takes as long to map new pages as a device for many a product. */
void matrix_free(matrix m);

/** Copy rows x columns elements of op(M). */
void matrix_copy(element type, int64_t rows, int64_t columns, matrix from, matrix to);

/**
 * Copy op(M), complex, as a real matrix of twice the rows and columns: x + iy becomes
 *
 *     x -y
 *     y  x
 *
 * so that its product with a stored complex matrix, as a real one of twice the rows, is the complex
 * product.  Elements are multiplied by alpha.
 */
void matrix_copy_as_real(element type, int64_t rows, int64_t columns, blas_number alpha,
                         matrix from, matrix to);

/** M := beta M. */
void matrix_scale(element type, int64_t rows, int64_t columns, blas_number beta, matrix m);

/** Copy a symmetric or Hermitian matrix, of which a triangle is stored, whole. */
void matrix_copy_mirrored(element type, int64_t order, bool upper, bool hermitian, matrix from,
                          matrix to);

/**
 * Add S, or S + S^T, or where hermitian S + S^H, to a triangle: C := S + beta C.
 *
 * @param twice  S + S^T, or S + S^H.
 */
void matrix_add_triangle(element type, int64_t order, bool upper, bool twice, bool hermitian,
                         matrix s, blas_number beta, matrix c);

#endif
