/* Plans of matmul: which variant is chosen for a problem, how tiles follow from its shape, and why
 * one is unsupported.  What holds of all plans is in unit/test_plans. */
#include "base/sizes.h"
#include "core/plan.h"
#include "core/tuning_class.h"
#include "matmul_plans.h"
#include "ops/matmul/matmul_variants.h"
#include "tuning_classes.h"

static device_facts gpu(void)
{
    return (device_facts){.kind = DEVICE_GPU,
                          .name = "made up",
                          .cl_version = 300,
                          .clc_version = 300,
                          .compute_units = 16,
                          .max_work_group = 1024,
                          .max_work_item = {1024, 1024, 64},
                          .local_memory = 49152,
                          .global_memory = (uint64_t)8 << 30,
                          .max_allocation = (uint64_t)2 << 30,
                          .fp64 = true,
                          .denormals_f32 = true,
                          .denormals_f64 = true,
                          .warp_size = 32};
}

static device_facts cpu(size_t cores)
{
    device_facts d = gpu();

    d.kind = DEVICE_CPU;
    d.compute_units = cores;
    d.vector_bits = cores > 2 ? 512 : 256;
    return d;
}

/* A GPU of many units, as one that the targets are about. */
static device_facts large_gpu(void)
{
    device_facts d = gpu();

    d.compute_units = 132;
    d.max_allocation = (uint64_t)32 << 30;
    d.nvidia = true;
    return d;
}

static device_facts ampere(void)
{
    device_facts d = large_gpu();

    for (unsigned f = 0; f < FEATURE_COUNT; f++)
        d.feature[f] = FEATURE_YES;
    d.nv_capability = 80;
    d.large_local = 166912;
    d.subgroup_size = 16;
    return d;
}

static device_facts hopper(void)
{
    device_facts d = ampere();

    d.nv_capability = 90;
    d.large_local = 231424;
    return d;
}

/* ---- tiles and parts ------------------------------------------------------------------------ */

/* Registers twice as wide, and twice as many: the kernel is built for as many sums. */
static void wide_registers_hold_larger_blocks(void **state)
{
    static const struct {
        size_t bits;
        const char *defined;
    } cases[] = {{0, "ROWS=6 VECTORS=1"}, {256, "ROWS=6 VECTORS=1"}, {512, "ROWS=8 VECTORS=2"}};
    static const char *const names[] = {"cpu-block", "cpu-panels", "cpu-split"};
    const problem p = product(100, 100, 100);

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases) * ARRAY_COUNT(names); i++) {
        const char *name = names[i / ARRAY_COUNT(cases)];
        device_facts d = cpu(2);
        plan x;

        d.vector_bits = cases[i % ARRAY_COUNT(cases)].bits;
        x = plan_of(name, NULL, &p, &d);
        expect_options(&x, name, &d, cases[i % ARRAY_COUNT(cases)].defined);
        plan_free(&x);
        x = plan_of(name, "ROWS=4", &p, &d);
        expect_options(&x, name, &d, "ROWS=4");
        plan_free(&x);
    }
}

static void expect_workspace(const char *name, const char *set, const problem *p,
                             const device_facts *d, size_t bytes)
{
    plan x = plan_of(name, set, p, d);

    assert_int_equal(x.workspace, bytes);
    plan_free(&x);
}

/* What parts of k cost: at most 8 copies of C for each core, however long k is. */
static void split_workspace_is_bounded(void **state)
{
    const device_facts d = cpu(16);
    problem p = product(64, 64, (size_t)1 << 31);

    (void)state;
    expect_workspace("cpu-split", NULL, &p, &d, 128 * 64 * 64 * sizeof(float));
    matmul_in(&p)->k = 1000; /* of 256 or more each */
    expect_workspace("cpu-split", NULL, &p, &d, 3 * 64 * 64 * sizeof(float));
    p = product(2000, 2000, 100000); /* C alone gives enough work-items */
    expect_workspace("cpu-split", NULL, &p, &d, sizeof(float) * 2000 * 2000);
}

/* A group of 128 holds 8 products of 16 x 16, one of 64 x 64, and what local memory allows. */
static void batched_groups_follow_the_size(void **state)
{
    const device_facts d = gpu();
    problem p = product(16, 16, 16);
    plan x;

    (void)state;
    matmul_in(&p)->batch = 65536;
    x = plan_of("batched", NULL, &p, &d);
    expect_options(&x, "batched", &d, "ONCE=1 WHOLE=1 PRODUCTS=8");
    assert_int_equal(x.commands[0].local[0], 8 * 16);
    assert_int_equal(x.commands[0].global[0], 65536 * 16);
    plan_free(&x);
    matmul_in(&p)->m = matmul_in(&p)->n = matmul_in(&p)->k = 64;
    x = plan_of("batched", NULL, &p, &d);
    expect_options(&x, "batched", &d, "ONCE=1 WHOLE=1 PRODUCTS=1 DEPTH=64");
    plan_free(&x);
    matmul_in(&p)->type = TSR_F64; /* 2 x 64 x 64 of them exceed 48 KiB */
    x = plan_of("batched", NULL, &p, &d);
    expect_options(&x, "batched", &d, "ONCE=0 WHOLE=1 DEPTH=32");
    plan_free(&x);
    matmul_in(&p)->k = 65;
    x = plan_of("batched", NULL, &p, &d);
    expect_options(&x, "batched", &d, "WHOLE=0");
    plan_free(&x);
}

/* A product of few groups has small tiles or parts of k; one of many has neither. */
static void tiles_follow_the_shape(void **state)
{
    static const struct {
        size_t m, n, k;
        size_t least, most; /* groups for each unit, in percent */
        size_t items;       /* of a group */
    } cases[] = {{256, 256, 256, 48, 200, 256},      {512, 512, 512, 90, 400, 256},
                 {1000, 1000, 1000, 90, 400, 256},   {4096, 64, 4096, 90, 400, 256},
                 {64, 4096, 64, 48, 200, 256},       {64, 64, 16384, 90, 400, 256},
                 {128, 128, 16384, 90, 400, 256},    {4096, 4096, 4096, 700, 800, 128},
                 {8192, 8192, 1024, 3000, 3200, 128}};
    const device_facts d = large_gpu();
    problem p;
    plan x;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const command *c;
        size_t groups;

        p = product(cases[i].m, cases[i].n, cases[i].k);
        x = plan_of("pipelined", NULL, &p, &d);
        c = x.commands;
        groups = c->global[0] / c->local[0] * c->global[1] * c->global[2];
        assert_in_range(100 * groups / d.compute_units, cases[i].least, cases[i].most);
        assert_int_equal(c->local[0], cases[i].items);
        assert_int_equal(c->global[0] / c->local[0],
                         size_div_up(cases[i].n, param(&x.params, "TILE_N")));
        assert_int_equal(c->global[1], size_div_up(cases[i].m, param(&x.params, "TILE_M")));
        assert_int_equal(c->global[2], param(&x.params, "SPLIT"));
        plan_free(&x);
    }
    /* A batch gives the groups that parts would. */
    p = product(64, 64, 16384);
    matmul_in(&p)->batch = 1000;
    matmul_in(&p)->stride_c = 4096;
    x = plan_of("pipelined", NULL, &p, &d);
    assert_int_equal(param(&x.params, "SPLIT"), 1);
    assert_int_equal(x.count, 1);
    assert_int_equal(x.commands[0].global[2], 1000);
    plan_free(&x);
}

