/* The first keys in C, against a sort of all keys by the C library's qsort: to the bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/sizes.h"
#include "ops/sort/sort_variants.h"
#include "ops/topk/topk_problem.h"

static void same_as_qsort(const tsr_topk_problem *t, distribution how)
{
    const problem p = problem_from(&operation_topk, t, sizeof(*t));
    const size_t kept = topk_kept(t), rows = sort_rows(&t->sort);
    const size_t offset[] = {t->sort.offset_keys, t->sort.offset_index, t->sort.offset_values};
    operand o[OPERANDS_MAX];
    const size_t count = operation_topk.operands(&p, o);
    const size_t each[] = {tsr_type_size(t->sort.type), t->sort.argsort ? sizeof(int64_t) : 0,
                           t->sort.value_bytes};
    void *memory[2][OPERANDS_MAX] = {{NULL}};

    for (size_t i = 0; i < count; i++) {
        memory[0][i] = calloc(1, o[i].bytes + 1);
        memory[1][i] = malloc(o[i].bytes + 1);
        assert_true(memory[0][i] && memory[1][i]);
    }
    operation_topk.fill(&p, 5, how, memory[0]);
    for (size_t i = 0; i < count; i++)
        memcpy(memory[1][i], memory[0][i], o[i].bytes);
    assert_int_equal(sort_qsort.host(&p, memory[0], NULL), TSR_OK);
    assert_int_equal(topk_host_top.host(&p, memory[1], NULL), TSR_OK);
    for (size_t i = 0; i < count; i++) {
        for (size_t r = 0; r < rows; r++) {
            const size_t start = (offset[i] + r * t->sort.n) * each[i];

            assert_memory_equal((char *)memory[0][i] + start, (char *)memory[1][i] + start,
                                kept * each[i]);
        }
        free(memory[0][i]);
        free(memory[1][i]);
    }
}

static void in_every_mode(tsr_type type, size_t n, size_t k, distribution how)
{
    static const size_t value_bytes[] = {0, 1, 4, 16};

    for (size_t v = 0; v < ARRAY_COUNT(value_bytes); v++)
        for (int mode = 0; mode < 4; mode++)
            same_as_qsort(&(tsr_topk_problem){{.type = type,
                                               .n = n,
                                               .argsort = mode & 1,
                                               .descending = mode & 2,
                                               .value_bytes = value_bytes[v],
                                               .offset_keys = 3},
                                              .k = k},
                          how);
}

/* Fewer keys than are collected before they are cut down, and many times as many. */
static void test_lengths(void **state)
{
    static const size_t lengths[] = {1, 2, 63, 65, 1023, 1025, 5000};

    (void)state;
    for (int t = 0; t < TSR_TYPE_COUNT; t++)
        for (size_t i = 0; i < ARRAY_COUNT(lengths) && sort_takes((tsr_type)t); i++)
            in_every_mode((tsr_type)t, lengths[i], i % 2 ? 1 : 40, DISTRIBUTION_PLAIN);
}

/* The last key of all takes the place of the k-th one of those before it, which ascend. */
static void test_last_of_all(void **state)
{
    enum { N = 5000 };
    static uint32_t keys[N];

    (void)state;
    for (uint32_t k = 2; k < 1000; k = 3 * k / 2 + 1) {
        const tsr_topk_problem t = {{.type = TSR_U32, .n = N}, .k = k};
        const problem p = problem_from(&operation_topk, &t, sizeof(t));

        for (uint32_t i = 0; i < N; i++)
            keys[i] = 2 * i;
        keys[N - 1] = 2 * k - 3;
        assert_int_equal(topk_host_top.host(&p, (void *const[]){keys}, NULL), TSR_OK);
        for (uint32_t i = 0; i < k; i++)
            assert_int_equal(keys[i], i < k - 1 ? 2 * i : 2 * k - 3);
    }
}

/* Of few distinct keys many are as good as the last one; of reversed ones all are collected. */
static void test_distributions(void **state)
{
    (void)state;
    for (int t = 0; t < TSR_TYPE_COUNT; t++)
        for (int how = 0; how < DISTRIBUTION_COUNT && sort_takes((tsr_type)t); how++)
            in_every_mode((tsr_type)t, 6000, 100, (distribution)how);
}

/* By several threads where there are several processors: chunks of a row, and rows. */
static void test_long_ones(void **state)
{
    (void)state;
    for (int mode = 0; mode < 2; mode++) {
        tsr_topk_problem t = {{.type = mode ? TSR_F32 : TSR_U64, .argsort = mode, .n = 600000},
                              .k = 333};

        same_as_qsort(&t, DISTRIBUTION_PLAIN);
        same_as_qsort(&t, DISTRIBUTION_REVERSED);
        t.sort.rows = 700;
        t.sort.n = 900;
        t.k = 7;
        same_as_qsort(&t, DISTRIBUTION_PLAIN);
        same_as_qsort(&t, DISTRIBUTION_FEW);
    }
}

/* The chunks of several threads leave none out, where they are not of one length: the first key is
 * the last one of a prime number of them. */
static void test_last_of_the_last_chunk(void **state)
{
    enum { N = 600011 };
    const tsr_topk_problem t = {{.type = TSR_U32, .n = N}, .k = 3};
    const problem p = problem_from(&operation_topk, &t, sizeof(t));
    uint32_t *keys = malloc(N * sizeof(*keys));

    (void)state;
    assert_non_null(keys);
    for (uint32_t i = 0; i < N; i++)
        keys[i] = i + 1;
    keys[N - 1] = 0;
    assert_int_equal(topk_host_top.host(&p, (void *const[]){keys}, NULL), TSR_OK);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(keys[i], i);
    free(keys);
}

/* As many as there are, and more. */
static void test_all_keys(void **state)
{
    (void)state;
    in_every_mode(TSR_F32, 3000, 3000, DISTRIBUTION_PLAIN);
    in_every_mode(TSR_I16, 3000, 5000, DISTRIBUTION_PLAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_last_of_all),
        cmocka_unit_test(test_distributions),
        cmocka_unit_test(test_long_ones),
        cmocka_unit_test(test_last_of_the_last_chunk),
        cmocka_unit_test(test_all_keys),
    };

    return cmocka_run_group_tests_name("topk in C", tests, NULL, NULL);
}
