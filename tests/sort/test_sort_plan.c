/* What the variants of sort refuse, the order of preference and of keys, the host's sort, and that
 * the proof finds what is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/sizes.h"
#include "core/registry.h"
#include "measure/verify.h"
#include "ops/sort/sort_order.h"
#include "sort_plans.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- the kernels' own mapping of keys, compiled as C ----------------------------------------- */

typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
_Static_assert(sizeof(ulong) == 8, "OpenCL's ulong");
#ifdef __clang__ /* an address space of OpenCL C has a name that C reserves */
#pragma clang diagnostic ignored "-Wreserved-identifier"
#endif
#define __global
#define __local

/* Three times, so every name that it defines gets another one. */
#define KEY              half
#define DESCENDING       0
#define WITH_INDEX       1
#define word             word_half
#define element          element_half
#define to_order         to_order_half
#define from_order       from_order_half
#define element_load     element_load_half
#define element_store    element_store_half
#define element_missing  element_missing_half
#define tile_get         tile_get_half
#define tile_put         tile_put_half
#define out_of_order     out_of_order_half
#define compare_exchange compare_exchange_half
#define memory_exchange  memory_exchange_half
#include "../../cl/sort/sort_key.clh"
#undef SORT_KEY_CLH
#undef SIGN_BIT
#undef NAN_COUNT
#undef KEY
#undef word
#undef element
#undef to_order
#undef from_order
#undef element_load
#undef element_store
#undef element_missing
#undef tile_get
#undef tile_put
#undef out_of_order
#undef compare_exchange
#undef memory_exchange
#define KEY              float
#define word             word_float
#define element          element_float
#define to_order         to_order_float
#define from_order       from_order_float
#define element_load     element_load_float
#define element_store    element_store_float
#define element_missing  element_missing_float
#define tile_get         tile_get_float
#define tile_put         tile_put_float
#define out_of_order     out_of_order_float
#define compare_exchange compare_exchange_float
#define memory_exchange  memory_exchange_float
#include "../../cl/sort/sort_key.clh"
#undef SORT_KEY_CLH
#undef SIGN_BIT
#undef NAN_COUNT
#undef KEY
#undef DESCENDING
#undef word
#undef element
#undef to_order
#undef from_order
#undef element_load
#undef element_store
#undef element_missing
#undef tile_get
#undef tile_put
#undef out_of_order
#undef compare_exchange
#undef memory_exchange
#define KEY        double
#define DESCENDING 1
#include "../../cl/sort/sort_key.clh"
#include "tuning_classes.h"

/* ---- shared ---------------------------------------------------------------------------------- */

static device_facts gpu(void)
{
    return (device_facts){.kind = DEVICE_GPU,
                          .name = "made up",
                          .max_work_group = 1024,
                          .max_work_item = {1024, 1024, 64},
                          .local_memory = 49152,
                          .warp_size = 32};
}

static device_facts tiny_device(void)
{
    device_facts d = gpu();

    d.max_work_group = d.max_work_item[0] = 1;
    d.local_memory = 1024;
    return d;
}

static problem uint32_problem(size_t n, bool argsort)
{
    return sort_problem((tsr_sort_problem){.type = TSR_U32, .n = n, .argsort = argsort});
}

/* ---- what is unsupported --------------------------------------------------------------------- */

static void test_unsupported_gives_the_values(void **state)
{
    const char *const normal[] = {NULL};
    const char *const narrow[] = {"GROUP=16", "STAGES=4", NULL};
    device_facts d = gpu();
    problem q = uint32_problem(1000, false);

    (void)state;
    check_reason_on("two-phase", &d, &q, normal, "supported");
    check_reason_on("two-phase-registers", &d, &q, normal, "supported");
    d.local_memory = 1024;
    check_reason_on("two-phase", &d, &q, normal,
                    "it needs 8192 bytes of local memory, and the device has 1024");
    check_reason_on("two-phase-registers", &d, &q, narrow,
                    "it needs 1032 bytes of local memory, and the device has 1024");
    d = gpu();
    d.max_work_group = 128;
    check_reason_on("two-phase", &d, &q, normal,
                    "it needs work-groups of 256, and the device has at most 128");
    d = gpu();
    sort_in(&q)->n = ((size_t)1 << 31) + 1;
    check_reason_on("two-phase-registers", &d, &q, normal,
                    "it indexes in 32 bits: at most 2147483648 keys, not 2147483649");
    check_reason_on("naive", &d, &q, normal,
                    "it indexes in 32 bits: at most 2147483648 keys, not 2147483649");
    check_reason_on("general", &d, &q, normal, "supported");
}

