/** How products with vectors on host memory are cut into pieces. */
#ifndef OPS_MATVEC_PARTITION_H
#define OPS_MATVEC_PARTITION_H

#include "core/operation.h"

/** operation.partition. */
tsr_status matvec_partition(const problem *p, const struct selection *sel,
                            const struct stream_budget *budget, struct partition *out,
                            tsr_error *err);

#endif
