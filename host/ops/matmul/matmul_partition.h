/** How products on host memory are cut into pieces. */
#ifndef OPS_MATMUL_PARTITION_H
#define OPS_MATMUL_PARTITION_H

#include "core/operation.h"

/** operation.partition. */
tsr_status matmul_partition(const problem *p, const struct selection *sel,
                            const struct stream_budget *budget, struct partition *out,
                            tsr_error *err);

#endif
