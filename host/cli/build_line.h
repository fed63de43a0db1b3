/** A line on a terminal that says what is compiled and for how long, while that goes on. */
#ifndef CLI_BUILD_LINE_H
#define CLI_BUILD_LINE_H

#include "session/state.h"

/**
 * Show on standard error what a session builds once that has taken half a second; the line
 * disappears when it is done.  Nothing where standard error is no terminal, or no thread can be
 * had. Lasts as long as the process.
 */
void build_line_show(tsr_session *s);

#endif