static void expect_params(const char *name, const char *set, const problem *p,
                          const device_facts *d, const char *wanted)
{
    plan x = plan_of(name, set, p, d);
    text values = {0};
    char words[256], word[80], *rest = NULL;

    params_describe(&x.params, &values);
    text_append(&values, " ");
    snprintf(words, sizeof(words), "%s", wanted);
    for (char *w = strtok_r(words, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        snprintf(word, sizeof(word), "%s ", w);
        if (!strstr(text_get(&values), word))
            fail_msg("%s: no %sin %s", name, word, text_get(&values));
    }
    text_free(&values);
    plan_free(&x);
}

/* Large tiles give each work-item the most sums where vectors bring them in; else, and small ones,
 * have more warps. */
static void sums_follow_the_tile(void **state)
{
    const device_facts d = large_gpu();
    problem p = product(4096, 4096, 4096);

    (void)state;
    expect_params("pipelined", NULL, &p, &d, "SUMS=128");
    matmul_in(&p)->lda = 4097;
    expect_params("pipelined", NULL, &p, &d, "SUMS=64");
    p = product(512, 512, 512);
    expect_params("pipelined", NULL, &p, &d, "SUMS=32");
}

/* What is set is kept, and the rest follows from it: a warp is 32 columns wide. */
static void set_tiles_are_kept(void **state)
{
    const device_facts d = large_gpu();
    const problem p = product(100, 100, 1000);

    (void)state;
    expect_params("pipelined", "TILE_M=64 TILE_N=32 SPLIT=4", &p, &d,
                  "TILE_M=64 TILE_N=32 SUMS=32 SLICES=4 DEPTH=32 SPLIT=4");
}

/* Each product is multiplied in parts into the workspace, then added up: as large as the parts of
 * one, and never more than 256 MiB. */
static void parts_take_workspace(void **state)
{
    static const char set[] = "TILE_M=64 TILE_N=64 DEPTH=16 SPLIT=8";
    const device_facts d = large_gpu();
    problem p = product(64, 60, 1000);
    plan x;

    (void)state;
    matmul_in(&p)->batch = 3;
    matmul_in(&p)->stride_a = 100;
    matmul_in(&p)->stride_c = 4096;
    x = plan_of("pipelined", set, &p, &d);
    assert_int_equal(x.workspace, 8 * 64 * 60 * sizeof(float)); /* spans of 128 */
    assert_int_equal(x.count, 6);
    for (size_t i = 0; i < x.count; i++)
        assert_int_equal(x.commands[i].entry, i % 2);
    assert_int_equal(x.commands[0].global[2], 8);
    expect_options(&x, "pipelined", &d, "SPLITS=1");
    plan_free(&x);
    matmul_in(&p)->k = 120; /* eight parts of 16, the last of 8 */
    expect_workspace("pipelined", set, &p, &d, 8 * 64 * 60 * sizeof(float));
    matmul_in(&p)->k = 40; /* three parts at most */
    expect_workspace("pipelined", set, &p, &d, 3 * 64 * 60 * sizeof(float));
    matmul_in(&p)->k = 16;
    expect_workspace("pipelined", set, &p, &d, 0);
    matmul_in(&p)->alpha = 0; /* reads neither A nor B */
    matmul_in(&p)->k = 1000;
    expect_workspace("pipelined", set, &p, &d, 0);
    p = product(4096, 4096, 4096);
    expect_workspace("pipelined", set, &p, &d, (size_t)4 << 26); /* not 8 */
    p = product((size_t)1 << 31, (size_t)1 << 31, 4096);
    expect_workspace("pipelined", set, &p, &d, 0);
    p = product(64, 64, 1 << 20);
    expect_workspace("pipelined", "SPLIT=1", &p, &d, 0);
}

/* A limit of registers goes to NVIDIA's compiler, which ignores it beside a required size. */
static void registers_are_limited_where_they_can_be(void **state)
{
    const problem p = product(1024, 1024, 1024);
    device_facts d = large_gpu();
    plan x = plan_of("pipelined", NULL, &p, &d);
    text options = {0};

    (void)state;
    expect_options(&x, "pipelined", &d, "SIZED=0 -cl-nv-maxrregcount=128 TILE_M=64");
    plan_free(&x);
    d.nvidia = false;
    x = plan_of("pipelined", NULL, &p, &d);
    expect_options(&x, "pipelined", &d, "SIZED=1");
    plan_options(find("pipelined"), &d, &x, &options);
    assert_null(strstr(text_get(&options), "maxrregcount"));
    text_free(&options);
    plan_free(&x);
}

static void broken_tiles_are_refused(void **state)
{
    const problem p = product(9, 9, 9);
    const device_facts d = gpu();

    (void)state;
    expect_reason("pipelined", "TILE_M=32 SUMS=128 TILE_N=64", &p, &d, "tiles of 32 x 64 x 8, with",
                  NULL);
    expect_reason("pipelined", "TILE_M=128 TILE_N=128 SLICES=8", &p, &d,
                  "needs work-groups of 2048 work-items", NULL);
    expect_reason("pipelined", "TILE_M=128 TILE_N=128 DEPTH=32", &p, &d, "bytes of local memory",
                  NULL);
    expect_reason("pipelined", "TILE_M=32 SLICES=8 DEPTH=8", &p, &d,
                  "do not divide into whole warps and vectors", NULL);
}

/* Tiles that take least time by rates of each size; what is set is kept. */
static void copied_tiles_follow_the_shape(void **state)
{
    static const struct {
        size_t size;
        const char *wanted;
    } cases[] = {{448, "TILE_M=32 TILE_N=32 SUMS=32 DEPTH=16 STAGES=4 SLICES=4 SPLIT=1"},
                 {1000, "TILE_M=64 TILE_N=64 SUMS=32 DEPTH=16 STAGES=4 SLICES=2 SPLIT=1"},
                 {2048, "TILE_M=128 TILE_N=128 SUMS=128 DEPTH=16 STAGES=3 SLICES=1 SPLIT=1"},
                 {1792, "TILE_M=128 TILE_N=64 SUMS=64 DEPTH=16 STAGES=4 SLICES=1 SPLIT=1"},
                 {4096, "TILE_M=128 TILE_N=128 SUMS=128 DEPTH=16 STAGES=3 SLICES=1 SPLIT=1"}};
    const device_facts d = ampere(); /* of 132 compute units */
    problem p;
    plan x;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        p = product(cases[i].size, cases[i].size, cases[i].size);
        expect_params("cp-async", NULL, &p, &d, cases[i].wanted);
    }
    /* Rows of deep tiles are aligned. */
    p = product(4096, 4096, 4096);
    matmul_in(&p)->offset_a = 1;
    expect_params("cp-async", NULL, &p, &d, "DEPTH=8");
    p = product(4096, 4096, 4096);
    matmul_in(&p)->ldb = 4097;
    expect_params("cp-async", NULL, &p, &d, "DEPTH=8");
    /* Slices hide latency where groups are few, more of them the fewer there are. */
    p = product(150, 460, 370);
    expect_params("cp-async", NULL, &p, &d, "TILE_M=32 TILE_N=32 DEPTH=32 SLICES=8 SPLIT=1");
    expect_params("cp-async", "TILE_M=32 TILE_N=64 SLICES=2", &p, &d, "DEPTH=16 SLICES=2");
    expect_params("cp-async", "TILE_M=64 TILE_N=64 SLICES=4", &p, &d, "DEPTH=32 SLICES=4");
    expect_reason("cp-async", "TILE_M=32 TILE_N=32 SLICES=8 DEPTH=16", &p, &d, "do not divide",
                  "8 slices");
    expect_reason("cp-async", "TILE_M=64 TILE_N=64 SUMS=128 SLICES=8 DEPTH=16", &p, &d,
                  "do not divide", "8 slices"); /* DEPTH 16 in 8 slices leaves each two steps */
    /* Groups share a long k. */
    p = product(4096, 64, 4096);
    expect_params("cp-async", NULL, &p, &d, "SPLIT=4 DEPTH=16 STAGES=4");
    x = plan_of("cp-async", NULL, &p, &d);
    expect_options(&x, "cp-async", &d, "SPLITS=1 ALIGNED_B=1");
    plan_free(&x);
    p = product(9, 9, 9);
    expect_params("cp-async", "TILE_M=256 SUMS=128", &p, &d, "TILE_M=256 TILE_N=128 SUMS=128");
    /* What was copied leaves room for the rows of C that are stored from there. */
    expect_reason("cp-async", "TILE_M=128 TILE_N=128 SUMS=64 DEPTH=8 STAGES=4", &p, &d,
                  "where 16 rows of each warp take 34816 bytes", "4 stages leave 33792");
    expect_reason("stream-k", "TILE_M=128 TILE_N=128 SUMS=64 DEPTH=8 STAGES=4", &p, &d,
                  "where 16 rows of each warp take 34816 bytes", "4 stages leave 33792");
    expect_reason("cp-async", "TILE_M=128 TILE_N=128 SUMS=64 DEPTH=8 STAGES=5", &p, &d, NULL, NULL);
}

/* Whole tiles go round while there are two or more for each group; the others are shared. */
static void shares_follow_the_shape(void **state)
{
    static const struct {
        size_t size;
        const char *wanted;
        size_t groups;
        bool shared;
    } cases[] = {{4096, "TILE_M=128 TILE_N=128 DEPTH=16 STAGES=3", 264, true},
                 {4095, "TILE_M=128 TILE_N=128 DEPTH=8 STAGES=4", 264, true},
                 {2112, "TILE_M=128 TILE_N=128 DEPTH=16 STAGES=3", 264, true},
                 {472, "TILE_M=32 TILE_N=32 DEPTH=32 STAGES=4 SLICES=8 SPLIT=1", 225, false},
                 {768, "TILE_M=32 TILE_N=128 DEPTH=16 STAGES=4 SLICES=1", 132, true},
                 {960, "TILE_M=64 TILE_N=64 DEPTH=16 STAGES=4 SLICES=2", 264, true},
                 {8448, "TILE_M=128 TILE_N=128 DEPTH=16 STAGES=3 SPLIT=1", 4356, false},
                 {64, "TILE_M=32 TILE_N=32 DEPTH=32 STAGES=4 SLICES=8", 4, false},
                 {5, "TILE_M=32 TILE_N=32 DEPTH=32 STAGES=4 SLICES=8", 1, false}};
    device_facts d = ampere(); /* of 132 compute units */
    problem p;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        plan x;

        p = product(cases[i].size, cases[i].size, cases[i].size);
        expect_params("stream-k", NULL, &p, &d, cases[i].wanted);
        x = plan_of("stream-k", NULL, &p, &d);
        expect_options(&x, "stream-k", &d, "LAST_ADDS=2");
        assert_int_equal(x.commands[0].global[0] / x.commands[0].local[0], cases[i].groups);
        /* The sums of two tiles for each group. */
        assert_int_equal(x.workspace, cases[i].shared
                                          ? 2 * cases[i].groups * param(&x.params, "TILE_M") *
                                                param(&x.params, "TILE_N") * sizeof(float)
                                          : 0);
        assert_int_equal(x.commands[0].arg[4].kind,
                         cases[i].shared ? ARG_GROUP_COUNTERS : ARG_NO_BUFFER);
        plan_free(&x);
    }
    /* Few rows: tiles of 32 x 128 and 64 x 128; of fewer than 32 rows tiles in slices. */
    p = product(92, 3584, 7735);
    expect_params("stream-k", NULL, &p, &d, "TILE_M=32 TILE_N=128 SLICES=1 PER_UNIT=2");
    p = product(179, 13705, 3474);
    expect_params("stream-k", NULL, &p, &d, "TILE_M=64 TILE_N=128 SLICES=1 PER_UNIT=2");
    p = product(29, 4471, 14524);
    expect_params("stream-k", NULL, &p, &d, "TILE_M=32 TILE_N=64 SLICES=4 PER_UNIT=2");
    /* B along k: tall tiles, of which a unit has one. */
    p = product(4095, 4095, 4095);
    matmul_in(&p)->trans_b = true;
    expect_params("stream-k", NULL, &p, &d, "TILE_M=256 TILE_N=128 DEPTH=16 STAGES=4 PER_UNIT=1");
    d.large_local = 100000; /* not 4 x 16 x (256 + 128 + 8) floats */
    expect_params("stream-k", NULL, &p, &d, "TILE_M=128 TILE_N=128 DEPTH=8");
    d = ampere();
    d.max_work_group = 128;
    expect_params("stream-k", NULL, &p, &d, "TILE_M=128 TILE_N=128 DEPTH=8");
    d = ampere();
    expect_params("stream-k", "TILE_M=256", &p, &d, "TILE_N=128 DEPTH=16");
    p = product(4096, 4096, 4096);
    d.large_local = 100000; /* not twice 3 x 16 x (128 + 128 + 8) floats */
    expect_params("stream-k", NULL, &p, &d, "DEPTH=8");
    d.large_local = 101376;
    expect_params("stream-k", NULL, &p, &d, "DEPTH=16");
}

/* Groups of `outer` for C: those side by side, for rows of each class, which start at the same
 * place in a vector. */
static void outer_groups_follow_the_rows_of_c(void **state)
{
    static const struct {
        tsr_type type;
        size_t m, n, k, ld, offset;
        const char *wanted;
        size_t groups;
    } cases[] = {{TSR_F32, 4096, 4096, 4, 4096, 0, "LANES=32 ROWS=4 DEPTH=4", 32 * 128},
                 {TSR_F32, 4096, 4096, 3, 4096, 1, "LANES=32 ROWS=4 DEPTH=4", 33 * 128},
                 {TSR_F32, 4096, 4096, 40, 4098, 0, "LANES=32 ROWS=4 DEPTH=32", 33 * 2 * 64},
                 {TSR_BF16, 4096, 4095, 4, 4095, 0, "LANES=32 ROWS=4 DEPTH=4 PASSES=2", 17 * 8 * 8},
                 {TSR_BF16, 8192, 8192, 7, 8192, 0, "LANES=32 ROWS=4 DEPTH=8 PASSES=4", 32 * 64},
                 {TSR_BF16, 8192, 8192, 9, 8192, 0, "LANES=32 ROWS=4 DEPTH=16 PASSES=4", 32 * 64},
                 {TSR_BF16, 4096, 8192, 70, 8192, 0, "LANES=32 ROWS=2 PASSES=1", 32 * 256},
                 {TSR_F32, 33, 100, 4, 102, 0, "LANES=32 ROWS=1 DEPTH=4", 2 * 3},
                 {TSR_F64, 9, 5, 1, 7, 0, "LANES=4 ROWS=1 DEPTH=1", 2},
                 {TSR_F32, 1 << 20, 2, 64, 2, 0, "LANES=2 ROWS=4 DEPTH=8", 2 * 1024},
                 {TSR_F32, 40, 50, 70, 52, 0, "LANES=16 ROWS=1 DEPTH=64", 3}};
    const device_facts d = large_gpu(), cores = cpu(2);

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const problem p = matmul_problem((tsr_matmul_problem){.type = cases[i].type,
                                                              .m = cases[i].m,
                                                              .n = cases[i].n,
                                                              .k = cases[i].k,
                                                              .ldc = cases[i].ld,
                                                              .offset_c = cases[i].offset,
                                                              .alpha = 1});
        plan x = plan_of("outer", NULL, &p, &d);

        expect_params("outer", NULL, &p, &d, cases[i].wanted);
        assert_int_equal(x.commands[0].global[0] / x.commands[0].local[0], cases[i].groups);
        expect_options(&x, "outer", &d, "ALIGNED=1");
        plan_free(&x);
        x = plan_of("outer", NULL, &p, &cores);
        expect_options(&x, "outer", &cores, "ALIGNED=0");
        plan_free(&x);
    }
}

