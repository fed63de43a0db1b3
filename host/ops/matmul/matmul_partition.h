/** How products on host memory are cut into pieces. */
#ifndef OPS_MATMUL_PARTITION_H
#define OPS_MATMUL_PARTITION_H

#include "stream/partition.h"

/** operation.partition. */
tsr_status matmul_partition(const problem *p, const selection *sel, const stream_budget *budget,
                            partition *out, tsr_error *err);

#endif
