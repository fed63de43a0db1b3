#include "core/real.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/elements.h"
#include "base/fail.h"
#include "base/half.h"
#include "base/random.h"

/* A float64 result is judged in long double, which has to be wider. */
_Static_assert(LDBL_MANT_DIG > DBL_MANT_DIG, "long double must be wider than double");

/* What a floating-point type can say. */
typedef struct format {
    double unit;  /* roundoff: the largest relative error of rounding to it */
    double most;  /* its largest number */
    double over;  /* magnitudes from here on round to infinity; of the wide types `most` will do */
    double least; /* its smallest normal number */
    double tiny;  /* its smallest denormal */
} format;

static const format formats[TSR_TYPE_COUNT] = {
    [TSR_F32] = {0x1p-24, FLT_MAX, FLT_MAX, FLT_MIN, FLT_TRUE_MIN},
    [TSR_F64] = {0x1p-53, DBL_MAX, DBL_MAX, DBL_MIN, DBL_TRUE_MIN},
    [TSR_F16] = {0x1p-11, 65504, 65520, 0x1p-14, 0x1p-24},
    [TSR_BF16] = {0x1p-8, 0x1.FEp127, 0x1.FFp127, FLT_MIN, 0x1p-133},
    [TSR_F8E4M3] = {0x1p-4, 448, INFINITY, 0x1p-6, 0x1p-9}, /* results saturate */
    [TSR_F8E5M2] = {0x1p-3, 57344, INFINITY, 0x1p-14, 0x1p-16}};

static bool is_narrow(tsr_type type)
{
    return type == TSR_F16 || type == TSR_BF16 || type_is_fp8(type);
}

tsr_type real_sums(tsr_type type)
{
    if (type == TSR_I8 || type == TSR_I32)
        return TSR_I32;
    return type_part(type) == TSR_F64 ? TSR_F64 : TSR_F32;
}

tsr_precision real_precision(tsr_type type, tsr_precision precision)
{
    if (precision != TSR_PRECISION_DEFAULT)
        return precision;
    return type_part(type) == TSR_F64 ? TSR_PRECISION_F64
           : type == TSR_F16          ? TSR_PRECISION_F16
           : type == TSR_BF16         ? TSR_PRECISION_BF16
           : type == TSR_I8           ? TSR_PRECISION_I8
           : type_is_fp8(type)        ? TSR_PRECISION_F8
                                      : TSR_PRECISION_F32;
}

tsr_status real_check(const char *op, tsr_type type, tsr_precision precision, tsr_error *err)
{
    if (type != TSR_F32 && type != TSR_F64 && !is_narrow(type))
        return tsr_fail(err, TSR_EINVAL, 0, "%s: takes floating-point types, not %s", op,
                        tsr_type_name(type));
    if ((unsigned)precision >= TSR_PRECISION_COUNT)
        return tsr_fail(err, TSR_EINVAL, 0, "%s: precision %d does not exist", op, (int)precision);
    if (real_is_plain(type, precision) ||
        (type == TSR_F32 && precision != TSR_PRECISION_F64 && precision != TSR_PRECISION_I8 &&
         precision != TSR_PRECISION_F8) ||
        (type_is_fp8(type) && precision == TSR_PRECISION_F32))
        return TSR_OK;
    return tsr_fail(err, TSR_EINVAL, 0, "%s: precision %s does not go with %s operands", op,
                    tsr_precision_name(precision), tsr_type_name(type));
}

tsr_status real_check_scale(const char *op, const char *name, tsr_type type, double value,
                            tsr_error *err)
{
    if (isfinite(value) && !isfinite(real_round(type, value)))
        return tsr_fail(err, TSR_EINVAL, 0, "%s: %s = %g is beyond the range of %s", op, name,
                        value, tsr_type_name(type));
    return TSR_OK;
}

