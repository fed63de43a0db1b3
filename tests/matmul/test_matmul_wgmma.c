/* The plan of matmul on Hopper's matrix units: what is packed where, and what runs elsewhere. */
#include "matmul_plans.h"
#include "ops/matmul/matmul_plan.h"

static device_facts hopper(void)
{
    device_facts d = {.kind = DEVICE_GPU,
                      .nvidia = true,
                      .nv_capability = 90,
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

/* A plan of so many commands, and of so much workspace; the caller frees it. */
static plan expect_plan(const char *name, const char *set, const problem *p, const device_facts *d,
                        size_t commands, size_t workspace)
{
    plan x = plan_of(name, set, p, d);

    assert_int_equal(x.count, commands);
    assert_int_equal(x.workspace, workspace);
    return x;
}

static void expect_built(const char *name, const char *set, const problem *p, const device_facts *d,
                         const char *wanted)
{
    plan x = plan_of(name, set, p, d);

    expect_options(&x, name, d, wanted);
    plan_free(&x);
}

static void expect_unsupported(const char *name, const device_facts *d, const problem *p,
                               const char *why)
{
    expect_reason(name, NULL, p, d, why, NULL);
}

/* Tiles of 256 and 128 rows, blocks of 16 along k: every image whole, then a flag a piece. */
static void test_packing_is_whole(void **state)
{
    const device_facts d = hopper();
    problem p = product(257, 129, 81);
    const size_t images =
        2 * 6 * 256 * 128 + 2 * 6 * 128 * 128;      /* bytes: 2 and 2 tiles, 6 blocks */
    const size_t along = 2 * 8 * 3, across = 2 * 6; /* pieces: of 32 x 32 for A, 128 x 16 for B */
    plan x = expect_plan("wgmma-3xtf32", "TILE_M=256", &p, &d, 2, images + (along + across) * 4);

    (void)state;
    assert_int_equal(x.commands[0].global[0], (along + across) * 256);
    assert_int_equal(x.commands[0].local[0], 256);
    assert_int_equal(x.commands[1].global[0], 2 * 2 * 384);
    assert_int_equal(x.commands[1].local[0], 384);
    plan_free(&x);
    /* Transposed, the pieces change sides. */
    matmul_in(&p)->trans_a = matmul_in(&p)->trans_b = true;
    x = expect_plan("wgmma-3xtf32", "TILE_M=256", &p, &d, 2, images + (2 * 2 * 6 + 2 * 4 * 3) * 4);
    plan_free(&x);
}

static void expect_rows(const char *name, const char *set, const problem *p, size_t rows)
{
    device_facts d = hopper();
    char wanted[32];

    d.compute_units = 132;
    snprintf(wanted, sizeof(wanted), "TILE_M=%zu", rows);
    expect_built(name, set, p, &d, wanted);
}

/* Tiles of 256 rows where they end sooner: 128 of them on 132 units take one turn, 256 of less than
 * half the time two, but each turn begins and ends once. */
static void test_rows_of_a_tile_follow_the_shape(void **state)
{
    problem p = product(1024, 1024, 4096);

    (void)state;
    expect_rows("wgmma-3xtf32", NULL, &p, 128);
    p = product(1408, 1408, 4096); /* a tile of 128 x 128 for all but 11 units */
    expect_rows("wgmma-3xtf32", NULL, &p, 128);
    p = product(2048, 2048, 4096);
    expect_rows("wgmma-3xtf32", NULL, &p, 128);
    p = product(2048, 2048, 64); /* one wave of large ones for two of small ones */
    expect_rows("wgmma-3xtf32", NULL, &p, 256);
    p = product(2048, 2048, 512);
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    expect_rows("wgmma-tf32", NULL, &p, 256);
    expect_rows("wgmma-tf32", "TILE_N=256", &p, 128);
}

/* Expect so many parts of each product: before the packed operands in the workspace are the sums,
 * which a launch of its own adds up. */
static void expect_parts(const char *set, const problem *p, size_t tiles, size_t parts)
{
    const bool tf32 = matmul_of(p)->precision == TSR_PRECISION_TF32;
    const size_t batch = matmul_of(p)->batch ? matmul_of(p)->batch : 1, each = parts > 1 ? 3 : 2;
    device_facts d = hopper();
    char values[64];
    plan x;

    d.compute_units = 132;
    snprintf(values, sizeof(values), "TILE_M=128 %s", set ? set : "");
    x = plan_of(tf32 ? "wgmma-tf32" : "wgmma-3xtf32", values, p, &d);
    assert_int_equal(x.count, each * batch);
    assert_int_equal(param(&x.params, "SPLIT"), parts);
    for (size_t i = 0; i < x.count; i++) {
        assert_int_equal(x.commands[i].entry, i % each);
        if (i % each == 1)
            assert_int_equal(x.commands[i].global[0], tiles * parts * 384);
    }
    plan_free(&x);
}

/* Groups share k where C has too few tiles for the device. */
static void test_groups_share_k(void **state)
{
    problem p = product(1024, 1024, 4096);

    (void)state;
    matmul_in(&p)->alpha = 3;
    matmul_in(&p)->beta = -2;
    expect_parts(NULL, &p, 64, 2); /* 128 groups for 132 units */
    expect_parts("SPLIT=1", &p, 64, 1);
    expect_parts("SPLIT=8", &p, 64, 8);
    matmul_in(&p)->k = 4090; /* the last part is shorter */
    expect_parts("SPLIT=8", &p, 64, 8);
    matmul_in(&p)->n = 1023; /* sums that end between vectors */
    expect_parts("SPLIT=2", &p, 64, 2);
    matmul_in(&p)->precision = TSR_PRECISION_TF32; /* blocks of 32 */
    expect_parts("SPLIT=2", &p, 64, 2);
    matmul_in(&p)->precision = TSR_PRECISION_DEFAULT;
    matmul_in(&p)->batch = 2; /* product by product */
    matmul_in(&p)->stride_a = matmul_in(&p)->stride_b = 1 << 23;
    matmul_in(&p)->stride_c = 1 << 20;
    expect_parts("SPLIT=2", &p, 64, 2);
    p = product(2048, 2048, 4090); /* tiles enough */
    expect_parts(NULL, &p, 256, 1);
    p = product(256, 256, 64); /* nothing to gain */
    expect_parts(NULL, &p, 4, 1);
}

/* A split that is not asked for takes no memory that the product needs. */
static void test_sums_make_nothing_unsupported(void **state)
{
    device_facts d = hopper();
    const problem p = product(1024, 1024, 4096);
    plan x;

    (void)state;
    d.compute_units = 132;
    x = plan_of("wgmma-3xtf32", NULL, &p, &d);
    d.max_allocation = x.workspace - 1;
    plan_free(&x);
    expect_unsupported("wgmma-3xtf32", &d, &p, NULL);
    expect_reason("wgmma-3xtf32", "SPLIT=2", &p, &d, "largest allocation", NULL);
}

/* TF32 has blocks of 32 along k, and one image a block. */
static void test_tf32_takes_half_the_workspace(void **state)
{
    const device_facts d = hopper();
    problem p = product(256, 128, 64);
    plan x;

    (void)state;
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    x = expect_plan("wgmma-tf32", NULL, &p, &d, 2, (2 * 256 + 2 * 128) * 128 + (8 * 2 + 2) * 4);
    plan_free(&x);
}

/* alpha == 0 and k == 0 scale C: one launch, no workspace. */
static void test_nothing_to_multiply(void **state)
{
    const device_facts d = hopper();
    problem p = product(300, 300, 300);
    plan x;

    (void)state;
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    matmul_in(&p)->alpha = 0;
    x = expect_plan("wgmma-tf32", NULL, &p, &d, 1, 0);
    plan_free(&x);
    matmul_in(&p)->m = 0;
    x = expect_plan("wgmma-tf32", NULL, &p, &d, 0, 0);
    plan_free(&x);
}

static void test_what_runs_elsewhere(void **state)
{
    device_facts d = hopper();
    problem p = product(512, 512, 512);

    (void)state;
    expect_unsupported("wgmma-3xtf32", &d, &p, NULL);
    expect_unsupported("wgmma-tf32", &d, &p, "--precision tf32 asks for");
    matmul_in(&p)->precision = TSR_PRECISION_F32_STRICT;
    expect_unsupported("wgmma-3xtf32", &d, &p, "not f32-strict");
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    expect_unsupported("wgmma-3xtf32", &d, &p, "not tf32");
    expect_unsupported("wgmma-tf32", &d, &p, NULL);
    p = product(512, 512, 63);
    expect_unsupported("wgmma-3xtf32", &d, &p, "k is 63");
    p = product(512, 512, 512);
    matmul_in(&p)->type = TSR_F64;
    expect_unsupported("wgmma-3xtf32", &d, &p, "not float64");
    p = product(512, 512, ((size_t)1 << 31) + 1);
    expect_unsupported("wgmma-3xtf32", &d, &p, "32 bits");
    p = product(1 << 20, 1 << 20, 1 << 13);
    expect_unsupported("wgmma-3xtf32", &d, &p, "largest allocation");
    p = product(512, 512, 512);
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    expect_reason("wgmma-tf32", "TILE_N=256", &p, &d, NULL, NULL);
    expect_reason("wgmma-tf32", "TILE_N=256 TILE_M=128", &p, &d, NULL, NULL);
    expect_reason("wgmma-tf32", "TILE_N=256 TILE_M=256", &p, &d, "registers", NULL);
    matmul_in(&p)->precision = TSR_PRECISION_DEFAULT;
    d.large_local = 131072;
    expect_unsupported("wgmma-3xtf32", &d, &p, "bytes of local memory");
    d.feature[FEATURE_WGMMA] = FEATURE_NO;
    expect_unsupported("wgmma-3xtf32", &d, &p, "wgmma");
}

/* A warp's instructions take 16 bits and float64 as they are, and float32 where TF32 is asked for.
 */
static void test_which_products_a_warp_takes(void **state)
{
    device_facts d = hopper();
    problem p = product(512, 512, 512);

    (void)state;
    expect_unsupported("mma", &d, &p, "--precision tf32 asks for");
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    expect_unsupported("mma", &d, &p, NULL);
    *matmul_in(&p) = (tsr_matmul_problem){.type = TSR_F64, .m = 5, .n = 5, .k = 5, .alpha = 1};
    expect_unsupported("mma", &d, &p, NULL);
    expect_reason("mma", "BLOCK=64", &p, &d, "BLOCK=128 or more for float64", NULL);
    d.large_local = 16384;
    expect_unsupported("mma", &d, &p, "bytes of local memory");
    d.large_local = 231424;
    d.nv_capability = 86;
    expect_unsupported("mma", &d, &p, "compute capability 9.0, and the device has 8.6");
    matmul_in(&p)->type = TSR_BF16;
    expect_unsupported("mma", &d, &p, NULL);
    matmul_in(&p)->type = TSR_F16;
    expect_unsupported("mma", &d, &p, NULL);
    d.nv_capability = 75;
    expect_unsupported("mma", &d, &p, "compute capability 8.0, and the device has 7.5");
    matmul_in(&p)->m = ((size_t)1 << 31) + 1;
    d.nv_capability = 90;
    expect_unsupported("mma", &d, &p, "32 bits");
    /* Offsets within lines have a sign. */
    for (size_t i = 0; i < 3; i++) {
        tsr_matmul_problem *q = matmul_in(&p);
        size_t *const sizes[] = {&q->m, &q->n, &q->k};

        q->m = q->n = q->k = 16;
        *sizes[i] = (size_t)1 << 31;
        expect_unsupported("mma", &d, &p, "31 bits, and an extent of 2147483648 has more");
        --*sizes[i];
        expect_unsupported("mma", &d, &p, NULL);
    }
}

/* Sums that groups keep are whole tiles, however few rows C has. */
static void test_sums_fit_an_allocation(void **state)
{
    static const struct {
        const char *name, *set;
        tsr_type type;
        size_t bytes; /* of 2 x 3 tiles of 64 x 64 or 128 x 64 in parts */
    } cases[] = {
        {"mma", "TILE_M=64 TILE_N=64 SPLIT=4", TSR_BF16, 6 * 4 * 64 * 64 * sizeof(float)},
        {"mma-f64", "TILE_M=64 TILE_N=64 SPLIT=4", TSR_F64, 2 * 6 * 4 * 64 * 64 * sizeof(double)},
        {"mma-3xtf32", "TILE_M=64 TILE_N=64 SPLIT=4", TSR_F32, 2 * 6 * 4 * 64 * 64 * sizeof(float)},
        {"stream-k", "TILE_M=64 TILE_N=64 SPLIT=4", TSR_F32, 2 * 6 * 4 * 64 * 64 * sizeof(float)},
        /* And two maps for each group. */
        {"wgmma-tensor", "TILE_M=64 TILE_N=64 TURN=1 SPLIT=4", TSR_BF16,
         6 * 4 * (64 * 64 * sizeof(float) + 256)},
    };
    device_facts d = hopper();

    (void)state;
    d.compute_units = 132;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        problem p = product(65, 136, 1024);

        matmul_in(&p)->type = cases[i].type;
        d.max_allocation = cases[i].bytes;
        expect_reason(cases[i].name, cases[i].set, &p, &d, NULL, NULL);
        d.max_allocation--;
        expect_reason(cases[i].name, cases[i].set, &p, &d, "largest allocation", NULL);
    }
}

/* What is reported of groups that share is what decided: SPLIT, else PER_UNIT. */
static void expect_shares(const char *name, const char *set, tsr_type type, uint32_t split,
                          uint32_t per_unit)
{
    device_facts d = hopper();
    problem p = product(128, 192, 1000);
    plan x;

    d.compute_units = 132;
    matmul_in(&p)->type = type;
    x = plan_of(name, set, &p, &d);
    assert_int_equal(param(&x.params, "SPLIT"), split);
    assert_int_equal(param(&x.params, "PER_UNIT"), per_unit);
    plan_free(&x);
}

static void test_shares_are_reported(void **state)
{
    (void)state;
    expect_shares("stream-k", NULL, TSR_F32, 0, 1);
    expect_shares("stream-k", "PER_UNIT=1", TSR_F32, 0, 1);
    expect_shares("stream-k", "SPLIT=4", TSR_F32, 4, 0);
    expect_shares("stream-k", "SPLIT=4 PER_UNIT=3", TSR_F32, 4, 0);
    expect_shares("mma-f64", "SPLIT=4 PER_UNIT=3", TSR_F64, 4, 0);
    expect_shares("mma-f64", "SPLIT=0 PER_UNIT=3", TSR_F64, 0, 3);
    expect_shares("mma-3xtf32", "SPLIT=4 PER_UNIT=3", TSR_F32, 4, 0);
}

/* Tiles of C in one dimension, warps of 32 that share each; layers of them for a batch. */
static void test_warps_cover_c(void **state)
{
    static const struct {
        const char *set, *built;
        size_t tiles, items;
    } expected[] = {
        {"TILE_M=32 TILE_N=32", "WARPS_M=2 WARPS_N=2", 9 * 5, 128},
        {"TILE_M=32 TILE_N=128", "WARPS_M=2 WARPS_N=4", 9 * 2, 256},
        {"TILE_M=128 TILE_N=32", "WARPS_M=4 WARPS_N=2", 3 * 5, 256},
        {"TILE_M=128 TILE_N=128", "WARPS_M=2 WARPS_N=4", 3 * 2, 256},
    };
    const device_facts d = hopper();
    problem p = product(257, 129, 40);

    (void)state;
    matmul_in(&p)->type = TSR_BF16;
    matmul_in(&p)->batch = 7;
    matmul_in(&p)->stride_c = 257 * 129;
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        plan x = expect_plan("mma", expected[i].set, &p, &d, 1, 0);

        assert_int_equal(x.commands[0].local[0], expected[i].items);
        assert_int_equal(x.commands[0].global[0], expected[i].tiles * expected[i].items);
        assert_int_equal(x.commands[0].global[1], 1);
        assert_int_equal(x.commands[0].global[2], 7);
        expect_options(&x, "mma", &d, expected[i].built);
        plan_free(&x);
    }
    matmul_in(&p)->m = 0;
    expect_built("mma", NULL, &p, &d, "SPLITS=0");
}

