/* The proofs of big and special products: what they find, and that they pass what is right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/half.h"
#include "base/sizes.h"
#include "core/real.h"
#include "core/registry.h"
#include "ops/matmul/matmul_descriptor.h"
#include "ops/matmul/matmul_shape.h"

static const device_facts keeps = {.denormals_f32 = true, .denormals_f64 = true};
static const device_facts flushes = {0};

static real_sum alike(size_t terms, double a, double b, const device_facts *d)
{
    real_sum s = real_sum_start(TSR_F32, TSR_PRECISION_DEFAULT, d);

    for (size_t i = 0; i < terms; i++)
        real_sum_add(&s, a, b);
    return s;
}

/* The bound stays positive and finite where n u passes 1: nonsense does not pass there. */
static void long_sums_are_judged(void **state)
{
    const size_t terms = (size_t)1 << 25;
    const real_sum s = alike(terms, 0.5, 0.5, &keeps);

    (void)state;
    assert_true(real_judge(&s, 1, 0, 0, 0.25 * (double)terms) == 0);
    assert_true(real_judge(&s, 1, 0, 0, -0.25 * (double)terms * 8) > 1);
    assert_true(real_judge(&s, 1, 0, 0, NAN) > 1);
    assert_true(real_gamma(TSR_F32, (size_t)1 << 24) > 0);
}

/* A NaN operand gives NaN, whatever may overflow beside it. */
static void nan_beats_overflow(void **state)
{
    real_sum s = alike(4, 3e38, 10, &keeps);

    (void)state;
    real_sum_add(&s, NAN, 1);
    assert_true(real_judge(&s, 1, 0, 0, NAN) <= 1);
    assert_true(real_judge(&s, 1, 0, 0, INFINITY) > 1);
    assert_true(real_judge(&s, INFINITY, 0, 0, -INFINITY) > 1);
}

/* Terms of one sign overflow to that infinity alone. */
static void overflow_has_a_sign(void **state)
{
    const real_sum up = alike(4, 3e38, 10, &keeps);
    real_sum both = up;

    (void)state;
    assert_true(real_judge(&up, 1, 0, 0, INFINITY) <= 1);
    assert_true(real_judge(&up, 1, 0, 0, -INFINITY) > 1);
    assert_true(real_judge(&up, 1, 0, 0, NAN) > 1);
    assert_true(real_judge(&up, -1, 0, 0, -INFINITY) <= 1);
    real_sum_add(&both, -3e38, 100);
    assert_true(real_judge(&both, 1, 0, 0, NAN) <= 1);
    assert_true(real_judge(&both, 1, 0, 0, -INFINITY) <= 1);
}

/* alpha == 0 does not forget that the device flushes. */
static void flushing_counts_without_a_sum(void **state)
{
    const real_sum s = real_sum_start(TSR_F32, TSR_PRECISION_DEFAULT, &flushes);
    const real_sum kept = real_sum_start(TSR_F32, TSR_PRECISION_DEFAULT, &keeps);

    (void)state;
    assert_true(real_judge(&s, 0, 2, 1e-39, 0) <= 1);
    assert_true(real_judge(&kept, 0, 2, 1e-39, 0) > 1);
}

/* ---- products above the work limit ------------------------------------------------------- */

enum { SIDE = 768 };

/* A product of SIDE^3, above 2^28, with C computed in double. */
typedef struct product {
    problem p;
    float *a, *b, *before, *after;
} product;

/* The sums of A's products with B, in double, which are the same each time. */
static const double *sums_of(const float *a, const float *b)
{
    static double sums[SIDE * SIDE];
    static bool known;

    for (size_t i = 0; i < SIDE && !known; i++) {
        double *const row = sums + i * SIDE;

        for (size_t q = 0; q < SIDE; q++) {
            const double left = a[i * SIDE + q];
            const float *right = b + q * SIDE;

            for (size_t j = 0; j < SIDE; j++)
                row[j] += left * right[j];
        }
    }
    known = true;
    return sums;
}

