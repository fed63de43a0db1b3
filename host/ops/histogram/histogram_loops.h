/** Counting elements into a table, and adding up their weights, compiled for each instruction set
 *  (base/isa.h). */
#ifndef OPS_HISTOGRAM_LOOPS_H
#define OPS_HISTOGRAM_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/isa.h"
#include "tessera/types.h"

/** The bins of elements of `type`: `edges` as the operation has them, from the first on. */
typedef struct histogram_bins {
    tsr_type type;
    size_t bins;
    const void *edges;
    bool uneven;
} histogram_bins;

/** Add n elements to a table of bins + 1 counts, of which the last counts what is in no bin. */
typedef void histogram_loop_of(const histogram_bins *b, const void *x, size_t n, size_t *table);

histogram_loop_of ISA_EACH(histogram_count);

/** A sum of weights: of floating-point ones, or of int64 modulo 2^64. */
typedef union histogram_sum {
    double real;
    uint64_t whole;
} histogram_sum;

/** Add the weights of n elements, float32, float64 or int64, to a table of bins + 1 sums, in order;
 *  weights of elements that are in no bin do not count. */
typedef void histogram_weigh_of(const histogram_bins *b, const void *x, size_t n, tsr_type type,
                                const void *weights, histogram_sum *table);

histogram_weigh_of ISA_EACH(histogram_weigh);

#endif