bool real_is_plain(tsr_type type, tsr_precision precision)
{
    return real_precision(type, precision) == real_precision(type, TSR_PRECISION_DEFAULT);
}

const char *real_unsupported(tsr_type type, tsr_precision precision, const device_facts *d,
                             text *reason)
{
    if (real_sums(type) == TSR_F64 && !d->fp64)
        return "the device has no double precision";
    if (real_rounding(type, precision) > 0) {
        text_format(reason, "it computes in FP32, not in %s", tsr_precision_name(precision));
        return text_get(reason);
    }
    return NULL;
}

void real_defines(tsr_type type, text *out)
{
    const tsr_type sums = real_sums(type);

    text_append(out, sums == TSR_F64   ? " -DREAL=double -DREAL_BITS=64"
                     : sums == TSR_I32 ? " -DREAL=uint -DREAL_BITS=32"
                                       : " -DREAL=float -DREAL_BITS=32");
}

void real_defines_elements(tsr_type type, tsr_type result, text *out)
{
    static const char *const names[TSR_TYPE_COUNT] = {
        [TSR_F32] = "F32", [TSR_F64] = "F64", [TSR_F16] = "F16",       [TSR_BF16] = "BF16",
        [TSR_I8] = "I8",   [TSR_I32] = "I32", [TSR_F8E4M3] = "F8E4M3", [TSR_F8E5M2] = "F8E5M2"};

    real_defines(type, out);
    text_format(out, " -DFACTOR=%s -DRESULT=%s", names[type], names[result]);
}

double real_get(tsr_type type, const void *array, size_t i)
{
    switch (type) {
    case TSR_F64:
        return ((const double *)array)[i];
    case TSR_F16:
        return (double)half_to_float(((const uint16_t *)array)[i]);
    case TSR_BF16:
        return (double)bfloat_to_float(((const uint16_t *)array)[i]);
    case TSR_F8E4M3:
        return (double)e4m3_to_float(((const uint8_t *)array)[i]);
    case TSR_F8E5M2:
        return (double)e5m2_to_float(((const uint8_t *)array)[i]);
    case TSR_I8:
        return ((const int8_t *)array)[i];
    case TSR_I32:
        return ((const int32_t *)array)[i];
    default:
        return (double)((const float *)array)[i];
    }
}

void element_text(tsr_type type, const void *array, size_t i, char out[ELEMENT_TEXT_SIZE])
{
    if (type_is_real(type))
        snprintf(out, ELEMENT_TEXT_SIZE, type == TSR_F64 ? "%.17g" : "%.9g",
                 real_get(type, array, i));
    else if (type_is_signed(type))
        snprintf(out, ELEMENT_TEXT_SIZE, "%" PRId64, (int64_t)integer_get(type, array, i));
    else
        snprintf(out, ELEMENT_TEXT_SIZE, "%" PRIu64, integer_get(type, array, i));
}

/* The nearest whole number within a range, whose lowest stands for NaN. */
static double whole_of(double value, double least, double most)
{
    return isnan(value) ? least : fmin(fmax(nearbyint(value), least), most);
}

void real_set(tsr_type type, void *array, size_t i, double value)
{
    if (type == TSR_F64)
        ((double *)array)[i] = value;
    else if (type == TSR_F16)
        ((uint16_t *)array)[i] = half_of(value);
    else if (type == TSR_BF16)
        ((uint16_t *)array)[i] = bfloat_of(value);
    else if (type == TSR_F8E4M3)
        ((uint8_t *)array)[i] = e4m3_of(value);
    else if (type == TSR_F8E5M2)
        ((uint8_t *)array)[i] = e5m2_of(value);
    else if (type == TSR_I8)
        ((int8_t *)array)[i] = (int8_t)whole_of(value, INT8_MIN, INT8_MAX);
    else if (type == TSR_I32)
        ((int32_t *)array)[i] = (int32_t)whole_of(value, INT32_MIN, INT32_MAX);
    else
        ((float *)array)[i] = (float)value;
}

