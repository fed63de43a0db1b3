/** Proving matvec: test inputs, the sweep of edge shapes, and the reference with its bound. */
#ifndef OPS_MATVEC_PROOF_H
#define OPS_MATVEC_PROOF_H

#include "core/variant.h"

/** operation.fill of matvec. */
void matvec_fill(const problem *p, uint64_t seed, distribution f, void *const operands[]);

/** operation.sweep of matvec. */
bool matvec_sweep(size_t i, bool tiny, problem *out);

/**
 * operation.verify of matvec.  Every element is judged by real_judge.
 */
tsr_status matvec_verify(const problem *p, const device_facts *d, const void *const before[],
                         const void *const after[], const void *expected, verdict *out,
                         tsr_error *err);

#endif
