/* Products of FP8 whose rows and columns have scales: what is refused, what the proof finds, and
 * calls on host memory, streamed and not, and on buffers.  Needs an OpenCL device of the type CPU,
 * such as PoCL's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/half.h"
#include "base/sizes.h"
#include "cpu_session.h"
#include "ops/matmul/matmul_descriptor.h"
#include "ops/matmul/matmul_shape.h"

static const device_facts keeps = {.denormals_f32 = true, .denormals_f64 = true};
static const device_facts flushes = {0};

static cpu_session c;

static int open_session(void **state)
{
    (void)state;
    cpu_session_open(&c, NULL);
    return 0;
}

static int close_session(void **state)
{
    (void)state;
    cpu_session_close(&c);
    return 0;
}

static void expect_refused(tsr_matmul_problem p, tsr_status status, const char *says)
{
    const problem q = matmul_problem(p);
    tsr_error err = {0};

    assert_int_equal(operation_matmul.check(&q, &err), status);
    if (!strstr(err.message, says))
        fail_msg("'%s' does not say '%s'", err.message, says);
}

static void problems_are_checked(void **state)
{
    const size_t most = SIZE_MAX;
    text t = {0};
    problem q = matmul_problem((tsr_matmul_problem){.type = TSR_F8E4M3,
                                                    .m = 2,
                                                    .n = 3,
                                                    .k = 4,
                                                    .alpha = 1,
                                                    .c_f32 = true,
                                                    .scale_a = true,
                                                    .offset_scale_a = 5});
    operand o[OPERANDS_MAX];

    (void)state;
    expect_refused((tsr_matmul_problem){.type = TSR_F32, .alpha = 1, .scale_a = true}, TSR_EINVAL,
                   "only FP8 operands have scales, and these are float32");
    expect_refused((tsr_matmul_problem){.type = TSR_I8, .alpha = 1, .scale_b = true}, TSR_EINVAL,
                   "and these are int8");
    expect_refused((tsr_matmul_problem){.type = TSR_F8E5M2,
                                        .m = 1,
                                        .n = 3,
                                        .k = 1,
                                        .alpha = 1,
                                        .scale_b = true,
                                        .offset_scale_b = most},
                   TSR_EOVERFLOW, "scale_b of 3 numbers (offset");
    assert_int_equal(operation_matmul.operands(&q, o), 5);
    assert_int_equal(o[MATMUL_SCALE_A].bytes, (5 + 2) * sizeof(float));
    assert_int_equal(o[MATMUL_SCALE_B].bytes, 0);
    assert_true(operation_matmul.bytes(&q) == 2 * 4 + 4 * 3 + 2 * 4 + 6 * 4);
    operation_matmul.describe(&q, &t);
    assert_string_equal(text_get(&t), "2x3x4 float8_e4m3fn to float32 scales of rows offsets of "
                                      "scales 5 0");
    text_clear(&t);
    matmul_in(&q)->scale_b = true;
    matmul_in(&q)->offset_scale_a = 0;
    matmul_in(&q)->batch = 2;
    matmul_in(&q)->stride_a = 8;
    matmul_in(&q)->stride_b = 12;
    matmul_in(&q)->stride_c = 6;
    matmul_in(&q)->stride_scale_a = 2;
    matmul_in(&q)->stride_scale_b = 0;
    operation_matmul.operands(&q, o);
    assert_int_equal(o[MATMUL_SCALE_A].bytes, 4 * sizeof(float));
    assert_int_equal(o[MATMUL_SCALE_B].bytes, 3 * sizeof(float));
    operation_matmul.describe(&q, &t);
    assert_string_equal(text_get(&t), "2x3x4 float8_e4m3fn to float32 x 2 scales of rows and "
                                      "columns strides of scales 2 0");
    /* Without a sum none is read. */
    matmul_in(&q)->alpha = 0;
    operation_matmul.operands(&q, o);
    assert_int_equal(o[MATMUL_SCALE_A].bytes, 0);
    assert_int_equal(o[MATMUL_SCALE_B].bytes, 0);
    text_free(&t);
}

