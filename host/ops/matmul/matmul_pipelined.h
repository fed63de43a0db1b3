/** The variant of matmul whose tiles arrive while others are multiplied:
 * cl/matmul/matmul_pipelined.cl. */
#ifndef OPS_MATMUL_PIPELINED_H
#define OPS_MATMUL_PIPELINED_H

#include "core/variant.h"
#include "ops/matmul/matmul_parts.h"

/* Entries of cl/matmul/matmul_pipelined.cl, in the variant's order. */
enum { PIPELINED_MULTIPLY, PIPELINED_SUM };

/** Tunables, each with 0 for what the shape and the device call for. */
enum { PIPELINED_TUNABLES = 7 };
extern const tunable matmul_pipelined_tunables[PIPELINED_TUNABLES];

/** How groups share a product out.  Tunables that are 0 are settled here. */
typedef struct pipelined_plan {
    uint32_t tile_m, tile_n, sums, depth, slices;
    uint32_t registers; /* limit for a work-item, 0 for none */
    size_t items;       /* of a work-group */
    size_t local;       /* bytes of local memory */
    k_parts k;          /* what groups take of it */
} pipelined_plan;

pipelined_plan matmul_pipelined_plan(const job *j);

void matmul_pipelined_defines(const job *j, text *out);
const char *matmul_pipelined_unsupported(const job *j, text *reason);
size_t matmul_pipelined_workspace(const job *j);
bool matmul_pipelined_step(const job *j, size_t i, command *out);

#endif