/* A group goes on to other rows with the tile of B that it has, where that is all of B. */
static void passes_of_outer_need_all_of_k(void **state)
{
    const problem fits = product(4096, 4096, 4), longer = product(4096, 4096, 40);
    const device_facts d = large_gpu();

    (void)state;
    expect_params("outer", "PASSES=4", &fits, &d, "DEPTH=4 PASSES=4");
    expect_params("outer", "PASSES=1", &longer, &d, "DEPTH=32 PASSES=1");
    expect_reason("outer", "PASSES=4", &longer, &d, "PASSES=4 needs tiles that hold all of k",
                  NULL);
}

/* Both ways around bank conflicts are one text: what is built differs. */
static void padding_and_swizzling_differ(void **state)
{
    const problem p = product(4, 4, 4);
    const device_facts d = gpu();
    plan x = plan_of("vector", NULL, &p, &d);

    (void)state;
    expect_options(&x, "vector", &d, "SWIZZLE=0 PAD=1");
    plan_free(&x);
    x = plan_of("swizzle", NULL, &p, &d);
    expect_options(&x, "swizzle", &d, "SWIZZLE=1");
    plan_free(&x);
}

/* ---- the choice ----------------------------------------------------------------------------- */

static void preference_of_a_gpu_counts_products(void **state)
{
    const device_facts d = gpu(); /* of 16 compute units */
    problem p =
        matmul_problem((tsr_matmul_problem){.m = 16, .n = 16, .k = 16, .alpha = 1, .batch = 16});
    const char *names[PREFERENCES_MAX];

    (void)state;
    operation_matmul.prefer(&p, &d, names);
    assert_string_equal(names[0], "batched");
    matmul_in(&p)->batch = 4; /* of little work */
    operation_matmul.prefer(&p, &d, names);
    assert_string_equal(names[0], "batched");
    matmul_in(&p)->batch = 3;
    operation_matmul.prefer(&p, &d, names);
    assert_string_not_equal(names[0], "batched");
    matmul_in(&p)->batch = 15;
    matmul_in(&p)->k = 65;
    operation_matmul.prefer(&p, &d, names);
    assert_string_not_equal(names[0], "batched");
    matmul_in(&p)->batch = 16;
    operation_matmul.prefer(&p, &d, names);
    assert_string_equal(names[0], "batched");
    matmul_in(&p)->m = matmul_in(&p)->n = 17; /* of float32 with a long k */
    matmul_in(&p)->k = 256;
    operation_matmul.prefer(&p, &d, names);
    assert_string_equal(names[0], "mma-3xtf32");
    matmul_in(&p)->batch = 1000;
    matmul_in(&p)->n = 65;
    operation_matmul.prefer(&p, &d, names);
    assert_string_not_equal(names[0], "batched");
}

static void prefers_of(tsr_precision precision, const char *name, size_t m, size_t n, size_t k)
{
    const device_facts d = cpu(2);
    const problem p = matmul_problem(
        (tsr_matmul_problem){.m = m, .n = n, .k = k, .alpha = 1, .precision = precision});
    const char *names[PREFERENCES_MAX];

    assert_true(operation_matmul.prefer(&p, &d, names) > 1);
    assert_string_equal(names[0], name);
}

static void prefers(const char *name, size_t m, size_t n, size_t k)
{
    prefers_of(TSR_PRECISION_DEFAULT, name, m, n, k);
}

static void preference_of_a_cpu_follows_the_shape(void **state)
{
    (void)state;
    prefers("cpu-panels", 256, 256, 256);
    prefers("cpu-panels", 4096, 64, 4096);
    prefers("cpu-panels", 64, 4096, 64);
    prefers("cpu-panels", 4096, 1, 4096); /* narrower than a vector */
    prefers("cpu-split", 64, 64, 16384);
    prefers("cpu-split", 128, 128, 16384);
    prefers("cpu-block", 64, 64, 64); /* copying costs more than it saves */
    prefers("cpu-block", 4, 4096, 4096);
    /* Factors are rounded as they are copied. */
    prefers_of(TSR_PRECISION_BF16, "cpu-panels", 1024, 1024, 1024);
    prefers_of(TSR_PRECISION_TF32, "cpu-panels", 64, 64, 64);
    prefers_of(TSR_PRECISION_F16, "cpu-panels", 4, 4096, 4096);
    prefers_of(TSR_PRECISION_F16, "cpu-split", 64, 64, 16384);
    prefers_of(TSR_PRECISION_F32_STRICT, "cpu-block", 64, 64, 64);
}

static const char *first_supported(const problem *p, const device_facts *d)
{
    const char *names[PREFERENCES_MAX];
    const size_t n = operation_matmul.prefer(p, d, names);
    size_t at = 0;

    while (at < n && !supports(names[at], p, d))
        at++;
    assert_true(at < n);
    return names[at];
}

/* A short k takes smaller tiles, which begin and end sooner, and a narrow C narrow ones; groups
 * share steps in as many pieces as take least time. */
static void copies_follow_the_shape(void **state)
{
    const device_facts d = ampere();
    problem p = product(2000, 3000, 24);

    (void)state;
    expect_params("cp-async", NULL, &p, &d, "TILE_M=64 TILE_N=64 DEPTH=8 STAGES=4");
    expect_params("cp-async", "DEPTH=16 STAGES=5", &p, &d, "TILE_M=64 DEPTH=16 STAGES=5");
    matmul_in(&p)->k = 60;
    expect_params("cp-async", NULL, &p, &d, "TILE_M=64 TILE_N=64 DEPTH=8 STAGES=4");
    /* Of 384 tiles of 128 x 128 units would take two, and some of them two more. */
    matmul_in(&p)->k = 600;
    expect_params("cp-async", NULL, &p, &d, "TILE_M=128 TILE_N=64 DEPTH=8 STAGES=4");
    matmul_in(&p)->m = 1408;
    expect_params("cp-async", NULL, &p, &d, "TILE_M=128 TILE_N=128 DEPTH=8 STAGES=4");
    p = matmul_problem((tsr_matmul_problem){.m = 200, .n = 32, .k = 100, .alpha = 1, .batch = 200});
    expect_params("cp-async", NULL, &p, &d, "TILE_M=32 TILE_N=32 SLICES=4");
    p = product(960, 960, 960);
    expect_params("stream-k", NULL, &p, &d, "PER_UNIT=2");
    p = product(64, 64, 1000);
    expect_params("stream-k", NULL, &p, &d, "PER_UNIT=0 SPLIT=8");
}

/* Of chains of FP32 multiply-adds. */
static void chains_follow_the_shape(void **state)
{
    static const struct {
        size_t m, n, k, ld;
        const char *with_copies; /* on a device that copies beside the work-items */
    } cases[] = {
        {256, 256, 256, 0, "cp-async"},       {512, 512, 512, 0, "cp-async"},
        {1000, 1000, 1000, 0, "cp-async"},    {4096, 4096, 4096, 0, "stream-k"},
        {576, 576, 576, 0, "cp-async"},       {704, 704, 704, 0, "cp-async"},
        {768, 768, 768, 0, "stream-k"},       {1024, 1024, 1024, 0, "cp-async"},
        {1280, 1280, 1280, 0, "stream-k"},    {1408, 1408, 1408, 0, "cp-async"},
        {1536, 1536, 1536, 0, "stream-k"},    {2048, 2048, 2048, 0, "cp-async"},
        {2560, 2560, 2560, 0, "stream-k"},    {768, 768, 256, 0, "cp-async"},
        {4095, 4095, 4095, 4095, "stream-k"}, {4096, 4096, 256, 0, "cp-async"},
        {4096, 64, 4096, 0, "cp-async"},      {64, 64, 16384, 0, "cp-async"},
        {128, 128, 16384, 0, "cp-async"},     {17, 17, 49, 0, "cp-async"},
        {3957, 3329, 2741, 0, "stream-k"},    {472, 550, 468, 0, "cp-async"},
        {650, 300, 250, 0, "cp-async"},       {736, 736, 97, 0, "cp-async"},
        {159, 152, 190, 0, "cp-async"},       {23, 25, 20, 0, "outer"},
        {7, 4096, 4096, 0, "skinny-columns"},
    };
    const device_facts none = large_gpu(), copies = ampere();

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const problem p =
            matmul_problem((tsr_matmul_problem){.m = cases[i].m,
                                                .n = cases[i].n,
                                                .k = cases[i].k,
                                                .lda = cases[i].ld,
                                                .ldb = cases[i].ld,
                                                .ldc = cases[i].ld,
                                                .alpha = 1,
                                                .precision = TSR_PRECISION_F32_STRICT});

        if (strcmp(cases[i].with_copies, "cp-async") == 0 ||
            strcmp(cases[i].with_copies, "stream-k") == 0)
            assert_string_equal(first_supported(&p, &none), "pipelined");
        assert_string_equal(first_supported(&p, &copies), cases[i].with_copies);
    }
}

/* FP32 as it comes: what models say takes least time, and a warp group's instructions only where C
 * is large or k is long. */
