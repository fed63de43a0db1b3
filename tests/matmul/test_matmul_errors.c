/* How errors of products of matrices are measured: on results that are made, and then changed by so
 * much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/real.h"
#include "measure/errors.h"
#include "ops/matmul/matmul_shape.h"

enum { M = 24, N = 40, K = 70 };

static problem product_of(tsr_type type)
{
    return matmul_problem(
        (tsr_matmul_problem){.type = type, .m = M, .n = N, .k = K, .alpha = 1, .batch = 1});
}

static error_case opened(const problem *p, error_distribution f)
{
    error_case c = {0};
    tsr_error err = {0};

    if (errors_open(p, 7, f, &c, &err))
        fail_msg("%s", err.message);
    assert_false(c.sampled);
    return c;
}

/* The result that the samples ask for, in float64, with what is open left as it is. */
static double *exact_result(const error_case *c)
{
    double *out = malloc(c->operand[2].bytes);

    assert_non_null(out);
    memcpy(out, c->before[2], c->operand[2].bytes);
    for (size_t i = 0; i < c->count; i++) {
        const error_sample *s = &c->samples[i];

        out[s->at] = s->is == ERRORS_FINITE  ? (double)s->exact
                     : s->is == ERRORS_PLUS  ? INFINITY
                     : s->is == ERRORS_MINUS ? -INFINITY
                                             : NAN;
    }
    return out;
}

static bool near(double got, double wanted)
{
    return fabs(got - wanted) <= 1e-9 * wanted;
}

/* One element off by a known part of its (|A| |B|): that is the maximum, and over the root of the
 * number of elements the root mean square. */
static void one_wrong_element(void **state)
{
    const problem p = product_of(TSR_F64);

    (void)state;
    for (int f = 0; f < ERRORS_SPECIAL; f++) {
        error_case c = opened(&p, (error_distribution)f);
        double *result = exact_result(&c);
        const error_sample *s = &c.samples[M * N / 3];
        error_found found;

        assert_int_equal(c.count, M * N);
        errors_measure(&c, result, &found);
        assert_int_equal(found.elements, M * N);
        assert_int_equal(found.differ, 0);
        assert_true(found.max <= 0x1p-53 && found.rms <= found.max);
        result[s->at] += 1e-3 * (double)s->scale;
        errors_measure(&c, result, &found);
        assert_true(near(found.max, 1e-3));
        assert_true(near(found.rms, 1e-3 / sqrt(M * N)));
        result[s->at] = NAN;
        errors_measure(&c, result, &found);
        assert_true(isinf(found.max) && isinf(found.rms));
        assert_int_equal(found.differ, 1);
        free(result);
        errors_close(&c);
    }
}

/* The reference against sums of integers: numbers of float16 are multiples of 2^-24, their
 * products of 2^-48, of which 70 fit 64 bits.  The small terms of the wide distribution need every
 * one of them. */
static void the_reference_is_exact(void **state)
{
    const problem p = product_of(TSR_F16);

    (void)state;
    for (int f = 0; f < ERRORS_SPECIAL; f++) {
        error_case c = opened(&p, (error_distribution)f);

        for (size_t e = 0; e < c.count; e++) {
            const size_t i = c.samples[e].at / N, j = c.samples[e].at % N;
            int64_t sum = 0, scale = 0;

            for (size_t q = 0; q < K; q++) {
                const double x = real_get(TSR_F16, c.before[0], i * K + q) * 0x1p24;
                const double y = real_get(TSR_F16, c.before[1], q * N + j) * 0x1p24;
                const int64_t term = (int64_t)x * (int64_t)y;

                assert_true(x == (double)(int64_t)x && y == (double)(int64_t)y);
                sum += term;
                scale += term < 0 ? -term : term;
            }
            assert_true(c.samples[e].exact == (long double)sum * 0x1p-48L);
            assert_true(c.samples[e].scale == (long double)scale * 0x1p-48L);
        }
        errors_close(&c);
    }
}

/* Sums of the cancelling distribution are small beside their terms, of the others they are not all.
 */
static void what_the_families_are(void **state)
{
    const problem p = product_of(TSR_F32);
    size_t seen[ERRORS_OPEN + 1] = {0};
    double largest = 0, smallest = INFINITY;
    error_case c = opened(&p, ERRORS_CANCELLING);

    (void)state;
    for (size_t i = 0; i < c.count; i++)
        assert_true(fabsl(c.samples[i].exact) < 0.02L * c.samples[i].scale);
    errors_close(&c);
    c = opened(&p, ERRORS_WIDE);
    for (size_t i = 0; i < (size_t)M * K; i++) {
        const double x = fabs((double)((const float *)c.before[0])[i]);

        largest = fmax(largest, x);
        smallest = fmin(smallest, x);
    }
    assert_true(largest > 0x1p18 && smallest < 0x1p-18);
    errors_close(&c);
    c = opened(&p, ERRORS_SPECIAL);
    for (size_t i = 0; i < c.count; i++)
        seen[c.samples[i].is]++;
    for (int k = 0; k < ERRORS_OPEN; k++)
        assert_true(seen[k] > M * N / 100);
    assert_true(seen[ERRORS_FINITE] > M * N / 8 && seen[ERRORS_OPEN] < M * N / 4);
    errors_close(&c);
}