/* A column-major problem is the transpose: rows and columns change places, and so do scales. */
static void scales_change_places(void **state)
{
    problem q = matmul_problem((tsr_matmul_problem){.type = TSR_F8E4M3,
                                                    .m = 2,
                                                    .n = 3,
                                                    .k = 4,
                                                    .alpha = 1,
                                                    .layout = TSR_COLUMN_MAJOR,
                                                    .scale_a = true,
                                                    .offset_scale_a = 7,
                                                    .stride_scale_b = 9});
    unsigned order[OPERANDS_MAX] = {0, 1, 2, 3, 4, 5, 6, 7};

    (void)state;
    operation_matmul.normalize(&q, order);
    assert_true(!matmul_of(&q)->scale_a && matmul_of(&q)->scale_b);
    assert_int_equal(matmul_of(&q)->offset_scale_b, 7);
    assert_int_equal(matmul_of(&q)->stride_scale_a, 9);
    assert_int_equal(order[MATMUL_SCALE_A], MATMUL_SCALE_B);
    assert_int_equal(order[MATMUL_SCALE_B], MATMUL_SCALE_A);
}

/* Whether a product of one element, of a and 1, may be `got`. */
static bool allows(const device_facts *d, tsr_type type, float a, const float scale[2], bool narrow,
                   float got)
{
    const problem q = matmul_problem((tsr_matmul_problem){.type = type,
                                                          .m = 1,
                                                          .n = 1,
                                                          .k = 1,
                                                          .alpha = 2,
                                                          .c_f32 = !narrow,
                                                          .scale_a = true,
                                                          .scale_b = true});
    const uint8_t one = type == TSR_F8E4M3 ? e4m3_of(1) : e5m2_of(1);
    const uint8_t x = type == TSR_F8E4M3 ? e4m3_of(a) : isinf(a) ? 0x7C : e5m2_of(a);
    const uint8_t bits = isinf(got) ? 0x7C : e5m2_of(got);
    const float before = 0;
    const void *const inputs[] = {&x, &one, &before, &scale[0], &scale[1]};
    const void *const outputs[] = {&x, &one, narrow ? (const void *)&bits : &got, NULL, NULL};
    verdict v;

    assert_int_equal(matmul_verify(&q, d, inputs, outputs, NULL, &v, NULL), TSR_OK);
    return v.ok;
}

/* The factor is alpha (a b), each product rounded: it may overflow and underflow by itself, and 0
 * is not passed over. */
