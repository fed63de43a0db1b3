/* The plan of matmul on Hopper's matrix units: what is packed where, and what runs elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/registry.h"
#include "ops/matmul/matmul_shape.h"
#include "step_scalars.h"

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
                      .team = 32};

    for (int f = 0; f < FEATURE_COUNT; f++)
        d.feature[f] = FEATURE_YES;
    return d;
}

static problem product(size_t m, size_t n, size_t k)
{
    return matmul_problem((tsr_matmul_problem){.m = m, .n = n, .k = k, .alpha = 1});
}

static const variant *find(const char *name)
{
    const variant *v = NULL;

    assert_int_equal(variant_find(&operation_matmul, name, &v, NULL), TSR_OK);
    return v;
}

static size_t count_steps(const variant *v, const job *j, command last[2])
{
    size_t n = 0;

    for (; n < 2 && v->step(j, n, &last[n]); n++)
        ;
    assert_false(v->step(j, n, &(command){0}));
    return n;
}

/* Tiles of 256 and 128 rows, blocks of 16 along k: every image whole, then a flag a piece. */
static void test_packing_is_whole(void **state)
{
    const device_facts d = hopper();
    const variant *v = find("wgmma-3xtf32");
    params chosen = params_default(v);
    problem p = product(257, 129, 81);
    const job j = {&p, &d, &chosen, false};
    const size_t images =
        2 * 6 * 256 * 128 + 2 * 6 * 128 * 128;      /* bytes: 2 and 2 tiles, 6 blocks */
    const size_t along = 2 * 8 * 3, across = 2 * 6; /* pieces: of 32 x 32 for A, 128 x 16 for B */
    command s[2];

    (void)state;
    assert_int_equal(params_set(v, &chosen, "TILE_M=256", NULL), TSR_OK);
    assert_int_equal(v->workspace(&j), images + (along + across) * 4);
    assert_int_equal(count_steps(v, &j, s), 2);
    assert_int_equal(s[0].global[0], (along + across) * 256);
    assert_int_equal(s[0].local[0], 256);
    assert_int_equal(s[1].global[0], 2 * 2 * 384);
    assert_int_equal(s[1].local[0], 384);
    /* Transposed, the pieces change sides. */
    matmul_in(&p)->trans_a = matmul_in(&p)->trans_b = true;
    assert_int_equal(v->workspace(&j), images + (2 * 2 * 6 + 2 * 4 * 3) * 4);
}

static void expect_rows(const char *name, const char *set, const problem *p, size_t rows)
{
    device_facts d = hopper();
    const variant *v = find(name);
    params chosen = params_default(v);
    char wanted[32];
    text out = {0};

    d.compute_units = 132;
    if (set)
        assert_int_equal(params_set(v, &chosen, set, NULL), TSR_OK);
    v->defines(&(job){p, &d, &chosen, false}, &out);
    snprintf(wanted, sizeof(wanted), "-DTILE_M=%zu", rows);
    assert_non_null(strstr(text_get(&out), wanted));
    text_free(&out);
}

/* Tiles of 256 rows where they end sooner: 128 of them on 132 units take one turn, 256 of less than
 * half the time two, but each turn begins and ends once. */
static void test_rows_of_a_tile_follow_the_shape(void **state)
{
    problem p = product(1024, 1024, 4096);

    (void)state;
    expect_rows("wgmma-3xtf32", NULL, &p, 128);
    p = product(2048, 2048, 4096);
    expect_rows("wgmma-3xtf32", NULL, &p, 128);
    p = product(2048, 2048, 512);
    expect_rows("wgmma-3xtf32", NULL, &p, 256);
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    expect_rows("wgmma-tf32", NULL, &p, 256);
    expect_rows("wgmma-tf32", "TILE_N=256", &p, 128);
}

/* Arguments of the launches: of packing, of multiplying, of adding up. */
enum { PACK_OFFSET_A = 6, PACK_IMAGES_A = 12 };
enum {
    ARG_K = 2,
    ARG_BLOCKS = 3,
    ARG_SPAN = 4,
    ARG_ALPHA = 6,
    ARG_OFFSET_A = 8,
    ARG_OFFSET_B = 11,
    ARG_BETA = 13,
    ARG_C = 14,
    ARG_LD_C = 16,
    ARG_IMAGES_A = 18,
};
enum { SUM_PARTS = 2, SUM_ALPHA = 4, SUM_BETA = 6, SUM_OFFSET_C = 8 };

