/**
 * What the command is doing: a line on a terminal that says so and for how long, and the end of a
 * command that is interrupted while that takes its time.
 *
 * A thread of its own draws the line before the command has been silent for half a second, draws it
 * again and again, and removes it when the activity ends.  The same thread ends a command that
 * interrupt_watch() lets finish, where the activity does not return soon after the signal: a
 * compiler cannot be stopped.  What interrupt_watch() was given then runs on that thread.  So an
 * activity encloses work that touches nothing of what it reads: calls of the library and of
 * measure/, between which the command prints and keeps what they gave.  A function that is called
 * back out of an activity begins with activity_end(), if it touches such things.
 */
#ifndef CLI_ACTIVITY_H
#define CLI_ACTIVITY_H

#include <stdbool.h>

#include "session/state.h"

/** Start the thread; `shown`: lines are drawn.  Without a thread there are none, and an interrupted
 *  command ends when its activity does.  Lasts as long as the process. */
void activity_start(bool shown);

/** Begin one, or go over to another: its time starts at 0. */
void activity_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Say something else about the one that goes on, whose time goes on too; begins one otherwise. */
void activity_update(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Over: the line is gone, and the caller may print.  Nothing where there is none. */
void activity_end(void);

/** Let the line say what a session builds. */
void activity_watch(tsr_session *s);

#endif
