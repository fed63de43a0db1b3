/**
 * What matmul and matvec share: their element types, and the error that
 * floating-point sums of products may have.
 */
#ifndef OPS_REAL_H
#define OPS_REAL_H

#include "ops/variant.h"

/** TSR_EINVAL unless type is float32 or float64 and precision is one that it can have. */
tsr_status real_check(const char *op, tsr_type type, tsr_precision precision, tsr_error *err);

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
 * A sum of products alpha * a_i * b_i + beta * c, kept exact enough to judge a
 * result of the element type: double for float32, long double for float64.
 */
typedef struct real_sum {
    tsr_type type;
    bool flushes;                  /* the device flushes denormals to zero */
    size_t terms;                  /* number of a_i * b_i */
    long double sum;               /* of the finite a_i * b_i */
    long double magnitude;         /* of their absolute values */
    long double flushed;           /* of those with a denormal factor */
    bool nan, plus_inf, minus_inf; /* what the non-finite terms imply */
    bool unsure; /* infinity met a denormal that may be flushed: which class is left open */
} real_sum;

real_sum real_sum_start(tsr_type type, const device_facts *d);
void real_sum_add(real_sum *s, double a, double b);

/**
 * Judge one element.  got = alpha * sum + beta * c has to lie within
 *
 *     gamma_(k+2) (|alpha| sum |a_i b_i| + |beta c|) + underflow,
 *
 * gamma_n = n u / (1 - n u), u the unit roundoff (Higham, Accuracy and
 * Stability of Numerical Algorithms, 2nd ed., sections 3.1 and 3.5), where the
 * underflow term is k + 2 times the smallest denormal (the smallest normal
 * number, and every product of a denormal, where the device flushes).  Where
 * an operand is not finite, got must be of the class that IEEE 754 implies;
 * where finite terms may overflow on the way, any non-finite value passes.
 * alpha == 0 ignores the sum, beta == 0 ignores c.
 *
 * @return |error| / bound, at most 1 where got is right; INFINITY for a wrong class.
 */
double real_judge(const real_sum *s, double alpha, double beta, double c, double got);

#endif
