#include "ops/matmul/matmul_descriptor.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/random.h"
#include "base/sizes.h"
#include "core/findings.h"
#include "ops/matmul/matmul_shape.h"

enum {
    PARALLEL_MIN = 100000, /* elements that are worth several threads */
    COLUMNS = 64           /* that a thread takes at a time */
};

/* Products above this many multiply-adds are checked by samples and sums. */
static const double verify_work_limit = 0x1p28;
enum { SAMPLES = 4096, SAMPLE_BLOCK = 64, EDGED = 64, SIGN_SIGMAS = 8 };

/* One result to be judged: of a batch, or of one product of it. */
typedef struct judged {
    const tsr_matmul_problem *p;
    const device_facts *device;
    const void *a, *b, *before, *after;
    const float *scale_a, *scale_b; /* NULL where no line has one */
    size_t product, batch; /* number of the product, of so many; 0 of 1 but for one of a batch */
} judged;

/* Product e of a batch; *one holds its problem. */
static judged product_of(const judged *j, size_t e, tsr_matmul_problem *one)
{
    judged x = *j;

    *one = matmul_product(j->p, e);
    x.p = one;
    x.product = e;
    x.batch = matmul_batch(j->p);
    return x;
}

/* An element as it was judged. */
typedef struct judgement {
    const char *part;         /* of a complex number, for the message; else "" */
    double error, got, exact; /* the error in bounds */
} judgement;

static void note_error(const judged *j, size_t i, size_t column, judgement x, verdict *out)
{
    char product[PRODUCT_TEXT_SIZE];

    if (x.error > out->worst)
        out->worst = x.error;
    if (x.error <= 1 || !out->ok)
        return;
    out->ok = false;
    snprintf(out->detail, sizeof(out->detail),
             "%sC(%zu, %zu)%s is %.9g and should be %.9g: %.3g times the bound", x.part, i, column,
             findings_product(j->batch, j->product, product), x.got, x.exact, x.error);
}

/* An element of op(A) or op(B): index i of the array, conjugated or not. */
typedef struct complex_number {
    double re, im;
} complex_number;

static complex_number complex_get(tsr_type type, const void *array, size_t i, bool conjugate)
{
    const tsr_type part = type_part(type);
    const double im = real_get(part, array, 2 * i + 1);

    return (complex_number){real_get(part, array, 2 * i), conjugate ? -im : im};
}

/*
 * An element of a complex product.  Its real part is the sum of re re and -im im, 2 k products, and
 * its imaginary part that of re im and im re: each is judged as a real sum is, or as two where
 * alpha or beta is complex.
 */
static void judge_complex(const judged *j, size_t i, size_t column, verdict *out)
{
    const tsr_matmul_problem *p = j->p;
    const tsr_type part = type_part(p->type);
    const complex_number alpha = {matmul_alpha(p), matmul_alpha_im(p)};
    const complex_number beta = {matmul_beta(p), matmul_beta_im(p)};
    const real_sum none = real_sum_start(part, p->precision, j->device);
    real_sum re = none, im = none;
    complex_number c = {0}, got = complex_get(p->type, j->after, matmul_index_c(p, i, column), 0);

    for (size_t q = 0; q < p->k && matmul_reads_factors(p); q++) {
        const complex_number a = complex_get(p->type, j->a, matmul_index_a(p, i, q), p->conj_a);
        const complex_number b =
            complex_get(p->type, j->b, matmul_index_b(p, q, column), p->conj_b);

        real_sum_add(&re, a.re, b.re);
        real_sum_add(&re, a.im, -b.im);
        real_sum_add(&im, a.re, b.im);
        real_sum_add(&im, a.im, b.re);
    }
    if (matmul_reads_c(p))
        c = complex_get(p->type, j->before, matmul_index_c(p, i, column), false);
    for (int imaginary = 0; imaginary < 2; imaginary++) {
        const real_sum *own = imaginary ? &im : &re, *other = imaginary ? &re : &im;
        const double c_own = imaginary ? c.im : c.re, c_other = imaginary ? c.re : c.im;
        const double is = imaginary ? got.im : got.re, sign = imaginary ? 1 : -1;
        /* A factor without an imaginary part scales by its real one alone. */
        const real_scaled pair[2] = {{own, alpha.re, beta.re, c_own},
                                     {alpha.im != 0 ? other : &none, sign * alpha.im,
                                      sign * beta.im, beta.im != 0 ? c_other : 0}};
        const bool apart = alpha.im == 0 && beta.im == 0;
        const double error =
            apart ? real_judge(own, alpha.re, beta.re, c_own, is) : real_judge_pair(pair, is);
        const double exact =
            (double)(alpha.re * real_sum_value(own) + pair[1].alpha * real_sum_value(other) +
                     beta.re * (long double)c_own + pair[1].beta * (long double)pair[1].c);

        note_error(j, i, column,
                   (judgement){imaginary ? "the imaginary part of " : "the real part of ", error,
                               is, exact},
                   out);
    }
}

