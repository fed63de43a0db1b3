/* How the variants of sort by digits split a problem, what they refuse, and who prefers which. */
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

static device_facts gpu(void)
{
    return (device_facts){.kind = DEVICE_GPU,
                          .compute_units = 3,
                          .max_work_group = 1024,
                          .max_work_item = {1024, 1024, 64},
                          .local_memory = 48 << 10,
                          .feature = {[FEATURE_DEVICE_SCOPE] = FEATURE_YES}};
}

static device_facts nvidia(void)
{
    device_facts d = gpu();

    d.nvidia = true;
    d.nv_capability = 90;
    d.large_local = 227 << 10;
    d.feature[FEATURE_PTX] = d.feature[FEATURE_LARGE_LOCAL] = FEATURE_YES;
    return d;
}

static device_facts cpu(void)
{
    device_facts d = gpu();

    d.kind = DEVICE_CPU;
    return d;
}

static const char *const none[] = {NULL};

/* The variants, each on a device that has it, the sweep on both kinds. */
static const struct {
    const char *name;
    device_facts (*device)(void);
} ways[] = {
    {"cpu-radix", cpu}, {"radix", gpu},       {"radix-warp", nvidia},
    {"onesweep", gpu},  {"onesweep", nvidia},
};

enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

/* ---- the plan -------------------------------------------------------------------------------- */

static void check_defined(const char *name, device_facts d, tsr_sort_problem q,
                          const char *expected)
{
    const params p = settings(find(name), none);
    const problem whole = sort_problem(q);
    const job j = {&whole, &d, &p, false};

    check_options(find(name), &j, expected);
}

