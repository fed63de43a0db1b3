/** Reduction: one value of an array, its sum, minimum or maximum. */
#ifndef TESSERA_REDUCE_H
#define TESSERA_REDUCE_H

#include <stddef.h>

#include "tessera/run.h"
#include "tessera/session.h"
#include "tessera/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a reduction combines elements by. */
typedef enum tsr_reduction { TSR_REDUCE_SUM = 0, TSR_REDUCE_MIN, TSR_REDUCE_MAX } tsr_reduction;

/**
 * result := x[0] op x[1] op ... op x[n - 1], of float32.
 *
 * The order in which a sum is added up is the variant's, the device's and n's, and the same from
 * run to run.  For any order (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
 * section 4.2), with room for two more roundings,
 *
 *     |got - exact| <= gamma_(n+2) sum |x_i|,  gamma_n = n u / (1 - n u),  u = 2^-24
 *
 * and a device that flushes denormals may lose those.  Where sum |x_i| exceeds FLT_MAX an
 * intermediate sum may overflow.  Minimum and maximum are exact: a NaN among the elements makes
 * them NaN, and of -0 and +0, which are equal, either may be the result.  The sum of no elements is
 * 0; the minimum and the maximum of none are refused.
 */
typedef struct tsr_reduce_problem {
    tsr_type type;        /* of x and the result: TSR_F32 */
    size_t n;             /* elements */
    size_t by;            /* a tsr_reduction */
    size_t offset_x;      /* elements before the first of x */
    size_t offset_result; /* elements before the result */
} tsr_reduce_problem;

/** The sum of no elements, float32, all else 0, in C and C++: n and `by` follow. */
#define TSR_REDUCE_PROBLEM_INIT                                                                    \
    {                                                                                              \
        TSR_F32, 0, TSR_REDUCE_SUM, 0, 0                                                           \
    }

/**
 * Reduce an array in host memory.  Synchronous.
 *
 * @param x       offset_x + n elements.
 * @param result  offset_result + 1 elements, of which the last is written; not among those of x.
 * @param run     What to run; NULL for the best.
 * @param report  Receives what ran.  May be NULL.
 * @return TSR_OK; on failure *result is unspecified, and
 *         TSR_EINVAL       a rule above is broken
 *         TSR_EOVERFLOW    a byte count exceeds size_t or the device's limit
 *         TSR_EUNSUPPORTED the named variant cannot run this here; err says why
 *         TSR_EBUILD, TSR_ECL, TSR_ENOMEM
 */
TSR_API tsr_status tsr_reduce(tsr_session *session, const tsr_reduce_problem *problem,
                              const float *x, float *result, const tsr_run *run, tsr_report *report,
                              tsr_error *err);

/** The same on buffers of the session's context, enqueued; run->wait, run->done. */
TSR_API tsr_status tsr_reduce_enqueue(tsr_session *session, const tsr_reduce_problem *problem,
                                      cl_mem x, cl_mem result, const tsr_run *run,
                                      tsr_report *report, tsr_error *err);

#ifdef __cplusplus
}
#endif
#endif
