/*
 * A block is transposed into memory of its own, which the first-level cache holds, and its rows
 * then go to the result in one piece each.  So every cache line of either matrix is read or written
 * once, whole, and rows that are a power of two apart, which take turns at few places of the cache,
 * are not needed a second time.
 *
 * Memory is waited for, since no processor foresees rows that are far apart: what the next block
 * reads is asked for while this one is transposed.
 *
 * Squares of elements of 1, 2, 4 or 8 bytes are transposed in vectors of 16 bytes: of N rows, row i
 * is interleaved with row i + N/2, element by element, into rows 2i and 2i + 1.  That moves the
 * bits of an element's place, row and column, on by one, all around: after log2(N) times the two
 * have changed places.
 */
#include <stdint.h>
#include <string.h>

#include "base/fetch_ahead.h"
#include "base/past_caches.h"
#include "base/sizes.h"
#include "ops/transpose/transpose_blocks.h"

enum { VECTOR_BYTES = 16 };

#ifdef __clang__
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

#define ELEMENT uint8_t
#define SIDE    16
#define LOW     0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH    8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define NAMED   square_1
#include "ops/transpose/transpose_square_body.h"

#define ELEMENT uint16_t
#define SIDE    8
#define LOW     0, 8, 1, 9, 2, 10, 3, 11
#define HIGH    4, 12, 5, 13, 6, 14, 7, 15
#define NAMED   square_2
#include "ops/transpose/transpose_square_body.h"

#define ELEMENT uint32_t
#define SIDE    4
#define LOW     0, 4, 1, 5
#define HIGH    2, 6, 3, 7
#define NAMED   square_4
#include "ops/transpose/transpose_square_body.h"

#define ELEMENT uint64_t
#define SIDE    2
#define LOW     0, 2
#define HIGH    1, 3
#define NAMED   square_8
#include "ops/transpose/transpose_square_body.h"

/* `rows` rows of what is read next, from `row` on; they may be beyond the matrix. */
static inline void fetch(const transpose_block *b, const void *next, size_t row, size_t rows)
{
    for (size_t i = row; i < row + rows && next; i++)
        fetch_ahead(next, (ptrdiff_t)(i * b->pitch), b->columns * b->bytes);
}

/* Elements of any size, of rows from `row` on and columns from `column` on.  The size is a constant
 * where it is called. */
static inline void move_elements(const transpose_block *b, size_t bytes, size_t row, size_t column,
                                 char *to, size_t to_pitch)
{
    for (size_t i = row; i < b->rows; i++) {
        if (column == 0)
            fetch(b, b->next, i, 1);
        for (size_t j = column; j < b->columns; j++)
            memcpy(to + j * to_pitch + i * bytes, (const char *)b->from + i * b->pitch + j * bytes,
                   bytes);
    }
}

typedef void square_of(const char *from, size_t pitch, char *to, size_t to_pitch);

/* Squares, then what is left at the right and below. */
static inline void move_squares(const transpose_block *b, square_of *square, size_t bytes, char *to,
                                size_t to_pitch)
{
    const size_t side = VECTOR_BYTES / bytes;
    const size_t rows = b->rows / side * side, columns = b->columns / side * side;
    transpose_block above = *b;

    /* Along the rows, whose lines may all want one place in the cache. */
    for (size_t i = 0; i < rows; i += side) {
        fetch(b, b->next, i, side);
        for (size_t j = 0; j < columns; j += side)
            square((const char *)b->from + i * b->pitch + j * bytes, b->pitch,
                   to + j * to_pitch + i * bytes, to_pitch);
    }
    move_elements(b, bytes, rows, 0, to, to_pitch);
    above.rows = rows;
    move_elements(&above, bytes, 0, columns, to, to_pitch);
}

static void transpose_to(const transpose_block *b, char *to, size_t to_pitch)
{
    switch (b->bytes) {
    case 1:
        move_squares(b, square_1, 1, to, to_pitch);
        break;
    case 2:
        move_squares(b, square_2, 2, to, to_pitch);
        break;
    case 3:
        move_elements(b, 3, 0, 0, to, to_pitch);
        break;
    case 4:
        move_squares(b, square_4, 4, to, to_pitch);
        break;
    case 6:
        move_elements(b, 6, 0, 0, to, to_pitch);
        break;
    case 8:
        move_squares(b, square_8, 8, to, to_pitch);
        break;
    case 12:
        move_elements(b, 12, 0, 0, to, to_pitch);
        break;
    case 16:
        move_elements(b, 16, 0, 0, to, to_pitch);
        break;
    default:
        move_elements(b, b->bytes, 0, 0, to, to_pitch);
        break;
    }
}

void transpose_block_apart(const transpose_block *b, void *memory)
{
    const size_t row = b->rows * b->bytes;
    /* Rows that are whole lines, and begin at one. */
    const size_t pitch = size_round_up(row, CACHE_LINE);

    transpose_to(b, memory, pitch);
    for (size_t j = 0; j < b->columns; j++) {
        char *to = (char *)b->to + j * b->to_pitch;
        const char *from = (const char *)memory + j * pitch;
        /* To where a line begins, lines, and what is left behind them. */
        const size_t head = b->past_caches ? past_caches_head(to, 1, row) : row;
        const size_t lines = (row - head) / CACHE_LINE * CACHE_LINE;

        memcpy(to, from, head);
        past_caches_store(to + head, from + head, lines);
        memcpy(to + head + lines, from + head + lines, row - head - lines);
    }
}

static void copy_rows(const char *from, size_t pitch, char *to, size_t to_pitch, size_t rows,
                      size_t bytes)
{
    for (size_t i = 0; i < rows; i++)
        memcpy(to + i * to_pitch, from + i * pitch, bytes);
}

void transpose_block_swap(const transpose_block *b, void *memory)
{
    const transpose_block back = {.from = b->to,
                                  .rows = b->columns,
                                  .columns = b->rows,
                                  .bytes = b->bytes,
                                  .pitch = b->to_pitch};
    char *one = memory, *other = one + TRANSPOSE_BLOCK_BYTES;
    const size_t row = b->rows * b->bytes, column = b->columns * b->bytes;

    fetch(b, b->other, 0, b->rows);
    transpose_to(b, one, row);
    if (b->from != b->to) {
        transpose_to(&back, other, column);
        copy_rows(other, column, (char *)(uintptr_t)b->from, b->pitch, b->rows, column);
    }
    copy_rows(one, row, b->to, b->to_pitch, b->columns, row);
}