static void matrix_units_follow_the_shape(void **state)
{
    static const struct {
        size_t m, n, k;
        const char *name;
    } cases[] = {
        {512, 512, 512, "cp-async"},
        {512, 1024, 512, "cp-async"},
        {768, 768, 768, "stream-k"},
        {512, 512, 4096, "wgmma-3xtf32-fused"},
        {1024, 1024, 64, "pipelined"},
        {256, 256, 16384, "cp-async"},
        {4096, 64, 4096, "cp-async"},
        {98, 3394, 2107, "wgmma-3xtf32-fused"},
        {1000, 1000, 1000, "wgmma-3xtf32-fused"},
        {2048, 2048, 64, "wgmma-3xtf32-fused"},
        {306, 4858, 92, "wgmma-3xtf32"},
        {7191, 611, 183, "wgmma-3xtf32"},
        {3000, 900, 400, "wgmma-3xtf32-fused"},
        {512, 512, 1024, "cp-async"},
        {512, 512, 2048, "wgmma-3xtf32-fused"},
        {256, 256, 256, "cp-async"},
        {32, 4096, 64, "cp-async"},
        {16, 4096, 63, "skinny-columns"},
    };
    device_facts d = ampere();
    const problem batch = matmul_problem((tsr_matmul_problem){.m = 512,
                                                              .n = 512,
                                                              .k = 4096,
                                                              .alpha = 1,
                                                              .batch = 64,
                                                              .stride_a = 1 << 21,
                                                              .stride_b = 1 << 21,
                                                              .stride_c = 1 << 18});

    problem p;

    (void)state;
    d.nv_capability = 90;
    d.large_local = 227 << 10;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        p = matmul_problem(
            (tsr_matmul_problem){.m = cases[i].m, .n = cases[i].n, .k = cases[i].k, .alpha = 1});

        assert_string_equal(first_supported(&p, &d), cases[i].name);
    }
    p = matmul_problem((tsr_matmul_problem){
        .m = 1063, .n = 938, .k = 833, .alpha = 1, .trans_a = true, .trans_b = true});
    assert_string_equal(first_supported(&p, &d), "cp-async");
    expect_params("cp-async", NULL, &p, &d, "TILE_M=64 TILE_N=64 SLICES=2");
    /* Packing serves what is not aligned, transposed or not. */
    p = matmul_problem(
        (tsr_matmul_problem){.m = 1354, .n = 935, .k = 1175, .alpha = 1, .trans_a = true});
    assert_string_equal(first_supported(&p, &d), "wgmma-3xtf32");
    matmul_in(&p)->trans_a = false;
    assert_string_equal(first_supported(&p, &d), "wgmma-3xtf32");
    matmul_in(&p)->precision = TSR_PRECISION_F32_STRICT;
    assert_string_not_equal(first_supported(&p, &d), "wgmma-3xtf32");
    /* A batch fills the device without. */
    assert_string_equal(first_supported(&batch, &d), "cp-async");
}

/* A C of few rows or columns, by where neighbours of the large factor are.  An element of 16 bits
 * serves half as many of them in the time that it takes to arrive. */
static void skinny_products_follow_the_large_factor(void **state)
{
    static const struct {
        tsr_type type;
        size_t m, n;
        bool trans_a, trans_b;
        const char *name;
    } cases[] = {
        {TSR_F32, 1, 4096, false, false, "skinny-columns"},
        {TSR_F32, 16, 4096, true, true, "skinny-dots"},
        {TSR_F64, 4096, 7, false, true, "skinny-dots"},
        {TSR_F64, 4096, 1, true, false, "skinny-columns"},
        {TSR_F32, 17, 4096, false, false, "pipelined"},
        {TSR_BF16, 8, 4096, false, false, "skinny-columns"},
        {TSR_BF16, 9, 4096, false, false, "pipelined"},
    };
    const device_facts d = large_gpu();

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const problem p = matmul_problem((tsr_matmul_problem){.type = cases[i].type,
                                                              .m = cases[i].m,
                                                              .n = cases[i].n,
                                                              .k = 4096,
                                                              .trans_a = cases[i].trans_a,
                                                              .trans_b = cases[i].trans_b,
                                                              .alpha = 1});

        assert_string_equal(first_supported(&p, &d), cases[i].name);
    }
}

/* Of float64 matrix units take from nine rows or columns on what lies along k, and of the others
 * what their model says; below, each line is read once. */
static void skinny_float64_goes_to_matrix_units(void **state)
{
    static const struct {
        size_t m, n, k;
        bool trans_a, trans_b;
        const char *name;
    } cases[] = {
        {18, 16, 139, false, false, "mma-f64"},     {14, 31, 28, false, true, "mma-f64"},
        {837, 16, 578, false, true, "mma-f64"},     {12, 1287, 119, true, false, "mma-f64"},
        {42, 15, 97, true, true, "skinny-columns"}, {386, 8, 422, false, false, "skinny-dots"},
        {13, 43, 7, false, true, "skinny-dots"},    {8, 1354, 2232, false, true, "mma-f64"},
    };
    const device_facts d = hopper();

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        problem p = product(cases[i].m, cases[i].n, cases[i].k);

        matmul_in(&p)->type = TSR_F64;
        matmul_in(&p)->trans_a = cases[i].trans_a;
        matmul_in(&p)->trans_b = cases[i].trans_b;
        assert_string_equal(first_supported(&p, &d), cases[i].name);
    }
}

/* `mma` in place of `mma-f64`: a short k, rows of C that do not start at pairs, rows of A that
 * boxes do not take (an odd k), and a C that is read; and in place of copies that a launch
 * prepares, where C is one tile. */
static void products_of_warps_alone(void **state)
{
    static const struct {
        tsr_type type;
        size_t m, n, k;
        bool warps, trans_b;
        double beta;
    } cases[] = {
        {TSR_F64, 2000, 2001, 256, true, false, 0}, {TSR_F64, 2000, 2001, 257, false, false, 0},
        {TSR_F64, 2000, 2002, 64, true, false, 0},  {TSR_F64, 2000, 2002, 66, false, false, 0},
        {TSR_F64, 501, 333, 96, true, false, 0},    {TSR_F64, 501, 333, 97, false, false, 0},
        {TSR_F64, 90, 33, 16, true, false, 0},      {TSR_F64, 90, 33, 17, false, false, 0},
        {TSR_F64, 4000, 2002, 16, true, false, 0},  {TSR_F64, 4000, 2002, 18, false, false, 0},
        {TSR_F64, 4000, 2002, 95, true, false, 0},  {TSR_F64, 4000, 2002, 97, false, false, 0},
        {TSR_F64, 4000, 2002, 64, true, true, 0},   {TSR_F64, 4000, 2002, 66, false, true, 0},
        {TSR_F64, 4000, 2002, 96, true, false, 1},  {TSR_F64, 4000, 2002, 98, false, false, 1},
        {TSR_F16, 32, 32, 2048, true, false, 0},    {TSR_BF16, 17, 31, 700, true, false, 0},
    };
    device_facts d = ampere();

    (void)state;
    d.nv_capability = 90;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        problem p = product(cases[i].m, cases[i].n, cases[i].k);

        matmul_in(&p)->type = cases[i].type;
        matmul_in(&p)->trans_b = cases[i].trans_b;
        matmul_in(&p)->beta = cases[i].beta;
        assert_int_equal(strcmp(first_supported(&p, &d), "mma") == 0, cases[i].warps);
    }
}

/* A short k, with most of what moves in C; and few multiply-adds, beside chains alone. */
static void short_products_follow_what_c_moves(void **state)
{
    static const struct {
        tsr_type type;
        size_t m, n, k, ld;
        double beta;
        tsr_precision precision;
        bool outer;
    } cases[] = {
        {TSR_F32, 4096, 4096, 8, 0, 0, TSR_PRECISION_DEFAULT, true},
        {TSR_F32, 4096, 4096, 32, 0, 1, TSR_PRECISION_DEFAULT, false},
        {TSR_F32, 4096, 4096, 8, 4097, 0, TSR_PRECISION_TF32, true},
        {TSR_F32, 4096, 4096, 9, 4097, 0, TSR_PRECISION_TF32, false}, /* mma takes 8 at once */
        {TSR_F32, 4096, 4096, 16, 4097, 0, TSR_PRECISION_BF16, true}, /* which mma does not take */
        {TSR_F32, 1000, 1000, 25, 1001, 1, TSR_PRECISION_DEFAULT, false},
        {TSR_F64, 4096, 4096, 4, 0, 0, TSR_PRECISION_DEFAULT, true},
        {TSR_F64, 4096, 4096, 5, 0, 0, TSR_PRECISION_DEFAULT, false},
        {TSR_BF16, 4096, 4096, 6, 0, 0, TSR_PRECISION_DEFAULT, true},
        {TSR_BF16, 4096, 4096, 7, 0, 0, TSR_PRECISION_DEFAULT, false},
        {TSR_BF16, 15025, 87, 2, 95, 0, TSR_PRECISION_DEFAULT, true},
        {TSR_BF16, 15025, 87, 3, 95, 0, TSR_PRECISION_DEFAULT, false},
        {TSR_F16, 5380, 10599, 6, 0, 1, TSR_PRECISION_DEFAULT, true},
        {TSR_F16, 5380, 10599, 7, 0, 1, TSR_PRECISION_DEFAULT, false}, /* mma takes 16 at once */
        {TSR_F16, 5380, 10599, 43, 0, 0, TSR_PRECISION_DEFAULT, false},
        {TSR_F16, 5380, 10600, 43, 0, 1, TSR_PRECISION_DEFAULT, false},
        {TSR_BF16, 59, 24, 3, 0, 0, TSR_PRECISION_DEFAULT, false}, /* as fast by mma */
        {TSR_F32, 46, 1903, 1, 0, 1, TSR_PRECISION_DEFAULT, true},
        {TSR_F32, 46, 1903, 1, 0, 1, TSR_PRECISION_TF32, false},
        {TSR_F32, 590, 123, 30, 0, 0, TSR_PRECISION_F32_STRICT, false},
        {TSR_F32, 48, 43, 20, 0, 0, TSR_PRECISION_DEFAULT, true},
        {TSR_F32, 48, 43, 49, 0, 0, TSR_PRECISION_DEFAULT, false},
        {TSR_F64, 48, 43, 42, 0, 0, TSR_PRECISION_DEFAULT, false},
        {TSR_F64, 8, 326, 4, 0, 1, TSR_PRECISION_DEFAULT, true},
        {TSR_F64, 8, 326, 5, 0, 1, TSR_PRECISION_DEFAULT, false},
        {TSR_F64, 8, 8192, 2, 0, 1, TSR_PRECISION_DEFAULT, true},
        {TSR_F64, 8, 8192, 3, 0, 1, TSR_PRECISION_DEFAULT, false},
        {TSR_F64, 8, 32600, 1, 0, 1, TSR_PRECISION_DEFAULT, false},
    };
    const device_facts d = ampere(), without = large_gpu(), cores = cpu(2);
    problem p;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        p = matmul_problem((tsr_matmul_problem){.type = cases[i].type,
                                                .m = cases[i].m,
                                                .n = cases[i].n,
                                                .k = cases[i].k,
                                                .ldc = cases[i].ld,
                                                .alpha = 1,
                                                .beta = cases[i].beta,
                                                .precision = cases[i].precision});

        assert_int_equal(strcmp(first_supported(&p, &d), "outer") == 0, cases[i].outer);
        if (cases[i].outer)
            assert_string_equal(first_supported(&p, &without), "outer");
        assert_string_not_equal(first_supported(&p, &cores), "outer");
    }
    p = product(5380, 10599, 12);
    matmul_in(&p)->type = TSR_F16;
    matmul_in(&p)->beta = 1;
    assert_string_equal(first_supported(&p, &without), "outer");
    /* Where no matrix units multiply 16 bits, there is no `mma` to leave few outputs to. */
    p = product(59, 24, 3);
    matmul_in(&p)->type = TSR_BF16;
    assert_string_equal(first_supported(&p, &d), "mma");
    assert_string_equal(first_supported(&p, &without), "outer");
}

