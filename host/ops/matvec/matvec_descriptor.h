/** What the descriptor of matvec is made of. */
#ifndef OPS_MATVEC_DESCRIPTOR_H
#define OPS_MATVEC_DESCRIPTOR_H

#include "core/variant.h"

/* ---- matvec_command.c, matvec_fields.c: fields, classes and files ---- */

extern const operation_command matvec_command;

size_t matvec_products(const problem *p);
product_view matvec_product_view(const problem *batch, size_t e);

/* ---- matvec_partition.c: how products with vectors on host memory are cut into pieces ---- */

/** operation.partition. */
tsr_status matvec_partition(const problem *p, const struct selection *sel,
                            const struct stream_budget *budget, struct partition *out,
                            tsr_error *err);

/* ---- matvec_proof.c: test inputs, the sweep of edge shapes, the reference with its bound ---- */

/** operation.fill of matvec. */
void matvec_fill(const problem *p, uint64_t seed, distribution f, void *const operands[]);

/** operation.sweep of matvec. */
bool matvec_sweep(size_t i, bool tiny, problem *out);

/** operation.verify of matvec.  Every element is judged by real_judge. */
tsr_status matvec_verify(const problem *p, const device_facts *d, const void *const before[],
                         const void *const after[], const void *expected, verdict *out,
                         tsr_error *err);

#endif
