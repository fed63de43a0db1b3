/* The loops of matmul_simd_loops.c for one element type: ELEMENT of A and B, REAL of copies and
 * sums, RESULT of C, alpha and beta; RESULT_OF(sum) and RESULTS_OF(vector of sums); NAMED(name)
 * with the type's suffix, PUBLIC(name) with that and the instruction set's; ROUND(x), which keeps x
 * from being fused with a sum; FEW, whether
 * a factor of few lines is multiplied where it is.  All are undefined at the end. */

#include "base/vector_body.h"

typedef RESULT NAMED(unaligned) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(RESULT))));

enum {
    NAMED(TILE_N) = 2 * NAMED(LANES),
    NAMED(BLOCK_N) = SLAB_BYTES / sizeof(REAL),
    NAMED(BLOCK_M) = BLOCK_BYTES / sizeof(REAL) * TILE_M
};

#ifdef FEW
/* How many lines are few: where elements of k are side by side, where they are apart, and where
 * sums are in the order of tiles. */
enum {
    NAMED(FEW_ALONG) = NAMED(TILE_N) * FEW_ALONG_4THS / 4,
    NAMED(FEW_APART) = NAMED(TILE_N) * FEW_APART_4THS / 4,
    NAMED(FEW_TURNED) = NAMED(TILE_N) * FEW_TURNED_4THS / 4
};
#endif

const matmul_tiling PUBLIC(matmul_tiling) = {
    .tile_m = TILE_M,
    .tile_n = NAMED(TILE_N),
    .block_m = NAMED(BLOCK_M),
    .block_n = NAMED(BLOCK_N),
    .block_k = BLOCK_K,
#ifdef FEW
    .few_along = NAMED(FEW_ALONG),
    .few_apart = NAMED(FEW_APART),
    .few_turned = NAMED(FEW_TURNED),
#endif
};

#ifdef FEW
_Static_assert(FEW_K <= 2 * BLOCK_K && FEW_ALONG_4THS <= 4 && FEW_TURNED_4THS <= 4,
               "a copy of few lines has the place of that of a slab");
#endif

/* A part of a factor: `count` lines of k elements, of which (i, p) is at from[i * line + p * step],
 * twice that for complex ones. */
typedef struct NAMED(lines) {
    const ELEMENT *from;
    size_t line, step, count, k;
    bool conjugate;
} NAMED(lines);

#if defined(TRANSPOSED) || defined(FEW)
/* v[q]: element q of each of a vector of lines, `lines` of them, of k elements side by side.  A
 * square is turned in registers, which takes a third of the time. */
static inline __attribute__((always_inline)) void
NAMED(turn)(const ELEMENT *from, size_t line, size_t lines, size_t k, NAMED(vector) v[])
{
    enum { L = NAMED(LANES) };

#ifdef TRANSPOSED
    UNROLLED
    for (size_t l = 0; l < L; l++)
        v[l] = l < lines ? LOAD_SOME(from + l * line, k) : (NAMED(vector)){0};
    UNROLLED
    for (size_t half = 1; half < L; half *= 2)
        UNROLLED
    for (size_t i = 0; i < L; i++)
        if (!(i & half)) {
            const NAMED(vector) upper = v[i], lower = v[i + half];

            v[i] = TRANSPOSED(upper, lower, half, 0);
            v[i + half] = TRANSPOSED(upper, lower, half, half);
        }
#else
    for (size_t q = 0; q < k; q++)
        for (size_t l = 0; l < L; l++)
            v[q][l] = l < lines ? from[l * line + q] : 0;
#endif
}
#endif