/* Parts of product `index` of a batch: sums without alpha and beta, one part after another before
 * the packed operands, and a launch that adds them up into that product's C. */
static void check_parts(const problem *p, size_t index, const command s[3], size_t parts)
{
    const tsr_matmul_problem *q = matmul_of(p);
    const size_t sums = parts * q->m * q->n * sizeof(float);

    assert_int_equal(s[1].arg[ARG_C].kind, ARG_WORKSPACE);
    assert_int_equal(scalar_u32(&s[1], ARG_LD_C), q->n);
    assert_true(scalar_f32(&s[1], ARG_ALPHA) == 1 && scalar_f32(&s[1], ARG_BETA) == 0);
    assert_in_range(scalar_u64(&s[1], ARG_IMAGES_A), sums, sums + 127);
    assert_int_equal(scalar_u64(&s[1], ARG_IMAGES_A) % 16, 0);
    assert_int_equal(scalar_u64(&s[0], PACK_IMAGES_A), scalar_u64(&s[1], ARG_IMAGES_A));
    assert_int_equal(scalar_u64(&s[0], PACK_OFFSET_A), index * q->stride_a);
    assert_int_equal(scalar_u64(&s[1], ARG_OFFSET_A), index * q->stride_a);
    assert_int_equal(scalar_u64(&s[1], ARG_OFFSET_B), index * q->stride_b);
    assert_int_equal(s[2].entry, 2);
    assert_int_equal(scalar_u32(&s[2], SUM_PARTS), parts);
    assert_true(scalar_f32(&s[2], SUM_ALPHA) == 3 && scalar_f32(&s[2], SUM_BETA) == -2);
    assert_int_equal(scalar_u64(&s[2], SUM_OFFSET_C), index * q->stride_c);
}

/* Expect so many parts of `span` blocks of each product. */
static void expect_parts(const char *set, const problem *p, size_t tiles, size_t parts, size_t span)
{
    const bool tf32 = matmul_of(p)->precision == TSR_PRECISION_TF32;
    const size_t batch = matmul_of(p)->batch ? matmul_of(p)->batch : 1, each = parts > 1 ? 3 : 2;
    device_facts d = hopper();
    const variant *v = find(tf32 ? "wgmma-tf32" : "wgmma-3xtf32");
    params chosen = params_default(v);
    const job j = {p, &d, &chosen, false};
    command s[7];
    size_t n = 0;

    d.compute_units = 132;
    assert_int_equal(params_set(v, &chosen, "TILE_M=128", NULL), TSR_OK);
    if (set)
        assert_int_equal(params_set(v, &chosen, set, NULL), TSR_OK);
    while (n < 7 && v->step(&j, n, &s[n]))
        n++;
    assert_int_equal(n, each * batch);
    for (size_t i = 0; i < batch; i++) {
        const command *multiply = &s[i * each + 1];

        assert_int_equal(multiply->global[0], tiles * parts * 384);
        assert_int_equal(scalar_u32(multiply, ARG_SPAN), span);
        assert_in_range(scalar_u32(multiply, ARG_BLOCKS), (parts - 1) * span + 1, parts * span);
        if (parts > 1)
            check_parts(p, i, &s[i * each], parts);
        else
            assert_int_equal(multiply->arg[ARG_C].kind, ARG_OPERAND);
    }
}

/* Groups share k where C has too few tiles for the device. */
static void test_groups_share_k(void **state)
{
    problem p = product(1024, 1024, 4096);

    (void)state;
    matmul_in(&p)->alpha = 3;
    matmul_in(&p)->beta = -2;
    expect_parts(NULL, &p, 64, 2, 128); /* 128 groups for 132 units */
    expect_parts("SPLIT=1", &p, 64, 1, 256);
    expect_parts("SPLIT=8", &p, 64, 8, 32);
    matmul_in(&p)->k = 4090; /* the last part is shorter */
    expect_parts("SPLIT=8", &p, 64, 8, 32);
    matmul_in(&p)->n = 1023; /* sums that end between vectors */
    expect_parts("SPLIT=2", &p, 64, 2, 128);
    matmul_in(&p)->precision = TSR_PRECISION_TF32; /* blocks of 32 */
    expect_parts("SPLIT=2", &p, 64, 2, 64);
    matmul_in(&p)->precision = TSR_PRECISION_DEFAULT;
    matmul_in(&p)->batch = 2; /* product by product */
    matmul_in(&p)->stride_a = matmul_in(&p)->stride_b = 1 << 23;
    matmul_in(&p)->stride_c = 1 << 20;
    expect_parts("SPLIT=2", &p, 64, 2, 128);
    p = product(2048, 2048, 4090); /* tiles enough */
    expect_parts(NULL, &p, 256, 1, 256);
    p = product(256, 256, 64); /* nothing to gain */
    expect_parts(NULL, &p, 4, 1, 4);
}

