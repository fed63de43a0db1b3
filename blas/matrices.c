#include "blas/matrices.h"

#include <stdlib.h>
#include <string.h>

#include "blas/parallel.h"

/* Loops are compiled for each type: the flags of `element` are constants in them.  Tiles keep the
 * lines of a matrix that is read across its lines in the cache. */
#define SPECIALIZED static inline __attribute__((always_inline))

enum { TILE = 16 };

element element_of(char type)
{
    const element e = {type == 'd' || type == 'z', type == 'c' || type == 'z',
                       type == 's'   ? sizeof(float)
                       : type == 'z' ? 2 * sizeof(double)
                                     : sizeof(double)};

    return e;
}

matrix matrix_block(element type, matrix m, int64_t i, int64_t j)
{
    if (m.op == 'N')
        m.at += (i + j * m.ld) * (int64_t)type.size;
    else
        m.at += (j + i * m.ld) * (int64_t)type.size;
    return m;
}

matrix matrix_transposed(matrix m, bool conjugated)
{
    m.op = m.op != 'N' ? 'N' : conjugated ? 'C' : 'T';
    return m;
}

/* What is given back, with its bytes before it: as many as a call has at a time, and so much memory
 * at most.  AddressSanitizer sees no overrun of a block that is longer than was asked for, nor the
 * use of one that was given back: under it nothing is kept. */
enum { KEPT = 3 };
#define KEPT_BYTES ((size_t)256 << 20)
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define KEEPS 0
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(KEEPS)
#define KEEPS 0
#endif
#ifndef KEEPS
#define KEEPS 1
#endif

/* Of 64 bytes: what follows is aligned as malloc's blocks are. */
typedef union header {
    size_t bytes;
    char line[64];
} header;

static header *kept[KEPT]; /* the one that was given back last is the first */
static size_t kept_bytes;

/* NULL: none of those is of so many bytes, or of up to twice as many. */
static header *take_kept(size_t bytes)
{
    for (size_t i = 0; i < KEPT && kept[i]; i++) {
        header *h = kept[i];

        if (h->bytes < bytes || h->bytes / 2 > bytes)
            continue;
        memmove(&kept[i], &kept[i + 1], (KEPT - 1 - i) * sizeof *kept);
        kept[KEPT - 1] = NULL;
        kept_bytes -= h->bytes;
        return h;
    }
    return NULL;
}

static void drop_oldest(void)
{
    size_t last = KEPT - 1;

    while (last > 0 && !kept[last])
        last--;
    if (!kept[last])
        return;
    kept_bytes -= kept[last]->bytes;
    free(kept[last]);
    kept[last] = NULL;
}

matrix matrix_alloc(element type, int64_t rows, int64_t columns)
{
    matrix m = {NULL, rows, 'N'};
    size_t bytes;
    header *h;

    if (__builtin_mul_overflow((size_t)rows, (size_t)columns, &bytes) ||
        __builtin_mul_overflow(bytes, type.size, &bytes) || bytes > SIZE_MAX - sizeof *h)
        return m;
    h = take_kept(bytes);
    if (!h) {
        while (!(h = malloc(sizeof *h + bytes)) && kept[0])
            drop_oldest();
        if (!h)
            return m;
        h->bytes = bytes;
    }
    m.at = (char *)(h + 1);
    return m;
}

void matrix_free(matrix m)
{
    header *h;

    if (!m.at)
        return;
    h = (header *)(void *)m.at - 1;
    if (!KEEPS || h->bytes > KEPT_BYTES) {
        free(h);
        return;
    }
    while (kept[KEPT - 1] || kept_bytes + h->bytes > KEPT_BYTES)
        drop_oldest();
    memmove(&kept[1], &kept[0], (KEPT - 1) * sizeof *kept);
    kept[0] = h;
    kept_bytes += h->bytes;
}

SPECIALIZED blas_number load(bool f64, bool complex, const char *at)
{
    double d[2] = {0, 0};
    float f[2] = {0, 0};

    if (f64) {
        memcpy(d, at, (complex ? 2 : 1) * sizeof(double));
        return (blas_number){d[0], d[1]};
    }
    memcpy(f, at, (complex ? 2 : 1) * sizeof(float));
    return (blas_number){f[0], f[1]};
}

SPECIALIZED void store(bool f64, bool complex, char *at, blas_number value)
{
    const double d[2] = {value.re, value.im};
    const float f[2] = {(float)value.re, (float)value.im};

    if (f64)
        memcpy(at, d, (complex ? 2 : 1) * sizeof(double));
    else
        memcpy(at, f, (complex ? 2 : 1) * sizeof(float));
}