#ifdef TRANSPOSED
/* A panel of copy_panels() from lines whose elements of one k are apart. */
static inline void NAMED(turn_panel)(NAMED(lines) x, size_t width, REAL *to)
{
    enum { L = NAMED(LANES) };

    for (size_t l0 = 0; l0 < width; l0 += L) {
        const size_t lines = x.count > l0 ? size_min(L, x.count - l0) : 0;
        const size_t lanes = size_min(L, width - l0);
        const ELEMENT *first = x.from + l0 * x.line;

        for (size_t p = 0; p < x.k; p += L) {
            const size_t k = size_min(L, x.k - p);
            NAMED(vector) v[L];

            NAMED(turn)(first + p, x.line, lines, k, v);
            UNROLLED
            for (size_t q = 0; q < L; q++)
                if (q < k)
                    STORE_SOME(to + (p + q) * width + l0, lanes, v[q]);
        }
    }
}
#endif

/* Copy lines into panels of `width` of them. */
static inline void NAMED(copy_panels)(NAMED(lines) x, size_t width, REAL *to)
{
    const size_t line = x.line, step = x.step, k = x.k;

    for (size_t i = 0; i < x.count; i += width, to += width * k) {
        const size_t lines = size_min(width, x.count - i);
        const ELEMENT *first = x.from + i * line;

#ifdef TRANSPOSED
        if (line != 1) {
            NAMED(turn_panel)((NAMED(lines)){first, line, step, lines, k, false}, width, to);
            continue;
        }
#endif
        if (lines < width)
            memset(to, 0, width * k * sizeof(REAL));
        if (line == 1 && lines == width)
            for (size_t p = 0; p < k; p++)
                for (size_t l = 0; l < width; l++)
                    to[p * width + l] = (REAL)first[p * step + l];
        else if (line == 1)
            for (size_t p = 0; p < k; p++)
                for (size_t l = 0; l < lines; l++)
                    to[p * width + l] = (REAL)first[p * step + l];
        else
            for (size_t l = 0; l < lines; l++)
                for (size_t p = 0; p < k; p++)
                    to[p * width + l] = (REAL)first[l * line + p * step];
    }
}

/*
 * A complex product as a real one of twice the columns and twice the k:
 *
 *     (re im) of A's element times ( re im) of B's.
 *                                  (-im re)
 *
 * C's elements then come as they are stored, the imaginary part beside the real one, and all four
 * products are in the sums.  Copy the left factor in panels of TILE_M lines, the imaginary part
 * under the real one.
 */
static inline void NAMED(copy_left)(NAMED(lines) x, REAL *to)
{
    const size_t line = x.line, step = x.step, k = x.k;
    const REAL sign = x.conjugate ? -1 : 1;

    for (size_t i = 0; i < x.count; i += TILE_M, to += 2 * TILE_M * k) {
        const size_t lines = size_min(TILE_M, x.count - i);
        const ELEMENT *first = x.from + 2 * i * line;

        if (lines < TILE_M)
            memset(to, 0, 2 * TILE_M * k * sizeof(REAL));
        for (size_t l = 0; l < lines; l++)
            for (size_t p = 0; p < k; p++) {
                to[2 * p * TILE_M + l] = (REAL)first[2 * (l * line + p * step)];
                to[(2 * p + 1) * TILE_M + l] = sign * (REAL)first[2 * (l * line + p * step) + 1];
            }
    }
}

/* Copy the right factor, whose lines are columns, in panels of TILE_N numbers. */
static inline void NAMED(copy_right)(NAMED(lines) x, REAL *to)
{
    enum { COLUMNS = NAMED(TILE_N) / 2 };
    const size_t column = x.line, step = x.step, k = x.k;
    const REAL sign = x.conjugate ? -1 : 1;

    for (size_t j = 0; j < x.count; j += COLUMNS, to += 2 * NAMED(TILE_N) * k) {
        const size_t columns = size_min(COLUMNS, x.count - j);
        const ELEMENT *first = x.from + 2 * j * column;

        if (columns < COLUMNS)
            memset(to, 0, 2 * NAMED(TILE_N) * k * sizeof(REAL));
        for (size_t p = 0; p < k; p++) {
            REAL *upper = to + 2 * p * NAMED(TILE_N), *lower = upper + NAMED(TILE_N);

            for (size_t l = 0; l < columns; l++) {
                const ELEMENT *b = first + 2 * (p * step + l * column);

                upper[2 * l] = b[0];
                upper[2 * l + 1] = sign * b[1];
                lower[2 * l] = -sign * b[1];
                lower[2 * l + 1] = b[0];
            }
        }
    }
}