/* An element of an int8 product: exact, modulo 2^32. */
static void judge_int8(const judged *j, size_t i, size_t column, verdict *out)
{
    const tsr_matmul_problem *p = j->p;
    const int8_t *a = j->a, *b = j->b;
    const uint32_t *before = j->before, *after = j->after;
    const size_t at = matmul_index_c(p, i, column);
    uint32_t sum = 0;
    char product[PRODUCT_TEXT_SIZE];

    for (size_t q = 0; q < p->k && matmul_reads_factors(p); q++)
        sum += (uint32_t)(a[matmul_index_a(p, i, q)] * b[matmul_index_b(p, q, column)]);
    sum *= (uint32_t)(int32_t)p->alpha;
    if (matmul_reads_c(p))
        sum += (uint32_t)(int32_t)p->beta * before[at];
    if (after[at] == sum)
        return;
    out->worst = INFINITY;
    if (out->ok)
        snprintf(out->detail, sizeof(out->detail), "C(%zu, %zu)%s is %d and should be %d", i,
                 column, findings_product(j->batch, j->product, product), (int32_t)after[at],
                 (int32_t)sum);
    out->ok = false;
}

/* Whether a scale, or their product, may count as 0 on a device that flushes denormals. */
static bool factor_may_vanish(const judged *j, size_t i, size_t column)
{
    const tsr_matmul_problem *p = j->p;
    const float row = j->scale_a ? j->scale_a[p->offset_scale_a + i] : 1;
    const float other = j->scale_b ? j->scale_b[p->offset_scale_b + column] : 1;
    const float factor = matmul_factor(p, j->scale_a, j->scale_b, i, column);

    return !j->device->denormals_f32 && (fabsf(row) < FLT_MIN || fabsf(other) < FLT_MIN ||
                                         fabsf(row * other) < FLT_MIN || fabsf(factor) < FLT_MIN);
}

/* An element whose row or column has a scale: one that is 0 is not passed over, as alpha is. */
static double judge_scaled(const judged *j, size_t i, size_t column, const real_sum *s, double c,
                           double got)
{
    const double factor = matmul_factor(j->p, j->scale_a, j->scale_b, i, column);
    const double beta = matmul_beta(j->p);
    const double error = real_judge_scaled(s, factor, beta, c, got);

    return error > 1 && factor_may_vanish(j, i, column)
               ? fmin(error, real_judge_scaled(s, 0, beta, c, got))
               : error;
}

/* The products that an element is the sum of. */
static void add_products(const judged *j, size_t i, size_t column, real_sum *s)
{
    const tsr_matmul_problem *p = j->p;
    const size_t step_a = matmul_turned_a(p) ? matmul_ld_a(p) : 1;
    const size_t step_b = matmul_turned_b(p) ? 1 : matmul_ld_b(p);

    if (p->type == TSR_F32 &&
        real_sum_add_floats(s, (const float *)j->a + matmul_index_a(p, i, 0), step_a,
                            (const float *)j->b + matmul_index_b(p, 0, column), step_b, p->k))
        return;
    for (size_t q = 0; q < p->k; q++)
        real_sum_add(s, real_get(p->type, j->a, matmul_index_a(p, i, q)),
                     real_get(p->type, j->b, matmul_index_b(p, q, column)));
}

