/** What `tessera kernels` says of the tuning. */
#ifndef CLI_TUNING_LIST_H
#define CLI_TUNING_LIST_H

#include <jansson.h>

#include "ops/variant.h"
#include "session/state.h"

/** What runs p without being named, the entries that are in force for the session's device, and
 *  the files and entries that are ignored, each with why. */
void tuning_list_print(tsr_session *s, const problem *p);

/** The same: {"chosen", "entries", "ignored"}. */
json_t *tuning_list_json(tsr_session *s, const problem *p);

#endif
