/** Operations on host memory: copies in, the commands, copies out, and the report of it all. */
#ifndef STREAM_HOST_MEMORY_H
#define STREAM_HOST_MEMORY_H

#include "core/dispatch.h"

/**
 * Check, choose, and run a problem whose operands are host arrays.  Synchronous.
 *
 * Device need and limits are checked before any work: TSR_EOVERFLOW names both
 * in bytes.
 *
 * @param operands  In the order of operation.operands.
 * @param report    May be NULL.
 */
tsr_status host_memory_run(tsr_session *s, const problem *p, void *const operands[],
                           const tsr_run *run, tsr_report *report, tsr_error *err);

#endif
