/** Sort keys, values that go with them, and the permutation that sorts them, on host memory and on
 *  OpenCL buffers. */
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
 * n keys at offset_keys, counted in elements, sorted in place; any n.  With rows,
 * as many independent rows of n keys each, one behind another; the indices and
 * values of each row stand alike, and an index counts from the start of its row.
 *
 * Floats sort as -inf < ... < -0 < +0 < ... < +inf < NaN of either sign, and
 * keep their bits.  NaNs sort by their bits: first those without the sign, by
 * rising payload, then those with it, by falling payload; NaNs of the same bits
 * alone are equal keys, as -0 and +0 are not, wherever a stable order is promised.
 * descending is the exact reverse of the ascending keys.
 * With argsort, element i of the index (int64, at offset_index) becomes the
 * position that key i of the result had before: a stable order, descending too
 * (equal keys stay in input order).
 *
 * With value_bytes, a value of that many bytes goes with each key: n of them at
 * offset_values, counted in values, are put into the order of the keys, in place.
 * They are moved and never looked at.  The order is stable: values of equal keys
 * stay in input order.
 *
 * On a device values take a workspace of rows * n * value_bytes bytes, and without
 * argsort of rows * n * 8 more.  One row that is sorted by digits takes a copy of its
 * keys instead, with 4 bytes for each index and with values of up to 8 bytes, and some
 * for counts; larger values come on top.  Merges, on CPUs, take a copy of the keys, and
 * where an index or values go with them up to 16 bytes a key on top of the above
 * (tsr_report.workspace_bytes).
 */
typedef struct tsr_sort_problem {
    tsr_type type; /* any but TSR_BF16; TSR_F16 by its 16 bits, on every device */
    size_t n;
    bool descending;
    bool argsort;
    size_t offset_keys, offset_index;
    size_t value_bytes; /* 0: keys alone; else 1, 2, 4, 8 or 16 */
    size_t offset_values;
    size_t rows; /* 0 counts as 1 */
} tsr_sort_problem;

/** No keys, float32, ascending, all else 0, in C and C++: `type` and `n` follow. */
#define TSR_SORT_PROBLEM_INIT                                                                      \
    {                                                                                              \
        TSR_F32, 0, false, false, 0, 0, 0, 0, 0                                                    \
    }

/** What a sort works on in host memory.  The arrays stay the caller's and must not overlap. */
typedef struct tsr_sort_arrays {
    void *keys;     /* rows * n keys, sorted in place */
    int64_t *index; /* as many positions where the problem's argsort, else NULL */
    void *values;   /* as many values where its value_bytes, sorted in place, else NULL */
} tsr_sort_arrays;

/** The same in OpenCL buffers. */
typedef struct tsr_sort_buffers {
    cl_mem keys, index, values;
} tsr_sort_buffers;

/**
 * Sort keys in host memory.  Synchronous.  Where device and host share memory, the device sorts in
 * these arrays: after TSR_ECL they may be half-sorted, and keys lost; so they may be where they
 * come back in pieces.
 *
 * On a device with memory of its own, 64 MiB and more are sorted while they are copied, and one row
 * of any size where the session's device_memory is set: by the fused-passes variants chunk by
 * chunk as they arrive, merged with what is there already; by digits once all have arrived,
 * through the same pinned memory; rows some at a time, by any variant.
 * Keys alone that are more than the device_memory, or than the device holds, are sorted in chunks
 * of which four fit, and pairs of chunks are sorted together until all are in order.  Whatever is
 * done, the result is the same to the bit.
 *
 * @return as tsr_matmul; TSR_EINVAL also where an array is not NULL that the problem does not ask
 *         for.
 */
TSR_API tsr_status tsr_sort(tsr_session *session, const tsr_sort_problem *problem,
                            const tsr_sort_arrays *arrays, const tsr_run *run, tsr_report *report,
                            tsr_error *err);

/** Enqueue a sort of OpenCL buffers, asynchronous: the contract of tsr_matmul_enqueue.  The index
 * is read as well as written. */
TSR_API tsr_status tsr_sort_enqueue(tsr_session *session, const tsr_sort_problem *problem,
                                    const tsr_sort_buffers *buffers, const tsr_run *run,
                                    tsr_report *report, tsr_error *err);

#ifdef __cplusplus
}
#endif
#endif
