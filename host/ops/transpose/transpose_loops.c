/*
 * A block is transposed into memory of its own, which the first-level cache holds, and its rows
 * then go to the result in one piece each.  So every cache line of either matrix is read or written
 * once, whole, and rows that are a power of two apart, which take turns at few places of the cache,
 * are not needed a second time.
 *
 * Squares of AVX-512 have rows of whole lines: past the caches they go to the result directly, so
 * that it is written while the next rows are read.  Where rows of the result begin within a line,
 * each line is put together from the square and the one above it.
 *
 * Memory is waited for, since no processor foresees rows that are far apart: what the next block
 * reads is asked for while this one is transposed.
 *
 * Squares of elements of 1, 2, 4 or 8 bytes are transposed in vectors of 16 bytes, with AVX-512 of
 * 64 where elements have 4 or 8 bytes: of N rows, row i is interleaved with row i + N/2, element by
 * element, into rows 2i and 2i + 1.  That moves the bits of an element's place, row and column, on
 * by one, all around: after log2(N) times the two have changed places.
 */
#include <stdint.h>
#include <string.h>

#include "base/fetch_ahead.h"
#include "base/past_caches.h"
#include "base/sizes.h"
#include "base/unrolled.h"
#include "ops/transpose/transpose_loops.h"

#if ISA == 2
#include <immintrin.h>
#endif

#define INTERLEAVE_2_LOW   0, 2
#define INTERLEAVE_2_HIGH  1, 3
#define INTERLEAVE_4_LOW   0, 4, 1, 5
#define INTERLEAVE_4_HIGH  2, 6, 3, 7
#define INTERLEAVE_8_LOW   0, 8, 1, 9, 2, 10, 3, 11
#define INTERLEAVE_8_HIGH  4, 12, 5, 13, 6, 14, 7, 15
#define INTERLEAVE_16_LOW  0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define INTERLEAVE_16_HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31

#define ELEMENT uint8_t
#define SIDE    16
#define LOW     INTERLEAVE_16_LOW
#define HIGH    INTERLEAVE_16_HIGH
#define TURNED  turned_1
#define NAMED   square_1
#include "ops/transpose/transpose_square_body.h"

#define ELEMENT uint16_t
#define SIDE    8
#define LOW     INTERLEAVE_8_LOW
#define HIGH    INTERLEAVE_8_HIGH
#define TURNED  turned_2
#define NAMED   square_2
#include "ops/transpose/transpose_square_body.h"

#if ISA == 2
enum { SIDE_4 = 16, SIDE_8 = 8 };

#define ELEMENT uint32_t
#define SIDE    16
#define LOW     INTERLEAVE_16_LOW
#define HIGH    INTERLEAVE_16_HIGH
#define TURNED  turned_4
#define NAMED   square_4
#include "ops/transpose/transpose_square_body.h"

#define ELEMENT uint64_t
#define SIDE    8
#define LOW     INTERLEAVE_8_LOW
#define HIGH    INTERLEAVE_8_HIGH
#define TURNED  turned_8
#define NAMED   square_8
#include "ops/transpose/transpose_square_body.h"
#else
enum { SIDE_4 = 4, SIDE_8 = 2 };

#define ELEMENT uint32_t
#define SIDE    4
#define LOW     INTERLEAVE_4_LOW
#define HIGH    INTERLEAVE_4_HIGH
#define TURNED  turned_4
#define NAMED   square_4
#include "ops/transpose/transpose_square_body.h"

#define ELEMENT uint64_t
#define SIDE    2
#define LOW     INTERLEAVE_2_LOW
#define HIGH    INTERLEAVE_2_HIGH
#define TURNED  turned_8
#define NAMED   square_8
#include "ops/transpose/transpose_square_body.h"
#endif

/* Of `rows` rows of what is read next, from `row` on, the first `bytes` bytes; they may be beyond
 * the matrix. */
static inline void fetch(const transpose_block *b, const void *next, size_t row, size_t rows,
                         size_t bytes)
{
    for (size_t i = row; i < row + rows && next; i++)
        fetch_ahead(next, (ptrdiff_t)(i * b->pitch), bytes);
}

/* Elements of any size, of rows from `row` on and columns from `column` on.  The size is a constant
 * where it is called. */
