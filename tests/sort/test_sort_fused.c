/* How the variants of sort that hold keys in registers split a problem, in what order their
 * commands take keys that arrive, and what they refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/sizes.h"
#include "core/registry.h"
#include "ops/sort/sort_order.h"
#include "sort_plans.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static device_facts gpu(void)
{
    return (device_facts){
        .kind = DEVICE_GPU,
        .max_work_group = 1024,
        .max_work_item = {1024, 1024, 64},
        .compute_units = 132,
        .local_memory = 49152,
        .nvidia = true,
        .large_local = 231424,
        .feature = {[FEATURE_PTX] = FEATURE_YES, [FEATURE_LARGE_LOCAL] = FEATURE_YES}};
}

/* ---- as keys arrive -------------------------------------------------------------------------- */

/* Keys that commands have moved in all, and since the last key arrived. */
typedef struct moved {
    double before, after;
} moved;

/* Commands say what they work on; nothing is touched again once it is settled, front first. */
static moved check_arriving(const variant *v, const params *p, size_t n)
{
    const device_facts d = gpu();
    const problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = n});
    const job j = {&q, &d, p, true};
    plan out = plan_for(v, &j);
    size_t arrived = 0, settled = 0; /* positions below */
    moved m = {0};

    assert_true(out.arriving);
    for (size_t i = 0; i < out.count; i++) {
        const command *c = &out.commands[i];

        assert_true(c->first < c->end && c->end <= n);
        assert_true(c->first >= settled);
        arrived = size_max(arrived, c->end);
        if (c->settles) {
            assert_int_equal(c->first, settled);
            assert_int_equal(arrived, n);
            settled = c->end;
        }
        *(arrived < n ? &m.before : &m.after) += (double)(c->end - c->first);
    }
    assert_int_equal(settled, n > 1 ? n : 0);
    plan_free(&out);
    return m;
}

static void test_arriving_keys_are_settled_in_order(void **state)
{
    static const char *const cases[][5] = {
        {"KEYS=4", "GROUP=8", NULL},
        {"KEYS=4", "GROUP=8", "SORT_TILES=4", NULL},
        {"KEYS=4", "GROUP=8", "PASS_TILES=2", "STAGES=6", NULL},
    };
    const variant *v = find("fused-passes");

    (void)state;
    for (size_t c = 0; c < COUNT(cases); c++) {
        const params p = settings(v, cases[c]);

        for (size_t n = 0; n <= 1100; n += 1 + n / 70)
            check_arriving(v, &p, n);
        check_arriving(v, &p, 4096);
        check_arriving(v, &p, 10007);
    }
}

/* When the last of five chunks is there, its own sort and the last merge are left: less than what
 * was done before.  A chunk's commands share a lane. */
static void test_arriving_chunks(void **state)
{
    static const char *const chunks[] = {"CHUNK=20", "KEYS=16", NULL};
    const variant *v = find("fused-passes-warp");
    const params p = settings(v, chunks);
    const size_t n = ((size_t)5 << 20) - 77;
    const device_facts d = gpu();
    const problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = n});
    const job j = {&q, &d, &p, true};
    const moved m = check_arriving(v, &p, n);
    plan out = plan_for(v, &j);

    (void)state;
    assert_true(m.after < m.before);
    for (size_t i = 0; i < out.count; i++) {
        const command *c = &out.commands[i];
        const size_t chunk = c->first >> 20;

        if (!c->lane)
            continue;
        assert_int_equal(c->lane, 1 + chunk % 2);
        assert_true(c->end <= (chunk + 1) << 20);
    }
    plan_free(&out);
}

/* ---- the split ------------------------------------------------------------------------------- */

/* KEYS, the exponents of a tile and of one that is sorted, and STAGES. */
static void check_split(const char *name, const device_facts *d, const tsr_sort_problem *s,
                        size_t keys, uint32_t tile_shift, uint32_t sort_shift, size_t stages)
{
    static const char *const none[] = {NULL};
    const variant *v = find(name);
    const params p = settings(v, none);
    const problem q = sort_problem(*s);
    const job j = {&q, d, &p, false};

    assert_int_equal(defined(v, &j, "KEYS"), keys);
    assert_int_equal(keys * defined(v, &j, "GROUP"), 1u << tile_shift);
    assert_int_equal(keys * defined(v, &j, "SORT_GROUP"), 1u << sort_shift);
    assert_int_equal(defined(v, &j, "STAGES"), stages);
}

/* 2^14 keys of 4 bytes in a tile, twice that in one that is sorted, rows of 128 bytes; where local
 * memory is short, or there are fewer tiles than units, less. */
