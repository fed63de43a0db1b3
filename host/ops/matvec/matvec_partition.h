/** How products with vectors on host memory are cut into pieces. */
#ifndef OPS_MATVEC_PARTITION_H
#define OPS_MATVEC_PARTITION_H

#include "stream/partition.h"

/** operation.partition. */
tsr_status matvec_partition(const problem *p, const selection *sel, const stream_budget *budget,
                            partition *out, tsr_error *err);

#endif
