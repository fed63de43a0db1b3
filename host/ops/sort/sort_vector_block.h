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

/** The block by BITS, HELD_SHIFT and BLOCK, or where BLOCK is 0 as large as `bytes`.  `part`: keys
 *  of most of the parts that are sorted, where there are several; 0: there is one. */
vector_block sort_vector_block(const job *j, size_t bytes, size_t part);

/** The -Ds of the keys and of the block; BITS and BLOCK are resolved. */
void sort_define_vector_block(const job *j, const vector_block *b, plan *out);

/** Why its vectors do not fit it, or it does not fit the device. */
const char *sort_unsupported_vector_block(const job *j, const vector_block *b, plan *out);

/* ---- merges of blocks: cl/sort/sort_merges.clh --------------------------------------------- */

/** Bytes of a block that merges begin with: its sub-stages and as many merges as a larger one would
 *  save take about as long. */
enum { SORT_MERGES_BLOCK_BYTES = 16 << 10 };

/** Tunables of the variants that merge. */
#define SORT_MERGES_TUNABLES                                                                       \
    {                                                                                              \
        "BITS",                                                                                    \
        "width of a vector; 0: as wide as the device's",                                           \
        {0, 128, 256, 512},                                                                        \
        0,                                                                                         \
        128,                                                                                       \
        .host_only = true},                                                                        \
        {"HELD_SHIFT",                                                                             \
         "exponent of the number of vectors in registers: more sub-stages for each read, until "   \
         "registers run out",                                                                      \
         {2, 3},                                                                                   \
         3},                                                                                       \
        {"BLOCK",                                                                                  \
         "keys of a block: what sub-stages sort, and merges begin with; 0: by their bytes",        \
         {0, 64, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768},                                  \
         0,                                                                                        \
         64},                                                                                      \
        {"PART",                                                                                   \
         "bytes of keys that are finished before the next are begun: what the nearest cache "      \
         "holds",                                                                                  \
         {1024, 4096, 8192, 16384, 32768},                                                         \
         16384},                                                                                   \
        {"STREAMS",                                                                                \
         "merges side by side in a work-item: more to do while one waits, until registers run "    \
         "out",                                                                                    \
         {1, 2, 4},                                                                                \
         2,                                                                                        \
         4},                                                                                       \
    {                                                                                              \
        "PIECE",                                                                                   \
            "keys of a work-item, at most: fewer searches against shorter waits for the last one", \
            {64, 4096, 16384, 65536, 262144, 1048576}, 65536, 64                                   \
    }

/** Keys of a work-item that merges n: enough work-items for all cores, or as few as PIECE lets be.
 */
size_t sort_merge_piece(const job *j, const vector_block *block, size_t n);

#endif
