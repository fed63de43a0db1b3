/** The variant and tunables that the command line names. */
#ifndef CLI_KERNEL_CHOICE_H
#define CLI_KERNEL_CHOICE_H

#include "cli/options.h"
#include "core/variant.h"
#include "tessera/status.h"

/**
 * Look a variant up, with what --set fixes of its tunables.
 *
 * @param name    NULL: none is named; then --set is an error.
 * @param found   Receives the variant, or NULL.  May be NULL.
 * @param chosen  Receives its parameters.  May be NULL.
 * @return TSR_OK or TSR_ENAME.
 */
tsr_status kernel_choice(const operation *op, const char *name, const options *o,
                         const variant **found, params *chosen, tsr_error *err);

#endif