/* A is multiplied by a power of two. */
static product make(double scale)
{
    product x = {
        .p = matmul_problem((tsr_matmul_problem){.m = SIDE, .n = SIDE, .k = SIDE, .alpha = 1})};
    void *operands[3];
    const double *sums;

    x.a = malloc(sizeof(float) * SIDE * SIDE);
    x.b = malloc(sizeof(float) * SIDE * SIDE);
    x.before = malloc(sizeof(float) * SIDE * SIDE);
    x.after = malloc(sizeof(float) * SIDE * SIDE);
    operands[0] = x.a;
    operands[1] = x.b;
    operands[2] = x.before;
    matmul_fill(&x.p, 1, DISTRIBUTION_UNIFORM, operands);
    sums = sums_of(x.a, x.b);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
        x.a[i] *= (float)scale;
        x.after[i] = (float)(scale * sums[i]);
    }
    return x;
}

static void drop(product *x)
{
    free(x->a);
    free(x->b);
    free(x->before);
    free(x->after);
}

static verdict verify(const product *x)
{
    const void *const before[] = {x->a, x->b, x->before};
    const void *const after[] = {x->a, x->b, x->after};
    verdict v;

    assert_int_equal(matmul_verify(&x->p, &keeps, before, after, NULL, &v, NULL), TSR_OK);
    assert_true(v.sampled);
    return v;
}

/* A right result passes; one whose 64 x 64 tile was never computed does not, wherever it is. */
static void a_missing_tile_is_found(void **state)
{
    product x = make(1);

    (void)state;
    assert_true(verify(&x).ok);
    for (size_t i = 0; i < 64; i++)
        memset(x.after + (320 + i) * SIDE + 448, 0, 64 * sizeof(float));
    assert_false(verify(&x).ok);
    drop(&x);
}

/* One element that is far off lies outside the samples and shows in its row's sum. */
static void one_wild_element_is_found(void **state)
{
    product x = make(1);

    (void)state;
    x.after[333 * SIDE + 500] += 1000;
    assert_false(verify(&x).ok);
    drop(&x);
}

/* A NaN in B does not switch the other columns' check off. */
static void a_nan_leaves_the_rest_checked(void **state)
{
    product x = make(1);

    (void)state;
    x.b[5 * SIDE + 7] = NAN;
    for (size_t i = 0; i < SIDE; i++)
        x.after[i * SIDE + 7] = NAN;
    assert_true(verify(&x).ok);
    x.after[333 * SIDE + 500] += 1000;
    assert_false(verify(&x).ok);
    drop(&x);
}

/* The same of a batch: one of its products that was left out shows in its rows. */
static void a_missing_product_is_found(void **state)
{
    enum { EACH = 32, BATCH = (1 << 13) + 1 };
    const problem p = matmul_problem((tsr_matmul_problem){.type = TSR_BF16,
                                                          .m = EACH,
                                                          .n = EACH,
                                                          .k = EACH,
                                                          .alpha = 1,
                                                          .batch = BATCH,
                                                          .stride_a = EACH * EACH,
                                                          .stride_c = EACH * EACH});
    const size_t elements = (size_t)BATCH * EACH * EACH;
    uint16_t *a = malloc(elements * 2), *before = malloc(elements * 2), *c = malloc(elements * 2);
    uint16_t b[EACH * EACH];
    double wide[EACH * EACH];
    void *const operands[] = {a, b, before};
    const void *const inputs[] = {a, b, before}, *const outputs[] = {a, b, c};
    verdict v;

    (void)state;
    matmul_fill(&p, 1, DISTRIBUTION_UNIFORM, operands);
    for (size_t i = 0; i < EACH * EACH; i++)
        wide[i] = real_get(TSR_BF16, b, i);
    for (size_t row = 0; row < elements / EACH; row++) {
        double sum[EACH] = {0};

        for (size_t q = 0; q < EACH; q++) {
            const double left = real_get(TSR_BF16, a, row * EACH + q);

            for (size_t j = 0; j < EACH; j++)
                sum[j] += left * wide[q * EACH + j];
        }
        for (size_t j = 0; j < EACH; j++)
            real_set(TSR_BF16, c, row * EACH + j, sum[j]);
    }
    assert_int_equal(matmul_verify(&p, &keeps, inputs, outputs, NULL, &v, NULL), TSR_OK);
    assert_true(v.ok && v.sampled);
    memset(c + 7777 * EACH * EACH, 0, sizeof(b));
    assert_int_equal(matmul_verify(&p, &keeps, inputs, outputs, NULL, &v, NULL), TSR_OK);
    assert_false(v.ok);
    assert_non_null(strstr(v.detail, "of product 7777"));
    free(a);
    free(before);
    free(c);
}

