/** What a session remembers of the tuning: each class of problems is looked up once. */
#ifndef CORE_TUNING_MEMO_H
#define CORE_TUNING_MEMO_H

#include "core/tuning.h"
#include "session/state.h"

/**
 * As tuning_candidates for the session's device.  The list is the session's and
 * valid until the next call.  It is read again once this process has stored an entry, and about
 * 20 ms after another one changed the user's folder.
 */
size_t tuning_recall(tsr_session *s, const problem *p, const tuning **out);

/** A number that is another one once tuning_recall may give something else; 0: memory ran out, ask
 *  it each time. */
uint64_t tuning_age(tsr_session *s);

#endif
