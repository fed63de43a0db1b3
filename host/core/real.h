/**
 * What operations on sums of products share: their element types, and the error
 * that such sums have in floating point.
 */
#ifndef CORE_REAL_H
#define CORE_REAL_H

#include <math.h>

#include "core/variant.h"

/** What products and sums of a type are computed in: float64 for float64 and complex128, int32 for
 *  int8 and int32, else float32. */
tsr_type real_sums(tsr_type type);

/** The precision, TSR_PRECISION_DEFAULT by the name that it has: what the operands' type gives. */
tsr_precision real_precision(tsr_type type, tsr_precision precision);

/**
 * TSR_EINVAL unless type is float32, float64, float16, bfloat16 or FP8, and precision is one that
 * it can have: its own, of float32 those that round its factors, and of FP8 f32.
 */
tsr_status real_check(const char *op, tsr_type type, tsr_precision precision, tsr_error *err);

/** TSR_EINVAL where a finite factor, such as "alpha", becomes infinite in a type. */
tsr_status real_check_scale(const char *op, const char *name, tsr_type type, double value,
                            tsr_error *err);

/** Whether a precision is what operands of the type get unasked: DEFAULT, or its own. */
bool real_is_plain(tsr_type type, tsr_precision precision);

/**
 * NULL, or why the portable kernels (chains of multiply-adds of what their
 * operands hold) cannot serve: a device without double, or a precision that asks
 * for factors that are rounded first.
 */
const char *real_unsupported(tsr_type type, tsr_precision precision, const device_facts *d,
                             text *reason);

/** " -DREAL=float -DREAL_BITS=32": the type of the sums, of integers without a sign, which wrap. */
void real_defines(tsr_type type, text *out);

/** The same, and how factors and results are stored. */
void real_defines_elements(tsr_type type, tsr_type result, text *out);

/** Element i of an array of float, double, float16, bfloat16, FP8, int8 or int32. */
double real_get(tsr_type type, const void *array, size_t i);

/** Element i of any array, as messages have it: a decimal number. */
enum { ELEMENT_TEXT_SIZE = 32 };
void element_text(tsr_type type, const void *array, size_t i, char out[ELEMENT_TEXT_SIZE]);

/** Store value, rounded to nearest even, as element i; of integers the lowest for NaN; FP8
 *  saturates. */
void real_set(tsr_type type, void *array, size_t i, double value);

/** value rounded to the type: what alpha and beta become in that of the sums. */
double real_round(tsr_type type, double value);

/**
 * What TSR_PRECISION_F8 promises of a sum.  Matrix units add up products of FP8 numbers in fixed
 * point: each product and each sum so far is cut off REAL_UNIT_BITS bits behind the first bit of
 * the largest of them.  Variants let them add up REAL_BLOCK products, in REAL_BLOCK_STEPS steps at
 * most, of which each cuts its products and the sum before it, and add those sums up in float32.
 * With S the sum of the magnitudes of a block's products, none of the terms has a bit before
 * that of S, so that the block loses less than
 *
 *     (REAL_BLOCK + REAL_BLOCK_STEPS) 2^(floor(log2 S) - REAL_UNIT_BITS),
 *
 * which is at most 144 / 2^13 S, and nothing where no product has a bit that is cut off.
 */
enum { REAL_BLOCK = 128, REAL_BLOCK_STEPS = 16, REAL_UNIT_BITS = 13 };

/** (REAL_BLOCK + REAL_BLOCK_STEPS) / 2^REAL_UNIT_BITS for what has TSR_PRECISION_F8, else 0. */
long double real_block_loss(tsr_type type, tsr_precision precision);

/** A float32 factor as a precision has it: to nearest even, for tf32, bf16 and f16; else as it is.
 */
double real_rounded(tsr_precision precision, double value);

/** One reproducible element of a distribution of inputs. */
double real_random(tsr_type type, distribution f, uint64_t *state);

/**
 * A sum of products a_i * b_i, kept exact enough to judge a result: products of
 * float32 and narrower are exact, of float64 rounded to long double.
 */
typedef struct real_sum {
    tsr_type type;                 /* of products and sums: float32 or float64 */
    tsr_type result;               /* that the result is stored in: the operands', or set it */
    bool flushes;                  /* denormals may become zero */
    bool plain;                    /* they do not, and factors are not rounded */
    long double rounding;          /* relative, of each factor before it is multiplied */
    long double grain;             /* absolute, where it is more; 0 but for float16 */
    size_t terms;                  /* number of a_i * b_i */
    long double positive;          /* sum of the finite terms above zero */
    long double negative;          /* and of those below, as a magnitude */
    long double flushed;           /* magnitude of the terms with a denormal factor */
    long double rounded;           /* what rounding the factors may add to the error */
    bool in_blocks;                /* TSR_PRECISION_F8: sums of blocks may lose bits */
    double factor_least;           /* smallest normal number of the factors' type */
    long double block_sum;         /* magnitudes of the products of the block so far, */
    uint64_t block_bits;           /* and their bits, those from 2^-32 on */
    bool nan, plus_inf, minus_inf; /* what the non-finite terms imply */
    bool may_plus, may_minus;      /* a factor that is rounded up to infinity may make it */
    bool unsure;                   /* infinity met what may become zero: which class is left open */
} real_sum;