/* Two sets of warps share the steps of a block where a group has a unit to itself, and each keeps
 * sums of its own; where a block has a single step, as of float64, two are refused. */
static void test_sets_of_warps_share_steps(void **state)
{
    device_facts d = hopper();
    problem p = product(134, 150, 110);

    (void)state;
    d.compute_units = 132;
    matmul_in(&p)->type = TSR_F16;
    expect_built("mma", "TILE_M=32 TILE_N=32", &p, &d, "SETS=2 ITEMS=256");
    expect_built("mma", "TILE_M=32 TILE_N=32 BLOCK=32", &p, &d, "SETS=1 ITEMS=128");
    expect_built("mma", "TILE_M=64 TILE_N=64", &p, &d, "SETS=1 ITEMS=256");
    expect_built("mma", "TILE_M=64 TILE_N=64 SETS=2", &p, &d, "SETS=2 ITEMS=512");
    d.compute_units = 24; /* of 25 tiles */
    expect_built("mma", "TILE_M=32 TILE_N=32", &p, &d, "SETS=1 ITEMS=128");
    for (uint32_t sets = 1; sets <= 2; sets++) {
        char set[64];
        plan x;

        snprintf(set, sizeof(set), "TILE_M=32 TILE_N=32 SPLIT=2 SETS=%u", sets);
        /* The first set keeps the sums of both. */
        x = expect_plan("mma", set, &p, &d, 1, 25 * 2 * 32 * 32 * sizeof(float));
        plan_free(&x);
    }
    p = product(134, 150, 10); /* a block of 32 bytes, but for two sets */
    matmul_in(&p)->type = TSR_F16;
    expect_built("mma", NULL, &p, &d, "BLOCK=32");
    expect_built("mma", "SETS=2", &p, &d, "BLOCK=64");
    expect_reason("mma", "SETS=2 BLOCK=32", &p, &d, "SETS=2 needs BLOCK=64 or more", NULL);
    matmul_in(&p)->type = TSR_F64;
    expect_reason("mma", "SETS=2", &p, &d, "not for float64", NULL);
}

