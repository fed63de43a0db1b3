/** What the descriptor of matmul is made of. */
#ifndef OPS_MATMUL_DESCRIPTOR_H
#define OPS_MATMUL_DESCRIPTOR_H

#include "core/variant.h"

/* ---- matmul_command.c, matmul_fields.c: fields, classes and files ---- */

extern const operation_command matmul_command;

size_t matmul_products(const problem *p);
product_view matmul_product_view(const problem *batch, size_t e);

/* ---- matmul_partition.c: how products on host memory are cut into pieces ---- */

/** operation.partition. */
tsr_status matmul_partition(const problem *p, const struct selection *sel,
                            const struct stream_budget *budget, struct partition *out,
                            tsr_error *err);

/* ---- matmul_inputs.c: test inputs, the sweep of edge shapes ---------------------------------- */

/** operation.fill of matmul. */
void matmul_fill(const problem *p, uint64_t seed, distribution f, void *const operands[]);

/** operation.sweep of matmul. */
bool matmul_sweep(size_t i, bool tiny, problem *out);

/* ---- matmul_proof.c: the reference with its bound -------------------------------------------- */

/**
 * operation.verify of matmul.  Every element is judged by real_judge; above 2^28
 * multiply-adds at least 4096 are, tile edges (of up to 64 products of a batch) and one of each
 * block of 64 x 64 among them, and every row of C is checked against random signs.
 */
tsr_status matmul_verify(const problem *p, const device_facts *d, const void *const before[],
                         const void *const after[], const void *expected, verdict *out,
                         tsr_error *err);

#endif
