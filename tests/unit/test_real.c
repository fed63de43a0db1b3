/* The judge of floating-point sums: it lets pass what arithmetic allows, and nothing more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/real.h"

static const device_facts keeps = {.denormals_f32 = true, .denormals_f64 = true};
static const device_facts flushes = {0};

/* The sum of a[i] * b[i]. */
static real_sum sum_of(tsr_type type, const device_facts *d, size_t n, const double *a,
                       const double *b)
{
    real_sum s = real_sum_start(type, TSR_PRECISION_DEFAULT, d);

    for (size_t i = 0; i < n; i++)
        real_sum_add(&s, a[i], b[i]);
    return s;
}

static real_sum product(double a, double b)
{
    return sum_of(TSR_F32, &keeps, 1, &a, &b);
}

static void passes(real_sum s, double alpha, double beta, double c, double got)
{
    const double r = real_judge(&s, alpha, beta, c, got);

    if (!(r >= 0 && r <= 1))
        fail_msg("alpha %g beta %g c %g: %.17g is refused at %g of the bound", alpha, beta, c, got,
                 r);
}

static void fails(real_sum s, double alpha, double beta, double c, double got)
{
    const double r = real_judge(&s, alpha, beta, c, got);

    if (!(r > 1))
        fail_msg("alpha %g beta %g c %g: %.17g passes at %g of the bound", alpha, beta, c, got, r);
}

/* ---- finite sums ------------------------------------------------------------------------- */

/* Every product and sum is exact in double. */
static const double a3[] = {1.5, -2.25, 1024}, b3[] = {3.0, 0.125, -0.0625};
static const double sum3 = 1.5 * 3.0 - 2.25 * 0.125 - 1024 * 0.0625;
static const double magnitude3 = 1.5 * 3.0 + 2.25 * 0.125 + 1024 * 0.0625;

static void exact_values_pass(void **state)
{
    const real_sum s = sum_of(TSR_F32, &keeps, 3, a3, b3);
    const real_sum w = sum_of(TSR_F64, &keeps, 3, a3, b3);

    (void)state;
    assert_true(real_judge(&s, 1, 0, 0, sum3) < 1e-6);
    passes(s, 1, 0, 0, (float)sum3);
    passes(s, 2, 3, 5, 2 * sum3 + 15);
    passes(w, 1, 0, 0, sum3);
    passes(sum_of(TSR_F32, &keeps, 0, NULL, NULL), 1, 0, 0, 0); /* the empty sum is 0 */
    fails(sum_of(TSR_F32, &keeps, 0, NULL, NULL), 1, 0, 0, 1e-30);
}

/* gamma_(k+2) times the magnitude, from both sides, in both precisions.  The steps are wide enough
 * for what a double near `exact` can say: the bound is a few units in its last place. */
static void the_bound_is_where_it_should_be(void **state)
{
    const tsr_type types[] = {TSR_F32, TSR_F64};

    (void)state;
    for (int t = 0; t < 4; t++) {
        const tsr_type type = types[t % 2];
        const double u = type == TSR_F64 ? 0x1p-53 : 0x1p-24;
        /* The product outweighs what is added, and the other way round. */
        const double alpha = -2, beta = 3, c = t < 2 ? 5 : -5000, n = 3 + 2;
        const real_sum s = sum_of(type, &keeps, 3, a3, b3);
        const double exact = alpha * sum3 + beta * c;
        const double bound = n * u / (1 - n * u) * (2 * magnitude3 + fabs(beta * c));

        passes(s, alpha, beta, c, exact + 0.6 * bound);
        passes(s, alpha, beta, c, exact - 0.6 * bound);
        fails(s, alpha, beta, c, exact + 1.4 * bound);
        fails(s, alpha, beta, c, exact - 1.4 * bound);
    }
}

