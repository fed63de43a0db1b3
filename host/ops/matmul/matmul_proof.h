/** Proving matmul: test inputs, the sweep of edge shapes, and the reference with its bound. */
#ifndef OPS_MATMUL_PROOF_H
#define OPS_MATMUL_PROOF_H

#include "core/variant.h"

/** operation.fill of matmul. */
void matmul_fill(const problem *p, uint64_t seed, distribution f, void *const operands[]);

/** operation.sweep of matmul. */
bool matmul_sweep(size_t i, bool tiny, problem *out);

/**
 * operation.verify of matmul.  Every element is judged by real_judge; above 2^28
 * multiply-adds at least 4096 are, tile edges (of up to 64 products of a batch) and one of each
 * block of 64 x 64 among them, and every row of C is checked against random signs.
 */
tsr_status matmul_verify(const problem *p, const device_facts *d, const void *const before[],
                         const void *const after[], const void *expected, verdict *out,
                         tsr_error *err);

#endif
