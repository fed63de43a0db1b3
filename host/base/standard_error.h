/**
 * Standard error of the command, out of reach of compilers.
 *
 * Some drivers' compilers write "1 error generated." to standard error themselves, of probes too,
 * where an error is an answer.  A library leaves that to the program that uses it: nothing is
 * hidden before standard_error_guard(), which the command calls.
 */
#ifndef BASE_STANDARD_ERROR_H
#define BASE_STANDARD_ERROR_H

#include <stdbool.h>

/** @param aborted  Handler of SIGABRT while it is hidden; NULL: none.  A compiler that sets one of
 * its own in the first build has that until the next. */
void standard_error_guard(void (*aborted)(int number));

/** What is written to standard error is put aside until the same number of calls of
 *  standard_error_show(), of any threads, and gets lost then; it is shown where the process exits
 *  before. */
void standard_error_hide(void);
void standard_error_show(void);

/** Where a driver ends the process while its compiler is at work: show what it wrote, which is the
 * only reason that there is, behind a line that says who did it.  False: nothing is hidden.
 * Handlers of signals may call it. */
bool standard_error_tell_end(void);

/** Show it for good, for what a command says as it ends. */
void standard_error_release(void);

/** The descriptor that reaches it, hidden or not. */
int standard_error_fd(void);

#endif