/* Lessons sort uint32 keys alone, and say who does the rest. */
static void test_lessons_say_what_they_leave_out(void **state)
{
    static const struct {
        tsr_sort_problem s;
        const char *why; /* with the name of the variant that takes the problem */
    } cases[] = {
        {{.type = TSR_F32, .n = 9}, "it takes uint32 keys alone: use `%s` for float32"},
        {{.type = TSR_U32, .n = 9, .descending = true},
         "it sorts in ascending order alone: use `%s`"},
        {{.type = TSR_U32, .n = 9, .argsort = true}, "it sorts keys alone: use `%s` for an index"},
        {{.type = TSR_U32, .n = 9, .value_bytes = 4}, "it sorts keys alone: use `%s` for values"},
        {{.type = TSR_U32, .n = 9, .rows = 5}, "it sorts one row: use `%s` for 5 rows"},
        {{.type = TSR_U32, .n = 9, .offset_keys = 3},
         "it takes keys from offset 0: use `%s` for offset 3"},
        {{.type = TSR_U32, .n = 9, .rows = 1}, "supported"},
        {{.type = TSR_U32}, "supported"},
    };
    static const char *const lessons[][2] = {{"naive", "general"},
                                             {"two-phase", "two-phase-registers"}};
    const char *const normal[] = {NULL};
    const device_facts d = gpu();

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t k = 0; k < COUNT(lessons); k++) {
            problem q = sort_problem(cases[i].s);
            text why = {0};

            text_format(&why, cases[i].why, lessons[k][1]);
            check_reason_on(lessons[k][0], &d, &q, normal, text_get(&why));
            check_reason_on(lessons[k][1], &d, &q, normal, "supported");
            text_free(&why);
        }
}

/* The widest elements fit an ordinary GPU by default; the smallest device still sorts. */
static void test_something_always_suits(void **state)
{
    const char *const normal[] = {NULL};
    const device_facts common = gpu(), least = tiny_device();
    const char *names[PREFERENCES_MAX];
    problem q = sort_problem((tsr_sort_problem){.type = TSR_F64, .n = 5000, .argsort = true});
    size_t n = operation_sort.prefer(&q, &common, names);

    (void)state;
    assert_true(n >= 1);
    for (size_t i = 0; i < n; i++)
        check_reason_on(names[i], &common, &q, normal, "supported");
    n = operation_sort.prefer(&q, &least, names);
    check_reason_on(names[n - 1], &least, &q, normal, "supported");
}