double real_round(tsr_type type, double value)
{
    double rounded = 0; /* eight bytes that hold any type */

    real_set(type, &rounded, 0, value);
    return real_get(type, &rounded, 0);
}

/* To 11 significant bits. */
static double tf32_of(float value)
{
    uint32_t bits;

    if (!isfinite(value))
        return (double)value;
    memcpy(&bits, &value, sizeof(bits));
    bits = (bits + 0xFFFu + (bits >> 13 & 1)) & 0xFFFFE000u;
    memcpy(&value, &bits, sizeof(value));
    return (double)value;
}

double real_rounded(tsr_precision precision, double value)
{
    switch (precision) {
    case TSR_PRECISION_TF32:
        return tf32_of((float)value);
    case TSR_PRECISION_BF16:
        return real_round(TSR_BF16, value);
    case TSR_PRECISION_F16:
        return real_round(TSR_F16, value);
    default:
        return value;
    }
}

/* NaN, infinities, denormals, both zeros and ordinary numbers in between. */
static double special(tsr_type type, uint64_t *state)
{
    const format *f = &formats[type];
    const double values[] = {NAN,     INFINITY,     -INFINITY, 0.0,    -0.0,
                             f->tiny, -f->tiny * 3, f->least,  f->most};
    uint64_t r = random_u64(state);

    /* Rare enough that most sums stay finite and are judged by value. */
    if (r % 64 < sizeof(values) / sizeof(values[0]))
        return values[r % 64];
    return 2 * random_unit(state) - 1;
}

/* Wide exponents; of types that have few, such that most sums of products stay in range. */
static double wide(tsr_type type, uint64_t *state)
{
    const double sign = random_u64(state) & 1 ? 1 : -1, unit = random_unit(state);

    return sign * exp2(type == TSR_F8E4M3                      ? 14 * unit - 9
                       : type == TSR_F16 || type == TSR_F8E5M2 ? 20 * unit - 14
                                                               : 40 * unit - 20);
}

/* Of all values of an integer type, powers of 2, or -8 to 8; its ends often where specials are. */
static double whole_random(tsr_type type, distribution f, uint64_t *state)
{
    const int bits = type == TSR_I8 ? 8 : 32;
    const double most = ldexp(1, bits - 1), sign = random_u64(state) & 1 ? 1 : -1;
    const uint64_t r = random_u64(state);

    if (f == DISTRIBUTION_FEW)
        return (double)(r % 17) - 8;
    if (f == DISTRIBUTION_ORDERED)
        return sign * ldexp(1, (int)(r % (uint64_t)(bits - 1)));
    if (f == DISTRIBUTION_SPECIAL && r % 4 == 0)
        return r % 8 ? most - 1 : -most;
    return (double)(r >> (64 - bits)) - most;
}

double real_random(tsr_type type, distribution f, uint64_t *state)
{
    double v = 0;

    if (type == TSR_I8 || type == TSR_I32)
        return whole_random(type, f, state);

    switch (f) {
    case DISTRIBUTION_SPECIAL:
        v = special(type, state);
        break;
    case DISTRIBUTION_FEW:
        v = (double)(random_u64(state) % 17) - 8;
        break;
    case DISTRIBUTION_ORDERED:
        v = wide(type, state);
        break;
    default:
        v = 2 * random_unit(state) - 1;
        break;
    }
    return real_round(type, v);
}

static bool is_denormal(tsr_type type, double v)
{
    return v != 0 && fabs(v) < formats[type].least;
}