/* Of a small product of a batch with gaps, each element that is off is found, and each gap that was
 * written: the least change of one is enough. */
static void every_element_and_gap_is_looked_at(void **state)
{
    enum { ROWS = 3, COLUMNS = 5, LD = 7, BATCH = 2, STRIDE = ROWS * LD + 4, OFFSET = 2 };
    enum { ELEMENTS = OFFSET + STRIDE + (ROWS - 1) * LD + COLUMNS };
    const problem p = matmul_problem((tsr_matmul_problem){.m = ROWS,
                                                          .n = COLUMNS,
                                                          .k = 1,
                                                          .alpha = 1,
                                                          .ldc = LD,
                                                          .offset_c = OFFSET,
                                                          .batch = BATCH,
                                                          .stride_a = ROWS,
                                                          .stride_b = COLUMNS,
                                                          .stride_c = STRIDE});
    float a[BATCH * ROWS], b[BATCH * COLUMNS], before[ELEMENTS], after[ELEMENTS];
    const void *const inputs[] = {a, b, before}, *const outputs[] = {a, b, after};
    size_t elements = 0, gaps = 0;
    verdict v;

    (void)state;
    for (size_t i = 0; i < BATCH * ROWS; i++)
        a[i] = (float)i + 1;
    for (size_t i = 0; i < BATCH * COLUMNS; i++)
        b[i] = (float)i - 20;
    for (size_t i = 0; i < ELEMENTS; i++)
        before[i] = after[i] = (float)i / 3;
    for (size_t e = 0; e < BATCH; e++)
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < COLUMNS; j++)
                after[OFFSET + e * STRIDE + i * LD + j] = a[e * ROWS + i] * b[e * COLUMNS + j];
    assert_int_equal(matmul_verify(&p, &keeps, inputs, outputs, NULL, &v, NULL), TSR_OK);
    assert_true(v.ok && !v.sampled);
    for (size_t i = 0; i < ELEMENTS; i++) {
        const float right = after[i];

        after[i] = right == 0 ? 1 : right * (1 + 0x1p-20f);
        assert_int_equal(matmul_verify(&p, &keeps, inputs, outputs, NULL, &v, NULL), TSR_OK);
        assert_false(v.ok);
        elements += v.detail[0] == 'C';
        gaps += !strcmp(v.detail, "memory outside C was written");
        after[i] = right;
    }
    assert_int_equal(elements, BATCH * ROWS * COLUMNS);
    assert_int_equal(gaps, ELEMENTS - elements);
}

/* What may overflow is left to the samples, which know the class. */
static void overflow_is_no_error(void **state)
{
    product x = make(0x1p126);

    (void)state;
    assert_true(verify(&x).ok);
    drop(&x);
}

/* ---- complex products -------------------------------------------------------------------- */

/* Two sums with complex scales: the bound of both, and what is not finite. */
static void pairs_of_sums_are_judged(void **state)
{
    const real_sum s = alike(4, 0.5, 0.5, &keeps);
    const real_scaled pair[2] = {{&s, 2, 1, 3}, {&s, -1, 0.5, 2}};
    const double exact = 2 * 1 + 3 - 1 + 1, bound = 0x1p-24 * (4 + 4) * (2 + 3 + 1 + 1);
    real_sum infinite = s;

    (void)state;
    assert_true(real_judge_pair(pair, exact) == 0);
    assert_true(real_judge_pair(pair, exact + 0.99 * bound) < 1);
    assert_true(real_judge_pair(pair, exact + 1.01 * bound) > 1);
    assert_true(real_judge_pair(pair, NAN) > 1);
    real_sum_add(&infinite, INFINITY, 1);
    /* Of one sign in both, of both, and times 0. */
    assert_true(real_judge_pair((real_scaled[]){{&infinite, 2, 0, 0}, {&s, 1, 0, 0}}, INFINITY) <=
                1);
    assert_true(real_judge_pair((real_scaled[]){{&infinite, 2, 0, 0}, {&s, 1, 0, 0}}, 5) > 1);
    assert_true(
        real_judge_pair((real_scaled[]){{&infinite, 2, 0, 0}, {&infinite, -1, 0, 0}}, NAN) <= 1);
    assert_true(real_judge_pair((real_scaled[]){{&infinite, 2, 0, 0}, {&infinite, -1, 0, 0}},
                                INFINITY) > 1);
    assert_true(real_judge_pair((real_scaled[]){{&s, 2, 0, 0}, {&infinite, 0, 0, 0}}, NAN) <= 1);
    assert_true(real_judge_pair((real_scaled[]){{&s, 2, 0, 0}, {&infinite, 0, 0, 0}}, 2) > 1);
    assert_true(real_judge_pair((real_scaled[]){{&s, 1, 1, 0}, {&s, 1, 0, INFINITY}}, NAN) <= 1);
}