/* Rows of 5 keys stand in blocks of 8, 8 blocks in a tile of 64. */
static void test_rows_share_tiles(void **state)
{
    const char *const small[] = {"GROUP=16", "KEYS_PER_ITEM=4", NULL};
    const char *names[PREFERENCES_MAX];
    const variant *v = find("rows");
    device_facts d = gpu();
    const params p = settings(v, small);
    problem q = uint32_problem(5, false);
    const job j = {&q, &d, &p, false};
    plan out;

    (void)state;
    sort_in(&q)->rows = 17;
    out = plan_for(v, &j);
    assert_int_equal(out.count, 1);
    assert_int_equal(out.commands[0].global[0], 3 * 16);
    plan_free(&out);
    sort_in(&q)->n = 65;
    check_reason_on("rows", &d, &q, small, "a row has to fit in its tile: at most 64 keys, not 65");
    /* Short rows, and a short one alone, are handed on from register to register. */
    operation_sort.prefer(&q, &d, names);
    assert_string_equal(names[0], "rows-shfl");
    assert_string_equal(names[1], "rows-warp");
    sort_in(&q)->argsort = true; /* keys of twice the size */
    operation_sort.prefer(&q, &d, names);
    assert_string_equal(names[0], "rows-warp");
    sort_in(&q)->argsort = false;
    sort_in(&q)->n = 129;
    operation_sort.prefer(&q, &d, names);
    assert_string_equal(names[0], "rows-warp");
    sort_in(&q)->rows = 0;
    operation_sort.prefer(&q, &d, names);
    assert_string_equal(names[0], "rows-shfl");
    assert_string_equal(names[1], "two-phase-registers");
    sort_in(&q)->n = 4096;
    operation_sort.prefer(&q, &d, names);
    assert_string_equal(names[0], "rows-shfl");
    sort_in(&q)->argsort = true;
    operation_sort.prefer(&q, &d, names);
    assert_string_equal(names[0], "counted");
    assert_string_equal(names[1], "fused-passes-warp");
    sort_in(&q)->n = 9217;
    operation_sort.prefer(&q, &d, names);
    assert_string_equal(names[0], "fused-passes-warp");
    sort_in(&q)->type = TSR_F64; /* for which the network has no room */
    operation_sort.prefer(&q, &d, names);
    assert_string_equal(names[0], "merge-path");
    sort_in(&q)->type = TSR_U32;
    sort_in(&q)->argsort = false;
    /* Long rows take passes over memory, of which a GPU saves most. */
    sort_in(&q)->n = 10000;
    operation_sort.prefer(&q, &d, names);
    assert_string_equal(names[0], "fused-passes-warp");
    assert_string_equal(names[1], "fused-passes");
    sort_in(&q)->rows = 3;
    operation_sort.prefer(&q, &d, names);
    assert_string_equal(names[3], "fused-passes-warp");
    d.kind = DEVICE_CPU;
    operation_sort.prefer(&q, &d, names);
    assert_string_equal(names[2], "two-phase-registers"); /* behind cpu-vectors and rows */
    d.kind = DEVICE_GPU;
    /* Launches of all rows at once: more work-groups than a kernel can number. */
    sort_in(&q)->n = 512;
    sort_in(&q)->rows = (size_t)1 << 31;
    check_reason_on("general", &d, &q, &small[2],
                    "it numbers work-groups in 32 bits: at most 1431655765 rows of 512 keys, not "
                    "2147483648");
}

static size_t workspace_of(const variant *v, const job *j)
{
    plan out = plan_for(v, j);
    const size_t bytes = out.workspace;

    plan_free(&out);
    return bytes;
}

/* A copy of the values, and without an index of the caller's one before it. */
static void test_workspace_of_values(void **state)
{
    const variant *v = find("two-phase-registers");
    const device_facts d = gpu();
    const params p = params_default(v);
    problem q = uint32_problem(1001, false);
    const job j = {&q, &d, &p, false};

    (void)state;
    assert_int_equal(workspace_of(v, &j), 0);
    sort_in(&q)->value_bytes = 4;
    assert_int_equal(workspace_of(v, &j), 1001 * (8 + 4));
    sort_in(&q)->value_bytes = 16; /* the copy is aligned to its values */
    assert_int_equal(workspace_of(v, &j), 1002 * 8 + 1001 * 16);
    sort_in(&q)->argsort = true;
    assert_int_equal(workspace_of(v, &j), 1001 * 16);
    sort_in(&q)->n = 0;
    assert_int_equal(workspace_of(v, &j), 0);
}

/* ---- the order ------------------------------------------------------------------------------- */

/* Ascending, written out by hand. */
static const uint32_t order_f32[] = {0xFF800000, 0xFF7FFFFF, 0xBF800000, 0x80800000, 0x807FFFFF,
                                     0x80000001, 0x80000000, 0x00000000, 0x00000001, 0x007FFFFF,
                                     0x00800000, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001,
                                     0x7FC00000, 0x7FFFFFFF, 0xFFFFFFFF, 0xFFC00000, 0xFF800001};
static const uint64_t order_f64[] = {
    0xFFF0000000000000, 0xFFEFFFFFFFFFFFFF, 0xBFF0000000000000, 0x8000000000000001,
    0x8000000000000000, 0x0000000000000000, 0x0000000000000001, 0x3FF0000000000000,
    0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF0000000000001, 0x7FF8000000000000,
    0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 0xFFF8000000000000, 0xFFF0000000000001};
static const uint16_t order_f16[] = {0xFC00, 0xFBFF, 0xBC00, 0x8400, 0x83FF, 0x8001, 0x8000,
                                     0x0000, 0x0001, 0x03FF, 0x0400, 0x3C00, 0x7BFF, 0x7C00,
                                     0x7C01, 0x7E00, 0x7FFF, 0xFFFF, 0xFE00, 0xFC01};