/* How a tile's sums go into C. */
typedef struct NAMED(update) {
    RESULT alpha, beta;
    RESULT alpha_im, beta_im;
    size_t ldc; /* in numbers */
} NAMED(update);

static inline RESULT NAMED(updated)(const NAMED(update) * u, REAL sum, const RESULT *c)
{
    RESULT term = u->alpha * RESULT_OF(sum);

    ROUND(term);
    return u->beta == 0 ? term : term + u->beta * *c;
}

/* The same of two numbers, where alpha or beta is complex. */
static inline void NAMED(update_pair)(const NAMED(update) * u, const REAL sum[2], RESULT c[2])
{
    RESULT re = u->alpha * RESULT_OF(sum[0]), im = u->alpha * RESULT_OF(sum[1]);

    if (u->alpha_im != 0) {
        re -= u->alpha_im * RESULT_OF(sum[1]);
        im += u->alpha_im * RESULT_OF(sum[0]);
    }
    if (u->beta_im != 0) {
        re += u->beta * c[0] - u->beta_im * c[1];
        im += u->beta * c[1] + u->beta_im * c[0];
    } else if (u->beta != 0) {
        re += u->beta * c[0];
        im += u->beta * c[1];
    }
    c[0] = re;
    c[1] = im;
}

/* A tile of C, rows x columns of TILE_M x TILE_N, from a panel of A and one of B. */
static void NAMED(tile)(size_t k, const REAL *a, const REAL *b, size_t rows, size_t columns,
                        const NAMED(update) * u, RESULT *c)
{
    NAMED(vector) left[TILE_M] = {{0}}, right[TILE_M] = {{0}};

    /* Rows of C are often a page each, and no processor foresees the next one. */
    for (size_t i = 0; i < rows; i++) {
        __builtin_prefetch(c + i * u->ldc, 1);
        __builtin_prefetch(c + i * u->ldc + columns / 2, 1);
        __builtin_prefetch(c + i * u->ldc + columns - 1, 1);
    }
    for (size_t p = 0; p < k; p++, a += TILE_M, b += NAMED(TILE_N)) {
        const NAMED(vector) b0 = *(const NAMED(vector) *)b;
        const NAMED(vector) b1 = *(const NAMED(vector) *)(b + NAMED(LANES));

        UNROLLED
        for (size_t at = 0; at < 2 * VECTOR_BYTES; at += CACHE_LINE)
            __builtin_prefetch((const char *)b + AHEAD_BYTES + at);
        UNROLLED
        for (size_t at = 0; at < TILE_M * sizeof(REAL); at += CACHE_LINE)
            __builtin_prefetch((const char *)a + AHEAD_BYTES + at);
        UNROLLED
        for (size_t i = 0; i < TILE_M; i++) {
            left[i] += a[i] * b0;
            right[i] += a[i] * b1;
        }
    }
    if (rows == TILE_M && columns == NAMED(TILE_N) && u->alpha_im == 0 && u->beta_im == 0) {
        UNROLLED
        for (size_t i = 0; i < TILE_M; i++) {
            NAMED(unaligned) *to = (NAMED(unaligned) *)(c + i * u->ldc);

            NAMED(unaligned) l = u->alpha * RESULTS_OF(left[i]);
            NAMED(unaligned) r = u->alpha * RESULTS_OF(right[i]);

            ROUND(l);
            ROUND(r);
            to[0] = u->beta == 0 ? l : l + u->beta * to[0];
            to[1] = u->beta == 0 ? r : r + u->beta * to[1];
        }
    } else {
        NAMED(vector) sum[TILE_M][2];

        UNROLLED
        for (size_t i = 0; i < TILE_M; i++) {
            sum[i][0] = left[i];
            sum[i][1] = right[i];
        }
        if (u->alpha_im != 0 || u->beta_im != 0) {
            for (size_t i = 0; i < rows; i++)
                for (size_t j = 0; j < columns; j += 2)
                    NAMED(update_pair)(u, (const REAL *)sum[i] + j, &c[i * u->ldc + j]);
            return;
        }
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < columns; j++)
                c[i * u->ldc + j] =
                    NAMED(updated)(u, ((const REAL *)sum[i])[j], &c[i * u->ldc + j]);
    }
}