static void expect_unsupported(const char *name, const device_facts *d, const problem *p,
                               const char *why);

/* A split that is not asked for takes no memory that the product needs. */
static void test_sums_make_nothing_unsupported(void **state)
{
    device_facts d = hopper();
    const variant *v = find("wgmma-3xtf32");
    params chosen = params_default(v);
    problem p = product(1024, 1024, 4096);
    const job j = {&p, &d, &chosen, false};

    (void)state;
    d.compute_units = 132;
    d.max_allocation = v->workspace(&j) - 1;
    expect_unsupported("wgmma-3xtf32", &d, &p, NULL);
    assert_int_equal(params_set(v, &chosen, "SPLIT=2", NULL), TSR_OK);
    assert_true(v->workspace(&j) > d.max_allocation);
}

/* TF32 has blocks of 32 along k, and one image a block. */
static void test_tf32_takes_half_the_workspace(void **state)
{
    const device_facts d = hopper();
    const variant *v = find("wgmma-tf32");
    const params chosen = params_default(v);
    problem p = product(256, 128, 64);
    const job j = {&p, &d, &chosen, false};

    (void)state;
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    assert_int_equal(v->workspace(&j), (2 * 256 + 2 * 128) * 128 + (8 * 2 + 2) * 4);
}

/* alpha == 0 and k == 0 scale C: one launch, no workspace, no loop over k. */
static void test_nothing_to_multiply(void **state)
{
    const device_facts d = hopper();
    const variant *v = find("wgmma-tf32");
    const params chosen = params_default(v);
    problem p = product(300, 300, 300);
    const job j = {&p, &d, &chosen, false};
    command s[2];

    (void)state;
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    matmul_in(&p)->alpha = 0;
    assert_int_equal(count_steps(v, &j, s), 1);
    assert_int_equal(v->workspace(&j), 0);
    assert_int_equal(scalar_u32(&s[0], ARG_K), 0);
    assert_int_equal(scalar_u32(&s[0], ARG_BLOCKS), 0);
    matmul_in(&p)->m = 0;
    assert_int_equal(count_steps(v, &j, s), 0);
}

static void expect_unsupported(const char *name, const device_facts *d, const problem *p,
                               const char *why)
{
    const variant *v = find(name);
    const params chosen = params_default(v);
    text reason = {0};
    const char *said = variant_unsupported(v, &(job){p, d, &chosen, false}, &reason);

    if (why) {
        assert_non_null(said);
        assert_non_null(strstr(said, why));
    } else {
        assert_null(said);
    }
    text_free(&reason);
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
    expect_unsupported("wgmma-3xtf32", &d, &p, "packed operands and sums take more");
    p = product(512, 512, 512);
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    {
        const variant *v = find("wgmma-tf32");
        params wide = params_default(v);
        text reason = {0};

        assert_int_equal(params_set(v, &wide, "TILE_N=256", NULL), TSR_OK);
        assert_null(variant_unsupported(v, &(job){&p, &d, &wide, false}, &reason));
        assert_int_equal(params_set(v, &wide, "TILE_M=128", NULL), TSR_OK);
        assert_null(variant_unsupported(v, &(job){&p, &d, &wide, false}, &reason));
        assert_int_equal(params_set(v, &wide, "TILE_M=256", NULL), TSR_OK);
        assert_non_null(
            strstr(variant_unsupported(v, &(job){&p, &d, &wide, false}, &reason), "registers"));
        text_free(&reason);
    }
    matmul_in(&p)->precision = TSR_PRECISION_DEFAULT;
    d.large_local = 166912;
    expect_unsupported("wgmma-3xtf32", &d, &p, "bytes of local memory");
    d.feature[FEATURE_WGMMA] = FEATURE_NO;
    expect_unsupported("wgmma-3xtf32", &d, &p, "wgmma");
}