static const int8_t order_i8[] = {INT8_MIN, INT8_MIN + 1, -1, 0, 1, INT8_MAX};
static const uint8_t order_u8[] = {0, 1, INT8_MAX, 0x80, UINT8_MAX};
static const int16_t order_i16[] = {INT16_MIN, INT8_MIN, -1, 0, 1, UINT8_MAX, INT16_MAX};
static const uint16_t order_u16[] = {0, 1, UINT8_MAX, INT16_MAX, 0x8000, UINT16_MAX};
static const int32_t order_i32[] = {INT32_MIN, INT32_MIN + 1, -1, 0, 1, INT32_MAX};
static const uint32_t order_u32[] = {0, 1, INT32_MAX, 0x80000000, UINT32_MAX};
static const int64_t order_i64[] = {INT64_MIN, INT32_MIN, -1, 0, 1, UINT32_MAX, INT64_MAX};
static const uint64_t order_u64[] = {0, UINT32_MAX, INT64_MAX, 0x8000000000000000, UINT64_MAX};

static void check_ascending(tsr_type type, const void *keys, size_t n)
{
    const key_comparator compare = sort_comparator(type);
    const size_t bytes = tsr_type_size(type);
    const unsigned char *k = keys;

    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < n; b++) {
            int c = compare(k + a * bytes, k + b * bytes);

            assert_int_equal((c > 0) - (c < 0), (a > b) - (a < b));
        }
    }
}

static void test_comparators_give_the_documented_order(void **state)
{
    (void)state;
    check_ascending(TSR_F32, order_f32, COUNT(order_f32));
    check_ascending(TSR_F64, order_f64, COUNT(order_f64));
    check_ascending(TSR_F16, order_f16, COUNT(order_f16));
    check_ascending(TSR_I8, order_i8, COUNT(order_i8));
    check_ascending(TSR_U8, order_u8, COUNT(order_u8));
    check_ascending(TSR_I16, order_i16, COUNT(order_i16));
    check_ascending(TSR_U16, order_u16, COUNT(order_u16));
    check_ascending(TSR_I32, order_i32, COUNT(order_i32));
    check_ascending(TSR_U32, order_u32, COUNT(order_u32));
    check_ascending(TSR_I64, order_i64, COUNT(order_i64));
    check_ascending(TSR_U64, order_u64, COUNT(order_u64));
}

static void test_kernels_map_keys_to_the_documented_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(order_f16); i++) {
        assert_int_equal(from_order_half(to_order_half(order_f16[i])), order_f16[i]);
        if (i > 0)
            assert_true(to_order_half(order_f16[i - 1]) < to_order_half(order_f16[i]));
    }
    assert_int_equal(to_order_half(0xFC00), 0);
    assert_int_equal(to_order_half(0xFC01), UINT16_MAX);
    for (size_t i = 0; i < COUNT(order_f32); i++) {
        assert_int_equal(from_order_float(to_order_float(order_f32[i])), order_f32[i]);
        if (i > 0)
            assert_true(to_order_float(order_f32[i - 1]) < to_order_float(order_f32[i]));
    }
    for (size_t i = 0; i < COUNT(order_f64); i++) {
        assert_true(from_order(to_order(order_f64[i])) == order_f64[i]);
        if (i > 0)
            assert_true(to_order(order_f64[i - 1]) > to_order(order_f64[i]));
    }
    /* -inf is the very first, and the last NaN the very last. */
    assert_int_equal(to_order_float(0xFF800000), 0);
    assert_true(to_order(0xFFF0000000000000) == UINT64_MAX);
    assert_int_equal(to_order_float(0xFF800001), UINT32_MAX);
}

/* ---- proof and host -------------------------------------------------------------------------- */

enum { ROOM = 2048 };

/* One problem with its operands before and after, of at most ROOM elements. */
typedef struct trial {
    problem q;
    uint64_t before[OPERANDS_MAX][2 * ROOM], after[OPERANDS_MAX][2 * ROOM];
} trial;

static void trial_start(trial *t, distribution f)
{
    void *const operands[] = {t->before[0], t->before[1], t->before[2], t->before[3]};

    operation_sort.fill(&t->q, 7, f, operands);
    memcpy(t->after, t->before, sizeof(t->after));
}

