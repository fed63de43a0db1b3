/** What the command says of the tuning. */
#ifndef CLI_TUNING_LIST_H
#define CLI_TUNING_LIST_H

#include <jansson.h>

#include "cli/options.h"
#include "core/variant.h"
#include "session/state.h"

/**
 * Warn on standard error, in a line each, of tuning files that a call for p passes over, unless
 * --quiet is given or no choice is left to the tuning.
 *
 * @param warned  The lines so far, none of which comes twice; the caller frees it.
 */
void tuning_warn(tsr_session *s, const problem *p, const options *o, text *warned);

/** What runs p without being named, the entries that are in force for the session's device, and
 *  the files and entries that are ignored, each with why. */
void tuning_list_print(tsr_session *s, const problem *p);

/** The same: {"chosen", "entries", "ignored"}. */
json_t *tuning_list_json(tsr_session *s, const problem *p);

#endif