/* Without a sum: C := beta C. */
static void NAMED(scale)(const matmul_share *s)
{
    const NAMED(update) u = {0, SCALE(s->beta), 0, SCALE(s->beta_im), s->ldc * s->parts};
    static const REAL none[2];
    RESULT *c = s->c;

    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < s->n * s->parts; j += s->parts)
            if (u.beta_im != 0)
                NAMED(update_pair)(&u, none, &c[i * u.ldc + j]);
            else
                for (size_t part = j; part < j + s->parts; part++)
                    c[i * u.ldc + part] = u.beta == 0 ? 0 : u.beta * c[i * u.ldc + part];
}

#ifdef FEW
/* A product of which one factor has a few lines, and the other many, which are read where they
 * are: a tile would have most of its sums for nothing.  Sum (i, j) of many lines and few ones goes
 * to c[i * c_many + j * c_few]. */
typedef struct NAMED(few) {
    NAMED(lines) many, few;
    RESULT *c;
    size_t c_many, c_few;
    NAMED(update) update;
} NAMED(few);

/* The first elements of a vector, and zeros. */
static inline NAMED(vector) NAMED(load_part)(const REAL *at, size_t n)
{
#if ISA == 2
    return LOAD_SOME(at, n);
#else
    NAMED(vector) v = {0};

    for (size_t l = 0; l < n; l++)
        v[l] = at[l];
    return v;
#endif
}

/* `rows` lines and `columns` few ones from the numbers i and j on, both constants at every call, of
 * k elements side by side. */
static inline __attribute__((always_inline)) void NAMED(dots)(const NAMED(few) * x, size_t columns,
                                                              size_t i, size_t j, size_t rows)
{
    const size_t lanes = NAMED(LANES), k = x->many.k, whole = k - k % lanes;
    const REAL *a = x->many.from + i * x->many.line, *b = x->few.from + j * x->few.line;
    NAMED(vector) sum[FEW_ROWS][FEW_COLUMNS] = {{{0}}};

    for (size_t p = 0; p < whole; p += lanes) {
        NAMED(vector) of_b[FEW_COLUMNS];

        UNROLLED
        for (size_t c = 0; c < columns; c++)
            of_b[c] = *(const NAMED(unaligned) *)(b + c * x->few.line + p);
        UNROLLED
        for (size_t r = 0; r < rows; r++) {
            const NAMED(vector) of_a = *(const NAMED(unaligned) *)(a + r * x->many.line + p);

            UNROLLED
            for (size_t c = 0; c < columns; c++)
                sum[r][c] += of_a * of_b[c];
        }
    }
    if (whole < k) {
        UNROLLED
        for (size_t r = 0; r < rows; r++) {
            const NAMED(vector) of_a = NAMED(load_part)(a + r * x->many.line + whole, k - whole);

            UNROLLED
            for (size_t c = 0; c < columns; c++)
                sum[r][c] += of_a * NAMED(load_part)(b + c * x->few.line + whole, k - whole);
        }
    }
    UNROLLED
    for (size_t r = 0; r < rows; r++)
        UNROLLED
    for (size_t c = 0; c < columns; c++) {
        RESULT *to = x->c + (i + r) * x->c_many + (j + c) * x->c_few;

        *to = NAMED(updated)(&x->update, NAMED(total)(sum[r][c]), to);
    }
}

