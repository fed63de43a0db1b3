/* The plans of axpy's variants on devices made up here, and what is no problem of it: no OpenCL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/half.h"
#include "base/sizes.h"
#include "base/vector_half.h"
#include "ops/axpy/axpy_problem.h"
#include "ops/axpy/axpy_simd.h"

static device_facts device(device_kind kind, size_t units, size_t work_group)
{
    return (device_facts){.kind = kind,
                          .cl_version = 120,
                          .clc_version = 120,
                          .compute_units = units,
                          .max_work_group = work_group,
                          .max_work_item = {work_group, work_group, work_group},
                          .local_memory = 16384,
                          .fp64 = true,
                          .denormals_f32 = true};
}

static problem problem_of(tsr_axpy_problem p)
{
    return problem_from(&operation_axpy, &p, sizeof(p));
}

/* The plan of a variant with its usual values; NULL, or why there is none. */
static const char *make(const variant *v, const device_facts *d, const problem *p, plan *out)
{
    params chosen = {.tunables = v->tunables, .count = v->tunable_count};
    const job j = {.problem = p, .device = d, .params = &chosen};

    for (size_t i = 0; i < chosen.count; i++)
        chosen.value[i] = v->tunables[i].normal;
    return plan_make(v, &j, out);
}

static const variant *const variants[] = {&axpy_naive, &axpy_grid_stride, &axpy_vector,
                                          &axpy_general};

/* One launch, which has an item for all that it is to compute and states its traffic. */
static void launches_reach_every_element(void **state)
{
    static const size_t sizes[] = {0, 1, 31, 256, 100003, (size_t)1 << 33};
    const device_facts devices[] = {device(DEVICE_CPU, 2, 4096), device(DEVICE_GPU, 132, 1024),
                                    device(DEVICE_GPU, 16, 100), device(DEVICE_ACCELERATOR, 1, 1)};

    (void)state;
    for (size_t v = 0; v < ARRAY_COUNT(variants); v++)
        for (size_t d = 0; d < ARRAY_COUNT(devices); d++)
            for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
                const problem p = problem_of((tsr_axpy_problem){.n = sizes[i], .alpha = 1});
                const command *c;
                plan out;

                assert_null(make(variants[v], &devices[d], &p, &out));
                assert_int_equal(out.count, sizes[i] > 0);
                if (out.count) {
                    c = &out.commands[0];
                    assert_true(c->local[0] >= 1 && c->local[0] <= devices[d].max_work_group);
                    assert_int_equal(c->global[0] % c->local[0], 0);
                    assert_true(c->bytes == 12 * (double)sizes[i]);
                    if (variants[v] == &axpy_naive)
                        assert_true(c->global[0] >= sizes[i]);
                    if (variants[v] == &axpy_general)
                        assert_true(c->global[0] * param(&out.params, "VECTORS") *
                                        param(&out.params, "VEC") >=
                                    sizes[i]);
                }
                plan_free(&out);
            }
}

static void expect_aligned(const variant *v, const device_facts *d, tsr_axpy_problem p,
                           const char *define)
{
    const problem q = problem_of(p);
    plan out;

    assert_null(make(v, d, &q, &out));
    assert_non_null(strstr(text_get(&out.defines), define));
    plan_free(&out);
}

/* A GPU's vectors are aligned where all three operands are; those of y do not count in place. */
static void vectors_are_aligned_where_operands_are(void **state)
{
    const device_facts gpu = device(DEVICE_GPU, 132, 1024), cpu = device(DEVICE_CPU, 2, 4096);
    const tsr_axpy_problem p = {.n = 100, .offset_x = 4, .offset_y = 8, .offset_z = 12};
    tsr_axpy_problem off = p, in_place = p;

    (void)state;
    off.offset_y = 7;
    in_place.offset_y = 7;
    in_place.in_place = true;
    for (size_t v = 2; v < ARRAY_COUNT(variants); v++) {
        expect_aligned(variants[v], &gpu, p, "ALIGNED=1");
        expect_aligned(variants[v], &gpu, off, "ALIGNED=0");
        expect_aligned(variants[v], &gpu, in_place, "ALIGNED=1");
        expect_aligned(variants[v], &cpu, p, "ALIGNED=0");
    }
}

static void check_gives(tsr_axpy_problem p, tsr_status expected)
{
    const problem q = problem_of(p);

    assert_int_equal(operation_axpy.check(&q, NULL), expected);
}

static void what_is_no_problem(void **state)
{
    (void)state;
    check_gives((tsr_axpy_problem){.n = 3, .alpha = 1e300}, TSR_EINVAL); /* beyond float32 */
    check_gives((tsr_axpy_problem){.type = TSR_F64, .n = 3, .alpha = 1e300}, TSR_OK);
    check_gives((tsr_axpy_problem){.type = TSR_U8, .n = 3, .alpha = 0.5}, TSR_EINVAL);
    check_gives((tsr_axpy_problem){.type = TSR_U8, .n = 3, .alpha = -0x1p63}, TSR_OK);
    check_gives((tsr_axpy_problem){.type = TSR_U8, .n = 3, .alpha = 0x1p64}, TSR_EINVAL);
    check_gives((tsr_axpy_problem){.type = TSR_U8, .n = 3, .alpha = (double)NAN}, TSR_EINVAL);
    check_gives((tsr_axpy_problem){.type = TSR_TYPE_COUNT, .n = 3}, TSR_EINVAL);
    check_gives((tsr_axpy_problem){.n = SIZE_MAX / 2}, TSR_EOVERFLOW);
    check_gives((tsr_axpy_problem){.n = 3, .incy = SIZE_MAX / 3}, TSR_EOVERFLOW);
    check_gives((tsr_axpy_problem){.n = 3, .incy = SIZE_MAX / 3, .in_place = true}, TSR_OK);
}