/* Groups that share k are layers, in one launch, of one product: each keeps the sums of a tile. */
static void test_warps_share_k(void **state)
{
    static const char set[] = "TILE_M=64 TILE_N=32 SPLIT=4";
    device_facts d = hopper();
    problem p = product(65, 40, 1000);
    matmul_call call;
    plan x;

    (void)state;
    matmul_in(&p)->type = TSR_F16;
    matmul_in(&p)->stride_a = 100000; /* counts for a batch alone */
    x = expect_plan("mma", set, &p, &d, 1, 2 * 2 * 4 * 64 * 32 * sizeof(float));
    assert_int_equal(x.commands[0].global[2], 4);
    assert_int_equal(x.commands[0].arg[3].kind, ARG_WORKSPACE);
    assert_int_equal(x.commands[0].arg[4].kind, ARG_GROUP_COUNTERS);
    memcpy(&call, x.commands[0].block, x.commands[0].arg[5].bytes);
    assert_true(call.span == 256 && call.parts == 4 && call.stride_a == 0 && call.stride_c == 0);
    expect_options(&x, "mma", &d, "SPLITS=1 LAST_ADDS=2");
    plan_free(&x);
    /* A block is 64 elements: 130 are three, and so are the parts. */
    matmul_in(&p)->k = 130;
    x = expect_plan("mma", set, &p, &d, 1, 2 * 2 * 3 * 64 * 32 * sizeof(float));
    plan_free(&x);
    matmul_in(&p)->batch = 2;
    matmul_in(&p)->stride_c = 65 * 40;
    x = expect_plan("mma", set, &p, &d, 1, 0);
    assert_int_equal(x.commands[0].global[2], 2);
    plan_free(&x);
    /* Left to itself a long k is shared, and a short one is not. */
    p = product(64, 64, 16384);
    matmul_in(&p)->type = TSR_BF16;
    d.compute_units = 132;
    expect_built("mma", NULL, &p, &d, "SPLITS=1");
    matmul_in(&p)->k = 64;
    expect_built("mma", NULL, &p, &d, "SPLITS=0");
}

/* What is brought at once: 16 bytes where all lines start at multiples of them, else an element, or
 * two of 16 bits. */
static void test_warps_copy_what_is_aligned(void **state)
{
    const device_facts d = hopper();
    problem p = product(64, 64, 64);

    (void)state;
    matmul_in(&p)->type = TSR_BF16;
    matmul_in(&p)->lda = 72;
    matmul_in(&p)->ldb = 68;
    expect_built("mma", NULL, &p, &d, "COPY_A=16 COPY_B=4 SHIFTED=0 C_VECTOR=4");
    matmul_in(&p)->offset_a = 1;
    matmul_in(&p)->ldb = 66;
    matmul_in(&p)->ldc = 65;
    expect_built("mma", NULL, &p, &d, "COPY_A=2 COPY_B=4 SHIFTED=1 C_VECTOR=4");
    matmul_in(&p)->ldc = 66;
    expect_built("mma", NULL, &p, &d, "SHIFTED=0 C_VECTOR=2");
    matmul_in(&p)->ldc = 65;
    matmul_in(&p)->offset_a = 2;
    matmul_in(&p)->ldb = 67;
    expect_built("mma", NULL, &p, &d, "COPY_A=4 COPY_B=2");
    matmul_in(&p)->type = TSR_F32;
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    matmul_in(&p)->offset_a = 4;
    expect_built("mma", NULL, &p, &d, "COPY_A=16 COPY_B=4");
    matmul_in(&p)->offset_a = 2;
    expect_built("mma", NULL, &p, &d, "COPY_A=4 COPY_B=4");
    matmul_in(&p)->type = TSR_F64;
    matmul_in(&p)->precision = TSR_PRECISION_DEFAULT;
    expect_built("mma", NULL, &p, &d, "COPY_A=16 COPY_B=8 SHIFTED=1 C_VECTOR=2");
}

/* Tiles of C in one dimension, a warp for each part; layers of them for a batch. */
static void test_float64_tiles_cover_c(void **state)
{
    const device_facts d = hopper();
    problem p = product(257, 129, 40);
    plan x;

    (void)state;
    matmul_in(&p)->type = TSR_F64;
    x = expect_plan("mma-f64", "TILE_M=128 TILE_N=128 SPLIT=1", &p, &d, 1, 0);
    assert_int_equal(x.commands[0].local[0], 256); /* 8 warps of 64 x 32 */
    assert_int_equal(x.commands[0].global[0], 3 * 2 * 256);
    assert_int_equal(x.commands[0].global[1], 1);
    assert_int_equal(x.commands[0].global[2], 1);
    plan_free(&x);
    matmul_in(&p)->batch = 7;
    matmul_in(&p)->stride_c = 257 * 129;
    x = expect_plan("mma-f64", "TILE_M=64 TILE_N=128", &p, &d, 1, 0);
    assert_int_equal(x.commands[0].local[0], 256); /* 8 warps of 32 x 32 */
    assert_int_equal(x.commands[0].global[0], 5 * 2 * 256);
    assert_int_equal(x.commands[0].global[2], 7);
    plan_free(&x);
    matmul_in(&p)->m = 0;
    x = expect_plan("mma-f64", NULL, &p, &d, 0, 0);
    plan_free(&x);
}

/* Expect so many groups of a product of 64 x 64 tiles, which keep sums of two tiles each where any
 * is shared. */
static void expect_float64_groups(const char *set, const problem *p, size_t groups, bool share)
{
    device_facts d = hopper();
    char values[96];
    plan x;

    d.compute_units = 132;
    snprintf(values, sizeof(values), "TILE_M=64 TILE_N=64 WARP_M=32 WARP_N=32 %s", set);
    x = expect_plan("mma-f64", values, p, &d, 1,
                    share ? 2 * groups * 64 * 64 * sizeof(double) : (size_t)0);
    assert_int_equal(x.commands[0].global[0], groups * 128);
    plan_free(&x);
}

/* Groups share tiles: each of them so many, or all groups all blocks along k, of which there are
 * no more groups. */
static void test_float64_groups_share_k(void **state)
{
    problem p = product(128, 192, 1000); /* 6 tiles of 63 blocks */
    device_facts d = hopper();

    (void)state;
    matmul_in(&p)->type = TSR_F64;
    expect_float64_groups("SPLIT=1", &p, 6, false);
    expect_float64_groups("SPLIT=4", &p, 24, true);
    expect_float64_groups("SPLIT=0 PER_UNIT=2", &p, 264, true);
    matmul_in(&p)->k = 40;
    expect_float64_groups("SPLIT=4", &p, 18, true);
    expect_float64_groups("SPLIT=0 PER_UNIT=2", &p, 18, true);
    matmul_in(&p)->k = 16; /* a block: nothing to share */
    expect_float64_groups("SPLIT=4", &p, 6, false);
    expect_float64_groups("SPLIT=0 PER_UNIT=2", &p, 6, false);
    p = product(64 * 132, 64, 1000); /* as many tiles as units */
    matmul_in(&p)->type = TSR_F64;
    expect_float64_groups("SPLIT=0 PER_UNIT=1", &p, 132, false);
    matmul_in(&p)->m++; /* each group one, and of the last one all */
    expect_float64_groups("SPLIT=0 PER_UNIT=1", &p, 132, true);
    matmul_in(&p)->batch = 3;
    matmul_in(&p)->stride_c = 1 << 20;
    expect_float64_groups("SPLIT=4", &p, 133, false);
    /* What is not asked for takes no memory that is not there. */
    p = product(64, 64, 8192);
    matmul_in(&p)->type = TSR_F64;
    d.max_allocation = 2 * 4 * 64 * 64 * sizeof(double);
    expect_reason("mma-f64", "TILE_M=64 TILE_N=64 SPLIT=4", &p, &d, NULL, NULL);
    expect_reason("mma-f64", "TILE_M=64 TILE_N=64 SPLIT=8", &p, &d, "largest allocation", NULL);
    expect_unsupported("mma-f64", &d, &p, NULL);
}

/* Tiles large enough for their traffic, and enough of them for the units. */
static void test_float64_layout_follows_the_shape(void **state)
{
    device_facts d = hopper();
    problem p = product(4096, 4096, 4096);
    plan x;

    (void)state;
    d.compute_units = 132;
    matmul_in(&p)->type = TSR_F64;
    expect_built("mma-f64", NULL, &p, &d, "TILE_M=128 TILE_N=128");
    p = product(64, 64, 8192);
    matmul_in(&p)->type = TSR_F64;
    x = plan_of("mma-f64", NULL, &p, &d);
    assert_true(param(&x.params, "SPLIT") >= 8 || param(&x.params, "PER_UNIT") >= 1);
    plan_free(&x);
    p = product(500, 500, 500);
    matmul_in(&p)->type = TSR_F64;
    x = plan_of("mma-f64", NULL, &p, &d);
    assert_true(param(&x.params, "TILE_M") * param(&x.params, "TILE_N") <= 64 * 128);
    plan_free(&x);
    /* B comes from memory, in copies of 8 bytes: more groups on a unit wait for it together. */
    p = product(27, 9883, 1189);
    matmul_in(&p)->type = TSR_F64;
    x = plan_of("mma-f64", NULL, &p, &d);
    assert_true(x.commands[0].global[0] / x.commands[0].local[0] >= 3 * d.compute_units);
    plan_free(&x);
}

