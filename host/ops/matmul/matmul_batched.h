/** Batches of small products: whole ones in a work-group (cl/matmul/matmul_batched.cl). */
#ifndef OPS_MATMUL_BATCHED_H
#define OPS_MATMUL_BATCHED_H

#include "core/variant.h"

/** Most rows and columns of C: it is one tile. */
enum { BATCHED_TILE_MAX = 128 };

/** How a group works. */
typedef struct batched_plan {
    size_t tile_m, tile_n, depth; /* tiles of a product: powers of two */
    size_t rows, columns;         /* outputs of a work-item */
    size_t items;                 /* work-items of a product */
    size_t products;              /* of a group */
    size_t local;                 /* bytes of local memory of a group */
    bool once;                    /* all of k in one tile */
    bool whole;                   /* matrices fill their tiles, and are read */
} batched_plan;

batched_plan matmul_batched_plan(const job *j);

void matmul_batched_defines(const job *j, text *out);
const char *matmul_batched_unsupported(const job *j, text *reason);
bool matmul_batched_step(const job *j, size_t i, command *out);

#endif