/* Precisions that round float32 factors run where kernels round what they load. */
static void every_precision_has_a_kernel(void **state)
{
    static const struct {
        tsr_precision precision;
        const char *defined;
    } cases[] = {{TSR_PRECISION_TF32, "ROUNDED=TF32"},
                 {TSR_PRECISION_BF16, "ROUNDED=BF16"},
                 {TSR_PRECISION_F16, "ROUNDED=F16"}};
    static const char *const kernels[] = {"general", "general-tiled", "cpu-block", "cpu-panels",
                                          "cpu-split"};
    const device_facts d = cpu(2);
    problem p = product(4, 4, 4);

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        matmul_in(&p)->precision = cases[i].precision;
        assert_false(supports("vector", &p, &d));
        for (size_t v = 0; v < ARRAY_COUNT(kernels); v++) {
            plan x = plan_of(kernels[v], NULL, &p, &d);

            expect_options(&x, kernels[v], &d, cases[i].defined);
            plan_free(&x);
        }
    }
}

/* ---- reasons, with their values ---------------------------------------------------------- */

static void says(const char *name, const problem *p, const device_facts *d, const char *part1,
                 const char *part2)
{
    expect_reason(name, NULL, p, d, part1, part2);
}

/* Teams are smaller where their sums would not fit the local memory, and what does not fit at all
 * is refused. */
/* Few outputs share k among no more groups than are soon added up, and among larger teams where
 * groups would be small; little work goes by shorter streams of more that wait together. */
static void skinny_products_share_a_long_k(void **state)
{
    static const struct {
        tsr_type type;
        size_t m, n, k;
        bool trans_a, trans_b;
        const char *name, *wanted;
    } cases[] = {
        {TSR_F32, 353, 5, 8223, true, false, "skinny-columns", "LANES=32 SLICES=8 SPLIT=37"},
        {TSR_F32, 6, 7, 10311, true, true, "skinny-dots", "TEAM=32 SPLIT=41"},
        {TSR_F32, 7, 27, 5588, false, true, "skinny-dots", "TEAM=8 SPLIT=30"},
        {TSR_F16, 1, 13, 353, false, false, "skinny-columns", "LANES=8 SLICES=32 SPLIT=1"},
        /* Elements that are loaded one by one have registers of their own. */
        {TSR_F16, 1, 4097, 4097, false, false, "skinny-columns", "VECTOR=8 SPLIT=15"},
        {TSR_BF16, 2536, 1, 3432, true, true, "skinny-columns", "LANES=16 SLICES=16 VECTOR=4"},
        {TSR_BF16, 1, 3176, 2022, false, false, "skinny-columns", "LANES=32 SLICES=8 VECTOR=8"},
        {TSR_BF16, 7598, 1, 416, true, false, "skinny-columns",
         "LANES=32 SLICES=32 VECTOR=2 SPLIT=1"},
        {TSR_F32, 12000, 1, 300, true, false, "skinny-columns",
         "LANES=32 SLICES=16 VECTOR=1 SPLIT=1"},
        {TSR_F64, 12000, 1, 300, true, false, "skinny-columns",
         "LANES=16 SLICES=16 VECTOR=2 SPLIT=1"},
        {TSR_BF16, 4, 6542, 10932, false, false, "skinny-columns", "VECTOR=8"},
        {TSR_BF16, 1, 6542, 10932, false, false, "skinny-columns", "VECTOR=2"},
        {TSR_BF16, 398, 1, 397, false, true, "skinny-dots", "TEAM=32 VECTOR=4 SPLIT=1"},
        {TSR_F32, 1, 1353, 152, true, true, "skinny-dots", "TEAM=32 VECTOR=2 SPLIT=1"},
        {TSR_F32, 1, 654, 1306, true, true, "skinny-dots", "LINES=1 VECTOR=4 SPLIT=1"},
        {TSR_F32, 1, 3263, 1084, false, true, "skinny-dots", "LINES=2 VECTOR=4 SPLIT=1"},
        {TSR_F32, 1308, 1, 1283, false, false, "skinny-dots", "LINES=1 VECTOR=4 SPLIT=1"},
        {TSR_F16, 45, 1, 829, false, true, "skinny-dots", "TEAM=32 VECTOR=8 SPLIT=1"},
        {TSR_F32, 13, 26, 173, false, true, "skinny-dots", "TEAM=8 VECTOR=1 SPLIT=1"},
        {TSR_BF16, 5216, 2, 6414, false, false, "skinny-dots", "VECTOR=4"},
        {TSR_BF16, 5216, 2, 6416, false, false, "skinny-dots", "VECTOR=8"},
        {TSR_BF16, 5216, 1, 6414, false, false, "skinny-dots", "VECTOR=2"},
    };
    const device_facts d = hopper();

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const problem p = matmul_problem((tsr_matmul_problem){.type = cases[i].type,
                                                              .m = cases[i].m,
                                                              .n = cases[i].n,
                                                              .k = cases[i].k,
                                                              .trans_a = cases[i].trans_a,
                                                              .trans_b = cases[i].trans_b,
                                                              .alpha = 1});

        expect_params(cases[i].name, NULL, &p, &d, cases[i].wanted);
    }
}

/* Few long lines of float64: twice as many loads at once, where k has elements for all of them. */
static void few_long_lines_have_more_loads(void **state)
{
    static const struct {
        tsr_type type;
        size_t m, n, k;
        const char *wanted;
    } cases[] = {
        {TSR_F64, 2, 1, 531, "-DBATCH=8 "},      {TSR_F64, 2, 1, 511, "-DBATCH=4 "},
        {TSR_F64, 13, 14, 6464, "-DBATCH=8 "},   {TSR_F64, 10, 11, 75, "-DBATCH=4 "},
        {TSR_F64, 16, 3000, 3000, "-DBATCH=2 "}, {TSR_F32, 1, 2, 3054, "-DBATCH=4 "},
    };
    const device_facts d = hopper();

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const problem p = matmul_problem((tsr_matmul_problem){.type = cases[i].type,
                                                              .m = cases[i].m,
                                                              .n = cases[i].n,
                                                              .k = cases[i].k,
                                                              .trans_b = true,
                                                              .alpha = 1});
        plan x = plan_of("skinny-dots", NULL, &p, &d);

        if (!strstr(text_get(&x.defines), cases[i].wanted))
            fail_msg("case %zu: no %sin %s", i, cases[i].wanted, text_get(&x.defines));
        plan_free(&x);
    }
}

/* Tiles, blocks and parts of k that were measured to take least, or next to it. */
static void warps_take_the_fastest_tiles(void **state)
{
    static const struct {
        tsr_type type; /* float32 is rounded to TF32 */
        size_t m, n, k;
        bool trans_a, trans_b;
        double beta;
        const char *wanted;
    } cases[] = {
        {TSR_BF16, 198, 12222, 38, true, false, 0, "TILE_M=64 TILE_N=128 BLOCK=128 SPLIT=1"},
        {TSR_F16, 258, 11585, 7, false, true, 1, "TILE_M=32 TILE_N=64 BLOCK=32 SPLIT=1"},
        {TSR_F32, 102, 4424, 1690, false, false, 1, "TILE_M=128 TILE_N=128 BLOCK=128 SPLIT=3"},
        {TSR_F16, 5049, 2309, 129, false, true, 1, "TILE_M=64 TILE_N=128 BLOCK=128 SPLIT=1"},
        {TSR_BF16, 30, 5353, 2757, false, false, 1, "TILE_M=32 TILE_N=128 BLOCK=128 SPLIT=6"},
        {TSR_BF16, 46, 849, 3, true, false, 1, "TILE_M=32 TILE_N=32 BLOCK=32 SPLIT=1"},
        {TSR_BF16, 18, 32, 8338, true, false, 1, "TILE_M=32 TILE_N=32 BLOCK=128 SPLIT=33"},
    };
    device_facts d = hopper();

    (void)state;
    d.compute_units = 132;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const bool rounds = cases[i].type == TSR_F32;
        const problem p = matmul_problem(
            (tsr_matmul_problem){.type = cases[i].type,
                                 .precision = rounds ? TSR_PRECISION_TF32 : TSR_PRECISION_DEFAULT,
                                 .m = cases[i].m,
                                 .n = cases[i].n,
                                 .k = cases[i].k,
                                 .trans_a = cases[i].trans_a,
                                 .trans_b = cases[i].trans_b,
                                 .alpha = 1,
                                 .beta = cases[i].beta});

        expect_params("mma", NULL, &p, &d, cases[i].wanted);
    }
}

/* Of float64 boxes serve where tiles are many, or k is long, but not where a C of few tiles, or one
 * that is added to, leaves them little to do. */
static void boxes_serve_what_gains(void **state)
{
    static const struct {
        size_t m, n, k;
        double beta;
        bool boxes;
    } cases[] = {
        {512, 512, 256, 0, false},  {500, 500, 128, 0, false},   {4000, 60, 250, 0, false},
        {300, 300, 300, 0, false},  {120, 216, 150, 0, false},   {1634, 266, 88, 1, false},
        {2000, 120, 140, 1, false}, {1000, 1000, 1000, 0, true}, {400, 1160, 4300, 0, true}};
    device_facts d = hopper();

    (void)state;
    d.compute_units = 132;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        problem p = product(cases[i].m, cases[i].n, cases[i].k);

        matmul_in(&p)->type = TSR_F64;
        matmul_in(&p)->beta = cases[i].beta;
        if (matmul_boxes_gain(&p, &d) != cases[i].boxes)
            fail_msg("%zux%zux%zu", cases[i].m, cases[i].n, cases[i].k);
    }
}

/* Tiles of float64 up to 64 x 64 have long blocks and warps of 16 rows, as many blocks in flight as
 * were fastest, and their groups may share k; with a depth or warps that are set, others. */