/* Four blocks of 16 along k: of A 128 rows of 16 + 4, of B 16 rows of 128 + 4; a flag. */
static void test_float64_runs_elsewhere(void **state)
{
    const char *const set = "TILE_M=128 TILE_N=128 STAGES=4";
    device_facts d = hopper();
    problem p = product(512, 512, 512);

    (void)state;
    expect_unsupported("mma-f64", &d, &p, "it multiplies float64, not float32");
    matmul_in(&p)->type = TSR_BF16;
    expect_unsupported("mma-f64", &d, &p, "it multiplies float64, not bfloat16");
    matmul_in(&p)->type = TSR_F64;
    expect_unsupported("mma-f64", &d, &p, NULL);
    matmul_in(&p)->batch = 3;
    expect_unsupported("mma-f64", &d, &p, NULL);
    d.large_local = 4 * 8 * (128 * 20 + 16 * 132) + 16;
    expect_reason("mma-f64", set, &p, &d, NULL, NULL);
    d.large_local--;
    expect_reason("mma-f64", set, &p, &d, "it needs 149520 bytes of local memory", NULL);
    expect_unsupported("mma-f64", &d, &p, NULL); /* smaller tiles do */
    expect_reason("mma-f64", "TILE_M=32 TILE_N=128 WARP_M=64", &p, &d,
                  "tiles of 32 x 128 do not divide into whole warps of 64 x 32", NULL);
    d = hopper();
    d.nv_capability = 86;
    expect_unsupported("mma-f64", &d, &p, "compute capability 9.0, and the device has 8.6");
    d = hopper();
    matmul_in(&p)->m = ((size_t)1 << 31) + 1;
    expect_unsupported("mma-f64", &d, &p, "32 bits");
}

/* Boxes: a warp group beside those that multiply, two maps a group; where A lies along k and B
 * across it, C^T is computed, and A and B change places. */
static void test_float64_boxes(void **state)
{
    device_facts d = hopper();
    problem p = product(257, 130, 40);
    plan x;

    (void)state;
    expect_unsupported("mma-f64-tensor", &d, &p, "it multiplies float64, not float32");
    p = product(257, 130, 40);
    matmul_in(&p)->type = TSR_F64;
    x = expect_plan("mma-f64-tensor", "TILE_M=128 TILE_N=128 SPLIT=1", &p, &d, 1, 3 * 2 * 256);
    expect_options(&x, "mma-f64-tensor", &d, "TRANS_A=1 TRANS_B=1 TURNED=1 REGISTERS=232");
    assert_int_equal(x.commands[0].local[0], 256 + 128);
    assert_int_equal(x.commands[0].global[0], 3 * 2 * 384);
    assert_int_equal(x.commands[0].arg[0].index, MATMUL_B);
    assert_int_equal(x.commands[0].arg[1].index, MATMUL_A);
    plan_free(&x);
    matmul_in(&p)->trans_b = 1;
    /* Two groups that share each tile keep two tiles of sums each. */
    x = expect_plan("mma-f64-tensor", "TILE_M=64 TILE_N=64 SPLIT=2", &p, &d, 1,
                    5 * 3 * 2 * (256 + 2 * 64 * 64 * sizeof(double)));
    expect_options(&x, "mma-f64-tensor", &d, "TRANS_A=0 TRANS_B=1 TURNED=0 UNIT_GROUPS=2");
    assert_int_equal(x.commands[0].local[0], 128 + 128);
    assert_int_equal(x.commands[0].arg[0].index, MATMUL_A);
    plan_free(&x);
    matmul_in(&p)->offset_b = 1;
    expect_unsupported("mma-f64-tensor", &d, &p, "multiples of 16 bytes");
    matmul_in(&p)->offset_b = 2;
    matmul_in(&p)->lda = 41;
    expect_unsupported("mma-f64-tensor", &d, &p, "multiples of 16 bytes");
    matmul_in(&p)->lda = 42;
    expect_unsupported("mma-f64-tensor", &d, &p, NULL);
    matmul_in(&p)->batch = 3;
    expect_unsupported("mma-f64-tensor", &d, &p, "one pair of matrices");
}

/* Two elements are a vector where lines, matrices and products start at a multiple of two. */
static void test_float64_tells_alignment(void **state)
{
    const device_facts d = hopper();
    problem p = product(64, 64, 64);

    (void)state;
    matmul_in(&p)->type = TSR_F64;
    matmul_in(&p)->offset_a = 2;
    matmul_in(&p)->ldb = 66;
    expect_built("mma-f64", NULL, &p, &d, "ALIGNED_A=1 ALIGNED_B=1 ALIGNED_C=1");
    matmul_in(&p)->offset_a = 1;
    matmul_in(&p)->ldb = 65;
    matmul_in(&p)->ldc = 67;
    expect_built("mma-f64", NULL, &p, &d, "ALIGNED_A=0 ALIGNED_B=0 ALIGNED_C=0");
}

/* Vectors are taken for aligned only where every row starts at a multiple of four. */
static void test_alignment_is_defined(void **state)
{
    const device_facts d = hopper();
    problem p = product(64, 64, 64);

    (void)state;
    expect_built("wgmma-3xtf32", NULL, &p, &d, "ALONG_A=1 ALONG_B=1");
    matmul_in(&p)->lda = 66;
    matmul_in(&p)->offset_b = 2;
    expect_built("wgmma-3xtf32", NULL, &p, &d, "ALONG_A=0 ALONG_B=0");
}

/* One launch of a group a started tile of 128 x 256, and nothing beside it where a copy of what is
 * not aligned would not pay. */
static void test_fused_needs_no_workspace(void **state)
{
    const device_facts d = hopper();
    problem p = product(257, 513, 65);
    plan x = expect_plan("wgmma-3xtf32-fused", NULL, &p, &d, 1, 0);

    (void)state;
    assert_int_equal(x.commands[0].entry, 1);
    assert_int_equal(x.commands[0].global[0], 3 * 3 * 384);
    assert_int_equal(x.commands[0].local[0], 384);
    plan_free(&x);
    matmul_in(&p)->n = 0;
    x = expect_plan("wgmma-3xtf32-fused", NULL, &p, &d, 0, 0);
    plan_free(&x);
}

/* That C has so many tiles and k so many parts, whose sums lie in the workspace before copies. */
static void expect_fused_parts(const char *set, const problem *p, size_t tiles, size_t parts,
                               size_t copies)
{
    device_facts d = hopper();
    const size_t aligned = copies ? 2 : 0;
    const size_t sums = parts > 1 ? parts * matmul_of(p)->m * matmul_of(p)->n * 4 : 0;
    plan x;

    d.compute_units = 132;
    x = plan_of("wgmma-3xtf32-fused", set, p, &d);
    assert_int_equal(x.count, aligned + (parts > 1 ? 2 : 1));
    assert_int_equal(x.commands[aligned].entry, 1);
    assert_int_equal(x.commands[aligned].global[0], tiles * parts * 384);
    assert_int_equal(x.workspace, copies ? size_round_up(sums, 16) + copies : sums);
    assert_int_equal(x.tiles, tiles * parts);
    assert_int_equal(param(&x.params, "SPLIT"), parts);
    if (parts > 1)
        assert_int_equal(x.commands[aligned + 1].entry, 2);
    plan_free(&x);
}

/* Groups share k where C has too few tiles for the device, and k is long. */
static void test_fused_groups_share_k(void **state)
{
    problem p = product(1024, 1024, 4096); /* 8 x 4 tiles */

    (void)state;
    matmul_in(&p)->beta = 2;
    expect_fused_parts(NULL, &p, 32, 4, 0);
    expect_fused_parts("SPLIT=1", &p, 32, 1, 0);
    expect_fused_parts("SPLIT=8", &p, 32, 8, 0);
    p = product(1024, 1024, 200);
    expect_fused_parts(NULL, &p, 32, 1, 0);
    /* Parts of 32 of k at least. */
    expect_fused_parts("SPLIT=32", &p, 32, 7, 0);
    p = product(4096, 4096, 4096);
    expect_fused_parts(NULL, &p, 512, 1, 0);
    p = product(129, 257, 1001); /* copies of 256 x 1024 and 1024 x 512 */
    expect_fused_parts("SPLIT=2 ALIGN=2", &p, 4, 2, (256 * 1024 + 1024 * 512) * 4);
}

/* The last buffer of the launch that multiplies is where strict tiles are counted. */
static void expect_tiles(const char *name, const problem *p, size_t count)
{
    device_facts d = hopper();
    const command *last;
    plan x;

    d.compute_units = 132;
    x = plan_of(name, NULL, p, &d);
    last = &x.commands[x.count - 1];
    assert_int_equal(x.tiles, count);
    assert_int_equal(last->arg[last->n_args - 2].kind, ARG_STRICT_COUNTER);
    plan_free(&x);
}

