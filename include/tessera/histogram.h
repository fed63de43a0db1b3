/** Histogram: how many elements of an array lie in each of some bins, or the sum of their weights.
 */
#ifndef TESSERA_HISTOGRAM_H
#define TESSERA_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/run.h"
#include "tessera/session.h"
#include "tessera/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What elements weigh, and the type of the result. */
typedef enum tsr_histogram_weights {
    TSR_HISTOGRAM_COUNTS = 0, /* nothing: they are counted, in int64 */
    TSR_HISTOGRAM_F32,        /* float32, and so are the sums */
    TSR_HISTOGRAM_F64,
    TSR_HISTOGRAM_I64 /* int64; sums modulo 2^64 */
} tsr_histogram_weights;

/**
 * counts[i] := the number of elements with edges[i] <= x < edges[i + 1]; the last bin has those
 * that equal its upper edge too.  It is numpy.histogram's meaning.
 *
 * The `bins` + 1 edges ascend; of equal ones, which enclose an empty bin, an element that equals
 * them is counted in the last bin that begins there.  Elements below the first edge, above the last
 * one, and NaN, are in no bin.  -0 equals +0.
 *
 * Elements are of any type.  Edges are float32 where elements have 8 or 16 bits or are float32,
 * else float64 (tsr_histogram_edge_type), and elements are compared in that type: exactly, but that
 * 64-bit integers are rounded to float64 first: NumPy does that for bins of equal width, but
 * compares them with edges that are integers as they are.  A device that flushes denormals takes
 * them for 0.
 *
 * Counts are int64 and exact: the same for every variant, device and run.  With `add`, they are
 * added to those that are there.
 *
 * With weights, one for each element, counts[i] is the sum of the weights of those elements
 * instead, in the weights' type.  Weights of elements that are in no bin do not count.  Sums of
 * int64 are exact, modulo 2^64.  One of m floating-point weights w errs by at most
 *
 *     gamma_(m+2) sum |w|,  gamma_t = t u / (1 - t u),  u the unit roundoff of the type,
 *
 * and may overflow on the way where sum |w| exceeds the type's largest number; denormals may count
 * as 0 on a device that flushes them.  The order of additions follows from the problem, the device
 * and the variant, so that the same call has the same bits from run to run; but for the variant
 * "naive", which adds float32 by atomics as they come, and which devices other than CPUs run
 * unasked where there are many bins: naming "own" (tsr_run.variant) gives the same bits there too.
 */
typedef struct tsr_histogram_problem {
    tsr_type type;        /* of x: any */
    size_t n;             /* elements */
    size_t bins;          /* 1 and more */
    bool uneven;          /* edges at any distances, which are searched; else bins are about equally
                             wide, which saves that: the counts do not depend on it */
    bool add;             /* add to the counts that are there */
    size_t offset_x;      /* elements before the first of x */
    size_t offset_edges;  /* elements before the first edge */
    size_t offset_counts; /* elements before the first count */
    size_t weights;       /* a tsr_histogram_weights */
    size_t offset_weights; /* elements before the first weight */
} tsr_histogram_problem;

/** No elements, float32, no bins, all else 0, in C and C++: n and bins follow. */
#define TSR_HISTOGRAM_PROBLEM_INIT                                                                 \
    {                                                                                              \
        TSR_F32, 0, 0, false, false, 0, 0, 0, TSR_HISTOGRAM_COUNTS, 0                              \
    }

/** The type of the edges of elements of a type: TSR_F32 or TSR_F64. */
TSR_API tsr_type tsr_histogram_edge_type(tsr_type type);

/**
 * Fill in the edges of bins of equal width from low to high, as NumPy computes them:
 * i * ((high - low) / bins) + low in float64, the last one high; of floating-point elements rounded
 * to their type.  An edge that the type of the edges cannot hold becomes the next number that
 * separates the same elements.
 *
 * @param bins   How many, 1 and more.
 * @param low    The first edge.
 * @param high   The last edge; where it is `low`, so is every edge: the command takes half below
 * and above.
 * @param edges  bins + 1 numbers of tsr_histogram_edge_type(type), without an offset.
 * @return TSR_OK; TSR_EINVAL where there are no bins, or unless low <= high, both finite and
 *         not further apart than float64 holds.
 */
TSR_API tsr_status tsr_histogram_edges(tsr_type type, size_t bins, double low, double high,
                                       void *edges, tsr_error *err);

/**
 * Count an array in host memory.  Synchronous.  Where the device has less memory than x takes, x
 * comes to it in pieces.
 *
 * @param x       offset_x + n elements; may be NULL where n is 0.
 * @param edges   offset_edges + bins + 1 numbers.
 * @param counts  offset_counts + bins numbers, of which the last `bins` are written; not among
 *                those of x and edges.
 * @param run     What to run; NULL for the best.
 * @param report  Receives what ran.  May be NULL.
 * @return TSR_OK; on failure the counts are unspecified, and
 *         TSR_EINVAL       a rule above is broken: also where edges descend or are NaN
 *         TSR_EOVERFLOW    a byte count exceeds size_t or the device's limit
 *         TSR_EUNSUPPORTED the named variant cannot run this here; err says why
 *         TSR_EBUILD, TSR_ECL, TSR_ENOMEM
 */
TSR_API tsr_status tsr_histogram(tsr_session *session, const tsr_histogram_problem *problem,
                                 const void *x, const void *edges, int64_t *counts,
                                 const tsr_run *run, tsr_report *report, tsr_error *err);

/**
 * The same on buffers of the session's context, enqueued; run->wait, run->done.  That edges ascend
 * is the caller's promise: where it is broken the counts are unspecified, and nothing outside them
 * is touched.
 *
 * @param x       Read.
 * @param edges   Read.
 * @param counts  Written, and read, with the problem's `add` their old values too: not
 *                CL_MEM_WRITE_ONLY.
 */
TSR_API tsr_status tsr_histogram_enqueue(tsr_session *session, const tsr_histogram_problem *problem,
                                         cl_mem x, cl_mem edges, cl_mem counts, const tsr_run *run,
                                         tsr_report *report, tsr_error *err);

/** What a histogram of weights reads, in host memory. */
typedef struct tsr_histogram_inputs {
    const void *x;       /* as for tsr_histogram */
    const void *edges;   /* as for tsr_histogram */
    const void *weights; /* offset_weights + n numbers */
} tsr_histogram_inputs;

/** The same in buffers. */
typedef struct tsr_histogram_buffers {
    cl_mem x, edges, weights;
} tsr_histogram_buffers;

/**
 * Add up the weights of the elements in each bin, in host memory: problem->weights is their type.
 *
 * @param in    Three arrays, none of them NULL but where n is 0.
 * @param sums  offset_counts + bins numbers of the weights' type; else as for tsr_histogram.
 */
TSR_API tsr_status tsr_histogram_weighted(tsr_session *session,
                                          const tsr_histogram_problem *problem,
                                          const tsr_histogram_inputs *in, void *sums,
                                          const tsr_run *run, tsr_report *report, tsr_error *err);

/**
 * The same on buffers of the session's context, enqueued, as by tsr_histogram_enqueue.
 *
 * @param in    Read.
 * @param sums  Written, and read, with the problem's `add` their old values too: not
 *              CL_MEM_WRITE_ONLY.
 */
TSR_API tsr_status tsr_histogram_weighted_enqueue(tsr_session *session,
                                                  const tsr_histogram_problem *problem,
                                                  const tsr_histogram_buffers *in, cl_mem sums,
                                                  const tsr_run *run, tsr_report *report,
                                                  tsr_error *err);

#ifdef __cplusplus
}
#endif
#endif
