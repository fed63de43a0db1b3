/** Where the elements of matrices and vectors are in their arrays, in any operation. */
#ifndef OPS_STORED_H
#define OPS_STORED_H

#include "ops/variant.h"

/** An operand as it is stored: as many matrices as there are products, or one that they share.  A
 *  vector is a line, or, where its elements lie apart, lines of one element. */
typedef struct stored {
    tsr_type type;
    size_t lines, length; /* of `length` elements that follow one another, `ld` apart */
    size_t ld, offset;
    size_t count, stride; /* matrices, so far apart; 0 where there is one */
} stored;

/** One for each of `count` products, or, where stride is 0, one that they share. */
static inline stored stored_of(tsr_type type, size_t lines, size_t length, size_t ld, size_t offset,
                               size_t count, size_t stride)
{
    if (count == 1)
        stride = 0;
    return (stored){type, lines, length, ld, offset, stride ? count : 1, stride};
}

/** Index of the first element of a line of matrix e. */
static inline size_t stored_line(const stored *x, size_t e, size_t line)
{
    return x->offset + e * x->stride + line * x->ld;
}

/** Whether every line of a matrix starts at a multiple of `elements`, of every product. */
static inline bool stored_starts_at(const stored *x, size_t elements)
{
    return (x->lines == 1 || x->ld % elements == 0) && x->offset % elements == 0 &&
           x->stride % elements == 0;
}

/** Of all matrices. */
static inline double stored_elements(const stored *x)
{
    return (double)x->count * (double)x->lines * (double)x->length;
}

/** Elements from the first of a matrix to the end of its last one; false on overflow. */
bool stored_span(const stored *x, size_t *out);

/** Bytes from the array's start to the end of the last matrix's last element; false on overflow. */
bool stored_extent(const stored *x, size_t *out);

/** Whether the matrices of `products` products, whose extent has been checked, share no element:
 *  they follow one another, or they lie side by side, each line of one beside that of the next. */
bool stored_apart(const stored *x, size_t products);

/** Whether the elements, from the array's start on, have no gap. */
bool stored_gapless(const stored *x);

/** operation.operands of one whose extent has been checked. */
operand stored_operand(const char *name, const stored *x, operand_access access);

/** The elements of the first matrix without gaps, in the type that their sums have and rounded to a
 *  precision; malloced and the caller's, NULL for want of memory. */
void *stored_copy(const stored *x, const void *array, tsr_precision precision);

/** Store such elements, rounded to the operand's type. */
void stored_put(const stored *x, const void *copy, void *array);

/** Fill an array of o->bytes bytes: gaps, which nobody may read, hold NaN, and each line has a
 *  stream of random numbers of its own. */
void stored_fill(const operand *o, const stored *x, family f, uint64_t seed, void *array);

/** Whether what is no element has the same bytes: before the first line, and between lines. */
bool stored_gaps_kept(const stored *x, const void *before, const void *after);

#endif
