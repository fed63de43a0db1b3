/**
 * Copies of a problem's operands that calls rotate through, so that no call
 * finds its inputs in the last-level cache.
 */
#ifndef MEASURE_INPUT_SETS_H
#define MEASURE_INPUT_SETS_H

#include "core/variant.h"
#include "session/state.h"

typedef struct input_sets {
    tsr_session *session;
    const problem *problem;
    operand operand[OPERANDS_MAX];
    size_t operand_count;
    size_t count;               /* sets */
    bool cold;                  /* more memory than the last-level cache between two uses of one */
    bool in_place;              /* a call uses its set up: restore before another */
    size_t next;                /* set of the next call */
    void *before[OPERANDS_MAX]; /* on the host: the operands as every fresh set holds them */
    cl_mem fresh[OPERANDS_MAX]; /* on the device: the same, of operands read and written */
    cl_mem (*buffer)[OPERANDS_MAX]; /* `count` of them on a device, else NULL */
    void *(*memory)[OPERANDS_MAX];  /* `count` of them on the host, else NULL */
} input_sets;

/**
 * How many sets calls rotate through, and whether they are cold then.
 *
 * Enough for four times the last-level cache between two uses of one set, but
 * at most 1024 sets and an eighth of the device's memory; two where half of the
 * memory holds them.  What a GPU reports as its cache may be the one of its
 * compute units: 128 MiB are assumed at least.
 */
size_t input_sets_count(const tsr_session *s, const problem *p, bool warm, bool *cold);

/**
 * Fill and copy them.  Free with input_sets_close, also on failure.
 *
 * @param in_memory  In memory of the host, for code in C; else in buffers of the device.
 * @return TSR_OK; TSR_EOVERFLOW where they do not fit; TSR_ENOMEM; TSR_ECL.
 */
tsr_status input_sets_open(tsr_session *s, const problem *p, uint64_t seed, bool warm,
                           bool in_memory, input_sets *out, tsr_error *err);
void input_sets_close(input_sets *x);

/** Make the sets fresh again that calls used up, and start over with the first; waits.  `next`
 * counts those calls, and may be above `count`; the first set counts as used. */
tsr_status input_sets_restore(input_sets *x, tsr_error *err);

/** Copy what the operation wrote in the first set to host memory of the operands' sizes. */
tsr_status input_sets_read(const input_sets *x, void *const after[], tsr_error *err);

/** Host memory for a copy of each operand, holding `before`; free each. */
tsr_status input_sets_copy(const input_sets *x, void *after[OPERANDS_MAX], tsr_error *err);

/** The same for results: an operand that is only read is `before` itself.  Free with
 * input_sets_free_results, also on failure. */
tsr_status input_sets_results(const input_sets *x, void *after[OPERANDS_MAX], tsr_error *err);
void input_sets_free_results(const input_sets *x, void *after[OPERANDS_MAX]);

#endif