static bool is_nan_bits(uint16_t bits, uint16_t infinity)
{
    return (bits & 0x7FFFu) > infinity;
}

/* The forms without branches have the same values, of each number of 16 bits, and beside those
 * between which it is a tie. */
/* Modulo 2^64, whatever the sign. */
static void factors_of_integers(void **state)
{
    (void)state;
    assert_true(axpy_whole(3) == 3);
    assert_true(axpy_whole(-3) == UINT64_MAX - 2);
    assert_true(axpy_whole(0x1p63) == (uint64_t)1 << 63);
    assert_true(axpy_whole(-0x1p63) == (uint64_t)1 << 63);
    assert_true(axpy_whole(-0.0) == 0);
}

static void halves_without_branches(void **state)
{
    (void)state;
    for (uint32_t h = 0; h <= UINT16_MAX; h++) {
        const float value = half_to_float((uint16_t)h), brain = bfloat_to_float((uint16_t)h);

        if (is_nan_bits((uint16_t)h, 0x7C00))
            assert_true(is_nan_bits(vector_half_of(vector_of_half((uint16_t)h)), 0x7C00));
        else
            assert_int_equal(vector_bits(vector_of_half((uint16_t)h)), vector_bits(value));
        assert_int_equal(vector_bits(vector_of_bfloat((uint16_t)h)), vector_bits(brain));
        /* A number and those about halfway to the next one, in both types. */
        for (int part = -1; part <= 1; part++) {
            const uint32_t tie = (h << 16 | 0x8000u) + (uint32_t)part;
            const uint32_t tie_half = vector_bits(value) + 0x1000u + (uint32_t)part;

            if ((tie & 0x7FFFFFFFu) <= 0x7F800000u) {
                assert_int_equal(vector_bfloat_of(vector_float(tie)),
                                 bfloat_of((double)vector_float(tie)));
                assert_int_equal(vector_half_of(vector_float(tie)),
                                 half_of((double)vector_float(tie)));
            } else {
                assert_true(is_nan_bits(vector_bfloat_of(vector_float(tie)), 0x7F80));
                assert_true(is_nan_bits(vector_half_of(vector_float(tie)), 0x7C00));
            }
            if ((tie_half & 0x7FFFFFFFu) <= 0x7F800000u)
                assert_int_equal(vector_half_of(vector_float(tie_half)),
                                 half_of((double)vector_float(tie_half)));
        }
    }
}

/* What is stored past the caches has the same bits, wherever it begins, at every instruction set.
 */
static void stores_past_the_caches(void **state)
{
    static axpy_loop_of *const loops[][ISA_COUNT] = {
        {ISA_EACH(axpy_f32)}, {ISA_EACH(axpy_f64)}, {ISA_EACH(axpy_f16)}, {ISA_EACH(axpy_bf16)},
        {ISA_EACH(axpy_u8)},  {ISA_EACH(axpy_u16)}, {ISA_EACH(axpy_u32)}, {ISA_EACH(axpy_u64)}};
    static const size_t sizes[] = {4, 8, 2, 2, 1, 2, 4, 8}, counts[] = {0, 1, 15, 2049, 5003};
    enum { BYTES = 8 * 5100 };
    unsigned char *x = calloc(2, BYTES), *z = malloc(BYTES), *past = malloc(BYTES);

    (void)state;
    assert_true(x && z && past);
    for (size_t i = 0; i < 2 * (size_t)BYTES; i++)
        x[i] = (unsigned char)(i * 37 + i / 251) & 0x3F; /* finite in every type */
    for (size_t l = 0; l < ARRAY_COUNT(loops); l++)
        for (isa set = ISA_BASE; set <= isa_best(); set++)
            for (size_t i = 0; i < 4 * ARRAY_COUNT(counts); i++) {
                const size_t at = i % 4 * 3 * sizes[l];
                axpy_share s = {.n = counts[i / 4],
                                .x = x,
                                .y = x + BYTES,
                                .z = z + at,
                                .incx = 1,
                                .incy = 1,
                                .incz = 1,
                                .alpha = 3,
                                .whole = 3};

                memset(z, 0x55, BYTES);
                memset(past, 0x55, BYTES);
                loops[l][set](&s);
                s.z = past + at;
                s.past_caches = true;
                loops[l][set](&s);
                assert_memory_equal(z, past, BYTES);
            }
    free(x);
    free(z);
    free(past);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_reach_every_element),
        cmocka_unit_test(vectors_are_aligned_where_operands_are),
        cmocka_unit_test(what_is_no_problem),
        cmocka_unit_test(factors_of_integers),
        cmocka_unit_test(halves_without_branches),
        cmocka_unit_test(stores_past_the_caches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
