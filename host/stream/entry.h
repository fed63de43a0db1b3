/** What the public functions of all operations share: from a caller's problem and operands to a
 *  call. */
#ifndef STREAM_ENTRY_H
#define STREAM_ENTRY_H

#include "core/variant.h"
#include "session/state.h"

/** The problem of a public function, whose structure has so many bytes.  TSR_OK, or TSR_EINVAL
 * where the structure is NULL. */
tsr_status entry_problem(const operation *op, const void *structure, size_t bytes, problem *out,
                         tsr_error *err);

/** An operand that is only read, without const: one array type serves all. */
static inline void *entry_readable(const void *array)
{
    return (void *)(uintptr_t)array;
}

/**
 * Run it on host memory.  Synchronous, so that `run` has neither events to wait for nor one to
 * receive.
 *
 * @param s         NULL: the process's default session.
 * @param operands  Arrays in the order of operation.operands.
 * @param run       May be NULL, as report and err.
 */
tsr_status entry_run(tsr_session *s, const problem *p, void *const operands[], const tsr_run *run,
                     tsr_report *report, tsr_error *err);

/** Check it and its buffers, which are in that order too, and enqueue it. */
tsr_status entry_enqueue(tsr_session *s, const problem *p, const cl_mem buffers[],
                         const tsr_run *run, tsr_report *report, tsr_error *err);

#endif