static void judge_element(const judged *j, size_t i, size_t column, verdict *out)
{
    const tsr_matmul_problem *p = j->p;
    const bool scaled = j->scale_a || j->scale_b;
    double alpha = matmul_alpha(p);
    const double beta = matmul_beta(p);
    real_sum s = real_sum_start(p->type, p->precision, j->device);
    const tsr_type type_c = matmul_type_c(p);
    double c = 0, got;

    if (type_is_complex(p->type)) {
        judge_complex(j, i, column, out);
        return;
    }
    if (p->type == TSR_I8) {
        judge_int8(j, i, column, out);
        return;
    }
    s.result = type_c;
    if (alpha != 0 && p->k > 0)
        add_products(j, i, column, &s);
    if (beta != 0)
        c = real_get(type_c, j->before, matmul_index_c(p, i, column));
    got = real_get(type_c, j->after, matmul_index_c(p, i, column));
    if (scaled)
        alpha = matmul_factor(p, j->scale_a, j->scale_b, i, column);
    note_error(j, i, column,
               (judgement){"",
                           scaled ? judge_scaled(j, i, column, &s, c, got)
                                  : real_judge(&s, alpha, beta, c, got),
                           got, (double)(alpha * real_sum_value(&s) + beta * (long double)c)},
               out);
}

/* The elements of C's array that are no elements of C keep their bytes. */
static void judge_gaps(const judged *j, verdict *out)
{
    const matmul_matrix c = matmul_matrix_c(j->p);

    if (view_gaps_kept(&c, j->before, j->after))
        return;
    out->ok = false;
    snprintf(out->detail, sizeof(out->detail), "memory outside C was written");
}

/* Products of elements that a thread judges at a time: a C of few rows has as many pieces as one of
 * many. */
enum { PIECE = 1 << 15 };

/* Elements from `first` to `end` of all rows of all products, row by row. */
static void judge_piece(const judged *j, size_t first, size_t end, verdict *out)
{
    const tsr_matmul_problem *p = j->p;

    while (first < end) {
        const size_t row = first / p->n, last = size_min(end, (row + 1) * p->n);
        tsr_matmul_problem one;
        const judged x = product_of(j, row / p->m, &one);

        for (; first < last; first++)
            judge_element(&x, row % p->m, first % p->n, out);
    }
}

static void judge_all(const judged *j, findings *f)
{
    const tsr_matmul_problem *p = j->p;
    const size_t all = p->m * p->n * matmul_batch(p);
    const size_t piece = PIECE / size_min(p->k + 1, PIECE);
    const long long pieces = (long long)size_div_up(all, piece);

#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) if ((double)all * (double)p->k > 1e5)
#endif
    for (long long i = 0; i < pieces; i++) {
        verdict part = {.ok = true};

        judge_piece(j, (size_t)i * piece, size_min(((size_t)i + 1) * piece, all), &part);
        findings_join(f, &part, (size_t)i);
    }
}

/* Tile edges and corners, from the first row and column and from the last. */
static void judge_edges(const judged *j, verdict *out)
{
    static const size_t edges[] = {0, 1, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128};
    const tsr_matmul_problem *p = j->p;

    for (size_t r = 0; r < ARRAY_COUNT(edges); r++)
        for (size_t s = 0; s < ARRAY_COUNT(edges); s++)
            if (edges[r] < p->m && edges[s] < p->n) {
                judge_element(j, edges[r], edges[s], out);
                judge_element(j, p->m - 1 - edges[r], p->n - 1 - edges[s], out);
            }
}

/* Tile edges and corners of some products, first and last among them, then an element at random of
 * each block of SAMPLE_BLOCK x SAMPLE_BLOCK of all, so that a tile that is wrong throughout shows,
 * of small matrices several times round. */