/* Element (row, column) of a matrix of complex64. */
static double complex part(const float *x, size_t ld, size_t row, size_t column)
{
    return x[2 * (row * ld + column)] + I * x[2 * (row * ld + column) + 1];
}

/* Each part of C := alpha A^H B + beta C is looked at: the least change of one is found. */
static void each_part_is_looked_at(void **state)
{
    enum { M = 3, N = 2, K = 4 };
    const double complex alpha = 1.5 - 0.5 * I, beta = -1 + 2 * I;
    const problem p = matmul_problem((tsr_matmul_problem){.type = TSR_C64,
                                                          .m = M,
                                                          .n = N,
                                                          .k = K,
                                                          .trans_a = true,
                                                          .conj_a = true,
                                                          .alpha = creal(alpha),
                                                          .alpha_im = cimag(alpha),
                                                          .beta = creal(beta),
                                                          .beta_im = cimag(beta)});
    float a[2 * K * M], b[2 * K * N], before[2 * M * N], after[2 * M * N];
    void *const operands[] = {a, b, before};
    const void *const inputs[] = {a, b, before}, *const outputs[] = {a, b, after};
    verdict v;

    (void)state;
    matmul_fill(&p, 1, DISTRIBUTION_UNIFORM, operands);
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++) {
            double complex sum = 0;

            for (size_t q = 0; q < K; q++)
                sum += conj(part(a, M, q, i)) * part(b, N, q, j);
            sum = alpha * sum + beta * part(before, N, i, j);
            after[2 * (i * N + j)] = (float)creal(sum);
            after[2 * (i * N + j) + 1] = (float)cimag(sum);
        }
    assert_int_equal(matmul_verify(&p, &keeps, inputs, outputs, NULL, &v, NULL), TSR_OK);
    assert_true(v.ok);
    for (size_t i = 0; i < 2 * M * N; i++) {
        const float right = after[i];

        after[i] += 0x1p-12f;
        assert_int_equal(matmul_verify(&p, &keeps, inputs, outputs, NULL, &v, NULL), TSR_OK);
        assert_false(v.ok);
        assert_non_null(strstr(v.detail, i % 2 ? "the imaginary part of C" : "the real part of C"));
        after[i] = right;
    }
}