static void factors_are_judged(void **state)
{
    static const struct {
        tsr_type type;
        float a, scale[2], got;
        bool ok;
    } cases[] = {
        {TSR_F8E4M3, 3, {5, 7}, 210, true},
        {TSR_F8E4M3, 3, {5, 7}, 211, false},
        {TSR_F8E4M3, 3, {5, 7}, 105, false},
        {TSR_F8E4M3, 3, {-0.5f, 0.25f}, -0.75f, true},
        {TSR_F8E4M3, 3, {0, 7}, 0, true},
        {TSR_F8E4M3, 3, {0, 7}, 1e-3f, false},
        {TSR_F8E4M3, NAN, {0, 7}, NAN, true},
        {TSR_F8E4M3, NAN, {0, 7}, 0, false},
        {TSR_F8E5M2, INFINITY, {0, 7}, NAN, true},
        {TSR_F8E5M2, INFINITY, {0, 7}, 0, false},
        {TSR_F8E5M2, INFINITY, {-1, 7}, -INFINITY, true},
        {TSR_F8E5M2, INFINITY, {-1, 7}, INFINITY, false},
        {TSR_F8E4M3, 1, {INFINITY, 7}, INFINITY, true},
        {TSR_F8E4M3, 1, {INFINITY, 7}, 7, false},
        {TSR_F8E4M3, 1, {NAN, 7}, NAN, true},
        {TSR_F8E4M3, 1, {NAN, 7}, 14, false},
        {TSR_F8E4M3, 1, {0x1p100f, 0x1p100f}, INFINITY, true},
        {TSR_F8E4M3, 1, {0x1p-80f, 0x1p-80f}, 0, true},
        {TSR_F8E4M3, 1, {0x1p-64f, 0x1p-64f}, 0x1p-127f, true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        if (allows(&keeps, cases[i].type, cases[i].a, cases[i].scale, false, cases[i].got) !=
            cases[i].ok)
            fail_msg("case %zu", i);
    /* What a device flushes may be 0: a scale, the product of two, and all. */
    assert_true(allows(&flushes, TSR_F8E4M3, 1, (float[]){0x1p-130f, 0x1p120f}, false, 0));
    assert_false(allows(&keeps, TSR_F8E4M3, 1, (float[]){0x1p-130f, 0x1p120f}, false, 0));
    assert_false(allows(&flushes, TSR_F8E4M3, 1, (float[]){0x1p-10f, 1}, false, 0));
    /* FP8 saturates infinity times a number. */
    assert_true(allows(&keeps, TSR_F8E5M2, 1, (float[]){INFINITY, 1}, true, 57344));
    assert_false(allows(&keeps, TSR_F8E5M2, 1, (float[]){INFINITY, 1}, true, INFINITY));
    assert_false(allows(&keeps, TSR_F8E5M2, 1, (float[]){INFINITY, 1}, true, 2));
}

/* Of a large product a row whose scale is another row's is found; what is right passes, by sums
 * with random signs too, which are narrow in precision f32. */
static void a_swapped_row_is_found(void **state)
{
    enum { M = 520, N = 520, K = 1024 };
    const problem q = matmul_problem((tsr_matmul_problem){.type = TSR_F8E5M2,
                                                          .precision = TSR_PRECISION_F32,
                                                          .m = M,
                                                          .n = N,
                                                          .k = K,
                                                          .alpha = 0.5,
                                                          .trans_b = true,
                                                          .c_f32 = true,
                                                          .scale_a = true,
                                                          .scale_b = true,
                                                          .offset_scale_b = 1});
    uint8_t *a = malloc(M * K), *b = malloc(N * K);
    float *before = calloc(M * N, 4), *after = calloc(M * N, 4);
    static float scale_a[M], scale_b[N + 1];
    const void *const inputs[] = {a, b, before, scale_a, scale_b};
    const void *const outputs[] = {a, b, after, scale_a, scale_b};
    verdict v;

    (void)state;
    assert_true(a && b && before && after);
    matmul_fill(&q, 1, DISTRIBUTION_FEW, (void *const[]){a, b, before, scale_a, scale_b});
    for (size_t i = 0; i < M; i++)
        scale_a[i] = (float)(i % 7 + 1) / 4;
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++) {
            float sum = 0;

            for (size_t k = 0; k < K; k++)
                sum += e5m2_to_float(a[i * K + k]) * e5m2_to_float(b[j * K + k]);
            after[i * N + j] = 0.5f * (scale_a[i] * scale_b[1 + j]) * sum;
        }
    assert_int_equal(matmul_verify(&q, &keeps, inputs, outputs, NULL, &v, NULL), TSR_OK);
    if (!v.ok || !v.sampled)
        fail_msg("%s", v.detail);
    for (size_t j = 0; j < N; j++)
        after[301 * N + j] *= scale_a[302] / scale_a[301];
    assert_int_equal(matmul_verify(&q, &keeps, inputs, outputs, NULL, &v, NULL), TSR_OK);
    assert_false(v.ok);
    free(a);
    free(b);
    free(before);
    free(after);
}

/* ---- calls ---------------------------------------------------------------------------------- */

enum { M = 37, N = 41, K = 130, BATCH = 3 };

static uint8_t a[BATCH * M * K], b[BATCH * N * K];
static float scale_a[4 + BATCH * M], scale_b[BATCH * (N + 2)], wanted[BATCH * M * N],
    got[BATCH * M * N];

static tsr_matmul_problem whole_numbers(size_t batch)
{
    for (size_t i = 0; i < sizeof(a); i++)
        a[i] = e4m3_of((double)(i * 7 % 17) - 8);
    for (size_t i = 0; i < sizeof(b); i++)
        b[i] = e4m3_of((double)(i * 5 % 13) - 6);
    for (size_t i = 0; i < ARRAY_COUNT(scale_a); i++)
        scale_a[i] = 0.25f * (float)(i % 9) - 1;
    for (size_t i = 0; i < ARRAY_COUNT(scale_b); i++)
        scale_b[i] = (float)(i % 5) + 0.5f;
    return (tsr_matmul_problem){.type = TSR_F8E4M3,
                                .m = M,
                                .n = N,
                                .k = K,
                                .alpha = 2,
                                .trans_b = true,
                                .c_f32 = true,
                                .batch = batch,
                                .stride_a = M * K,
                                .stride_b = N * K,
                                .stride_c = M * N,
                                .scale_a = true,
                                .scale_b = true,
                                .offset_scale_a = 4,
                                .stride_scale_a = M,
                                .stride_scale_b = N + 2};
}

/* Whole numbers and short fractions: every product and sum is exact. */
static void expect(const tsr_matmul_problem *p)
{
    for (size_t e = 0; e < p->batch; e++)
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < N; j++) {
                float sum = 0;

                for (size_t k = 0; k < K; k++)
                    sum += e4m3_to_float(a[e * M * K + i * K + k]) *
                           e4m3_to_float(b[e * N * K + j * K + k]);
                wanted[e * M * N + i * N + j] =
                    2 *
                    ((p->scale_a ? scale_a[4 + e * p->stride_scale_a + i] : 1) *
                     (p->scale_b ? scale_b[e * p->stride_scale_b + j] : 1)) *
                    sum;
            }
}

