/**
 * Why a call took as long as it did: its commands one by one, each with its
 * time, what it moved, and how full the device was meanwhile.
 */
#ifndef MEASURE_EXPLAIN_H
#define MEASURE_EXPLAIN_H

#include "measure/bench.h"
#include "measure/traffic.h"

/** One command of a call. */
typedef struct explained {
    char kernel[64];         /* "(fill)" of one that is no launch */
    size_t groups, group;    /* work-groups, and work-items of one; 0 of a fill */
    double bytes;            /* of global memory, read and written by design; 0: unknown */
    double flops;            /* of its design; 0: not stated */
    command_traffic traffic; /* what its work-items ask for */
    timing time;             /* START to END, over the calls */
    size_t registers;        /* of a work-item; 0: the compiler does not say */
    size_t spilled;          /* bytes of a work-item that did not fit them, where they are known */
    size_t local_bytes;      /* of local memory of a group */
    double occupancy;        /* 0 to 1, at most that where the registers are unknown; 0: unknown */
    const char *bound;       /* what keeps it there; "" where it is unknown */
} explained;

/** A call. */
typedef struct explanation {
    char name[64];        /* of the variant */
    char parameters[160]; /* "GROUP=256" */
    size_t count;
    explained *command;   /* count of them, in order */
    timing call;          /* first START to last END */
    timing between;       /* of that, when no command ran */
    double compulsory;    /* bytes: each input read once, each output written once */
    traffic traffic;      /* of the whole call */
    const char *unstated; /* why that has no `requested`, of variant_unstated; NULL where it has */
} explanation;

/**
 * Run calls of a variant, as bench_variant does, and take the time of each
 * command.
 *
 * A call of one command moves the compulsory bytes where the variant does not
 * state others.  Registers come from NVIDIA's compiler: the program is built
 * once more, past every cache.
 *
 * @param out  Receives the explanation: free with explain_free, also on failure.
 * @return TSR_OK; TSR_EINVAL where the session's queue records no times, or on the host;
 *         TSR_EUNSUPPORTED; where a call fails its status.
 */
tsr_status explain_call(tsr_session *s, const problem *p, const tsr_run *run,
                        const bench_options *options, explanation *out, tsr_error *err);

void explain_free(explanation *x);

/** Bytes of all commands; 0 where one does not state them. */
double explain_bytes(const explanation *x);

#endif