real_sum real_sum_start(tsr_type type, tsr_precision precision, const device_facts *d)
{
    const tsr_type sums = real_sums(type);
    const bool keeps = sums == TSR_F64 ? d->denormals_f64 : d->denormals_f32;
    const long double rounding = real_rounding(type, precision);
    const bool in_blocks = real_precision(type, precision) == TSR_PRECISION_F8;

    /* A denormal factor may lose all its bits to the rounding. */
    return (real_sum){.type = sums,
                      .result = type,
                      .flushes = !keeps || rounding > 0,
                      .plain =
                          keeps && rounding == 0 && real_grain(type, precision) == 0 && !in_blocks,
                      .in_blocks = in_blocks,
                      .factor_least = formats[type].least,
                      .rounding = rounding,
                      .grain = real_grain(type, precision)};
}

/* A factor as it is multiplied: what float16 does not hold is infinite there. */
static double factor(const real_sum *s, double x)
{
    return s->grain > 0 && fabs(x) >= formats[TSR_F16].over ? copysign(INFINITY, x) : x;
}

/* Of two numbers, neither a NaN: a call of fmaxl costs as much as all else here. */
static long double larger(long double a, long double b)
{
    return a > b ? a : b;
}

/* A factor that rounds up to infinity: its product is one of that sign, or NaN with zero and with a
 * denormal, which may count as zero. */
static void note_rounded_up(real_sum *s, double a, double b)
{
    const long double most = (long double)FLT_MAX / (1 + s->rounding);
    const bool none = a * b == 0 || is_denormal(s->type, a) || is_denormal(s->type, b);

    if (!isfinite(a) || !isfinite(b) || larger(fabsl((long double)a), fabsl((long double)b)) < most)
        return;
    s->may_plus = s->may_plus || signbit(a) == signbit(b) || none;
    s->may_minus = s->may_minus || signbit(a) != signbit(b) || none;
}

/* How far a factor may be off once it is rounded. */
static long double off(const real_sum *s, double x)
{
    return x == 0 ? 0 : larger(s->rounding * fabsl((long double)x), s->grain);
}

/* A block of products of FP8 numbers, and what matrix units may lose of its sum. */

static long double block_loss(const real_sum *s)
{
    long double unit;
    int exponent;

    if (s->block_sum == 0)
        return 0;
    frexpl(s->block_sum, &exponent);
    unit = ldexpl(1, exponent - 1 - REAL_UNIT_BITS);
    /* All terms are multiples of it: none is cut. */
    if ((long double)(s->block_bits & -s->block_bits) * 0x1p-32L >= unit)
        return 0;
    return (REAL_BLOCK + REAL_BLOCK_STEPS) * unit;
}

static void add_to_block(real_sum *s, double a, double b)
{
    const double product = fabs(a * b); /* exact: of few bits */

    if (s->terms % REAL_BLOCK == 0) {
        s->rounded += block_loss(s);
        s->block_sum = 0;
        s->block_bits = 0;
    }
    if (isfinite(product)) {
        /* As the unit aligns it: a denormal factor has the exponent of the smallest normal one. */
        s->block_sum += a == 0 || b == 0 ? 0
                                         : larger(fabsl((long double)a), s->factor_least) *
                                               larger(fabsl((long double)b), s->factor_least);
        s->block_bits |= (uint64_t)(product * 0x1p32); /* from 2^-32 to below 2^32 */
    }
}

void real_sum_add_any(real_sum *s, double a_given, double b_given)
{
    const double a = factor(s, a_given), b = factor(s, b_given);
    const bool flushed = s->flushes && (is_denormal(s->type, a) || is_denormal(s->type, b));
    const bool lost = (a != 0 && fabs(a) <= (double)s->grain) ||
                      (b != 0 && fabs(b) <= (double)s->grain); /* rounds to zero */
    const long double product = (long double)a * b;

    if (s->in_blocks)
        add_to_block(s, a, b);
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
        if (s->rounding > 0)
            s->rounded += fabsl((long double)a) * off(s, b) + off(s, a) * fabsl((long double)b) +
                          off(s, a) * off(s, b);
        return;
    }
    if (isnan(a) || isnan(b) || a == 0 || b == 0)
        s->nan = true;
    else if (signbit(a) == signbit(b))
        s->plus_inf = true;
    else
        s->minus_inf = true;
    s->unsure = s->unsure || flushed || lost;
}