/* To 11 significant bits, ties to even. */
static void factors_are_rounded_to_the_nearest(void **state)
{
    const struct {
        double x, tf32, bf16;
    } cases[] = {{1 + 0x1p-11, 1, 1},
                 {1 + 0x1.8p-11, 1 + 0x1p-10, 1},
                 {1 + 0x3p-11, 1 + 0x1p-9, 1},
                 {1 + 0x1p-11 + 0x1p-23, 1 + 0x1p-10, 1},
                 {1 + 0x3p-8, 1 + 0x3p-8, 1 + 0x1p-6},
                 {0x1.ffffp100, 0x1p101, 0x1p101},
                 {FLT_MAX, INFINITY, INFINITY}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const double tf32 = real_rounded(TSR_PRECISION_TF32, sign * cases[i].x);
            const double bf16 = real_rounded(TSR_PRECISION_BF16, sign * cases[i].x);

            if (tf32 != sign * cases[i].tf32 || bf16 != sign * cases[i].bf16)
                fail_msg("case %zu: %a and %a", i, tf32, bf16);
        }
    assert_true(isnan(real_rounded(TSR_PRECISION_TF32, NAN)));
}

/* Two factors of one product, each rounded to TF32's 11 bits in the same direction, are worth
 * nearly the whole bound; what TF32 may do, float32 may not. */
static void rounded_factors_widen_the_bound(void **state)
{
    const double a = 1 + 0x1p-11, got = 1; /* each rounds down to 1: half a unit */
    real_sum s = real_sum_start(TSR_F32, TSR_PRECISION_TF32, &keeps);
    real_sum long_one = real_sum_start(TSR_F32, TSR_PRECISION_TF32, &keeps);
    real_sum coarse = real_sum_start(TSR_F32, TSR_PRECISION_BF16, &keeps);

    (void)state;
    real_sum_add(&s, a, a);
    real_sum_add(&coarse, a, a);
    passes(s, 1, 0, 0, got);
    passes(s, -3, 0, 0, -3 * got);
    assert_true(real_judge(&s, 1, 0, 0, got) > 0.9);
    fails(s, 1, 0, 0, 1 - 0x1p-11);
    fails(product(a, a), 1, 0, 0, got);
    passes(coarse, 1, 0, 0, 1 - 0x1p-8);
    fails(coarse, 1, 0, 0, 1 - 0x1p-6);
    /* C is no factor: it stays in float32. */
    fails(s, 1, 1, 1024.5, a * a + 1024);
    /* Many terms do not add up their roundings: they are relative to the same sum. */
    for (int i = 0; i < 1000; i++)
        real_sum_add(&long_one, a, a);
    passes(long_one, 1, 0, 0, 1000 * got);
    fails(long_one, 1, 0, 0, 998.9 * got);
    /* A denormal factor may become zero, as where the device flushes. */
    s = real_sum_start(TSR_F32, TSR_PRECISION_TF32, &keeps);
    real_sum_add(&s, 1e-40f, 1e30f);
    passes(s, 1, 0, 0, 0);
    /* The largest float32 rounds up to infinity, or down. */
    s = real_sum_start(TSR_F32, TSR_PRECISION_TF32, &keeps);
    real_sum_add(&s, FLT_MAX, -0.25);
    passes(s, 1, 0, 0, -(double)FLT_MAX / 4);
    passes(s, 1, 0, 0, -INFINITY);
    passes(s, -1, 0, 0, INFINITY);
    fails(s, 1, 0, 0, INFINITY);
    fails(s, 1, 0, 0, NAN);
    fails(product(FLT_MAX, -0.25), 1, 0, 0, -INFINITY);
    /* Times a denormal, which may count as zero, that infinity is NaN; times an ordinary number
     * it is not. */
    s = real_sum_start(TSR_F32, TSR_PRECISION_TF32, &keeps);
    real_sum_add(&s, FLT_MAX, 0x1p-140);
    passes(s, 1, 0, 0, NAN);
    s = real_sum_start(TSR_F32, TSR_PRECISION_TF32, &keeps);
    real_sum_add(&s, FLT_MAX, 0x1p-100);
    fails(s, 1, 0, 0, NAN);
    s = real_sum_start(TSR_F32, TSR_PRECISION_TF32, &keeps);
    real_sum_add(&s, FLT_MAX, 0);
    passes(s, 1, 0, 0, 0);
    passes(s, 1, 0, 0, NAN);
    s = real_sum_start(TSR_F32, TSR_PRECISION_BF16, &keeps);
    real_sum_add(&s, FLT_MAX, FLT_TRUE_MIN); /* infinity times zero, once both are rounded */
    passes(s, 1, 0, 0, NAN);
    assert_true(real_product_bound(TSR_F32, 0, 7) == real_gamma(TSR_F32, 7));
}