static void trial_sort(trial *t)
{
    void *const operands[] = {t->after[0], t->after[1], t->after[2], t->after[3]};

    assert_int_equal(find("qsort")->host(&t->q, operands, NULL), TSR_OK);
}

static bool trial_passes(const trial *t)
{
    const void *const before[] = {t->before[0], t->before[1], t->before[2], t->before[3]};
    const void *const after_[] = {t->after[0], t->after[1], t->after[2], t->after[3]};
    const device_facts d = {.kind = DEVICE_HOST};
    verdict v;

    assert_int_equal(operation_sort.verify(&t->q, &d, before, after_, NULL, &v, NULL), TSR_OK);
    assert_true(v.ok || v.detail[0]);
    return v.ok;
}

static void test_qsort_passes_the_proof(void **state)
{
    static trial t;

    (void)state;
    for (size_t i = 0; operation_sort.sweep(i, true, &t.q); i++) {
        for (int f = 0; f < DISTRIBUTION_COUNT; f++) {
            assert_true(sort_keys(sort_of(&t.q)) + sort_in(&t.q)->offset_keys +
                            sort_in(&t.q)->offset_index + sort_in(&t.q)->offset_values <=
                        ROOM);
            trial_start(&t, (distribution)f);
            trial_sort(&t);
            assert_true(trial_passes(&t));
        }
    }
}

/* What is expected is computed once, and then stands, whatever the keys become. */
static void test_expectation_is_shared(void **state)
{
    static trial t;
    const void *const before[] = {t.before[0], t.before[1], t.before[2]};
    const void *const after_[] = {t.after[0], t.after[1], t.after[2]};
    const device_facts d = {.kind = DEVICE_HOST};
    void *expected = NULL;
    verdict v;

    (void)state;
    t.q = sort_problem(
        (tsr_sort_problem){.type = TSR_U32, .n = 90, .argsort = true, .offset_keys = 2});
    trial_start(&t, DISTRIBUTION_UNIFORM);
    trial_sort(&t);
    assert_int_equal(verify_result(&t.q, &d, before, after_, &expected, &v, NULL), TSR_OK);
    assert_non_null(expected);
    assert_int_equal(verify_result(&t.q, &d, before, after_, &expected, &v, NULL), TSR_OK);
    /* Another order of the same inputs, which is right for them alone. */
    ((uint32_t *)t.before[0])[2] ^= 0x80000000u;
    memcpy(t.after, t.before, sizeof(t.after));
    trial_sort(&t);
    assert_int_equal(verify_result(&t.q, &d, before, after_, NULL, &v, NULL), TSR_OK);
    assert_int_equal(verify_result(&t.q, &d, before, after_, &expected, &v, NULL), TSR_EBOUND);
    free(expected);
}

static void test_proof_finds_what_is_wrong(void **state)
{
    static trial t;
    uint64_t *keys = t.after[0], *index = t.after[1], kept;

    (void)state;
    t.q = sort_problem((tsr_sort_problem){.type = TSR_U64,
                                          .n = 100,
                                          .descending = true,
                                          .argsort = true,
                                          .offset_keys = 3,
                                          .offset_index = 2});
    trial_start(&t, DISTRIBUTION_FEW);
    assert_false(trial_passes(&t)); /* not sorted */
    trial_sort(&t);
    assert_true(trial_passes(&t));

    keys[3 + 99] ^= 1; /* a key changed */
    assert_false(trial_passes(&t));
    keys[3 + 99] ^= 1;
    keys[2] ^= 1; /* a key before the offset changed */
    assert_false(trial_passes(&t));
    keys[2] ^= 1;
    index[1] ^= 1; /* an index before the offset changed */
    assert_false(trial_passes(&t));
    index[1] ^= 1;
    assert_int_equal(keys[3], keys[4]); /* equal keys whose indices changed places */
    kept = index[2];
    index[2] = index[3];
    index[3] = kept;
    assert_false(trial_passes(&t));
    index[3] = index[2];
    index[2] = kept;
    assert_true(trial_passes(&t));
}

