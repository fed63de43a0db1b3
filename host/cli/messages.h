/** What the command says on standard error, and the exit status that goes with it. */
#ifndef CLI_MESSAGES_H
#define CLI_MESSAGES_H

#include <stdio.h>

#include "file/output.h"
#include "tessera/device.h"
#include "tessera/session.h"
#include "tessera/status.h"

/** Exit statuses. */
enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,        /* bad file content, unsupported kernel, device error */
    EXIT_USAGE = 2,         /* the command line is wrong: an unknown option, name or value */
    EXIT_BOUND = 3,         /* a result is out of its bound */
    EXIT_NODEVICE = 4,      /* no usable OpenCL device */
    EXIT_INTERRUPTED = 130, /* by a signal */
    EXIT_UNREAD = 141 /* whoever reads the output has ended: 128 + SIGPIPE, as shells have it */
};

/**
 * Say in one line why something failed: `tessera: WHAT: WHY`.
 *
 * A message about a file names the file in place of WHAT.  With no device, where
 * it was looked for and what to install follow; with a refused kernel the whole
 * compiler log, where a session is given.
 *
 * @param session  May be NULL.
 * @return the exit status.
 */
int print_error(const char *what, const tsr_error *err, const tsr_session *session);

/** The same for a wrong command line; returns EXIT_USAGE. */
int wrong_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** printf() of text that may have names of files in it: what a terminal may take for a command
 *  becomes '?', except line ends and tabs. */
void print_plain(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** A compiler's log as it is, with a line end behind it. */
void show_build_log(const char *log);

/** A line that begins with "tessera: warning: ". */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** output_commit(), with a warning of what the file that it replaces had and the new one has not.
 */
tsr_status commit_and_warn(output *o, tsr_error *err);

/** A line that begins with "hint: ". */
void hint(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Returns EXIT_FAILED. */
int out_of_memory(void);

/** Name each platform and device that failed while the list was made. */
void warn_failures(const tsr_devices *list);

#endif
