/** Loops over elements of one type, compiled for each instruction set (base/isa.h). */
#ifndef OPS_REDUCE_SIMD_H
#define OPS_REDUCE_SIMD_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "base/isa.h"
#include "tessera/reduce.h"

/* Columns that are reduced side by side, at most. */
enum { REDUCE_TILE = 1024 };

/** Some elements reduced.  A sum of floats, a mean and a norm are `real`, an integer sum and a
 * count `u`; an extreme is what its type is. */
typedef struct reduce_part {
    union {
        double real;
        int64_t i;
        uint64_t u;
    } value;
    double carry;  /* what the last rounding of `real` added: Kahan */
    int64_t index; /* of an extreme, the first where there are several; -1: of no element */
} reduce_part;

/** The same of up to REDUCE_TILE columns: values are of the elements' type for extremes, else of 8
 *  bytes. */
typedef struct reduce_tile {
    _Alignas(64) unsigned char value[REDUCE_TILE * 8];
    _Alignas(64) double carry[REDUCE_TILE];
    _Alignas(64) int64_t index[REDUCE_TILE];
} reduce_tile;

/** Reduce n elements, the first of which has this index, into *part. */
typedef void reduce_row(const void *x, size_t n, size_t first, reduce_part *part);

/** Reduce rows, `pitch` elements apart, the first of which has this index, each into the columns of
 *  a tile, of which `width` are in use. */
typedef void reduce_rows_into(const void *x, size_t rows, size_t width, size_t pitch, size_t first,
                              reduce_tile *tile);

/** Reduce rows, `stride` elements apart, of n elements each, `step` apart, side by side, each into
 * a column of a tile. */
typedef void reduce_across(const void *x, size_t rows, size_t n, size_t stride, size_t step,
                           reduce_tile *tile);

/** What a type can do; by tsr_reduction. */
typedef struct reduce_loops {
    reduce_row *row[TSR_REDUCE_COUNT + 1];
    reduce_rows_into *columns[TSR_REDUCE_COUNT + 1];
    reduce_across *across[TSR_REDUCE_COUNT + 1]; /* or NULL */
    void (*start)(size_t by, size_t width, reduce_tile *tile);
    void (*part)(size_t by, const reduce_tile *tile, size_t column, reduce_part *out);
    /* The columns of `later`, whose elements all come after those of `tile`, into its own. */
    void (*join)(size_t by, size_t width, const reduce_tile *later, reduce_tile *tile);
    /* The results of a tile that has all n elements of its columns, in their type; NULL of 16-bit
     * floats. */
    void (*store)(size_t by, size_t n, size_t width, const reduce_tile *tile, void *result);
} reduce_loops;

/** By tsr_type: reduce_loops_0, ... */
typedef const reduce_loops *const reduce_loops_table[TSR_TYPE_COUNT];
extern reduce_loops_table ISA_EACH(reduce_loops_of);

/* value + x, of which the part remembers the rounding.  An infinite sum has none to remember. */
static inline void reduce_add(reduce_part *part, double x)
{
    const double term = x - part->carry, sum = part->value.real + term;
    const double carry = (sum - part->value.real) - term;

    part->carry = fabs(carry) <= DBL_MAX ? carry : 0;
    part->value.real = sum;
}

#endif