/* Keys alone leave room for more of them; few leave no unit idle. */
static void test_tiles_are_the_problem_s(void **state)
{
    const tsr_sort_problem keys = {.type = TSR_U32, .n = 10000000};
    static const struct {
        tsr_sort_problem problem;
        const char *expected;
    } swept[] = {
        {{.type = TSR_U32, .n = 10000000},
         " -DBITS=8 -DGROUP=384 -DITEMS=24 -DCOPIES=16 -DPAYLOAD=PAYLOAD_NONE -DWARPS=1 "
         "-DPASSES=4 -DSTATES=STATES_PTX"},
        {{.type = TSR_U64, .n = 10000000, .argsort = true},
         " -DBITS=8 -DGROUP=512 -DITEMS=12 -DCOPIES=8 -DPAYLOAD=PAYLOAD_INDEX -DWARPS=1 "
         "-DPASSES=8"},
        {{.type = TSR_U32, .n = 10000000, .value_bytes = 8},
         " -DITEMS=12 -DCOPIES=16 -DPAYLOAD=PAYLOAD_VALUE"},
        /* One digit, and one tile of it. */
        {{.type = TSR_U8, .n = 10000000}, " -DBITS=8 -DGROUP=384 -DITEMS=24 "},
        {{.type = TSR_U8, .n = 10000000}, " -DPASSES=1 -DONE_TILE=0 "},
        {{.type = TSR_U8, .n = 2048, .value_bytes = 4}, " -DGROUP=512 -DITEMS=4 "},
        {{.type = TSR_U8, .n = 2048, .value_bytes = 4}, " -DPASSES=1 -DONE_TILE=1 "},
        /* The tiles by which sort.c prefers it. */
        {{.type = TSR_U8, .n = 9216}, " -DONE_TILE=1 "},
        {{.type = TSR_F16, .n = 4608}, " -DGROUP=384 -DITEMS=12 "},
        {{.type = TSR_F16, .n = 4608}, " -DONE_TILE=1 "},
        {{.type = TSR_U16, .n = 8192, .value_bytes = 4}, " -DONE_TILE=1 "},
        {{.type = TSR_U16, .n = 4096, .value_bytes = 8}, " -DONE_TILE=1 "},
        {{.type = TSR_F16, .n = 4609}, " -DGROUP=512 -DITEMS=12 "},
        {{.type = TSR_U16, .n = 6145}, " -DGROUP=512 -DITEMS=16 "},
        {{.type = TSR_U16, .n = 8192}, " -DONE_TILE=1 "},
        {{.type = TSR_F16, .n = 20000}, " -DGROUP=384 "},
        /* The smallest tiles of which the units take all at once; of more the largest, */
        {{.type = TSR_U32, .n = 10000}, " -DGROUP=384 -DITEMS=4 "},
        {{.type = TSR_F32, .n = 202753}, " -DGROUP=384 -DITEMS=8 "},
        {{.type = TSR_U16, .n = 405505}, " -DGROUP=384 -DITEMS=12 "},
        {{.type = TSR_I16, .n = 608257}, " -DGROUP=384 -DITEMS=16 "},
        {{.type = TSR_I32, .n = 811009}, " -DGROUP=384 -DITEMS=24 "},
        {{.type = TSR_F64, .n = 1 << 20}, " -DGROUP=384 -DITEMS=12 "},
        /* and of pairs 512 x 12, */
        {{.type = TSR_F16, .n = 135168, .value_bytes = 4}, " -DGROUP=512 -DITEMS=2 "},
        {{.type = TSR_U32, .n = 135169, .argsort = true}, " -DGROUP=512 -DITEMS=4 "},
        {{.type = TSR_F64, .n = 270336, .value_bytes = 8}, " -DGROUP=512 -DITEMS=4 "},
        {{.type = TSR_F16, .n = 270337, .value_bytes = 4}, " -DGROUP=512 -DITEMS=8 "},
        {{.type = TSR_U8, .n = 540673, .value_bytes = 8}, " -DGROUP=512 -DITEMS=12 "},
        {{.type = TSR_U32, .n = 811009, .argsort = true}, " -DGROUP=512 -DITEMS=16 "},
        {{.type = TSR_F64, .n = 1081345, .value_bytes = 8}, " -DGROUP=512 -DITEMS=12 "},
        {{.type = TSR_U16, .n = 40000000, .value_bytes = 8}, " -DGROUP=512 -DITEMS=12 "},
        /* but of words with 4 bytes beside each 512 x 16 where that saves a round of two a unit. */
        {{.type = TSR_U32, .n = 1200000, .argsort = true}, " -DGROUP=512 -DITEMS=12 "},
        {{.type = TSR_I32, .n = 2100000, .value_bytes = 4}, " -DGROUP=512 -DITEMS=16 "},
        {{.type = TSR_F32, .n = 3500000, .value_bytes = 4}, " -DGROUP=512 -DITEMS=16 "},
        /* The largest tiles: as many as units, or twice as many, or well filled rounds of these. */
        {{.type = TSR_F32, .n = 3000000, .value_bytes = 4}, " -DGROUP=512 -DITEMS=24 "},
        {{.type = TSR_U32, .n = 3000000, .value_bytes = 8}, " -DGROUP=512 -DITEMS=24 "},
        {{.type = TSR_I64, .n = 1500000, .argsort = true}, " -DGROUP=512 -DITEMS=24 "},
        {{.type = TSR_I64, .n = 2000000, .value_bytes = 8}, " -DGROUP=512 -DITEMS=12 "},
        {{.type = TSR_U64, .n = 6000000, .value_bytes = 8}, " -DGROUP=512 -DITEMS=24 "},
        {{.type = TSR_F64, .n = 3000000, .value_bytes = 8}, " -DGROUP=512 -DITEMS=24 "},
        {{.type = TSR_F64, .n = 6000000, .value_bytes = 8}, " -DGROUP=512 -DITEMS=12 "},
        {{.type = TSR_U32, .n = 10000000, .argsort = true}, " -DGROUP=512 -DITEMS=16 "},
        {{.type = TSR_F32, .n = 1 << 24, .value_bytes = 4}, " -DGROUP=512 -DITEMS=16 "},
        /* Digits of many bytes with up to 4 bytes beside each. */
        {{.type = TSR_U8, .n = 10000000, .value_bytes = 4}, " -DGROUP=384 -DITEMS=24 "},
        {{.type = TSR_U8, .n = 10000000, .argsort = true}, " -DGROUP=384 -DITEMS=24 "},
        {{.type = TSR_I8, .n = 10000000, .argsort = true}, " -DGROUP=512 -DITEMS=16 "},
        {{.type = TSR_U8, .n = 10000000, .descending = true, .value_bytes = 4},
         " -DGROUP=512 -DITEMS=16 "},
        {{.type = TSR_U8, .n = 10000000, .value_bytes = 1}, " -DGROUP=512 -DITEMS=12 "},
        {{.type = TSR_U8, .n = 3000000, .value_bytes = 4}, " -DGROUP=512 -DITEMS=12 "},
        {{.type = TSR_U8, .n = 10000000, .value_bytes = 8}, " -DGROUP=512 -DITEMS=12 "},
    };

    device_facts d = nvidia();

    (void)state;
    d.compute_units = 132;
    check_defined("radix", gpu(), keys,
                  " -DBITS=4 -DGROUP=256 -DITEMS=16 -DCOPIES=8 -DPAYLOAD=PAYLOAD_NONE -DWARPS=0");
    check_defined("radix-warp", nvidia(), keys,
                  " -DBITS=8 -DGROUP=512 -DITEMS=16 -DCOPIES=32 -DPAYLOAD=PAYLOAD_NONE -DWARPS=1");
    check_defined("onesweep", gpu(), keys, " -DSTATES=STATES_ATOMICS");
    check_defined("radix", cpu(), keys, " -DBITS=8 -DGROUP=16 -DITEMS=16 -DCOPIES=1 ");
    for (size_t i = 0; i < sizeof(swept) / sizeof(swept[0]); i++)
        check_defined("onesweep", d, swept[i].problem, swept[i].expected);
    d.large_local = 64 << 10; /* no more items than have room */
    check_defined("onesweep", d,
                  (tsr_sort_problem){.type = TSR_F64, .n = 1000000, .value_bytes = 8},
                  " -DITEMS=12 ");
    d.large_local = 0;
    check_defined("onesweep", d,
                  (tsr_sort_problem){.type = TSR_F64, .n = 1000000, .value_bytes = 8},
                  " -DITEMS=8 ");
    check_defined("onesweep", d, (tsr_sort_problem){.type = TSR_F32, .n = 1000000, .argsort = true},
                  " -DITEMS=16 ");
}