/* Values of equal keys that changed places, a value lost, and one before the offset. */
static void test_proof_of_values(void **state)
{
    const tsr_sort_problem problems[] = {
        {.type = TSR_U16, .n = 100, .value_bytes = 16, .offset_values = 2},
        {.type = TSR_U16, .n = 100, .value_bytes = 8, .offset_values = 2, .argsort = true},
        {.type = TSR_I8, .n = 100, .value_bytes = 8, .offset_values = 2, .descending = true},
    };
    static trial t;

    (void)state;
    for (size_t i = 0; i < COUNT(problems); i++) {
        const size_t bytes = problems[i].value_bytes;
        unsigned char *values = (unsigned char *)t.after[2], kept[16];

        t.q = sort_problem(problems[i]);
        trial_start(&t, DISTRIBUTION_FEW);
        trial_sort(&t);
        assert_true(trial_passes(&t));
        assert_memory_not_equal(values + 2 * bytes, t.before[2] + 2 * bytes / 8, 100 * bytes);
        memcpy(kept, values + 2 * bytes, bytes); /* 17 distinct keys: the first two are equal */
        memcpy(values + 2 * bytes, values + 3 * bytes, bytes);
        assert_false(trial_passes(&t));
        memcpy(values + 3 * bytes, kept, bytes);
        assert_false(trial_passes(&t));
        memcpy(values + 3 * bytes, values + 2 * bytes, bytes);
        memcpy(values + 2 * bytes, kept, bytes);
        assert_true(trial_passes(&t));
        values[101 * bytes + bytes - 1] ^= 1;
        assert_false(trial_passes(&t));
        values[101 * bytes + bytes - 1] ^= 1;
        values[0] ^= 1;
        assert_false(trial_passes(&t));
    }
}

/* Rows are distinguished: a right row in the wrong place, and keys that crossed over. */
static void test_proof_of_rows(void **state)
{
    static trial t;
    uint32_t *keys = (uint32_t *)t.after[0];
    int64_t *index = (int64_t *)t.after[1];
    uint32_t kept;

    (void)state;
    t.q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 30, .rows = 7, .argsort = true});
    trial_start(&t, DISTRIBUTION_UNIFORM);
    trial_sort(&t);
    assert_true(trial_passes(&t));
    assert_true(index[30] < 30 && keys[29] > keys[30]);
    index[30] += 30; /* counted from the first row */
    assert_false(trial_passes(&t));
    index[30] -= 30;
    kept = keys[29];
    keys[29] = keys[30];
    keys[30] = kept;
    assert_false(trial_passes(&t));
    sort_in(&t.q)->n *= sort_in(&t.q)->rows;
    sort_in(&t.q)->rows = 1;
    trial_start(&t, DISTRIBUTION_UNIFORM);
    trial_sort(&t);
    sort_in(&t.q)->n /= 7;
    sort_in(&t.q)->rows = 7;
    assert_false(trial_passes(&t)); /* all sorted as one row */
}

/* The same beyond the reference. */
static void test_proof_of_many_rows(void **state)
{
    const size_t n = 1000, rows = 1100;
    const device_facts d = gpu();
    problem q = uint32_problem(n, false);
    uint32_t *before = malloc(n * rows * sizeof(*before)), *after_ = malloc(n * rows * 4);
    int64_t *index = malloc(n * rows * sizeof(*index));
    const void *const given[] = {before, index}, *const sorted[] = {after_, index};
    uint32_t kept;
    verdict v;

    (void)state;
    assert_true(before && after_ && index);
    sort_in(&q)->rows = rows;
    for (size_t i = 0; i < n * rows; i++) {
        before[i] = after_[i] = (uint32_t)(i % n);
        index[i] = (int64_t)(i % n);
    }
    for (int argsort = 0; argsort < 2; argsort++) {
        sort_in(&q)->argsort = argsort;
        operation_sort.verify(&q, &d, given, sorted, NULL, &v, NULL);
        assert_true(v.ok);
        kept = after_[0]; /* in order, but of two rows */
        after_[0] = before[0] = 7;
        after_[n] = 0;
        operation_sort.verify(&q, &d, given, sorted, NULL, &v, NULL);
        assert_false(v.ok);
        after_[0] = before[0] = kept;
    }
    after_[n - 1] = 5; /* the last of its row */
    operation_sort.verify(&q, &d, given, sorted, NULL, &v, NULL);
    assert_false(v.ok);
    free(before);
    free(after_);
    free(index);
}