/* Factors rounded to float16: its exponents are fewer, and zero lies nearer. */
static void f16_factors_have_their_range(void **state)
{
    const double cases[][3] = {/* a, b, a b with a and b rounded */
                               {1 + 0x1p-11, 1 + 0x1p-11, 1},
                               {65519, 1, 65504},
                               {0x1.8p-25, 1, 0x1p-24},
                               {0x1p-25, 4, 0},
                               {0x1.01p-15, 0x1p15, 0x1.01p0}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        real_sum s = real_sum_start(TSR_F32, TSR_PRECISION_F16, &keeps);

        real_sum_add(&s, cases[i][0], cases[i][1]);
        passes(s, 1, 0, 0, cases[i][2]);
        fails(s, 1, 0, 0, cases[i][2] * (1 + 0x1p-8) + 0x1p-20);
    }
    for (int sign = -1; sign <= 1; sign += 2) {
        real_sum s = real_sum_start(TSR_F32, TSR_PRECISION_F16, &keeps);

        real_sum_add(&s, 65520 * sign, 0.5);
        passes(s, 1, 0, 0, INFINITY * sign);
        fails(s, 1, 0, 0, 32760 * sign);
        fails(s, 1, 0, 0, NAN);
        real_sum_add(&s, 65520 * sign, 0); /* infinity times zero */
        passes(s, 1, 0, 0, NAN);
    }
    assert_true(real_rounding(TSR_F16, TSR_PRECISION_F16) == 0);
    assert_true(real_rounding(TSR_F32, TSR_PRECISION_F16) == 0x1p-11L);
}

/* A sum of one term, exact in float32, stored in a type of 16 bits. */
static real_sum stored(tsr_type type, double value)
{
    real_sum s = real_sum_start(TSR_F32, TSR_PRECISION_DEFAULT, &keeps);

    s.result = type;
    real_sum_add(&s, value, 1);
    return s;
}

/* Half a unit in the last place of the result's type, and no more; its smallest numbers too. */
static void narrow_results_are_rounded_once(void **state)
{
    (void)state;
    passes(stored(TSR_F16, 1 + 0x1p-11), 1, 0, 0, 1);
    passes(stored(TSR_F16, 1 + 0x1p-11), 1, 0, 0, 1 + 0x1p-10);
    fails(stored(TSR_F16, 1 + 0x1p-10), 1, 0, 0, 1);
    passes(stored(TSR_BF16, 1 + 0x1p-8), 1, 0, 0, 1);
    fails(stored(TSR_BF16, 1 + 0x1p-7), 1, 0, 0, 1);
    fails(stored(TSR_F32, 1 + 0x1p-11), 1, 0, 0, 1);
    passes(stored(TSR_F16, 0x1.4p-24), 1, 0, 0, 0x1p-24);
    passes(stored(TSR_F16, 0x1p-25), 1, 0, 0, 0);
    fails(stored(TSR_F16, 0x1.4p-24), 1, 0, 0, 0);
    fails(stored(TSR_F16, 0x1p-20), 1, 0, 0, 0); /* denormals are not flushed */
    passes(stored(TSR_BF16, 0x1p-133), 1, 0, 0, 0x1p-133);
    fails(stored(TSR_BF16, 0x1p-126), 1, 0, 0, 0);
}

/* What the type of the result cannot hold is infinite, though the sum was not. */
static void narrow_results_overflow(void **state)
{
    (void)state;
    passes(stored(TSR_F16, 65519), 1, 0, 0, 65504);
    fails(stored(TSR_F16, 65519 - 1), 1, 0, 0, INFINITY);
    passes(stored(TSR_F16, 65520), 1, 0, 0, INFINITY);
    fails(stored(TSR_F16, 65540), 1, 0, 0, 65504); /* saturated */
    fails(stored(TSR_F16, 65540), 1, 0, 0, -INFINITY);
    fails(stored(TSR_F16, 65540), 1, 0, 0, NAN);
    passes(stored(TSR_F16, -1e30), 1, 0, 0, -INFINITY);
    passes(stored(TSR_F16, 65504), 1, 1, 65504, INFINITY); /* of beta c */
    passes(stored(TSR_BF16, FLT_MAX), 1, 0, 0, INFINITY);
    fails(stored(TSR_BF16, FLT_MAX), 1, 0, 0, 0x1.FEp127);
    passes(stored(TSR_F32, 65540), 1, 0, 0, 65540);
}

