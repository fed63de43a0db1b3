/* The proofs of big and special products: what they find, and that they pass what is right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static product make(double scale)
{
    product x = {
        .p = matmul_problem((tsr_matmul_problem){.m = SIDE, .n = SIDE, .k = SIDE, .alpha = 1})};
    void *operands[3];

    x.a = malloc(sizeof(float) * SIDE * SIDE);
    x.b = malloc(sizeof(float) * SIDE * SIDE);
    x.before = malloc(sizeof(float) * SIDE * SIDE);
    x.after = malloc(sizeof(float) * SIDE * SIDE);
    operands[0] = x.a;
    operands[1] = x.b;
    operands[2] = x.before;
    matmul_fill(&x.p, 1, DISTRIBUTION_UNIFORM, operands);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++)
        x.a[i] *= (float)scale;
    for (size_t i = 0; i < SIDE; i++) {
        double row[SIDE] = {0};

        for (size_t q = 0; q < SIDE; q++)
            for (size_t j = 0; j < SIDE; j++)
                row[j] += (double)x.a[i * SIDE + q] * x.b[q * SIDE + j];
        for (size_t j = 0; j < SIDE; j++)
            x.after[i * SIDE + j] = (float)row[j];
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

        for (size_t q = 0; q < EACH; q++)
            for (size_t j = 0; j < EACH; j++)
                sum[j] += real_get(TSR_BF16, a, row * EACH + q) * wide[q * EACH + j];
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
    product x = make(1e38);

    (void)state;
    assert_true(verify(&x).ok);
    drop(&x);
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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