/* As few keys for each team as leave a group for each unit, of eight teams. */
static void test_counted_keys(void **state)
{
    const device_facts d = nvidia();
    const size_t each = 8 * d.compute_units;
    static const struct {
        size_t keys;
        const char *at, *above;
    } cases[] = {{1, " -DKEYS=1 ", " -DKEYS=2 "},
                 {2, " -DKEYS=2 ", " -DKEYS=4 "},
                 {4, " -DKEYS=4 ", " -DKEYS=8 "},
                 {8, " -DKEYS=8 ", " -DKEYS=4 "}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        check_defined("counted", d, (tsr_sort_problem){.type = TSR_U32, .n = cases[i].keys * each},
                      cases[i].at);
        check_defined("counted", d,
                      (tsr_sort_problem){.type = TSR_U32, .n = cases[i].keys * each + 1},
                      cases[i].above);
    }
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void check_reason(const char *name, const device_facts *d, const tsr_sort_problem *q,
                         const char *const *assignments, const char *expected)
{
    const problem whole = sort_problem(*q);

    check_reason_on(name, d, &whole, assignments, expected);
}

static void test_problems_refused(void **state)
{
    tsr_sort_problem q = {.type = TSR_U32, .n = 1000};

    (void)state;
    for (size_t w = 0; w < WAYS; w++) {
        const device_facts d = ways[w].device();
        const bool sweeps = !strcmp(ways[w].name, "onesweep");

        q = (tsr_sort_problem){.type = TSR_U32, .n = 1000};
        check_reason(ways[w].name, &d, &q, none, "supported");
        q.rows = 2;
        check_reason(ways[w].name, &d, &q, none, "it sorts one row");
        q.rows = 0;
        q.n = sweeps ? INT32_MAX : UINT32_MAX;
        check_reason(ways[w].name, &d, &q, none, "supported");
        q.n++;
        check_reason(ways[w].name, &d, &q, none,
                     sweeps ? "it counts in 31 bits: at most 2147483647 keys, not 2147483648"
                            : "it counts in 32 bits: at most 4294967295 keys, not 4294967296");
    }
}

static void test_counts_refused(void **state)
{
    static const char *const values = "it sorts keys of 8 bits alone, without values or an index";
    device_facts d = gpu();

    (void)state;
    check_reason("value-counts", &d, &(tsr_sort_problem){.type = TSR_U16, .n = 9}, none, values);
    check_reason("value-counts", &d, &(tsr_sort_problem){.type = TSR_I8, .n = 9, .argsort = true},
                 none, values);
    check_reason("value-counts", &d, &(tsr_sort_problem){.type = TSR_I8, .n = 9, .value_bytes = 1},
                 none, values);
    check_reason("value-counts", &d, &(tsr_sort_problem){.type = TSR_I8, .n = 9, .rows = 2}, none,
                 "supported");
    check_reason("value-counts", &d, &(tsr_sort_problem){.type = TSR_U8, .n = INT32_MAX}, none,
                 "supported");
    check_reason("value-counts", &d, &(tsr_sort_problem){.type = TSR_U8, .n = (size_t)1 << 31},
                 none, "it counts in 31 bits: at most 2147483647 keys, not 2147483648");
    /* As many copies of the counts as there is room for. */
    check_defined("value-counts", d, (tsr_sort_problem){.type = TSR_U8, .n = 1 << 23},
                  " -DCOPIES=32 -DGROUP=512 ");
    /* Rows by a group each, which is as large as they are long; long ones that are few in turns. */
    check_defined("value-counts", d, (tsr_sort_problem){.type = TSR_I8, .n = 36349, .rows = 330},
                  " -DCOPIES=32 -DGROUP=512 ");
    check_defined("value-counts", d, (tsr_sort_problem){.type = TSR_I8, .n = 2000, .rows = 330},
                  " -DCOPIES=8 -DGROUP=128 ");
    check_defined("value-counts", d, (tsr_sort_problem){.type = TSR_I8, .n = 4000, .rows = 330},
                  " -DCOPIES=16 -DGROUP=256 ");
    check_defined("value-counts", d, (tsr_sort_problem){.type = TSR_I8, .n = 1000000, .rows = 8},
                  " -DROWS=1");
    check_defined("value-counts", d, (tsr_sort_problem){.type = TSR_I8, .n = 1000000, .rows = 7},
                  " -DROWS=0");
    check_defined("value-counts", d, (tsr_sort_problem){.type = TSR_I8, .n = 100000, .rows = 2},
                  " -DROWS=1");
    d.local_memory = 16 << 10;
    check_defined("value-counts", d, (tsr_sort_problem){.type = TSR_U8, .n = 1 << 23},
                  " -DCOPIES=8 ");
    d.feature[FEATURE_DEVICE_SCOPE] = FEATURE_NO;
    check_reason("value-counts", &d, &(tsr_sort_problem){.type = TSR_U8, .n = 9}, none,
                 "it needs atomic operations of device scope");
    check_reason("value-counts", &d, &(tsr_sort_problem){.type = TSR_U8, .n = 9, .rows = 2}, none,
                 "supported");
}

static void test_settings_refused(void **state)
{
    static const char *const byte[] = {"BITS=8", "GROUP=256", NULL};
    static const char *const narrow[] = {"BITS=8", "GROUP=16", NULL};
    static const char *const uneven[] = {"BITS=4", "GROUP=16", NULL};
    static const char *const large[] = {"BITS=8", "GROUP=512", "ITEMS=1", NULL};
    const tsr_sort_problem bytes = {.type = TSR_U8, .n = 1000}, q = {.type = TSR_U32, .n = 1000};
    const device_facts d = nvidia();
    device_facts small = gpu();

    (void)state;
    check_reason("radix-warp", &d, &bytes, byte,
                 "it needs an even number of digits a key, and with 8 bits each there are 1");
    check_reason("radix-warp", &d, &q, byte, "supported");
    check_reason("radix-warp", &d, &q, narrow,
                 "it needs a work-item for each of 256 values of a digit and whole warps of 32, "
                 "not work-groups of "
                 "16");
    check_reason("onesweep", &d, &q, uneven,
                 "it needs a work-item for each of 16 values of a digit and whole warps of 32, not "
                 "work-groups of "
                 "16");
    /* A counter for each digit and work-item, 3 words a digit, and one a work-item. */
    check_reason("radix", &small, &q, large,
                 "it needs 529408 bytes of local memory, and the device has 49152");
    small.max_work_group = 256;
    check_reason("radix", &small, &q, large,
                 "it needs work-groups of 512, and the device has at most 256");
}

static void test_devices_refused(void **state)
{
    static const char *const few[] = {"BITS=4", "GROUP=256", "ITEMS=4", NULL}; /* one tile */
    const tsr_sort_problem q = {.type = TSR_U32, .n = 1000};
    device_facts d = nvidia();

    (void)state;
    d.nv_capability = 61;
    check_reason("radix-warp", &d, &q, none,
                 "it needs barriers within a warp, of compute capability 7.0");
    check_reason("onesweep", &d, &q, none, "supported"); /* by OpenCL C's atomics */
    d.feature[FEATURE_DEVICE_SCOPE] = FEATURE_NO;
    check_reason("onesweep", &d, &q, none, "it needs atomic operations of device scope");
    check_reason("radix", &d, &q, none, "supported");
    /* A copy of the keys, in whole lines, and 16 counts and their sums. */
    d = gpu();
    d.global_memory = 10964;
    check_reason("radix", &d, &q, few,
                 "it needs a workspace of 4224 bytes beside what it sorts, and the device has 8223 "
                 "for both");
    d.global_memory = 10968;
    d.max_allocation = 4223;
    check_reason("radix", &d, &q, few,
                 "its workspace of 4224 bytes is over the device's largest allocation of 4223");
    d.max_allocation = 4224;
    check_reason("radix", &d, &q, few, "supported");
}

/* A payload's arrays, to load from and to store to, are passed where there is one. */
static void test_arrays_of_no_payload(void **state)
{
    const device_facts d = nvidia();
    const variant *v = find("onesweep");
    const params p = settings(v, none);

    (void)state;
    for (uint32_t value_bytes = 0; value_bytes <= 4; value_bytes += 4) {
        const tsr_sort_problem q = {.type = TSR_U32, .n = 2000, .value_bytes = value_bytes};
        const problem whole = sort_problem(q);
        const job j = {&whole, &d, &p, false};
        plan x;

        assert_null(plan_make(v, &j, &x));
        assert_int_equal(x.count, 1);
        for (size_t i = 2; i < 4; i++)
            assert_int_equal(x.commands[0].arg[i].kind, value_bytes ? ARG_OPERAND : ARG_NO_BUFFER);
        plan_free(&x);
    }
}

/* ---- who prefers which ----------------------------------------------------------------------- */

static void check_preferred(const device_facts *d, tsr_sort_problem q, const char *expected)
{
    const problem whole = sort_problem(q);
    const char *names[PREFERENCES_MAX];
    const size_t count = operation_sort.prefer(&whole, d, names);

    assert_true(count > 0);
    if (expected)
        assert_string_equal(names[0], expected);
    for (size_t i = 0; !expected && i < count; i++)
        assert_false(strncmp(names[i], "radix", 5) == 0);
}

/* Among those that are preferred: not all of them take the problem. */
static void check_preferred_somewhere(const device_facts *d, tsr_sort_problem q, const char *name,
                                      bool expected)
{
    const problem whole = sort_problem(q);
    const char *names[PREFERENCES_MAX];
    const size_t count = operation_sort.prefer(&whole, d, names);
    bool found = false;

    for (size_t i = 0; i < count; i++)
        found = found || !strcmp(names[i], name);
    assert_int_equal(found, expected);
}

/* On CPUs digits are for many keys with an index or values: more of wider keys. */
static void check_digits_from(const device_facts *d)
{
    static const struct {
        tsr_type type;
        size_t value_bytes, most;
    } cases[] = {{TSR_U8, 0, 1 << 14},
                 {TSR_F16, 0, 1 << 17},
                 {TSR_F32, 0, 1 << 24},
                 {TSR_I32, 4, 1 << 21},
                 {TSR_U64, 0, 1 << 15}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        tsr_sort_problem q = {.type = cases[i].type,
                              .n = cases[i].most,
                              .argsort = !cases[i].value_bytes,
                              .value_bytes = cases[i].value_bytes};

        check_preferred_somewhere(d, q, "cpu-radix", q.n > 1 << 15); /* behind merges */
        if (q.n > 1 << 15)
            check_preferred(d, q, "cpu-merges");
        q.n++;
        check_preferred(d, q, "cpu-radix");
        q.rows = 2;
        check_preferred_somewhere(d, q, "cpu-radix", false);
    }
}

/* On NVIDIA digits are for fewer keys the fewer digits they have, and the wider what the network
 * would move. */
static void check_sweep_from(const device_facts *d)
{
    static const struct {
        tsr_type type;
        bool argsort;
        size_t value_bytes, least;
    } cases[] = {{TSR_I16, false, 0, 1 << 14}, {TSR_F32, false, 0, (1 << 16) + 1},
                 {TSR_U32, true, 0, 1 << 14},  {TSR_I32, false, 4, 9217},
                 {TSR_F16, true, 0, 1025},     {TSR_U8, false, 8, 257},
                 {TSR_I8, true, 0, 257}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        tsr_sort_problem q = {.type = cases[i].type,
                              .n = cases[i].least,
                              .argsort = cases[i].argsort,
                              .value_bytes = cases[i].value_bytes};

        check_preferred(d, q, "onesweep");
        q.n--;
        check_preferred_somewhere(d, q, "onesweep", false);
    }
}

/* Merges between all-with-all, or the network, and digits. */
static void check_merges_between(const device_facts *d)
{
    static const struct {
        tsr_type type;
        bool argsort;
        size_t value_bytes, first, last;
        const char *before, *behind;
    } cases[] = {
        {TSR_F64, true, 0, 8193, (1 << 20) - 1, "counted", "onesweep"},
        {TSR_I64, false, 8, 8193, (1 << 20) - 1, "counted", "onesweep"},
        {TSR_U64, false, 0, (1 << 14) + 1, (1 << 20) - 1, "fused-passes-warp", "onesweep"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        tsr_sort_problem q = {.type = cases[i].type,
                              .n = cases[i].first,
                              .argsort = cases[i].argsort,
                              .value_bytes = cases[i].value_bytes};

        check_preferred(d, q, "merge-path");
        q.n = cases[i].last;
        check_preferred(d, q, "merge-path");
        q.n++;
        check_preferred(d, q, cases[i].behind);
        q.n = cases[i].first - 1;
        check_preferred(d, q, cases[i].before);
    }
}

/* Of the last eighth before a power of 2 merges take a launch more. */
static void check_merges_below_powers(const device_facts *d)
{
    static const struct {
        size_t n;
        const char *preferred;
    } cases[] = {{(1 << 15) / 8 * 7, "merge-path"},
                 {(1 << 15) / 8 * 7 + 1, "fused-passes-warp"},
                 {1 << 15, "fused-passes-warp"},
                 {(1 << 15) + 1, "merge-path"},
                 {(1 << 16) / 8 * 7 + 1, "fused-passes-warp"},
                 {1 << 16, "fused-passes-warp"},
                 {1 << 17, "merge-path"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_preferred(d, (tsr_sort_problem){.type = TSR_U64, .n = cases[i].n},
                        cases[i].preferred);
}

/* Keys of 8 and 16 bits in one launch, as long as a tile has room for them; above it 8 bits alone
 * by their counts, which every GPU takes, and 16 bits as before. */
static void check_one_tile(const device_facts *ours, const device_facts *other)
{
    check_preferred(ours, (tsr_sort_problem){.type = TSR_F16, .n = 4096}, "rows-shfl");
    check_preferred(ours, (tsr_sort_problem){.type = TSR_F16, .n = 4097}, "onesweep");
    check_preferred(ours, (tsr_sort_problem){.type = TSR_F16, .n = 8192}, "onesweep");
    check_preferred(ours, (tsr_sort_problem){.type = TSR_F16, .n = 8193}, "fused-passes-warp");
    check_preferred(ours, (tsr_sort_problem){.type = TSR_F32, .n = 4096}, "rows-shfl");
    check_preferred(ours, (tsr_sort_problem){.type = TSR_F32, .n = 4097}, "counted");
    check_preferred(ours, (tsr_sort_problem){.type = TSR_U32, .n = 9216}, "counted");
    check_preferred(ours, (tsr_sort_problem){.type = TSR_U32, .n = 9217}, "fused-passes-warp");
    check_preferred(ours, (tsr_sort_problem){.type = TSR_U16, .n = 4096, .value_bytes = 8},
                    "onesweep");
    check_preferred(ours, (tsr_sort_problem){.type = TSR_U16, .n = 4097, .value_bytes = 8},
                    "counted");
    check_preferred(ours, (tsr_sort_problem){.type = TSR_U16, .n = 8193, .value_bytes = 8},
                    "onesweep");
    check_preferred(ours, (tsr_sort_problem){.type = TSR_I8, .n = 2048}, "rows-shfl");
    check_preferred(ours, (tsr_sort_problem){.type = TSR_I8, .n = 2049}, "onesweep");
    check_preferred(ours, (tsr_sort_problem){.type = TSR_U8, .n = 9216}, "onesweep");
    check_preferred(ours, (tsr_sort_problem){.type = TSR_U8, .n = 9217}, "value-counts");
    check_preferred(other, (tsr_sort_problem){.type = TSR_U8, .n = 9217}, "value-counts");
    check_preferred(ours, (tsr_sort_problem){.type = TSR_U8, .n = 9217, .rows = 2}, "value-counts");
    check_preferred(ours, (tsr_sort_problem){.type = TSR_U8, .n = 513, .rows = 4096},
                    "value-counts");
    check_preferred_somewhere(ours, (tsr_sort_problem){.type = TSR_U8, .n = 2048, .rows = 4095},
                              "value-counts", false);
    check_preferred_somewhere(ours, (tsr_sort_problem){.type = TSR_U8, .n = 512, .rows = 4096},
                              "value-counts", false);
}

static bool runs_in_c(tsr_sort_problem q)
{
    const device_facts d = cpu();
    const problem whole = sort_problem(q);
    const char *name = operation_sort.prefer_c(&whole, &d);

    return name && !strcmp(name, "host-radix");
}

/* Of one row, keys of any number, and positions of as many keys of 64 bits or of fewer others. */
static void test_sorts_in_c(void **state)
{
    const size_t many = (size_t)1 << 28;

    (void)state;
    assert_true(runs_in_c((tsr_sort_problem){.type = TSR_F32, .n = many}));
    assert_true(runs_in_c((tsr_sort_problem){.type = TSR_U8, .n = many}));
    assert_true(runs_in_c((tsr_sort_problem){.type = TSR_I64, .n = many, .argsort = true}));
    assert_true(runs_in_c((tsr_sort_problem){.type = TSR_U32, .n = 1 << 24, .argsort = true}));
    assert_false(
        runs_in_c((tsr_sort_problem){.type = TSR_U32, .n = (1 << 24) + 1, .argsort = true}));
    assert_true(runs_in_c((tsr_sort_problem){.type = TSR_F64, .n = 1 << 20, .value_bytes = 4}));
    assert_false(runs_in_c((tsr_sort_problem){.type = TSR_F64, .n = many, .value_bytes = 4}));
    assert_false(runs_in_c((tsr_sort_problem){.type = TSR_F32, .n = many / 2, .rows = 2}));
}

static void test_preferences(void **state)
{
    const device_facts ours = nvidia(), other = gpu(), processor = cpu();
    const tsr_sort_problem huge = {.type = TSR_U8, .n = ((size_t)1 << 31) + 1};
    tsr_sort_problem keys = {.type = TSR_U32, .n = (1 << 16) + 1};
    const tsr_sort_problem wide = {.type = TSR_U64, .n = 1 << 20, .argsort = true};
    const tsr_sort_problem many = {.type = TSR_U32, .n = 1 << 26};

    (void)state;
    check_sweep_from(&ours);
    check_one_tile(&ours, &other);
    check_merges_between(&ours);
    check_merges_below_powers(&ours);
    check_preferred(&ours, keys, "onesweep");
    check_preferred(&ours, wide, "onesweep");
    check_preferred(&other, keys, NULL);
    check_preferred(&other, many, "radix");
    check_preferred(&other, (tsr_sort_problem){.type = TSR_F32, .n = 65535, .argsort = true},
                    "merge-path");
    check_preferred(&other, (tsr_sort_problem){.type = TSR_I32, .n = 32767, .value_bytes = 4},
                    "merge-path");
    check_preferred_somewhere(&other,
                              (tsr_sort_problem){.type = TSR_I32, .n = 32768, .value_bytes = 4},
                              "merge-path", false);
    check_preferred(&other, wide, "radix");
    check_preferred(&processor, keys, NULL);
    check_preferred(&processor, keys, "cpu-merges");
    check_preferred_somewhere(&processor, huge, "cpu-radix", true); /* merges have no room */
    check_digits_from(&processor);
    keys.rows = 2;
    check_preferred(&ours, keys, NULL);
    keys.rows = 0;
    keys.n--;
    check_preferred(&ours, keys, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiles_are_the_problem_s),
        cmocka_unit_test(test_counted_keys),
        cmocka_unit_test(test_problems_refused),
        cmocka_unit_test(test_counts_refused),
        cmocka_unit_test(test_settings_refused),
        cmocka_unit_test(test_devices_refused),
        cmocka_unit_test(test_arrays_of_no_payload),
        cmocka_unit_test(test_sorts_in_c),
        cmocka_unit_test(test_preferences),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