static void alpha_zero_ignores_the_sum(void **state)
{
    (void)state;
    passes(product(NAN, 1), 0, 2, 4, 8);
    passes(product(INFINITY, 1), 0, 0, NAN, 0);
    fails(product(NAN, 1), 0, 2, 4, NAN);
    fails(product(3, 1), 0, 2, 4, 11);
}

static void beta_zero_ignores_c(void **state)
{
    (void)state;
    passes(product(3, 2), 1, 0, NAN, 6);
    passes(product(3, 2), 1, 0, INFINITY, 6);
    fails(product(3, 2), 1, 0, NAN, NAN);
    fails(product(3, 2), 1, 0, 1, 7);
}

/* ---- what is not finite ------------------------------------------------------------------ */

static void nan_is_wanted_where_it_is_implied(void **state)
{
    const double mixed_a[] = {INFINITY, INFINITY}, mixed_b[] = {1, -1};
    const real_sum both = sum_of(TSR_F32, &keeps, 2, mixed_a, mixed_b);

    (void)state;
    passes(product(NAN, 1), 1, 0, 0, NAN);
    fails(product(NAN, 1), 1, 0, 0, 1);
    fails(product(NAN, 1), 1, 0, 0, INFINITY);
    passes(product(INFINITY, 0), 1, 0, 0, NAN); /* infinity times zero */
    fails(product(INFINITY, 0), 1, 0, 0, INFINITY);
    passes(both, 1, 0, 0, NAN); /* infinity minus infinity */
    fails(both, 1, 0, 0, INFINITY);
    passes(product(1, 1), 1, 1, NAN, NAN);
    fails(product(1, 1), 1, 1, NAN, 1);
    fails(product(1, 1), 1, 0, 0, NAN); /* out of nowhere */
}

static void infinities_keep_their_sign(void **state)
{
    (void)state;
    passes(product(INFINITY, 2), 1, 0, 0, INFINITY);
    fails(product(INFINITY, 2), 1, 0, 0, -INFINITY);
    fails(product(INFINITY, 2), 1, 0, 0, FLT_MAX);
    fails(product(INFINITY, 2), 1, 0, 0, NAN);
    passes(product(INFINITY, -2), 1, 0, 0, -INFINITY);
    passes(product(INFINITY, 2), -1, 0, 0, -INFINITY); /* alpha turns it round */
    passes(product(1, 1), 1, -1, INFINITY, -INFINITY);
    fails(product(1, 1), 1, -1, INFINITY, INFINITY);
    passes(product(INFINITY, 1), 1, 1, -INFINITY, NAN);
    fails(product(1, 1), 1, 0, 0, INFINITY);
}

static void overflow_may_go_either_way(void **state)
{
    const double a[] = {FLT_MAX, FLT_MAX, -FLT_MAX}, b[] = {1, 1, 1};
    const double halves[] = {FLT_MAX * 0.75, -FLT_MAX * 0.875};
    const real_sum s = sum_of(TSR_F32, &keeps, 3, a, b);

    (void)state;
    passes(s, 1, 0, 0, INFINITY); /* added from the left */
    passes(s, 1, 0, 0, FLT_MAX);  /* from the right */
    fails(s, 1, 0, 0, FLT_MAX / 2);
    passes(product(FLT_MAX, 1), 2, 0, 0, INFINITY);
    passes(product(FLT_MAX, 1), 1, 0, 0, FLT_MAX);
    fails(product(FLT_MAX / 4, 1), 1, 0, 0, INFINITY);
    /* Terms that are scaled one by one, as by what adds blocks to C, overflow each its own way. */
    passes(sum_of(TSR_F32, &keeps, 2, halves, b), 2, 0, 0, NAN);
    passes(sum_of(TSR_F32, &keeps, 2, halves, b), 2, 0, 0, -FLT_MAX / 4);
    fails(sum_of(TSR_F32, &keeps, 2, halves, b), 1, 0, 0, NAN);
}