static void test_split_on_a_gpu(void **state)
{
    tsr_sort_problem s = {.type = TSR_U32, .n = 1 << 21};
    const device_facts d = gpu();
    device_facts small = gpu();

    (void)state;
    check_split("fused-passes-warp", &d, &s, 32, 14, 15, 9);
    /* Probed or not, what the device does not report is for the variants that need it. */
    check_split("fused-passes", &d, &s, 32, 13, 13, 8);
    small.large_local = 0;
    check_split("fused-passes-warp", &small, &s, 32, 13, 13, 8);
    s.type = TSR_U64;
    check_split("fused-passes-warp", &small, &s, 16, 12, 12, 8);
    s = (tsr_sort_problem){.type = TSR_U32, .n = 1 << 20};
    check_split("fused-passes-warp", &d, &s, 32, 13, 14, 8);
    s.rows = 2;
    check_split("fused-passes-warp", &d, &s, 32, 14, 15, 9);
    s = (tsr_sort_problem){.type = TSR_U32, .n = 1000};
    check_split("fused-passes-warp", &d, &s, 32, 12, 13, 7);
    s.n = 8000;
    check_split("fused-passes-warp", &d, &s, 16, 11, 12, 6);
    s.n = (1 << 14) + 1;
    check_split("fused-passes-warp", &d, &s, 32, 12, 13, 7);
}

static void check_chunk(const device_facts *d, const tsr_sort_problem *s, size_t chunk)
{
    static const char *const none[] = {NULL};
    const variant *v = find("fused-passes");
    const params p = settings(v, none);
    const problem q = sort_problem(*s);
    const job j = {&q, d, &p, false};

    assert_int_equal(defined(v, &j, "CHUNK"), chunk);
}

/* What stays in the cache is sorted first where there is more, in one row: 16 MiB. */
static void test_chunks_follow_the_cache(void **state)
{
    tsr_sort_problem s = {.type = TSR_U32, .n = (1 << 23) + 1};
    device_facts d = gpu();

    (void)state;
    check_chunk(&d, &s, 22);
    s.type = TSR_U64;
    check_chunk(&d, &s, 21);
    s.n = 1 << 22;
    check_chunk(&d, &s, 31);
    s.n = 1 << 24;
    s.rows = 2;
    check_chunk(&d, &s, 31);
    s.rows = 1;
    d.kind = DEVICE_CPU;
    check_chunk(&d, &s, 31);
}

/* Chunks take turns in two lanes; whatever merges them comes after both. */
static void test_chunks_run_side_by_side(void **state)
{
    static const char *const settings_of[][3] = {{"CHUNK=20", NULL},
                                                 {"CHUNK=20", "QUEUES=1", NULL}};
    const variant *v = find("fused-passes-warp");
    const problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 3 << 20});
    const device_facts d = gpu();

    (void)state;
    for (size_t queues = 2; queues >= 1; queues--) {
        const params p = settings(v, settings_of[2 - queues]);
        const job j = {&q, &d, &p, false};
        plan out = plan_for(v, &j);
        size_t lanes[LANES + 1] = {0};
        bool merging = false;

        for (size_t i = 0; i < out.count; i++) {
            const command *c = &out.commands[i];
            const size_t chunk = c->first >> 20;

            lanes[c->lane]++;
            merging = merging || c->end - c->first > 1 << 20;
            assert_int_equal(c->lane, merging || queues == 1 ? 0 : 1 + chunk % 2);
        }
        assert_true(merging);
        assert_true(lanes[0] > 0);
        if (queues == 2)
            assert_int_equal(lanes[1], 2 * lanes[2]);
        plan_free(&out);
    }
}

static void check_reason(const char *name, const problem *q, const char *const *assignments,
                         const char *expected)
{
    const device_facts d = gpu();

    check_reason_on(name, &d, q, assignments, expected);
}

static void test_unsupported_gives_the_values(void **state)
{
    static const char *const none[] = {NULL}, *const wide[] = {"GROUP=1024", "KEYS=64", NULL},
                             *const many[] = {"GROUP=1024", "SORT_TILES=2", "KEYS=4", NULL},
                             *const few[] = {"KEYS=64", "STAGES=6", NULL},
                             *const narrow[] = {"GROUP=8", NULL};
    problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 1000});

    (void)state;
    check_reason("fused-passes", &q, none, "supported");
    check_reason("fused-passes", &q, wide, "its tiles have at most 2^15 keys, not 2^16");
    check_reason("fused-passes", &q, many,
                 "it needs work-groups of 2048, and the device has at most 1024");
    check_reason("fused-passes", &q, few,
                 "with 64 keys a work-item and tiles of 2^12 keys STAGES must be 7 to 12, not 6");
    check_reason("fused-passes-warp", &q, narrow, "it needs whole warps of 32 work-items, not 8");
    sort_in(&q)->n = ((size_t)1 << 31) + 1;
    check_reason("fused-passes", &q, none,
                 "it indexes in 32 bits: at most 2147483648 keys, not 2147483649");
    *sort_in(&q) = (tsr_sort_problem){.type = TSR_F64, .n = 1000, .argsort = true};
    check_reason("fused-passes", &q, none,
                 "it packs a key and its index in 64 bits, and the key alone has as many");
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void check_rows(const char *name, size_t n, size_t rows, tsr_type type, const char *defines,
                       size_t groups, size_t group)
{
    const variant *v = find(name);
    const params p = params_default(v);
    const device_facts d = gpu();
    const problem q = sort_problem((tsr_sort_problem){.type = type, .n = n, .rows = rows});
    const job j = {&q, &d, &p, false};
    plan out = plan_for(v, &j);

    check_options(v, &j, defines);
    assert_int_equal(out.count, 1);
    assert_int_equal(out.commands[0].local[0], group);
    assert_int_equal(out.commands[0].global[0], groups * group);
    plan_free(&out);
}