static void test_tiles_are_counted(void **state)
{
    problem p = product(257, 513, 65);

    (void)state;
    expect_tiles("wgmma-3xtf32-fused", &p, 3 * 3); /* of 128 x 256 */
    expect_tiles("wgmma-3xtf32", &p, 3 * 5);       /* of 128 x 128 */
    matmul_in(&p)->batch = 7;
    matmul_in(&p)->stride_c = 257 * 513;
    expect_tiles("wgmma-3xtf32", &p, 7 * 3 * 5);
    /* Where C is only scaled, nothing is split. */
    p = product(257, 513, 65);
    matmul_in(&p)->alpha = 0;
    expect_tiles("wgmma-3xtf32-fused", &p, 0);
    expect_tiles("wgmma-3xtf32", &p, 0);
    /* Nor of TF32, which rounds. */
    p = product(257, 513, 65);
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    expect_tiles("wgmma-tf32", &p, 0);
}

static void test_fused_runs_elsewhere(void **state)
{
    device_facts d = hopper();
    problem p = product(512, 512, 512);
    const char *name = "wgmma-3xtf32-fused";

    (void)state;
    expect_unsupported(name, &d, &p, NULL);
    /* What the packed operands of the other would not fit. */
    p = product(1 << 20, 1 << 20, 1 << 13);
    expect_unsupported(name, &d, &p, NULL);
    p = product(512, 512, 63);
    expect_unsupported(name, &d, &p, "k is 63");
    p = product(512, ((size_t)1 << 31) + 1, 512);
    expect_unsupported(name, &d, &p, "32 bits");
    p = product(512, 512, 512);
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    expect_unsupported(name, &d, &p, "not tf32");
    matmul_in(&p)->precision = TSR_PRECISION_F32_STRICT;
    expect_unsupported(name, &d, &p, "not f32-strict");
    matmul_in(&p)->precision = TSR_PRECISION_DEFAULT;
    matmul_in(&p)->type = TSR_F64;
    expect_unsupported(name, &d, &p, "not float64");
    matmul_in(&p)->type = TSR_F32;
    /* Six stages of A and of B, by rows or along k; three blocks; alignment and barriers. */
    d.large_local = 6 * (16384 + 16384) + 3 * 8192 + 1024 + 128;
    expect_unsupported(name, &d, &p, "bytes of local memory");
    matmul_in(&p)->trans_b = true;
    expect_unsupported(name, &d, &p, NULL);
    d.feature[FEATURE_WGMMA] = FEATURE_NO;
    expect_unsupported(name, &d, &p, "wgmma");
}

/* Vectors of four are copied whole only where they are 16 aligned bytes in every row. */
static void test_fused_tells_alignment(void **state)
{
    const device_facts d = hopper();
    problem p = product(64, 66, 64);

    (void)state;
    expect_built("wgmma-3xtf32-fused", NULL, &p, &d,
                 "TRANS_A=0 TRANS_B=0 ALIGNED_A=1 ALIGNED_B=0 PADDED_A=0 PADDED_B=0");
    matmul_in(&p)->trans_b = true;
    matmul_in(&p)->offset_a = 2;
    expect_built("wgmma-3xtf32-fused", NULL, &p, &d,
                 "TRANS_A=0 TRANS_B=1 ALIGNED_A=0 ALIGNED_B=1 PADDED_A=0 PADDED_B=0");
}

/* Which of A and B the fused variant copies. */
static void expect_copies(const char *set, const problem *p, const device_facts *d, bool of_a,
                          bool of_b)
{
    char wanted[64];
    plan x = plan_of("wgmma-3xtf32-fused", set, p, d);

    snprintf(wanted, sizeof(wanted), "PADDED_A=%d PADDED_B=%d", of_a, of_b);
    expect_options(&x, "wgmma-3xtf32-fused", d, wanted);
    assert_int_equal(x.workspace > 0, of_a || of_b);
    assert_int_equal(x.count, 1 + of_a + of_b);
    plan_free(&x);
}

/* What is set is done: aligned matrices are never copied, others by ALIGN. */
static void test_fused_copies_as_set(void **state)
{
    const device_facts d = hopper();
    problem p = product(300, 301, 71);

    (void)state;
    expect_copies(NULL, &p, &d, false, false); /* too small to pay */
    expect_copies("ALIGN=2", &p, &d, true, true);
    matmul_in(&p)->lda = 72;
    expect_copies("ALIGN=2", &p, &d, false, true);
    matmul_in(&p)->offset_a = 2;
    matmul_in(&p)->ldb = 304;
    expect_copies("ALIGN=2", &p, &d, true, false);
    matmul_in(&p)->alpha = 0; /* neither is read */
    expect_copies("ALIGN=2", &p, &d, false, false);
    p = product(4095, 4095, 4095);
    expect_copies("ALIGN=2", &p, &d, true, true);
    expect_copies("ALIGN=1", &p, &d, false, false);
}

/* Where it is not set, large products are worth a copy, each of A and B for itself. */
static void test_fused_copies_where_it_pays(void **state)
{
    device_facts d = hopper();
    problem p = product(4095, 4095, 4095);
    plan x;

    (void)state;
    expect_copies(NULL, &p, &d, true, true);
    p = product(4095, 4096, 4095);
    expect_copies(NULL, &p, &d, true, false);
    /* Few columns: of A each element serves 512, of B 16383. */
    p = product(16383, 511, 4095);
    expect_copies(NULL, &p, &d, false, true);
    p = product(511, 16383, 4095);
    expect_copies(NULL, &p, &d, true, false);
    /* A launch takes longer. */
    p = product(2047, 2047, 127);
    expect_copies(NULL, &p, &d, false, false);
    /* Both in 2 GiB, or neither; and in what the device gives. */
    p = product(16383, 16383, 16383);
    x = expect_plan("wgmma-3xtf32-fused", NULL, &p, &d, 3, (size_t)2 << 30);
    plan_free(&x);
    p = product(16383, 16383, 16385);
    expect_copies(NULL, &p, &d, false, false);
    p = product(4095, 4095, 4095);
    d.max_allocation = ((uint64_t)128 << 20) - 1;
    expect_copies(NULL, &p, &d, false, false);
    d.max_allocation++;
    expect_copies(NULL, &p, &d, true, true);
    /* Only beside the matrices. */
    d.global_memory = 5 * ((uint64_t)64 << 20) - 1000000;
    expect_copies(NULL, &p, &d, false, false);
    d.global_memory = 5 * ((uint64_t)64 << 20);
    expect_copies(NULL, &p, &d, true, true);
}

/* A precision never gives less than its name says: what each variant on matrix units takes of
 * float32, and nothing else. */
static void test_precisions_are_kept(void **state)
{
    static const struct {
        const char *variant;
        unsigned takes;
    } expected[] = {{"mma", 1u << TSR_PRECISION_TF32},
                    {"mma-f64", 0},
                    {"wgmma-tf32", 1u << TSR_PRECISION_TF32},
                    {"wgmma-tensor",
                     1u << TSR_PRECISION_TF32 | 1u << TSR_PRECISION_BF16 | 1u << TSR_PRECISION_F16},
                    {"wgmma-3xtf32", 1u << TSR_PRECISION_DEFAULT | 1u << TSR_PRECISION_F32},
                    {"wgmma-3xtf32-fused", 1u << TSR_PRECISION_DEFAULT | 1u << TSR_PRECISION_F32}};
    const device_facts d = hopper();

    (void)state;
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        for (int precision = 0; precision < TSR_PRECISION_COUNT; precision++) {
            problem p = product(512, 512, 512);

            matmul_in(&p)->precision = (tsr_precision)precision;
            if (precision == TSR_PRECISION_F64 || precision == TSR_PRECISION_I8 ||
                precision == TSR_PRECISION_F8)
                continue; /* float32 has no such precision */
            print_message("%s %s\n", expected[i].variant,
                          tsr_precision_name((tsr_precision)precision));
            assert_int_equal(supports(expected[i].variant, &p, &d),
                             expected[i].takes >> precision & 1);
        }
}

/* int8: what runs along k and is aligned to 16 goes as it is; the rest is staged, and a batch, or
 * what takes less time there, goes to mma, whose blocks lie along k in local memory. */
static void test_int8_runs_along_k(void **state)
{
    enum { MAPS = 256 };
    static const char name[] = "wgmma-tensor";
    static const char set[] = "TILE_M=128 TILE_N=256 TURN=1 SPLIT=1 PREPARE=1";
    device_facts d = hopper();
    problem p = product(300, 520, 80);
    plan x;

    (void)state;
    d.compute_units = 4;
    matmul_in(&p)->type = TSR_I8;
    matmul_in(&p)->trans_b = true;
    x = expect_plan(name, set, &p, &d, 1, 4 * MAPS);
    expect_options(&x, name, &d, "REAL=uint FACTOR=I8 RESULT=I32 FORMAT=3 STAGED_A=0 STAGED_B=0");
    plan_free(&x);
    matmul_in(&p)->trans_b = false; /* 520 rows of 80, padded to 256 */
    x = expect_plan(name, set, &p, &d, 2, 4 * MAPS + 520 * 256);
    expect_options(&x, name, &d, "STAGED_A=0 STAGED_B=1");
    plan_free(&x);
    matmul_in(&p)->lda = 88;
    x = expect_plan(name, set, &p, &d, 2, 4 * MAPS + (520 + 300) * 256);
    expect_options(&x, name, &d, "STAGED_A=1 STAGED_B=1");
    plan_free(&x);
    matmul_in(&p)->batch = 2;
    assert_false(supports(name, &p, &d));
    assert_true(supports("mma", &p, &d));
    expect_built("mma", "TILE_M=64 TILE_N=64 BLOCK=64 STAGES=4", &p, &d,
                 "REAL=uint FACTOR=I8 COPY_A=4 COPY_B=4 LOCAL_BYTES=40960");
}

