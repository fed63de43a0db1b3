/** Blocks of keys that one work-item of a CPU sorts in explicit vectors:
 * cl/sort/sort_vector_block.clh.
 */
#ifndef OPS_SORT_VECTOR_BLOCK_H
#define OPS_SORT_VECTOR_BLOCK_H

#include "core/variant.h"
#include "tessera/sort.h"

typedef struct vector_block {
    uint32_t lanes;      /* keys of a vector */
    uint32_t held_shift; /* 2^held_shift vectors in registers */
    uint32_t shift;      /* 2^shift keys in a block */
} vector_block;

/** Bits of a vector: BITS, or where that is 0 the device's. */
size_t sort_vector_bits(const job *j);

/** Lanes of so many bytes in a vector of BITS, or where that is 0 of the device's. */
uint32_t sort_vector_lanes(const job *j, size_t bytes);

/** Bytes of what a lane sorts: a key, or in 64 bits a key and its index (cl/sort/sort_vectors.clh).
 */
size_t sort_lane_bytes(const tsr_sort_problem *p);

/** Why the variants that sort lanes do not take the problem; NULL: they do. */
const char *sort_unsupported_lanes(const tsr_sort_problem *p, plan *out);

/** Lanes in the workspace before those that launches leave for one another: behind what values
 *  need.  Without an index they stand in the keys' place, and need none. */
size_t sort_lanes_offset(const tsr_sort_problem *p);

/** The block by BITS, HELD_SHIFT and BLOCK, or where BLOCK is 0 as large as `bytes`. */
vector_block sort_vector_block(const job *j, size_t bytes);

/** The -Ds of the keys and of the block; BITS and BLOCK are resolved. */
void sort_define_vector_block(const job *j, const vector_block *b, plan *out);

/** Why its vectors do not fit it, or it does not fit the device. */
const char *sort_unsupported_vector_block(const job *j, const vector_block *b, plan *out);

#endif
