/**
 * Kernels that record when and where each of their warps ran, made from the PTX of ones that do
 * not.
 *
 * A warp notes %globaltimer where it begins; where it ends, its first work-item adds the time
 * between to the sum of its unit (%smid) and kernel, and writes a record while there is room.  Both
 * go to a buffer whose address the kernel TRACE_BEGIN stores, which is to run once before.
 */
#ifndef MEASURE_TRACE_PTX_H
#define MEASURE_TRACE_PTX_H

#include <stdint.h>

#include "base/text.h"
#include "tessera/status.h"

/** The kernel that takes the buffer, as its only argument. */
#define TRACE_BEGIN "tsr_trace_begin"

enum {
    TRACE_KERNELS = 16, /* of a program, at most */
    TRACE_UNITS = 256   /* likewise of a device; the buffer has room for each */
};

/** The buffer begins with this, which the host fills in; a trace_unit for each unit follows, each
 * with `records` trace_records behind it.  All else starts as 0. */
typedef struct trace_head {
    uint64_t records;    /* that a unit has room for */
    uint64_t unit_bytes; /* from one unit to the next */
} trace_head;

typedef struct trace_unit {
    struct {
        uint64_t warps, ns;  /* that ended, and how long all of them ran */
    } kernel[TRACE_KERNELS]; /* in the order of the PTX */
    uint64_t recorded;       /* warps; of more than there is room for, the first */
    uint64_t unused;
} trace_unit;

typedef struct trace_record {
    uint64_t start; /* of %globaltimer, ns */
    uint32_t ns;
    uint32_t kernel;
} trace_record;

/**
 * @param kernels  Receives the names of the kernels that record, each after a space, in order.
 * @return TSR_OK; TSR_EUNSUPPORTED where the text is no PTX, or has more than TRACE_KERNELS
 * kernels; TSR_ENOMEM.
 */
tsr_status trace_ptx(const char *ptx, text *out, text *kernels, tsr_error *err);

#endif