/* A warp's instructions take float64 as it is, and float32 where TF32 is asked for. */
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
    d.large_local = 49152;
    expect_unsupported("mma", &d, &p, "bytes of local memory");
    d.large_local = 231424;
    d.nv_capability = 86;
    expect_unsupported("mma", &d, &p, "compute capability 9.0, this is 8.6");
    matmul_in(&p)->m = ((size_t)1 << 31) + 1;
    d.nv_capability = 90;
    expect_unsupported("mma", &d, &p, "32 bits");
}

/* Tiles of C in one dimension, of 64 outputs a work-item; layers of them for a batch. */
static void test_float64_tiles_cover_c(void **state)
{
    const device_facts d = hopper();
    const variant *v = find("mma-f64");
    params chosen = params_default(v);
    problem p = product(257, 129, 40);
    const job j = {&p, &d, &chosen, false};
    command s[2];

    (void)state;
    matmul_in(&p)->type = TSR_F64;
    assert_int_equal(count_steps(v, &j, s), 1);
    assert_int_equal(s[0].local[0], 256);
    assert_int_equal(s[0].global[0], 3 * 2 * 256);
    assert_int_equal(s[0].global[1], 1);
    assert_int_equal(s[0].global[2], 1);
    chosen.value[0] = 64; /* TILE_M */
    matmul_in(&p)->batch = 7;
    matmul_in(&p)->stride_c = 257 * 129;
    assert_int_equal(count_steps(v, &j, s), 1);
    assert_int_equal(s[0].local[0], 128);
    assert_int_equal(s[0].global[0], 5 * 2 * 128);
    assert_int_equal(s[0].global[2], 7);
    matmul_in(&p)->m = 0;
    assert_int_equal(count_steps(v, &j, s), 0);
}

/* Four blocks of 16 along k: of A 128 rows of 16 + 4, of B 16 rows of 128 + 4. */
static void test_float64_runs_elsewhere(void **state)
{
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
    d.large_local = 4 * 8 * (128 * 20 + 16 * 132);
    expect_unsupported("mma-f64", &d, &p, NULL);
    d.large_local--;
    expect_unsupported("mma-f64", &d, &p, "it needs 149504 bytes of local memory");
    d = hopper();
    d.nv_capability = 86;
    expect_unsupported("mma-f64", &d, &p, "compute capability 9.0, this is 8.6");
    d = hopper();
    matmul_in(&p)->m = ((size_t)1 << 31) + 1;
    expect_unsupported("mma-f64", &d, &p, "32 bits");
}

/* Two elements are a vector where lines, matrices and products start at a multiple of two. */
static void test_float64_tells_alignment(void **state)
{
    const device_facts d = hopper();
    const variant *v = find("mma-f64");
    const params chosen = params_default(v);
    problem p = product(64, 64, 64);
    const job j = {&p, &d, &chosen, false};
    text options = {0};

    (void)state;
    matmul_in(&p)->type = TSR_F64;
    matmul_in(&p)->offset_a = 2;
    matmul_in(&p)->ldb = 66;
    variant_options(v, &j, &options);
    assert_non_null(strstr(text_get(&options), "-DALIGNED_A=1 -DALIGNED_B=1"));
    text_clear(&options);
    matmul_in(&p)->offset_a = 1;
    matmul_in(&p)->ldb = 65;
    variant_options(v, &j, &options);
    assert_non_null(strstr(text_get(&options), "-DALIGNED_A=0 -DALIGNED_B=0"));
    text_free(&options);
}

/* Vectors are taken for aligned only where every row starts at a multiple of four. */
static void test_alignment_is_told(void **state)
{
    const device_facts d = hopper();
    const variant *v = find("wgmma-3xtf32");
    const params chosen = params_default(v);
    problem p = product(64, 64, 64);
    const job j = {&p, &d, &chosen, false};
    text t = {0};

    (void)state;
    variant_options(v, &j, &t);
    assert_non_null(strstr(text_get(&t), "-DALONG_A=1 -DALONG_B=1"));
    text_clear(&t);
    matmul_in(&p)->lda = 66;
    matmul_in(&p)->offset_b = 2;
    variant_options(v, &j, &t);
    assert_non_null(strstr(text_get(&t), "-DALONG_A=0 -DALONG_B=0"));
    text_free(&t);
}

