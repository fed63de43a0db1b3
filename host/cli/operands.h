/** The operands of a problem, from files. */
#ifndef CLI_OPERANDS_H
#define CLI_OPERANDS_H

#include <stddef.h>

#include "cli/options.h"
#include "core/variant.h"
#include "file/array.h"
#include "tessera/status.h"

/** A problem and its operands in the order of operation.operands; where the operation writes
 *  (C, y, keys, index), the array is its result. */
typedef struct operands {
    problem problem;
    operand operand[OPERANDS_MAX]; /* what the operation says of them */
    array array[OPERANDS_MAX];
    size_t count;
} operands;

/**
 * Read the files that the options name, check them against each other and the
 * operation, and allocate the result: a copy of what --add names, or zeros.
 *
 * @param op   The operation that o->command names.
 * @param out  Receives the operands, to be freed with operands_free, also on failure.
 * @return TSR_OK; TSR_ENAME for a wrong command line; TSR_EINVAL where the
 *         files do not go together; or as array_read.
 */
tsr_status operands_load(const operation *op, const options *o, operands *out, tsr_error *err);

/** Refuse a precision that rounds factors to any operation but matmul.  TSR_OK or TSR_ENAME. */
tsr_status operands_check_rounding(const operation *op, tsr_type type, tsr_precision precision,
                                   tsr_error *err);

/** Leave of sorted keys, indices and values what --top wants; anything else stays as it is. */
void operands_cut(operands *x, const options *o);

void operands_free(operands *x);

/** What messages call an input: its path, or "standard input" for "-".  NULL stays NULL. */
const char *input_name(const char *file);

#endif
