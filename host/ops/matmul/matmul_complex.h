/** Complex products by the kernels of real ones. */
#ifndef OPS_MATMUL_COMPLEX_H
#define OPS_MATMUL_COMPLEX_H

#include "ops/matmul/matmul_plan.h"

/** Entries of a variant's source beside those of the real variant it is made of: copies of op(A)
 * and op(B) as factors of a real product (cl/matmul/matmul_complex_factors.clh). */
typedef struct complex_entries {
    unsigned left, right;
} complex_entries;

/**
 * variant.plan of a complex product with real alpha and beta: copies of the factors into the
 * workspace, then the plan of a real variant for the product of twice the n and k, whose operands
 * those are.  The real variant passes its scalars by matmul_pass.
 */
const char *matmul_plan_as_real(const job *j, const char *(*plan_real)(const job *j, plan *out),
                                complex_entries entries, plan *out);

#endif
