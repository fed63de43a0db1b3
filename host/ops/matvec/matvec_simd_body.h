/* The loops of matvec_simd_loops.c for one element type: REAL is that of x, y and the sums, ELEMENT
 * that of A, LOAD(at) a vector of such elements as REAL and VALUE(e) one; NAMED(name) has the
 * type's suffix, PUBLIC(name) that and the instruction set's.  SUMS: A is of the type of the sums.
 */

#include "base/vector_body.h"

typedef REAL NAMED(unaligned) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(REAL))));

typedef MASK NAMED(mask) __attribute__((vector_size(VECTOR_BYTES)));

static inline NAMED(vector) NAMED(load)(const REAL *at)
{
    return *(const NAMED(unaligned) *)at;
}

/* The last elements of a line, fewer than a vector has, and zeros: the last vector of it without
 * what comes before them, by `keep`. */
static inline NAMED(vector) NAMED(end)(NAMED(vector) last, NAMED(mask) keep)
{
    return (NAMED(vector))((NAMED(mask))last & keep);
}

static inline NAMED(mask) NAMED(keep_last)(size_t count)
{
    NAMED(mask) keep = {0};

    for (size_t l = 0; l < NAMED(LANES); l++)
        keep[l] = l + count >= NAMED(LANES) ? -1 : 0;
    return keep;
}

/* `rows`, which is a constant at every call, rows of A times x. */
static inline void NAMED(dots)(size_t rows, const ELEMENT *a, size_t step, size_t columns,
                               const REAL *x, NAMED(mask) keep, REAL out[ROWS])
{
    const size_t lanes = NAMED(LANES), whole = columns - columns % lanes;
    NAMED(vector) even[ROWS] = {{0}}, odd[ROWS] = {{0}};
    size_t c = 0;

    for (; c + 2 * lanes <= columns; c += 2 * lanes) {
        const NAMED(vector) x0 = NAMED(load)(x + c), x1 = NAMED(load)(x + c + lanes);

        UNROLLED
        for (size_t r = 0; r < rows; r++) {
            even[r] += LOAD(a + r * step + c) * x0;
            odd[r] += LOAD(a + r * step + c + lanes) * x1;
        }
    }
    if (c < whole) {
        const NAMED(vector) x0 = NAMED(load)(x + c);

        UNROLLED
        for (size_t r = 0; r < rows; r++)
            even[r] += LOAD(a + r * step + c) * x0;
    }
    if (whole < columns) {
        const NAMED(vector) x1 = NAMED(end)(NAMED(load)(x + columns - lanes), keep);

        UNROLLED
        for (size_t r = 0; r < rows; r++)
            odd[r] += NAMED(end)(LOAD(a + r * step + columns - lanes), keep) * x1;
    }
    UNROLLED
    for (size_t r = 0; r < rows; r++)
        out[r] = NAMED(total)(even[r] + odd[r]);
}

/* A row that is shorter than a vector.  The processor overlaps the chains of several. */
static inline REAL NAMED(short_dot)(const ELEMENT *a, size_t columns, const REAL *x)
{
    REAL sum = 0;

#ifdef __clang__
#pragma clang loop vectorize(disable)
#endif
    for (size_t c = 0; c < columns; c++)
        sum += VALUE(a[c]) * x[c];
    return sum;
}

#ifdef SPREAD_INTO
/* Rows without gaps that are shorter than a vector, as many as make whole vectors: element c of
 * each row becomes a vector of its own. */
static inline NAMED(vector) NAMED(flat_dots)(size_t columns, const ELEMENT *a, const REAL *x,
                                             const NAMED(mask) * from, const uint16_t *keep)
{
    NAMED(vector) piece[NAMED(LANES)], sum = {0};

    for (size_t j = 0; j < columns; j++)
        piece[j] = LOAD(a + j * NAMED(LANES));
    for (size_t c = 0; c < columns; c++) {
        NAMED(vector) element = {0};

        for (size_t j = 0; j < columns; j++)
            element = SPREAD_INTO(element, keep[c * columns + j], piece[j], from[c]);
        sum += element * x[c];
    }
    return sum;
}