/* One launch of a group a started tile of 128 x 256, and nothing beside it where a copy of what is
 * not aligned would not pay. */
static void test_fused_needs_no_workspace(void **state)
{
    const device_facts d = hopper();
    const variant *v = find("wgmma-3xtf32-fused");
    const params chosen = params_default(v);
    problem p = product(257, 513, 65);
    const job j = {&p, &d, &chosen, false};
    command s[2];

    (void)state;
    assert_int_equal(v->workspace(&j), 0);
    assert_int_equal(count_steps(v, &j, s), 1);
    assert_int_equal(s[0].entry, 1);
    assert_int_equal(s[0].global[0], 3 * 3 * 384);
    assert_int_equal(s[0].local[0], 384);
    assert_int_equal(scalar_u32(&s[0], ARG_K), 65);
    /* alpha == 0 scales C and sees nothing along k. */
    matmul_in(&p)->alpha = 0;
    assert_int_equal(count_steps(v, &j, s), 1);
    assert_int_equal(scalar_u32(&s[0], ARG_K), 0);
    matmul_in(&p)->n = 0;
    assert_int_equal(count_steps(v, &j, s), 0);
}

/* The last argument of the launch that multiplies is where strict tiles are counted. */
static void expect_tiles(const char *name, const problem *p, size_t count)
{
    device_facts d = hopper();
    const variant *v = find(name);
    const params chosen = params_default(v);
    const job j = {p, &d, &chosen, false};
    command s, last = {0};

    d.compute_units = 132;
    assert_int_equal(v->tiles(&j), count);
    for (size_t i = 0; v->step(&j, i, &s); i++)
        last = s;
    assert_int_equal(last.arg[last.n_args - 1].kind, ARG_STRICT_COUNTER);
}

static void test_tiles_are_told(void **state)
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
    assert_null(find("wgmma-tf32")->tiles);
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
    const variant *v = find("wgmma-3xtf32-fused");
    const params chosen = params_default(v);
    problem p = product(64, 66, 64);
    const job j = {&p, &d, &chosen, false};
    text t = {0};

    (void)state;
    variant_options(v, &j, &t);
    assert_non_null(strstr(text_get(&t), "-DTRANS_A=0 -DTRANS_B=0 -DALIGNED_A=1 -DALIGNED_B=0 "
                                         "-DPADDED_A=0 -DPADDED_B=0"));
    text_clear(&t);
    matmul_in(&p)->trans_b = true;
    matmul_in(&p)->offset_a = 2;
    variant_options(v, &j, &t);
    assert_non_null(strstr(text_get(&t), "-DTRANS_A=0 -DTRANS_B=1 -DALIGNED_A=0 -DALIGNED_B=1 "
                                         "-DPADDED_A=0 -DPADDED_B=0"));
    text_free(&t);
}

/* Which of A and B the fused variant copies. */
static void expect_copies(const job *j, bool of_a, bool of_b)
{
    const variant *v = find("wgmma-3xtf32-fused");
    char expected[64];
    text t = {0};

    snprintf(expected, sizeof(expected), "-DPADDED_A=%d -DPADDED_B=%d", of_a, of_b);
    variant_options(v, j, &t);
    if (!strstr(text_get(&t), expected))
        fail_msg("%s: no %s", text_get(&t), expected);
    text_free(&t);
    assert_int_equal(v->workspace(j) > 0, of_a || of_b);
}

/* What is told is done: aligned matrices are never copied, others by ALIGN. */
static void test_fused_copies_as_told(void **state)
{
    const device_facts d = hopper();
    const variant *v = find("wgmma-3xtf32-fused");
    params chosen = params_default(v);
    problem p = product(300, 301, 71);
    const job j = {&p, &d, &chosen, false};

    (void)state;
    expect_copies(&j, false, false); /* too small to pay */
    assert_int_equal(params_set(v, &chosen, "ALIGN=2", NULL), TSR_OK);
    expect_copies(&j, true, true);
    matmul_in(&p)->lda = 72;
    expect_copies(&j, false, true);
    matmul_in(&p)->offset_a = 2;
    matmul_in(&p)->ldb = 304;
    expect_copies(&j, true, false);
    matmul_in(&p)->alpha = 0; /* neither is read */
    expect_copies(&j, false, false);
    p = product(4095, 4095, 4095);
    expect_copies(&j, true, true);
    assert_int_equal(params_set(v, &chosen, "ALIGN=1", NULL), TSR_OK);
    expect_copies(&j, false, false);
}