bool real_sum_add_floats(real_sum *s, const float *a, size_t step_a, const float *b, size_t step_b,
                         size_t count)
{
    double sum = 0, magnitude = 0;

    if (!s->plain)
        return false;
    if (step_a == 1 && step_b == 1) {
#pragma omp simd reduction(+ : sum, magnitude)
        for (size_t i = 0; i < count; i++) {
            const double product = (double)a[i] * b[i];

            sum += product;
            magnitude += fabs(product);
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            const double product = (double)a[i * step_a] * b[i * step_b];

            sum += product;
            magnitude += fabs(product);
        }
    }
    if (!isfinite(magnitude))
        return false;
    s->terms += count;
    s->positive += ((long double)magnitude + sum) / 2;
    s->negative += ((long double)magnitude - sum) / 2;
    return true;
}

long double real_sum_value(const real_sum *s)
{
    return s->positive - s->negative;
}

long double real_gamma(tsr_type type, size_t n)
{
    const long double nu = (long double)n * formats[real_sums(type)].unit;

    return nu < 0.5L ? nu / (1 - nu) : 2 * nu;
}

long double real_rounding(tsr_type type, tsr_precision precision)
{
    if (type != TSR_F32)
        return 0;
    return precision == TSR_PRECISION_TF32 || precision == TSR_PRECISION_F16 ? 0x1p-11L
           : precision == TSR_PRECISION_BF16                                 ? 0x1p-8L
                                                                             : 0;
}

long double real_grain(tsr_type type, tsr_precision precision)
{
    return type == TSR_F32 && precision == TSR_PRECISION_F16 ? formats[TSR_F16].tiny / 2 : 0;
}

long double real_block_loss(tsr_type type, tsr_precision precision)
{
    return real_precision(type, precision) == TSR_PRECISION_F8
               ? ldexpl(REAL_BLOCK + REAL_BLOCK_STEPS, -REAL_UNIT_BITS)
               : 0;
}

double real_least(tsr_type type)
{
    return formats[type].least;
}

double real_most(tsr_type type)
{
    return formats[type].most;
}

double real_unit(tsr_type type)
{
    return formats[type].unit;
}

long double real_product_bound(tsr_type type, long double v, size_t n)
{
    const long double r = v * (2 + v);

    return r + real_gamma(type, n) * (1 + r);
}

long double real_stored_bound(tsr_type result, long double value, long double error)
{
    const format *f = &formats[result];

    if (!is_narrow(result))
        return error;
    if (type_is_fp8(result))
        value = fminl(fabsl(value), f->most);
    return error + fmaxl(f->unit * (fabsl(value) + error), f->tiny / 2);
}

/* A result: alpha times a sum plus beta c, or two of these added up. */
typedef struct scaled {
    real_scaled part[2];
    size_t count;
} scaled;

/* Roundings that a term goes through: of its product and sum, and of each part's two additions. */
static size_t roundings(const scaled *x)
{
    return x->part[0].sum->terms + 2 * x->count;
}

/* What a sum of terms of this magnitude may be off by, underflow apart. */
static long double sum_error(const real_sum *s, size_t n, long double magnitude)
{
    const long double rounded = s->rounded + block_loss(s);

    return rounded + real_gamma(s->type, n) * (magnitude + rounded);
}

/* What the result may be off by before it is stored, underflow apart. */
static long double result_error(const scaled *x)
{
    long double error = 0;

    for (size_t i = 0; i < x->count; i++) {
        const real_scaled *p = &x->part[i];
        const real_sum *s = p->sum;

        error +=
            sum_error(s, roundings(x), s->positive + s->negative) * fabsl((long double)p->alpha) +
            real_gamma(s->type, roundings(x)) * fabsl((long double)p->beta * p->c);
    }
    return error;
}

