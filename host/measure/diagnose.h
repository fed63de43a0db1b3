/**
 * What keeps a call from being faster: six questions in order, each answered by what was measured
 * of this call, and the step of the operation's ladder that answers the first one that binds it.
 */
#ifndef MEASURE_DIAGNOSE_H
#define MEASURE_DIAGNOSE_H

#include "measure/bench.h"
#include "measure/explain.h"
#include "measure/traffic.h"

typedef enum question {
    ASK_LAUNCHES,   /* does the host, or do launches, take longer than kernels? */
    ASK_MEMORY,     /* is it memory: global memory, how it is accessed, or local memory? */
    ASK_BARRIERS,   /* do work-items wait for each other? */
    ASK_DIVERGENCE, /* are lanes idle? */
    ASK_UNITS,      /* is there arithmetic that matrix units would do faster? */
    ASK_ROOF,       /* what is left: the roof itself, or latency */
    QUESTIONS
} question;

typedef enum answer { ANSWER_UNKNOWN, ANSWER_NO, ANSWER_YES } answer;

typedef struct finding {
    answer answer;
    double share;       /* of the call's time that it accounts for, as far as was measured; of
                           ASK_ROOF, of the limit; 0: unknown */
    char evidence[320]; /* a sentence with the values that were measured */
} finding;

/** A step of the ladder that answers what binds the call, measured beside it. */
typedef struct diagnosed_step {
    char name[64], parameters[160];
    const char *idea;
    double ns;      /* median of a call */
    double speedup; /* of it over the diagnosed call */
} diagnosed_step;

enum { DIAGNOSED_STEPS_MAX = 4 };

typedef struct diagnosis {
    result_row row;   /* the call, as bench has it */
    explanation call; /* its commands */
    intensity place;
    finding found[QUESTIONS];
    question binds;      /* the first that is answered with yes; ASK_ROOF where none is */
    cause cause;         /* of it */
    const char *verdict; /* in words: "memory-bound: ..."; static */
    const char *cure;    /* static */
    diagnosed_step steps[DIAGNOSED_STEPS_MAX]; /* the fastest first */
    size_t step_count;
    bool is_last; /* the ladder has no step that answers it behind this one */
} diagnosis;

/** "launches", "memory", "barriers", "divergence", "matrix units", "roof". */
const char *question_name(question q);

/** The question itself, in words. */
const char *question_text(question q);

/**
 * Diagnose a call of a variant.
 *
 * Measures the call and its commands, a barrier of a group of its size, and steps of the ladder.
 *
 * @param l    The limits of the device.
 * @param out  Receives the diagnosis: free with diagnose_free, also on failure.
 * @return as bench_variant and explain_call; TSR_EUNSUPPORTED with the reason where the variant
 *         cannot run the problem, or runs on the host.
 */
tsr_status diagnose(tsr_session *s, const problem *p, const tsr_run *run,
                    const bench_options *options, const limits *l, diagnosis *out, tsr_error *err);

void diagnose_free(diagnosis *d);

#endif
