/**
 * Where and when the warps of a call ran: how full the compute units were, how evenly the work was
 * spread over them, and what that looks like over time.  NVIDIA's GPUs only, whose kernels can read
 * the number of their unit and a clock (measure/trace_ptx.h).
 */
#ifndef MEASURE_TRACE_H
#define MEASURE_TRACE_H

#include "measure/bench.h"
#include "measure/trace_ptx.h"

/** All launches of one kernel in a call. */
typedef struct traced_kernel {
    char name[64];
    size_t launches;
    double ns;        /* of the launches, START to END */
    double warps;     /* that ran */
    double warp_ns;   /* the sum of their times */
    size_t units;     /* that ran some of them */
    double occupancy; /* warp_ns over what all units have room for during `ns`, 0 to 1 */
    double balance;   /* time of warps of an average unit over that of the one with most, 0 to 1 */
} traced_kernel;

enum { TRACE_COLUMNS = 240 };

/** A call. */
typedef struct trace {
    char name[64];            /* of the variant */
    char parameters[160];     /* "GROUP=256" */
    size_t units, unit_warps; /* of the device, and what one has room for */
    size_t kernel_count;
    traced_kernel kernel[TRACE_KERNELS], all; /* `all`: of the call */
    double tick_ns;  /* step of the clock: what is shorter is not seen; 0: fewer than two records */
    double drawn_ns; /* from the first warp's start, as far as records of all units reach */
    float (*resident)[TRACE_COLUMNS]; /* of each unit: warps at a time in each part of drawn_ns */
} trace;

/**
 * Run a call whose kernels record, after one that warms up.
 *
 * @param out  Receives it: free with trace_free, also on failure.
 * @return TSR_OK; TSR_EUNSUPPORTED where kernels of the device cannot record; TSR_EINVAL where the
 *         session's queue records no times; TSR_EBOUND where other warps were recorded than the
 *         call has; where it fails its status.
 */
tsr_status trace_call(tsr_session *s, const problem *p, const tsr_run *run,
                      const bench_options *options, trace *out, tsr_error *err);
void trace_free(trace *t);

/**
 * The figures of a buffer that was recorded into, as trace_ptx.h lays it out; units, unit_warps,
 * and of the kernels name, launches and ns are there already.
 *
 * @return TSR_OK; TSR_ENOMEM.
 */
tsr_status trace_sum(const trace_head *recorded, trace *t, tsr_error *err);

/** A picture (SVG): units from top to bottom, time from left to right, darker where more warps are
 * resident; above it, the occupancy of the device. */
void trace_draw(const trace *t, const char *title, text *svg);

#endif