SPECIALIZED blas_number times(blas_number a, blas_number b)
{
    return (blas_number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

SPECIALIZED size_t bytes_of(bool f64, bool complex)
{
    return (f64 ? sizeof(double) : sizeof(float)) * (complex ? 2 : 1);
}

/* Where element (i, j) of op(M) is. */
SPECIALIZED char *place(bool f64, bool complex, matrix m, int64_t i, int64_t j)
{
    const int64_t size = (int64_t)bytes_of(f64, complex);

    return m.at + (m.op == 'N' ? i + j * m.ld : j + i * m.ld) * size;
}

SPECIALIZED int64_t end_of_tile(int64_t start, int64_t limit)
{
    return limit - start < TILE ? limit : start + TILE;
}

/* A copy, of which threads do some columns each. */
typedef struct copy {
    element type;
    int64_t rows, order;
    blas_number factor;
    matrix from, to;
    bool upper, hermitian;
} copy;

SPECIALIZED void copy_as(bool f64, bool complex, const copy *c, int64_t first, int64_t last)
{
    const matrix from = c->from, to = c->to;

    for (int64_t j0 = first; j0 < last; j0 += TILE) {
        for (int64_t i0 = 0; i0 < c->rows; i0 += TILE) {
            for (int64_t j = j0; j < end_of_tile(j0, last); j++) {
                for (int64_t i = i0; i < end_of_tile(i0, c->rows); i++) {
                    blas_number x = load(f64, complex, place(f64, complex, from, i, j));

                    if (from.op == 'C')
                        x.im = -x.im;
                    store(f64, complex, place(f64, complex, to, i, j), x);
                }
            }
        }
    }
}

static void copy_columns(void *context, int64_t first, int64_t last)
{
    const copy *c = context;

    if (c->from.op == 'N' && c->to.op == 'N') {
        for (int64_t j = first; j < last; j++) {
            memcpy(matrix_block(c->type, c->to, 0, j).at, matrix_block(c->type, c->from, 0, j).at,
                   (size_t)c->rows * c->type.size);
        }
    } else if (c->type.f64) {
        if (c->type.complex)
            copy_as(true, true, c, first, last);
        else
            copy_as(true, false, c, first, last);
    } else {
        if (c->type.complex)
            copy_as(false, true, c, first, last);
        else
            copy_as(false, false, c, first, last);
    }
}

/* Bytes of so many elements, read and written. */
static double copied_bytes(element type, int64_t rows, int64_t columns)
{
    return 2 * (double)rows * (double)columns * (double)type.size;
}

void matrix_copy(element type, int64_t rows, int64_t columns, matrix from, matrix to)
{
    copy c = {.type = type, .rows = rows, .from = from, .to = to};

    parallel_do(columns, TILE, copied_bytes(type, rows, columns), copy_columns, &c);
}

SPECIALIZED void copy_as_real(bool f64, const copy *c, int64_t first, int64_t last)
{
    const matrix from = c->from, to = c->to;
    const bool scaled = c->factor.re != 1 || c->factor.im != 0;
    const int64_t real = (int64_t)bytes_of(f64, false);

    for (int64_t j0 = first; j0 < last; j0 += TILE) {
        for (int64_t i0 = 0; i0 < c->rows; i0 += TILE) {
            for (int64_t j = j0; j < end_of_tile(j0, last); j++) {
                for (int64_t i = i0; i < end_of_tile(i0, c->rows); i++) {
                    blas_number x = load(f64, true, place(f64, true, from, i, j));
                    char *out = to.at + (2 * i + 2 * j * to.ld) * real;

                    if (from.op == 'C')
                        x.im = -x.im;
                    if (scaled)
                        x = times(c->factor, x);
                    store(f64, true, out, x);
                    store(f64, true, out + to.ld * real, (blas_number){-x.im, x.re});
                }
            }
        }
    }
}

static void copy_columns_as_real(void *context, int64_t first, int64_t last)
{
    const copy *c = context;

    if (c->type.f64)
        copy_as_real(true, c, first, last);
    else
        copy_as_real(false, c, first, last);
}

void matrix_copy_as_real(element type, int64_t rows, int64_t columns, blas_number alpha,
                         matrix from, matrix to)
{
    copy c = {.type = type, .rows = rows, .factor = alpha, .from = from, .to = to};

    parallel_do(columns, TILE, copied_bytes(type, rows, columns), copy_columns_as_real, &c);
}

void matrix_scale(element type, int64_t rows, int64_t columns, blas_number beta, matrix m)
{
    for (int64_t j = 0; j < columns; j++) {
        for (int64_t i = 0; i < rows; i++) {
            char *at = matrix_block(type, m, i, j).at;

            store(type.f64, type.complex, at, times(beta, load(type.f64, type.complex, at)));
        }
    }
}

SPECIALIZED void mirror_as(bool f64, bool complex, const copy *c, int64_t first, int64_t last)
{
    const bool upper = c->upper, hermitian = c->hermitian;
    const int64_t order = c->order;

    for (int64_t j0 = first; j0 < last; j0 += TILE) {
        for (int64_t i0 = upper ? 0 : j0; i0 < (upper ? j0 + 1 : order); i0 += TILE) {
            for (int64_t j = j0; j < end_of_tile(j0, last); j++) {
                for (int64_t i = i0; i < end_of_tile(i0, order); i++) {
                    blas_number x;

                    if (upper ? i > j : i < j)
                        continue;
                    x = load(f64, complex, place(f64, complex, c->from, i, j));
                    if (hermitian && i == j)
                        x.im = 0; /* what is stored there is not read */
                    store(f64, complex, place(f64, complex, c->to, i, j), x);
                    if (hermitian)
                        x.im = -x.im;
                    if (i != j)
                        store(f64, complex, place(f64, complex, c->to, j, i), x);
                }
            }
        }
    }
}

static void mirror_columns(void *context, int64_t first, int64_t last)
{
    const copy *c = context;

    if (c->type.f64) {
        if (c->type.complex)
            mirror_as(true, true, c, first, last);
        else
            mirror_as(true, false, c, first, last);
    } else {
        if (c->type.complex)
            mirror_as(false, true, c, first, last);
        else
            mirror_as(false, false, c, first, last);
    }
}

void matrix_copy_mirrored(element type, int64_t order, bool upper, bool hermitian, matrix from,
                          matrix to)
{
    copy c = {.type = type,
              .order = order,
              .from = from,
              .to = to,
              .upper = upper,
              .hermitian = hermitian};

    parallel_do(order, TILE, copied_bytes(type, order, order), mirror_columns, &c);
}

/* What is added to a triangle. */
typedef struct sum {
    element type;
    int64_t order;
    bool upper, twice, hermitian;
    blas_number beta;
    matrix s, c;
} sum;

SPECIALIZED void add_element(bool f64, bool complex, const sum *t, int64_t i, int64_t j)
{
    char *at = place(f64, complex, t->c, i, j);
    blas_number x = load(f64, complex, place(f64, complex, t->s, i, j));
    const bool real = t->hermitian && i == j; /* the imaginary part stored there is not read */

    if (t->twice) {
        const blas_number y = load(f64, complex, place(f64, complex, t->s, j, i));

        x.re += y.re;
        x.im += t->hermitian ? -y.im : y.im;
    }
    if (t->beta.re != 0 || t->beta.im != 0) {
        blas_number y = load(f64, complex, at);

        if (real)
            y.im = 0;
        y = t->beta.im == 0 ? (blas_number){t->beta.re * y.re, t->beta.re * y.im}
                            : times(t->beta, y);
        x.re += y.re;
        x.im += y.im;
    }
    if (real)
        x.im = 0;
    store(f64, complex, at, x);
}

/* By tiles, since S is read across its columns too. */
SPECIALIZED void add_as(bool f64, bool complex, const sum *t, int64_t first, int64_t last)
{
    for (int64_t j0 = first; j0 < last; j0 += TILE) {
        const int64_t begin = t->upper ? 0 : j0;
        const int64_t end = t->upper ? end_of_tile(j0, last) : t->order;

        for (int64_t i0 = begin; i0 < end; i0 += TILE) {
            for (int64_t j = j0; j < end_of_tile(j0, last); j++) {
                const int64_t stop = end_of_tile(i0, end);
                const int64_t from = !t->upper && i0 < j ? j : i0;
                const int64_t to = t->upper && stop > j + 1 ? j + 1 : stop;

                for (int64_t i = from; i < to; i++)
                    add_element(f64, complex, t, i, j);
            }
        }
    }
}

static void add_columns(void *context, int64_t first, int64_t last)
{
    const sum *t = context;

    if (t->type.f64) {
        if (t->type.complex)
            add_as(true, true, t, first, last);
        else
            add_as(true, false, t, first, last);
    } else {
        if (t->type.complex)
            add_as(false, true, t, first, last);
        else
            add_as(false, false, t, first, last);
    }
}

void matrix_add_triangle(element type, int64_t order, bool upper, bool twice, bool hermitian,
                         matrix s, blas_number beta, matrix c)
{
    sum t = {type, order, upper, twice, hermitian, beta, s, c};

    parallel_do(order, TILE, copied_bytes(type, order, order), add_columns, &t);
}