/* Of a product above the work limit one wild part shows in its row's sums. */
static void one_wild_part_is_found(void **state)
{
    enum { N = 416 };
    const problem p = matmul_problem((tsr_matmul_problem){
        .type = TSR_C64, .m = N, .n = N, .k = N, .conj_b = true, .alpha = 1, .alpha_im = 1});
    const size_t bytes = 2 * sizeof(float) * N * N;
    float *a = malloc(bytes), *b = malloc(bytes), *before = malloc(bytes), *after = malloc(bytes);
    void *const operands[] = {a, b, before};
    const void *const inputs[] = {a, b, before}, *const outputs[] = {a, b, after};
    verdict v;

    (void)state;
    matmul_fill(&p, 1, DISTRIBUTION_UNIFORM, operands);
    for (size_t i = 0; i < N; i++) {
        double re[N] = {0}, im[N] = {0};

        for (size_t q = 0; q < N; q++) {
            const double left_re = a[2 * (i * N + q)], left_im = a[2 * (i * N + q) + 1];

            for (size_t j = 0; j < N; j++) {
                const double right_re = b[2 * (q * N + j)], right_im = -b[2 * (q * N + j) + 1];

                re[j] += left_re * right_re - left_im * right_im;
                im[j] += left_re * right_im + left_im * right_re;
            }
        }
        for (size_t j = 0; j < N; j++) {
            after[2 * (i * N + j)] = (float)(re[j] - im[j]);
            after[2 * (i * N + j) + 1] = (float)(re[j] + im[j]);
        }
    }
    assert_int_equal(matmul_verify(&p, &keeps, inputs, outputs, NULL, &v, NULL), TSR_OK);
    assert_true(v.ok && v.sampled);
    after[2 * (333 * N + 200) + 1] += 1000;
    assert_int_equal(matmul_verify(&p, &keeps, inputs, outputs, NULL, &v, NULL), TSR_OK);
    assert_false(v.ok);
    assert_non_null(strstr(v.detail, "the imaginary part of row 333 of C"));
    free(a);
    free(b);
    free(before);
    free(after);
}

/* A problem that is no matmul, and what check() says of it. */
typedef struct refusal {
    tsr_matmul_problem p;
    const char *says;
} refusal;

static void assert_refused(const refusal *wrong, size_t count)
{
    tsr_error err;

    for (size_t i = 0; i < count; i++) {
        const problem p = matmul_problem(wrong[i].p);

        assert_int_equal(operation_matmul.check(&p, &err), TSR_EINVAL);
        assert_non_null(strstr(err.message, wrong[i].says));
    }
}

/* What complex matrices alone have is refused of others, and what they lack. */
static void complex_problems_are_checked(void **state)
{
    static const refusal wrong[] = {
        {{.m = 1, .n = 1, .k = 1, .conj_a = true}, "need complex operands, and these are float32"},
        {{.type = TSR_F64, .m = 1, .n = 1, .k = 1, .beta_im = 1}, "and these are float64"},
        {{.type = TSR_C64, .m = 1, .n = 1, .k = 1, .c_f32 = true}, "C must be complex64"},
        {{.type = TSR_C64, .m = 1, .n = 1, .k = 1, .precision = TSR_PRECISION_TF32},
         "precision tf32 does not go with complex64 operands"},
        {{.type = TSR_C128, .m = 1, .n = 1, .k = 1, .precision = TSR_PRECISION_F32},
         "precision f32 does not go with complex128 operands"},
        {{.type = TSR_C64, .m = 1, .n = 1, .k = 1, .alpha_im = 1e39}, "1e+39"},
    };
    const problem right = matmul_problem((tsr_matmul_problem){.type = TSR_C128,
                                                              .m = 2,
                                                              .n = 3,
                                                              .k = 4,
                                                              .trans_a = true,
                                                              .conj_a = true,
                                                              .conj_b = true,
                                                              .alpha = 1,
                                                              .alpha_im = -2});
    text t = {0};
    tsr_error err;

    (void)state;
    assert_refused(wrong, ARRAY_COUNT(wrong));
    assert_int_equal(operation_matmul.check(&right, &err), TSR_OK);
    assert_true(operation_matmul.work(&right) == 8 * 2 * 3 * 4);
    operation_matmul.describe(&right, &t);
    assert_string_equal(text_get(&t), "2x3x4 complex128 A^H B* alpha 1-2i beta 0+0i");
    text_free(&t);
}

/* ---- int8 products ------------------------------------------------------------------------ */