static long double exact_value(const scaled *x)
{
    long double value = 0;

    for (size_t i = 0; i < x->count; i++)
        value += (long double)x->part[i].alpha * real_sum_value(x->part[i].sum) +
                 (long double)x->part[i].beta * x->part[i].c;
    return value;
}

/* Which non-finite results are implied, and which may come of overflow on the way. */
typedef struct outcome {
    bool nan, plus, minus;            /* the operands say so */
    bool may_overflow, may_underflow; /* to +inf, to -inf */
    bool beyond;                      /* the result is more than its type holds */
} outcome;

/* Whether `value`, off by `slack`, may exceed what the type holds. */
static void note_overflow(outcome *o, long double value, long double slack, long double most)
{
    o->may_overflow = o->may_overflow || value + slack > most;
    o->may_underflow = o->may_underflow || value - slack < -most;
}

/* The same for a result that is rounded to a type of 16 bits, and whether it has to exceed it. */
static void note_stored(outcome *o, const real_sum *s, long double value, long double slack)
{
    const long double over = formats[s->result].over;

    if (!is_narrow(s->result))
        return;
    o->may_overflow = o->may_overflow || value + slack >= over;
    o->may_underflow = o->may_underflow || value - slack <= -over;
    o->beyond = fabsl(value) - slack >= over;
}

/* What a sum's non-finite terms, and c, imply once they are scaled. */
static void note_operands(outcome *o, const real_scaled *p)
{
    const real_sum *s = p->sum;
    const bool turned = p->alpha < 0;

    o->nan = o->nan || s->nan || isnan(p->alpha) || isnan(p->beta) || isnan(p->c);
    if (p->alpha == 0)
        o->nan = o->nan || s->plus_inf || s->minus_inf; /* of a pair: 0 times infinity */
    o->plus = o->plus || (turned ? s->minus_inf : s->plus_inf);
    o->minus = o->minus || (turned ? s->plus_inf : s->minus_inf);
    if (!isinf(p->c))
        return;
    o->nan = o->nan || p->beta == 0;
    o->plus = o->plus || (p->c > 0) == (p->beta > 0);
    o->minus = o->minus || (p->c > 0) != (p->beta > 0);
}

/* What overflow on the way to a sum may make of the result.  Partial sums, in whatever order, lie
 * between the sums of the terms of one sign. */
static void note_sum(outcome *o, const real_scaled *p, size_t n)
{
    const real_sum *s = p->sum;
    const long double most = formats[s->type].most;
    outcome sum = {0};
    bool either;

    note_overflow(&sum, -s->negative, sum_error(s, n, s->negative), most);
    note_overflow(&sum, s->positive, sum_error(s, n, s->positive), most);
    sum.may_overflow = sum.may_overflow || s->may_plus;
    sum.may_underflow = sum.may_underflow || s->may_minus;
    either = p->alpha == 0 && (sum.may_overflow || sum.may_underflow); /* NaN: 0 times infinity */
    o->may_overflow =
        o->may_overflow || either || (p->alpha < 0 ? sum.may_underflow : sum.may_overflow);
    o->may_underflow =
        o->may_underflow || either || (p->alpha < 0 ? sum.may_overflow : sum.may_underflow);
}

