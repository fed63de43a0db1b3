/* One enqueued call of an operation, which warm_calls.c makes again and again:
 * tests/OP/warm_call.c. */
#ifndef TESTS_FAULTS_WARM_CALLS_H
#define TESTS_FAULTS_WARM_CALLS_H

#include "tessera/tessera.h"

enum { WARM_SIDE = 48, WARM_ELEMENTS = WARM_SIDE * WARM_SIDE, WARM_BUFFERS = 3 };

/* Enqueue the call on buffers of WARM_ELEMENTS of 4 bytes each; `alpha` is for one with a scalar.
 */
tsr_status warm_call(tsr_session *s, const tsr_run *run, double alpha, const cl_mem b[WARM_BUFFERS],
                     tsr_error *err);

#endif
