/** The variant of matmul whose tiles OpenCL's own asynchronous copies bring:
 * cl/matmul/matmul_async.cl. */
#ifndef OPS_MATMUL_ASYNC_H
#define OPS_MATMUL_ASYNC_H

#include "core/variant.h"

enum { ASYNC_TUNABLES = 3 };
extern const tunable matmul_async_tunables[ASYNC_TUNABLES];

void matmul_async_defines(const job *j, text *out);
const char *matmul_async_unsupported(const job *j, text *reason);
bool matmul_async_step(const job *j, size_t i, command *out);

#endif