/* Where it is not told, large products are worth a copy, each of A and B for itself. */
static void test_fused_copies_where_it_pays(void **state)
{
    device_facts d = hopper();
    const variant *v = find("wgmma-3xtf32-fused");
    const params chosen = params_default(v);
    problem p = product(4095, 4095, 4095);
    const job j = {&p, &d, &chosen, false};

    (void)state;
    expect_copies(&j, true, true);
    p = product(4095, 4096, 4095);
    expect_copies(&j, true, false);
    /* Few columns: of A each element serves 512, of B 16383. */
    p = product(16383, 511, 4095);
    expect_copies(&j, false, true);
    p = product(511, 16383, 4095);
    expect_copies(&j, true, false);
    /* A launch takes longer. */
    p = product(2047, 2047, 127);
    expect_copies(&j, false, false);
    /* Both in 2 GiB, or neither; and in what the device gives. */
    p = product(16383, 16383, 16383);
    expect_copies(&j, true, true);
    assert_int_equal(v->workspace(&j), (size_t)2 << 30);
    p = product(16383, 16383, 16385);
    expect_copies(&j, false, false);
    p = product(4095, 4095, 4095);
    d.max_allocation = ((uint64_t)128 << 20) - 1;
    expect_copies(&j, false, false);
    d.max_allocation++;
    expect_copies(&j, true, true);
    /* Only beside the matrices. */
    d.global_memory = 5 * ((uint64_t)64 << 20) - 1000000;
    expect_copies(&j, false, false);
    d.global_memory = 5 * ((uint64_t)64 << 20);
    expect_copies(&j, true, true);
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
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        const variant *v = find(expected[i].variant);
        const params chosen = params_default(v);

        for (int precision = 0; precision < TSR_PRECISION_COUNT; precision++) {
            problem p = product(512, 512, 512);
            const job j = {&p, &d, &chosen, false};
            text reason = {0};

            matmul_in(&p)->precision = (tsr_precision)precision;
            if (precision == TSR_PRECISION_F64)
                continue; /* float32 has no such precision */
            print_message("%s %s\n", v->name, tsr_precision_name(matmul_in(&p)->precision));
            assert_int_equal(!v->unsupported(&j, &reason), expected[i].takes >> precision & 1);
            text_free(&reason);
        }
    }
}

/* The operands of wgmma-tensor: what the chip can copy is not staged, the rest is, in rows of 256
 * aligned bytes, transposed where k does not run along memory. */
