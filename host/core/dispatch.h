/** From a problem to commands on a queue: choose a variant, build it, enqueue its steps. */
#ifndef OPS_DISPATCH_H
#define OPS_DISPATCH_H

#include "core/variant.h"
#include "session/state.h"

/** Why a call runs a variant. */
typedef enum selected_by {
    SELECTED_BY_NOTHING, /* none is selected */
    SELECTED_BY_NAME,    /* the caller's */
    SELECTED_BY_TUNING,
    SELECTED_BY_PREFERENCE
} selected_by;

/** The variant and parameters that a call runs, and why these; and where it counts strict tiles. */
typedef struct selection {
    const variant *variant;
    params params;
    selected_by selected;
    char chosen[160]; /* the same for people, with particulars */
} selection;

/** Who brings what a call works on while its commands are enqueued, in the order of
 *  a plan for inputs that arrive.  Either ends the call with its error; its commands are then
 * finished. */
typedef struct arrivals {
    void *with; /* the first argument of both */
    /** Before a command: enqueue in `queue` what it has to wait for. */
    tsr_status (*before)(void *with, const command *st, cl_command_queue queue, tsr_error *err);
    /** Once it is enqueued there. */
    tsr_status (*after)(void *with, const command *st, cl_command_queue queue, tsr_error *err);
} arrivals;

/** What one call waits for, and what it tells; all may be 0. */
typedef struct call_ends {
    cl_uint n_wait;
    const cl_event *wait; /* n_wait of them */
    cl_event *first;      /* receives the event of the first command; the caller releases it */
    cl_event *last;       /* of the last one; both for timing and waiting */
    cl_event *each;       /* receives the events of up to each_room commands, in order; the caller,
                             who comes with NULLs, releases those that are none, also on failure */
    size_t each_room;
    cl_mem strict_tiles;      /* 4 bytes, to which strict tiles are added; NULL: not counted */
    const arrivals *arrivals; /* NULL: all is there */
    tsr_report *report;       /* receives what the call took, but for times and names */
} call_ends;

/**
 * Choose for a checked problem: the named variant, else that of the best tuned entry
 * (core/tuning.h) which is suited, else the first suited one in the operation's order of
 * preference.  Probes the features that candidates need.
 *
 * @return TSR_OK; TSR_ENAME; TSR_EUNSUPPORTED with the reason (of the named one,
 *         or of the most preferred one).
 */
tsr_status dispatch_select(tsr_session *s, const problem *p, const tsr_run *run, selection *out,
                           tsr_error *err);

/** What was selected, and the time since `start` (clock_ns), into a report. */
void dispatch_report(const selection *sel, uint64_t start, tsr_report *report);

/** What one of several calls took, to the report of all: builds, commands and tiles add up, one
 *  workspace serves all. */
void dispatch_add_report(tsr_report *to, const tsr_report *one);

/** NULL, or why a variant with these parameters cannot run p here; probes what it needs. */
const char *dispatch_unsupported(tsr_session *s, const problem *p, const variant *v,
                                 const params *chosen, text *reason);

/** All that enqueueing a selection takes, but for the caller's buffers. */
typedef struct prepared {
    plan plan;
    program *program; /* the session's */
} prepared;

/**
 * The plan of a selection and its program, built and kept by the session.
 *
 * @param arriving  As in job.
 * @param report    Its build fields are added to.  May be NULL.
 * @param out       Receives them, borrowed until the session prepares another call.
 * @return TSR_OK; TSR_EUNSUPPORTED with the reason; as program_get; TSR_ENOMEM.
 */
tsr_status dispatch_prepare(tsr_session *s, const problem *p, const selection *sel, bool arriving,
                            const prepared **out, tsr_report *report, tsr_error *err);

/** The plan alone, without a build; the caller frees it by plan_free, on failure too. */
tsr_status dispatch_plan(tsr_session *s, const problem *p, const selection *sel, bool arriving,
                         plan *out, tsr_error *err);

/** To be called where a kernel failed: groups that it did not run are missing in group_counters of
 * the session, which then makes others. */
void dispatch_forget_group_counters(tsr_session *s);

/** Enqueue every command of a selection's plan; one or two are not flushed.  operands[i] is operand
 *  i's buffer. */
tsr_status dispatch_enqueue(tsr_session *s, const problem *p, const selection *sel,
                            const cl_mem operands[], const call_ends *ends, tsr_error *err);

#endif
