/** The problem that --size, --type, --batch and their kin describe: no files, random inputs. */
#ifndef CLI_BENCH_PROBLEM_H
#define CLI_BENCH_PROBLEM_H

#include "cli/options.h"
#include "core/variant.h"
#include "tessera/status.h"

/**
 * The problem of one --size.  What its numbers mean is the operation's:
 * operation_command.size_form. Each number is digits, digits with k, M or G (10^3, 10^6, 10^9), or
 * BASE^EXPONENT.
 *
 * @param size  NULL: the operation's usual size.
 * @return TSR_OK; TSR_ENAME where size or an option does not go with the operation, or
 *         operation.check refuses what they make.
 */
tsr_status bench_problem(const operation *op, const char *size, const options *o, problem *out,
                         tsr_error *err);

/** A --size that is a lone number above 0, of `what`, which takes `takes`.  TSR_ENAME where it is
 *  none. */
tsr_status bench_count(const char *size, const char *what, const char *takes, size_t *out,
                       tsr_error *err);

/** A --size of `overlap`: words. */
tsr_status bench_words(const char *size, size_t *out, tsr_error *err);

#endif
