/**
 * The limits of a device, measured with kernels of its own (cl/roofline_*.cl),
 * and where a result stands against them.  S. Williams, A. Waterman and
 * D. Patterson, "Roofline: an insightful visual performance model for multicore
 * architectures", CACM 52(4), 2009.
 */
#ifndef MEASURE_ROOFLINE_H
#define MEASURE_ROOFLINE_H

#include "measure/result.h"

/** The limits, in the order in which they are listed. */
typedef enum limit {
    LIMIT_FP32,               /* GFLOP/s, fused multiply-adds */
    LIMIT_FP64,               /* GFLOP/s */
    LIMIT_INT32,              /* Gop/s, integer min and max */
    LIMIT_TENSOR_TF32,        /* GFLOP/s, where the probe finds it */
    LIMIT_TENSOR_BF16,        /* GFLOP/s */
    LIMIT_TENSOR_F64,         /* GFLOP/s */
    LIMIT_MEMORY_READ,        /* GB/s, global memory */
    LIMIT_MEMORY_WRITE,       /* GB/s */
    LIMIT_MEMORY_COPY,        /* GB/s, read and written */
    LIMIT_LOCAL_MEMORY,       /* GB/s, read */
    LIMIT_TO_DEVICE_PAGEABLE, /* GB/s */
    LIMIT_FROM_DEVICE_PAGEABLE,
    LIMIT_TO_DEVICE_PINNED,
    LIMIT_FROM_DEVICE_PINNED,
    LIMIT_BOTH_WAYS_PINNED,
    LIMIT_LAUNCH_QUEUED, /* microseconds a launch in a full queue */
    LIMIT_LAUNCH_WAITED, /* microseconds a launch with a wait */
    LIMIT_COUNT
} limit;

typedef struct limits {
    double value[LIMIT_COUNT];     /* 0 where it was not measured */
    char why_not[LIMIT_COUNT][96]; /* why, "" otherwise */
    timing time[LIMIT_COUNT];
} limits;

const char *limit_name(limit l); /* "fp32", "memory read" */
const char *limit_unit(limit l); /* "GFLOP/s", "GB/s", "us" */

/** Measure every limit of the session's device and keep them in the cache.  progress may be NULL.
 */
tsr_status roofline_measure(tsr_session *s, limits *out,
                            void (*progress)(limit l, double value, void *context), void *context,
                            tsr_error *err);

/** The limits kept for this device and driver; false where none are. */
bool roofline_recall(tsr_session *s, limits *out);

/**
 * Fill a row's bound_by, limit_rate and share: the least of the compute limit of its
 * precision and bytes over the memory limit (work over bytes is its intensity).
 * Sort is bound by memory read+write.
 */
void roofline_place(const limits *l, result_row *row);

#endif
