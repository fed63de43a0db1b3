/** The operands of a problem, from files. */
#ifndef CLI_OPERANDS_H
#define CLI_OPERANDS_H

#include "cli/options.h"
#include "core/posing.h"
#include "tessera/status.h"

/** The operation of that name or, as the options say, the one that it hands over to; `also` is as
 * of operation_find. */
tsr_status operation_asked(const options *o, const char *name, const char *also,
                           const operation **out, tsr_error *err);

/**
 * Read the files that the options name, check them against each other and the
 * operation, and have it pose its problem and allocate the results.
 *
 * @param op   The operation that o->command names, or hands over to.
 * @param out  Receives the operands, to be freed with operands_free, also on failure.
 * @return TSR_OK; TSR_ENAME for a wrong command line; TSR_EINVAL where the
 *         files do not go together; or as array_read.
 */
tsr_status operands_load(const operation *op, const options *o, posing *out, tsr_error *err);

/** Refuse a precision that rounds factors to any operation that does not.  TSR_OK or TSR_ENAME. */
tsr_status operands_check_rounding(const problem *p, tsr_error *err);

void operands_free(posing *x);

/** The path that an operation's file is read from or written to; NULL where it is not given. */
const char *operands_path(const file_use *use, size_t i, const options *o);

/** What messages call an input: its path, or "standard input" for "-".  NULL stays NULL. */
const char *input_name(const char *file);

#endif