/* What int8 operands do not go with is refused. */
static void int8_problems_are_checked(void **state)
{
    static const refusal wrong[] = {
        {{.type = TSR_I8, .alpha = 1.5}, "alpha is 1.5, and for int8 operands it must be"},
        {{.type = TSR_I8, .alpha = NAN}, "alpha is nan"},
        {{.type = TSR_I8, .alpha = 2147483648.0}, "alpha is"},
        {{.type = TSR_I8, .beta = -2147483649.0}, "beta is"},
        {{.type = TSR_I8, .alpha = 1, .c_f32 = true}, "C must be int32"},
        {{.type = TSR_I8, .alpha = 1, .conj_b = true}, "need complex operands"},
        {{.type = TSR_I8, .alpha = 1, .precision = TSR_PRECISION_F32}, "precision f32 does not go"},
        {{.type = TSR_F32, .alpha = 1, .precision = TSR_PRECISION_I8}, "precision i8 does not go"},
        {{.type = TSR_I32, .alpha = 1}, "not int32"},
    };
    const problem right = matmul_problem((tsr_matmul_problem){.type = TSR_I8,
                                                              .precision = TSR_PRECISION_I8,
                                                              .m = 2,
                                                              .n = 3,
                                                              .k = 4,
                                                              .alpha = -2147483648.0,
                                                              .beta = 2147483647});
    text t = {0};
    tsr_error err;

    (void)state;
    assert_refused(wrong, ARRAY_COUNT(wrong));
    assert_int_equal(operation_matmul.check(&right, &err), TSR_OK);
    operation_matmul.describe(&right, &t);
    assert_string_equal(text_get(&t), "2x3x4 int8 to int32 alpha -2.14748e+09 beta 2.14748e+09");
    text_free(&t);
}

/* Sums wrap, and one that is off by one is found among few and among many, in each row. */
static void each_whole_sum_is_looked_at(void **state)
{
    enum { MOST = 1000 };
    static const size_t sizes[][3] = {{3, 5, 7}, {520, 520, MOST}};

    (void)state;
    for (size_t s = 0; s < ARRAY_COUNT(sizes); s++) {
        const size_t m = sizes[s][0], n = sizes[s][1], k = sizes[s][2];
        const problem p = matmul_problem((tsr_matmul_problem){
            .type = TSR_I8, .m = m, .n = n, .k = k, .alpha = -2147483647, .beta = 3});
        int8_t *a = malloc(m * k), *b = malloc(k * n);
        uint32_t *before = malloc(m * n * 4), *after = malloc(m * n * 4);
        const void *const inputs[] = {a, b, before}, *const outputs[] = {a, b, after};
        verdict v;

        matmul_fill(&p, 1, DISTRIBUTION_UNIFORM, (void *const[]){a, b, before});
        for (size_t i = 0; i < m; i++) {
            uint32_t *row = after + i * n;

            memset(row, 0, n * sizeof(*row));
            for (size_t q = 0; q < k; q++)
                for (size_t j = 0; j < n; j++)
                    row[j] += (uint32_t)(a[i * k + q] * b[q * n + j]);
            for (size_t j = 0; j < n; j++)
                row[j] = 0x80000001u * row[j] + 3 * before[i * n + j];
        }
        assert_int_equal(matmul_verify(&p, &keeps, inputs, outputs, NULL, &v, NULL), TSR_OK);
        assert_true(v.ok && v.worst == 0 && v.sampled == (s == 1));
        for (size_t i = 0; i < m * n; i += s ? 67891 : 1) {
            after[i] ^= (uint32_t)1 << (s ? 31 : i % 32);
            assert_int_equal(matmul_verify(&p, &keeps, inputs, outputs, NULL, &v, NULL), TSR_OK);
            assert_false(v.ok);
            after[i] ^= (uint32_t)1 << (s ? 31 : i % 32);
        }
        free(a);
        free(b);
        free(before);
        free(after);
    }
}

/* ---- FP8 products ------------------------------------------------------------------------- */

