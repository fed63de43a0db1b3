/** Where the elements of matrices and vectors are in their arrays, in any operation. */
#ifndef CORE_VIEW_H
#define CORE_VIEW_H

#include "core/variant.h"

/** One for each of `count` products, or, where stride is 0, one that they share. */
static inline view view_of(tsr_type type, size_t lines, size_t length, size_t ld, size_t offset,
                           size_t count, size_t stride)
{
    if (count == 1)
        stride = 0;
    return (view){type, lines, length, ld, offset, stride ? count : 1, stride};
}

/** Index of the first element of a line of matrix e. */
static inline size_t view_line(const view *x, size_t e, size_t line)
{
    return x->offset + e * x->stride + line * x->ld;
}

/** Whether every line of a matrix starts at a multiple of `elements`, of every product. */
static inline bool view_starts_at(const view *x, size_t elements)
{
    return (x->lines == 1 || x->ld % elements == 0) && x->offset % elements == 0 &&
           x->stride % elements == 0;
}

/** Of all matrices. */
static inline double view_elements(const view *x)
{
    return (double)x->count * (double)x->lines * (double)x->length;
}

/** Their bytes, where the extent has been checked. */
static inline size_t view_bytes(const view *x)
{
    return x->count * x->lines * x->length * tsr_type_size(x->type);
}

/** Elements from the first of a matrix to the end of its last one; false on overflow. */
bool view_span(const view *x, size_t *out);

/** Bytes from the array's start to the end of the last matrix's last element; false on overflow. */
bool view_extent(const view *x, size_t *out);

/** Whether the matrices of `products` products, whose extent has been checked, share no element:
 *  they follow one another, or they lie side by side, each line of one beside that of the next. */
bool view_apart(const view *x, size_t products);

/** Whether its elements follow one another, from the first to the last. */
bool view_contiguous(const view *x);

/** operation.operands of one whose extent has been checked. */
operand view_operand(const char *name, const view *x, operand_access access);

/** Whether two operands have an element, or bytes of one, in common, whose arrays are at these
 *  addresses.  Where one has very many lines and the other very many matrices, it is enough that
 *  they lie between one another. */
bool operands_meet(const operand *x, const void *x_at, const operand *y, const void *y_at);

/** Whether the bytes between the first element and the last one meet. */
bool operands_interleave(const operand *x, const void *x_at, const operand *y, const void *y_at);

/** The elements of the first matrix without gaps, in the type that their sums have and rounded to a
 *  precision; for scratch_give, NULL for want of memory. */
void *view_copy(const view *x, const void *array, tsr_precision precision);

/** Store such elements, rounded to the operand's type. */
void view_put(const view *x, const void *copy, void *array);

/** Fill an array of o->bytes bytes: gaps, which may not be read, hold NaN, and each line has a
 *  stream of random numbers of its own. */
void view_fill(const operand *o, const view *x, distribution f, uint64_t seed, void *array);

/** Whether what is no element has the same bytes: before the first line, and between lines. */
bool view_gaps_kept(const view *x, const void *before, const void *after);

#endif
