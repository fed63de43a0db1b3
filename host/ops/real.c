#include "ops/real.h"

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
    if ((unsigned)precision >= TSR_PRECISION_COUNT)
        return tsr_fail(err, TSR_EINVAL, 0, "%s: no precision has the number %d", op,
                        (int)precision);
    if (precision == TSR_PRECISION_DEFAULT || (precision == TSR_PRECISION_F64) == (type == TSR_F64))
        return TSR_OK;
    return tsr_fail(err, TSR_EINVAL, 0, "%s: precision %s does not go with %s operands", op,
                    tsr_precision_name(precision), tsr_type_name(type));
}

tsr_status real_check_scales(const char *op, tsr_type type, double alpha, double beta,
                             tsr_error *err)
{
    const struct {
        const char *name;
        double value;
    } scales[] = {{"alpha", alpha}, {"beta", beta}};

    for (size_t i = 0; i < 2; i++)
        if (isfinite(scales[i].value) && !isfinite(real_round(type, scales[i].value)))
            return tsr_fail(err, TSR_EINVAL, 0, "%s: %s = %g is beyond what %s holds", op,
                            scales[i].name, scales[i].value, tsr_type_name(type));
    return TSR_OK;
}

bool real_is_plain(tsr_type type, tsr_precision precision)
{
    return precision == TSR_PRECISION_DEFAULT ||
           precision == (type == TSR_F64 ? TSR_PRECISION_F64 : TSR_PRECISION_F32);
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

real_sum real_sum_start(tsr_type type, tsr_precision precision, const device_facts *d)
{
    const bool keeps = type == TSR_F64 ? d->denormals_f64 : d->denormals_f32;
    const long double rounding = real_rounding(precision);

    /* A denormal factor may lose all its bits to the rounding. */
    return (real_sum){.type = type, .flushes = !keeps || rounding > 0, .rounding = rounding};
}

/* A factor that rounds up to infinity: its product is one of that sign, or NaN with zero and with a
 * denormal, which may count as zero. */
static void note_rounded_up(real_sum *s, double a, double b)
{
    const long double most = (long double)FLT_MAX / (1 + s->rounding);
    const bool none = a * b == 0 || is_denormal(s->type, a) || is_denormal(s->type, b);

    if (!isfinite(a) || !isfinite(b) || fmaxl(fabsl((long double)a), fabsl((long double)b)) < most)
        return;
    s->may_plus = s->may_plus || signbit(a) == signbit(b) || none;
    s->may_minus = s->may_minus || signbit(a) != signbit(b) || none;
}

void real_sum_add(real_sum *s, double a, double b)
{
    const bool flushed = s->flushes && (is_denormal(s->type, a) || is_denormal(s->type, b));
    const long double product = (long double)a * b;

    s->terms++;
    if (s->rounding > 0)
        note_rounded_up(s, a, b);
    if (isfinite(a) && isfinite(b)) {
        if (product > 0)
            s->positive += product;
        else
            s->negative -= product;
        if (flushed)
            s->flushed += fabsl(product);
        return;
    }
    if (isnan(a) || isnan(b) || a == 0 || b == 0)
        s->nan = true;
    else if (signbit(a) == signbit(b))
        s->plus_inf = true;
    else
        s->minus_inf = true;
    s->unsure = s->unsure || flushed;
}

long double real_sum_value(const real_sum *s)
{
    return s->positive - s->negative;
}

long double real_gamma(tsr_type type, size_t n)
{
    const long double nu = (long double)n * (type == TSR_F64 ? 0x1p-53L : 0x1p-24L);

    return nu < 0.5L ? nu / (1 - nu) : 2 * nu;
}

long double real_rounding(tsr_precision precision)
{
    return precision == TSR_PRECISION_TF32   ? 0x1p-11L
           : precision == TSR_PRECISION_BF16 ? 0x1p-8L
                                             : 0;
}

long double real_product_bound(tsr_type type, long double v, size_t n)
{
    const long double r = v * (2 + v);

    return r + real_gamma(type, n) * (1 + r);
}

/* Which non-finite results are implied, and which may come of overflow on the way. */
typedef struct outcome {
    bool nan, plus, minus;            /* the operands say so */
    bool may_overflow, may_underflow; /* to +inf, to -inf */
} outcome;

/* Whether `value`, off by a relative gamma of `magnitude`, may exceed what the type holds. */
static void note_overflow(outcome *o, long double value, long double slack, long double most)
{
    o->may_overflow = o->may_overflow || value + slack > most;
    o->may_underflow = o->may_underflow || value - slack < -most;
}

static outcome outcome_of(const real_sum *s, double alpha, double beta, double c)
{
    const long double most = s->type == TSR_F64 ? (long double)DBL_MAX : (long double)FLT_MAX;
    const long double gamma = real_product_bound(s->type, s->rounding, s->terms + 2);
    const long double magnitude = s->positive + s->negative;
    const bool turned = alpha < 0;
    outcome o = {.nan = s->nan || isnan(alpha) || isnan(beta) || isnan(c),
                 .plus = turned ? s->minus_inf : s->plus_inf,
                 .minus = turned ? s->plus_inf : s->minus_inf};
    long double scaled;

    if (isinf(c)) {
        o.plus = o.plus || (c > 0) == (beta > 0);
        o.minus = o.minus || (c > 0) != (beta > 0);
        c = 0;
    }
    o.nan = o.nan || (o.plus && o.minus);
    if (o.nan || isinf(alpha) || isinf(beta))
        return o;
    /* Partial sums, in whatever order, lie between the sums of the terms of one sign. */
    note_overflow(&o, -s->negative, gamma * s->negative, most);
    note_overflow(&o, s->positive, gamma * s->positive, most);
    o.may_overflow = o.may_overflow || s->may_plus;
    o.may_underflow = o.may_underflow || s->may_minus;
    if (turned) {
        const bool up = o.may_overflow;

        o.may_overflow = o.may_underflow;
        o.may_underflow = up;
    }
    scaled = (long double)alpha * real_sum_value(s);
    note_overflow(&o, scaled, gamma * fabsl((long double)alpha) * magnitude, most);
    note_overflow(&o, (long double)beta * c, gamma * fabsl((long double)beta * c), most);
    note_overflow(&o, scaled + (long double)beta * c,
                  gamma * (fabsl((long double)alpha) * magnitude + fabsl((long double)beta * c)),
                  most);
    return o;
}

/* Whether a non-finite result is one that may come out. */
static bool class_fits(const outcome *o, double got)
{
    if (o->nan)
        return isnan(got);
    if (isnan(got))
        return (o->plus || o->may_overflow) && (o->minus || o->may_underflow);
    return got > 0 ? o->plus || (o->may_overflow && !o->minus)
                   : o->minus || (o->may_underflow && !o->plus);
}

/* What underflow may add to the error. */
static long double underflow_of(const real_sum *s, double alpha, double beta, double c)
{
    const bool f64 = s->type == TSR_F64;
    const long double n = (long double)s->terms;
    const long double scale = fabsl((long double)alpha);
    long double flushed = s->flushed * scale;

    if (!s->flushes)
        return (n + 2) * fmaxl(1, scale) *
               (f64 ? (long double)DBL_TRUE_MIN : (long double)FLT_TRUE_MIN);
    if (is_denormal(s->type, alpha))
        flushed = scale * (s->positive + s->negative);
    if (is_denormal(s->type, c) || is_denormal(s->type, beta))
        flushed += fabsl((long double)beta * c);
    return flushed +
           (2 * n + 3) * fmaxl(1, scale) * (f64 ? (long double)DBL_MIN : (long double)FLT_MIN);
}

double real_judge(const real_sum *s, double alpha, double beta, double c, double got)
{
    const real_sum none = {.type = s->type, .flushes = s->flushes};
    long double bound, error;
    outcome o;

    if (alpha == 0)
        s = &none;
    if (beta == 0)
        c = 0;
    o = outcome_of(s, alpha, beta, c);
    /* Infinity times a sum: its sign, or NaN, may hang on the rounding of the sum. */
    if (!o.nan && (s->unsure || isinf(alpha) || isinf(beta)))
        return isfinite(got) ? INFINITY : 0;
    if (!isfinite(got))
        return class_fits(&o, got) ? 0 : INFINITY;
    if (o.nan || o.plus || o.minus)
        return INFINITY;
    error =
        fabsl((long double)got - (long double)alpha * real_sum_value(s) - (long double)beta * c);
    if (error == 0)
        return 0;
    bound = real_product_bound(s->type, s->rounding, s->terms + 2) * fabsl((long double)alpha) *
                (s->positive + s->negative) +
            real_gamma(s->type, s->terms + 2) * fabsl((long double)beta * c);
    return (double)(error / (bound + underflow_of(s, alpha, beta, c)));
}
