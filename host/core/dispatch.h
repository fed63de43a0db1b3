/** From a problem to commands on a queue: choose a variant, build it, enqueue its commands. */
#ifndef CORE_DISPATCH_H
#define CORE_DISPATCH_H

#include "core/calls.h"
#include "session/events.h"

/** Who brings what a call works on while its commands are enqueued, in the order of a plan for
 * inputs that arrive.  Either ends the call with its error; its commands are then finished. */
typedef struct arrivals {
    void *with; /* the first argument of both */
    /** Before a command: enqueue in `queue` what it has to wait for. */
    tsr_status (*before)(void *with, const command *st, cl_command_queue queue, tsr_error *err);
    /** Once it is enqueued there. */
    tsr_status (*after)(void *with, const command *st, cl_command_queue queue, tsr_error *err);
} arrivals;

/** What one call waits for, and what it reports; all may be 0. */
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
    first_launches *launches; /* receives those that may wait for a compiler; NULL: nobody asks */
    tsr_report *report;       /* receives what the call took, but for times and names */
} call_ends;

/**
 * The call of a problem: a kept one, or a new one, which is checked, chosen for and planned, and
 * then kept.  Probes the features that candidates need.
 *
 * The variant is the named one, else that of the user's best tuned entry (core/tuning.h) which is
 * supported, else operation.prefer_c where C code reaches the operands, before which goes only an
 * entry that was measured to be faster than it, else that of the best embedded entry, else the
 * first supported one in the operation's order of preference.
 *
 * @param run    May be NULL.
 * @param place  ARRIVING: the variant of the call whose inputs are there, with another plan.
 * @param out    Receives it, borrowed until the session is asked for another call.
 * @return TSR_OK; TSR_EINVAL or TSR_EOVERFLOW of the operation's check; TSR_ENAME; TSR_EUNSUPPORTED
 *         with the reason (of the named variant, or of the most preferred one); TSR_ENOMEM.
 */
tsr_status dispatch_call(tsr_session *s, const problem *p, const tsr_run *run, placement place,
                         kept_call **out, tsr_error *err);

/** The same where the variant and its parameters are selected already. */
tsr_status dispatch_call_of(tsr_session *s, const problem *p, const selection *sel, placement place,
                            kept_call **out, tsr_error *err);

/** What dispatch_call selects; where it fails, what the caller named, as far as that is known. */
tsr_status dispatch_select(tsr_session *s, const problem *p, const tsr_run *run, placement place,
                           selection *out, tsr_error *err);

/** The C code that a call on arrays of p takes on this device where no tuned entry is faster; NULL:
 *  none. */
const variant *dispatch_c_code(tsr_session *s, const problem *p);

/** TSR_OK, or TSR_ECL where the commands of a call ended with an error: counters of work-groups are
 *  cleared before the session's next call. */
tsr_status dispatch_ended(tsr_session *s, const problem *p, const variant *v, cl_int rc,
                          tsr_error *err);

/** What was selected, and the time since `start` (clock_ns), into a report. */
void dispatch_report(const selection *sel, uint64_t start, tsr_report *report);

/** What one of several calls took, to the report of all: builds, commands and tiles add up, one
 *  workspace serves all.  The parameters are those that the first ran with. */
void dispatch_add_report(tsr_report *to, const tsr_report *one);

/** NULL, or why a variant with these parameters cannot run p, as variants take it, here; probes
 * what it needs. */
const char *dispatch_unsupported(tsr_session *s, const problem *p, const variant *v,
                                 const params *chosen, placement place, text *reason);

/**
 * Build the program of a call, where that was not done yet.
 *
 * @param report  Its build fields are added to.  May be NULL.
 * @return TSR_OK; as program_get; TSR_ENOMEM.
 */
tsr_status dispatch_build(tsr_session *s, kept_call *c, tsr_report *report, tsr_error *err);

/** To be called where a kernel failed: groups that it did not run are missing in group_counters of
 * the session, which then makes others. */
void dispatch_forget_group_counters(tsr_session *s);

/** Enqueue every command of a call's plan; one or two are not flushed.  operands[i] is the buffer
 * of operand i of the posed problem. */
tsr_status dispatch_run(tsr_session *s, kept_call *c, const cl_mem operands[],
                        const call_ends *ends, tsr_error *err);

/** dispatch_call_of and dispatch_run. */
tsr_status dispatch_enqueue(tsr_session *s, const problem *p, const selection *sel,
                            const cl_mem operands[], const call_ends *ends, tsr_error *err);

/** `room`, for call_ends.launches, where the session's device compiles late; else NULL. */
first_launches *dispatch_late(const tsr_session *s, first_launches *room);

/** Wait until what these launches need is compiled, count the time as the session's build_ns, tell
 *  who watches, and forget them. */
void dispatch_compiled(tsr_session *s, first_launches *l);

#endif