static void blocks_are_long_by_warps_of_16_rows(void **state)
{
    static const struct {
        size_t m, n, k;
        const char *set, *expected;
    } cases[] = {
        {797, 526, 598, NULL, "TILE_M=64 TILE_N=64 WARP_M=16 WARP_N=32 DEPTH=32 STAGES=3"},
        {701, 699, 331, NULL, "TILE_M=64 TILE_N=64 WARP_M=16 WARP_N=32 DEPTH=32 SPLIT=1"},
        {600, 601, 2001, NULL, "TILE_M=64 TILE_N=64 WARP_M=16 DEPTH=32 SPLIT=0 PER_UNIT=1"},
        {501, 403, 363, NULL, "TILE_M=32 TILE_N=64 WARP_M=16 WARP_N=16 DEPTH=32 STAGES=4"},
        {300, 300, 300, NULL, "TILE_M=32 TILE_N=32 WARP_M=16 WARP_N=16 DEPTH=32 STAGES=5"},
        {120, 120, 6000, NULL, "TILE_M=32 TILE_N=32 WARP_M=16 DEPTH=32 SPLIT=8"},
        {300, 300, 300, "TILE_M=32 TILE_N=32 DEPTH=16", "WARP_M=32 WARP_N=8"},
        {300, 300, 300, "TILE_M=32 TILE_N=32 WARP_N=8", "WARP_M=32 DEPTH=16"},
        {701, 699, 331, "TILE_M=64 TILE_N=64 WARP_M=32", "WARP_N=32 DEPTH=16"},
    };
    device_facts d = hopper();
    problem p = product(701, 699, 331);

    (void)state;
    d.compute_units = 132;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        p = product(cases[i].m, cases[i].n, cases[i].k);
        matmul_in(&p)->type = TSR_F64;
        expect_params("mma-f64", cases[i].set, &p, &d, cases[i].expected);
    }
    d.large_local = 80 << 10; /* less than any of them takes */
    expect_params("mma-f64", NULL, &p, &d, "DEPTH=16");
}

/* Float64 of 33 to 48 columns, or rows, has tiles that are no wider, where that factor lies along
 * k: by narrow warps, or with a long k by long blocks. */
static void narrow_products_have_narrow_tiles(void **state)
{
    static const struct {
        size_t m, n, k;
        bool trans_a, trans_b;
        double beta;
        const char *expected; /* NULL: they have none */
    } cases[] = {
        {5309, 35, 301, false, true, 1, "TILE_M=64 TILE_N=48 WARP_M=16 WARP_N=48 DEPTH=32"},
        {20000, 44, 40, false, true, 0, "TILE_M=64 TILE_N=48 WARP_M=32 WARP_N=24 DEPTH=16"},
        {35, 5309, 301, false, true, 1, "TILE_M=48 TILE_N=64 WARP_M=48 WARP_N=16 DEPTH=32"},
        {20000, 44, 40, false, false, 0, NULL},
        {20000, 32, 40, false, true, 0, NULL},
        {20000, 49, 40, false, true, 0, NULL},
        {36, 5000, 500, true, true, 1, NULL},
    };
    static const char wide[] = "a factor whose lines lie across k is brought by whole lines, which "
                               "tiles of 48 do not have";
    device_facts d = hopper();

    (void)state;
    d.compute_units = 132;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        problem p = product(cases[i].m, cases[i].n, cases[i].k);
        plan made;

        matmul_in(&p)->type = TSR_F64;
        matmul_in(&p)->trans_a = cases[i].trans_a;
        matmul_in(&p)->trans_b = cases[i].trans_b;
        matmul_in(&p)->beta = cases[i].beta;
        if (cases[i].expected) {
            expect_params("mma-f64", NULL, &p, &d, cases[i].expected);
            assert_string_equal(first_supported(&p, &d), "mma-f64");
            continue;
        }
        made = plan_of("mma-f64", NULL, &p, &d);
        assert_int_not_equal(param(&made.params, "TILE_M"), 48);
        assert_int_not_equal(param(&made.params, "TILE_N"), 48);
        plan_free(&made);
    }
    {
        problem p = product(20000, 44, 40);

        matmul_in(&p)->type = TSR_F64;
        expect_reason("mma-f64", "TILE_N=48", &p, &d, wide, NULL);
        matmul_in(&p)->trans_a = true;
        expect_reason("mma-f64", "TILE_M=48", &p, &d, wide, NULL);
    }
}

/* Tiles of four slices of few rows of C are shared among groups sooner. */
static void few_rows_of_a_long_k_are_shared(void **state)
{
    device_facts d = hopper();
    problem p = product(24, 14000, 5000);

    (void)state;
    d.compute_units = 132;
    matmul_in(&p)->precision = TSR_PRECISION_F32_STRICT;
    assert_string_equal(first_supported(&p, &d), "stream-k");
    p = product(48, 14000, 500);
    matmul_in(&p)->precision = TSR_PRECISION_F32_STRICT;
    assert_string_not_equal(first_supported(&p, &d), "stream-k");
}

/* Larger groups that take k whole where local memory holds a row of their sums. */
static void whole_columns_fit_the_local_memory(void **state)
{
    device_facts d = hopper();
    problem p = matmul_problem((tsr_matmul_problem){
        .type = TSR_BF16, .m = 9001, .n = 1, .k = 200, .trans_a = true, .alpha = 1});

    (void)state;
    d.compute_units = 132;
    for (d.local_memory = 16384; d.local_memory <= 65536; d.local_memory *= 2) {
        plan x = plan_of("skinny-columns", NULL, &p, &d);

        plan_free(&x);
    }
}

static void skinny_products_fit_the_local_memory(void **state)
{
    const problem p = matmul_problem((tsr_matmul_problem){
        .type = TSR_F64, .m = 16, .n = 4096, .k = 4096, .trans_b = true, .alpha = 1});
    device_facts d = large_gpu();

    (void)state;
    d.local_memory = 32 << 10;
    assert_string_equal(first_supported(&p, &d), "skinny-dots");
    d.local_memory = 8 << 10;
    says("skinny-dots", &p, &d, "bytes of local memory", "8192");
}

/* Groups that share k: a launch of its own adds their sums up where nothing orders what groups
 * write, and else the last of them. */
static void skinny_products_are_added_up(void **state)
{
    const problem p = matmul_problem((tsr_matmul_problem){.type = TSR_F32,
                                                          .m = 4,
                                                          .n = 16,
                                                          .k = 4096,
                                                          .trans_b = true,
                                                          .ldc = 20,
                                                          .beta = 1,
                                                          .alpha = 1});
    device_facts d = large_gpu();
    plan x = plan_of("skinny-dots", "SPLIT=4", &p, &d);

    (void)state;
    assert_int_equal(x.count, 2);
    expect_options(&x, "skinny-dots", &d, "SPLITS=1 LAST_ADDS=0");
    plan_free(&x);
    d.nv_capability = 90;
    d.feature[FEATURE_PTX] = FEATURE_YES;
    x = plan_of("skinny-dots", "SPLIT=4", &p, &d);
    assert_int_equal(x.count, 1);
    assert_int_equal(x.commands[0].global[2], 4);
    assert_int_equal(x.workspace, 4 * 4 * 16 * sizeof(float));
    expect_options(&x, "skinny-dots", &d, "SPLITS=1 LAST_ADDS=2");
    plan_free(&x);
}

/* Lessons multiply two float32 matrices, and say what does the rest; `general` does it. */
static void lessons_say_what_they_leave_out(void **state)
{
    static const char *const lessons[] = {"row-first", "naive",  "tiled",  "block-column",
                                          "block",     "vector", "swizzle"};
    const struct {
        tsr_matmul_problem p;
        const char *why;
    } cases[] = {
        {{.type = TSR_F64, .alpha = 1}, "float64"},
        {{.type = TSR_F16, .alpha = 1, .c_f32 = true}, "float16"},
        {{.alpha = 1, .batch = 3, .stride_c = 30}, "a batch of 3"},
        {{.alpha = 1, .trans_a = true}, "does not transpose"},
        {{.alpha = 1, .trans_b = true}, "does not transpose"},
        {{.alpha = 2}, "alpha 2"},
        {{.alpha = 1, .beta = -1}, "beta -1"},
        {{.alpha = 1, .lda = 8}, "A with leading dimension 8 and offset 0"},
        {{.alpha = 1, .ldb = 9}, "B with leading dimension 9 and offset 0"},
        {{.alpha = 1, .ldc = 10}, "C with leading dimension 10 and offset 0"},
        {{.alpha = 1, .offset_c = 5}, "C with leading dimension 6 and offset 5"},
    };
    const device_facts d = gpu();

    (void)state;
    for (size_t v = 0; v < ARRAY_COUNT(lessons); v++) {
        problem p = product(5, 6, 7);

        assert_true(supports(lessons[v], &p, &d));
        for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
            p = matmul_problem(cases[i].p);
            matmul_in(&p)->m = 5;
            matmul_in(&p)->n = 6;
            matmul_in(&p)->k = 7;
            says(lessons[v], &p, &d, cases[i].why, "`general`");
            assert_true(supports("general", &p, &d));
        }
    }
}

static void reasons_hold_values(void **state)
{
    const problem small = matmul_problem((tsr_matmul_problem){.m = 4, .n = 4, .k = 4, .alpha = 1});
    problem p = small;
    device_facts d = gpu();

    (void)state;
    d.local_memory = 1024;
    says("general-tiled", &p, &d, "2048 bytes of local memory", "1024");
    says("tiled", &p, &d, "2048 bytes of local memory", "1024");  /* 2 x 16 x 16 floats */
    says("block", &p, &d, "8192 bytes of local memory", "1024");  /* 2 x 16 x 64 floats */
    says("vector", &p, &d, "8704 bytes of local memory", "1024"); /* 2 x 16 x (64 + 4) floats */
    says("swizzle", &p, &d, "8192 bytes of local memory", "1024");
    says("block-column", &p, &d, "8192 bytes of local memory", "1024");
    d = gpu();
    d.max_work_group = 100;
    says("tiled", &p, &d, "256 work-items", "100");
    says("block-column", &p, &d, "512 work-items", "100");
    d = gpu();
    d.max_work_item[0] = 32;
    says("block-column", &p, &d, "64 x 8", "32 x 1024");
    assert_true(supports("block", &p, &d));
    d = gpu();
    d.max_work_item[1] = 4;
    says("block-column", &p, &d, "64 x 8", "1024 x 4");
    says("tiled", &p, &d, "16 x 16", "1024 x 4");
    d = gpu();
    d.max_work_group = 100;
    p = matmul_problem((tsr_matmul_problem){.m = 128, .n = 128, .alpha = 1});
    says("batched", &p, &d, "512 work-items", "100");
    p = matmul_problem((tsr_matmul_problem){.m = 129, .n = 4, .alpha = 1});
    says("batched", &p, &d, "128 x 128", "129 x 4");
    d = gpu();
    d.local_memory = 512;
    p = small;
    says("batched", &p, &d, "672 bytes of local memory", "512"); /* 8 x 12 + 8 x 8 + 8 floats */
    d = gpu();
    d.fp64 = false;
    matmul_in(&p)->type = TSR_F64;
    says("general", &p, &d, "no double precision", "");
    p = small;
    d = gpu();
    matmul_in(&p)->m = ((size_t)1 << 31) + 1;
    says("naive", &p, &d, "2147483649 is over 2147483648", "32 bits");
    p = small;
    matmul_in(&p)->ldc = (size_t)1 << 33;
    says("general", &p, &d, "8589934592 is over 2147483648", "32 bits");
    p = small;
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    says("block", &p, &d, "tf32", "FP32");
    p = small;
    says("cpu-panels", &p, &d, "262144 bytes of private memory", "32768"); /* 4 x 1024 x 64 */
    matmul_in(&p)->precision = TSR_PRECISION_BF16; /* and 6 rows of A of 1024 x 4 */
    says("cpu-panels", &p, &d, "286720 bytes of private memory", "32768");
    p = small;
    /* Sums of blocks would be rounded to 16 bits in C. */
    d = cpu(2);
    matmul_in(&p)->type = TSR_F16;
    matmul_in(&p)->k = 1025;
    says("cpu-panels", &p, &d, "float16", "k is 1025");
    matmul_in(&p)->c_f32 = true;
    assert_true(supports("cpu-panels", &p, &d));
    matmul_in(&p)->c_f32 = false;
    assert_true(supports("cpu-split", &p, &d));
    matmul_in(&p)->k = 1024;
    assert_true(supports("cpu-panels", &p, &d));
}