/* FP8 likewise, in tiles whose sums of a block fit in registers beside the others. */
static void test_fp8_runs_along_k(void **state)
{
    enum { MAPS = 256 };
    static const char name[] = "wgmma-tensor";
    static const char set[] = "TILE_M=128 TILE_N=128 TURN=1 SPLIT=1 PREPARE=1";
    static const struct {
        tsr_type type;
        bool bf16;
        const char *options;
    } kinds[] = {{TSR_F8E4M3, true, "REAL=float FACTOR=F8E4M3 RESULT=BF16 FORMAT=4 STAGED_A=0"},
                 {TSR_F8E5M2, false, "REAL=float FACTOR=F8E5M2 RESULT=F8E5M2 FORMAT=5 STAGED_A=0"}};
    device_facts d = hopper();
    problem p = product(300, 520, 80);
    plan x;

    (void)state;
    d.compute_units = 4;
    for (size_t i = 0; i < 2; i++) {
        p = product(300, 520, 80);
        matmul_in(&p)->type = kinds[i].type;
        matmul_in(&p)->c_bf16 = kinds[i].bf16;
        matmul_in(&p)->trans_b = true;
        x = expect_plan(name, set, &p, &d, 1, 4 * MAPS);
        expect_options(&x, name, &d, kinds[i].options);
        plan_free(&x);
        matmul_in(&p)->trans_b = false; /* 520 rows of 80, padded to 256 */
        x = expect_plan(name, set, &p, &d, 2, 4 * MAPS + 520 * 256);
        expect_options(&x, name, &d, "STAGED_B=1");
        plan_free(&x);
    }
    assert_true(supports(name, &p, &d));
    matmul_in(&p)->precision = TSR_PRECISION_F32;
    assert_false(supports(name, &p, &d));
    matmul_in(&p)->precision = TSR_PRECISION_F8;
    assert_true(supports(name, &p, &d));
    assert_false(supports("mma", &p, &d));
    matmul_in(&p)->batch = 2;
    assert_false(supports(name, &p, &d));
}

/* The operands of wgmma-tensor: what the chip can copy is not staged, the rest is, in rows of 256
 * aligned bytes, transposed where k does not run along memory.  Each group has two maps. */
static void test_tensor_stages_what_it_must(void **state)
{
    enum { MAPS = 256 };
    static const char name[] = "wgmma-tensor";
    static const char set[] = "TILE_M=128 TILE_N=256 TURN=1 SPLIT=1";
    device_facts d = hopper();
    problem p = product(300, 520, 68);
    plan x;

    (void)state;
    d.compute_units = 132;
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    matmul_in(&p)->trans_b = true;
    x = expect_plan(name, set, &p, &d, 1, 9 * MAPS);
    assert_int_equal(x.commands[0].global[0], 3 * 3 * 384);
    expect_options(&x, name, &d, "STAGED_A=0 STAGED_B=0");
    plan_free(&x);
    d.compute_units = 4; /* a work-group each takes what there is */
    x = expect_plan(name, set, &p, &d, 1, 4 * MAPS);
    assert_int_equal(x.commands[0].global[0], 4 * 384);
    plan_free(&x);
    /* B transposed: 520 rows of 68, padded to 128; pieces of 64 x 64. */
    matmul_in(&p)->trans_b = false;
    x = expect_plan(name, set, &p, &d, 2, 4 * MAPS + 520 * 128 * 4);
    assert_int_equal(x.commands[0].global[0], 2 * 9 * 256);
    expect_options(&x, name, &d, "STAGED_A=0 STAGED_B=1");
    plan_free(&x);
    /* The groups that multiply stage where that is a piece each at most. */
    d.compute_units = 132;
    matmul_in(&p)->n = 64;
    x = plan_of(name, set, &p, &d);
    assert_int_equal(x.count, 1);
    expect_options(&x, name, &d, "FUSED=1 SINGLE=1");
    plan_free(&x);
    d.compute_units = 4;
    matmul_in(&p)->n = 520;
    /* Rows of A that are not aligned: as they are, 300 of 68, padded. */
    matmul_in(&p)->offset_a = 1;
    x = expect_plan(name, set, &p, &d, 2, 4 * MAPS + 520 * 128 * 4 + 300 * 128 * 4);
    expect_options(&x, name, &d, "STAGED_A=1 STAGED_B=1");
    plan_free(&x);
    /* Of 16 bits, any order goes as it is; eight are 16 bytes. */
    matmul_in(&p)->type = TSR_F16;
    matmul_in(&p)->precision = TSR_PRECISION_DEFAULT;
    matmul_in(&p)->offset_a = 0;
    matmul_in(&p)->lda = 72;
    x = expect_plan(name, set, &p, &d, 1, 4 * MAPS);
    expect_options(&x, name, &d, "FORMAT=2 STAGED_A=0 STAGED_B=0");
    plan_free(&x);
    matmul_in(&p)->lda = 0;
    x = expect_plan(name, set, &p, &d, 2, 4 * MAPS + 300 * 128 * 2);
    plan_free(&x);
    /* Large operands whose rows start inside sectors of 32 bytes, up to 1 GiB. */
    p = product(3000, 3000, 1004);
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    matmul_in(&p)->trans_b = true;
    expect_built(name, set, &p, &d, "STAGED_A=1 STAGED_B=1");
    matmul_in(&p)->lda = 1008;
    expect_built(name, set, &p, &d, "STAGED_A=0 STAGED_B=1");
    matmul_in(&p)->offset_a = 4;
    expect_built(name, set, &p, &d, "STAGED_A=1 STAGED_B=1");
    matmul_in(&p)->offset_a = 0;
    matmul_in(&p)->k = 996;
    expect_built(name, set, &p, &d, "STAGED_A=0 STAGED_B=0");
    matmul_in(&p)->k = 1004;
    matmul_in(&p)->m = 2999;
    expect_built(name, set, &p, &d, "STAGED_A=0 STAGED_B=0");
    p = product(3000, 70000, 4004);
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    matmul_in(&p)->trans_b = true;
    expect_built(name, set, &p, &d, "STAGED_A=1 STAGED_B=0");
    p = product(300, 520, 68);
    /* Float32 that is rounded to 16 bits is staged. */
    matmul_in(&p)->type = TSR_F32;
    matmul_in(&p)->precision = TSR_PRECISION_BF16;
    expect_built(name, set, &p, &d, "FORMAT=1 STAGED_A=1 STAGED_B=1");
    /* Nothing to add up: C is scaled alone. */
    matmul_in(&p)->alpha = 0;
    x = plan_of(name, set, &p, &d);
    assert_int_equal(x.count, 1);
    assert_int_equal(x.commands[0].global[0], 4 * 384);
    plan_free(&x);
    matmul_in(&p)->m = 0;
    x = plan_of(name, set, &p, &d);
    assert_int_equal(x.count, 0);
    plan_free(&x);
}

/* Groups that share k keep their sums in the workspace, and the last of a tile adds them up. */
static void test_tensor_groups_share_k(void **state)
{
    device_facts d = hopper();
    problem p = product(256, 512, 1000);
    plan x;

    (void)state;
    d.compute_units = 132;
    matmul_in(&p)->type = TSR_BF16;
    x = expect_plan("wgmma-tensor", "TILE_M=128 TILE_N=256 TURN=1 SPLIT=4", &p, &d, 1,
                    4 * 4 * (256 + 128 * 256 * 4));
    assert_int_equal(param(&x.params, "SPLIT"), 4);
    assert_int_equal(x.commands[0].global[0], 4 * 4 * 384);
    plan_free(&x);
    /* Blocks of 64: 16 of them are 6, 6 and 4. */
    x = plan_of("wgmma-tensor", "TILE_M=128 TILE_N=256 TURN=1 SPLIT=3", &p, &d);
    assert_int_equal(param(&x.params, "SPLIT"), 3);
    plan_free(&x);
    matmul_in(&p)->k = 64; /* one block */
    x = plan_of("wgmma-tensor", "TILE_M=128 TILE_N=256 TURN=1 SPLIT=4", &p, &d);
    assert_int_equal(param(&x.params, "SPLIT"), 1);
    plan_free(&x);
}

/* A group that has one tile stores it through its stages, where they hold what it places there. */
static void test_tensor_stores_through_its_stages(void **state)
{
    static const struct {
        const char *set, *built;
    } cases[] = {
        {"TILE_M=256 TILE_N=192 TURN=1", "SINGLE=1 STAGES=3"},
        {"TILE_M=256 TILE_N=192 TURN=2", "SINGLE=0 STAGES=3"},
        {"TILE_M=256 TILE_N=128 TURN=1", "SINGLE=1 STAGES=4"},
        {"TILE_M=256 TILE_N=128 TURN=1 STAGES=3", "SINGLE=1 STAGES=3"},
        {"TILE_M=128 TILE_N=256 TURN=1 STAGES=3", "SINGLE=1 STAGES=3"},
        {"TILE_M=128 TILE_N=256 TURN=2 STAGES=3", "SINGLE=1 STAGES=3"},
    };
    device_facts d = hopper();
    problem p = product(512, 768, 512);

    (void)state;
    d.compute_units = 132;
    matmul_in(&p)->type = TSR_BF16;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect_built("wgmma-tensor", cases[i].set, &p, &d, cases[i].built);
}

