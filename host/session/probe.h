/**
 * Probes: a small kernel for each feature that drivers under- or over-report,
 * compiled, run and checked once per device and driver, and kept in the cache.
 * The value that each expects is one that a no-op or a wrong result cannot give.
 */
#ifndef SESSION_PROBE_H
#define SESSION_PROBE_H

#include "session/state.h"

/**
 * Decide one feature and store it in the session's facts, with the reason
 * where it is absent.  A compiler's refusal or a wrong value is an answer, not
 * a failure.
 *
 * @return TSR_OK, or TSR_ENOMEM.
 */
tsr_status probe_feature(tsr_session *s, feature f, tsr_error *err);

#endif