/* Beyond the reference, a value that went to another key. */
static void test_proof_of_many_values(void **state)
{
    const size_t n = ((size_t)1 << 20) + 1;
    const device_facts d = gpu();
    problem q = uint32_problem(n, false);
    uint32_t *keys = malloc(n * sizeof(*keys));
    uint16_t *before = malloc(n * sizeof(*before)), *after_ = malloc(n * sizeof(*after_));
    const void *const given[] = {keys, NULL, before}, *const sorted[] = {keys, NULL, after_};
    verdict v;

    (void)state;
    assert_true(keys && before && after_);
    sort_in(&q)->value_bytes = sizeof(*before);
    for (size_t i = 0; i < n; i++) {
        keys[i] = (uint32_t)i;
        before[i] = after_[i] = (uint16_t)(i * 7);
    }
    operation_sort.verify(&q, &d, given, sorted, NULL, &v, NULL);
    assert_true(v.ok);
    after_[5] = before[6];
    after_[6] = before[5];
    operation_sort.verify(&q, &d, given, sorted, NULL, &v, NULL);
    assert_false(v.ok);
    free(keys);
    free(before);
    free(after_);
}

/* Beyond what a reference sort proves in reasonable time. */
static void test_proof_of_many_keys(void **state)
{
    const size_t n = ((size_t)1 << 20) + 1;
    const device_facts d = gpu();
    problem q = uint32_problem(n, true);
    uint32_t *keys = malloc(n * sizeof(*keys));
    int64_t *index = malloc(n * sizeof(*index));
    const void *const operands[] = {keys, index};
    verdict v;

    (void)state;
    assert_non_null(keys);
    assert_non_null(index);
    for (size_t i = 0; i < n; i++) {
        keys[i] = (uint32_t)(i / 2);
        index[i] = (int64_t)i;
    }
    operation_sort.verify(&q, &d, operands, operands, NULL, &v, NULL);
    assert_true(v.ok);
    index[n - 1] = index[n - 3]; /* one position twice, another never */
    operation_sort.verify(&q, &d, operands, operands, NULL, &v, NULL);
    assert_false(v.ok);
    index[0] = 1; /* equal keys in the wrong order */
    index[1] = 0;
    operation_sort.verify(&q, &d, operands, operands, NULL, &v, NULL);
    assert_false(v.ok);
    sort_in(&q)->argsort = false;
    operation_sort.verify(&q, &d, operands, operands, NULL, &v, NULL);
    assert_true(v.ok);
    keys[1] = 5; /* not in order */
    operation_sort.verify(&q, &d, operands, operands, NULL, &v, NULL);
    assert_false(v.ok);
    free(keys);
    free(index);
}

/* ---- check ----------------------------------------------------------------------------------- */

static void test_check(void **state)
{
    problem q = uint32_problem(SIZE_MAX / 8, false);
    tsr_error err;

    (void)state;
    assert_int_equal(operation_sort.check(&q, &err), TSR_OK);
    sort_in(&q)->offset_keys = 1;
    assert_int_equal(operation_sort.check(&q, &err), TSR_EOVERFLOW);
    assert_non_null(strstr(err.message, "offset 1"));
    sort_in(&q)->offset_keys = 0;
    sort_in(&q)->argsort = true; /* the index needs twice the room */
    assert_int_equal(operation_sort.check(&q, &err), TSR_EOVERFLOW);
    q = uint32_problem(SIZE_MAX / 4, false);
    sort_in(&q)->rows = 5;
    assert_int_equal(operation_sort.check(&q, &err), TSR_EOVERFLOW);
    assert_non_null(strstr(err.message, "5 rows of"));
    q = uint32_problem(SIZE_MAX / 64, false);
    sort_in(&q)->value_bytes = 16;
    assert_int_equal(operation_sort.check(&q, &err), TSR_OK);
    sort_in(&q)->offset_values = SIZE_MAX / 16;
    assert_int_equal(operation_sort.check(&q, &err), TSR_EOVERFLOW);
    assert_non_null(strstr(err.message, "values of 16 bytes at offset"));
    sort_in(&q)->offset_values = 0;
    sort_in(&q)->n = SIZE_MAX / 16; /* the workspace has no room */
    assert_int_equal(operation_sort.check(&q, &err), TSR_EOVERFLOW);
    for (size_t bytes = 0; bytes < 40; bytes++) {
        q = uint32_problem(1, false);
        sort_in(&q)->value_bytes = bytes;
        assert_int_equal(operation_sort.check(&q, &err),
                         bytes <= 2 || bytes == 4 || bytes == 8 || bytes == 16 ? TSR_OK
                                                                               : TSR_EINVAL);
    }
    assert_non_null(strstr(err.message, "16 bytes, not 39"));
    q = uint32_problem(1, false);
    sort_in(&q)->type = TSR_BF16;
    assert_int_equal(operation_sort.check(&q, &err), TSR_EINVAL);
    assert_non_null(strstr(err.message, "not bfloat16"));
    for (int t = 0; t < TSR_TYPE_COUNT; t++) {
        sort_in(&q)->type = (tsr_type)t;
        assert_int_equal(operation_sort.check(&q, NULL),
                         operation_sort.types >> t & 1 ? TSR_OK : TSR_EINVAL);
    }
}

