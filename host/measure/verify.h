/** Proving variants right: every one, over the operation's sweep of edge shapes. */
#ifndef MEASURE_VERIFY_H
#define MEASURE_VERIFY_H

#include "core/dispatch.h"

/** What one variant did over the problems of one element type. */
typedef struct verify_row {
    const operation *op;
    const variant *variant;
    tsr_type type;
    size_t problems;    /* run and judged */
    size_t unsupported; /* refused, also for want of memory on the device */
    size_t failed;
    size_t errors;    /* of those that failed: without a result, by an error */
    size_t sampled;   /* of the problems: too big to judge every element */
    size_t never_ran; /* tunable values of the variant that ran with no problem of any type;
                         counted in one row of a variant, the first with problems */
    const char *never_ran_values; /* "GROUP=512 GROUP=1024", or NULL */
    double worst;                 /* largest |error| / bound */
    size_t tiles, strict_tiles;   /* of all problems, as tsr_report has them */
    char detail[400];      /* the first failure, or (nothing ran) the reason of the first refusal */
    const char *build_log; /* the compiler's, whole, of the first failure to build, or NULL */
} verify_row;

typedef struct verify_options {
    const char *variant;    /* NULL: all */
    const char *const *set; /* "NAME=VALUE" */
    size_t set_count;
    uint64_t seed;
    bool tiny;     /* only problems that a simulator finishes in seconds */
    bool small;    /* tunables that have a value for small problems have that one, and no other */
    bool defaults; /* no value of a tunable but its default, or what `set` says */
    bool values;   /* only problems for values of tunables, on a CPU the defaults among them */
    bool stop;     /* at the first problem that fails, of each variant */
    bool fails_at_once; /* an error is the call's, until a problem with something to do has given a
                           result, be it right or wrong */
    bool pairs;         /* of problems with a program of their own only those that show two of
                           its values side by side for the first time (measure/programs_met.h);
                           and new values of tunables at once, on any device */
    bool singly;        /* with `pairs`: a single new value instead of a new pair */
    struct programs_met *met; /* of `pairs`: what sweeps of the variant met before, to which this
                                 one adds; NULL: nothing */
    bool typed;               /* only problems of `type` */
    tsr_type type;
    void (*progress)(const operation *op, const variant *v, size_t problems,
                     void *context); /* before each problem: those that ran so far.  May be NULL */
    void *context;
} verify_options;

/**
 * Run the sweep of one operation on a session's device; calls row() for each
 * variant and type, in the table's order.
 *
 * The whole sweep runs with the defaults of a variant, and then some problems
 * with each other value of each tunable that options->set leaves free: one at
 * least, where any is suited that has something to do; with as many new values
 * at once as go together on a CPU, unless tiny.  With options->defaults it ends before those,
 * with options->stop at the first problem that fails.
 *
 * Of a variant that splits factors in two, tiles of special inputs run strictly, and no
 * others: those of all other distributions can be split.
 *
 * @param row  Borrows the row and its texts during the call.  Returns false to stop.
 * @return TSR_OK, also where rows failed; otherwise what kept it from running.
 */
tsr_status verify_operation(tsr_session *s, const operation *op, const verify_options *options,
                            bool (*row)(const verify_row *row, void *context), void *context,
                            tsr_error *err);

/**
 * Check one result that was computed from `before` into `after`: operation.verify,
 * with the outcome as a status: TSR_EBOUND where it is out of its bound.
 *
 * @param expected  NULL, or shared by results of one problem on the same inputs: points to NULL at
 *                  first, and then to what the first of them computed to compare with, which the
 *                  caller frees with free().
 */
tsr_status verify_result(const problem *p, const device_facts *d, const void *const before[],
                         const void *const after[], void **expected, verdict *out, tsr_error *err);

#endif
