/**
 * What keeps a call from being faster: six questions in order, each answered by what was measured
 * of this call, what binds it, and the steps of the operation's ladder that answer that.
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

/** What the barriers of a call cost. */
typedef struct barrier_cost {
    double passed;   /* by a group, the commands' sum; 0: none, or it is not stated */
    size_t launches; /* commands that have barriers */
    size_t group;    /* work-items of a group, and what */
    double each_ns;  /* one of its barriers takes; 0: it could not be measured */
    double all_ns;   /* at most */
} barrier_cost;

/** What the questions are answered from, beside the call itself. */
typedef struct symptoms {
    const limits *limits; /* 0: not measured */
    barrier_cost barriers;
    bool products; /* of matrices, which matrix units do */
    bool warps;    /* work-items run in warps */
    bool cpu;      /* the device is a CPU, which wants other cures */
    double cache;  /* bytes of the caches before its memory; 0: unknown */
} symptoms;

/** A step of the ladder that was measured beside the call: one that answers what binds it, and on a
 *  CPU any, since what the steps state is what they do for a GPU. */
typedef struct diagnosed_step {
    char name[64], parameters[160];
    const char *idea;
    unsigned answers; /* as its variant's */
    double ns;        /* median of a call */
    double speedup;   /* of it over the diagnosed call */
} diagnosed_step;

/** One that could not be measured. */
typedef struct failed_step {
    char name[64];
    tsr_error why;
} failed_step;

enum { DIAGNOSED_STEPS_MAX = 4 };

typedef struct diagnosis {
    result_row row;   /* the call, as bench has it */
    explanation call; /* its commands */
    intensity place;
    double commands_ns; /* its commands, each timed by itself, together: what the questions up to
                           ASK_DIVERGENCE are answered from */
    finding found[QUESTIONS];
    limit low_limit; /* of memory, which the call exceeded by more than caches explain: measured on
                        a busy machine; LIMIT_COUNT: none */
    cause cause;     /* of the first that is answered with yes, but for two: slow accesses only
                        where barriers and divergence are not the reason; and the roof before
                        matrix units.  CAUSE_LATENCY where none is */
    const char *binds; /* the name of its question; of CAUSE_LATENCY "latency", or "unknown" where a
                          limit is too low; static */
    const char *verdict;                       /* in words: "memory-bound: ..."; static */
    const char *cure;                          /* static */
    diagnosed_step steps[DIAGNOSED_STEPS_MAX]; /* the fastest first; none much slower than the
                                                  call */
    size_t step_count, timed_count;            /* of steps; of those that were timed */
    failed_step *failed;                       /* failed_count of them */
    size_t failed_count;
    bool any_step; /* those that do not answer it were measured too */
    bool is_last;  /* the ladder has no step after this one that was to be measured */
} diagnosis;

/** "launches", "memory", "barriers", "divergence", "matrix units", "roof". */
const char *question_name(question q);

/** The question itself, in words. */
const char *question_text(question q);

/** The question that a cause is an answer to. */
question cause_question(cause c);

/** The name of that question, of CAUSE_LATENCY "latency". */
const char *cause_name(cause c);

/** Answer the questions from d's row, call and place, and conclude what binds the call: `found` up
 *  to `cure` are filled in.  Measures nothing. */
void diagnose_answer(const symptoms *seen, diagnosis *d);

/**
 * Build what diagnose would run.
 *
 * @return as bench_build; TSR_EUNSUPPORTED also on the host, or where run names C code.
 */
tsr_status diagnose_build(tsr_session *s, const problem *p, const tsr_run *run, tsr_error *err);

/**
 * Diagnose a call of a variant that diagnose_build has built.
 *
 * Measures the call and its commands, a barrier of a group of its size, and steps of the ladder.
 * A step that fails keeps none of the others from being measured.  Where the call shows that a
 * limit is too low, that is measured again.
 *
 * @param l    The limits of the device, in which one that was too low is replaced.
 * @param out  Receives the diagnosis: free with diagnose_free, also on failure.
 * @return as bench_variant and explain_call; TSR_EUNSUPPORTED with the reason where the variant
 *         cannot run the problem.
 */
tsr_status diagnose(tsr_session *s, const problem *p, const tsr_run *run,
                    const bench_options *options, limits *l, diagnosis *out, tsr_error *err);

void diagnose_free(diagnosis *d);

#endif
