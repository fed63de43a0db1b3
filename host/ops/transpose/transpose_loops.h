/** Blocks of matrices, transposed; compiled for each instruction set (base/isa.h). */
#ifndef OPS_TRANSPOSE_LOOPS_H
#define OPS_TRANSPOSE_LOOPS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/isa.h"

/** Bytes of the largest square block; and of the memory that any call here takes. */
enum { TRANSPOSE_BLOCK_BYTES = 16 << 10, TRANSPOSE_MEMORY_BYTES = 64 << 10 };

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
    bool above;       /* another block stores what is before the first line of each row of `to` */
    size_t lines;     /* bytes to store from there; 0: all, else another block stores the rest */
    const void *next, *other; /* what is read next, in rows as far apart, is fetched meanwhile;
                                 NULL: nothing is, or no other */
} transpose_block;

/** `memory` has room for rows of whole cache lines, and is aligned to one. */
typedef void transpose_block_apart(const transpose_block *b, void *memory);

/** In place: `from` and `to` are blocks of one matrix, which change places, or one on the diagonal,
 *  which is the same; `memory` has twice as much. */
typedef void transpose_block_swap(const transpose_block *b, void *memory);

/** Rows of A that fill a line of the transpose: 64 / `bytes` of them, of 4 or 8 bytes.  They are
 *  stored past the caches: past_caches_end() is due.  Where rows of the transpose begin inside
 * lines, a call stores the lines that its rows complete, and keeps the rest in `memory`. */
typedef struct transpose_strip {
    const void *from;
    void *to; /* a multiple of `bytes`, as to_pitch is */
    size_t columns, bytes, pitch, to_pitch;
    size_t left;         /* first columns, which belong to no square */
    size_t above, below; /* rows beside it that belong to no strip */
    bool first, last;    /* of those below one another */
    bool follows;        /* the last call was of the strip above, with the same memory */
    const void *next;    /* the strip to fetch meanwhile; NULL: none */
} transpose_strip;

/** Columns of a strip, at most. */
static inline size_t transpose_strip_columns(size_t bytes)
{
    return 4096 / bytes;
}

/** `memory` has a line for each column, and begins at one. */
typedef void transpose_strip_apart(const transpose_strip *s, void *memory);

/** Whether there are strips of elements of so many bytes. */
typedef bool transpose_has_strips(size_t bytes);

transpose_block_apart ISA_EACH(transpose_block_apart);
transpose_strip_apart ISA_EACH(transpose_strip_apart);
transpose_has_strips ISA_EACH(transpose_has_strips);
transpose_block_swap ISA_EACH(transpose_block_swap);

#endif
