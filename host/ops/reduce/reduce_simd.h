/** Sums and extremes of a block of elements, compiled for each instruction set (base/isa.h). */
#ifndef OPS_REDUCE_SIMD_H
#define OPS_REDUCE_SIMD_H

#include <stddef.h>

#include "base/isa.h"

/** Of n elements, one at least for an extreme; NaN where there is one. */
typedef double reduce_sum_loop(const float *x, size_t n);
typedef float reduce_extreme_loop(const float *x, size_t n);

reduce_sum_loop ISA_EACH(reduce_sum);
reduce_extreme_loop ISA_EACH(reduce_min), ISA_EACH(reduce_max);

#endif
