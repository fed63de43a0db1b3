#include "ops/real.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#include "base/fail.h"
#include "base/random.h"

/* A float64 result is judged in long double, which has to be wider. */
_Static_assert(LDBL_MANT_DIG > DBL_MANT_DIG, "long double must be wider than double");

tsr_status real_check(const char *op, tsr_type type, tsr_precision precision, tsr_error *err)
{
    if (type != TSR_F32 && type != TSR_F64)
        return tsr_fail(err, TSR_EINVAL, 0, "%s: takes float32 or float64, not %s", op,
                        tsr_type_name(type));
    if (precision == TSR_PRECISION_DEFAULT || (precision == TSR_PRECISION_F64) == (type == TSR_F64))
        return TSR_OK;
    return tsr_fail(err, TSR_EINVAL, 0, "%s: precision %s does not go with %s operands", op,
                    tsr_precision_name(precision), tsr_type_name(type));
}

const char *real_unsuited(tsr_type type, tsr_precision precision, const device_facts *d,
                          text *reason)
{
    if (type == TSR_F64 && !d->fp64)
        return "the device has no double precision";
    if (precision == TSR_PRECISION_TF32 || precision == TSR_PRECISION_BF16 ||
        precision == TSR_PRECISION_F16) {
        text_format(reason, "computes in FP32, not in %s", tsr_precision_name(precision));
        return text_get(reason);
    }
    return NULL;
}

void real_defines(tsr_type type, text *out)
{
    text_append(out,
                type == TSR_F64 ? " -DREAL=double -DREAL_BITS=64" : " -DREAL=float -DREAL_BITS=32");
}

double real_get(tsr_type type, const void *array, size_t i)
{
    return type == TSR_F64 ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

void real_set(tsr_type type, void *array, size_t i, double value)
{
    if (type == TSR_F64)
        ((double *)array)[i] = value;
    else
        ((float *)array)[i] = (float)value;
}

double real_round(tsr_type type, double value)
{
    return type == TSR_F64 ? value : (double)(float)value;
}

/* NaN, infinities, denormals, both zeros and ordinary numbers in between. */
static double special(tsr_type type, uint64_t *state)
{
    const double tiny = type == TSR_F64 ? DBL_TRUE_MIN : (double)FLT_TRUE_MIN;
    const double least = type == TSR_F64 ? DBL_MIN : (double)FLT_MIN;
    const double most = type == TSR_F64 ? DBL_MAX : (double)FLT_MAX;
    const double values[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, tiny, -tiny * 3, least, most};
    uint64_t r = random_u64(state);

    /* Rare enough that most sums stay finite and are judged by value. */
    if (r % 64 < sizeof(values) / sizeof(values[0]))
        return values[r % 64];
    return 2 * random_unit(state) - 1;
}

double real_random(tsr_type type, family f, uint64_t *state)
{
    double v = 0;

    switch (f) {
    case FAMILY_SPECIAL:
        v = special(type, state);
        break;
    case FAMILY_FEW:
        v = (double)(random_u64(state) % 17) - 8;
        break;
    case FAMILY_ORDERED:
        v = (random_u64(state) & 1 ? 1 : -1) * exp2(40 * random_unit(state) - 20);
        break;
    default:
        v = 2 * random_unit(state) - 1;
        break;
    }
    return real_round(type, v);
}

static bool is_denormal(tsr_type type, double v)
{
    return v != 0 && fabs(v) < (type == TSR_F64 ? DBL_MIN : (double)FLT_MIN);
}

real_sum real_sum_start(tsr_type type, const device_facts *d)
{
    return (real_sum){.type = type,
                      .flushes = type == TSR_F64 ? !d->denormals_f64 : !d->denormals_f32};
}

void real_sum_add(real_sum *s, double a, double b)
{
    s->terms++;
    if (isfinite(a) && isfinite(b)) {
        /* Exact in double for float32: 24 + 24 bits. */
        long double product = (long double)a * b;

        s->sum += product;
        s->magnitude += fabsl(product);
        if (s->flushes && (is_denormal(s->type, a) || is_denormal(s->type, b)))
            s->flushed += fabsl(product);
        return;
    }
    if (isnan(a) || isnan(b) || a == 0 || b == 0)
        s->nan = true;
    else if (signbit(a) == signbit(b))
        s->plus_inf = true;
    else
        s->minus_inf = true;
    if (s->flushes && (is_denormal(s->type, a) || is_denormal(s->type, b)))
        s->unsure = true;
}

/* 1 where got is of the class of `inf`, else INFINITY. */
static double judge_class(bool nan, bool plus, bool minus, double got)
{
    bool right = nan || (plus && minus) ? isnan(got) : isinf(got) && signbit(got) == minus;

    return right ? 0 : INFINITY;
}

double real_judge(const real_sum *s, double alpha, double beta, double c, double got)
{
    const bool f64 = s->type == TSR_F64;
    const long double u = f64 ? 0x1p-53L : 0x1p-24L;
    const long double most = f64 ? (long double)DBL_MAX : (long double)FLT_MAX;
    const long double least = f64 ? (long double)DBL_TRUE_MIN : (long double)FLT_TRUE_MIN;
    const long double normal = f64 ? (long double)DBL_MIN : (long double)FLT_MIN;
    const real_sum none = {.type = s->type};
    bool plus, minus, nan;
    long double exact, magnitude, gamma, underflow, error, n;

    if (alpha == 0)
        s = &none;
    if (beta == 0)
        c = 0;
    nan = s->nan || isnan(alpha) || isnan(beta) || isnan(c);
    plus = alpha < 0 ? s->minus_inf : s->plus_inf;
    minus = alpha < 0 ? s->plus_inf : s->minus_inf;
    if (isinf(alpha) || isinf(beta)) /* the sign may hang on rounding: any non-finite value */
        return isfinite(got) ? INFINITY : 0;
    if (isinf(c)) {
        plus = plus || (c > 0) == (beta > 0);
        minus = minus || (c > 0) != (beta > 0);
        c = 0;
    }
    n = (long double)s->terms + 2;
    gamma = n * u / (1 - n * u);
    if (s->magnitude * (1 + gamma) > most ||
        fabsl((long double)alpha) * s->magnitude * (1 + gamma) +
                fabsl((long double)beta * c) * (1 + gamma) >
            most) {
        if (!isfinite(got))
            return 0; /* an overflow on the way, in an order that is the variant's */
    }
    if (s->unsure && !isfinite(got))
        return 0;
    if (nan || plus || minus)
        return judge_class(nan, plus, minus, got);
    if (!isfinite(got) && s->magnitude <= most / 2 &&
        fabsl((long double)alpha) * s->magnitude + fabsl((long double)beta * c) <= most / 2)
        return INFINITY;
    exact = (long double)alpha * s->sum + (long double)beta * c;
    magnitude = fabsl((long double)alpha) * s->magnitude + fabsl((long double)beta * c);
    underflow = n * (s->flushes ? normal : least) * fmaxl(1, fabsl((long double)alpha));
    underflow += fabsl((long double)alpha) * s->flushed;
    if (s->flushes && is_denormal(s->type, c))
        underflow += fabsl((long double)beta * c);
    error = fabsl((long double)got - exact);
    if (isnan((double)error))
        return INFINITY;
    return error == 0 ? 0 : (double)(error / (gamma * magnitude + underflow));
}