static void fp8_problems_are_checked(void **state)
{
    static const refusal wrong[] = {
        {{.type = TSR_F32, .alpha = 1, .c_bf16 = true}, "bfloat16 as the type of C"},
        {{.type = TSR_C64, .alpha = 1, .c_bf16 = true}, "bfloat16 as the type of C"},
        {{.type = TSR_F8E4M3, .alpha = 1, .c_f32 = true, .c_bf16 = true}, "not both"},
        {{.type = TSR_F8E5M2, .alpha = 1, .precision = TSR_PRECISION_BF16}, "precision bf16 does"},
        {{.type = TSR_F32, .alpha = 1, .precision = TSR_PRECISION_F8}, "precision f8 does not go"},
    };
    const problem right = matmul_problem(
        (tsr_matmul_problem){.type = TSR_F8E4M3, .m = 2, .n = 3, .k = 4, .alpha = 1});
    text t = {0};
    tsr_error err;

    (void)state;
    assert_refused(wrong, ARRAY_COUNT(wrong));
    for (int way = 0; way < 4; way++) {
        problem p = right;

        matmul_in(&p)->c_f32 = way == 1;
        matmul_in(&p)->c_bf16 = way == 2;
        matmul_in(&p)->precision = way == 3 ? TSR_PRECISION_F32 : TSR_PRECISION_DEFAULT;
        assert_int_equal(operation_matmul.check(&p, &err), TSR_OK);
        text_clear(&t);
        operation_matmul.describe(&p, &t);
        assert_string_equal(text_get(&t), way == 1   ? "2x3x4 float8_e4m3fn to float32"
                                          : way == 2 ? "2x3x4 float8_e4m3fn to bfloat16"
                                          : way == 3 ? "2x3x4 float8_e4m3fn f32"
                                                     : "2x3x4 float8_e4m3fn");
    }
    text_free(&t);
}

/* Whether one element, the sum of the products of these factors, may be `got`. */
static bool fp8_allows(tsr_precision precision, size_t k, const uint8_t *a, const uint8_t *b,
                       float got)
{
    const problem p = matmul_problem((tsr_matmul_problem){.type = TSR_F8E4M3,
                                                          .precision = precision,
                                                          .m = 1,
                                                          .n = 1,
                                                          .k = k,
                                                          .alpha = 1,
                                                          .c_f32 = true});
    float before = 0;
    const void *const inputs[] = {a, b, &before}, *const outputs[] = {a, b, &got};
    verdict v;

    assert_int_equal(matmul_verify(&p, &keeps, inputs, outputs, NULL, &v, NULL), TSR_OK);
    return v.ok;
}

/* A block of 128 products may lose 144 units 13 bits behind the first of the sum of its magnitudes,
 * in precision f8 alone; and nothing where no bit is there. */
static void blocks_of_fp8_lose_what_is_cut(void **state)
{
    enum { K = 256, ONE = 0x38, SMALL = 0x01, EIGHT = 0x50 }; /* 1, 2^-9 and 8 */
    uint8_t a[K] = {0}, b[K];

    (void)state;
    memset(b, ONE, K);
    /* 64 ones and 2^-9 in the first block: 64 is 2^6, units are 2^-7. */
    memset(a, ONE, 64);
    a[64] = SMALL;
    assert_true(fp8_allows(TSR_PRECISION_F8, K, a, b, 64 + 143 * 0x1p-7f));
    assert_true(fp8_allows(TSR_PRECISION_F8, K, a, b, 64 - 143 * 0x1p-7f));
    assert_false(fp8_allows(TSR_PRECISION_F8, K, a, b, 64 + 146 * 0x1p-7f));
    assert_false(fp8_allows(TSR_PRECISION_F32, K, a, b, 64 + 0x1p-7f));
    /* Whole numbers: nothing is cut. */
    a[64] = EIGHT;
    assert_true(fp8_allows(TSR_PRECISION_F8, K, a, b, 72));
    assert_false(fp8_allows(TSR_PRECISION_F8, K, a, b, 73));
    /* The small one in a block of its own neither. */
    a[64] = 0;
    a[128] = SMALL;
    assert_true(fp8_allows(TSR_PRECISION_F8, K, a, b, 64 + 0x1p-9f));
    assert_false(fp8_allows(TSR_PRECISION_F8, K, a, b, 64));
}