/* ---- denormals --------------------------------------------------------------------------- */

static void underflow_counts_where_the_device_flushes(void **state)
{
    const double a = 1e-20f, b = 1e-20f; /* a denormal product */
    const double denormal = 1e-40f, one = 1, large = 1e30f;

    (void)state;
    fails(sum_of(TSR_F32, &keeps, 1, &a, &b), 1, 0, 0, 0);
    passes(sum_of(TSR_F32, &flushes, 1, &a, &b), 1, 0, 0, 0);
    fails(sum_of(TSR_F32, &keeps, 1, &denormal, &large), 1, 0, 0, 0);
    passes(sum_of(TSR_F32, &flushes, 1, &denormal, &large), 1, 0, 0, 0); /* a flushed factor */
    passes(sum_of(TSR_F32, &keeps, 1, &denormal, &one), 1, 0, 0, denormal);
    passes(sum_of(TSR_F32, &flushes, 1, &one, &one), 1, 1, denormal, 1);
    /* The last denormal may be lost to rounding anywhere, many of them not. */
    passes(product(FLT_TRUE_MIN, 0.5), 1, 0, 0, 0);
    fails(product(FLT_TRUE_MIN, 64), 1, 0, 0, 0);
    /* Flushing forgives what is as small as the smallest normal number, not more. */
    fails(sum_of(TSR_F32, &flushes, 1, &one, &a), 1, 0, 0, 0);
}

/* ---- the rest ---------------------------------------------------------------------------- */

static void types_and_precisions_go_together(void **state)
{
    tsr_error err = {0};
    text reason = {0};

    (void)state;
    assert_int_equal(real_check("op", TSR_F32, TSR_PRECISION_DEFAULT, &err), TSR_OK);
    assert_int_equal(real_check("op", TSR_F32, TSR_PRECISION_F16, &err), TSR_OK);
    assert_int_equal(real_check("op", TSR_F64, TSR_PRECISION_F64, &err), TSR_OK);
    assert_int_equal(real_check("op", TSR_F64, TSR_PRECISION_F32, &err), TSR_EINVAL);
    assert_int_equal(real_check("op", TSR_F32, TSR_PRECISION_F64, &err), TSR_EINVAL);
    assert_int_equal(real_check("op", TSR_F16, TSR_PRECISION_DEFAULT, &err), TSR_OK);
    assert_int_equal(real_check("op", TSR_BF16, TSR_PRECISION_BF16, &err), TSR_OK);
    assert_int_equal(real_check("op", TSR_BF16, TSR_PRECISION_F32, &err), TSR_EINVAL);
    assert_int_equal(real_check("op", TSR_I8, TSR_PRECISION_DEFAULT, &err), TSR_EINVAL);
    assert_string_equal(err.message, "op: takes floating-point types, not int8");
    assert_null(real_unsupported(TSR_BF16, TSR_PRECISION_DEFAULT, &keeps, &reason));
    assert_null(real_unsupported(TSR_F32, TSR_PRECISION_F32_STRICT, &keeps, &reason));
    assert_non_null(strstr(real_unsupported(TSR_F32, TSR_PRECISION_BF16, &keeps, &reason), "bf16"));
    assert_non_null(
        real_unsupported(TSR_F64, TSR_PRECISION_DEFAULT, &keeps, &reason)); /* no fp64 */
    text_free(&reason);
}

static void check_family(tsr_type type, double least, distribution f)
{
    uint64_t one = 7, two = 7;
    size_t odd = 0, infinite = 0;

    for (int i = 0; i < 5000; i++) {
        const double v = real_random(type, f, &one), w = real_random(type, f, &two);

        assert_memory_equal(&v, &w, sizeof(v));
        assert_true(isnan(v) || v == real_round(type, v));
        infinite += !isfinite(v);
        odd += !isfinite(v) || (v != 0 && fabs(v) < least);
        if (f == DISTRIBUTION_UNIFORM)
            assert_true(fabs(v) <= 1);
        if (f == DISTRIBUTION_FEW)
            assert_true(v == floor(v) && fabs(v) <= 8);
    }
    assert_int_equal(infinite > 0, f == DISTRIBUTION_SPECIAL);
    /* Uniform numbers of float16 are denormal now and then. */
    if (type != TSR_F16 || f == DISTRIBUTION_SPECIAL)
        assert_int_equal(odd > 0, f == DISTRIBUTION_SPECIAL);
}