static outcome outcome_of(const scaled *x)
{
    const real_sum *first = x->part[0].sum;
    const long double most = formats[first->type].most;
    long double above = 0, below = 0, value, error;
    scaled finite = *x;
    bool scales_finite = true;
    outcome o = {0};

    for (size_t i = 0; i < x->count; i++) {
        note_operands(&o, &x->part[i]);
        scales_finite = scales_finite && !isinf(x->part[i].alpha) && !isinf(x->part[i].beta);
        if (isinf(x->part[i].c))
            finite.part[i].c = 0;
    }
    o.nan = o.nan || (o.plus && o.minus);
    if (o.nan || !scales_finite)
        return o;
    error = result_error(&finite);
    for (size_t i = 0; i < x->count; i++)
        note_sum(&o, &x->part[i], roundings(x));
    /* So do they once they are scaled, of which some may be added to beta c before others. */
    for (size_t i = 0; i < x->count; i++) {
        const real_scaled *p = &finite.part[i];
        const long double alpha = p->alpha, c = (long double)p->beta * p->c;

        above += fmaxl(alpha * p->sum->positive, alpha * -p->sum->negative) + fmaxl(c, 0);
        below += fminl(alpha * p->sum->positive, alpha * -p->sum->negative) + fminl(c, 0);
    }
    value = exact_value(&finite);
    note_overflow(&o, above, error, most);
    note_overflow(&o, below, error, most);
    note_stored(&o, first, value, error);
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

/* What underflow of one part may add to the error. */
static long double underflow_of(const real_scaled *p)
{
    const real_sum *s = p->sum;
    const format *f = &formats[s->type];
    const long double n = (long double)s->terms;
    const long double scale = fabsl((long double)p->alpha);
    long double flushed = s->flushed * scale;

    if (!s->flushes)
        return (n + 2) * fmaxl(1, scale) * f->tiny;
    if (is_denormal(s->type, p->alpha))
        flushed = scale * (s->positive + s->negative);
    if (is_denormal(s->type, p->c) || is_denormal(s->type, p->beta))
        flushed += fabsl((long double)p->beta * p->c);
    return flushed + (2 * n + 3) * fmaxl(1, scale) * f->least;
}

static double judge(const scaled *x, double got)
{
    const real_sum *first = x->part[0].sum;
    const bool saturates = type_is_fp8(first->result);
    const double most = formats[first->result].most;
    long double exact, error, bound;
    outcome o = outcome_of(x);

    for (size_t i = 0; i < x->count && !o.nan; i++) {
        const real_scaled *p = &x->part[i];

        /* Infinity times a sum: its sign, or NaN, may hang on the rounding of the sum. */
        if (p->sum->unsure || isinf(p->alpha) || isinf(p->beta))
            return saturates       ? (isnan(got) || fabs(got) == most ? 0 : INFINITY)
                   : isfinite(got) ? INFINITY
                                   : 0;
    }
    if (!isfinite(got))
        return class_fits(&o, got) && !(isinf(got) && saturates) ? 0 : INFINITY;
    exact = exact_value(x);
    if (saturates) {
        /* What is infinite, or may be, has become the largest number. */
        if (fabs(got) == most && class_fits(&o, copysign(INFINITY, got)))
            return 0;
        exact = fmaxl(fminl(exact, most), -most);
    }
    if (o.nan || o.plus || o.minus || o.beyond)
        return INFINITY;
    error = fabsl((long double)got - exact);
    if (error == 0)
        return 0;
    bound = result_error(x);
    for (size_t i = 0; i < x->count; i++)
        bound += underflow_of(&x->part[i]);
    return (double)(error / real_stored_bound(first->result, exact, bound));
}

double real_judge(const real_sum *s, double alpha, double beta, double c, double got)
{
    const real_sum none = {.type = s->type, .result = s->result, .flushes = s->flushes};
    const scaled x = {.part = {{alpha == 0 ? &none : s, alpha, beta, beta == 0 ? 0 : c}},
                      .count = 1};

    return judge(&x, got);
}

double real_judge_scaled(const real_sum *s, double alpha, double beta, double c, double got)
{
    const scaled x = {.part = {{s, alpha, beta, beta == 0 ? 0 : c}}, .count = 1};

    return judge(&x, got);
}

double real_judge_pair(const real_scaled x[2], double got)
{
    const scaled both = {.part = {x[0], x[1]}, .count = 2};

    return judge(&both, got);
}