/* The rows of A that are whole vectors together; returns how many. */
static size_t NAMED(flat_rows)(const ELEMENT *a, size_t rows, size_t columns, const REAL *x,
                               REAL scale, REAL old, REAL *y)
{
    const size_t lanes = NAMED(LANES), whole = rows - rows % lanes;
    NAMED(mask) from[NAMED(LANES)];
    uint16_t keep[NAMED(LANES) * NAMED(LANES)] = {0};

    for (size_t c = 0; c < columns; c++)
        for (size_t l = 0; l < lanes; l++) {
            const size_t at = l * columns + c;

            from[c][l] = SPREAD_FROM(at % lanes);
            keep[c * columns + at / lanes] |= (uint16_t)(1u << l);
        }
    for (size_t r = 0; r < whole; r += lanes) {
        const NAMED(vector) sum = NAMED(flat_dots)(columns, a + r * columns, x, from, keep);
        NAMED(unaligned) *out = (NAMED(unaligned) *)(y + r);

        *out = old == 0 ? scale * sum : scale * sum + old * *out;
    }
    return whole;
}
#endif

#ifdef SPREAD
enum { NAMED(FLAT_COLUMNS) = 2 * NAMED(LANES) };

/* What A^T x is for A without gaps, read as one array: `columns` vectors, here a constant, hold as
 * many rows as a vector of x has elements, and each has sums of its own. */
static inline size_t NAMED(flat_sums)(size_t columns, const ELEMENT *a, size_t rows, const REAL *x,
                                      const NAMED(mask) * from, NAMED(vector) * sum)
{
    const size_t lanes = NAMED(LANES), whole = rows - rows % lanes;

    for (size_t r = 0; r < whole; r += lanes) {
        const NAMED(vector) of_x = NAMED(load)(x + r);

        UNROLLED
        for (size_t j = 0; j < columns; j++)
            sum[j] += LOAD(a + r * columns + j * lanes) * SPREAD(of_x, from[j]);
    }
    return whole;
}

/* Add A^T x of the rows of A that are whole vectors together; returns how many. */
static size_t NAMED(flat_columns)(const ELEMENT *a, size_t rows, size_t columns, const REAL *x,
                                  REAL *sums)
{
    const size_t lanes = NAMED(LANES);
    NAMED(mask) from[NAMED(FLAT_COLUMNS)];
    NAMED(vector) sum[NAMED(FLAT_COLUMNS)];
    size_t whole, row = 0, c = 0;

    for (size_t j = 0; j < columns; j++) {
        sum[j] = (NAMED(vector)){0};
        for (size_t l = 0; l < lanes; l++, c++) {
            if (c == columns) {
                c = 0;
                row++;
            }
            from[j][l] = SPREAD_FROM(row);
        }
    }
    /* A few have their sums in registers. */
    if (columns == 1)
        whole = NAMED(flat_sums)(1, a, rows, x, from, sum);
    else if (columns == 2)
        whole = NAMED(flat_sums)(2, a, rows, x, from, sum);
    else if (columns == 3)
        whole = NAMED(flat_sums)(3, a, rows, x, from, sum);
    else if (columns == 4)
        whole = NAMED(flat_sums)(4, a, rows, x, from, sum);
    else
        for (whole = 0; whole + lanes <= rows; whole += lanes)
            for (size_t j = 0; j < columns; j++)
                sum[j] +=
                    LOAD(a + whole * columns + j * lanes) * SPREAD(NAMED(load)(x + whole), from[j]);
    c = 0;
    for (size_t j = 0; j < columns; j++)
        for (size_t l = 0; l < lanes; l++) {
            sums[c] += sum[j][l];
            c = c + 1 < columns ? c + 1 : 0;
        }
    return whole;
}
#endif