/* What no tunable sets: the tile that ends soonest, and C transposed where it has few rows. */
static void expect_tile(const problem *p, size_t m, size_t n, size_t turn)
{
    device_facts d = hopper();
    plan x;

    d.compute_units = 132;
    x = plan_of("wgmma-tensor", NULL, p, &d);
    assert_int_equal(param(&x.params, "TILE_M"), m);
    assert_int_equal(param(&x.params, "TILE_N"), n);
    assert_int_equal(param(&x.params, "TURN"), turn);
    plan_free(&x);
}

static void test_tensor_tiles_follow_the_shape(void **state)
{
    static const struct {
        size_t m, n, k, tile_m, tile_n, turn;
    } cases[] = {{8192, 8192, 8192, 128, 256, 1}, {3072, 3072, 3072, 128, 192, 1},
                 {1536, 1536, 1536, 128, 160, 1}, {1024, 1024, 1024, 128, 64, 1},
                 {512, 512, 512, 64, 64, 1},      {32, 8192, 8192, 128, 32, 2},
                 {8192, 32, 8192, 64, 64, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        problem p = product(cases[i].m, cases[i].n, cases[i].k);

        matmul_in(&p)->type = TSR_BF16;
        expect_tile(&p, cases[i].tile_m, cases[i].tile_n, cases[i].turn);
    }
}

/* Columns of B that are copied for nothing cost as much as others: tiles are 224 wide only where B
 * lies along k. */
static void test_tensor_tiles_count_what_is_copied(void **state)
{
    problem p = product(5000, 5000, 5000);

    (void)state;
    matmul_in(&p)->type = TSR_BF16;
    expect_tile(&p, 128, 256, 1);
    p = product(3456, 3712, 3264);
    matmul_in(&p)->type = TSR_BF16;
    expect_tile(&p, 128, 128, 1);
    p = product(2560, 2816, 2048);
    matmul_in(&p)->type = TSR_BF16;
    expect_tile(&p, 128, 256, 1);
    matmul_in(&p)->trans_b = true;
    expect_tile(&p, 128, 224, 1);
}

/* A group for each tile where C is added to, but of 8 bits or where units take several groups. */
static void test_tensor_groups_follow_beta(void **state)
{
    static const struct {
        tsr_type type;
        double beta;
        size_t size;
        const char *set, *wanted;
    } cases[] = {{TSR_BF16, 1, 4096, NULL, "PERSISTENT=2"},
                 {TSR_BF16, 0, 4096, NULL, "PERSISTENT=1"},
                 {TSR_F32, 1, 4096, NULL, "PERSISTENT=2"},
                 {TSR_I8, 1, 4096, NULL, "PERSISTENT=1"},
                 {TSR_BF16, 1, 512, "TILE_M=64 TILE_N=64 STAGES=4", "PERSISTENT=1"},
                 {TSR_BF16, 1, 4096, "PERSISTENT=1", "PERSISTENT=1"},
                 {TSR_BF16, 0, 4096, "PERSISTENT=2", "PERSISTENT=2"}};
    device_facts d = hopper();

    (void)state;
    d.compute_units = 132;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        problem p = product(cases[i].size, cases[i].size, cases[i].size);
        plan x;

        matmul_in(&p)->type = cases[i].type;
        matmul_in(&p)->beta = cases[i].beta;
        if (cases[i].type == TSR_F32)
            matmul_in(&p)->precision = TSR_PRECISION_TF32;
        x = plan_of("wgmma-tensor", cases[i].set, &p, &d);
        expect_built("wgmma-tensor", cases[i].set, &p, &d, cases[i].wanted);
        /* As many groups as tiles, or as units. */
        if (cases[i].size == 4096)
            assert_int_equal(x.commands[x.count - 1].global[0] / x.commands[x.count - 1].local[0],
                             strstr(cases[i].wanted, "=2")
                                 ? size_div_up(4096, param(&x.params, "TILE_M")) *
                                       size_div_up(4096, param(&x.params, "TILE_N"))
                                 : 132);
        plan_free(&x);
    }
}

/* C^T = op(B)^T op(A)^T: operands change places, and so does what is staged of them. */
static void test_tensor_turns_c(void **state)
{
    device_facts d = hopper();
    problem p = product(32, 1000, 520);
    plan x;

    (void)state;
    d.compute_units = 132;
    matmul_in(&p)->type = TSR_BF16;
    matmul_in(&p)->lda = 521; /* not aligned */
    x = plan_of("wgmma-tensor", "TURN=2 TILE_M=128 TILE_N=32 PREPARE=1", &p, &d);
    expect_options(&x, "wgmma-tensor", &d, "TURNED=1 TRANS_A=1 TRANS_B=1 STAGED_A=0 STAGED_B=1");
    assert_int_equal(x.count, 2);
    assert_int_equal(x.commands[1].arg[0].index, MATMUL_B);
    assert_int_equal(x.commands[1].arg[1].index, MATMUL_A);
    plan_free(&x);
}

static void test_tensor_runs_elsewhere(void **state)
{
    device_facts d = hopper();
    problem p = product(512, 512, 512);
    const char *name = "wgmma-tensor";

    (void)state;
    expect_unsupported(name, &d, &p, "float32 the precision is f32");
    matmul_in(&p)->precision = TSR_PRECISION_BF16;
    expect_unsupported(name, &d, &p, NULL);
    matmul_in(&p)->type = TSR_F64;
    matmul_in(&p)->precision = TSR_PRECISION_DEFAULT;
    expect_unsupported(name, &d, &p, "float64 the precision is f64");
    p = product(512, ((size_t)1 << 31) + 1, 512);
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    expect_unsupported(name, &d, &p, "32 bits");
    /* What is copied as it is takes no workspace, however large; staged, B does not fit. */
    p = product(100000, 100000, 100000);
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    matmul_in(&p)->trans_b = true;
    expect_unsupported(name, &d, &p, NULL);
    matmul_in(&p)->trans_b = false;
    expect_unsupported(name, &d, &p, "largest allocation");
    p = product((size_t)1 << 31, (size_t)1 << 31, (size_t)1 << 31);
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    expect_unsupported(name, &d, &p, "largest allocation");
    p = product(512, 512, 512);
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    d.large_local = 4 * (128 + 256) * 128;
    expect_reason(name, "TILE_M=128 TILE_N=256 STAGES=4", &p, &d, "bytes of local memory", NULL);
    expect_reason(name, "TILE_M=256 TILE_N=256", &p, &d, "registers", NULL);
    d = hopper();
    d.feature[FEATURE_TENSOR_COPY] = FEATURE_NO;
    expect_unsupported(name, &d, &p, "tensor copies");
}

static void expect_first(const problem *p, const char *name)
{
    const char *names[PREFERENCES_MAX];
    device_facts d = hopper();

    d.compute_units = 132;
    operation_matmul.prefer(p, &d, names);
    assert_string_equal(names[0], name);
}

/* Of float64, boxes serve from where their groups take less, though they begin later. */
static void test_boxes_serve_large_float64(void **state)
{
    static const struct {
        size_t side;
        const char *first;
    } cases[] = {{80, "mma-f64"}, {1000, "mma-f64-tensor"}, {4096, "mma-f64-tensor"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        problem p = product(cases[i].side, cases[i].side, cases[i].side);
        const char *names[PREFERENCES_MAX];
        device_facts d = hopper();
        size_t n, at = 0;

        d.compute_units = 132;
        matmul_in(&p)->type = TSR_F64;
        n = operation_matmul.prefer(&p, &d, names);
        while (at < n && strncmp(names[at], "mma-f64", 7) != 0)
            at++;
        assert_true(at < n);
        print_message("%zu: %s\n", cases[i].side, names[at]);
        assert_string_equal(names[at], cases[i].first);
    }
}

/* Who is preferred does not depend on whether local memory was probed before. */
static void test_choices_do_not_wait_for_probes(void **state)
{
    problem cases[] = {product(128, 128, 8192), product(134, 150, 110)};
    const char *probed[PREFERENCES_MAX], *before[PREFERENCES_MAX];
    device_facts d = hopper();

    (void)state;
    d.compute_units = 132;
    matmul_in(&cases[0])->type = TSR_F64;
    matmul_in(&cases[1])->type = TSR_F16;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        size_t n;

        d.large_local = 231424;
        n = operation_matmul.prefer(&cases[c], &d, probed);
        d.large_local = 0;
        assert_int_equal(operation_matmul.prefer(&cases[c], &d, before), n);
        for (size_t i = 0; i < n; i++)
            assert_string_equal(before[i], probed[i]);
    }
}

