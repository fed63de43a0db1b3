/**
 * The calls that a session knows: all that was worked out for a distinct call, once.
 *
 * An entry is found by comparing bytes: the problem as it was posed, where its operands are,
 * and either the age of the tuning (core/tuning_memo.h), where the library chose, or the
 * variant, the value of each of its tunables, and who selected them.  Device, kernel sources and
 * build are the session's and do not change. Buffers are not in the key: every call checks its own
 * and sets the kernel arguments that changed.
 *
 * What else a session remembers belongs to the device, not to a call, and lasts as long as it does:
 *
 *     programs and the arguments of their kernels   session/program.h    one for each set of -Ds
 *     probed features                               device/facts.h       FEATURE_COUNT
 *     tuning entries of a class of problems         core/tuning_memo.h   until the folder changes
 *     workspace and group counters                  session/state.h      one each, the largest
 *     queues, pinned memory and buffers of copies   stream/copies.h      stated there
 */
#ifndef CORE_CALLS_H
#define CORE_CALLS_H

#include "core/variant.h"
#include "session/state.h"

enum { CALLS_KEPT = 32 };

/** Why a call runs a variant. */
typedef enum selected_by {
    SELECTED_BY_NOTHING, /* none is selected */
    SELECTED_BY_NAME,    /* the caller's */
    SELECTED_BY_TUNING,
    SELECTED_BY_PREFERENCE,
    SELECTED_FIRST_CALL /* core/first_calls.h */
} selected_by;

/** The variant and parameters that a call runs, and why these. */
typedef struct selection {
    const variant *variant;
    params params;
    selected_by selected;
    char chosen[160]; /* the same for people, with particulars */
} selection;

typedef struct kept_call {
    problem posed;                 /* checked */
    problem normal;                /* as variants take it */
    unsigned order[OPERANDS_MAX];  /* its operand i is operand order[i] of the posed one */
    operand operand[OPERANDS_MAX]; /* of the posed one, operand_count of them */
    size_t operand_count;
    placement place;
    selection selection;
    char parameters[160]; /* those of the plan, for people */
    plan plan;
    program *program; /* the session's; NULL until it is built */
    bool launched;    /* its kernels have been, and so are compiled */
    uint64_t age;     /* tuning_age when the library chose; 0: the caller named it, or the tuning
                         is changing */
    uint64_t used;    /* the higher, the later; 0: this place is free */
} kept_call;

/** The call of a problem whose variant the library chose when the tuning was of this age; NULL:
 *  there is none.  Borrowed until calls_keep or programs_release. */
kept_call *calls_chosen(tsr_session *s, const problem *p, placement place, uint64_t age);

/** The call of a problem and a variant that the caller named so, without setting a tunable;
 *  likewise. */
kept_call *calls_named(tsr_session *s, const problem *p, placement place, const char *name);

/** The call of a problem and selection, whenever that was chosen; likewise. */
kept_call *calls_find(tsr_session *s, const problem *p, const selection *sel, placement place);

/**
 * Keep a call, in place of the one used least recently.
 *
 * @param made  Its plan is moved, also on failure.
 * @return As calls_find; NULL where memory runs out.
 */
kept_call *calls_keep(tsr_session *s, kept_call *made);

#endif
