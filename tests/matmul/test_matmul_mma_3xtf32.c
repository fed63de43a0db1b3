/* The plan of matmul's "mma-3xtf32": tiles, and the groups that share their steps along k. */
#include "matmul_plans.h"

static device_facts ampere(void)
{
    device_facts d = {.kind = DEVICE_GPU,
                      .nvidia = true,
                      .nv_capability = 80,
                      .compute_units = 132,
                      .max_work_group = 1024,
                      .max_work_item = {1024, 1024, 64},
                      .local_memory = 49152,
                      .large_local = 231424,
                      .max_allocation = (uint64_t)37 << 30,
                      .global_memory = (uint64_t)139 << 30,
                      .fp64 = true,
                      .warp_size = 32};

    for (int f = 0; f < FEATURE_COUNT; f++)
        d.feature[f] = FEATURE_YES;
    return d;
}

/* That a launch has so many groups of so many work-items, a workspace, and pieces to count. */
static void expect_groups(const char *set, const problem *p, size_t groups, size_t items,
                          size_t workspace, size_t pieces)
{
    const device_facts d = ampere();
    plan x = plan_of("mma-3xtf32", set, p, &d);

    assert_int_equal(x.count, 1);
    assert_int_equal(x.commands[0].global[0], groups * items);
    assert_int_equal(x.commands[0].local[0], items);
    assert_int_equal(x.workspace, workspace);
    assert_int_equal(x.tiles, pieces);
    plan_free(&x);
}

/* Two tiles of sums for each group, where groups share tiles. */
static void groups_share_steps(void **state)
{
    problem p = product(130, 65, 100); /* 3 x 2 tiles of 64 x 64, 4 steps of 32 */

    (void)state;
    expect_groups("TILE_M=64 TILE_N=64 SPLIT=1", &p, 6, 128, 0, 6);
    expect_groups("TILE_M=64 TILE_N=64 SPLIT=2", &p, 12, 128, 2 * 12 * 64 * 64 * 4, 12);
    /* No more groups than steps. */
    expect_groups("TILE_M=64 TILE_N=64 SPLIT=32", &p, 24, 128, 2 * 24 * 64 * 64 * 4, 24);
    expect_groups("TILE_M=64 TILE_N=64 PER_UNIT=1", &p, 24, 128, 2 * 24 * 64 * 64 * 4, 24);
    expect_groups("TILE_M=128 TILE_N=128 DEPTH=16 SPLIT=1", &p, 2, 256, 0, 2);
    /* 289 tiles of 32 steps for 264 groups: all but 9 of these begin within a tile. */
    p = product(1088, 1088, 1024);
    expect_groups("TILE_M=64 TILE_N=64 PER_UNIT=2", &p, 264, 128, 2 * 264 * 64 * 64 * 4,
                  289 + 264 - 9);
    /* As many whole tiles for each group: nothing is kept. */
    p = product(64 * 132, 64, 64);
    expect_groups("TILE_M=64 TILE_N=64 PER_UNIT=1", &p, 132, 128, 0, 132);
}

/* Tiles that fill the units: small ones of small products, and groups that share a long k.  Where
 * SPLIT or PER_UNIT is set, those that it leaves the least time. */
static void tiles_follow_the_shape(void **state)
{
    static const struct {
        size_t m, n, k;
        const char *set;
        uint32_t tile_m, tile_n, split, per_unit;
    } cases[] = {
        {64, 64, 4096, NULL, 32, 32, 16, 0},
        {256, 256, 256, NULL, 32, 32, 1, 0},
        {512, 512, 512, NULL, 64, 32, 1, 0},
        {1024, 1024, 1024, NULL, 64, 32, 1, 0},
        {2000, 128, 8000, NULL, 128, 64, 0, 2},
        {1063, 938, 833, NULL, 64, 32, 1, 0},
        {4096, 4096, 4096, NULL, 128, 64, 0, 2},
        {256, 256, 256, "SPLIT=4", 32, 32, 4, 0},
        {512, 512, 512, "SPLIT=16", 128, 128, 16, 0},
        {1024, 1024, 1024, "SPLIT=1", 64, 32, 1, 0},
        {1024, 1024, 1024, "PER_UNIT=1", 128, 128, 0, 1},
        {1024, 1024, 1024, "PER_UNIT=4", 64, 32, 0, 4},
        {2000, 128, 8000, "SPLIT=1", 64, 32, 1, 0},
        {2000, 128, 8000, "TILE_M=128 SPLIT=1", 128, 64, 1, 0},
    };
    const device_facts d = ampere();

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const problem p = product(cases[i].m, cases[i].n, cases[i].k);
        plan x = plan_of("mma-3xtf32", cases[i].set, &p, &d);

        assert_int_equal(param(&x.params, "TILE_M"), cases[i].tile_m);
        assert_int_equal(param(&x.params, "TILE_N"), cases[i].tile_n);
        assert_int_equal(param(&x.params, "SPLIT"), cases[i].split);
        assert_int_equal(param(&x.params, "PER_UNIT"), cases[i].per_unit);
        plan_free(&x);
    }
}

static void expect_values(const problem *p, const char *wanted)
{
    const device_facts d = ampere();
    plan x = plan_of("mma-3xtf32", NULL, p, &d);

    expect_options(&x, "mma-3xtf32", &d, wanted);
    plan_free(&x);
}

/* Vectors of four of A and B, and of two of C. */
static void vectors_follow_the_lines(void **state)
{
    problem p = product(100, 102, 104);

    (void)state;
    expect_values(&p, "ALIGNED_A=1 ALIGNED_B=0 ALIGNED_C=1 LAST_ADDS=2");
    matmul_in(&p)->ldc = 103;
    matmul_in(&p)->trans_b = true;
    expect_values(&p, "ALIGNED_A=1 ALIGNED_B=1 ALIGNED_C=0 TRANS_B=1");
    matmul_in(&p)->offset_a = 2;
    expect_values(&p, "ALIGNED_A=0");
}

static void says(const device_facts *d, const char *set, const problem *p, const char *part1,
                 const char *part2)
{
    expect_reason("mma-3xtf32", set, p, d, part1, part2);
}

static void reasons_name_what_is_missing(void **state)
{
    device_facts d = ampere();
    problem p = product(100, 100, 63);

    (void)state;
    says(&d, NULL, &p, "k is 63", "64");
    matmul_in(&p)->k = 64;
    says(&d, NULL, &p, NULL, NULL);
    says(&d, "TILE_M=32 TILE_N=64", &p, "not have tiles of 32 x 64", NULL);
    matmul_in(&p)->precision = TSR_PRECISION_F32_STRICT;
    says(&d, NULL, &p, "f32-strict", NULL);
    matmul_in(&p)->precision = TSR_PRECISION_DEFAULT;
    matmul_in(&p)->batch = (size_t)1 << 32;
    says(&d, NULL, &p, "tiles in 32 bits", "there are");
    matmul_in(&p)->batch = 1;
    /* 3 x (64 x 36 + 32 x 72) floats. */
    d.large_local = 55295;
    says(&d, "TILE_M=64 TILE_N=64", &p, "55296 bytes", "55295");
    d.nv_capability = 75;
    says(&d, NULL, &p, "compute capability 8.0", "7.5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_share_steps),
        cmocka_unit_test(tiles_follow_the_shape),
        cmocka_unit_test(vectors_follow_the_lines),
        cmocka_unit_test(reasons_name_what_is_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