static tsr_matmul_arrays arrays_of(const tsr_matmul_problem *p)
{
    return (tsr_matmul_arrays){a, b, got, p->scale_a ? scale_a : NULL, p->scale_b ? scale_b : NULL};
}

static void calls_on_host_memory(void **state)
{
    static const char *const names[] = {NULL, "general", "general-tiled", "pipelined", "simd"};
    static const size_t rooms[] = {0, 14000, 4000};

    (void)state;
    for (size_t form = 0; form < 4; form++) {
        tsr_matmul_problem p = whole_numbers(form % 2 ? BATCH : 1);

        p.scale_a = form != 2;
        p.scale_b = form != 3;
        if (form == 1)
            p.stride_scale_b = 0;
        expect(&p);
        for (size_t room = 0; room < ARRAY_COUNT(rooms); room++)
            for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
                const tsr_session_options options = {.device_memory = rooms[room],
                                                     .copies = rooms[room] != 0};
                const tsr_matmul_arrays x = arrays_of(&p);
                const tsr_run run = {.variant = names[i]};
                tsr_report report = {0};
                tsr_error err = {0};
                tsr_session *s = NULL;

                if (rooms[room] && names[i] && !strcmp(names[i], "simd"))
                    continue; /* in C, on the arrays alone */
                assert_int_equal(tsr_session_open(c.device, &options, &s, &err), TSR_OK);
                memset(got, 0xFF, sizeof(got));
                if (tsr_matmul_scaled(s, &p, &x, names[i] ? &run : NULL, &report, &err))
                    fail_msg("%s", err.message);
                assert_memory_equal(got, wanted, p.batch * M * N * sizeof(float));
                assert_true(rooms[room] == 0 || report.chunks > 1);
                tsr_session_close(s);
            }
    }
}

static cl_mem buffer_of(cl_mem_flags access, size_t bytes, void *content)
{
    cl_mem m = clCreateBuffer(tsr_session_context(c.session), access | CL_MEM_COPY_HOST_PTR, bytes,
                              content, NULL);

    assert_non_null(m);
    return m;
}