static void judge_samples(const judged *j, findings *f)
{
    const tsr_matmul_problem *p = j->p;
    const size_t batch = matmul_batch(p), across = size_div_up(p->n, SAMPLE_BLOCK);
    const size_t blocks = size_div_up(p->m, SAMPLE_BLOCK) * across;
    const long long samples = (long long)size_max(blocks * batch, SAMPLES);

    for (size_t e = 0; e < size_min(batch, EDGED); e++) {
        verdict part = {.ok = true};
        tsr_matmul_problem one;
        const judged x = product_of(j, batch <= EDGED ? e : e * (batch - 1) / (EDGED - 1), &one);

        judge_edges(&x, &part);
        findings_join(f, &part, e);
    }
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 16)
#endif
    for (long long n = 0; n < samples; n++) {
        const size_t block = (size_t)n % (blocks * batch) % blocks;
        const size_t i = block / across * SAMPLE_BLOCK, c = block % across * SAMPLE_BLOCK;
        const size_t rows = size_min(SAMPLE_BLOCK, p->m - i);
        const size_t columns = size_min(SAMPLE_BLOCK, p->n - c);
        uint64_t state = (uint64_t)n;
        const uint64_t r = random_u64(&state), s = random_u64(&state);
        tsr_matmul_problem one;
        const judged x = product_of(j, (size_t)n % (blocks * batch) / blocks, &one);
        verdict found = {.ok = true};

        judge_element(&x, i + (size_t)(r % rows), c + (size_t)(s % columns), &found);
        findings_join(f, &found, (size_t)n + EDGED);
    }
}

/* What the check against random signs needs of op(B). */
typedef struct projection {
    double *signs;       /* n of +-1; 0 where the column of op(B) is not finite */
    long double *image;  /* k: op(B) times the signs, each of its parts */
    long double *column; /* n: the columns' norms */
    long double norm;    /* Frobenius norm of the columns that take part */
    long double widest;  /* the largest norm of one of them */
    long double top;     /* the largest scale of a column, at least 1 */
    long double least;   /* the smallest that is not 0, at most 1 */
} projection;

/* The scale of a column, as it is multiplied into op(B) here: the order of the product is
 * matmul_factor's, whose two roundings more row_tolerance allows for. */
static double column_scale(const judged *j, size_t column)
{
    return j->scale_b ? (double)j->scale_b[j->p->offset_scale_b + column] : 1;
}

/* Whether a factor is finite as it is multiplied. */
static bool takes_part(const tsr_matmul_problem *p, double x)
{
    return isfinite(x) && isfinite(real_rounded(p->precision, x));
}

/* Signs and norms of columns from `first`, at most COLUMNS.  Down the rows, along memory. */
static void project_columns(const judged *j, size_t first, projection *x)
{
    const tsr_matmul_problem *p = j->p;
    const size_t parts = type_parts(p->type);
    const size_t end = size_min(first + COLUMNS, p->n);
    uint64_t state = random_stream(2, first);

    for (size_t c = first; c < end; c++) {
        x->signs[c] = random_u64(&state) & 1 ? 1 : -1;
        x->column[c] = 0;
    }
    for (size_t q = 0; q < p->k; q++)
        for (size_t c = first; c < end; c++)
            for (size_t part = 0; part < parts; part++) {
                const double b =
                    real_get(type_part(p->type), j->b, parts * matmul_index_b(p, q, c) + part);

                if (takes_part(p, b) && isfinite(column_scale(j, c)))
                    x->column[c] += (long double)b * b * column_scale(j, c) * column_scale(j, c);
                else
                    x->signs[c] = 0;
            }
    for (size_t c = first; c < end; c++)
        if (x->signs[c] == 0)
            x->column[c] = 0;
}

/* Row q of op(B) times the signs. */
static void project_row(const judged *j, size_t q, projection *x)
{
    const tsr_matmul_problem *p = j->p;
    const size_t parts = type_parts(p->type);

    for (size_t part = 0; part < parts; part++) {
        long double *image = &x->image[parts * q + part];

        *image = 0;
        for (size_t c = 0; c < p->n; c++)
            if (x->signs[c] != 0)
                *image += (long double)real_get(type_part(p->type), j->b,
                                                parts * matmul_index_b(p, q, c) + part) *
                          (x->signs[c] * column_scale(j, c));
        if (part == 1 && p->conj_b)
            *image = -*image;
    }
}

static void project(const judged *j, projection *x)
{
    const tsr_matmul_problem *p = j->p;
    const long long blocks = (long long)size_div_up(p->n, COLUMNS), rows = (long long)p->k;

#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) if ((double)p->n * (double)p->k > PARALLEL_MIN)
#endif
    for (long long block = 0; block < blocks; block++)
        project_columns(j, (size_t)block * COLUMNS, x);
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 16) if ((double)p->n * (double)p->k > PARALLEL_MIN)
#endif
    for (long long q = 0; q < rows; q++)
        project_row(j, (size_t)q, x);
    x->norm = x->widest = 0;
    x->top = x->least = 1;
    for (size_t c = 0; c < p->n; c++) {
        const long double scale = x->signs[c] != 0 ? fabsl(column_scale(j, c)) : 0;

        if (scale > 0) {
            x->top = fmaxl(x->top, scale);
            x->least = fminl(x->least, scale);
        }
        x->norm += x->column[c];
        x->widest = fmaxl(x->widest, sqrtl(x->column[c]));
    }
    x->norm = sqrtl(x->norm);
}