static void test_describe(void **state)
{
    problem q = uint32_problem(63436, true);
    text t = {0};

    (void)state;
    sort_in(&q)->descending = true;
    operation_sort.describe(&q, &t);
    assert_string_equal(text_get(&t), "63436 uint32 argsort descending");
    text_clear(&t);
    sort_in(&q)->value_bytes = 16;
    operation_sort.describe(&q, &t);
    assert_string_equal(text_get(&t), "63436 uint32 argsort descending with 16-byte values");
    text_clear(&t);
    q = uint32_problem(9, false);
    sort_in(&q)->rows = 4;
    operation_sort.describe(&q, &t);
    assert_string_equal(text_get(&t), "4 rows of 9 uint32");
    text_free(&t);
}

/* The first and the last problem of a range are of it, their neighbours of another. */
static void classes_name_their_problems(void **state)
{
    problem p = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = (size_t)1 << 20});

    (void)state;
    expect_class(&p, "4-byte, 2^20 to 2^24 - 1 keys");
    sort_in(&p)->n = ((size_t)1 << 24) - 1;
    expect_class(&p, "4-byte, 2^20 to 2^24 - 1 keys");
    sort_in(&p)->n = ((size_t)1 << 20) - 1;
    sort_in(&p)->argsort = 1;
    expect_class(&p, "4-byte argsort, 2^16 to 2^20 - 1 keys");
    sort_in(&p)->value_bytes = 8;
    expect_class(&p, "4-byte argsort, 2^16 to 2^20 - 1 keys");
    sort_in(&p)->argsort = 0;
    expect_class(&p, "4-byte with 8-byte values, 2^16 to 2^20 - 1 keys");
    sort_in(&p)->value_bytes = 1;
    expect_class(&p, "4-byte with 1-byte values, 2^16 to 2^20 - 1 keys");
    sort_in(&p)->value_bytes = 16;
    expect_class(&p, "4-byte argsort, 2^16 to 2^20 - 1 keys");
    sort_in(&p)->value_bytes = 0;
    sort_in(&p)->argsort = 1;
    sort_in(&p)->n = 4095;
    expect_class(&p, "4-byte argsort, 1 to 2^12 - 1 keys");
    sort_in(&p)->rows = 8;
    expect_class(&p, "4-byte argsort rows, 1 to 2^12 - 1 keys");
    sort_in(&p)->argsort = 0;
    sort_in(&p)->value_bytes = 4;
    expect_class(&p, "4-byte argsort rows, 1 to 2^12 - 1 keys");
    sort_in(&p)->value_bytes = 0;
    expect_class(&p, "4-byte rows, 1 to 2^12 - 1 keys");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unsupported_gives_the_values),
        cmocka_unit_test(test_lessons_say_what_they_leave_out),
        cmocka_unit_test(test_something_always_suits),
        cmocka_unit_test(test_comparators_give_the_documented_order),
        cmocka_unit_test(test_kernels_map_keys_to_the_documented_order),
        cmocka_unit_test(test_qsort_passes_the_proof),
        cmocka_unit_test(test_expectation_is_shared),
        cmocka_unit_test(test_proof_finds_what_is_wrong),
        cmocka_unit_test(test_proof_of_values),
        cmocka_unit_test(test_proof_of_many_values),
        cmocka_unit_test(test_proof_of_rows),
        cmocka_unit_test(test_proof_of_many_rows),
        cmocka_unit_test(test_rows_share_tiles),
        cmocka_unit_test(test_proof_of_many_keys),
        cmocka_unit_test(test_workspace_of_values),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_describe),
        cmocka_unit_test(classes_name_their_problems),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