/* Results of FP8 saturate: infinity stands for nothing but a wrong one, and NaN stays. */
static void results_of_fp8_saturate(void **state)
{
    static const struct {
        tsr_type type;
        uint8_t a, got;
        double alpha;
        bool ok;
    } cases[] = {{TSR_F8E4M3, 0x7E, 0x7E, 1, true},        {TSR_F8E4M3, 0x7E, 0xFE, 1, false},
                 {TSR_F8E4M3, 0x7E, 0x7D, 1, false},       {TSR_F8E4M3, 0x7E, 0x7F, 1, false},
                 {TSR_F8E4M3, 0x7E, 0xFE, -1, true},       {TSR_F8E4M3, 0x7F, 0x7F, 1, true},
                 {TSR_F8E4M3, 0x7F, 0x7E, 1, false},       {TSR_F8E5M2, 0x7C, 0x7B, 1, true},
                 {TSR_F8E5M2, 0x7C, 0x7C, 1, false},       {TSR_F8E5M2, 0x7B, 0x7B, 0x1p120, true},
                 {TSR_F8E5M2, 0x7B, 0xFB, -0x1p120, true}, {TSR_F8E5M2, 0x3C, 0x3C, 1, true},
                 {TSR_F8E5M2, 0x3C, 0x3D, 1, false}};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const problem p = matmul_problem((tsr_matmul_problem){
            .type = cases[i].type, .m = 1, .n = 1, .k = 1, .alpha = cases[i].alpha});
        /* Times the largest finite number, or one of e5m2. */
        const uint8_t b = cases[i].a == 0x3C ? 0x3C : cases[i].type == TSR_F8E4M3 ? 0x7E : 0x7B;
        const uint8_t before = 0;
        const void *const inputs[] = {&cases[i].a, &b, &before};
        const void *const outputs[] = {&cases[i].a, &b, &cases[i].got};
        verdict v;

        assert_int_equal(matmul_verify(&p, &keeps, inputs, outputs, NULL, &v, NULL), TSR_OK);
        assert_int_equal(v.ok, cases[i].ok);
    }
}

/* Among many, the row of a wrong element is found by its sum, or the element by samples. */
static void a_wrong_row_of_fp8_is_found(void **state)
{
    enum { M = 520, N = 520, K = 1024 };
    const problem p = matmul_problem((tsr_matmul_problem){
        .type = TSR_F8E5M2, .m = M, .n = N, .k = K, .alpha = 1, .trans_b = true, .c_f32 = true});
    uint8_t *a = malloc(M * K), *b = malloc(N * K);
    float *before = calloc(M * N, 4), *after = calloc(M * N, 4), value[256];
    const void *const inputs[] = {a, b, before}, *const outputs[] = {a, b, after};
    verdict v;

    (void)state;
    for (int bits = 0; bits < 256; bits++)
        value[bits] = e5m2_to_float((uint8_t)bits);
    matmul_fill(&p, 1, DISTRIBUTION_FEW, (void *const[]){a, b, before});
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++) {
            float sum = 0;

            for (size_t q = 0; q < K; q++)
                sum += value[a[i * K + q]] * value[b[j * K + q]];
            after[i * N + j] = sum;
        }
    assert_int_equal(matmul_verify(&p, &keeps, inputs, outputs, NULL, &v, NULL), TSR_OK);
    assert_true(v.ok && v.sampled);
    after[7 * N + 8] += 1e6f;
    assert_int_equal(matmul_verify(&p, &keeps, inputs, outputs, NULL, &v, NULL), TSR_OK);
    assert_false(v.ok);
    free(a);
    free(b);
    free(before);
    free(after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_sums_are_judged),
        cmocka_unit_test(nan_beats_overflow),
        cmocka_unit_test(overflow_has_a_sign),
        cmocka_unit_test(flushing_counts_without_a_sum),
        cmocka_unit_test(a_missing_tile_is_found),
        cmocka_unit_test(one_wild_element_is_found),
        cmocka_unit_test(a_nan_leaves_the_rest_checked),
        cmocka_unit_test(a_missing_product_is_found),
        cmocka_unit_test(every_element_and_gap_is_looked_at),
        cmocka_unit_test(overflow_is_no_error),
        cmocka_unit_test(pairs_of_sums_are_judged),
        cmocka_unit_test(each_part_is_looked_at),
        cmocka_unit_test(one_wild_part_is_found),
        cmocka_unit_test(complex_problems_are_checked),
        cmocka_unit_test(fp8_problems_are_checked),
        cmocka_unit_test(blocks_of_fp8_lose_what_is_cut),
        cmocka_unit_test(results_of_fp8_saturate),
        cmocka_unit_test(a_wrong_row_of_fp8_is_found),
        cmocka_unit_test(int8_problems_are_checked),
        cmocka_unit_test(each_whole_sum_is_looked_at),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
