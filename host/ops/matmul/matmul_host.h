/** What the variants of matmul in C share. */
#ifndef OPS_MATMUL_HOST_H
#define OPS_MATMUL_HOST_H

#include "core/variant.h"
#include "ops/matmul/matmul_shape.h"

/** One product of float32, float64, int32 or of complex numbers in no other precision; operands as
 * in operation.operands. TSR_ENOMEM where it needs memory beside C and there is none. */
typedef tsr_status matmul_host_loops(const tsr_matmul_problem *p, void *const operands[],
                                     const void *with, tsr_error *err);

/** One product of any type and precision: on its operands, or on copies of them in the type of
 * their sums where they have 16 or 8 bits, or a precision rounds their factors. */
tsr_status matmul_host_product(const tsr_matmul_problem *p, void *const operands[],
                               matmul_host_loops *loops, const void *with, tsr_error *err);

#endif
