/** Proving variants right: every one, over the operation's sweep of edge shapes. */
#ifndef MEASURE_VERIFY_H
#define MEASURE_VERIFY_H

#include "ops/dispatch.h"

/** What one variant did over the problems of one element type. */
typedef struct verify_row {
    const operation *op;
    const variant *variant;
    tsr_type type;
    size_t problems; /* run and judged */
    size_t unsuited; /* refused */
    size_t failed;
    double worst;     /* largest |error| / bound */
    char detail[400]; /* the first failure, or (nothing ran) the reason of the first refusal */
} verify_row;

typedef struct verify_options {
    const char *variant;    /* NULL: all */
    const char *const *set; /* "NAME=VALUE" */
    size_t set_count;
    uint64_t seed;
    bool tiny; /* only problems that a simulator finishes in seconds */
} verify_options;

/**
 * Run the sweep of one operation on a session's device; calls row() for each
 * variant and type, in the table's order.  Every tunable value is visited once at least.
 *
 * @param row  Returns false to stop.
 * @return TSR_OK, also where rows failed; otherwise what kept it from running.
 */
tsr_status verify_operation(tsr_session *s, const operation *op, const verify_options *options,
                            bool (*row)(const verify_row *row, void *context), void *context,
                            tsr_error *err);

/** Check one result that was computed from `before` into `after`: operation.verify, with the
 *  outcome as a status: TSR_EBOUND where it is out of its bound. */
tsr_status verify_result(const problem *p, const device_facts *d, const void *const before[],
                         const void *const after[], verdict *out, tsr_error *err);

#endif
