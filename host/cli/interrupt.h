/** Ctrl-C for commands that end with what they have. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <signal.h>

/**
 * From now on SIGINT, SIGTERM and SIGHUP set a flag; a second one ends the
 * command at once.  What the caller ignores stays ignored.
 *
 * @return the flag, nonzero once a signal came.
 */
const volatile sig_atomic_t *interrupt_watch(void);

#endif
