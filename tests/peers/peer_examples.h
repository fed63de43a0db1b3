/** What the peers of an operation are tried with: tests/OPERATION/peer_examples.c. */
#ifndef TESTS_PEER_EXAMPLES_H
#define TESTS_PEER_EXAMPLES_H

#include "core/operation.h"

/** Problem i, as `bench` would lay it out, `inputs` among it; false beyond the last. */
bool peer_example(size_t i, problem *out);

/** Problem i of those that no peer may take; *first is its first operand, or NULL where what it
 *  holds does not matter.  False beyond the last. */
bool peer_refused(size_t i, problem *out, const void **first);

#endif
