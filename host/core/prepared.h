/**
 * Calls that a session has worked out: the same problem again costs its buffers and launches.
 *
 * What is kept is found by comparing bytes.  The key of a choice is the problem and the age of the
 * tuning (core/tuning_memo.h), which follows the user's folder and the variables that name it; that
 * of steps is the problem, the variant and each of its values, wherever these came from.  Device,
 * kernel sources and build are the session's and do not change.  Buffers are not in the key: every
 * call checks its own, and tells kernels of them and of the scalars that changed
 * (program_set_buffer and program_set_value in session/program.h).
 */
#ifndef OPS_PREPARED_H
#define OPS_PREPARED_H

#include "core/dispatch.h"

/**
 * What dispatch_select chose for this very problem when nothing was named, and
 * the tuning was of this age; NULL: nothing is kept.
 *
 * @param age tuning_age.
 * @return Borrowed until prepared_choose or programs_release.
 */
const selection *prepared_choice(tsr_session *s, const problem *p, uint64_t age);

/** Keep what it chose at an age, in place of that used least recently.  At age 0 nothing is kept.
 */
void prepared_choose(tsr_session *s, const problem *p, uint64_t age, const selection *chosen);

/** All that enqueueing a selection takes, but for the caller's buffers. */
typedef struct prepared {
    program *program;       /* the session's */
    size_t workspace_bytes; /* 0: none is needed */
    size_t count;           /* steps */
    command *steps;
} prepared;

/** What the session keeps of this very problem, variant and parameters; NULL: nothing.  Borrowed
 * until prepared_keep or programs_release. */
const prepared *prepared_recall(tsr_session *s, const problem *p, const selection *sel);

/**
 * Keep the steps of a selection whose program is built, in place of those used least recently.
 *
 * @return As prepared_recall; NULL where there are no steps or too many to keep, or memory is
 *         short.
 */
const prepared *prepared_keep(tsr_session *s, const problem *p, const selection *sel,
                              program *built);

#endif
