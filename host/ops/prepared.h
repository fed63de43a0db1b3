/** Calls that a session has worked out: the same problem again costs its arguments and launches. */
#ifndef OPS_PREPARED_H
#define OPS_PREPARED_H

#include "ops/dispatch.h"

/** What dispatch_select chose for this very problem when nothing was named; NULL: nothing is kept.
 */
const selection *prepared_choice(tsr_session *s, const problem *p);

/** Keep what it chose, in place of that used least recently. */
void prepared_choose(tsr_session *s, const problem *p, const selection *chosen);

/** All that enqueueing a selection takes, but for the caller's buffers. */
typedef struct prepared {
    program *program;       /* the session's */
    size_t workspace_bytes; /* 0: none is needed */
    size_t count;           /* steps */
    step *steps;
} prepared;

/** What the session keeps of this very problem, variant and parameters; NULL: nothing. */
const prepared *prepared_recall(tsr_session *s, const problem *p, const selection *sel);

/**
 * Keep the steps of a selection whose program is built, in place of those used least recently.
 *
 * @return What prepared_recall gives from now on, until another one is kept; NULL where they are
 *         too many to keep, or memory is short.
 */
const prepared *prepared_keep(tsr_session *s, const problem *p, const selection *sel,
                              program *built);

#endif
