/**
 * The process's default session: of calls on host memory that name none.
 *
 * Opened at its first use, on the device that tsr_session_open takes for NULL, and closed when the
 * process ends.  Threads use it one at a time.  The child of a fork opens its own.
 */
#ifndef SESSION_DEFAULT_H
#define SESSION_DEFAULT_H

#include "session/state.h"

/**
 * Wait until no other thread uses the default session, and take it.
 *
 * @param out  Receives it, until default_session_give_back().
 * @return TSR_OK, or what choosing the device or opening the session failed with: nothing is taken.
 */
tsr_status default_session_take(tsr_session **out, tsr_error *err);

void default_session_give_back(void);

#endif