static inline void move_elements(const transpose_block *b, size_t bytes, size_t row, size_t column,
                                 char *to, size_t to_pitch)
{
    for (size_t i = row; i < b->rows; i++) {
        if (column == 0)
            fetch(b, b->next, i, 1, b->columns * b->bytes);
        for (size_t j = column; j < b->columns; j++)
            memcpy(to + j * to_pitch + i * bytes, (const char *)b->from + i * b->pitch + j * bytes,
                   bytes);
    }
}

typedef void square_of(const char *from, size_t pitch, char *to, size_t to_pitch);

/* Squares, then what is left at the right and below. */
static inline void move_squares(const transpose_block *b, square_of *square, size_t side,
                                size_t bytes, char *to, size_t to_pitch)
{
    const size_t rows = b->rows / side * side, columns = b->columns / side * side;
    transpose_block above = *b;

    /* Along the rows, whose lines may all want one place in the cache. */
    for (size_t i = 0; i < rows; i += side) {
        fetch(b, b->next, i, side, b->columns * bytes);
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
        move_squares(b, square_1, 16, 1, to, to_pitch);
        break;
    case 2:
        move_squares(b, square_2, 8, 2, to, to_pitch);
        break;
    case 3:
        move_elements(b, 3, 0, 0, to, to_pitch);
        break;
    case 4:
        move_squares(b, square_4, SIDE_4, 4, to, to_pitch);
        break;
    case 6:
        move_elements(b, 6, 0, 0, to, to_pitch);
        break;
    case 8:
        move_squares(b, square_8, SIDE_8, 8, to, to_pitch);
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

void ISA_NAMED(transpose_block_apart)(const transpose_block *b, void *memory)
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
        const size_t lines = b->lines ? b->lines : (row - head) / CACHE_LINE * CACHE_LINE;

        if (!b->above)
            memcpy(to, from, head);
        past_caches_store(to + head, from + head, lines);
        if (!b->lines)
            memcpy(to + head + lines, from + head + lines, row - head - lines);
    }
}

static void copy_rows(const char *from, size_t pitch, char *to, size_t to_pitch, size_t rows,
                      size_t bytes)
{
    for (size_t i = 0; i < rows; i++)
        memcpy(to + i * to_pitch, from + i * pitch, bytes);
}

void ISA_NAMED(transpose_block_swap)(const transpose_block *b, void *memory)
{
    const transpose_block back = {.from = b->to,
                                  .rows = b->columns,
                                  .columns = b->rows,
                                  .bytes = b->bytes,
                                  .pitch = b->to_pitch};
    char *one = memory, *other = one + TRANSPOSE_BLOCK_BYTES;
    const size_t row = b->rows * b->bytes, column = b->columns * b->bytes;

    fetch(b, b->other, 0, b->rows, b->columns * b->bytes);
    transpose_to(b, one, row);
    if (b->from != b->to) {
        transpose_to(&back, other, column);
        copy_rows(other, column, (char *)(uintptr_t)b->from, b->pitch, b->rows, column);
    }
    copy_rows(one, row, b->to, b->to_pitch, b->columns, row);
}

#if ISA == 2
/* Elements of rows and columns that fill no square. */
static inline void move_edge(const transpose_strip *s, size_t bytes, ptrdiff_t row,
                             ptrdiff_t row_end, size_t column, size_t column_end)
{
    for (size_t j = column; j < column_end; j++)
        for (ptrdiff_t i = row; i < row_end; i++)
            memcpy((char *)s->to + j * s->to_pitch + i * (ptrdiff_t)bytes,
                   (const char *)s->from + i * (ptrdiff_t)s->pitch + j * bytes, bytes);
}

#define ELEMENT uint32_t
#define SIDE    16
#define TURNED  turned_4
#define NAMED   strip_4
#define SIZE    epi32
#define MASK    __mmask16
#include "ops/transpose/transpose_strip_body.h"

#define ELEMENT uint64_t
#define SIDE    8
#define TURNED  turned_8
#define NAMED   strip_8
#define SIZE    epi64
#define MASK    __mmask8
#include "ops/transpose/transpose_strip_body.h"

void ISA_NAMED(transpose_strip_apart)(const transpose_strip *s, void *memory)
{
    (s->bytes == 4 ? strip_4 : strip_8)(s, memory);
}

bool ISA_NAMED(transpose_has_strips)(size_t bytes)
{
    return bytes == 4 || bytes == 8;
}
#else
void ISA_NAMED(transpose_strip_apart)(const transpose_strip *s, void *memory)
{
    (void)s, (void)memory;
}

bool ISA_NAMED(transpose_has_strips)(size_t bytes)
{
    (void)bytes;
    return false;
}
#endif