/* What copies as they are cannot serve, and what a device without them says. */
static void copies_say_what_they_take(void **state)
{
    problem p = matmul_problem((tsr_matmul_problem){.m = 4, .n = 4, .k = 4, .alpha = 1});
    device_facts d = ampere();

    (void)state;
    assert_true(supports("async", &p, &d));
    assert_true(supports("cp-async", &p, &d));
    matmul_in(&p)->precision = TSR_PRECISION_F32_STRICT;
    assert_true(supports("cp-async", &p, &d));
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    says("cp-async", &p, &d, "tf32", "FP32");
    says("async", &p, &d, "tf32", "FP32");
    says("shfl", &p, &d, "tf32", "FP32");
    matmul_in(&p)->precision = TSR_PRECISION_DEFAULT;
    matmul_in(&p)->type = TSR_F64;
    assert_true(supports("async", &p, &d));
    assert_true(supports("subgroup", &p, &d));
    says("cp-async", &p, &d, "it multiplies float32", "float64");
    matmul_in(&p)->type = TSR_BF16;
    assert_true(supports("shfl", &p, &d));
    says("async", &p, &d, "do not convert", "bfloat16");
    matmul_in(&p)->type = TSR_F32;
    matmul_in(&p)->batch = 2;
    says("stream-k", &p, &d, "one pair of matrices", "2");
    matmul_in(&p)->batch = 1;
    assert_true(supports("stream-k", &p, &d));
    d.nv_capability = 60;
    d.feature[FEATURE_DEVICE_SCOPE] = FEATURE_NO;
    says("stream-k", &p, &d, "no atomic operations", "");
    d.nv_capability = 80;
    d.compute_units = 8193; /* and a tile for each group */
    matmul_in(&p)->m = matmul_in(&p)->n = 64 * 1000;
    matmul_in(&p)->k = 8;
    expect_reason("stream-k", "TILE_M=64 TILE_N=64 PER_UNIT=2", &p, &d, "share", "16384");
    d.compute_units = 132;
    matmul_in(&p)->m = matmul_in(&p)->n = matmul_in(&p)->k = 4;
    d.large_local = 10000; /* 4 x 8 x (64 + 32 + 8) floats */
    says("cp-async", &p, &d, "18432 bytes of local memory", "10000");
    says("stream-k", &p, &d, "36880 bytes of local memory", "10000");
    d.local_memory = 1024;
    says("async", &p, &d, "16384 bytes of local memory", "1024"); /* 4 x 16 x 64 floats */
    d.max_work_group = 50;
    says("subgroup", &p, &d, "256 work-items", "50");
    says("cp-async", &p, &d, "work-items", "50");
    d.feature[FEATURE_ASYNC_COPY] = FEATURE_NO;
    says("cp-async", &p, &d, "async copies", "");
}

/* ---- problems ---------------------------------------------------------------------------- */

static void alpha_zero_reads_nothing(void **state)
{
    const problem p =
        matmul_problem((tsr_matmul_problem){.m = 4, .n = 5, .k = 6, .alpha = 0, .beta = 2});
    operand o[OPERANDS_MAX];

    (void)state;
    assert_int_equal(operation_matmul.operands(&p, o), 3);
    assert_int_equal(o[0].bytes, 0);
    assert_int_equal(o[1].bytes, 0);
    assert_int_equal(o[2].bytes, 80);
    assert_int_equal(o[2].access, ACCESS_READ_WRITE);
}

/* Compulsory traffic: what is not read does not count. */
static void bytes_are_what_has_to_move(void **state)
{
    const struct {
        tsr_type type;
        double alpha, beta, bytes;
    } cases[] = {{TSR_F32, 1, 0, 4 * (24 + 30 + 20)},
                 {TSR_F32, 1, 2, 4 * (24 + 30 + 40)},
                 {TSR_F32, 0, 2, 4 * 40},
                 {TSR_F32, 0, 0, 4 * 20},
                 {TSR_F64, 0, -1, 8 * 40},
                 {TSR_F16, 1, 1, 2 * (24 + 30 + 40)},
                 {TSR_BF16, 1, 0, 2 * (24 + 30 + 20)},
                 {TSR_F16, 1e-60, 0, 2 * 20}, /* 0 in float32 */
                 {TSR_F16, 1e-10, 0, 2 * 74}, /* but not where it is 0 in float16 */
                 {TSR_F32, 1e-60, 0, 4 * 20}};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const problem p = matmul_problem((tsr_matmul_problem){.type = cases[i].type,
                                                              .m = 4,
                                                              .n = 5,
                                                              .k = 6,
                                                              .alpha = cases[i].alpha,
                                                              .beta = cases[i].beta});

        assert_true(operation_matmul.bytes(&p) == cases[i].bytes);
    }
}

/* A float32 C under operands of 16 bits, a bfloat16 one under 8: its own bytes, in the text, and in
 * the tuning's key. */
static void c_may_be_wider_than_its_factors(void **state)
{
    problem p = matmul_problem(
        (tsr_matmul_problem){.type = TSR_BF16, .m = 4, .n = 5, .k = 6, .alpha = 1, .c_f32 = true});
    operand o[OPERANDS_MAX];
    text t = {0};

    (void)state;
    operation_matmul.operands(&p, o);
    assert_int_equal(o[2].type, TSR_F32);
    assert_int_equal(o[2].bytes, 80);
    assert_int_equal(o[0].bytes, 48);
    assert_true(operation_matmul.bytes(&p) == 2 * 54 + 4 * 20);
    operation_matmul.describe(&p, &t);
    assert_string_equal(text_get(&t), "4x5x6 bfloat16 to float32");
    text_clear(&t);
    tuning_class(&p, &t);
    assert_string_equal(text_get(&t), "bfloat16 to float32 nn 4x4x4");
    text_free(&t);
    expect_class(&p, "bfloat16 to float32 nn, M 4-7, N 4-7, K 4-7");
    *matmul_in(&p) = (tsr_matmul_problem){
        .type = TSR_F8E5M2, .m = 4, .n = 5, .k = 6, .alpha = 1, .c_bf16 = true};
    operation_matmul.operands(&p, o);
    assert_int_equal(o[2].type, TSR_BF16);
    assert_int_equal(o[2].bytes, 40);
    expect_class(&p, "float8_e5m2 to bfloat16 nn, M 4-7, N 4-7, K 4-7");
    /* Other kernels may be faster where there are scales, or be left out of the preferences. */
    matmul_in(&p)->scale_b = true;
    expect_class(&p, "float8_e5m2 to bfloat16 scale_b nn, M 4-7, N 4-7, K 4-7");
}

/* A variant of several commands runs one product after another; those that take no batch say so. */
static void products_follow_one_another(void **state)
{
    device_facts d = gpu();
    problem p = product(512, 512, 512);
    plan x;

    (void)state;
    matmul_in(&p)->batch = 3;
    matmul_in(&p)->stride_a = matmul_in(&p)->stride_b = matmul_in(&p)->stride_c = 1 << 18;
    for (unsigned f = 0; f < FEATURE_COUNT; f++)
        d.feature[f] = FEATURE_YES;
    d.nv_capability = 90;
    d.large_local = 227 << 10;
    x = plan_of("wgmma-3xtf32", NULL, &p, &d);
    assert_int_equal(x.count, 6);
    for (size_t i = 0; i < x.count; i++)
        assert_int_equal(x.commands[i].entry, i % 2);
    plan_free(&x);
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    assert_true(supports("wgmma-tf32", &p, &d));
    says("wgmma-tensor", &p, &d, "one pair of matrices", "there are 3");
    matmul_in(&p)->precision = TSR_PRECISION_DEFAULT;
    says("wgmma-3xtf32-fused", &p, &d, "one pair of matrices", "there are 3");
}

/* Shared operands count once, in bytes and in traffic; work counts every product. */
static void a_batch_is_counted_as_it_is(void **state)
{
    problem p = matmul_problem((tsr_matmul_problem){.m = 4,
                                                    .n = 5,
                                                    .k = 6,
                                                    .alpha = 1,
                                                    .batch = 10,
                                                    .stride_a = 24,
                                                    .stride_b = 0,
                                                    .stride_c = 23});
    operand o[OPERANDS_MAX];
    text t = {0};

    (void)state;
    assert_int_equal(operation_matmul.check(&p, NULL), TSR_OK);
    operation_matmul.operands(&p, o);
    assert_int_equal(o[0].bytes, 4 * 240);
    assert_int_equal(o[1].bytes, 4 * 30);
    assert_int_equal(o[2].bytes, 4 * (9 * 23 + 20));
    assert_true(o[2].whole); /* each element, and no gap */
    assert_true(operation_matmul.work(&p) == 2.0 * 120 * 10);
    assert_true(operation_matmul.bytes(&p) == 4 * (240 + 30 + 200));
    operation_matmul.describe(&p, &t);
    assert_string_equal(text_get(&t), "4x5x6 float32 x 10 strides 24 0 23");
    text_clear(&t);
    matmul_in(&p)->stride_b = 30;
    matmul_in(&p)->stride_c = 20;
    operation_matmul.describe(&p, &t);
    assert_string_equal(text_get(&t), "4x5x6 float32 x 10");
    text_clear(&t);
    tuning_class(&p, &t);
    assert_string_equal(text_get(&t), "float32 x8 nn 4x4x4");
    operation_matmul.operands(&p, o);
    assert_true(o[2].whole);
    matmul_in(&p)->batch = 1; /* then the strides are not read */
    text_clear(&t);
    operation_matmul.describe(&p, &t);
    assert_string_equal(text_get(&t), "4x5x6 float32");
    operation_matmul.operands(&p, o);
    assert_int_equal(o[0].bytes, 4 * 24);
    text_free(&t);
}

/* Vectors are aligned only where those of every product are. */
static void alignment_is_of_every_product(void **state)
{
    const device_facts d = gpu();
    problem p = product(64, 64, 64);
    plan x;

    (void)state;
    matmul_in(&p)->batch = 2;
    matmul_in(&p)->stride_a = matmul_in(&p)->stride_c = 4096;
    matmul_in(&p)->stride_b = 4098;
    x = plan_of("pipelined", NULL, &p, &d);
    expect_options(&x, "pipelined", &d, "ALIGNED_A=1 ALIGNED_B=0 ALIGNED_C=1");
    plan_free(&x);
}

