/* The variant in C on every type, reduction and kind of shape, against the reference, at the
 * instruction set of this process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/elements.h"
#include "base/sizes.h"
#include "core/registry.h"
#include "ops/reduce/reduce_problem.h"

/* outer, n, inner, elements between steps and between strides. */
static const size_t shapes[][5] = {{1, 1, 1, 0, 0},     {1, 31, 1, 0, 0},     {1, 4097, 1, 0, 0},
                                   {1, 40003, 1, 0, 0}, {3, 33, 1, 0, 4},     {70, 65, 1, 0, 0},
                                   {2, 1500, 1, 3, 1},  {1, 200, 3, 0, 0},    {2, 1001, 7, 0, 5},
                                   {1, 7, 700, 0, 0},   {3, 40, 33, 2, 2},    {1, 5000, 40, 0, 0},
                                   {1, 520, 130, 0, 0}, {529, 3, 1, 0, 2},    {37, 17, 1, 1, 0},
                                   {1, 6, 600, 0, 0},   {1, 130, 1100, 3, 0}, {2, 130, 1100, 0, 5}};
static const distribution inputs[] = {DISTRIBUTION_UNIFORM, DISTRIBUTION_SPECIAL, DISTRIBUTION_FEW,
                                      DISTRIBUTION_ORDERED};

static void check(const tsr_reduce_problem *structure, distribution f)
{
    const device_facts host = {.denormals_f32 = true, .denormals_f64 = true, .fp64 = true};
    const problem p = problem_from(&operation_reduce, structure, sizeof(*structure));
    void *before[OPERANDS_MAX] = {0}, *after[OPERANDS_MAX] = {0};
    operand o[OPERANDS_MAX];
    verdict found;
    text what = {0};

    assert_int_equal(operation_reduce.check(&p, NULL), TSR_OK);
    operation_reduce.operands(&p, o);
    for (size_t i = 0; i < 2; i++) {
        before[i] = malloc(o[i].bytes + 1);
        after[i] = malloc(o[i].bytes + 1);
        assert_true(before[i] && after[i]);
    }
    operation_reduce.fill(&p, 7, f, before);
    for (size_t i = 0; i < 2; i++)
        memcpy(after[i], before[i], o[i].bytes);
    assert_int_equal(reduce_simd.host(&p, after, NULL), TSR_OK);
    assert_int_equal(operation_reduce.verify(&p, &host, (const void *const *)before,
                                             (const void *const *)after, NULL, &found, NULL),
                     TSR_OK);
    operation_reduce.describe(&p, &what);
    if (!found.ok)
        print_error("%s, inputs %d: %s\n", text_get(&what), (int)f, found.detail);
    assert_true(found.ok);
    text_free(&what);
    for (size_t i = 0; i < 2; i++) {
        free(before[i]);
        free(after[i]);
    }
}

static void all_of_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(shapes); i++)
        for (int type = 0; type < SINGLE_TYPE_COUNT; type++)
            for (size_t by = 0; by <= TSR_REDUCE_COUNT; by++)
                for (size_t f = 0; f < ARRAY_COUNT(inputs); f++) {
                    const size_t *s = shapes[i];
                    const size_t step = s[2] + s[3];
                    const tsr_reduce_problem p = {
                        .type = (tsr_type)type,
                        .n = s[1],
                        .by = by,
                        .offset_x = i % 3,
                        .offset_result = f,
                        .outer = s[0],
                        .inner = s[2],
                        .step = s[3] ? step : 0,
                        .stride = s[4] ? (s[1] - 1) * step + s[2] + s[4] : 0,
                    };

                    check(&p, inputs[f]);
                }
}

/* What one block's sum has no bit for is there when the other one's takes that away. */
static void carries_pass_from_block_to_block(void **state)
{
    enum { N = 1 << 15, SIDE_BY_SIDE = 32 };
    const tsr_reduce_problem structure = {.type = TSR_F64, .n = N, .by = TSR_REDUCE_SUM};
    const problem p = problem_from(&operation_reduce, &structure, sizeof(structure));
    double *x = calloc(N, sizeof(*x)), result = 0;
    void *arrays[OPERANDS_MAX] = {x, &result};

    (void)state;
    assert_non_null(x);
    for (size_t at = 0; at < N; at += N / 2) {
        memset(x, 0, N * sizeof(*x));
        x[N / 2 - at] = -0x1p53;
        x[at] = 0x1p53;
        x[at + SIDE_BY_SIDE] = 1; /* behind it in the same lane */
        assert_int_equal(reduce_simd.host(&p, arrays, NULL), TSR_OK);
        assert_true(result == 1);
    }
    free(x);
}

/* The same of the parts of a column: the first one's sum is rounded, or the last one's. */
static void carries_pass_down_a_column(void **state)
{
    enum { ROWS = 1000, COLUMNS = 40 };
    const tsr_reduce_problem structure = {
        .type = TSR_F64, .n = ROWS, .inner = COLUMNS, .by = TSR_REDUCE_SUM};
    const problem p = problem_from(&operation_reduce, &structure, sizeof(structure));
    double *x = calloc(ROWS * COLUMNS, sizeof(*x)), result[COLUMNS];
    void *arrays[OPERANDS_MAX] = {x, result};

    (void)state;
    assert_non_null(x);
    for (int last = 0; last < 2; last++) {
        const size_t rounded = last ? ROWS - 2 : 0, opposite = last ? 0 : ROWS - 1;

        memset(x, 0, ROWS * COLUMNS * sizeof(*x));
        for (size_t j = 0; j < COLUMNS; j++) {
            x[rounded * COLUMNS + j] = 0x1p53;
            x[(rounded + 1) * COLUMNS + j] = 1;
            x[opposite * COLUMNS + j] = -0x1p53;
        }
        assert_int_equal(reduce_simd.host(&p, arrays, NULL), TSR_OK);
        for (size_t j = 0; j < COLUMNS; j++)
            assert_true(result[j] == 1);
    }
    free(x);
}

/* Sums and counts of 0, no mean, and all of them are not 0. */
static void of_nothing(void **state)
{
    (void)state;
    for (int type = 0; type < SINGLE_TYPE_COUNT; type++)
        for (size_t by = 0; by <= TSR_REDUCE_COUNT; by++) {
            const tsr_reduce_problem p = {.type = (tsr_type)type, .by = by, .outer = 2, .inner = 3};

            if (by == TSR_REDUCE_SUM || by >= TSR_REDUCE_MEAN)
                check(&p, DISTRIBUTION_UNIFORM);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_of_all), cmocka_unit_test(of_nothing),
                                       cmocka_unit_test(carries_pass_from_block_to_block),
                                       cmocka_unit_test(carries_pass_down_a_column)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