/* Lines of both factors whose elements of k are side by side. */
static void NAMED(few_dots)(const NAMED(few) * x)
{
    const size_t count = x->few.count, groups = size_div_up(count, FEW_COLUMNS);
    size_t i = 0;

    for (; i + FEW_ROWS <= x->many.count; i += FEW_ROWS)
        for (size_t g = 0; g < groups; g++) {
            const size_t j = count * g / groups, columns = count * (g + 1) / groups - j;

            OF_WIDTH(columns, NAMED(dots), x, i, j, FEW_ROWS);
        }
    for (; i < x->many.count; i++)
        for (size_t j = 0; j < count; j++)
            NAMED(dots)(x, 1, i, j, 1);
}

/* The sums of `count` lines from the number i on and a few one. */
static inline void NAMED(put_few)(const NAMED(few) * x, size_t i, size_t j, const REAL *sum,
                                  size_t count)
{
    RESULT *to = x->c + i * x->c_many + j * x->c_few;

    if (x->c_many == 1)
        for (size_t l = 0; l < count; l++)
            to[l] = NAMED(updated)(&x->update, sum[l], to + l);
    else
        for (size_t l = 0; l < count; l++, to += x->c_many)
            *to = NAMED(updated)(&x->update, sum[l], to);
}

/* `vectors` of lines from the number i on and `columns` few ones, of k elements apart; of the last
 * vector `lines`. */
static inline __attribute__((always_inline)) void
NAMED(sums)(const NAMED(few) * x, size_t columns, size_t i, size_t j, size_t vectors, size_t lines)
{
    const size_t lanes = NAMED(LANES);
    const REAL *a = x->many.from + i, *b = x->few.from + j * x->few.line;
    NAMED(vector) sum[FEW_COLUMNS][FEW_ROWS] = {{{0}}};

    for (size_t p = 0; p < x->many.k; p++, a += x->many.step, b += x->few.step) {
        NAMED(vector) of_a[FEW_ROWS];

        if (columns > 1) {
            /* The vectors behind these, which are read next: no processor foresees the stride. */
            UNROLLED
            for (size_t at = 0; at < vectors * VECTOR_BYTES; at += CACHE_LINE)
                __builtin_prefetch((const char *)(a + vectors * lanes) + at);
        }
        UNROLLED
        for (size_t v = 0; v < vectors; v++)
            of_a[v] = lines < lanes ? NAMED(load_part)(a + v * lanes, lines)
                                    : (NAMED(vector)) * (const NAMED(unaligned) *)(a + v * lanes);
        UNROLLED
        for (size_t c = 0; c < columns; c++)
            UNROLLED
        for (size_t v = 0; v < vectors; v++)
            sum[c][v] += b[c * x->few.line] * of_a[v];
    }
    for (size_t c = 0; c < columns; c++)
        NAMED(put_few)(x, i, j + c, (const REAL *)sum[c], (vectors - 1) * lanes + lines);
}

/* So many vectors of lines from the number i on, a constant at every call; of the last one `lines`.
 * The few ones come in groups of about one size, up to FEW_COLUMNS. */
static inline __attribute__((always_inline)) void NAMED(few_vectors)(const NAMED(few) * x, size_t i,
                                                                     size_t vectors, size_t lines)
{
    const size_t count = x->few.count, groups = size_div_up(count, FEW_COLUMNS);

    for (size_t g = 0; g < groups; g++) {
        const size_t j = count * g / groups, columns = count * (g + 1) / groups - j;

        OF_WIDTH(columns, NAMED(sums), x, i, j, vectors, lines);
    }
}

/* Many lines side by side, of which the elements of k are apart. */
static void NAMED(few_sums)(const NAMED(few) * x)
{
    const size_t lanes = NAMED(LANES), count = x->many.count;
    size_t i = 0;

    for (; i + FEW_ROWS * lanes <= count; i += FEW_ROWS * lanes)
        NAMED(few_vectors)(x, i, FEW_ROWS, lanes);
    for (; i + 2 * lanes <= count; i += 2 * lanes)
        NAMED(few_vectors)(x, i, 2, lanes);
    for (; i < count; i += lanes)
        NAMED(few_vectors)(x, i, 1, size_min(lanes, count - i));
}