void PUBLIC(matvec_dot)(const void *matrix, size_t step, size_t rows, size_t columns, const void *x,
                        double alpha, double beta, void *y)
{
    const NAMED(mask) keep = NAMED(keep_last)(columns % NAMED(LANES));
    const ELEMENT *a = matrix;
    const REAL scale = (REAL)alpha, old = (REAL)beta;
    REAL *out = y, sum[ROWS];
    size_t r = 0;

#ifdef SPREAD_INTO
    if (step == columns && columns < NAMED(LANES))
        r = NAMED(flat_rows)(a, rows, columns, x, scale, old, out);
#endif
    while (r < rows) {
        const size_t count = rows - r < ROWS ? 1 : ROWS;

        if (columns < NAMED(LANES))
            for (size_t i = 0; i < count; i++)
                sum[i] = NAMED(short_dot)(a + (r + i) * step, columns, x);
        else if (count == ROWS)
            NAMED(dots)(ROWS, a + r * step, step, columns, x, keep, sum);
        else
            NAMED(dots)(1, a + r * step, step, columns, x, keep, sum);
        for (size_t i = 0; i < count; i++, r++)
            out[r] = old == 0 ? scale * sum[i] : scale * sum[i] + old * out[r];
    }
}

/* `count`, which is a constant at every call, lines of A, each times its element of x: they begin
 * the sums, or are added to them. */
static inline void NAMED(add_lines)(size_t count, const ELEMENT *a, size_t step, size_t columns,
                                    const REAL *x, bool begin, REAL *restrict sums)
{
    const size_t lanes = NAMED(LANES), whole = columns - columns % lanes;

    for (size_t c = 0; c < whole; c += lanes) {
        NAMED(vector) pair[2] = {{0}};

        UNROLLED
        for (size_t r = 0; r < count; r++)
            pair[r / 2 % 2] += LOAD(a + r * step + c) * x[r];
        if (!begin)
            pair[0] += NAMED(load)(sums + c);
        *(NAMED(unaligned) *)(sums + c) = pair[0] + pair[1];
    }
    for (size_t c = whole; c < columns; c++) {
        REAL sum = begin ? 0 : sums[c];

        UNROLLED
        for (size_t r = 0; r < count; r++)
            sum += VALUE(a[r * step + c]) * x[r];
        sums[c] = sum;
    }
}

void PUBLIC(matvec_columns)(const void *matrix, size_t step, size_t rows, size_t columns,
                            const void *vector, void *result)
{
    const ELEMENT *a = matrix;
    const REAL *x = vector;
    REAL *sums = result;
    size_t r = 0;

#ifdef SPREAD
    if (step == columns && columns <= NAMED(FLAT_COLUMNS)) {
        memset(sums, 0, columns * sizeof(REAL));
        r = NAMED(flat_columns)(a, rows, columns, x, sums);
    } else
#endif
    {
        const size_t first = rows % ROWS;

        if (first == 0)
            memset(sums, 0, columns * sizeof(REAL));
        else if (first == 1)
            NAMED(add_lines)(1, a, step, columns, x, true, sums);
        else if (first == 2)
            NAMED(add_lines)(2, a, step, columns, x, true, sums);
        else
            NAMED(add_lines)(3, a, step, columns, x, true, sums);
        r = first;
    }
    for (; r + ROWS <= rows; r += ROWS)
        NAMED(add_lines)(ROWS, a + r * step, step, columns, x + r, false, sums);
    for (; r < rows; r++)
        NAMED(add_lines)(1, a + r * step, step, columns, x + r, false, sums);
}

#ifdef SUMS
void PUBLIC(matvec_put)(const void *sums, size_t parts, size_t n, double alpha, double beta,
                        void *y)
{
    const REAL *part = sums, scale = (REAL)alpha, old = (REAL)beta;
    REAL *out = y;

    for (size_t r = 0; r < n; r++) {
        REAL sum = part[r];

        for (size_t p = 1; p < parts; p++)
            sum += part[p * n + r];
        out[r] = old == 0 ? scale * sum : scale * sum + old * out[r];
    }
}
#endif