/* Of TF32 and 16 bits, small products run on a warp's instructions, and large ones never. */
static void test_small_products_go_to_warps(void **state)
{
    problem p = product(69, 68, 51);

    (void)state;
    expect_first(&p, "cp-async"); /* chains of FP32 */
    matmul_in(&p)->type = TSR_F64;
    expect_first(&p, "wgmma-tensor"); /* which does not take float64: mma-f64 is next */
    matmul_in(&p)->type = TSR_BF16;
    expect_first(&p, "mma");
    p = product(266, 468, 411);
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    expect_first(&p, "mma");
    p = product(382, 506, 428);
    matmul_in(&p)->type = TSR_F16;
    expect_first(&p, "mma");
    p = product(619, 933, 825);
    matmul_in(&p)->type = TSR_F16;
    expect_first(&p, "wgmma-tensor");
    p = product(16, 11632, 200); /* few rows: 7.2 us by boxes, and 8.2 by warps */
    matmul_in(&p)->type = TSR_F16;
    expect_first(&p, "wgmma-tensor");
    p = product(4096, 4096, 4096);
    matmul_in(&p)->type = TSR_F16;
    expect_first(&p, "wgmma-3xtf32"); /* which does not take it: wgmma-tensor does */
    matmul_in(&p)->lda = 4097;
    expect_first(&p, "wgmma-3xtf32");
}

/* Few rows or columns: matrix units or not, by what both are taken to take. */
static void test_units_take_few_rows(void **state)
{
    static const struct {
        size_t m, n, k;
        tsr_type type; /* float32 is rounded to TF32 */
        bool trans_b, skinny;
    } cases[] = {
        {6, 607, 2109, TSR_F16, false, false},    {6, 60, 43, TSR_F16, false, true},
        {2, 825, 2297, TSR_BF16, false, false},   {4, 63, 496, TSR_F16, false, true},
        {2, 16000, 16000, TSR_BF16, false, true}, {12, 3001, 500, TSR_F32, false, false},
        {16, 2001, 501, TSR_F64, true, false},    {16, 400, 400, TSR_F64, true, false},
        {8, 386, 422, TSR_F64, true, true},       {13, 15572, 4535, TSR_F64, false, false},
        {1, 7062, 6209, TSR_F64, false, true},    {1099, 14, 212, TSR_F64, true, false},
        {12, 2787, 301, TSR_F32, true, false},    {6, 9719, 6164, TSR_F32, false, true},
        {7, 12902, 4458, TSR_F16, false, false},  {1, 5179, 788, TSR_F64, true, true},
        {1, 12000, 300, TSR_F64, false, true},    {5, 5179, 788, TSR_F64, true, false},
        {16, 1560, 85, TSR_F64, true, false},     {4, 6542, 10932, TSR_BF16, false, false},
        {2, 6542, 10932, TSR_BF16, false, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        problem p = product(cases[i].m, cases[i].n, cases[i].k);
        const char *names[PREFERENCES_MAX];
        device_facts d = hopper();

        d.compute_units = 132;
        matmul_in(&p)->type = cases[i].type;
        if (cases[i].type == TSR_F32)
            matmul_in(&p)->precision = TSR_PRECISION_TF32;
        matmul_in(&p)->trans_b = cases[i].trans_b;
        operation_matmul.prefer(&p, &d, names);
        if ((strncmp(names[0], "skinny", 6) == 0) != cases[i].skinny)
            fail_msg("%zux%zux%zu: %s", cases[i].m, cases[i].n, cases[i].k, names[0]);
    }
}

/* What takes less time, by timings of one or both on an H100 or an H200. */
static void test_warps_take_what_they_do_faster(void **state)
{
    static const struct {
        size_t m, n, k, pad;
        tsr_type type; /* float32 is rounded to TF32 */
        bool trans_a, trans_b;
        double beta;
        bool warps;
    } cases[] = {
        {512, 512, 512, 0, TSR_BF16, false, false, 0, false},
        {1024, 1024, 1024, 0, TSR_BF16, false, false, 0, false},
        {2048, 2048, 2048, 0, TSR_BF16, false, false, 0, false},
        {12370, 412, 2731, 0, TSR_BF16, false, false, 0, false},
        {2318, 1296, 1640, 0, TSR_F16, false, false, 1, false},
        {1088, 1055, 2041, 0, TSR_F32, true, true, 0, false},
        {1324, 1215, 1039, 8, TSR_F32, false, false, 1, false},
        {937, 899, 1112, 0, TSR_F16, true, true, 0, false},
        {619, 933, 825, 8, TSR_F16, true, true, 0, false},
        {455, 1201, 300, 0, TSR_F32, false, true, 1, false},
        {320, 393, 213, 0, TSR_BF16, false, false, 1, true},
        {382, 506, 428, 8, TSR_F16, true, true, 1, true},
        {320, 393, 213, 0, TSR_BF16, false, false, 1, true},
        {69, 68, 51, 0, TSR_BF16, true, true, 1, true},
        {266, 468, 411, 8, TSR_F32, false, true, 1, true},
        {931, 98, 168, 0, TSR_F32, true, false, 0, true},
        {27, 16074, 938, 0, TSR_F32, false, false, 1, true},
        {12, 9000, 300, 0, TSR_BF16, true, false, 0, true},
        {171, 14484, 83, 0, TSR_F32, false, false, 0, true},
        {3191, 4400, 175, 8, TSR_F32, true, false, 1, false},
        {1737, 923, 160, 0, TSR_BF16, false, true, 1, true},
        /* A k of up to 16; above models decide. */
        {8000, 8000, 10, 0, TSR_BF16, false, false, 0, true},
        {8000, 8000, 16, 0, TSR_F32, false, false, 0, true},
        {8000, 8000, 17, 0, TSR_F16, false, false, 0, false},
        {6000, 6000, 64, 0, TSR_BF16, false, false, 0, false},
        /* Not timed: one tile, whose parts of k do not fill the units. */
        {17, 24, 1000000, 0, TSR_BF16, false, false, 0, true},
    };
    const char *names[PREFERENCES_MAX];
    device_facts d = hopper();

    (void)state;
    d.compute_units = 132;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const size_t m = cases[i].m, n = cases[i].n, k = cases[i].k;
        problem p = product(m, n, k);

        matmul_in(&p)->type = cases[i].type;
        if (cases[i].type == TSR_F32)
            matmul_in(&p)->precision = TSR_PRECISION_TF32;
        matmul_in(&p)->trans_a = cases[i].trans_a;
        matmul_in(&p)->trans_b = cases[i].trans_b;
        matmul_in(&p)->beta = cases[i].beta;
        matmul_in(&p)->lda = (cases[i].trans_a ? m : k) + cases[i].pad;
        matmul_in(&p)->ldb = (cases[i].trans_b ? k : n) + cases[i].pad;
        matmul_in(&p)->ldc = n + cases[i].pad;
        operation_matmul.prefer(&p, &d, names);
        if ((strcmp(names[0], "mma") == 0) != cases[i].warps)
            fail_msg("%zux%zux%zu: %s", m, n, k, names[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packing_is_whole),
        cmocka_unit_test(test_groups_share_k),
        cmocka_unit_test(test_sums_make_nothing_unsupported),
        cmocka_unit_test(test_rows_of_a_tile_follow_the_shape),
        cmocka_unit_test(test_tf32_takes_half_the_workspace),
        cmocka_unit_test(test_nothing_to_multiply),
        cmocka_unit_test(test_what_runs_elsewhere),
        cmocka_unit_test(test_which_products_a_warp_takes),
        cmocka_unit_test(test_sums_fit_an_allocation),
        cmocka_unit_test(test_shares_are_reported),
        cmocka_unit_test(test_warps_cover_c),
        cmocka_unit_test(test_sets_of_warps_share_steps),
        cmocka_unit_test(test_warps_share_k),
        cmocka_unit_test(test_warps_copy_what_is_aligned),
        cmocka_unit_test(test_float64_tiles_cover_c),
        cmocka_unit_test(test_float64_groups_share_k),
        cmocka_unit_test(test_float64_layout_follows_the_shape),
        cmocka_unit_test(test_float64_runs_elsewhere),
        cmocka_unit_test(test_float64_boxes),
        cmocka_unit_test(test_float64_tells_alignment),
        cmocka_unit_test(test_alignment_is_defined),
        cmocka_unit_test(test_fused_needs_no_workspace),
        cmocka_unit_test(test_fused_groups_share_k),
        cmocka_unit_test(test_tiles_are_counted),
        cmocka_unit_test(test_fused_runs_elsewhere),
        cmocka_unit_test(test_fused_tells_alignment),
        cmocka_unit_test(test_fused_copies_as_set),
        cmocka_unit_test(test_fused_copies_where_it_pays),
        cmocka_unit_test(test_precisions_are_kept),
        cmocka_unit_test(test_int8_runs_along_k),
        cmocka_unit_test(test_fp8_runs_along_k),
        cmocka_unit_test(test_tensor_stages_what_it_must),
        cmocka_unit_test(test_tensor_groups_share_k),
        cmocka_unit_test(test_tensor_stores_through_its_stages),
        cmocka_unit_test(test_tensor_tiles_follow_the_shape),
        cmocka_unit_test(test_tensor_tiles_count_what_is_copied),
        cmocka_unit_test(test_tensor_groups_follow_beta),
        cmocka_unit_test(test_tensor_turns_c),
        cmocka_unit_test(test_tensor_runs_elsewhere),
        cmocka_unit_test(test_boxes_serve_large_float64),
        cmocka_unit_test(test_choices_do_not_wait_for_probes),
        cmocka_unit_test(test_small_products_go_to_warps),
        cmocka_unit_test(test_warps_take_what_they_do_faster),
        cmocka_unit_test(test_units_take_few_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