real_sum real_sum_start(tsr_type type, tsr_precision precision, const device_facts *d);
void real_sum_add_any(real_sum *s, double a, double b);

/** Add a * b.  Nearly every product is finite, and of a plain sum: those take most of the time of a
 * proof.  Nobody can predict their signs, so there is no branch on them. */
static inline void real_sum_add(real_sum *s, double a, double b)
{
    const long double product = (long double)a * b;

    if (s->plain && isfinite(a) && isfinite(b)) {
        long double *const to = product > 0 ? &s->positive : &s->negative;

        s->terms++;
        *to += fabsl(product);
        return;
    }
    real_sum_add_any(s, a, b);
}

/**
 * Add the products of `count` float32 of a and b, `step` elements apart each, by double: their
 * products are exact there, and the error of the sums, at most count 2^-53 of the magnitudes, is
 * 2^-29 of what the bound allows.  False, and nothing is added, where one is not finite, or the sum
 * is not plain.
 */
bool real_sum_add_floats(real_sum *s, const float *a, size_t step_a, const float *b, size_t step_b,
                         size_t count);

/** The sum of the finite terms. */
long double real_sum_value(const real_sum *s);

/**
 * gamma_n = n u / (1 - n u), u the unit roundoff of the type, while n u < 1/2
 * (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section
 * 3.1); beyond, 2 n u, since sums and inner products of any length err by at
 * most n u (Jeannerod and Rump, "Improved error bounds for inner products in
 * floating-point arithmetic", SIAM J. Matrix Anal. Appl. 34, 2013).
 */
long double real_gamma(tsr_type type, size_t n);

/**
 * The largest relative error v of a factor that `precision` rounds before it is
 * multiplied: of float32, 2^-11 for tf32 and f16 (11 significant bits), 2^-8 for
 * bf16 (8); 0 where factors stay as they are, those of 16 bits among them.  tf32
 * and bf16 have float32's exponents: what lies within v of the largest float32
 * may become infinity.  f16 has not: from 65520 on a factor is infinite.
 */
long double real_rounding(tsr_type type, tsr_precision precision);

/** The largest absolute error of a factor that is rounded to f16's denormals: 2^-25; else 0. */
long double real_grain(tsr_type type, tsr_precision precision);

/** The smallest normal number of a type. */
double real_least(tsr_type type);

/** The largest finite number of a type. */
double real_most(tsr_type type);

/** The unit roundoff of a type: 2^-24 of float32, the largest relative error of rounding to it. */
double real_unit(tsr_type type);

/**
 * Error of a sum of n - 2 products over the sum of their magnitudes, where each
 * factor is off by a relative v, and products and sums are the type's.
 *
 * a (1 + d) b (1 + e) with |d|, |e| <= v is off from a b by at most r |a b| with
 * r = (1 + v)^2 - 1, and at most (1 + r) |a b| large, to which gamma_n applies:
 *
 *     r + gamma_n (1 + r),  which is gamma_n for v = 0.
 */
long double real_product_bound(tsr_type type, long double v, size_t n);

/**
 * The error of a result that is stored in a type: `error` of it as it was computed, and
 * where that was wider, half a unit in the last place of what may have come out:
 * error + max(u (|value| + error), half the smallest denormal).
 */
long double real_stored_bound(tsr_type result, long double value, long double error);

/**
 * Judge one number.  got = alpha * sum + beta * c has to lie within
 *
 *     |alpha| (R + gamma_(k+2) (sum |a_i b_i| + R)) + gamma_(k+2) |beta c| + underflow,
 *
 * made wider by real_stored_bound, where R is what rounding the factors may do:
 * sum |a_i| e_i + d_i |b_i| + d_i e_i for factors off by d_i and e_i, each at most
 * max(v |x|, grain); for a grain of 0 that is real_product_bound, so gamma_(k+2)
 * too unless factors are rounded.
 * The underflow term is k + 2 times the smallest denormal of the sums; where the device
 * flushes or factors are rounded, 2 k + 3 times the smallest normal number and
 * every product of a denormal.  A NaN among the operands that count has to give
 * NaN.  An infinity has to give the class that IEEE 754 implies.  Where the terms
 * of one sign may overflow in some order, that infinity passes too, and NaN where
 * those of both may; where a type of 16 bits cannot hold the result, only infinity
 * does.  FP8 results saturate: infinity of a sign is the largest number there.  Of sums in blocks,
 * R is what they may lose (TSR_PRECISION_F8).  alpha == 0 ignores the sum, beta == 0 ignores c.
 *
 * @return |error| / bound, at most 1 where got is right; INFINITY for a wrong class.
 */
double real_judge(const real_sum *s, double alpha, double beta, double c, double got);

/** The same where alpha is a factor like any other: 0 times what is not finite is NaN. */
double real_judge_scaled(const real_sum *s, double alpha, double beta, double c, double got);

/** A number that is alpha times a sum plus beta c. */
typedef struct real_scaled {
    const real_sum *sum;
    double alpha, beta, c;
} real_scaled;

/**
 * Judge one number that is two such ones added up, as each part of a complex number is where alpha
 * or beta are complex.  The bound is that of real_judge, of both together, with gamma_(k+4): two
 * more additions.  No factor is passed over: 0 times what is not finite is NaN.
 */
double real_judge_pair(const real_scaled x[2], double got);

#endif