/* Norms of a row of op(A) and of C as it was, and C's largest magnitude there. */
typedef struct row_norms {
    long double a, c, largest;
} row_norms;

/* What row i of C times the signs may be off by; INFINITY where an element may overflow.  `scale`
 * is the row's. */
static long double row_tolerance(const judged *j, const projection *x, double scale, row_norms r)
{
    const tsr_matmul_problem *p = j->p;
    const long double a = r.a, c = r.c, largest = r.largest;
    const tsr_type part = type_part(matmul_type_c(p));
    const long double alpha =
        (fabsl((long double)matmul_alpha(p)) + fabsl(matmul_alpha_im(p))) * fabsl(scale);
    const bool scaled = j->scale_a || j->scale_b;
    const long double beta = fabsl((long double)matmul_beta(p)) + fabsl(matmul_beta_im(p));
    const size_t terms = p->k * type_parts(p->type);
    const long double n = (long double)p->n, k = (long double)terms;
    const long double v = real_rounding(p->type, p->precision);
    /* A factor that underflows is off by v of itself and of this at most. */
    const long double lost = real_block_loss(p->type, p->precision);
    /* Nor does a unit lose less of a denormal factor than of the smallest normal one. */
    const long double floor = v > 0      ? sqrtl(k) * real_grain(p->type, p->precision) / v
                              : lost > 0 ? sqrtl(k) * real_least(p->type)
                                         : 0;
    const long double size =
        fmaxl(1, alpha) * (a + floor) * (x->norm + sqrtl(n) * floor * x->top) + beta * c;
    const long double added =
        real_product_bound(p->type, v, terms + (type_is_complex(p->type) || scaled ? 4 : 2));
    const long double error = added + lost * (1 + added);
    const long double widest =
        fmaxl(1, alpha) * (a + floor) * (x->widest + floor * x->top) + beta * largest;

    /* A factor that overflows or loses bits on its way: left to the samples. */
    if (scaled && (fabsl(scale) * x->top > FLT_MAX || alpha * x->top > FLT_MAX ||
                   (scale != 0 && fminl(fabsl(scale), alpha) * x->least < FLT_MIN)))
        return INFINITY;
    if (!(widest < real_most(part) / (1 + 2 * error)))
        return INFINITY;
    return SIGN_SIGMAS * real_stored_bound(part, size, error * size) + n * (k + 2) * FLT_MIN +
           n * real_stored_bound(part, 0, 0);
}

/* Row i of C times the signs against alpha op(A) (op(B) signs) + beta C0 signs: one number, or the
 * parts of a complex one.  Rows with values that are not finite, or that may overflow, are left to
 * the samples. */
typedef struct row_sums {
    long double sum[2], old[2], got[2]; /* op(A) (op(B) signs), C0 signs, C signs */
    long double a, c;                   /* squares of the norms of the rows of op(A) and C0 */
    long double largest;                /* magnitude in C0 */
} row_sums;

/* False where an element of op(A) is not finite. */
static bool sum_row_a(const judged *j, size_t i, const projection *x, row_sums *r)
{
    const tsr_matmul_problem *p = j->p;
    const tsr_type type = type_part(p->type);
    const size_t parts = type_parts(p->type);

    for (size_t q = 0; q < p->k; q++) {
        const size_t at = parts * matmul_index_a(p, i, q);
        const double re = real_get(type, j->a, at);
        double im = 0;

        if (!takes_part(p, re))
            return false;
        r->a += (long double)re * re;
        r->sum[0] += re * x->image[parts * q];
        if (parts == 1)
            continue;
        im = real_get(type, j->a, at + 1) * (p->conj_a ? -1 : 1);
        if (!takes_part(p, im))
            return false;
        r->a += (long double)im * im;
        r->sum[0] -= im * x->image[2 * q + 1];
        r->sum[1] += re * x->image[2 * q + 1] + im * x->image[2 * q];
    }
    return true;
}

