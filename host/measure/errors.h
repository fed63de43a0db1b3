/**
 * How far results of products are from exact ones, on distributions of inputs.
 *
 * The measure is componentwise, for C := A B and for y := A x alike:
 *
 *     |C - exact|_ij / (|A| |B|)_ij
 *
 * A sum of k products that are computed with unit roundoff u, in whatever order,
 * is off by at most gamma_k (|A| |B|)_ij with gamma_k = k u / (1 - k u), and no
 * bound relative to the exact result holds, since its terms may cancel (Higham,
 * Accuracy and Stability of Numerical Algorithms, 2nd ed., sections 3.1 and
 * 3.5).  So the quotient, in units of u, says how exact the arithmetic is,
 * whatever the operands are.
 *
 * Exact is the product of the operands as they are stored, not as a precision
 * rounds them.  Products are formed and added up in long double, with the
 * rounding errors of the sum carried along (Knuth's two-sum): of float32 and
 * narrower operands products are exact, of float64 off by 2^-64 of themselves.
 */
#ifndef MEASURE_ERRORS_H
#define MEASURE_ERRORS_H

#include "core/dispatch.h"

typedef enum error_distribution {
    ERRORS_UNIFORM,    /* U(-1, 1) */
    ERRORS_WIDE,       /* +-2^U(-20, 20), of float16 +-2^U(-14, 6) */
    ERRORS_CANCELLING, /* the first half of each sum is positive, the second its opposite but for
                          2^-6 of each term */
    ERRORS_SPECIAL,    /* U(-1, 1) with denormals and zeros of both signs; of eight rows and eight
                          columns four are finite, and one each has NaN, +inf, -inf, both */
    ERRORS_DISTRIBUTIONS
} error_distribution;

/** "uniform", "wide", "cancelling", "special". */
const char *errors_distribution_name(error_distribution f);

/** What becomes of an element. */
typedef enum error_class {
    ERRORS_FINITE,
    ERRORS_NAN,
    ERRORS_PLUS,  /* +inf */
    ERRORS_MINUS, /* -inf */
    ERRORS_OPEN   /* left out: the result may overflow, or infinity met what may count as zero */
} error_class;

/** One element of the exact result. */
typedef struct error_sample {
    size_t at; /* its index in the result's array, in elements */
    error_class is;
    long double exact; /* where it is finite */
    long double scale; /* (|A| |B|)_ij */
} error_sample;

/** Inputs of a distribution, and what should come out. */
typedef struct error_case {
    const problem *problem; /* borrowed */
    error_distribution distribution;
    operand operand[OPERANDS_MAX];
    size_t operand_count;
    void *before[OPERANDS_MAX]; /* the operands, the result's with what it held */
    error_sample *samples;
    size_t count;
    bool sampled; /* fewer than all elements */
} error_case;

/** What was found in one result. */
typedef struct error_found {
    double max, rms; /* of |C - exact| / (|A| |B|) over finite elements; INFINITY where one of them
                        came out as none */
    size_t elements; /* looked at: those that are not ERRORS_OPEN */
    size_t differ;   /* of them: NaN, +inf, -inf or finite, and should be another of these */
    size_t tiles, strict_tiles; /* of errors_of_run: as tsr_report has them */
} error_found;

/** The u in units of which errors of a problem are given: that of its result's element type. */
double errors_unit(const problem *p);

/**
 * Make the inputs of a distribution, and the exact result of some elements: of all of
 * them up to 2^28 multiply-adds and 2^20 elements, else of that many, a random
 * one of each part of a grid over the rows and columns.
 *
 * @param p    of an operation with products, alpha 1 and beta 0, no empty dimension.
 * @param out  To be freed with errors_close, also on failure.
 * @return TSR_OK or TSR_ENOMEM.
 */
tsr_status errors_open(const problem *p, uint64_t seed, error_distribution f, error_case *out,
                       tsr_error *err);
void errors_close(error_case *c);

/** Compare an array of results with what should come out. */
void errors_measure(const error_case *c, const void *result, error_found *out);

/** Run a variant on the inputs, and measure its result.  Errors as host_memory_run. */
tsr_status errors_of_run(tsr_session *s, const tsr_run *run, const error_case *c, error_found *out,
                         tsr_error *err);

#endif