/* Shuffles leave a row alone four warps, and hold half as many keys where there are more. */
static void test_shuffled_rows_take_work_items(void **state)
{
    (void)state;
    check_rows("rows-shfl", 64, 1000, TSR_U32, " -DKEYS=8 -DGROUP=128 -DROW_SHIFT=6 ", 63, 128);
    check_rows("rows-shfl", 500, 9, TSR_U32, " -DKEYS=16 -DGROUP=128 -DROW_SHIFT=9 ", 3, 128);
    check_rows("rows-shfl", 500, 9, TSR_I64, " -DKEYS=8 -DGROUP=128 -DROW_SHIFT=9 ", 5, 128);
    check_rows("rows-shfl", 1000, 1, TSR_U32, " -DKEYS=8 -DGROUP=128 -DROW_SHIFT=10 ", 1, 128);
    check_rows("rows-shfl", 4000, 1, TSR_U32, " -DKEYS=16 -DGROUP=256 -DROW_SHIFT=12 ", 1, 256);
}

/* Vectors are whole where they divide a row, and aligned where the offsets are. */
static void test_rows_in_vectors(void **state)
{
    const variant *v = find("rows-registers");
    const params p = params_default(v);
    const device_facts d = gpu();
    static const struct {
        size_t n, offset_keys, offset_index;
        bool argsort;
        const char *defines;
    } of[] = {
        {64, 0, 0, false, " -DWIDE=1 -DALIGNED=1 "}, {62, 0, 0, false, " -DWIDE=0 -DALIGNED=0 "},
        {64, 2, 0, false, " -DWIDE=1 -DALIGNED=0 "}, {62, 2, 4, true, " -DWIDE=1 -DALIGNED=1 "},
        {62, 2, 3, true, " -DWIDE=1 -DALIGNED=0 "},  {61, 0, 0, true, " -DWIDE=0 -DALIGNED=0 "}};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(of); i++) {
        const problem q = sort_problem((tsr_sort_problem){.type = TSR_U32,
                                                          .n = of[i].n,
                                                          .rows = 9,
                                                          .offset_keys = of[i].offset_keys,
                                                          .offset_index = of[i].offset_index,
                                                          .argsort = of[i].argsort});
        const job j = {&q, &d, &p, false};

        check_options(v, &j, of[i].defines);
    }
}

/* Eight work-items at least read side by side; a row takes as many as hold its keys. */
static void test_rows_take_work_items(void **state)
{
    static const char *const none[] = {NULL}, *const one[] = {"GROUP=8", NULL},
                             *const deep[] = {"KEYS=32", "GROUP=1024", NULL};
    problem q = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 64, .rows = 9});

    (void)state;
    check_rows("rows-registers", 64, 1000, TSR_U32, " -DKEYS=8 -DGROUP=128 -DROW_SHIFT=6 ", 63,
               128);
    check_rows("rows-registers", 1000, 1000, TSR_U32, " -DKEYS=32 -DGROUP=128 -DROW_SHIFT=10 ", 250,
               128);
    check_rows("rows-registers", 1000, 1000, TSR_F64, " -DKEYS=16 -DGROUP=128 -DROW_SHIFT=10 ", 500,
               128);
    check_rows("rows-registers", 8000, 3, TSR_U32, " -DKEYS=32 -DGROUP=256 -DROW_SHIFT=13 ", 3,
               256);
    check_rows("rows-registers", 2, 33, TSR_U32, " -DKEYS=4 -DGROUP=128 -DROW_SHIFT=2 ", 1, 128);
    check_reason("rows-registers", &q, one, "supported");
    sort_in(&q)->n = 300;
    check_reason("rows-registers", &q, one,
                 "a row has to fit in its tile: at most 256 keys, not 300");
    sort_in(&q)->n = 20000;
    check_reason("rows-registers", &q, none,
                 "it needs 131072 bytes of local memory, and the device has 49152");
    sort_in(&q)->n = 40000;
    check_reason("rows-registers", &q, none,
                 "a row has to fit in its tile: at most 32768 keys, not 40000");
    sort_in(&q)->n = 8;
    check_reason("rows-registers", &q, deep,
                 "it needs 131072 bytes of local memory, and the device has 49152");
    check_reason("rows-warp", &q, one, "it needs whole warps of 32 work-items, not 8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arriving_keys_are_settled_in_order),
        cmocka_unit_test(test_arriving_chunks),
        cmocka_unit_test(test_chunks_follow_the_cache),
        cmocka_unit_test(test_chunks_run_side_by_side),
        cmocka_unit_test(test_split_on_a_gpu),
        cmocka_unit_test(test_unsupported_gives_the_values),
        cmocka_unit_test(test_rows_take_work_items),
        cmocka_unit_test(test_shuffled_rows_take_work_items),
        cmocka_unit_test(test_rows_in_vectors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