static void test_tensor_stages_what_it_must(void **state)
{
    enum { MAPS = 256 };
    device_facts d = hopper();
    const variant *v = find("wgmma-tensor");
    const params chosen = params_default(v);
    problem p = product(300, 520, 68);
    const job j = {&p, &d, &chosen, false};
    command s[2];
    text t = {0};

    (void)state;
    d.compute_units = 132;
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    matmul_in(&p)->trans_b = true;
    assert_int_equal(v->workspace(&j), MAPS);
    assert_int_equal(count_steps(v, &j, s), 2);
    assert_int_equal(s[0].global[0], 256); /* the maps alone */
    assert_int_equal(s[1].global[0], 3 * 3 * 384);
    d.compute_units = 4; /* a work-group each takes what there is */
    count_steps(v, &j, s);
    assert_int_equal(s[1].global[0], 4 * 384);
    variant_options(v, &j, &t);
    assert_non_null(strstr(text_get(&t), "-DSTAGED_A=0 -DSTAGED_B=0"));
    text_clear(&t);
    /* B transposed: 520 rows of 68, padded to 128; pieces of 64 x 64. */
    matmul_in(&p)->trans_b = false;
    assert_int_equal(v->workspace(&j), MAPS + 520 * 128 * 4);
    assert_int_equal(count_steps(v, &j, s), 2);
    assert_int_equal(s[0].global[0], 2 * 9 * 256);
    variant_options(v, &j, &t);
    assert_non_null(strstr(text_get(&t), "-DSTAGED_A=0 -DSTAGED_B=1"));
    text_clear(&t);
    /* Rows of A that are not aligned: as they are, 300 of 68, padded. */
    matmul_in(&p)->offset_a = 1;
    assert_int_equal(v->workspace(&j), MAPS + 520 * 128 * 4 + 300 * 128 * 4);
    variant_options(v, &j, &t);
    assert_non_null(strstr(text_get(&t), "-DSTAGED_A=1 -DSTAGED_B=1"));
    text_clear(&t);
    /* Of 16 bits, any order goes as it is; eight are 16 bytes. */
    matmul_in(&p)->type = TSR_F16;
    matmul_in(&p)->precision = TSR_PRECISION_DEFAULT;
    matmul_in(&p)->offset_a = 0;
    matmul_in(&p)->lda = 72;
    assert_int_equal(v->workspace(&j), MAPS);
    variant_options(v, &j, &t);
    assert_non_null(strstr(text_get(&t), "-DFORMAT=2 -DSTAGED_A=0 -DSTAGED_B=0"));
    text_clear(&t);
    matmul_in(&p)->lda = 0;
    assert_int_equal(v->workspace(&j), MAPS + 300 * 128 * 2);
    /* Float32 that is rounded to 16 bits is staged. */
    matmul_in(&p)->type = TSR_F32;
    matmul_in(&p)->precision = TSR_PRECISION_BF16;
    variant_options(v, &j, &t);
    assert_non_null(strstr(text_get(&t), "-DFORMAT=1 -DSTAGED_A=1 -DSTAGED_B=1"));
    text_free(&t);
    /* Nothing to add up: C is scaled alone. */
    matmul_in(&p)->alpha = 0;
    assert_int_equal(count_steps(v, &j, s), 1);
    assert_int_equal(s[0].global[0], 4 * 384);
    matmul_in(&p)->m = 0;
    assert_int_equal(count_steps(v, &j, s), 0);
}

static void test_tensor_runs_elsewhere(void **state)
{
    device_facts d = hopper();
    problem p = product(512, 512, 512);
    const char *name = "wgmma-tensor";

    (void)state;
    expect_unsupported(name, &d, &p, "float32 is f32");
    matmul_in(&p)->precision = TSR_PRECISION_BF16;
    expect_unsupported(name, &d, &p, NULL);
    matmul_in(&p)->type = TSR_F64;
    matmul_in(&p)->precision = TSR_PRECISION_DEFAULT;
    expect_unsupported(name, &d, &p, "float64 is f64");
    p = product(512, ((size_t)1 << 31) + 1, 512);
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    expect_unsupported(name, &d, &p, "32 bits");
    /* What is copied as it is takes no workspace, however large; staged, B does not fit. */
    p = product(100000, 100000, 100000);
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    matmul_in(&p)->trans_b = true;
    expect_unsupported(name, &d, &p, NULL);
    matmul_in(&p)->trans_b = false;
    expect_unsupported(name, &d, &p, "bytes of an allocation");
    p = product((size_t)1 << 31, (size_t)1 << 31, (size_t)1 << 31);
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    expect_unsupported(name, &d, &p, "bytes of an allocation");
    p = product(512, 512, 512);
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    d.large_local = 4 * (128 + 256) * 128;
    expect_unsupported(name, &d, &p, "bytes of local memory");
    d = hopper();
    d.feature[FEATURE_TENSOR_COPY] = FEATURE_NO;
    expect_unsupported(name, &d, &p, "tensor copies");
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
        cmocka_unit_test(test_float64_tiles_cover_c),
        cmocka_unit_test(test_float64_runs_elsewhere),
        cmocka_unit_test(test_float64_tells_alignment),
        cmocka_unit_test(test_alignment_is_told),
        cmocka_unit_test(test_fused_needs_no_workspace),
        cmocka_unit_test(test_tiles_are_told),
        cmocka_unit_test(test_fused_runs_elsewhere),
        cmocka_unit_test(test_fused_tells_alignment),
        cmocka_unit_test(test_fused_copies_as_told),
        cmocka_unit_test(test_fused_copies_where_it_pays),
        cmocka_unit_test(test_precisions_are_kept),
        cmocka_unit_test(test_tensor_stages_what_it_must),
        cmocka_unit_test(test_tensor_runs_elsewhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