/* Every distribution is reproducible, of its type, and what its name says. */
static void families_are_what_they_say(void **state)
{
    (void)state;
    for (int f = DISTRIBUTION_UNIFORM; f <= DISTRIBUTION_ORDERED; f++) {
        check_family(TSR_F32, FLT_MIN, (distribution)f);
        check_family(TSR_F16, 0x1p-14, (distribution)f);
        check_family(TSR_BF16, FLT_MIN, (distribution)f);
    }
}

/* Sums of float32 by double are those by long double but for their rounding, at any distance; where
 * one cannot be, nothing is added. */
static void floats_are_added_at_once(void **state)
{
    static const size_t steps[][2] = {{1, 1}, {1, 7}, {3, 1}, {2, 5}};
    enum { COUNT = 1001 };
    static float a[COUNT * 7], b[COUNT * 7];
    real_sum at_once, flushing = real_sum_start(TSR_F32, TSR_PRECISION_DEFAULT, &flushes);

    (void)state;
    for (size_t i = 0; i < COUNT * 7; i++) {
        a[i] = sinf((float)(i + 1)) * ldexpf(1, (int)(i * 37 % 61) - 30);
        b[i] = cosf((float)(5 * i + 2)) * ldexpf(1, (int)(i * 53 % 41) - 20);
    }
    for (size_t k = 0; k < sizeof(steps) / sizeof(steps[0]); k++) {
        const size_t step_a = steps[k][0], step_b = steps[k][1];
        real_sum one_by_one = real_sum_start(TSR_F32, TSR_PRECISION_DEFAULT, &keeps);
        long double magnitude;

        at_once = one_by_one;
        for (size_t i = 0; i < COUNT; i++)
            real_sum_add(&one_by_one, a[i * step_a], b[i * step_b]);
        magnitude = one_by_one.positive + one_by_one.negative;
        assert_true(real_sum_add_floats(&at_once, a, step_a, b, step_b, COUNT));
        assert_int_equal(at_once.terms, COUNT);
        assert_true(fabsl(at_once.positive - one_by_one.positive) <= COUNT * 0x1p-53L * magnitude);
        assert_true(fabsl(at_once.negative - one_by_one.negative) <= COUNT * 0x1p-53L * magnitude);
    }
    at_once = real_sum_start(TSR_F32, TSR_PRECISION_DEFAULT, &keeps);
    a[COUNT - 1] = INFINITY;
    assert_false(real_sum_add_floats(&at_once, a, 1, b, 1, COUNT));
    a[COUNT - 1] = NAN;
    assert_false(real_sum_add_floats(&at_once, a, 1, b, 2, COUNT));
    assert_false(real_sum_add_floats(&flushing, b, 1, b, 1, COUNT));
    assert_int_equal(at_once.terms + flushing.terms, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_values_pass),
        cmocka_unit_test(floats_are_added_at_once),
        cmocka_unit_test(the_bound_is_where_it_should_be),
        cmocka_unit_test(factors_are_rounded_to_the_nearest),
        cmocka_unit_test(rounded_factors_widen_the_bound),
        cmocka_unit_test(f16_factors_have_their_range),
        cmocka_unit_test(narrow_results_are_rounded_once),
        cmocka_unit_test(narrow_results_overflow),
        cmocka_unit_test(alpha_zero_ignores_the_sum),
        cmocka_unit_test(beta_zero_ignores_c),
        cmocka_unit_test(nan_is_wanted_where_it_is_implied),
        cmocka_unit_test(infinities_keep_their_sign),
        cmocka_unit_test(overflow_may_go_either_way),
        cmocka_unit_test(underflow_counts_where_the_device_flushes),
        cmocka_unit_test(types_and_precisions_go_together),
        cmocka_unit_test(families_are_what_they_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
