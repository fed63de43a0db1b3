/** Signals: commands that end at once, and commands that end with what they have. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/**
 * From now on SIGINT, SIGTERM and SIGHUP end the command at once, and so does
 * SIGPIPE, a reader that is gone; no temporary file is left behind.  What the
 * caller ignores (nohup, a shell's background job) stays ignored.
 */
void interrupt_ends(void);

/**
 * From now on all but SIGPIPE set a flag, and a second one ends the command at
 * once.
 *
 * @param finish  Ends the command with what it has, and returns its status.  The command calls it
 *                itself once it sees the flag; where it is in an activity that lasts (activity.h),
 *                another thread does.
 * @return the flag, nonzero once a signal came.
 */
const volatile sig_atomic_t *interrupt_watch(int (*finish)(void *context), void *context);

/** The handler of SIGABRT: tells what a driver's compiler wrote, and ends the process with
 * EXIT_FAILED, or as an interrupt does that came before. */
void interrupt_aborted(int number);

/** Whether a signal came to a command that watches. */
bool interrupt_came(void);

/** End the process by what interrupt_watch() was given. */
_Noreturn void interrupt_finish(void);

#endif
