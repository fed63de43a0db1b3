/** Reduction: of an array, or along one of its axes, the sum, mean, norm, extreme or count. */
#ifndef TESSERA_REDUCE_H
#define TESSERA_REDUCE_H

#include <stdbool.h>
#include <stddef.h>

#include "tessera/run.h"
#include "tessera/session.h"
#include "tessera/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What elements are reduced to, and the type of the result, which is NumPy's.
 *
 * NaN: a sum, mean, norm, minimum or maximum with a NaN among its elements is NaN; argmin and
 * argmax find the first NaN; a NaN is not 0, and so counts.  Of -0 and +0, which are equal, a
 * minimum or maximum may be either.
 */
typedef enum tsr_reduction {
    TSR_REDUCE_SUM = 0, /* of integers int64 or uint64, modulo 2^64; else the elements' type */
    TSR_REDUCE_MIN,     /* the elements' type */
    TSR_REDUCE_MAX,
    TSR_REDUCE_ARGMIN, /* the index of the first least element; int64 */
    TSR_REDUCE_ARGMAX,
    TSR_REDUCE_MEAN,  /* of integers float64, else the elements' type; of no elements NaN */
    TSR_REDUCE_NORM2, /* the square root of the sum of squares; types as the mean's */
    TSR_REDUCE_ANY,   /* uint8: 1 where an element is not 0, else 0 */
    TSR_REDUCE_ALL,   /* uint8: 1 where no element is 0, else 0 */
    TSR_REDUCE_COUNT  /* of elements that are not 0; int64 */
} tsr_reduction;

/**
 * result[o][j] := x[o][0][j] op x[o][1][j] op ... op x[o][n - 1][j], of any type.
 *
 *     x[o][i][j] is element  offset_x + o * stride + i * step + j,  and
 *     result[o][j] is  offset_result + o * inner + j,  for o < outer, i < n, j < inner.
 *
 * A whole array has outer = inner = 1.  Of an array of any rank, along any axis, n is its extent
 * there, outer the product of those before it and inner the product of those behind it: the sums of
 * the rows of a matrix have inner = 1, those of its columns outer = 1.
 *
 * Sums of float64 are added up in float64, of narrower floats in float32 or wider, with unit
 * roundoff u = 2^-53 or 2^-24.  A sum, and that of the squares of a norm, errs by at most
 *
 *     (gamma_t + 8 n u^2) sum |x_i|,  t = min(n, 40 + ceil(log2 n)) + 2,
 *     gamma_t = t u / (1 - t u),
 *
 * and is then rounded to the result's type: values are added by a tree (Higham, Accuracy and
 * Stability of Numerical Algorithms, 2nd ed., section 4.2), whose leaves are chains with Kahan's
 * compensation (section 4.3).  Integers are exact, but for means and norms, which are float64.
 * Where sum |x_i|, or of a norm sum x_i^2, exceeds the largest number of that arithmetic, it may
 * overflow on the way; squares below its smallest normal number may count as 0; and a device that
 * flushes denormals may lose those.
 *
 * The order of additions follows from the problem, the device and the variant: the same call has
 * the same bits from run to run.  Where `any_order` is true that is given up, and the bound of sums
 * is gamma_(n+2) sum |x_i|: variants may then add by atomic operations, as they come, of which
 * NVIDIA's flushes denormals of float32.
 *
 * A minimum, maximum or index of one of no elements (n = 0, outer and inner above 0) is refused.
 */
typedef struct tsr_reduce_problem {
    tsr_type type;        /* of x */
    size_t n;             /* elements that become one */
    size_t by;            /* a tsr_reduction */
    size_t offset_x;      /* elements before the first of x */
    size_t offset_result; /* elements before the result */
    size_t outer, inner;  /* 0 counts as 1: an array without elements is n = 0 */
    size_t step;          /* elements from x[o][i] to x[o][i + 1]; 0: inner */
    size_t stride;        /* elements from x[o] to x[o + 1], which do not overlap; 0: n * step */
    bool any_order;       /* sums may be added in another order each time */
} tsr_reduce_problem;

/** The sum of no elements, float32, all else 0, in C and C++: n and `by` follow. */
#define TSR_REDUCE_PROBLEM_INIT                                                                    \
    {                                                                                              \
        TSR_F32, 0, TSR_REDUCE_SUM, 0, 0, 0, 0, 0, 0, false                                        \
    }

/**
 * The type of the result; TSR_TYPE_COUNT where there is no such type or reduction.
 *
 * @param by  A tsr_reduction.
 */
TSR_API tsr_type tsr_reduce_result_type(tsr_type type, size_t by);

/**
 * Reduce an array in host memory.  Synchronous.
 *
 * @param x       Elements of problem->type.
 * @param result  outer * inner elements, behind the offset; none of them among those of x.
 * @param run     What to run; NULL for the best.
 * @param report  Receives what ran.  May be NULL.
 * @return TSR_OK; on failure the result is unspecified, and
 *         TSR_EINVAL       a rule above is broken
 *         TSR_EOVERFLOW    a byte count exceeds size_t or the device's limit
 *         TSR_EUNSUPPORTED the named variant cannot run this here; err says why
 *         TSR_EBUILD, TSR_ECL, TSR_ENOMEM
 */
TSR_API tsr_status tsr_reduce(tsr_session *session, const tsr_reduce_problem *problem,
                              const void *x, void *result, const tsr_run *run, tsr_report *report,
                              tsr_error *err);

/**
 * The same on buffers of the session's context, enqueued; run->wait, run->done.
 *
 * @param x       Read.
 * @param result  Written, and read while kernels add to it: not CL_MEM_WRITE_ONLY.
 */
TSR_API tsr_status tsr_reduce_enqueue(tsr_session *session, const tsr_reduce_problem *problem,
                                      cl_mem x, cl_mem result, const tsr_run *run,
                                      tsr_report *report, tsr_error *err);

#ifdef __cplusplus
}
#endif
#endif
