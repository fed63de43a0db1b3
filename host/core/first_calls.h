/**
 * First calls whose best kernels nobody has compiled yet.
 *
 * On a GPU those take up to 2 s to compile, and features that they need as long to probe as it
 * takes to compile so many small programs; another variant is compiled in 0.1 s and, of a small
 * problem, does the work in some milliseconds.  On a CPU they take up to 20 s to compile, and a
 * variant in C, which is there already, up to twice their time to run.  It runs until the better
 * one is in the cache.
 * include/tessera/session.h says what callers see of this.
 */
#ifndef CORE_FIRST_CALLS_H
#define CORE_FIRST_CALLS_H

#include "core/calls.h"

/**
 * As dispatch_call, for a call that runs at once: operation.prefer_first where what dispatch_call
 * gives was neither compiled nor probed for.  It is compiled here; where it cannot be, what
 * dispatch_call gives runs.  After 20 such calls of a session, or 100 on a CPU, that is compiled on
 * another thread, for the cache; where that cannot be (no cache, or a driver that compiles late),
 * or has left nothing there, within the call.
 *
 * @param place   Not ARRIVING.
 * @param report  Its build fields are added to.  May be NULL.
 */
tsr_status first_call(tsr_session *s, const problem *p, const tsr_run *run, placement place,
                      kept_call **out, tsr_report *report, tsr_error *err);

#endif
