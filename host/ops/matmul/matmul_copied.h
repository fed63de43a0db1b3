/** The variants of matmul whose tiles NVIDIA's cp.async brings, cl/matmul/matmul_copied.clh: groups
 * take a tile each, cl/matmul/matmul_cp_async.cl, or equal shares of all steps along k,
 * cl/matmul/matmul_stream.cl. */
#ifndef OPS_MATMUL_COPIED_H
#define OPS_MATMUL_COPIED_H

#include "core/variant.h"
#include "ops/matmul/matmul_parts.h"
#include "tessera/matmul.h"

/** The first tunables are the same; 0 for what the shape and the device call for. */
enum { COPIED_TUNABLES = 7 };
extern const tunable matmul_cp_async_tunables[COPIED_TUNABLES];
extern const tunable matmul_stream_tunables[COPIED_TUNABLES];

/* Entries of cl/matmul/matmul_cp_async.cl, in the variant's order. */
enum { CP_ASYNC_MULTIPLY, CP_ASYNC_SUM };

/** Tiles of C and of k.  Tunables that are 0 are settled here. */
typedef struct copied_tiles {
    uint32_t tile_m, tile_n, sums, depth, stages;
    size_t items; /* of a work-group */
    size_t local; /* bytes of local memory */
} copied_tiles;

typedef struct cp_async_plan {
    copied_tiles tiles;
    k_parts k; /* what groups take of it */
} cp_async_plan;

typedef struct stream_plan {
    copied_tiles tiles;
    size_t groups;   /* of the launch */
    size_t unshared; /* tiles of C that one group multiplies, as many for each */
    size_t shared;   /* those that groups share, step by command */
} stream_plan;

cp_async_plan matmul_cp_async_plan(const job *j);
stream_plan matmul_stream_plan(const job *j);

/** Whether equal shares gain: where whole tiles would leave units idle. */
bool matmul_stream_gains(const tsr_matmul_problem *p, const device_facts *d);

void matmul_cp_async_defines(const job *j, text *out);
const char *matmul_cp_async_unsupported(const job *j, text *reason);
size_t matmul_cp_async_workspace(const job *j);
bool matmul_cp_async_step(const job *j, size_t i, command *out);

void matmul_stream_defines(const job *j, text *out);
const char *matmul_stream_unsupported(const job *j, text *reason);
size_t matmul_stream_workspace(const job *j);
bool matmul_stream_step(const job *j, size_t i, command *out);

#endif
