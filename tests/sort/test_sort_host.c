/* Sorting in C by digits, against the C library's qsort with its comparators: to the bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/sizes.h"
#include "ops/sort/sort_order.h"
#include "ops/sort/sort_variants.h"

/* Bytes around each operand that are not to change. */
enum { GUARD = 64 };

/* Changes n keys of so many bytes before they are sorted. */
typedef void change_keys(unsigned char *keys, size_t n, size_t bytes);

static void compare_with_qsort(const tsr_sort_problem *s, distribution how, change_keys *change)
{
    const problem p = sort_problem(*s);
    operand o[OPERANDS_MAX];
    const size_t count = operation_sort.operands(&p, o);
    unsigned char *memory[2][OPERANDS_MAX] = {{NULL}};
    void *given[2][OPERANDS_MAX] = {{NULL}};

    for (size_t i = 0; i < count; i++) {
        for (size_t side = 0; side < 2; side++) {
            memory[side][i] = malloc(o[i].bytes + 2 * GUARD);
            assert_non_null(memory[side][i]);
            memset(memory[side][i], 0xA5, o[i].bytes + 2 * GUARD);
            given[side][i] = memory[side][i] + GUARD;
        }
    }
    operation_sort.fill(&p, 11, how, given[0]);
    if (change)
        change(given[0][0], s->n, tsr_type_size(s->type));
    for (size_t i = 0; i < count; i++)
        memcpy(given[1][i], given[0][i], o[i].bytes);
    assert_int_equal(sort_qsort.host(&p, given[0], NULL), TSR_OK);
    assert_int_equal(sort_host_radix.host(&p, given[1], NULL), TSR_OK);
    for (size_t i = 0; i < count; i++) {
        assert_memory_equal(memory[0][i], memory[1][i], o[i].bytes + 2 * GUARD);
        free(memory[0][i]);
        free(memory[1][i]);
    }
}

static void same_as_qsort(const tsr_sort_problem *s, distribution how)
{
    compare_with_qsort(s, how, NULL);
}

/* A key alone, with an index, with values, with both; ascending and descending. */
static void in_every_mode(tsr_type type, size_t n, distribution how)
{
    static const size_t value_bytes[] = {0, 1, 2, 4, 8, 16};

    for (size_t v = 0; v < ARRAY_COUNT(value_bytes); v++)
        for (int mode = 0; mode < 4; mode++)
            same_as_qsort(&(tsr_sort_problem){.type = type,
                                              .n = n,
                                              .argsort = mode & 1,
                                              .descending = mode & 2,
                                              .value_bytes = value_bytes[v]},
                          how);
}

/* Around where the ways of sorting change. */
static void test_lengths(void **state)
{
    static const size_t lengths[] = {0,   1,   2,   3,   8,   31,  32,  33,  63,   64,   65,  66,
                                     100, 127, 128, 129, 255, 256, 257, 319, 1000, 4095, 4097};

    (void)state;
    for (int t = 0; t < TSR_TYPE_COUNT; t++)
        for (size_t i = 0; i < ARRAY_COUNT(lengths) && sort_takes((tsr_type)t); i++)
            in_every_mode((tsr_type)t, lengths[i], DISTRIBUTION_PLAIN);
}

static void test_distributions(void **state)
{
    (void)state;
    for (int t = 0; t < TSR_TYPE_COUNT; t++)
        for (int how = 0; how < DISTRIBUTION_COUNT && sort_takes((tsr_type)t); how++)
            in_every_mode((tsr_type)t, 300, (distribution)how);
}

static void all_greatest(unsigned char *keys, size_t n, size_t bytes)
{
    memset(keys, 0xFF, n * bytes);
}

static void most_greatest(unsigned char *keys, size_t n, size_t bytes)
{
    for (size_t i = 0; i < n; i++)
        if (i % 64 != 5)
            memset(keys + i * bytes, 0xFF, bytes);
}

static void most_least(unsigned char *keys, size_t n, size_t bytes)
{
    for (size_t i = 0; i < n; i++)
        if (i % 64 != 5)
            memset(keys + i * bytes, 0, bytes);
}

/* Keys of which most are the least or the greatest there are, next to which no pivot is. */
static void test_extremes(void **state)
{
    static change_keys *const changes[] = {all_greatest, most_greatest, most_least};
    static const tsr_type types[] = {TSR_U32, TSR_U64};
    static const size_t lengths[] = {257, 5000, 70001};

    (void)state;
    for (size_t t = 0; t < ARRAY_COUNT(types); t++)
        for (size_t c = 0; c < ARRAY_COUNT(changes); c++)
            for (size_t i = 0; i < ARRAY_COUNT(lengths); i++)
                compare_with_qsort(&(tsr_sort_problem){.type = types[t], .n = lengths[i]},
                                   DISTRIBUTION_UNIFORM, changes[c]);
}

/* Every length of a few words, and of many that leave a few. */
static void test_each_length(void **state)
{
    static const tsr_type types[] = {TSR_U32, TSR_F64};

    (void)state;
    for (size_t t = 0; t < ARRAY_COUNT(types); t++)
        for (size_t n = 1; n < 700; n++)
            same_as_qsort(&(tsr_sort_problem){.type = types[t], .n = n, .descending = n & 1},
                          DISTRIBUTION_UNIFORM);
}