/* A result whose infinity, or NaN, is another one, or finite. */
static void wrong_classes(void **state)
{
    const problem p = product_of(TSR_F64);
    error_case c = opened(&p, ERRORS_SPECIAL);
    double *result = exact_result(&c);
    error_found found;
    size_t changed = 0;

    (void)state;
    errors_measure(&c, result, &found);
    assert_int_equal(found.differ, 0);
    assert_true(found.elements < c.count && found.max <= 0x1p-53);
    for (size_t i = 0; i < c.count; i++) {
        const error_sample *s = &c.samples[i];

        if (s->is == ERRORS_FINITE)
            continue;
        changed += s->is != ERRORS_OPEN;
        result[s->at] = s->is == ERRORS_PLUS ? -INFINITY : s->is == ERRORS_MINUS ? NAN : 0;
    }
    errors_measure(&c, result, &found);
    assert_int_equal(found.differ, changed);
    assert_true(found.max <= 0x1p-53); /* of the finite ones, which are right */
    free(result);
    errors_close(&c);
}

/* Element (i, j) of product e of a batch with transposes, column-major C and gaps is where the
 * operation says, and what a plain loop gives. */
static void layouts(void **state)
{
    problem p = matmul_problem((tsr_matmul_problem){.type = TSR_F64,
                                                    .m = 9,
                                                    .n = 7,
                                                    .k = 33,
                                                    .alpha = 1,
                                                    .trans_a = true,
                                                    .lda = 11,
                                                    .ldb = 8,
                                                    .ldc = 10,
                                                    .offset_a = 2,
                                                    .offset_b = 3,
                                                    .offset_c = 4,
                                                    .batch = 3,
                                                    .stride_a = 0,
                                                    .stride_b = 300,
                                                    .stride_c = 100});
    error_case c = opened(&p, ERRORS_UNIFORM);
    const double *a = c.before[0], *b = c.before[1];

    (void)state;
    assert_int_equal(c.count, 9 * 7 * 3);
    for (size_t s = 0; s < c.count; s++) {
        const size_t at = c.samples[s].at - 4, e = at / 100, i = at % 100 / 10, j = at % 10;
        long double sum = 0;

        assert_true(e < 3 && i < 9 && j < 7);
        for (size_t q = 0; q < 33; q++)
            sum += (long double)a[2 + q * 11 + i] * b[3 + e * 300 + q * 8 + j];
        assert_true(fabsl(sum - c.samples[s].exact) <= 0x1p-58L * c.samples[s].scale);
    }
    errors_close(&c);
}

/* Beyond the limits a grid of elements: each once, from every part of C. */
static void samples(void **state)
{
    const problem p = matmul_problem((tsr_matmul_problem){
        .type = TSR_F32, .m = 3000, .n = 1500, .k = 2, .alpha = 1, .batch = 1});
    error_case c = {0};
    bool corner[4] = {false};
    unsigned char *seen = calloc(3000 * 1500, 1);

    (void)state;
    assert_non_null(seen);
    assert_int_equal(errors_open(&p, 1, ERRORS_UNIFORM, &c, NULL), TSR_OK);
    assert_true(c.sampled && c.count >= 1 << 20 && c.count < 3000 * 1500 / 3);
    for (size_t s = 0; s < c.count; s++) {
        const size_t i = c.samples[s].at / 1500, j = c.samples[s].at % 1500;

        assert_int_equal(seen[c.samples[s].at], 0);
        seen[c.samples[s].at] = 1;
        if ((i < 30 || i >= 2970) && (j < 15 || j >= 1485))
            corner[(i >= 30) + 2 * (j >= 15)] = true;
    }
    assert_true(corner[0] && corner[1] && corner[2] && corner[3]);
    free(seen);
    errors_close(&c);
}

static void units(void **state)
{
    problem p = product_of(TSR_BF16);

    (void)state;
    assert_true(errors_unit(&p) == 0x1p-8);
    matmul_in(&p)->c_f32 = true;
    assert_true(errors_unit(&p) == 0x1p-24);
    p = product_of(TSR_F64);
    assert_true(errors_unit(&p) == 0x1p-53);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_wrong_element),
                                       cmocka_unit_test(the_reference_is_exact),
                                       cmocka_unit_test(what_the_families_are),
                                       cmocka_unit_test(wrong_classes),
                                       cmocka_unit_test(layouts),
                                       cmocka_unit_test(samples),
                                       cmocka_unit_test(units)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