static void sum_row_c(const judged *j, size_t i, const projection *x, row_sums *r)
{
    const tsr_matmul_problem *p = j->p;
    const tsr_type type = type_part(matmul_type_c(p));
    const size_t parts = type_parts(p->type);

    for (size_t c = 0; c < p->n; c++) {
        const size_t at = parts * matmul_index_c(p, i, c);

        for (size_t part = 0; part < parts && x->signs[c] != 0; part++) {
            const long double old =
                matmul_reads_c(p) ? (long double)real_get(type, j->before, at + part) : 0;

            r->old[part] += old * x->signs[c];
            r->c += old * old;
            r->largest = fmaxl(r->largest, fabsl(old));
            r->got[part] += real_get(type, j->after, at + part) * x->signs[c];
        }
    }
}

static void judge_row(const judged *j, size_t i, const projection *x, verdict *out)
{
    const tsr_matmul_problem *p = j->p;
    const double scale = j->scale_a ? (double)j->scale_a[p->offset_scale_a + i] : 1;
    const long double alpha = matmul_alpha(p) * (long double)scale, alpha_im = matmul_alpha_im(p);
    const long double beta = matmul_beta(p), beta_im = matmul_beta_im(p);
    row_sums r = {.a = 0};
    long double tolerance;
    char product[PRODUCT_TEXT_SIZE];

    if (!isfinite(scale) || !sum_row_a(j, i, x, &r))
        return;
    sum_row_c(j, i, x, &r);
    tolerance = row_tolerance(
        j, x, scale,
        (row_norms){sqrtl(r.a), sqrtl(r.c), r.largest * (long double)type_parts(p->type)});
    if (!isfinite(tolerance) || !isfinite(r.c))
        return;
    for (size_t part = 0; part < type_parts(p->type); part++) {
        const long double sign = part ? 1 : -1;
        const long double exact = alpha * r.sum[part] + beta * r.old[part] +
                                  sign * (alpha_im * r.sum[!part] + beta_im * r.old[!part]);

        if (fabsl(r.got[part] - exact) <= tolerance)
            continue;
        out->ok = false;
        snprintf(out->detail, sizeof(out->detail),
                 "%srow %zu of C%s times random signs is %.9Lg and should be %.9Lg",
                 type_is_complex(p->type) ? part ? "the imaginary part of " : "the real part of "
                                          : "",
                 i, findings_product(j->batch, j->product, product), r.got[part], exact);
        return;
    }
}

/* Check C r for random signs r in O(n^2), after R. Freivalds, "Probabilistic machines can use less
 * running time", IFIP 1977.  The elements' errors do not depend on the signs, so by Hoeffding's
 * inequality their signed sum over a row exceeds SIGN_SIGMAS times the root of the sum of their
 * squared bounds with probability below 2 exp(-SIGN_SIGMAS^2 / 2) = 3e-14; Cauchy and Schwarz bound
 * |A| |B| by norms, where the rounding of a result to 16 bits is one more error of each element.
 * What it finds is an error in a row above that: about that of a few elements that are wrong
 * throughout.  Smaller ones are the samples' to find. */
static void judge_product_sums(const judged *j, size_t e, projection *x, findings *f)
{
    const long long rows = (long long)j->p->m;
    tsr_matmul_problem one;
    const judged product = product_of(j, e, &one);

    project(&product, x);
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) if ((double)rows * (double)j->p->n > 1e4)
#endif
    for (long long i = 0; i < rows; i++) {
        verdict part = {.ok = true};

        judge_row(&product, (size_t)i, x, &part);
        /* After the samples, which show more. */
        findings_join(f, &part, SIZE_MAX / 2 + e * j->p->m + (size_t)i);
    }
}

static tsr_status judge_row_sums(const judged *j, findings *f, tsr_error *err)
{
    const tsr_matmul_problem *p = j->p;
    projection x = {.signs = malloc(p->n * sizeof(*x.signs)),
                    .image = malloc(p->k * type_parts(p->type) * sizeof(*x.image)),
                    .column = malloc(p->n * sizeof(*x.column))};
    tsr_status st = TSR_OK;

    if (!x.signs || !x.image || !x.column) {
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory to check a product of %zu x %zu x %zu", p->m,
                      p->n, p->k);
    } else {
        for (size_t e = 0; e < matmul_batch(p); e++)
            judge_product_sums(j, e, &x, f);
    }
    free(x.signs);
    free(x.image);
    free(x.column);
    return st;
}

