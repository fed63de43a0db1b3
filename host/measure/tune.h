/**
 * The search for the fastest variant and parameters of a class of problems.
 *
 * What a call runs until now goes first, then every variant with its defaults.  The tunables of the
 * best of them are searched then, one at a time from the defaults (coordinate descent) and from
 * random starts, until every combination was tried or the time is spent. The fastest are timed
 * again, interleaved, and the best of them wins; among those whose difference is within the spread
 * of the times, the simplest: the earlier in the variant table, then the one with more defaults.
 *
 * Where calls on arrays run C code on a CPU device, the winner, a kernel, is compared with it by
 * such calls: only where it is faster does it take that code's place.
 *
 * A candidate is verified before it is timed; a wrong one is never chosen.  One
 * that is slow is given up early.
 */
#ifndef MEASURE_TUNE_H
#define MEASURE_TUNE_H

#include <signal.h>

#include "core/tuning.h"
#include "measure/result.h"

typedef enum tune_outcome {
    TUNE_UNSUPPORTED, /* detail: why */
    TUNE_FAILED,      /* did not build or run; detail: why */
    TUNE_WRONG,       /* its result is out of its bound; detail: where */
    TUNE_SLOW,        /* given up */
    TUNE_TIMED,
    TUNE_FINAL, /* timed again, interleaved with the other finalists */
    TUNE_OUTCOME_COUNT
} tune_outcome;

/** One variant with parameters, and what became of it. */
typedef struct tune_candidate {
    const variant *variant;
    params params;
    tune_outcome outcome;
    timing time;  /* TUNE_TIMED: device time; TUNE_FINAL: wall time of back to back calls, over
                     their number.  Over several problems, the geometric mean */
    double worst; /* largest |error| / bound that was seen */
    bool tied;    /* TUNE_FINAL: the samples do not separate it from the fastest */
    bool outside; /* of what the search is restricted to: compared with, never chosen */
    char detail[200];
} tune_candidate;

/** What is reported while it goes on. */
typedef struct tune_progress {
    const char *stage; /* "variants", "tunables", "finalists" */
    size_t tried;
    const tune_candidate *last; /* NULL in "finalists" */
    const tune_candidate *best; /* NULL while there is none */
} tune_progress;

typedef struct tune_options {
    double seconds; /* the budget.  A candidate is not begun where those before it took longer on
                       average, with compiling, than what is left; one that takes longer than they
                       did, and finals that are short, go beyond it */
    double reserve; /* more seconds, until two candidates ran: one alone decides nothing */
    const char *variant;    /* NULL: every variant of the device */
    const char *const *set; /* "NAME=V1,V2": these values only, in the variants that have NAME */
    size_t set_count;
    bool warm;
    uint64_t seed;
    const volatile sig_atomic_t *stop; /* nonzero: finish with what there is.  May be NULL */
    void (*progress)(const tune_progress *p, void *context); /* may be NULL */
    void *context;
} tune_options;

typedef struct tune_result {
    tune_candidate *tried; /* count of them, in the order of trying; tune_result_free */
    size_t count;
    const tune_candidate *best;    /* one of them, NULL where nothing ran, `undecided` or `alone` */
    const tune_candidate *fastest; /* of the finalists: it may be tied with the best */
    const tune_candidate *before;  /* what a call runs until now, NULL where it was not timed */
    bool surpassed; /* `before` is outside and faster than the best, which takes its place */
    double spread;  /* of the finalists' times, what a tie is within */
    bool complete;  /* every suited combination of every variant was tried */
    bool undecided; /* something ran, and there was no time to compare it in finals */
    bool alone;     /* nothing ran but what a call runs until now, and nothing else is left to try:
                       it was compared with nothing */
    const variant *c_code;  /* what calls on arrays ran instead of a kernel, where the best was
                               measured against it; else NULL */
    double c_ns, kernel_ns; /* of such a call, by it and by the best */
    bool faster_than_c;     /* the best, on arrays of each of the problems */
    bool stopped;
    double seconds, build_seconds; /* that the search took, and of them what compilers did */
} tune_result;

/** TSR_ENAME where --kernel or --set name what no variant of the operation has. */
tsr_status tune_check(const operation *op, const tune_options *o, tsr_error *err);

/**
 * Search.
 *
 * @param problems  Of one operation and class.
 * @return TSR_OK, also where nothing ran; otherwise what ended the search.  *out is then filled
 *         with what was found, all the same.
 */
tsr_status tune_search(tsr_session *s, const problem *problems, size_t count, const tune_options *o,
                       tune_result *out, tsr_error *err);

void tune_result_free(tune_result *r);

/** The entry of the best candidate for these problems. */
void tune_entry(const tsr_session *s, const problem *problems, size_t count,
                const tune_result *found, tuning *out);

#endif
