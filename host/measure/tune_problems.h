/** The problems of one class, prepared so that candidate after candidate runs on them. */
#ifndef MEASURE_TUNE_PROBLEMS_H
#define MEASURE_TUNE_PROBLEMS_H

#include "core/dispatch.h"
#include "measure/input_sets.h"

typedef struct tune_problems {
    tsr_session *session;
    const problem *problems; /* count of them, borrowed */
    size_t count;
    input_sets *sets;              /* one a problem */
    void *(*after)[OPERANDS_MAX];  /* host copies of a result */
    void *(*proven)[OPERANDS_MAX]; /* a result that was verified, NULL while there is none */
} tune_problems;

/** Fill inputs and copy them to the device.  Free with tune_problems_close, also on failure. */
tsr_status tune_problems_open(tsr_session *s, const problem *problems, size_t count, uint64_t seed,
                              bool warm, tune_problems *out, tsr_error *err);
void tune_problems_close(tune_problems *t);

/**
 * Run each problem once, on outputs that hold nothing of an earlier result, and
 * judge what comes out.  A result equal, bit by bit, to one that was judged
 * right before is right.
 *
 * @return TSR_OK; TSR_EBOUND where a result is wrong; or what kept it from running.
 */
tsr_status tune_problems_verify(tune_problems *t, const selection *sel, double *worst,
                                tsr_error *err);

/** Device time of a call: the geometric mean over the problems, one call each, on the next of
 *  their input sets. */
tsr_status tune_problems_sample(tune_problems *t, const selection *sel, double *ns, tsr_error *err);

/** The same for `calls` calls back to back: their wall time, at most tune_problems_calls of them.
 */
tsr_status tune_problems_batch(tune_problems *t, const selection *sel, size_t calls, double *ns,
                               tsr_error *err);

/** How many calls one batch may hold; 0: any. */
size_t tune_problems_calls(const tune_problems *t);

#endif
