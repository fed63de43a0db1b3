/** Scan: the running sums, minima or maxima of an array, of its lines or of its segments. */
#ifndef TESSERA_SCAN_H
#define TESSERA_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/run.h"
#include "tessera/session.h"
#include "tessera/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a scan combines elements by. */
typedef enum tsr_scan_by { TSR_SCAN_SUM = 0, TSR_SCAN_MIN, TSR_SCAN_MAX } tsr_scan_by;

/**
 * result[i] := x[0] op x[1] op ... op x[i] along each line of an array, row-major, of
 *
 *     outer x n x inner
 *
 * elements: the middle dimension is scanned.  A vector has outer = inner = 1; the rows of a matrix
 * inner = 1; its columns outer = 1.  The result has the array's shape.
 *
 * exclusive leaves element i itself out: its result is that of the elements before it, and of none
 * 0, or of a minimum the largest value of the type (infinity), of a maximum the least (-infinity).
 * reverse goes from the end of each line to its front.
 *
 * With segments a line, of which there is one, is as many independent stretches of any lengths:
 * segment s is the elements from segment_offsets[s] to before segment_offsets[s + 1].  These are
 * segments + 1 ascending offsets (uint64, at offset_segments, counted from the first element), the
 * first 0 and the last n; equal ones are an empty segment.
 *
 * The result has the type of the elements, but for sums of integers: int64 of signed ones and
 * uint64 of unsigned ones, as NumPy's cumsum has it, which wrap modulo 2^64.  With same_type they
 * keep the elements' type, and wrap in it.  Sums of float16 and bfloat16 are added up in float32 at
 * least and rounded to their type as they are stored.
 *
 * Sums of floats are added in an order that depends on the shape, the device and the variant, of
 * large results on a CPU on where in a cache line they begin, and not on the run: the same call on
 * the same arrays has the same bits.  Rounded sums of non-negative numbers may decrease by a unit
 * in the last place.  Of k elements, for any order (Higham, Accuracy and Stability of Numerical
 * Algorithms, 2nd ed., section 4.2), with room for two more roundings,
 *
 *     |got - exact| <= gamma_(k+2) sum |x_i|,  gamma_k = k u / (1 - k u)
 *
 * with u = 2^-24, 2^-53 of float64, and half a unit in the last place of a type of 16 bits on top;
 * a device that flushes denormals may lose those.  Where sum |x_i| exceeds the largest number an
 * intermediate sum may overflow.  Integers, minima and maxima are exact.  A NaN makes all results
 * from it on NaN; of -0 and +0, which are equal, either may be a minimum or maximum.
 */
typedef struct tsr_scan_problem {
    tsr_type type; /* of x: any */
    size_t n;      /* elements of a line */
    size_t by;     /* a tsr_scan_by */
    bool exclusive, reverse, same_type;
    size_t outer, inner;  /* 0 counts as 1 */
    size_t segments;      /* 0: none */
    size_t offset_x;      /* elements before the first of x */
    size_t offset_result; /* elements before the first of the result */
    size_t offset_segments;
} tsr_scan_problem;

/** The inclusive sums of no elements, float32, all else 0, in C and C++: n and `by` follow. */
#define TSR_SCAN_PROBLEM_INIT                                                                      \
    {                                                                                              \
        TSR_F32, 0, TSR_SCAN_SUM, false, false, false, 0, 0, 0, 0, 0, 0                            \
    }

/** The type of the result; TSR_TYPE_COUNT of NULL. */
TSR_API tsr_type tsr_scan_result_type(const tsr_scan_problem *problem);

/**
 * Scan an array in host memory.  Synchronous.
 *
 * @param x         offset_x + outer * n * inner elements.
 * @param result    offset_result + as many elements of tsr_scan_result_type, of which the last
 *                  outer * n * inner are written; none of them is among those of x.
 * @param segment_offsets  offset_segments + segments + 1 offsets; NULL without segments.
 * @param run       What to run; NULL for the best.
 * @param report    Receives what ran.  May be NULL.
 * @return TSR_OK; on failure the result is unspecified, and
 *         TSR_EINVAL       a rule above is broken, or the offsets do not start at 0, ascend and end
 *                          at n, with the first that is wrong
 *         TSR_EOVERFLOW    a byte count exceeds size_t or the device's limit
 *         TSR_EUNSUPPORTED the named variant cannot run this here; err says why
 *         TSR_EBUILD, TSR_ECL, TSR_ENOMEM
 */
TSR_API tsr_status tsr_scan(tsr_session *session, const tsr_scan_problem *problem, const void *x,
                            void *result, const uint64_t *segment_offsets, const tsr_run *run,
                            tsr_report *report, tsr_error *err);

/**
 * The same on buffers of the session's context, enqueued; run->wait, run->done.  What
 * segment_offsets holds is the caller's promise, and not checked: where it is broken the results
 * are unspecified, and nothing outside them is touched.
 *
 * @param x                Read.
 * @param result           Written, and read back by kernels: not CL_MEM_WRITE_ONLY.
 * @param segment_offsets  Read; NULL without segments.
 */
TSR_API tsr_status tsr_scan_enqueue(tsr_session *session, const tsr_scan_problem *problem, cl_mem x,
                                    cl_mem result, cl_mem segment_offsets, const tsr_run *run,
                                    tsr_report *report, tsr_error *err);

#ifdef __cplusplus
}
#endif
#endif