/* C^T = op(B)^T op(A)^T: the same matrices, row-major, and the same elements in the same place. */
static void column_major_is_the_transpose(void **state)
{
    const problem p = matmul_problem((tsr_matmul_problem){.type = TSR_F64,
                                                          .m = 4,
                                                          .n = 5,
                                                          .k = 6,
                                                          .trans_a = true,
                                                          .alpha = 2,
                                                          .beta = 3,
                                                          .lda = 7,
                                                          .ldc = 9,
                                                          .offset_a = 1,
                                                          .offset_b = 2,
                                                          .offset_c = 3,
                                                          .layout = TSR_COLUMN_MAJOR});
    unsigned order[OPERANDS_MAX];
    const problem q = problem_normal(&p, order);
    operand before[OPERANDS_MAX], after[OPERANDS_MAX];
    text t = {0};

    (void)state;
    assert_int_equal(operation_matmul.check(&p, NULL), TSR_OK);
    assert_int_equal(operation_matmul.check(&q, NULL), TSR_OK);
    assert_int_equal(matmul_of(&q)->layout, TSR_ROW_MAJOR);
    operation_matmul.operands(&p, before);
    operation_matmul.operands(&q, after);
    assert_int_equal(before[0].bytes, 8 * (1 + 3 * 7 + 6)); /* 4 columns of 6 */
    assert_int_equal(before[1].bytes, 8 * (2 + 30));
    assert_int_equal(before[2].bytes, 8 * (3 + 4 * 9 + 4));
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(after[i].bytes, before[order[i]].bytes);
        assert_int_equal(after[i].begin, before[order[i]].begin);
    }
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 5; j++) {
            assert_int_equal(matmul_index_c(matmul_of(&p), i, j), 3 + j * 9 + i);
            assert_int_equal(matmul_index_c(matmul_of(&q), j, i), 3 + j * 9 + i);
            for (size_t x = 0; x < 6; x++) {
                assert_int_equal(matmul_index_a(matmul_of(&p), i, x), 1 + i * 7 + x);
                assert_int_equal(matmul_index_b(matmul_of(&q), x, i), 1 + i * 7 + x);
                assert_int_equal(matmul_index_b(matmul_of(&p), x, j), 2 + j * 6 + x);
                assert_int_equal(matmul_index_a(matmul_of(&q), j, x), 2 + j * 6 + x);
            }
        }
    operation_matmul.describe(&p, &t);
    assert_string_equal(text_get(&t), "4x5x6 float64 column-major A^T alpha 2 beta 3 ld 7 6 9 "
                                      "offsets 1 2 3");
    text_free(&t);
}

static void refuses(tsr_matmul_problem p, tsr_status status, const char *part)
{
    const problem q = matmul_problem(p);
    tsr_error err = {0};

    assert_int_equal(operation_matmul.check(&q, &err), status);
    if (!strstr(err.message, part))
        fail_msg("'%s' does not say '%s'", err.message, part);
}

static void takes(tsr_matmul_problem p)
{
    const problem q = matmul_problem(p);
    tsr_error err = {0};

    if (operation_matmul.check(&q, &err))
        fail_msg("%s", err.message);
}

static void broken_problems_are_refused(void **state)
{
    const tsr_matmul_problem good = {.m = 4, .n = 5, .k = 6, .alpha = 1};
    const size_t huge = SIZE_MAX / 8;
    tsr_matmul_problem p = good;

    (void)state;
    p.lda = 5;
    refuses(p, TSR_EINVAL, "the leading dimension of A is 5 and it has 6 columns");
    p = good;
    p.trans_b = true;
    p.ldb = 5;
    refuses(p, TSR_EINVAL, "the leading dimension of B is 5 and it has 6 columns");
    p = good;
    p.ldc = 4;
    refuses(p, TSR_EINVAL, "the leading dimension of C is 4 and it has 5 columns");
    p = good;
    p.layout = TSR_COLUMN_MAJOR;
    p.ldb = 5;
    refuses(p, TSR_EINVAL, "the leading dimension of B is 5 and it has 6 rows");
    p.layout = (tsr_layout)2;
    refuses(p, TSR_EINVAL, "layout 2 does not exist");
    p = good;
    p.batch = 2;
    p.stride_c = 19;
    refuses(p, TSR_EINVAL,
            "the 2 matrices of C overlap: stride_c is 19, and each takes 20 elements");
    p.stride_c = 0;
    refuses(p, TSR_EINVAL, "stride_c is 0");
    p.ldc = 10; /* side by side: 5 and 5 */
    p.stride_c = 5;
    takes(p);
    p.stride_c = 4;
    refuses(p, TSR_EINVAL, "overlap");
    p.stride_c = 6;
    refuses(p, TSR_EINVAL, "overlap");
    p.layout = TSR_COLUMN_MAJOR; /* columns of 4 */
    takes(p);
    p.stride_c = 7;
    refuses(p, TSR_EINVAL, "overlap");
    p.m = 0; /* nothing is there to overlap */
    takes(p);
    p = good;
    p.batch = (size_t)1 << 62;
    p.stride_c = 20;
    refuses(p, TSR_EOVERFLOW, "4611686018427387904 of them with stride 20");
    p.stride_c = SIZE_MAX;
    p.batch = 3;
    refuses(p, TSR_EOVERFLOW, "C of 4 x 5");
    p = good;
    p.m = p.k = huge;
    refuses(p, TSR_EOVERFLOW, "A of ");
    p = good;
    p.offset_c = SIZE_MAX - 3;
    refuses(p, TSR_EOVERFLOW, "offset 18446744073709551612");
    p = good;
    p.type = TSR_I32;
    refuses(p, TSR_EINVAL, "int32");
    p = good;
    p.precision = TSR_PRECISION_F64;
    refuses(p, TSR_EINVAL, "precision f64 does not go with float32");
    p.type = TSR_F64;
    p.precision = TSR_PRECISION_F32;
    refuses(p, TSR_EINVAL, "precision f32 does not go with float64");
    p.precision = TSR_PRECISION_DEFAULT;
    p.c_f32 = true;
    refuses(p, TSR_EINVAL, "C must be float64");
    p = good;
    p.type = TSR_F16;
    p.precision = TSR_PRECISION_BF16;
    refuses(p, TSR_EINVAL, "precision bf16 does not go with float16");
    p.precision = TSR_PRECISION_DEFAULT;
    p.ldc = 4;
    refuses(p, TSR_EINVAL, "the leading dimension of C is 4");
    p = good;
    p.alpha = 1e300;
    p.type = TSR_BF16;
    refuses(p, TSR_EINVAL, "alpha = 1e+300 is beyond the range of float32");
}

/* The first and the last problem of a range are of it, their neighbours of another. */
static void classes_name_their_problems(void **state)
{
    problem p = matmul_problem(
        (tsr_matmul_problem){.type = TSR_F32, .m = 1024, .n = 1, .k = 127, .alpha = 1});

    (void)state;
    expect_class(&p, "float32 nn, M 1024-2047, N 1, K 64-127");
    matmul_in(&p)->m = 2047;
    matmul_in(&p)->k = 64;
    expect_class(&p, "float32 nn, M 1024-2047, N 1, K 64-127");
    matmul_in(&p)->m = 2048;
    matmul_in(&p)->n = 3;
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    matmul_in(&p)->trans_b = 1;
    expect_class(&p, "float32 tf32 nt, M 2048-4095, N 2-3, K 64-127");
}

static void options_hold_every_define(void **state)
{
    const device_facts d = gpu();
    const problem p = matmul_problem(
        (tsr_matmul_problem){.type = TSR_F64, .m = 4, .n = 4, .k = 4, .trans_b = true});
    const variant *v = find("general-tiled");
    const params chosen = params_default(v);
    text t = {0};

    (void)state;
    variant_options(v, &(job){&p, &d, &chosen, false, false}, &t);
    assert_non_null(strstr(text_get(&t), " -DTILE=16"));
    assert_non_null(strstr(text_get(&t), " -DREAL=double"));
    assert_non_null(strstr(text_get(&t), " -DTRANS_A=0"));
    assert_non_null(strstr(text_get(&t), " -DTRANS_B=1"));
    text_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_registers_hold_larger_blocks),
        cmocka_unit_test(split_workspace_is_bounded),
        cmocka_unit_test(batched_groups_follow_the_size),
        cmocka_unit_test(tiles_follow_the_shape),
        cmocka_unit_test(sums_follow_the_tile),
        cmocka_unit_test(set_tiles_are_kept),
        cmocka_unit_test(parts_take_workspace),
        cmocka_unit_test(registers_are_limited_where_they_can_be),
        cmocka_unit_test(broken_tiles_are_refused),
        cmocka_unit_test(copied_tiles_follow_the_shape),
        cmocka_unit_test(shares_follow_the_shape),
        cmocka_unit_test(outer_groups_follow_the_rows_of_c),
        cmocka_unit_test(passes_of_outer_need_all_of_k),
        cmocka_unit_test(padding_and_swizzling_differ),
        cmocka_unit_test(preference_of_a_gpu_counts_products),
        cmocka_unit_test(preference_of_a_cpu_follows_the_shape),
        cmocka_unit_test(copies_follow_the_shape),
        cmocka_unit_test(chains_follow_the_shape),
        cmocka_unit_test(matrix_units_follow_the_shape),
        cmocka_unit_test(skinny_products_follow_the_large_factor),
        cmocka_unit_test(skinny_float64_goes_to_matrix_units),
        cmocka_unit_test(products_of_warps_alone),
        cmocka_unit_test(short_products_follow_what_c_moves),
        cmocka_unit_test(skinny_products_share_a_long_k),
        cmocka_unit_test(boxes_serve_what_gains),
        cmocka_unit_test(few_long_lines_have_more_loads),
        cmocka_unit_test(warps_take_the_fastest_tiles),
        cmocka_unit_test(blocks_are_long_by_warps_of_16_rows),
        cmocka_unit_test(narrow_products_have_narrow_tiles),
        cmocka_unit_test(few_rows_of_a_long_k_are_shared),
        cmocka_unit_test(whole_columns_fit_the_local_memory),
        cmocka_unit_test(skinny_products_fit_the_local_memory),
        cmocka_unit_test(skinny_products_are_added_up),
        cmocka_unit_test(every_precision_has_a_kernel),
        cmocka_unit_test(lessons_say_what_they_leave_out),
        cmocka_unit_test(reasons_hold_values),
        cmocka_unit_test(copies_say_what_they_take),
        cmocka_unit_test(alpha_zero_reads_nothing),
        cmocka_unit_test(bytes_are_what_has_to_move),
        cmocka_unit_test(c_may_be_wider_than_its_factors),
        cmocka_unit_test(products_follow_one_another),
        cmocka_unit_test(a_batch_is_counted_as_it_is),
        cmocka_unit_test(alignment_is_of_every_product),
        cmocka_unit_test(column_major_is_the_transpose),
        cmocka_unit_test(broken_problems_are_refused),
        cmocka_unit_test(options_hold_every_define),
        cmocka_unit_test(classes_name_their_problems),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
