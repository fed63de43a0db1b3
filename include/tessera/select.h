/** Selection: the elements of an array for which a comparison holds, side by side, and where they
 *  stood. */
#ifndef TESSERA_SELECT_H
#define TESSERA_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/run.h"
#include "tessera/session.h"
#include "tessera/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How elements are compared with the value. */
typedef enum tsr_comparison {
    TSR_GREATER = 0,
    TSR_GREATER_EQUAL,
    TSR_LESS,
    TSR_LESS_EQUAL,
    TSR_EQUAL,
    TSR_NOT_EQUAL,
    TSR_IS_NAN,    /* the value does not count; of an integer it never holds */
    TSR_IS_NOT_NAN /* of an integer it always holds */
} tsr_comparison;

/** What elements are compared with: of an integer type one of its values. */
typedef union tsr_select_value {
    double real;      /* of floats: rounded to their type */
    int64_t integer;  /* of signed integers */
    uint64_t natural; /* of unsigned integers */
} tsr_select_value;

/**
 * result := the elements x[i], i = 0 ... n - 1, for which x[i] `where` value holds; count := their
 * number; with_indices also indices := their i (int64).
 *
 * They come in the order of x.  With any_order their order is unspecified, and may change from run
 * to run, but an element and its index have the same place; variants that need it are then
 * supported.
 *
 * Elements keep their bits.  Floats compare as IEEE 754 has it: with a NaN on either side only
 * not-equal holds, and -0 equals +0.  A device that flushes denormals takes them for 0.
 *
 * What is behind the first `count` elements of result and indices is kept.
 */
typedef struct tsr_select_problem {
    tsr_type type; /* of x and the result: any */
    size_t n;      /* elements of x */
    size_t where;  /* a tsr_comparison */
    tsr_select_value value;
    bool with_indices, any_order;
    size_t offset_x, offset_result, offset_indices, offset_count; /* elements before the first */
} tsr_select_problem;

/** Those of no float32 that are greater than 0, all else 0, in C and C++: n, `where` and value
 *  follow. */
#define TSR_SELECT_PROBLEM_INIT                                                                    \
    {                                                                                              \
        TSR_F32, 0, TSR_GREATER, {0}, false, false, 0, 0, 0, 0                                     \
    }

/** What it works on in host memory.  The arrays stay the caller's and must not overlap. */
typedef struct tsr_select_arrays {
    const void *x;    /* offset_x + n elements */
    void *result;     /* room for n elements from offset_result on */
    int64_t *indices; /* room for n from offset_indices on where with_indices, else NULL */
    uint64_t *count;  /* offset_count + 1 of them, of which the last is written */
} tsr_select_arrays;

/** The same in OpenCL buffers. */
typedef struct tsr_select_buffers {
    cl_mem x, result, indices, count;
} tsr_select_buffers;

/**
 * Select from an array in host memory.  Synchronous.
 *
 * @param run     What to run; NULL for the best.
 * @param report  Receives what ran.  May be NULL.
 * @return TSR_OK; on failure the results are unspecified, and
 *         TSR_EINVAL       a rule above is broken
 *         TSR_EOVERFLOW    a byte count exceeds size_t or the device's limit
 *         TSR_EUNSUPPORTED the named variant cannot run this here; err says why
 *         TSR_EBUILD, TSR_ECL, TSR_ENOMEM
 */
TSR_API tsr_status tsr_select(tsr_session *session, const tsr_select_problem *problem,
                              const tsr_select_arrays *arrays, const tsr_run *run,
                              tsr_report *report, tsr_error *err);

/** The same on buffers of the session's context, enqueued; run->wait, run->done.  Kernels add to
 * the count: its buffer is not CL_MEM_WRITE_ONLY. */
TSR_API tsr_status tsr_select_enqueue(tsr_session *session, const tsr_select_problem *problem,
                                      const tsr_select_buffers *buffers, const tsr_run *run,
                                      tsr_report *report, tsr_error *err);

#ifdef __cplusplus
}
#endif
#endif
