/** The variants of matmul whose tiles the lanes of a sub-group share: cl/matmul/matmul_subgroup.cl,
 * by sub-group functions or by NVIDIA's shuffle. */
#ifndef OPS_MATMUL_SUBGROUP_H
#define OPS_MATMUL_SUBGROUP_H

#include "core/variant.h"

enum { SUBGROUP_TUNABLES = 3 };
extern const tunable matmul_subgroup_tunables[SUBGROUP_TUNABLES];

const char *matmul_subgroup_unsupported(const job *j, text *reason);

void matmul_subgroup_defines(const job *j, text *out);
bool matmul_subgroup_step(const job *j, size_t i, command *out);

void matmul_shfl_defines(const job *j, text *out);
bool matmul_shfl_step(const job *j, size_t i, command *out);

#endif
