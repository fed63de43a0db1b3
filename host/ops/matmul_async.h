/** The variants of matmul whose tiles are copied beside the work-items: cl/matmul_async.cl by
 *  OpenCL's own copies, cl/matmul_cp_async.cl by NVIDIA's. */
#ifndef OPS_MATMUL_ASYNC_H
#define OPS_MATMUL_ASYNC_H

#include "ops/matmul_parts.h"
#include "ops/variant.h"

enum { ASYNC_TUNABLES = 3, CP_ASYNC_TUNABLES = 7 };
extern const tunable matmul_async_tunables[ASYNC_TUNABLES];

/* Entries of cl/matmul_cp_async.cl, in the variant's order. */
enum { CP_ASYNC_MULTIPLY, CP_ASYNC_SUM };

/** 0 for what the shape and the device call for. */
extern const tunable matmul_cp_async_tunables[CP_ASYNC_TUNABLES];

/** How groups share a product out.  Tunables that are 0 are settled here. */
typedef struct cp_async_plan {
    uint32_t tile_m, tile_n, sums, depth, stages;
    size_t items; /* of a work-group */
    size_t local; /* bytes of local memory */
    k_parts k;    /* what groups take of it */
} cp_async_plan;

cp_async_plan matmul_cp_async_plan(const job *j);

void matmul_async_defines(const job *j, text *out);
const char *matmul_async_unsuited(const job *j, text *reason);
bool matmul_async_step(const job *j, size_t i, step *out);

void matmul_cp_async_defines(const job *j, text *out);
const char *matmul_cp_async_unsuited(const job *j, text *reason);
size_t matmul_cp_async_workspace(const job *j);
bool matmul_cp_async_step(const job *j, size_t i, step *out);

#endif
