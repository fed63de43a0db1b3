/* Products of few rows or columns in C, of which the larger factor is read where it is: beside
 * plain loops, of small whole numbers, so that each sum is exact; and to the last bit beside
 * products of more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/sizes.h"
#include "tessera/tessera.h"

enum { PADDING = 3, GAP = 77 };

static double get(tsr_type type, const void *from, size_t i)
{
    return type == TSR_F64 ? ((const double *)from)[i] : ((const float *)from)[i];
}

static void put(tsr_type type, void *to, size_t i, double value)
{
    if (type == TSR_F64)
        ((double *)to)[i] = value;
    else
        ((float *)to)[i] = (float)value;
}

/* Numbers from -1 to 2. */
static void *numbers(tsr_type type, size_t count, uint32_t seed)
{
    void *all = malloc(count * sizeof(double));

    assert_non_null(all);
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        put(type, all, i, (double)(seed >> 30) - 1);
    }
    return all;
}

static void is_exact(tsr_session *s, tsr_matmul_problem p)
{
    const size_t lda = (p.trans_a ? p.m : p.k) + PADDING, ldb = (p.trans_b ? p.k : p.n) + PADDING;
    const size_t ldc = p.n + PADDING;
    void *a = numbers(p.type, lda * size_max(p.m, p.k), 1);
    void *b = numbers(p.type, ldb * size_max(p.n, p.k), 2);
    void *c = numbers(p.type, ldc * p.m, 3), *before = numbers(p.type, ldc * p.m, 3);
    const tsr_run run = {.variant = "simd"};

    p.lda = lda;
    p.ldb = ldb;
    p.ldc = ldc;
    for (size_t i = 0; i < p.m; i++)
        for (size_t j = p.n; j < ldc; j++)
            put(p.type, c, i * ldc + j, GAP);
    assert_int_equal(tsr_matmul(s, &p, a, b, c, &run, NULL, NULL), TSR_OK);
    for (size_t i = 0; i < p.m; i++) {
        for (size_t j = 0; j < p.n; j++) {
            double sum = 0;

            for (size_t l = 0; l < p.k; l++)
                sum += get(p.type, a, p.trans_a ? l * lda + i : i * lda + l) *
                       get(p.type, b, p.trans_b ? j * ldb + l : l * ldb + j);
            sum = p.alpha * sum + (p.beta != 0 ? p.beta * get(p.type, before, i * ldc + j) : 0);
            assert_true(get(p.type, c, i * ldc + j) == sum);
        }
        for (size_t j = p.n; j < ldc; j++)
            assert_true(get(p.type, c, i * ldc + j) == GAP);
    }
    free(a);
    free(b);
    free(c);
    free(before);
}

static tsr_session *open_host(tsr_devices **list)
{
    const tsr_device *host = NULL;
    tsr_session *s = NULL;
    size_t n = 0;

    assert_int_equal(tsr_devices_find(list, NULL), TSR_OK);
    assert_int_equal(tsr_devices_select(*list, "host", &host, 1, &n, NULL), TSR_OK);
    assert_int_equal(tsr_session_open(host, NULL, &s, NULL), TSR_OK);
    return s;
}

/* Sides below, at and above what is multiplied at once, on both sides of each limit. */
static void each_shape_is_exact(void **state)
{
    static const size_t few[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 24, 25};
    static const size_t many[] = {10, 64, 131};
    static const size_t depth[] = {1, 7, 33, 1100};
    tsr_devices *list = NULL;
    tsr_session *s = open_host(&list);
    size_t turn = 0;

    (void)state;
    for (size_t f = 0; f < sizeof(few) / sizeof(*few); f++)
        for (size_t m = 0; m < sizeof(many) / sizeof(*many); m++)
            for (size_t k = 0; k < sizeof(depth) / sizeof(*depth); k++)
                for (unsigned way = 0; way < 16; way++, turn++) {
                    tsr_matmul_problem p = TSR_MATMUL_PROBLEM_INIT;

                    p.type = way & 8 ? TSR_F64 : TSR_F32;
                    p.m = way & 1 ? few[f] : many[m];
                    p.n = way & 1 ? many[m] : few[f];
                    p.k = depth[k];
                    p.trans_a = (way & 2) != 0;
                    p.trans_b = (way & 4) != 0;
                    p.alpha = turn % 3 ? 2 : 1;
                    p.beta = (double)(turn % 5 % 3);
                    is_exact(s, p);
                }
    tsr_session_close(s);
    tsr_devices_close(list);
}

/* The first rows and columns of a product are the product of these rows and columns: programs
 * compare what they have from matrices of different shapes, as tests of LAPACK's eigenvalues do. */
static void last_bits_do_not_depend_on_shape(tsr_session *s, tsr_matmul_problem p)
{
    const tsr_run run = {.variant = "simd"};
    const size_t m = p.m, n = p.n, sides = m + n + p.k;
    double *a = malloc(sides * sides * sizeof(double)), *b = malloc(sides * sides * sizeof(double));
    double *whole = malloc(m * n * sizeof(double)), *part = malloc(m * n * sizeof(double));
    uint32_t seed = 1;

    assert_true(a && b && whole && part);
    for (size_t i = 0; i < sides * sides; i++) {
        seed = seed * 1664525u + 1013904223u;
        put(p.type, a, i, (double)seed / 3e9 - 0.5);
        put(p.type, b, i, (double)(seed % 65537) / 3e4 - 1);
    }
    for (size_t i = 0; i < m * n; i++)
        put(p.type, whole, i, (double)i / 7);
    p.lda = p.ldb = sides;
    p.ldc = n;
    assert_int_equal(tsr_matmul(s, &p, a, b, whole, &run, NULL, NULL), TSR_OK);
    for (size_t few = 1; few <= 26; few += few < 18 ? 1 : 4) {
        for (int rows = 0; rows < 2; rows++) {
            p.m = rows ? few : m;
            p.n = rows ? n : few;
            for (size_t i = 0; i < m * n; i++)
                put(p.type, part, i, (double)i / 7);
            assert_int_equal(tsr_matmul(s, &p, a, b, part, &run, NULL, NULL), TSR_OK);
            for (size_t i = 0; i < p.m; i++)
                for (size_t j = 0; j < p.n; j++)
                    assert_true(get(p.type, part, i * n + j) == get(p.type, whole, i * n + j));
        }
    }
    free(a);
    free(b);
    free(whole);
    free(part);
}

static void each_shape_has_the_same_bits(void **state)
{
    /* The last is deeper than a block, and what two of them sum up is added. */
    static const struct {
        size_t n, k;
    } sizes[] = {{131, 3}, {131, 19}, {131, 200}, {45, 600}};
    tsr_devices *list = NULL;
    tsr_session *s = open_host(&list);

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        for (unsigned way = 0; way < 16; way++) {
            tsr_matmul_problem p = TSR_MATMUL_PROBLEM_INIT;

            p.type = way & 1 ? TSR_F64 : TSR_F32;
            p.m = 45;
            p.n = sizes[i].n;
            p.k = sizes[i].k;
            p.trans_a = (way & 2) != 0;
            p.trans_b = (way & 4) != 0;
            p.alpha = 0.7;
            p.beta = way & 8 ? 0.3 : 0;
            last_bits_do_not_depend_on_shape(s, p);
        }
    tsr_session_close(s);
    tsr_devices_close(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_shape_is_exact),
                                       cmocka_unit_test(each_shape_has_the_same_bits)};

    return cmocka_run_group_tests_name("matmul_few", tests, NULL, NULL);
}
