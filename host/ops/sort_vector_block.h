/** Blocks of keys that one work-item of a CPU sorts in explicit vectors: cl/sort_vector_block.clh.
 */
#ifndef OPS_SORT_VECTOR_BLOCK_H
#define OPS_SORT_VECTOR_BLOCK_H

#include "ops/variant.h"

typedef struct vector_block {
    uint32_t lanes;      /* keys of a vector */
    uint32_t held_shift; /* 2^held_shift vectors in registers */
    uint32_t shift;      /* 2^shift keys in a block */
} vector_block;

/** Keys of a vector of BITS, or where that is 0 of the device's. */
uint32_t sort_vector_lanes(const job *j);

/** The block by BITS, HELD_SHIFT and BLOCK, or where BLOCK is 0 as large as `bytes`. */
vector_block sort_vector_block(const job *j, size_t bytes);

/** What of it the tunables leave open. */
void sort_vector_block_defines(const job *j, const vector_block *b, text *out);

/** Why its vectors do not fit it, or it does not fit the device. */
const char *sort_vector_block_unsuited(const job *j, const vector_block *b, text *reason);

#endif
