/** Blocks of matrices, transposed. */
#ifndef OPS_TRANSPOSE_BLOCKS_H
#define OPS_TRANSPOSE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

/** Bytes of the largest square block. */
enum { TRANSPOSE_BLOCK_BYTES = 16 << 10 };

/** Rows and columns of a square block of elements of so many bytes, at most. */
static inline size_t transpose_side(size_t bytes)
{
    return bytes == 1 ? 128 : bytes <= 4 ? 64 : 32;
}

/** A block, rows x columns of elements of `bytes` bytes, whose rows are `pitch` bytes apart in
 * `from`; its transpose goes to `to`, of rows to_pitch bytes apart. */
typedef struct transpose_block {
    const void *from;
    void *to;
    size_t rows, columns, bytes;
    size_t pitch, to_pitch;
    bool past_caches; /* lines of `to` are stored past the caches: past_caches_end() is due */
    const void *next, *other; /* what is read next, in rows as far apart, is fetched meanwhile;
                                 NULL: nothing is, or no other */
} transpose_block;

/** `memory` has room for rows of whole cache lines, and is aligned to one. */
void transpose_block_apart(const transpose_block *b, void *memory);

/** In place: `from` and `to` are blocks of one matrix, which change places, or one on the diagonal,
 *  which is the same; `memory` has twice as much. */
void transpose_block_swap(const transpose_block *b, void *memory);

#endif
