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
    LIMIT_TENSOR_F16,         /* GFLOP/s */
    LIMIT_TENSOR_F64,         /* GFLOP/s */
    LIMIT_TENSOR_FP8,         /* GFLOP/s, of e4m3 with FP32 sums */
    LIMIT_TENSOR_INT8,        /* Gop/s, with int32 sums */
    LIMIT_SPARSE_BF16,        /* GFLOP/s, where two of four neighbours are zero, and count */
    LIMIT_SPARSE_FP8,         /* GFLOP/s */
    LIMIT_SPARSE_INT8,        /* Gop/s */
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

/** One limit, from the fastest sample of the fastest way of reaching it. */
typedef struct limit_result {
    double value;           /* in its unit; 0 where it was not measured */
    double amount;          /* operations or bytes that `time` took; 1 for a cost */
    timing time;            /* of the samples of the fastest way */
    char way[64];           /* that way: "8 chains of float8"; "" where there is one */
    char why_not[160];      /* why it was not measured, "" otherwise */
    result_outcome outcome; /* RESULT_TIMED where why_not is "" */
    char when[RESULT_WHEN_SIZE];
    bool kept;         /* of an earlier run, which reached more; `now` is what this one reached */
    double now;        /* in its unit; 0 where it was not measured */
    double forgotten;  /* what an earlier run reached, where it is forgotten and was twice as good;
                          else 0 */
    char why_now[160]; /* why this one did not measure what is kept, "" otherwise */
} limit_result;

typedef struct limits {
    limit_result of[LIMIT_COUNT];
} limits;

const char *limit_name(limit l); /* "fp32", "memory read" */
const char *limit_unit(limit l); /* "GFLOP/s", "GB/s", "us" */

bool limit_is_cost(limit l); /* in microseconds: less is better */

/** What a limit counts and how it is reached, one line. */
const char *limit_idea(limit l);

/** Take an earlier run's result where it is the better one: a busy machine reaches less than the
 *  limit, and nothing reaches more.  A wrong result stays what it is. */
void limit_merge(limit l, const limit_result *earlier, limit_result *r);

/** Set r->forgotten to the earlier value where that was more than twice as good, else to 0. */
void limit_note_forgotten(limit l, const limit_result *earlier, limit_result *r);

/**
 * Measure every limit of the session's device and keep them in the cache, each
 * the best of this run and those before it.
 *
 * Each kernel's result is checked before it is timed.  A limit that the device
 * has not, or that cannot be measured, says why and does not keep the others
 * from being measured.
 *
 * @param fresh     Forget what earlier runs reached, but say so where that was far better.
 * @param seconds   Of sampling, for each way of reaching a limit; 0: 0.7 on a CPU, else 0.25.
 * @param progress  Called after each limit; false stops, and nothing is kept.  May be NULL.
 * @return TSR_OK; TSR_EUNSUPPORTED on `host` (the limits are those of OpenCL kernels);
 *         TSR_EBOUND where a kernel gave a wrong result: *out is filled in, and not
 *         kept; TSR_ENOMEM, TSR_ECL.
 */
tsr_status roofline_measure(tsr_session *s, bool fresh, double seconds, limits *out,
                            bool (*progress)(limit l, const limit_result *r, void *context),
                            void *context, tsr_error *err);

/** Measure one limit of `l` again, and keep the better of the two, in the cache too.  What keeps it
 *  from being measured, or a wrong result, leaves its value as it is, and `why_now` says why;
 *  TSR_ENOMEM, TSR_ECL. */
tsr_status roofline_again(tsr_session *s, limit which, limits *l, tsr_error *err);

/**
 * The limits kept for this device, its driver and the kernels that measure them; false where
 * none are.
 */
bool roofline_recall(tsr_session *s, limits *out);

/** Kernel source number i of those that measure limits, which kept ones are known by; NULL behind
 *  the last. */
const char *roofline_source(size_t i);

/** One limit as a result row of kind RESULT_LIMIT; its rate is from the fastest sample, and `when`
 *  from the run that took it. */
void roofline_row(const tsr_device *device, limit l, const limit_result *r, result_row *out);

/** Take the value of a row of kind RESULT_LIMIT; of others nothing. */
void roofline_note(const result_row *row, limits *out);

/** What a device reaches in a precision's arithmetic. */
typedef struct compute_roofs {
    double plain, matrix; /* in a row's unit, of multiply-adds, and of matrix units; 0: none, or not
                             measured */
    const char *plain_name, *matrix_name; /* "fp32", "tensor tf32 / 3"; "" where there is none */
} compute_roofs;

void roofline_roofs(const limits *l, const char *precision, compute_roofs *out);

/** The highest measured roof of a precision's arithmetic, as roofline_place takes it, and its name,
 *  static.  False where there is none. */
bool roofline_compute(const limits *l, const char *precision, const char **name, double *value);

/**
 * Fill a row's bound_by, limit_rate and share.
 *
 * The least time that the limits allow is the larger of work over the compute
 * limit of its precision and bytes over `memory read`; the row's limit_rate is
 * what that time gives in the row's unit.  Keys are bound by one pass over
 * memory: their bytes over `memory copy`; bytes of an operation without a
 * precision by `memory read` alone.  Where a limit that it takes is not
 * measured, all three are left empty.  Compute is the fastest that the device has
 * for the precision: f32 takes the larger of fp32 and a third of tensor tf32
 * (three products keep FP32's accuracy), f64 of fp64 and tensor f64; tf32 and
 * 16-bit types the tensor limit, else fp32; f32-strict fp32 alone.
 */
void roofline_place(const limits *l, result_row *row);

#endif
