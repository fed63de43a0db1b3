/**
 * The calls that a session has worked out: the one memory between calls on the same problem.
 *
 * An entry is found by comparing bytes: the problem, and for a plan the variant and the value of
 * each of its tunables, wherever these came from; for a choice the age of the tuning
 * (core/tuning_memo.h), which follows the user's folder and the variables that name it.  Device,
 * kernel sources and build are the session's and do not change.  Buffers are not in the key: every
 * call checks its own and sets the kernel arguments that changed (program_set_buffer and
 * program_set_value in session/program.h).
 */
#ifndef CORE_CALLS_H
#define CORE_CALLS_H

#include "core/dispatch.h"

/** What dispatch_select chose for this very problem when nothing was named and the tuning was of
 *  this age (tuning_age); NULL: nothing is kept.  Borrowed until calls_choose, calls_keep or
 *  programs_release. */
const selection *calls_choice(tsr_session *s, const problem *p, uint64_t age);

/** Keep what was chosen at an age, in place of what was used least recently.  At age 0 nothing is
 *  kept. */
void calls_choose(tsr_session *s, const problem *p, uint64_t age, const selection *chosen);

/** The plan and program of this very problem, variant and parameters; NULL: nothing is kept.
 *  Borrowed until calls_choose, calls_keep or programs_release. */
const prepared *calls_recall(tsr_session *s, const problem *p, const selection *sel, bool arriving);

/**
 * Keep a plan and the program built for it, in place of what was used least recently.
 *
 * @param made  Moved from: zero afterwards, also on failure.
 * @return As calls_recall; NULL where memory runs out.
 */
const prepared *calls_keep(tsr_session *s, const problem *p, const selection *sel, bool arriving,
                           prepared *made);

#endif
