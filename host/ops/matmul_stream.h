/** The variant of matmul whose groups take equal stretches of all steps along k:
 *  cl/matmul_stream.cl. */
#ifndef OPS_MATMUL_STREAM_H
#define OPS_MATMUL_STREAM_H

#include "ops/variant.h"

enum { STREAM_TUNABLES = 7 };

/** 0 for what the shape and the device call for. */
extern const tunable matmul_stream_tunables[STREAM_TUNABLES];

/** How groups share a product out.  Tunables that are 0 are settled here. */
typedef struct stream_plan {
    uint32_t tile_m, tile_n, sums, depth, stages;
    size_t items;    /* of a work-group */
    size_t local;    /* bytes of local memory */
    size_t groups;   /* of the launch */
    size_t unshared; /* tiles that one group multiplies, as many for each */
    size_t shared;   /* those that groups share, step by step */
} stream_plan;

stream_plan matmul_stream_plan(const job *j);

void matmul_stream_defines(const job *j, text *out);
const char *matmul_stream_unsuited(const job *j, text *reason);
size_t matmul_stream_workspace(const job *j);
bool matmul_stream_step(const job *j, size_t i, step *out);

#endif
