/**
 * What matmul and matvec share: their element types, and the error that
 * floating-point sums of products may have.
 */
#ifndef OPS_REAL_H
#define OPS_REAL_H

#include "ops/variant.h"

/** TSR_EINVAL unless type is float32 or float64 and precision is one that it can have. */
tsr_status real_check(const char *op, tsr_type type, tsr_precision precision, tsr_error *err);

/** TSR_EINVAL where a finite alpha or beta becomes infinite in the element type. */
tsr_status real_check_scales(const char *op, tsr_type type, double alpha, double beta,
                             tsr_error *err);

/** Whether a precision is what operands of the type get unasked: DEFAULT, F32, F64. */
bool real_is_plain(tsr_type type, tsr_precision precision);

/**
 * NULL, or why the portable kernels (chains of multiply-adds in the element
 * type) cannot serve: a device without double, or a precision that asks for
 * another arithmetic by name.
 */
const char *real_unsuited(tsr_type type, tsr_precision precision, const device_facts *d,
                          text *reason);

/** " -DREAL=float -DREAL_BITS=32". */
void real_defines(tsr_type type, text *out);

/** Element i of an array of float or double. */
double real_get(tsr_type type, const void *array, size_t i);

/** Store value, rounded, as element i. */
void real_set(tsr_type type, void *array, size_t i, double value);

/** value rounded to the type: what alpha and beta become. */
double real_round(tsr_type type, double value);

/** One reproducible element of a family of inputs. */
double real_random(tsr_type type, family f, uint64_t *state);

/**
 * A sum of products a_i * b_i, kept exact enough to judge a result of the
 * element type: products of float32 are exact, of float64 rounded to long double.
 */
typedef struct real_sum {
    tsr_type type;
    bool flushes;                  /* denormals may become zero */
    long double rounding;          /* relative, of each factor before it is multiplied */
    size_t terms;                  /* number of a_i * b_i */
    long double positive;          /* sum of the finite terms above zero */
    long double negative;          /* and of those below, as a magnitude */
    long double flushed;           /* magnitude of the terms with a denormal factor */
    bool nan, plus_inf, minus_inf; /* what the non-finite terms imply */
    bool may_plus, may_minus;      /* a factor that is rounded up to infinity may make it */
    bool unsure; /* infinity met a denormal that may be flushed: which class is left open */
} real_sum;

real_sum real_sum_start(tsr_type type, tsr_precision precision, const device_facts *d);
void real_sum_add(real_sum *s, double a, double b);

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
 * multiplied: 2^-11 for tf32 (11 significant bits), 2^-8 for bf16 (8); 0 where
 * factors stay as they are.  Both have float32's exponents; f16, which has not,
 * would need terms of its own and is judged as float32.  What lies within v of
 * the largest float32 may become infinity.
 */
long double real_rounding(tsr_precision precision);

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
 * Judge one element.  got = alpha * sum + beta * c has to lie within
 *
 *     B |alpha| sum |a_i b_i| + gamma_(k+2) |beta c| + underflow,
 *
 * where B is real_product_bound, so gamma_(k+2) too unless factors are rounded.
 * The underflow term is k + 2 times the smallest denormal; where the device
 * flushes or factors are rounded, 2 k + 3 times the smallest normal number and
 * every product of a denormal.  A NaN among the operands that count has to give
 * NaN.  An infinity has to give the class that IEEE 754 implies.  Where the terms
 * of one sign may overflow in some order, that infinity passes too, and NaN where
 * those of both may.  alpha == 0 ignores the sum, beta == 0 ignores c.
 *
 * @return |error| / bound, at most 1 where got is right; INFINITY for a wrong class.
 */
double real_judge(const real_sum *s, double alpha, double beta, double c, double got);

#endif