/* In buckets, by several threads where there are several processors. */
static void test_long_ones(void **state)
{
    static const tsr_type types[] = {TSR_F32, TSR_I64, TSR_U8, TSR_F16, TSR_F64};

    (void)state;
    for (size_t t = 0; t < ARRAY_COUNT(types); t++) {
        same_as_qsort(&(tsr_sort_problem){.type = types[t], .n = 150001, .descending = t & 1},
                      DISTRIBUTION_PLAIN);
        same_as_qsort(
            &(tsr_sort_problem){.type = types[t], .n = 140000, .argsort = true, .value_bytes = 2},
            t & 1 ? DISTRIBUTION_FEW : DISTRIBUTION_PLAIN);
    }
    for (int how = 0; how < DISTRIBUTION_COUNT; how++)
        same_as_qsort(&(tsr_sort_problem){.type = TSR_U32, .n = 140000}, (distribution)how);
}

/* In even buckets, whose size a sample decides. */
static void test_even_buckets(void **state)
{
    enum { N = (1 << 18) + 77, NOT_SPLIT = (1 << 22) + 3 };

    (void)state;
    for (int how = 0; how < DISTRIBUTION_COUNT; how++)
        same_as_qsort(
            &(tsr_sort_problem){.type = TSR_F32, .n = N, .argsort = true, .descending = how & 1},
            (distribution)how);
    same_as_qsort(&(tsr_sort_problem){.type = TSR_F64, .n = N, .value_bytes = 1},
                  DISTRIBUTION_PLAIN);
    for (int how = 0; how < DISTRIBUTION_COUNT; how++)
        same_as_qsort(&(tsr_sort_problem){.type = TSR_I32, .n = N}, (distribution)how);
    same_as_qsort(&(tsr_sort_problem){.type = TSR_U8, .n = N}, DISTRIBUTION_PLAIN);
    same_as_qsort(&(tsr_sort_problem){.type = TSR_I64, .n = N}, DISTRIBUTION_PLAIN);
    same_as_qsort(&(tsr_sort_problem){.type = TSR_I64, .n = N}, DISTRIBUTION_FEW);
    same_as_qsort(&(tsr_sort_problem){.type = TSR_F64, .n = NOT_SPLIT}, DISTRIBUTION_PLAIN);
}

/* So many keys that words are put into buckets a cache line at a time, from three places of a line
 * on. */
static void test_buckets_by_lines(void **state)
{
    enum { N = 1200000 };

    (void)state;
    for (size_t offset = 0; offset < 16; offset += 7)
        same_as_qsort(&(tsr_sort_problem){.type = TSR_U32, .n = N, .offset_keys = offset},
                      DISTRIBUTION_PLAIN);
    same_as_qsort(&(tsr_sort_problem){.type = TSR_F32, .n = N, .argsort = true},
                  DISTRIBUTION_PLAIN);
    same_as_qsort(&(tsr_sort_problem){.type = TSR_I64, .n = N, .argsort = true},
                  DISTRIBUTION_PLAIN);
    same_as_qsort(&(tsr_sort_problem){.type = TSR_F64, .n = N, .offset_keys = 3},
                  DISTRIBUTION_PLAIN);
}

static void outlier(unsigned char *keys, size_t n, size_t bytes)
{
    (void)n;
    memset(keys + bytes, 0, bytes);
}

/* One key that the sample missed, below or above all others: even buckets would have all words in
 * one for ever. */
static void test_an_outlier(void **state)
{
    static const tsr_type types[] = {TSR_U16, TSR_U32, TSR_F32, TSR_U64};
    enum { N = 1 << 20 };

    (void)state;
    for (size_t t = 0; t < ARRAY_COUNT(types); t++)
        for (int mode = 0; mode < 4; mode++)
            compare_with_qsort(
                &(tsr_sort_problem){
                    .type = types[t], .n = N, .argsort = mode & 1, .descending = mode & 2},
                DISTRIBUTION_CONSTANT, outlier);
}

/* Among the equal keys of long sequences an index and values stay in their order. */
static void test_long_ones_are_stable(void **state)
{
    static const tsr_type types[] = {TSR_U8, TSR_F32, TSR_U64};

    (void)state;
    for (size_t t = 0; t < ARRAY_COUNT(types); t++)
        for (int how = 0; how < DISTRIBUTION_COUNT; how++)
            same_as_qsort(&(tsr_sort_problem){.type = types[t],
                                              .n = 300000,
                                              .argsort = true,
                                              .descending = how & 1,
                                              .value_bytes = 4},
                          (distribution)how);
}

/* Rows, short ones and long ones, and offsets of each operand. */
static void test_parts(void **state)
{
    (void)state;
    for (int mode = 0; mode < 4; mode++) {
        tsr_sort_problem s = {.type = TSR_F32,
                              .n = 77,
                              .rows = 1000,
                              .argsort = mode & 1,
                              .descending = mode & 2,
                              .value_bytes = mode & 1 ? 0 : 4,
                              .offset_keys = 3,
                              .offset_index = mode & 1 ? 5 : 0,
                              .offset_values = mode & 1 ? 0 : 7};

        same_as_qsort(&s, DISTRIBUTION_PLAIN);
        s.n = 140001;
        s.rows = 2;
        same_as_qsort(&s, DISTRIBUTION_PLAIN);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths),      cmocka_unit_test(test_distributions),
        cmocka_unit_test(test_long_ones),    cmocka_unit_test(test_long_ones_are_stable),
        cmocka_unit_test(test_even_buckets), cmocka_unit_test(test_buckets_by_lines),
        cmocka_unit_test(test_an_outlier),   cmocka_unit_test(test_parts),
        cmocka_unit_test(test_extremes),     cmocka_unit_test(test_each_length),
    };

    return cmocka_run_group_tests_name("sort in C", tests, NULL, NULL);
}