/* A row of an int8 product times weights, against op(A) (op(B) weights): modulo 2^32. */
static void judge_int8_row(const judged *j, size_t i, const uint32_t *weights,
                           const uint32_t *image, verdict *out)
{
    const tsr_matmul_problem *p = j->p;
    const int8_t *a = j->a;
    const uint32_t *before = j->before, *after = j->after;
    uint32_t sum = 0, old = 0, got = 0;
    char product[PRODUCT_TEXT_SIZE];

    for (size_t q = 0; q < p->k; q++)
        sum += (uint32_t)a[matmul_index_a(p, i, q)] * image[q];
    for (size_t c = 0; c < p->n; c++) {
        const size_t at = matmul_index_c(p, i, c);

        got += after[at] * weights[c];
        if (matmul_reads_c(p))
            old += before[at] * weights[c];
    }
    if (got == (uint32_t)(int32_t)p->alpha * sum + (uint32_t)(int32_t)p->beta * old)
        return;
    out->ok = false;
    snprintf(out->detail, sizeof(out->detail),
             "row %zu of C%s times random weights is not what it should be", i,
             findings_product(j->batch, j->product, product));
}

/* The same check of every row of an int8 product, exact: the weights are odd, so that one wrong
 * element of a row always shows. */
static tsr_status judge_int8_rows(const judged *j, findings *f, tsr_error *err)
{
    const size_t n = j->p->n, k = j->p->k;
    uint32_t *weights = malloc((n + k) * sizeof(*weights)), *image;
    uint64_t state = random_stream(2, 0);

    if (!weights)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory to check a product of %zu x %zu x %zu",
                        j->p->m, n, k);
    image = weights + n;
    for (size_t c = 0; c < n; c++)
        weights[c] = (uint32_t)random_u64(&state) | 1;
    for (size_t e = 0; e < matmul_batch(j->p); e++) {
        const int8_t *b = j->b;
        tsr_matmul_problem one;
        const judged x = product_of(j, e, &one);

#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 16) if ((double)n * (double)k > PARALLEL_MIN)
#endif
        for (long long q = 0; q < (long long)k; q++) {
            image[q] = 0;
            for (size_t c = 0; c < n; c++)
                image[q] += (uint32_t)b[matmul_index_b(&one, (size_t)q, c)] * weights[c];
        }
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) if ((double)one.m * (double)n > 1e4)
#endif
        for (long long i = 0; i < (long long)one.m; i++) {
            verdict part = {.ok = true};

            judge_int8_row(&x, (size_t)i, weights, image, &part);
            findings_join(f, &part, SIZE_MAX / 2 + e * one.m + (size_t)i);
        }
    }
    free(weights);
    return TSR_OK;
}

tsr_status matmul_verify(const problem *q, const device_facts *d, const void *const before[],
                         const void *const after[], const void *expected, verdict *out,
                         tsr_error *err)
{
    const tsr_matmul_problem *p = matmul_of(q);
    judged j = {.p = p,
                .device = d,
                .a = before[MATMUL_A],
                .b = before[MATMUL_B],
                .before = before[MATMUL_C],
                .after = after[MATMUL_C],
                .scale_a = matmul_scaled(p) & SCALES_A ? before[MATMUL_SCALE_A] : NULL,
                .scale_b = matmul_scaled(p) & SCALES_B ? before[MATMUL_SCALE_B] : NULL,
                .batch = 1};
    findings f = {.out = out, .failed_at = SIZE_MAX};

    (void)expected;
    *out = (verdict){.ok = true};
    judge_gaps(&j, out);
    if (!out->ok)
        f.failed_at = 0;
    if (q->op->work(q) / 2 > verify_work_limit && matmul_reads_factors(p)) {
        out->sampled = true;
        judge_samples(&j, &f);
        return p->type == TSR_I8 ? judge_int8_rows(&j, &f, err) : judge_row_sums(&j, &f, err);
    }
    judge_all(&j, &f);
    return TSR_OK;
}