static void calls_on_buffers(void **state)
{
    const tsr_matmul_problem p = whole_numbers(BATCH);
    tsr_matmul_problem plain = p;
    const tsr_run run = {.variant = "general"};
    tsr_matmul_buffers x;
    tsr_error err = {0};
    cl_mem scales;

    (void)state;
    expect(&p);
    memset(got, 0xFF, sizeof(got));
    x = (tsr_matmul_buffers){buffer_of(CL_MEM_READ_ONLY, sizeof(a), a),
                             buffer_of(CL_MEM_READ_ONLY, sizeof(b), b),
                             buffer_of(CL_MEM_WRITE_ONLY, sizeof(got), got),
                             buffer_of(CL_MEM_READ_ONLY, sizeof(scale_a), scale_a),
                             buffer_of(CL_MEM_READ_ONLY, sizeof(scale_b), scale_b)};
    if (tsr_matmul_scaled_enqueue(c.session, &p, &x, &run, NULL, &err))
        fail_msg("%s", err.message);
    assert_int_equal(clEnqueueReadBuffer(tsr_session_queue(c.session), x.c, CL_TRUE, 0, sizeof(got),
                                         got, 0, NULL, NULL),
                     CL_SUCCESS);
    assert_memory_equal(got, wanted, sizeof(got));
    /* Scales that are missing, too few, not asked for, or C itself. */
    scales = x.scale_a;
    x.scale_a = NULL;
    assert_int_equal(tsr_matmul_scaled_enqueue(c.session, &p, &x, NULL, NULL, &err), TSR_EINVAL);
    assert_non_null(strstr(err.message, "scale_a"));
    x.scale_a = x.scale_b;
    plain.m = BATCH * (N + 2) - 3;
    plain.batch = 1;
    assert_int_equal(tsr_matmul_scaled_enqueue(c.session, &plain, &x, NULL, NULL, &err),
                     TSR_EINVAL);
    assert_non_null(strstr(err.message, "buffer"));
    x.scale_a = x.c;
    assert_int_equal(tsr_matmul_scaled_enqueue(c.session, &p, &x, NULL, NULL, &err), TSR_EINVAL);
    x.scale_a = scales;
    plain = p;
    plain.scale_b = false;
    assert_int_equal(tsr_matmul_scaled_enqueue(c.session, &plain, &x, NULL, NULL, &err),
                     TSR_EINVAL);
    assert_string_equal(err.message,
                        "matmul: scale_b is given, and the problem's member of that name is false");
    assert_int_equal(tsr_matmul_scaled_enqueue(c.session, &p, NULL, NULL, NULL, &err), TSR_EINVAL);
    assert_int_equal(tsr_matmul_enqueue(c.session, &p, x.a, x.b, x.c, NULL, NULL, &err),
                     TSR_EINVAL);
    assert_non_null(strstr(err.message, "call tsr_matmul_scaled"));
    for (size_t i = 0; i < 5; i++)
        clReleaseMemObject((cl_mem[]){x.a, x.b, x.c, x.scale_a, x.scale_b}[i]);
}

static void arrays_are_checked(void **state)
{
    tsr_matmul_problem p = whole_numbers(1);
    tsr_matmul_arrays x = arrays_of(&p);
    const tsr_run refused = {.variant = "cpu-panels"};
    tsr_error err = {0};

    (void)state;
    assert_int_equal(tsr_matmul_scaled(c.session, &p, NULL, NULL, NULL, &err), TSR_EINVAL);
    assert_int_equal(tsr_matmul_scaled(c.session, NULL, &x, NULL, NULL, &err), TSR_EINVAL);
    assert_int_equal(tsr_matmul_scaled(c.session, &p, &x, &refused, NULL, &err), TSR_EUNSUPPORTED);
    assert_non_null(strstr(err.message, "it does not scale the rows of A or the columns of B"));
    x.scale_b = NULL;
    assert_int_equal(tsr_matmul_scaled(c.session, &p, &x, NULL, NULL, &err), TSR_EINVAL);
    assert_non_null(strstr(err.message, "scale_b"));
    x.scale_b = got + 5;
    assert_int_equal(tsr_matmul_scaled(c.session, &p, &x, NULL, NULL, &err), TSR_EINVAL);
    assert_non_null(strstr(err.message, "scale_b"));
    assert_int_equal(tsr_matmul(c.session, &p, a, b, got, NULL, NULL, &err), TSR_EINVAL);
    assert_non_null(strstr(err.message, "call tsr_matmul_scaled"));
    /* Without scales it is tsr_matmul. */
    p.scale_a = p.scale_b = false;
    x = arrays_of(&p);
    expect(&p);
    if (tsr_matmul_scaled(c.session, &p, &x, NULL, NULL, &err))
        fail_msg("%s", err.message);
    assert_memory_equal(got, wanted, M * N * sizeof(float));
    x.scale_a = scale_a;
    assert_int_equal(tsr_matmul_scaled(c.session, &p, &x, NULL, NULL, &err), TSR_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(problems_are_checked), cmocka_unit_test(scales_change_places),
        cmocka_unit_test(factors_are_judged),   cmocka_unit_test(a_swapped_row_is_found),
        cmocka_unit_test(calls_on_host_memory), cmocka_unit_test(calls_on_buffers),
        cmocka_unit_test(arrays_are_checked),
    };

    return cmocka_run_group_tests(tests, open_session, close_session);
}