/* A vector of lines from the number i on, `lines` of them, and all few ones, `most` at most, of k
 * elements side by side in both.  Squares are turned, so that sums are those of a tile to the last
 * bit. */
static inline __attribute__((always_inline)) void NAMED(turned_sums)(const NAMED(few) * x, size_t i,
                                                                     size_t lines, size_t most)
{
    enum { L = NAMED(LANES) };
    const size_t k = x->many.k;
    const REAL *a = x->many.from + i * x->many.line, *b[NAMED(FEW_TURNED)];
    NAMED(vector) sum[NAMED(FEW_TURNED)] = {{0}}, v[L];
    size_t p = 0;

    for (size_t c = 0; c < most; c++)
        b[c] = x->few.from + size_min(c, x->few.count - 1) * x->few.line;
    for (; p + L <= k; p += L) {
        if (lines == L)
            NAMED(turn)(a + p, x->many.line, L, L, v);
        else
            NAMED(turn)(a + p, x->many.line, lines, L, v);
        UNROLLED
        for (size_t q = 0; q < L; q++)
            UNROLLED
        for (size_t c = 0; c < most; c++)
            sum[c] += b[c][p + q] * v[q];
    }
    if (p < k) {
        NAMED(turn)(a + p, x->many.line, lines, k - p, v);
        for (size_t q = 0; q < k - p; q++)
            UNROLLED
        for (size_t c = 0; c < most; c++)
            sum[c] += b[c][p + q] * v[q];
    }
    for (size_t c = 0; c < x->few.count; c++)
        NAMED(put_few)(x, i, c, (const REAL *)&sum[c], lines);
}

/* Many lines whose elements of k are side by side, as those of the few ones are. */
static void NAMED(few_turned)(const NAMED(few) * x)
{
    for (size_t i = 0; i < x->many.count; i += NAMED(LANES)) {
        const size_t lines = size_min(NAMED(LANES), x->many.count - i);

        if (x->few.count > 8)
            NAMED(turned_sums)(x, i, lines, NAMED(FEW_TURNED));
        else if (x->few.count > 4)
            NAMED(turned_sums)(x, i, lines, size_min(8, NAMED(FEW_TURNED)));
        else if (x->few.count > 2)
            NAMED(turned_sums)(x, i, lines, size_min(4, NAMED(FEW_TURNED)));
        else
            NAMED(turned_sums)(x, i, lines, size_min(2, NAMED(FEW_TURNED)));
    }
}

/* A product of few rows, or of few columns. */
static void NAMED(multiply_few)(const matmul_share *s, bool few_rows)
{
    const NAMED(lines) a = {s->a, s->a_row, s->a_column, s->m, s->k, false};
    const NAMED(lines) b = {s->b, s->b_column, s->b_row, s->n, s->k, false};
    NAMED(few)
    x = {.many = few_rows ? b : a,
         .few = few_rows ? a : b,
         .c = s->c,
         .c_many = few_rows ? 1 : s->ldc,
         .c_few = few_rows ? s->ldc : 1,
         .update = {.alpha = SCALE(s->alpha), .beta = SCALE(s->beta)}};
    const NAMED(lines) few = x.few, many = x.many;
    const bool dots = many.step == 1 && !s->as_tiles;
    /* A copy of the few lines has the place of that of a slab: long blocks are of half as many. */
    const size_t block = dots && few.count <= NAMED(TILE_N) / 2 ? FEW_K : BLOCK_K;
    REAL *const copy = s->memory;

    for (size_t p0 = 0; p0 < s->k; p0 += block, x.update.beta = 1) {
        const size_t k = size_min(block, s->k - p0);

        x.many.from = many.from + p0 * many.step;
        x.few.from = few.from + p0 * few.step;
        x.many.k = k;
        if (many.step != 1) {
            NAMED(few_sums)(&x);
            continue;
        }
        if (few.step != 1) {
            for (size_t j = 0; j < few.count; j++)
                for (size_t p = 0; p < k; p++)
                    copy[j * k + p] = x.few.from[j * few.line + p * few.step];
            x.few = (NAMED(lines)){copy, k, 1, few.count, k, false};
        }
        if (dots)
            NAMED(few_dots)(&x);
        else
            NAMED(few_turned)(&x);
    }
}
#endif

