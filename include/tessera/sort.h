/** Sort keys, and the permutation that sorts them, on host memory and on OpenCL buffers. */
#ifndef TESSERA_SORT_H
#define TESSERA_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/run.h"
#include "tessera/session.h"
#include "tessera/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * n keys at offset_keys, counted in elements, sorted in place; any n.
 *
 * Floats sort as -inf < ... < -0 < +0 < ... < +inf < NaN of either sign, and
 * keep their bits.  descending is the exact reverse of the ascending keys.
 * With argsort, element i of the index (int64, at offset_index) becomes the
 * position that key i of the result had before: a stable order, descending too
 * (equal keys stay in input order).
 */
typedef struct tsr_sort_problem {
    tsr_type type; /* TSR_I32, TSR_U32, TSR_I64, TSR_U64, TSR_F32 or TSR_F64 */
    size_t n;
    bool descending;
    bool argsort;
    size_t offset_keys, offset_index;
} tsr_sort_problem;

/**
 * Sort keys in host memory.  Synchronous.  Where device and host share memory, the device sorts in
 * these arrays: after TSR_ECL they may be half-sorted, and keys lost.
 *
 * @param keys   n keys, sorted in place.
 * @param index  n positions where problem->argsort, else NULL.
 * @return as tsr_matmul.
 */
tsr_status tsr_sort(tsr_session *session, const tsr_sort_problem *problem, void *keys,
                    int64_t *index, const tsr_run *run, tsr_report *report, tsr_error *err);

/** Enqueue a sort of OpenCL buffers, asynchronous: the contract of tsr_matmul_enqueue. */
tsr_status tsr_sort_enqueue(tsr_session *session, const tsr_sort_problem *problem, cl_mem keys,
                            cl_mem index, const tsr_run *run, cl_uint n_wait, const cl_event *wait,
                            cl_event *done, tsr_report *report, tsr_error *err);

#ifdef __cplusplus
}
#endif
#endif
