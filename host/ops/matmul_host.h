/**
 * The CPU ladder of matmul: plain C, for the device `host`.
 *
 * Each computes C := alpha op(A) op(B) + beta C for float32 and float64, with
 * any transposes, leading dimensions and offsets; operands in the order A, B, C.
 * TSR_ENOMEM where the sums need memory beside C and there is none.
 */
#ifndef OPS_MATMUL_HOST_H
#define OPS_MATMUL_HOST_H

#include "ops/variant.h"

tsr_status matmul_host_ijk(const problem *p, void *const operands[], tsr_error *err);
tsr_status matmul_host_jik(const problem *p, void *const operands[], tsr_error *err);
tsr_status matmul_host_ikj(const problem *p, void *const operands[], tsr_error *err);
tsr_status matmul_host_kij(const problem *p, void *const operands[], tsr_error *err);
tsr_status matmul_host_blocked(const problem *p, void *const operands[], tsr_error *err);
tsr_status matmul_host_openmp(const problem *p, void *const operands[], tsr_error *err);

/** Whether matmul_host_openmp was built with OpenMP. */
bool matmul_host_has_openmp(void);

#endif