/* Elements p0 ... p0 + k of rows i0 ... i0 + rows of op(A). */
static void NAMED(copy_a)(const matmul_share *s, size_t i0, size_t rows, size_t p0, size_t k,
                          REAL *to)
{
    const ELEMENT *from = (const ELEMENT *)s->a + (i0 * s->a_row + p0 * s->a_column) * s->parts;
    const NAMED(lines) part = {from, s->a_row, s->a_column, rows, k, s->conj_a};

    if (s->parts == 2)
        NAMED(copy_left)(part, to);
    else
        NAMED(copy_panels)(part, TILE_M, to);
}

/* Elements p0 ... p0 + k of columns j0 ... j0 + columns of op(B). */
static void NAMED(copy_b)(const matmul_share *s, size_t j0, size_t columns, size_t p0, size_t k,
                          REAL *to)
{
    const ELEMENT *from = (const ELEMENT *)s->b + (p0 * s->b_row + j0 * s->b_column) * s->parts;
    const NAMED(lines) part = {from, s->b_column, s->b_row, columns, k, s->conj_b};

    if (s->parts == 2)
        NAMED(copy_right)(part, to);
    else
        NAMED(copy_panels)(part, NAMED(TILE_N), to);
}

/* Below, n and k count numbers, of which an element has `parts`. */
void PUBLIC(matmul_share)(const matmul_share *s)
{
    const size_t parts = s->parts, n = s->n * parts, depth = s->k * parts;
    REAL *const slab_b = s->memory;
    REAL *const block_a = slab_b + matmul_slab_elements(&PUBLIC(matmul_tiling), n, depth);
    NAMED(update)
    u = {.alpha = SCALE(s->alpha), .alpha_im = SCALE(s->alpha_im), .ldc = s->ldc * parts};

    if (s->k == 0)
        NAMED(scale)(s);
#ifdef FEW
    if (s->k && s->few != MATMUL_MANY) {
        NAMED(multiply_few)(s, s->few == MATMUL_FEW_ROWS);
        return;
    }
#endif
    for (size_t j0 = 0; j0 < n; j0 += NAMED(BLOCK_N)) {
        const size_t columns = size_min(NAMED(BLOCK_N), n - j0);

        u.beta = SCALE(s->beta);
        u.beta_im = SCALE(s->beta_im);
        for (size_t p0 = 0; p0 < depth; p0 += BLOCK_K, u.beta = 1, u.beta_im = 0) {
            const size_t k = size_min(BLOCK_K, depth - p0);

            NAMED(copy_b)(s, j0 / parts, columns / parts, p0 / parts, k / parts, slab_b);
            for (size_t i0 = 0; i0 < s->m; i0 += NAMED(BLOCK_M)) {
                const size_t rows = size_min(NAMED(BLOCK_M), s->m - i0);

                NAMED(copy_a)(s, i0, rows, p0 / parts, k / parts, block_a);
                for (size_t j = 0; j < columns; j += NAMED(TILE_N))
                    for (size_t i = 0; i < rows; i += TILE_M)
                        NAMED(tile)
                (k, block_a + i * k, slab_b + j * k, size_min(TILE_M, rows - i),
                 size_min(NAMED(TILE_N), columns - j), &u,
                 (RESULT *)s->c + (i0 + i) * u.ldc + j0 + j);
            }
        }
    }
}

#undef ELEMENT
#undef REAL
#undef RESULT
#undef SCALE
#undef RESULT_OF
#undef RESULTS_OF
#undef ROUND
#undef TRANSPOSED
#undef LOAD_SOME
#undef STORE_SOME
#undef FEW
#undef NAMED
#undef PUBLIC
