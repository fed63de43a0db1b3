/**
 * The CPU ladder of matmul: plain C, for the device `host`.
 *
 * Each computes C := alpha op(A) op(B) + beta C with any transposes, leading
 * dimensions and offsets; operands in the order A, B, C.  The loops are of float32
 * and float64: float16 and bfloat16 operands, and those whose factors a precision
 * rounds, are copied to float32 first, and the result is stored as its type.
 * TSR_ENOMEM where copies or sums need memory beside C and there is none.
 */
#ifndef OPS_MATMUL_HOST_H
#define OPS_MATMUL_HOST_H

#include "core/variant.h"

tsr_status matmul_host_ijk(const problem *p, void *const operands[], tsr_error *err);
tsr_status matmul_host_jik(const problem *p, void *const operands[], tsr_error *err);
tsr_status matmul_host_ikj(const problem *p, void *const operands[], tsr_error *err);
tsr_status matmul_host_kij(const problem *p, void *const operands[], tsr_error *err);
tsr_status matmul_host_blocked(const problem *p, void *const operands[], tsr_error *err);
tsr_status matmul_host_openmp(const problem *p, void *const operands[], tsr_error *err);

/** Whether matmul_host_openmp was built with OpenMP. */
bool matmul_host_has_openmp(void);

#endif
