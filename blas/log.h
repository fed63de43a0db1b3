/**
 * TESSERA_BLAS_LOG=FILE: a line for each call of level 3, with where it ran and why, and a summary
 * at exit.  Lines are appended whole, so that processes may share a file.
 */
#ifndef BLAS_LOG_H
#define BLAS_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "blas/level3.h"

/** Open it, once, where the variable names a file. */
void log_open(void);

/** The time in nanoseconds. */
uint64_t log_now(void);

/** The time at which a call begins; 0 where there is no log. */
uint64_t log_start(void);

/** A call is done, on the device or by the CPU's BLAS. */
void log_call(const blas_call *call, bool on_device);

/** A call is not done: an argument is illegal. */
void log_refused(const blas_call *call);

/** A line beside those of calls; nothing where there is no log. */
void log_line(const char *form, ...) __attribute__((format(printf, 1, 2)));

/** A child counts its own calls. */
void log_after_fork(void);

#endif
